"""No output takes the place of an input, in any command, whatever name the input is given by."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import riskcli
from riskcli.commands import COMMANDS
from riskcli.core import inputs
from riskcli.core.files import replace_file
from riskcli.core.locations import RemotePath
from riskcli.core.messages import UsageError
from tests.helpers.console import ROOT, terminal_environment
from tests.helpers.inprocess import riskeval
from tests.helpers.program import Key

TOPICS = range(1, 7)
ONE = ("-q", "judged", "-m", "AP", "--quiet")
ANY = ("--policy", "none", "--require", "mean >= 0")
WRITERS = {
    "score": (".csv", ("score", "KEPT", "-o")),
    "matrix": (".csv", ("matrix", "KEPT", "-o")),
    "significance": (".csv", ("significance", "KEPT", "-o")),
    "sweep": (".csv", ("sweep", "KEPT", "-o")),
    "topics": (".csv", ("topics", "KEPT", "-b", "a", "--run", "b", "-o")),
    "diff": (".csv", ("diff", "a.run", "b.run", *ONE, "--queries", "KEPT", "-o")),
    "explain": (".csv", ("explain", "KEPT", "-b", "a", "--run", "b", "-o")),
    "power": (".csv", ("power", "KEPT", "-b", "a", "-o")),
    "validate": (".csv", ("validate", "KEPT", "-o")),
    "freeze": (".json", ("population", "freeze", "KEPT", "-o")),
    "plot": (".svg", ("plot", "alpha", "KEPT", "-b", "a", "-o")),
    "report": (".html", ("report", "KEPT", "-b", "a", "-o")),
    "check": (".csv", ("check", "KEPT", "-b", "a", "-o")),
    "check's reports": (".csv", ("check", "KEPT", "-b", "a", "--report", "json=")),
    "documents to judge": (
        ".csv", ("check", "a.run", *ONE, "-b", "b.run", "--require", "@KEPT", "--to-judge"),
    ),
    "a baseline": (".csv", ("score", "a.run", "b.run", *ONE, "-b", "KEPT", "-o")),
    "judgements": (".csv", ("score", "a.run", "b.run", "-q", "KEPT", "-m", "AP", "-o")),
    "teams": (".csv", ("score", "a.run", "b.run", *ONE, "--teams", "KEPT", "-o")),
    "topics listed": (".csv", ("score", "a.run", "b.run", *ONE, "--only-topics", "@KEPT", "-o")),
    "queries": (".csv", ("topics", "a.run", "b.run", *ONE, "--queries", "KEPT", "-o")),
    "groups": (".csv", ("score", "a.run", "b.run", *ONE, "--groups", "KEPT", "-o")),
    "weights": (".csv", ("score", "a.run", "b.run", *ONE, "--weights", "KEPT", "-o")),
    "systems": (".csv", ("score", "a.run", "b.run", *ONE, "--replicates", "KEPT", "-o")),
    "human": (".csv", ("score", "a.run", "b.run", *ONE, "--human", "KEPT", "-o")),
    "rules": (".csv", ("check", "a.run", *ONE, "-b", "b.run", "--require", "@KEPT", "-o")),
    "population": (".json", ("score", "a.run", "b.run", *ONE, "--population", "KEPT", "-o")),
    "members": (".json", ("population", "show", "KEPT", "-o")),
    "settings": (".csv", ("score", "a.run", "b.run", *ONE, "--config", "KEPT", "-o")),
}  # fmt: skip
"""How each command reads a file, KEPT, of that suffix, and where its output comes."""
CONTENT = {
    "judgements": b'{"1": {"x": 1}, "2": {"x": 1}, "3": {"x": 1}}',
    "teams": b"run,team\na,t\nb,t\n",
    "topics listed": b"1\n2\n3\n",
    "queries": b"1:one\n2:two\n",
    "diff": b"1:one\n2:two\n",
    "groups": b"topic,type\n1,x\n2,y\n",
    "weights": b"topic,weight\n" + b"".join(b"%d,%d\n" % (t, t) for t in TOPICS),
    "systems": b"run,system\na,s\nb,s\n",
    "human": b"".join(b"%d 0 x %d\n%d 0 y 1\n" % (t, t % 2, t) for t in TOPICS),
    "rules": b"mean >= 0\n",
    "documents to judge": b"mean >= 0\n",
    "settings": b"no-legend = true\n",
}
SPELLINGS = ("the same", "./", "absolute", "symbolic link", "hard link")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Three runs of their own, judgements, and what a command would want."""
    for shift, name in enumerate("abc"):
        lines = [
            f"{topic} Q0 {'xyzw'[(place + shift * topic) % 4]} {place + 1} {9 - place} {name}\n"
            for topic in TOPICS
            for place in range(4)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    grades = [f"{topic} 0 {doc} {int(doc in 'xy')}\n" for topic in TOPICS for doc in "xyzw"]
    (tmp_path / "judged").write_text("".join(grades))
    return tmp_path


def kept_for(case: str, suffix: str, here: Path) -> Path:
    """The file that the command reads."""
    kept = here / f"kept{suffix}"
    call: tuple[str | Path, ...]
    if case in ("population", "members"):
        call = ("population", "freeze", "a.run", "b.run", *ONE, "-o", kept)
    else:
        runs = ["c.run"] if case == "a baseline" else ["a.run", "b.run"]
        call = ("matrix", *runs, *ONE, "-f", "csv", "-o", kept)
    if case in CONTENT:
        kept.write_bytes(CONTENT[case])
    else:
        assert riskeval(*call, cwd=here).code == 0
    return kept


@pytest.mark.parametrize("option", ["groups", "weights", "replicates", "human", "queries"])
@pytest.mark.parametrize("wrong", [("--require", "nonsense"), ("--policy", "nonsense")])
def test_a_report_of_a_refusal_replaces_no_input(
    here: Path, option: str, wrong: tuple[str, str]
) -> None:
    kept = here / "kept.md"
    kept.write_text("what somebody wrote")
    call = ("check", "a.run", *ONE, "-b", "b.run", f"--{option}", "kept.md", *wrong)
    ran = riskeval(*call, "--report", "markdown=kept.md", cwd=here)
    assert ran.code == 2 and kept.read_text() == "what somebody wrote"


def needs_plots() -> None:
    pytest.importorskip("altair", reason="altair is not installed (pip install riskeval[plots])")


def spelled(kept: Path, how: str) -> str:
    """Another name of the same file."""
    other = kept.with_name(f"other{kept.suffix}")
    if how == "symbolic link":
        other.symlink_to(kept.name)
    if how == "hard link":
        os.link(kept, other)
    names = {"the same": kept.name, "./": f"./{kept.name}", "absolute": str(kept)}
    return names.get(how, other.name)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("case", WRITERS)
def test_an_input_is_never_replaced(here: Path, case: str) -> None:
    if case == "plot":
        needs_plots()
    suffix, call = WRITERS[case]
    kept = kept_for(case, suffix, here)
    for how in SPELLINGS:
        output = spelled(kept, how)
        before = contents(here)
        arguments = [each.replace("KEPT", kept.name) for each in call]
        last = arguments.pop()
        arguments += [f"{last}{output}"] if last.endswith("=") else [last, output]
        if case in ("score", "validate"):
            arguments += ["-f", "json"]
        ran = riskeval(*arguments, cwd=here)
        said = f"riskeval: {output.removeprefix('./')} "
        told = ("is one of the inputs", "holds a run, which", "holds judgements, which")
        assert ran.code == 2 and any(said + each in ran.err for each in told), (how, ran)
        assert ran.err.count("riskeval: ") == 1, (how, ran)
        assert contents(here) == before, how
        for link in here.glob("other*"):
            link.unlink()


@pytest.mark.parametrize(
    "call",
    [
        ("score",), ("matrix",), ("significance",), ("sweep",), ("validate",), ("report",),
        ("power", "-b", "b"), ("topics", "-b", "b", "--run", "c"), ("check", "-b", "b"),
        ("explain", "-b", "b", "--run", "c"), ("population", "freeze"), ("plot", "alpha"),
        ("diff",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_the_shell_makes_of_an_asterisk_is_refused(here: Path, call: tuple[str, ...]) -> None:
    """`-o *.run`: the first run is the output, and is not read."""
    suffix = {"report": ".html", "plot": ".svg"}.get(call[0], ".run")
    for run in here.glob("*.run"):
        run.rename(run.with_suffix(suffix))
    before = contents(here)
    runs = sorted(path.name for path in here.glob(f"*{suffix}"))
    form = () if call[0] in ("report", "plot", "population") else ("-f", "json")
    judged = ONE if call[0] != "validate" else ("-q", "judged")
    ran = riskeval(*call, *judged, *form, "-o", *runs, cwd=here)
    assert ran.code == 2 and contents(here) == before
    assert ran.err.startswith(f"riskeval: a{suffix} holds a run, which this result would replace")
    assert "(of `-o *.run` the shell makes `-o a.run b.run`" in ran.err and ran.err.count("\n") == 1


def test_runs_and_judgements_are_not_replaced_in_whatever_form(here: Path) -> None:
    run = (here / "c.run").read_bytes()
    several = {
        "c.gz": ("a run", gzip.compress(run)),
        "c.json": ("a run", b'{"1": {"x": 2.5, "y": 1.5}}'),
        "c.jsonl": ("a run", b'{"qid": "1", "docid": "x", "score": 2.5}\n'),
        "c.txt": ("a run", run.replace(b" Q0 ", b" 0 ")),
        "c.tsv": ("a run", b"1\tx\t1\n1\ty\t2\n"),
        "judged.csv": ("judgements", b"query-id,corpus-id,score\n1,x,1\n"),
        "judged.txt": ("judgements", (here / "judged").read_bytes()),
        "judged.gz": ("judgements", gzip.compress((here / "judged").read_bytes())),
    }
    for name, (kind, content) in several.items():
        (here / name).write_bytes(content)
        ran = riskeval("matrix", "a.run", "b.run", *ONE, "-f", "csv", "-o", name, cwd=here)
        assert ran.code == 2 and f"{name} holds {kind}, which" in ran.err, (name, ran)
        assert (here / name).read_bytes() == content


def test_judgements_in_parquet_are_not_replaced(here: Path) -> None:
    columns = {"qid": ["1", "2"], "docno": ["x", "y"], "label": [1, 0]}
    parquet.write_table(pa.table(columns), here / "judged.parquet")
    before = contents(here)
    ran = riskeval("matrix", "a.run", *ONE, "-f", "csv", "-o", "judged.parquet", cwd=here)
    assert ran.code == 2 and "judged.parquet holds judgements, which" in ran.err
    assert contents(here) == before


@pytest.mark.parametrize("spoil", ["comment", "blank line", "white space", "rank"])
def test_a_run_is_kept_however_it_begins(here: Path, spoil: str) -> None:
    for path in here.glob("*.run"):
        text = path.read_text()
        text = {
            "comment": f"# x\n{text}", "blank line": f"\n{text}", "white space": f"  {text}",
            "rank": text.replace(" 1 9 ", " 0.5 9 ", 1),
        }[spoil]  # fmt: skip
        path.write_text(text)
    before = contents(here)
    call = ("matrix", *ONE, "-f", "csv", "-o", "a.run", "b.run", "c.run")
    ran = riskeval(*call, cwd=here)
    assert ran.code == 2 and "a.run holds a run, which" in ran.err, ran
    assert contents(here) == before


def test_scores_and_models_that_others_made_are_kept(here: Path) -> None:
    several = {
        "a.eval": b"AP\t1\t0.5\nAP\t2\t0.25\nAP\tall\t0.375\n",
        "a.gdeval": b"runid,topic,ndcg@20,err@20\na,1,0.5,0.25\n",
        "a.measures": b"1\tAP\t0.5\n2\tAP\t0.25\n",
        "a.judge": b"a\tAP\t1\t0.5\na\tAP\tall\t0.5\n",
        "ragas.csv": b"question,response,faithfulness\nwhy,so,0.5\n",
        "model.txt": b"tree\nversion=v4\nnum_class=1\n",
    }
    for name, content in several.items():
        (here / name).write_bytes(content)
        ran = riskeval("matrix", "a.run", "b.run", *ONE, "-f", "csv", "-o", name, cwd=here)
        assert ran.code == 2 and f"{name} holds " in ran.err, (name, ran)
        assert (here / name).read_bytes() == content


def test_results_of_before_are_replaced_in_every_format(here: Path) -> None:
    runs = ("a.run", "b.run", "c.run", *ONE)
    formats = [format.name for format in riskcli.Validation(()).formats if format.suffix]
    for format in formats:
        for command in ("score", "matrix", "validate") if format != "sarif" else ("validate",):
            given = runs[:-3] if command == "validate" else runs
            for _ in range(2):
                ran = riskeval(command, *given, "-f", format, "-o", "out", cwd=here)
                assert ran.code == 0, (command, format, ran.err)


OTHERS = {
    "figure.svg": ("plot", "alpha"),
    "figure.json": ("plot", "alpha"),
    "page.html": ("report",),
    "population.json": ("population", "freeze"),
}


@pytest.mark.parametrize("output", OTHERS)
def test_other_results_of_before_are_replaced(here: Path, output: str) -> None:
    if output.startswith("figure"):
        needs_plots()
    for _ in range(2):
        ran = riskeval(*OTHERS[output], "a.run", "b.run", "c.run", *ONE, "-o", output, cwd=here)
        assert ran.code == 0, (output, ran.err)


def test_a_table_in_the_folder_of_its_runs_is_made_again(here: Path) -> None:
    (here / "judged").rename(here.parent / "judged")
    for command in ("score", "matrix", "validate"):
        for _ in range(2):
            own = () if command == "validate" else ("-m", "AP")
            ran = riskeval(command, ".", "-q", "../judged", *own, "-o", "out.csv", cwd=here)
            assert ran.code == 0, ran.err
        (here / "out.csv").unlink()


def test_tables_and_figures_in_the_folder_of_runs_are_passed_over(here: Path) -> None:
    (here / "judged").rename(here.parent / "judged")
    judged = ("-q", "../judged", "--quiet")
    (here / "fig.svg.alt.txt").write_text("A risk measure over alpha. AP; URisk.\n")
    for command, *own in (
        ("score",), ("matrix",), ("validate",), ("explain", "-b", "a", "--run", "b"),
        ("power", "-b", "a"), ("check", "-b", "a", "--policy", "lenient"), ("sweep",),
    ):  # fmt: skip
        measure = () if command == "validate" else ("-m", "AP")
        table = ("-f", "table", "-o", f"{command}.txt")
        ran = riskeval(command, ".", *judged, *own, *measure, *table, cwd=here)
        assert ran.code in (0, 1) and (here / f"{command}.txt").exists(), (command, ran)
    ran = riskeval("score", ".", "-q", "../judged", "-m", "AP", "-f", "json", cwd=here)
    assert ran.code == 0, ran.err
    for name in ("explain.txt", "validate.txt", "fig.svg.alt.txt"):
        assert name in ran.err


@pytest.mark.parametrize("format", ["table", "latex", "tsv", "json"])
def test_a_result_that_begins_with_sentences_is_known(here: Path, format: str) -> None:
    (here / "judged").rename(here.parent / "judged")
    judged = ("-q", "../judged", "-m", "AP")
    for command in ("check", "topics"):
        ran = riskeval(command, ".", *judged, "-b", "a", "-f", format, "-o", "z.out", cwd=here)
        assert ran.code in (0, 1), ran.err
        ran = riskeval("score", ".", *judged, "-f", "json", cwd=here)
        assert ran.code == 0 and "z.out" in ran.err, (command, ran.err)


@pytest.mark.parametrize(
    "outputs",
    [
        ("--report", "json=z", "--report", "csv=./z"), ("-o", "z", "--report", "csv=z"),
        ("-o", "z.json", "--ratchet", "z.json"), ("--report", "json=-"),
        ("-o", "z", "--to-judge", "z"), ("--report", "junit=z", "--to-judge", "z"),
        ("--to-judge", "-"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_two_outputs_in_one_file_are_refused(here: Path, outputs: tuple[str, ...]) -> None:
    before = contents(here)
    ran = riskeval("check", "b.run", "-b", "a.run", *ONE, *outputs, cwd=here)
    assert ran.code == 2 and "two outputs go to " in ran.err and ran.out == "", ran
    assert contents(here) == before
    key = Key("anonymise", here / "z")
    ran = riskeval("score", "a.run", "b.run", *ONE, key, "-o", here / "z", cwd=here)
    assert ran.code == 2 and not (here / "z").exists(), ran


def test_output_to_a_hyphen_is_stdout(here: Path) -> None:
    call = ("score", "a.run", "b.run", *ONE, "-f", "csv")
    assert riskeval(*call, "-o", "-", cwd=here).out == riskeval(*call, cwd=here).out != ""
    ran = riskeval(
        "check", "b.run", "-b", "a.run", *ONE, "--report", "json=-", "-o", "z.csv", cwd=here
    )
    assert ran.out.startswith("{") and (here / "z.csv").exists(), ran
    assert riskeval("population", "freeze", "a.run", "b.run", *ONE, "-o", "-", cwd=here).out
    assert not (here / "-").exists()


def test_what_is_printed_is_not_added_to_an_input(here: Path) -> None:
    """`riskeval score a.run >> a.run`."""
    before = (here / "a.run").read_bytes()
    with (here / "a.run").open("ab") as stream:
        ran = subprocess.run(
            [sys.executable, "-m", "riskcli", "score", "b.run", "c.run", "-b", "a.run", *ONE],
            cwd=here, stdout=stream, stderr=subprocess.PIPE, text=True, check=False,
            env={**terminal_environment(), "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    assert ran.returncode == 2 and "is one of the inputs (it is a.run)" in ran.stderr
    assert (here / "a.run").read_bytes() == before


def test_scores_of_a_store_and_scores_made_elsewhere_rest_on_inputs_too(here: Path) -> None:
    """No process that writes here has opened the run."""
    run = here / "c.json"
    run.write_bytes(b'{"1": {"x": 2.5, "y": 1.5}, "2": {"x": 1, "z": 2}}')
    link = here / "out.csv"
    link.symlink_to("elsewhere.csv")  # a link to what is no file yet may be written
    call = ("matrix", "a.run", "c.json", *ONE, "--store", "store")
    assert riskeval(*call, "-o", "out.csv", cwd=here).code == 0
    link.unlink()
    os.link(run, link)
    before = run.read_bytes()
    ran = riskeval(*call, "-o", "out.csv", cwd=here)
    assert ran.code == 2 and "out.csv holds a run" in ran.err and run.read_bytes() == before
    with inputs.one_call():
        riskcli.evaluate([here / "a.run", run], qrels=here / "judged", store=here / "store")
        with pytest.raises(UsageError, match="one of the inputs"):
            inputs.refuse_input(link)


def test_a_place_elsewhere_is_known_by_its_url() -> None:
    fsspec = pytest.importorskip("fsspec")
    place, other = RemotePath("memory://inputs/a.run"), RemotePath("memory://inputs/b.csv")
    fsspec.filesystem("memory").pipe_file("/inputs/a.run", b"1 Q0 x 1 2 a\n")
    with inputs.one_call():
        riskcli.read_run(str(place))
        replace_file(other, b"new")
        with pytest.raises(UsageError, match="is one of the inputs"):
            replace_file(RemotePath("memory://inputs//a.run"), b"new")
    assert other.read_bytes() == b"new" and place.read_bytes().startswith(b"1 Q0")


def test_a_ratchet_alone_may_be_read_and_replaced(here: Path) -> None:
    state = here / "state.json"
    call = ("check", "x=b.run", *ONE, *ANY, "--ratchet")
    for step, run in enumerate(("x=c.run", "x=b.run")):
        ran = riskeval("check", run, *call[2:], "./state.json", cwd=here)
        assert ran.code == 0 and json.loads(state.read_bytes())["ratchet"]["steps"] == step, ran.err
    before = contents(here)
    (here / "b.json").symlink_to("b.run")
    for other in ("b.json", "a.run", "b.run"):
        ran = riskeval(*call, other, cwd=here)
        assert ran.code == 2, other
    ran = riskeval(*call, "state.json", "--report", "json=state.json", cwd=here)
    assert ran.code == 2 and "two outputs go to" in ran.err
    ran = riskeval(*call, "state.json", "--require", "nosuch > 1", "-o", "state.json", cwd=here)
    assert ran.code == 2
    assert contents(here) == {**before, "b.json": before["b.run"]}


def test_a_kept_baseline_among_the_runs_is_an_input(here: Path) -> None:
    runs = here / "runs"
    runs.mkdir()
    for name in "ab":
        (here / f"{name}.run").rename(runs / f"{name}.run")
    kept = runs / "kept.csv"
    assert riskeval("matrix", runs / "a.run", *ONE, "-o", kept, cwd=here).code == 0
    before = kept.read_bytes()
    for output in (("--report", "csv=runs/kept.csv"), ("-o", "runs/kept.csv")):
        ran = riskeval("check", "runs", *ONE, "-b", "old=runs/kept.csv", *ANY, *output, cwd=here)
        assert ran.code == 2 and "is one of the inputs" in ran.err, ran
        assert kept.read_bytes() == before


def test_what_a_store_holds_is_not_replaced_by_a_list_of_it(here: Path) -> None:
    assert riskeval("matrix", "a.run", *ONE, "--store", "store", cwd=here).code == 0
    for file in (here / "store" / "scores").rglob("*.parquet"):
        before = file.read_bytes()
        ran = riskeval("store", "ls", "store", "-o", file, cwd=here)
        assert ran.code == 2 and "is one of the inputs" in ran.err, ran
        assert file.read_bytes() == before


def test_the_key_to_neutral_names_may_be_read_and_replaced_and_no_other_input(here: Path) -> None:
    call = ("score", "a.run", "b.run", *ONE)
    for _ in range(2):
        assert riskeval(*call, Key("anonymise", here / "key.csv"), cwd=here).code == 0
    (here / "teams.csv").write_text("run,team\na,t\nb,t\n")
    before = contents(here)
    ran = riskeval(*call, "--teams", "teams.csv", Key("anonymise", here / "teams.csv"), cwd=here)
    assert ran.code == 2
    assert {name: before[name] for name in before} == {n: contents(here)[n] for n in before}


def test_a_folder_with_an_input_is_not_replaced(here: Path) -> None:
    call = ("organise", "a.run", "b.run", *ONE, "-o", "pack")
    assert riskeval(*call, cwd=here).code == 0
    assert riskeval(*call, "--population", "pack/population.json", cwd=here).code == 0
    before = contents(here / "pack" / "matrices")
    ran = riskeval("organise", "c.run", "pack/matrices/AP.csv", *call[3:], cwd=here)
    assert ran.code == 2 and "pack/matrices/AP.csv is one of the inputs" in ran.err
    assert contents(here / "pack" / "matrices") == before


def test_a_notebook_may_write_what_it_read_before_but_not_what_the_result_rests_on(
    here: Path,
) -> None:
    kept, other = here / "kept.csv", here / "other.csv"
    for path in (kept, other):
        assert riskeval("matrix", "a.run", "b.run", *ONE, "-o", path, cwd=here).code == 0
    table = riskcli.risk_table(riskcli.evaluate(kept), "a")
    riskcli.evaluate(other)
    table.write(other)
    before = kept.read_bytes()
    (here / "link.csv").symlink_to(kept)
    (here / "link.html").symlink_to(kept)
    for write in (table.write, table.report):
        with pytest.raises(UsageError, match="is one of the inputs"):
            write(here / ("link.csv" if write == table.write else "link.html"))
    with pytest.raises(UsageError, match="holds a run"):
        table.write(here / "a.run", "csv")
    assert kept.read_bytes() == before


WATCHED = """
    import os, sys
    from pathlib import Path
    here, commands = Path(sys.argv[1]).resolve(), eval(sys.argv[2])
    opened, noted = set(), set()

    def hook(event, arguments):
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            path, mode, flags = arguments
            writes = (flags or 0) & (os.O_WRONLY | os.O_RDWR)
            path = Path(os.path.abspath(os.fsdecode(path)))
            if not writes and path.is_relative_to(here):
                opened.add(path.relative_to(here).as_posix())

    import riskcli.commands as program
    from riskcli.core import inputs
    from contextlib import contextmanager

    @contextmanager
    def watched():
        with inputs.one_call_as_it_is():
            yield
            noted.update(Path(os.path.abspath(each)) for each in inputs._inputs.values())

    inputs.one_call_as_it_is, program.one_call = program.one_call, watched
    sys.addaudithook(hook)
    os.chdir(here)
    for call in commands:
        opened.clear(), noted.clear()
        sys.argv = ["riskeval", *call]
        try:
            program.run()
        except SystemExit as stopped:
            assert stopped.code in (0, 1), (call, stopped.code)
        missing = {name for name in opened if here / name not in noted}
        print(sorted(missing), "store" if "--store" in call else "", call)
"""


def test_the_list_of_inputs_has_every_file_that_is_opened(here: Path) -> None:
    """Python tells of every file that it opens: what is read is on the list."""
    (here / "teams.csv").write_text(CONTENT["teams"].decode())
    (here / "rules").write_text("mean >= 0\n")
    (here / "riskeval.toml").write_text("no-legend = true\n")
    two = ["a.run", "b.run", *ONE]
    calls = [
        ["score", *two, "--teams", "teams.csv", "-f", "json", "-o", "table.json"],
        ["matrix", *two, "-o", "kept.json"],
        ["population", "freeze", *two, "-o", "population.json"],
        ["score", *two, "--population", "population.json", "-b", "c.run", "-f", "csv"],
        ["population", "show", "population.json"],
        ["check", *two, "-b", "kept.json", "--require", "@rules", "--only-topics", "@topics"],
        ["validate", *two[:4]],
        ["report", *two, "--documents", "2", "--about-runs", "teams.csv", "-o", "page.html"],
    ]  # fmt: skip
    calls[5][calls[5].index("-b") + 1] = "c.run"
    (here / "topics").write_text("1\n2\n3\n")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WATCHED), str(here), repr(calls)],
        capture_output=True, text=True, check=False, cwd=ROOT, env=terminal_environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stdout.splitlines() if line.startswith("[")]
    assert len(told) == len(calls) and all(line.startswith("[] ") for line in told), told


def test_every_command_is_thought_of() -> None:
    """Those that write no file of their own, or only new ones, are named here."""
    without = {"help", "store", "demo", "organise", "train", "rank", "population"}
    assert {call[0] for _, call in WRITERS.values()} | without == set(COMMANDS)
