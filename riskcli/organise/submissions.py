"""What was found in files at an earlier call, so that a file that is the same is not read again."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from riskcli.analyses.checker import Checks, FileReport
from riskcli.analyses.validate import Validation, validate
from riskcli.cli.progress import on_terminal
from riskcli.cli.reading import Inputs
from riskcli.core.content_hash import CONTENT_HASH, content_sha256
from riskcli.core.files import replace_file, sha256_of_file
from riskcli.core.messages import InputError, Note, UsageError, counted, natural_key
from riskcli.core.version import __version__
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.store import Store
from riskcli.scores.teams import TeamList, Teams, read_teams, with_teams, without_team
from riskcli.trec.codes import CODES
from riskcli.trec.discovery import find_files, find_qrels
from riskcli.trec.findings import Finding, Tally
from riskcli.trec.names import file_name, names_by_rule


class KnownReports:
    """Reports by the checksum of the file, and by all else that they depend on.

    They lie in a store of scores, which also remembers how files looked.
    """

    def __init__(self, store: Store, qrels: Path | None, checks: Checks) -> None:
        about = [__version__, qrels and sha256_of_file(qrels), checks.settings(), checks.max_bytes]
        digest = hashlib.sha256(json.dumps(about).encode()).hexdigest()
        self._states = store.file_states
        self._checks = checks
        self._file = store.folder / "findings" / f"{digest[:32]}.json"
        self._reports: dict[str, Any] = {}
        # It saves work; without it everything is read.
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            content = json.loads(self._file.read_text(encoding="utf-8"))
            if content.pop(CONTENT_HASH) == content_sha256(content):
                self._reports = dict(content["reports"])

    def find(self, path: Path) -> FileReport | None:
        """The report on a file that looks as it did; what is not known is about to be read."""
        sha256 = self._states.checksum(path)
        kept = self._reports.get(_key(path, sha256)) if sha256 else None
        try:
            return kept and _report(path, str(sha256), kept, self._checks.max_findings)
        except (KeyError, TypeError, ValueError):  # somebody else has written there
            return None

    def keep(self, report: FileReport) -> None:
        """Keep a report on a file that was just read."""
        if report.sha256 is not None and report.kind in ("run", "scores"):
            self._reports[_key(report.path, report.sha256)] = _entry(report)
            self._states.keep(report.path, report.sha256)

    def close(self) -> None:
        """Write what is known now."""
        self._states.flush()
        self._file.parent.mkdir(exist_ok=True)
        content: dict[str, Any] = {"reports": self._reports}
        content[CONTENT_HASH] = content_sha256(content)
        replace_file(self._file, json.dumps(content, indent=1, sort_keys=True).encode())


def _key(path: Path, sha256: str | None) -> str:
    """A file's name is part of what is found in it: its tag should be the same."""
    return f"{sha256} {path.name}"


def _entry(report: FileReport) -> dict[str, Any]:
    return {
        "kind": report.kind, "names": report.names, "named": report.named,
        "rankings": dict(report.rankings), "scores": dict(report.scores),
        "counts": dict(report.tally.counts),
        "findings": [[found.line, found.code, found.message] for found in report.tally.kept],
    }  # fmt: skip


def _report(path: Path, sha256: str, kept: Mapping[str, Any], most: int | None) -> FileReport:
    findings = [Finding(path, line, code, said) for line, code, said in kept["findings"]]
    tally = Tally(path, most, dict(kept["counts"]), findings)
    alike = dict(kept["rankings"]), dict(kept["scores"])
    return FileReport(
        path, kept["kind"], tally, tuple(kept["names"]), kept["named"], sha256, *alike
    )


# What was submitted: which files can be taken, what is wrong with the others, whose they are.


OF_SEVERAL_FILES = (
    "same-ranking", "near-same-ranking", "same-scores", "near-same-scores", "shared-name",
)  # fmt: skip
"""The codes of findings whose messages name another file."""


@dataclass(frozen=True)
class Submissions:
    """The files that were submitted. In reports they are called as they lie in their folder."""

    validation: Validation
    qrels: Path | None
    taken: Mapping[Path, FileReport]
    """What was found in the files that can be scored, by their paths."""
    left_out: tuple[FileReport, ...]
    given: Mapping[Path, str]
    """The names of runs that were given as NAME=FILE."""

    @property
    def places(self) -> tuple[Path, ...]:
        """What can be scored, as it was given."""
        return tuple(
            Path(f"{self.given[path]}={path}") if path in self.given else path
            for path in self.taken
        )

    @property
    def errors(self) -> tuple[InputError, ...]:
        """The first error of each file that is left out."""
        return tuple(map(first_error, self.left_out))

    def beside(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation of what was taken, which names what was left out."""
        left_out = [Note("skipped-file", f"LEFT OUT: {error}") for error in self.errors]
        provenance = evaluation.provenance.adding(notes=[*self.validation.notes, *left_out])
        skipped = (*self.errors, *provenance.skipped)
        return replace(evaluation, provenance=replace(provenance, skipped=skipped))


def first_error(report: FileReport) -> InputError:
    """What a file is refused for."""
    errors = (found for found, _ in report.tally.findings() if found.severity == "error")
    return next(errors).as_error()


def checked(inputs: Inputs, folder: Path) -> Submissions:
    """Check everything; judgements that cannot be taken are an error, broken runs are left out.

    What was found in files that are the same as before is known from the store in that folder.
    """
    checks = Checks(
        max_bytes=inputs.max_bytes, run_names=inputs.run_names, input_format=inputs.input_format
    )
    qrels = _judgements_for(inputs.runs, inputs.qrels)
    known = KnownReports(Store(folder, inputs.rehash), qrels, checks)
    with on_terminal(inputs.quiet, "files checked") as progress:
        validation = validate(
            inputs.runs, qrels=qrels, checks=checks, jobs=inputs.jobs, progress=progress,
            cache=known, folders=inputs.folders,
        )  # fmt: skip
    submitted = [report for report in validation.files if report.kind != "qrels"]
    for report in validation.files:
        if report not in submitted and report.count("error"):
            raise first_error(report)
    home = os.path.commonpath([report.path.absolute().parent for report in submitted])
    shown = {report.path: _from_home(report, Path(home), submitted) for report in submitted}
    taken = {path: report for path, report in shown.items() if not report.count("error")}
    left_out = tuple(report for report in shown.values() if report.count("error"))
    if not taken:
        raise UsageError(
            f"no run is left: {counted(len(left_out), 'file')} cannot be taken; the first is "
            f"{first_error(left_out[0])}"
        )
    files = tuple(shown.get(report.path, report) for report in validation.files)
    given = find_files(inputs.runs, [qrels] if qrels else [], inputs.folders).names
    known.close()
    return Submissions(replace(validation, files=files), qrels, taken, left_out, given)


def _judgements_for(places: Sequence[Path], qrels: Path | None) -> Path | None:
    """The judgements; none where none were named or found: files of scores need none."""
    try:
        return find_qrels(qrels, places)[0]
    except UsageError:
        if qrels is not None:
            raise
        return None


def _from_home(report: FileReport, home: Path, others: Sequence[FileReport]) -> FileReport:
    """The report with paths as they are from there, in messages too."""
    path = report.path.absolute().relative_to(home)
    kept = [replace(found, path=path, message=_message(found, home, others))
            for found in report.tally.kept]  # fmt: skip
    return replace(report, path=path, tally=replace(report.tally, path=path, kept=kept))


def _message(found: Finding, home: Path, others: Sequence[FileReport]) -> str:
    if found.code not in OF_SEVERAL_FILES:
        return found.message
    message = found.message
    for path in sorted((report.path for report in others), key=lambda p: -len(str(p))):
        message = message.replace(str(path), str(path.absolute().relative_to(home)))
    return message


def in_public(found: Finding) -> Finding:
    """What its author may read of a finding: no file of anybody else is named."""
    if found.code in OF_SEVERAL_FILES:
        return replace(found, message=CODES[found.code].meaning)
    return found


@dataclass(frozen=True)
class Participant:
    """Who gets a sheet: a team, or a run without one, and what was submitted."""

    name: str
    runs: tuple[str, ...]
    files: tuple[FileReport, ...]
    """All of theirs, those that are left out too."""

    @property
    def left_out(self) -> int:
        """How many files are left out."""
        return sum(report.count("error") > 0 for report in self.files)


def in_teams(
    evaluation: Evaluation, submissions: Submissions, teams: Path | None, team_of: str | None
) -> tuple[Evaluation, list[Participant]]:
    """The evaluation with its runs in teams under the names to show, and everybody who took part.

    The list of teams may name the runs of files that are left out.
    """
    runs = list(dict.fromkeys(run for matrix in evaluation.matrices for run in matrix.runs))
    absent = {name: report for report in submissions.left_out for name in _names_of(report)}
    listed = read_teams(teams, [*runs, *absent]) if teams else TeamList()
    here = {run: team for run, team in listed.teams.items() if run in runs}
    by_run = Teams(here, team_of).found(runs)
    submitted = [run for run in runs if run not in evaluation.added.values()]
    provenance = evaluation.provenance.adding(notes=without_team(submitted, by_run))
    evaluation = replace(evaluation, provenance=provenance)
    systems = evaluation.systems or dict(zip(runs, runs, strict=True))
    reports: dict[str, list[FileReport]] = {}
    for run, report in _reports_by_run([*systems], submissions).items():
        reports.setdefault(systems[run], []).append(report)
    shown = {run: name for run, name in listed.names.items() if run in runs}
    gathered: dict[tuple[bool, str], tuple[list[str], list[FileReport]]] = {}
    for run in sorted(set(runs) - set(evaluation.added.values()), key=natural_key):
        name = shown.get(run, run)
        key = (run in by_run, by_run.get(run, name))
        theirs, files = gathered.setdefault(key, ([], []))
        theirs.append(name)
        files += [report for report in reports.get(run, ()) if report not in files]
    for report in submissions.left_out:
        team = _team_of(report, listed, team_of)
        key = (team is not None, team or file_name(report.path))
        gathered.setdefault(key, ([], []))[1].append(report)
    participants = [
        Participant(name, tuple(theirs), tuple(files))
        for (_, name), (theirs, files) in sorted(
            gathered.items(), key=lambda item: (natural_key(item[0][1]), item[0][0])
        )
    ]
    return with_teams(evaluation, by_run, shown), participants


def _names_of(report: FileReport) -> tuple[str, ...]:
    """What a list of teams may call what is in a file that is left out."""
    return (*report.names, file_name(report.path))


def _team_of(report: FileReport, listed: TeamList, pattern: str | None) -> str | None:
    names = _names_of(report)
    known = [listed.teams[name] for name in names if name in listed.teams]
    if known:
        return known[0]
    return next((team for team in Teams({}, pattern).of(names) if team is not None), None)


def _reports_by_run(runs: Sequence[str], submissions: Submissions) -> dict[str, FileReport]:
    """The report on the file of each run, by the rule that the runs were named by."""
    taken, given = submissions.taken, submissions.given
    by_run = {name: report for report in taken.values() if report.named for name in report.names}
    by_run |= {name: taken[path] for path, name in given.items() if path in taken}
    single = [
        (path, report) for path, report in taken.items() if not report.named and path not in given
    ]
    tagged = [(path, report.names[0] if len(report.names) == 1 else None)
              for path, report in single]  # fmt: skip
    for rule in ("auto", "file"):
        _, names = names_by_rule(tagged, rule)
        if set(names) <= set(runs):
            reports = (report for _, report in single)
            return by_run | {str(name): each for name, each in zip(names, reports, strict=True)}
    return by_run
