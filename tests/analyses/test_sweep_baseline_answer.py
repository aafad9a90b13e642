"""What a sweep over baselines says first: ranges of ranks, and sentences."""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np
import pytest

from riskcli import Bias, baseline_bias
from riskcli.analyses.sweep_baseline import _bar
from tests.helpers.inprocess import riskeval
from tests.helpers.program import SAMPLES
from tests.helpers.strategies import Floats, named

CALL = ("sweep", "--over", "baseline", SAMPLES, "-m", "ERR@20", "--quiet")


def family(runs: int = 6, noise: float = 0.02, step: float = 0.06) -> Floats:
    """Runs that share their topics' difficulty, each better than the one before by a step."""
    generator = np.random.default_rng(7)
    topics = generator.uniform(0.2, 0.5, 30)
    better = step * np.arange(runs)[:, None]
    return np.asarray(topics + better + noise * generator.standard_normal((runs, 30)))


def rules(bias: Bias) -> list[str]:
    return [each.rule for each in bias.verdict]


def test_the_table_is_read_from_the_ranks_of_the_rows() -> None:
    ranks: dict[str, dict[str, int]] = defaultdict(dict)
    means: dict[str, int] = {}
    for row in json.loads(riskeval(*CALL, "-f", "json").out)["rows"]:
        assert row["alpha"] == 1
        if row["baseline"][0] != "@" and row["baseline"] != row["run"]:
            ranks[row["run"]][row["baseline"]] = row["rank_urisk"]
            means[row["run"]] = row["rank_mean"]
    lines = riskeval(*CALL, "-f", "table").out.splitlines()
    (ruler,) = [number for number, line in enumerate(lines) if line.startswith("──")]
    table = [line.split() for line in lines[ruler + 1 : ruler + 10]]
    assert [int(cells[1]) for cells in table] == list(range(1, 10))
    for run, mean, shown, bar, against in table:
        mine = sorted(ranks[run].values())
        low, _, high = shown.partition("–")
        assert (int(low), int(high or low)) == (mine[0], mine[-1]) and int(mean) == means[run]
        assert len(bar) == 9 and bar.index("●") + 1 == mine[3]  # of eight: the lower median
        filled = [place for place, sign in enumerate(bar, start=1) if sign != "·"]
        assert (filled[0], filled[-1]) == (mine[0], mine[-1])
        assert against == "–" if mine[0] == mine[-1] else ranks[run][against] == mine[-1]


def test_a_scale_of_many_ranks_keeps_its_ends() -> None:
    assert _bar(1, 1, 100, 100) == "●" + "─" * 19
    assert _bar(100, 100, 100, 100) == "·" * 19 + "●"
    assert _bar(2, 3, 5, 6) == "·─●──·"
    assert _bar(1, 1, 1, 1) == "●"


def test_a_run_that_is_first_under_every_baseline_is_named() -> None:
    bias = baseline_bias(named(family()))
    (first,) = bias.verdict.by("first-always")
    assert first.runs == ("r5",) and first.numbers == {"baselines": 5, "first": 5}
    assert first.text == "r5 is first by URisk whichever other run is the baseline."


def test_runs_that_are_first_under_some_baselines_are_counted() -> None:
    values = np.random.default_rng(3).random((6, 12)) * 0.1 + 0.4
    bias = baseline_bias(named(values), alpha=5.0)
    (first,) = bias.verdict.by("first-depends")
    ranks = bias.parts[0].ranks[:, :6]
    times = {f"r{row}": int((ranks[row] == 1).sum()) for row in range(6)}
    assert set(first.runs) == {run for run, count in times.items() if count}
    most = max(times.values())
    assert times[first.runs[0]] == most and f"{first.runs[0]} under {most} of 6" in first.text


def test_baselines_agree_where_shuffled_runs_would_not() -> None:
    (agree,) = baseline_bias(named(family())).verdict.by("baselines-agree")
    assert agree.numbers["w_p"] == pytest.approx(0.001) and "p 0.001" in agree.text
    values = np.random.default_rng(3).random((6, 12)) * 0.1 + 0.4
    equal = baseline_bias(named(values), alpha=5.0)
    (nothing,) = equal.verdict.by("baselines-no-agreement")
    p = nothing.numbers["w_p"]
    assert p is not None and p >= 0.05 and nothing.text.startswith("Nothing shows")
    assert not equal.verdict.by("baselines-agree")
    assert not set(str(equal.verdict)) & set("αβγδτχ")


def test_what_was_not_shuffled_claims_no_agreement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riskcli.analyses.baseline_bias.too_much_to_shuffle", lambda _: True)
    assert rules(baseline_bias(named(family()))) == ["first-always"]


def test_of_many_runs_the_first_are_shown_and_full_has_all() -> None:
    bias = baseline_bias(named(family(30)))
    (answer,) = bias.screen(80)
    assert len(answer.rows) == 17 and "And 13 runs more: --full." in answer.caption
    first, *others = bias.displays(80)
    assert len(first.rows) == 30 and len(others) > 5
    assert not others[0].verdict and first.verdict == answer.verdict
    (part,) = bias.only("friedman").displays(80)
    assert part.title.startswith("Friedman") and part.verdict == answer.verdict
