"""What an effectiveness measure is, their registry, and their names (ir_measures', trec_eval's).

Each module here declares its `FAMILIES`. A module dropped into this folder is known to the program:
its names are accepted wherever a measure is, and the help and the docs list it. A family that
pytrec_eval does not compute brings a function of its own (`computed_by`).
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from math import inf
from pkgutil import iter_modules
from typing import Literal

import numpy as np

from riskcli.core.arrays import Floats, logarithms
from riskcli.core.messages import UsageError, nearest
from riskcli.effectiveness.grades import RankedGrades

Argument = Literal["none", "cutoff", "optional cutoff", "value"]
Value = int | float | str
HIGHEST_GRADE = 2**15


@dataclass(frozen=True)
class Parameter:
    """A parameter in brackets behind a measure's name."""

    name: str
    default: Value
    meaning: str
    """A sentence for the help; {0} is the measure's name."""
    parse: Callable[[str], Value]
    """The value that a text spells; a `ValueError` says what was expected."""
    always_shown: bool = False
    """Whether the canonical name shows the default, too."""


def _grade(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= HIGHEST_GRADE:
        raise ValueError(f"rel is {text!r}, expected a grade from 1 to {HIGHEST_GRADE}")
    return int(text)


REL = Parameter("rel", 1, "rel=N in brackets: grades from N count as relevant (default 1).", _grade)


@dataclass(frozen=True)
class Family:
    """Measures that differ in their cutoff and parameters only.

    `name` is ir_measures' name (trec_eval's own where ir_measures has none). A family is computed
    by pytrec_eval, which calls it `plain` without and `cut` with a cutoff, or by a function here.
    """

    name: str
    summary: str
    argument: Argument = "none"
    plain: str = ""
    cut: str = ""
    parameters: tuple[Parameter, ...] = ()
    highest: int = 10_000_000
    """The highest cutoff or value that means something."""
    unanswered: float = 0.0
    """The score of a topic that a run does not answer."""
    logarithm: bool = False
    """Whether a topic's score is a logarithm, so that the mean is shown as a geometric mean."""
    relevant_alone: bool = False
    """Whether a document judged not relevant is to it one that was not judged."""
    computed_by: "Callable[[Measure, RankedGrades], Floats] | None" = None
    """The scores of the topics, where pytrec_eval does not compute them."""
    bounded: bool = False
    """Whether a grade above --max-grade is an error."""
    of_subtopics: bool | None = False
    """Whether it is computed from judgements by subtopic; None: from either kind."""
    most: float = 1.0
    """The highest score that there can be; numbers of documents have no limit."""
    ndeval: str = ""
    """What ndeval calls it."""
    position: int = 100
    """Sort key in lists of measures."""

    @property
    def names(self) -> list[str]:
        """Every way to spell the family."""
        return [name for name in (self.name, self.plain, self.cut, self.ndeval) if name]

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, if it has one."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


@dataclass(frozen=True)
class Measure:
    """An effectiveness measure; `str` gives the canonical name, which parses back to the same."""

    family: Family
    at: str | None = None
    given: tuple[tuple[str, Value], ...] = ()
    """The parameters that differ from their defaults, in the family's order."""
    inner: "Measure | None" = None
    """The measure of whose scores these are the logarithms: AP in gm(AP)."""

    def __str__(self) -> str:
        if self.inner is not None:
            return f"gm({self.inner})"
        shown = [
            f"{parameter.name}={self[parameter.name]!r}"
            for parameter in self.family.parameters
            if parameter.always_shown or parameter.name in dict(self.given)
        ]
        brackets = f"({','.join(shown)})" if shown else ""
        return f"{self.family.name}{brackets}{'' if self.at is None else '@' + self.at}"

    def __getitem__(self, name: str) -> Value:
        """The value of a parameter."""
        parameter = self.family.parameter(name)
        if parameter is None:
            raise KeyError(name)
        return dict(self.given).get(name, parameter.default)

    @property
    def relevance(self) -> int:
        """The lowest grade that counts as relevant."""
        return int(self["rel"]) if self.family.parameter("rel") else 1

    @property
    def exponential(self) -> bool:
        """Whether the gain of a grade is 2^grade - 1."""
        return dict(self.given).get("dcg") == "exp-log2"

    @property
    def cutoff(self) -> int | None:
        """The number of documents that matter, None where the whole list does."""
        counts = self.at is not None and self.family.argument != "value"
        return int(self.at) if counts and self.at else None

    @property
    def truncates(self) -> bool:
        """Whether the cutoff works by handing pytrec_eval a shorter list (RR@10)."""
        by_pytrec_eval = self.family.computed_by is None
        return self.cutoff is not None and not self.family.cut and by_pytrec_eval

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


# The registry.


FAMILIES: tuple[Family, ...] = tuple(
    sorted(
        (
            family
            for module in iter_modules(__path__)
            for family in import_module(f"{__name__}.{module.name}").FAMILIES
        ),
        key=lambda family: family.position,
    )
)
"""All families of measures, in the order of lists."""


# Names of effectiveness measures: ir_measures' and trec_eval's, to one canonical form.


DEFAULT_MEASURES = ("ERR@20", "nDCG@20")
DEFAULTS_OF_SUBTOPICS = ("ERR_IA@20", "alpha_nDCG@20")
OFFICIAL = (
    *("num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *(f"iprec_at_recall.{tenths / 10:.2f}" for tenths in range(11)),
    *(f"P.{cutoff}" for cutoff in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
)
"""What trec_eval prints of itself (`-m official`), in its order."""

_PATTERN = re.compile(
    r"(?P<name>[A-Za-z0-9_α-]+?)(\((?P<arguments>[^()]*)\))?((?P<sign>[@._])(?P<at>\d+(\.\d+)?))?"
)
_PARAMETER = re.compile(r"(?P<key>\w+)\s*=\s*(?P<value>'[^']*'|\"[^\"]*\"|\d+(\.\d+)?|\.\d+)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WITH_CUTOFF = re.compile(r"(.*?[@._])\d+(?:\.\d+)?")
_SPELLINGS = {spelling.lower(): family for family in FAMILIES for spelling in family.names}
_GEOMETRIC = re.compile(r"gm\((.+)\)", re.IGNORECASE)
_ALIASES = {"mrr": "rr", "precision": "p"}


def split_names(texts: Iterable[str]) -> list[str]:
    """Each distinct name in a list of texts, some of which may hold several.

    They are separated by commas, or by white space where all are measures; a number by itself is a
    further cutoff of the name before it (`P.5,10`); `official` is what trec_eval prints of itself.
    """
    names: list[str] = []
    for text in texts:
        stem = ""
        for name in _pieces(text):
            if name == "official":
                names += OFFICIAL
            elif stem and _NUMBER.fullmatch(name):
                names.append(stem + name)
            else:
                names.append(name)
                match = _WITH_CUTOFF.fullmatch(name)
                stem = match[1] if match else ""
    return list(dict.fromkeys(names))


def _pieces(text: str) -> Iterator[str]:
    """The names in a text; a measure of a score file may have a name with blanks."""
    for piece in map(str.strip, re.split(r",(?![^()]*\))", text)):
        parts = re.split(r"\s+(?![^()]*\))", piece)
        if len(parts) > 1 and all(map(_may_be_asked_for, parts)):
            yield from parts
        elif piece:
            yield piece


def _may_be_asked_for(text: str) -> bool:
    return text == "official" or _NUMBER.fullmatch(text) is not None or is_measure(text)


def is_measure(text: str) -> bool:
    """Whether that is the name of a measure."""
    bare = _GEOMETRIC.sub(r"\1", text.strip())
    if _family_in(bare)[0] is None:  # to say which one may be meant takes long
        return False
    try:
        parse_measure(text)
    except UsageError:
        return False
    return True


def texts_of(measures: object | Iterable[object]) -> tuple[str, ...]:
    """The names of one measure or several, given as texts or as ir_measures' objects."""
    if isinstance(measures, Iterable) and not isinstance(measures, str):
        return tuple(map(str, measures))
    return (str(measures),)


def parse_measures(texts: Iterable[str]) -> list[Measure]:
    """Each distinct measure in a list of names, some of which may hold several."""
    return list(dict.fromkeys(parse_measure(name) for name in split_names(texts)))


def measures_for(texts: Iterable[str], by_subtopic: bool) -> list[Measure]:
    """The measures of these names, or the defaults for such judgements."""
    usual = DEFAULTS_OF_SUBTOPICS if by_subtopic else DEFAULT_MEASURES
    return parse_measures(list(texts) or usual)


def canonical_name(text: str) -> str:
    """A measure's canonical name; a name that is none, as a score file may bear, as it is."""
    try:
        return str(parse_measure(text))
    except UsageError:
        return text


def parse_measure(text: str) -> Measure:
    """One measure by ir_measures' or trec_eval's name."""
    text = text.strip()
    if within := _GEOMETRIC.fullmatch(text):
        return _geometric(parse_measure(within[1]))
    family, at, arguments = _family_in(text)
    if family is None:
        raise UsageError(_unknown(text))
    try:
        at = _checked_argument(family, at)
        given = _parameters(family, arguments)
    except ValueError as error:
        raise UsageError(f"measure {text!r}: {error}") from error
    return Measure(family, at, given)


def _family_in(text: str) -> tuple[Family | None, str | None, str]:
    """The family that a text names, its cutoff or value, and what is in brackets."""
    family, match = _spelled(text), _PATTERN.fullmatch(text)
    if family is not None or match is None:
        return family, None, ""
    return _spelled(match["name"]), match["at"], match["arguments"] or ""


def _spelled(name: str) -> Family | None:
    """The family of that name, in any vocabulary, whatever its capitals."""
    plain = name.lower().replace("α", "alpha")
    return _SPELLINGS.get(_ALIASES.get(plain, plain))


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


def _parameters(family: Family, arguments: str) -> tuple[tuple[str, Value], ...]:
    """The parameters in brackets that differ from their defaults."""
    given: dict[str, Value] = {}
    for argument in filter(str.strip, arguments.split(",")):
        match = _PARAMETER.fullmatch(argument.strip())
        parameter = family.parameter(match["key"]) if match else None
        if match is None or parameter is None:
            known = " or ".join(f"{p.name}=..." for p in family.parameters) or "no parameter"
            raise ValueError(f"found {argument.strip()!r} in brackets, {family.name} takes {known}")
        given[parameter.name] = parameter.parse(match["value"].strip("'\""))
    return tuple(
        (known.name, given[known.name])
        for known in family.parameters
        if given.get(known.name, known.default) != known.default
    )


def _unknown(text: str) -> str:
    if re.match(r"gm\W|gm_(?!map|bpref)|gmap", text, re.IGNORECASE):
        return f"unknown measure {text!r}; a geometric mean is written gm(AP), gm(nDCG@20)"
    turned = re.sub(r"(@\d+)(\([^()]+\))$", r"\2\1", text)
    if turned != text and _family_in(turned)[0]:
        return f"unknown measure {text!r}; brackets stand before the cutoff: {turned}"
    stem = re.split(r"[@(.]", text)[0]
    spellings = dict.fromkeys([*(n for family in FAMILIES for n in family.names), *_ALIASES])
    hint = nearest(stem, spellings) or f"; the measures are {', '.join(f.name for f in FAMILIES)}"
    return f"unknown measure {text!r}{hint}"


def highest_score(name: str) -> float:
    """The highest score that there can be by the measure of that name."""
    family = _family_of(name)
    return inf if family is None else family.most


def unanswered_score(name: str) -> float:
    """The score, by the measure of that name, of a topic that a run does not answer."""
    family = _family_of(name)
    return 0.0 if family is None else family.unanswered


def is_logarithm(name: str) -> bool:
    """Whether the scores of the measure of that name are logarithms."""
    family = _family_of(name)
    return family is not None and family.logarithm


def _family_of(name: str) -> Family | None:
    """The family of a measure's name, which may end with its judgements' name in brackets."""
    stem, *inside = re.split(r"[@(.)]| \[", name)
    if stem.lower() != "gm" or not inside:
        return _spelled(stem)
    family = _spelled(inside[0].strip())
    return family and _logarithms(family)


def _logarithms(family: Family) -> Family:
    ends = logarithms(np.array([family.unanswered, family.most]), family.most).tolist()
    named = replace(family, name=f"gm({family.name})", logarithm=True)
    return replace(named, unanswered=ends[0], most=ends[1])


def _geometric(inner: Measure) -> Measure:
    family = inner.family
    if family.most == inf or family.logarithm:
        why = "has logarithms already" if family.logarithm else "counts documents"
        raise UsageError(f"measure 'gm({inner})': {inner} {why}; gm takes scores from 0 to 1")
    return Measure(_logarithms(family), inner.at, inner.given, inner)
