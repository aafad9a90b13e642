"""LightGBM's parameters by any of their names, and nothing that would be passed over in silence."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from riskcli import UsageError
from riskcli.learn.experiment import interruptible
from riskcli.learn.training import FIXED, Settings, read_params, tree_params

lightgbm = pytest.importorskip("lightgbm", reason="needs the extra learn: LightGBM is absent")


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("min_child_samples", "min_data_in_leaf"),
        ("shrinkage_rate", "learning_rate"),
        ("sub_row", "bagging_fraction"),
        ("max_leaf", "num_leaves"),
        ("nthread", "num_threads"),
    ],
)
def test_any_name_of_a_parameter_wins_over_the_default(name: str, first: str) -> None:
    """LightGBM prefers its first name for a parameter, were both given."""
    told = tree_params(read_params([f"{name}=0.25"]), seed=7)
    assert told[first] == "0.25" and name not in told
    assert told["seed"] == 7 and {**told, **FIXED} == told


def test_goss_does_without_bagging() -> None:
    for pair in ("boosting=goss", "data_sample_strategy=goss"):
        told = tree_params(read_params([pair]), seed=1)
        assert not any(name.startswith("bagging") for name in told)
    assert tree_params({}, seed=1)["bagging_by_query"] is True


def test_the_command_line_wins_over_a_file_by_any_name(tmp_path: Path) -> None:
    (tmp_path / "my.conf").write_text("num_leaves = 9\n# num_leaves = 8\ntr = se\n")
    found = read_params(["max_leaf=3", f"@{tmp_path / 'my.conf'}"])
    assert found == {"num_leaves": "3", "tr": "se"}


def test_what_the_objectives_take_is_a_parameter_too() -> None:
    """The number of ranks goes by LightGBM's name for it."""
    assert read_params(
        ["tr=plain", "spread=first", "marginals=exact", "discount=cut",
         "lambdarank_truncation_level=30"],
    ) == {"tr": "plain", "spread": "first", "marginals": "exact", "discount": "cut",
          "lambdarank_truncation_level": 30}  # fmt: skip


REFUSED = [
    ("num_leafs=5", "LightGBM has no parameter 'num_leafs'; did you mean num_leaf or num_leaves"),
    ("zzzzzz=5", "LightGBM has no parameter 'zzzzzz'"),
    ("num_round=5", "num_round (num_iterations) cannot be set: use --trees"),
    ("random_state=5", "random_state (seed) cannot be set: use --seed"),
    ("app=binary", "app (objective) cannot be set: use --objective"),
    ("early_stopping=5", "(early_stopping_round) cannot be set: use --patience"),
    ("metric_types=ndcg", "metric_types (metric) cannot be set: use --stop"),
    ("verbose=2", "verbose (verbosity) cannot be set: it is always -1"),
    ("lambdarank_norm=true", "lambdarank_norm has no effect"),
    ("lambdarank_truncation_level=0", "expected a whole number of at least 1"),
    ("tr=t", "tr is 't', expected one of weighted, plain, se"),
    ("discount=half", "discount is 'half', expected one of full, cut"),
    ("num_class=3", "num_class has no effect"),
    ("alpha=5", "alpha has no effect"),
    ("tree=data", "tree (tree_learner) has no effect"),
    ("model_input=x", "model_input (input_model) has no effect"),
    ("min_child_weight=0", "min_child_weight is 0, expected more than 0"),
    ("min_sum_hessian=-1e-9", "min_sum_hessian is -1e-9, expected more than 0"),
    ("boost=dart", "boost is dart, expected gbdt or gbrt or goss"),
]


@pytest.mark.parametrize(("pair", "message"), REFUSED, ids=[pair for pair, _ in REFUSED])
def test_what_does_nothing_or_harm_is_refused(pair: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_params([pair])
    assert str(caught.value).startswith("--param: ") and message in str(caught.value)
    (tmp_path / "my.conf").write_text(f"num_leaves=4\n{pair}\n")
    with pytest.raises(UsageError) as caught:
        read_params([f"@{tmp_path / 'my.conf'}"])
    assert "my.conf:2: " in str(caught.value) and message in str(caught.value)
    name, value = pair.split("=")
    with pytest.raises(UsageError):
        Settings(params={name: value})


def test_all_that_is_refused_is_known_to_lightgbm() -> None:
    """Or a word in the list would refuse nothing."""
    from riskcli.learn import training as parameters

    known = set(lightgbm.basic._ConfigAliases._get_all_param_aliases())
    listed: set[Any] = {*parameters._WITHOUT_EFFECT, *parameters._OPTIONS, *FIXED}
    assert listed <= known
    assert {*parameters.DEFAULTS, *parameters._BAGGING} <= known - listed


def test_until_there_is_a_tree_ctrl_c_ends_all() -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_afterwards_the_first_is_noted_and_a_second_ends_all() -> None:
    with pytest.raises(KeyboardInterrupt), interruptible() as interrupts:
        interrupts.keeping = True
        signal.raise_signal(signal.SIGINT)
        assert interrupts.pressed
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
