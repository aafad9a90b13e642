"""The registry of effectiveness measures, and their names (ir_measures', trec_eval's).

Each module here declares its `FAMILIES`. A module dropped into this folder is known to the program:
its names are accepted wherever a measure is, and the help and the docs list it. A family that
pytrec_eval does not compute brings a function of its own (`computed_by`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from riskcli.core.messages import UsageError, nearest
from riskcli.effectiveness.measure import Family, Measure, Value


@cache
def families() -> tuple[Family, ...]:
    """All families of measures, in the order of lists."""
    declared = [
        family
        for module in iter_modules(__path__)
        for family in import_module(f"{__name__}.{module.name}").FAMILIES
    ]
    return tuple(sorted(declared, key=lambda family: family.position))


# Names of effectiveness measures: ir_measures' and trec_eval's, to one canonical form.


FAMILIES = families()
DEFAULT_MEASURES = ("ERR@20", "nDCG@20")
OFFICIAL = (
    *("num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *(f"iprec_at_recall.{tenths / 10:.2f}" for tenths in range(11)),
    *(f"P.{cutoff}" for cutoff in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
)
"""What trec_eval prints of itself (`-m official`), in its order."""

_PATTERN = re.compile(
    r"(?P<name>[A-Za-z0-9_]+?)(\((?P<arguments>[^()]*)\))?((?P<sign>[@._])(?P<at>\d+(\.\d+)?))?"
)
_PARAMETER = re.compile(r"(?P<key>\w+)\s*=\s*(?P<value>'[^']*'|\"[^\"]*\"|\d+(\.\d+)?|\.\d+)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WITH_CUTOFF = re.compile(r"(.*?[@._])\d+(?:\.\d+)?")
_SPELLINGS = {spelling.lower(): family for family in FAMILIES for spelling in family.names}
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
    try:
        parse_measure(text)
    except UsageError:
        return False
    return True


def texts_of(measures: object | Iterable[object]) -> tuple[str, ...]:
    """The names of one measure or several, given as texts or as ir_measures' objects."""
    several = isinstance(measures, Iterable) and not isinstance(measures, str)
    given = measures if several and isinstance(measures, Iterable) else (measures,)
    return tuple(map(str, given))


def parse_measures(texts: Iterable[str]) -> list[Measure]:
    """Each distinct measure in a list of names, some of which may hold several."""
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
        given = _parameters(family, arguments)
    except ValueError as error:
        raise UsageError(f"measure {text!r}: {error}") from error
    return Measure(family, at, given)


def _spelled(name: str) -> Family | None:
    """The family of that name, in either vocabulary, whatever its capitals."""
    return _SPELLINGS.get(_ALIASES.get(name.lower(), name.lower()))


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
    """What stands in brackets, as far as it is not the default."""
    given: dict[str, Value] = {}
    for argument in filter(str.strip, arguments.split(",")):
        match = _PARAMETER.fullmatch(argument.strip())
        parameter = family.parameter(match["key"]) if match else None
        if match is None or parameter is None:
            known = " or ".join(known.name for known in family.parameters) or "no parameter"
            raise ValueError(f"found {argument.strip()!r} in brackets, {family.name} takes {known}")
        given[parameter.name] = parameter.parse(match["value"].strip("'\""))
    return tuple(
        (known.name, given[known.name])
        for known in family.parameters
        if given.get(known.name, known.default) != known.default
    )


def _unknown(text: str) -> str:
    stem = re.split(r"[@(.]", text)[0]
    spellings = dict.fromkeys(name for family in FAMILIES for name in family.names)
    hint = nearest(stem, spellings) or f"; the measures are {', '.join(f.name for f in FAMILIES)}"
    return f"unknown measure {text!r}{hint}"


def unanswered_score(name: str) -> float:
    """The score, by the measure of that name, of a topic that a run does not answer."""
    stem = re.split(r"[@(.]", name)[0]
    family = _spelled(stem)
    return 0.0 if family is None else family.unanswered
