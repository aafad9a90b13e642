"""Runs scored by several threads, while garbage is collected and others get their turn."""

from __future__ import annotations

import gc
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from riskcli import Scorer, parse_measure, read_qrels, read_run
from tests.program import QRELS, SAMPLES


def test_threads_do_not_meet_within_pytrec_eval() -> None:
    """It keeps state between calls: where two threads met in it, the heap was spoilt."""
    runs = [read_run(path) for path in sorted(SAMPLES.glob("*.run"))[:3]] * 8
    scorer = Scorer(read_qrels(QRELS), [parse_measure(name) for name in ("AP", "nDCG@20")])
    expected = {run.path: scorer.score(run)[1] for run in runs}
    before, interval = gc.get_threshold(), sys.getswitchinterval()
    wait = lambda phase, about: time.sleep(0.0001)  # noqa: E731
    gc.callbacks.append(wait)
    gc.set_threshold(100)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda run: (run.path, scorer.score(run)[1]), runs))
    finally:
        gc.callbacks.remove(wait)
        gc.set_threshold(*before)
        sys.setswitchinterval(interval)
    for path, scores in found:
        for measure, values in scores.items():
            assert values.tolist() == expected[path][measure].tolist()
