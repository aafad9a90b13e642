"""A command's help: the most used options first, the others in groups; all on one screen.

`--help` describes what a first use needs and names the rest; `riskeval help COMMAND` describes
everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap

import click

MOST_USED = (
    "--qrels", "--measure", "--baseline", "--alpha", "--sort", "--top", "--columns", "--format",
    "--output",
)  # fmt: skip

GROUPS = {
    "Comparison": (
        "--alpha-hat", "--loss", "--convention", "--pool", "--population", "--teams", "--team-of",
    ),
    "Tests": ("--gamma", "--test", "--correction", "--family", "--swaps", "--seed"),
    "Tables": (
        "--no-legend", "--caption", "--label", "--siunitx", "--color", "--csv-safe", "--no-ranks",
        "--marks", "--precision", "--best-per-team", "--width", "--height",
    ),
    "Input": (
        "--topics", "--only-topics", "--max-grade", "--score-precision", "--run-names",
        "--anonymise", "--recursive", "--include", "--exclude", "--input-format", "--on-error",
        "--exit-zero", "--max-bytes",
    ),
    "Many runs": ("--jobs", "--store", "--rehash", "--cluster", "--send"),
    "General": ("--profile", "--config", "--quiet", "--help"),
}  # fmt: skip
"""What options are about; one that is in no group is the command's own."""

_FEW = 20
"""So many options are all described."""


class GroupedCommand(click.Command):
    """A command whose help has its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Every option, described."""
        shown = _described(self, ctx)
        for title, names in _sections(shown).items():
            with formatter.section(title):
                formatter.write_dl([shown[name] for name in names])

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """`--help` shows one screen."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_one_screen
        return option

    def one_screen(self, ctx: click.Context) -> str:
        """The help with the most used options and the command's own; the others by their names."""
        shown = _described(self, ctx)
        if len(shown) <= _FEW:
            return self.get_help(ctx)
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        sections = _sections(shown)
        for title in [title for title in sections if title not in GROUPS]:
            with formatter.section(title):
                formatter.write_dl([shown[name] for name in sections.pop(title)])
        more = "\n".join(["More options:", *_lines(sections, formatter.width)])
        after = ctx.make_formatter()
        self.format_epilog(ctx, after)
        command = ctx.command_path.partition(" ")[2]
        last = f"`riskeval help {command}` describes them all, `riskeval help --OPTION` one."
        parts = [formatter.getvalue(), more, after.getvalue().strip("\n"), last]
        return "\n\n".join(part.rstrip("\n") for part in parts if part)


def _lines(sections: Mapping[str, Sequence[str]], width: int) -> list[str]:
    """A line or two for each group; no option is broken at its hyphens."""
    edge = max(map(len, sections)) + 4
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


def _described(command: click.Command, ctx: click.Context) -> dict[str, tuple[str, str]]:
    """The line of help of each option, by its long name."""
    options = (param for param in command.get_params(ctx) if isinstance(param, click.Option))
    records = ((option, option.get_help_record(ctx)) for option in options)
    return {_long_name(param.opts): record for param, record in records if record is not None}


def _long_name(names: Sequence[str]) -> str:
    return next((name for name in names if name.startswith("--")), names[0])


def _sections(options: Iterable[str]) -> dict[str, list[str]]:
    """The options by group: the most used, the command's own, then the others."""
    of = {name: title for title, names in GROUPS.items() for name in names}
    titles = ["Most used", "Of this command", *GROUPS]
    found: dict[str, list[str]] = {title: [] for title in titles}
    for name in options:
        used = "Most used" if name in MOST_USED else "Of this command"
        found[of.get(name, used)].append(name)
    found["Most used"].sort(key=MOST_USED.index)
    return {title: names for title, names in found.items() if names}
