"""`riskeval help` explains every heading that a table of any command has.

The headings are collected from the tables that the commands make, not listed: a new one without an
explanation is found here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

import riskcli
from riskcli.analyses.score import column_names
from riskcli.commands import load_command
from riskcli.learn.comparison import _EQUAL, _TESTS
from riskcli.output import renderers, text
from riskcli.output.display import MARKS, Display
from riskcli.output.measure_words import columns_beside
from tests.helpers.console import ROOT
from tests.helpers.inprocess import run_inside
from tests.helpers.program import QRELS, SAMPLES, Key

JUDGED = ("-q", QRELS)
FOUR = tuple(
    SAMPLES / f"{name}.run" for name in ("neuralMix", "boldRerank", "caspPlus", "indriCASP")
)
RUNS = {path.stem for path in SAMPLES.glob("*.run")}
WITH_BASELINE = ("-b", "indriCASP", "-m", "ERR@20")
TYPES = ROOT / "docs" / "examples" / "topic-types.tsv"
USUAL = [name for name in column_names() if name not in columns_beside()]
EVERY_COLUMN = ("--columns", ",".join(USUAL), "--unjudged", "bounds")
CALLS: tuple[tuple[str | Path | Key, ...], ...] = (
    ("score", *WITH_BASELINE, "-a", "1,5"),
    ("score", *WITH_BASELINE, *EVERY_COLUMN, "-a", "1,5"),
    ("score", *WITH_BASELINE, *EVERY_COLUMN, "--convention", "minus"),
    ("score", *WITH_BASELINE, "--unjudged", "bounds"),
    ("topics", *WITH_BASELINE, "--run", "boldRerank", "--unjudged", "bounds"),
    ("score", "-m", "AP,nDCG@20", "-b", "indriCASP", "--loss", "smooth"),
    ("score", *WITH_BASELINE, "--groups", TYPES),
    ("topics", *WITH_BASELINE, "--groups", TYPES, "--run", "caspPlus"),
    ("explain", *WITH_BASELINE, "--run", "boldRerank"),
    ("explain", *WITH_BASELINE, "--run", "boldRerank", "--of", "zrisk"),
    ("topics", *WITH_BASELINE),
    ("topics", *WITH_BASELINE, "--run", "boldRerank"),
    ("topics", *WITH_BASELINE, "--run", "boldRerank", "--columns", "churn"),
    ("significance", "-m", "ERR@20"),
    ("significance", *WITH_BASELINE),
    ("sweep", *WITH_BASELINE),
    ("sweep", *WITH_BASELINE, "--between", "neuralMix", "boldRerank"),
    ("sweep", "-m", "ERR@20", "--over", "baseline"),
    ("sweep", "-m", "ERR@20,AP", "--over", "measure"),
    ("sweep", "-m", "ERR@20", "--over", "population"),
    ("check", *WITH_BASELINE, "--policy", "strict"),
    ("check", *WITH_BASELINE, "--margin", "0.02"),
    ("power", "-m", "ERR@20"),
    ("power", "-m", "ERR@20", "-b", "indriCASP", "--margin", "0.05"),
    ("validate",),
    ("matrix", "-m", "ERR@20"),
)  # fmt: skip


@contextmanager
def collecting(shown: list[Display]) -> Iterator[None]:
    """What any format for people is given is kept here."""

    def of(write: object) -> object:
        def kept(displays: Sequence[Display], *others: object, **named: object) -> object:
            shown.extend(displays)
            return write(displays, *others, **named)  # type: ignore[operator]

        return kept

    with (
        patch.object(text, "as_text", of(text.as_text)),
        patch.object(renderers, "as_html", of(renderers.as_html)),
        patch.object(renderers, "as_markdown", of(renderers.as_markdown)),
    ):
        yield


def ran(*call: str | Path | Key) -> int:
    return run_inside(*call, "-f", "table").code


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Display]:
    """What all commands show to people."""
    folder = tmp_path_factory.mktemp("made")
    shown: list[Display] = []
    with collecting(shown), pytest.MonkeyPatch.context() as environment:
        environment.setenv("COLUMNS", "400")
        for command, *others in CALLS:
            in_full = any("--full" in each.opts for each in load_command(str(command)).params)
            for more in ((), ("--full",)) if in_full else ((),):
                assert ran(command, *FOUR, *JUDGED, *others, *more) in (0, 1, 3), others
        every_command_but(folder)
    return shown


def every_command_but(folder: Path) -> None:
    """What needs files of its own: broken runs, a population, a store, a pack."""
    (folder / "broken").mkdir()
    (folder / "broken" / "a.run").write_text("1 Q0 d1 1 high a\n1 Q0 d1 1 2 a\n9 Q0 d 1 1 a\n")
    ran("validate", folder / "broken", *JUDGED)
    with_labels(folder)
    frozen, store = folder / "population.json", folder / "store"
    run_inside("population", "freeze", *FOUR, *JUDGED, "-m", "ERR@20", "-o", frozen)
    assert ran("population", "show", frozen) == 0
    assert ran("score", *FOUR, *JUDGED, "-m", "ERR@20", "--store", store) == 0
    for word in ("ls", "verify", "gc"):
        ran("store", word, store)
    submitted = ("--teams", "re:^[^-]+", "-b", FOUR[-1], "-o", folder / "pack")
    assert run_inside("organise", *FOUR[:3], *JUDGED, "-m", "ERR@20", *submitted).code == 0
    assert ran("help", "settings") == 0
    texts = folder / "texts"
    texts.write_text("138:a text that is longer than any table has room for" + 99 * " and longer")
    for more in ((), ("--full",), ("--topic", "138"), ("-m", "Bpref")):
        assert ran("diff", *FOUR[1::2], *JUDGED, "--queries", texts, *more) == 0
        assert ran("diff", *FOUR[1::2], *JUDGED, *more) == 0


def with_labels(folder: Path) -> None:
    """Weights of topics, systems, several judges, and a model with a human part."""
    lines = QRELS.read_text(encoding="utf-8").splitlines(keepends=True)
    human, weights, systems = (folder / name for name in ("human", "weights.csv", "systems.csv"))
    human.write_text("".join(line for line in lines if int(line.split()[0]) % 2))
    weights.write_text("topic,weight\n" + "".join(f"{t},{t - 100}\n" for t in range(101, 151)))
    systems.write_text("run,system\nneuralMix,indriCASP-2\nboldRerank,indriCASP-2\n")
    alone = ("--run", "caspPlus")
    calls: tuple[tuple[str | Path, ...], ...] = (
        ("score", "--weights", weights), ("topics", "--weights", weights, *alone),
        ("explain", "--weights", weights, *alone), ("check", "--weights", weights),
        ("score", "--replicates", systems), ("topics", "--replicates", systems, *alone),
        ("score", "--human", human), ("check", "--human", human),
        ("score", "-q", human), ("topics", "-q", human, *alone),
    )  # fmt: skip
    for command, *others in calls:
        assert ran(command, *FOUR, *JUDGED, *WITH_BASELINE, *others) in (0, 1, 3), others


def spoken(heading: str) -> list[str]:
    """What a reader would ask for: each line of a heading, and the whole of it; not a number."""
    lines = heading.split("\n")
    asked = [*lines, " ".join(lines)]
    return [each for each in asked if re.fullmatch(r"[0-9.·<>= ]*", each) is None]


def unknown(words: Iterable[str]) -> list[str]:
    return [each for each in sorted(words) if run_inside("help", *each.split()).code]


@pytest.mark.slow
def test_every_heading_of_every_command_and_every_sign_is_explained(tables: list[Display]) -> None:
    topics = riskcli.evaluate(FOUR, qrels=QRELS).matrices[0].topics
    headings = {line for each in tables for h in each.headings for line in spoken(h.text)}
    assert {"#", "Mean", "W/T/L", "GeoRisk interval", "p", "run", "α"} <= headings
    groups = {each for each in headings if re.match(r"(ambiguous|faceted|navigational) \(", each)}
    assert not unknown(headings - RUNS - {*topics} - groups)
    cells = (cell.text for table in tables for column in table.columns for cell in column.cells)
    signs = {letter for text in cells for letter in text if not letter.isascii()} - set("·√")
    signs |= {sign for marks in MARKS.values() for sign in marks.values() if sign}
    assert {"◆", "–", "▲", "‡"} <= signs and not unknown(signs)


def test_every_heading_of_the_tables_of_train_is_explained() -> None:
    headings = {line for text, _ in (*_TESTS.values(), *_EQUAL.values()) for line in spoken(text)}
    assert len(headings) > 10 and not unknown(headings)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("effect size", "d_z: effect size"),
        ("GeoRisk⁻ ranks", "rank_georisk_lo"),
        ("ranks", "confidence interval"),
        ("nDCG@20, α=5 GeoRisk p adjusted", "georisk_p corrected"),
        ("Mean difference", "mean less the baseline's mean"),
        ("json", "--format"),
        ("topics in bin 0", "less than 0.1"),
        ("PC2 (9.6%)", "principal components"),
        ("9 of 10", "pairs of runs"),
        ("# GeoRisk", "rank by GeoRisk"),
        ("max_loss <= 0.3", "largest loss"),
        ("TRisk@1", "URisk over its standard error"),
    ],
)
def test_words_within_headings_are_understood(word: str, said: str) -> None:
    for asked in ([word], word.split()):
        ran = run_inside("help", *asked)
        assert ran.code == 0 and said in " ".join(ran.out.split()), ran


@pytest.mark.parametrize(
    ("word", "offered"),
    [
        ("gamm", "did you mean gamma"),
        ("georsik", "did you mean georisk"),
        ("leaderboard", "under report"),
        ("standard error", "spread"),
        ("qqqq", "`riskeval help words` lists"),
    ],
)
def test_what_is_unknown_is_answered_by_spelling_or_by_meaning(word: str, offered: str) -> None:
    ran = run_inside("help", word)
    assert ran.code == 2 and offered in ran.err and "bad-json" not in ran.err


def test_what_marks_claim_is_told_in_full() -> None:
    lines = run_inside("help", "marks").out.splitlines()
    said = " ".join(lines)
    assert max(map(len, lines)) <= 80 and 12 <= len([line for line in lines if line]) <= 25
    for part in (
        "Mean:", "ZRisk, GeoRisk:", "▼ does not say that the run is worse", "equal systems",
        "false mark", "with none", "not to say that the runs are equal", "2–5", "Letters",
    ):  # fmt: skip
        assert part in said
