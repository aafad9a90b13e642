"""Models that would end LightGBM, and with it the program: refused by their text."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from riskcli.learn.model_files import WrongModelError, check_model
from tests.helpers.inprocess import run_inside

lightgbm = pytest.importorskip("lightgbm")
np = pytest.importorskip("numpy")

KINDS: dict[str, dict[str, object]] = {
    "plain": {},
    "categories": {"categorical_feature": "1", "max_cat_to_onehot": 1},
    "linear leaves": {"linear_tree": True},
    "dart": {"boosting": "dart"},
    "forest": {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
    "two leaves": {"num_leaves": 2},
    "no split": {"min_data_in_leaf": 5000},
    "lambdarank": {"objective": "lambdarank"},
    "no tree": {"objective": "none"},
}


@cache
def model(kind: str) -> str:
    """A model of ten trees on three features."""
    rng = np.random.default_rng(1)
    values = rng.integers(0, 9, (300, 3)).astype(float)
    target = (values[:, 0] + 9 * (values[:, 1] % 3 == 1)).astype(int) + rng.integers(0, 2, 300)
    params = {"verbosity": -1, "num_leaves": 7, "num_threads": 1, **KINDS[kind]}
    group = [100] * 3 if kind == "lambdarank" else None
    data = lightgbm.Dataset(values, target, params=params, group=group)
    if kind == "no tree":
        return str(lightgbm.Booster(params, data).model_to_string())
    return str(lightgbm.train(params, data, 10).model_to_string())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_lightgbm_writes_is_taken(kind: str) -> None:
    check_model(model(kind).encode())


DAMAGE = {
    "a child that points back": ("plain", r"left_child=\d+", "left_child=0", "do not form a tree"),
    "two parents": ("plain", r"right_child=\d+ -?\d+", "right_child=-1 -1", "do not form a tree"),
    "an unknown feature": ("plain", "split_feature=.", "split_feature=9", "unknown feature"),
    "a number of leaves": ("plain", "num_leaves=7", "num_leaves=8", "has not 7 numbers"),
    "a value that is none": ("plain", r"leaf_value=\d", "leaf_value=x", "no number"),
    "a line without a name": ("plain", "num_cat=0", "num_cat 0", "a line of it is damaged"),
    "a tree elsewhere": ("plain", r"tree_sizes=\d+", "tree_sizes=9", "tree 0: it ends early"),
    "fewer trees": ("plain", r"tree_sizes=(\d+) .*", r"tree_sizes=\1", "more than its trees"),
    "features beyond all": ("plain", "max_feature_idx=2", "max_feature_idx=99", "feature_names"),
    "classes": ("plain", "num_class=1", "num_class=3", "num_class is not 1"),
    "an objective of classes": ("plain", "objective=reg.*", "objective=multiclass", "of classes"),
    "a set of categories": ("categories", "cat_boundaries=0", "cat_boundaries=1", "categories"),
    "a missing set": ("categories", "threshold=0", "threshold=7", "a set of categories"),
    "a leaf's feature": ("linear leaves", r"(leaf_features=.*)\d", r"\g<1>7", "a leaf uses"),
    "parameters cut off": ("plain", r"\nend of parameters(.|\n)*", "\n", "parameters end early"),
    "a damaged parameter": ("plain", r"\[boosting: ", "[boosting", "follows its trees is damaged"),
    "another text": ("plain", "^tree", "three", "does not begin"),
}
"""A kind of model, what is put in place of what, and what is said; sizes of trees stay right."""


def damaged(kind: str, old: str, new: str) -> bytes:
    text, count = re.subn(old, new, model(kind), count=1)
    assert count
    sizes = [len(f"Tree={tree}".encode()) for tree in text.split("Tree=")[1:]]
    sizes[-1] -= len(text[text.index("end of trees") :].encode()) if sizes else 0
    if "tree_sizes" not in old:
        text = re.sub("tree_sizes=.*", f"tree_sizes={' '.join(map(str, sizes))}", text)
    return text.encode()


@pytest.mark.parametrize("name", DAMAGE)
def test_a_model_that_lightgbm_would_not_survive_is_refused(name: str, tmp_path: Path) -> None:
    kind, old, new, said = DAMAGE[name]
    content = damaged(kind, old, new)
    with pytest.raises(WrongModelError, match=said):
        check_model(content)
    (path := tmp_path / "m.txt").write_bytes(content)
    (features := tmp_path / "f.txt").write_text("1 qid:1 1:1 2:1 3:1\n")
    ran = run_inside("rank", path, features)
    assert ran.code == 2 and f"{path}: bad-model: not a model of LightGBM: " in ran.err


def test_bytes_that_are_no_text_are_no_model() -> None:
    with pytest.raises(WrongModelError, match="UTF-8"):
        check_model(model("plain").encode().replace(b"Column_0", b"\xff"))
