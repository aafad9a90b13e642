"""The program: its commands. A command's module is imported when it runs, or for its help."""

from importlib import import_module

import click

from riskcli.cli.help import LazyGroup
from riskcli.core.version import __version__

COMMANDS = {
    "score": "Risk table of the runs: effectiveness, URisk, TRisk, ZRisk, GeoRisk.",
    "explain": "How one run's value and its significance mark were computed.",
    "significance": "Which runs differ: all pairs, or each from the baseline.",
    "sweep": "How the verdict changes with alpha, baseline, measure or population.",
    "topics": "Where a run's risk comes from, topic by topic.",
    "population": "Freeze a population, so later runs do not change a leaderboard.",
    "check": "A gate for CI: do candidates hold up against a baseline?",
    "power": "Before a run: how many topics detect a loss, and which loss given topics detect.",
    "help": "Words, signs and codes explained; settings in force, citation, completion.",
    "validate": "Every problem in run files, with file, line and code.",
    "matrix": "The run × topic matrix of effectiveness scores itself.",
    "plot": "Figures for papers: SVG, PNG, PDF, HTML.",
    "store": "A store of scores: list it, verify it, remove what is old.",
    "organise": "From submissions to everything an organiser publishes and sends.",
    "report": "A leaderboard to publish: one HTML page, computed in the browser.",
    "train": "Train rankers that lose less against a baseline, and test whether they do.",
    "rank": "Rank documents with a learned model: a TREC run.",
    "demo": "Write sample runs and judgements to try the program with.",
}
"""Every command with the line that the help shows."""


ANNEXES = {
    "plot": "plots",
    "organise": "organise",
    "report": "page",
    "train": "learn",
    "rank": "learn",
}
"""The rooms of the commands that the core does without; each command is a module of its name."""


class Program(LazyGroup):
    """The commands, those of the annexes apart."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for title, apart in (("Commands", False), ("Figures, pages, learning", True)):
            with formatter.section(title):
                lines = self.summaries.items()
                formatter.write_dl([line for line in lines if (line[0] in ANNEXES) is apart])


def load_command(name: str) -> click.Command:
    """The command of that name, imported only now: no command pays for the others."""
    module = import_module(f"riskcli.{ANNEXES.get(name, 'commands')}.{name}")
    command: click.Command = getattr(module, name)
    return command


def _note_debug(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    ctx.ensure_object(dict)["debug"] = wanted


@click.group(
    cls=Program,
    summaries=COMMANDS,
    load=load_command,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="riskeval %(version)s")
@click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_note_debug,
    help="Print the traceback of a fault in riskeval itself.",
)
def riskeval() -> None:
    """Risk-sensitive evaluation of search systems.

    A mean hides the topics that a new system ruins; riskeval shows them. Try:

        riskeval score RUNS/ --baseline NAME

    Exit codes: 0 done; 1 done, and the answer is no; 2 wrong input or command line;
    70 a fault in riskeval itself; 130 or 143 interrupted.
    """
