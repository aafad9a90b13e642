"""The columns of a risk table: what they are called, what they hold, and their order.

A risk measure declares its columns; here is only what all of them share. `ORDER` is the contract
with whoever reads the machine formats: new columns are appended, none is ever moved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["name", "count", "number", "p", "flag", "rank"]
FieldName = Literal[
    "value", "low", "high", "difference", "difference_low", "difference_high", "p", "p_adjusted",
    "flag", "rank", "rank_low", "rank_high",
]  # fmt: skip
"""The fields of an `Estimate` that can be columns."""


@dataclass(frozen=True)
class Column:
    """A column's name, what kind of value it holds, and what it means."""

    name: str
    kind: Kind
    meaning: str
    averages: bool = True
    """Whether its mean over several baselines says anything."""
    measure: str | None = None
    """The id of the risk measure that it belongs to, if it does."""
    field: FieldName | None = None
    """The field of the measure's estimate that it shows; None: a further column of its own."""


@dataclass(frozen=True)
class Field:
    """How a field of an estimate appears as a column, whatever the measure."""

    field: FieldName
    name: str
    kind: Kind
    meaning: str
    averages: bool = False


FIELDS = (
    Field("value", "{id}", "number", "{title}", averages=True),
    Field("low", "{id}_lo", "number", "lower end of {title}'s confidence interval"),
    Field("high", "{id}_hi", "number", "upper end of {title}'s confidence interval"),
    Field(
        "difference", "{id}_diff", "number",
        "{title} less that of the baseline (or the mean over the set)", averages=True,
    ),
    Field("difference_low", "{id}_diff_lo", "number", "lower end of {id}_diff's interval"),
    Field("difference_high", "{id}_diff_hi", "number", "upper end of {id}_diff's interval"),
    Field("p", "{id}_p", "p", "p-value of {id}_diff"),
    Field("p_adjusted", "{id}_p_adj", "p", "{id}_p corrected for the number of tests"),
    Field("flag", "{id}_flag", "flag", "better or worse where {id}_p_adj is below gamma"),
    Field("rank", "rank_{id}", "rank", "rank by {title}"),
    Field("rank_low", "rank_{id}_lo", "rank", "best rank by {title} that the tests allow"),
    Field("rank_high", "rank_{id}_hi", "rank", "worst rank by {title} that the tests allow"),
)  # fmt: skip


KEYS = (
    Column("run", "name", "the run"),
    Column("measure", "name", "the effectiveness measure of the scores"),
    Column("baseline", "name", "what the run is compared with"),
    Column("population", "name", "whose totals give a topic its expected score"),
    Column("alpha", "number", "losses count 1 + alpha times"),
    Column("topics", "count", "number of topics"),
)
"""What says which number a row holds."""

ORDER = (
    "run", "measure", "baseline", "population", "alpha", "topics",
    "mean", "mean_lo", "mean_hi", "baseline_mean", "mean_diff", "mean_p", "mean_p_adj", "mean_flag",
    "wins", "ties", "losses", "losses20", "reward", "risk", "urisk", "urisk_lo", "urisk_hi",
    "urisk_se", "trisk", "trisk_p", "trisk_p_adj", "trisk_flag",
    "zrisk", "zrisk_lo", "zrisk_hi", "zrisk_diff", "zrisk_p", "zrisk_p_adj", "zrisk_flag",
    "georisk", "georisk_lo", "georisk_hi", "georisk_diff", "georisk_p", "georisk_p_adj",
    "georisk_flag", "rank_mean", "rank_urisk", "rank_trisk", "rank_zrisk", "rank_georisk",
    "reward_risk_ratio", "win_loss_ratio", "mean_dz", "mean_dz_lo", "mean_dz_hi",
    "mean_diff_lo", "mean_diff_hi", "zrisk_diff_lo", "zrisk_diff_hi", "georisk_diff_lo",
    "georisk_diff_hi", "rank_mean_lo", "rank_mean_hi", "rank_zrisk_lo", "rank_zrisk_hi",
    "rank_georisk_lo", "rank_georisk_hi",
)  # fmt: skip
"""The contract. A column that is not named here comes after those that are."""
