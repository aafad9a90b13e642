"""`riskeval topics`: where a run's risk comes from."""

from __future__ import annotations

import click

from riskcli.cli.completing import runs
from riskcli.cli.help import GroupedCommand
from riskcli.cli.option import Heading, Reach, own_option
from riskcli.cli.options import Against, Output, against_options, output_options
from riskcli.cli.output import conclude
from riskcli.cli.reading import Inputs, input_options
from riskcli.core.choices import TopicOrder, words


@click.command(cls=GroupedCommand)
@input_options
@against_options
@output_options()
@own_option(
    "--run",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=runs,
    settings=Reach.NOTHING,
    help="Show this run (or glob) of RUNS; repeatable. [default: all but the baseline]",
)
@own_option(
    "--order",
    type=click.Choice(words(TopicOrder)),
    default="loss",
    show_default=True,
    settings=Reach.NOTHING,
    help="Largest loss first, or in the order of the topics.",
)
@own_option(
    "--only-flagged",
    is_flag=True,
    settings=Reach.NOTHING,
    key_only=True,
    help="Only topics whose TR or TJ is significant.",
)
@own_option(
    "--top",
    type=click.IntRange(min=1),
    settings=Reach.NOTHING,
    heading=Heading.MOST_USED,
    help="Only the first N topics of each run.",
)
def topics(
    inputs: Inputs,
    against: Against,
    output: Output,
    names: tuple[str, ...],
    order: TopicOrder,
    only_flagged: bool,
    top: int | None,
) -> int:
    """Where the risk of RUNS comes from, topic by topic.

    Prints each topic's scores, the difference as the loss counts it (w), how far it stands out
    (TR, TJ of SIGIR'14), and for ZRisk the expected score, z and the topic's share. The last line
    of a run holds the figures of `riskeval score`.
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.topics import topic_table

    table = topic_table(
        inputs.evaluate(against.wanted, against.needs_checksums(output)),
        runs=names,
        order=order,
        options=against.options(),
    )
    table = table.only_flagged() if only_flagged else table
    return conclude(table.top(top) if top else table, inputs, output)
