"""`riskeval help`: what a measure, a column or an exit code means, at the terminal."""

from __future__ import annotations

import click

from riskcli.cli.group import program

WIDTH = 80


def _words(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    # Late: words come from all rooms, and only a shell that completes needs them here.
    from riskcli.app.glossary import known_words

    commands = ctx.find_root().command
    names = commands.list_commands(ctx) if isinstance(commands, click.Group) else []
    return [word for word in (*names, *known_words()) if word.startswith(incomplete)]


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("word", required=False, shell_complete=_words)
def help(word: str | None) -> None:  # noqa: A001
    """Explain WORD: a measure, a column, a heading or sign, an option, a policy, a code, a command.

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
        text = explained(word, group.every_command())
        for line in text.split("\n"):
            click.echo(click.wrap_text(line, WIDTH) if len(line) > WIDTH else line)
