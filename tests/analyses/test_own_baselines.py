"""Each run against its own baseline: the figures of `-b THAT_BASELINE`, beside the common table."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riskcli
from riskcli import Options, ScoreMatrix, Significance, UsageError, risk_table
from riskcli.analyses.block import OWN as CALLED
from riskcli.analyses.block import Block
from riskcli.output.verdict import Statements
from riskcli.risk.estimate import holm
from riskcli.risk.signed_ranks import wilcoxon_p
from riskcli.scores.comparisons import comparisons
from riskcli.scores.teams import Teams
from tests.helpers import reference
from tests.helpers.inprocess import riskeval as run_inside
from tests.helpers.program import QRELS, SAMPLES, Key, riskeval
from tests.helpers.strategies import ALPHAS, Floats, named, score_values

Declared = dict[str, str]
OF_THE_FAMILY = ("_p_adj", "_flag")
OWN: Declared = {
    "caspPlus": "indriCASP", "partial46": "indriCASP", "boldRerank": "plainBM25",
    "neuralMix": "plainBM25", "steadyHand": "neuralMix",
}  # fmt: skip
R0_BY_R1 = Options(own_baselines={"r0": "r1"})
SCORE = ("score", SAMPLES, "-q", QRELS, "-m", "ERR@20", "--quiet")


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that declares them."""
    file = tmp_path_factory.mktemp("own") / "own.csv"
    file.write_text("run,baseline\n" + "".join(f"{r},{b}\n" for r, b in OWN.items()))
    return file


@st.composite
def declarations(draw: st.DrawFn) -> tuple[Floats, Declared]:
    """Random scores, some below 0, and runs that declare a baseline, some chained or in rings."""
    values = draw(score_values(min_runs=3, max_runs=6, min_topics=2, max_topics=8))
    if draw(st.booleans()):
        values[draw(st.integers(0, len(values) - 1)), 0] = -0.25
    runs = draw(st.sets(st.integers(0, len(values) - 1), min_size=1))
    others = {run: [row for row in range(len(values)) if row != run] for run in runs}
    return values, {f"r{r}": f"r{draw(st.sampled_from(o))}" for r, o in others.items()}


def rows(
    matrix: ScoreMatrix, options: Options, baseline: str | None = None
) -> list[dict[str, object]]:
    result = risk_table(matrix, baseline, options=options).result()
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def cells(row: dict[str, object]) -> dict[str, str]:
    """As texts, so that undefined ones are alike, without what hangs on others of the table."""
    return {
        name: repr(value)
        for name, value in row.items()
        if name != "baseline" and not name.startswith("rank_") and not name.endswith(OF_THE_FAMILY)
    }


@settings(max_examples=20)
@given(declarations(), ALPHAS, st.booleans(), st.sampled_from(["linear", "smooth"]))
def test_a_run_has_the_figures_of_a_table_against_its_baseline(
    drawn: tuple[Floats, Declared], alpha: float, weighted: bool, loss: str
) -> None:
    values, declared = drawn
    matrix = named(values)
    if weighted:
        matrix = matrix.labelled(weights={topic: 1.0 + i for i, topic in enumerate(matrix.topics)})
    plain = Options(alphas=(alpha,), loss=loss)  # type: ignore[arg-type]
    common = rows(matrix, plain)
    both = rows(matrix, Options(alphas=(alpha,), loss=loss, own_baselines=declared))  # type: ignore[arg-type]
    assert list(map(repr, both[: len(common)])) == list(map(repr, common)), "as without"
    own = both[len(common) :]
    assert {row["run"]: row["baseline"] for row in own} == {
        run: f"own({baseline})" for run, baseline in declared.items()
    }
    for row in own:
        against = rows(matrix, plain, declared[str(row["run"])])
        (alone,) = (each for each in against if each["run"] == row["run"])
        assert cells(row) == cells(alone)
        assert all(row[name] is None for name in row if name.startswith("rank_"))


@settings(max_examples=20)
@given(declarations(), ALPHAS)
def test_urisk_and_trisk_by_brute_force(drawn: tuple[Floats, Declared], alpha: float) -> None:
    values, declared = drawn
    scores = {f"r{row}": each.tolist() for row, each in enumerate(values)}
    for row in rows(named(values), Options(alphas=(alpha,), own_baselines=declared)):
        if str(row["baseline"]).startswith("own("):
            run, base = scores[str(row["run"])], scores[declared[str(row["run"])]]
            assert row["urisk"] == pytest.approx(reference.urisk(run, base, alpha), abs=1e-12)
            expected = reference.trisk(run, base, alpha)["t"]
            if expected is not None and abs(expected) < 1e6 and row["trisk"] is not None:
                assert row["trisk"] == pytest.approx(expected, rel=1e-6, abs=1e-6)
            assert row["losses20"] is None or row["losses20"] == reference.losses20(run, base)


def sample(seed: int = 1, topics: int = 30, runs: int = 5) -> Floats:
    generator = np.random.default_rng(seed)
    easy = generator.uniform(0.2, 0.6, topics)
    return np.asarray(easy + generator.normal(0, 0.05, (runs, topics)))


def own_block(values: Floats, declared: Declared, **options: object) -> Block:
    table = risk_table(named(values), options=Options(own_baselines=declared, **options))  # type: ignore[arg-type]
    return next(block for block in table.blocks if block.own_names)


RING: Declared = {"r0": "r1", "r1": "r2", "r2": "r1", "r3": "r1"}


def test_one_family_a_column_over_all_that_declare_a_baseline() -> None:
    block = own_block(sample(), RING)
    for estimate in block.estimates.values():
        if estimate.flag is not None:
            assert estimate.family == len(RING) and estimate.p is not None
            assert estimate.p_adjusted is not None
            assert estimate.p_adjusted.tolist() == holm(estimate.p).tolist()


def test_of_a_whole_table_no_test_is_counted_twice() -> None:
    """At alpha 0 TRisk tests what the means do; at alpha 1 there are three more columns."""
    plan = Significance(family="all")
    block = own_block(sample(), RING, significance=plan, alphas=(0.0, 1.0), baselines="r4")
    assert {*block.families.values()} == {6 * len(RING)}


def test_in_a_population_that_lacks_the_own_baseline_nothing_is_compared() -> None:
    """Run and baseline would be measured by different totals: equal runs would differ."""
    matrix = named(sample(runs=6))
    for options in (
        Options(("r4", "r5"), own_baselines={"r0": "r1"}),
        Options(("r4",), population="baselines", own_baselines={"r0": "r1"}),
    ):
        with pytest.raises(UsageError, match="own baselines are measured beside all runs"):
            risk_table(matrix, options=options)
    options = Options(("r4", "r5"), population="all", own_baselines={"r0": "r1"})
    (row,) = (r for r in rows(matrix, options) if r["baseline"] == "own(r1)")
    (alone,) = (r for r in rows(matrix, Options(("r1",))) if r["run"] == "r0")
    assert [row[name] for name in ("zrisk", "zrisk_diff", "georisk_diff_lo")] == [
        alone[name] for name in ("zrisk", "zrisk_diff", "georisk_diff_lo")
    ]


@pytest.mark.parametrize("topics", [1, 2])
def test_of_one_topic_or_two_nothing_is_claimed(topics: int) -> None:
    table = risk_table(named(sample(topics=topics, runs=4)), "r3", options=R0_BY_R1)
    said = [each.text for each in table.verdict if "own baseline" in each.about]
    assert len(said) == 1 and said[0].endswith("nothing can be tested.")


def test_a_run_that_is_called_so_is_refused() -> None:
    matrix = replace(named(sample(runs=4)), runs=("r0", "r1", "r2", CALLED))
    with pytest.raises(UsageError, match="a run that is called"):
        risk_table(matrix, "r1", options=R0_BY_R1)


def test_the_best_run_of_each_team_is_shown_of_both_tables() -> None:
    teams = Teams({"r0": "a", "r1": "a", "r2": "b"})
    options = replace(R0_BY_R1, teams=teams, baselines=("r3",))
    table = risk_table(named(sample(runs=4)), options=options).sorted_by().best_per_team()
    assert [len(block.runs) for block in table.blocks] == [3, 1]


def test_wilcoxon_is_of_each_run_and_its_own_baseline() -> None:
    values = sample(topics=12, runs=4)
    options = Options(("r3",), own_baselines={"r0": "r1", "r2": "r0"})
    table = risk_table(named(values), options=options).sorted_by("-mean")
    shown = table.laid_out(["run", "baseline", "wilcoxon_p"]).result().rows
    for run, of, p in ((r, str(b), p) for r, b, p in shown if str(b).startswith("own(")):
        first, second = (values[int(name[1])] for name in (str(run), of[4:-1]))
        assert p == pytest.approx(wilcoxon_p(first[None], second)[0], rel=1e-12)


def test_label_swaps_and_a_frozen_population_are_those_of_the_baseline_too() -> None:
    matrix = named(sample(topics=12, runs=4))
    frozen = riskcli.freeze(matrix)
    for chosen in (
        Options(significance=Significance(test="swap")),
        Options(population=frozen),
        Options(teams=Teams({"r0": "a", "r1": "a"})),
    ):
        both = replace(chosen, baselines=("r3",), own_baselines={"r0": "r1"})
        (own,) = (row for row in rows(matrix, both) if row["baseline"] == "own(r1)")
        (alone,) = (row for row in rows(matrix, chosen, "r1") if row["run"] == "r0")
        assert cells(own) == cells(alone)


# ---------------------------------------------------------------- in words


def said(values: Floats, declared: Declared, **options: object) -> Statements:
    return own_block(values, declared, **options).said


def test_who_is_better_and_worse_and_ruins_topics() -> None:
    values = sample()
    values[0] = values[1] + 0.05 + 0.01 * sample(7, runs=1)[0]
    values[2] = values[4]
    values[3] = values[1] - 0.2 - 0.01 * sample(8, runs=1)[0]
    better, worse, ruins = said(values, {"r0": "r1", "r3": "r1", "r2": "r4"})
    assert better.runs == ("r0",) and better.text.startswith("r0 against r1 (mean +0.05")
    assert better.text.endswith(") is better than its own baseline.")
    assert worse.runs == ("r3",) and " is worse than its own baseline." in worse.text
    assert ruins.runs == ("r3",) and "r3 against r1 (on 30 of 30 topics) loses over" in ruins.text
    assert better.about == "score, against its own baseline"
    values[2] = np.where(np.arange(30) < 10, 0.5, 1) * values[1]
    ruins = said(values, {"r2": "r1", "r3": "r1"}).by("ruins")[0]
    assert ruins.runs == ("r3", "r2"), "who loses on most topics is named first"
    both = said(values, {"r0": "r1", "r1": "r3"}).by("better")[0].text
    assert both.startswith("Each of r0 against r1 (") and " and r1 against r3 (" in both


def test_nobody_is_better_and_nobody_ruins() -> None:
    (only,) = said(np.tile(sample(runs=1), (3, 1)) + 0.0, {"r0": "r1"})
    assert only.text == "No run is shown to be better than its own baseline."
    values = sample()
    values[0] = values[1] + 0.1
    values[0, :2] = 0.1
    assert not said(values, {"r0": "r1"}).by("ruins"), "two of 30 topics are no tenth"
    values[0, 2] = 0.1
    assert said(values, {"r0": "r1"}).by("ruins")


def test_that_tests_are_not_corrected_is_said() -> None:
    values = sample()
    values[0] = values[1] + 0.1 + 0.01 * sample(7, runs=1)[0]
    plain = Significance(correction="none")
    text = said(values, {"r0": "r1", "r2": "r4"}, significance=plain).by("better")[0].text
    assert text.endswith("own baseline (not corrected for 2 tests).")


def test_notes_name_who_declares_none_and_whose_difference_is_doubtful() -> None:
    values = sample(topics=40)
    values[0] = values[1]
    values[0, :3] += 0.1
    notes = risk_table(named(values), options=Options(own_baselines={"r0": "r1", "r2": "r3"})).notes
    (alone,) = (note for note in notes if note.code == "no-own-baseline")
    assert alone.message.endswith("common baseline only: r1, r3, r4") and not alone.warning
    few = [n.message for n in notes if n.code == "few-differing-topics"]
    assert [m for m in few if "its own baseline" in m and m.endswith(": r0 (3)")]


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ({"r0": "r0"}, "'r0' is given as its own"),
        ({"rO": "r1"}, "no run and no file is named 'rO'; did you mean"),
        ({"r0": "nope"}, "own baseline of 'r0': no run and no file is named 'nope'"),
        ({"r0": "@mean"}, "no run and no file is named '@mean'"),
    ],
)
def test_names_are_runs_and_others(declared: Declared, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        own_block(sample(), declared)


def test_what_cannot_be_had_together_is_refused(tmp_path: Path) -> None:
    matrix = named(sample())
    own = Options(own_baselines={"r0": "r1"})
    groups = matrix.labelled(groups=dict.fromkeys(matrix.topics, "a"))
    fitted = Options(own_baselines=RING, loss="smooth:fit")
    human = replace(matrix, human=matrix.of_topics([*range(20)]))
    for given_, options in ((groups, own), (matrix, fitted), (human, own)):
        with pytest.raises(UsageError, match="own baselines cannot be had with"):
            risk_table(given_, options=options)
    analyses = (
        lambda: risk_table(matrix, options=own).report(tmp_path / "page.html"),
        lambda: risk_table(matrix, options=own).plot(),
        lambda: riskcli.topic_table(matrix, options=own),
        lambda: riskcli.power_table(matrix, options=own),
        lambda: riskcli.compare_pairs(matrix, options=own),
        lambda: riskcli.alpha_sweep(matrix, options=own),
        lambda: comparisons(matrix, own),
    )
    for analysis in analyses:  # the figure says first that its extra is missing, where it is
        found = "only the risk table" if find_spec("altair") else "only the risk table|need altair"
        with pytest.raises(UsageError, match=found):
            analysis()


# ---------------------------------------------------------------- the program


def test_the_common_table_does_not_move_and_rows_can_be_told_apart(listed: Path) -> None:
    call = (*SCORE, "-b", "indriCASP", "-a", "0,5", "-f", "json")
    plain = json.loads(run_inside(*call).out)
    both = json.loads(riskeval(*call, "--own-baseline", listed).out)
    count = len(plain["rows"])
    assert both["rows"][:count] == plain["rows"]
    assert len(both["rows"]) == count + 2 * len(OWN)
    assert both["settings"]["own_baselines"] == OWN and "own_baselines" not in plain["settings"]
    (file,) = (each for each in both["inputs"] if each["kind"] == "own-baselines")
    assert file["path"].endswith("own.csv") and len(file["sha256"]) == 64
    keys = {(row["run"], row["baseline"], row["alpha"]) for row in both["rows"]}
    assert len(keys) == len(both["rows"])
    told = run_inside(
        *SCORE[:-1], "--own-baseline", listed, "--columns", "run,mean_diff", "-f", "csv"
    )
    assert "rows do not say their baseline" in told.err


def test_a_table_has_no_ranks_and_names_the_baselines(listed: Path) -> None:
    ran = run_inside(
        *SCORE, "--own-baseline", listed, "--sort", "-losses20", "-f", "table", COLUMNS="80"
    )
    own = ran.out.partition("ERR@20, each run against its own baseline")[2].splitlines()
    heading, first = own[1], own[3]
    assert "#" not in heading and heading.split()[:3] == ["run", "baseline", "Mean"]
    assert first.split()[:2] == ["caspPlus", "indriCASP"] and "GeoRisk" in heading
    assert "no ranks" in ran.out and max(map(len, own)) <= 80
    html = run_inside(*SCORE, "--own-baseline", listed, "--top", "1", "-f", "latex").out
    assert "\\textbf" not in html.partition("each run against")[2]


@pytest.mark.parametrize("format", ["tsv", "jsonl", "markdown", "latex", "html"])
def test_every_format_has_them(listed: Path, format: str) -> None:
    out = run_inside(*SCORE, "--own-baseline", listed, "-f", format).out
    assert out.count("plainBM25") >= 3
    assert ("own(plainBM25)" in out) == (format in ("tsv", "jsonl"))


def test_sheets_and_parquet_have_them(listed: Path, tmp_path: Path) -> None:
    import pandas as pd

    for name in ("t.parquet", "t.xlsx"):
        run_inside(*SCORE, "--own-baseline", listed, "-o", tmp_path / name)
    assert "own(neuralMix)" in [*pd.read_parquet(tmp_path / "t.parquet")["baseline"]]
    sheets = pd.read_excel(tmp_path / "t.xlsx", sheet_name=None, header=None)
    assert any((sheet == "own(neuralMix)").to_numpy().any() for sheet in sheets.values())


def test_a_run_file_joins_the_runs(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for run in ("caspPlus", "neuralMix"):
        (tmp_path / "runs" / f"{run}.run").write_bytes((SAMPLES / f"{run}.run").read_bytes())
    call = ("score", tmp_path / "runs", "-q", QRELS, "-m", "ERR@20", "--quiet", "-f", "json")
    pairs = (f"caspPlus={SAMPLES / 'indriCASP.run'}", f"neuralMix=BM={SAMPLES / 'plainBM25.run'}")
    ran = run_inside(*call, *(word for pair in pairs for word in ("--own-baseline", pair)))
    rows = {(row["run"], row["baseline"]) for row in json.loads(ran.out)["rows"]}
    assert {("caspPlus", "own(indriCASP)"), ("neuralMix", "own(BM)"), ("BM", "@mean")} <= rows


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("run,baseline\ncaspPluss,indriCASP\n", "'caspPluss'; did you mean caspPlus?"),
        ("run,baseline\ncaspPlus,indriCAS\n", "'indriCAS'; did you mean indriCASP?"),
        ("run,baseline\ncaspPlus,caspPlus\n", "given as its own"),
        ("run,baseline\ncaspPlus,a\ncaspPlus,b\n", "already listed on line 2"),
        ("run,baseline\ncaspPlus,\n", "declares a baseline"),
        ("Run,base\ncaspPlus,a\n", "'Run,base', expected the columns run, baseline"),
        ("run,baseline\ncaspPlus,@mean\n", "named '@mean'; only -b takes the @ baselines"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, content: str, text: str) -> None:
    (tmp_path / "own.csv").write_text(content)
    ran = run_inside(*SCORE, "--own-baseline", tmp_path / "own.csv")
    assert ran.code == 2 and text in ran.err and not ran.out


def test_what_is_wrong_with_pairs_is_said(listed: Path) -> None:
    for given_, text in (
        (["missing.csv"], "expected a file or RUN=BASELINE"),
        (["=x"], "expected a file or RUN=BASELINE"),
        (["caspPlus=plainBM25", str(listed)], "run 'caspPlus' is given two baselines"),
    ):
        ran = run_inside(*SCORE, *(word for each in given_ for word in ("--own-baseline", each)))
        assert ran.code == 2 and text in ran.err


def test_settings_name_a_file_below_them_and_reach_no_other(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("run,baseline\ncaspPlus,indriCASP\n")
    ran = run_inside(*SCORE, Key("own-baseline", tmp_path / "own.csv"), "-f", "tsv")
    assert "own(indriCASP)" in ran.out
    outside = f"run,baseline\ncaspPlus,{SAMPLES / 'indriCASP.run'}\n"
    (tmp_path / "own.csv").write_text(outside)
    ran = run_inside(*SCORE, Key("own-baseline", tmp_path / "own.csv"), "-f", "tsv")
    assert ran.code == 2 and "which is not below" in ran.err
    assert run_inside(*SCORE, "--own-baseline", tmp_path / "own.csv", "-f", "tsv").code == 0


def test_names_are_those_shown(listed: Path, tmp_path: Path) -> None:
    call = (*SCORE, "--own-baseline", listed, "-f", "json")
    hidden = run_inside(*call, Key("anonymise", tmp_path / "key.csv"))
    assert hidden.code == 0 and "own(run-0" in hidden.out
    assert "caspPlus" not in hidden.out + hidden.err and "own.csv" not in hidden.out
    (tmp_path / "teams.csv").write_text("run,team,name\nindriCASP,a,Indri\n")
    call = (*SCORE, "--teams", tmp_path / "teams.csv", "-f", "tsv")
    shown = run_inside(*call, "--own-baseline", "caspPlus=Indri")
    assert "own(Indri)" in shown.out
    (tmp_path / "teams.csv").write_text("run,team,name\ncaspPlus,a,Casp\n")
    pairs = ("--own-baseline", "caspPlus=indriCASP", "--own-baseline", "Casp=plainBM25")
    twice = run_inside(*call, *pairs)
    assert twice.code == 2 and "listed twice, by two of its names" in twice.err


def test_an_own_baseline_is_one_of_the_systems_of_replicates(tmp_path: Path) -> None:
    values = np.round(sample(runs=6), 3)
    lines = [f"{s}-{k}\tt{t}\tAP\t{values[2 * i + k, t]}\n"
             for i, s in enumerate("abc") for k in (0, 1) for t in range(30)]  # fmt: skip
    (tmp_path / "scores.tsv").write_text("run\ttopic\tmeasure\tscore\n" + "".join(lines))
    call = ("score", tmp_path / "scores.tsv", "--replicates", r"^(.)", "--quiet", "-f", "json")
    found = json.loads(run_inside(*call, "--own-baseline", "a=b").out)["rows"]
    (own,) = (row for row in found if row["baseline"] == "own(b)")
    (alone,) = (r for r in json.loads(run_inside(*call, "-b", "b").out)["rows"] if r["run"] == "a")
    assert own["floor"] == alone["floor"] and own["self_risk"] == alone["self_risk"]
    assert own["urisk"] == alone["urisk"]
    ran = run_inside(*call, "--own-baseline", "a-0=b")
    assert ran.code == 2 and "no run and no file is named 'a-0'" in ran.err


def test_bounds_and_judges_count_against_the_own_baseline(listed: Path, tmp_path: Path) -> None:
    call = (*SCORE, "--own-baseline", "caspPlus=indriCASP", "-f", "json")
    found = json.loads(run_inside(*call, "--unjudged", "bounds").out)["rows"]
    alone = json.loads(
        run_inside(*SCORE, "-b", "indriCASP", "--unjudged", "bounds", "-f", "json").out
    )
    (own,) = (row for row in found if row["baseline"] == "own(indriCASP)")
    (other,) = (row for row in alone["rows"] if row["run"] == "caspPlus")
    for name in ("mean_diff_min", "mean_diff_max", "urisk_min", "urisk_max", "baseline_judged"):
        assert own[name] == other[name]
    stricter = tmp_path / "stricter.qrels"
    stricter.write_text(QRELS.read_text().replace(" 2\n", " 1\n"))
    judged = json.loads(run_inside(*call, "-q", stricter).out)
    own_rows = [row for row in judged["rows"] if row["baseline"] == "own(indriCASP)"]
    assert [row["judges"] for row in own_rows] == [2, 2] and own_rows[0]["mean_judges"] == 2
    table = run_inside(*SCORE, "-q", stricter, "--own-baseline", listed, "-f", "table").out
    assert "Better than its own baseline: " in table
