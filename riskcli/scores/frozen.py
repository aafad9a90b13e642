"""A population kept in a file: its members' scores, and what they rest on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.core.content_hash import content_sha256
from riskcli.core.inputs import note_input
from riskcli.core.messages import TEXT_HASH, InputError, UsageError, listed
from riskcli.core.version import __version__
from riskcli.scores.axes import Axes
from riskcli.scores.bookkeeping import scoring_settings
from riskcli.scores.files.registry import JUDGEMENTS
from riskcli.scores.matrix import ScoreMatrix

_FORMAT = 1
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
        return content_sha256(self._content())

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
        if not members.axes.weigh_alike(scores.axes, scores.topics):
            raise UsageError(
                f"{self.source} was frozen with other weights of topics (or none): give the same "
                "--weights, or freeze it again"
            )
        order = [members.topics.index(topic) for topic in scores.topics]
        # Laid out as scores are, so that their sums agree with those of the runs at hand exactly.
        values = np.ascontiguousarray(members.values[:, order])
        axes = members.axes
        return ScoreMatrix(members.measure, members.runs, scores.topics, values, axes=axes)

    def check_settings(
        self, settings: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]]
    ) -> None:
        """Refuse scores that were made with other settings or judgements, saying which."""
        now = scoring_settings(settings)
        for name, value in scoring_settings(self.settings).items():
            if now.get(name, value) != value:
                raise UsageError(
                    f"{self.source} was frozen with {name} {value}, the scores here "
                    f"have {now[name]}"
                )
        frozen, here = _judgements(self.inputs, self.settings), _judgements(inputs, settings)
        if frozen and here and frozen != here:
            raise UsageError(
                f"{self.source} was frozen with other judgements: qrels of SHA-256 "
                f"{listed(sorted(frozen))}, here {listed(sorted(here))}"
            )

    def to_json(self) -> str:
        """The file."""
        head = {
            "riskeval_population": _FORMAT,
            "riskeval": __version__,
            "hash": self.hash,
        }
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
                    **({} if matrix.weights is None else {"weights": _weights_of(matrix)}),
                    "topic_totals": list(self.totals[matrix.measure]),
                    "grand_total": float(np.sum(self.totals[matrix.measure])),
                    "runs": dict(zip(matrix.runs, matrix.values.tolist(), strict=True)),
                }
                for matrix in self.matrices
            ],
        }


def _weights_of(matrix: ScoreMatrix) -> list[float]:
    """As they were given: shares of a sum would be others once they are read again."""
    return [matrix.axes.weights[topic] for topic in matrix.topics]


def _judgements(inputs: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> set[str]:
    """The checksums of the judgements that were read, or that files of scores name."""
    read = {
        str(each.get(TEXT_HASH) or each["sha256"])
        for each in inputs
        if each["kind"] == "qrels" and each["sha256"]
    }
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
    note_input(path)
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
    if document["riskeval_population"] != _FORMAT:
        raise InputError(
            path,
            "population-version",
            f"the file has format {document['riskeval_population']!r}, this riskeval reads "
            f"{_FORMAT}; freeze it again",
        )
    return document


def _matrix(entry: Mapping[str, Any]) -> ScoreMatrix:
    runs = tuple(entry["runs"])
    values = np.array([entry["runs"][run] for run in runs], dtype=np.float64)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ValueError(f"the scores by {entry['measure']} are not a matrix of numbers")
    topics, weights = tuple(entry["topics"]), entry.get("weights")
    axes = Axes(weights=dict(zip(topics, map(float, weights), strict=True)) if weights else {})
    return ScoreMatrix(entry["measure"], runs, topics, values, axes=axes)
