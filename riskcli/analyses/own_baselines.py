"""Each run against the baseline that it declares itself, beside the common one (ECIR'14, 5).

The population is that of the common table, so only the baseline is another. Figures of runs with
different baselines cannot be compared: there are no ranks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from riskcli.analyses.block import OWN, Block
from riskcli.analyses.blocks import blocks_against, corrected_together
from riskcli.analyses.cautions import NamingNote
from riskcli.analyses.groups import without
from riskcli.analyses.verdicts import Facts
from riskcli.core.arrays import Floats
from riskcli.core.messages import Note, UsageError, counted, listed, nearest
from riskcli.output.verdict import Statements
from riskcli.risk.comparison import Baseline, Comparison
from riskcli.risk.estimate import Estimate
from riskcli.risk.losses import SMOOTH_FIT
from riskcli.risk.measures import measures
from riskcli.risk.paired import LEAST_TOPICS
from riskcli.scores.comparisons import Options, comparisons, with_noise
from riskcli.scores.matrix import ScoreMatrix


def own_blocks(matrix: ScoreMatrix, options: Options) -> tuple[list[Block], list[Note]]:
    """A block for each alpha of all runs that declare a baseline, and notes on them."""
    refused = {
        "smooth:fit, which fits a loss to each baseline": options.loss == SMOOTH_FIT,
        "groups of topics": bool(matrix.axes.groups),
        "corrections by humans": matrix.human is not None,
        f"a run that is called {OWN!r}": OWN in matrix.runs,
    }
    for what in (what for what, given in refused.items() if given):
        raise UsageError(f"own baselines cannot be had with {what}: leave out one of the two")
    options, declared = replace(options, own_baselines={}), _rows(matrix, options.own_baselines)
    plan, runs, parts = options.significance, matrix.runs, list[Block]()
    common, heard = comparisons(matrix, options)[0], dict[tuple[str, str], list[str]]()
    if common.rule == "baselines":
        message = "own baselines are measured beside all runs, not only beside the common ones"
        raise UsageError(f"{message}: add --population all, or one from a file")
    for row in dict.fromkeys(declared.values()):
        compared = replace(common, baseline=Baseline(OWN, (row,), matrix.values[row]), noise=None)
        compared = with_noise(compared, matrix, options.pool, plan.gamma)
        blocks, notes = blocks_against(matrix, compared, options, measures(), ranked=False)
        blocks = [without(block, "rank", "rank_low", "rank_high") for block in blocks]
        rows = [run for run, baseline in declared.items() if baseline == row]
        parts += [replace(each.of_runs(rows), baseline=f"own({runs[row]})") for each in blocks]
        for note in notes:
            if isinstance(note, NamingNote) and OWN in note.about:  # the others are told already
                names = [note.named[runs[each]] for each in rows if runs[each] in note.named]
                heard.setdefault((note.code, note.about), []).extend(names)
    parts = corrected_together(parts, plan, lambda b, name: plan.family == "all" or (name, b.alpha))
    alphas = dict.fromkeys(part.alpha for part in parts)
    first, *others = (_joined([p for p in parts if p.alpha == alpha]) for alpha in alphas)
    first = replace(first, said=_statements(first, matrix, common, options))
    found = [Note(code, about + listed(of)) for (code, about), of in heard.items() if of]
    if alone := [run for row, run in enumerate(runs) if row not in declared]:
        message = (
            f"{counted(len(alone), 'run')} compared with the common baseline only: {listed(alone)}"
        )
        found.append(Note("no-own-baseline", message, warning=False))
    return [first, *others], found


def _rows(matrix: ScoreMatrix, declared: Mapping[str, str]) -> dict[int, int]:
    """The row of each run that declares a baseline, and that of its baseline."""
    rows = {run: row for row, run in enumerate(matrix.runs)}
    for run, baseline in declared.items():
        for name in (name for name in (run, baseline) if name not in rows):
            whose = f"own baseline of {run!r}" if name == baseline else "own baselines"
            hint = nearest(name, rows)
            hint = "; only -b takes the @ baselines" if name.startswith("@") else hint
            raise UsageError(f"{whose}: no run and no file is named {name!r}{hint}")
        if run == baseline:
            raise UsageError(f"own baselines: {run!r} is given as its own; name another run")
    return {row: rows[declared[run]] for run, row in rows.items() if run in declared}


def _joined(parts: Sequence[Block]) -> Block:
    """The blocks of all baselines as one."""
    first, runs = parts[0], [run for part in parts for run in part.runs]
    beside = {name: np.concatenate([part.beside[name] for part in parts]) for name in first.beside}
    beside["baseline"] = np.concatenate([np.full(len(p.runs), p.baseline) for p in parts])
    estimates = {
        name: Estimate.mapped([part.estimates[name] for part in parts], np.concatenate)
        for name in first.estimates
    }
    return replace(
        first, baseline=OWN, runs=tuple(runs), estimates=estimates,
        rows=np.concatenate([part.rows for part in parts]), baseline_scores=_of_each(parts),
        beside=beside, ranges=None, ranges_exact=all(part.ranges_exact for part in parts),
        baseline_row=None, baseline_members=(), baseline_size=0, spread=None,
    )  # fmt: skip


def _of_each(parts: Sequence[Block]) -> Floats | None:
    """The scores of each run's own baseline, a row a run of the matrix."""
    if parts[0].scores is None or parts[0].baseline_scores is None:
        return None
    scores = np.zeros_like(parts[0].scores)
    for part in parts:
        scores[part.rows] = part.baseline_scores
    return scores


def _statements(
    block: Block, matrix: ScoreMatrix, comparison: Comparison, options: Options
) -> Statements:
    """Who is better than its own baseline, who is worse, and who ruins topics of it."""
    facts = Facts(block, matrix, comparison, options.significance, None)
    if block.topics < LEAST_TOPICS:
        return Statements((facts.untested(),))
    tests, own = block.estimates["mean"].family, block.own_names
    than = f"than {OWN}"
    if options.significance.correction == "none" and tests:
        than += f" (not corrected for {counted(tests, 'test')})"

    def lost(row: int) -> str:
        return f" (on {facts.lost[row]:.0f} of {block.topics} topics)"

    ruinous = sorted(filter(facts.ruinous, facts.others), key=lambda row: -facts.lost[row])
    said = []
    for rule, rows, detail, says in (
        ("better", facts.flagged("better"), facts.gain, f"is better {than}"),
        ("worse", facts.flagged("worse"), facts.gain, f"is worse {than}"),
        ("ruins", ruinous, lost, f"loses over 20 % of {OWN}"),
    ):
        whom = [f" against {own[row]}{detail(row)}" for row in range(len(own))]
        text = f"{'Each of ' if len(rows) > 1 else ''}{facts.named(rows, whom.__getitem__)} {says}"
        if not rows and rule == "better":
            text = f"No run is shown to be better than {OWN}"
        if rows or rule == "better":
            said.append(facts.stating(rule, rows, text))
    return Statements(tuple(said))
