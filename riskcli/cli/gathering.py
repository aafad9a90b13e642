"""How a group of options reaches a command: as one object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]
PATH = click.Path(path_type=Path)


class NotInSettings(click.Option):
    """An option that settings do not set: its name means something else in other commands."""


def gathered(
    command: Command,
    name: str,
    group: type[Any],
    options: Sequence[Callable[[Command], Command]],
    **fixed: Any,
) -> Command:
    """The command with these options, which reach it as one object called `name`.

    `fixed` are fields of the object that no option gives.
    """
    fields = list(group.__dataclass_fields__)

    @wraps(command)
    def gathering(**given: Any) -> Any:
        mine = {field: given.pop(field) for field in fields if field in given}
        return command(**{name: group(**mine, **fixed)}, **given)

    for option in reversed(options):
        option(gathering)
    return gathering
