"""A population as a file: what ZRisk and GeoRisk expect scores from, held still.

It keeps all that a run's figures depend on, but for the run itself: the scores of its members
by topic, their teams, the topics, the settings that scores were made with, and the checksum of the
whole. The totals are written for those who read the file; they are checked against the scores.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.core.messages import InputError, UsageError, listed
from riskcli.core.version import __version__
from riskcli.scores.bookkeeping import JUDGEMENTS, SCORING
from riskcli.scores.matrix import ScoreMatrix

FORMAT = 1
_SHOWN = 12


@dataclass(frozen=True)
class FrozenPopulation:
    """The members of a population by measure, and what their scores rest on."""

    matrices: tuple[ScoreMatrix, ...]
    totals: Mapping[str, tuple[float, ...]]
    """By measure, the topic totals: of the runs, or of the teams where there are any."""
    teams: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    inputs: Sequence[Mapping[str, Any]] = ()
    source: str = "population"
    """The file that it came from, for messages."""

    @property
    def hash(self) -> str:
        """The SHA-256 of all that the figures of a run can depend on, and of who is in it."""
        content = json.dumps(
            self._content(), sort_keys=True, ensure_ascii=False, separators=(",", ":")
        )
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def name(self) -> str:
        """What the population is called in results."""
        return f"frozen:{self.hash[:_SHOWN]}"

    def matrix_for(self, scores: ScoreMatrix) -> ScoreMatrix:
        """The members by the measure of these scores, over the very same topics."""
        by_measure = {matrix.measure: matrix for matrix in self.matrices}
        if scores.measure not in by_measure:
            raise UsageError(
                f"{self.source} holds {', '.join(by_measure)}, the scores are {scores.measure}: "
                "choose with --measure, or freeze that measure too"
            )
        members = by_measure[scores.measure]
        missing = [topic for topic in members.topics if topic not in scores.topics]
        extra = [topic for topic in scores.topics if topic not in members.topics]
        if missing or extra:
            differences = [f"missing here: {listed(missing)}"] if missing else []
            differences += [f"not in the population: {listed(extra)}"] if extra else []
            raise UsageError(
                f"{self.source} was frozen on {len(members.topics)} topics, the {scores.measure} "
                f"scores have {len(scores.topics)} ({'; '.join(differences)})"
            )
        order = [members.topics.index(topic) for topic in scores.topics]
        # Laid out as scores are, so that their sums agree with those of the runs at hand exactly.
        values = np.ascontiguousarray(members.values[:, order])
        return ScoreMatrix(members.measure, members.runs, scores.topics, values)

    def check_settings(
        self, settings: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]]
    ) -> None:
        """Refuse scores that were made with other settings or judgements, saying which."""
        for name in SCORING:
            if name in settings and name in self.settings and settings[name] != self.settings[name]:
                raise UsageError(
                    f"{self.source} was frozen with {name} {self.settings[name]}, the scores here "
                    f"have {settings[name]}"
                )
        frozen, here = _judgements(self.inputs, self.settings), _judgements(inputs, settings)
        if frozen and here and frozen != here:
            raise UsageError(
                f"{self.source} was frozen with other judgements: qrels of SHA-256 "
                f"{listed(sorted(frozen))}, here {listed(sorted(here))}"
            )

    def to_json(self) -> str:
        """The file."""
        head = {"riskeval_population": FORMAT, "riskeval": __version__, "hash": self.hash}
        return json.dumps({**head, **self._content()}, indent=1, ensure_ascii=False) + "\n"

    def _content(self) -> dict[str, Any]:
        return {
            "settings": dict(self.settings),
            "inputs": [dict(each) for each in self.inputs],
            "teams": dict(sorted(self.teams.items())),
            "measures": [
                {
                    "measure": matrix.measure,
                    "topics": list(matrix.topics),
                    "topic_totals": list(self.totals[matrix.measure]),
                    "grand_total": float(np.sum(self.totals[matrix.measure])),
                    "runs": dict(zip(matrix.runs, matrix.values.tolist(), strict=True)),
                }
                for matrix in self.matrices
            ],
        }


def _judgements(inputs: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> set[str]:
    """The checksums of the judgements that were read, or that files of scores name."""
    read = {str(each["sha256"]) for each in inputs if each["kind"] == "qrels" and each["sha256"]}
    return read | set(map(str, settings.get(JUDGEMENTS, ())))


def read_population(path: Path | str) -> FrozenPopulation:
    """A population file; one that was changed by hand, or is of another version, is refused."""
    path = Path(path)
    document = _document(path)
    try:
        matrices = tuple(_matrix(entry) for entry in document["measures"])
        population = FrozenPopulation(
            matrices,
            {entry["measure"]: tuple(map(float, entry["topic_totals"]))
             for entry in document["measures"]},
            dict(document["teams"]),
            dict(document["settings"]),
            tuple(document["inputs"]),
            str(path),
        )  # fmt: skip
        same = population.hash == document["hash"] and all(
            entry["grand_total"] == float(np.sum(population.totals[entry["measure"]]))
            for entry in document["measures"]
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, UsageError) as error:
        raise InputError(
            path, "bad-population", f"the file is incomplete or damaged ({error}); freeze it again"
        ) from error
    if not same:
        raise InputError(
            path,
            "changed-population",
            f"the content does not fit its hash {str(document['hash'])[:_SHOWN]}: the file was "
            "changed after it was frozen; freeze it again",
        )
    return population


def _document(path: Path) -> dict[str, Any]:
    line = None
    document: Any = None
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(path, "unreadable", error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError
        line = getattr(error, "lineno", None)
    if not isinstance(document, dict) or "riskeval_population" not in document:
        message = (
            "not a population file: expected the JSON that `riskeval population freeze` writes"
        )
        raise InputError(path, "bad-population", message, line)
    if document["riskeval_population"] != FORMAT:
        raise InputError(
            path,
            "population-version",
            f"the file has format {document['riskeval_population']!r}, this riskeval reads "
            f"{FORMAT}; freeze it again",
        )
    return document


def _matrix(entry: Mapping[str, Any]) -> ScoreMatrix:
    runs = tuple(entry["runs"])
    values = np.array([entry["runs"][run] for run in runs], dtype=np.float64)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ValueError(f"the scores by {entry['measure']} are not a matrix of numbers")
    return ScoreMatrix(entry["measure"], runs, tuple(entry["topics"]), values)
