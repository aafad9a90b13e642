"""Words of single analyses, choices of options, and what runs and judgements are made of."""

from __future__ import annotations

from riskcli.commands.words import Word

WORDS_OF_ANALYSES = (
    Word(
        ("rbo", "RBO"),
        "RBO: rank-biased overlap of two rankings: 1 the same order, 0 nothing in common; "
        "the top weighs most (--persistence). `sweep --over measure` prints what is certain and "
        "the residual; `churn` the extrapolated value.",
    ),
    Word(
        ("residual", "rbo_min"),
        "residual: how much larger RBO could be if the rankings went on.",
    ),
    Word(
        ("tau-b", "τ_b", "tau", "kendall"),
        "τ_b: Kendall's correlation of two rankings: 1 the same order, -1 the reverse; ties "
        "count as ties (agree, bias).",
    ),
    Word(
        ("tau-ap", "τ_AP", "tau_ap"),
        "τ_AP: a correlation of rankings in which mistakes near the top weigh most; the row "
        "is taken for the truth (agree).",
    ),
    Word(
        ("kendall-w",),
        "W (bias): Kendall's coefficient of concordance: 1 where every baseline ranks the "
        "runs alike. Next to it is the value of equal runs, which is not 0.",
    ),
    Word(
        ("z", "exp.", "expected"),
        "z: a run's score on a topic minus its expected score, over the root of the expected "
        "score; the expected score (exp.) is the run's total times the topic's total over "
        "the grand total of the population. ZRisk is made of them (topics).",
    ),
    Word(
        ("share",),
        "share: a topic's part in ZRisk, relative to the sum of all parts' sizes (topics).",
    ),
    Word(
        ("max-t", "step-down", "shuffles", "stepdown"),
        "max-t over runs, step-down: the test against virtual baselines. The runs are "
        "shuffled within each topic (999 times); a run's p-value is the share of shuffles "
        "whose largest t, of all runs, reaches its own. It corrects for the number of runs "
        "by itself.",
    ),
    Word(
        ("conditional", "taking-the-runs-as-given", "as-given"),
        "taking the runs as given: the tests ask what other topics would show for these very "
        "runs; the runs are not a sample of runs.",
    ),
    Word(
        ("family",),
        "family: the tests that p-values are corrected for together: the runs of one column, "
        "or the whole table (--family).",
    ),
    Word(
        ("pool",),
        "pool: how the scores of a set of baselines become one score per topic: mean, "
        "median, max or min; with each, runs are compared with every one in turn (--pool).",
    ),
    Word(
        ("convention",),
        "convention: plain, where higher is better, or minus (ECIR'20), where the signs of "
        "the risk measures are turned and higher is riskier (--convention).",
    ),
    Word(
        ("minus",),
        "minus: the convention of ECIR'20: URisk⁻, TRisk⁻, ZRisk⁻ and GeoRisk⁻ are higher "
        "where a run is riskier; losses weigh alpha-hat = 1 + alpha (--convention minus).",
    ),
    Word(
        ("plain",),
        "plain: the convention in which higher is better for every measure (--convention "
        "plain, the default).",
    ),
    Word(
        ("smooth", "smooth:fit", "cubic"),
        "smooth: the loss function of ECIR'20, a cubic in place of the kink at 0; alpha does "
        "not apply. smooth:fit fits it to the given differences (--loss).",
    ),
    Word(
        ("linear",),
        "linear: the usual loss: gains count once, losses 1 + alpha times (--loss linear, "
        "the default).",
    ),
    Word(
        ("seed",),
        "seed: the number that random shuffles and swaps start from; the same seed gives the "
        "same result (--seed).",
    ),
    Word(
        ("qrels", "judgements", "judgments"),
        "qrels: judgements of documents by topic: lines of topic, iteration, document, grade "
        "(--qrels).",
    ),
    Word(
        ("grade",),
        "grade: a judgement's number; documents of grade 1 and more are relevant.",
    ),
    Word(
        ("run", "runs"),
        "run: one system's ranking of documents for every topic: a file of lines topic Q0 "
        "docno rank score tag.",
    ),
    Word(
        ("tag",),
        "tag: the last column of a run file; names the run where the tags of all runs differ "
        "(--run-names).",
    ),
    Word(
        ("topic",),
        "topic: a query with judgements. Tests and intervals take the topics as the sample.",
    ),
    Word(
        ("team",),
        "team: runs that belong together have one weight in the population (--teams, --team-of).",
    ),
    Word(
        ("relevant",),
        "relevant: the topics of the qrels with at least one relevant document (--topics "
        "relevant, the default); a run that does not answer one scores 0.",
    ),
    Word(
        ("common",),
        "common: only topics that every run answers (--topics common).",
    ),
    Word(
        ("ranks", "rank-interval"),
        "ranks: the confidence interval of a run's rank: 1-4 says that the tests leave open "
        "the ranks 1 to 4. A run whose interval begins at 1 may be the best.",
    ),
    Word(
        ("difference", "diff"),
        "difference: a run's value minus that of the baseline, both in the same matrix; its "
        "interval leaves 0 out exactly where the uncorrected p-value is below gamma.",
    ),
    Word(
        ("d_z", "dz", "effect-size"),
        "d_z: effect size: the mean difference over the standard deviation of the "
        "differences (mean_dz).",
    ),
    Word(
        ("bias-r", "partial"),
        "bias r: over the runs, the correlation between similarity to the baseline and what "
        "is left of URisk once its linear part in the mean is removed; partial removes the "
        "mean from the similarity too (bias).",
    ),
    Word(
        ("margin", "non-inferiority"),
        "margin: a loss that is accepted. With --margin a test passes only if a larger loss "
        "can be ruled out, and the verdict may be inconclusive (check).",
    ),
    Word(
        ("inconclusive",),
        "inconclusive: a verdict of `check --margin` where the topics decide neither way; "
        "--inconclusive says what it counts as.",
    ),
    Word(
        ("rule", "rules"),
        "rule: a condition of your own in `check --require`: a quantity, a comparison, a "
        "bound, as in 'urisk@5 > -0.01'. `check --list-rules` lists the quantities.",
    ),
    Word(
        ("verdict",),
        "verdict: what `check` says of a candidate: pass, FAIL or inconclusive; the exit "
        "code is 1 unless all pass.",
    ),
    Word(
        ("ratchet",),
        "ratchet: `check --update-baseline FILE` saves a candidate that passes as the next "
        "baseline.",
    ),
    Word(
        ("distance",),
        "distance: the share of all pairs of documents that two rankings have in different "
        "order (Kendall), 0 to 1 (churn).",
    ),
    Word(
        ("overlap",),
        "overlap at N: the share of the first N documents that two rankings share (churn).",
    ),
    Word(
        ("bin", "bins"),
        "bin: topics grouped by distance, in steps of 0.1 (churn).",
    ),
    Word(
        ("reward-risk",),
        "Reward and Risk: mean gain and mean loss against the baseline, each over all "
        "topics; URisk = Reward - (1 + alpha) Risk.",
    ),
    Word(
        ("gain",),
        "Gain: Reward - Risk, the difference of the means.",
    ),
    Word(
        ("bold", "best"),
        "bold: the best value of its column (markdown, latex, html).",
    ),
    Word(
        ("detect", "power-of-a-test"),
        "detect: the smallest true loss that a test finds in four of five cases; `check` "
        "prints it, --detect warns where it is too large, `power` computes it beforehand.",
    ),
    Word(
        ("frozen",),
        "frozen: a population kept in a file (riskeval population freeze), so later runs do "
        "not change the figures of others.",
    ),
)
