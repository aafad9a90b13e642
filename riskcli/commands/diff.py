"""`riskeval diff`: what changed between two runs."""

from pathlib import Path

from riskcli.cli.option import Reach, Section, command, own_option
from riskcli.cli.options import Output, conclude, full_option, output_options
from riskcli.cli.reading import Inputs, queries_option, two_runs_options
from riskcli.cli.types import FROM_1


@command(two_runs_options, queries_option, output_options())
@own_option(
    "--topic", "asked", multiple=True, metavar="TOPIC", settings=Reach.NOTHING,
    help="Both rankings of this topic side by side; repeatable. [default: all topics, in a table]",
)  # fmt: skip
@own_option(
    "--top", type=FROM_1, settings=Reach.NOTHING, heading=Section.MOST_USED,
    help="Only the N topics that lost most; of a topic, the first N documents.",
)  # fmt: skip
@full_option("every topic or rank, by every measure")
def diff(
    inputs: Inputs,
    queries: Path | None,
    output: Output,
    asked: tuple[str, ...],
    top: int | None,
    full: bool,
) -> int:
    """What changed from BASELINE to RUN, the new one: which topics, and which documents.

    Topics stand most lost first, with both scores, how far unjudged documents could move the
    difference, and how far the rankings moved. With --topic each document has its grade, where it
    came from, and its part of the difference; for a measure that is a sum over documents the parts
    add up to it.
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses import diff as analysis
    from riskcli.cli.evaluating import queries_in, two_runs

    texts = queries_in(queries, inputs)
    evaluation, run, baseline = two_runs(inputs, output.output_format.checksums)
    found = analysis.diff(evaluation, baseline, run=run, topic=asked, queries=texts)
    return conclude(found.top(top) if top else found, inputs, output, full)
