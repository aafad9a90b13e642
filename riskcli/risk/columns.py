"""The columns of a risk table, in the order that machine formats keep. New ones are appended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["name", "count", "number", "p", "flag", "rank"]


@dataclass(frozen=True)
class Column:
    """A column's name, what kind of value it holds, and what it means."""

    name: str
    kind: Kind
    meaning: str


COLUMNS = (
    Column("run", "name", "the run"),
    Column("measure", "name", "the effectiveness measure of the scores"),
    Column("baseline", "name", "what the run is compared with"),
    Column("population", "name", "whose totals give a topic its expected score"),
    Column("alpha", "number", "losses count 1 + alpha times"),
    Column("topics", "count", "number of topics"),
    Column("mean", "number", "mean effectiveness"),
    Column("mean_lo", "number", "lower end of the mean's confidence interval"),
    Column("mean_hi", "number", "upper end of the mean's confidence interval"),
    Column("baseline_mean", "number", "mean effectiveness of the baseline"),
    Column("mean_diff", "number", "mean less the baseline's mean (Gain)"),
    Column("mean_p", "p", "p-value of the paired t test that the means differ"),
    Column("mean_p_adj", "p", "mean_p corrected for the number of tests"),
    Column("mean_flag", "flag", "better or worse where mean_p_adj is below gamma"),
    Column("wins", "count", "topics on which the run exceeds the baseline"),
    Column("ties", "count", "topics on which the two are equal"),
    Column("losses", "count", "topics on which the run falls below the baseline"),
    Column("losses20", "count", "topics that lose more than 20 % of the baseline's score"),
    Column("reward", "number", "mean gain over the baseline, losses counted 0"),
    Column("risk", "number", "mean loss to the baseline, gains counted 0"),
    Column("urisk", "number", "URisk: reward less (1 + alpha) risk"),
    Column("urisk_lo", "number", "lower end of URisk's confidence interval"),
    Column("urisk_hi", "number", "upper end of URisk's confidence interval"),
    Column("urisk_se", "number", "standard error of URisk"),
    Column("trisk", "number", "TRisk: URisk over its standard error"),
    Column("trisk_p", "p", "p-value of TRisk: gains and (1 + alpha)-fold losses balance"),
    Column("trisk_p_adj", "p", "trisk_p corrected for the number of tests"),
    Column("trisk_flag", "flag", "better or worse where trisk_p_adj is below gamma"),
    Column("zrisk", "number", "ZRisk: how far the profile exceeds or falls short of expectation"),
    Column("zrisk_lo", "number", "lower end of ZRisk's confidence interval"),
    Column("zrisk_hi", "number", "upper end of ZRisk's confidence interval"),
    Column("zrisk_diff", "number", "ZRisk less that of the baseline (or the mean over the set)"),
    Column("zrisk_p", "p", "p-value of zrisk_diff"),
    Column("zrisk_p_adj", "p", "zrisk_p corrected for the number of tests"),
    Column("zrisk_flag", "flag", "better or worse where zrisk_p_adj is below gamma"),
    Column("georisk", "number", "GeoRisk: mean effectiveness and ZRisk in one figure"),
    Column("georisk_lo", "number", "lower end of GeoRisk's confidence interval"),
    Column("georisk_hi", "number", "upper end of GeoRisk's confidence interval"),
    Column(
        "georisk_diff", "number", "GeoRisk less that of the baseline (or the mean over the set)"
    ),
    Column("georisk_p", "p", "p-value of georisk_diff"),
    Column("georisk_p_adj", "p", "georisk_p corrected for the number of tests"),
    Column("georisk_flag", "flag", "better or worse where georisk_p_adj is below gamma"),
    Column("rank_mean", "rank", "rank by mean, 1 is best; equal values share the smaller rank"),
    Column("rank_urisk", "rank", "rank by URisk"),
    Column("rank_trisk", "rank", "rank by TRisk"),
    Column("rank_zrisk", "rank", "rank by ZRisk"),
    Column("rank_georisk", "rank", "rank by GeoRisk"),
    Column("reward_risk_ratio", "number", "reward over risk; empty where risk is 0"),
    Column("win_loss_ratio", "number", "wins over losses; empty where losses is 0"),
    Column("mean_dz", "number", "effect size d_z: mean difference over its standard deviation"),
    Column("mean_dz_lo", "number", "lower end of d_z's confidence interval"),
    Column("mean_dz_hi", "number", "upper end of d_z's confidence interval"),
)
