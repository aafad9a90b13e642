"""`riskeval plot`: figures."""

from __future__ import annotations

from pathlib import Path

import click

from riskcli.cli.conclude import tell
from riskcli.cli.options import PATH, Against, Inputs, against_options, input_options
from riskcli.core.errors import UsageError
from riskcli.plots import CURVE, KINDS, OF_EXPERIMENTS

_ALL = {**KINDS, **OF_EXPERIMENTS}
_KINDS_HELP = "\n".join(f"  {kind:9}{meaning}" for kind, meaning in _ALL.items())


@click.command(epilog=f"\b\nKinds:\n{_KINDS_HELP}")
@click.argument("kind", type=click.Choice(list(_ALL)), metavar="KIND")
@input_options
@against_options
@click.option(
    "-o", "--output", required=True, type=PATH, help="The file: .svg, .png, .pdf, .html or .json."
)
@click.option(
    "--run", "names", multiple=True, metavar="NAME", help="A run to show or bring out. Repeatable."
)
@click.option(
    "--of",
    metavar="NAME",
    help="alpha: a risk measure; topics: tr or tj; curve: mean, risk, reward, urisk, trisk or "
    "georisk.",
)
@click.option("--width", type=click.IntRange(100, 4000), help="Pixels of a panel.")
@click.option("--height", type=click.IntRange(50, 4000), help="Pixels of a panel.")
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
    seed: int,
) -> int:
    """A figure of RUNS, drawn as the file's suffix asks.

    One effectiveness measure at a time: the first, or that of --measure.
    """
    from riskcli.analyses.base import set_up
    from riskcli.output.emit import emit
    from riskcli.plots.request import Request
    from riskcli.plots.save import drawn, form_of

    form = form_of(output)
    if kind == CURVE:
        from riskcli.plots.curve import CurveRequest

        folder = _experiment(inputs, against)
        emit(drawn(kind, CurveRequest(folder, of, names, width, height), form), output)
        return 0
    _refuse_what_figures_lack(kind, against, of)
    evaluation = inputs.evaluate(against.wanted, against.needs_checksums())
    setup = set_up(evaluation, against.options())
    ranged = bool(against.alphas or against.alpha_hats)
    request = Request(setup.matrices[0], setup.options, names, of, width, height, seed, ranged)
    content = drawn(kind, request, form)
    tell([*setup.basis.notes, *request.notes], inputs.quiet)
    emit(content, output)
    return inputs.exit_code(evaluation.skipped)


def _experiment(inputs: Inputs, against: Against) -> Path:
    """The folder whose curves are drawn; runs and baselines have no part in that."""
    if len(inputs.runs) != 1:
        raise UsageError("curve is drawn from one folder, the one that `riskeval train` wrote")
    if against.baselines or against.alphas or inputs.qrels or inputs.measures:
        raise UsageError("curve takes no --baseline, --alpha, --qrels or --measure: all of that "
                         "is in the folder")  # fmt: skip
    return inputs.runs[0]


def _refuse_what_figures_lack(kind: str, against: Against, of: str | None) -> None:
    """Refuse what a figure would silently leave aside."""
    if against.convention != "plain":
        raise UsageError("figures know the plain convention only")
    if against.loss != "linear" and kind not in ("topics", "qq"):
        raise UsageError(f"--loss belongs to the figures topics and qq, {kind} has none")
    if of is not None and kind not in ("alpha", "topics"):
        raise UsageError(f"--of belongs to the figures alpha and topics, {kind} has none")
