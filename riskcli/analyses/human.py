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
MEAN = next(measure.id for measure in measures() if measure.plain_mean)
"""The measure that is corrected."""


class Differences(NamedTuple):
    """To the baseline, by run: by humans on their topics, the model's bias there, and corrected."""

    human: TestedMean
    bias: TestedMean
    corrected: TestedMean


def differences(
    matrix: ScoreMatrix, comparison: Comparison, options: Options
) -> Differences | None:
    """None where no humans judged."""
    given = matrix.axes.human
    if given is None:
        return None
    human = given.of_runs(matrix.runs)
    _refuse_what_is_not_corrected(matrix, comparison, options)
    baselines = choose_baselines(human.runs, human.values, options.wanted, options.pool)
    judged = np.isin(np.array(matrix.topics, dtype=object), np.array(human.topics, dtype=object))
    by_humans = human.values - baselines[0].scores
    by_model = comparison.scores - comparison.baseline.scores
    bias = mean_of(by_model[:, judged] - by_humans)
    return Differences(mean_of(by_humans), bias, corrected_mean(by_humans, by_model, judged))


def _refuse_what_is_not_corrected(
    matrix: ScoreMatrix, comparison: Comparison, options: Options
) -> None:
    virtual = is_virtual(comparison.baseline.name) and comparison.members is not None
    name = comparison.baseline.name
    refused = {
        "several baselines in turn: leave out --pool each": options.pool == POOL_EACH,
        'tests of one family: leave out family = "all"': options.significance.family == "all",
        f"{name} of teams or a frozen population: name a run as the --baseline": virtual,
        "weighted topics: leave out the weights": comparison.weights is not None,
        "groups of topics: leave out the groups": bool(matrix.axes.groups),
    }
    for what, wrong in refused.items():
        if wrong:
            raise UsageError(f"humans' judgements cannot correct differences with {what}")


def columns_of(
    matrix: ScoreMatrix, comparison: Comparison, options: Options
) -> dict[str, Floats | Flags]:
    """The columns that stand where humans judged some topics."""
    found = differences(matrix, comparison, options)
    if found is None or matrix.axes.human is None:
        return {}
    gamma, off = options.significance.gamma, comparison.off_baseline
    topics = np.full(len(matrix.runs), float(len(matrix.axes.human.topics)))
    columns: dict[str, Floats | Flags] = {"human_topics": topics}
    columns["human_diff"] = off(found.human.mean)
    for name, tested in (("model_bias", found.bias), ("corrected", found.corrected)):
        numbers = (tested.mean, *tested.interval(gamma), tested.p)
        own = zip((*_columns(name), f"{name}_p"), map(off, numbers), strict=True)
        columns |= dict(own)
        adjusted = adjust(off(tested.p), options.significance.correction)[0]
        columns |= {f"{name}_p_adj": adjusted, f"{name}_flag": flags(tested.mean, adjusted, gamma)}
    return columns


# In words.


def in_words(matrix: ScoreMatrix) -> list[str]:
    """The line below a gate's table on what is corrected and what is not."""
    human = matrix.axes.human
    number = "" if human is None else f"{len(human.topics)} of {len(matrix.topics)} topics"
    text = f"The test of the mean is corrected by humans on {number} ({ASSUMED}); all else is "
    return [f"{text}by the model alone."] if number else []


def statements(block: Block, said: Statements) -> Statements:
    """The corrected differences, what the model's bias is and what is assumed; and what remains.

    What is said of the model's differences alone would contradict these.
    """
    if "corrected_diff" not in block.beside:
        return said
    whom, alone = called(block.baseline, block.baseline_size), block.numbers("mean_diff")
    topics = f"{block.beside['human_topics'][0]:.0f} of {block.topics} topics"
    model = [f"; the model alone says {each or 0:+.4f}" for each in alone]
    words = {"better": f"better than {whom}: ", "worse": f"worse than {whom}: "}
    corrected = (
        _flagged(block, "corrected", words, model) or f"no run is shown to differ from {whom}"
    )
    words = {"better": "they favour ", "worse": "they slight "}
    bias = _flagged(block, "model_bias", words) or "that they favour or slight a run is not shown"
    texts = {
        "corrected": f"Corrected by humans on {topics}, {corrected}.",
        "model_bias": f"The model's judgements: {bias} ({ASSUMED}).",
    }
    own = []
    for name, text in texts.items():
        marks = zip(block.runs, block.beside[f"{name}_flag"], strict=True)
        runs = tuple(run for run, mark in marks if mark)
        own.append(Statement(name, text, about(block), runs))
    return Statements((*own, *(each for each in said if each.rule in ("weighs", "unjudged"))))


def _flagged(
    block: Block, name: str, words: Mapping[str, str], more: Sequence[str] | None = None
) -> str:
    """The runs with each mark, the largest difference first, with the difference's interval."""
    means, low, high = (block.beside[each] for each in _columns(name))
    order = np.argsort(np.nan_to_num(-np.abs(np.asarray(means, dtype=float)))).tolist()
    parts, after = [], more or [""] * len(order)
    for flag, what in words.items():
        named = [
            f"{block.runs[i]} ({means[i]:+.4f} [{low[i]:.4f}, {high[i]:.4f}]{after[i]})"
            for i in order
            if block.beside[f"{name}_flag"][i] == flag
        ]
        parts += [what + listed(named, _NAMED)] if named else []
    return "; ".join(parts)


def _columns(name: str) -> tuple[str, str, str]:
    """Those of a difference and the ends of its interval."""
    return f"{name}_diff" if name == "corrected" else name, f"{name}_lo", f"{name}_hi"


def tables(blocks: Sequence[Block], plan: Significance) -> list[Display]:
    """The model's bias, then the corrected differences, of each measure and baseline."""
    shown = [block for block in blocks if block.said and "corrected_diff" in block.beside]
    return [each for block in shown for each in _tables(block, plan)]


def _tables(block: Block, plan: Significance) -> tuple[Display, Display]:
    number = f"{block.beside['human_topics'][0]:.0f}"
    of_what = f"{block.measure}, baseline {in_title(block.baseline)}"
    by_model = np.asarray(block.beside["human_diff"]) + np.asarray(block.beside["model_bias"])
    p = Column.of("p", [display.p_value(p) for p in block.numbers("corrected_p_adj")])
    human = {"by the model": by_model.tolist(), "by humans": block.numbers("human_diff")}
    alone = {"model alone": block.numbers("mean_diff")}
    bias = Display(
        f"What the model's judgements do to each run, on the {number} topics that humans judged: "
        f"{of_what}",
        _shown(block, human, "bias", "model_bias"),
        ["Differences to the baseline; ▲ the model favours the run, ▼ it slights it."],
        verdict=block.said.sentences,
    )
    how = f"γ = {plan.gamma:g} (t, {CORRECTION_TITLES[plan.correction]}); {ASSUMED}."
    corrected = Display(
        f"Corrected by humans on {number} of {block.topics} topics: {of_what}",
        [*_shown(block, alone, "corrected", "corrected"), p],
        [f"▲ better, ▼ worse at {how}"],
    )
    return bias, corrected


def _shown(
    block: Block, before: Mapping[str, Sequence[float | None]], title: str, name: str
) -> list[Column]:
    """The runs, some differences, and one with its mark and interval."""
    means, *ends = (display.decimals(block.numbers(each), 4) for each in _columns(name))
    marks = block.beside[f"{name}_flag"].tolist()
    cells = [Cell(text, mark=mark) for text, mark in zip(means, marks, strict=True)]
    none = display.UNDEFINED
    spans = [none if none in each else f"[{', '.join(each)}]" for each in zip(*ends, strict=True)]
    return [
        Column.of(Heading("run", left=True, names=True), [*block.runs]),
        *(Column.of(heading, display.decimals(each, 4)) for heading, each in before.items()),
        Column(Heading(title, marked=True), cells),
        Column.of("interval", spans),
    ]
