"""Risk measures and their columns in words: titles, meanings, claims of a flag, order, decimals.

`risk/measures` says what is computed. A measure that is not named here is called by its id and
described by the docstring of its `values`; tables show it where `--columns` asks for it, and the
machine formats have its columns at the end.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import getdoc

from riskcli.core.choices import Convention
from riskcli.effectiveness.measures import is_logarithm
from riskcli.risk.measure import FieldName, MeasureColumn, RiskMeasure
from riskcli.risk.measures import measures

GROUP = "group"
"""The column that names a group of topics."""
WILCOXON = "wilcoxon_p"


@dataclass(frozen=True)
class MeasureWords:
    """What a risk measure is called, what it means, and how tables show it."""

    title: str
    summary: str
    reading: str = ""
    formula: str = ""
    source: str = ""
    decimals: int = 4
    usual: bool = True
    """Whether tables show it unasked."""
    headline: bool = False
    """Whether it stands for a run where there is space for one measure only."""

    @property
    def definition(self) -> str:
        """Formula, source and reading, as far as there are any, in one paragraph."""
        formula = f"{self.formula} ({self.source})." if self.formula else f"{self.summary}."
        return " ".join(text for text in (formula, self.reading) if text)


def words_of(measure: RiskMeasure) -> MeasureWords:
    """What is declared here, or else what the docstring of its `values` says."""
    if measure.id in _WORDS:
        return _WORDS[measure.id]
    summary, _, reading = (getdoc(measure.values) or measure.id).partition("\n\n")
    return MeasureWords(
        measure.id, " ".join(summary.split()).removesuffix("."), " ".join(reading.split()),
        usual=False,
    )  # fmt: skip


def about_logarithms(measures_shown: Iterable[str]) -> list[str]:
    """The line of a legend on measures whose scores are logarithms, where there are any."""
    named = ", ".join(filter(is_logarithm, dict.fromkeys(measures_shown)))
    shown = "means are shown as exp of the mean logarithm, as trec_eval does"
    return [f"{named}: {shown}; scores, differences and risk are in logarithms."] if named else []


def g_squared_line(of: str, figures: Mapping[str, float]) -> str:
    """The line of a legend on G² by effectiveness measure, which has no p-value."""
    each = [f"{value:.4g} by {name}" for name, value in figures.items() if value == value]
    below = [f"undefined by {name}, which goes below 0" for name, v in figures.items() if v != v]
    return f"G² of {of}: {', '.join([*each, *below])} (a description: it has no p-value)."


def usual_measures() -> list[RiskMeasure]:
    """Those that are shown unasked."""
    return [measure for measure in measures() if words_of(measure).usual]


_WORDS = {
    "mean": MeasureWords(
        title="Mean",
        summary="mean effectiveness over the topics",
        formula="(1/c) Σ x_q",
        source="the effectiveness measure's own definition",
        reading="Higher is better. It hides which topics pay for the gains of others.",
    ),
    "urisk": MeasureWords(
        title="URisk",
        summary="reward less (1 + alpha) times risk, against the baseline",
        formula="(1/c) [Σ_{δ>0} δ + (1 + α) Σ_{δ<0} δ], δ_q = x_q − b_q",
        source="SIGIR'12, Eq. 4; SIGIR'14, Eq. 4; SIGIR'16, Eq. 1",
        reading="Above 0: the gains outweigh the losses, each counted 1 + α times. "
        "On the scale of the effectiveness measure; falls linearly with α.",
    ),
    "trisk": MeasureWords(
        title="TRisk",
        summary="URisk over its standard error, Student's t with c - 1 degrees of freedom",
        formula="URisk / (s_w / √c), w_q = δ_q or (1 + α) δ_q where δ_q < 0",
        source="SIGIR'14, Eq. 10 and 12; SIGIR'16, Eq. 2",
        reading="Far above 0: gains outweigh losses, each counted 1 + α times; far below 0: they "
        "are outweighed. For α > 0 two equal systems have a negative TRisk: it does not say that "
        "they differ.",
        decimals=2,
    ),
    "zrisk": MeasureWords(
        title="ZRisk",
        summary="standardised departures from the expected profile, shortfalls 1 + alpha times",
        formula="Σ_{z>0} z + (1 + α) Σ_{z<0} z, z_q = (x_q − e_q)/√e_q, e_q = S_i T_q / N",
        source="SIGIR'16, Eq. 5 and 6",
        reading="Higher is safer; 0 for a run proportional to its population. Says nothing of the "
        "level of effectiveness, and grows with the square root of the scale of the scores: a run "
        "at 0.9 of another's scores can look less risky.",
        decimals=3,
    ),
    "georisk": MeasureWords(
        title="GeoRisk",
        summary="geometric mean of effectiveness and of ZRisk turned into a probability",
        formula="√( (S_i / c) · Φ(ZRisk_i / c) )",
        source="SIGIR'16, Eq. 7",
        reading="Higher is better: effective and close to, or above, the expected profile.",
        headline=True,
    ),
}

_MEANINGS: dict[FieldName, str] = {
    "value": "{title}: {summary}",
    "low": "lower end of {title}'s confidence interval",
    "high": "upper end of {title}'s confidence interval",
    "difference": "{title} less that of the baseline (or the mean over the set)",
    "difference_low": "lower end of {id}_diff's interval",
    "difference_high": "upper end of {id}_diff's interval",
    "p": "p-value of {id}_diff",
    "p_adjusted": "{id}_p corrected for the number of tests",
    "flag": "better or worse where {id}_p_adj is below gamma",
    "rank": "rank by {title}",
    "rank_low": "best rank by {title} that the tests allow",
    "rank_high": "worst rank by {title} that the tests allow",
}
"""Of the column of each field of an estimate, whatever the measure."""

_KEYS = {
    MeasureColumn("run", "name"): "the run",
    MeasureColumn("measure", "name"): "the effectiveness measure of the scores",
    MeasureColumn("baseline", "name"): "what the run is compared with",
    MeasureColumn("population", "name"): "whose totals give a topic its expected score",
    MeasureColumn("alpha", "number"): "losses count 1 + alpha times",
    MeasureColumn("topics", "count"): "number of topics",
}
"""What says which number a row holds."""

_COLUMNS = {
    "mean": "mean effectiveness",
    "mean_lo": "lower end of the mean's confidence interval",
    "mean_hi": "upper end of the mean's confidence interval",
    "mean_diff": "mean less the baseline's mean (Gain)",
    "mean_p": "p-value of the test that the means differ",
    "rank_mean": "rank by mean, 1 is best; equal values share the smaller rank",
    "urisk": "URisk: reward less (1 + alpha) risk",
    "urisk_lo": "lower end of URisk's confidence interval; at alpha 5 it can hold the truth in "
    "as few as 81 % of samples of 25 topics, and in 70 % where the losses are one topic's",
    "trisk": "TRisk: URisk over its standard error",
    "trisk_p": "p-value of TRisk: gains and (1 + alpha)-fold losses balance",
    "zrisk": "ZRisk: how far the profile exceeds or falls short of expectation",
    "georisk": "GeoRisk: mean effectiveness and ZRisk in one figure",
    "baseline_mean": "mean effectiveness of the baseline",
    "mean_dz": "effect size d_z: mean difference over its standard deviation",
    "mean_dz_lo": "lower end of d_z's confidence interval",
    "mean_dz_hi": "upper end of d_z's confidence interval",
    "delta_sd": "standard deviation of δ over the topics, c - 1 in the divisor",
    "wins": "topics on which the run exceeds the baseline",
    "ties": "topics on which the two are equal",
    "losses": "topics on which the run falls below the baseline",
    "losses20": "topics that lose more than 20 % of the baseline's score",
    "reward": "mean gain over the baseline, losses counted 0",
    "risk": "mean loss to the baseline, gains counted 0",
    "urisk_se": "standard error of URisk",
    "reward_risk_ratio": "reward over risk; empty where risk is 0",
    "win_loss_ratio": "wins over losses; empty where losses is 0",
}
"""Columns that a measure declares itself, and those that the usual words do not fit."""

_OF_UNJUDGED = {
    MeasureColumn("mean_diff_min", "number"): "least mean_diff, whatever the unjudged documents",
    MeasureColumn("mean_diff_max", "number"): "largest mean_diff, whatever the unjudged documents",
    MeasureColumn("urisk_min", "number"): "least URisk, whatever the unjudged documents",
    MeasureColumn("urisk_max", "number"): "largest URisk, whatever the unjudged documents",
    MeasureColumn("losses_certain", "count"): "topics that lose, whatever the unjudged documents",
    MeasureColumn("losses_possible", "count"): "topics that lose for some unjudged documents",
    MeasureColumn("judged", "number"): "judged share of the first documents, mean over topics",
    MeasureColumn("baseline_judged", "number"): "the same of the baseline",
}
"""What unjudged documents may do; --unjudged bounds asks for these columns."""

_ON_DEMAND = {
    MeasureColumn(WILCOXON, "p"): "two-sided p-value of Wilcoxon's signed rank test that δ is "
    "symmetric about 0: not of the mean, nor of risk; uncorrected; topics without a difference are "
    "dropped",
}
"""What is computed where --columns names it."""

JUDGED, RANKED = (
    ("mean", "trisk", "zrisk", "georisk"),
    ("mean", "urisk", "trisk", "zrisk", "georisk"),
)
"""The measures whose marks, and whose ranks, are counted by judges."""


def _tested(name: str, flag: str) -> dict[MeasureColumn, str]:
    """What belongs to a difference of that name: its interval, test and mark."""
    return {
        MeasureColumn(f"{name}_lo", "number"): f"lower end of the interval of {name}",
        MeasureColumn(f"{name}_hi", "number"): f"upper end of the interval of {name}",
        MeasureColumn(f"{name}_p", "p"): f"p-value of {name}",
        MeasureColumn(f"{name}_p_adj", "p"): f"{name}_p corrected for the number of tests",
        MeasureColumn(f"{name}_flag", "flag"): flag,
    }


_OF_LABELS = {
    "--weights": {
        MeasureColumn("effective_topics", "number"): "how many topics of equal weight tell as much",
    },
    "--groups": {
        MeasureColumn(GROUP, "name"): "the group of topics that the row is about: all, or one",
    },
    "--replicates": {
        MeasureColumn("replicates", "count"): "number of runs that the system is the mean of",
        MeasureColumn("topic_sd", "number"): "standard deviation over topics",
        MeasureColumn("seed_sd", "number"): "standard deviation over replicates, of their means",
        MeasureColumn("self_risk", "number", measure="urisk"): "URisk of a replicate against "
        "another of its system, on average",
        MeasureColumn("floor", "number", measure="urisk"): "URisk that noise of replicates alone "
        "would make, were system and baseline alike",
    },
    "several --qrels": {
        MeasureColumn("judges", "count"): "number of judges under whose judgements runs are scored",
        **{
            MeasureColumn(f"{name}_judges", "count"): f"judges under which {name}_flag is as here"
            for name in JUDGED
        },
        **{
            MeasureColumn(f"rank_{name}_judges_{end}", "rank"): f"{which} rank_{name} under a judge"
            for name in RANKED
            for end, which in (("lo", "best"), ("hi", "worst"))
        },
    },
    "--human": {
        MeasureColumn("human_topics", "count"): "topics that humans judged",
        MeasureColumn("human_diff", "number"): "mean_diff by humans, on the topics they judged",
        MeasureColumn("model_bias", "number"): "mean_diff by the model less human_diff, on these",
        **_tested("model_bias", "better where the model favours the run, or worse"),
        MeasureColumn("corrected_diff", "number"): "mean_diff over all topics, corrected by humans",
        **_tested("corrected", "better or worse where corrected_p_adj is below gamma"),
    },
}
"""What labels of topics and runs add, by the option that tells of them, without which a table does
not have these columns."""
_BESIDE = {
    column: says for columns_of in _OF_LABELS.values() for column, says in columns_of.items()
}

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
    "rank_georisk_lo", "rank_georisk_hi", "shortfall", "rank_shortfall", "delta_sd",
)  # fmt: skip
"""The contract with whoever reads the machine formats: new columns come after these."""


@cache
def columns() -> Mapping[str, MeasureColumn]:
    """Every column of a risk table by its name, in the order of the machine formats."""
    declared = [*_KEYS, *(column for measure in measures() for column in measure.all_columns)]
    by_name = {column.name: column for column in declared}
    return {name: by_name[name] for name in dict.fromkeys([*ORDER, *by_name])}


@cache
def columns_of_unjudged() -> Mapping[str, MeasureColumn]:
    """The columns that `--unjudged bounds` appends, by name."""
    return {column.name: column for column in _OF_UNJUDGED}


@cache
def columns_beside() -> Mapping[str, MeasureColumn]:
    """The columns of a table whose topics or runs have labels, by name."""
    return {column.name: column for column in _BESIDE}


def asked_with(name: str) -> str:
    """The option that a column beside the usual ones comes with."""
    known = ((each.name, option) for option, of in _OF_LABELS.items() for each in of)
    return dict(known)[name]


@cache
def every_column() -> Mapping[str, MeasureColumn]:
    """All columns that a risk table can have, by name."""
    return {
        **columns(), **columns_of_unjudged(), **columns_beside(), **{c.name: c for c in _ON_DEMAND}
    }  # fmt: skip


_ABOVE = re.compile(r"above\((-?(?:\d+\.?\d*|\.\d+))\)")


def above(name: str) -> float | None:
    """The bound that a column of that name counts topics beyond, if it is such a one."""
    match = _ABOVE.fullmatch(name)
    return float(match[1]) if match else None


def is_on_demand(name: str) -> bool:
    """Whether a column is computed only where it is asked for."""
    return name == WILCOXON or above(name) is not None


def column_of(name: str) -> MeasureColumn:
    """The column that a table can have by that name."""
    return every_column().get(name) or MeasureColumn(name, "count")


def meaning_of(column: MeasureColumn) -> str:
    """What a column holds, in words."""
    known = {**_KEYS, **_OF_UNJUDGED, **_BESIDE, **_ON_DEMAND}
    meaning = known.get(column) or _COLUMNS.get(column.name)
    measure = next((m for m in measures() if m.id == column.measure), None)
    if meaning or measure is None or column.field is None:
        return meaning or column.name
    words = words_of(measure)
    usual = _MEANINGS[column.field]
    return usual.format(id=measure.id, title=words.title, summary=words.summary)


# The two vocabularies: plain, and minus (ECIR'20), in which higher means riskier.
#
# Numbers are computed in the plain one. The minus convention turns signs round where results leave
# the library: a value, its difference and its interval; ranks and flags keep their meaning.
# GeoRisk- is -GeoRisk (ECIR'20's Eq. 8 takes Phi of ZRisk-, which would turn it round twice).


MINUS: Convention = "minus"
PRINTED: Convention = "minus-printed"


def turned_in_words(convention: Convention) -> str:
    """What a legend says of the sign."""
    printed = "; (Eq. 8): as in ECIR'20's Table 2, which a higher ZRisk⁻ lowers; no ranks, no tests"
    return "⁻ sign turned, higher is riskier" + (printed if convention == PRINTED else "")


def titled(measure: RiskMeasure, convention: Convention) -> str:
    """The measure's title: URisk, or URisk with a superscript minus."""
    turned = convention != "plain" and measure.signed
    printed = convention == PRINTED and measure.as_printed is not None
    return words_of(measure).title + ("⁻" if turned else "") + (" (Eq. 8)" if printed else "")


def weights(alphas: Sequence[float | None], convention: Convention) -> str:
    """How losses count: `α = 1, 5`, `α̂ = 2, 6`, or `smooth loss`."""
    linear = [alpha for alpha in alphas if alpha is not None]
    if not linear:
        return "smooth loss"
    return f"{symbol(convention)} = {', '.join(f'{weight(a, convention):g}' for a in linear)}"


def symbol(convention: Convention) -> str:
    """α, or α with a hat, which is 1 + α."""
    return "α" if convention == "plain" else "α̂"


def weight(alpha: float, convention: Convention) -> float:
    """The number that goes with the symbol."""
    return alpha if convention == "plain" else 1 + alpha
