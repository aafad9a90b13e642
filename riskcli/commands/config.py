"""`riskeval config`: what is in force, and where it came from."""

from __future__ import annotations

from pathlib import Path

import click

from riskcli.cli.completing import among, profiles
from riskcli.cli.help import program
from riskcli.cli.options import Output, output_options
from riskcli.cli.output import write
from riskcli.cli.settings import choose, in_force, settings_schema
from riskcli.cli.types import PATH
from riskcli.core.provenance import Provenance
from riskcli.output.display import Cell, Display, Heading
from riskcli.output.formats import View, emit
from riskcli.output.result import Result


def _commands(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    group = ctx.find_root().command
    names = group.list_commands(ctx) if isinstance(group, click.Group) else []
    return [name for name in names if name.startswith(incomplete)]


@click.command()
@click.argument(
    "command",
    default="score",
    metavar="[COMMAND]",
    shell_complete=_commands,
)
@click.option(
    "--profile",
    metavar="NAME",
    shell_complete=among(profiles),
    help="Settings of this profile, too.",
)
@click.option("--config", "file", type=PATH, metavar="FILE", help="Settings of this file alone.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of settings, for editors.")
@output_options()
@click.pass_context
def config(
    ctx: click.Context,
    command: str,
    profile: str | None,
    file: Path | None,
    schema: bool,
    output: Output,
) -> None:
    """The options of COMMAND (score) as they are in force here, and where each value came from.

    Settings are in riskeval.toml, or under [tool.riskeval] in pyproject.toml, here or in a parent
    folder of the repository: the long options as keys. Those in a table [profile.NAME] count with
    --profile NAME. The command line wins.
    """
    if schema:
        emit(settings_schema(program().every_command()), output.output)
        return
    if file is not None:
        choose(ctx, file)
    found = in_force(program().get_command(click.get_current_context(), command), profile)
    rows = [(item.option, _spelled(item.value), item.source) for item in found]
    result = Result(
        ("option", "value", "source"), rows, Provenance({"command": command, "profile": profile})
    )
    headings = [Heading(name, left=True) for name in result.columns]
    cells = [[Cell(text) for text in row] for row in rows]
    write(View(lambda: result, lambda _: [Display.of_rows("", headings, cells)]), output)


def _spelled(value: object) -> str:
    """The value as it would stand on the command line."""
    if value is None or value == []:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
