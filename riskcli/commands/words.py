"""What `riskeval help WORD` says of the words and signs on the screen that nothing else defines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """Names for one thing, the first of which lists show, and what it is."""

    names: tuple[str, ...]
    text: str


WORDS = (
    Word(
        ("alpha", "α", "a"),
        "alpha (α): losses against the baseline count 1 + alpha times, gains once. alpha = 0 "
        "treats both alike; 1 counts losses twice, 5 six times. Any number from 0 (--alpha).",
    ),
    Word(
        ("alpha-hat", "α̂"),
        "alpha-hat (α̂): 1 + alpha, how often a loss counts in the minus convention (--alpha-hat).",
    ),
    Word(
        ("gamma", "γ", "significance-level", "level"),
        "gamma (γ): the significance level of all tests, 0.05 unless --gamma says otherwise. "
        "Most papers call it α, which is taken here. A difference is marked where its "
        "corrected p-value is below gamma; confidence intervals have level 1 - gamma.",
    ),
    Word(
        ("delta", "δ"),
        "delta (δ): a run's score on a topic minus the baseline's. Above 0 the run wins the topic.",
    ),
    Word(
        ("w",),
        "w: a topic's difference δ as the loss counts it: δ itself where it is a gain, (1 + "
        "alpha) δ where it is a loss, or s(δ) with --loss smooth. URisk is the mean of w.",
    ),
    Word(
        ("W/T/L", "wtl"),
        "W/T/L: wins, ties and losses: on how many topics the run's score is above, equal to "
        "and below the baseline's.",
    ),
    Word(
        ("L>20%",),
        "L>20%: topics on which the run loses more than 20 % of the baseline's score (losses20).",
    ),
    Word(
        ("#",),
        "#: rank; 1 is best, equal values share the smaller rank. The first column ranks the "
        "runs by the column that they are sorted by (--sort); the number beside a value is "
        "its rank in that column.",
    ),
    Word(
        ("▲", "▼", "†", "‡", "better", "worse", "flag"),
        "▲ (†) better, ▼ (‡) worse: the corrected p-value is below the significance level "
        "gamma, and the sign says which way. What is compared differs by column; the lines "
        "below the table say it. For TRisk at alpha above 0 the mark is no proof of a "
        "difference: even two equal systems tend to get ▼, because their losses count more "
        "than their gains.",
    ),
    Word(
        ("◆",),
        "◆: the baseline's own row, or a member of the set of baselines.",
    ),
    Word(
        ("–",),
        "–: undefined, such as URisk in the baseline's own row. Empty in tsv and csv, null in "
        "json.",
    ),
    Word(
        ("⁻",),
        "⁻: the minus convention (ECIR'20): signs turned, so that higher is riskier "
        "(--convention minus).",
    ),
    Word(
        ("∞",),
        "∞: a ratio whose divisor is 0, or TRisk where all differences are equal.",
    ),
    Word(
        ("baseline",),
        "baseline: what runs are compared with (--baseline): a run, a file, a glob, several "
        "runs (a set, --pool says how they become one score per topic), or a virtual run such "
        "as @mean.",
    ),
    Word(
        ("virtual", "@mean", "@median", "@max", "@min"),
        "@mean, @median, @max, @min: virtual baselines, made topic by topic from all runs of "
        "the matrix: each topic's mean, median, greatest or least score. They are not real "
        "runs, and never part of the population.",
    ),
    Word(
        ("population",),
        "population: the runs whose totals give each topic its expected score, for ZRisk and "
        "GeoRisk (--population): all runs, or the named baselines and the run itself. Adding "
        "or removing a run changes everybody's ZRisk and GeoRisk.",
    ),
    Word(
        ("interval", "confidence-interval"),
        "interval: confidence interval, at 1 - gamma. A value's own says how far it may move "
        "on other topics; whether two runs differ is for the test of the difference, not for "
        "whether their intervals overlap.",
    ),
    Word(
        ("p", "p-value", "p_adj", "adjusted"),
        "p: how often equal systems would show a difference at least this large, by the "
        "choice of topics alone. p_adj is corrected for the number of tests (--correction); "
        "the marks follow p_adj.",
    ),
    Word(
        ("jackknife", "test"),
        "jackknife: the test of ZRisk and GeoRisk. Each topic is left out in turn, with all "
        "totals computed anew; the spread of the results gives a standard error, and the "
        "difference over it is compared with Student's t (--test jackknife).",
    ),
    Word(
        ("swap",),
        "swap: a test that exchanges the two runs' scores on random topics, --swaps times "
        "from --seed, and counts how often the difference is as large (--test swap; one "
        "baseline run).",
    ),
    Word(
        ("holm", "correction"),
        "holm: Holm's correction for the number of tests: no more than gamma chance of any "
        "false mark in a column (--correction holm, the default); never weaker than "
        "Bonferroni's.",
    ),
    Word(
        ("bonferroni",),
        "bonferroni: every p-value times the number of tests (--correction bonferroni).",
    ),
    Word(
        ("bh", "fdr"),
        "bh: Benjamini and Hochberg's correction: of all marks, a share of gamma at most is "
        "expected to be false (--correction bh). Milder than holm.",
    ),
    Word(
        ("tukey",),
        "tukey: the randomised Tukey HSD: all pairs of means at once, by shuffling the runs "
        "within each topic (significance --tukey).",
    ),
    Word(
        ("groups", "letters"),
        "groups: runs that share a letter are not significantly different. That is not to say "
        "that they are equal.",
    ),
    Word(
        ("tr", "TR"),
        "TR: a topic's w over the standard deviation of w: how far the topic stands out "
        "(SIGIR'14).",
    ),
    Word(
        ("tj", "TJ"),
        "TJ: how much URisk changes without the topic, in standard errors (SIGIR'14); the "
        "sign is that of the topic's own contribution.",
    ),
    Word(
        ("profile",),
        "profile: settings with a name, in a table [profile.NAME] of riskeval.toml, used by "
        "--profile NAME; `riskeval config COMMAND --profile NAME` shows them.",
    ),
    Word(
        ("unanswered", "unanswered-topics"),
        "unanswered topics: topics of the judgements that a run does not answer; they score 0.",
    ),
)
