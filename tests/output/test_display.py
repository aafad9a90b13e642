"""Tables for people: what stands in them is asked for, and no terminal is too narrow."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import riskcli
from riskcli import Options, ScoreMatrix, UsageError
from riskcli.analyses.score_columns import KEYS, column_names
from riskcli.analyses.score_display import Layout
from riskcli.output.display import Cell, Display, Heading, least_width, narrowed
from riskcli.output.measure_words import columns_beside, columns_of_unjudged
from riskcli.output.text import as_text
from tests.helpers.inprocess import riskeval
from tests.helpers.program import SAMPLES, Key

SCORE = ("score", SAMPLES, "-b", "indriCASP", "-f", "table")


def many_runs(runs: int, length: int, measures: int = 2) -> riskcli.RiskTable:
    rng = np.random.default_rng(3)
    names = tuple(f"{i:03d}_{'x' * (length - 4)}" for i in range(runs))
    topics = tuple(map(str, range(1, 31)))
    matrices = [
        ScoreMatrix(f"M{i}", names, topics, rng.uniform(0.01, 1, (runs, 30)))
        for i in range(measures)
    ]
    return riskcli.risk_table(matrices, names[0], options=Options(alphas=(1.0, 5.0)))


@pytest.mark.parametrize("width", [60, 80, 100, 132, 200])
@pytest.mark.parametrize(("runs", "length"), [(3, 8), (12, 17), (200, 40)])
def test_no_row_is_wider_than_the_terminal(runs: int, length: int, width: int) -> None:
    table = many_runs(runs, length)
    for shown in (table, table.laid_out(("mean", "georisk", "georisk_interval", "wtl"))):
        lines = as_text(shown.displays(width), width, colour=False).splitlines()
        assert max(map(len, lines)) <= width
        rows = [line for line in lines if re.match(r" *[0-9]+ +[0-9]{3}_", line)]
        assert len(rows) % runs == 0 and len(rows) >= runs


def test_what_a_narrow_terminal_leaves_out_is_said_and_in_which_order() -> None:
    shown = "\n".join(as_text(many_runs(12, 40, 1).displays(80), 80, colour=False).splitlines())
    said = " ".join(shown.split("Not shown in 80 columns: ")[1].split())
    assert said.startswith("ranks; names are shortened. All: a wider terminal, -f tsv")
    assert "…" in shown and "GeoRisk" in shown and "W/T/L" in shown
    assert "Not shown" not in as_text(many_runs(12, 40, 1).displays(160), 160, colour=False)


@given(
    st.integers(20, 120),
    st.lists(st.tuples(st.integers(1, 40), st.booleans(), st.booleans()), min_size=1, max_size=12),
)
def test_narrowing_keeps_names_and_numbers_whole(
    width: int, columns: list[tuple[int, bool, bool]]
) -> None:
    headings = [Heading("run", left=True, names=True)]
    headings += [Heading("h" * n, ranked=r, optional=o) for n, r, o in columns]
    row = [Cell("n" * 30), *(Cell("1" * n, rank=7) for n, _, _ in columns)]
    narrow = narrowed(Display.of_rows("", headings, [row]), width)
    kept = {cell.text for column in narrow.columns[1:] for cell in column.cells}
    assert kept <= {cell.text for cell in row}
    assert least_width(narrow.columns) <= width or len(narrow.columns) <= 2
    assert (narrow.columns == Display.of_rows("", headings, [row]).columns) == (not narrow.caption)


def test_one_table_holds_all_measures_and_alphas() -> None:
    ran = riskeval(
        *SCORE, "-m", "AP,nDCG@20", "-a", "1,5", "--columns", "mean,georisk", COLUMNS="120"
    )
    assert ran.code == 0 and ran.out.count("baseline indriCASP") == 1
    heads = ran.out.split("─")[0].splitlines()[-2:]
    assert re.findall(r"AP, α=\d|nDCG@20, α=\d|AP|nDCG@20", heads[0]) == [
        "AP", "AP, α=1", "AP, α=5", "nDCG@20", "nDCG@20, α=1", "nDCG@20, α=5",
    ]  # fmt: skip
    assert "\nnDCG@20: neuralMix (mean " in ran.out and ran.out.startswith("AP: neuralMix (")
    assert heads[1].split().count("GeoRisk") == 4 and heads[1].split().count("Mean") == 2
    apart = riskeval(*SCORE, "-m", "nDCG@20", "-a", "5", COLUMNS="80").out
    value = re.search(r"neuralMix.* (\S+) +\d$", apart, re.M)
    row = next(line for line in ran.out.splitlines() if re.match(r"\d  neuralMix ", line))
    assert value is not None and row.endswith(f"{value[0].split()[-2]} {value[0][-1]}")


def test_any_column_can_be_asked_for() -> None:
    table = many_runs(3, 8, 1)
    beside = {*columns_of_unjudged(), *columns_beside()}
    names = [name for name in column_names() if name not in beside]
    assert {"mean", "mean_p_adj", "georisk_interval", "wtl", "losses20", "rank_urisk"} <= {*names}
    for name in names:
        (display,) = table.laid_out((name,)).displays(200)
        least = 2 if name in KEYS else 3  # the keys stand elsewhere already
        assert len(display.columns) in (least, least + 1) and len(display.rows) == 3
    with pytest.raises(UsageError, match="no column 'geo_risk'; did you mean georisk"):
        Layout(("geo_risk",))
    assert riskeval(*SCORE, "--columns", "mean,foo").code == 2


def test_ranks_marks_and_legend_can_be_left_out() -> None:
    bare = riskeval(*SCORE, Key("no-ranks"), Key("no-legend"), Key("marks", "none")).out
    assert "#" not in bare and "▲" not in bare and "population" not in bare
    assert "γ" not in bare
    daggers = riskeval(*SCORE, Key("marks", "daggers")).out
    assert "†" in daggers and "▲" not in daggers and "† better, ‡ worse at γ" in daggers
    for format in ("markdown", "html", "latex"):
        shown = riskeval("score", SAMPLES, "-b", "indriCASP", "-f", format, Key("no-legend")).out
        assert "population" not in shown


def test_the_rank_shown_is_that_of_the_column_sorted_by() -> None:
    def numbers(sort: str) -> list[str]:
        shown = riskeval(*SCORE, "-m", "ERR@20", "--sort", sort).out
        rows = [line.split() for line in shown.splitlines() if re.match(r"[0-9–] ", line)]
        return [row[0] for row in rows]

    assert numbers("georisk") == [str(i) for i in range(1, 10)]
    assert numbers("-georisk") == [str(i) for i in range(9, 0, -1)]
    assert numbers("mean") == [str(i) for i in range(1, 10)]
    losses = numbers("losses")
    assert losses[0] == "1" and losses[-1] == "–"
    assert riskeval(*SCORE, "--sort", "-lossses").code == 2


def test_a_column_without_a_heading_is_named_all_the_same() -> None:
    headings = [Heading("run", left=True), Heading("value"), Heading("", left=True)]
    row = [Cell("a"), Cell("0.5"), Cell("a reason of some length, which needs the room")]
    display = narrowed(Display.of_rows("", headings, [row]), 20)
    assert display.caption[-1].startswith("Not shown in 20 columns: the column without a heading.")
