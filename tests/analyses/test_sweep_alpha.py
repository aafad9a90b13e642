"""`riskeval sweep`: events in closed form against a scan over fine alphas."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riskcli.output.display import thinned
from tests.helpers.console import on_terminal
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES
from tests.helpers.tables import table_of

NAMES = ("urisk", "trisk", "zrisk", "georisk")

SHARED = ("sweep", SAMPLES, "-m", "ERR@20", "-b", "indriCASP")


def test_series_are_the_risk_tables() -> None:
    series = table_of(riskeval(*SHARED, "-a", "0,1,5").out)
    score = table_of(
        riskeval("score", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "-a", "0,1,5").out
    )
    expected = {(row["run"], row["alpha"]): row for row in score}
    assert len(series) == 27
    for row in series:
        match = expected[row["run"], row["alpha"]]
        for name in (*NAMES, "mean", "trisk_p", *(f"rank_{name}" for name in NAMES)):
            assert row[name] == match[name]


def test_events_are_sorted_and_true() -> None:
    found = table_of(riskeval(*SHARED, "--part", "events").out)
    alphas = [float(row["alpha"]) for row in found]
    assert alphas == sorted(alphas) and len(found) > 20
    kinds = {row["event"] for row in found}
    assert kinds == {"swap", "significance", "break-even"}
    swap = next(r for r in found if r["event"] == "swap" and r["risk_measure"] == "georisk")
    near = [float(swap["alpha"]) + step for step in (-1e-6, 1e-6)]
    ranks = [
        {
            row["run"]: int(row["rank_georisk"])
            for row in table_of(riskeval(*SHARED, "-a", f"{alpha!r},50").out)
            if float(row["alpha"]) < 50
        }
        for alpha in near
    ]
    assert ranks[0][swap["run"]] > ranks[0][swap["other"]]
    assert ranks[1][swap["run"]] < ranks[1][swap["other"]]
    assert (swap["before"], swap["after"]) == (swap["other"], swap["run"])


def test_between_two_runs_and_of_one_measure() -> None:
    pair = ("--between", "neuralMix", "boldRerank")
    found = table_of(riskeval(*SHARED, *pair, "--part", "events", "--of", "urisk").out)
    whole = table_of(riskeval(*SHARED, "--part", "events").out)
    mine = [
        row for row in whole
        if row["risk_measure"] == "urisk" and {row["run"], row["other"]} <= {*pair, ""}
    ]  # fmt: skip
    assert found == mine and found
    series = table_of(riskeval(*SHARED, *pair, "-a", "0:1").out)
    assert {row["run"] for row in series} == {"neuralMix", "boldRerank"}


def test_a_measure_without_events_has_no_table_of_them() -> None:
    ran = riskeval("sweep", SAMPLES, "--of", "shortfall", "--part", "events", "-f", "table")
    assert (ran.code, ran.out) == (0, "") and "no events of shortfall" in ran.err


def test_smooth_stands_beside_and_minus_turns() -> None:
    rows = table_of(riskeval(*SHARED, "-a", "0,5", "--loss", "smooth").out)
    smooth = [row for row in rows if row["loss"] == "smooth"]
    assert len(rows) == 27 and len(smooth) == 9 and {row["alpha"] for row in smooth} == {""}
    score = table_of(
        riskeval("score", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "--loss", "smooth").out
    )
    assert {(r["run"], r["georisk"]) for r in smooth} == {(r["run"], r["georisk"]) for r in score}
    minus = table_of(riskeval(*SHARED, "-a", "1,6", "--convention", "minus").out)
    plain = [row for row in rows if row["loss"] == "linear"]
    for one, other in zip(plain, minus, strict=True):
        assert one["rank_urisk"] == other["rank_urisk"] and one["alpha"] == other["alpha"]
        assert not one["zrisk"] or float(one["zrisk"]) == -float(other["zrisk"])


def test_events_under_minus_are_those_of_plain_turned() -> None:
    plain = table_of(riskeval(*SHARED, "-a", "0,20", "--part", "events").out)
    call = (*SHARED, "-a", "1,21", "--convention", "minus", "--part", "events")
    minus = table_of(riskeval(*call).out)
    opposite = {"positive": "negative", "negative": "positive"}
    assert {row["event"] for row in minus} == {"swap", "significance", "break-even"}
    for one, other in zip(plain, minus, strict=True):
        assert float(other["value"]) == -float(one["value"])
        for name in ("before", "after"):
            assert other[name] == opposite.get(one[name], one[name])
        for name in ("alpha", "event", "risk_measure", "run", "other"):
            assert other[name] == one[name]
    shown = " ".join(riskeval(*call, "-f", "table", "--top", "500").out.split())
    assert "turns positive: its losses, counted α̂ times, outweigh its gains" in shown


def test_a_table_between_two_runs_has_their_lines_of_the_whole_table() -> None:
    pair = ("neuralMix", "boldRerank")
    call = (*SHARED, "-a", "0:2", "--part", "series", "-f", "table")
    every, two = riskeval(*call).out, riskeval(*call, "--between", *pair).out
    lines = [[line.split() for line in text.splitlines()] for text in (every, two)]
    of_pair = [[c for c in each if c[:1] and c[0] in pair and "leads" not in c] for each in lines]
    assert of_pair[0] == of_pair[1] and len(of_pair[1]) == 8
    assert "boldRerank" in two and "indriCASP " not in two


def test_json_holds_both_parts() -> None:
    found = json.loads(riskeval(*SHARED, "-f", "json").out)
    assert len(found["rows"]) == 9 * 21
    events_ = json.loads(riskeval(*SHARED, "-f", "json", "--part", "events").out)
    assert found["events"] == events_["rows"] and events_["series"] == found["rows"]


@pytest.mark.parametrize("columns", [80, 160])
def test_the_tables_fit(columns: int) -> None:
    command = "riskeval sweep sample_runs/ -b indriCASP -m ERR@20 --full --loss smooth:fit"
    code, shown = on_terminal(f"{command} 2>/dev/null", columns)
    assert code == 0 and max(map(len, shown.splitlines())) <= columns
    assert "neuralMix overtakes boldRerank" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-a", "5"], "needs a range"),
        (["--of", "geo"], "did you mean georisk"),
        (["--between", "neuralMix", "boldRenk"], "did you mean boldRerank"),
    ],
)
def test_wrong_calls(arguments: list[str], words: str) -> None:
    ran = riskeval(*SHARED, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_columns_that_fit_are_regular() -> None:
    assert thinned(21, 21) == list(range(21))
    assert thinned(21, 12) == list(range(0, 21, 2))
    assert thinned(21, 6) == [0, 4, 8, 12, 16, 20]
    assert thinned(21, 1) == [0, 20]
    assert thinned(2, 9) == [0, 1] and thinned(1, 9) == [0]


@pytest.mark.parametrize(
    ("over", "option", "words"),
    [
        ("baseline", ["-b", "indriCASP"], "--baseline belongs to --over alpha or measure"),
        ("population", ["--loss", "smooth"], "--loss belongs to --over alpha or measure"),
        ("population", ["--part", "urisk"], "--part belongs to --over alpha or baseline"),
        ("baseline", ["--of", "zrisk"], "--of belongs to --over alpha or measure or population"),
        ("measure", ["--between", "a", "b"], "--between belongs to --over alpha, not to measure"),
        ("measure", ["--top", "3"], "--top belongs to --over alpha, not to measure"),
        ("alpha", ["--part", "urisk"], "expected one of series, events"),
        ("baseline", ["--part", "events"], "expected one of urisk, baselines"),
        ("population", ["-a", "1,5"], "sweep --over population takes one alpha, found 2"),
    ],
)
def test_options_of_another_sweep_are_refused(over: str, option: list[str], words: str) -> None:
    ran = riskeval("sweep", "--over", over, SAMPLES, "-m", "P@5", *option)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


@pytest.mark.parametrize("over", ["baseline", "population"])
def test_settings_for_other_commands_leave_a_sweep_alone(over: str, tmp_path: Path) -> None:
    file = tmp_path / "riskeval.toml"
    file.write_text('population = "all"\nbaseline = "indriCASP"\nloss = "smooth"\n')
    call = ("sweep", "--over", over, SAMPLES, "-q", QRELS, "-m", "P@5", "-f", "tsv")
    assert riskeval(*call, "--config", file).out == riskeval(*call).out
