"""All that is in a pack: leaderboard, matrices, topics, findings, and a sheet a participant."""

import csv
import hashlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

import numpy as np

from riskcli.analyses.base import refuse_much
from riskcli.analyses.block import Block
from riskcli.analyses.matrix import Matrices
from riskcli.analyses.population import freeze
from riskcli.analyses.score import ComparisonTable, risk_table
from riskcli.analyses.verdicts import statements
from riskcli.cli.options import Comparing
from riskcli.cli.reading import Inputs
from riskcli.core.arrays import Floats
from riskcli.core.messages import Provenance, counted
from riskcli.organise.submissions import Participant, Submissions, in_public, in_teams
from riskcli.output import formats
from riskcli.output.display import Cell, Column, Display, Heading, decimals, folded
from riskcli.output.escape import markdown, visible
from riskcli.output.result import Result, Value
from riskcli.output.verdict import Statements
from riskcli.page import leaderboard
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import rank
from riskcli.scores.comparisons import comparisons
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix

SPREAD_COLUMNS = (
    "measure", "topic", "runs", "best", "median", "worst", "mean", "best_run", "at_best",
    "at_worst",
)  # fmt: skip
SHEET_COLUMNS = ("run", "measure", "topic", "score", "rank", "best", "median", "worst")


@dataclass(frozen=True, repr=False)
class Spread(formats.Analysis):
    """How the runs spread on each topic, by each measure."""

    matrices: tuple[ScoreMatrix, ...]

    def result(self) -> Result:
        """A row a measure and topic; `at_best` runs have the best score, the first is named."""
        rows = [row for matrix in self.matrices for row in _spread_rows(matrix)]
        return Result(SPREAD_COLUMNS, rows, self.provenance)

    def displays(self, _width: int) -> Sequence[Display]:
        """A table a measure."""
        return [self._display(matrix) for matrix in self.matrices]

    def _display(self, matrix: ScoreMatrix) -> Display:
        rows = list(_spread_rows(matrix))
        best = [Cell(f"{row[7]}{_and_others(row[8])}") for row in rows]
        columns = [
            *_extremes(matrix),
            _numbers("mean", np.array([row[6] for row in rows], dtype=float)),
            Column(Heading("best run", left=True, names=True), best),
        ]
        runs, topics = matrix.values.shape
        title = f"{matrix.measure} of {counted(runs, 'run')} on {counted(topics, 'topic')}"
        return Display(title, columns)


def _and_others(at_best: Value) -> str:
    others = at_best - 1 if isinstance(at_best, int) else 0
    return f" and {counted(others, 'other')}" if others else ""


def _spread_rows(matrix: ScoreMatrix) -> Iterator[tuple[Value, ...]]:
    for topic, scores in zip(matrix.topics, matrix.values.T, strict=True):
        best, worst = float(scores.max()), float(scores.min())
        yield (
            matrix.measure, topic, len(scores), best, float(np.median(scores)), worst,
            float(scores.mean()), matrix.runs[int(scores.argmax())],
            int((scores == best).sum()), int((scores == worst).sum()),
        )  # fmt: skip


@dataclass(frozen=True, repr=False)
class Sheet(formats.Analysis):
    """What is sent to a participant; of other runs none but the baseline is named in it."""

    participant: Participant
    matrices: tuple[ScoreMatrix, ...]
    table: ComparisonTable
    """Of all runs."""
    compared: Mapping[tuple[str, str], tuple[ScoreMatrix, Comparison]]
    """What the table's blocks compare, by measure and baseline."""

    def result(self) -> Result:
        """A row a run, measure and topic."""
        rows = [row for matrix in self.matrices for row in self._rows(matrix)]
        return Result(SHEET_COLUMNS, rows, self.provenance)

    def displays(self, width: int) -> Sequence[Display]:
        """The runs in the leaderboard, what was found in their files, and topic by topic."""
        return [*self._standing(width), *self._findings(), *self._topics(width)]

    def _own(self, runs: Sequence[str]) -> list[int]:
        return [row for row, run in enumerate(runs) if run in self.participant.runs]

    def _rows(self, matrix: ScoreMatrix) -> Iterator[tuple[Value, ...]]:
        ranks = np.array([rank(scores) for scores in matrix.values.T])
        for row in self._own(matrix.runs):
            for i, (topic, scores) in enumerate(zip(matrix.topics, matrix.values.T, strict=True)):
                yield (
                    matrix.runs[row], matrix.measure, topic, float(scores[row]),
                    int(ranks[i, row]), float(scores.max()), float(np.median(scores)),
                    float(scores.min()),
                )  # fmt: skip

    def _standing(self, width: int) -> Sequence[Display]:
        if not self.participant.runs:
            return []
        blocks = [self._of_own(block) for block in self.table.blocks]
        shown = replace(self.table, blocks=tuple(blocks)).displays(width)
        return [replace(each, columns=list(map(_not_bold, each.columns))) for each in shown]

    def _of_own(self, block: Block) -> Block:
        """The participant's runs, and what is said of them: others are none of its business."""
        own, compared = self._own(block.runs), self.compared.get((block.measure, block.baseline))
        of_own = block.of_runs(own)
        if not block.said or compared is None:
            return replace(of_own, said=Statements())
        matrix, comparison = compared
        rows = [matrix.runs.index(block.runs[row]) for row in own]
        whole = block.of_runs([block.runs.index(run) for run in matrix.runs])
        plan = self.table.options.significance
        return replace(of_own, said=statements(whole, matrix, comparison, plan, rows))

    def _findings(self) -> list[Display]:
        headings = (
            Heading("line"),
            *(Heading(name, left=True) for name in ("", "code", "finding")),
        )
        shown = []
        for report in self.participant.files:
            rows = []
            for whole, more in report.tally.findings():
                found = in_public(whole)
                message = f"{found.message} (and {more:,} more)" if more else found.message
                rows.append([Cell("" if found.line is None else str(found.line)),
                             Cell(found.severity, strong=found.severity == "error"),
                             Cell(found.code), Cell(message)])  # fmt: skip
            if rows:
                fate = "left out" if report.count("error") else "taken"
                shown.append(Display.of_rows(f"{report.path.name}: {fate}", headings, rows))
        return shown

    def _topics(self, width: int) -> list[Display]:
        return [
            table
            for matrix in self.matrices
            if self.participant.runs
            for table in folded(self._topic_display(matrix), width, fixed=4)
        ]

    def _topic_display(self, matrix: ScoreMatrix) -> Display:
        scores = matrix.values
        own = [_numbers(matrix.runs[row], scores[row]) for row in self._own(matrix.runs)]
        runs, topics = scores.shape
        return Display(f"{matrix.measure} on {counted(topics, 'topic')}, best, median and worst of "
                       f"{counted(runs, 'run')}", [*_extremes(matrix), *own])  # fmt: skip


def _not_bold(column: Column) -> Column:
    """The best of the leaderboard may be somebody else's, so that nothing is said of the best."""
    return Column(column.heading, [replace(cell, best=False) for cell in column.cells])


def _extremes(matrix: ScoreMatrix) -> list[Column]:
    """The topics, and how well runs did on each."""
    return [
        Column(Heading("topic", left=True), [Cell(topic) for topic in matrix.topics]),
        _numbers("best", matrix.values.max(axis=0)),
        _numbers("median", np.median(matrix.values, axis=0)),
        _numbers("worst", matrix.values.min(axis=0)),
    ]


def _numbers(heading: str, values: Floats) -> Column:
    return Column(Heading(heading), [Cell(text) for text in decimals(values.tolist(), 4)])


TABLE_FORMATS = tuple(format for format in formats.FORMATS if format is not formats.XLSX)
"""Those that need no extra: the same pack comes about wherever it is made."""
MAIL_WIDTH = 96


@dataclass(frozen=True)
class Pack:
    """What a pack is made of."""

    submissions: Submissions
    evaluation: Evaluation
    participants: Sequence[Participant]
    population: FrozenPopulation
    table: ComparisonTable
    labels: tuple[str, str, str]
    """Title, collection and date."""

    def about(self) -> dict[str, Any]:
        """What the manifest says beside the checksums of the files."""
        envelope = self.table.result().envelope()
        kept = ("riskeval", "settings", "inputs", "skipped")
        return {
            **{name: envelope[name] for name in kept if name in envelope},
            "population": {"name": self.population.name, "hash": self.population.hash},
        }

    def contents(self) -> dict[str, bytes]:
        """Every file by its name, but for the manifest."""
        files = dict(self._files())
        files["README.md"] = self._readme()
        return {name: _bytes(content) for name, content in sorted(files.items())}

    def _files(self) -> Iterator[tuple[str, formats.Content]]:
        matrices, provenance = self.evaluation.matrices, self.evaluation.provenance
        yield "leaderboard.html", self._page()
        yield from _in_formats("tables/leaderboard", self.table, TABLE_FORMATS)
        yield "population.json", self.population.to_json()
        stems = file_stems([matrix.measure for matrix in matrices])
        for stem, matrix in zip(stems, matrices, strict=True):
            whole = Matrices((matrix,), provenance=provenance)
            own = [formats.named(name, whole.formats) for name in ("csv", "parquet")]
            yield from _in_formats(f"matrices/{stem}", whole, own)
        spread = Spread(matrices, provenance=provenance)
        of_topics = (formats.CSV, formats.MARKDOWN, formats.TABLE)
        yield from _in_formats("topics/best-median-worst", spread, of_topics)
        checked, shown = self.submissions.validation, (formats.JSON, formats.TABLE)
        yield from _in_formats("findings/findings", checked, shown)
        yield from self._sheets()

    def _page(self) -> str:
        (title, collection, date), evaluation = self.labels, self.evaluation
        about = {run: {"team": team} for run, team in evaluation.teams.items()}
        shown = {"collection": collection, "date": date, "about": about}
        return leaderboard(title, evaluation.matrices, [self.table], **shown)

    def _sheets(self) -> Iterator[tuple[str, formats.Content]]:
        matrices = self.evaluation.matrices
        stems = file_stems([participant.name for participant in self.participants])
        index = [("participant", "sheet", "runs", "files_left_out")]
        compared = {
            (matrix.measure, comparison.baseline.name): (matrix, comparison)
            for matrix in matrices
            for comparison in comparisons(matrix, self.table.options)
        }
        for stem, participant in zip(stems, self.participants, strict=True):
            sheet = Sheet(participant, matrices, self.table, compared, provenance=Provenance())
            opening = self._opening(participant)
            name = f"{visible(participant.name)}\n"
            yield f"sheets/{stem}.txt", _sheet(sheet, formats.TABLE, name, opening)
            head = f"# {markdown(participant.name)}\n"
            yield f"sheets/{stem}.md", _sheet(sheet, formats.MARKDOWN, head, markdown(opening))
            if participant.runs:
                yield (f"sheets/{stem}.csv", formats.CSV.render(sheet, formats.IN_FILE))
            index.append((participant.name, f"{stem}.md", str(len(participant.runs)),
                          str(participant.left_out)))  # fmt: skip
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows(index)
        yield "sheets/index.csv", stream.getvalue()

    def _opening(self, participant: Participant) -> str:
        first = self.evaluation.matrices[0]
        said = (
            f"{counted(len(first.runs), 'run')} on {counted(len(first.topics), 'topic')}; "
            f"{len(participant.runs)} of them yours"
        )
        if participant.left_out:
            said += f"; {counted(participant.left_out, 'file')} of yours could not be taken"
        return f"{self.labels[0]}: {said}."

    def _readme(self) -> str:
        title, *more = self.labels
        first = self.evaluation.matrices[0]
        names = ", ".join(matrix.measure for matrix in self.evaluation.matrices)
        parts = (*more, names, counted(len(first.runs), "run"), counted(len(first.topics), "topic"))
        lines = [
            f"# {markdown(title)}",
            "",
            markdown(" · ".join(part for part in parts if part)),
            "",
            "| file | what it is |",
            "|:--|:--|",
            *(f"| `{name}` | {what} |" for name, what in _WHAT),
            "",
            f"Population of ZRisk and GeoRisk: `{self.population.name}`. A run that comes later is "
            "measured in it with `--population population.json`, and does not change the "
            "figures of others.",
        ]
        left_out = [str(error) for error in self.submissions.errors]
        skipped = [note.message for note in self.submissions.validation.notes]
        for heading, said in (("Left out", left_out), ("Not looked at", skipped)):
            if said:
                lines += ["", f"## {heading}", "", *(f"- {markdown(each)}" for each in said)]
        return "\n".join(lines) + "\n"


_WHAT = (
    ("leaderboard.html", "the page to publish; it needs no server and no network"),
    ("tables/", "the leaderboard for papers, programs and terminals, in every format"),
    ("matrices/", "the scores by run and topic, one file per measure"),
    ("topics/", "best, median, worst and mean of all runs, topic by topic"),
    ("population.json", "what ZRisk and GeoRisk expect scores from, frozen"),
    ("findings/", "all that was found in the files that were submitted"),
    ("sheets/", "what each participant gets; `index.csv` says whose is which"),
    ("manifest.json", "settings, checksums of all that was read, and of every file here"),
)


def _sheet(sheet: Sheet, format: formats.OutputFormat, head: str, opening: str) -> str:
    body = format.render(sheet, formats.RenderOptions(width=MAIL_WIDTH, in_file=True))
    return f"{head}\n{opening}\n\n{body if isinstance(body, str) else body.decode()}"


def _in_formats(
    stem: str, source: formats.Source, wanted: Sequence[formats.OutputFormat]
) -> Iterator[tuple[str, formats.Content]]:
    """The source in each of these formats, as a file of that name and the format's suffix."""
    for format in wanted:
        yield f"{stem}{format.suffix}", format.render(source, formats.IN_FILE)


def _bytes(content: formats.Content) -> bytes:
    return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content


def file_stems(names: Sequence[str]) -> list[str]:
    """A file's name for each of these, none like another, without what shells or systems take.

    One that is changed by that, or that some file system would take for another, ends in a part of
    the name's checksum; and in a number, where somebody is called just so.
    """
    stems: list[str] = []
    taken: set[str] = set()
    called = {name.casefold() for name in names}
    for number, name in enumerate(names):
        stem = re.sub(r"[^A-Za-z0-9@,+=._-]+", "_", name)[:60].strip("._-")
        if stem.partition(".")[0].casefold() in _DEVICES:
            stem = stem.replace(".", "_")
        if stem != name or not stem or stem.casefold() in taken | _DEVICES | {"index"}:
            unique = f"{number} {name}" if name in names[:number] else name
            digest = hashlib.sha256(unique.encode("utf-8", "surrogateescape")).hexdigest()
            stem = f"{stem or 'name'}-{digest[:8]}"
            numbered = chain([stem], (f"{stem}-{i}" for i in count(2)))
            stem = next(each for each in numbered if each.casefold() not in taken | called)
        stems.append(stem)
        taken.add(stem.casefold())
    return stems


_DEVICES = {
    "con",
    "nul",
    "aux",
    "prn",
    *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
}
"""What Windows takes for a device, whatever ending follows."""


def packed(
    inputs: Inputs, comparing: Comparing, submissions: Submissions, labels: tuple[str, str, str]
) -> Pack:
    """Score what can be taken, in teams, and measure it in its own population or that of a file."""
    options = comparing.options()
    judged = () if submissions.qrels is None else (submissions.qrels,)
    alone = replace(inputs, runs=submissions.places, judged=judged, teams=None)
    scored = submissions.beside(alone.evaluate(comparing.wanted))
    evaluation, participants = in_teams(scored, submissions, inputs.teams_file, inputs.team_pattern)
    refuse_much("organise", evaluation.matrices, options)
    given = options.population
    population = given if isinstance(given, FrozenPopulation) else freeze(evaluation)
    table = risk_table(evaluation, options=replace(options, population=given or "all"))
    return Pack(submissions, evaluation, participants, population, table.sorted_by(), labels)
