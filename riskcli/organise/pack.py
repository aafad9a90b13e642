"""The folder that a pack is: replaced as a whole, with a manifest of what is in it."""

import csv
import hashlib
import io
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from riskcli.analyses.base import refuse_much
from riskcli.analyses.checker import Checks
from riskcli.analyses.matrix import Matrices
from riskcli.analyses.population import freeze
from riskcli.analyses.score import ComparisonTable, risk_table
from riskcli.cli.options import Comparing
from riskcli.cli.progress import on_terminal
from riskcli.cli.reading import Inputs
from riskcli.core.files import replaced_folder, write_part
from riskcli.core.messages import InputError, Provenance, UsageError, counted, listed
from riskcli.core.stopping import UNFINISHED
from riskcli.organise.sheets import Sheet, Spread
from riskcli.organise.submissions import (
    KnownReports,
    Participant,
    Submissions,
    in_teams,
    judgements_for,
    read_submissions,
)
from riskcli.output.escape import markdown, visible
from riskcli.output.formats import (
    FORMATS,
    IN_FILE,
    XLSX,
    Content,
    Formats,
    RenderOptions,
    Source,
    named,
)
from riskcli.page import leaderboard
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.store import Store

FORMAT = 1
MANIFEST = "manifest.json"
Checksums = Mapping[str, str]
"""The SHA-256 of each file, by its name in the pack."""


def checksums_of(contents: Mapping[str, bytes]) -> dict[str, str]:
    """The checksum of each file."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}


def pack_before(folder: Path) -> dict[str, str]:
    """The files that an earlier call has written there; none where nothing is there.

    A folder that holds anything else, or files that were changed since, is refused: what somebody
    has put there is not to be lost.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return {}
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file, expected a folder to write")
    if not (folder / MANIFEST).is_file():
        raise UsageError(
            f"{folder} holds something else ({MANIFEST} is missing): name a new folder"
        )
    stated = _stated(folder / MANIFEST)
    there = {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }
    strange = sorted(there.keys() - stated.keys() - {MANIFEST})
    found = checksums_of({name: there[name].read_bytes() for name in stated if name in there})
    changed = sorted(name for name in found if found[name] != stated[name])
    if strange or changed:
        said = " and ".join(
            f"{counted(len(names), 'file')} {what} ({listed(names)})"
            for names, what in ((strange, "from elsewhere"), (changed, "changed since"))
            if names
        )
        raise UsageError(f"{folder} holds {said}, which would be lost: move them away")
    return found


def _stated(manifest: Path) -> dict[str, str]:
    try:
        document = json.loads(manifest.read_text(encoding="utf-8"))
        version, files = document["riskeval_pack"], document["files"]
        stated = {str(name): str(sha256) for name, sha256 in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = "not the manifest that `riskeval organise` writes: name a new folder"
        raise InputError(manifest, "bad-manifest", message) from error
    if version != FORMAT:
        message = f"the pack has format {version!r}, expected {FORMAT}: name a new folder"
        raise InputError(manifest, "bad-manifest", message)
    return stated


def write_pack(
    folder: Path, contents: Mapping[str, bytes], about: Mapping[str, Any], before: Checksums
) -> int:
    """Put the pack in its place, as a whole; how many of its files are new or not as before.

    The others keep their times, so that what copies the pack elsewhere can pass over them.
    """
    checksums = checksums_of(contents)
    manifest = {"riskeval_pack": FORMAT, **about, "files": dict(sorted(checksums.items()))}
    new = [name for name in contents if before.get(name) != checksums[name]]
    with replaced_folder(folder) as part:
        for name, data in contents.items():
            if name in new:
                write_part(part / name, data)
            else:
                _keep(folder / name, part / name)
        write_part(part / MANIFEST, [json.dumps(manifest, indent=1, ensure_ascii=False), "\n"])
    return len(new)


def _keep(file: Path, part: Path) -> None:
    part.parent.mkdir(exist_ok=True)
    UNFINISHED.update((str(part.parent), str(part)))
    try:
        os.link(file, part)
    except OSError:  # a file system without links
        shutil.copy2(file, part)


# All that is in a pack: leaderboard, matrices, topics, findings, and a sheet a participant.


TABLE_FORMATS = tuple(format for format in FORMATS if format is not XLSX)
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
    table: ComparisonTable
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
        matrices, provenance = self.evaluation.matrices, self.evaluation.provenance
        yield "leaderboard.html", self._page()
        for format in TABLE_FORMATS:
            yield f"tables/leaderboard{format.suffix}", format.render(self.table, IN_FILE)
        yield "population.json", self.population.to_json()
        stems = file_stems([matrix.measure for matrix in matrices])
        for stem, matrix in zip(stems, matrices, strict=True):
            whole = Matrices((matrix,), provenance=provenance)
            yield from _in_formats(f"matrices/{stem}", whole, ("csv", "parquet"), whole.formats)
        spread = Spread(matrices, provenance=provenance)
        yield from _in_formats("topics/best-median-worst", spread, ("csv", "markdown", "table"))
        yield from _in_formats("findings/findings", self.submissions.validation, ("json", "table"))
        yield from self._sheets()

    def _page(self) -> str:
        labels, evaluation = self.labels, self.evaluation
        about = {run: {"team": team} for run, team in evaluation.teams.items()}
        return leaderboard(
            labels.title, evaluation.matrices, [self.table],
            collection=labels.collection, date=labels.date, about=about,
        )  # fmt: skip

    def _sheets(self) -> Iterator[tuple[str, Content]]:
        matrices = self.evaluation.matrices
        stems = file_stems([participant.name for participant in self.participants])
        index = [("participant", "sheet", "runs", "files_left_out")]
        for stem, participant in zip(stems, self.participants, strict=True):
            sheet = Sheet(participant, matrices, self.table, provenance=Provenance())
            opening = self._opening(participant)
            name = f"{visible(participant.name)}\n"
            yield f"sheets/{stem}.txt", _sheet(sheet, "table", name, opening)
            head = f"# {markdown(participant.name)}\n"
            yield f"sheets/{stem}.md", _sheet(sheet, "markdown", head, markdown(opening))
            if participant.runs:
                yield f"sheets/{stem}.csv", named("csv", FORMATS).render(sheet, IN_FILE)
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


def _sheet(sheet: Sheet, format: str, head: str, opening: str) -> str:
    body = named(format, FORMATS).render(sheet, RenderOptions(width=MAIL_WIDTH, in_file=True))
    return f"{head}\n{opening}\n\n{body if isinstance(body, str) else body.decode()}"


def _in_formats(
    stem: str, source: Source, names: Sequence[str], known: Formats = FORMATS
) -> Iterator[tuple[str, Content]]:
    """The source in each of these formats, as a file of that name and the format's suffix."""
    for name in names:
        format = named(name, known)
        yield f"{stem}{format.suffix}", format.render(source, IN_FILE)


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


# From submissions to a pack: files checked, runs scored in teams, measured in their population.


def checked(inputs: Inputs, folder: Path) -> Submissions:
    """Check the files; what was found in those that are the same as before is known."""
    checks = Checks(
        max_bytes=inputs.max_bytes, run_names=inputs.run_names, input_format=inputs.input_format
    )
    qrels = judgements_for(inputs.runs, inputs.qrels)
    known = KnownReports(Store(folder, inputs.rehash), qrels, checks)
    with on_terminal(inputs.quiet, "files checked") as progress:
        submissions = read_submissions(
            inputs.runs, qrels, checks, jobs=inputs.jobs, progress=progress, known=known,
            folders=inputs.folders,
        )  # fmt: skip
    known.close()
    return submissions


def packed(inputs: Inputs, comparing: Comparing, submissions: Submissions, labels: Labels) -> Pack:
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
