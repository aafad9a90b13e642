"""What is wrong with one file, all of it: a run, a file of scores, or the judgements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskcli.analyses.validate.between import TOLD_BY
from riskcli.analyses.validate.doubts import MAX_DOCS, columns_of, note_doubts, note_topics
from riskcli.analyses.validate.report import FileReport
from riskcli.analyses.validate.strangers import likely_cause, none_is_judged, rankings
from riskcli.core.choices import Only, check_words
from riskcli.core.errors import InputError
from riskcli.effectiveness.judged import Judged
from riskcli.effectiveness.names import parse_measure
from riskcli.scores.files.registry import Format, form_of, inspect_scores, tag_of
from riskcli.scores.files.rows import UNNAMED_RUN
from riskcli.trec import runs
from riskcli.trec.findings import Finding, count_lines, text_lines
from riskcli.trec.letor import Documents
from riskcli.trec.qrels import Qrels, inspect_qrels, parse_qrels, quick_qrels
from riskcli.trec.records import RunFormat
from riskcli.trec.source import MAX_BYTES, Source
from riskcli.trec.tally import Tally

if TYPE_CHECKING:
    from riskcli.effectiveness.scoring import Scorer


@dataclass(frozen=True)
class Checks:
    """What is looked for, and how much of it is kept."""

    max_docs: int = MAX_DOCS
    max_findings: int | None = 10
    """The findings of one code and file that are kept (None: all); all are counted."""
    max_bytes: int = MAX_BYTES
    run_names: str = "auto"
    input_format: str | None = None
    only: Only = "all"
    """Which findings are shown: all, errors or warnings; all are counted."""

    def __post_init__(self) -> None:
        check_words(only=(self.only, Only))

    def settings(self) -> dict[str, Any]:
        """The checks as machine formats record them."""
        return {
            "max_docs": self.max_docs,
            "max_findings": self.max_findings,
            "run_names": self.run_names,
            "input_format": self.input_format,
        }


class Checker:
    """Checks files, several at once if need be."""

    def __init__(self, checks: Checks, checksums: bool) -> None:
        self._checks = checks
        self._checksums = checksums
        self._qrels: Qrels | None = None
        self._known: Judged | None = None
        self._scorer: Scorer | None = None

    @property
    def topics(self) -> Sequence[str]:
        """Those that runs are scored on."""
        return [] if self._qrels is None else self._qrels.relevant_topics

    def check_qrels(self, path: Path) -> FileReport:
        """What is wrong with the judgements; good ones are kept for the runs."""
        tally = Tally(path, self._checks.max_findings)
        text, sha256 = self._read(tally)
        if text is None:
            return FileReport(path, "unread", tally)
        self._qrels = quick_qrels(path, text)
        if self._qrels is None:
            self._look_closely_at_qrels(tally, text)
        return FileReport(path, "qrels", tally, sha256=sha256)

    def _look_closely_at_qrels(self, tally: Tally, text: bytes) -> None:
        for item in inspect_qrels(tally.path, text):
            if isinstance(item, Finding):
                tally.add(item)
        if not tally.count("error"):
            self._qrels = parse_qrels(tally.path, text)
            for note in self._qrels.notes:
                tally.add(Finding(tally.path, None, note.code, note.message))

    def check(self, path: Path) -> FileReport:
        """What is wrong with a run or a score file."""
        tally = Tally(path, self._checks.max_findings)
        text, sha256 = self._read(tally)
        if text is None:
            return FileReport(path, "unread", tally)
        try:
            form = form_of(path, text, self._checks.input_format)
        except InputError as error:
            tally.add(Finding.of(error))
            return FileReport(path, "unread", tally)
        if isinstance(form, Format):
            read = self._check_scores(tally, text, form.name)
        else:
            read = self._check_run(tally, text, form)
        return replace(read, sha256=sha256)

    def _check_scores(self, tally: Tally, text: bytes, kind: str) -> FileReport:
        names: dict[str, None] = {}
        for item in inspect_scores(tally.path, text, kind):
            if isinstance(item, Finding):
                tally.add(item)
            else:
                names[item.run] = None
        tag = tag_of(text, kind, list(names))
        named = UNNAMED_RUN not in names and tag is None
        found = tuple(names) if named else (tag,) if tag else ()
        return FileReport(tally.path, "scores", tally, found, named)

    def _read(self, tally: Tally) -> tuple[bytes | None, str | None]:
        """The file's text, None where it cannot be read, and its checksum."""
        try:
            source = Source(tally.path, self._checks.max_bytes, self._checksums)
            return source.text(), source.sha256
        except InputError as error:
            tally.add(Finding.of(error))
            return None, None

    def _check_run(self, tally: Tally, text: bytes, form: RunFormat | None) -> FileReport:
        """Note all that is wrong; give the tags that lines carry, its rankings and its scores."""
        text = runs.uncommented(text) if form is None else text
        documents = None if self._qrels is None else self._qrels.lines
        table = runs.quick_table(text) if form is None else None
        if table is not None:
            columns = columns_of(tally, table, _numbering(text, len(table)))
        else:
            lines = list(_good_lines(tally, text, form, documents))
            if not lines:
                return FileReport(tally.path, "run", tally)
            columns = columns_of(
                tally, runs.table_of(lines), lambda index: lines[index].line or None
            )
        if form is None:  # elsewhere there is no rank, no tag and no second column to doubt
            note_doubts(tally, columns, self._checks.max_docs)
        if self._qrels is not None:
            judged = self._qrels.judgements
            note_topics(tally, columns, judged, self._qrels.relevant_topics)
            if none_is_judged(columns.run, self._judged(self._qrels)):
                message = f"no document is judged{likely_cause(columns.run, judged)}"
                tally.add(Finding(tally.path, None, "nothing-judged", message))
        tags = columns.run.tags if form is None else ()
        scores = {} if tally.count("error") else self._scores(columns.run)
        return FileReport(
            tally.path, "run", tally, tags, rankings=rankings(columns.run), scores=scores
        )

    def _scores(self, run: runs.Run) -> dict[str, float]:
        """The run's scores by topic, to tell copies by; none where nothing is judged."""
        if self._qrels is None:
            return {}
        # Late: without judgements nothing is scored.
        from riskcli.effectiveness.scoring import Scorer

        if self._scorer is None:
            self._scorer = Scorer(self._qrels, [parse_measure(TOLD_BY)])
        topics, scores = self._scorer.score(run)
        (values,) = scores.values()
        return dict(zip(topics, values.tolist(), strict=True))

    def _judged(self, qrels: Qrels) -> Judged:
        """The judged documents, gathered once; two threads may do so at the same time."""
        if self._known is None:
            self._known = Judged(qrels.judgements)
        return self._known


def _good_lines(
    tally: Tally, text: bytes, form: RunFormat | None, documents: Documents | None
) -> Iterator[runs.Line]:
    """The lines that can be taken; the others are noted."""
    inspect = (
        runs.inspect_run
        if form is None
        else partial(runs.inspect_foreign, form=form, documents=documents)
    )
    for item in inspect(tally.path, text):
        if isinstance(item, Finding):
            tally.add(item)
        else:
            yield item


def _numbering(text: bytes, count: int) -> Callable[[int], int]:
    """The numbers in the file of the lines that are not blank, worked out when first needed."""

    @cache
    def numbers() -> Sequence[int]:
        if count_lines(text) == count:
            return range(1, count + 1)
        return [line for line, _ in text_lines(text)]

    return lambda index: numbers()[index]
