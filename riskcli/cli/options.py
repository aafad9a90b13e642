"""Options that commands share: each group is declared once and arrives as one object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from riskcli.cli.alphas import Alphas
from riskcli.errors import UsageError

if TYPE_CHECKING:
    from riskcli.evaluation import Evaluation
    from riskcli.reading import Rules
    from riskcli.risk.inference import Significance
    from riskcli.risk.table import Options

Command = Callable[..., Any]
PATH = click.Path(path_type=Path)


@dataclass(frozen=True)
class Inputs:
    """Which runs and judgements to read, and how scores are made of them."""

    runs: tuple[Path, ...]
    qrels: Path | None
    measures: tuple[str, ...]
    topics: str
    max_grade: str
    score_precision: str
    run_names: str
    on_error: str
    exit_zero: bool
    max_bytes: int
    jobs: int | None
    quiet: bool

    def rules(self) -> Rules:
        """How files are turned into scores."""
        from riskcli.reading import Rules

        return Rules(
            measures=_split_measures(self.measures),
            topics=self.topics,  # type: ignore[arg-type]
            max_grade=None if self.max_grade == "auto" else int(self.max_grade),
            score_precision=self.score_precision,  # type: ignore[arg-type]
            run_names=self.run_names,
            on_error=self.on_error,  # type: ignore[arg-type]
            max_bytes=self.max_bytes,
        )

    def evaluate(self, baselines: Sequence[str] = ()) -> Evaluation:
        """Read and score everything."""
        from riskcli.cli.progress import on_terminal
        from riskcli.evaluation import evaluate

        with on_terminal(self.quiet) as progress:
            return evaluate(
                self.runs,
                qrels=self.qrels,
                rules=self.rules(),
                baselines=baselines,
                jobs=self.jobs,
                progress=progress,
            )

    def exit_code(self, skipped: Sequence[object]) -> int:
        """1 where a file was left out, unless 0 was asked for."""
        return 1 if skipped and not self.exit_zero else 0


def _split_measures(texts: Sequence[str]) -> tuple[str, ...]:
    """The names in a list in which some hold several, with commas outside of brackets."""
    import re

    names = [name.strip() for text in texts for name in re.split(r",(?![^()]*\))", text)]
    return tuple(dict.fromkeys(name for name in names if name))


class _MaxGrade(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    name = "N|auto"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        text = str(value)
        if text != "auto" and not (text.isdecimal() and 1 <= int(text) <= 60):
            self.fail(f"{text!r} is neither a whole number from 1 to 60 nor auto", param, ctx)
        return text


def _apply_settings(ctx: click.Context, option: click.Parameter, profile: str | None) -> None:
    from riskcli.cli.configuration import apply_settings

    apply_settings(ctx, option, profile)


_INPUT_OPTIONS = [
    click.option(
        "--profile",
        metavar="NAME",
        is_eager=True,
        expose_value=False,
        callback=_apply_settings,
        help="Take settings from this profile of riskeval.toml, too.",
    ),
    click.argument("runs", nargs=-1, required=True, type=PATH),
    click.option(
        "-q", "--qrels", type=PATH, help="Judgements. [default: ./qrels or RUNS/../qrels]"
    ),
    click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        metavar="NAME",
        help="Effectiveness measure, repeatable: ERR@20, nDCG@20, AP, P@10, map, ... "
        "[default: ERR@20 and nDCG@20]",
    ),
    click.option(
        "--topics",
        type=click.Choice(["relevant", "judged", "common"]),
        default="relevant",
        show_default=True,
        help="Which topics count: those of the qrels with a relevant document, all of the qrels, "
        "or those with a relevant document that every run answers.",
    ),
    click.option(
        "--max-grade",
        type=_MaxGrade(),
        default="4",
        show_default=True,
        help="Highest grade that ERR expects; auto takes it from the qrels.",
    ),
    click.option(
        "--score-precision",
        type=click.Choice(["single", "double"]),
        default="single",
        show_default=True,
        help="Precision in which scores tie: single as in trec_eval 9, double as in gdeval.pl.",
    ),
    click.option(
        "--run-names",
        type=click.Choice(["auto", "tag", "file"]),
        default="auto",
        show_default=True,
        help="Name runs by their tags or their files; auto takes tags that are distinct.",
    ),
    click.option(
        "--on-error",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="What happens to a broken run: stop at once, or leave it out, say so and exit with 1.",
    ),
    click.option("--exit-zero", is_flag=True, help="Exit with 0 even where runs were left out."),
    click.option(
        "--max-bytes",
        type=click.IntRange(min=1),
        default=16 * 2**30,
        metavar="N",
        help="The most that one file may expand to. [default: 16 GiB]",
    ),
    click.option("--jobs", type=click.IntRange(min=1), help="Files read at once. [default: cores]"),
    click.option("--quiet", is_flag=True, help="No notes on stderr (warnings and errors stay)."),
]


def input_options(command: Command) -> Command:
    """RUNS, --qrels, --measure and how to score; the command gets `inputs`."""
    return _gathered(command, "inputs", Inputs, _INPUT_OPTIONS)


@dataclass(frozen=True)
class Against:
    """What runs are compared with, and how gains and losses count."""

    baselines: tuple[str, ...]
    alphas: tuple[tuple[float, ...], ...]
    alpha_hats: tuple[tuple[float, ...], ...]
    loss: str
    convention: str
    pool: str
    population: str | None
    gamma: float

    @property
    def wanted(self) -> tuple[str, ...]:
        """The baselines asked for, or the mean run."""
        return self.baselines or ("@mean",)

    def significance(self) -> Significance:
        """The level of tests and intervals."""
        from riskcli.risk.inference import Significance

        return Significance(gamma=self.gamma)

    def options(self, added: dict[str, str] | Any = None, swept: bool = False) -> Options:
        """The library's options; `added` names the runs that came from baseline files.

        Where alphas are `swept` they belong to the linear loss, whatever else is shown beside it.
        """
        from riskcli.risk.table import Options

        if not swept and self.loss != "linear" and (self.alphas or self.alpha_hats):
            raise UsageError(f"--loss {self.loss} has no alpha: leave out --alpha or --loss")
        return Options(
            baselines=tuple((added or {}).get(name, name) for name in self.wanted),
            pool=self.pool,
            population=self.population,  # type: ignore[arg-type]
            alphas=self._chosen_alphas() or (1.0,),
            significance=self.significance(),
            loss=self.loss,
            convention=self.convention,  # type: ignore[arg-type]
        )

    def _chosen_alphas(self) -> tuple[float, ...]:
        from riskcli.cli.alphas import as_alpha

        if self.alpha_hats and self.alphas:
            raise UsageError("--alpha and --alpha-hat say the same thing: give one of them")
        if self.alpha_hats and self.convention != "minus":
            raise UsageError("--alpha-hat belongs to --convention minus; plain takes --alpha")
        hats = [as_alpha(hat) for group in self.alpha_hats for hat in group]
        return tuple(dict.fromkeys([alpha for group in self.alphas for alpha in group] + hats))


@dataclass(frozen=True)
class Comparing(Against):
    """What runs are compared with, and how it is tested."""

    test: str
    correction: str
    family: str
    swaps: int
    seed: int

    def significance(self) -> Significance:
        """How differences are tested."""
        from riskcli.risk.inference import Significance

        return Significance(
            gamma=self.gamma,
            test=self.test,  # type: ignore[arg-type]
            correction=self.correction,
            family=self.family,  # type: ignore[arg-type]
            swaps=self.swaps,
            seed=self.seed,
        )


_AGAINST_OPTIONS = [
    click.option(
        "-b",
        "--baseline",
        "baselines",
        multiple=True,
        metavar="NAME",
        help="What runs are compared with: a run's name, a glob, a run file, or one of @mean, "
        "@median, @max, @min. Repeat it for a set. [default: @mean]",
    ),
    click.option(
        "-a",
        "--alpha",
        "alphas",
        multiple=True,
        type=Alphas(),
        help="Losses count 1 + alpha times: 1 or 0,5,10 or 0:20:5. [default: 1]",
    ),
    click.option(
        "--alpha-hat",
        "alpha_hats",
        multiple=True,
        type=Alphas(least=1),
        help="The same as 1 + alpha, with --convention minus.",
    ),
    click.option(
        "--loss",
        type=click.Choice(["linear", "smooth", "smooth:fit"]),
        default="linear",
        show_default=True,
        help="How much a gain or loss counts: losses 1 + alpha times, or a smooth cubic (ECIR'20) "
        "as published or fitted to the differences at hand.",
    ),
    click.option(
        "--convention",
        type=click.Choice(["plain", "minus"]),
        default="plain",
        show_default=True,
        help="minus turns the signs of the risk measures: higher is riskier (ECIR'20).",
    ),
    click.option(
        "--pool",
        type=click.Choice(["mean", "median", "max", "min", "each"]),
        default="mean",
        show_default=True,
        help="How a set of baselines becomes one score a topic; each: every one in turn, "
        "and the average over them.",
    ),
    click.option(
        "--population",
        type=click.Choice(["all", "baselines"]),
        help="Whose totals ZRisk and GeoRisk expect scores from: all runs, or the named baselines "
        "and the run itself. [default: all; baselines where two or more are named]",
    ),
    click.option(
        "--gamma",
        type=float,
        default=0.05,
        show_default=True,
        help="Level of the tests; intervals have 1 - gamma.",
    ),
]
_TEST_OPTIONS = [
    click.option(
        "--test",
        type=click.Choice(["jackknife", "swap"]),
        default="jackknife",
        show_default=True,
        help="Test of ZRisk and GeoRisk: delete-one-topic jackknife, or label swaps "
        "(against a single run).",
    ),
    click.option(
        "--correction",
        type=click.Choice(["holm", "bonferroni", "bh", "none"]),
        default="holm",
        show_default=True,
        help="Correction of p-values for the number of tests.",
    ),
    click.option(
        "--family",
        type=click.Choice(["column", "all"]),
        default="column",
        show_default=True,
        help="What is corrected together: the runs of one column, or the whole table.",
    ),
    click.option(
        "--swaps", type=int, default=9999, show_default=True, help="Replicates of --test swap."
    ),
    click.option(
        "--seed", type=int, default=20161, show_default=True, help="Random seed of --test swap."
    ),
]


def comparing_options(command: Command) -> Command:
    """--baseline, --alpha and how to test; the command gets `comparing`."""
    return _gathered(command, "comparing", Comparing, [*_AGAINST_OPTIONS, *_TEST_OPTIONS])


def against_options(command: Command) -> Command:
    """--baseline, --alpha and how losses count; the command gets `against`."""
    return _gathered(command, "against", Against, _AGAINST_OPTIONS)


@dataclass(frozen=True)
class Output:
    """In which form the result leaves, and where to."""

    format: str | None
    output: Path | None
    caption: str | None = None
    label: str | None = None

    def chosen_format(self, known: tuple[str, ...]) -> str:
        """The format given, of the file's suffix, or the one that suits stdout."""
        from riskcli.report.output import format_for

        return format_for(self.format, self.output, known)

    @property
    def words(self) -> dict[str, str | None]:
        """The caption and label asked for."""
        return {"caption": self.caption, "label": self.label}


def output_options(formats: Sequence[str]) -> Callable[[Command], Command]:
    """--format and --output; the command gets `output`."""
    options = [
        click.option(
            "-f",
            "--format",
            type=click.Choice(list(formats)),
            help="Form of the result. [default: by the file's suffix; "
            "table on a terminal, tsv in a pipe]",
        ),
        click.option("-o", "--output", type=PATH, help="Write to this file, replaced as a whole."),
    ]
    if "latex" in formats:
        options += _CAPTION_OPTIONS
    return lambda command: _gathered(command, "output", Output, options)


_CAPTION_OPTIONS = [
    click.option("--caption", metavar="TEXT", help="Title of the table, in place of its own."),
    click.option("--label", metavar="NAME", help="What to refer to the table by (latex, html)."),
]


def _gathered(
    command: Command, name: str, group: type[Any], options: Sequence[Callable[[Command], Command]]
) -> Command:
    """The command with these options, which reach it as one object called `name`."""
    fields = list(group.__dataclass_fields__)

    @wraps(command)
    def gathering(**given: Any) -> Any:
        mine = {field: given.pop(field) for field in fields if field in given}
        return command(**{name: group(**mine)}, **given)

    for option in reversed(options):
        option(gathering)
    return gathering
