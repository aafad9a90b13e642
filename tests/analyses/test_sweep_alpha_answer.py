"""What a sweep over alpha says first: leaders, courses and sentences against brute force."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from riskcli import Options, Sweep, alpha_sweep
from riskcli.analyses.sweep_alpha_display import answer
from riskcli.analyses.sweep_events import Swept
from riskcli.output.display import fitting
from riskcli.risk.paired import two_sided_p
from riskcli.scores.comparisons import comparisons
from tests.helpers.inprocess import riskeval
from tests.helpers.program import SAMPLES
from tests.helpers.strategies import Floats, named, score_values

SHARED = ("sweep", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "--quiet", "-f", "table")


def at(steps: tuple[tuple[float, object], ...], alpha: float) -> object:
    """What holds at that alpha."""
    return next(what for start, what in reversed(steps) if start <= alpha)


def far_from_swaps(swept: Swept, alpha: float) -> bool:
    return all(abs(event.alpha - alpha) > 1e-6 * (1 + alpha) for event in swept.events)


@settings(max_examples=40, deadline=None)
@given(score_values(min_runs=3, max_runs=6, min_topics=4))
def test_leaders_and_courses_are_those_of_each_alpha(values: Floats) -> None:
    values = np.vstack([values, values[1]])  # and a copy
    matrix = named(values)
    (swept,) = alpha_sweep(matrix, "r0", alpha=(0.0, 8.0)).parts
    (comparison,) = comparisons(matrix, Options(baselines=("r0",)))
    for alpha in np.linspace(0.3, 7.9, 9).tolist():
        if not far_from_swaps(swept, alpha):
            continue
        for lead in swept.leads:
            shown = lead.measure.of(comparison, alpha)
            assert shown is not None
            runs = at(lead.stretches, alpha)
            assert isinstance(runs, tuple)
            assert shown[list(runs)] == pytest.approx(np.nanmax(shown), rel=1e-9, abs=1e-9)
        for course in swept.courses:
            value = float(course.measure.values(comparison, alpha)[course.run])
            if course.measure.value_is_t:
                p = float(two_sided_p(np.array([value]), comparison.topics - 1)[0])
                if abs(p - 0.05) > 1e-6:
                    sign = "better" if value > 0 else "worse"
                    assert at(course.states, alpha) == ("" if p >= 0.05 else sign)
            elif abs(value) > 1e-9:
                assert at(course.states, alpha) == ("positive" if value > 0 else "negative")


def test_runs_that_meet_in_one_point_pass_the_lead_once() -> None:
    """Three lines through one point: the lead passes from the flattest order to the steepest."""
    base = np.full(4, 0.5)
    gains = np.array([0.3, 0.2, 0.1])  # URisk = gain/4 - (1 + a) loss/4: all equal where a = 1
    losses = np.array([0.12, 0.07, 0.02])
    rows = [[0.5 + g, 0.5 - loss, 0.5, 0.5] for g, loss in zip(gains, losses, strict=True)]
    swept = alpha_sweep(named(np.array([base, *rows])), "r0", of="urisk", alpha=(0.0, 5.0)).parts[0]
    (lead,) = swept.leads
    assert [runs for _, runs in lead.stretches] == [(1,), (3,)]
    assert lead.stretches[1][0] == pytest.approx(1.0) and lead.swaps == 3


def verdict_of(rows: list[list[float]], of: str | None = None) -> Sweep:
    """The sweep of these runs over alpha 0 to 20, the first of them the baseline."""
    return alpha_sweep(named(np.array(rows)), "r0", of=of)


BASE = [0.5, 0.5, 0.5, 0.5]
SAFE, BOLD, BAD = [0.6, 0.6, 0.6, 0.6], [0.9, 0.9, 0.9, 0.4], [0.6, 0.3, 0.3, 0.3]


def test_a_lead_that_stays_is_said_with_its_range() -> None:
    said = verdict_of([BASE, SAFE, BAD], "urisk").verdict
    (stays,) = said.by("lead-stays")
    assert stays.runs == ("r1",) and not said.by("lead-passes")
    assert stays.text == "r1 leads by URisk at any weight of losses (alpha 0 to 20)."
    assert not verdict_of([BASE, SAFE, BOLD], "urisk").verdict.by("lead-stays")


def test_nobody_leads_alone_or_among_equals() -> None:
    alone = verdict_of([BASE, SAFE], "urisk")
    assert not alone.parts[0].leads and [each.rule for each in alone.verdict] == ["break-even"]
    assert not verdict_of([BASE, SAFE, SAFE], "urisk").parts[0].leads
    equal = verdict_of([BASE, SAFE, SAFE, BAD], "urisk").verdict.by("lead-stays")
    assert equal[0].text.startswith("r1 = r2 lead by URisk") and equal[0].runs == ("r1", "r2")


def test_a_lead_that_passes_is_said_with_its_alpha() -> None:
    said = verdict_of([BASE, SAFE, BOLD], "urisk").verdict
    (passes,) = said.by("lead-passes")
    assert passes.text == "By URisk the lead passes from r2 to r1 at alpha 7.00."
    assert passes.runs == ("r2", "r1") and passes.numbers["changes"] == 1
    assert passes.numbers["last_alpha"] == pytest.approx(7.0)
    options = Options(alphas=(0.0, 20.0), convention="minus")
    minus = alpha_sweep(named(np.array([BASE, SAFE, BOLD])), "r0", of="urisk", options=options)
    assert "at alpha-hat 8.00" in minus.verdict.by("lead-passes")[0].text


def test_many_changes_of_the_lead_are_counted() -> None:
    """Each run gains less and loses less than the one before."""
    changes = [(0.4, 0.2), (0.28, 0.1), (0.22, 0.07), (0.17, 0.055)]
    rows = [[0.5 + gain, 0.5 - loss] for gain, loss in changes]
    sweep = alpha_sweep(named(np.array([[0.5, 0.5], *rows])), "r0", of="urisk")
    (passes,) = sweep.verdict.by("lead-passes")
    assert "the lead passes 3 times, from r1 at last to r4 at alpha 2.33" in passes.text
    assert passes.runs == ("r1", "r2", "r3", "r4")
    assert passes.numbers["first_alpha"] == pytest.approx(0.2)
    twice = alpha_sweep(named(np.array([[0.5, 0.5], *rows[:3]])), "r0", of="urisk").verdict
    (passes,) = twice.by("lead-passes")
    assert passes.text.endswith("from r1 to r2 at alpha 0.20 and to r3 at 1.00.")
    assert passes.numbers["last_alpha"] == pytest.approx(1.0)


def test_whose_gains_outweigh_its_losses_is_said() -> None:
    for rows, runs, words in (
        ([BASE, SAFE, BAD], ("r1",), "Gains outweigh losses throughout (alpha 0 to 20) in r1."),
        ([BASE, BOLD, BAD], ("r1",), "In no run do gains outweigh losses throughout;"),
        ([BASE, BAD], (), "In no run do gains outweigh losses (alpha 0 to 20)."),
    ):
        (said,) = verdict_of(rows).verdict.by("break-even")
        assert said.runs == runs and said.text.startswith(words)
    (bold,) = verdict_of([BASE, BOLD, BAD]).verdict.by("break-even")
    assert bold.text.endswith("longest in r1, to alpha 11.00.")
    assert bold.numbers["alpha"] == pytest.approx(11.0)


def test_sentences_have_no_greek_letter_and_name_no_test() -> None:
    said = str(verdict_of([BASE, SAFE, BOLD, BAD]).verdict)
    assert said and not set(said) & set("αβγδτ") and "signific" not in said


def test_a_long_chain_says_how_much_is_left_out() -> None:
    """Twenty runs, each overtaken by the next."""
    loss = np.linspace(0.01, 0.05, 20)
    gain = 0.1 + np.cumsum(np.linspace(19, 1.2, 20)) * (loss[1] - loss[0])
    rows = [[0.3 + g, 0.5 - x] for g, x in zip(gain.tolist(), loss.tolist(), strict=True)]
    sweep = alpha_sweep(named(np.array([[0.3, 0.5], *rows])), "r0", of="urisk")
    (swept,) = sweep.parts
    assert len(swept.leads[0].stretches) > 9
    chain = answer(swept, 0.05).rows[0][2].text
    left_out = int(chain.partition("(")[2].partition(" more)")[0])
    assert chain.count("→") - 1 + left_out == len(swept.leads[0].stretches) - 1
    assert len(chain) <= 96 and chain.endswith(" swaps)")


def test_a_list_says_how_many_it_leaves_out() -> None:
    assert fitting(["ab", "cd", "ef"], 10) == "ab, cd, ef"
    assert fitting(["ab", "cd", "efg"], 10) == "ab and 2 more"
    assert fitting(["abcdefghijkl", "b"], 3) == "abcdefghijkl and 1 more"
    assert fitting([], 3) == ""


def test_the_answer_comes_first_and_full_has_the_rest() -> None:
    short, full = riskeval(*SHARED).out, riskeval(*SHARED, "--full").out
    verdict = "By GeoRisk the lead passes from boldRerank to neuralMix at alpha 1.69.\n"
    assert short.startswith(verdict) and full.startswith(short.rstrip("\n"))
    assert "boldRerank → neuralMix at 1.69 (11 swaps)" in short
    assert "overtakes" not in short and "URisk by α" not in short
    assert full.count("overtakes") == 34 and "more: --top shows them" not in full
    assert "URisk by α" in full
    assert "overtakes" in riskeval(*SHARED, "--top", "3").out
    pair = riskeval(*SHARED, "--between", "neuralMix", "boldRerank").out
    assert "neuralMix overtakes boldRerank" in pair and "leads  " not in pair
    # caspPlus overtakes both: they lead nobody but each other.
    assert pair.startswith("Of these 2 runs neuralMix leads by TRisk at any weight of losses")
    assert "Of these 2 runs by GeoRisk the lead passes from boldRerank to neuralMix" in pair


def test_the_screen_does_not_narrow_what_programs_read(tmp_path: Path) -> None:
    kept = tmp_path / "sweep.csv"
    call = ("sweep", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "--quiet", "-o", kept)
    texts = []
    for more in ((), ("--full",)):
        assert riskeval(*call, *more).code == 0
        texts.append(kept.read_text())
    assert texts[0] == texts[1] and len(list(csv.reader(texts[0].splitlines()))) == 1 + 9 * 21
