"""Teams that weigh one each: what copies cannot do, how far a team can reach, and who is shown."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcli import Options, ScoreMatrix, UsageError, evaluate, freeze, risk_table
from riskcli.analyses.blocks import Block
from riskcli.core.messages import Note, Provenance
from riskcli.risk.comparison import VIRTUAL
from riskcli.risk.population import Members
from riskcli.scores.comparisons import comparisons
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.teams import Teams, anonymised, with_teams
from tests.helpers import reference
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Key
from tests.helpers.shared_data import shared
from tests.helpers.strategies import ALPHAS, Floats, named, score_values
from tests.scores.test_comparisons_frozen import block_of, figures, same


def assigned(data: st.DataObject, runs: tuple[str, ...]) -> dict[str, str]:
    teams = {run: data.draw(st.sampled_from(["red", "blue", "green", ""])) for run in runs}
    return {run: team for run, team in teams.items() if team}


@settings(max_examples=60, deadline=None)
@given(
    score_values(min_runs=3, min_topics=3),
    ALPHAS,
    st.sampled_from(["r0", "@mean", "@median"]),
    st.data(),
)
def test_copies_within_a_team_change_no_digit(
    values: Floats, alpha: float, baseline: str, data: st.DataObject
) -> None:
    matrix = named(values)
    teams = assigned(data, matrix.runs) or {"r0": "red"}
    copied = data.draw(st.lists(st.sampled_from(sorted(teams)), min_size=1, max_size=4))
    rows = [matrix.runs.index(run) for run in copied]
    names = tuple(f"copy{number}" for number in range(len(copied)))
    more = ScoreMatrix("score", (*matrix.runs, *names), matrix.topics,
                       np.vstack([values, values[rows]]))  # fmt: skip
    wider = teams | {name: teams[run] for name, run in zip(names, copied, strict=True)}
    options = Options(baselines=(baseline,), alphas=(alpha,))
    first, second = block_of(matrix, options, teams), block_of(more, options, wider)
    for run in matrix.runs:
        same(figures(first, run), figures(second, run))
    for name, run in zip(names, copied, strict=True):
        if run != baseline:
            same(figures(second, name), figures(first, run))


@settings(deadline=None)
@given(score_values(min_runs=4, min_topics=2), ALPHAS, st.data())
def test_whatever_a_team_submits_one_run_could_have_done(
    values: Floats, alpha: float, data: st.DataObject
) -> None:
    """The executable half of the proof: put the team's row in place of its runs.

    That is of everyone's own figures. What these are compared with, the mean over the members, is
    for a team the mean of its runs' figures, which are not those of its row; and what is shuffled
    is its runs.
    """
    matrix = named(values)
    size = data.draw(st.integers(1, len(values) - 2))
    teams = dict.fromkeys(matrix.runs[:size], "red")
    row = np.unique(values[:size], axis=0).mean(axis=0)
    assert row.min() >= 0 and row.max() <= 1
    single = ScoreMatrix("score", ("red", *matrix.runs[size:]), matrix.topics,
                         np.vstack([row, values[size:]]))  # fmt: skip
    options = Options(baselines=("@mean",), alphas=(alpha,))
    many = block_of(matrix, options, teams)
    one = block_of(single, options, {"red": "red"})
    for run in matrix.runs[size:]:
        same(own_figures(many, run), own_figures(one, run))


def own_figures(found: Block, run: str) -> dict[str, list[float]]:
    """Those that neither the mean over the members nor shuffled runs have a part in."""
    compared = {f"{of}.{part}" for of in ("zrisk", "georisk")
                for part in ("difference", "difference_error", "p")}  # fmt: skip
    return {
        name: cells
        for name, cells in figures(found, run).items()
        if name not in {*compared, "mean.p"}
    }


@settings(deadline=None)
@given(score_values(min_runs=3, min_topics=2), st.data())
def test_what_a_team_can_do_to_anothers_expectation_is_bounded(
    values: Floats, data: st.DataObject
) -> None:
    """S A/(M + c - 1) <= e <= S (A + 1)/(M + 1), with A and M the totals without the team."""
    size = data.draw(st.integers(1, len(values) - 1))
    matrix = named(values)
    teams = dict.fromkeys(matrix.runs[:size], "red")
    (comparison,) = comparisons(matrix, Options(baselines=("@mean",), teams=Teams(teams)))
    others = values[size:]
    without, grand, topics = others.sum(axis=0), others.sum(), values.shape[1]
    for run in range(size, len(values)):
        expected, own = comparison.population.expected[run], values[run].sum()
        assert (expected <= own * (without + 1) / (grand + 1) + 1e-12).all()
        if grand > 0:
            assert (expected >= own * without / (grand + topics - 1) - 1e-12).all()


def test_the_bound_is_reached() -> None:
    """A team that answers one topic only, and one that answers all others."""
    others = np.full((2, 4), 0.25)
    for row, bound in (
        ([1.0, 0, 0, 0], 1.0 * (0.5 + 1) / (2.0 + 1)),
        ([0, 1.0, 1.0, 1.0], 1.0 * 0.5 / (2.0 + 4 - 1)),
    ):
        matrix = named(np.vstack([row, others]))
        (comparison,) = comparisons(
            matrix, Options(baselines=("@mean",), teams=Teams({"r0": "red"}))
        )
        assert comparison.population.expected[1, 0] == pytest.approx(bound)


@given(score_values(min_runs=3, min_topics=2), ALPHAS, st.data())
def test_figures_in_teams_equal_brute_force(
    values: Floats, alpha: float, data: st.DataObject
) -> None:
    """Expected scores from the totals of the teams' means, written out."""
    matrix = named(values)
    teams = assigned(data, matrix.runs) or {"r0": "red"}
    groups: dict[str, list[list[float]]] = {}
    for run, row in zip(matrix.runs, values.tolist(), strict=True):
        mates = groups.setdefault(teams.get(run, f"alone {run}"), [])
        if row not in mates:
            mates.append(row)
    rows = [
        [sum(column) / len(mates) for column in zip(*mates, strict=True)]
        for mates in groups.values()
    ]
    totals = [sum(column) for column in zip(*rows, strict=True)]
    grand, topics = sum(totals), values.shape[1]
    found = block_of(matrix, Options(baselines=("@mean",), alphas=(alpha,)), teams)
    for number, row in enumerate(values.tolist()):
        above = below = 0.0
        for x, total in zip(row, totals, strict=True):
            e = sum(row) * total / grand if grand else 0.0
            z = (x - e) / e**0.5 if e > 0 and abs(x - e) > 1e-14 * e else 0.0
            above, below = above + max(z, 0.0), below + min(z, 0.0)
        zrisk = above + (1 + alpha) * below
        assert found.estimates["zrisk"].value[number] == pytest.approx(zrisk, abs=1e-9)
        expected = reference.georisk_value(sum(row) / topics, zrisk, topics)
        assert found.estimates["georisk"].value[number] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", sorted(VIRTUAL))
def test_virtual_baselines_are_made_from_the_teams(name: str) -> None:
    values = np.array([[0.2, 0.8], [0.4, 0.0], [0.4, 0.0], [0.9, 0.1]])
    teams = {"r0": "red", "r1": "red", "r2": "red"}
    (comparison,) = comparisons(named(values), Options(baselines=(name,), teams=Teams(teams)))
    rows = [[0.3, 0.4], [0.9, 0.1]]
    expected = reference.virtual_baseline(rows, cast(reference.Pool, name[1:]))
    assert comparison.baseline.scores == pytest.approx(expected)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("filed", [False, True])
def test_runs_are_compared_with_the_mean_of_the_teams_runs(
    monkeypatch: pytest.MonkeyPatch, alpha: float, filed: bool
) -> None:
    """A team weighs one, the mean of its runs' figures; without shuffles by the jackknife."""
    monkeypatch.setattr("riskcli.risk.inference.MOST_SHUFFLED_CELLS", 0)
    values = np.random.default_rng(11).random((6, 12))
    values[2] = values[1]
    teams = {"r0": "red", "r1": "red", "r2": "red", "r3": "blue", "r4": "blue"}
    weights = np.array([1 / 2, 1 / 4, 1 / 4, 1 / 2, 1 / 2, 1]) / 3

    def found(scores: Floats) -> Block:
        options = Options(baselines=("@mean",), alphas=(alpha,), teams=Teams(teams))
        if not filed:
            return block_of(named(scores), options, teams)
        population = freeze(named(scores), options=options)
        return block_of(named(scores), replace(options, population=population), {})

    whole = found(values)
    for name, scale in (("zrisk", values.shape[1]), ("georisk", 1)):
        known, without = whole.estimates[name], []
        assert known.difference is not None and known.difference_error is not None
        assert known.difference == pytest.approx(known.value - weights @ known.value)
        for topic in range(values.shape[1]):
            left = found(np.delete(values, topic, axis=1)).estimates[name].value
            left = left / (scale - 1 if scale > 1 else 1)
            without.append(left - weights @ left)
        spread = np.array(without) - np.mean(without, axis=0)
        count = values.shape[1]
        error = scale * np.sqrt((count - 1) / count * (spread**2).sum(axis=0))
        assert known.difference_error == pytest.approx(error)


@pytest.mark.slow
def test_equal_runs_in_teams_are_flagged_no_more_often_than_gamma_says() -> None:
    """Compared with the figures of the teams' mean rows nearly all of them would be (α = 5)."""
    generator = np.random.default_rng(2)
    topics = generator.beta(0.8, 2.2, 40)
    teams, flagged = {f"r{row}": f"team {row // 3}" for row in range(12)}, []
    for _ in range(60):
        noise = generator.normal(0, 0.12, (12, 40))
        values = np.clip(topics + noise, 0.01, 1.0)
        block = block_of(named(values), Options(baselines=("@mean",), alphas=(5.0,)), teams)
        for name in ("zrisk", "georisk"):
            p = block.estimates[name].p
            assert p is not None
            flagged.append(float((p < 0.05).mean()))
    assert np.mean(flagged) < 0.09


def test_runs_without_a_team_stand_for_themselves() -> None:
    values = np.array([[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]])
    rows = Members.of_teams(values, ["a", "b", "c"], [None] * 3, "teams").rows
    assert rows.tolist() == values.tolist()
    assert Members.of_teams(values, ["a", "b", "c"], [None, "x", "x"], "teams").rows.tolist() == [
        [0.5, 0.5],
        [0.25, 0.75],
    ]
    alone = block_of(named(values), Options(alphas=(5.0,)), {"r0": "red"})
    plain = block_of(named(values), Options(alphas=(5.0,)), {})
    assert alone.estimates["georisk"].value == pytest.approx(plain.estimates["georisk"].value)


def test_teams_by_pattern() -> None:
    assert Teams(pattern=r"^(\w+)-").of(["ut-1", "ut-2", "x"]) == ["ut", "ut", None]
    assert Teams(pattern="^[a-z]+").of(["ut1", "9"]) == ["ut", None]
    assert Teams({"9": "nine"}, "^[a-z]+").of(["ut1", "9"]) == ["ut", "nine"]
    with pytest.raises(UsageError, match="pattern of teams"):
        Teams(pattern="(")
    with pytest.raises(UsageError, match=r"'utt', but no run has that name; did you mean ut1"):
        Teams({"utt": "a"}).of(["ut1"])


def test_a_pattern_that_finds_nobody_is_an_error_and_who_is_alone_is_noted(
    tmp_path: Path,
) -> None:
    call = ("score", SAMPLES, "-q", QRELS, "-m", "P@5", "-f", "tsv")
    ran = riskeval(*call, "--teams", "re:^(xyz)")
    assert (ran.code, ran.out) == (2, "") and ran.err.count("\n") == 1
    assert "the pattern of teams '^(xyz)' finds none in the runs' names: boldRerank" in ran.err
    some = riskeval(*call, "--teams", "re:^(bold|neural|old|plain|part|coarse|steady).*")
    assert some.code == 0
    assert "note: 2 runs without a team, each for itself: caspPlus, indriCASP\n" in some.err
    assert "without a team" not in riskeval(*call, "--teams", "re:.").err
    pack = riskeval("organise", *call[1:6], "--teams", "re:xyz", "-o", "pack", cwd=tmp_path)
    assert pack.code == 2 and "finds none in the runs' names" in pack.err


def test_a_zero_is_a_zero_of_either_sign() -> None:
    """A run that differs from a member by the sign of a zero is that member."""
    members = Members.of_runs(np.array([[0.0, 0.5]]), "frozen")
    assert members.include(np.array([[-0.0, 0.5], [0.0, 0.4]])).tolist() == [True, False]


def test_a_frozen_population_keeps_its_teams() -> None:
    values = np.random.default_rng(6).random((5, 9))
    teams = {"r0": "red", "r1": "red", "r2": "blue"}
    options = Options(baselines=("r0",), teams=Teams(teams))
    population = freeze(named(values), options=options)
    filed = block_of(named(values), Options(baselines=("r0",), population=population), {})
    live = block_of(named(values), options, teams)
    for name in ("zrisk", "georisk"):
        assert filed.estimates[name].value == pytest.approx(live.estimates[name].value, rel=1e-12)


def test_stuffing_turns_the_board_without_teams_and_not_with_them(tmp_path: Path) -> None:
    """Five renamed copies of boldRerank, ERR@20, α = 5: the measured case of the contract."""
    lines = (SAMPLES / "boldRerank.run").read_text(encoding="utf-8")
    for number in range(5):
        copy = lines.replace(" boldRerank", f" boldRerank{number}")
        (tmp_path / f"boldRerank{number}.run").write_text(copy, encoding="utf-8")

    def ranks(*places: Path, teams: bool) -> dict[str, int]:
        more = ["--teams", "re:boldRerank"] if teams else []
        ran = riskeval("score", *places, "-q", QRELS, "-m", "ERR@20", "-a", "5", "-f", "json",
                       "--quiet", *more)  # fmt: skip
        rows = json.loads(ran.out)["rows"]
        return {row["run"]: row["rank_georisk"] for row in rows}

    before, stuffed = ranks(SAMPLES, teams=False), ranks(SAMPLES, tmp_path, teams=False)
    assert before["boldRerank"] > 1 and stuffed["boldRerank"] == 1
    assert before["neuralMix"] == 1 and stuffed["neuralMix"] == 7
    grouped = ranks(SAMPLES, tmp_path, teams=True)
    assert grouped["neuralMix"] == 1
    order = [run for run in sorted(grouped, key=lambda name: grouped[name]) if run in before]
    assert order == sorted(before, key=lambda name: before[name])


# ---------------------------------------------------------------- files, names, keys


def teams_file(folder: Path, text: str) -> Path:
    path = folder / "teams.csv"
    path.write_text(text, encoding="utf-8")
    return path


CALL = (SAMPLES, "-q", QRELS, "-m", "ERR@20", "--quiet", "-f", "json")


def rows_of(*arguments: str | Path) -> list[dict[str, object]]:
    ran = riskeval("score", *CALL, *arguments)
    assert ran.code == 0, ran.err
    rows: list[dict[str, object]] = json.loads(ran.out)["rows"]
    return rows


def test_a_file_of_teams_with_names_to_show(tmp_path: Path) -> None:
    path = teams_file(
        tmp_path, "run,team,name\nboldRerank,A,Bold one\ncaspPlus,A,\nindriCASP,B,Baseline\n"
    )
    rows = rows_of("--teams", path, "-b", "indriCASP")
    names = {str(row["run"]) for row in rows}
    assert {"Bold one", "Baseline", "caspPlus"} <= names and "boldRerank" not in names
    assert {row["baseline"] for row in rows} == {"Baseline"}
    assert {row["population"] for row in rows} == {"teams"}
    best = rows_of("--teams", path, "--top", "best-per-team")
    assert len(best) == 8 and "caspPlus" not in {row["run"] for row in best}
    by_risk = rows_of("--teams", path, "--top", "best-per-team", "--sort", "wins", "-b", "oldTFIDF")
    assert len(by_risk) == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "run,team\nboldRenk,A\n",
            "csv:2: bad-teams: no run is named 'boldRenk'; did you mean",
        ),
        (
            "run,team\nboldRerank,A\nboldRerank,B\n",
            "csv:3: bad-teams: run 'boldRerank' is already",
        ),
        ("name,group\nx,y\n", "teams.csv:1: bad-teams: the header is 'name,group', expected"),
        ("run,team\nboldRerank\n", "teams.csv:2: bad-teams: found 1 columns, expected 2"),
        ("", "teams.csv:1: bad-teams: the header is ''"),
        ("run,team,name\nboldRerank,A,caspPlus\n", "two runs would be shown as 'caspPlus'"),
        ("run,team,name\nboldRerank,A,@mean\n", "'@' marks virtual baselines"),
    ],
)
def test_a_wrong_file_of_teams_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    ran = riskeval("score", *CALL, "--teams", teams_file(tmp_path, text))
    assert (ran.code, ran.out) == (2, "") and message in ran.err


def test_a_name_within_another_gives_no_part_of_it_away() -> None:
    """Notes are rewritten: of `bm25` and `bm25-large` the longer name comes first."""
    matrix = ScoreMatrix(
        "m", ("bm25", "bm25-large"), ("1", "2"), np.array([[0.1, 0.2], [0.3, 0.4]])
    )
    said = Note("x", "bm25-large and bm25 (1); not bm250")
    evaluation = Evaluation((matrix,), provenance=Provenance(notes=(said,)))
    hidden, key = anonymised(evaluation)
    shown = {name: neutral for _, name, neutral in csv.reader(key.splitlines()[1:])}
    (note,) = hidden.provenance.notes
    assert note.message == f"{shown['bm25-large']} and {shown['bm25']} (1); not bm250"


def test_neutral_names_are_stable_and_nothing_else_shows(tmp_path: Path) -> None:
    key = tmp_path / "key.csv"
    path = teams_file(tmp_path, "run,team\nboldRerank,Utrecht\npartial46,Utrecht\n")
    call = (
        "score",
        *CALL[:-3],
        "-f",
        "json",
        "--teams",
        path,
        Key("anonymise", key),
        "-b",
        "indriCASP",
    )
    first = riskeval(*call)
    everything = first.out + first.err
    for run in SAMPLES.glob("*.run"):
        assert run.stem not in everything
    assert "Utrecht" not in everything and "run-009" in everything
    lines = key.read_text(encoding="utf-8").splitlines()
    entries = {(kind, name): shown for kind, name, shown in csv.reader(lines)}
    assert entries["team", "Utrecht"] == "team-001" and len(entries) == 1 + 9 + 1
    plain = {str(row["run"]): row["georisk"] for row in rows_of("-b", "indriCASP", "--teams", path)}
    for row in json.loads(first.out)["rows"]:
        (name,) = [name for (kind, name), shown in entries.items() if shown == row["run"]]
        assert row["georisk"] == pytest.approx(plain[name], rel=1e-12)
    before = key.read_bytes()
    some = (
        "score",
        SAMPLES / "oldTFIDF.run",
        SAMPLES / "indriCASP.run",
        *CALL[1:],
        Key("anonymise", key),
    )
    shown = {row["run"] for row in json.loads(riskeval(*some).out)["rows"]}
    assert shown == {entries["run", "oldTFIDF"], entries["run", "indriCASP"]}
    assert key.read_bytes() == before


def test_a_key_that_is_none_is_left_alone(tmp_path: Path) -> None:
    key = tmp_path / "notes.txt"
    key.write_text("do not lose me\n", encoding="utf-8")
    ran = riskeval("matrix", *CALL, "--anonymise", key)
    assert ran.code == 2 and "is left as it is" in ran.err
    assert key.read_text(encoding="utf-8") == "do not lose me\n"


def test_a_key_or_a_list_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    for option in ("--anonymise", "--teams"):
        ran = riskeval("matrix", *CALL, option, tmp_path)
        assert ran.code == 2 and "unreadable" in ran.err
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"run,team\n\xff\xfe,A\n")
    ran = riskeval("matrix", *CALL, "--teams", binary)
    assert ran.code == 2 and "is not UTF-8 text" in ran.err


def test_the_library_groups_and_renames_alike() -> None:
    evaluation = evaluate([SAMPLES], qrels=QRELS)
    grouped = with_teams(evaluation, {"boldRerank": "A", "caspPlus": "A"}, {"caspPlus": "Casper"})
    table = risk_table(grouped, "caspPlus")
    assert table.settings["teams"] == {"boldRerank": "A", "Casper": "A"}
    assert {block.baseline for block in table.blocks} == {"Casper"}
    hidden, key = anonymised(grouped)
    again, same_key = anonymised(grouped, key)
    assert key == same_key and again.matrices[0].runs == hidden.matrices[0].runs


# ---------------------------------------------------------------- as an organiser would


def test_real_runs_and_copies_of_them_under_ten_teams(tmp_path: Path) -> None:
    """The eight Web 2012 runs; the best one's copies in its own team move nobody."""
    runs, qrels = shared("trec-web-2012", "runs"), shared("trec-web-2012", "qrels.txt.gz")
    files = sorted(path for path in runs.iterdir() if path.is_file())
    names = [f"site{number}-one" for number in range(len(files))]
    for path, name in zip(files, names, strict=True):
        (tmp_path / f"{name}.run").write_bytes(path.read_bytes())

    def figures_of() -> dict[str, tuple[float, float]]:
        call = (
            "-q",
            qrels,
            "-m",
            "ERR@20",
            "-a",
            "5",
            "--run-names",
            "file",
            "--quiet",
            "-f",
            "json",
        )
        ran = riskeval("score", tmp_path, *call, "--teams", "re:^[^-]+")
        assert ran.code == 0, ran.err
        return {row["run"]: (row["zrisk"], row["georisk"]) for row in json.loads(ran.out)["rows"]}

    before = figures_of()
    assert set(before) == set(names)
    for number, source in ((0, 0), (0, 0), (3, 3), (8, 5), (9, 6)):
        copy = tmp_path / f"site{number}-copy{len(list(tmp_path.iterdir()))}.run"
        copy.write_bytes(files[source].read_bytes())
    stuffed = figures_of()
    assert len({run.partition("-")[0] for run in stuffed}) == 10
    # Two more teams have joined with copies of others' runs: that does change the population.
    assert stuffed[names[0]] != before[names[0]]
    for extra in tmp_path.glob("site[89]-*"):
        extra.unlink()
    within = figures_of()
    assert {run: within[run] for run in names} == before


def test_170_runs_of_40_teams() -> None:
    """A team of one to eight runs, some of them copies; frozen, the board holds still."""
    generator = np.random.default_rng(40)
    values = generator.beta(1, 2.5, (170, 50))
    teams = {f"r{row}": f"team{row % 40 if row < 120 else row % 7}" for row in range(170)}
    values[160:] = values[153:163][:10]
    matrix = named(values)
    board = block_of(matrix, Options(alphas=(5.0,)), teams)
    assert set(teams.values()) == {f"team{number}" for number in range(40)}
    plain = block_of(matrix, Options(alphas=(5.0,)), {})
    gap = board.estimates["georisk"].value - plain.estimates["georisk"].value
    assert 0 < np.abs(gap).max() < 0.05
    population = freeze(matrix, options=Options(teams=Teams(teams)))
    still = Options(baselines=("r0",), population=population, alphas=(5.0,))
    some = ScoreMatrix("score", matrix.runs[:30], matrix.topics, values[:30])
    whole, part = block_of(matrix, still, {}), block_of(some, still, {})
    for run in some.runs:
        same(figures(whole, run), figures(part, run))
