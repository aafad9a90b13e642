"""All that is in a pack: leaderboard, matrices, topics, findings, and a sheet a participant."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from riskcli.analyses.matrix.analysis import Matrices
from riskcli.analyses.score.analysis import RiskTable
from riskcli.core.basis import Basis
from riskcli.core.notes import counted
from riskcli.organise.sheets import Sheet, Spread
from riskcli.organise.submissions import Participant, Submissions
from riskcli.output.escape import markdown, visible
from riskcli.output.forms import FORMS, IN_FILE, XLSX, Content, Dress, Form, named
from riskcli.page.document import Page, as_page
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.frozen import FrozenPopulation

TABLE_FORMS = tuple(form for form in FORMS if form is not XLSX)
"""Those that need no extra: the same pack comes about wherever it is made."""
MAIL_WIDTH = 96


@dataclass(frozen=True)
class Labels:
    """What stands above everything."""

    title: str
    collection: str
    date: str


@dataclass(frozen=True)
class Pack:
    """What a pack is made of."""

    submissions: Submissions
    evaluation: Evaluation
    participants: Sequence[Participant]
    population: FrozenPopulation
    table: RiskTable
    labels: Labels

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

    def _files(self) -> Iterator[tuple[str, Content]]:
        matrices, basis = self.evaluation.matrices, self.evaluation.basis
        about = {run: {"team": team} for run, team in self.evaluation.teams.items()}
        labels = self.labels
        page = Page(labels.title, matrices, [self.table], labels.collection, labels.date, about)
        yield "leaderboard.html", as_page(page)
        for form in TABLE_FORMS:
            yield f"tables/leaderboard{form.suffix}", form.render(self.table, IN_FILE)
        yield "population.json", self.population.to_json()
        stems = file_stems([matrix.measure for matrix in matrices])
        for stem, matrix in zip(stems, matrices, strict=True):
            whole = Matrices((matrix,), basis=basis)
            for name in ("csv", "parquet"):
                form = named(name, whole.forms)
                yield f"matrices/{stem}{form.suffix}", form.render(whole, IN_FILE)
        spread = Spread(matrices, basis=basis)
        for name in ("csv", "markdown", "table"):
            form = named(name, FORMS)
            yield f"topics/best-median-worst{form.suffix}", form.render(spread, IN_FILE)
        for name in ("json", "table"):
            form = named(name, FORMS)
            yield (
                f"findings/findings{form.suffix}",
                form.render(self.submissions.validation, IN_FILE),
            )
        yield from self._sheets()

    def _sheets(self) -> Iterator[tuple[str, Content]]:
        stems = file_stems([participant.name for participant in self.participants])
        index = [("participant", "sheet", "runs", "files_left_out")]
        for stem, participant in zip(stems, self.participants, strict=True):
            sheet = Sheet(participant, self.evaluation.matrices, self.table, basis=Basis())
            opening = self._opening(participant)
            yield (
                f"sheets/{stem}.txt",
                _sheet(sheet, "table", f"{visible(participant.name)}\n", opening),
            )
            head = f"# {markdown(participant.name)}\n"
            yield f"sheets/{stem}.md", _sheet(sheet, "markdown", head, markdown(opening))
            if participant.runs:
                yield f"sheets/{stem}.csv", named("csv", FORMS).render(sheet, IN_FILE)
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
        return f"{self.labels.title}: {said}."

    def _readme(self) -> str:
        first = self.evaluation.matrices[0]
        names = ", ".join(matrix.measure for matrix in self.evaluation.matrices)
        parts = (self.labels.collection, self.labels.date, names,
                 counted(len(first.runs), "run"), counted(len(first.topics), "topic"))  # fmt: skip
        lines = [
            f"# {markdown(self.labels.title)}",
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
        passed_over = [note.message for note in self.submissions.validation.notes]
        for heading, said in (
            ("Left out", list(map(str, self.submissions.errors))),
            ("Not looked at", passed_over),
        ):
            if said:
                lines += ["", f"## {heading}", "", *(f"- {markdown(each)}" for each in said)]
        return "\n".join(lines) + "\n"


_WHAT = (
    ("leaderboard.html", "the page to publish; it needs no server and no network"),
    ("tables/", "the leaderboard for papers, programs and terminals, in every form"),
    ("matrices/", "the scores by run and topic, one file per measure"),
    ("topics/", "best, median, worst and mean of all runs, topic by topic"),
    ("population.json", "what ZRisk and GeoRisk expect scores from, frozen"),
    ("findings/", "all that was found in the files that were submitted"),
    ("sheets/", "what each participant gets; `index.csv` says whose is which"),
    ("manifest.json", "settings, checksums of all that was read, and of every file here"),
)


def _sheet(sheet: Sheet, form: str, head: str, opening: str) -> str:
    body = _form(form).render(sheet, Dress(width=MAIL_WIDTH, in_file=True))
    return f"{head}\n{opening}\n\n{body if isinstance(body, str) else body.decode()}"


def _form(name: str) -> Form:
    return named(name, FORMS)


def _bytes(content: Content) -> bytes:
    return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content


def file_stems(names: Sequence[str]) -> list[str]:
    """A file's name for each of these, without what file systems or shells take otherwise.

    One that is changed by that, or that some file system would take for another, ends in a part of
    the name's checksum.
    """
    stems: list[str] = []
    taken: set[str] = set()
    for number, name in enumerate(names):
        stem = re.sub(r"[^A-Za-z0-9@,+=._-]+", "_", name)[:60].strip("._-")
        if stem != name or not stem or stem.casefold() in taken | _NOT_FILES:
            unique = f"{number} {name}" if name in names[:number] else name
            digest = hashlib.sha256(unique.encode("utf-8", "surrogateescape")).hexdigest()
            stem = f"{stem or 'name'}-{digest[:8]}"
        stems.append(stem)
        taken.add(stem.casefold())
    return stems


_NOT_FILES = {"index", "con", "nul", "aux", "prn"}
