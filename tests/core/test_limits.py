"""What is too much, too strange or out of place is refused in one line, or done right."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import riskcli
from riskcli.core.limits import MOST_ALPHA, MOST_JOBS
from riskcli.output.escape import html, latex, markdown, visible
from tests.conftest import Write
from tests.helpers.console import PROGRAMS, terminal_environment
from tests.helpers.inprocess import riskeval, run_inside
from tests.helpers.program import QRELS, SAMPLES, limited
from tests.helpers.strategies import ANY_SCORE

QRELS_TEXT = "1 0 a 1\n1 0 b 0\n2 0 a 1\n3 0 c 2\n"
MATRIX = "run,1,2,3\na,0.1,0.2,0.3\nb,0.2,0.3,0.7\nc,0.5,0.4,0.3\n"


def a_run(tag: str) -> str:
    return f"1 Q0 a 1 3.5 {tag}\n1 Q0 b 2 2.5 {tag}\n2 Q0 a 1 1.5 {tag}\n3 Q0 x 1 1 {tag}\n"


@pytest.fixture
def folder(here: Path) -> Path:
    """The current folder, with judgements, three runs and a matrix."""
    (here / "q").write_text(QRELS_TEXT)
    (here / "m.csv").write_text(MATRIX)
    for tag in "xyz":
        (here / f"{tag}.run").write_text(a_run(tag))
    return here


def refused(*arguments: str | Path, cwd: Path) -> str:
    """The last line of a call that ends with 2 and without a result."""
    ran = riskeval(*arguments, cwd=cwd)
    assert (ran.code, ran.out) == (2, ""), ran.err
    return ran.err.splitlines()[-1]


# ---------------------------------------------------------------- requests that cannot be met


@pytest.mark.parametrize("baseline", ["typo", "@mean", ""])
@pytest.mark.parametrize("candidates", [["x.run"], ["x.run", "y.run"]])
def test_a_gate_says_that_there_is_no_such_baseline(
    folder: Path, baseline: str, candidates: list[str]
) -> None:
    said = refused("check", *candidates, "-b", baseline, "-q", "q", "-m", "AP", cwd=folder)
    expected = (
        "a gate compares with one run or file, found " if baseline == "@mean" else "is named "
    )
    assert f"{expected}'{baseline}'" in said


def test_a_pipe_as_the_baseline_of_a_gate_is_refused(folder: Path) -> None:
    os.mkfifo(folder / "pipe.run")
    said = refused("check", "x.run", "-b", "pipe.run", "-q", "q", "-m", "AP", cwd=folder)
    assert said.startswith("riskeval: pipe.run: unreadable: a pipe cannot be")


@pytest.mark.parametrize("measure", ["gm_map", "utility"])
def test_a_figure_of_georisk_refuses_scores_below_0(tmp_path: Path, measure: str) -> None:
    pytest.importorskip("altair", reason="the extra plots is not installed")
    said = refused(
        "plot", "alpha", SAMPLES, "-q", QRELS, "-m", measure, "-b", "indriCASP",
        "-o", tmp_path / "g.svg", cwd=tmp_path,
    )  # fmt: skip
    assert "GeoRisk takes no score below 0" in said


def test_smooth_fit_needs_two_runs(folder: Path) -> None:
    (folder / "one.csv").write_text("run,1\na,0.5\n")
    said = refused("score", "one.csv", "-b", "a", "--loss", "smooth:fit", cwd=folder)
    assert "smooth:fit needs differences" in said


@pytest.mark.parametrize(
    "call",
    [
        ["score", "m.csv", "-b", "a", "-a"],
        ["sweep", "m.csv", "-b", "a", "-a"],
        ["topics", "m.csv", "-b", "a", "-a"],
        ["explain", "m.csv", "--run", "b", "-b", "a", "-a"],
        ["check", "m.csv", "-b", "a", "--alpha"],
        ["report", "m.csv", "-b", "a", "-o", "r.html", "-a"],
    ],
    ids=lambda call: call[0],
)
def test_alpha_has_a_bound(folder: Path, call: list[str]) -> None:
    for alpha in ("1e155", "1e308", "1.1e9"):
        said = refused(*call, alpha, cwd=folder)
        assert "alpha" in said and ("from 0 to 1e+09" in said or "0<=x<=1000000000.0" in said)
    largest = f"0,{MOST_ALPHA:g}" if call[0] == "sweep" else f"{MOST_ALPHA:g}"
    assert riskeval(*call, largest, cwd=folder).code in (0, 1)


def test_alpha_has_the_same_bound_in_the_library_and_in_rules() -> None:
    with pytest.raises(riskcli.UsageError, match=r"expected a number from 0 to 1e\+09"):
        riskcli.Options(alphas=(2e9,))


@pytest.mark.parametrize("jobs", ["0", str(MOST_JOBS + 1), "9" * 20])
def test_jobs_have_a_bound(folder: Path, jobs: str) -> None:
    said = refused("matrix", "x.run", "-q", "q", "-m", "AP", "--jobs", jobs, cwd=folder)
    assert "--jobs" in said and f"1<=x<={MOST_JOBS}" in said


def test_many_jobs_are_taken(folder: Path) -> None:
    call = ["matrix", "x.run", "y.run", "-q", "q", "-m", "AP", "-f", "csv", "--jobs"]
    assert riskeval(*call, str(MOST_JOBS), cwd=folder) == riskeval(*call, "1", cwd=folder)


# ---------------------------------------------------------------- names


def test_half_a_surrogate_pair_is_no_name(folder: Path) -> None:
    for name, row in (
        ("run.json", {"run": "\ud800", "measure": "AP", "scores": {"1": 0.5, "2": 0.1}}),
        ("topic.json", {"run": "r", "measure": "AP", "scores": {"\udfff": 0.5, "2": 0.1}}),
        ("measure.json", {"run": "r", "measure": "A\udc80", "scores": {"1": 0.5, "2": 0.1}}),
    ):
        (folder / name).write_text(json.dumps({"rows": [row]}))
        assert f"{name}: bad-name: a name holds" in refused("matrix", name, cwd=folder)
    line = json.dumps({"query_id": "1", "measure": "AP\ud800", "value": 0.5})
    (folder / "lines.jsonl").write_text(line + "\n")
    assert "lines.jsonl:1: bad-name: " in refused("matrix", "lines.jsonl", cwd=folder)


@pytest.mark.parametrize("format", ["csv", "tsv", "json", "parquet"])
def test_a_file_name_that_is_not_utf_8_is_spelled(folder: Path, format: str) -> None:
    odd = os.fsdecode(b"x\xff.run")
    (folder / odd).write_text(a_run("x"))
    call = ["matrix", odd, "-q", "q", "-m", "AP", "--run-names", "file", "-f", format]
    ran = subprocess.run(
        [str(PROGRAMS / "riskeval"), *call, "-o", "out"],
        cwd=folder, env=terminal_environment(), capture_output=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"x\\xff" in (folder / "out").read_bytes() or format == "json"
    again = riskcli.evaluate([folder / "out"])
    assert again.matrices[0].runs == ("x\\xff",)


LOOKALIKES = [
    "\u200b", "\u200e", "\u200f", "\u061c", "\ufeff", "\u3164", "\u115f", "\uffa0", "\u2060",
    "\U000e0041", "\U000e01ef", "\ufe0f", "\u00ad", "\u034f", "\u202e", "\u2066", "\u00a0",
    "\u2003", "\u3000", "\u2800",
]  # fmt: skip


@pytest.mark.parametrize("unseen", LOOKALIKES, ids=ascii)
def test_names_that_look_alike_are_shown_as_what_they_are(folder: Path, unseen: str) -> None:
    spelled = ascii(unseen)[1:-1]
    name = f"ru{unseen}n"
    for escape in (visible, html, markdown):
        assert unseen not in escape(name)
        assert spelled.lstrip("\\") in escape(name)
    assert unseen not in latex(name)
    (folder / "m.csv").write_text(f"run,1,2,3\nrun,0.1,0.2,0.3\n{name},0.2,0.3,0.7\n")
    for format in ("table", "markdown", "html", "latex"):
        ran = run_inside("score", folder / "m.csv", "-b", "run", "-f", format)
        assert ran.code == 0 and unseen not in ran.out and unseen not in ran.err
    page = folder / "page.html"
    assert run_inside("report", folder / "m.csv", "-b", "run", "-o", page).code == 0
    data = page.read_text()
    assert name not in data and f"ru\\{spelled}n" in data


def test_machine_formats_keep_such_names(folder: Path) -> None:
    (folder / "m.csv").write_text("run,1,2\nru\u200bn,0.1,0.2\nrun,0.2,0.3\n")
    assert "ru\u200bn" in run_inside("score", folder / "m.csv", "-f", "csv").out


MEMBERS = ["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__"]


@pytest.mark.parametrize("kind", ["heatmap", "box", "profile", "topics", "tradeoff", "wins"])
@pytest.mark.parametrize("name", MEMBERS)
def test_figures_of_runs_and_topics_named_like_members_of_objects(
    folder: Path, kind: str, name: str
) -> None:
    pytest.importorskip("vl_convert", reason="the extra plots is not installed")
    text = f"run,1,2,{name}\na,0.1,0.2,0.5\nb,0.2,0.3,0.4\n{name},0.3,0.1,0.6\n"
    (folder / "m.csv").write_text(text)
    svg = folder / "h.svg"
    ran = run_inside("plot", kind, folder / "m.csv", "-b", "a", "-o", svg)
    assert ran.code == 0, ran.err
    assert name in svg.read_text()


def test_latex_of_every_command_needs_no_special_engine() -> None:
    """pdflatex prints what is in the table of symbols, and letters up to U+017F."""
    against = ["-b", "indriCASP"]
    calls = {
        "score": against, "sweep": against, "topics": against, "significance": [],
        "sweep --over baseline": [],
        "explain": [*against, "--run", "caspPlus"], "sweep --over measure": ["-m", "AP"],
    }  # fmt: skip
    for command, options in calls.items():
        ran = run_inside(
            *command.split(), SAMPLES, "-q", QRELS, "-m", "P@5", *options, "-f", "latex"
        )
        if "is not one of" in ran.err:
            continue
        assert ran.code == 0, ran.err
        strange = sorted(set(re.findall(r"[^\x00-\u017f]", ran.out)))
        assert strange == [], (command, strange)


# ---------------------------------------------------------------- settings of a strange folder


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("quiet = 3", "riskeval.toml: quiet is 3, expected true or false"),
        ("max_bytes = inf", "'inf' is not a valid integer"),
        ("max_bytes = nan", "'nan' is not a valid integer"),
        ("jobs = true", "'True' is not a valid integer"),
        ("jobs = 1e400", "'inf' is not a valid integer"),
        ("gamma = 'much'", "'much' is not a valid float"),
        ("top = 1979-05-27", "'1979-05-27' is neither a whole number"),
        ("a=" + "[" * 100_000, "riskeval.toml: bad-settings: values are nested too deeply"),
        ("a=" + "{b=" * 100_000, "riskeval.toml: bad-settings: "),
        ("\x00", "riskeval.toml: bad-settings: "),
    ],
)
def test_settings_of_the_wrong_kind(folder: Path, settings: str, said: str) -> None:
    (folder / "riskeval.toml").write_text(settings)
    assert said in refused("score", "m.csv", "-f", "csv", cwd=folder)


@pytest.mark.parametrize(
    ("command", "settings"),
    [
        (["matrix", "m.csv", "-f", "csv", "--quiet"], 'output = "{outside}"'),
        (["matrix", "m.csv", "-f", "csv", "--quiet"], 'output = "../victim.csv"'),
        (["matrix", "m.csv", "-f", "csv", "--quiet"], 'output = "link.csv"'),
        (["score", "m.csv", "--profile", "p"], '[profile.p]\noutput = "{outside}"'),
        (["check", "m.csv", "-b", "a"], 'report = ["markdown={outside}"]'),
        (["report", "m.csv"], 'output = "{outside}"'),
    ],
)
def test_settings_write_nothing_out_of_the_folder(
    folder: Path, command: list[str], settings: str
) -> None:
    work = folder / "work"
    work.mkdir()
    (work / "m.csv").write_text(MATRIX)
    victim = folder / "victim.csv"
    victim.write_text("mine")
    (work / "link.csv").symlink_to(victim)
    (work / "riskeval.toml").write_text(settings.format(outside=victim))
    assert "which is not below this folder" in refused(*command, cwd=work)
    assert victim.read_text() == "mine"


def test_an_output_below_the_folder_is_announced(folder: Path) -> None:
    (folder / "riskeval.toml").write_text('output = "out.csv"\n')
    ran = riskeval("matrix", "m.csv", "--quiet", cwd=folder)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "warning: the settings here ask for output = out.csv\n"
    assert (folder / "out.csv").read_text() == MATRIX
    ran = riskeval("matrix", "m.csv", "--quiet", "-o", "other.csv", cwd=folder)
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize("key", ["qrels", "baseline"])
@pytest.mark.parametrize("place", ["outside", "parent", "link"])
def test_settings_read_nothing_out_of_the_folder(folder: Path, key: str, place: str) -> None:
    secret = folder / "secret"
    secret.write_text("hunter2 is the password\n")
    work = folder / "work"
    work.mkdir()
    (work / "x.run").write_text(a_run("x"))
    (work / "link").symlink_to(secret)
    (work / "q").write_text(QRELS_TEXT)
    value = {"outside": secret, "parent": "../secret", "link": "link"}[place]
    (work / "riskeval.toml").write_text(f'{key} = "{value}"\n')
    given = ["-q", "q"] if key == "baseline" else []
    ran = riskeval("score", "x.run", *given, "-m", "AP", cwd=work)
    assert ran.code == 2 and "which is not below this folder" in ran.err
    assert "hunter2" not in ran.err + ran.out


# ---------------------------------------------------------------- pipes for every input


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        '-q <(cat q) x.run y.run -b z.run', "-q q x.run y.run -b <(cat z.run)",
        "-q q <(cat x.run) y.run -b z.run", "-q q - y.run -b z.run < x.run",
        "-q - x.run y.run -b z.run < q", "-q /dev/stdin x.run y.run -b z.run < q",
        "-q q x.run y.run -b - < z.run", "-q <(gzip -c q) <(xz -c x.run) y.run -b <(cat z.run)",
    ],
)  # fmt: skip
def test_pipes_for_every_input(folder: Path, call: str) -> None:
    plain = riskeval("score", "x.run", "y.run", "-b", "z.run", "-q", "q", "-f", "csv", cwd=folder)
    assert plain.code == 0
    ran = subprocess.run(
        ["bash", "-c", f'"{PROGRAMS}/riskeval" score {call} -f csv'],
        cwd=folder, env=terminal_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, plain.out), ran.stderr


def test_an_empty_text_is_no_file(folder: Path) -> None:
    for call in (
        ["score", "", "-q", "q"],
        ["score", "x.run", "-q", ""],
        ["score", "x.run", "-o", ""],
    ):
        assert "an empty text names no file" in refused(*call, cwd=folder)


# ---------------------------------------------------------------- numbers at the ends of doubles

OUT_OF_BOUNDS = ["1e51", "-1e51", "1e308", "1e-303", "5e-324", "-2e-308"]


@pytest.mark.parametrize("score", OUT_OF_BOUNDS)
def test_scores_out_of_all_bounds_are_refused(folder: Path, score: str) -> None:
    files = {
        "wide.csv": f"run,1,2\na,0.1,{score}\nb,0.2,0.3\n",
        "long.csv": f"run,topic,measure,score\na,1,AP,{score}\n",
        "trec.txt": f"map 1 {score}\nmap 2 0.5\n",
        "rows.json": json.dumps(
            {"rows": [{"run": "a", "measure": "AP", "scores": {"1": float(score)}}]}
        ),
        "lines.jsonl": f'{{"query_id": "1", "measure": "AP", "value": {score}}}\n',
    }
    for name, content in files.items():
        (folder / name).write_text(content)
        said = refused("matrix", name, cwd=folder)
        assert "bad-score: " in said and "expected 0 or a size from 1e-302 to 1e+50" in said
    riskcli.ScoreMatrix.from_frame(
        riskcli.ScoreMatrix("m", ("a",), ("1",), np.array([[0.5]])).to_frame()
    ).to_frame().to_parquet(folder / "w.parquet")
    frame = riskcli.ScoreMatrix("m", ("a",), ("1",), np.array([[float(score)]])).to_frame()
    frame.reset_index().to_parquet(folder / "w.parquet", index=False)
    assert "bad-score: " in refused("matrix", "w.parquet", cwd=folder)
    with pytest.raises(riskcli.UsageError, match="expected 0 or a size"):
        riskcli.ScoreMatrix.from_frame(frame)


@given(
    scores=st.lists(st.tuples(ANY_SCORE, ANY_SCORE), min_size=1, max_size=8),
    alpha=st.sampled_from([0.0, 1.0, 1e3, MOST_ALPHA]),
)
def test_urisk_and_trisk_are_right_as_far_as_scores_go(
    scores: list[tuple[float, float]], alpha: float
) -> None:
    values = np.array(scores).T
    topics = tuple(map(str, range(len(scores))))
    matrix = riskcli.ScoreMatrix("m", ("a", "b"), topics, values)
    frame = riskcli.risk_table(matrix, "a", options=riskcli.Options(alphas=(alpha,))).to_frame()
    row = frame[frame["run"] == "b"].iloc[0]
    weight = 1 + Fraction(alpha)
    deltas = [Fraction(y) - Fraction(x) for x, y in scores]
    w = [delta if delta.numerator >= 0 else weight * delta for delta in deltas]
    mean = sum(w, Fraction(0)) / len(w)
    scale = Fraction(max(abs(each) for each in w))
    assert abs(Fraction(row["urisk"]) - mean) <= scale * Fraction(1, 10**12)
    if len(w) < 2 or not scale:
        return
    squares = sum(((each - mean) * (each - mean) for each in w), Fraction(0))
    spread = squares / (len(w) - 1) / len(w)
    largest = Fraction(float(np.abs(values).max()))
    if spread <= (largest * Fraction(1, 10**13)) ** 2:
        return  # the differences are rounding of the scores
    if spread > scale * scale * Fraction(1, 10**12) and abs(mean) > scale * Fraction(1, 10**9):
        square = mean * mean / spread
        trisk = Fraction(row["trisk"])
        assert abs(trisk * trisk - square) <= square * Fraction(1, 10**6)


@pytest.mark.parametrize(
    "command", ["score", "sweep", "topics", "sweep --over baseline", "significance", "report"]
)
def test_every_command_takes_scores_at_the_bounds(folder: Path, write: Write, command: str) -> None:
    rows = ["1e50,1e-302,0", "0,1e50,1e-302", "1e-302,0,1e50", "1e50,1e50,1e-302"]
    text = "run,1,2,3\n" + "".join(f"r{i},{row}\n" for i, row in enumerate(rows))
    baseline = [] if command in ("sweep --over baseline", "significance") else ["-b", "r0"]
    extra = ["-o", folder / "r.html"] if command == "report" else ["-f", "json"]
    ran = run_inside(*command.split(), write("m.csv", text), "-m", "gain", *baseline, *extra)
    assert ran.code == 0, ran.err
    assert "RuntimeWarning" not in ran.err and "NaN" not in ran.out and "Infinity" not in ran.out


# ---------------------------------------------------------------- sizes


def test_a_cutoff_beyond_every_ranking_costs_nothing(folder: Path) -> None:
    shallow = riskeval("matrix", "x.run", "-q", "q", "-m", "ERR@1000", "-f", "tsv", cwd=folder)
    for measure in ("ERR@10000000", "RBP(rel=1)@10000000", "Judged@10000000"):
        deep = subprocess.run(
            limited("RLIMIT_AS", 800 * 2**20, PROGRAMS / "riskeval",
                    "matrix", "x.run", "-q", "q", "-m", measure, "-f", "tsv"),
            cwd=folder, env=terminal_environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert deep.returncode == 0, deep.stderr
        assert not measure.startswith("ERR") or deep.stdout == shallow.out


@pytest.mark.slow
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_line_without_end_is_refused_before_it_is_all_read(
    folder: Path, pack: Callable[[bytes], bytes]
) -> None:
    (folder / "long").write_bytes(pack(b"a" * 2**28))
    score = [str(PROGRAMS / "riskeval"), "score", "-m", "P@5"]
    run = limited("RLIMIT_AS", 2**30, *score, "long", "-q", "q")
    for call in (run, [*score, "x.run", "-q", "long"]):
        ran = subprocess.run(
            call,
            cwd=folder, env=terminal_environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 2
        assert (
            ran.stderr == "riskeval: long: line-too-long: a line is longer than 8,388,608 bytes\n"
        )


def test_scores_may_stand_in_one_long_line(folder: Path) -> None:
    scores = {f"{number:01000}": 0.5 for number in range(12_000)}
    row = {"run": "r", "measure": "AP", "scores": scores}
    text = json.dumps({"rows": [row]})
    assert len(text) > 10_000_000
    (folder / "long.json").write_text(text)
    assert len(riskcli.evaluate([folder / "long.json"]).matrices[0].topics) == 12_000


@pytest.mark.parametrize("command", ["significance", "sweep --over measure"])
def test_tables_of_pairs_have_a_bound(folder: Path, command: str) -> None:
    rows = "".join(f"r{number},0.1,0.2,0.{number}\n" for number in range(1, 5001))
    (folder / "m.csv").write_text("run,1,2,3\n" + rows)
    said = refused(*command.split(), "m.csv", cwd=folder)
    assert "5,000 runs make 12,497,500 pairs, which would take about 12 GB" in said
