"""Differences by a model's judgements, what bias is in them, and what they are once corrected."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from riskcli.analyses.block import Block
from riskcli.analyses.verdicts import about, called
from riskcli.core.arrays import Flags, Floats
from riskcli.core.choices import is_virtual
from riskcli.core.messages import UsageError, listed
from riskcli.output import display
from riskcli.output.display import Cell, Column, Display, Heading, in_title
from riskcli.output.verdict import Statement, Statements
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import CORRECTION_TITLES, Significance, adjust, flags
from riskcli.risk.human import TestedMean, corrected_mean, mean_of
from riskcli.risk.measures import measures
from riskcli.scores.comparisons import POOL_EACH, Options, choose_baselines
from riskcli.scores.human import ASSUMED
from riskcli.scores.matrix import ScoreMatrix

_NAMED = 3
_COLUMNS = {"model_bias": "model_bias", "corrected": "corrected_diff"}
"""The columns of what is tested, by what the columns of its interval and mark begin with."""

MEAN = next(measure.id for measure in measures() if measure.plain_mean)
"""The measure that is corrected."""


class Differences(NamedTuple):
    """To the baseline, by run: by humans on their topics, the model's bias there, and corrected."""

    human: TestedMean
    model_bias: TestedMean
    corrected: TestedMean


def differences(
    matrix: ScoreMatrix, human: ScoreMatrix, comparison: Comparison, options: Options
) -> Differences:
    """By the model's scores in a matrix, and humans' on some of its topics."""
    name = comparison.baseline.name
    refused = {
        "several baselines in turn: leave out --pool each": options.pool == POOL_EACH,
        'tests of one family: leave out family = "all"': options.significance.family == "all",
        f"{name} of teams or a frozen population: name a run as the --baseline": (
            is_virtual(name) and comparison.members is not None
        ),
        "weighted topics: leave out the weights": comparison.weights is not None,
        "groups of topics: leave out the groups": bool(matrix.axes.groups),
    }
    for what in (what for what, wrong in refused.items() if wrong):
        raise UsageError(f"humans' judgements cannot correct differences with {what}")
    scores = human.values[[human.runs.index(run) for run in matrix.runs]]
    (baseline,) = choose_baselines(matrix.runs, scores, options.wanted, options.pool)
    judged = np.isin(matrix.topics, human.topics)
    by_humans = scores - baseline.scores
    by_model = comparison.scores - comparison.baseline.scores
    bias = mean_of(by_model[:, judged] - by_humans)
    return Differences(mean_of(by_humans), bias, corrected_mean(by_humans, by_model, judged))


def columns_of(
    matrix: ScoreMatrix, comparison: Comparison, options: Options
) -> dict[str, Floats | Flags]:
    """The columns that stand where humans judged some topics."""
    human = matrix.human
    if human is None:
        return {}
    found = differences(matrix, human, comparison, options)
    plan, off = options.significance, comparison.off_baseline
    topics = np.full(len(matrix.runs), float(len(human.topics)))
    columns = {"human_topics": topics, "human_diff": off(found.human.mean)}
    for name, column in _COLUMNS.items():
        tested: TestedMean = getattr(found, name)
        low, high = tested.interval(plan.gamma)
        own = {column: tested.mean, f"{name}_lo": low, f"{name}_hi": high, f"{name}_p": tested.p}
        columns |= {each: off(cells) for each, cells in own.items()}
        adjusted, _ = adjust(columns[f"{name}_p"], plan.correction)
        flag = flags(tested.mean, adjusted, plan.gamma)
        columns |= {f"{name}_p_adj": adjusted, f"{name}_flag": flag}
    return columns


# In words.


def in_words(matrix: ScoreMatrix) -> list[str]:
    """The line below a gate's table on what is corrected and what is not."""
    if matrix.human is None:
        return []
    topics = f"{len(matrix.human.topics)} of {len(matrix.topics)} topics"
    corrected = f"The test of the mean is corrected by humans on {topics} ({ASSUMED})"
    return [f"{corrected}; all else is by the model alone."]


def statements(block: Block, said: Statements) -> Statements:
    """What the model's bias is and what is assumed, the corrected differences; and what remains.

    What is said of the model's differences alone would contradict these.
    """
    if "corrected_diff" not in block.beside:
        return said
    whom = called(block.baseline, block.baseline_size)
    topics = f"{block.beside['human_topics'][0]:.0f} of {block.topics} topics"
    bias = _flagged(block, "model_bias", {"better": "favour", "worse": "slight"})
    bias = bias or "are not shown to favour or slight a run"
    sides = {side: f"{side} than {whom}:" for side in ("better", "worse")}
    corrected = _flagged(block, "corrected", sides) or f"no run is shown to differ from {whom}"
    texts = {
        "model_bias": f"By humans on {topics}, the model's judgements {bias} ({ASSUMED}).",
        "corrected": f"Corrected by humans, {corrected}. All other marks are the model's alone.",
    }
    runs = np.array(block.runs, dtype=object)
    own = [
        Statement(name, text, about(block), tuple(runs[block.beside[f"{name}_flag"] != ""]))
        for name, text in texts.items()
    ]
    return Statements((*own, *(each for each in said if each.rule in ("weighs", "unjudged"))))


def _flagged(block: Block, name: str, words: Mapping[str, str]) -> str:
    """The runs with each mark after its word, the largest difference first."""
    means, marks = block.beside[_COLUMNS[name]].astype(float), block.beside[f"{name}_flag"]
    order = np.argsort(-np.abs(means), kind="stable").tolist()
    runs = {
        mark: [f"{block.runs[row]} ({means[row]:+.4f})" for row in order if marks[row] == mark]
        for mark in words
    }
    return "; ".join(f"{words[mark]} {listed(who, _NAMED)}" for mark, who in runs.items() if who)


def tables(blocks: Sequence[Block], plan: Significance) -> list[Display]:
    """The model's bias and the corrected differences, a table a measure and baseline."""
    return [_table(each, plan) for each in blocks if each.said and "corrected_diff" in each.beside]


def _table(block: Block, plan: Significance) -> Display:
    topics = f"{block.beside['human_topics'][0]:.0f} of {block.topics} topics"
    ends = (display.decimals(block.numbers(f"corrected_{end}"), 4) for end in ("lo", "hi"))
    none = display.UNDEFINED
    spans = [none if none in each else f"[{', '.join(each)}]" for each in zip(*ends, strict=True)]
    how = f"γ = {plan.gamma:g} (t, {CORRECTION_TITLES[plan.correction]})"
    return Display(
        f"Corrected by humans on {topics}: {block.measure}, baseline {in_title(block.baseline)}",
        [
            Column.of(Heading("run", left=True, names=True), block.runs),
            _marked(block, "model's bias", "model_bias"),
            Column.of("model alone", display.decimals(block.numbers("mean_diff"), 4)),
            _marked(block, "corrected", "corrected"),
            Column.of("interval", spans),
            Column.of("p", map(display.p_value, block.numbers("corrected_p_adj"))),
        ],
        [
            "Differences to the baseline. Bias: by the model less by humans, on the topics that "
            f"these judged. ▲ favoured, or better, ▼ slighted, or worse, at {how}; {ASSUMED}."
        ],
        verdict=block.said.sentences,
    )


def _marked(block: Block, title: str, name: str) -> Column:
    """A difference with its mark."""
    texts = display.decimals(block.numbers(_COLUMNS[name]), 4)
    marks = block.beside[f"{name}_flag"].tolist()
    cells = [Cell(text, mark=mark) for text, mark in zip(texts, marks, strict=True)]
    return Column(Heading(title, marked=True), cells)
