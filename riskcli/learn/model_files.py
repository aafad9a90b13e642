"""Models in files, their sidecars, and what a model's text must be like for LightGBM to take it.

LightGBM itself checks little of a text: it reads the trees where `tree_sizes` says that they are,
several at once, and an error there ends the process; and it follows the children and features of a
tree wherever they point.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riskcli.core.content_hash import check_hash, content_sha256, parsed
from riskcli.core.inputs import note_input
from riskcli.core.messages import InputError
from riskcli.core.supervisor import Natively
from riskcli.learn.training import PLACE, lightgbm
from riskcli.trec.findings import whole_number
from riskcli.trec.source import TextFile as File

MODEL_HASH = "model_sha256"
"""The member of a sidecar that states the checksum of the model's text."""
_MOST_FEATURES, _MOST_LEAVES = 1_000_000, 131_072
_HEAD = re.compile(rb"(tree\n.*?)\n(?=Tree=|end of trees)", re.DOTALL)
_BEHIND = re.compile(
    r"|end of trees|feature.importances:|.+=\d+|parameters:|\[\w+: .*\]|end of parameters|"
    r"pandas_categorical:.*"
)
_LINE = re.compile(r"(\w+)=(.*)")
_WHOLE = re.compile(r"(-?\d{1,10} )*")
_REAL = re.compile(r"([-+]?(\d+\.?\d*(e[-+]?\d+)?|inf|nan) )*", re.IGNORECASE)
_OF_NODES = ("split_gain", "threshold", "internal_value", "internal_weight")
_OF_LEAVES = ("leaf_value", "leaf_weight", "leaf_const")
_CATEGORICAL = 1
"""The bit of a decision's type that says so; its threshold is the number of a set of categories."""


@dataclass(frozen=True)
class Sidecar:
    """What ranking with a model needs beside its trees; it lies beside them."""

    features: tuple[str, ...] = ()
    start_weight: float = 0.0
    baselines: tuple[str, ...] = ()
    trained_on: tuple[str, ...] = ()
    """The checksums of the files with its training and validation queries."""


@dataclass(frozen=True)
class Model:
    """A model of LightGBM, and what is known of it."""

    booster: Any
    about: Sidecar
    path: Path


def read_model(file: File) -> Model:
    """The model in a file; nothing is known of one that was trained elsewhere."""
    text = file.text()
    about = _read_sidecar(file.path, text)
    try:
        if about == Sidecar():
            check_model(text)
        with natively(file.path):
            booster = lightgbm().Booster(model_str=text.decode())
    except (WrongModelError, lightgbm().basic.LightGBMError, ValueError) as error:
        why = f"not a model of LightGBM: {PLACE.sub('', str(error))}"
        raise InputError(file.path, "bad-model", why) from error
    return Model(booster, about, file.path)


def natively(path: Path) -> Natively:
    """While LightGBM works with the model in a file."""
    return Natively(path, "bad-model", "LightGBM crashes on it")


def _read_sidecar(model: Path, text: bytes) -> Sidecar:
    """What the file beside the model says, once both have shown to be what training wrote."""
    path = model.with_suffix(".json")
    if not path.is_file():
        return Sidecar()
    note_input(path)
    try:
        given = parsed(path.read_text(encoding="utf-8"))
        about = Sidecar(
            tuple(given["features"]), float(given["start_weight"]), tuple(given["baselines"]),
            tuple(given["trained_on"]),
        )  # fmt: skip
        check_hash(path, given, content_sha256(given), "train the model again")
        if given[MODEL_HASH] != hashlib.sha256(text).hexdigest():
            message = f"not the model that {path.name} describes: train it again"
            raise InputError(model, "altered", message)
        return about
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError,
            RecursionError) as error:  # fmt: skip
        message = f"not what riskeval train writes beside a model: {error!r}"
        raise InputError(path, "bad-model", message) from error


# The text of a model


class WrongModelError(Exception):
    """What is wrong with the text of a model."""


def check_model(text: bytes) -> None:
    """Raise a `WrongModelError` unless all trees are whole, and lead to leaves."""
    match = _HEAD.match(text)
    if match is None or b"\0" in text:
        raise WrongModelError("its text does not begin as LightGBM's models do")
    head = match[1]
    header = dict(_pairs(_lines(head)))
    if "multiclass" in header.get("objective", "") or "num_class:" in header.get("objective", ""):
        raise WrongModelError("it gives a document several scores: a model of classes")
    for name in ("num_class", "num_tree_per_iteration"):
        _expect(_wholes(header, name, 1) == [1], f"{name} is not 1")
    features = _wholes(header, "max_feature_idx", 1)[0] + 1
    _expect(0 < features <= _MOST_FEATURES, "max_feature_idx is out of range")
    for name in ("feature_names", "feature_infos"):
        _expect(len(header.get(name, "").split(" ")) == features, f"not {features:,} {name}")
    start = len(head) + 1
    for number, size in enumerate(_wholes(header, "tree_sizes")):
        block, start = text[start : start + size], start + size
        first, *lines = _lines(block)
        _expect(first == f"Tree={number}" and size > 0, f"tree {number} is not where it should be")
        try:
            _check_tree(lines, features)
        except WrongModelError as error:
            raise WrongModelError(f"tree {number}: {error}") from error
    _expect(text.startswith(b"end of trees\n", start), "there is more than its trees")
    rest = _lines(text[start:])
    _expect(all(map(_BEHIND.fullmatch, rest)), "what follows its trees is damaged")
    _expect("parameters:" not in rest or "end of parameters" in rest, "its parameters end early")


def _lines(text: bytes) -> list[str]:
    try:
        return text.decode().split("\n")
    except UnicodeDecodeError:
        raise WrongModelError("it is not UTF-8 text") from None


def _pairs(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names and what they stand for; other lines are left out."""
    for line in lines:
        if match := _LINE.fullmatch(line):
            yield match[1], match[2]


def _expect(holds: bool, message: str) -> None:
    if not holds:
        raise WrongModelError(message)


def _tokens(given: Mapping[str, str], name: str, kind: re.Pattern[str], count: int | None) -> str:
    """The numbers under a name, a blank after each; there must be as many as expected."""
    spaced = "".join(f"{token} " for token in given.get(name, "").split())
    _expect(kind.fullmatch(spaced) is not None, f"{name} holds what is no number")
    _expect(count in (None, spaced.count(" ")), f"{name} has not {count} numbers")
    return spaced


def _wholes(given: Mapping[str, str], name: str, count: int | None = None) -> list[int]:
    return [int(token) for token in _tokens(given, name, _WHOLE, count).split()]


def _check_tree(lines: Sequence[str], features: int) -> None:
    """That the numbers of nodes and leaves agree, and that children form a tree."""
    end = lines.index("") if "" in lines else 0
    tree = dict(_pairs(lines[:end]))
    _expect(end > 0 and len(tree) == end, "it ends early, or a line of it is damaged")
    leaves, sets = _wholes(tree, "num_leaves", 1)[0], _wholes(tree, "num_cat", 1)[0]
    _expect(0 < leaves <= _MOST_LEAVES and sets >= 0, "num_leaves or num_cat is out of range")
    nodes = leaves - 1
    for names, count in ((_OF_NODES, nodes), (_OF_LEAVES, leaves), (("shrinkage",), 1)):
        for name in names:
            if tree.get(name):
                _tokens(tree, name, _REAL, count)
    for name, count in (("internal_count", nodes), ("leaf_count", leaves)):
        if tree.get(name):
            _wholes(tree, name, count)
    _tokens(tree, "leaf_value", _REAL, leaves)
    _check_nodes(tree, nodes, features, sets)
    if _wholes(tree, "is_linear") not in ([], [0]):
        _check_linear(tree, leaves, features)


def _check_nodes(tree: Mapping[str, str], nodes: int, features: int, sets: int) -> None:
    children = [_wholes(tree, name, nodes) for name in ("left_child", "right_child")]
    whole = sorted((*children[0], *children[1])) == [*range(-nodes - 1, 0), *range(1, nodes)]
    _expect(whole or not nodes, "its nodes do not form a tree")
    later = all(child > node or child < 0 for side in children for node, child in enumerate(side))
    _expect(later, "its nodes do not form a tree")
    split = _wholes(tree, "split_feature", nodes)
    _expect(all(0 <= feature < features for feature in split), "it splits an unknown feature")
    kinds = _wholes(tree, "decision_type", nodes)
    _expect(all(0 <= kind < 12 for kind in kinds), "decision_type is out of range")
    thresholds = _tokens(tree, "threshold", _REAL, nodes).split()
    chosen = [t for t, kind in zip(thresholds, kinds, strict=True) if kind & _CATEGORICAL]
    known = [whole_number(text) for text in chosen]
    _expect(all(n is not None and 0 <= n < sets for n in known), "a set of categories is missing")
    if sets:
        bounds = _wholes(tree, "cat_boundaries", sets + 1)
        bits = _wholes(tree, "cat_threshold", bounds[-1])
        ordered = bounds[0] == 0 and bounds == sorted(bounds)
        _expect(ordered and all(0 <= bit < 2**32 for bit in bits), "its categories are damaged")


def _check_linear(tree: Mapping[str, str], leaves: int, features: int) -> None:
    counts = _wholes(tree, "num_features", leaves)
    _expect(all(count >= 0 for count in counts), "num_features is out of range")
    used = _wholes(tree, "leaf_features", sum(counts))
    _expect(all(0 <= feature < features for feature in used), "a leaf uses an unknown feature")
    for name, count in (("leaf_coeff", sum(counts)), ("leaf_const", leaves)):
        _tokens(tree, name, _REAL, count)
