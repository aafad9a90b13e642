"""`riskeval population`: a population kept in a file, so that a leaderboard holds still."""

from pathlib import Path

import click

from riskcli.cli.option import LazyGroup, command
from riskcli.cli.options import Output, output_options, tell, write
from riskcli.cli.reading import Inputs, input_options
from riskcli.cli.types import PATH
from riskcli.output.formats import emit
from riskcli.output.overwriting import refuse_to_replace

SUMMARIES = {
    "freeze": "Write the population that the runs make to a file.",
    "show": "What is in such a file: runs, teams, weights, hash.",
}


def _load(name: str) -> click.Command:
    return {"freeze": freeze, "show": show}[name]


_EXAMPLES = """\b
Try:
  riskeval population freeze RUNS/ -o population.json
  riskeval score MORE_RUNS/ --population population.json"""


@click.group(cls=LazyGroup, summaries=SUMMARIES, load=_load, epilog=_EXAMPLES)
def population() -> None:
    """A population kept in a file, so that a leaderboard holds still.

    ZRisk and GeoRisk expect scores from a population. By default that is all runs given, so
    whoever joins changes everybody's figures. With --population FILE each run's figures depend on
    nothing but itself and the file.
    """


@command(input_options)
@click.option(
    "-o", "--output", type=PATH,
    help="Write to this file; an existing result is replaced, an input never. [default: stdout]",
)  # fmt: skip
def freeze(inputs: Inputs, output: Path | None) -> int:
    """Write the population that RUNS make to a file.

    It holds, for every measure: the topics, each run's score on each of them, the teams
    (--teams), the totals, the settings and checksums that all of this rests on, and a hash.
    """
    from riskcli.analyses import population as analysis  # late: help needs no numpy

    if output is not None:
        refuse_to_replace(output)
    evaluation = inputs.evaluate()
    made = analysis.freeze(evaluation)
    tell(evaluation.notes, inputs.quiet)
    emit(made.to_json(), output)
    return inputs.exit_code(evaluation.skipped)


@command()
@click.argument("file", type=PATH)
@output_options()
def show(file: Path, output: Output) -> int:
    """What is in a population FILE: runs, teams, weights, topics, hash.

    A run weighs one, or one over the distinct runs of its team; copies of a run share its weight.
    """
    from riskcli.analyses import population as analysis  # late, as above

    write(analysis.members(file), output)
    return 0
