"""How a command and its options are declared, and how help shows them.

An option is declared once, with everything that governs it: its words, type and help, the heading
it is shown under, whether it is an option of the command line or only a key of settings files, and
what a value that stands in a settings file may reach. A settings file may be a stranger's, so an
option that declares no reach cannot be set there.

`--help` describes what a first use needs and names the rest; `riskeval help COMMAND` describes
everything.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, fields
from enum import Enum, StrEnum
from functools import partial, wraps
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from riskcli.core.choices import words
from riskcli.core.inputs import refuse_same
from riskcli.core.messages import RiskevalError, nearest

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]
_AS = "as"
"""Where a field of a dataclass holds what makes an option or an argument of it."""


class Section(StrEnum):
    """Where the help shows an option, in this order."""

    MOST_USED = "Most used"
    OWN = "Of this command"
    RATCHET = "With --ratchet"
    COMPARISON = "Comparison"
    TESTS = "Tests"
    TABLES = "Tables"
    INPUT = "Input"
    MANY_RUNS = "Many runs"
    GENERAL = "General"
    KEYS = "Only in riskeval.toml"


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
        self.heading = Section.KEYS if key_only else heading
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


def argument(**declared: Any) -> Any:
    """An argument as a field of a dataclass."""
    return field(default=(), kw_only=True, metadata={_AS: partial(click.argument, **declared)})


def own_option(*names: str, choice: Any = None, **declared: Any) -> Decorator:
    """An option of one command, as a decorator of its function.

    `choice=Literal[...]` is a choice between its words. A default is shown unless told otherwise.
    """
    if choice is not None:
        declared["type"] = click.Choice(words(choice))
    shown = {"show_default": bool(declared.get("default")), **declared}
    return click.option(*names, cls=Option, **shown)


def option(*names: str, **declared: Any) -> Any:
    """An option as a field of a dataclass, from which `options` makes options of a command."""
    many = declared.get("multiple")
    default = declared.get("default", () if many else False if declared.get("is_flag") else None)
    metadata = {_AS: partial(own_option, *names, **declared)}
    return field(default=default, kw_only=True, metadata=metadata)


def one_option(group: type[Any], name: str, **instead: Any) -> Decorator:
    """What a field of `group` declares, alone; `instead` are words of this command."""
    declared = next(of.metadata[_AS] for of in fields(group) if of.name == name)
    decorator: Decorator = declared(name, **instead)
    return decorator


def options(
    group: type[Any],
    name: str,
    instead: Mapping[str, Mapping[str, Any]] | None = None,
    **fixed: Any,
) -> Decorator:
    """Give a command the options that the fields of `group` declare, gathered as one object.

    The command gets it as the argument `name`. `instead` holds what options declare differently
    for this command, by field; `fixed` the values of fields that are no option of it.
    """
    taken = {of.name: of.metadata for of in fields(group) if of.name not in fixed}
    declared = [of for of, metadata in taken.items() if _AS in metadata]

    def decorate(command: Function) -> Function:
        @wraps(command)
        def with_group(**given: Any) -> Any:
            own = {key: given.pop(key) for key in list(given) if key in taken}
            return command(**{name: group(**own, **fixed)}, **given)

        for of in reversed(declared):
            one_option(group, of, **(instead or {}).get(of, {}))(with_group)
        return with_group

    return decorate


class Command(click.Command):
    """A command of which some options are only keys of settings files."""

    tell_refusal: Callable[[Exception, Sequence[str]], None] | None = None
    """What is done where the command line, or a settings file, cannot be parsed."""
    one_of: tuple[str, ...] = ()
    """Options of which one must be given."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self.keys = [p for p in self.params if isinstance(p, Option) and p.key_only]
        self.params = [param for param in self.params if param not in self.keys]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, then take the keys that only settings files have."""
        words = list(args)
        try:
            rest = self._parsed(ctx, args)
        except (click.UsageError, RiskevalError) as error:
            if self.tell_refusal is not None and not ctx.resilient_parsing:
                self.tell_refusal(error, words)
            raise
        given = ctx.params
        files = (given.get(name) for name in ("ratchet", "anonymise", "pool"))
        further = [file for file in files if isinstance(file, Path)]  # --pool is none
        reports = [file for _, file in given.get("reports", ())]
        refuse_same([given.get("output"), *further, *reports])
        return rest

    def _parsed(self, ctx: click.Context, args: list[str]) -> list[str]:
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
        lacking = [p for p in self.params if p.name in self.one_of and not ctx.params[p.name]]
        if self.one_of and len(lacking) == len(self.one_of) and not ctx.resilient_parsing:
            hints = " or ".join(" / ".join(map(repr, each.opts)) for each in lacking)
            raise click.UsageError(f"Missing option {hints}.", ctx)
        return rest


def settable_options(command: click.Command) -> dict[str, Option]:
    """The options that a settings file can set, by their keys: those that declare a reach."""
    declared = [*command.params, *getattr(command, "keys", ())]
    return {o.key: o for o in declared if isinstance(o, Option) and o.settings is not None}


# Help, and a program of many commands, each imported only when it runs or its help is asked for.


_FEW = 20
"""So many options are all described."""


class LazyGroup(click.Group):
    """`summaries` are the lines of the help by command, `load` imports one."""

    def __init__(
        self,
        *args: Any,
        summaries: Mapping[str, str],
        load: Callable[[str], click.Command],
        **given: Any,
    ) -> None:
        super().__init__(*args, **given)
        self.summaries = summaries
        self._load = load

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.summaries)

    def get_command(self, ctx: click.Context, name: str) -> click.Command:
        if name in self.summaries:
            return self._load(name)
        hint = nearest(name, self.summaries)
        known = f"; the commands are {', '.join(self.summaries)}"
        raise click.UsageError(f"no command named {name!r}{hint or known}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))

    def every_command(self) -> list[click.Command]:
        """All commands, imported."""
        return list(map(self._load, self.summaries))


def program() -> LazyGroup:
    """The program that the command which runs belongs to."""
    group = click.get_current_context().find_root().command
    assert isinstance(group, LazyGroup)
    return group


class GroupedCommand(Command):
    """A command whose help has its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Every option, described."""
        _write(formatter, self._sections(ctx))

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """`--help` shows one screen."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = self._show_one_screen
        return option

    def _show_one_screen(self, ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            click.echo(self._one_screen(ctx), color=ctx.color)
            ctx.exit()

    def _one_screen(self, ctx: click.Context) -> str:
        """The help with the most used options and the command's own; the others by their names."""
        sections = self._sections(ctx)
        if sum(map(len, sections.values())) <= _FEW:
            return self.get_help(ctx)
        formatter, after = ctx.make_formatter(), ctx.make_formatter()
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        first = (Section.MOST_USED, Section.OWN)
        _write(formatter, {title: sections.pop(title) for title in first if title in sections})
        more = "\n".join(["More options:", *_lines(sections, formatter.width)])
        self.format_epilog(ctx, after)
        command = ctx.command_path.partition(" ")[2]
        last = f"`riskeval help {command}` describes them all, `riskeval help --OPTION` one."
        parts = [formatter.getvalue(), more, after.getvalue().strip("\n"), last]
        return "\n\n".join(part.rstrip("\n") for part in parts if part)

    def _sections(self, ctx: click.Context) -> dict[Section, dict[str, tuple[str, str]]]:
        """The lines of help by heading, then by the option's long name."""
        sections: dict[Section, dict[str, tuple[str, str]]] = {title: {} for title in Section}
        for option in (*self.get_params(ctx), *self.keys):
            if isinstance(option, click.Option) and (record := option.get_help_record(ctx)):
                other = Section.GENERAL if "--help" in option.opts else Section.OWN
                name = record[0].split()[0] if option in self.keys else max(option.opts, key=len)
                sections[getattr(option, "heading", other)][name] = record
        return {title: records for title, records in sections.items() if records}


def _write(
    formatter: click.HelpFormatter, sections: Mapping[Section, Mapping[str, tuple[str, str]]]
) -> None:
    for title, records in sections.items():
        with formatter.section(title):
            formatter.write_dl(list(records.values()))


def _lines(sections: Mapping[Section, Iterable[str]], width: int) -> list[str]:
    """A line or two for each group; no option is broken at its hyphens."""
    edge = max(map(len, sections), default=0) + 4
    lines: list[str] = []
    for title, names in sections.items():
        text = wrap(", ".join(names), width - edge, break_on_hyphens=False)
        starts = [f"  {title}".ljust(edge), *[" " * edge] * len(text)]
        lines += [f"{start}{line}" for start, line in zip(starts, text, strict=False)]
    return lines


def command(*groups: Decorator, **declared: Any) -> Callable[[Function], GroupedCommand]:
    """A command with these groups of options before its own, as a decorator of its function."""

    def decorate(function: Function) -> GroupedCommand:
        for group in reversed(groups):
            function = group(function)
        return click.command(cls=GroupedCommand, **declared)(function)

    return decorate
