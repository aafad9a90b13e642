"""The store of scores: what goes in comes out bit by bit, or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riskcli import UsageError
from riskcli.analyses.store import collect, holdings, verify
from riskcli.core.messages import InputError
from riskcli.scores import store_segments as looks_module
from riskcli.scores.store import MARKER, SCORES, Store, StoredRun, StoreSection, as_json
from riskcli.scores.store_segments import FILE_STATES, Segments, file_state
from tests.helpers.console import ROOT
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS as JUDGEMENTS
from tests.helpers.program import SAMPLES

RULES = {"max_grade": 4, "score_precision": "single"}
QRELS = "0" * 64
MEASURES = ("ERR@20", "nDCG(dcg='exp-log2')@20")


def shelf(folder: Path, **changed: object) -> StoreSection:
    measures = changed.pop("measures", MEASURES)
    qrels = changed.pop("qrels", QRELS)
    assert isinstance(measures, tuple)
    return Store(folder).section(str(qrels), measures, {**RULES, **changed})


def sha(text: object) -> str:
    return hashlib.sha256(str(text).encode()).hexdigest()


def some_scores(seed: int, topics: int = 5) -> StoredRun:
    random = np.random.default_rng(seed)
    scores = {measure: random.random(topics) for measure in MEASURES}
    return StoredRun((f"run{seed}",), seed % 3, tuple(map(str, range(topics))), scores)


def kept(folder: Path, seeds: range) -> None:
    """Keep the scores of so many runs, in one call."""
    place = shelf(folder)
    for seed in seeds:
        place.keep(sha(seed), some_scores(seed))
    assert place.close() == []


def same(mine: StoredRun, theirs: StoredRun) -> bool:
    """Whether all is the same, scores bit by bit."""
    return (
        mine[:3] == theirs[:3]
        and mine.scores.keys() == theirs.scores.keys()
        and all(mine.scores[m].tobytes() == theirs.scores[m].tobytes() for m in mine.scores)
    )


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def run_scores(draw: st.DrawFn) -> StoredRun:
    topics = draw(st.lists(names, unique=True, max_size=6))
    column = st.lists(finite, min_size=len(topics), max_size=len(topics))
    scores = {measure: np.array(draw(column), dtype=np.float64) for measure in MEASURES}
    tags = draw(st.lists(names, max_size=3))
    return StoredRun(tuple(tags), draw(st.integers(0, 2**40)), tuple(topics), scores)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.lists(run_scores(), max_size=4), second=st.lists(run_scores(), max_size=4))
def test_what_goes_in_comes_out(
    tmp_path_factory: pytest.TempPathFactory, first: list[StoredRun], second: list[StoredRun]
) -> None:
    folder = tmp_path_factory.mktemp("store")
    everything = {sha(i): scores for i, scores in enumerate([*first, *second])}
    runs = list(everything)
    for group in (runs[: len(first)], runs[len(first) :]):
        place = shelf(folder)
        for run in group:
            place.keep(run, everything[run])
        assert place.close() == []
    found = shelf(folder).find([*runs, sha("another")])
    assert found.keys() == everything.keys()
    assert all(same(found[run], everything[run]) for run in runs)
    one = shelf(folder).find(runs[:1])
    assert list(one) == runs[:1]


def test_more_topics_than_a_page_of_parquet_holds(tmp_path: Path) -> None:
    topics = tuple(f"a-rather-long-name-of-a-topic-{i:07d}" for i in range(60_000))
    scores = {m: np.random.default_rng(1).random(len(topics)) for m in MEASURES}
    place = shelf(tmp_path / "s")
    wanted = {sha(i): StoredRun((), 0, topics[i:], {m: s[i:] for m, s in scores.items()})
              for i in range(3)}  # fmt: skip
    for run, mine in wanted.items():
        place.keep(run, mine)
    assert place.close() == []
    found = shelf(tmp_path / "s").find(wanted)
    assert all(same(found[run], mine) for run, mine in wanted.items())


@pytest.mark.parametrize(
    "changed",
    [
        {"qrels": "1" * 64},
        {"measures": ("nDCG@10",)},
        {"measures": (*MEASURES, "AP")},
        {"max_grade": 5},
        {"score_precision": "double"},
        {"another_rule": 1},
    ],
    ids=str,
)
def test_another_key_finds_nothing(tmp_path: Path, changed: dict[str, object]) -> None:
    kept(tmp_path / "s", range(3))
    assert len(shelf(tmp_path / "s").find([sha(1)])) == 1
    assert shelf(tmp_path / "s", **changed).find([sha(1)]) == {}


@pytest.mark.parametrize("part", ["scores", "pytrec_eval", "numpy", "machine"])
def test_scores_by_another_version_are_not_used(
    tmp_path: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from riskcli.analyses import store as upkeep
    from riskcli.scores import store
    from riskcli.scores import store as keys

    kept(tmp_path / "s", range(3))
    other = {**keys.engine(), part: "another"}
    monkeypatch.setattr(store, "engine", lambda: other)
    monkeypatch.setattr(upkeep, "engine", lambda: other)
    assert shelf(tmp_path / "s").find([sha(1)]) == {}
    assert [removal.reason for removal in collect(Store(tmp_path / "s"))] == [
        "scores by another version"
    ] * len(MEASURES)
    assert list(holdings(Store(tmp_path / "s"))) == []


def test_one_measure_of_two_is_used_and_the_other_added(tmp_path: Path) -> None:
    place = shelf(tmp_path / "s", measures=MEASURES[:1])
    place.keep(sha(1), some_scores(1))
    place.close()
    both = shelf(tmp_path / "s")
    assert both.find([sha(1)]) == {}
    both.keep(sha(1), some_scores(1))
    both.close()
    assert same(shelf(tmp_path / "s").find([sha(1)])[sha(1)], some_scores(1))
    assert [holding.files for holding in holdings(Store(tmp_path / "s"))] == [1, 1]


# ---------------------------------------------------------------- several writers, kills, damage


def test_many_small_files_become_one(tmp_path: Path) -> None:
    for seed in range(40):
        kept(tmp_path / "s", range(seed, seed + 2))
    assert all(holding.files <= 17 for holding in holdings(Store(tmp_path / "s")))
    collect(Store(tmp_path / "s"))
    assert [holding.files for holding in holdings(Store(tmp_path / "s"))] == [1, 1]
    found = shelf(tmp_path / "s").find([sha(seed) for seed in range(41)])
    assert all(same(found[sha(seed)], some_scores(seed)) for seed in range(41))


WRITER = """
import sys
from pathlib import Path
from tests.scores.test_store import kept
first, last = map(int, sys.argv[2:])
for seed in range(first, last):
    kept(Path(sys.argv[1]), range(seed, seed + 1))
    print(seed, flush=True)
"""


def writer(folder: Path, first: int, last: int) -> subprocess.Popen[str]:
    call = [sys.executable, "-c", WRITER, str(folder), str(first), str(last)]
    return subprocess.Popen(call, cwd=ROOT, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_writers_at_once(tmp_path: Path) -> None:
    """Each of them merges what the others write."""
    writers = [writer(tmp_path / "s", 30 * i, 30 * i + 40) for i in range(3)]
    for process in writers:
        process.communicate()
    assert [process.returncode for process in writers] == [0, 0, 0]
    assert list(verify(Store(tmp_path / "s"))) == []
    found = shelf(tmp_path / "s").find([sha(seed) for seed in range(100)])
    assert all(same(found[sha(seed)], some_scores(seed)) for seed in range(100))


@pytest.mark.slow
def test_writers_that_are_killed(tmp_path: Path) -> None:
    """What was reported as written is there, and nothing is damaged."""
    written: set[int] = set()
    for turn in range(6):
        process = writer(tmp_path / "s", 1000 * turn, 1000 * turn + 900)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.03 * turn)
        process.send_signal(signal.SIGKILL)
        written |= {1000 * turn, *map(int, filter(str.strip, process.communicate()[0].split()))}
    assert list(verify(Store(tmp_path / "s"))) == []
    found = shelf(tmp_path / "s").find([sha(seed) for seed in written])
    assert len(found) == len(written) >= 6
    assert all(same(found[sha(seed)], some_scores(seed)) for seed in written)


def test_what_a_killed_writer_left_goes_after_an_hour(tmp_path: Path) -> None:
    kept(tmp_path / "s", range(2))
    left = tmp_path / "s" / "scores" / ".abc.parquet.xyz.part"
    left.write_bytes(b"half")
    assert collect(Store(tmp_path / "s")) == []
    old = time.time() - 4000
    os.utime(left, (old, old))
    assert [removal.reason for removal in collect(Store(tmp_path / "s"), dry_run=True)] == [
        "never finished"
    ]
    assert left.exists()
    collect(Store(tmp_path / "s"))
    assert not left.exists()
    assert len(shelf(tmp_path / "s").find([sha(0), sha(1)])) == 2


@pytest.mark.parametrize("room", [0, 700, 2500])
def test_a_full_disk(tmp_path: Path, room: int) -> None:
    """The note says so; what was there stays whole; nothing half-written is taken for scores."""
    kept(tmp_path / "s", range(3))
    place = shelf(tmp_path / "s")
    place.keep(sha(9), some_scores(9, topics=300))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        notes = place.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [note.code for note in notes] == ["store-not-written"]
    assert "cannot be written (File too large)" in notes[0].message
    assert not notes[0].warning  # the numbers are what they would be without a store
    assert list(verify(Store(tmp_path / "s"))) == []
    assert not list((tmp_path / "s").rglob("*.part"))
    found = shelf(tmp_path / "s").find([sha(0), sha(9)])
    assert list(found) == [sha(0)]


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("intact") / "s"
    kept(folder, range(3))
    return folder


def copied(intact: Path, folder: Path) -> Path:
    subprocess.run(["cp", "-a", str(intact), str(folder)], check=True)
    return folder / intact.name


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damage_anywhere_is_noticed_and_named(
    intact: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = copied(intact, tmp_path_factory.mktemp("damaged"))
    path = data.draw(st.sampled_from(sorted(folder.rglob("*.parquet"))))
    content = bytearray(path.read_bytes())
    where = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[where] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del content[where:]
    path.write_bytes(content)
    place = shelf(folder)
    assert place.find([sha(i) for i in range(3)]) == {}
    for seed in range(3):
        place.keep(sha(seed), some_scores(seed))
    notes = place.close()
    assert [note.code for note in notes] == ["store-damaged"]
    assert path.name in notes[0].message
    found = shelf(folder).find([sha(i) for i in range(3)])
    assert all(same(found[sha(i)], some_scores(i)) for i in range(3))
    assert [trouble.split(";")[0] for _, trouble in verify(Store(folder))] == [
        "set aside as damaged"
    ]
    assert [removal.reason for removal in collect(Store(folder))] == ["damaged"]
    assert list(verify(Store(folder))) == []


def test_verify_names_damage_that_nobody_has_met_yet(intact: Path, tmp_path: Path) -> None:
    folder = copied(intact, tmp_path)
    path = sorted(folder.rglob("*.parquet"))[0]
    path.write_bytes(b"PAR1" + path.read_bytes()[4:-1] + b"2")
    first, second = verify(Store(folder))
    assert first == (path, "its bytes do not have the checksum in its name")
    assert second[0] == path.with_suffix(".damaged")


def test_a_file_with_other_columns_is_no_part_of_the_store(intact: Path, tmp_path: Path) -> None:
    import pyarrow as pa

    folder = copied(intact, tmp_path)
    home = sorted(folder.rglob("*.parquet"))[0].parent
    other = Segments(home, pa.schema([("run", pa.string())]), ("run",))
    path = other.add(pa.table({"run": ["abc"]}))
    assert path is not None
    assert next(trouble for _, trouble in verify(Store(folder))) == (
        "its columns are not those of this store"
    )
    assert len(shelf(folder).find([sha(1)])) == 1


# ---------------------------------------------------------------- the folder


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UsageError, match=r"is not a store of riskeval .* and not empty"):
        Store(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_store_that_another_writer_is_making(tmp_path: Path) -> None:
    (tmp_path / ".riskeval-store.json.abc.part").write_text("")
    Store(tmp_path)
    assert (tmp_path / MARKER).exists()


def test_a_damaged_marker_is_one_line(tmp_path: Path) -> None:
    kept(tmp_path / "s", range(1))
    (tmp_path / "s" / MARKER).write_bytes(b'{"format":\xff}\n')
    with pytest.raises(InputError, match="store-format: found"):
        Store(tmp_path / "s")


def test_a_store_of_another_format_is_left_alone(tmp_path: Path) -> None:
    kept(tmp_path / "s", range(1))
    (tmp_path / "s" / MARKER).write_text(as_json({"format": 2}))
    with pytest.raises(InputError, match=r"store-format: found '.\"format\":2.', expected format"):
        Store(tmp_path / "s")


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("")
    with pytest.raises(InputError, match="unreadable"):
        Store(tmp_path / "s")


def test_gc_by_age(tmp_path: Path) -> None:
    kept(tmp_path / "s", range(2))
    long_ago = time.time() - 40 * 86400
    for path in (tmp_path / "s").rglob("*.parquet"):
        os.utime(path, (long_ago, long_ago))
    kept(tmp_path / "s", range(5, 6))
    assert collect(Store(tmp_path / "s"), older_than=41) == []
    reasons = {removal.reason for removal in collect(Store(tmp_path / "s"), older_than=30)}
    assert reasons <= {"written 40 days ago"}
    assert sha(5) in shelf(tmp_path / "s").find([sha(0), sha(5)])


# ---------------------------------------------------------------- the quick look


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks are taken long after the files were written."""
    monkeypatch.setattr(looks_module, "_now", lambda folder: time.time_ns() + 60 * 10**9)


def remember(folder: Path, file: Path) -> None:
    looks = Store(folder).file_states
    looks.checksum(file)
    looks.keep(file, sha("content"))
    assert looks.flush() == ""


def known(folder: Path, file: Path, rehash: bool = False) -> str | None:
    return Store(folder, rehash).file_states.checksum(file)


@pytest.mark.usefixtures("late")
def test_a_file_that_looks_the_same_is_the_same(tmp_path: Path) -> None:
    file = tmp_path / "x.run"
    file.write_text("content")
    remember(tmp_path / "s", file)
    assert known(tmp_path / "s", file) == sha("content")
    assert known(tmp_path / "s", file, rehash=True) is None
    assert known(tmp_path / "s", tmp_path / "y.run") is None


def rewritten(file: Path) -> None:
    """Other content of the same size, and the time of the change taken back."""
    before = file.stat()
    file.write_text("CONTENT")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(file: Path) -> None:
    """Another file of the same size and time in its place."""
    before = file.stat()
    other = file.with_name("other")
    other.write_text("CONTENT")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.rename(file)


@pytest.mark.usefixtures("late")
@pytest.mark.parametrize(
    "change", [rewritten, replaced, Path.touch, lambda file: file.write_text("longer content")]
)
def test_a_file_that_changed_does_not_look_the_same(tmp_path: Path, change: object) -> None:
    file = tmp_path / "x.run"
    file.write_text("content")
    remember(tmp_path / "s", file)
    time.sleep(0.02)
    assert callable(change)
    change(file)
    assert known(tmp_path / "s", file) is None


def test_a_file_written_just_now_is_not_remembered(tmp_path: Path) -> None:
    """It could be written again within the tick of the clock, and look the same."""
    file = tmp_path / "x.run"
    file.write_text("content")
    remember(tmp_path / "s", file)
    assert known(tmp_path / "s", file) is None
    os.utime(file, ns=(10**18, 10**18))  # an old time of its content does not help
    remember(tmp_path / "s", file)
    assert known(tmp_path / "s", file) is None


@pytest.mark.usefixtures("late")
def test_a_file_that_changes_while_it_is_hashed_is_not_remembered(tmp_path: Path) -> None:
    file = tmp_path / "x.run"
    file.write_text("content")
    looks = Store(tmp_path / "s").file_states
    looks.checksum(file)
    time.sleep(0.02)
    rewritten(file)
    looks.keep(file, sha("content"))
    looks.flush()
    assert known(tmp_path / "s", file) is None


@pytest.mark.usefixtures("late")
def test_verify_hashes_what_looks_the_same(tmp_path: Path) -> None:
    file = tmp_path / "x.run"
    file.write_text("content")
    remember(tmp_path / "s", file)
    assert list(verify(Store(tmp_path / "s"))) == []
    looks = Store(tmp_path / "s2").file_states
    looks.checksum(file)
    looks.keep(file, sha("something else"))
    looks.flush()
    assert [(path, trouble.split(",")[0]) for path, trouble in verify(Store(tmp_path / "s2"))] == [
        (file, "changed")
    ]


@pytest.mark.usefixtures("late")
def test_gc_forgets_files_that_are_gone(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("x.run", "y.run")]
    for file in files:
        file.write_text("content")
        remember(tmp_path / "s", file)
    files[0].unlink()
    store = Store(tmp_path / "s")
    collect(store)
    assert [Path(look.path) for look, _ in store.file_states.remembered()] == files[1:]
    files[1].unlink()
    collect(store)
    assert store.file_states.segments.files() == []


def test_folders_and_pipes_have_no_look(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "absent"):
        assert file_state(path) is None


# ---------------------------------------------------------------- other programs


def expected() -> dict[tuple[str, str, str], float]:
    return {
        (sha(seed), measure, topic): float(score)
        for seed in range(3)
        for measure, scores in some_scores(seed).scores.items()
        for topic, score in zip(some_scores(seed).topics, scores, strict=True)
    }


def test_pandas_reads_a_store(intact: Path) -> None:
    import pandas as pd

    files = sorted((intact / "scores").rglob("*.parquet"))
    frame = pd.concat(map(pd.read_parquet, files)).explode(["topics", "scores"])
    columns = (frame[name] for name in ("run", "measure", "topics", "scores"))
    assert {(r, m, t): s for r, m, t, s in zip(*columns, strict=True)} == expected()


def test_duckdb_reads_a_store(intact: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    query = (
        "select run, measure, unnest(topics), unnest(scores) "
        f"from read_parquet('{intact}/scores/*/*.parquet')"
    )
    assert {(r, m, t): s for r, m, t, s in duckdb.sql(query).fetchall()} == expected()


def test_polars_reads_a_store(intact: Path) -> None:
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    frame = polars.read_parquet(f"{intact}/scores/*/*.parquet").explode("topics", "scores")
    rows = frame.select("run", "measure", "topics", "scores").rows()
    assert {(r, m, t): s for r, m, t, s in rows} == expected()


def test_every_column_says_what_it_means() -> None:
    for schema in (SCORES, FILE_STATES):
        assert all(field.metadata[b"meaning"] for field in schema)


def test_the_documentation_names_every_column() -> None:
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    for name in (*SCORES.names, *FILE_STATES.names):
        assert f"`{name}`" in text


# ---------------------------------------------------------------- riskeval store


def filled(folder: Path) -> Path:
    assert riskeval("score", SAMPLES, "-q", JUDGEMENTS, "--store", folder).code == 0
    return folder


def test_ls_lists_what_was_kept(tmp_path: Path) -> None:
    ran = riskeval("store", "ls", filled(tmp_path / "s"), "-f", "json")
    rows = json.loads(ran.out)["rows"]
    assert [(row["measure"], row["runs"], row["current"]) for row in rows] == [
        ("ERR@20", 9, True),
        ("judged share of the top 20", 9, True),
        ("nDCG@20", 9, True),
    ]
    assert {row["qrels"] for row in rows} == {hashlib.sha256(JUDGEMENTS.read_bytes()).hexdigest()}


def test_verify_and_gc(tmp_path: Path) -> None:
    folder = filled(tmp_path / "s")
    assert riskeval("store", "verify", folder).code == 0
    path = sorted(folder.rglob("*.parquet"))[0]
    path.write_bytes(path.read_bytes()[:-1])
    ran = riskeval("store", "verify", folder, "-f", "tsv")
    assert ran.code == 1 and str(path) in ran.out
    ran = riskeval("store", "gc", folder, "--dry-run", "-f", "tsv")
    assert ran.code == 0 and ran.out.splitlines()[1].split("\t")[1] == "damaged"
    assert riskeval("store", "gc", folder).code == 0
    assert riskeval("store", "verify", folder).code == 0


def test_the_store_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "riskeval.toml").write_text('store = "kept"\n')
    for _ in range(2):
        assert riskeval("score", SAMPLES, "-q", JUDGEMENTS, cwd=tmp_path).code == 0
    ran = riskeval("store", "ls", "-f", "json", cwd=tmp_path)
    assert [row["runs"] for row in json.loads(ran.out)["rows"]] == [9, 9, 9]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (("store", "ls"), "name the store's FOLDER"),
        (("store", "ls", "."), "is not a store of riskeval (riskeval-store.json is missing)"),
        (("store", "ls", ".", "--dry-run"), "belong to gc, ls removes nothing"),
    ],
)
def test_wrong_calls(tmp_path: Path, call: tuple[str | Path, ...], expected: str) -> None:
    ran = riskeval(*call, cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert expected in ran.err


def test_a_store_is_read_and_written_without_pandas(tmp_path: Path) -> None:
    """Its import takes longer than one more run."""
    script = (
        "import sys, riskcli\n"
        f"for _ in range(2): riskcli.evaluate({str(SAMPLES)!r}, qrels={str(JUDGEMENTS)!r},"
        f" store={str(tmp_path / 's')!r})\n"
        "print('pandas' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


@pytest.mark.parametrize(
    "error", [OSError(24, "Too many open files"), PermissionError(13, "No"), MemoryError()]
)
def test_what_the_machine_lacks_is_no_damage(
    intact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    folder = copied(intact, tmp_path)
    before = sorted(folder.rglob("*.parquet"))
    assert before

    def fails(*_: object) -> None:
        raise error

    for owner, name in ((Path, "read_bytes"), (Segments, "_parsed")):
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, fails)
            with pytest.raises(type(error)):
                list(holdings(Store(folder)))
    assert sorted(folder.rglob("*.parquet")) == before
    assert list(verify(Store(folder))) == []
