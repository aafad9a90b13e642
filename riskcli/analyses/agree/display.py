"""The agreement of rankings for people: a matrix a coefficient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan

from riskcli.analyses.agree.rankings import Agreed, Compared, Ranking
from riskcli.output.display import Cell, Display, Heading, decimal, folded, in_title
from riskcli.risk.losses import LINEAR

Show = Callable[[Agreed], str]


def displays(agreement: Compared, width: int) -> list[Display]:
    """Kendall's tau_b, tau_AP, and RBO: extrapolated, with what is certain and its residual."""
    about = f"baseline {in_title(agreement.baseline)}, α = {agreement.alpha:g}"
    seen = "" if agreement.depth is None else f", first {agreement.depth} runs"
    rbo = f"RBO, persistence {agreement.persistence:g}{seen}; {about}"
    tables = [
        (
            f"Kendall's τ_b; {about}",
            lambda pair: decimal(pair.tau_b, 2),
            [*_extremes(agreement),
             "1: the same order, -1: the reverse; ties count as ties. A ranking without the "
             "baseline's own row is compared over the runs that both have."],
        ),
        (
            f"τ_AP; {about}",
            lambda pair: decimal(pair.tau_ap, 2),
            ["The row's ranking is taken for the truth, the column's for the estimate; mistakes "
             "near the estimate's top weigh most."],
        ),
        (
            f"{rbo}: extrapolated",
            lambda pair: decimal(pair.overlap.extrapolated, 2),
            ["1: the same order, 0: nothing in common; the top weighs most."],
        ),
        (
            f"{rbo}: RBO_min + residual",
            lambda pair: f"{pair.overlap.least:.2f}+{pair.overlap.residual:.2f}",
            ["What is certain, and how much more it could be if the rankings went on."],
        ),
    ]  # fmt: skip
    made: list[Display] = []
    for title, show, caption in tables:
        made += folded(_matrix(agreement, title, show, caption), width)
    return made


def _extremes(agreement: Compared) -> list[str]:
    """Which rankings agree most and least, in words."""
    names = [_name(ranking, agreement.rankings) for ranking in agreement.rankings]
    known = [
        (pair.tau_b, f"{names[pair.first]} and {names[pair.second]} ({decimal(pair.tau_b, 2)})")
        for pair in agreement.pairs
        if pair.first < pair.second and not isnan(pair.tau_b)
    ]
    if len(known) < 2:
        return []
    most, least = max(known, key=lambda each: each[0]), min(known, key=lambda each: each[0])
    return [f"Most alike: {most[1]}; least alike: {least[1]}."]


def _matrix(agreement: Compared, title: str, show: Show, caption: Sequence[str]) -> Display:
    names = [_name(ranking, agreement.rankings) for ranking in agreement.rankings]
    found = {(pair.first, pair.second): pair for pair in agreement.pairs}
    headings = [Heading("", left=True), *(Heading(name.replace(" ", "\n")) for name in names)]
    rows = []
    for row, name in enumerate(names):
        cells = [
            Cell("") if row == column else Cell(show(found[row, column]))
            for column in range(len(names))
        ]
        rows.append([Cell(name), *cells])
    return Display.of_rows(title, headings, rows, caption)


def _name(ranking: Ranking, everyone: Sequence[Ranking]) -> str:
    """As short as it can be told from the others."""
    parts = []
    if len({other.measure for other in everyone}) > 1:
        parts.append(ranking.measure)
    parts.append(ranking.of.title)
    if ranking.loss != LINEAR:
        parts.append("s(x)")
    return " ".join(parts)
