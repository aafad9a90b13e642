"""The commands at the command line: stdout, stderr, exit code."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import math
import os
import shutil
import signal
import subprocess
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import riskcli
from riskcli.output.measure_words import ORDER
from tests.helpers.console import PROGRAMS, ROOT, on_terminal, terminal_environment
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Key, python
from tests.helpers.tables import table_of

ONE = ("-m", "ERR@20")
CONTRACT = [
    "run",
    "measure",
    "baseline",
    "population",
    "alpha",
    "topics",
    "mean",
    "mean_lo",
    "mean_hi",
    "baseline_mean",
    "mean_diff",
    "mean_p",
    "mean_p_adj",
    "mean_flag",
    "wins",
    "ties",
    "losses",
    "losses20",
    "reward",
    "risk",
    "urisk",
    "urisk_lo",
    "urisk_hi",
    "urisk_se",
    "trisk",
    "trisk_p",
    "trisk_p_adj",
    "trisk_flag",
    "zrisk",
    "zrisk_lo",
    "zrisk_hi",
    "zrisk_diff",
    "zrisk_p",
    "zrisk_p_adj",
    "zrisk_flag",
    "georisk",
    "georisk_lo",
    "georisk_hi",
    "georisk_diff",
    "georisk_p",
    "georisk_p_adj",
    "georisk_flag",
    "rank_mean",
    "rank_urisk",
    "rank_trisk",
    "rank_zrisk",
    "rank_georisk",
]


# ---------------------------------------------------------------- score


def test_the_cards_own_line_works_in_a_checkout() -> None:
    ran = riskeval("score", "sample_runs/", "--baseline", "indriCASP")
    assert ran.code == 0
    rows = table_of(ran.out)
    assert len(rows) == 18
    assert {row["measure"] for row in rows} == {"ERR@20", "nDCG@20"}
    assert "partial46 (4)" in ran.err


def test_a_pipe_gets_tsv_with_the_columns_of_the_contract_in_order() -> None:
    header = riskeval("score", SAMPLES, "-b", "indriCASP", *ONE).out.splitlines()[0].split("\t")
    assert header[: len(CONTRACT)] == CONTRACT
    assert header[: len(ORDER)] == list(ORDER)


def test_all_machine_formats_hold_the_same_rows() -> None:
    arguments = ("score", SAMPLES, "-b", "indriCASP", "-a", "0,5", "-f")
    tsv = table_of(riskeval(*arguments, "tsv").out)
    assert table_of(riskeval(*arguments, "csv").out, ",") == tsv
    document = json.loads(riskeval(*arguments, "json").out)
    assert [json.loads(line) for line in riskeval(*arguments, "jsonl").out.splitlines()] == (
        document["rows"]
    )
    assert len(tsv) == len(document["rows"]) == 36
    for text, row in zip(tsv, document["rows"], strict=True):
        for name, cell in text.items():
            value = row[name]
            if isinstance(value, float):
                assert float(cell) == value
            else:
                assert cell == ("" if value is None else str(value))


def test_json_carries_version_settings_inputs_and_warnings() -> None:
    document = json.loads(riskeval("score", SAMPLES, "-b", "indriCASP", "-f", "json").out)
    assert list(document) == ["riskeval", "settings", "inputs", "warnings", "verdicts", "rows"]
    assert document["riskeval"] == riskcli.__version__
    assert document["settings"]["baselines"] == ["indriCASP"]
    assert document["settings"]["gamma"] == 0.05
    assert [entry["kind"] for entry in document["inputs"]] == ["run"] * 9 + ["qrels"]
    assert all(len(entry["sha256"]) == 64 for entry in document["inputs"])
    assert [warning["code"] for warning in document["warnings"]] == [
        "tie-order",
        "unanswered-topics",
        "one-heavy-topic",
    ]


def test_the_same_bytes_wherever_the_files_lie_and_in_whatever_order(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES, tmp_path / "elsewhere")
    shutil.copy(QRELS, tmp_path)
    here = riskeval("score", SAMPLES, "-q", QRELS, "-b", "indriCASP", "-f", "json")
    files = sorted((tmp_path / "elsewhere").glob("*.run"), reverse=True)
    there = riskeval("score", *files, "-q", tmp_path / QRELS.name, "-b", "indriCASP", "-f", "json")
    assert here.out == there.out


def test_numbers_equal_the_librarys() -> None:
    rows = table_of(riskeval("score", SAMPLES, "-b", "indriCASP", "-a", "5").out)
    evaluation = riskcli.evaluate([SAMPLES], qrels=QRELS)
    options = riskcli.Options(alphas=(5.0,))
    frame = riskcli.risk_table(evaluation.matrices, "indriCASP", options=options).to_frame()
    indexed = frame.set_index(["run", "measure"])
    for row in rows:
        mine = indexed.xs((row["run"], row["measure"]))
        for name in ("mean", "urisk", "trisk", "zrisk", "georisk", "georisk_p_adj"):
            cell = float(row[name]) if row[name] else math.nan
            assert np.array_equal([cell], [float(str(mine[name]))], equal_nan=True)


def test_without_a_baseline_the_mean_is_taken_and_said() -> None:
    ran = riskeval("score", SAMPLES, *ONE)
    assert {row["baseline"] for row in table_of(ran.out)} == {"@mean"}
    assert "no baseline given" in ran.err


def test_a_baseline_given_as_a_file_joins_the_matrix(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(SAMPLES, folder)
    (folder / "indriCASP.run").rename(tmp_path / "old.run")
    ran = riskeval("score", folder, "-q", QRELS, "-b", tmp_path / "old.run", *ONE)
    assert ran.out == riskeval("score", SAMPLES, "-b", "indriCASP", *ONE).out


def test_a_baseline_file_that_is_among_the_runs_is_not_added_twice() -> None:
    by_path = riskeval("score", SAMPLES, "-b", SAMPLES / "indriCASP.run", *ONE)
    assert by_path.out == riskeval("score", SAMPLES, "-b", "indriCASP", *ONE).out


def test_sets_globs_pools_and_populations() -> None:
    def settings(*arguments: str) -> set[tuple[str, str]]:
        rows = table_of(riskeval("score", SAMPLES, *ONE, *arguments).out)
        return {(row["baseline"], row["population"]) for row in rows}

    assert settings("-b", "c*") == {("mean(caspPlus,coarseTies)", "baselines")}
    assert settings("-b", "c*", "--pool", "max", "--population", "all") == {
        ("max(caspPlus,coarseTies)", "all")
    }
    assert settings("-b", "caspPlus", "-b", "coarseTies", "--pool", "each") == {
        ("caspPlus", "baselines"),
        ("coarseTies", "baselines"),
        ("each(caspPlus,coarseTies)", "baselines"),
    }


@pytest.mark.parametrize(
    ("given", "alphas"),
    [
        ("1", ["1.0"]),
        ("0,1,5,10", ["0.0", "1.0", "5.0", "10.0"]),
        ("0:20:5", ["0.0", "5.0", "10.0", "15.0", "20.0"]),
        ("0:0.3:0.1", ["0.0", "0.1", "0.2", "0.3"]),
        ("0:2,7", ["0.0", "1.0", "2.0", "7.0"]),
    ],
)
def test_alphas(given: str, alphas: list[str]) -> None:
    rows = table_of(riskeval("score", SAMPLES, *ONE, "-a", given).out)
    assert list(dict.fromkeys(row["alpha"] for row in rows)) == alphas


@pytest.mark.parametrize("given", ["-1", "x", "1:", "5:1", "0:1:0", "1:2:3:4", "nan", "inf", ""])
def test_wrong_alphas_are_refused(given: str) -> None:
    ran = riskeval("score", SAMPLES, f"--alpha={given}")
    assert (ran.code, ran.out) == (2, "")
    assert "alpha" in ran.err


def test_sort_and_top() -> None:
    rows = table_of(riskeval("score", SAMPLES, *ONE, "-b", "indriCASP", "--sort", "zrisk").out)
    zrisk = [float(row["zrisk"]) for row in rows]
    assert zrisk == sorted(zrisk, reverse=True)
    top = table_of(riskeval("score", SAMPLES, *ONE, "--sort", "run", "--top", "2").out)
    assert [row["run"] for row in top] == ["boldRerank", "caspPlus"]
    ran = riskeval("score", SAMPLES, "--sort", "ziskr")
    assert ran.code == 2 and "zrisk" in ran.err


def test_the_caption_names_the_baseline_even_where_its_row_is_not_shown() -> None:
    call = ("score", SAMPLES, *ONE, "-b", "indriCASP", "-f", "markdown", "--top", "2")
    assert "**ERR@20, baseline indriCASP, α = 1**" in riskeval(*call).out


def test_on_error_skip_leaves_a_broken_run_out_and_says_so(tmp_path: Path) -> None:
    bad = tmp_path / "bad.run"
    bad.write_text("101 Q0 d1 1 high bad\n")
    call = ("score", SAMPLES, bad, "-q", QRELS, "-b", "indriCASP", "--on-error", "skip", "-f")
    ran = riskeval(*call, "json")
    assert ran.code == 1
    assert f"LEFT OUT: {bad}:1: bad-score" in ran.err
    document = json.loads(ran.out)
    (entry,) = document["skipped"]
    assert (entry["path"], entry["line"], entry["code"]) == ("bad.run", 1, "bad-score")
    direct = json.loads(riskeval("score", SAMPLES, "-b", "indriCASP", "-f", "json").out)
    assert document["rows"] == direct["rows"] and "skipped" not in direct
    assert riskeval(*call, "tsv", Key("exit-zero")).code == 0
    assert riskeval("matrix", SAMPLES, bad, *ONE, "-q", QRELS, "--on-error", "skip").code == 1


def test_the_result_does_not_depend_on_jobs() -> None:
    outputs = {
        riskeval("score", SAMPLES, "-b", "indriCASP", "-f", "json", "--jobs", str(jobs)).out
        for jobs in (1, 2, 5)
    }
    assert len(outputs) == 1


def test_a_file_that_expands_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.run"
    bomb.write_bytes(gzip.compress(bytes(10**6)))
    ran = riskeval("score", bomb, "-q", QRELS, Key("max-bytes", "1000"))
    assert ran.code == 2 and "too-large: expands to more than 1,000 bytes" in ran.err


def test_markdown_is_a_table() -> None:
    lines = riskeval("score", SAMPLES, *ONE, "-b", "indriCASP", "-f", "markdown").out.splitlines()
    assert lines[0].startswith("neuralMix (mean ") and lines[4] == ""
    assert lines[5] == "**ERR@20, baseline indriCASP, α = 1**"
    assert lines[7].startswith("| \\# | run | Mean | W/T/L | URisk |")
    assert len([line for line in lines if line.startswith("| ")]) == 10


# ---------------------------------------------------------------- the terminal


@pytest.mark.parametrize("columns", [80, 160])
def test_the_table_fits_its_terminal(columns: int) -> None:
    code, shown = on_terminal(
        "riskeval score sample_runs/ --baseline indriCASP -a 5 2>/dev/null", columns
    )
    assert code == 0
    assert max(map(len, shown.splitlines())) <= columns
    assert "…" not in shown
    assert ("Reward" in shown) == (columns == 160)


def test_several_alphas_stand_side_by_side_where_there_is_room() -> None:
    command = "riskeval score sample_runs/ -b indriCASP -m ERR@20 -a 0,5 2>/dev/null"
    narrow, wide = (on_terminal(command, columns)[1] for columns in (80, 160))
    assert narrow.count("baseline indriCASP") == 2
    assert wide.count("baseline indriCASP, α") == 1


def test_colour_on_a_terminal_only_and_never_with_no_color() -> None:
    command = "riskeval score sample_runs/ -b indriCASP"
    assert "\x1b[" in on_terminal(command, NO_COLOR="")[1]
    assert "\x1b[" not in on_terminal(command)[1]
    assert "\x1b[" not in on_terminal(command, NO_COLOR="", TERM="dumb")[1]
    assert "\x1b[" not in riskeval("score", SAMPLES, "-b", "indriCASP", "-f", "table").out


def test_precision_sets_the_decimals() -> None:
    shown = riskeval("score", SAMPLES, *ONE, "-f", "table", Key("precision", "1")).out
    table = shown[shown.index("─") : shown.index("γ")]
    assert "0.3" in table and "0.29" not in table


# ---------------------------------------------------------------- matrix


def test_matrix_is_wide_and_at_full_precision() -> None:
    ran = riskeval("matrix", SAMPLES, *ONE, "-f", "csv")
    rows = table_of(ran.out, ",")
    assert list(rows[0])[:3] == ["run", "101", "102"]
    assert len(rows) == 9 and len(rows[0]) == 51
    (matrix,) = riskcli.evaluate([SAMPLES], qrels=QRELS, rules=riskcli.Rules(("ERR@20",))).matrices
    assert [[float(row[topic]) for topic in matrix.topics] for row in rows] == (
        matrix.values.tolist()
    )


def test_matrix_of_several_measures_is_long() -> None:
    asked = ("-m", "ERR@20", "-m", "nDCG@20")
    ran = riskeval("matrix", SAMPLES, *asked)
    assert (ran.code, ran.out) == (2, "")
    assert "--measure" in ran.err and "--long" in ran.err
    long = riskeval("matrix", SAMPLES, *asked, "--long").out
    assert riskeval("matrix", SAMPLES).out == long  # those of the defaults are two
    rows = table_of(long)
    assert list(rows[0]) == ["run", "topic", "measure", "score"]
    assert len(rows) == 9 * 50 * 2


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "parquet"])
@pytest.mark.parametrize("long", [False, True])
def test_a_matrix_file_stands_in_for_runs(tmp_path: Path, suffix: str, long: bool) -> None:
    file = tmp_path / f"scores.{suffix}"
    shape = ("--long",) if long else ()
    assert riskeval("matrix", SAMPLES, *ONE, *shape, "-o", file).code == 0
    again = table_of(riskeval("score", file, "-b", "indriCASP", *ONE).out)
    direct = table_of(riskeval("score", SAMPLES, "-b", "indriCASP", *ONE).out)
    assert again == direct


def test_a_matrix_from_anywhere_can_be_analysed(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text("run,001,1e3,NA\na,0.5,0.25,0.1\nb,0.25,0.5,0.1\n")
    ran = riskeval("score", file, "--baseline", "@mean")
    assert [row["losses"] for row in table_of(ran.out)] == ["1", "1"]
    back = riskeval("matrix", file, "-f", "csv")
    assert back.out.splitlines()[0] == "run,001,1e3,NA"


# ---------------------------------------------------------------- errors


RUN = "1 Q0 d1 1 2.5 tag\n1 Q0 d2 2 1.5 tag\n"


@pytest.mark.parametrize(
    ("content", "where", "words"),
    [
        (RUN + "1 Q0 d3 3 tag\n", ":3", "column-count: found 5 columns"),
        (RUN + "\n1 Q0 d3 3 high tag\n", ":4", "bad-score"),
        (RUN + "1 Q0 d1 3 0.5 tag\n", ":3", "duplicate-document: topic 1 has document d1 already"),
        (RUN + "1 Q0 d3 3 nan tag\n", ":3", "bad-score"),
        ("", "", "empty-file"),
        ("1 0 d1 1\n", "", "other-kind: this file holds judgements"),
    ],
)
def test_bad_runs_name_file_and_line_and_print_nothing(
    tmp_path: Path, content: str, where: str, words: str
) -> None:
    bad = tmp_path / "bad.run"
    bad.write_text(content)
    ran = riskeval("score", SAMPLES, bad, "-q", QRELS)
    assert (ran.code, ran.out) == (2, "")
    assert f"{bad}{where}: " in ran.err and words in ran.err
    assert len(ran.err.splitlines()) <= 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["score", "no/such/place"], "no such file or folder"),
        (["score", "sample_runs/", "-b", "indriCAPS"], "did you mean indriCASP"),
        (["score", "sample_runs/", "-m", "nDGC@20"], "did you mean nDCG"),
        (["score", "sample_runs/", "-m", "relstring"], "unknown measure"),
        (["score", "sample_runs/", "--max-grade", "3"], "above the highest that ERR expects (3)"),
        (["score", "sample_runs/", "--gamma", "2"], "gamma"),
        (["scor", "sample_runs/"], "did you mean score"),
        (["score"], "Missing argument"),
        (["score", "sample_runs/", "-q", "sample_runs/indriCASP.run"], "this file holds a run"),
        (["score", "sample_runs/", "-o", "x.unknown"], "choose one of table, tsv"),
        (["score", "sample_runs/", "-o", "no/such/folder/x.csv"], "cannot-write"),
        (["score", "sample_runs/", Key("test", "swap")], "needs one run as the baseline"),
    ],
)
def test_wrong_calls_exit_with_2_and_say_what_to_do(arguments: list[str], words: str) -> None:
    ran = riskeval(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_runs_of_another_collection_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("x1 Q0 d 1 1.0 a\n")
    ran = riskeval("score", tmp_path / "a.run", "-q", QRELS)
    assert ran.code == 2 and "answers none of the 50 topics" in ran.err


def test_two_runs_of_one_name_are_told_apart_by_their_folders_or_refused(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.run").write_text("101 Q0 sim12-en0000-01-24662 1 1.0 tag\n")
    call = ("score", tmp_path / "one", tmp_path / "two", "-q", QRELS, "-m", "P@5")
    ran = riskeval(*call)
    assert ran.code == 0 and {row["run"] for row in table_of(ran.out)} == {"one/same", "two/same"}
    ran = riskeval(*call, "--run-names", "tag")
    assert ran.code == 2
    assert f"{tmp_path}/one/same.run" in ran.err and f"{tmp_path}/two/same.run" in ran.err


def test_an_error_leaves_the_old_output_whole(tmp_path: Path) -> None:
    target = tmp_path / "result.csv"
    target.write_text("the old one")
    assert riskeval("score", SAMPLES, "-b", "nobody", "-o", target).code == 2
    assert target.read_text() == "the old one"
    assert riskeval("score", SAMPLES, "-o", target).code == 0
    assert target.read_text().startswith("run,measure")
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.csv"]


def test_a_hostile_name_reaches_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("101 Q0 sim12-en0000-01-24662 1 1.0 evil\x1b[2Jname\n")
    (tmp_path / "b.run").write_text("101 Q0 sim12-en0000-01-24662 1 1.0 other\n")
    for format in ("table", "markdown"):
        ran = riskeval("score", tmp_path, "-q", QRELS, *ONE, "-f", format)
        assert ran.code == 0 and "\x1b" not in ran.out + ran.err
        assert "x1b" in ran.out


# ---------------------------------------------------------------- behaviour as a program


def test_a_closed_pipe_is_quiet() -> None:
    command = f"{PROGRAMS}/riskeval matrix sample_runs/ --long | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=terminal_environment(),
        check=False,
    )
    assert done.stdout == "run\ttopic\tmeasure\tscore\n"
    assert "Broken" not in done.stderr and "Error" not in done.stderr
    assert done.returncode == 0


def open_once_read(fifo: Path, process: subprocess.Popen[str]) -> int:
    """The writing end of a pipe, as soon as the program reads from it; it then waits for more."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            time.sleep(0.02)
    process.kill()
    raise AssertionError(f"the program never read: {process.communicate()}")


def test_interrupt_exits_with_130(tmp_path: Path) -> None:
    fifo = tmp_path / "slow.run"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [str(PROGRAMS / "riskeval"), "score", str(fifo), "-q", str(QRELS)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=terminal_environment(),
    )
    writer = open_once_read(fifo, process)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    os.close(writer)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err


def test_python_dash_m_is_the_same_program() -> None:
    ran = python(
        "import subprocess, sys; sys.exit(subprocess.call("
        "[sys.executable, '-m', 'riskcli', '--version']))"
    )
    assert ran.out == f"riskeval {riskcli.__version__}\n"


@pytest.mark.parametrize(
    "command",
    [
        ["--version"], ["--help"], ["score", "--help"], ["sweep", "--help"], ["topics", "--help"],
        ["help"], ["help", "sweep"], ["help", "alpha"], ["help", "missing-topic"],
        ["help", "--alpha"], ["help", "cite"], ["help", "settings"], ["help", "completion", "zsh"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_help_and_version_import_nothing_heavy(command: list[str]) -> None:
    ran = python(
        "import sys\n"
        f"sys.argv = ['riskeval', *{command!r}]\n"
        "from riskcli.__main__ import main\n"
        "try:\n    main()\n"
        "finally:\n"
        "    heavy = {'pandas', 'scipy', 'numpy', 'pyarrow', 'rich', 'pytrec_eval'}\n"
        "    print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    assert ran.code == 0 and ran.err.strip() == "[]"


def test_score_imports_nothing_that_it_can_do_without() -> None:
    ran = python(
        "import sys\n"
        "sys.argv = ['riskeval', 'score', 'sample_runs/', '-b', 'indriCASP', '--quiet']\n"
        "from riskcli.__main__ import main\n"
        "try:\n    main()\n"
        "finally:\n"
        "    spared = {'pandas', 'scipy.stats', 'pyarrow.compute', 'pyarrow.parquet'}\n"
        "    print(spared & set(sys.modules), file=sys.stderr)\n"
    )
    assert ran.err.splitlines()[-1] == "set()"


@pytest.mark.slow
def test_scoring_the_samples_takes_less_than_twice_the_imports() -> None:
    """Best of several runs each, in turns, since machines are noisy."""
    timings: dict[str, list[float]] = {"imports": [], "score": []}
    for _ in range(5):
        start = time.perf_counter()
        python("import pandas, pytrec_eval, rich")
        middle = time.perf_counter()
        riskeval("score", SAMPLES, "--baseline", "indriCASP")
        timings["imports"].append(middle - start)
        timings["score"].append(time.perf_counter() - middle)
    assert min(timings["score"]) < 2 * min(timings["imports"])


def test_importing_the_library_is_quick_and_silent() -> None:
    ran = python("import riskcli, sys; print('numpy' in sys.modules, len(dir(riskcli)) > 5)")
    assert (ran.out, ran.err) == ("False True\n", "")


# ---------------------------------------------------------------- places and names


def test_judgements_in_the_folder_of_runs_are_no_run(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "indriCASP.run", tmp_path)
    shutil.copy(SAMPLES / "caspPlus.run", tmp_path)
    shutil.copy(QRELS, tmp_path / "qrels")
    ran = riskeval("score", ".", "-b", "indriCASP", *ONE, cwd=tmp_path)
    assert ran.code == 0 and len(ran.out.splitlines()) == 3
    assert "skipped in folders (not runs): qrels" in ran.err
    given = riskeval("score", tmp_path, "-q", tmp_path / "qrels", "-b", "indriCASP", *ONE)
    assert given.out == ran.out


def test_runs_from_a_pipe_are_scored_and_have_their_checksums() -> None:
    command = (
        "riskeval score <(cat sample_runs/indriCASP.run) <(cat sample_runs/caspPlus.run) -q qrels"
        " -m ERR@20 --run-names tag -b indriCASP -f json"
    )
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, capture_output=True, text=True,
        env=terminal_environment(), check=False, timeout=60,
    )  # fmt: skip
    document = json.loads(done.stdout)
    read = [(SAMPLES / name).read_bytes() for name in ("indriCASP.run", "caspPlus.run")]
    expected = {hashlib.sha256(text).hexdigest() for text in read}
    assert {entry["sha256"] for entry in document["inputs"][:2]} == expected
    assert len(document["rows"]) == 2


def test_names_with_every_special_character_come_back_from_csv(tmp_path: Path) -> None:
    names = ["a,b", 'a"b', "a\tb", "a\rb", "a\nb", "=cmd()", "ü", " a "]
    matrix = riskcli.ScoreMatrix("m", tuple(names), ("1", "2"), np.full((len(names), 2), 0.5))
    for format, delimiter in (("csv", ","), ("tsv", "\t")):
        text = riskcli.risk_table(matrix).to_text(format)
        rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))
        assert [row["run"] for row in rows] == names


def test_an_unanswered_topic_of_a_logarithmic_measure_scores_as_trec_eval_says() -> None:
    call = ("matrix", SAMPLES / "partial46.run", "-q", QRELS, "-m", "gm_map", "--long")
    ran = riskeval(*call)
    scores = [float(row["score"]) for row in table_of(ran.out)]
    assert min(scores) == math.log(0.00001) and scores.count(min(scores)) == 4
    assert "unanswered topics score -11.51" in ran.err


def test_a_matrix_with_gaps_or_virtual_names_is_refused() -> None:
    values = np.array([[0.5, np.nan]])
    with pytest.raises(riskcli.UsageError, match="the score is nan"):
        riskcli.risk_table(riskcli.ScoreMatrix("m", ("a",), ("1", "2"), values))
    with pytest.raises(riskcli.UsageError, match="marks virtual baselines"):
        riskcli.risk_table(riskcli.ScoreMatrix("m", ("@mean",), ("1",), np.array([[0.5]])))


# ---------------------------------------------------------------- narrow terminals, odd targets


NUMBERED = ["Mean", "W/T/L", "URisk", "TRisk", "ZRisk", "GeoRisk"]


@cache
def shown_in(columns: int) -> str:
    return on_terminal("riskeval score sample_runs/ -b indriCASP -m ERR@20 2>/dev/null", columns)[1]


@pytest.mark.parametrize("columns", [20, 40, 60, 70])
def test_a_narrow_terminal_cuts_no_number_and_names_what_it_leaves_out(columns: int) -> None:
    wide, narrow = shown_in(80), shown_in(columns)
    assert all(len(line) <= columns for line in narrow.splitlines())
    table = wide[wide.index("─") :].splitlines()[1:10]
    rows = {line.split()[1]: line.split() for line in table}
    lines = narrow.splitlines()
    start = next(place for place, line in enumerate(lines) if "─" in line)
    for line in lines[start + 1 : start + 10]:
        cells = line.split()
        left = iter(rows[cells[1]])
        assert all(cell in left for cell in cells), line  # whole cells, in the order of columns
    headings, note = lines[start - 1].split(), " ".join(line.strip() for line in lines)
    named = note.partition(f"Not shown in {columns} columns: ")[2].partition(". All: ")[0]
    assert set(named.split("; ")) == {
        *(name for name in NUMBERED if name not in headings),
        *(["ranks"] if headings.count("#") == 1 else []),
    }


def test_a_pipe_or_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    fifo = tmp_path / "out.csv"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert riskeval("score", SAMPLES, *ONE, "-b", "indriCASP", "-o", fifo).code == 0
    assert os.read(reader, 13) == b"run,measure,b"
    os.close(reader)
    assert fifo.is_fifo()


@pytest.mark.parametrize("command", ["score sample_runs -b indriCASP", "help", "--version"])
def test_a_full_stdout_is_an_error_without_a_traceback(command: str) -> None:
    if not Path("/dev/full").is_char_device():
        pytest.skip("there is no /dev/full here")
    done = subprocess.run(
        ["bash", "-c", f"riskeval {command} > /dev/full"], cwd=ROOT, env=terminal_environment(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "stdout: cannot-write" in done.stderr and "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_scores_that_name_no_measure_are_taken_as_asked_for_and_it_is_said(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text("run,1,2\na,0.5,0.25\nb,0.25,0.5\n")
    ran = riskeval("score", file, "-m", "AP")
    assert (
        ran.code == 0
        and "scores of scores.csv read as AP: the file does not name its measure" in ran.err
    )
    assert "read as" not in riskeval("score", file).err
