"""Many candidates are judged as one table, and each as if it were alone with the baseline."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcli import Options, ScoreMatrix, Significance, risk_table
from riskcli.analyses.blocks import risk_blocks
from riskcli.analyses.check import candidates, summary
from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.verdict import Gate
from riskcli.core.messages import Note
from riskcli.risk import paired
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES
from tests.helpers.strategies import Floats, named, score_values

RULES = (
    "mean >= baseline", "mean_p > 0.05", "losses20 <= 1", "max_loss <= 0.3", "loss(t1) <= 0",
    "urisk@5 > -0.1", "trisk@2 >= -2", "zrisk >= -3",
    "georisk_lo > 0", "zrisk_diff_hi > 0", "mean_dz > -1", "mean_flag != worse", "shortfall > -1",
)  # fmt: skip
TO_BASELINE = ("zrisk >= baseline", "georisk >= 0.98 * baseline")
"""A run of zeros, or with a score below 0, has nothing to hold them against."""
OF_OTHERS = ("rank_georisk <= 1", "rank_mean_hi <= 1", "urisk_lo@5 > -1", "urisk@0 >= 0")
"""What a table of all candidates would have otherwise."""


def gate(matrix: ScoreMatrix, policy: str, rules: Sequence[str]) -> Gate:
    return judge(
        matrix, "r0", policy, rules=rules, significance=Significance(correction="none"),
        margin={"mean": 0.02} if policy == "strict" else None,
    )  # fmt: skip


def told(found: Gate) -> list[str]:
    """All that verdicts say, to the last bit, but for what counts the candidates."""
    texts = (repr(replace(verdict, seen_from=None)) for verdict in found.verdicts)
    return [re.sub(r"no correction, \d+ tests?", "", text) for text in texts]


def same_as_alone(values: Floats, policy: str, rules: Sequence[str] = RULES) -> list[Note]:
    """Judge together and one by one; the notes."""
    matrix = named(values)
    together = gate(matrix, policy, rules)
    alone = [gate(matrix.of_runs([0, row]), policy, rules) for row in range(1, len(values))]
    assert told(together) == [text for each in alone for text in told(each)]
    before = risk_table(matrix, "r0").notes  # of the scores as such: copies name each other
    of_pairs = dict.fromkeys(note for each in alone for note in each.notes)
    assert {*of_pairs} - {*before} <= {*together.notes}
    assert {*together.notes} <= {*of_pairs, *before}
    return [note for note in together.notes if note in of_pairs]


@given(score_values(min_runs=3), st.sampled_from(["lenient", "standard", "strict"]), st.booleans())
@settings(max_examples=12, deadline=None)
def test_judged_together_as_alone(values: Floats, policy: str, negative: bool) -> None:
    if negative:
        values[len(values) // 2, 0] = -0.25
    defined = values.any(axis=1).all() and not negative
    same_as_alone(values, policy, (*RULES, *(TO_BASELINE if defined else ())))


def awkward(seed: int, runs: int, topics: int) -> Floats:
    """Runs that are equal, empty, constant, all but the baseline, above 0 on one topic."""
    generator = np.random.default_rng(seed)
    values = generator.beta(1, 2, (runs, topics)).round(2)
    values[1] = values[0]
    values[2], values[3], values[4] = 0.0, 0.5, 0.0
    values[4, 3] = 1.0
    values[5] = values[0]
    values[5, :3] = 1 - values[0, :3]
    values[6] = np.clip(values[0] - 0.125, 0, 1)
    values[7] *= 1e-30
    return values


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("policy", ["standard", "strict"])
def test_awkward_candidates_together_as_alone(seed: int, policy: str) -> None:
    codes = {note.code for note in same_as_alone(awkward(seed, 12, 30), policy)}
    assert {"few-differing-topics", "single-topic-run", "only-zeros", "one-heavy-topic"} <= codes


@pytest.mark.parametrize("rule", OF_OTHERS)
def test_rules_on_what_hangs_on_other_runs_are_kept_apart(rule: str) -> None:
    same_as_alone(awkward(5, 9, 26), "lenient", [rule])


def test_who_else_is_measured_does_not_make_a_difference_rounding() -> None:
    values = np.random.default_rng(2).beta(1, 2, (3, 30))
    values[:2] *= 1e-28
    options = Options(baselines=("r0",), population="baselines")
    of_two, of_three = (
        risk_table(named(values[:runs]), options=options).blocks[0].estimates["georisk"]
        for runs in (2, 3)
    )
    assert of_two.p is not None and of_three.p is not None
    assert of_two.p[1] == of_three.p[1] < 1


# ---------------------------------------------------------------- how much is done


def tables_of(runs: int, rules: Sequence[str] = ()) -> int:
    """How many risk tables are made for a matrix of so many runs, by one alpha."""
    values = np.random.default_rng(1).beta(1, 2, (runs, 12))
    with patch(f"{candidates.__name__}.risk_blocks", wraps=risk_blocks) as made:
        judge(named(values), "r0", "strict", rules=rules)
    return made.call_count


def test_more_candidates_take_no_more_tables() -> None:
    assert tables_of(2) == tables_of(3) == tables_of(100) == 1
    assert tables_of(402) == 3, "each of 200 candidates, or the one that is left"
    assert tables_of(9, OF_OTHERS[:1]) == 8, "a rank is that among two"


def test_the_loss_that_is_seen_is_sought_once_for_all_candidates() -> None:
    values = np.random.default_rng(1).beta(1, 2, (30, 12))
    paired._smallest_in_errors.cache_clear()
    seen = [verdict.seen_from for verdict in judge(named(values), "r0").verdicts]
    assert paired._smallest_in_errors.cache_info().misses == 1 < len({*seen})


def test_a_summary_is_made_only_where_a_job_shows_one() -> None:
    call = ("check", SAMPLES, "-b", "indriCASP", "-q", QRELS, "-m", "P@5", "-f", "csv", "--quiet")
    with patch.object(summary, "table", wraps=summary.table) as made:
        plain = riskeval(*call)
        assert made.call_count == 0
        job = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": os.devnull}
        assert riskeval(*call, variables=job).out == plain.out
        assert made.call_count == 1
