"""`riskeval help`: what a measure, a column or an exit code means, at the terminal."""

from __future__ import annotations

import click

from riskcli.cli.group import program


@click.command()
@click.argument("word", required=False)
def help(word: str | None) -> None:  # noqa: A001
    """Explain WORD: a risk measure, a column, an effectiveness measure, a command, an exit code.

    Without WORD: all that can be explained.
    """
    # Late: words come from all rooms; `help COMMAND` and the list of commands need none of them.
    from riskcli.app.glossary import explained, overview

    group, context = program(), click.get_current_context()
    if word is None:
        click.echo(overview(group.summaries))
    elif word in group.summaries:
        command = group.get_command(context, word)
        click.echo(command.get_help(click.Context(command, context.parent, info_name=word)))
    else:
        click.echo(explained(word))
