"""`riskeval plot`: figures."""

from __future__ import annotations

from pathlib import Path

import click

from riskcli.cli.completing import among, risk_measures, runs
from riskcli.cli.conclude import tell
from riskcli.cli.helping import GroupedCommand
from riskcli.cli.options import OUTPUT, Against, Inputs, against_options_with_alpha, input_options
from riskcli.core.choices import FigureSize, words
from riskcli.core.messages import UsageError
from riskcli.output.formats import emit
from riskcli.plots import KINDS, OF_EXPERIMENTS, SCALED, format_of
from riskcli.plots.lacking import WITHOUT_BASELINE, refuse_what_figures_lack

_ALL = {**KINDS, **OF_EXPERIMENTS}
_KINDS_HELP = "\n".join(f"  {kind:9}{meaning}" for kind, meaning in _ALL.items())


@click.command(cls=GroupedCommand, epilog=f"\b\nKinds:\n{_KINDS_HELP}")
@click.argument("kind", type=click.Choice(list(_ALL)), metavar="KIND")
@input_options
@against_options_with_alpha("1; alpha: 0:20")
@click.option(
    "-o", "--output", required=True, type=OUTPUT, help="The file: .svg, .png, .pdf, .html or .json."
)
@click.option(
    "--run",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=runs,
    help="A run to show or bring out. Repeatable.",
)
@click.option(
    "--of",
    metavar="NAME",
    shell_complete=among(risk_measures),
    help="alpha: a risk measure; topics: tr or tj; power: mean or georisk; curve: mean, risk, "
    "reward, urisk, trisk or georisk.",
)
@click.option("--width", type=click.IntRange(100, 4000), help="Pixels of a panel.")
@click.option("--height", type=click.IntRange(50, 4000), help="Pixels of a panel.")
@click.option(
    "--size",
    type=click.Choice(words(FigureSize)),
    help="Width of the whole figure: ACM's column or page (both columns), LNCS's text, or a slide; "
    "type of 7 to 9 points.",
)
@click.option("--seed", type=int, default=20161, show_default=True, help="Random seed of qq.")
def plot(
    kind: str,
    inputs: Inputs,
    against: Against,
    output: Path,
    names: tuple[str, ...],
    of: str | None,
    width: int | None,
    height: int | None,
    size: FigureSize | None,
    seed: int,
) -> int:
    """A figure of RUNS, drawn as the file's suffix asks.

    One effectiveness measure at a time: the first, or that of --measure. Beside the figure, in
    FILE.alt.txt, is a description in words, for a paper or a page.
    """
    format = format_of(output)
    _refuse_sizes_without_meaning(size, width, format in SCALED)
    try:  # late: help and wrong options need neither numpy nor what draws
        from riskcli.plots import alternative, curve, request, save
    except ImportError as error:
        raise UsageError(
            f"figures need {error.name}: install riskeval with the extra `plots` (in a checkout: "
            "pip install '.[plots]')"
        ) from error
    words_beside = output.with_name(f"{output.name}.alt.txt")
    if kind in OF_EXPERIMENTS:
        folder = _experiment(kind, inputs, against)
        asked_for = curve.ExperimentRequest(
            folder, of, names, width, height, None if size is None else request.SIZES[size]
        )
        emit(save.drawn(kind, asked_for, format), output)
        emit(f"{alternative.alternative(kind, asked_for)}\n", words_beside)
        return 0
    refuse_what_figures_lack(kind, against.convention, against.loss, of)
    evaluation = inputs.evaluate(against.wanted, against.needs_checksums())
    setup = save.set_up(evaluation, against.options(), noting=kind not in WITHOUT_BASELINE)
    ranged = bool(against.alphas or against.alpha_hats)
    wanted = request.Request(
        setup.matrices[0], setup.options, names, of, width, height, seed,
        None if size is None else request.SIZES[size], ranged,
    )  # fmt: skip
    save.refuse_much(kind, wanted, format)
    content = save.drawn(kind, wanted, format)
    tell([*setup.provenance.notes, *wanted.notes], inputs.quiet)
    emit(content, output)
    emit(f"{alternative.alternative(kind, wanted)}\n", words_beside)
    return inputs.exit_code(evaluation.skipped)


def _experiment(kind: str, inputs: Inputs, against: Against) -> Path:
    """The folder that is drawn from; runs and baselines are given by what is in it."""
    if len(inputs.runs) != 1:
        raise UsageError(f"{kind} is drawn from one folder, the one that `riskeval train` wrote")
    if against.baselines or against.alphas or inputs.judged or inputs.measures:
        raise UsageError(f"{kind} takes no --baseline, --alpha, --qrels or --measure: all of that "
                         "is in the folder")  # fmt: skip
    return inputs.runs[0]


def _refuse_sizes_without_meaning(size: str | None, width: int | None, scaled: bool) -> None:
    if size is not None and not scaled:
        raise UsageError("--size belongs to svg, png and pdf: other formats have no size on paper")
    if size is not None and width is not None:
        raise UsageError("--size and --width both say how wide the figure is: give one of them")
