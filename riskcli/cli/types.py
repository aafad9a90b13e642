"""Kinds of values on the command line, and the values that a shell completes."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem as Item

from riskcli.core import settings
from riskcli.core.choices import VIRTUAL_BASELINES
from riskcli.core.limits import MOST_ALPHA
from riskcli.core.locations import Location, RemotePath, place_of
from riskcli.core.messages import RiskevalError

STDIN = "/dev/stdin"
PATH = click.Path(path_type=Path)
FROM_0, FROM_1 = click.IntRange(min=0), click.IntRange(min=1)
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
SIZE = click.FloatRange(min=0, min_open=True)
PATTERN_MARK = "re:"
"""Before a pattern, where a file could be named as well."""
_MOST_ALPHAS = 10_000

Param = click.Parameter | None
Context = click.Context | None


def alphas(value: Any) -> tuple[float, ...]:
    """Numbers: `1`, `0,1,5,10`, or a range with both ends, `0:20:5`."""
    if isinstance(value, tuple):
        return value
    try:
        return tuple(dict.fromkeys(a for part in str(value).split(",") for a in _span(part)))
    except (InvalidOperation, ValueError) as error:
        reason = str(error) if isinstance(error, ValueError) else "not a number"
        written = "written as 1 or 0,5,10 or 0:20:5"
        raise click.BadParameter(f"{value!r}: {reason}, {written}") from error


def _span(text: str) -> list[float]:
    """The values of `x`, `first:last` or `first:last:step`."""
    parts = [Decimal(part.strip()) for part in text.split(":")]
    if not all(part.is_finite() and 0 <= part <= MOST_ALPHA for part in parts):
        raise ValueError(f"expected numbers from 0 to {MOST_ALPHA:g}")
    if len(parts) == 1:
        return [float(parts[0])]
    if len(parts) > 3:
        raise ValueError("a range is first:last or first:last:step")
    first, last, step = parts if len(parts) == 3 else (*parts, Decimal(1))
    if step <= 0 or last < first:
        raise ValueError("a range needs a step above 0 and a last value not below the first")
    if last - first > step * (_MOST_ALPHAS - 1):
        raise ValueError(f"a range of more than {_MOST_ALPHAS} values")
    count = int((last - first) / step) + 1
    return [float(first + index * step) for index in range(count)]


def alpha_of_hat(alpha_hat: float) -> float:
    """1 less, in decimals: 1.1 becomes 0.1."""
    return float(Decimal(repr(alpha_hat)) - 1)


def number_or(word: str, most: int | None = None) -> Callable[[Any], int | str]:
    """A whole number from 1, at most `most`, or that word."""

    def converted(value: Any) -> int | str:
        text = str(value)
        if text == word:
            return text
        if text.isdecimal() and 1 <= int(text) <= (most or int(text)):
            return int(text)
        span = f"from 1 to {most}" if most else "from 1 on"
        raise click.BadParameter(f"{text!r} is neither a whole number {span} nor {word}")

    return converted


class FilePath(click.Path):
    """A file to write, or a file or folder to read: there, `-` is stdin."""

    def __init__(self, read: bool) -> None:
        super().__init__(path_type=Path)
        self._read = read

    def convert(self, value: Any, param: Param, ctx: Context) -> Any:
        if str(value) == "":
            hint = "; the current folder is ." if self._read else ""
            self.fail(f"an empty text names no file{hint}", param, ctx)
        place = place_of(value)
        if isinstance(place, Location if self._read else RemotePath):
            return place
        return super().convert(STDIN if self._read and str(value) == "-" else value, param, ctx)


class TeamsSource(FilePath):
    """A file that lists teams, or a pattern that finds the team in a run's name."""

    def convert(self, value: Any, param: Param, ctx: Context) -> Any:
        if str(value).startswith(PATTERN_MARK):
            return str(value)
        return super().convert(value, param, ctx)


class ReplicatesSource(TeamsSource):
    """A file that lists systems, or, where there is none of that name, a pattern."""

    def convert(self, value: Any, param: Param, ctx: Context) -> Any:
        found = super().convert(value, param, ctx)
        return str(value) if isinstance(found, Path) and not found.is_file() else found


INPUT, OUTPUT, TEAMS = FilePath(read=True), FilePath(read=False), TeamsSource(read=True)
REPLICATES = ReplicatesSource(read=True)


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
