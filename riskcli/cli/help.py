"""Help, and a program of many commands, each imported only when it runs or its help is asked for.

`--help` describes what a first use needs and names the rest; `riskeval help COMMAND` describes
everything.
"""

from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import Any

import click

from riskcli.cli.option import Command, Option, Section
from riskcli.core.messages import nearest

_FEW = 20
"""So many options are all described."""
KEYS = "Only in riskeval.toml"
"""Where the help shows options that are keys of settings files alone."""


class LazyGroup(click.Group):
    """`summaries` are the lines of the help by command, `load` imports one."""

    def __init__(
        self,
        *args: Any,
        summaries: Mapping[str, str] | None = None,
        load: Callable[[str], click.Command] | None = None,
        **given: Any,
    ) -> None:
        super().__init__(*args, **given)
        self.summaries = dict(summaries or {})
        self._load = load

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.summaries)

    def get_command(self, ctx: click.Context, name: str) -> click.Command:
        if name in self.summaries and self._load is not None:
            return self._load(name)
        hint = nearest(name, self.summaries)
        known = f"; the commands are {', '.join(self.summaries)}"
        raise click.UsageError(f"no command named {name!r}{hint or known}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))

    def every_command(self) -> list[click.Command]:
        """All commands, imported."""
        context = click.get_current_context()
        return [self.get_command(context, name) for name in self.summaries]


def program() -> LazyGroup:
    """The program that the command which runs belongs to."""
    group = click.get_current_context().find_root().command
    assert isinstance(group, LazyGroup)
    return group


class GroupedCommand(Command):
    """A command whose help has its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Every option, described."""
        for title, records in _sections(self, ctx).items():
            with formatter.section(title):
                formatter.write_dl(list(records.values()))

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """`--help` shows one screen."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_one_screen
        return option

    def one_screen(self, ctx: click.Context) -> str:
        """The help with the most used options and the command's own; the others by their names."""
        sections = _sections(self, ctx)
        if sum(map(len, sections.values())) <= _FEW:
            return self.get_help(ctx)
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        for title in (Section.MOST_USED, Section.OWN):
            if title in sections:
                with formatter.section(title):
                    formatter.write_dl(list(sections.pop(title).values()))
        more = "\n".join(["More options:", *_lines(sections, formatter.width)])
        after = ctx.make_formatter()
        self.format_epilog(ctx, after)
        command = ctx.command_path.partition(" ")[2]
        last = f"`riskeval help {command}` describes them all, `riskeval help --OPTION` one."
        parts = [formatter.getvalue(), more, after.getvalue().strip("\n"), last]
        return "\n\n".join(part.rstrip("\n") for part in parts if part)


def _lines(sections: Mapping[str, Sequence[str] | Mapping[str, Any]], width: int) -> list[str]:
    """A line or two for each group; no option is broken at its hyphens."""
    edge = max(map(len, sections), default=0) + 4
    lines: list[str] = []
    for title, names in sections.items():
        text = wrap(", ".join(names), width - edge, break_on_hyphens=False)
        starts = [f"  {title}".ljust(edge), *[" " * edge] * len(text)]
        lines += [f"{start}{line}" for start, line in zip(starts, text, strict=False)]
    return lines


def _show_one_screen(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        assert isinstance(ctx.command, GroupedCommand)
        click.echo(ctx.command.one_screen(ctx), color=ctx.color)
        ctx.exit()


def _sections(command: Command, ctx: click.Context) -> dict[str, dict[str, tuple[str, str]]]:
    """The lines of help by heading, then by the option's long name."""
    sections: dict[str, dict[str, tuple[str, str]]] = {title: {} for title in (*Section, KEYS)}
    for option in (*command.get_params(ctx), *command.keys):
        if isinstance(option, click.Option) and (record := option.get_help_record(ctx)):
            sections[_heading(option)][_name(option)] = record
    return {title: records for title, records in sections.items() if records}


def _heading(option: click.Option) -> str:
    if isinstance(option, Option):
        return KEYS if option.key_only else option.heading
    return Section.GENERAL if "--help" in option.opts else Section.OWN


def _name(option: click.Option) -> str:
    """The long option, or the key."""
    if isinstance(option, Option) and option.key_only:
        return option.key
    return next((name for name in option.opts if name.startswith("--")), option.opts[0])
