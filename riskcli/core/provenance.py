"""What a result rests on: settings, the files that were read, notes, and the files left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from riskcli.core.messages import InputError, Note


@dataclass(frozen=True)
class Input:
    """A file that numbers rest on: a run, scores, or judgements."""

    path: Path
    kind: str
    sha256: str | None = None
    """The checksum of the bytes that were read, taken while reading; None where none was."""
    run: str | None = None
    """What the run in it is called, if it is one."""


@dataclass(frozen=True)
class Provenance:
    """Everything that a result must carry to be repeated and judged."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    notes: tuple[Note, ...] = ()
    skipped: tuple[InputError, ...] = ()
    """What was wrong with the files that were left out."""

    def adding(
        self, settings: Mapping[str, Any] | None = None, notes: Iterable[Note] = ()
    ) -> Provenance:
        """The provenance of what was computed from this: more settings, and each note once."""
        return Provenance(
            {**self.settings, **(settings or {})},
            self.inputs,
            tuple(dict.fromkeys([*self.notes, *notes])),
            self.skipped,
        )


@dataclass(frozen=True)
class WithProvenance:
    """A result with its provenance, whose parts it gives as its own."""

    provenance: Provenance = field(default_factory=Provenance, kw_only=True)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that a number can depend on."""
        return self.provenance.settings

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Each file that the result rests on."""
        return self.provenance.inputs

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the numbers should know."""
        return self.provenance.notes

    @property
    def skipped(self) -> tuple[InputError, ...]:
        """What was wrong with the files that were left out."""
        return self.provenance.skipped
