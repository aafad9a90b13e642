"""Runs scored by several threads at once."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import pytest
import pytrec_eval

from riskcli import Scorer, parse_measure, read_qrels, read_run
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
