"""What to judge next: the unjudged documents whose grades would settle a comparison.

They leave as a run of TREC's six columns, which is what assessors' tools take as a pool. The lines
stand in the order of what is most decisive, so that the first n are what n judgements are best
spent on; the score falls from line to line, and the rank counts within a topic.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from riskcli.analyses.base import Names, Scores, matrices_of, provenance_of
from riskcli.analyses.check.verdict import Gate
from riskcli.core.messages import Note, UsageError, WithProvenance, counted
from riskcli.effectiveness.unjudged.moves import moves
from riskcli.output.formats import emit
from riskcli.output.overwriting import refuse_to_replace
from riskcli.risk.rounding import NO_DIFFERENCE
from riskcli.scores.comparisons import as_names, matching_runs
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.files import POOL_TAG
from riskcli.scores.matrix import ScoreMatrix


class ToJudge(NamedTuple):
    """A document that nobody judged."""

    topic: str
    docno: str
    share: float
    """How much of what is open its grade is expected to settle: a sum over what is compared."""


@dataclass(frozen=True, repr=False)
class PoolToJudge(WithProvenance):
    """The documents to judge, the most decisive first, each once."""

    documents: tuple[ToJudge, ...] = ()
    compared: int = 0
    """Of how many comparisons they are."""

    def __repr__(self) -> str:
        return self.text or "(nothing to judge)\n"

    @property
    def text(self) -> str:
        """TREC's six columns: topic Q0 docno rank score tag."""
        return "".join(self._lines())

    def _lines(self) -> Iterator[str]:
        ranks: Counter[str] = Counter()
        for left, (topic, docno, _) in zip(
            range(len(self.documents), 0, -1), self.documents, strict=True
        ):
            if [topic, docno] != f"{topic} {docno}".split():
                raise UsageError(f"no pool can hold {docno!r} of topic {topic!r}: white space")
            ranks[topic] += 1
            yield f"{topic} Q0 {docno} {ranks[topic]} {left} {POOL_TAG}\n"

    def write(self, path: Path | str) -> None:
        """Write them to a file, replaced as a whole; never in place of an input."""
        target = Path(path)
        refuse_to_replace(target, self.inputs)
        emit(self.text, target)

    def note(self, path: Path) -> Note:
        """What the file holds."""
        if not self.documents:
            message = f"{path} is empty: nothing that is open waits for a document"
        else:
            number = counted(len(self.documents), "document")
            open_ones = counted(self.compared, "open comparison")
            message = f"{path} has {number} for {open_ones}, the most decisive first"
        return Note("to-judge", message, warning=False)


def to_judge(
    scores: Scores, baseline: str, candidates: Names = None, *, gate: Gate | None = None
) -> PoolToJudge:
    """The unjudged documents that leave open which of two means is higher.

    `scores` is an evaluation with `Rules(unjudged="bounds")`; no `candidates` are all runs. With a
    `gate` they are of what its verdicts leave open to judgements, in place of the means.
    """
    weights: dict[tuple[str, str], float] = {}
    compared = 0
    added = scores.added if isinstance(scores, Evaluation) else {}
    for matrix in matrices_of(scores):
        name = _the_one(matrix, added.get(baseline, baseline))
        for run in _named(matrix, as_names(candidates or ("*",))):
            if run == name or (gate is not None and not _is_open(gate, run, matrix.measure)):
                continue
            found = _of_pair(matrix, run, name, of_mean=gate is None)
            compared += bool(found)
            for each in found:
                key = each.topic, each.docno
                weights[key] = weights.get(key, 0.0) + each.share
    ordered = sorted(weights.items(), key=lambda item: -item[1])
    documents = tuple(ToJudge(*key, share) for key, share in ordered)
    return PoolToJudge(documents, compared, provenance=provenance_of(scores))


def _the_one(matrix: ScoreMatrix, baseline: str) -> str:
    found = _named(matrix, (baseline,))
    if len(found) != 1:
        raise UsageError(f"what to judge is told against one run, found {baseline!r}")
    return found[0]


def _named(matrix: ScoreMatrix, names: Sequence[str]) -> list[str]:
    """The runs of these names, or globs."""
    rows = [row for name in names for row in matching_runs(matrix.runs, name)]
    return list(dict.fromkeys(matrix.runs[row] for row in rows))


def _is_open(gate: Gate, run: str, measure: str) -> bool:
    """Whether judgements can turn the verdict: nothing fails for certain, and something is open."""
    return any(
        verdict.outcome == "inconclusive"
        and any(finding.open_to_judgements for finding in verdict.findings)
        for verdict in gate.verdicts
        if (verdict.candidate, verdict.measure) == (run, measure)
    )


def _of_pair(matrix: ScoreMatrix, run: str, baseline: str, of_mean: bool) -> Sequence[ToJudge]:
    """The documents of two runs; none where the mean is asked for, and no grade turns it."""
    judging = matrix.judging
    if judging is None or judging.documents is None:
        raise UsageError(
            "what to judge is found in the runs' documents: score runs (not files of scores) with "
            "--unjudged bounds, in the library Rules(unjudged='bounds')"
        )
    documents = judging.documents
    pair = documents.pair(judging.measure, run, baseline, matrix.topics)
    found = moves(judging.measure, pair)
    if found is None:
        raise UsageError(
            f"nothing bounds what unjudged documents do to {judging.measure}: take another measure"
        )
    low, high = float(found.low.mean()), float(found.high.mean())
    if of_mean and not low < -NO_DIFFERENCE < NO_DIFFERENCE < high:
        return ()
    order, weight = found.order()
    names = documents.named(
        (run, baseline), matrix.topics, found.topics, (found.in_run, found.in_baseline)
    )
    return [
        ToJudge(matrix.topics[found.topics[each]], names[each], float(weight[each]) / (high - low))
        for each in order.tolist()
    ]
