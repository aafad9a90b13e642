"""Files that are named on the command line, or by a settings file that may be a stranger's.

Settings choose what is computed, not what is reached: a file that they name must lie below their
folder, and a file that they have the program write is announced.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from riskcli.core.files import refuse_outside
from riskcli.core.locations import Location, RemotePath, place_of
from riskcli.core.settings import settings_folder
from riskcli.output.escape import visible

STDIN = "/dev/stdin"


class InputPath(click.Path):
    """A file or folder to read; `-` is stdin."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value) == "":
            self.fail("an empty text names no file; the current folder is .", param, ctx)
        if isinstance(place_of(value), Location) and not is_from_settings(param, ctx):
            return place_of(value)
        path = super().convert(STDIN if str(value) == "-" else value, param, ctx)
        if is_from_settings(param, ctx):
            path = settings_folder() / os.fsdecode(path)
            refuse_outside(str(param and param.name), path, settings_folder())
        return path


class OutputPath(click.Path):
    """A file to write."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value) == "":
            self.fail("an empty text names no file", param, ctx)
        if isinstance(place_of(value), RemotePath) and not is_from_settings(param, ctx):
            return place_of(value)
        path = super().convert(value, param, ctx)
        if is_from_settings(param, ctx):
            path = announced_output(str(param and param.name), os.fsdecode(path))
        return path


INPUT, OUTPUT = InputPath(), OutputPath()


def is_from_settings(param: click.Parameter | None, ctx: click.Context | None) -> bool:
    """Whether a parameter's value stands in a settings file."""
    if param is None or ctx is None or param.name is None:
        return False
    return ctx.get_parameter_source(param.name) is ParameterSource.DEFAULT_MAP


def announced_output(key: str, name: str) -> Path:
    """The file that settings have written, beside them; it is told, whatever is quiet."""
    path = settings_folder() / name
    refuse_outside(key, path, settings_folder())
    click.echo(f"warning: the settings here ask for {key} = {visible(str(path))}", err=True)
    return path
