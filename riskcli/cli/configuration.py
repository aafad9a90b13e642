"""Settings files and the options of commands: which key sets what, and what is in force."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from riskcli.cli.group import program
from riskcli.core.errors import UsageError, nearest
from riskcli.core.files import refuse_outside
from riskcli.core.settings import FILES, Setting, load_settings

QRELS_VARIABLE = "RISKEVAL_QRELS"
_STATED_DEFAULT = re.compile(r"\[default: ([^]]*)\]")
_NOT_SETTABLE = frozenset({"help", "profile", "list-rules"})


@dataclass(frozen=True)
class InForce:
    """An option's value and where it came from."""

    option: str
    value: Any
    source: str


def apply_settings(ctx: click.Context, _option: click.Parameter, profile: str | None) -> None:
    """Take the options' defaults from the settings files; the callback of --profile."""
    if profile is None and not any(Path(name).is_file() for name, _ in FILES):
        return
    settings = _checked(profile)
    defaults = dict(ctx.default_map or {})
    for key, option in settable(ctx.command):
        setting = settings.get(key)
        if setting is None or (key == "qrels" and os.environ.get(QRELS_VARIABLE)):
            continue
        if key == "qrels" and "profile" not in setting.source:
            continue  # found, and reported, where the judgements are looked for
        if key == "baseline":
            _refuse_strange_files(setting.value)
        defaults[str(option.name)] = _as_default(option, setting.value)
    ctx.default_map = defaults


def settable(command: click.Command) -> Iterator[tuple[str, click.Option]]:
    """The options that a settings file can set, by their keys."""
    for option in command.params:
        if isinstance(option, click.Option):
            key = max(option.opts, key=len).removeprefix("--")
            if key not in _NOT_SETTABLE:
                yield key, option


def in_force(command: click.Command, profile: str | None) -> list[InForce]:
    """Every option's value where the command line says nothing."""
    settings = _checked(profile)
    found = []
    for key, option in settable(command):
        if key == "qrels" and os.environ.get(QRELS_VARIABLE):
            found.append(InForce(key, os.environ[QRELS_VARIABLE], QRELS_VARIABLE))
        elif key in settings:
            found.append(InForce(key, settings[key].value, settings[key].source))
        else:
            found.append(InForce(key, _shown_default(option), "default"))
    return found


def _shown_default(option: click.Option) -> Any:
    """The default; of one that depends on other things, what the help says of it."""
    default = option.to_info_dict()["default"]
    if default is None or default == ():
        stated = _STATED_DEFAULT.search(option.help or "")
        return stated[1] if stated else None
    return list(default) if isinstance(default, tuple) else default


def _checked(profile: str | None) -> dict[str, Setting]:
    """The settings; a key that is no option of any command is an error."""
    settings = load_settings(profile)
    unknown = [key for key in settings if key not in _known_keys()]
    if unknown:
        key = unknown[0]
        hint = nearest(key, _known_keys())
        raise UsageError(f"{settings[key].source}: no option is called {key!r}{hint}")
    return settings


def _known_keys() -> set[str]:
    return {key for command in program().every_command() for key, _ in settable(command)}


def _as_default(option: click.Option, value: Any) -> Any:
    """The value in the shape that click expects of an option's default."""
    if option.multiple:
        return [str(item) for item in value] if isinstance(value, list) else [str(value)]
    if isinstance(value, list):
        key = max(option.opts, key=len)
        raise UsageError(f"{key.removeprefix('--')} takes one value, found a list in the settings")
    if option.is_flag:
        if not isinstance(value, bool):
            raise UsageError(f"{option.name} is {value!r} in the settings, expected true or false")
        return value
    return str(value)


def _refuse_strange_files(baselines: Any) -> None:
    """A baseline can be a file; one from settings must not reach out of this folder."""
    for name in baselines if isinstance(baselines, list) else [baselines]:
        for path in (str(name), str(name).partition("=")[2]):
            if os.sep in path or os.path.lexists(path):
                refuse_outside("baseline", Path(path))
