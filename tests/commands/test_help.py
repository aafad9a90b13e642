"""`riskeval help WORD` knows what stands on the screen; colour goes where it is wanted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from click import Option
from click.shell_completion import ShellComplete

import riskcli
from riskcli.commands import load_command
from riskcli.commands import riskeval as program
from tests.helpers.console import ROOT, on_terminal
from tests.helpers.inprocess import riskeval, run_inside
from tests.helpers.program import SAMPLES, Key, python

SCORE = ("score", SAMPLES, "-b", "indriCASP", "-f", "table")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("W/T/L", "wins, ties and losses"),
        ("L>20%", "20 %"),
        ("▼", "corrected p-value"),
        ("†", "corrected p-value"),
        ("◆", "baseline"),
        ("γ", "significance level"),
        ("gamma", "significance level"),
        ("holm", "correction"),
        ("jackknife", "left out"),
        ("@mean", "virtual"),
        ("max_loss", "largest loss"),
        ("strict", "policy"),
        ("policy", "lenient"),
        ("missing-topic", "qrels"),
        ("tag-name", "differs"),
        ("exit", "Exit code 2"),
        ("--baseline", "score"),
        ("--siunitx", "latex"),
        ("p", "at least this large"),
        ("P", "precision"),
        ("alpha", "1 + alpha times"),
        ("TJ", "URisk"),
        ("georisk_lo", "interval"),
        ("nDCG@20", "nDCG"),
    ],
)
def test_every_word_on_the_screen_is_explained(word: str, said: str) -> None:
    ran = riskeval("help", word)
    assert ran.code == 0, ran.err
    assert said in " ".join(ran.out.split())
    assert max(map(len, ran.out.splitlines())) <= 80


def test_headings_signs_and_letters_of_the_table_are_all_known() -> None:
    shown = riskeval(*SCORE, "-a", "1", "-m", "ERR@20", COLUMNS="200").out
    table = shown.split("─")[0].splitlines()[-1]
    headings = {word for word in re.split(r"\s{1,}", table) if word} - {"run", "interval"}
    assert {"W/T/L", "URisk", "L>20%", "Reward", "#"} <= headings
    for word in sorted(headings | (set(shown) & set("▲▼◆–αγ"))):
        assert run_inside("help", word).code == 0, word


def test_an_unknown_word_gets_near_ones() -> None:
    ran = riskeval("help", "gamm")
    assert ran.code == 2 and "did you mean gamma" in ran.err


COLOUR = "\x1b["


def test_colour_can_be_asked_for_in_a_pipe_and_refused_on_a_terminal() -> None:
    free = {"NO_COLOR": ""}
    assert COLOUR not in riskeval(*SCORE, variables=free).out
    assert COLOUR in riskeval(*SCORE, variables={**free, "FORCE_COLOR": "1"}).out
    assert COLOUR in riskeval(*SCORE, Key("color", "always")).out
    assert COLOUR not in riskeval(*SCORE, variables={"NO_COLOR": "1", "FORCE_COLOR": "1"}).out
    command = "riskeval score sample_runs/ -b indriCASP --quiet --color never"
    assert COLOUR not in on_terminal(command, NO_COLOR="")[1]


# Completion, citation


def completed(line: str) -> list[str]:
    words = f"riskeval {line}"
    ran = riskeval(
        variables={
            "_RISKEVAL_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        }
    )
    return [entry.partition(",")[2] for entry in ran.out.splitlines()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sc", "score"),
        ("score sample_runs -m nDCG@2", "nDCG@20"),
        ("score sample_runs -m AP,ERR@1", "AP,ERR@10"),
        ("score sample_runs -b @me", "@median"),
        ("score sample_runs -b cas", "caspPlus"),
        ("score sample_runs --columns mean,georisk_i", "mean,georisk_interval"),
        ("score sample_runs --sort geo", "georisk"),
        ("check sample_runs --policy str", "strict"),
        ("help missing-t", "missing-topic"),
        ("score --con", "--convention"),
    ],
)
def test_shells_complete_values(line: str, expected: str) -> None:
    assert expected in completed(line)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    ran = riskeval("help", "completion", shell)
    assert ran.code == 0 and f"_RISKEVAL_COMPLETE={shell}_complete" in ran.out


def test_what_to_cite() -> None:
    bibtex = riskeval("help", "cite").out
    keys = re.findall(r"^@\w+\{(\w+),", bibtex, re.M)
    assert len(keys) == 5 and bibtex.count("{") == bibtex.count("}")
    methods = riskeval("help", "cite", "methods").out
    cited = re.findall(r"\\cite\{(\w+)\}", methods)
    assert cited and set(cited) <= set(keys)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == riskcli.__version__
    dois = {reference["doi"] for reference in citation["references"] if "doi" in reference}
    assert all(doi in bibtex for doi in dois)


# ---------------------------------------------------------------- help in groups, and a first try


@pytest.mark.parametrize("command", ["score", "explain", "topics", "check", "sweep"])
def test_help_is_one_screen_and_help_command_has_all(command: str) -> None:
    short = riskeval(command, "--help").out
    full = riskeval("help", command).out
    loaded = load_command(command)
    names = [max(option.opts, key=len) for option in loaded.params if isinstance(option, Option)]
    assert len(names) > 20 and all(name in short and name in full for name in names)
    assert len(short.splitlines()) <= 75 and len(full.splitlines()) > len(short.splitlines())
    assert short.index("Most used:") < short.index("More options:")
    assert short.index("--baseline") < short.index("--gamma")
    assert f"`riskeval help {command}` describes them all" in short
    assert not any(line.endswith("-") for line in short.splitlines())


def test_the_help_of_score_fits_a_screen_of_fifty_lines() -> None:
    assert len(riskeval("score", "-h").out.splitlines()) <= 50


def test_defaults_are_those_in_force() -> None:
    assert "0:20:5. [default: 0:20;" in " ".join(riskeval("help", "sweep").out.split())
    assert "alpha times. [default: 1]" in " ".join(riskeval("help", "score").out.split())


@pytest.mark.parametrize(
    "word",
    [
        "RBO", "τ_b", "τ_AP", "z", "exp.", "share", "max-t", "Reward", "Risk", "Gain", "family",
        "minus", "smooth", "relevant", "common", "ranks", "d_z", "bias-r", "margin", "verdict",
        "distance", "overlap", "run", "topic", "qrels", "grade", "inconclusive", "ratchet",
    ],
)  # fmt: skip
def test_every_heading_of_an_analysis_is_explained(word: str) -> None:
    ran = riskeval("help", word)
    assert ran.code == 0 and len(ran.out) > 40


def test_the_demo_writes_the_samples_once(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "demo"
    ran = riskeval("demo", folder)
    assert ran.code == 0 and ran.out.count("riskeval ") == 3
    written = sorted(path.name for path in folder.glob("sample_runs/*"))
    assert written == sorted(path.name for path in SAMPLES.glob("*.run"))
    for path in folder.glob("sample_runs/*"):
        assert path.read_bytes() == (SAMPLES / path.name).read_bytes()
    ran = riskeval("score", folder / "sample_runs", "-q", folder / "qrels", "-b", "indriCASP")
    assert ran.code == 0 and ran.out == riskeval("score", SAMPLES, "-b", "indriCASP").out
    again = riskeval("demo", folder)
    assert (again.code, again.out) == (2, "") and "is not empty" in again.err


def offered(line: list[str], last: str) -> list[str]:
    completion = ShellComplete(program, {}, "riskeval", "_RISKEVAL_COMPLETE")
    return [item.value for item in completion.get_completions(line, last)]


def test_completion_knows_runs_profiles_and_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text("run,1,2\nalpha1,0.5,0.1\nalpha2,0.2,0.3\n")
    (tmp_path / "riskeval.toml").write_text("[profile.nightly]\ngamma = 0.01\n")
    given = ["explain", "scores.csv"]
    assert offered([*given, "--run"], "al") == ["alpha1", "alpha2"]
    assert "alpha1" in offered([*given, "-b"], "al")
    assert offered([*given, "--profile"], "") == ["nightly"]
    assert offered([*given, "--of"], "geo") == ["georisk"]
    assert "nDCG@20" in offered([*given, "-m"], "nDCG")
    assert "significance" in offered(["help", "settings"], "sig")
    assert "jackknife" in offered(["help"], "jack")


@pytest.mark.parametrize("module", ["riskeval", "riskcli"])
def test_the_program_is_a_module_under_both_names(module: str) -> None:
    ran = python(f"import runpy, sys; sys.argv = ['x', '--version']; "
                 f"runpy.run_module({module!r}, run_name='__main__', alter_sys=True)")  # fmt: skip
    assert ran.code == 0 and ran.out.strip() == f"riskeval {riskcli.__version__}"


def test_the_library_is_there_under_the_command_name() -> None:
    ran = python(
        "import pickle, sys\n"
        "from riskeval.scores.matrix import ScoreMatrix\n"
        "import riskeval, riskeval.core.messages, riskcli, riskcli.scores.matrix\n"
        "assert riskeval is riskcli and riskcli.__spec__.name == 'riskcli'\n"
        "assert riskeval.scores.matrix is riskcli.scores.matrix\n"
        "assert sys.modules['riskeval.scores.matrix'] is sys.modules['riskcli.scores.matrix']\n"
        "assert riskcli.scores.matrix.__spec__.name == 'riskcli.scores.matrix'\n"
        "assert riskeval.core.messages.InputError is riskcli.InputError\n"
        "assert ScoreMatrix is riskcli.ScoreMatrix\n"
        "scores = riskeval.scores_from_frame(__import__('pandas').DataFrame(\n"
        "    [['a', '1', 0.5], ['b', '1', 0.25]], columns=['run', 'topic', 'score']))\n"
        "assert pickle.loads(pickle.dumps(scores)).matrices[0].runs == ('a', 'b')\n"
        "print(type(pickle.loads(pickle.dumps(riskeval.InputError('x', 'y', 'z')))) is\n"
        "      riskcli.core.messages.InputError)\n"
        "import riskeval.nothing\n"
    )
    assert ran.out == "True\n", ran.err
    assert ran.err.strip().endswith("ModuleNotFoundError: No module named 'riskeval.nothing'")


def test_a_command_within_a_command_is_described() -> None:
    ran = riskeval("help", "population", "freeze")
    assert ran.code == 0 and ran.out.startswith("Usage: riskeval population freeze [OPTIONS]")
    assert "--only-topics" in ran.out and "recursive = true" in ran.out
    assert riskeval("help", "score", "nothing").code == 2
    assert riskeval("help", "store", "ls").code == 2
