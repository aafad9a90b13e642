"""`riskeval report`: a leaderboard to publish."""

from pathlib import Path

import click

from riskcli.cli.option import Reach, Section, command, own_option
from riskcli.cli.options import Comparing, comparing_options, tell
from riskcli.cli.reading import Inputs, corrected_input_options, queries_option
from riskcli.cli.types import INPUT, OUTPUT
from riskcli.core.messages import Note
from riskcli.output.formats import emit
from riskcli.output.overwriting import refuse_to_replace
from riskcli.page import TITLE, refuse_other_formats, refuse_what_the_page_lacks


@command(corrected_input_options, queries_option, comparing_options)
@own_option(
    "-o", "--output", required=True, type=OUTPUT, settings=Reach.OUTPUT, heading=Section.MOST_USED,
    help="The page to write: report.html.",
)  # fmt: skip
@own_option(
    "--also", multiple=True, metavar="NAME",
    help="A further baseline to switch to in the page, each by itself. Repeatable.",
)  # fmt: skip
@own_option(
    "--both-populations", is_flag=True, settings=Reach.NOTHING, key_only=True,
    help="Let the reader switch the population of ZRisk and GeoRisk, where runs are the "
    "baseline.",
)  # fmt: skip
@own_option("--title", default=TITLE, metavar="TEXT", settings=Reach.NOTHING)
@own_option(
    "--collection", default="", metavar="TEXT", settings=Reach.NOTHING,
    help="What was searched, below the title.",
)  # fmt: skip
@own_option(
    "--date", default="", metavar="TEXT", settings=Reach.NOTHING, help="When, below the title."
)
@own_option(
    "--about-runs", type=INPUT, settings=Reach.INPUT,
    help="CSV or TSV with the columns run and any of name, team, description.",
)  # fmt: skip
@own_option(
    "--documents", type=click.IntRange(1, 1000), metavar="N", settings=Reach.NOTHING,
    help="Take the first N documents of each ranking along, with grades; the page grows.",
)  # fmt: skip
def report(
    inputs: Inputs, queries: Path | None, comparing: Comparing, output: Path,
    also: tuple[str, ...], both_populations: bool, title: str, collection: str, date: str,
    about_runs: Path | None, documents: int | None,
) -> int:  # fmt: skip
    """A page with the leaderboard of RUNS, for a reader to explore in a browser.

    One file that needs no network: sort, filter, move alpha, switch the baseline, compare two runs
    topic by topic, and take the numbers along. Whatever is chosen is in the page's address.
    """
    refuse_other_formats(output)
    refuse_to_replace(output)
    refuse_what_the_page_lacks(
        comparing.loss, comparing.convention, comparing.test, comparing.family
    )
    # Late: help and wrong options need neither numpy nor the page.
    from riskcli.analyses.query_texts import QueryTexts
    from riskcli.analyses.score import risk_table
    from riskcli.cli.evaluating import queries_in
    from riskcli.page import document, unjudged

    texts = queries_in(queries, inputs)
    about = document.read_about(about_runs) if about_runs else {}
    evaluation = inputs.evaluate([*comparing.wanted, *also])
    table = risk_table(evaluation, options=comparing.options())
    further = [evaluation.added.get(name, name) for name in dict.fromkeys(also)]
    tables = document.comparisons_of(table, evaluation, further, both_populations)
    taken = None
    topics = evaluation.matrices[0].topics
    notes = [*tables[0].notes, *unjudged.taken(evaluation.matrices, tables).notes]
    notes += QueryTexts.of(texts, topics).notes(topics)
    if documents is not None:
        taken = document.documents_of(evaluation, documents, inputs.score_precision)
        size = len(document.compact(taken).encode()) / 1e6
        notes.append(Note("documents", f"documents make the page {size:.1f} MB larger", False))
    page = document.Page(
        title, evaluation.matrices, tables, collection, date, about, taken, queries=texts
    )
    tell(notes, inputs.quiet)
    emit(document.as_page(page), output)
    return inputs.exit_code(tables[0].skipped)
