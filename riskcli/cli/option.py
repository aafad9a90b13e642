"""How an option is declared: once, with everything that governs it.

A declaration holds the option's words, type and help, the heading it is shown under, whether it is
an option of the command line or only a key of settings files, and what a value that stands in a
settings file may reach. A settings file may be a stranger's, so an option that declares no reach
cannot be set there.
"""

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from enum import Enum, StrEnum
from functools import wraps
from typing import Any

import click

from riskcli.core.choices import words

Function = Callable[..., Any]


class Section(StrEnum):
    """Where the help shows an option, in this order."""

    MOST_USED = "Most used"
    OWN = "Of this command"
    COMPARISON = "Comparison"
    TESTS = "Tests"
    TABLES = "Tables"
    INPUT = "Input"
    MANY_RUNS = "Many runs"
    GENERAL = "General"


class Reach(Enum):
    """What a value in a settings file may reach; `cli/settings.py` confines each kind."""

    NOTHING = "no file and no host: a number, a word, a pattern"
    INPUT = "a file below the folder of the settings"
    NAME_OR_INPUT = "a name, or a file below that folder: NAME, FILE, NAME=FILE"
    LISTED_INPUT = "a text, or a file below that folder: @FILE"
    PATTERN_OR_INPUT = "a pattern, or a file below that folder: re:PATTERN, FILE"
    OUTPUT = "a file to write below that folder, which riskeval wrote or that is new"
    REPORT = "the same with the format before it: FORMAT=FILE"


class Option(click.Option):
    """An option that says where it is shown and what a settings file may do with it.

    `settings` is the reach of its value there; without it no settings file can set the option.
    With `key_only` it is a key of settings files and not an option of the command line. A key that
    is `never_ignored` is refused by a command that does not have it.
    """

    def __init__(
        self,
        *args: Any,
        heading: Section = Section.OWN,
        settings: Reach | None = None,
        key_only: bool = False,
        never_ignored: bool = False,
        **declared: Any,
    ) -> None:
        if key_only and settings is None:
            raise TypeError(f"{args[0]}: nothing could set this option")
        if key_only and not declared.get("is_flag"):
            declared.setdefault("default", () if declared.get("multiple") else None)
        super().__init__(*args, **declared)
        self.heading = heading
        self.settings = settings
        self.key_only = key_only
        self.never_ignored = never_ignored

    @property
    def key(self) -> str:
        """What it is called in a settings file: the long option."""
        return max(self.opts, key=len).removeprefix("--")

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Its line of help; one that is only a key is shown as in a settings file."""
        record = super().get_help_record(ctx)
        if record is None or not self.key_only:
            return record
        _, _, values = record[0].partition(" ")
        return f"{self.key} = {values or 'true'}", record[1]


def argument(name: str, **declared: Any) -> Any:
    """An argument as a field of a dataclass."""
    return field(default=(), kw_only=True, metadata={"argument": click.argument(name, **declared)})


def own_option(*names: str, **declared: Any) -> Callable[[Function], Function]:
    """An option of one command, as a decorator of its function."""
    return click.option(*names, cls=Option, **_with_choices(declared))


def option(*names: str, **declared: Any) -> Any:
    """An option as a field of a dataclass, from which `options` makes options of a command."""
    many = declared.get("multiple")
    default = declared.get("default", () if many else False if declared.get("is_flag") else None)
    return field(default=default, kw_only=True, metadata={"option": (names, declared)})


def _with_choices(declared: dict[str, Any]) -> dict[str, Any]:
    """`choice=Literal[...]` is a choice between its words; its default is shown."""
    choice = declared.pop("choice", None)
    if choice is None:
        return declared
    return {"show_default": "default" in declared, **declared, "type": click.Choice(words(choice))}


def one_option(group: type[Any], name: str, **instead: Any) -> Callable[[Function], Function]:
    """The option that a field of `group` declares, alone; `instead` are words of this command."""
    of = next(of for of in fields(group) if of.name == name)
    names, declared = of.metadata["option"]
    return own_option(*names, of.name, **{**declared, **instead})


def options(
    group: type[Any],
    name: str,
    instead: Mapping[str, Mapping[str, Any]] | None = None,
    **fixed: Any,
) -> Callable[[Function], Function]:
    """Give a command the options that the fields of `group` declare, gathered as one object.

    The command gets it as the argument `name`. `instead` holds what options declare differently
    for this command, by field; `fixed` the values of fields that are no option of it.
    """
    declared = [of for of in fields(group) if "option" in of.metadata and of.name not in fixed]
    arguments = [of.metadata["argument"] for of in fields(group) if "argument" in of.metadata]
    taken = {of.name for of in fields(group)} - fixed.keys()

    def decorate(command: Function) -> Function:
        @wraps(command)
        def with_group(**given: Any) -> Any:
            own = {key: given.pop(key) for key in list(given) if key in taken}
            return command(**{name: group(**own, **fixed)}, **given)

        for of in reversed(declared):
            one_option(group, of.name, **(instead or {}).get(of.name, {}))(with_group)
        for argument in reversed(arguments):
            argument(with_group)
        return with_group

    return decorate


class Command(click.Command):
    """A command of which some options are only keys of settings files."""

    keys: list[Option]

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        key_only = [p for p in self.params if isinstance(p, Option) and p.key_only]
        self.keys = key_only
        self.params = [param for param in self.params if param not in key_only]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, then take the keys that only settings files have."""
        try:
            rest = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name.removeprefix("--")
            if name not in {option.key for option in self.keys}:
                raise
            message = f"{error.option_name} is no option but a key of settings: put {name} = ... "
            raise click.UsageError(f"{message}into riskeval.toml", ctx) from error
        for key in self.keys:
            key.handle_parse_result(ctx, {}, [])
        return rest


def settable_options(command: click.Command) -> dict[str, Option]:
    """The options that a settings file can set, by their keys: those that declare a reach."""
    declared = [*command.params, *getattr(command, "keys", ())]
    return {o.key: o for o in declared if isinstance(o, Option) and o.settings is not None}
