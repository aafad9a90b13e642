"""Kinds of values on the command line, and the values that a shell completes."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem as Item

from riskcli.core import settings
from riskcli.core.choices import VIRTUAL_BASELINES
from riskcli.core.limits import MOST_ALPHA
from riskcli.core.locations import Location, RemotePath, place_of
from riskcli.core.messages import RiskevalError

STDIN = "/dev/stdin"
PATH = click.Path(path_type=Path)
PATTERN_MARK = "re:"
"""Before a pattern, where a file could be named as well."""
BEST_PER_TEAM = "best-per-team"
_MOST_ALPHAS = 10_000

Param: TypeAlias = click.Parameter | None
Context: TypeAlias = click.Context | None


class Alphas(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """Numbers: `1`, `0,1,5,10`, or a range with both ends, `0:20:5`."""

    name = "LIST"

    def convert(self, value: Any, param: Param, ctx: Context) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        try:
            alphas = [alpha for part in str(value).split(",") for alpha in _span(part)]
        except (InvalidOperation, ValueError) as error:
            reason = str(error) if isinstance(error, ValueError) else "not a number"
            self.fail(f"{value!r}: {reason}, written as 1 or 0,5,10 or 0:20:5", param, ctx)
        return tuple(dict.fromkeys(alphas))


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


class MaxGrade(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A whole number, or `auto`."""

    name = "N|auto"

    def convert(self, value: Any, param: Param, ctx: Context) -> str:
        text = str(value)
        if text != "auto" and not (text.isdecimal() and 1 <= int(text) <= 60):
            self.fail(f"{text!r} is neither a whole number from 1 to 60 nor auto", param, ctx)
        return text


class Top(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """How many runs, or the best of each team."""

    name = f"N|{BEST_PER_TEAM}"

    def convert(self, value: Any, param: Param, ctx: Context) -> int | str:
        text = str(value)
        if text == BEST_PER_TEAM:
            return text
        if not text.isdecimal() or int(text) < 1:
            reason = f"{text!r} is neither a whole number from 1 on nor {BEST_PER_TEAM}"
            self.fail(reason, param, ctx)
        return int(text)


class InputPath(click.Path):
    """A file or folder to read; `-` is stdin."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: Param, ctx: Context) -> Any:
        if str(value) == "":
            self.fail("an empty text names no file; the current folder is .", param, ctx)
        if isinstance(place_of(value), Location):
            return place_of(value)
        return super().convert(STDIN if str(value) == "-" else value, param, ctx)


class OutputPath(click.Path):
    """A file to write."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: Param, ctx: Context) -> Any:
        if str(value) == "":
            self.fail("an empty text names no file", param, ctx)
        if isinstance(place_of(value), RemotePath):
            return place_of(value)
        return super().convert(value, param, ctx)


class TeamsSource(InputPath):
    """A file that lists teams, or a pattern that finds the team in a run's name."""

    name = "FILE|re:PATTERN"

    def convert(self, value: Any, param: Param, ctx: Context) -> Any:
        if str(value).startswith(PATTERN_MARK):
            return str(value)
        return super().convert(value, param, ctx)


INPUT, OUTPUT = InputPath(), OutputPath()


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
