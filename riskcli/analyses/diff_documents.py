"""Two rankings of a topic side by side: who is new, lost or moved, and what each adds to δ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from riskcli.analyses import base
from riskcli.analyses.diff_topics import Pair, signed
from riskcli.analyses.query_texts import QueryTexts
from riskcli.core.arrays import Floats
from riskcli.core.messages import counted, joined
from riskcli.effectiveness.parts import parts
from riskcli.output import display
from riskcli.output.display import UNDEFINED, Cell, Column, Display, Heading
from riskcli.output.escape import visible
from riskcli.output.result import Result
from riskcli.output.verdict import Statement, Statements

COLUMNS = (
    "run", "baseline", "measure", "topic", "document", "rank", "baseline_rank", "grade", "part",
)  # fmt: skip
_SCREEN = 20
"""Ranks that a terminal shows of deeper rankings."""
IN_BOTH = "in both"
_KINDS = ("lost", "new", IN_BOTH)
_LEAST = 8
"""The columns of a terminal below which a document's name says nothing."""


@dataclass(frozen=True)
class Ranked:
    """A document of either ranking; ranks from 1, None where the measure does not see it."""

    document: str
    rank: int | None
    baseline_rank: int | None
    grade: int | None
    """None: not judged."""
    part: float | None
    """What it adds to the difference; None where the measure is no sum over documents."""

    @property
    def kind(self) -> str:
        """Whether the run has it new, lost it, or has it as the baseline does."""
        return _KINDS[0 if self.rank is None else 1 if self.baseline_rank is None else 2]

    @property
    def move(self) -> str:
        """Where it went, coming from the baseline."""
        if self.rank is None or self.baseline_rank is None:
            return self.kind
        up = self.baseline_rank - self.rank
        return f"{'↑' if up > 0 else '↓'}{abs(up)}" if up else "="


@dataclass(frozen=True)
class SideBySide:
    """Both rankings of a topic by one measure."""

    pair: Pair
    topic: str
    documents: tuple[Ranked, ...]
    """By rank; those that were lost follow."""

    @property
    def about(self) -> str:
        """What tells it from others."""
        return f"{self.pair.about}, topic {self.topic}"

    def figure(self, name: str) -> float:
        """The topic's cell in a column of topics."""
        return float(self.pair.columns[name][self.pair.topics.index(self.topic)])

    @property
    def depth(self) -> int:
        """The length of the longer ranking, as far as the measure looks."""
        return max(max(d.rank or 0, d.baseline_rank or 0) for d in self.documents)

    @property
    def has_parts(self) -> bool:
        """Whether each document has its part of the difference."""
        return all(each.part is not None for each in self.documents)


def side_by_side(pair: Pair, topic: str) -> SideBySide:
    """Both rankings of the topic, to the depth of the measure."""
    depth, names = pair.kind.cutoff, (pair.run, pair.baseline)
    own, other = (pair.documents.ranking(run, topic)[:depth] for run in names)
    own_parts, other_parts = (_parts(pair, run, topic) for run in names)
    ranks = {document: rank for rank, (document, _) in enumerate(own)}
    base_ranks = {document: rank for rank, (document, _) in enumerate(other)}
    lost = [(document, grade) for document, grade in other if document not in ranks]

    def ranked(document: str, grade: int | None) -> Ranked:
        rank, base_rank = ranks.get(document), base_ranks.get(document)
        part = None
        if own_parts is not None and other_parts is not None:
            gained = 0.0 if rank is None else float(own_parts[rank])
            part = gained - (0.0 if base_rank is None else float(other_parts[base_rank]))
        return Ranked(document, _from_1(rank), _from_1(base_rank), grade, part)

    return SideBySide(pair, topic, tuple(ranked(*each) for each in [*own, *lost]))


def _parts(pair: Pair, run: str, topic: str) -> Floats | None:
    graded = pair.documents.ranked(run, [topic], pair.kind.cutoff)
    found = parts(pair.kind, graded, pair.documents.levels([topic]))
    return None if found is None else found[0]


def _from_1(rank: int | None) -> int | None:
    return None if rank is None else rank + 1


@dataclass(frozen=True, repr=False)
class DocumentDiff(base.Analysis):
    """Topics of two runs, document by document."""

    topics: tuple[SideBySide, ...]
    queries: QueryTexts = field(default_factory=QueryTexts)
    most: int | None = None
    """How many ranks are shown; None: as deep as the measure looks."""

    def top(self, count: int) -> Self:
        """Only the first ranks."""
        return replace(self, most=count)

    @property
    def verdict(self) -> Statements:
        """What was lost and gained on each topic, and what is certain of it."""
        return Statements(tuple(s for each in self.topics for s in _sentences(each, self.queries)))

    def displays(self, width: int, /) -> Sequence[Display]:
        """Both rankings of each topic, by each measure."""
        return [self._display(each, self.most, width) for each in self.topics]

    def screen(self, width: int, /) -> Sequence[Display]:
        """The first ranks of each topic by the first measure."""
        first = [each for each in self.topics if each.pair is self.topics[0].pair]
        tables = [self._display(each, self.most or _SCREEN, width) for each in first]
        longest = max(each.depth for each in first)
        measures = [each.pair.measure for each in self.topics if each.topic == first[0].topic]
        more = [f"by {joined(measures[1:])}, too"] if measures[1:] else []
        more = ["all ranks", *more] if self.most is None and longest > _SCREEN else more
        text = "; ".join(more)
        hint = f"{text[0].upper()}{text[1:]}: --full." if more else ""
        return [replace(table, hint=hint) for table in tables]

    def _display(self, of: SideBySide, most: int | None, width: int) -> Display:
        return _table(of, [s.text for s in _sentences(of, self.queries)], most, width)

    def result(self) -> Result:
        """A row a measure, topic and document."""
        rows = [row for each in self.topics for row in _rows(each, self.most)]
        return Result(COLUMNS, rows, self.provenance)


def _rows(of: SideBySide, most: int | None) -> Iterator[tuple[Any, ...]]:
    head = (of.pair.run, of.pair.baseline, of.pair.measure, of.topic)
    for each in of.documents:
        if most is None or min(each.rank or most + 1, each.baseline_rank or most + 1) <= most:
            yield (*head, each.document, each.rank, each.baseline_rank, each.grade, each.part)


# Sentences, each by a rule of its own: documents, unjudged.


def _sentences(of: SideBySide, queries: QueryTexts) -> Iterator[Statement]:
    """From which score to which, by which documents; and what the unjudged ones can do."""
    pair, about, runs = of.pair, of.about, (of.pair.run, of.pair.baseline)
    score, other, delta = map(of.figure, ("score", "baseline_score", "delta"))
    by_kind = {kind: [d for d in of.documents if d.kind == kind] for kind in _KINDS}
    numbers: dict[str, Any] = {"score": score, "baseline_score": other, "delta": delta}
    counts = {kind: len(own) for kind, own in by_kind.items()}
    text = f"{queries.named(of.topic)}: {other:.3f} to {score:.3f}"
    if of.has_parts:
        sums = {kind: sum((d.part or 0.0 for d in own), 0.0) for kind, own in by_kind.items()}
        told = [f"{counts[kind]} {kind} ({signed(sums[kind])})" for kind in _KINDS if counts[kind]]
        text += f"; documents: {joined(told)}."
        numbers |= {f"part_of_{kind.replace(' ', '_')}": part for kind, part in sums.items()}
    else:
        told = [f"{counts[kind]} {kind}" for kind in _KINDS if counts[kind]]
        text += f"; documents: {joined(told)}. {pair.measure} is no sum over documents: none has "
        text += "a part of its own."
    numbers |= {kind.replace(" ", "_"): count for kind, count in counts.items()}
    yield Statement("documents", text, about, runs, (of.topic,), numbers)
    unjudged = sum(each.grade is None for each in of.documents)
    if unjudged and pair.bounds is not None:
        low, high = of.figure("delta_min"), of.figure("delta_max")
        all_of_them = "grade of the unjudged document"
        if unjudged > 1:
            all_of_them = f"grades of the {counted(unjudged, 'unjudged document')}"
        text = f"Whatever the {all_of_them}, the difference lies "
        text += f"{'in' if pair.bounds.exact else 'within'} [{signed(low)}, {signed(high)}]."
        numbers = {"unjudged": unjudged, "delta_min": low, "delta_max": high}
        yield Statement("unjudged", text, about, runs, (of.topic,), numbers)


# The table: the run's ranking to the left, the baseline's to the right.


def _table(of: SideBySide, said: Sequence[str], most: int | None, width: int) -> Display:
    own = [each for each in of.documents if each.rank is not None]
    other = sorted(
        (each for each in of.documents if each.baseline_rank is not None),
        key=lambda each: each.baseline_rank or 0,
    )
    lines = min(of.depth, most or of.depth)
    sides = [_padded(side, lines) for side in (own, other)]
    ranks = Column.of("#", [str(rank) for rank in range(1, lines + 1)])
    about = [_about(of, side, right) for right, side in enumerate(sides)]
    room = width - display.width_of([ranks, *about[0], *about[1]]) - 2 * display.GAP
    columns = [ranks]
    for run, side, others in zip((of.pair.run, of.pair.baseline), sides, about, strict=True):
        columns += [_names(run, side, max(room // 2, _LEAST)), *others]
    title = f"{of.pair.measure}, topic {of.topic}: {of.pair.run} and {of.pair.baseline}"
    return Display(title, columns, _caption(of, lines), verdict=said)


def _padded(side: Sequence[Ranked], lines: int) -> list[Ranked | None]:
    shown: list[Ranked | None] = [*side[:lines]]
    return [*shown, *[None] * (lines - len(shown))]


def _names(run: str, side: Sequence[Ranked | None], room: int) -> Column:
    heading = Heading(display.shortened(visible(run), room), left=True, names=True)
    names = ["" if each is None else visible(each.document) for each in side]
    return Column.of(heading, [display.shortened(name, room) for name in names])


def _about(of: SideBySide, side: Sequence[Ranked | None], right: int) -> list[Column]:
    """Grade, move and part; to the right only of what was lost, for the rest is to the left."""
    grades, moves, shares = [], [], []
    for each in side:
        told = each is not None and (not right or each.kind == "lost")
        grades.append("" if each is None else UNDEFINED if each.grade is None else str(each.grade))
        alone = each is not None and each.kind != IN_BOTH
        moves.append(Cell(each.move if each else "", strong=alone))
        shares.append(signed(each.part) if each and told and each.part is not None else "")
    columns = [Column.of("grade", grades), Column.of("moved", moves)]
    return [*columns, Column.of("part", shares)] if of.has_parts else columns


def _caption(of: SideBySide, lines: int) -> list[str]:
    highest = "grade: the highest of all subtopics; " if of.pair.kind.family.of_subtopics else ""
    marks = f"{highest}grade –: not judged; moved: ↑ ↓ ranks up or down, = none."
    if of.has_parts:
        total = sum(each.part or 0.0 for each in of.documents)
        marks = f"The parts add up to δ, {signed(total)}; {marks}"
    if lines == of.depth:
        return [marks]
    return [f"Not shown: ranks {lines + 1} to {of.depth}.", marks]
