"""The columns that a risk table for people can show, and those that are asked for by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from riskcli.analyses.blocks import Block
from riskcli.core.choices import Marks
from riskcli.core.messages import UsageError, nearest
from riskcli.output.display import UNDEFINED, Cell, Column, Heading, decimals, p_value
from riskcli.output.measure_words import columns, measured_columns, titled, words_of
from riskcli.risk.measure import MeasureColumn as Declared
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.scores.comparisons import Options

BASELINE_MARK = "◆"
RECORD = "wtl"
INTERVAL, RANK_INTERVAL = "_interval", "_ranks"


@dataclass(frozen=True)
class Layout:
    """How a risk table is shown to people.

    With `columns` there is one table for all effectiveness measures and alphas; without, the usual
    columns, a table for each measure.
    """

    columns: tuple[str, ...] = ()
    ranks: bool = True
    marks: Marks | None = None
    """None: as the format has them."""
    precision: int | None = None
    """Decimals; None: by column."""

    def __post_init__(self) -> None:
        known = column_names() if self.columns else []
        for name in self.columns:
            if name not in known:
                raise UsageError(f"no column {name!r}{nearest(name, known)}")

    def places(self, measure: RiskMeasure | None) -> int:
        """The decimals of a measure's column, or of another."""
        if self.precision is not None:
            return self.precision
        return 4 if measure is None else words_of(measure).decimals


class View(NamedTuple):
    """What is shown of a risk table: its blocks in their order and convention."""

    blocks: tuple[Block, ...]
    ordered_by: str
    layout: Layout
    options: Options


USUAL = Layout()


def column_names() -> list[str]:
    """What `--columns` knows: measures, intervals, and every column of the machine formats."""
    declared = [column.name for column in measured_columns()]
    intervals = [m.id + INTERVAL for m in measures() if _has(m, "low")]
    ranks = [m.id + RANK_INTERVAL for m in measures() if _has(m, "rank_low")]
    return [*declared, RECORD, *intervals, *ranks]


def _has(measure: RiskMeasure, field: str) -> bool:
    return any(column.field == field for column in measure.all_columns)


def depends_on_alpha(name: str) -> bool:
    """Whether a column is another at another alpha."""
    of = {measure.id: measure for measure in measures()}
    stem = name.removesuffix(INTERVAL).removesuffix(RANK_INTERVAL)
    if stem in of:
        return of[stem].depends_on_alpha
    declared = {column.name: column.measure for column in measured_columns()}
    owner = declared.get(name)
    return owner is not None and of[owner].depends_on_alpha and name not in _OF_THE_LOSSES


_OF_THE_LOSSES = ("reward", "risk", "wins", "ties", "losses", "losses20")


def named_column(block: Block, name: str, layout: Layout, prefix: str) -> Column:
    """The column of that name; what is before its heading's last line names its group."""
    for measure in measures():
        if name == measure.id:
            return measure_column(block, measure, layout, prefix=prefix)
        if name == measure.id + INTERVAL:
            return interval_column(block, measure, layout, prefix)
        if name == measure.id + RANK_INTERVAL:
            return rank_column(block, measure, prefix)
    if name == RECORD:
        return record_column(block, prefix)
    column = columns()[name]
    if column.kind == "flag":
        flags = block.cells(column)
        texts = [""] * len(block.runs) if flags is None else list(map(str, flags.tolist()))
    elif column.kind == "p":
        texts = list(map(p_value, block.numbers(name)))
    elif column.kind == "number":
        texts = decimals(block.numbers(name), layout.places(None))
    else:
        texts = whole(block, name)
    return Column(Heading(prefix + _heading_of(column)), plain(texts))


_TITLES = {"losses20": "L>20%", "reward": "Reward", "risk": "Risk"}
_FIELDS = {
    "difference": "difference", "p": "p", "p_adjusted": "p adjusted", "flag": "flag",
    "rank": "rank",
}  # fmt: skip


def _heading_of(column: Declared) -> str:
    titles = {measure.id: words_of(measure).title for measure in measures()}
    if column.field in _FIELDS and column.measure in titles:
        return f"{titles[column.measure]} {_FIELDS[column.field]}"
    return _TITLES.get(column.name, column.name)


def name_column(block: Block) -> Column:
    """The runs, the baseline's own marked."""
    members = set(block.baseline_members)
    cells = [
        Cell(f"{run} {BASELINE_MARK}" if row in members else run, strong=row in members)
        for row, run in enumerate(block.runs)
    ]
    return Column(Heading("run", left=True, names=True), cells)


def measure_column(
    block: Block, measure: RiskMeasure, layout: Layout, ordered_by: str = "", prefix: str = ""
) -> Column:
    """Values with marks, and ranks beside them but for those that number the rows."""
    estimate = block.estimates.get(measure.id)
    flags = None if estimate is None or layout.marks == "none" else estimate.flag
    marks = [""] * len(block.runs) if flags is None else flags.tolist()
    ranked = layout.ranks and measure.id != ordered_by
    texts = decimals(block.numbers(measure.id), layout.places(measure))
    ranks = block.numbers(f"rank_{measure.id}")
    cells = [
        Cell(text, mark=mark, rank=int(rank) if ranked and rank else None, best=rank == 1)
        for text, mark, rank in zip(texts, marks, ranks, strict=True)
    ]
    title = titled(measure, block.convention)
    return Column(Heading(prefix + title, ranked=ranked, marked=flags is not None), cells)


def interval_column(block: Block, measure: RiskMeasure, layout: Layout, prefix: str = "") -> Column:
    """The value's confidence interval."""
    low, high = (
        decimals(block.numbers(f"{measure.id}{end}"), layout.places(measure))
        for end in ("_lo", "_hi")
    )
    heading = Heading(f"{prefix}{titled(measure, block.convention)} interval")
    return Column(heading, plain(_between(low, high, "[{}, {}]")))


def rank_column(block: Block, measure: RiskMeasure, prefix: str = "") -> Column:
    """The ranks that the tests allow."""
    low, high = (whole(block, f"rank_{measure.id}{end}") for end in ("_lo", "_hi"))
    heading = Heading(f"{prefix}{titled(measure, block.convention)} ranks")
    texts = _between(low, high, "{}–{}")
    single = [
        text if one != other else one for text, one, other in zip(texts, low, high, strict=True)
    ]
    return Column(heading, plain(single))


def _between(low: Sequence[str], high: Sequence[str], format: str) -> list[str]:
    pairs = zip(low, high, strict=True)
    return [UNDEFINED if UNDEFINED in ends else format.format(*ends) for ends in pairs]


def record_column(block: Block, prefix: str = "", optional: bool = False) -> Column:
    """Wins, ties and losses."""
    counts = [block.numbers(name) for name in ("wins", "ties", "losses")]
    parts = zip(*map(_whole, counts), strict=True)
    texts = [UNDEFINED if UNDEFINED in each else "/".join(each) for each in parts]
    return Column(Heading(f"{prefix}W/T/L", optional=optional), plain(texts))


def rank_number_column(block: Block, column: str) -> Column:
    """The rank of each run by a column (1 is the greatest value)."""
    name = f"rank_{column}"
    if name in columns():
        return Column(Heading("#"), plain(whole(block, name)))
    values = block.numbers(column)
    ranks = [
        UNDEFINED if v is None else str(1 + sum(w is not None and w > v for w in values))
        for v in values
    ]
    return Column(Heading("#"), plain(ranks))


def plain(texts: Sequence[str]) -> list[Cell]:
    """Cells that hold a text and nothing else."""
    return [Cell(text) for text in texts]


def whole(block: Block, name: str) -> list[str]:
    """A column of counts or ranks."""
    return _whole(block.numbers(name))


def _whole(values: Sequence[float | None]) -> list[str]:
    return [UNDEFINED if value is None else f"{value:.4g}" for value in values]
