"""A fault injector: in every command, at any call of the package, something goes wrong.

`python -m tests.bench.faults --points 300` raises each kind of fault at so many calls of every
command, spread evenly from its start to its end. Whatever is raised wherever: no traceback on
stderr, an exit code that tells the truth, an old output that is whole or a new one that is, and
nothing half-written beside it. A fault that the command gets over must not show in its result.
"""

from __future__ import annotations

import argparse
import errno
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from inspect import CO_GENERATOR
from pathlib import Path
from types import FrameType
from unittest.mock import patch

from tests.helpers.console import ROOT
from tests.helpers.inprocess import run_inside
from tests.helpers.program import Ran

OLD = b"the old one\n" * 100
WRITTEN = 1_600_000_000
"""When its files were written, which a store lists."""
PACKAGE = str(ROOT / "riskcli")
HANDLERS = (f"{PACKAGE}/commands/__init__.py", f"{PACKAGE}/__main__.py")
"""Where errors become exit codes: what breaks in the outermost of them has nothing above it."""

MATRIX = "run,1,2,3,4\na,0.1,0.2,0.3,0.9\nb,0.2,0.3,0.7,0.1\nc,0.5,0.4,0.3,0.2\n"
QRELS = "1 0 d1 1\n1 0 d2 0\n2 0 d1 2\n3 0 d3 1\n"


def _run(tag: str, scores: str) -> str:
    return "".join(
        f"{topic} Q0 d{doc} {doc} {score} {tag}\n"
        for topic in (1, 2, 3)
        for doc, score in enumerate(scores.split(), start=1)
    )


def _features() -> str:
    """Training data: 12 queries of 4 documents, with two features."""
    rng = random.Random(3)
    lines = [
        f"{rng.choice([0, 0, 1, 2])} qid:{query} 1:{rng.random():.3f} 2:{rng.random():.3f}"
        f" # {query}-{document}\n"
        for query in range(1, 13)
        for document in range(4)
    ]
    return "".join(lines)


FILES = {
    "d.txt": _features(),
    "m.csv": MATRIX,
    "q": QRELS,
    "runs/x.run": _run("x", "3 2 1"),
    "runs/y.run": _run("y", "1 3 2"),
    "runs/z.run": _run("z", "1 2 3"),
}
_ON_RUNS = "runs -q q -m AP --jobs 1"
CALLS = {
    "score": f"score {_ON_RUNS} -b x -o out.csv",
    "score, table": "score m.csv -o out.txt",
    "score, store": f"score {_ON_RUNS} --store kept -o out.json",
    "explain": "explain m.csv --run b -b a -o out.md",
    "significance": "significance m.csv -o out.tsv",
    "sweep": "sweep m.csv -b a -o out.csv",
    "sweep over baselines": "sweep --over baseline m.csv -o out.html",
    "sweep over measures": "sweep --over measure m.csv -o out.tex",
    "topics": "topics m.csv -b a -o out.parquet",
    "topics, churn": f"topics {_ON_RUNS} -b x --columns churn -o out.csv",
    "population": f"population freeze {_ON_RUNS} -o out.json",
    "check": f"check {_ON_RUNS} -b x --report junit=out.xml",
    "power": "power m.csv -b a -o out.csv",
    "validate": "validate runs -q q --jobs 1 -o out.csv",
    "matrix": f"matrix {_ON_RUNS} -o out.csv",
    "report": f"report {_ON_RUNS} -o out.html",
    "help settings": "help settings score",
    "help cite": "help cite",
    "help": "help georisk",
    "help completion": "help completion bash",
    "organise": f"organise {_ON_RUNS} -b x -o folder",
    "store ls": "store ls kept -o out.csv",
    "store verify": "store verify kept -o out.csv",
    "store gc": "store gc kept --older-than 0 -o out.csv",
}
_TRAIN = "train d.txt --folds 3 -b feature:1 --trees 2 --param min_data_in_leaf=1"
PREPARED = dict.fromkeys(
    ("store ls", "store verify", "store gc"), f"matrix {_ON_RUNS} --store kept -o made.csv"
)
"""What is called before, in the same folder."""
if find_spec("vl_convert") is not None:
    CALLS["plot"] = "plot box m.csv -o out.json"
if find_spec("lightgbm") is not None:
    CALLS["train"] = f"{_TRAIN} -o folder"
    CALLS["rank"] = "rank model/models/plain-fold1.txt d.txt -o out.run"
    PREPARED["rank"] = f"{_TRAIN} -o model"
"""What is called; the word that begins with `out` is a file that exists before."""

FOLDER = "folder"
"""The folder that one of them writes, where there was none."""

FAULTS: dict[str, Callable[[], BaseException]] = {
    "memory": MemoryError,
    "disk full": lambda: OSError(errno.ENOSPC, "No space left on device"),
    "too many files": lambda: OSError(errno.EMFILE, "Too many open files", "some.file"),
    "input/output": lambda: OSError(errno.EIO, "Input/output error", "some.file"),
    "no rights": lambda: PermissionError(errno.EACCES, "Permission denied", "some.file"),
    "interrupt": KeyboardInterrupt,
    "a fault of ours": lambda: ZeroDivisionError("by nothing"),
}
OURS = ("a fault of ours",)
SAID = "riskeval: "
"""How an error begins on stderr. (The report of `check` tells those that kept it from judging.)"""


@dataclass(frozen=True)
class Outcome:
    """What a call left behind."""

    ran: Ran
    files: dict[str, bytes]


class _Injector:
    """Counts calls of the package, and raises at one of them."""

    def __init__(self, at: int = -1, fault: Callable[[], BaseException] = MemoryError) -> None:
        self.count = 0
        self.raised = ""
        self._at = at
        self._fault = fault

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE):
            return
        if code.co_flags & CO_GENERATOR:
            return  # a generator that is thrown away is entered once more, by nobody
        if code.co_filename in HANDLERS and code.co_name in ("main", "run"):
            return
        self.count += 1
        if self.count == self._at:
            self.raised = f"{code.co_filename.removeprefix(PACKAGE)}:{code.co_name}"
            raise self._fault()


@contextmanager
def _tracing(injector: _Injector) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(injector)
    try:
        yield
    finally:
        sys.settrace(before)


def _output(words: list[str]) -> str | None:
    return next((w.rpartition("=")[2] for w in words if w.rpartition("=")[2][:4] == "out."), None)


@cache
def _before(name: str) -> dict[str, bytes]:
    """The files that stand in the folder before a call: those of all, and what it prepares."""
    files = {file: text.encode() for file, text in FILES.items()}
    if name not in PREPARED:
        return files
    with tempfile.TemporaryDirectory() as scratch, chdir(scratch):
        folder = Path(scratch)
        _write(folder, files)
        ran = run_inside(*PREPARED[name].split())
        assert ran.code == 0, ran
        made = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in made}


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for file, content in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(content)
        os.utime(folder / file, (WRITTEN, WRITTEN))


def _call(words: list[str], injector: _Injector, before: Mapping[str, bytes]) -> Outcome:
    """The call in a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, before)
        output = _output(words)
        if output is not None:
            (folder / output).write_bytes(OLD)
        traces = folder / "traces"
        traces.mkdir()
        with patch("tempfile.tempdir", str(traces)), chdir(folder), _tracing(injector):
            ran = run_inside(*words)
        kept = [*folder.iterdir(), *(folder / FOLDER).rglob("*")]
        names = {p.relative_to(folder).as_posix(): p.read_bytes() for p in kept if p.is_file()}
        return Outcome(ran, names)


def wrong(words: list[str], plain: Outcome, found: Outcome, fault: str) -> str | None:
    """What is wrong with the outcome, if anything is."""
    ran, output = found.ran, _output(words)
    if "Traceback" in ran.err:
        return "a traceback on stderr"
    strange = sorted(set(found.files) - set(plain.files))
    if strange:
        return f"left behind: {strange}"
    last = (ran.err.splitlines() or [""])[-1]
    written = found.files.get(output or "", b"")
    why = "ZeroDivisionError: by nothing" if fault in OURS else last.removeprefix(SAID)
    told = words[0] == "check" and ran.code in (2, 70) and why in written.decode()
    if output is not None and not told and written not in (OLD, plain.files[output]):
        return "the output is neither the old one nor the new one"
    begun = {name for name in found.files if name.startswith(f"{FOLDER}/")}
    if begun and found.files.items() < plain.files.items():
        return "half of a folder"
    if ran.code == plain.ran.code:
        same = found.files == plain.files and ran.out == plain.ran.out
        return None if same else "the exit code is as ever, the result is not"
    expected = {130} if fault == "interrupt" else {70} if fault in OURS else {2, 70}
    if ran.code not in expected:
        return f"exit code {ran.code}"
    if not last.startswith(SAID):
        return f"the last line of stderr is {last!r}"
    return None if ran.out in ("", plain.ran.out) else "half a result on stdout"


def inject(name: str, points: int) -> tuple[int, list[str]]:
    """How many faults were raised in that call, and reports of what was wrong."""
    words, before = CALLS[name].split(), _before(name)
    _call(words, _Injector(), before)  # what is loaded late is loaded now
    counter = _Injector()
    plain = _call(words, counter, before)
    assert plain.ran.code in (0, 1), plain.ran
    raised, reports = 0, list[str]()
    kinds = list(FAULTS)
    for point in range(points):
        at = 1 + point * (counter.count - 1) // max(1, points - 1)
        fault = kinds[(point + len(name)) % len(kinds)]
        injector = _Injector(at, FAULTS[fault])
        try:
            said = wrong(words, plain, _call(words, injector, before), fault)
        except BaseException as error:
            said = f"{type(error).__name__} got out: {error}"
        raised += injector.raised != ""
        if said is not None:
            reports.append(f"{name}: {fault} at call {at}, {injector.raised}: {said}")
    return raised, reports


def main() -> int:
    """Inject many faults, and tell what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--only", choices=CALLS)
    given = parser.parse_args()
    total, reports = 0, []
    for name in [given.only] if given.only else CALLS:
        raised, found = inject(name, given.points)
        total += raised
        reports += found
        print(f"{name}: {raised} faults, {len(found)} wrong", flush=True)
    print(*reports, sep="\n")
    print(f"{total:,} faults, {len(reports)} wrong")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
