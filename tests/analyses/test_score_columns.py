"""Which columns and rows of the risk table leave: `--columns` and `--top`, in every format."""

from __future__ import annotations

import csv
import json
import re
from io import StringIO
from pathlib import Path
from statistics import stdev

import openpyxl
import pytest
from pyarrow import parquet
from scipy import stats

import riskcli
from riskcli.analyses.score import column_names
from riskcli.output.formats import FORMATS, RowsFormat
from riskcli.output.measure_words import WILCOXON, columns_beside, columns_of_unjudged
from tests.helpers import program
from tests.helpers.console import ROOT
from tests.helpers.inprocess import riskeval
from tests.helpers.program import SAMPLES

SCORE = ("score", SAMPLES, "-b", "indriCASP", "-m", "ERR@20")
EIGHT = ROOT / "docs/examples/eight-systems.csv"
MACHINE = [each.name for each in FORMATS if isinstance(each, RowsFormat)]


def columns_in(path: Path) -> list[str]:
    """The columns of a file, whatever its format."""
    text = "" if path.suffix in (".parquet", ".xlsx") else path.read_text(encoding="utf-8")
    match path.suffix:
        case ".tsv" | ".csv":
            return next(
                csv.reader(StringIO(text), delimiter="\t" if path.suffix == ".tsv" else ",")
            )
        case ".json":
            return list(json.loads(text)["rows"][0])
        case ".jsonl":
            return list(json.loads(text.splitlines()[0]))
        case ".parquet":
            return list(parquet.read_schema(path).names)
        case _:
            return [cell.value for cell in next(iter(openpyxl.load_workbook(path)["rows"]))]


def test_a_pipe_has_the_columns_asked_for_and_no_others() -> None:
    ran = program.riskeval(*SCORE, "--columns", "run,mean,georisk", "--quiet")
    rows = [line.split("\t") for line in ran.out.splitlines()]
    assert rows[0] == ["run", "mean", "georisk"] and {len(row) for row in rows} == {3}
    whole = riskeval(*SCORE, "-f", "json").out
    assert rows[1:] == [
        [row["run"], repr(row["mean"]), repr(row["georisk"])] for row in json.loads(whole)["rows"]
    ]


@pytest.mark.parametrize("format", MACHINE)
def test_columns_hold_for_every_format_in_their_order(format: str, tmp_path: Path) -> None:
    path = tmp_path / f"table.{format}"
    asked = "georisk,run,alpha,wtl,mean_interval,georisk_ranks,mean_lo"
    assert riskeval(*SCORE, "--columns", asked, "-o", path).code == 0
    assert columns_in(path) == [
        "georisk", "run", "alpha", "wins", "ties", "losses", "mean_lo", "mean_hi",
        "rank_georisk_lo", "rank_georisk_hi",
    ]  # fmt: skip


@pytest.mark.parametrize("format", MACHINE)
def test_without_columns_all_are_there(format: str, tmp_path: Path) -> None:
    path = tmp_path / f"table.{format}"
    assert riskeval(*SCORE, "-o", path).code == 0
    made = re.compile("wtl|_interval|_ranks")
    asked = {*columns_of_unjudged(), *columns_beside(), WILCOXON}
    machine = [name for name in column_names() if not made.search(name) and name not in asked]
    assert columns_in(path) == machine and machine[:6] == [
        "run", "measure", "baseline", "population", "alpha", "topics",
    ]  # fmt: skip


def test_the_keys_are_columns_with_the_values_of_the_whole_table() -> None:
    varied = ("-m", "AP,ERR@20", "-a", "1,5", "-f", "jsonl")
    whole = [json.loads(line) for line in riskeval(*SCORE, *varied).out.splitlines()]
    keys = ("topics", "alpha", "population", "baseline", "measure", "run", "risk")
    some = riskeval(*SCORE, *varied, "--columns", ",".join(keys))
    assert [json.loads(line) for line in some.out.splitlines()] == [
        {key: row[key] for key in keys} for row in whole
    ]
    assert "rows do not say" not in some.err


def test_tables_for_people_show_the_run_once_and_take_the_keys() -> None:
    ran = riskeval(*SCORE, "-f", "table", "--columns", "run,population,topics,mean")
    heading = ran.out.split("─")[0].splitlines()[-1]
    assert re.split(r"\s+", heading.strip()) == ["#", "run", "Mean", "#"]
    assert "population: all runs" in " ".join(ran.out.split())
    assert riskeval(*SCORE, "-f", "table", "--columns", "mean,runn").code == 2


@pytest.mark.parametrize(
    ("more", "columns", "told"),
    [
        ((), "run,mean", None),
        ((), "mean", "run: --columns run,mean does"),
        (("-m", "AP,P@10"), "run,mean", "measure: --columns measure,run,mean does"),
        (("-a", "1,5"), "mean", "run and alpha: --columns run,alpha,mean does"),
        (("-a", "1,5"), "run,alpha,mean", None),
        (("-b", "caspPlus", "--pool", "each"), "run,mean", "baseline: --columns baseline,"),
    ],
)
def test_rows_that_cannot_be_told_apart_are_noted(
    more: tuple[str, ...], columns: str, told: str | None
) -> None:
    ran = riskeval(*SCORE, *more, "--columns", columns, "-f", "csv")
    assert ran.out.splitlines()[0] == columns
    said = re.findall("rows do not say their (.*)", ran.err)
    assert [each.startswith(told or "") for each in said] == ([] if told is None else [True])
    shown = riskeval(*SCORE, *more, "--columns", columns, "-f", "table")
    assert "rows do not say" not in shown.err


def test_the_library_gives_the_same_columns() -> None:
    evaluation = riskcli.evaluate([SAMPLES], qrels=program.QRELS)
    table = riskcli.risk_table(evaluation, "indriCASP").laid_out(["run", "measure", "wtl"])
    assert list(table.to_frame()) == ["run", "measure", "wins", "ties", "losses"]
    assert table.keys_left_out == []


# ---------------------------------------------------------------- --top


def names_in(table: str) -> list[str]:
    return re.findall(r"^ *[0-9]+ +(\S+)", table, re.M)


def test_the_baseline_stays_where_only_the_first_runs_are_shown() -> None:
    shown = riskeval(*SCORE, "-f", "table", "--top", "2").out
    assert names_in(shown[shown.index("─") : shown.rindex("50 topics")]) == [
        "boldRerank",
        "neuralMix",
        "indriCASP",
    ]
    row = next(line for line in shown.splitlines() if "indriCASP ◆" in line)
    assert row.startswith("6 ") and "3 runs shown" in shown
    rows = riskeval(*SCORE, "-f", "csv", "--top", "2", "--columns", "run,rank_mean").out
    assert rows.splitlines()[1:] == ["boldRerank,1", "neuralMix,2", "indriCASP,6"]


def test_a_baseline_among_the_first_is_no_row_more() -> None:
    for top in (6, 7, 9, 20):
        rows = riskeval(*SCORE, "-f", "csv", "--top", str(top), "--columns", "run").out
        assert len(rows.splitlines()) - 1 == min(top, 9)
    virtual = ("score", SAMPLES, "-m", "ERR@20", "-b", "@mean", "-f", "csv", "--top", "2")
    assert len(riskeval(*virtual).out.splitlines()) == 3


def test_each_baseline_of_a_set_stays() -> None:
    ran = riskeval(*SCORE, "-b", "plainBM25", "-f", "csv", "--top", "1", "--columns", "run")
    assert ran.out.splitlines()[1:] == ["boldRerank", "indriCASP", "plainBM25"]


# ---------------------------------------------------------------- tables split by alpha


@pytest.mark.parametrize(
    ("format", "apart"),
    [
        ("latex", r"\\end\{table"), ("html", "</figure>"),
        ("markdown", r"\*\*ERR@20, baseline"), ("table", "^ERR@20, baseline"),
    ],
)  # fmt: skip
def test_the_notes_of_a_table_are_about_its_own_alpha(format: str, apart: str) -> None:
    out = riskeval(*SCORE, "-a", "1,5,20", "-f", format, COLUMNS="80").out
    out = out.replace(r"$\times$", "×")
    weights = [re.findall("×[0-9]+", part) for part in re.split(apart, out, flags=re.M)]
    assert [each for each in weights if each] == [["×2"], ["×6"], ["×21"]]


# What is computed where it is asked for alone


def eight(*arguments: str) -> list[dict[str, str]]:
    """The rows of SIGIR'16's eight systems."""
    ran = riskeval("score", EIGHT, "-f", "csv", *arguments)
    assert ran.code == 0, ran.err
    return list(csv.DictReader(StringIO(ran.out)))


def scores_of_eight() -> dict[str, list[float]]:
    with EIGHT.open(encoding="utf-8") as file:
        return {row.pop("run"): [float(x) for x in row.values()] for row in csv.DictReader(file)}


def test_differences_have_their_deviation_and_wilcoxon_s_test() -> None:
    rows = eight("-b", "s1", "--columns", "run,delta_sd,wilcoxon_p,mean_diff,mean_dz")
    scores = scores_of_eight()
    for row in rows:
        if row.pop("run") == "s1":
            assert set(row.values()) == {""}
    for run, row in zip([r["run"] for r in eight("-b", "s1")], rows, strict=True):
        if run == "s1":
            continue
        delta = [round(x - b, 12) for x, b in zip(scores[run], scores["s1"], strict=True)]
        assert float(row["delta_sd"]) == pytest.approx(stdev(delta), rel=1e-12)
        assert float(row["mean_dz"]) == pytest.approx(
            float(row["mean_diff"]) / float(row["delta_sd"]), abs=1e-12
        )
        left = [each for each in delta if each]
        ties = len({abs(each) for each in left}) < len(left)
        if not ties:
            expected = stats.wilcoxon(left, method="exact").pvalue
            assert float(row["wilcoxon_p"]) == pytest.approx(expected, rel=1e-12)


def test_the_deviation_is_that_of_the_effect_size_with_weights_too(tmp_path: Path) -> None:
    weights = tmp_path / "weights.tsv"
    weights.write_text("topic\tweight\n" + "".join(f"t{n}\t{n}\n" for n in range(1, 6)))
    for row in eight("-b", "s1", "--weights", str(weights)):
        if row["run"] != "s1":
            expected = float(row["mean_diff"]) / float(row["delta_sd"])
            assert float(row["mean_dz"]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("baseline", ["@mean", "@max"])
def test_against_what_the_runs_themselves_make_up_there_is_no_signed_rank_test(
    baseline: str,
) -> None:
    rows = eight("-b", baseline, "--columns", "run,wilcoxon_p,delta_sd")
    assert {row["wilcoxon_p"] for row in rows} == {""}
    assert "" not in {row["delta_sd"] for row in rows}


def test_people_see_them_where_they_ask() -> None:
    asked = ("--columns", "delta_sd,wilcoxon_p,above(0.3)", "-f", "table")
    assert "wilcoxon_p: not corrected" in riskeval("score", EIGHT, "-b", "s1", *asked).out
    shown = program.riskeval("score", EIGHT, "-b", "s1", *asked).out
    assert re.search(r"run +delta_sd +wilcoxon_p +above\(0\.3\)\n", shown)
    assert re.search(r"s8 +0\.1866 +0\.81 +3\n", shown)
    assert "wilcoxon" not in riskeval("score", EIGHT, "-b", "s1", "-f", "table").out


@pytest.mark.parametrize("order", ["mean", "-losses", "run"])
def test_they_go_with_their_runs_however_these_are_sorted(order: str) -> None:
    names = "run,wilcoxon_p,above(0.3)"
    whole = {row["run"]: row for row in eight("-b", "s1", "--columns", names)}
    some = eight("-b", "s1", "--columns", names, "--sort", order, "--top", "3")
    assert len(some) < 8 and all(row == whole[row["run"]] for row in some)


@pytest.mark.parametrize("bound", ["0.3", "0", "-1", ".35", "0.350", "1"])
def test_topics_above_a_score_are_counted(bound: str) -> None:
    name = f"above({bound})"
    found = {row["run"]: row[name] for row in eight("--columns", f"run,{name}")}
    expected = {run: sum(x > float(bound) for x in own) for run, own in scores_of_eight().items()}
    assert found == {run: str(count) for run, count in expected.items()}


def test_of_logarithms_the_scores_behind_them_are_counted() -> None:
    counted = []
    for measure in ("AP", "gm(AP)", "gm_map"):
        names = ("-m", measure, "--columns", "run,above(0.05)", "-b", "indriCASP", "-f", "csv")
        rows = list(csv.DictReader(StringIO(riskeval("score", SAMPLES, *names).out)))
        counted.append({row["run"]: row["above(0.05)"] for row in rows})
    assert counted[0] == counted[1] == counted[2]
    assert set(counted[0].values()) != {"0"}


def test_a_mean_of_p_values_is_none_and_one_of_deviations_is_one() -> None:
    names = "baseline,run,delta_sd,wilcoxon_p,above(0.3)"
    rows = eight("-b", "s1,s2", "--pool", "each", "--columns", names)
    of = {(row["baseline"], row["run"]): row for row in rows}
    whole = of["each(s1,s2)", "s8"]
    two = [float(of[name, "s8"]["delta_sd"]) for name in ("s1", "s2")]
    assert float(whole["delta_sd"]) == pytest.approx(sum(two) / 2)
    assert (whole["wilcoxon_p"], whole["above(0.3)"]) == ("", "3")
    assert all(of[name, "s8"]["wilcoxon_p"] for name in ("s1", "s2"))


def test_with_weights_there_is_no_signed_rank_test(tmp_path: Path) -> None:
    weights = tmp_path / "weights.tsv"
    weights.write_text("topic\tweight\n" + "".join(f"t{i}\t{i}\n" for i in range(1, 6)))
    names = ("--columns", "run,delta_sd,wilcoxon_p")
    rows = eight("-b", "s1", "--weights", str(weights), *names)
    assert {row["wilcoxon_p"] for row in rows} == {""}
    plain = {row["run"]: row["delta_sd"] for row in eight("-b", "s1", *names)}
    assert all(row["delta_sd"] != plain[row["run"]] for row in rows if row["run"] != "s1")


def test_a_rule_cannot_rest_on_wilcoxon_s_test() -> None:
    ran = riskeval("check", EIGHT, "--baseline", "s1", "--require", "wilcoxon_p > 0.05")
    assert ran.code == 2 and "nothing is called 'wilcoxon_p'" in ran.err
    ran = riskeval("score", EIGHT, "--columns", "above 0.5")
    assert ran.code == 2 and "no column 'above 0.5'; did you mean above(0.5)?" in ran.err
    ran = riskeval("score", EIGHT, "--sort", "delta_sd")
    assert ran.code == 2 and "'delta_sd'; a table is sorted by run, mean, urisk," in ran.err
