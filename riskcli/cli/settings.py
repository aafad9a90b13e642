"""Settings files and the options of commands: which key sets what, how far, and what is in force.

A settings file may be a stranger's: it comes with a checkout. It chooses what is computed, not
what is reached. Only options that declare a `Reach` can be set there, and each value is confined
here to what was declared before any command sees it.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from riskcli.cli.option import Option, Reach, program, settable_options
from riskcli.cli.types import PATTERN_MARK
from riskcli.core import settings as core_settings
from riskcli.core.files import LIST_MARK, refuse_foreign, refuse_location, refuse_outside
from riskcli.core.messages import UsageError, nearest
from riskcli.output.escape import visible

QRELS_VARIABLE = "RISKEVAL_QRELS"
_STATED_DEFAULT = re.compile(r"\[default: ([^]]*)\]")
_ASKED = "riskeval.settings"


def take_settings(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    """The callback of --config and of --profile, in whichever order they stand."""
    given = ctx.meta.setdefault(_ASKED, {})
    given[option.name] = value
    if option.name == "config" and value is not None:
        choose(ctx, value)
    if len(given) == 2:
        _apply(ctx, given["profile"])


def choose(ctx: click.Context, file: Path) -> None:
    """Take settings from this file alone, while the command runs."""
    token = core_settings.CHOSEN.set(file)
    ctx.call_on_close(lambda: core_settings.CHOSEN.reset(token))


def _apply(ctx: click.Context, profile: str | None) -> None:
    """Take the options' defaults from the settings."""
    if profile is None and not core_settings.settings_files():
        return
    settings = core_settings.load_settings(profile)
    options = settable_options(ctx.command)
    _refuse_unknown(settings, options, ctx.info_name)
    defaults = dict(ctx.default_map or {})
    for key, setting in settings.items():
        if key not in options:
            continue  # another command's
        if key == "qrels" and (os.environ.get(QRELS_VARIABLE) or "profile" not in setting.source):
            continue  # found, and reported, where the judgements are looked for
        option = options[key]
        default = _as_default(key, option, setting)
        try:
            option.type_cast_value(ctx, default)
        except click.BadParameter as error:
            raise UsageError(f"{setting.source}: {key}: {error.message}") from error
        defaults[str(option.name)] = _announced(key, option, default)
    ctx.default_map = defaults


def _announced(key: str, option: Option, default: Any) -> Any:
    """The default; for a file to be written a function, which click calls where it is needed.

    Then the file must be new or riskeval's own, and is announced, whatever is quiet.
    """
    if option.settings not in (Reach.OUTPUT, Reach.REPORT):
        return default

    def announce() -> Any:
        for text in default if isinstance(default, list) else [default]:
            path = Path(text.partition("=")[2] if option.settings is Reach.REPORT else text)
            with _advice_for(option):
                refuse_foreign(key, path)
            shown = visible(str(path))
            click.echo(f"warning: the settings here ask for {key} = {shown}", err=True)
        return default

    return announce


def _refuse_unknown(
    settings: dict[str, core_settings.Setting], options: Iterable[str], command: str | None
) -> None:
    """Refuse a key that no command has, or that this one must not pass over.

    Other commands are asked only for keys that this one does not have.
    """
    unknown = settings.keys() - set(options)
    if not unknown:
        return
    commands = program().every_command()
    known = {key: each for other in commands for key, each in settable_options(other).items()}
    for key in (key for key in settings if key in unknown):
        source = settings[key].source
        if key not in known:
            params = (param for each in commands for param in each.params)
            if any({key, f"--{key}"} & {*p.opts} for p in params if isinstance(p, click.Option)):
                raise UsageError(f"{source}: {key} is for the command line, not for settings files")
            raise UsageError(f"{source}: no option is called {key!r}{nearest(key, known)}")
        if known[key].never_ignored and command is not None:
            raise UsageError(
                f"{source}: {key} is set, and {command} does not have it; "
                "name other settings with --config"
            )


def _as_default(key: str, option: Option, setting: core_settings.Setting) -> Any:
    """The value, confined to what it may reach, in the shape that click expects of a default."""
    value = setting.value
    values = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not option.multiple:
        raise UsageError(f"{setting.source}: {key} takes one value, found a list")
    if option.is_flag:
        if not isinstance(value, bool):
            raise UsageError(f"{setting.source}: {key} is {value!r}, expected true or false")
        return value
    assert option.settings is not None
    with _advice_for(option):
        confined = [_confined(option.settings, key, str(each)) for each in values]
    return confined if option.multiple else confined[0]


@contextmanager
def _advice_for(option: Option) -> Iterator[None]:
    """Leave out the advice to give an option where there is only the key."""
    try:
        yield
    except UsageError as error:
        if not option.key_only:
            raise
        raise UsageError(str(error).partition("; give --")[0]) from error


def _confined(reach: Reach, key: str, text: str) -> str:
    """The value, where each file that it names is kept to what the option may reach."""
    name, equals, file = text.partition("=")
    match reach:
        case Reach.NOTHING:
            return text
        case Reach.NAME_OR_INPUT:
            return name_or_input(key, text)
        case Reach.LISTED_INPUT if not text.startswith(LIST_MARK):
            return text
        case Reach.LISTED_INPUT:
            return LIST_MARK + _input(key, text.removeprefix(LIST_MARK))
        case Reach.PATTERN_OR_INPUT if text.startswith(PATTERN_MARK):
            return text
        case Reach.REPORT:
            return f"{name}={_input(key, file)}" if equals and file else text
        case _:
            return _input(key, text)


def _input(key: str, name: str) -> str:
    """The file beside the settings, to read or to write; it must not lie elsewhere."""
    refuse_location(key, name)
    path = core_settings.settings_folder() / name
    refuse_outside(key, path, core_settings.settings_folder())
    return str(path)


def name_or_input(key: str, text: str) -> str:
    """A name, or the file that it names beside the settings; it must not lie elsewhere."""
    refuse_location(key, text)
    if (path := _file_beside(key, text)) is not None:
        return path
    name, equals, file = text.partition("=")
    path = _file_beside(key, file) if equals and file else None
    return text if path is None else f"{name}={path}"


def _file_beside(key: str, name: str) -> str | None:
    """The file of that name beside the settings; one in the current folder must lie below them."""
    folder = core_settings.settings_folder()
    for path in (folder / name, Path(name)):
        if os.sep in name or os.path.lexists(path):
            refuse_outside(key, path, folder)
    return str(folder / name) if os.path.lexists(folder / name) else None


def in_force(command: click.Command, profile: str | None) -> list[tuple[str, Any, str]]:
    """Every settable option, its value where the command line says nothing, and the source."""
    settings, options = core_settings.load_settings(profile), settable_options(command)
    _refuse_unknown(settings, options, None)
    values = []
    for key, option in options.items():
        if key == "qrels" and os.environ.get(QRELS_VARIABLE):
            values.append((key, os.environ[QRELS_VARIABLE], QRELS_VARIABLE))
        elif key in settings:
            values.append((key, settings[key].value, settings[key].source))
        else:
            values.append((key, _shown_default(option), "default"))
    return values


def _shown_default(option: click.Option) -> Any:
    """The default; of one that depends on other things, what the help says of it."""
    default = option.to_info_dict()["default"]
    if default is None or default == ():
        stated = _STATED_DEFAULT.search(option.help or "")
        return stated[1] if stated else None
    return list(default) if isinstance(default, tuple) else default


# The JSON Schema of settings files, made from the options themselves: editors complete by it.

Schema = dict[str, Any]


def settings_schema(commands: Iterable[click.Command]) -> str:
    """What `riskeval.toml`, and `[tool.riskeval]` in `pyproject.toml`, may hold."""
    options: dict[str, list[Option]] = {}
    for command in commands:
        for key, option in settable_options(command).items():
            options.setdefault(key, []).append(option)
    keys = {
        spelled: _schema_of(options[key])
        for key in sorted(options)
        for spelled in dict.fromkeys((key, key.replace("-", "_")))
    }
    profile = {"type": "object", "properties": keys, "additionalProperties": False}
    whole = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "riskeval settings",
        "type": "object",
        "properties": {
            **keys,
            core_settings.PROFILE: {
                "type": "object",
                "description": "Further settings by name, used by --profile NAME.",
                "additionalProperties": profile,
            },
        },
        "additionalProperties": False,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _schema_of(options: Iterable[Option]) -> Schema:
    """The schema of a key; commands that mean different things by it make alternatives."""
    schemas: list[Schema] = []
    for option in options:
        schema = _value_schema(option)
        if schema not in schemas:
            schemas.append(schema)
    help_ = next((option.help for option in options if option.help), "")
    values = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return {"description": help_, **values}


def _value_schema(option: click.Option) -> Schema:
    if option.is_flag:
        return {"type": "boolean"}
    one = _type_schema(option.type.to_info_dict())
    return {"anyOf": [one, {"type": "array", "items": one}]} if option.multiple else one


def _type_schema(kind: Mapping[str, Any]) -> Schema:
    """The schema of one value, by what click says of its type."""
    if "choices" in kind:
        return {"enum": list(kind["choices"])}
    if kind["name"] == "path":
        return {"type": "string", "minLength": 1}
    json_type = {"integer": "integer", "float": "number"}.get(kind["name"].split()[0])
    schema: Schema = {"type": json_type or ["string", "number"]}
    for end, word in (("min", "Minimum"), ("max", "Maximum")):
        if kind.get(end) is not None:
            schema[f"exclusive{word}" if kind[f"{end}_open"] else word.lower()] = kind[end]
    return schema
