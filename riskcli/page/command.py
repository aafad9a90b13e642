"""`riskeval report`: a leaderboard to publish."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from riskcli.cli.conclude import tell
from riskcli.cli.options import PATH, Comparing, Inputs, comparing_options, input_options
from riskcli.core.errors import UsageError


@click.command()
@input_options
@comparing_options
@click.option("-o", "--output", required=True, type=PATH, help="The page to write: report.html.")
@click.option(
    "--also",
    multiple=True,
    metavar="NAME",
    help="A further baseline to switch to in the page, each by itself. Repeatable.",
)
@click.option("--title", default="Risk-sensitive leaderboard", show_default=True, metavar="TEXT")
def report(
    inputs: Inputs, comparing: Comparing, output: Path, also: tuple[str, ...], title: str
) -> int:
    """A page with the leaderboard of RUNS, for a reader to explore in a browser.

    One file that needs no network: sort, filter, move alpha, switch the baseline, and look at
    each run's topics. Everything is computed in the page, exactly.
    """
    _refuse_what_the_page_lacks(comparing)
    from riskcli.analyses.score.analysis import risk_table
    from riskcli.output.emit import emit
    from riskcli.page import Page, as_page

    evaluation = inputs.evaluate([*comparing.wanted, *also])
    first = risk_table(evaluation, options=comparing.options())
    further = [evaluation.added.get(name, name) for name in dict.fromkeys(also)]
    others = [
        risk_table(evaluation, options=replace(first.options, baselines=(name,), population=None))
        for name in further
        if (name,) != first.options.wanted
    ]
    tell(first.notes, inputs.quiet)
    emit(as_page(Page(title, evaluation.matrices, [first, *others])), output)
    return inputs.exit_code(first.skipped)


def _refuse_what_the_page_lacks(comparing: Comparing) -> None:
    """Refuse what the page would silently do otherwise."""
    lacking = {
        "--loss": (comparing.loss, "linear"),
        "--convention": (comparing.convention, "plain"),
        "--test": (comparing.test, "jackknife"),
        "--family": (comparing.family, "column"),
    }
    for option, (found, known) in lacking.items():
        if found != known:
            raise UsageError(f"{option} is {found}, the page knows {known} only")
