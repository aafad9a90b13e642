"""Executors, the store and one machine read the same: bit by bit, note by note, error by error."""

from __future__ import annotations

import gzip
import os
import pickle
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import riskcli
from riskcli import InputError, Rules, UsageError
from riskcli.analyses.store import holdings
from riskcli.scores import remote
from riskcli.scores import remote as worker
from riskcli.scores import store_segments as looks
from riskcli.scores.reading import Reader
from riskcli.scores.remote import Workers
from riskcli.scores.store import Store
from tests.helpers.inprocess import run_inside
from tests.helpers.program import QRELS, SAMPLES, Key


def everything(evaluation: riskcli.Evaluation) -> list[object]:
    """All that an evaluation says."""
    return [
        [(m.measure, m.runs, m.topics, m.values.tobytes()) for m in evaluation.matrices],
        evaluation.inputs,
        evaluation.notes,
        dict(evaluation.settings),
        evaluation.added,
        [(error.path, error.code, error.message, error.line) for error in evaluation.skipped],
    ]


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is a batch of its own."""
    monkeypatch.setattr(remote, "_SHORTEST", 1e-9)
    monkeypatch.setattr(remote, "_LONGEST", 1e-9)


# ---------------------------------------------------------------- what is read, and by which rules

DOCUMENTS = [f"d{i}" for i in range(6)]
TOPICS = ["1", "2", "10", "odd topic".replace(" ", "-"), "é"]


@st.composite
def run_text(draw: st.DrawFn) -> str:
    """A run; now and then one that is broken, that has ties or tags of all kinds."""
    lines = []
    for topic in draw(st.lists(st.sampled_from([*TOPICS, "99"]), min_size=1, unique=True)):
        for document in draw(st.lists(st.sampled_from(DOCUMENTS), min_size=1, unique=True)):
            score = draw(st.sampled_from([0.5, 1.0, 1.0 + 1e-9, 2.0, -3.25]))
            tag = draw(st.sampled_from(["a", "a", "a", "b"]))
            lines.append(f"{topic} Q0 {document} 0 {score!r} {tag}\n")
    if draw(st.integers(0, 9)) == 0:
        lines.append("this is no line of a run\n")
    return "".join(lines)


rules = st.builds(
    Rules,
    measures=st.sampled_from(
        [(), ("ERR@2",), ("ERR",), ("AP", "nDCG(dcg='exp-log2')@3"), ("P(rel=2)@2", "Bpref")]
    ),
    topics=st.sampled_from(["relevant", "judged", "common"]),
    max_grade=st.sampled_from([None, 2, 4]),
    score_precision=st.sampled_from(["single", "double"]),
    run_names=st.sampled_from(["auto", "file"]),
    on_error=st.sampled_from(["stop", "skip"]),
)
grades = st.dictionaries(
    st.tuples(st.sampled_from(TOPICS), st.sampled_from(DOCUMENTS)),
    st.sampled_from([-2, 0, 1, 2, 3]),
    min_size=1,
)


def outcome(folder: Path, chosen: Rules, **means: Any) -> object:
    """The evaluation of a folder, or the error in full."""
    try:
        return everything(
            riskcli.evaluate([folder / "runs"], qrels=folder / "qrels", rules=chosen, **means)
        )
    except riskcli.RiskevalError as error:
        return type(error), str(error)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    texts=st.lists(st.tuples(run_text(), st.booleans()), min_size=1, max_size=4),
    judged=grades,
    chosen=st.lists(rules, min_size=1, max_size=3),
    batch=st.sampled_from([1e-9, 1.0]),
)
def test_neither_store_nor_executor_shows(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[tuple[str, bool]],
    judged: dict[tuple[str, str], int],
    chosen: list[Rules],
    batch: float,
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "runs").mkdir()
    for i, (text, packed) in enumerate(texts):
        content = text.encode()
        (folder / "runs" / f"run{i}").write_bytes(gzip.compress(content) if packed else content)
    lines = [f"{topic} 0 {document} {grade}\n" for (topic, document), grade in judged.items()]
    (folder / "qrels").write_text("".join(lines))
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as threads:
        patch.setattr(looks, "_now", lambda folder: time.time_ns() + 10**11)
        patch.setattr(remote, "_SHORTEST", batch)
        patch.setattr(remote, "_LONGEST", batch)
        for each in chosen * 2:  # the second time the store knows all of them
            plain = outcome(folder, each)
            assert outcome(folder, each, store=folder / "store") == plain
            assert outcome(folder, each, store=Store(folder / "store", rehash=True)) == plain
            assert outcome(folder, each, executor=threads) == plain
            assert outcome(folder, each, executor=Workers(threads, 2, "bytes")) == plain
            assert outcome(folder, each, executor=threads, store=folder / "store2") == plain


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("send", ["paths", "bytes"])
def test_processes_read_the_same(processes: Executor, send: Any) -> None:
    plain = everything(riskcli.evaluate([SAMPLES], qrels=QRELS))
    workers = Workers(processes, 2, send)
    for _ in range(2):
        assert everything(riskcli.evaluate([SAMPLES], qrels=QRELS, executor=workers)) == plain


def test_a_baseline_file_is_read_elsewhere_too(processes: Executor) -> None:
    runs = [SAMPLES / f"{name}.run" for name in ("caspPlus", "partial46")]
    given: dict[str, Any] = {"qrels": QRELS, "baselines": [str(SAMPLES / "indriCASP.run")]}
    plain = riskcli.evaluate(runs, **given)
    assert plain.added
    found = riskcli.evaluate(runs, executor=processes, **given)
    assert everything(found) == everything(plain)


def test_score_files_are_read_elsewhere_too(tmp_path: Path, processes: Executor) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"run,1,2\n{name}1,0.5,0.25\n{name}2,0.1,0.2\n")
    (tmp_path / "qrels").write_text("no qrels at all\n")
    plain = everything(riskcli.evaluate([tmp_path / "a.csv", tmp_path / "b.csv"]))
    ways: list[dict[str, Any]] = [{"executor": processes}, {"store": tmp_path / "s"}]
    for means in ways:
        found = riskcli.evaluate([tmp_path / "a.csv", tmp_path / "b.csv"], **means)
        assert everything(found) == plain


def test_no_qrels_is_said_as_on_one_machine(
    tmp_path: Path, processes: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.run").write_text("1 Q0 d 1 1.0 t\n")
    messages = set()
    ways: list[dict[str, Any]] = [{}, {"executor": processes}, {"store": tmp_path / "s"}]
    for means in ways:
        with pytest.raises(UsageError, match="no qrels found") as caught:
            riskcli.evaluate([tmp_path / "x.run"], **means)
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_a_pipe_is_sent_along(tmp_path: Path, processes: Executor) -> None:
    text = (SAMPLES / "caspPlus.run").read_bytes()[: 2**15].rpartition(b"\n")[0] + b"\n"

    def feed(writing: int) -> None:
        os.write(writing, text)
        os.close(writing)

    def through_pipe(**means: Any) -> object:
        reading, writing = os.pipe()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(feed, writing)
            found = riskcli.evaluate([f"/dev/fd/{reading}"], qrels=QRELS, **means)
        os.close(reading)
        return everything(found)[0]

    assert through_pipe(executor=processes) == through_pipe() == through_pipe(store=tmp_path / "s")


# ---------------------------------------------------------------- what goes wrong elsewhere


class Elsewhere(Executor):
    """An executor whose workers stand in a place where the files are other ones."""

    def __init__(self, arrange: Callable[[], None]) -> None:
        self._arrange = arrange

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._arrange()
        try:
            future.set_result(pickle.loads(pickle.dumps(fn(*args, **kwargs))))
        except Exception as error:
            future.set_exception(error)
        return future


LINE = "1 Q0 d1 1 {} t\n"


@pytest.fixture
def two_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The client's folder and a worker's, which see different files under one path."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "qrels").write_text("1 0 d1 1\n")
    (here / "x.run").write_text(LINE.format("2.0"))
    monkeypatch.chdir(here)
    return here, there


def across(here: Path, there: Path) -> riskcli.Evaluation:
    """The same path means another file to the worker, as on machines with disks of their own."""
    path = Path("/proc/self/cwd/x.run")

    class Other(Elsewhere):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            try:
                return super().submit(fn, *args, **kwargs)
            finally:
                os.chdir(here)

    return riskcli.evaluate([path], qrels=here / "qrels", executor=Other(lambda: os.chdir(there)))


def test_a_file_that_a_worker_cannot_see(two_places: tuple[Path, Path]) -> None:
    with pytest.raises(
        UsageError, match=r"x.run: the worker .*, process \d+ cannot read this"
    ) as e:
        across(*two_places)
    assert "No such file or directory" in str(e.value) and "RISKEVAL_SEND=bytes" in str(e.value)


@pytest.mark.parametrize("content", [LINE.format("2.00"), LINE.format("3.0")])
def test_another_file_under_the_same_path_is_never_scored(
    two_places: tuple[Path, Path], content: str
) -> None:
    (two_places[1] / "x.run").write_text(content)
    os.utime(two_places[1] / "x.run", (10**9, 10**9))
    with pytest.raises(UsageError, match=r"cannot read this file \(it(s content differs| has)"):
        across(*two_places)


def test_a_copy_of_another_time_is_the_same_file(two_places: tuple[Path, Path]) -> None:
    (two_places[1] / "x.run").write_text(LINE.format("2.0"))
    os.utime(two_places[1] / "x.run", (10**9, 10**9))
    assert across(*two_places).matrices[0].runs == ("t",)


def test_a_worker_of_another_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = worker.stamp()

    other = mine.replace('"scores":', '"scores":9')
    executor = Elsewhere(lambda: monkeypatch.setattr(remote, "stamp", lambda: other))
    with pytest.raises(UsageError, match=r"process \d+ computes with other versions: .*expected"):
        riskcli.evaluate([SAMPLES], qrels=QRELS, executor=executor)


@pytest.mark.usefixtures("small_batches")
def test_a_killed_process_is_one_clear_error() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        process = pool.submit(os.getpid).result()

        def kill(checksum: str, pickled: bytes) -> None:
            os.kill(process, signal.SIGKILL)

        with pytest.raises(UsageError, match="the workers failed: BrokenProcessPool"):
            workers = Workers(pool, 1, deposit=kill)
            riskcli.evaluate([SAMPLES], qrels=QRELS, executor=workers)


def test_an_executor_that_is_closed() -> None:
    with ThreadPoolExecutor(1) as pool:
        pass
    with pytest.raises(UsageError, match="the workers failed: RuntimeError: cannot sch"):
        riskcli.evaluate([SAMPLES], qrels=QRELS, executor=pool)


def test_an_unforeseen_error_of_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ZeroDivisionError("division by zero")

    class Failing(Elsewhere):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            return super().submit(lambda *_: fail())

    with pytest.raises(UsageError, match="the workers failed: ZeroDivisionError: division by zero"):
        riskcli.evaluate([SAMPLES], qrels=QRELS, executor=Failing(lambda: None))


def test_an_error_comes_back_as_it_was() -> None:
    error = pickle.loads(pickle.dumps(InputError("x.run", "bad-score", "no number", 7)))
    assert isinstance(error, InputError)
    assert (error.path, error.code, error.message, error.line) == (
        "x.run",
        "bad-score",
        "no number",
        7,
    )
    assert str(error) == "x.run:7: bad-score: no number"


@pytest.mark.usefixtures("small_batches")
def test_progress_counts_files(processes: Executor) -> None:
    seen: list[tuple[int, int]] = []
    riskcli.evaluate(
        [SAMPLES], qrels=QRELS, executor=processes, progress=lambda *now: seen.append(now)
    )
    assert seen[-1] == (9, 9)
    assert seen == sorted(seen) and {total for _, total in seen} == {9}


def test_batches_are_about_a_second_and_cover_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large files are batches of their own, small ones travel together."""
    monkeypatch.setattr(remote, "_size", lambda path: int(path.name))
    monkeypatch.setattr(remote, "_FIRST_GUESS", 1e-8)
    reader = Reader([], None, Rules(), True)
    sizes = [300_000_000, 250_000_000, *[1_000_000] * 2000, 200_000_000]
    client = remote._Client(
        Workers(ThreadPoolExecutor(1), 2), reader, [Path(str(size)) for size in sizes]
    )
    batches = []
    while client._sent < len(sizes):
        batches.append(client._next_batch())
    assert [i for batch in batches for i in batch] == list(range(len(sizes)))
    assert [len(batch) for batch in batches[:2]] == [1, 1]
    work = [sum(sizes[i] for i in batch) * 1e-8 for batch in batches[2:]]
    assert max(work[:-1]) <= 1.01 and work[0] >= 0.9
    assert len(batches[-1]) == 1


# ---------------------------------------------------------------- the store, as it is used


@pytest.fixture
def untouchable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """After it is called, no run is read any more."""
    monkeypatch.setattr(looks, "_now", lambda folder: time.time_ns() + 10**11)

    def forbid() -> None:
        def refuse(*args: object) -> None:
            raise AssertionError("a run was read")

        monkeypatch.setattr("riskcli.scores.reading.run_in", refuse)

    yield forbid


@pytest.mark.parametrize("rehash", [False, True])
def test_a_run_is_read_once_in_its_life(
    tmp_path: Path, untouchable: Callable[[], None], rehash: bool
) -> None:
    plain = everything(riskcli.evaluate([SAMPLES], qrels=QRELS))
    riskcli.evaluate([SAMPLES], qrels=QRELS, store=tmp_path / "s")
    untouchable()
    store = Store(tmp_path / "s", rehash)
    assert everything(riskcli.evaluate([SAMPLES], qrels=QRELS, store=store)) == plain


def test_a_run_that_was_moved_and_renamed_is_known(
    tmp_path: Path, untouchable: Callable[[], None]
) -> None:
    riskcli.evaluate([SAMPLES / "caspPlus.run"], qrels=QRELS, store=tmp_path / "s")
    copy = tmp_path / "other name.txt"
    copy.write_bytes((SAMPLES / "caspPlus.run").read_bytes())
    named_by_file = Rules(run_names="file")
    plain = everything(riskcli.evaluate([copy], qrels=QRELS, rules=named_by_file))
    untouchable()
    again = riskcli.evaluate([copy], qrels=QRELS, rules=named_by_file, store=tmp_path / "s")
    assert everything(again) == plain
    assert again.matrices[0].runs == ("other name",)


def test_a_run_that_changed_is_read_anew(tmp_path: Path) -> None:
    run, qrels = tmp_path / "x.run", tmp_path / "qrels.txt"
    qrels.write_text("1 0 d1 1\n1 0 d2 0\n")
    scores = []
    for document in ("d1", "d2", "d1"):
        run.write_text(f"1 Q0 {document} 1 2.0 t\n")
        found = riskcli.evaluate([run], qrels=qrels, store=tmp_path / "s")
        scores.append(float(found.matrices[1].values[0, 0]))
    assert scores == [1.0, 0.0, 1.0]
    (holding, *_) = holdings(Store(tmp_path / "s"))
    assert holding.runs == 2


def test_changed_qrels_are_another_key(tmp_path: Path) -> None:
    run, qrels = tmp_path / "x.run", tmp_path / "qrels.txt"
    run.write_text("1 Q0 d1 1 2.0 t\n1 Q0 d2 2 1.0 t\n")
    for lines, expected in (("1 0 d1 1\n", 1.0), ("1 0 d1 1\n1 0 d2 1\n1 0 d3 1\n", 0.7654)):
        qrels.write_text(lines)
        found = riskcli.evaluate([run], qrels=qrels, store=tmp_path / "s")
        assert float(found.matrices[1].values[0, 0]) == pytest.approx(expected, abs=1e-4)


def test_what_was_read_before_an_error_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "a.run").write_bytes((SAMPLES / "caspPlus.run").read_bytes())
    (folder / "b.run").write_text("no run\n")
    with pytest.raises(InputError):
        riskcli.evaluate([folder], qrels=QRELS, store=tmp_path / "s")
    assert [holding.runs for holding in holdings(Store(tmp_path / "s"))] == [1, 1, 1]


def test_scores_in_a_store_are_those_of_pytrec_eval(tmp_path: Path) -> None:
    """The second reading, which takes all from the store, against the program itself."""
    import pytrec_eval

    for _ in range(2):
        rules = Rules(measures=("AP", "nDCG@20"))
        found = riskcli.evaluate([SAMPLES], qrels=QRELS, rules=rules, store=tmp_path / "s")
    with QRELS.open() as file:
        judged = pytrec_eval.parse_qrel(file)
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"map", "ndcg_cut.20"})
    with (SAMPLES / "caspPlus.run").open() as file:
        theirs = evaluator.evaluate(pytrec_eval.parse_run(file))
    for matrix, key in zip(found.matrices, ("map", "ndcg_cut_20"), strict=True):
        row = matrix.values[matrix.runs.index("caspPlus")]
        expected = [theirs[topic][key] if topic in theirs else 0.0 for topic in matrix.topics]
        np.testing.assert_array_equal(row, expected)


COMMANDS = [
    ("score", "--baseline", "indriCASP", "-f", "json"),
    ("matrix", "--long", "-f", "json"),
    ("significance", "-f", "csv", "--baseline", "indriCASP"),
    ("topics", "-f", "json", "--baseline", "indriCASP"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_the_program_prints_the_same_with_a_store(tmp_path: Path, command: tuple[str, ...]) -> None:
    call: list[str | Path] = [command[0], SAMPLES, "-q", QRELS, *command[1:]]
    plain = run_inside(*call)
    for more in ([], [], [Key("rehash")], ["--jobs", "1"]):
        assert run_inside(*call, "--store", tmp_path / "s", *more) == plain
    assert plain.code == 0
