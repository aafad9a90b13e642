"""What a measure, a column or an exit code means, in words, from the places that define them."""

from __future__ import annotations

from riskcli.core.errors import UsageError, nearest
from riskcli.effectiveness.measure import Family
from riskcli.effectiveness.names import FAMILIES
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import all_columns, measures

EXIT_CODES = {
    "0": "done",
    "1": "done, and the answer is no: a gate failed, a file is invalid or was left out",
    "2": "the input or the command line is wrong; an error says where and what was expected",
    "130": "interrupted (Ctrl-C)",
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
    lines = ["Risk measures:"]
    lines += [f"  {measure.id:10} {measure.summary}" for measure in measures()]
    lines += ["", "Commands:", *(f"  {name:13} {line}" for name, line in commands.items())]
    lines += ["", "Effectiveness measures:"]
    lines += [f"  {family.name:22} {family.summary}" for family in FAMILIES]
    lines += ["", "Columns:", *(f"  {c.name:18} {c.meaning}" for c in all_columns())]
    lines += ["", "Exit codes:", *(f"  {code:4} {line}" for code, line in EXIT_CODES.items())]
    lines += ["", "riskeval help WORD explains one of them."]
    return "\n".join(lines)


def explained(word: str) -> str:
    """What is known by that word; an error with the nearest words where nothing is."""
    for measure in measures():
        if word.lower() in (measure.id, measure.title.lower()):
            return _measure(measure)
    for column in all_columns():
        if word == column.name:
            return f"{column.name} ({column.kind}): {column.meaning}."
    if word in EXIT_CODES:
        return f"Exit code {word}: {EXIT_CODES[word]}."
    stem = word.split("@")[0].split("(")[0].lower()
    for family in FAMILIES:
        if stem in [name.lower() for name in family.names]:
            return _family(family)
    known = [measure.id for measure in measures()] + [column.name for column in all_columns()]
    known += [family.name for family in FAMILIES]
    raise UsageError(f"nothing is called {word!r}{nearest(word, known)}")


def _measure(measure: RiskMeasure) -> str:
    columns = ", ".join(columns_of(measure))
    return "\n".join(
        [
            f"{measure.title}: {measure.summary}.",
            "",
            f"  {measure.formula}",
            "",
            measure.reading,
            "",
            f"Source: {measure.source}.",
            f"Columns: {columns}.",
        ]
    )


def columns_of(measure: RiskMeasure) -> list[str]:
    """The columns that bear the measure's name."""
    return [column.name for column in all_columns() if column.measure == measure.id]


def _family(family: Family) -> str:
    takes = _TAKES[family.argument].format(family.name)
    lines = [f"{family.name}: {family.summary}; {takes}."]
    lines += [known.meaning.format(family.name) for known in family.parameters]
    trec = " or ".join(name for name in (family.plain, family.cut) if name)
    if trec:
        lines.append(f"trec_eval calls it {trec}.")
    return "\n".join(lines)
