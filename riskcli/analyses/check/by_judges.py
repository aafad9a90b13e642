"""By how many judges candidates pass, where there are several."""

from collections.abc import Iterator, Sequence

from riskcli.analyses.check.outcomes import Verdict
from riskcli.analyses.judges import all_judges
from riskcli.core.messages import listed
from riskcli.output.verdict import Statement

_NAMED = 3


def of_judges(verdicts: Sequence[Verdict]) -> Iterator[Statement]:
    """A sentence an effectiveness measure; nothing of a single judge."""
    by_measure: dict[str, dict[str, dict[str, bool]]] = {}
    for verdict in verdicts:
        if verdict.judge:
            measure = verdict.measure.removesuffix(f" [{verdict.judge}]")
            own = by_measure.setdefault(measure, {}).setdefault(verdict.candidate, {})
            own[verdict.judge] = verdict.passed
    for measure, candidates in by_measure.items():
        number = max(map(len, candidates.values()))
        text = _of_one(candidates, number) if len(candidates) == 1 else _of_many(candidates, number)
        names = tuple(name for name, passed in candidates.items() if all(passed.values()))
        about = f" ({measure})" if len(by_measure) > 1 else ""
        yield Statement("judges", f"{text}{about}.", runs=names, numbers={"judges": number})


def _of_one(candidates: dict[str, dict[str, bool]], number: int) -> str:
    (name, passed), *_ = candidates.items()
    against = [judge for judge, own in passed.items() if not own]
    text = f"{name} passes by {number - len(against)} of {number} judges"
    return text + (f", not by {listed(against, _NAMED)}" if against else "")


def _of_many(candidates: dict[str, dict[str, bool]], number: int) -> str:
    """Who passes by every judge, and who by some."""
    counts = {name: sum(passed.values()) for name, passed in candidates.items()}
    every = [name for name, count in counts.items() if count == number]
    some = [f"{name} (passes by {k} of {number})" for name, k in counts.items() if 0 < k < number]
    text = f"{all_judges(number)} pass {listed(every, _NAMED)}" if every else ""
    if some:
        text += f"{'; they' if text else 'The judges'} differ on {listed(some, _NAMED)}"
    return text or f"By none of {number} judges a candidate passes"
