"""Judgements and runs by their names in ir_datasets: a data set of our own, made on the disk."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from riskcli import InputError, Rules, evaluate, read_qrels
from tests.conftest import Write
from tests.helpers.inprocess import run_inside
from tests.helpers.program import QRELS, SAMPLES

AP = ("-m", "AP", "-f", "csv", "--quiet")
RUN = SAMPLES / "indriCASP.run"


@pytest.fixture
def data_set() -> Iterator[str]:
    """The sample's judgements and a run under a name in ir_datasets."""
    ir_datasets = pytest.importorskip("ir_datasets", reason="needs the extra datasets")
    from ir_datasets.formats import TrecQrels, TrecScoredDocs
    from ir_datasets.util import PackageDataFile

    class OnDisk(PackageDataFile):  # type: ignore[misc,unused-ignore]
        def __init__(self, path: Path) -> None:
            self._on_disk = path

        def path(self, force: bool = True) -> str:
            return str(self._on_disk)

        def stream(self) -> object:
            return self._on_disk.open("rb")

    name = "riskeval-test/samples"
    ir_datasets.registry.register(
        name,
        ir_datasets.Dataset(
            TrecQrels(OnDisk(QRELS), {0: "not relevant", 1: "relevant"}),
            TrecScoredDocs(OnDisk(RUN)),
        ),
    )
    yield name
    del ir_datasets.registry._registered[name]


def test_judgements_by_name(data_set: str) -> None:
    assert read_qrels(f"irds:{data_set}").judgements == read_qrels(QRELS).judgements
    ran = run_inside("matrix", RUN, "-q", f"irds:{data_set}", *AP)
    assert ran.out == run_inside("matrix", RUN, "-q", QRELS, *AP).out
    told = run_inside("matrix", RUN, "-q", f"irds:{data_set}", "-m", "AP", "-f", "csv").err
    assert f"grades of irds:{data_set}: 0: not relevant; 1: relevant" in told
    assert run_inside("validate", RUN, "-q", f"irds:{data_set}").code == 0


def test_scored_documents_are_a_run(data_set: str) -> None:
    (expected,) = evaluate(RUN, qrels=QRELS, rules=Rules("nDCG@20")).matrices
    (matrix,) = evaluate(f"irds:{data_set}", qrels=QRELS, rules=Rules("nDCG@20")).matrices
    assert matrix.values.tolist() == expected.values.tolist()
    assert matrix.runs == ("samples",)


def test_an_unknown_name_is_one_line() -> None:
    pytest.importorskip("ir_datasets", reason="needs the extra datasets")
    ran = run_inside("matrix", RUN, "-q", "irds:no-such-thing", *AP)
    assert (ran.code, ran.err) == (
        2,
        "riskeval: irds:no-such-thing: not-found: ir_datasets knows no data set 'no-such-thing'\n",
    )


def test_without_the_extra_a_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(InputError, match="needs the extra `datasets`"):
        read_qrels("irds:vaswani")


def test_a_file_of_that_name_can_still_be_read(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("irds:x", "1 0 a 1\n")
    monkeypatch.chdir(write("y", "").parent)
    assert read_qrels("./irds:x").judgements == {"1": {"a": 1}}
