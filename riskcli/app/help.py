"""`riskeval help`: what a measure, a column or an exit code means, at the terminal."""

from __future__ import annotations

from types import ModuleType

import click

from riskcli.cli.group import program

WIDTH = 80


def _glossary() -> ModuleType:
    """Loaded late: words come from all rooms, and `help COMMAND` needs none of them."""
    import riskcli.app.glossary as glossary

    return glossary


def _words(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    commands = ctx.find_root().command
    names = commands.list_commands(ctx) if isinstance(commands, click.Group) else []
    return [word for word in (*names, *_glossary().known_words()) if word.startswith(incomplete)]


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("word", required=False, shell_complete=_words)
def help(word: str | None) -> None:  # noqa: A001
    """Explain WORD: a measure, a column, a heading or sign, an option, a policy, a code, a command.

    Without WORD: all that can be explained.
    """
    group, context = program(), click.get_current_context()
    if word is None:
        click.echo(_glossary().overview(group.summaries))
    elif word in group.summaries:
        command = group.get_command(context, word)
        click.echo(command.get_help(click.Context(command, context.parent, info_name=word)))
    else:
        text = _glossary().explained(word, group.every_command())
        for line in text.split("\n"):
            click.echo(click.wrap_text(line, WIDTH) if len(line) > WIDTH else line)
