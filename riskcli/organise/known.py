"""What was found in files at an earlier call, so that a file that is the same is not read again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from riskcli.analyses.validate.checker import Checks
from riskcli.analyses.validate.report import FileReport
from riskcli.core.files import replace_file, sha256_of_file
from riskcli.core.version import __version__
from riskcli.scores.store.looks import Look, look_at
from riskcli.scores.store.store import Store
from riskcli.trec.findings import Finding
from riskcli.trec.tally import Tally


class KnownReports:
    """Reports by the checksum of the file, and by all else that they depend on.

    They lie in a store of scores, which also remembers how files looked.
    """

    def __init__(self, store: Store, qrels: Path | None, checks: Checks) -> None:
        about = [__version__, qrels and sha256_of_file(qrels), checks.settings(), checks.max_bytes]
        digest = hashlib.sha256(json.dumps(about).encode()).hexdigest()
        self._looks = store.looks
        self._checks = checks
        self._file = store.folder / "findings" / f"{digest[:32]}.json"
        self._seen: dict[Path, Look | None] = {}
        self._kept: dict[str, Any] = {}
        # It saves work; without it everything is read.
        with suppress(OSError, ValueError, TypeError, RecursionError):
            self._kept = dict(json.loads(self._file.read_text(encoding="utf-8")))

    def find(self, path: Path) -> FileReport | None:
        """The report on a file that looks as it did; what is not known is about to be read."""
        self._seen[path] = look_at(path)
        sha256 = self._looks.checksum(self._seen[path])
        kept = self._kept.get(_key(path, sha256)) if sha256 else None
        try:
            return kept and _report(path, str(sha256), kept, self._checks.max_findings)
        except (KeyError, TypeError, ValueError):  # somebody else has written there
            return None

    def keep(self, report: FileReport) -> None:
        """Keep a report on a file that was just read."""
        if report.sha256 is not None and report.kind in ("run", "scores"):
            self._kept[_key(report.path, report.sha256)] = _entry(report)
            self._looks.keep(self._seen.get(report.path), report.sha256)

    def close(self) -> None:
        """Write what is known now."""
        self._looks.flush()
        self._file.parent.mkdir(exist_ok=True)
        replace_file(self._file, json.dumps(self._kept, indent=1, sort_keys=True).encode())


def _key(path: Path, sha256: str | None) -> str:
    """A file's name is part of what is found in it: its tag should be the same."""
    return f"{sha256} {path.name}"


def _entry(report: FileReport) -> dict[str, Any]:
    return {
        "kind": report.kind,
        "counts": dict(report.tally.counts),
        "findings": [[found.line, found.code, found.message] for found in report.tally.kept],
        "names": report.names,
        "named": report.named,
        "rankings": dict(report.rankings),
        "scores": dict(report.scores),
    }


def _report(path: Path, sha256: str, kept: Mapping[str, Any], most: int | None) -> FileReport:
    findings = [Finding(path, line, code, said) for line, code, said in kept["findings"]]
    return FileReport(
        path,
        kept["kind"],
        Tally(path, most, dict(kept["counts"]), findings),
        tuple(kept["names"]),
        kept["named"],
        sha256,
        dict(kept["rankings"]),
        dict(kept["scores"]),
    )
