"""Values that a shell completes, looked up only when it asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

import click
from click.shell_completion import CompletionItem as Item

from riskcli.core.choices import VIRTUAL_BASELINES
from riskcli.core.errors import RiskevalError

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def among(words: Callable[[], Iterable[str]]) -> Complete:
    """Completes the last of several words with commas between them."""

    def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{word}" for word in words() if word.startswith(last)]

    return complete


def effectiveness_measures() -> Iterable[str]:
    """The families, those that need a cutoff with the usual ones."""
    from riskcli.effectiveness.names import FAMILIES  # late: only a shell that completes needs it

    for family in FAMILIES:
        if family.argument != "cutoff":
            yield family.name
        if "cutoff" in family.argument:
            yield from (f"{family.name}@{cutoff}" for cutoff in (5, 10, 20, 100, 1000))


def baselines(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Item]:
    """Virtual baselines, the runs of the files given (by their files' names), and files."""
    from riskcli.trec import discovery  # late, as above
    from riskcli.trec import names as trec_names

    names = list(VIRTUAL_BASELINES)
    given = ctx.params.get("runs") or ctx.args  # the latter where the line ends in an option
    with suppress(RiskevalError):
        names += [trec_names.file_name(file) for file in discovery.find_files(given).files]
    known = [Item(name) for name in names if name.startswith(incomplete)]
    return [*known, Item(incomplete, type="file")]
