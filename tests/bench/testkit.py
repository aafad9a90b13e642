"""The testkit for readers of TREC files: one file a case, and what a right reader makes of it.

`python -m tests.bench.testkit` writes `tests/trec-testkit/` anew; its README says how other
programs can use it. What is expected of files that are taken comes from the plain reader, which
shares no code with the program. The broken files are those of `malformed.py`.
"""

from __future__ import annotations

import bz2
import ctypes
import gzip
import json
import lzma
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench import plain_reader
from tests.bench.fuzz import SCORE_FILES
from tests.bench.malformed import DOUBTFUL, GOOD, QRELS, REFUSED, Malformed

KIT = Path(__file__).parents[1] / "trec-testkit"
PROGRAMS = "programs"
"""The folder of files that programs wrote; `programs.json` says which, and what they hold."""
FOLDERS = {"run": "runs", "qrels": "qrels", "scores": "scores"}
GOOD_QRELS = QRELS + b"2 0 c 2\n"
LIMIT = 1_000_000
"""The most bytes that a packed file of the kit may expand to; one goes beyond."""


@dataclass(frozen=True)
class Odd:
    """A file that looks odd and is right."""

    name: str
    content: bytes
    kind: str = "run"
    text: bytes | None = None
    """What is packed in it, where Python's own functions do not read it all."""


def _scored(*scores: str) -> bytes:
    """A run whose documents a, b, c have these scores."""
    return b"".join(
        f"1 Q0 {docno} {rank} {score} t\n".encode()
        for rank, (docno, score) in enumerate(zip("abcdefgh", scores, strict=False), start=1)
    )


_A = b"2 Q0 a 1 1 t\n"
"""A document that is judged: a run without one is refused."""
_SECOND = b"2 Q0 c 2 1.0 t\n"
ODD_RUNS = [
    Odd("good", GOOD),
    Odd("line ends of DOS", GOOD.replace(b"\n", b"\r\n")),
    Odd("line ends of both kinds", GOOD.replace(b"\n", b"\r\n", 1)),
    Odd("byte order mark", b"\xef\xbb\xbf" + GOOD),
    Odd("tabs", GOOD.replace(b" ", b"\t")),
    Odd("tabs and blanks", GOOD.replace(b" Q0 ", b"\tQ0  ")),
    Odd("vertical tabs and form feeds", GOOD.replace(b" Q0 ", b"\x0bQ0\x0c")),
    Odd("blanks around lines", GOOD.replace(b"\n", b" \t\n ")),
    Odd("blank lines", b"\n\n" + GOOD.replace(b"\n", b"\n \n")),
    Odd("last line without an end", GOOD[:-1]),
    Odd("topics interleaved", b"1 Q0 a 1 3.5 t\n2 Q0 a 1 1.5 t\n1 Q0 b 2 2.5 t\n"),
    Odd("not sorted", b"1 Q0 b 2 2.5 t\n2 Q0 a 1 1.5 t\n1 Q0 a 1 3.5 t\n"),
    Odd("ranks from 0", b"1 Q0 a 0 3.5 t\n1 Q0 b 1 2.5 t\n"),
    Odd("exact tie, the greater docno first", b"1 Q0 a 1 1 t\n1 Q0 b 2 1 t\n1 Q0 B 3 1 t\n"),
    Odd("tie of docnos by bytes", "1 Q0 ab 1 1 t\n1 Q0 é 2 1 t\n1 Q0 z 3 1 t\n".encode() + _A),
    Odd("tie of numbers as texts", b"1 Q0 9 1 1 t\n1 Q0 10 2 1 t\n2 Q0 a 1 1 t\n"),
    Odd("tie in single precision only", _scored("1.00000001", "1.0")),
    Odd("neighbours in single precision", _scored("1.0000001", "1.0")),
    Odd("beyond single precision", _scored("1e300", "1e299", "-1e300")),
    Odd("scores below 0", _scored("-1", "-2.5", "-0.5")),
    Odd("minus zero", _scored("-0", "0", "-0.0")),
    Odd("notations", _scored("+1", ".5", "5.", "1E3", "1e-3", "007", "2e+0")),
    Odd("underflow", _scored("1e-400", "5e-324", "-1e-400")),
    Odd("many digits", _scored("0.1000000000000000055511151231257827", "0.1", "1" * 20)),
    Odd("topics 1 and 001", GOOD + b"001 Q0 a 1 1 t\n01 Q0 b 1 1 t\n"),
    Odd("names like missing values", b"1 Q0 NA 1 3 NA\n1 Q0 null 2 2 NA\n2 Q0 a 1 1 NA\n"),
    Odd("names like numbers", b"1 Q0 1e3 1 3 1\n1 Q0 1000 2 2 1\n1 Q0 -0 3 1 1\n2 Q0 a 1 1 1\n"),
    Odd("letters beyond ASCII", "1 Q0 é 1 3 t\n1 Q0 e\u0301 2 2 t\n1 Q0 日本 3 1 t\n".encode()
        + _A),
    Odd("blanks beyond ASCII are letters",
        "1 Q0 a\u00a0b 1 3 t\n1 Q0 a\u2028b 2 2 t\n1 Q0 a\x85 3 1 t\n2 Q0 a 1 1 t\n".encode()),
    Odd("control characters are letters", b"1 Q0 a\x1cb 1 3 t\n1 Q0 a\x01 2 2 t\n2 Q0 a 1 1 t\n"),
    Odd("quotes and commas", b'1 Q0 "a" 1 3 t\n1 Q0 a,b 2 2 t\n1 Q0 \' 3 1 t\n2 Q0 a 1 1 t\n'),
    Odd("a number sign begins a docno", b"1 Q0 #a 1 3 t\n1 Q0 a 2 2 t\n"),
    Odd("comments", b"# made by hand\n" + GOOD + b"#\n# 1 Q0 a 1 3.5 t and more\n"),
    Odd("long docno", b"1 Q0 " + b"d" * 5000 + b" 1 3 t\n1 Q0 a 2 2 t\n"),
    Odd("docnos of equal beginnings", b"".join(
        b"1 Q0 clueweb09-en0000-00-%05d %d %d t\n" % (i, i, -i) for i in range(1, 40)) + _A),
    Odd("unjudged documents", GOOD + b"2 Q0 zz 9 9 t\n"),
    Odd("second column of any kind", GOOD.replace(b"Q0", b"\xff\xfe")),
    Odd("rank of any kind", GOOD.replace(b" 1 ", b" first ", 1)),
    Odd("a topic of the run alone", GOOD + b"77 Q0 a 1 1 t\n"),
]  # fmt: skip
_HALF = len(GOOD) // 2
ODD_ARCHIVES = [
    Odd("gzip", gzip.compress(GOOD, mtime=0)),
    Odd("bzip2", bz2.compress(GOOD)),
    Odd("xz", lzma.compress(GOOD)),
    Odd("gzip of two streams, cut within a line",
        gzip.compress(GOOD[:_HALF], mtime=0) + gzip.compress(GOOD[_HALF:], mtime=0)),
    Odd("bzip2 of two streams, cut within a line",
        bz2.compress(GOOD[:_HALF]) + bz2.compress(GOOD[_HALF:])),
    Odd("xz of two streams, cut within a line",
        lzma.compress(GOOD[:_HALF]) + lzma.compress(GOOD[_HALF:])),
    Odd("xz with padding between", lzma.compress(GOOD) + bytes(4) + lzma.compress(_SECOND),
        text=GOOD + _SECOND),
    Odd("xz with padding behind", lzma.compress(GOOD) + bytes(8), text=GOOD),
    Odd("gzip with zeros behind", gzip.compress(GOOD, mtime=0) + bytes(5)),
    Odd("gzip, first stream empty", gzip.compress(b"", mtime=0) + gzip.compress(GOOD, mtime=0)),
    Odd("bzip2, middle stream empty",
        bz2.compress(GOOD) + bz2.compress(b"") + bz2.compress(_SECOND)),
    Odd("byte order mark within gzip", gzip.compress(b"\xef\xbb\xbf" + GOOD, mtime=0)),
]  # fmt: skip
ODD_QRELS = [
    Odd("good", GOOD_QRELS, "qrels"),
    Odd("line ends of DOS", GOOD_QRELS.replace(b"\n", b"\r\n"), "qrels"),
    Odd("tabs and blank lines", GOOD_QRELS.replace(b" ", b"\t").replace(b"\n", b"\n\n"), "qrels"),
    Odd("byte order mark", b"\xef\xbb\xbf" + GOOD_QRELS, "qrels"),
    Odd("grades below 0", GOOD_QRELS + b"1 0 spam -2\n1 0 d -32768\n", "qrels"),
    Odd("high grades", GOOD_QRELS + b"1 0 d 32768\n", "qrels"),
    Odd("signs", GOOD_QRELS + b"1 0 d +1\n1 0 e -0\n", "qrels"),
    Odd("topics interleaved", b"1 0 a 1\n2 0 a 1\n1 0 b 0\n2 0 c 2\n", "qrels"),
    Odd("iteration of any kind", GOOD_QRELS.replace(b" 0 a", b" Q0 a"), "qrels"),
    Odd("comments", b"# made by hand\n" + GOOD_QRELS + b"#\n", "qrels"),
    Odd("a topic with nothing relevant", GOOD_QRELS + b"3 0 a 0\n3 0 b -1\n", "qrels"),
    Odd("judged twice alike", GOOD_QRELS + b"1 0 a 1\n", "qrels"),
    Odd("gzip", gzip.compress(GOOD_QRELS, mtime=0), "qrels"),
]
ODD_SCORES = [Odd(f"good {kind}", file, "scores") for kind, (file, _) in SCORE_FILES.items()]
ODD = [*ODD_RUNS, *ODD_ARCHIVES, *ODD_QRELS, *ODD_SCORES]


def slug(name: str) -> str:
    """A name as part of a file's name."""
    plain = name.encode("ascii", "backslashreplace").decode().lower()
    return re.sub(r"[^a-z0-9.+]+", "-", plain).strip("-") or "sign"


def _single(score: float) -> float:
    return ctypes.c_float(score).value


def _rankings(scores: plain_reader.Scores, single: bool) -> dict[str, list[str]]:
    """The documents of each topic as trec_eval ranks them."""
    exact = _single if single else float
    return {
        topic: sorted(docs, key=lambda docno: (exact(docs[docno]), docno.encode()), reverse=True)
        for topic, docs in scores.items()
    }


def _reads(case: Odd) -> dict[str, Any]:
    """What is in the file, by the plain reader."""
    if case.kind == "scores":
        reader = next(read for file, read in SCORE_FILES.values() if file == case.content)
        cells = sorted(reader(case.content).elements())
        return {"scores": [list(cell) for cell in cells]}
    if case.kind == "qrels":
        return {"grades": plain_reader.read_qrels(case.content)}
    scores, tags = plain_reader.read_run(case.text or case.content)
    return {"tags": sorted(tags), **_of_scores(scores)}


def _of_scores(scores: plain_reader.Scores) -> dict[str, Any]:
    """A run's scores, rankings and effectiveness."""
    measured = plain_reader.evaluated(scores, plain_reader.read_qrels(GOOD_QRELS))
    return {
        "scores": scores,
        "ranking": _rankings(scores, single=True),
        "ranking_in_double_precision": _rankings(scores, single=False),
        "AP": {topic: values[0] for topic, values in measured.items()},
        "nDCG@3": {topic: values[1] for topic, values in measured.items()},
    }


def _of_program(entry: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """The entry of a file that a program wrote, with what it holds where that is right."""
    content = (KIT / PROGRAMS / entry["file"]).read_bytes()
    entry = {**entry, "file": f"{PROGRAMS}/{entry['file']}"}
    reads = entry.get("reads")
    if reads == "as lines":
        entry["reads"] = _reads(Odd("", content))
    elif entry["kind"] == "run" and reads is not None:
        entry["reads"] = {**_of_scores(reads), "tags": []}
    elif reads is not None:
        entry["reads"] = {"grades" if entry["kind"] == "qrels" else "scores": reads}
    return entry, content


def _kind(case: Malformed) -> str:
    return "qrels" if case.file == "qrels" else "scores" if case.file[0] == "x" else "run"


def _entry(
    kind: str, name: str, content: bytes, verdict: str, **more: Any
) -> tuple[dict[str, Any], bytes]:
    file = f"{FOLDERS[kind]}/{verdict}-{slug(name)}"
    return {"file": file, "kind": kind, "case": name, "verdict": verdict, **more}, content


def cases() -> Iterator[tuple[dict[str, Any], bytes]]:
    """Each entry of the manifest with the bytes of its file."""
    for verdict, files in (("refuse", REFUSED), ("warn", DOUBTFUL)):
        for broken in files:
            where = {"code": broken.code, "line": broken.line}
            yield _entry(_kind(broken), broken.name, broken.content, verdict, **where)
    for odd in ODD:
        yield _entry(odd.kind, odd.name, odd.content, "take", reads=_reads(odd))
    table = Path(__file__).with_name("programs.json").read_text(encoding="utf-8")
    yield from map(_of_program, json.loads(table))


def write(folder: Path) -> None:
    """All files, and the manifest."""
    entries, taken = [], set[str]()
    for entry, content in cases():
        name, again = entry["file"], 1
        while name in taken:  # `score NaN` beside `score nan`
            again += 1
            name = f"{entry['file']}-{again}"
        taken.add(name)
        entry["file"] = name
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        entries.append(entry)
    (folder / "good.qrels").write_bytes(GOOD_QRELS)
    (folder / "good.run").write_bytes(GOOD)
    document = {"trec_testkit": 1, "max_bytes": LIMIT, "cases": entries}
    text = json.dumps(document, indent=1, ensure_ascii=True)
    (folder / "manifest.json").write_text(f"{text}\n", encoding="ascii")


if __name__ == "__main__":
    for name in FOLDERS.values():
        shutil.rmtree(KIT / name, ignore_errors=True)
    write(KIT)
