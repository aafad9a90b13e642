"""`riskeval report`: a leaderboard to publish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from riskcli.cli.conclude import tell
from riskcli.cli.options import OUTPUT, Comparing, Inputs, comparing_options, input_options
from riskcli.cli.paths import INPUT
from riskcli.core.errors import UsageError
from riskcli.core.notes import Note
from riskcli.output.emit import emit

if TYPE_CHECKING:
    from riskcli.core.choices import PopulationRule
    from riskcli.risk.options import Options
    from riskcli.scores.frozen import FrozenPopulation


@click.command()
@input_options
@comparing_options
@click.option("-o", "--output", required=True, type=OUTPUT, help="The page to write: report.html.")
@click.option(
    "--also",
    multiple=True,
    metavar="NAME",
    help="A further baseline to switch to in the page, each by itself. Repeatable.",
)
@click.option(
    "--both-populations",
    is_flag=True,
    help="Let the reader switch the population of ZRisk and GeoRisk, where runs are the baseline.",
)
@click.option("--title", default="Risk-sensitive leaderboard", show_default=True, metavar="TEXT")
@click.option(
    "--collection", default="", metavar="TEXT", help="What was searched, below the title."
)
@click.option("--date", default="", metavar="TEXT", help="When, below the title.")
@click.option(
    "--about-runs",
    type=INPUT,
    help="CSV or TSV with the columns run and any of name, team, description.",
)
@click.option(
    "--documents",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Take the first N documents of each ranking along, with grades; the page grows.",
)
def report(
    inputs: Inputs,
    comparing: Comparing,
    output: Path,
    also: tuple[str, ...],
    both_populations: bool,
    title: str,
    collection: str,
    date: str,
    about_runs: Path | None,
    documents: int | None,
) -> int:
    """A page with the leaderboard of RUNS, for a reader to explore in a browser.

    One file that needs no network: sort, filter, move alpha, switch the baseline, compare two runs
    topic by topic, and take the numbers along. Whatever is chosen is in the page's address.
    """
    refuse_what_the_page_lacks(comparing)
    # Late: help and wrong options need neither numpy nor the page.
    from riskcli.page import document, extras

    about = extras.read_about(about_runs) if about_runs else {}
    evaluation = inputs.evaluate([*comparing.wanted, *also])
    asked_for = document.risk_table(evaluation, options=comparing.options())
    further = [evaluation.added.get(name, name) for name in dict.fromkeys(also)]
    first, *others = _plans(asked_for.options, further, both_populations)
    tables = [
        asked_for if first == asked_for.options else document.risk_table(evaluation, options=first),
        *(document.risk_table(evaluation, options=plan) for plan in others),
    ]
    taken = None
    notes = list(tables[0].notes)
    if documents is not None:
        taken = extras.documents_of(evaluation, documents, inputs.score_precision)
        size = len(document.compact(taken).encode()) / 1e6
        notes.append(Note("documents", f"documents make the page {size:.1f} MB larger", False))
    page = document.Page(title, evaluation.matrices, tables, collection, date, about, taken)
    tell(notes, inputs.quiet)
    emit(document.as_page(page), output)
    return inputs.exit_code(tables[0].skipped)


def _plans(options: Options, further: Sequence[str], both_populations: bool) -> list[Options]:
    """What is compared: as asked for, with each further baseline, and in the other population."""
    kept = None if isinstance(options.population, str) else options.population
    plans = [options]
    plans += [
        replace(options, baselines=(name,), population=kept)
        for name in further
        if (name,) != options.wanted
    ]
    if not both_populations:
        return plans
    return [
        replace(plan, population=population) for plan in plans for population in _populations(plan)
    ]


def _populations(plan: Options) -> tuple[PopulationRule | FrozenPopulation | None, ...]:
    """Both, the plan's own first; a virtual baseline has no population of its own.

    A frozen population stands alone: its figures are not put beside those of another.
    """
    if plan.population is not None and not isinstance(plan.population, str):
        raise UsageError("--both-populations shows those of the runs at hand, not one from a file")
    if plan.wanted[0].startswith("@"):
        return (plan.population,)
    own = plan.population or ("baselines" if len(plan.wanted) > 1 else "all")
    return ("all", "baselines") if own == "all" else ("baselines", "all")


def refuse_what_the_page_lacks(comparing: Comparing) -> None:
    """Refuse what the page would silently do otherwise."""
    lacking = {
        "--loss": (comparing.loss, "linear"),
        "--convention": (comparing.convention, "plain"),
        "--test": (comparing.test, "jackknife"),
        "--family": (comparing.family, "column"),
    }
    for option, (found, known) in lacking.items():
        if found != known:
            raise UsageError(f"{option} is {found}, the page supports {known} only")
