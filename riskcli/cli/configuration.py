"""Settings files and the options of commands: which key sets what, and what is in force."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from riskcli.cli.gathering import NotInSettings
from riskcli.cli.group import program
from riskcli.core.files import LIST_MARK, refuse_outside
from riskcli.core.messages import UsageError, nearest
from riskcli.core.settings import CHOSEN, Setting, load_settings, settings_files, settings_folder

QRELS_VARIABLE = "RISKEVAL_QRELS"
_STATED_DEFAULT = re.compile(r"\[default: ([^]]*)\]")
_NOT_SETTABLE = frozenset({"help", "profile", "config", "list-rules"})
_ASKED = "riskeval.settings"
_NAMES_OR_FILES = ("baseline", "population")
_MAYBE_FILES = ("require", "only-topics")
"""Keys whose value may be @FILE."""


@dataclass(frozen=True)
class InForce:
    """An option's value and where it came from."""

    option: str
    value: Any
    source: str


def take_settings(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    """The callback of --config and of --profile, in whichever order they stand."""
    asked = ctx.meta.setdefault(_ASKED, {})
    asked[option.name] = value
    if option.name == "config" and value is not None:
        choose(ctx, value)
    if len(asked) == 2:
        _apply(ctx, asked["profile"])


def choose(ctx: click.Context, file: Path) -> None:
    """Take settings from this file alone, while the command runs."""
    token = CHOSEN.set(file)
    ctx.call_on_close(lambda: CHOSEN.reset(token))


def _apply(ctx: click.Context, profile: str | None) -> None:
    """Take the options' defaults from the settings."""
    if profile is None and not settings_files():
        return
    settings = _checked(profile)
    defaults = dict(ctx.default_map or {})
    for key, option in settable(ctx.command):
        setting = settings.get(key)
        if setting is None or (key == "qrels" and os.environ.get(QRELS_VARIABLE)):
            continue
        if key == "qrels" and "profile" not in setting.source:
            continue  # found, and reported, where the judgements are looked for
        value = setting.value
        if key in _NAMES_OR_FILES:
            value = [_beside_settings(key, str(name)) for name in _listed(value)]
        if key in _MAYBE_FILES:
            value = [_file_beside_settings(key, str(text)) for text in _listed(value)]
        default = _as_default(key, option, value, setting.source)
        _check_default(ctx, key, option, default, setting.source)
        defaults[str(option.name)] = default
    ctx.default_map = defaults


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _check_default(
    ctx: click.Context, key: str, option: click.Option, default: Any, source: str
) -> None:
    """Refuse a value that the option would refuse, naming its file and key."""
    try:
        option.type_cast_value(ctx, default)
    except click.BadParameter as error:
        raise UsageError(f"{source}: {key}: {error.message}") from error


def settable(command: click.Command) -> Iterator[tuple[str, click.Option]]:
    """The options that a settings file can set, by their keys."""
    for option in command.params:
        if isinstance(option, click.Option) and not isinstance(option, NotInSettings):
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


def _as_default(key: str, option: click.Option, value: Any, source: str) -> Any:
    """The value in the shape that click expects of an option's default."""
    if option.multiple:
        return list(map(str, _listed(value)))
    if isinstance(value, list):
        raise UsageError(f"{source}: {key} takes one value, found a list")
    if option.is_flag:
        if not isinstance(value, bool):
            raise UsageError(f"{source}: {key} is {value!r}, expected true or false")
        return value
    return str(value)


def _beside_settings(key: str, name: str) -> str:
    """A name, or the file that it names beside the settings; it must not lie elsewhere."""
    folder = settings_folder()
    given, equals, rest = name.partition("=")
    for path in (name, rest):
        if path and (os.sep in path or os.path.lexists(folder / path)):
            refuse_outside(key, folder / path, folder)
    if os.path.lexists(folder / name):
        return str(folder / name)
    named = bool(equals and rest) and os.path.lexists(folder / rest)
    return f"{given}={folder / rest}" if named else name


def _file_beside_settings(key: str, text: str) -> str:
    """A text, or the file behind @ beside the settings; it must not lie elsewhere."""
    if not text.startswith(LIST_MARK):
        return text
    folder = settings_folder()
    path = folder / text.removeprefix(LIST_MARK)
    refuse_outside(key, path, folder)
    return f"{LIST_MARK}{path}"
