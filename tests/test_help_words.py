"""`riskeval help WORD` knows what stands on the screen; colour goes where it is wanted."""

from __future__ import annotations

import re

import pytest
import yaml

import riskcli
from tests.console import ROOT, on_terminal
from tests.inprocess import run_inside
from tests.program import SAMPLES, riskeval

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
    table = shown.split("─")[0].splitlines()[1]
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
    assert COLOUR in riskeval(*SCORE, "--color", "always").out
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
    ran = riskeval("completion", shell)
    assert ran.code == 0 and f"_RISKEVAL_COMPLETE={shell}_complete" in ran.out


def test_what_to_cite() -> None:
    bibtex = riskeval("cite").out
    keys = re.findall(r"^@\w+\{(\w+),", bibtex, re.M)
    assert len(keys) == 5 and bibtex.count("{") == bibtex.count("}")
    methods = riskeval("cite", "--methods").out
    cited = re.findall(r"\\cite\{(\w+)\}", methods)
    assert cited and set(cited) <= set(keys)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == riskcli.__version__
    dois = {reference["doi"] for reference in citation["references"] if "doi" in reference}
    assert all(doi in bibtex for doi in dois)
