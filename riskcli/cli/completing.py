"""Values that a shell completes, looked up only when it asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem as Item

from riskcli.core import settings
from riskcli.core.choices import VIRTUAL_BASELINES
from riskcli.core.messages import RiskevalError

_SCORE_FILES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
_QUICKLY_READ = 2_000_000
"""Bytes of a file that is read while somebody types."""

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def among(words: Callable[[], Iterable[str]]) -> Complete:
    """Completes the last of several words with commas between them."""

    def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{word}" for word in words() if word.startswith(last)]

    return complete


def effectiveness_measures() -> Iterable[str]:
    """The families, those that need a cutoff with the usual ones."""
    from riskcli.effectiveness.measures import FAMILIES

    for family in FAMILIES:
        if family.argument != "cutoff":
            yield family.name
        if "cutoff" in family.argument:
            yield from (f"{family.name}@{cutoff}" for cutoff in (5, 10, 20, 100, 1000))


def risk_measures() -> Iterable[str]:
    """The ids of the risk measures."""
    from riskcli.risk.measures import measure_ids  # late, as above

    return measure_ids()


def profiles() -> Iterable[str]:
    """The profiles of the settings in force here."""
    with suppress(RiskevalError):
        return settings.profile_names()
    return ()


def runs(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The runs of the files given: named in a file of scores, else by the files' names."""
    return [name for name in _runs_given(ctx) if name.startswith(incomplete)]


def baselines(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Item]:
    """Virtual baselines, the runs of the files given, and files."""
    names = [*VIRTUAL_BASELINES, *_runs_given(ctx)]
    known = [Item(name) for name in names if name.startswith(incomplete)]
    return [*known, Item(incomplete, type="file")]


def _runs_given(ctx: click.Context) -> list[str]:
    given = ctx.params.get("runs") or ctx.args  # the latter where the line ends in an option
    found: list[str] = []
    with suppress(RiskevalError):
        from riskcli.trec import discovery, names

        for file in discovery.find_files(given).files:
            scores = file.suffix in _SCORE_FILES and file.stat().st_size < _QUICKLY_READ
            found += _runs_of_scores(file) if scores else [names.file_name(file)]
    return found


def _runs_of_scores(file: Path) -> tuple[str, ...]:
    from riskcli.scores.evaluation import evaluate  # late, as above

    return evaluate(file).matrices[0].runs
