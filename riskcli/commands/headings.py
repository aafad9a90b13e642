"""Headings of tables as words: what is left of one without the names and numbers within it.

`GeoRisk⁻ ranks` below `AP, α=5` is explained by the columns that it shows, `loss 0.02` by the word
`loss N`. So a new measure or column brings its headings along.
"""

import re
from collections.abc import Callable, Iterator

_SHOWS = {
    "interval": ("low", "high"), "ranks": ("rank_low", "rank_high"), "rank": ("rank",),
    "difference": ("difference",), "p": ("p",), "p adjusted": ("p_adjusted",), "flag": ("flag",),
}  # fmt: skip
"""The fields of a measure's estimate behind what follows its title."""
_NUMBER = re.compile(r"(?<!\S)[0-9.]+(?!\S)")
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)$")
_BOUND = re.compile(r"\s*[<>]=?.*$")
_ALPHA = re.compile(r"α̂?=\S+")


def forms(word: str) -> Iterator[str]:
    """The word, and what it may be known by; the closest first."""
    yield word
    bare = _BOUND.sub("", _IN_BRACKETS.sub("", word.replace("⁻", ""))) or word
    if bare.startswith("# "):  # a rank without its value
        yield f"{bare.removeprefix('# ')} rank"
    for form in (bare, _NUMBER.sub("N", bare)):
        yield form
        yield "-".join(form.split())
        yield "_".join(form.split())


def below_its_group(word: str) -> str:
    """The heading without the measure and the alpha above it; alpha where nothing else is left."""
    from riskcli.effectiveness.measures import is_measure  # late, as all that computes

    rest = word.split()
    while rest and (
        _ALPHA.fullmatch(rest[0]) or (len(rest) > 1 and is_measure(rest[0].strip(",")))
    ):
        rest.pop(0)
    return " ".join(rest) or "alpha"


def of_a_measure(heading: str, known: Callable[[str], str | None]) -> str | None:
    """What stands below a risk measure's title and a word; None where it is none of these.

    `known` explains the word alone.
    """
    from riskcli.output.measure_words import columns, meaning_of, words_of
    from riskcli.risk.measures import measures

    title, _, word = heading.replace("⁻", "").partition(" ")
    fields = _SHOWS.get(word.lower(), ())
    for measure in measures():
        if title.lower() in (measure.id, words_of(measure).title.lower()):
            shown = [
                f"{column.name} ({meaning_of(column)})"
                for field in fields
                for column in columns().values()
                if (column.measure, column.field) == (measure.id, field)
            ]
            general = known(word) or known(word.partition(" ")[0])
            parts = [f"{heading}: {' to '.join(shown)}.", *([general] if general else [])]
            return "\n\n".join(parts) if shown else known(measure.id) if not word else None
    return None
