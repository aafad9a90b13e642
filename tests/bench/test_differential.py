"""Some odd but valid files: all common measures, by the package and by two plain programs."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from riskcli import Rules, evaluate
from tests.bench import differential
from tests.helpers import reference


@pytest.mark.slow
def test_odd_files_are_scored_as_by_definition() -> None:
    assert not differential.compare(seed=20_261, start=0, count=20)


@pytest.mark.parametrize("value", [*differential.BASES, 0.1, 16777217.0, -1e22])
def test_every_notation_stands_for_its_number(value: float) -> None:
    rng = random.Random(1)
    notations = {differential.spelled(rng, value) for _ in range(100)}
    assert len(notations) > 3
    assert {float(text) for text in notations} == {value}


@pytest.mark.parametrize(
    "line", ["run\tQ0 b 9\f2 one", "run\tQ0\tb\t9\t2\tone \t", "run\tQ0 b -1 2 one"]
)
def test_a_run_of_a_topic_named_run_is_no_table(tmp_path: Path, line: str) -> None:
    (tmp_path / "one").write_text(f"{line}\nrun Q0 c 2 1 one\n", newline="")
    (tmp_path / "qrels").write_text("run 0 c 1\n")
    matrix = evaluate([tmp_path / "one"], qrels=tmp_path / "qrels", rules=Rules(("AP",)))["AP"]
    assert matrix.values.tolist() == [[0.5]]


@pytest.mark.slow
def test_a_wrong_measure_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def by_rank_number(docs: dict[str, float], precision: str) -> list[str]:
        return sorted(docs)

    monkeypatch.setattr(reference, "rank", by_rank_number)
    assert differential.differences("7-1", tmp_path)
