"""A program of many commands, each imported only when it runs or its own help is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from riskcli.core.messages import nearest


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
