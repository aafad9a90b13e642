"""Known losers: topics that may lose for a while, each for a reason, kept in a TOML file.

An exception changes no figure and no test of the mean, GeoRisk or TRisk. It says of which topics
rules on single topics are not asked: those that limit losses (`rules.limits_losses`).
"""

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from riskcli.core.inputs import note_input
from riskcli.core.messages import Input, InputError, UsageError, nearest
from riskcli.effectiveness.measures import canonical_name, is_measure
from riskcli.trec.source import MAX_BYTES, TextFile

_CODE = "bad-exceptions"
_KINDS = {"topic": (str, int), "until": (date,), "why": (str,), "measure": (str,), "run": (str,)}
_REQUIRED = dict.fromkeys(("topic", "until", "why"))


@dataclass(frozen=True)
class KnownLoser:
    """A topic that may lose until a day, and why."""

    topic: str
    until: date
    why: str
    measure: str = ""
    """The effectiveness measure; empty: each."""
    run: str = "*"

    def __str__(self) -> str:
        why = " ".join(self.why.split())
        return f"{self.topic} is allowed to lose until {self.until} ({why})"

    def is_of(self, candidate: str, measure: str) -> bool:
        """Whether it is for a candidate by a measure."""
        return self.measure in ("", measure) and fnmatchcase(candidate, self.run)


def read_allowed(path: Path) -> tuple[list[KnownLoser], Input]:
    """The exceptions of a file, and the file as an input."""
    note_input(path)
    source = TextFile(path, MAX_BYTES, checksum=True)
    try:
        text = source.text().decode()
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(path, _CODE, f"not TOML: {error}") from error
    entries = content.pop("allow", None)
    if content or not isinstance(entries, list) or any(type(each) is not dict for each in entries):
        raise InputError(path, _CODE, "expected entries [[allow]] and nothing else")
    found: dict[tuple[str, str, str], KnownLoser] = {}
    lines = [n for n, line in enumerate(text.split("\n"), 1) if re.match(r"\s*\[\[", line)]
    for number, entry in enumerate(entries):
        try:
            each = _loser(entry)
            if each is not found.setdefault((each.topic, each.measure, each.run), each):
                raise UsageError(f"topic {each.topic} is allowed twice")
        except UsageError as error:
            line = lines[number] if len(lines) == len(entries) else None
            raise InputError(path, _CODE, f"entry {number + 1}: {error}", line) from error
    return list(found.values()), Input(path, "exceptions", source.sha256)


def _loser(entry: dict[str, Any]) -> KnownLoser:
    """An entry of the file."""
    for key in entry | _REQUIRED:
        if key not in _KINDS:
            raise UsageError(f"unknown key {key!r}{nearest(key, _KINDS)}")
        value = entry.get(key, "")
        if type(value) not in _KINDS[key] or not str(value).strip():
            form = "a day such as 2027-03-01, without quotes" if key == "until" else "a text"
            raise UsageError(f"{key} is {str(value)[:40]!r}, expected {form}")
    measure = entry.get("measure", "")
    measure = canonical_name(measure) if is_measure(measure) else measure
    return KnownLoser(**(entry | {"topic": str(entry["topic"]), "measure": measure}))
