"""Each run in turn as the baseline: how far the verdict depends on that choice."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riskcli.analyses import base
from riskcli.analyses import baseline_bias as bias
from riskcli.core.arrays import Floats
from riskcli.core.choices import BiasPart, check_words
from riskcli.core.limits import MOST_LISTED_PAIRS, refuse_many_pairs
from riskcli.core.messages import Note, UsageError, counted
from riskcli.effectiveness.measures import is_logarithm
from riskcli.output.display import (
    Cell,
    Display,
    Heading,
    decimal,
    decimals,
    fitting,
    folded,
    p_value,
    shortened,
    span,
)
from riskcli.output.measure_words import about_logarithms
from riskcli.output.result import Result, Value, part_of, rows_of, tidy
from riskcli.output.verdict import Statement, Statements
from riskcli.risk.estimate import DEFAULT_SEED, rank
from riskcli.scores.comparisons import Options
from riskcli.scores.matrix import ScoreMatrix


@dataclass(frozen=True)
class MatrixBias:
    """One score matrix: URisk under every baseline, and what it shows."""

    measure: str
    alpha: float
    topics: int
    runs: tuple[str, ...]
    means: Floats
    figures: bias.Baselines
    ranks: Floats
    """Of URisk, by run and baseline; NaN for the baseline itself."""
    components: bias.Components

    @property
    def baselines(self) -> tuple[str, ...]:
        """The runs, then the virtual ones."""
        return (*self.runs, *bias.VIRTUAL_BASELINES)

    @property
    def order(self) -> list[int]:
        """The rows of the runs, from the best mean to the worst."""
        rows: list[int] = np.argsort(-self.means, kind="stable").tolist()
        return rows

    @property
    def baseline_order(self) -> list[int]:
        """The same, and the virtual ones last."""
        return [*self.order, *range(len(self.runs), len(self.baselines))]


COLUMNS: Mapping[str, tuple[str, ...]] = {
    "urisk": (
        "run", "measure", "baseline", "alpha", "topics", "mean", "urisk", "rank_mean",
        "rank_urisk", "similarity",
    ),
    "baselines": (
        "baseline", "measure", "alpha", "mean", "runs", "tau_b", "bias", "bias_partial",
        "bias_equal", "bias_p", "bias_partial_equal", "bias_partial_p",
    ),
    "components": ("name", "measure", "kind", "component", "explained", "coordinate"),
    "friedman": ("measure", "alpha", "runs", "baselines", "chi2", "df", "p", "w", "w_equal", "w_p"),
}  # fmt: skip
MOST_ROWS = 17
"""Runs that a table shows unasked."""
_BAR = 20
"""Characters that a scale of ranks takes at most."""
_LEVEL = 0.05
"""Below it, more agreement of the baselines than that of equal runs is said to be there."""


@dataclass(frozen=True, repr=False)
class Bias(base.Analysis):
    """The matrices of a call, and what they rest on."""

    parts: tuple[MatrixBias, ...]
    part: BiasPart | None = None
    """What is shown: a table for people shows the answer where none is named."""

    def only(self, part: BiasPart | None) -> "Bias":
        """Only that part."""
        if part is not None:
            check_words(part=(part, BiasPart))
        return replace(self, part=part)

    @property
    def verdict(self) -> Statements:
        """Whether one run is first whatever the baseline, and whether the baselines agree."""
        return Statements(tuple(each for one in self.parts for each in _statements(one)))

    def displays(self, width: int, /) -> Sequence[Display]:
        """The answer and all parts, or the one that is asked for."""
        return self._shown(width, full=True)

    def screen(self, width: int, /) -> Sequence[Display]:
        """The answer alone, or the part that is asked for."""
        return self._shown(width, full=False)

    def _shown(self, width: int, full: bool) -> list[Display]:
        full = full and self.part is None
        return self._answering(
            (one.measure, [*self._tables(one, width, full)]) for one in self.parts
        )

    def _tables(self, one: MatrixBias, width: int, full: bool) -> Iterator[Display]:
        if self.part is None:
            yield _answer(one, len(one.runs) if full else MOST_ROWS)
        draws: Mapping[BiasPart, Callable[[MatrixBias], Display]] = {
            "urisk": _matrix, "friedman": _friedman, "baselines": _baselines,
            "components": _components,
        }  # fmt: skip
        for part, draw in draws.items():
            if full or self.part == part:
                yield from folded(draw(one), width, fixed=2) if draw is _matrix else [draw(one)]

    def result(self) -> Result:
        """The rows of one part (of all: of urisk); JSON has the others beside them."""
        makers: Mapping[str, Callable[[MatrixBias], Iterator[list[Any]]]] = {
            "baselines": _baseline_rows, "components": _component_rows, "friedman": _friedman_rows,
        }  # fmt: skip
        size = sum(one.figures.urisk.size for one in self.parts)
        urisk = rows_of(size, lambda: (row for one in self.parts for row in _urisk_rows(one)))
        others = {
            name: (COLUMNS[name], [row for one in self.parts for row in rows(one)])
            for name, rows in makers.items()
        }
        tables = {"urisk": (COLUMNS["urisk"], urisk), **others}
        return part_of(self.provenance, tables, self.part or "urisk")


def _answer(one: MatrixBias, most: int) -> Display:
    """Each run's least and worst rank over the other runs as baselines, from the best mean on."""
    places = rank(one.means)
    rows: list[list[str]] = []
    for row in one.order[:most]:
        ranks = one.ranks[row, : len(one.runs)]
        low, high = float(np.nanmin(ranks)), float(np.nanmax(ranks))
        middle = float(np.nanquantile(ranks, 0.5, method="inverted_cdf"))
        worst = next(i for i in one.order if ranks[i] == high)
        against = "–" if low == high else shortened(one.runs[worst])
        bar = _bar(low, middle, high, len(one.runs))
        rows.append([one.runs[row], f"{places[row]:.0f}", span(low, high), bar, against])
    scale = f"1{len(one.runs):>{min(len(one.runs), _BAR) - 1}}"
    headings: list[str | Heading] = [
        Heading("run", left=True, names=True), "# Mean", "# URisk",
        Heading(scale, left=True, names=True), Heading("worst against", left=True, names=True),
    ]  # fmt: skip
    left = len(one.runs) - len(rows)
    caption = [f"And {counted(left, 'run')} more: --full."] if left else []
    caption.append("● median rank. URisk's values, Friedman's test, bias: --full, --part.")
    caption += about_logarithms([one.measure])
    each = f"each of {counted(len(one.runs), 'run')} as the baseline in turn"
    title = f"Rank by URisk of {one.measure}, α = {one.alpha:g}, {each}"
    return Display.of_rows(title, headings, rows, caption)


def _bar(low: float, middle: float, high: float, ranks: int) -> str:
    """The least, the median and the worst rank on a scale of all ranks."""
    width = min(ranks, _BAR)
    first, dot, last = (
        round((each - 1) / max(ranks - 1, 1) * (width - 1)) for each in (low, middle, high)
    )
    return "".join("●" if i == dot else "─" if first <= i <= last else "·" for i in range(width))


def _statements(one: MatrixBias) -> Iterator[Statement]:
    """Who is first under how many baselines; whether these agree more than on equal runs."""
    ranks = one.ranks[:, : len(one.runs)]
    firsts = [(int(np.count_nonzero(ranks[row] == 1)), row) for row in one.order]
    firsts.sort(key=lambda each: -each[0])
    count, row = firsts[0]
    others = len(one.runs) - 1
    numbers = {"baselines": float(others), "first": float(count)}
    if count == others and others > 1 and firsts[1][0] < count:
        name = shortened(one.runs[row])
        text = f"{name} is first by URisk whichever other run is the baseline."
        yield Statement("first-always", text, one.measure, (one.runs[row],), (), numbers)
    else:
        ever = [(times, one.runs[row]) for times, row in firsts if times]
        shown = [f"{shortened(run)} under {times}" for times, run in ever]
        shown[0] += f" of {len(one.runs)}"
        text = f"Who is first by URisk depends on the baseline: {fitting(shown, 80)}."
        runs = tuple(run for _, run in ever)
        yield Statement("first-depends", text, one.measure, runs, (), numbers)
    w, p = one.figures.friedman.w, float(one.figures.equal_runs.w.p[0])
    if not np.isfinite(p):
        return
    figures = {"w": w, "w_equal": float(one.figures.equal_runs.w.mean[0]), "w_p": p}
    if p < _LEVEL:
        rule, text = "baselines-agree", "The baselines agree on these runs more than on equal ones"
    else:
        rule = "baselines-no-agreement"
        text = "Nothing shows that the baselines agree more on these runs than on equal ones"
    text = f"{text} (Kendall's W {w:.2f}, p {p_value(p)})."
    yield Statement(rule, text, one.measure, (), (), figures)


def _matrix(one: MatrixBias) -> Display:
    """Runs by baselines, both from the best mean to the worst, virtual ones last."""
    numbers = {row: str(number + 1) for number, row in enumerate(one.order)}
    headings = [Heading("#"), Heading("run", left=True, names=True)]
    headings += [Heading(numbers.get(i, one.baselines[i]), ranked=True) for i in one.baseline_order]
    rows: list[list[str | Cell]] = [
        [numbers[row], one.runs[row], *(_urisk_cell(one, row, i) for i in one.baseline_order)]
        for row in one.order
    ]
    caption = [
        "One column per baseline: the run of that number, or a virtual run. Beside URisk its rank "
        "under that baseline.",
        *about_logarithms([one.measure]),
    ]
    title = f"URisk by {one.measure}, α = {one.alpha:g}, each run in turn as the baseline"
    return Display.of_rows(title, headings, rows, caption)


def _urisk_cell(one: MatrixBias, row: int, index: int) -> Cell:
    rank = one.ranks[row, index]
    value = None if row == index else float(one.figures.urisk[row, index])
    return Cell(decimal(value, 3), rank=None if np.isnan(rank) else int(rank))


def _friedman(one: MatrixBias) -> Display:
    """The test, and what it does and does not say."""
    equal = one.figures.equal_runs
    ((*_, chi2, degrees, p, w, w_equal, w_p),) = _friedman_rows(one)
    row = [
        decimal(chi2, 2), str(degrees), p_value(p), decimal(w, 3), decimal(w_equal, 3), p_value(w_p)
    ]  # fmt: skip
    equally = (
        f" Equal runs have the W beside it on average ({equal.shuffles} shuffles of the runs "
        f"within topics, seed {DEFAULT_SEED}): a small p of W says that the baselines agree on the "
        "runs more than chance makes them."
    )
    meaning = (
        f"W is 1 where every baseline ranks the runs alike.{equally if equal.shuffles else ''} "
        "The p of χ² (ECIR'14) has no such meaning, for the baselines are the runs themselves."
    )
    title = f"Friedman's test: {len(one.runs)} runs, each of them as baseline ({one.measure})"
    headings = ["χ²", "df", "p of χ²", "Kendall's W", "equal runs", "p of W"]
    return Display.of_rows(title, headings, [row], [meaning])


def _baselines(one: MatrixBias) -> Display:
    listed, rows = list(_baseline_rows(one)), []
    for index in one.baseline_order:
        name, _, _, mean, _, tau, r, partial, *equal = listed[index]
        texts = [str(name), decimal(mean, 4), decimal(tau, 3)]
        for value, of_equal, p in ((r, *equal[:2]), (partial, *equal[2:])):
            texts += [decimal(value, 3), decimal(of_equal, 3), p_value(p)]
        rows.append(texts)
    headings: list[str | Heading] = [
        Heading("baseline", left=True), "Mean", "τ_b", "bias r", "equal", "p", "partial", "equal",
        "p",
    ]  # fmt: skip
    caption = [
        "τ_b: Kendall's, between the rankings of the other runs by mean and by URisk.",
        "bias r: correlation, over the other runs, between similarity to the baseline across "
        "topics and URisk less its linear part in the mean. partial: the mean taken out of the "
        "similarity too.",
        "equal: the average where all runs are equal (their scores shuffled within topics); it is "
        "not 0, for runs unlike the baseline have a lower URisk even then. p: two-sided, against "
        "that. Only above the value of equal runs does a baseline favour runs that resemble it.",
    ]
    title = f"Baselines ({one.measure}, α = {one.alpha:g})"
    return Display.of_rows(title, headings, rows, caption)


def _components(one: MatrixBias) -> Display:
    shares = enumerate(one.components.explained)
    names = [f"PC{i + 1} ({share:.1%})" for i, share in shares]
    rows = [
        [one.baselines[index], *decimals(one.components.coordinates[index].tolist(), 3)]
        for index in one.baseline_order
    ]
    caption = [
        "Runs as points in the space of topics, centred on the mean run; virtual runs projected. "
        "Runs near a baseline have its profile."
    ]
    run = Heading("run", left=True, names=True)
    title = f"Principal components ({one.measure})"
    return Display.of_rows(title, [run, *names], rows, caption)


def baseline_bias(scores: base.Scores, *, alpha: float = 1.0, components: int = 2) -> Bias:
    """URisk of every run against every other, Friedman's test, and the bias of each baseline."""
    if not (np.isfinite(alpha) and alpha >= 0):
        raise UsageError(f"alpha is {alpha}, expected a number of at least 0")
    matrices = base.matrices_of(scores)
    for matrix in matrices:
        refuse_many_pairs(len(matrix.runs), "give fewer runs", MOST_LISTED_PAIRS)
    pairs = sum(len(matrix.runs) ** 2 // 2 for matrix in matrices)
    base.refuse_much("sweep --over baseline", matrices, Options(alphas=(alpha,)), pairs=pairs)
    biases = tuple(_matrix_bias(matrix, alpha, components) for matrix in matrices)
    equal = biases[0].figures.equal_runs
    settings = {
        "alphas": [alpha], "components": components, "shuffles": equal.shuffles,
        "seed": DEFAULT_SEED,
    }  # fmt: skip
    notes = [
        Note(
            "not-shuffled",
            f"{matrix.measure}: {len(matrix.runs):,} runs by {len(matrix.topics):,} topics are too "
            "many to be shuffled, so that what equal runs have on average, and its p-values, are "
            "left empty",
        )
        for matrix in matrices
        if bias.too_much_to_shuffle(matrix.values)
    ]
    return Bias(biases, provenance=base.provenance_of(scores).adding(settings, notes))


def _matrix_bias(matrix: ScoreMatrix, alpha: float, components: int) -> MatrixBias:
    if len(matrix.runs) < 2 or not matrix.topics:
        raise UsageError(f"a sweep over baselines needs two runs or more, found {len(matrix.runs)}")
    figures = bias.each_as_baseline(matrix.values, alpha, matrix.weights)
    compared = figures.urisk.copy()
    np.fill_diagonal(compared[:, : len(matrix.runs)], np.nan)
    virtual = figures.scores[len(matrix.runs) :]
    return MatrixBias(
        measure=matrix.measure,
        alpha=alpha,
        topics=len(matrix.topics),
        runs=matrix.runs,
        means=matrix.shown_means(),
        figures=figures,
        ranks=np.stack([rank(values) for values in compared.T], axis=1),
        components=bias.principal_components(matrix.values, virtual, components, matrix.weights),
    )


def _urisk_rows(one: MatrixBias) -> Iterator[list[Value]]:
    rank_mean = tidy(rank(one.means), whole=True)
    for index, baseline in enumerate(one.baselines):
        columns = [
            tidy(one.means),
            tidy(one.figures.urisk[:, index]),
            rank_mean,
            tidy(one.ranks[:, index], whole=True),
            tidy(one.figures.similarity[:, index]),
        ]
        for run, *values in zip(one.runs, *columns, strict=True):
            yield [run, one.measure, baseline, one.alpha, one.topics, *values]


def _baseline_rows(one: MatrixBias) -> Iterator[list[Any]]:
    figures, equal = one.figures, one.figures.equal_runs
    shown = np.exp(figures.means) if is_logarithm(one.measure) else figures.means
    columns = [
        shown, figures.tau_b, figures.bias, figures.partial,
        equal.bias.mean, equal.bias.p, equal.partial.mean, equal.partial.p,
    ]  # fmt: skip
    for index, (mean, *values) in enumerate(zip(*map(tidy, columns), strict=True)):
        others = len(one.runs) - (index < len(one.runs))
        yield [one.baselines[index], one.measure, one.alpha, mean, others, *values]


def _component_rows(one: MatrixBias) -> Iterator[list[Value]]:
    coordinates = one.components.coordinates.tolist()
    for component, explained in enumerate(one.components.explained.tolist()):
        for index, name in enumerate(one.baselines):
            kind = "run" if index < len(one.runs) else "virtual"
            at = coordinates[index][component]
            yield [name, one.measure, kind, component + 1, explained, at]


def _friedman_rows(one: MatrixBias) -> Iterator[list[Any]]:
    test = one.figures.friedman
    equal = one.figures.equal_runs.w
    chi2, p, *rest = tidy([test.chi2, test.p, test.w, *equal.mean.tolist(), *equal.p.tolist()])
    yield [one.measure, one.alpha, len(one.runs), len(one.runs), chi2, test.degrees, p, *rest]
