"""What a measure, a column, a sign or an exit code means, from the places that define them.

Most words are in glossary.toml; only for others is imported what computes measures and columns.
"""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from riskcli.analyses.check.rules import POLICIES, TOPIC_QUANTITIES
from riskcli.cli.option import Option, program
from riskcli.core.messages import UsageError
from riskcli.trec.codes import CODES

if TYPE_CHECKING:
    from riskcli.effectiveness.measures import Family
    from riskcli.risk.measure import RiskMeasure

_TAKES = {
    "none": "takes no cutoff",
    "cutoff": "needs a cutoff: {0}@10",
    "optional cutoff": "with or without a cutoff: {0}, {0}@10",
    "value": "needs a value: {0}@0.1",
}


@dataclass(frozen=True)
class Word:
    """Names for one thing, the first of which lists show, and what it is."""

    names: tuple[str, ...]
    text: str


@cache
def _glossary() -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "glossary.toml").read_text("utf-8"))


@cache
def glossary_words() -> tuple[Word, ...]:
    """The words and signs that only the glossary defines."""
    entries = _glossary()["word"]
    return tuple(Word(tuple(e["names"]), _paragraphs(e["text"])) for e in entries)


def _paragraphs(text: str) -> str:
    """Each on a line of its own, whatever lines the file has."""
    return "\n\n".join(" ".join(each.split()) for each in text.strip().split("\n\n"))


def exit_codes() -> dict[str, str]:
    """Every exit code, and when the program ends with it."""
    codes: dict[str, str] = _glossary()["exit-codes"]
    return codes


def overview() -> str:
    """Everything that can be explained but commands and options."""
    from riskcli.effectiveness.measures import FAMILIES
    from riskcli.output.measure_words import every_column, meaning_of, words_of
    from riskcli.risk.measures import measures

    return listed(
        {
            "Risk measures": ((m.id, words_of(m).summary) for m in measures()),
            "Words and signs": ((w.names[0], _first_sentence(w)) for w in glossary_words()),
            "Effectiveness measures": ((f.name, f.summary) for f in FAMILIES),
            "Columns": ((name, meaning_of(c)) for name, c in every_column().items()),
            "Policies of check": ((p.name, p.meaning) for p in POLICIES.values()),
            "Codes of files": ((c.name, c.meaning) for c in CODES.values()),
            "Exit codes": exit_codes().items(),
        }
    )


def listed(parts: Mapping[str, Iterable[tuple[str, str]]]) -> str:
    """Names and what they are, under titles."""
    lines: list[str] = []
    for title, entries in parts.items():
        pairs = list(entries)
        width = max(len(name) for name, _ in pairs) + 1
        lines += [f"{title}:", *(f"  {name:{width}} {text}" for name, text in pairs), ""]
    return "\n".join(lines)


def _first_sentence(word: Word) -> str:
    return word.text.partition(": ")[2].split(". ")[0].removesuffix(".")


_MEASURES = Path(__file__).parents[1] / "risk" / "measures"
"""A file a measure: one of somebody's own may be called like a heading."""


def explained(word: str, commands: Callable[[], Sequence[click.Command]]) -> str:
    """What is known by that word or heading; an error with words to try where nothing is.

    The spelling counts first: `p` is a probability, `P` is precision.
    """
    if not word.startswith("--"):
        if word.isidentifier() and (_MEASURES / f"{word}.py").is_file():
            return _risk_texts()[word]
        for form in _forms(word):
            if text := _known(form) or _of_a_measure(form, _known):
                turned = f"\n\n{_texts()['⁻']}" if form != word and "⁻" in word else ""
                return text + turned
        if (within := _below_its_group(word)) != word:
            return explained(within, commands)
        stem = re.split("[@(]", word.lower())[0]
        if text := _other_texts().get(stem) or _risk_texts().get(stem):
            return text
    options = _options(commands())
    if (name := word.removeprefix("--")) in options:
        return options[name]
    raise UsageError(f"nothing is called {word!r}{_suggested(word, options)}")


def _known(word: str) -> str | None:
    """What is known by exactly that word, in any case."""
    lower = word.lower()
    for texts, name in (
        (_texts, word), (_risk_texts, word), (_other_texts, word), (_in_any_case, lower),
        (_risk_texts, lower), (_other_texts, lower),
    ):  # fmt: skip
        if name in texts():
            return texts()[name]
    return None


_ALIKE = 0.72
"""How much two spellings must have in common; below, a likeness is chance."""


def _suggested(word: str, options: Iterable[str]) -> str:
    """Words that are spelled nearly so, or else those whose explanation speaks of it."""
    folded = {name.lower(): name for name in reversed(known_words(options))}
    spelled = difflib.get_close_matches(word.lower(), folded, n=3, cutoff=_ALIKE)
    whole = re.compile(rf"\b{re.escape(word.removesuffix('s'))}", re.IGNORECASE)
    told = {**program().summaries, **{w.names[0]: w.text for w in glossary_words()}}
    speaking = [name for name, text in told.items() if whole.search(text)]
    if spelled and not (speaking and " " in word):
        return f"; did you mean {' or '.join(folded[name] for name in spelled)}?"
    if speaking:
        return f"; `riskeval help` speaks of it under {' and '.join(speaking[:3])}"
    return "; `riskeval help words` lists all that is explained"


def known_words(options: Iterable[str] = ()) -> list[str]:
    """All that can be explained."""
    names = [*_texts(), *_risk_texts(), *_other_texts()]
    return [*names, *(f"--{name}" for name in options)]


@cache
def _texts() -> dict[str, str]:
    """What explains policies, codes of files, exit codes and words of the glossary."""
    texts = {
        name: f"{name}: a policy of `riskeval check`: {policy.meaning}."
        for name, policy in POLICIES.items()
    }
    lines = [f"  {name:9} {policy.meaning}" for name, policy in POLICIES.items()]
    policies = "\n".join(["policy: what `riskeval check` asks of a candidate (--policy).", *lines])
    texts |= dict.fromkeys(("policy", "policies"), policies)
    for name, code in CODES.items():
        then = "the file is refused" if code.severity == "error" else "the file is accepted"
        texts[name] = f"{name} ({code.severity}: {then}): {code.meaning}."
    codes = {code: f"Exit code {code}: {text}." for code, text in exit_codes().items()}
    texts |= dict.fromkeys(("exit", "exit-code", "exit-codes"), "\n".join(codes.values())) | codes
    return texts | {name: word.text for word in glossary_words() for name in word.names}


def _in_any_case() -> dict[str, str]:
    return {name.lower(): text for name, text in _texts().items()}


@cache
def _risk_texts() -> dict[str, str]:
    """What explains risk measures and columns."""
    from riskcli.output.measure_words import every_column, meaning_of, words_of
    from riskcli.risk.measures import measures

    texts = {
        name: f"{name} ({column.kind}): {meaning_of(column)}."
        for name, column in every_column().items()
    }
    for measure in measures():
        texts |= dict.fromkeys((words_of(measure).title.lower(), measure.id), _measure(measure))
    return texts


@cache
def _other_texts() -> dict[str, str]:
    """What explains effectiveness measures, in lower case too, and quantities of rules."""
    from riskcli.effectiveness.measures import FAMILIES

    texts: dict[str, str] = {}
    for family in reversed(FAMILIES):
        names = [spelled for name in family.names for spelled in (name.lower(), name)]
        texts |= dict.fromkeys(names, _family(family))
    for quantity in TOPIC_QUANTITIES:
        texts[quantity.name] = (
            f"{quantity.spelled}, in rules of `riskeval check`: {quantity.meaning}."
        )
    return texts


def _options(commands: Sequence[click.Command]) -> dict[str, str]:
    """The help of each long option, with the commands that have it."""
    owners: dict[str, dict[tuple[str, str], list[str]]] = {}
    for command in commands:
        for option in (*command.params, *getattr(command, "keys", ())):
            if isinstance(option, click.Option) and option.help:
                key_only = isinstance(option, Option) and option.key_only
                for name in (long[2:] for long in option.opts if long.startswith("--")):
                    texts = owners.setdefault(name, {})
                    spelled = f"{name}, a key of riskeval.toml" if key_only else f"--{name}"
                    texts.setdefault((spelled, option.help), []).append(command.name or "")
    return {
        name: "\n".join(
            f"{spelled} ({', '.join(of)}): {text}" for (spelled, text), of in texts.items()
        )
        for name, texts in owners.items()
    }


def _measure(measure: "RiskMeasure") -> str:
    from riskcli.output.measure_words import words_of

    words = words_of(measure)
    parts = [f"{words.title}: {words.summary}."]
    parts += [f"  {words.formula}"] if words.formula else []
    parts += [words.reading] if words.reading else []
    source = f"Source: {words.source}.\n" if words.source else ""
    return "\n\n".join([*parts, f"{source}Columns: {', '.join(columns_of(measure))}."])


def columns_of(measure: "RiskMeasure") -> list[str]:
    """The columns that bear the measure's name."""
    from riskcli.output.measure_words import columns

    return [name for name, column in columns().items() if column.measure == measure.id]


def _family(family: "Family") -> str:
    takes = _TAKES[family.argument].format(family.name)
    lines = [f"{family.name}: {family.summary}; {takes}."]
    lines += [known.meaning.format(family.name) for known in family.parameters]
    trec = " or ".join(name for name in (family.plain, family.cut) if name)
    if trec:
        lines.append(f"trec_eval calls it {trec}.")
    if family.ndeval:
        lines.append(f"ndeval calls it {family.ndeval}; judgements are by subtopic.")
    return "\n".join(lines)


# Headings of tables as words: what is left of one without the names and numbers within it.
#
# `GeoRisk⁻ ranks` below `AP, α=5` is explained by the columns that it shows, `loss 0.02` by the
# word `loss N`. So a new measure or column brings its headings along.


_SHOWS = {
    "interval": ("low", "high"), "ranks": ("rank_low", "rank_high"), "rank": ("rank",),
    "difference": ("difference",), "p": ("p",), "p adjusted": ("p_adjusted",), "flag": ("flag",),
}  # fmt: skip
"""The fields of a measure's estimate behind what follows its title."""
_NUMBER = re.compile(r"(?<!\S)[0-9.]+(?!\S)")
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)$")
_BOUND = re.compile(r"\s*[<>]=?.*$")
_ALPHA = re.compile(r"α̂?=\S+")


def _forms(word: str) -> Iterator[str]:
    """The word, and what it may be known by; the closest first."""
    yield word
    bare = _BOUND.sub("", _IN_BRACKETS.sub("", word.replace("⁻", ""))) or word
    if bare.startswith("# "):  # a rank without its value
        yield f"{bare.removeprefix('# ')} rank"
    for form in (bare, _NUMBER.sub("N", bare)):
        yield form
        yield "-".join(form.split())
        yield "_".join(form.split())


def _below_its_group(word: str) -> str:
    """The heading without the measure and the alpha above it; alpha where nothing else is left."""
    from riskcli.effectiveness.measures import is_measure  # late, as all that computes

    rest = word.split()
    while rest and (
        _ALPHA.fullmatch(rest[0]) or (len(rest) > 1 and is_measure(rest[0].strip(",")))
    ):
        rest.pop(0)
    return " ".join(rest) or "alpha"


def _of_a_measure(heading: str, known: Callable[[str], str | None]) -> str | None:
    """What stands below a risk measure's title and a word; None where it is none of these.

    `known` explains the word alone.
    """
    from riskcli.output.measure_words import columns, meaning_of, words_of
    from riskcli.risk.measures import measures

    title, _, word = heading.replace("⁻", "").partition(" ")
    fields = _SHOWS.get(word.lower(), ())
    for measure in measures():
        if title.lower() in (measure.id, words_of(measure).title.lower()):
            shown = [
                f"{column.name} ({meaning_of(column)})"
                for field in fields
                for column in columns().values()
                if (column.measure, column.field) == (measure.id, field)
            ]
            general = known(word) or known(word.partition(" ")[0])
            parts = [f"{heading}: {' to '.join(shown)}.", *([general] if general else [])]
            return "\n\n".join(parts) if shown else known(measure.id) if not word else None
    return None
