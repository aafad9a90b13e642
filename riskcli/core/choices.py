"""Every choice between words, declared once: the library checks it, the command line offers it."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

from riskcli.core.messages import UsageError, nearest

TopicRule = Literal["relevant", "judged", "common"]
"""Topics of the qrels with a relevant document, all of the qrels, or those every run answers."""
Precision = Literal["single", "double"]
"""In which scores tie."""
RunNames = Literal["auto", "tag", "file"]
Only = Literal["all", "errors", "warnings"]
OnError = Literal["stop", "skip"]
Sending = Literal["paths", "bytes"]
"""What of a run travels to a worker of a cluster."""
Pool = Literal["mean", "median", "max", "min", "each"]
"""How a set of baselines becomes one score per topic; `each` takes them in turn."""
PopulationRule = Literal["all", "baselines"]
Loss = Literal["linear", "smooth", "smooth:fit"]
Convention = Literal["plain", "minus", "minus-printed"]
"""The last is minus with ECIR'20's Eq. 8 to the letter."""
Test = Literal["jackknife", "swap"]
Correction = Literal["holm", "bonferroni", "bh", "none"]
Marks = Literal["arrows", "daggers", "none"]
Family = Literal["column", "all"]
Between = Literal["all", "baseline"]
TopicOrder = Literal["loss", "topic"]
Unjudged = Literal["zero", "bounds", "condensed"]
"""What documents are that nobody judged: not relevant; that, with what else they could be; or taken
out of the rankings first."""
OtherJudgements = Literal["refuse", "allow"]
"""What a gate does with files of scores that were made from other judgements than the rest."""
Inconclusive = Literal["pass", "fail"]
"""What a gate makes of a verdict that the data do not decide."""
SweepOver = Literal["alpha", "baseline", "measure", "population"]
"""What a sweep varies; `SweepPart` are the tables over alpha, `BiasPart` those over baselines."""
SweepPart = Literal["series", "events"]
BiasPart = Literal["urisk", "baselines", "components", "friedman"]
Colour = Literal["auto", "always", "never"]

VIRTUAL_MARK = "@"
VIRTUAL_BASELINES = ("@mean", "@median", "@max", "@min")
"""Baselines made from the matrix; no run may have a name that begins like theirs."""
DEFAULT_BASELINE = "@mean"


def words(choice: Any) -> tuple[str, ...]:
    """The words of a choice."""
    return tuple(get_args(choice))


def check_words(**given: tuple[Any, Any]) -> None:
    """Refuse a value that is not one of its choice's words; `name=(value, choice)`."""
    for name, (value, choice) in given.items():
        check_word(name, value, words(choice))


def check_word(name: str, value: Any, known: Sequence[str]) -> None:
    """Refuse a value that is none of the known words, naming them."""
    if value not in known:
        hint = nearest(value, known) if isinstance(value, str) else ""
        raise UsageError(f"{name} is {value!r}, expected one of {', '.join(known)}{hint}")


def is_virtual(name: str) -> bool:
    """Whether a name begins as those of virtual baselines do, known or not."""
    return name.startswith(VIRTUAL_MARK)


def population_in_words(name: str) -> str:
    """What a population is, by its name in results."""
    words = {
        "all": "all runs",
        "baselines": "for each run, the named baselines and that run",
        "teams": "all teams, each the mean of its distinct runs",
        "baseline teams": "for each run, the teams of the named baselines and that run",
    }
    return words.get(name, f"{name}, and the run itself where it is not in it")
