"""What a measure, a column, a sign or an exit code means, from the places that define them.

Most words are in glossary.toml; only for others is imported what computes measures and columns.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import click

from riskcli.analyses.check.rules import POLICIES
from riskcli.core.messages import UsageError, nearest
from riskcli.trec.findings import CODES

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
    return tuple(Word(tuple(e["names"]), " ".join(e["text"].split())) for e in entries)


def exit_codes() -> dict[str, str]:
    """Every exit code, and when the program ends with it."""
    codes: dict[str, str] = _glossary()["exit-codes"]
    return codes


def overview() -> str:
    """Everything that can be explained but commands and options."""
    from riskcli.effectiveness.measures import FAMILIES
    from riskcli.output.measure_words import columns, meaning_of, words_of
    from riskcli.risk.measures import measures

    return listed(
        {
            "Risk measures": ((m.id, words_of(m).summary) for m in measures()),
            "Words and signs": ((w.names[0], _first_sentence(w)) for w in glossary_words()),
            "Effectiveness measures": ((f.name, f.summary) for f in FAMILIES),
            "Columns": ((name, meaning_of(c)) for name, c in columns().items()),
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


def explained(word: str, commands: Callable[[], Sequence[click.Command]]) -> str:
    """What is known by that word; an error with the nearest words where nothing is."""
    if word.startswith("--"):
        explanations: tuple[Callable[[str], str | None], ...] = ()
    else:
        explanations = (_as_word, _as_exit_code, _as_code, _as_policy, _as_measure,
                        _as_word_in_any_case, _as_column, _as_quantity, _as_family)  # fmt: skip
    for explain in explanations:
        if (text := explain(word)) is not None:
            return text
    options = _options(commands())
    if (name := word.removeprefix("--")) in options:
        return options[name]
    raise UsageError(f"nothing is called {word!r}{nearest(word, known_words(options))}")


def known_words(options: Iterable[str] = ()) -> list[str]:
    """All that can be explained."""
    from riskcli.effectiveness.measures import FAMILIES
    from riskcli.output.measure_words import columns
    from riskcli.risk.measures import measure_ids

    names = [name for word in glossary_words() for name in word.names]
    names += [*measure_ids(), *columns(), *(family.name for family in FAMILIES)]
    return [*names, *CODES, *POLICIES, *exit_codes(), *(f"--{name}" for name in options)]


def _as_measure(word: str) -> str | None:
    from riskcli.output.measure_words import words_of
    from riskcli.risk.measures import measures

    by_name = {name: m for m in measures() for name in (m.id, words_of(m).title.lower())}
    return _measure(by_name[word.lower()]) if word.lower() in by_name else None


def _as_word(word: str) -> str | None:
    return next((entry.text for entry in glossary_words() if word in entry.names), None)


def _as_word_in_any_case(word: str) -> str | None:
    """`p` is a probability, `P` is precision."""
    for entry in glossary_words():
        if word.lower() in map(str.lower, entry.names) and _as_family(word) is None:
            return entry.text
    return None


def _as_column(word: str) -> str | None:
    from riskcli.output.measure_words import columns, meaning_of

    column = columns().get(word) or columns().get(word.lower())
    return f"{column.name} ({column.kind}): {meaning_of(column)}." if column else None


def _as_exit_code(word: str) -> str | None:
    codes = exit_codes()
    if word.lower() in ("exit", "exit-code", "exit-codes"):
        return "\n".join(f"Exit code {code}: {text}." for code, text in codes.items())
    return f"Exit code {word}: {codes[word]}." if word in codes else None


def _as_code(word: str) -> str | None:
    """A code of `validate`, or of the error of another command."""
    if word not in CODES:
        return None
    code = CODES[word]
    refused = "the file is refused" if code.severity == "error" else "the file is accepted"
    return f"{word} ({code.severity}: {refused}): {code.meaning}."


def _as_policy(word: str) -> str | None:
    if word in ("policy", "policies"):
        lines = [f"  {policy.name:9} {policy.meaning}" for policy in POLICIES.values()]
        return "\n".join(["policy: what `riskeval check` asks of a candidate (--policy).", *lines])
    if word not in POLICIES:
        return None
    return f"{word}: a policy of `riskeval check`: {POLICIES[word].meaning}."


def _as_quantity(word: str) -> str | None:
    from riskcli.analyses.check.case import TOPIC_QUANTITIES

    for quantity in TOPIC_QUANTITIES:
        if word == quantity.name:
            name = f"{word}(TOPIC)" if quantity.of_topic else word
            return f"{name}, in rules of `riskeval check`: {quantity.meaning}."
    return None


def _as_family(word: str) -> str | None:
    from riskcli.effectiveness.measures import FAMILIES

    stem = word.split("@")[0].split("(")[0].lower()
    found = (f for f in FAMILIES if stem in [name.lower() for name in f.names])
    return next(map(_family, found), None)


def _options(commands: Sequence[click.Command]) -> dict[str, str]:
    """The help of each long option, with the commands that have it."""
    owners: dict[str, dict[str, list[str]]] = {}
    for command in commands:
        for option in (*command.params, *getattr(command, "keys", ())):
            if isinstance(option, click.Option) and option.help:
                names = [name.removeprefix("--") for name in option.opts if name[:2] == "--"]
                for name in names:
                    texts = owners.setdefault(name, {})
                    texts.setdefault(option.help, []).append(command.name or "")
    return {
        name: "\n".join(f"--{name} ({', '.join(of)}): {text}" for text, of in texts.items())
        for name, texts in owners.items()
    }


def _measure(measure: RiskMeasure) -> str:
    from riskcli.output.measure_words import words_of

    words = words_of(measure)
    parts = [f"{words.title}: {words.summary}."]
    parts += [f"  {words.formula}"] if words.formula else []
    parts += [words.reading] if words.reading else []
    source = f"Source: {words.source}.\n" if words.source else ""
    return "\n\n".join([*parts, f"{source}Columns: {', '.join(columns_of(measure))}."])


def columns_of(measure: RiskMeasure) -> list[str]:
    """The columns that bear the measure's name."""
    from riskcli.output.measure_words import columns

    return [name for name, column in columns().items() if column.measure == measure.id]


def _family(family: Family) -> str:
    takes = _TAKES[family.argument].format(family.name)
    lines = [f"{family.name}: {family.summary}; {takes}."]
    lines += [known.meaning.format(family.name) for known in family.parameters]
    trec = " or ".join(name for name in (family.plain, family.cut) if name)
    if trec:
        lines.append(f"trec_eval calls it {trec}.")
    return "\n".join(lines)
