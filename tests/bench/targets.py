"""What coverage-guided fuzzing is aimed at: functions of bytes that raise where something is wrong.

Whatever bytes come, the program has a result or one of its own errors. `guided.py` makes the bytes;
`tests/bench/test_guided.py` tries the seeds, and what once broke the program.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import numpy as np

from tests.bench import plain_reader
from tests.bench.fuzz import GOOD_QRELS, GOOD_RUN, SCORE_FILES
from tests.bench.plain_reader import RefusedError

TESTKIT = Path(__file__).parents[1] / "trec-testkit"
LARGEST = 4096
"""Bytes of an input; longer ones reach nothing that shorter ones do not."""


def _expected(data: bytes, read: Callable[[bytes], object]) -> object | None:
    """What the plain reader finds, None where it refuses."""
    try:
        return read(data)
    except RefusedError:
        return None


@contextlib.contextmanager
def _file(data: bytes, name: str = "file") -> Iterator[Path]:
    path = Path(_folder().name) / name
    path.write_bytes(data)
    yield path


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """One for all inputs: to make and remove one takes longer than most of them."""
    return tempfile.TemporaryDirectory(prefix="riskeval-fuzz-")


def run(data: bytes) -> None:
    """A run: the quick reader refuses and finds what the plain one does."""
    from riskcli.core.messages import InputError
    from riskcli.trec.runs import run_in
    from riskcli.trec.source import TextFile, archive_of

    try:
        text = TextFile(Path("file"), 10**6, content=data).text()
    except InputError:
        return
    if archive_of(text) is not None:
        return  # packed twice; the plain reader would unpack both
    expected = _expected(text, plain_reader.read_run)
    try:
        found = run_in(TextFile(Path("file"), 10**6, content=data))
    except InputError as error:
        assert expected is None, f"refused ({error}), the plain reader takes it"
        return
    assert isinstance(expected, tuple), "taken, the plain reader refuses it"
    scores: dict[str, dict[str, float]] = {}
    codes, values = found.topic_codes.tolist(), found.scores.tolist()
    for code, docno, value in zip(codes, found.docnos.as_strings(), values, strict=True):
        scores.setdefault(found.topics[code], {})[docno] = value
    assert (scores, set(found.tags)) == expected


def qrels(data: bytes) -> None:
    """Judgements of TREC's form: the quick reader refuses and finds what the plain one does."""
    from riskcli.core.messages import InputError
    from riskcli.trec.formats import judgement_reader
    from riskcli.trec.qrels import parse_qrels
    from riskcli.trec.source import TextFile, archive_of

    try:
        text = TextFile(Path("file"), 10**6, content=data).text()
    except InputError:
        return
    if archive_of(text) is not None or judgement_reader(text) is not None:
        text = b""  # packed twice, or of another program: nothing for the plain reader
    expected = _expected(text, plain_reader.read_qrels)
    try:
        found = parse_qrels(Path("file"), text).judgements
    except InputError as error:
        assert expected is None, f"refused ({error}), the plain reader takes it"
        return
    assert found == expected


def scores(data: bytes) -> None:
    """Runs that other programs wrote, and score files of every kind: finite scores or an error."""
    from riskcli.core.messages import InputError
    from riskcli.scores.files.registry import kind_of, read_score_file
    from riskcli.trec.runs import run_of
    from riskcli.trec.source import TextFile

    path = Path("file")
    try:
        source = TextFile(path, 10**6, content=data)
        kind = kind_of(path, source.start)
        if kind is None:
            assert np.isfinite(run_of(source).scores).all()
            return
        file = read_score_file(path, source.text(), kind)
    except InputError:
        return
    for matrix in file.matrices:
        given = matrix.values[~np.isnan(matrix.values)]
        assert all(value == 0 or 1e-302 <= abs(value) <= 1e50 for value in given.tolist())
        assert matrix.values.shape == (len(set(matrix.runs)), len(set(matrix.topics)))


def archive(data: bytes) -> None:
    """A packed file is the text that Python's own functions find, where they read it all."""
    from riskcli.core.messages import InputError
    from riskcli.trec.source import TextFile

    try:
        text = TextFile(Path("file"), 10**6, content=data).text()
    except InputError:
        return
    expected = _expected(data, plain_reader.text_of)
    assert expected is None or (isinstance(expected, bytes) and text.startswith(expected))


def settings(data: bytes) -> None:
    """Settings that came with a strange checkout."""
    from riskcli.cli.settings import in_force
    from riskcli.commands import load_command, riskeval
    from riskcli.core.messages import RiskevalError
    from riskcli.core.settings import CHOSEN

    with _file(data, "riskeval.toml") as path:
        token = CHOSEN.set(path)
        try:
            with click.Context(riskeval):
                in_force(load_command("score"), None)
        except (RiskevalError, click.ClickException):
            return
        finally:
            CHOSEN.reset(token)


def grammar(data: bytes) -> None:
    """A rule of a gate: it says the same when it is read again."""
    from riskcli.analyses.check.rules import parse_rule
    from riskcli.core.messages import UsageError

    try:
        rule = parse_rule(data.decode("utf-8", "replace"))
    except UsageError:
        return
    assert parse_rule(rule.text) == rule
    assert math.isfinite(rule.bound.offset) and math.isfinite(rule.bound.slope)


def measures(data: bytes) -> None:
    """Names of effectiveness measures: what is printed is read as the same measure."""
    from riskcli.core.messages import UsageError
    from riskcli.effectiveness.measures import parse_measures

    try:
        found = parse_measures([data.decode("utf-8", "replace")])
    except UsageError:
        return
    assert parse_measures([str(measure) for measure in found]) == found


def alphas(data: bytes) -> None:
    """Lists and ranges of alpha."""
    from riskcli.cli import types

    try:
        found = types.alphas(data.decode("utf-8", "replace"))
    except click.ClickException:
        return
    assert all(0 <= alpha <= 1e9 for alpha in found)


def population(data: bytes) -> None:
    """A population kept in a file."""
    from riskcli.core.messages import InputError
    from riskcli.scores.frozen import read_population

    with _file(data, "p.json") as path, contextlib.suppress(InputError):
        read_population(path)


def teams(data: bytes) -> None:
    """The teams of runs, and the key to their other names."""
    from riskcli.core.messages import RiskevalError
    from riskcli.scores.teams import read_key, read_teams

    with _file(data) as path:
        with contextlib.suppress(RiskevalError):
            read_teams(path, ["a", "b"])
        with contextlib.suppress(RiskevalError):
            read_key(path)


def features(data: bytes) -> None:
    """Features to learn from: LETOR's lines, CSV and Parquet."""
    from riskcli.core.messages import RiskevalError
    from riskcli.learn.feature_files import read_features

    with _file(data) as path, contextlib.suppress(RiskevalError):
        read_features(path)


@dataclass(frozen=True)
class Target:
    """A function of bytes, and bytes to begin with."""

    try_on: Callable[[bytes], None]
    seeds: Sequence[bytes] = ()
    kit: str = ""
    """The kind of the files of the testkit to begin with, besides."""

    def all_seeds(self) -> list[bytes]:
        """The seeds, and the small files of the testkit."""
        files = sorted(TESTKIT.glob(f"{self.kit}/*")) if self.kit else []
        return [*self.seeds, *(f.read_bytes() for f in files if f.stat().st_size <= LARGEST)]


TARGETS: Mapping[str, Target] = {
    "run": Target(run, [GOOD_RUN], "runs"),
    "qrels": Target(qrels, [GOOD_QRELS], "qrels"),
    "scores": Target(scores, [file for file, _ in SCORE_FILES.values()], "scores"),
    "archive": Target(archive, (), "runs"),
    "settings": Target(
        settings,
        [b'measure = ["AP"]\nalpha = "0:5"\n[profile.x]\ngamma = 0.1\n', b'jobs = 2\nqrels="q"\n'],
    ),
    "grammar": Target(
        grammar,
        [b"trisk@5 >= -2", b"mean >= baseline - 0.5%*(2+.5e1)", b"loss('1') <= 0",
         b"flag != worse"],
    ),
    "measures": Target(
        measures, [b"nDCG(dcg='exp-log2')@20, P@5 10", b"ndcg_cut.20,map", b"RBP(p=0.8,rel=2)@3"]
    ),
    "alphas": Target(alphas, [b"1", b"0,5,10", b"0:20:5", b"0.5:1:.25,7e0"]),
    "population": Target(
        population,
        [b'{"riskeval_population": 1, "hash": "", "teams": {}, "settings": {}, "inputs": [], '
         b'"measures": [{"measure": "AP", "topics": ["1"], "topic_totals": [0.5], '
         b'"grand_total": 0.5, "runs": {"a": [0.5]}}]}'],
    ),
    "teams": Target(
        teams, [b"run,team,name\na,A,x\nb,,\n", b"kind,name,shown\nrun,a,run 1\nteam,A,team 1\n"]
    ),
    "features": Target(
        features, [b"1 qid:1 1:0.5 2:1 # d1\n0 qid:1 1:0.25 # d2\n",
                   b"qid,docno,grade,f\n1,d,1,.5\n"]
    ),
}  # fmt: skip
