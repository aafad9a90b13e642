"""How the scores of an evaluation were made: here, or before, as files of scores say of themselves.

Scores that were made with different settings are not comparable; nor are those from different
judgements, though these may differ in a byte that no score depends on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from riskcli.core.errors import InputError
from riskcli.core.notes import Note, listed
from riskcli.scores.reading import Part
from riskcli.scores.subset import ONLY_TOPICS

SCORING = ("topics", "max_grade", "score_precision")
"""The settings that a score depends on."""
JUDGEMENTS = "judgements"
_HERE = "the runs scored here"


def settings_in_force(
    parts: Sequence[Part], here: Mapping[str, Any], scored: bool
) -> dict[str, Any]:
    """The settings that all scores were made with: those in force here where any was `scored`.

    Where files alone say how their scores were made, theirs, and the checksums of the judgements
    behind them; files whose settings contradict each other, or those here, are an error.
    """
    known = {name: (here[name], _HERE) for name in SCORING if scored}
    for part in parts:
        said = {} if part.recorded is None else part.recorded.settings
        for name in (name for name in SCORING if name in said):
            other, owner = known.setdefault(name, (said[name], part.path.name))
            if said[name] != other:
                message = f"was made with {name} = {said[name]!r}, {owner} with {other!r}"
                raise InputError(part.path, "other-settings", message)
    some = _some_topics(parts, here.get(ONLY_TOPICS), scored)
    if scored:
        return dict(here)
    judgements = sorted({each for part in parts for each in judgements_of(part)})
    theirs = {name: value for name, (value, _) in known.items()}
    theirs |= {ONLY_TOPICS: some} if some else {}
    return {**here, **theirs, **({JUDGEMENTS: judgements} if judgements else {})}


def _some_topics(parts: Sequence[Part], here: Any, scored: bool) -> Any:
    """The topics asked for here, or when the files of scores were made: of all runs the same."""
    if here:
        return here
    told = [(_HERE, None)] if scored else []
    for part in parts:
        if part.recorded is not None and SCORING[0] in part.recorded.settings:
            said = part.recorded.settings.get(ONLY_TOPICS)
            told.append((part.path.name, said))
            if said != told[0][1]:
                message = f"was made with {_topics(said)}, {told[0][0]} with {_topics(told[0][1])}"
                raise InputError(part.path, "other-settings", message)
    return told[0][1] if told else None


def _topics(said: Any) -> str:
    return f"{ONLY_TOPICS} = {said!r}" if said else "all topics"


def judgements_of(part: Part) -> tuple[str, ...]:
    """The checksums of the judgements that a file of scores was made from, if it says so."""
    return () if part.recorded is None else part.recorded.judgements


def other_judgements(parts: Sequence[Part], here: str | None) -> list[Note]:
    """The warning that files of scores were made from other judgements than the rest."""
    first = (here,) if here else next((own for part in parts if (own := judgements_of(part))), ())
    strange = [part.path.name for part in parts if (own := judgements_of(part)) and own != first]
    if not strange:
        return []
    message = (
        f"made from other judgements than {_HERE if here else 'the first'} (by the checksums of "
        f"the qrels), so scores may not be comparable: {listed(strange)}"
    )
    return [Note("other-judgements", message)]
