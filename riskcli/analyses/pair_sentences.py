"""What a table of pairs says, and what its sentences and its display both ask."""

import numpy as np

from riskcli.analyses.pairwise import TUKEY, PairTable
from riskcli.core.messages import joined, listed
from riskcli.output.measure_words import words_of
from riskcli.output.verdict import Statement
from riskcli.risk.estimate import rank


def title_of(table: PairTable) -> str:
    """Measure and alpha; what a statement about the table names it by."""
    alpha = f", α = {table.alpha:g}" if table.of.depends_on_alpha else ""
    return f"{words_of(table.of).title} of {table.measure}{alpha}"


def best_first(table: PairTable) -> list[int]:
    """The rows from best to worst."""
    return [int(row) for row in np.argsort(rank(table.values), kind="stable")]


def is_tested(table: PairTable) -> bool:
    """Whether any pair is."""
    return bool(np.isfinite(table.pairs.p_adjusted).any())


def may_be_best(table: PairTable) -> list[int]:
    """The rows whose bracket of ranks begins with 1, the best first."""
    if table.rank_low is None:
        return []
    return [row for row in best_first(table) if table.rank_low[row] == 1]


def statement(table: PairTable) -> Statement | None:
    """Who may be the best, or who differs from the baseline; nothing without tests."""
    if not is_tested(table):
        return None
    title, by = title_of(table), f"By {words_of(table.of).title} of {table.measure}"
    by += f" at alpha {table.alpha:g}" if table.of.depends_on_alpha else ""
    if not table.of_all_pairs:
        sides = {flag: _flagged(table, flag) for flag in ("better", "worse")}
        parts = [
            f"{_listed(runs)} {'is' if len(runs) == 1 else 'are'} {flag} than {table.others[0]}"
            for flag, runs in sides.items()
            if runs
        ]
        text = "; ".join(parts) or f"no run is shown to be better or worse than {table.others[0]}"
        return Statement("differ", f"{by}, {text}.", title, (*sides["better"], *sides["worse"]))
    if table.correction not in ("holm", TUKEY):
        by += " (by Holm's correction)"
    best = [table.runs[row] for row in may_be_best(table)]
    if len(best) == len(table.runs):
        text = f"any of the {len(best)} runs may be the best: none is significantly below another"
    elif len(best) == 1:
        other = "other run" if len(_untested(table)) == 0 else "other run that was tested"
        text = f"{best[0]} is the best: each {other} is significantly below another"
    else:
        text = (
            f"{len(best)} of {len(table.runs)} runs may be the best, significantly below no other: "
            f"{listed(best)}"
        )
    return Statement("may-be-best", f"{by}, {text}.", title, tuple(best))


def _untested(table: PairTable) -> list[int]:
    """The rows without a bracket."""
    return [] if table.rank_low is None else np.flatnonzero(np.isnan(table.rank_low)).tolist()


def _flagged(table: PairTable, flag: str) -> list[str]:
    rows = table.pairs.first[table.pairs.flag == flag].tolist()
    return [table.runs[row] for row in sorted(rows, key=lambda row: -table.values[row])]


def _listed(runs: list[str]) -> str:
    """`a, b and c`, or some of them and how many more."""
    return listed(runs) if len(runs) > 5 else joined(runs)
