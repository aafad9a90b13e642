"""By how many judges candidates pass, where there are several."""

from collections.abc import Iterator, Sequence

from riskcli.analyses.check.outcomes import Verdict
from riskcli.analyses.judges import by_count, sentence
from riskcli.core.messages import listed
from riskcli.output.verdict import Statement

_NAMED = 3


def of_judges(verdicts: Sequence[Verdict]) -> Iterator[Statement]:
    """A sentence an effectiveness measure; nothing of a single judge."""
    by_measure: dict[str, dict[str, dict[str, bool]]] = {}
    for verdict in (verdict for verdict in verdicts if verdict.judge):
        measure = verdict.measure.removesuffix(f" [{verdict.judge}]")
        own = by_measure.setdefault(measure, {}).setdefault(verdict.candidate, {})
        own[verdict.judge] = verdict.passed
    for measure, candidates in by_measure.items():
        number = max(map(len, candidates.values()))
        passed = {name: sum(own.values()) for name, own in candidates.items()}
        parts = [(count, listed(names, _NAMED)) for count, names in by_count(passed)]
        text = sentence("pass", parts, number) or f"none of {number} judges passes a candidate"
        text = f"{measure}: {text}." if len(by_measure) > 1 else f"{text[0].upper()}{text[1:]}."
        runs = tuple(name for name, count in passed.items() if count == number)
        yield Statement("judges", text, runs=runs, numbers={"judges": number})
