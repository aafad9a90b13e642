"""`riskeval significance`: which runs differ from which."""

from dataclasses import replace
from typing import Literal

from riskcli.cli.option import Reach, command, options, own_option
from riskcli.cli.options import Comparing, Output, conclude, full_option, output_options
from riskcli.cli.reading import Inputs, input_options
from riskcli.cli.types import among, risk_measures
from riskcli.core.choices import Between, Correction

TUKEY = "tukey"
_CORRECTION = {
    "choice": Literal[Correction, "tukey"],
    "help": "Correction of p-values for the number of tests; tukey compares means by the "
    "randomised Tukey HSD, and everything else by holm.",
}


@command(
    input_options, options(Comparing, "comparing", {"correction": _CORRECTION}), output_options()
)
@own_option(
    "--of", multiple=True, shell_complete=among(risk_measures),
    settings=Reach.NOTHING,
    help="What is compared: mean, zrisk or georisk. Repeatable. [default: mean, georisk]",
)  # fmt: skip
@own_option(
    "--between", choice=Between, settings=Reach.NOTHING,
    help="All pairs of runs, or each run with the baseline. [default: all, or baseline with -b]",
)  # fmt: skip
@own_option(
    "--best", is_flag=True, settings=Reach.NOTHING,
    help="How probably each run is the best, and what choosing it is expected to lose.",
)  # fmt: skip
@own_option(
    "--matrix", is_flag=True, settings=Reach.NOTHING, key_only=True,
    help="Show all differences, even of more than 15 runs.",
)  # fmt: skip
@full_option("every difference", in_files=False)
def significance(
    inputs: Inputs,
    comparing: Comparing,
    output: Output,
    of: tuple[str, ...],
    between: Between | None,
    best: bool,
    matrix: bool,
    full: bool,
) -> int:
    """Which of RUNS differ: all pairs of them, or each from the baseline.

    Prints the differences with their intervals and corrected p-values, and letters: runs that
    share one are not significantly different.
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.significance import compare_pairs

    tukey = str(comparing.correction) == TUKEY
    comparing = replace(comparing, correction="holm") if tukey else comparing
    tables = compare_pairs(
        inputs.evaluate(comparing.wanted, comparing.needs_checksums(output)),
        of=of,
        between=between,
        options=comparing.options(),
        tukey=tukey,
        best=best,
    )
    return conclude(replace(tables, in_full=matrix or full), inputs, output, full)
