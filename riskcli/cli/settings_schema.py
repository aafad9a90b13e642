"""The JSON Schema of settings files, made from the options themselves: editors complete by it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import click

from riskcli.cli.configuration import settable
from riskcli.core.settings import PROFILE

Schema = dict[str, Any]


def settings_schema(commands: Iterable[click.Command]) -> str:
    """What `riskeval.toml`, and `[tool.riskeval]` in `pyproject.toml`, may hold."""
    options: dict[str, list[click.Option]] = {}
    for command in commands:
        for key, option in settable(command):
            options.setdefault(key, []).append(option)
    keys = {spelled: _of(options[key]) for key in sorted(options) for spelled in _spellings(key)}
    profile = {"type": "object", "properties": keys, "additionalProperties": False}
    whole = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "riskeval settings",
        "type": "object",
        "properties": {
            **keys,
            PROFILE: {
                "type": "object",
                "description": "Further settings by name, used by --profile NAME.",
                "additionalProperties": profile,
            },
        },
        "additionalProperties": False,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _spellings(key: str) -> Iterator[str]:
    yield key
    if "-" in key:
        yield key.replace("-", "_")


def _of(options: Iterable[click.Option]) -> Schema:
    """The schema of a key; commands that mean different things by it make alternatives."""
    known: list[Schema] = []
    for option in options:
        schema = _value(option)
        if schema not in known:
            known.append(schema)
    help_ = next((option.help for option in options if option.help), "")
    values = known[0] if len(known) == 1 else {"anyOf": known}
    return {"description": help_, **values}


def _value(option: click.Option) -> Schema:
    if option.is_flag:
        return {"type": "boolean"}
    one = _one(option.type)
    return {"anyOf": [one, {"type": "array", "items": one}]} if option.multiple else one


def _one(kind: click.ParamType[Any]) -> Schema:
    """The schema of one value."""
    if isinstance(kind, click.Choice):
        return {"enum": list(kind.choices)}
    if isinstance(kind, click.IntRange | click.FloatRange):
        whole = isinstance(kind, click.IntRange)
        return {"type": "integer" if whole else "number", **_bounds(kind)}
    if isinstance(kind, type(click.INT)):
        return {"type": "integer"}
    if isinstance(kind, type(click.FLOAT)):
        return {"type": "number"}
    if isinstance(kind, click.Path):
        return {"type": "string", "minLength": 1}
    return {"type": ["string", "number"]}


def _bounds(kind: click.IntRange | click.FloatRange) -> Schema:
    bounds: Schema = {}
    if kind.min is not None:
        bounds["exclusiveMinimum" if kind.min_open else "minimum"] = kind.min
    if kind.max is not None:
        bounds["exclusiveMaximum" if kind.max_open else "maximum"] = kind.max
    return bounds
