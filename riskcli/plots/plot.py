"""`riskeval plot`: figures."""

from pathlib import Path
from typing import Any

import click

from riskcli.cli.option import Reach, Section, command, own_option
from riskcli.cli.options import Against, against_options_with_alpha, tell
from riskcli.cli.reading import Inputs, grouped_input_options
from riskcli.cli.types import OUTPUT, among, risk_measures, runs
from riskcli.core.choices import words
from riskcli.core.messages import UsageError
from riskcli.output.overwriting import refuse_to_replace
from riskcli.plots import drawing, kinds
from riskcli.plots.kinds import KINDS, PAPER

FORMATS = {".svg": "svg", ".png": "png", ".pdf": "pdf", ".html": "html", ".json": "json"}
"""The formats of a figure by suffix."""
_ON_PAPER = ("svg", "png", "pdf")
_PAPER_HELP = (
    "the figure of a paper that --figure names: one of those above, or of ecir14-1 to ecir14-4 "
    "and ecir20-2 to ecir20-4"
)
_KINDS_HELP = "\n".join(
    f"  {name:10}{meaning}" for name, meaning in [*KINDS.items(), (PAPER, _PAPER_HELP)]
)


def _width(value: Any) -> int | str:
    """Pixels of a panel, or a word for the width of the whole figure."""
    if value in words(kinds.FigureWidth):
        return str(value)
    if str(value).isdecimal() and int(value) in kinds.PIXELS:
        return int(value)
    low, high = kinds.PIXELS.start, kinds.PIXELS.stop - 1
    known = ", ".join(words(kinds.FigureWidth))
    raise click.BadParameter(f"{value!r} is none of {known}, nor pixels from {low} to {high}")


@command(epilog=f"\b\nKinds:\n{_KINDS_HELP}")
@click.argument("kind", type=click.Choice([*KINDS, PAPER]), metavar="KIND")
@grouped_input_options
@against_options_with_alpha(
    "Losses count 1 + alpha times: 1 or 0,5,10 or 0:20:5. [default: 1; alpha: 0:20]"
)
@own_option(
    "-o", "--output", required=True, type=OUTPUT, heading=Section.MOST_USED,
    help="The file: .svg, .png, .pdf, .html or .json.",
)  # fmt: skip
@own_option(
    "--figure", metavar="NAME", settings=Reach.NOTHING,
    help="paper: which figure, such as ecir20-2; ? lists them.",
)  # fmt: skip
@own_option(
    "--run", "names", multiple=True, metavar="NAME", shell_complete=runs, settings=Reach.NOTHING,
    help="A run to show or bring out. Repeatable.",
)  # fmt: skip
@own_option(
    "--of", metavar="NAME", shell_complete=among(risk_measures), settings=Reach.NOTHING,
    help="alpha: a risk measure; topics: tr or tj; power: mean or georisk; curve: mean, risk, "
    "reward, urisk, trisk or georisk.",
)  # fmt: skip
@own_option(
    "--width", type=_width, metavar=f"PIXELS|{'|'.join(words(kinds.FigureWidth))}",
    settings=Reach.NOTHING,
    help="Pixels of a panel; or the width of the whole figure: ACM's column or page (both "
    "columns), LNCS's text, or a slide, with type of 7 to 9 points.",
)  # fmt: skip
@own_option(
    "--height", type=click.IntRange(50, 4000), settings=Reach.NOTHING, help="Pixels of a panel."
)
@own_option(
    "--seed", type=int, default=20161, settings=Reach.NOTHING, help="Random seed of ecir20-3."
)
def plot(
    kind: str, inputs: Inputs, against: Against, output: Path, figure: str | None,
    names: tuple[str, ...], of: str | None, width: int | str | None, height: int | None, seed: int,
) -> int:  # fmt: skip
    """A figure of RUNS, drawn as the file's suffix asks.

    One effectiveness measure at a time: the first, or that of --measure. Beside the figure, in
    FILE.alt.txt, is a description in words, for a paper or a page.
    """
    kind, of = kinds.find(kind, figure, of)
    format = FORMATS.get(output.suffix.lower())
    if format is None:
        raise UsageError(f"{output}: a figure ends in one of {', '.join(FORMATS)}")
    refuse_to_replace(output)
    if isinstance(width, str) and format not in _ON_PAPER:
        known = ", ".join(_ON_PAPER)
        raise UsageError(
            f"--width {width} belongs to {known}: other formats have no width on paper"
        )
    kinds.refuse_what_figures_lack(kind, against.convention, against.loss, of)
    _ = inputs.qrels  # a figure is of one measure, so of one judge
    save = drawing()
    from riskcli.plots import request  # late: help and wrong options need no numpy

    layout = {"runs": names, "of": of, "height": height, **request.width_in(width)}
    if kind in kinds.OF_EXPERIMENTS:
        folder = _experiment(kind, inputs, against)
        save.write(kind, request.ExperimentRequest(folder, **layout), format, output)
        return 0
    evaluation = inputs.evaluate(against.wanted, against.needs_checksums())
    setup = save.set_up(evaluation, against.options(), noting=kind not in kinds.WITHOUT_BASELINE)
    ranged = bool(against.alphas)
    wanted = request.Request(setup.matrices[0], setup.options, seed, ranged, **layout)
    save.refuse_much(kind, wanted, format)
    save.write(kind, wanted, format, output)
    tell([*setup.provenance.notes, *wanted.notes], inputs.quiet)
    return inputs.exit_code(evaluation.skipped)


def _experiment(kind: str, inputs: Inputs, against: Against) -> Path:
    """The folder that is drawn from; runs and baselines are given by what is in it."""
    if len(inputs.runs) != 1:
        raise UsageError(f"{kind} is drawn from one folder, the one that `riskeval train` wrote")
    if against.baselines or against.alphas or inputs.judged or inputs.measures:
        raise UsageError(f"{kind} takes no --baseline, --alpha, --qrels or --measure: all of that "
                         "is in the folder")  # fmt: skip
    return inputs.runs[0]
