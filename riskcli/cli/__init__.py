"""The commands. A command's module is imported when it runs, or for its line in the help."""

from __future__ import annotations

from importlib import import_module

import click

from riskcli.version import __version__

COMMANDS = {
    "score": "Risk table of the runs: effectiveness, URisk, TRisk, ZRisk, GeoRisk.",
    "explain": "How one run's number and its flag came about.",
    "significance": "Which runs differ: all pairs, or each from the baseline.",
    "sweep": "At which alpha verdicts change: swaps, significance, break-even.",
    "bias": "How far the verdict depends on the baseline: each run in turn.",
    "agree": "How far rankings by the measures agree.",
    "topics": "Where a run's risk comes from, topic by topic.",
    "check": "A gate for CI: do candidates hold up against a baseline?",
    "config": "The options in force here, and where each value came from.",
    "help": "What a measure, a column or an exit code means.",
    "validate": "All that is wrong with run files, with file, line and code.",
    "matrix": "The run × topic matrix of effectiveness scores itself.",
    "plot": "Figures for papers: SVG, PNG, PDF, HTML.",
    "report": "A leaderboard to publish: one page that computes in the browser.",
}
"""Every command with the line that the help shows; its module bears its name."""


def load_command(name: str) -> click.Command:
    """The command of that name."""
    command = getattr(import_module(f"riskcli.cli.{name}"), name)
    assert isinstance(command, click.Command)
    return command


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in COMMANDS:
            return load_command(name)
        from riskcli.errors import nearest

        known = self.list_commands(ctx)
        hint = nearest(name, known) or f"; the commands are {', '.join(known)}"
        raise click.UsageError(f"no command named {name!r}{hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="riskeval %(version)s")
def riskeval() -> None:
    """Risk-sensitive evaluation of search systems.

    A mean hides the topics that a new system ruins; riskeval shows them. Try:

        riskeval score RUNS/ --baseline NAME

    Exit codes: 0 done; 1 done, and the answer is no; 2 wrong input or command line.
    """
