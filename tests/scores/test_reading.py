"""Runs scored by several threads at once, and files that are passed over or refused."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
import pytrec_eval

from riskcli import InputError, Scorer, evaluate, parse_measure, read_qrels, read_run
from tests.helpers.program import QRELS, SAMPLES


def test_one_thread_at_a_time_is_in_pytrec_eval(monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps state between calls: where garbage collected meanwhile let a second thread in, the
    heap was spoilt. (Seen within a minute: two threads, a slow callback in `gc.callbacks`.)"""
    inside, true_one = Lock(), pytrec_eval.RelevanceEvaluator
    met = []

    class Watched:
        def __init__(self, *arguments: Any, **options: Any) -> None:
            self._evaluator = true_one(*arguments, **options)

        def evaluate(self, run: Any) -> Any:
            met.append(not inside.acquire(blocking=False))
            time.sleep(0.01)
            answer = self._evaluator.evaluate(run)
            if inside.locked():
                inside.release()
            return answer

    monkeypatch.setattr(pytrec_eval, "RelevanceEvaluator", Watched)
    run = read_run(SAMPLES / "indriCASP.run")
    scorer = Scorer(read_qrels(QRELS), [parse_measure("AP")])
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: scorer.score(run), range(8)))
    assert met == [False] * 8


def test_only_own_results_of_a_folder_are_passed_over(tmp_path: Path) -> None:
    """A file in a folder that is wrong stops; so does an own result that is named."""
    (tmp_path / "a.run").write_text("1 Q0 d 1 2.5 a\n")
    (tmp_path / "qrels").write_text("1 0 d 1\n")
    own = tmp_path / "own.tsv"
    own.write_text("run\tmeasure\tbaseline\talpha\turisk\na\tERR@20\tb\t1.0\t0.5\n")
    assert evaluate([tmp_path], qrels=tmp_path / "qrels").matrices[0].runs == ("a",)
    with pytest.raises(InputError, match="a result of riskeval, expected runs"):
        evaluate([tmp_path / "a.run", own], qrels=tmp_path / "qrels")
    (tmp_path / "b.run").write_text("1 Q0 d 1 x b\n")
    with pytest.raises(InputError, match="bad-score"):
        evaluate([tmp_path], qrels=tmp_path / "qrels")
