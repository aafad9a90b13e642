"""The folds of an experiment: single files, folders as LETOR has them, or one file to be cut.

Queries that two parts of a fold share are refused or noted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from riskcli.core.messages import Input, Note, UsageError, counted
from riskcli.learn.comparators import BaselineSource
from riskcli.learn.feature_files import read_features
from riskcli.learn.features import Features


@dataclass(frozen=True)
class Fold:
    """Training, validation and test queries."""

    train: Features
    valid: Features
    test: Features
    inputs: tuple[Input, ...] = ()
    """The files that they were read from."""


def refuse_shared_topics(fold: Fold, number: int, seen: dict[str, int]) -> None:
    """Test queries are of one fold only, and neither learned nor validated on."""
    for topic in fold.test.topics:
        if seen.setdefault(topic, number) != number:
            raise UsageError(
                f"query {topic} is a test query of folds {seen[topic] + 1} and {number + 1}: "
                "pooled test queries must be distinct"
            )
    if both := set(fold.test.topics) & {*fold.train.topics, *fold.valid.topics}:
        fault = f"test query {min(both)} is a training or validation query too"
        raise UsageError(f"{fold.test.path}: {fault}")


def shared_by_validation(fold: Fold) -> list[Note]:
    """Validation queries that are trained on: stopping and choices then look at learned ones."""
    both = set(fold.train.topics) & set(fold.valid.topics)
    if not both:
        return []
    message = (
        f"{fold.valid.path.name} shares {counted(len(both), 'query', 'queries')} with the training "
        f"data, such as {min(both)}: so the stopping point is chosen on training data"
    )
    return [Note("validation-in-sample", message)]


def seen_by_baselines(sources: Sequence[BaselineSource], fold: Fold) -> list[Note]:
    """Warnings of learned baselines that were trained on queries of this fold."""
    return [
        Note(
            "baseline-in-sample",
            f"{source} was trained on queries of {file.path.name}: it looks better there than it "
            "is, and training for risk clings to it; use a model trained on other queries",
        )
        for source in sources
        for file in fold.inputs
        if file.sha256 in source.trained_on
    ]


NAMES = {
    "train": ("train", "training"),
    "valid": ("vali", "valid", "validation", "dev"),
    "test": ("test",),
}
"""What the files of a fold may be called, whatever their endings."""
Loader = Callable[[], Fold]


def find_folds(
    data: Sequence[Path], valid: Path | None, test: Path | None, count: int | None, seed: int
) -> list[Loader]:
    """The folds, to be read when their turn comes; one file to be cut is read at once."""
    if all(place.is_dir() for place in data):
        if valid or test or count is not None:
            what = "--valid, --test and --folds"
            raise UsageError(f"a folder is a fold with all of its data: leave out {what}")
        return [partial(_load, *_files_of(place)) for place in data]
    if len(data) != 1:
        raise UsageError("give one file of training data, or one or more folders of folds")
    if count is not None:
        if valid or test:
            raise UsageError("--folds cuts one file into folds: leave out --valid and --test")
        whole = read_features(data[0])
        order = _cut(len(whole.topics), count, seed)
        return [partial(_of_parts, whole, order, n) for n in range(count)]
    if valid is None or test is None:
        raise UsageError(
            "validation and test data are needed: give --valid FILE and --test FILE, or --folds N"
        )
    return [partial(_load, data[0], valid, test)]


def _files_of(folder: Path) -> tuple[Path, Path, Path]:
    """The training, validation and test data of a fold."""
    files = sorted(path for path in folder.iterdir() if path.is_file())

    def file(kind: str) -> Path:
        stems = NAMES[kind]
        fitting = [path for path in files if path.name.split(".")[0].lower() in stems]
        if len(fitting) != 1:
            listed = ", ".join(path.name for path in fitting) or "none"
            names = " or ".join(f"{stem}.*" for stem in stems)
            raise UsageError(f"{folder}: expected one file called {names}, found {listed}")
        return fitting[0]

    return file("train"), file("valid"), file("test")


def _load(train: Path, valid: Path, test: Path) -> Fold:
    parts = _alike([read_features(path) for path in (train, valid, test)])
    first, second, third = parts
    return Fold(first, second, third, tuple(map(_input, parts, NAMES)))


def _input(features: Features, kind: str) -> Input:
    return Input(features.path, kind, features.sha256)


def _alike(parts: Sequence[Features]) -> list[Features]:
    """The same features in all: in LETOR's format those that no line of a file has are 0."""
    widest = max(parts, key=lambda part: len(part.names))
    for part in parts:
        numbered = part.names == tuple(str(n) for n in range(1, len(part.names) + 1))
        if not numbered and sorted(part.names) != sorted(widest.names):
            differing = sorted({*part.names} ^ {*widest.names})[0]
            raise UsageError(f"{part.path} and {widest.path} differ in feature {differing!r}")
    return [part.widened(widest.names) for part in parts]


def _cut(queries: int, count: int, seed: int) -> list[list[int]]:
    """The numbers of the queries in each of so many parts."""
    if count < 3 or queries < count:
        raise UsageError(f"--folds is {count}, expected from 3 to {queries}, the number of queries")
    order = np.random.default_rng(seed).permutation(queries)
    return [sorted(order[number::count].tolist()) for number in range(count)]


def _of_parts(whole: Features, parts: Sequence[Sequence[int]], number: int) -> Fold:
    """One part to test, the next to validate, the rest to train."""
    valid = (number + 1) % len(parts)
    rest = [part for other, part in enumerate(parts) if other not in (number, valid)]
    train = sorted(query for part in rest for query in part)
    first, second, third = map(whole.taken, (train, parts[valid], parts[number]))
    return Fold(first, second, third, (_input(whole, "features"),))
