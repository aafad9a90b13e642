"""`riskeval topics`: where a run's risk comes from."""

from pathlib import Path

from riskcli.cli.option import Reach, Section, command, own_option
from riskcli.cli.options import (
    Against,
    Output,
    against_options,
    conclude,
    full_option,
    output_options,
)
from riskcli.cli.progress import on_terminal
from riskcli.cli.reading import Inputs, bounded_input_options, queries_option
from riskcli.cli.types import FROM_1, SHARE, runs
from riskcli.core.choices import TopicOrder


@command(bounded_input_options, queries_option, against_options, output_options())
@own_option(
    "--run", "names", multiple=True, metavar="NAME", shell_complete=runs, settings=Reach.NOTHING,
    help="Show this run (or glob) of RUNS, topic by topic; repeatable. [default: the topics on "
    "which most runs lose]",
)  # fmt: skip
@full_option("every topic of every run")
@own_option(
    "--order", choice=TopicOrder, default="loss", settings=Reach.NOTHING,
    help="Largest loss first, or in the order of the topics.",
)  # fmt: skip
@own_option(
    "--only-flagged", is_flag=True, settings=Reach.NOTHING, key_only=True,
    help="Only topics whose TR or TJ is significant.",
)  # fmt: skip
@own_option(
    "--top", type=FROM_1, settings=Reach.NOTHING, heading=Section.MOST_USED,
    help="Only the first N topics of each run.",
)  # fmt: skip
@own_option(
    "--columns", metavar="NAMES", settings=Reach.NOTHING, heading=Section.MOST_USED,
    help="Only these, in every format: score, delta, w, ...; churn: how far the ranking of "
    "documents moved from the baseline's (distance, rbo, overlap, ...: run files are read again).",
)  # fmt: skip
@own_option(
    "--depth", type=FROM_1, settings=Reach.NOTHING, key_only=True,
    help="Churn: compare the first N documents of each ranking. [default: all]",
)  # fmt: skip
@own_option(
    "--at", type=FROM_1, default=10, settings=Reach.NOTHING, key_only=True,
    help="Churn: overlap of the first N documents.",
)  # fmt: skip
@own_option(
    "--persistence", type=SHARE, default=0.9, settings=Reach.NOTHING, key_only=True,
    help="Churn: RBO's persistence.",
)  # fmt: skip
def topics(
    inputs: Inputs,
    queries: Path | None,
    against: Against,
    output: Output,
    names: tuple[str, ...],
    full: bool,
    order: TopicOrder,
    only_flagged: bool,
    top: int | None,
    columns: str | None,
    depth: int | None,
    at: int,
    persistence: float,
) -> int:
    """Where the risk of RUNS comes from, topic by topic.

    A terminal shows the topics on which most runs lose. With --run, --full, --columns or --top, in
    files and in other formats, each topic has its scores, the difference as the loss counts it (w),
    how far it stands out (TR, TJ of SIGIR'14), and for ZRisk the expected score, z and its share.
    The last line of a run holds the figures of `riskeval score`. With
    --columns churn: how far its rankings of documents are from the baseline's (SIGIR'12).
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.churn import churn_table
    from riskcli.analyses.topics import asks_for_churn, topic_table
    from riskcli.cli.evaluating import queries_in

    texts = queries_in(queries, inputs)
    scores = inputs.evaluate(against.wanted, against.needs_checksums(output))
    options, churn = against.options(), None
    shown = [name.strip() for name in columns.split(",")] if columns else []
    if asks_for_churn(shown):
        with on_terminal(inputs.quiet) as progress:
            churn = churn_table(
                scores, options.baselines, depth=depth, at=at, persistence=persistence,
                jobs=inputs.jobs, max_bytes=inputs.max_bytes, progress=progress,
            )  # fmt: skip
    table = topic_table(
        scores, runs=names, order=order, options=options, churn=churn, queries=texts
    )
    table = table.of_columns(shown)
    table = table.only_flagged() if only_flagged else table
    return conclude(table.top(top) if top else table, inputs, output, full)
