"""Scores that are kept: a run is read once in its life, under a key of what its scores depend on.

The folder of a store, format 1:

    riskeval-store.json       says that the folder is a store, and its format
    scores/KEY/SUM.parquet    scores of runs by one measure, one set of judgements and of rules
    looks/SUM.parquet         checksums of files by their size and times

KEY is a checksum of what the scores in it have in common, SUM that of the file's own bytes. Files
are only ever added or removed whole. `SCORES` and `LOOKS` document the columns.
"""

import hashlib
import json
import platform
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from riskcli.core.files import PART, replace_file, sha256_of_file
from riskcli.core.messages import InputError, Note, RiskevalError, UsageError, counted, listed
from riskcli.core.parallel import in_order
from riskcli.effectiveness.plausibility import Doubt
from riskcli.effectiveness.scoring import depths_of
from riskcli.scores.files.registry import FileScores
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.reading import Reader
from riskcli.scores.store_segments import FileStates, Segments
from riskcli.trec.arrow import column, values_in

# What a score depends on, apart from the run: judgements, measure, rules and what computes it.


SCORES_VERSION = 2
"""Raised whenever a change to riskeval changes a score, or what is kept with it."""


@dataclass(frozen=True)
class Key:
    """Scores with the same key may be compared: they differ in their runs only."""

    qrels: str
    """Checksum of the judgements' file."""
    measure: str
    """Canonical name."""
    rules: str
    """All settings that a score can depend on, as JSON."""
    engine: str
    """What computes the scores, in which version, as JSON."""

    @property
    def digest(self) -> str:
        """A name for the key."""
        return hashlib.sha256(as_json(asdict(self)).encode()).hexdigest()[:32]


def engine() -> dict[str, Any]:
    """What computes scores here: the last bits of a number can depend on each of these."""
    return {
        "scores": SCORES_VERSION,
        "pytrec_eval": version("pytrec-eval-terrier"),
        "numpy": np.__version__,
        "machine": platform.machine(),
    }


def as_json(values: Mapping[str, Any]) -> str:
    """The values in one spelling."""
    return json.dumps(dict(values), sort_keys=True, separators=(",", ":"))


# The store: scores of runs by the checksum of their bytes and by a key of all else.


FORMAT = 1
MARKER = "riskeval-store.json"
SCORES = pa.schema(
    [
        pa.field("run", pa.string(), metadata={"meaning": "checksum of the run's file (SHA-256)"}),
        pa.field("measure", pa.string(), metadata={"meaning": "effectiveness measure"}),
        pa.field("topics", pa.list_(pa.string()), metadata={"meaning": "topics that it answers"}),
        pa.field("scores", pa.list_(pa.float64()), metadata={"meaning": "its score on each"}),
        pa.field("tags", pa.list_(pa.string()), metadata={"meaning": "tags of its lines"}),
        pa.field("unknown_topics", pa.int64(), metadata={"meaning": "its topics without qrels"}),
        pa.field("doubts", pa.list_(pa.string()), metadata={"meaning": "doubts on it (JSON)"}),
        pa.field("qrels", pa.string(), metadata={"meaning": "checksum of the judgements' file"}),
        pa.field("rules", pa.string(), metadata={"meaning": "settings of the scores (JSON)"}),
        pa.field("engine", pa.string(), metadata={"meaning": "what computed them (JSON)"}),
    ]
)
_TEXTS = ("measure", "topics.list.element", "tags.list.element", "doubts.list.element", "qrels",
          "rules", "engine")  # fmt: skip
_SHARE = "judged share of the top "
"""Before a number, what stands in place of a measure where shares are kept."""
_ENOUGH = 2**21
"""Scores that wait to be written; a file of so many takes 16 MiB."""
_PATIENCE = 30.0
"""Seconds of work that a kill may cost."""


class StoredRun(NamedTuple):
    """What is kept of a run: its scores by each measure on the judged topics that it answers."""

    tags: tuple[str, ...]
    unknown_topics: int
    topics: tuple[str, ...]
    scores: Mapping[str, NDArray[np.float64]]
    doubts: tuple[Doubt, ...] = ()


class Store:
    """A folder of scores, and of what files looked like when they were read."""

    def __init__(self, folder: Path, rehash: bool = False) -> None:
        """Open the store, made where there is none; with `rehash` every file is hashed."""
        self.folder = folder
        _open(folder)
        self.file_states = FileStates(folder / "looks", rehash)

    def section(
        self, qrels: str, measures: Sequence[str], rules: Mapping[str, Any]
    ) -> "StoreSection":
        """The scores by these measures."""
        about = (as_json(rules), as_json(engine()))
        keys = [Key(qrels, measure, *about) for measure in measures]
        return StoreSection(self, {key: self.segments(key.digest) for key in keys})

    def segments(self, digest: str) -> Segments:
        """The files of one key."""
        return Segments(self.folder / "scores" / digest, SCORES, ("run",), _TEXTS)


@dataclass
class StoreSection:
    """The scores of a store by some measures, under one set of judgements and rules."""

    store: Store
    segments: Mapping[Key, Segments]
    _waiting: dict[str, StoredRun] = field(default_factory=dict)
    _stored_runs: dict[str, set[str]] = field(default_factory=dict)
    """The runs that each measure's files hold already."""
    _trouble: str = ""
    _last_flush: float = field(default_factory=time.monotonic)

    @property
    def is_empty(self) -> bool:
        """Whether it holds no run by all of the measures."""
        return not all(segments.files() for segments in self.segments.values())

    def find(self, runs: Collection[str]) -> dict[str, StoredRun]:
        """Those of the runs of which there are scores by every measure."""
        wanted = frozenset(runs)
        shared: dict[tuple[str, ...], tuple[str, ...]] = {}
        by_measure = [self._by(key, wanted, shared) for key in self.segments]
        found = {}
        for run, first in by_measure[0].items():
            parts = [runs_of[run] for runs_of in by_measure if run in runs_of]
            complete = len(parts) == len(self.segments)
            if complete and all(part.topics == first.topics for part in parts):
                scores = {name: values for part in parts for name, values in part.scores.items()}
                doubts = dict.fromkeys(doubt for part in parts for doubt in part.doubts)
                found[run] = first._replace(scores=scores, doubts=tuple(doubts))
        return found

    def keep(self, run: str, scores: StoredRun) -> None:
        """Keep a run's scores, to be written soon."""
        if self._trouble:
            return
        self._waiting[run] = scores
        cells = len(self.segments) * sum(len(waiting.topics) for waiting in self._waiting.values())
        if cells >= _ENOUGH or time.monotonic() - self._last_flush > _PATIENCE:
            self.flush()

    def flush(self) -> None:
        """Write what waits. A store that cannot be written is left as it is; `close` notes it."""
        for key, segments in self.segments.items():
            rows = {
                run: scores
                for run, scores in self._waiting.items()
                if run not in self._stored_runs.get(key.measure, ())
            }
            if rows and not self._trouble:
                self._trouble = segments.try_add(_table(key, rows))
        self._waiting = {}
        self._last_flush = time.monotonic()

    def close(self) -> list[Note]:
        """Write everything; notes on files that are damaged or cannot be written."""
        self.flush()
        states = self.store.file_states
        trouble = self._trouble or states.flush()
        everything = [*self.segments.values(), states.segments]
        damaged = [path for segments in everything for path, _ in segments.damaged]
        notes = []
        if trouble:
            message = f"the store {self.store.folder} cannot be written ({trouble}): "
            notes.append(Note("store-not-written", message + "new scores are not kept", False))
        if damaged:
            names = listed(map(str, damaged))
            message = f"{counted(len(damaged), 'file')} of the store damaged, set aside and "
            notes.append(Note("store-damaged", f"{message}computed again: {names}", False))
        return notes

    def _by(
        self, key: Key, wanted: frozenset[str], shared: dict[tuple[str, ...], tuple[str, ...]]
    ) -> dict[str, StoredRun]:
        """The wanted runs' scores by one measure."""
        runs: dict[str, StoredRun] = {}
        for table in self.segments[key].tables():
            runs.update(_rows(table, wanted, shared))
        self._stored_runs[key.measure] = set(runs)
        return runs


def _open(folder: Path) -> None:
    """Make sure that the folder is a store; an empty one, or none, becomes one."""
    marker = folder / MARKER
    try:
        if not marker.exists():
            # Another writer may be making the store at this moment: look at its marker again.
            if folder.exists() and any(map(_strange, folder.iterdir())) and not marker.exists():
                raise UsageError(
                    f"{folder} is not a store of riskeval ({MARKER} is missing) and not empty; "
                    "name an empty or a new folder with --store"
                )
            folder.mkdir(parents=True, exist_ok=True)
            replace_file(marker, (as_json({"format": FORMAT}) + "\n").encode())
        stated = marker.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(folder, "unreadable", error.strerror or str(error)) from error
    if stated.strip() != as_json({"format": FORMAT}):
        raise InputError(
            marker, "store-format", f"found {stated.strip()[:80]!r}, expected format {FORMAT}"
        )


def _strange(entry: Path) -> bool:
    """Whether something in a folder is no file of a store that is just being made."""
    return entry.name != MARKER and not (entry.name.startswith(".") and entry.suffix == PART)


def _table(key: Key, rows: Mapping[str, StoredRun]) -> pa.Table:
    """Rows by one measure as they are written."""
    runs = rows.values()
    columns: dict[str, list[Any]] = {
        "run": list(rows),
        "topics": [row.topics for row in runs],
        "scores": [row.scores[key.measure] for row in runs],
        "tags": [row.tags for row in runs],
        "unknown_topics": [row.unknown_topics for row in runs],
        "doubts": [
            [json.dumps(doubt) for doubt in row.doubts if doubt.measure in ("", key.measure)]
            for row in runs
        ],
        **{name: [text] * len(rows) for name, text in asdict(key).items()},
    }
    arrays = [column(field.type, columns[field.name]) for field in SCORES]
    return pa.Table.from_arrays(arrays, schema=SCORES)


def _rows(
    table: pa.Table, wanted: frozenset[str], shared: dict[tuple[str, ...], tuple[str, ...]]
) -> Iterator[tuple[str, StoredRun]]:
    """The wanted runs of a table. Runs that answer the same topics share one tuple of them."""
    for batch in table.to_batches():
        runs, measures, tags, unknown, doubts = (
            batch[name].to_pylist()
            for name in ("run", "measure", "tags", "unknown_topics", "doubts")
        )
        topics, scores = batch["topics"], batch["scores"]
        names = topics.values.dictionary.to_pylist()
        codes = values_in(topics.values.indices, np.int32)
        starts = values_in(scores.offsets, np.int32)
        values = values_in(scores.values, np.float64)
        topics_of: dict[bytes, tuple[str, ...]] = {}
        for i, run in enumerate(runs):
            if run not in wanted:
                continue
            here = slice(starts[i], starts[i + 1])
            pattern = codes[here].tobytes()
            if pattern not in topics_of:
                answered = tuple([names[code] for code in codes[here].tolist()])
                topics_of[pattern] = shared.setdefault(answered, answered)
            by_measure = {measures[i]: values[here]}
            doubted = tuple(Doubt(*json.loads(doubt)) for doubt in doubts[i])
            about = (tuple(tags[i]), unknown[i], topics_of[pattern])
            yield run, StoredRun(*about, by_measure, doubted)


class StoredScores:
    """Scores that are looked up and kept for one reader, under its judgements and rules."""

    def __init__(self, store: Store, reader: Reader) -> None:
        self._store = store
        self._reader = reader

    @cached_property
    def _section(self) -> StoreSection | None:
        """The scores under the judgements and rules at hand; None where no run could be scored."""
        qrels = self._reader.qrels_or_error
        if isinstance(qrels, RiskevalError) or qrels.sha256 is None:
            return None
        measures = [str(measure) for measure in self._reader.measures]
        depths = [_SHARE + str(depth) for depth in depths_of(self._reader.measures)]
        return self._store.section(qrels.sha256, measures + depths, self._reader.rules.scoring())

    def find(self, files: Sequence[Path], jobs: int) -> dict[Path, FileScores]:
        """The runs among the files that need not be read; with 0 jobs no file is hashed."""
        if self._section is None or self._reader.rules.unjudged == "bounds":  # documents are wanted
            return {}
        states = self._store.file_states
        sums = {path: states.checksum(path) for path in files}
        if jobs and not self._section.is_empty:
            unknown = [path for path in files if sums[path] is None and states.seen[path]]
            sums.update(zip(unknown, in_order(sha256_of_file, unknown, jobs), strict=True))
        runs = self._section.find({checksum for checksum in sums.values() if checksum})
        found = {
            path: _file_scores(path, checksum, runs[checksum])
            for path, checksum in sums.items()
            if checksum in runs
        }
        for path, scores in found.items():
            states.keep(path, str(scores.sha256))
        return found

    def keep(self, scores: FileScores | InputError) -> FileScores | InputError:
        """The same, kept if it is a run."""
        if (
            isinstance(scores, FileScores)
            and scores.kind == "run"
            and scores.sha256
            and self._section
        ):
            by_measure = {matrix.measure: matrix.values[0] for matrix in scores.matrices}
            by_measure |= {_SHARE + str(depth): each for depth, each in scores.judged.items()}
            about = (scores.tags, scores.unknown_topics, scores.matrices[0].topics)
            self._section.keep(scores.sha256, StoredRun(*about, by_measure, scores.doubts))
            self._store.file_states.keep(scores.path, scores.sha256)
        return scores

    def close(self) -> list[Note]:
        """Write what is new; notes on files that are damaged or cannot be written."""
        return self._section.close() if self._section else []


def _file_scores(path: Path, checksum: str, run: StoredRun) -> FileScores:
    """What a file holds, had it been read."""
    matrices = tuple(
        ScoreMatrix(measure, ("",), run.topics, values[None, :])
        for measure, values in run.scores.items()
        if not measure.startswith(_SHARE)
    )
    shares = {
        int(measure.removeprefix(_SHARE)): values
        for measure, values in run.scores.items()
        if measure.startswith(_SHARE)
    }
    return FileScores(
        path, "run", run.tags, matrices, run.unknown_topics, False,
        sha256=checksum, doubts=run.doubts, judged=shares,
    )  # fmt: skip
