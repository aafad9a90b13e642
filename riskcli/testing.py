"""The gate in a test: `assert_no_regression`, and what pytest's summary says of those that passed.

pytest loads this module where riskeval is installed: it imports nothing until it is used.
"""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from riskcli.analyses.check.verdict import Gate
    from riskcli.core.choices import Inconclusive

_LINES, _SENTENCES = 40, 2
_passed: list[str] = []
"""What was said in the test that runs."""


def assert_no_regression(
    run: Any,
    baseline: Any,
    qrels: Any = None,
    *,
    measures: str | Sequence[str] = ("ERR@20", "nDCG@20"),
    policy: str = "standard",
    rules: Sequence[str] = (),
    margin: float | Mapping[str, float] | None = None,
    queries: Path | str | Mapping[str, str] | None = None,
    inconclusive: Inconclusive = "fail",
) -> Gate:
    """Fail with the verdict unless the run holds up against the baseline; else give the gate.

    Both are files (the run a folder too, the baseline also what `riskeval matrix` wrote or
    `check --ratchet` keeps), or runs
    in memory as `score_runs` takes them; or `run` holds scores, and `baseline` names one of them.
    Each policy and rule means what it does in `riskeval check`.
    """
    __tracebackhide__ = True
    from riskcli.api import judge, read_queries

    scores, name = _scores(run, baseline, qrels, measures)
    texts = queries if isinstance(queries, Mapping | None) else read_queries(queries)
    gate = judge(
        scores, name, policy, rules=rules, margin=margin, inconclusive=inconclusive, queries=texts
    )
    if not gate.passed or gate.skipped:
        raise AssertionError("\n".join(gate.to_text("table").splitlines()[:_LINES]))
    _passed.append(" ".join(gate.verdict.sentences[:_SENTENCES]))
    return gate


def _scores(run: Any, baseline: Any, qrels: Any, measures: str | Sequence[str]) -> tuple[Any, str]:
    """Whatever holds the scores of both, and the baseline's name."""
    from pathlib import Path

    from riskcli.analyses.check.kept import with_baseline
    from riskcli.analyses.check.ratchet_file import is_ratchet, with_ratchet
    from riskcli.api import read_qrels, read_run, score_runs
    from riskcli.cli.reading import Inputs

    files = isinstance(run, str | Path), isinstance(baseline, str | Path)
    names = (measures,) if isinstance(measures, str) else tuple(measures)
    if all(files):
        judged = () if qrels is None else (Path(qrels),)
        inputs = Inputs(quiet=True, runs=(Path(run),), judged=judged, measures=names)
        if is_ratchet(Path(baseline)):  # nothing is kept, and its audit's topics stay unused
            known = with_ratchet(inputs, Path(baseline), {}, (), None, "refuse", repeats=False)
            return known.pairs, known.baseline
        return with_baseline(inputs, [str(baseline)], None, "refuse")
    if qrels is None:
        return run, baseline
    held = {"candidate": run, "baseline": baseline}
    for name, given in held.items():
        held[name] = read_run(given) if isinstance(given, str | Path) else given
    judgements = read_qrels(qrels) if isinstance(qrels, str | Path) else qrels
    return score_runs(held, judgements, names), "baseline"


# The plug-in: a pass may lose, too, so what passed is said once at the end.


def pytest_runtest_makereport(item: Any, call: Any) -> None:
    """Lay what was said of gates beside the test, which may have run in a process of its own."""
    if call.when == "call":
        item.user_properties.extend(("riskeval", text) for text in _passed)
        _passed.clear()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what the gates of tests that passed lose."""
    for report in terminalreporter.getreports("passed"):
        for name, text in report.user_properties:
            if name == "riskeval" and report.when == "call":
                terminalreporter.write_line(f"{report.nodeid}: {text}")
