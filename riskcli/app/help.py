"""`riskeval help`: what a measure, a column or an exit code means, at the terminal."""

from __future__ import annotations

import click


@click.command()
@click.argument("word", required=False)
def help(word: str | None) -> None:  # noqa: A001
    """Explain WORD: a risk measure, a column, an effectiveness measure, a command, an exit code.

    Without WORD: all that can be explained.
    """
    from riskcli.app import COMMANDS, load_command
    from riskcli.app.glossary import explained, overview

    if word is None:
        click.echo(overview(COMMANDS))
    elif word in COMMANDS:
        command = load_command(word)
        click.echo(
            command.get_help(
                click.Context(command, click.get_current_context().parent, info_name=word)
            )
        )
    else:
        click.echo(explained(word))
