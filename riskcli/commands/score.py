"""`riskeval score`: the risk table."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import click
from click.core import ParameterSource

from riskcli.cli.option import Reach, Section, command, own_option
from riskcli.cli.options import Comparing, Output, comparing_options, conclude, output_options, tell
from riskcli.cli.reading import Inputs, corrected_input_options
from riskcli.cli.settings import name_or_input
from riskcli.cli.types import among, number_or
from riskcli.core.choices import Marks
from riskcli.core.messages import Note, UsageError
from riskcli.core.parallel import importing
from riskcli.output.formats import RowsFormat


def _analysis() -> ModuleType:
    """Loaded late: help and wrong options need neither numpy nor scipy."""
    from riskcli.analyses import score as analysis

    return analysis


_Declared = tuple[dict[str, str], list[Path]]
"""By run the baseline that it declares, and the files that list such."""


def _declared(ctx: click.Context, option: click.Parameter, given: Sequence[str]) -> _Declared:
    """What files and pairs declare, each run once."""
    by_run: dict[str, str] = {}
    files: list[Path] = []
    for text in given:
        run, _, baseline = text.partition("=")
        listed = {run: baseline}
        if os.path.exists(text):  # noqa: PTH110 - a long text is no error
            from riskcli.scores.teams import read_own_baselines  # late: it loads what reads scores

            files.append(Path(text))
            listed = read_own_baselines(files[-1])
            if ctx.get_parameter_source(str(option.name)) is ParameterSource.DEFAULT_MAP:
                listed = {r: name_or_input("own-baseline", b) for r, b in listed.items()}
        elif not (run and baseline):
            raise UsageError(f"--own-baseline is {text!r}, expected a file or RUN=BASELINE")
        for twice in sorted(by_run.keys() & listed.keys()):
            raise UsageError(f"--own-baseline: run {twice!r} is given two baselines")
        by_run |= listed
    if given and not by_run:
        raise UsageError(f"--own-baseline: no run of {files[0]} declares a baseline")
    return by_run, files


@command(corrected_input_options, comparing_options, output_options())
@own_option(
    "--own-baseline", "own", multiple=True, callback=_declared, metavar="FILE|RUN=BASELINE",
    settings=Reach.NAME_OR_INPUT, heading=Section.COMPARISON,
    help="Also compare runs with baselines of their own: a run's name or a run file, repeatable; "
    "or CSV with the columns run and baseline.",
)  # fmt: skip
@own_option(
    "--sort", shell_complete=among(lambda: _analysis().sortable_columns()), default="mean",
    metavar="COLUMN", settings=Reach.NOTHING, heading=Section.MOST_USED,
    help="Order by run, mean, georisk, losses, ...; or by -losses.",
)  # fmt: skip
@own_option(
    "--top", type=number_or("best-per-team"), metavar="N|best-per-team", settings=Reach.NOTHING,
    heading=Section.MOST_USED,
    help="Show only the first N runs and the baseline, or each team's best run, by --sort.",
)  # fmt: skip
@own_option(
    "--columns", shell_complete=among(lambda: _analysis().column_names()), metavar="NAMES",
    settings=Reach.NOTHING, heading=Section.MOST_USED,
    help="These columns alone, in every format: run, measure, mean, georisk, mean_p_adj, "
    "georisk_interval, wtl, ... A table shows all measures and alphas side by side.",
)  # fmt: skip
@own_option(
    "--no-ranks", is_flag=True, settings=Reach.NOTHING, key_only=True, help="No ranks in the table."
)
@own_option(
    "--marks", choice=Marks, settings=Reach.NOTHING, key_only=True,
    help="How significance is marked. [default: arrows; daggers in latex]",
)  # fmt: skip
@own_option(
    "--precision", type=click.IntRange(0, 15), settings=Reach.NOTHING, key_only=True,
    help="Decimals in the table. [default: by column]",
)  # fmt: skip
def score(
    inputs: Inputs,
    comparing: Comparing,
    output: Output,
    own: _Declared,
    sort: str,
    top: int | str | None,
    columns: str | None,
    no_ranks: bool,
    marks: Marks | None,
    precision: int | None,
) -> int:
    """Risk table of RUNS (run files, folders of them, or files of scores).

    Prints, for every run, its mean effectiveness, URisk, TRisk, ZRisk and GeoRisk, and which
    differences to the baseline are significant.
    """
    (declared, files), checksums = own, comparing.needs_checksums(output)
    with importing(_analysis):
        evaluation = inputs.evaluate((*comparing.wanted, *declared.values()), checksums)
    from riskcli.analyses.score import risk_table  # late, as above
    from riskcli.cli.evaluating import with_inputs

    told = [] if inputs.anonymise else files  # the name of a file may tell who is who
    evaluation = with_inputs(evaluation, told, "own-baselines", checksums)
    options = replace(comparing.options(), own_baselines=declared)
    table = risk_table(evaluation, options=options).sorted_by(sort)
    if isinstance(top, str):
        table = table.best_per_team()
    elif top is not None:
        table = table.top(top)
    chosen = tuple(name.strip() for name in columns.split(",")) if columns else ()
    shown = table.laid_out(chosen, ranks=not no_ranks, marks=marks, precision=precision)
    if isinstance(output.output_format, RowsFormat) and (keys := shown.keys_left_out):
        whole = ",".join([*keys, *chosen])
        said = f"rows do not say their {' and '.join(keys)}: --columns {whole} does"
        tell([Note("rows-alike", said, warning=False)], inputs.quiet)
    return conclude(shown, inputs, output)
