"""What the documents say in numbers is what the program does, or what was measured."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

from riskcli.__main__ import LEAST_FILES, LEAST_MEMORY
from riskcli.analyses.baseline_bias import MOST_WORK
from riskcli.analyses.cautions import FEW_DIFFERING, FEW_TOPICS
from riskcli.analyses.pairwise import MOST_LETTERED
from riskcli.analyses.significance import MOST_IN_MATRIX
from riskcli.core.limits import (
    DRAWING_SPACE,
    IN_HAND,
    LARGEST_SCORE,
    LEAST_SCORE,
    MOST_ALPHA,
    MOST_JOBS,
    MOST_LISTED_PAIRS,
    MOST_PAIRS,
)
from riskcli.output import measure_words
from riskcli.risk.estimate import LEAST_SHUFFLES, LEAST_SWAPS
from riskcli.risk.inference import MOST_SHUFFLED_CELLS
from riskcli.risk.measure import MOST_CELLS_AT_ONCE, MOST_RANKED_RUNS
from riskcli.risk.paired import LEAST_TOPICS
from riskcli.trec.source import LONGEST_LINE, MAX_BYTES
from tests.helpers.console import ROOT
from tests.helpers.inprocess import riskeval
from tests.helpers.program import SAMPLES

MOST_WORDS = 43_300
WRITTEN = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
Table = list[list[float]]
"""The rows of a table of the appendix, each with the numbers that have a decimal point."""


def page(name: str) -> str:
    """A page of the documentation on one line."""
    return " ".join((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").split())


def tables(heading: str) -> list[Table]:
    """The tables of a section of the appendix."""
    text = (ROOT / "docs" / "appendix-calibration.md").read_text(encoding="utf-8")
    (section,) = re.findall(
        rf"^## {re.escape(heading)}\n(.*?)(?=^## |^Next:)", text, re.MULTILINE | re.DOTALL
    )
    blocks = re.findall(r"^─+\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    number = re.compile(r"[+-]?\d?\.\d+")
    return [[list(map(float, number.findall(row))) for row in b.splitlines()] for b in blocks]


def columns(table: Table, *numbers: int) -> list[float]:
    return [row[number] for row in table for number in numbers]


def spread(values: list[float]) -> str:
    """From the least to the largest, as the pages write it."""
    return f"{rounded(min(values))} to {rounded(max(values))}"


def rounded(value: float) -> str:
    """Two decimals, halves up."""
    digits = Decimal(str(value)).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return str(digits).removeprefix("0")


def pairs_of(most: int) -> int:
    """The most runs whose pairs are no more than that."""
    runs = 1
    while (runs + 1) * runs // 2 <= most:
        runs += 1
    return runs


def test_all_that_people_read_has_a_bound() -> None:
    words = sum(len(path.read_text(encoding="utf-8").split()) for path in WRITTEN)
    assert words <= MOST_WORDS
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 1_100


def test_what_significance_says_of_marks_was_measured() -> None:
    (families,) = tables("All runs equal, against a run, a set, and in all pairs")
    (virtual,) = tables("All runs equal, against a virtual baseline")
    text = page("significance")
    assert f"in {spread(columns(families, *range(5)))} of tables" in text
    assert f"own population in {spread(columns(families, *range(5, 10)))};" in text
    assert f"virtual baseline in {spread(columns(virtual, *range(10)))}; with teams" in text
    (each,) = tables("All runs equal, each of three baselines in turn")
    assert f"any of three baselines in {spread(columns(each, *range(5, 10)))} of tables" in text
    assert f"a family of its own: {spread(columns(each, *range(5)))})" in text


def test_what_significance_says_of_intervals_was_measured() -> None:
    (coverage,) = tables("95 % intervals: how often they hold the truth")
    text = page("significance")
    over_all = coverage[-9:]
    assert f"truth in {spread(columns(over_all, *range(0, 14, 2)))} of samples" in text
    least = min(columns(coverage, *range(1, 15, 2)))
    assert f"down to {rounded(least)} (URisk at α = 5" in text
    assert least == min(columns(coverage, 3)[2::3])
    (zeros,) = tables("Many zeros")
    assert f"hold the truth in {spread(columns(zeros[6:], 2))}." in text


def test_what_significance_says_of_one_run_equal_to_the_mean_was_measured() -> None:
    (partial,) = tables("One run equal to the mean over runs, the others not")
    text = page("significance")
    assert f"errs in {spread(columns(partial, 0, 2, 4, 8, 10, 12))} of samples" in text
    assert f"with up to {rounded(max(columns(partial, 6)))}, where" in text


def test_what_other_pages_say_of_tests_was_measured() -> None:
    (equal,) = tables("Equal runs in teams, or a frozen population")
    shuffled, by_t = (spread(columns(part, *range(7))) for part in (equal[::2], equal[1::2]))
    assert f"marked in {shuffled} of tables" in page("populations")
    assert f"mark equal runs in {by_t}, and" in page("populations")
    assert f"teams or a frozen population in {shuffled}." in page("significance")
    assert max(columns(equal[::2], *range(7))) <= 0.07
    (margins,) = tables("The gate: tests with a margin")
    normal, skewed = margins[2], margins[6]
    false = [f"{value:.0%}".replace("%", " %") for value in (*normal[::2], *skewed[::2])]
    assert false[:3] == ["5 %"] * 3
    shown = f"{false[3]} at 25 topics, {false[4]} at 50, {false[5]} at 200"
    assert "in 5 % of cases" in page("ci") and shown in page("ci")


@pytest.mark.parametrize(
    "said",
    [
        f"| text of one file | {MAX_BYTES >> 30} GiB expanded",
        f"| a line of a run or of judgements | {LONGEST_LINE >> 20} MiB",
        f"0, or a size from {LEAST_SCORE:g} to {LARGEST_SCORE:g} |".replace("e+", "e"),
        f"| α | {MOST_ALPHA:g} |".replace("e+0", "e"),
        f"| `--jobs` | {MOST_JOBS:,} |",
        f"| {MOST_LISTED_PAIRS:,}, that is {pairs_of(MOST_LISTED_PAIRS):,} runs |",
        f"| {MOST_PAIRS:,}, that is {pairs_of(MOST_PAIRS):,} runs |",
        f"| intervals of ranks | {MOST_CELLS_AT_ONCE:,} scores, {MOST_RANKED_RUNS:,} runs |",
        f"| shuffles against a virtual baseline | {MOST_SHUFFLED_CELLS:,} scores |",
        f"at least {LEAST_MEMORY >> 20} MiB",
        f"| {LEAST_FILES} besides those that are open |",
        f"{IN_HAND // 10**6} MB and so many bytes",
        f"reserves {DRAWING_SPACE // 10**9} GB of address space",
    ],
)
def test_the_limits_of_reliability_are_those_in_force(said: str) -> None:
    assert said in page("reliability")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("scale", f"refused above {pairs_of(MOST_LISTED_PAIRS):,} runs; letters up to"),
        ("scale", f"letters up to {MOST_LETTERED} runs"),
        ("scale", f"refused above {pairs_of(MOST_PAIRS):,} runs"),
        ("scale", f"beyond {MOST_CELLS_AT_ONCE // 10**6} million scores or {MOST_RANKED_RUNS:,}"),
        ("scale", f"(topics + 150) reaches {MOST_WORK // 10**6} million"),
        ("scale", f"{LEAST_SHUFFLES} shuffles"),
        ("significance", f"fewer than {LEAST_TOPICS} topics: no p"),
        ("significance", f"fewer than {FEW_TOPICS} topics |"),
        ("significance", f"differ on fewer than {FEW_DIFFERING} topics"),
        ("significance", f"more than {MOST_CELLS_AT_ONCE // 10**6} million scores, or"),
        ("significance", f"shuffling the runs within topics, {LEAST_SHUFFLES} times"),
        ("significance", f"at least {LEAST_SWAPS:,} swaps"),
        ("significance", f"From {MOST_IN_MATRIX + 1} runs on, the table"),
        ("significance", f"At most {pairs_of(MOST_LISTED_PAIRS):,} runs are compared in pairs"),
        ("significance", f"more than {MOST_LETTERED} have no letters"),
    ],
)
def test_bounds_that_pages_name_are_those_in_force(name: str, said: str) -> None:
    assert said in page(name)


def test_the_readme_reads_its_table_right() -> None:
    text = Path(ROOT / "README.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^1  boldRerank .*$", text, re.MULTILINE)
    ranks = re.findall(r" (\d)(?: |$)", row)
    assert (ranks[0], ranks[-1]) == ("6", "5")
    text = " ".join(text.split())
    assert "`boldRerank`, the best by the mean, is sixth by URisk, fifth by GeoRisk." in text
    columns = "run,rank_mean,rank_urisk,rank_georisk"
    asked = ("-b", "indriCASP", "-m", "ERR@20", "-a", "5", "--columns", columns, "-f", "csv")
    lines = riskeval("score", SAMPLES, *asked).out.splitlines()
    assert "boldRerank,1,6,5" in lines


def test_the_readme_counts_the_columns_of_machine_formats() -> None:
    text = " ".join(Path(ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"with {len(measure_words.columns())} columns" in text
