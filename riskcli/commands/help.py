"""What a measure, a column or an exit code means, in words, from the places that define them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType

import click

from riskcli.analyses.check.case import TOPIC_QUANTITIES
from riskcli.analyses.check.rules import POLICIES
from riskcli.cli.help import program
from riskcli.commands.words import WORDS as SIGNS
from riskcli.commands.words import Word
from riskcli.commands.words_of_analyses import WORDS_OF_ANALYSES
from riskcli.core.messages import UsageError, nearest
from riskcli.effectiveness.measure import Family
from riskcli.effectiveness.measures import FAMILIES
from riskcli.output.measure_words import columns, meaning_of, words_of
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.trec.findings import CODES

WORDS = (*SIGNS, *WORDS_OF_ANALYSES)
EXIT_CODES = {
    "0": "done",
    "1": "done, and the answer is no: a gate failed, a file is invalid or was left out",
    "2": "the input or the command line is wrong; an error says where and what was expected",
    "130": "interrupted (Ctrl-C)",
    "70": "a fault in riskeval itself: please report it",
    "143": "terminated",
}

_TAKES = {
    "none": "takes no cutoff",
    "cutoff": "needs a cutoff: {0}@10",
    "optional cutoff": "with or without a cutoff: {0}, {0}@10",
    "value": "needs a value: {0}@0.1",
}


def overview(commands: dict[str, str]) -> str:
    """Everything that can be explained."""
    parts: dict[str, Iterable[tuple[str, str]]] = {
        "Risk measures": ((m.id, words_of(m).summary) for m in measures()),
        "Commands": commands.items(),
        "Words and signs": ((w.names[0], _first_sentence(w)) for w in WORDS),
        "Effectiveness measures": ((f.name, f.summary) for f in FAMILIES),
        "Columns": ((name, meaning_of(c)) for name, c in columns().items()),
        "Policies of check": ((p.name, p.meaning) for p in POLICIES.values()),
        "Codes of files": ((c.name, c.meaning) for c in CODES.values()),
        "Exit codes": EXIT_CODES.items(),
    }
    lines = []
    for title, entries in parts.items():
        listed = list(entries)
        width = max(len(name) for name, _ in listed) + 1
        lines += [f"{title}:", *(f"  {name:{width}} {text}" for name, text in listed), ""]
    return "\n".join([*lines, "riskeval help WORD explains one of them, and any --option."])


def _first_sentence(word: Word) -> str:
    return word.text.partition(": ")[2].split(". ")[0].removesuffix(".")


def explained(word: str, commands: Sequence[click.Command]) -> str:
    """What is known by that word; an error with the nearest words where nothing is."""
    for explain in (_as_measure, _as_word, _as_column, _as_exit_code, _as_code, _as_policy,
                    _as_quantity, _as_family):  # fmt: skip
        if (text := explain(word)) is not None:
            return text
    options = _options(commands)
    if (name := word.removeprefix("--")) in options:
        return options[name]
    raise UsageError(f"nothing is called {word!r}{nearest(word, known_words(options))}")


def known_words(options: Iterable[str] = ()) -> list[str]:
    """All that can be explained."""
    names = [name for word in WORDS for name in word.names]
    names += [m.id for m in measures()] + [*columns()]
    names += [f.name for f in FAMILIES] + [*CODES, *POLICIES, *EXIT_CODES]
    return [*names, *(f"--{name}" for name in options)]


def _as_measure(word: str) -> str | None:
    by_name = {name: m for m in measures() for name in (m.id, words_of(m).title.lower())}
    return _measure(by_name[word.lower()]) if word.lower() in by_name else None


def _as_word(word: str) -> str | None:
    """The spelling first: `p` is a probability, `P` is precision."""
    for spelled in (lambda name: name, str.lower):
        for entry in WORDS:
            if spelled(word) in map(spelled, entry.names) and (
                spelled is not str.lower or _as_family(word) is None
            ):
                return entry.text
    return None


def _as_column(word: str) -> str | None:
    column = columns().get(word) or columns().get(word.lower())
    return f"{column.name} ({column.kind}): {meaning_of(column)}." if column else None


def _as_exit_code(word: str) -> str | None:
    if word.lower() in ("exit", "exit-code", "exit-codes"):
        return "\n".join(f"Exit code {code}: {text}." for code, text in EXIT_CODES.items())
    return f"Exit code {word}: {EXIT_CODES[word]}." if word in EXIT_CODES else None


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
    for quantity in TOPIC_QUANTITIES:
        if word == quantity.name:
            name = f"{word}(TOPIC)" if quantity.of_topic else word
            return f"{name}, in rules of `riskeval check`: {quantity.meaning}."
    return None


def _as_family(word: str) -> str | None:
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
    words = words_of(measure)
    parts = [f"{words.title}: {words.summary}."]
    parts += [f"  {words.formula}"] if words.formula else []
    parts += [words.reading] if words.reading else []
    source = f"Source: {words.source}.\n" if words.source else ""
    return "\n\n".join([*parts, f"{source}Columns: {', '.join(columns_of(measure))}."])


def columns_of(measure: RiskMeasure) -> list[str]:
    """The columns that bear the measure's name."""
    return [name for name, column in columns().items() if column.measure == measure.id]


def _family(family: Family) -> str:
    takes = _TAKES[family.argument].format(family.name)
    lines = [f"{family.name}: {family.summary}; {takes}."]
    lines += [known.meaning.format(family.name) for known in family.parameters]
    trec = " or ".join(name for name in (family.plain, family.cut) if name)
    if trec:
        lines.append(f"trec_eval calls it {trec}.")
    return "\n".join(lines)


# `riskeval help`: what a measure, a column or an exit code means, at the terminal.


WIDTH = 80


def _glossary() -> ModuleType:
    """Loaded late: words come from all rooms, and `help COMMAND` needs none of them."""
    import riskcli.commands.help as glossary

    return glossary


def _words(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    commands = ctx.find_root().command
    names = commands.list_commands(ctx) if isinstance(commands, click.Group) else []
    return [word for word in (*names, *_glossary().known_words()) if word.startswith(incomplete)]


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("word", required=False, shell_complete=_words)
def help(word: str | None) -> None:  # noqa: A001
    """Explain WORD: a measure, a column, a heading or sign, an option, a policy, a code, a command.

    Without WORD: all that can be explained.
    """
    group, context = program(), click.get_current_context()
    if word is None:
        click.echo(_glossary().overview(group.summaries))
    elif word in group.summaries:
        command = group.get_command(context, word)
        click.echo(command.get_help(click.Context(command, context.parent, info_name=word)))
    else:
        text = _glossary().explained(word, group.every_command())
        for line in text.split("\n"):
            click.echo(click.wrap_text(line, WIDTH) if len(line) > WIDTH else line)
