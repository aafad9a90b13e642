"""Names of effectiveness measures: ir_measures' and trec_eval's, to one canonical form.

Every family is declared once, in `FAMILIES`; parsing, hints and documentation read from there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from riskcli.core.errors import UsageError, nearest

Argument = Literal["none", "cutoff", "optional cutoff", "value"]


@dataclass(frozen=True)
class Family:
    """Measures that differ in their cutoff only.

    `name` is ir_measures' name (trec_eval's own where ir_measures has none); `plain` and `cut` are
    what pytrec_eval calls it without and with a cutoff; `parameters` may stand in brackets.
    """

    name: str
    summary: str
    argument: Argument = "none"
    plain: str = ""
    cut: str = ""
    parameters: tuple[str, ...] = ()
    highest: int = 10_000_000
    """The highest cutoff or value that means something."""
    unanswered: float = 0.0
    """The score of a topic that a run does not answer."""

    @property
    def names(self) -> list[str]:
        """Every way to spell the family."""
        return [name for name in (self.name, self.plain, self.cut) if name]


_BINARY = ("rel",)
_LOG_OF_NOTHING = math.log(0.00001)
"""What trec_eval takes for the logarithm of 0."""

FAMILIES = (
    Family("ERR", "expected reciprocal rank, as gdeval.pl computes it", "optional cutoff"),
    Family(
        "nDCG",
        "normalised discounted cumulative gain (dcg='exp-log2': gain 2^grade - 1)",
        "optional cutoff",
        plain="ndcg",
        cut="ndcg_cut",
        parameters=("dcg",),
    ),
    Family("AP", "average precision", "optional cutoff", "map", "map_cut", _BINARY),
    Family("P", "precision", "cutoff", cut="P", parameters=_BINARY),
    Family("R", "recall", "cutoff", cut="recall", parameters=_BINARY),
    Family("RR", "reciprocal rank", "optional cutoff", plain="recip_rank", parameters=_BINARY),
    Family("Success", "1 where a relevant document is found", "cutoff", "", "success", _BINARY),
    Family("Rprec", "precision at the number of relevant", "none", "Rprec", "", _BINARY),
    Family("Bpref", "preference for relevant over non-relevant", "none", "bpref", "", _BINARY),
    Family("infAP", "inferred average precision", "none", "infAP", "", _BINARY),
    Family(
        "IPrec",
        "interpolated precision at a recall",
        "value",
        cut="iprec_at_recall",
        parameters=_BINARY,
        highest=1,
    ),
    Family("SetP", "precision of the whole list", "none", "set_P", "", _BINARY),
    Family("SetR", "recall of the whole list", "none", "set_recall", "", _BINARY),
    Family("SetF", "F of the whole list", "none", "set_F", "", _BINARY),
    Family("SetAP", "set_P times set_recall", "none", "set_map", "", _BINARY),
    Family("NumRet", "documents retrieved", "none", "num_ret"),
    Family("NumRel", "relevant documents", "none", "num_rel", "", _BINARY),
    Family("NumRelRet", "relevant documents retrieved", "none", "num_rel_ret", "", _BINARY),
    Family("11pt_avg", "mean interpolated precision at 11 recalls", "none", "11pt_avg"),
    Family("G", "normalised gain", "none", "G"),
    Family("binG", "binary G", "none", "binG"),
    Family("Rndcg", "nDCG to the depth R", "none", "Rndcg"),
    Family("ndcg_rel", "nDCG averaged over recalls", "none", "ndcg_rel"),
    Family("gm_map", "logarithm of average precision", plain="gm_map", unanswered=_LOG_OF_NOTHING),
    Family("gm_bpref", "logarithm of bpref", plain="gm_bpref", unanswered=_LOG_OF_NOTHING),
    Family("relative_P", "precision over the best possible", "cutoff", cut="relative_P"),
    Family("Rprec_mult", "precision at a multiple of R", "value", cut="Rprec_mult", highest=100),
    Family("set_relative_P", "relative precision of the list", "none", "set_relative_P"),
    Family("utility", "relevant less non-relevant retrieved", "none", "utility"),
    Family("num_nonrel_judged_ret", "judged non-relevant", "none", "num_nonrel_judged_ret"),
)
"""All that pytrec_eval computes per topic, and ERR. (Its `relstring`, `runid` and `num_q` are no
scores; pytrec_eval answers 0.0 for `relstring`.)"""

_RELEVANT_ALONE = frozenset(
    ("nDCG", "AP", "P", "R", "RR", "Success", "Rprec", "IPrec", "SetP", "SetR", "SetF", "SetAP")
)
"""The families to which a document judged not relevant is one that was not judged."""

DEFAULT_MEASURES = ("ERR@20", "nDCG@20")

_PATTERN = re.compile(
    r"(?P<name>[A-Za-z0-9_]+?)(\((?P<arguments>[^()]*)\))?((?P<sign>[@._])(?P<at>\d+(\.\d+)?))?"
)
_PARAMETER = re.compile(r"(?P<key>\w+)\s*=\s*(?P<value>'[^']*'|\"[^\"]*\"|\d+)")
_HIGHEST_GRADE = 2**15
_ALIASES = {"mrr": "rr", "precision": "p"}


@dataclass(frozen=True)
class Measure:
    """An effectiveness measure; `str` gives the canonical name, which parses back to the same."""

    family: Family
    at: str | None = None
    relevance: int = 1
    exponential: bool = False

    def __str__(self) -> str:
        arguments = []
        if self.exponential:
            arguments.append("dcg='exp-log2'")
        if self.relevance != 1:
            arguments.append(f"rel={self.relevance}")
        brackets = f"({','.join(arguments)})" if arguments else ""
        return f"{self.family.name}{brackets}{'' if self.at is None else '@' + self.at}"

    @property
    def is_err(self) -> bool:
        """ERR is computed here; everything else by pytrec_eval."""
        return self.family.name == "ERR"

    @property
    def cutoff(self) -> int | None:
        """The number of documents that matter, None where the whole list does."""
        counts = self.at is not None and self.family.argument != "value"
        return int(self.at) if counts and self.at else None

    @property
    def sees_relevant_alone(self) -> bool:
        """Whether documents that are judged not relevant can be left out of the qrels."""
        return self.family.name in _RELEVANT_ALONE

    @property
    def truncates(self) -> bool:
        """Whether the cutoff works by handing pytrec_eval a shorter list (RR@10)."""
        return self.cutoff is not None and not self.family.cut and not self.is_err

    @property
    def trec_name(self) -> str:
        """What pytrec_eval is asked for."""
        if self.at is None or self.truncates:
            return self.family.plain
        return f"{self.family.cut}.{self.at}"

    @property
    def trec_key(self) -> str:
        """What pytrec_eval calls it in its answer."""
        if self.at is None or self.truncates:
            return self.family.plain
        shown = f"{float(self.at):.2f}" if self.family.argument == "value" else self.at
        return f"{self.family.cut}_{shown}"


def split_names(texts: Iterable[str]) -> list[str]:
    """Each distinct name in a list of texts, some of which may hold several with commas."""
    names = [name.strip() for text in texts for name in re.split(r",(?![^()]*\))", text)]
    return [name for name in dict.fromkeys(names) if name]


def parse_measures(texts: Iterable[str]) -> list[Measure]:
    """Each distinct measure in a list of names, some of which may hold several with commas."""
    return list(dict.fromkeys(parse_measure(name) for name in split_names(texts)))


def canonical_name(text: str) -> str:
    """A measure's canonical name; a name that is none, as a score file may bear, as it is."""
    try:
        return str(parse_measure(text))
    except UsageError:
        return text


def parse_measure(text: str) -> Measure:
    """One measure by ir_measures' or trec_eval's name."""
    text = text.strip()
    family, at, arguments = _spelled(text), None, ""
    match = _PATTERN.fullmatch(text)
    if family is None and match is not None:
        family, at, arguments = _spelled(match["name"]), match["at"], match["arguments"] or ""
    if family is None:
        raise UsageError(_unknown(text))
    try:
        at = _checked_argument(family, at)
        relevance, exponential = _parameters(family, arguments)
    except ValueError as error:
        raise UsageError(f"measure {text!r}: {error}") from error
    return Measure(family, at, relevance, exponential)


def _spelled(name: str) -> Family | None:
    """The family of that name, in either vocabulary, whatever its capitals."""
    known = {spelling.lower(): family for family in FAMILIES for spelling in family.names}
    return known.get(_ALIASES.get(name.lower(), name.lower()))


def _checked_argument(family: Family, at: str | None) -> str | None:
    """The cutoff or value in its plain form (`@020` is `@20`)."""
    if at is None:
        if family.argument in ("cutoff", "value"):
            example = "0.1" if family.argument == "value" else "10"
            raise ValueError(f"it needs a {family.argument}, as in {family.name}@{example}")
        return None
    if family.argument == "none":
        raise ValueError(f"{family.name} takes no cutoff")
    if family.argument == "value":
        if float(at) > family.highest:
            raise ValueError(f"found {at}, expected a value from 0 to {family.highest}")
        if f"{float(at):g}" != f"{round(float(at), 2):g}":
            raise ValueError(f"found {at}, trec_eval tells only two decimals apart")
        return f"{float(at):g}"
    if not at.isdigit() or not 0 < int(at) <= family.highest:
        expected = f"expected a whole number from 1 to {family.highest:,}"
        raise ValueError(f"the cutoff is {at!r}, {expected}")
    return str(int(at))


def _parameters(family: Family, arguments: str) -> tuple[int, bool]:
    """The relevance level and whether the gain is exponential, from what stands in brackets."""
    relevance, exponential = 1, False
    for argument in filter(str.strip, arguments.split(",")):
        match = _PARAMETER.fullmatch(argument.strip())
        if match is None or match["key"] not in family.parameters:
            known = " or ".join(family.parameters) or "no parameter"
            raise ValueError(f"found {argument.strip()!r} in brackets, {family.name} takes {known}")
        value = match["value"].strip("'\"")
        if match["key"] == "dcg":
            if value not in ("log2", "exp-log2"):
                raise ValueError(f"dcg is {value!r}, expected 'log2' or 'exp-log2'")
            exponential = value == "exp-log2"
        else:
            if not value.isdigit() or not 1 <= int(value) <= _HIGHEST_GRADE:
                raise ValueError(f"rel is {value!r}, expected a grade from 1 to {_HIGHEST_GRADE}")
            relevance = int(value)
    return relevance, exponential


def _unknown(text: str) -> str:
    stem = re.split(r"[@(.]", text)[0]
    known = dict.fromkeys(name for family in FAMILIES for name in family.names)
    hint = nearest(stem, known) or f"; known are {', '.join(f.name for f in FAMILIES)}"
    return f"unknown measure {text!r}{hint}"


def unanswered_score(name: str) -> float:
    """The score, by the measure of that name, of a topic that a run does not answer."""
    stem = re.split(r"[@(.]", name)[0]
    family = _spelled(stem)
    return 0.0 if family is None else family.unanswered
