"""A corpus of files as organisers get them: each with one thing wrong, its code and its line.

`python -m tests.bench.malformed FOLDER` writes all of them, to look at or to try on other programs.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

GOOD = b"1 Q0 a 1 3.5 t\n1 Q0 b 2 2.5 t\n2 Q0 a 1 1.5 t\n"
QRELS = b"1 0 a 1\n1 0 b 0\n2 0 a 1\n"


@dataclass(frozen=True)
class Malformed:
    """A file, and what must be said of it."""

    name: str
    content: bytes
    code: str
    line: int | None
    file: str = "t.run"
    """Its name; `qrels` is given as judgements, beside a good run."""

    def write(self, folder: Path) -> Path:
        """The file in a folder of its own."""
        path = folder / self.name.replace(" ", "-").replace("/", "-") / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.content)
        return path


def _lines(*lines: bytes) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _gzip(text: bytes) -> bytes:
    """The same bytes at any time."""
    return gzip.compress(text, mtime=0)


def _zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(zipfile.ZipInfo("t.run"), GOOD)
    return stream.getvalue()


def _flipped(data: bytes) -> bytes:
    spoilt = bytearray(data)
    spoilt[len(spoilt) // 2] ^= 0xFF
    return bytes(spoilt)


LONG = GOOD + b"".join(b"2 Q0 d%d %d -%d t\n" % (i, i + 2, i) for i in range(1, 300))

EMPTY = [
    Malformed("empty", b"", "empty-file", None),
    Malformed("line ends only", b"\n\r\n\n", "empty-file", None),
    Malformed("white space only", b"  \t \n", "empty-file", None),
    Malformed("byte order mark only", b"\xef\xbb\xbf", "empty-file", None),
    Malformed("empty archive", _gzip(b""), "empty-file", None),
]
PACKED = [
    Malformed("zip archive", _zipped(), "not-text", None),
    Malformed("zstandard spoilt", b"\x28\xb5\x2f\xfd" + GOOD, "damaged-archive", None),
    Malformed("LZ4 spoilt", b"\x04\x22\x4d\x18" + GOOD, "damaged-archive", None),
    Malformed("zip within gzip", _gzip(_zipped()), "not-text", None),
    Malformed("UTF-16, little end first", GOOD.decode().encode("utf-16"), "not-text", None),
    Malformed("UTF-16, big end first", b"\xfe\xff" + GOOD, "not-text", None),
    Malformed("gzip cut off", _gzip(LONG)[:-20], "damaged-archive", None),
    Malformed("gzip spoilt", _flipped(_gzip(LONG)), "damaged-archive", None),
    Malformed("gzip header only", _gzip(LONG)[:5], "damaged-archive", None),
    Malformed("bzip2 cut off", bz2.compress(LONG)[:-20], "damaged-archive", None),
    Malformed("bzip2 spoilt", _flipped(bz2.compress(LONG)), "damaged-archive", None),
    Malformed("xz cut off", lzma.compress(LONG)[:-20], "damaged-archive", None),
    Malformed("xz spoilt", _flipped(lzma.compress(LONG)), "damaged-archive", None),
    Malformed(
        "second member cut off",
        _gzip(GOOD) + _gzip(LONG)[:-9],
        "damaged-archive",
        None,
    ),
    Malformed("expands without end", _gzip(bytes(3_000_000)), "too-large", None),
]
COLUMNS = [
    Malformed("tag missing", GOOD + b"2 Q0 b 2 1.0\n", "column-count", 4),
    Malformed("Q0 missing", _lines(b"1 a 1 2.5 t") + GOOD, "column-count", 1),
    Malformed("cut off in the middle of a line", GOOD + b"2 Q0 b 2", "column-count", 4),
    Malformed("tag of two words", GOOD + b"2 Q0 b 2 1.0 my run\n", "column-count", 4),
    Malformed("two lines in one", GOOD[:-1] + b"2 Q0 b 2 1.0 t\n", "column-count", 3),
    Malformed("one column", GOOD + b"text\n", "column-count", 4),
    Malformed("judgements", QRELS, "other-kind", None),
    Malformed("commas", GOOD.replace(b" ", b","), "other-form", None),
    Malformed("semicolons", GOOD.replace(b" ", b";"), "other-form", None),
    Malformed("carriage returns only", GOOD.replace(b"\n", b"\r"), "other-form", None),
    Malformed("merge conflict", GOOD + b"<<<<<<< HEAD\n", "column-count", 4),
    Malformed("end of a DOS file", GOOD + b"\x1a", "column-count", 4),
    Malformed("log between the lines", GOOD + b"\nINFO done\n", "column-count", 5),
    Malformed("commented line", GOOD + b"#2 Q0 b 2 1.0 t\n", "doubtful-comment", 4),
    Malformed("error page", b"<!DOCTYPE html>\n<h1>404</h1>\n", "other-form", None),
    Malformed("JSON list", b"[]", "column-count", 1),
    Malformed("UTF-16 without a mark", "1 Q0 a".encode("utf-16-le"), "not-text", None),
    Malformed(
        "result of riskeval", b"run,measure,baseline,alpha\nx,AP,@mean,1\n", "own-result", None
    ),
    Malformed("very long line", GOOD + b"x" * 100_000, "column-count", 4),
    Malformed("summary of trec_eval", b"map \tall\n", "other-kind", None),
]
BYTES = [
    Malformed("NUL in a docno", GOOD + b"2 Q0 b\0 2 1.0 t\n", "nul-byte", 4),
    Malformed("NUL where nobody looks", b"1 Q\0 a 1 3.5 t\n", "nul-byte", 1),
    Malformed("NUL as padding", GOOD + b"2 Q0 b 2 1.0 t\0\0\0\n", "nul-byte", 4),
    Malformed("NUL in JSON", b'{"1": {"a\\u0000": 3.5, "a": 1.5}}', "bad-name", None),
    Malformed("Latin-1 docno", GOOD + b"2 Q0 caf\xe9 2 1.0 t\n", "encoding", 4),
    Malformed("Latin-1 tag", b"\n\n1 Q0 a 1 3.5 caf\xe9\n", "encoding", 3),
    Malformed("Latin-1 topic", GOOD + b"\xe9 Q0 b 2 1.0 t\n", "encoding", 4),
    Malformed("half of a surrogate", GOOD + b"2 Q0 \xed\xa0\x80 2 1.0 t\n", "encoding", 4),
    Malformed("cut within a letter", GOOD + b"2 Q0 \xe6\x97 2 1.0 t\n", "encoding", 4),
]
_NO_SCORES = (
    "nan", "NaN", "inf", "-inf", "Infinity", "1e400", "high", "1_000", "0x10", "1,5", "-", ".",
    "1e", "1.2.3", "--1", "１", "٣", "None", "50%", "1/2", "1.5f",
)  # fmt: skip
SCORES = [
    *(
        Malformed(f"score {text}", GOOD + f"2 Q0 b 2 {text} t\n".encode(), "bad-score", 4)
        for text in _NO_SCORES
    ),
    Malformed("header line", b"topic Q0 docno rank score tag\n" + GOOD, "other-form", None),
    Malformed("columns swapped", GOOD + b"2 Q0 2 1.0 b t\n", "bad-score", 4),
    Malformed("hyphen rule", GOOD + b"- - - - - -\n", "bad-score", 4),
    Malformed("bad score in CRLF", b"1 Q0 a 1 3.5 t\r\n1 Q0 b 2 x t\r\n", "bad-score", 2),
    Malformed("bad score in gzip", _gzip(GOOD.replace(b"1.5", b"x")), "bad-score", 3),
]  # fmt: skip
DOUBLES = [
    Malformed("document again", GOOD + b"2 Q0 a 2 1.0 t\n", "duplicate-document", 4),
    Malformed("document again with its score", GOOD + b"1 Q0 a 9 3.5 t\n", "duplicate-document", 4),
    Malformed("document again after blanks", GOOD + b"\n\n1 Q0 b 3 1 t\n", "duplicate-document", 6),
    Malformed("file twice", GOOD + GOOD, "duplicate-document", 4),
    Malformed("document far away", LONG + b"2 Q0 a 302 -300 t\n", "duplicate-document", 303),
]
TOPICS = [
    Malformed("another collection", b"x Q0 a 1 3.5 t\n", "no-topic-known", None),
    Malformed("padded topics", b"01 Q0 a 1 3.5 t\n02 Q0 a 1 3.5 t\n", "no-topic-known", None),
    Malformed(
        "documents of another collection",
        GOOD.replace(b" a ", b" doc-x ").replace(b" b ", b" doc-y "),
        "nothing-judged",
        None,
    ),
    Malformed(
        "rank and score exchanged",
        b"1 Q0 a 3.5 1 t\n1 Q0 b 2.5 2 t\n2 Q0 a 1.5 1 t\n",
        "exchanged-columns",
        None,
    ),
    Malformed("named like a virtual run", GOOD.replace(b" t\n", b" @mean\n"), "virtual-name", None),
]
JUDGEMENTS = [
    Malformed("grade in words", QRELS + b"2 0 b high\n", "bad-grade", 4, "qrels"),
    Malformed("grade with a point", QRELS + b"2 0 b 1.0\n", "bad-grade", 4, "qrels"),
    Malformed("grade beyond measure", QRELS + b"2 0 b 99999999\n", "bad-grade", 4, "qrels"),
    Malformed("judged twice", QRELS + b"1 0 a 0\n", "conflicting-judgement", 4, "qrels"),
    Malformed("run for judgements", GOOD, "other-form", None, "qrels"),
    Malformed("no judgement", b"\n", "empty-file", None, "qrels"),
    Malformed("NUL in judgements", QRELS + b"2 0 b\0 1\n", "nul-byte", 4, "qrels"),
    Malformed("Latin-1 judgements", QRELS + b"2 0 \xe9 1\n", "encoding", 4, "qrels"),
]
_WIDE = b"run,1,2\nx,0.5,0.25\n"
_LONG = b"run,topic,measure,score\nx,1,AP,0.5\nx,2,AP,0.25\n"
_GDEVAL = b"runid,topic,ndcg@20,err@20\nt,1,0.5,0.25\nt,2,0.5,0.25\n"
_TREC_EVAL = b"map                   \t1\t0.5\nmap                   \t2\t0.25\n"
_IR_MEASURES = b"1\tAP\t0.5\n2\tAP\t0.25\n"
_JSON_LINES = b'{"query_id": "1", "measure": "AP", "value": 0.5}\n'
SCORE_FILES = [
    Malformed("wide, cell missing", _WIDE + b"y,0.5\n", "column-count", 3, "x.csv"),
    Malformed("wide, text", _WIDE + b"y,0.5,x\n", "bad-score", 3, "x.csv"),
    Malformed("wide, NaN", _WIDE + b"y,nan,0.5\n", "bad-score", 3, "x.csv"),
    Malformed("wide, run again", _WIDE + b"x,1,1\n", "duplicate-run", 3, "x.csv"),
    Malformed("wide, topic again", b"run,1,1\nx,0.5,0.25\n", "duplicate-topic", 1, "x.csv"),
    Malformed("wide, no name", _WIDE + b",1,1\n", "no-name", 3, "x.csv"),
    Malformed("wide, nothing below", b"run,1,2\n", "empty-file", None, "x.csv"),
    Malformed("wide, mean among the topics", b"run,1,mean\nx,0.5,0.5\n", "summary-topic", None,
              "x.csv"),
    Malformed("table of means", b"system,map,P_10\nx,0.5,0.5\n", "summary-topic", None, "x.csv"),
    Malformed("wide, an index of pandas", b"run,1,Unnamed: 0\nx,0.5,0\n", "index-column", None,
              "x.csv"),
    Malformed("wide, open quote", _WIDE + b'"y,1,1\n', "bad-csv", 3, "x.csv"),
    Malformed("wide, Latin-1", _WIDE + b"\xe9,1,1\n", "encoding", 3, "x.csv"),
    Malformed("long, score again", _LONG + b"x,1,AP,0.5\n", "duplicate-score", 4, "x.csv"),
    Malformed("long, the same measure", _LONG + b"x,1,map,0.5\n", "duplicate-score", 4, "x.csv"),
    Malformed("long, cell missing", _LONG + b"x,1,AP\n", "column-count", 4, "x.csv"),
    Malformed("long, text", _LONG + b"y,1,AP,x\n", "bad-score", 4, "x.csv"),
    Malformed("long, two topic columns", b"topic,qid,measure,score\n1,1,AP,0.5\n",
              "ambiguous-format", 1, "x.csv"),
    Malformed("gdeval, cell missing", _GDEVAL + b"t,3,0.5\n", "column-count", 4, "x.csv"),
    Malformed("gdeval, text", _GDEVAL + b"t,3,0.5,-\n", "bad-score", 4, "x.csv"),
    Malformed("gdeval, topic again", _GDEVAL + b"t,1,0.5,0.5\n", "duplicate-score", 4, "x.csv"),
    Malformed("gdeval, mean only", b"runid,topic,err@20\nt,amean,1\n", "empty-file", None, "x.csv"),
    Malformed("trec_eval, not a number", _TREC_EVAL + b"map\t3\t-nan\n", "bad-score", 3, "x.txt"),
    Malformed("trec_eval, topic again", _TREC_EVAL + b"map\t1\t0\n", "duplicate-score", 3, "x.txt"),
    Malformed("trec_eval, cut off", _TREC_EVAL + b"map\t3", "column-count", 3, "x.txt"),
    Malformed("trec_eval without -q", b"map\tall\t0.5\n", "other-kind", None, "x.txt"),
    Malformed("ir_measures, text", _IR_MEASURES + b"3\tAP\tx\n", "bad-score", 3, "x.txt"),
    Malformed("ir_measures, Latin-1", _IR_MEASURES + b"\xe9\tAP\t1\n", "encoding", 3, "x.txt"),
    Malformed("ir_measures or trec_eval", b"AP\tRR\t0.5\n", "ambiguous-format", None, "x.txt"),
    Malformed("JSON lines, cut off", _JSON_LINES + b'{"query_id": "2"', "bad-json", 2, "x.jsonl"),
    Malformed("JSON lines, text", _JSON_LINES.replace(b"0.5", b'"x"'), "bad-score", 1, "x.jsonl"),
    Malformed("JSON lines, again", _JSON_LINES * 2, "duplicate-score", 2, "x.jsonl"),
    Malformed("JSON, cut off", b'{"rows": [\n', "bad-json", 2, "x.json"),
    Malformed("JSON, something else", b'{"name": "x"}\n', "bad-json", None, "x.json"),
    Malformed("a row a topic, score missing", b"qid,faithfulness\n1,0.5\n2,\n", "no-score", 3,
              "x.csv"),
    Malformed("Parquet, cut off", b"PAR1....", "bad-parquet", None, "x.parquet"),
]  # fmt: skip
REFUSED = [
    *EMPTY, *PACKED, *COLUMNS, *BYTES, *SCORES, *DOUBLES, *TOPICS, *JUDGEMENTS, *SCORE_FILES,
]  # fmt: skip
"""What `score` refuses."""

_MANGLED = (
    '"b"', "b,", "b;", "caf\u00c3\u00a9", "b&amp;c", "1.23E+15", "12345.0", "clueweb09-en00...",
    "\ufffdb", "b\x1b", "\ufeffb", "None", "nan", "#NAME?",
)  # fmt: skip
DOUBTFUL = [
    Malformed("ranks turned round", b"1 Q0 a 2 3.5 t\n1 Q0 b 1 2.5 t\n2 Q0 a 1 1 t\n",
              "rank-order", 1),
    Malformed("scores that rise", b"1 Q0 a 1 2.5 t\n2 Q0 a 1 1 t\n1 Q0 b 2 3.5 t\n",
              "rank-order", 3),
    Malformed("distances for scores", b"1 Q0 a 1 0.5 t\n1 Q0 b 2 0.75 t\n2 Q0 a 1 1 t\n",
              "rank-order", 2),
    Malformed("rank again", GOOD + b"2 Q0 b 1 1.0 t\n", "duplicate-rank", 4),
    Malformed("rank in words", GOOD + b"2 Q0 b second 1.0 t\n", "bad-rank", 4),
    Malformed("rank with a point", GOOD + b"\n2 Q0 b 2.0 1.0 t\n", "bad-rank", 5),
    Malformed("rank in Latin-1", GOOD + b"2 Q0 b \xe9 1.0 t\n", "bad-rank", 4),
    Malformed("distances of all topics", b"1 Q0 a 1 0.5 t\n1 Q0 b 2 0.75 t\n2 Q0 b 1 1 t\n",
              "upside-down", None),
    Malformed("rank and score perhaps exchanged",
              b"1 Q0 a 9 1 t\n1 Q0 b 5 2 t\n2 Q0 a 7 1 t\n", "perhaps-exchanged", None),
    Malformed("a run named mean", _WIDE + b"mean,0.5,0.25\n", "summary-run", None, "x.csv"),
    Malformed("all scores equal", GOOD.replace(b"2.5", b"3.5"), "all-tied", None),
    Malformed("ties not ordered by rank", GOOD + b"2 Q0 b 2 1.5 t\n", "tie-order", None),
    Malformed("next to nothing judged", b"".join(
        b"1 Q0 d%d %d -%d t\n" % (i, i, i) for i in range(1, 31)) + b"1 Q0 a 31 -31 t\n",
        "hardly-judged", None),
    Malformed("a topic that is the mean", b"run,1,2,3,4,5,6,7\n" + b"".join(
        b"%c,0.1,0.2,0.3,0.4,0.5,0.%d,%.4f\n" % (run, i, (1.5 + i / 10) / 6)
        for run, i in zip(b"xyz", (1, 2, 4), strict=True)), "mean-topic", None, "x.csv"),
    Malformed("tie in single precision", GOOD + b"2 Q0 b 2 1.49999999 t\n",
              "single-precision-tie", 4),
    Malformed("scores beyond single precision",
              b"1 Q0 a 1 1e300 t\n1 Q0 b 2 1e299 t\n2 Q0 a 1 1 t\n", "single-precision-tie", 2),
    Malformed("topic missing", b"1 Q0 a 1 3.5 t\n", "missing-topic", None),
    Malformed("topic unknown", GOOD + b"3 Q0 a 1 1.0 t\n", "unknown-topic", 4),
    Malformed("two files joined", GOOD + b"\xef\xbb\xbf2 Q0 b 2 1.0 t\n", "unknown-topic", 4),
    Malformed("tag of another file", GOOD.replace(b" t\n", b" u\n"), "tag-name", 1),
    Malformed("two tags", GOOD + b"2 Q0 b 2 1.0 u\n", "mixed-tags", 4),
    Malformed("second column in lower case", GOOD + b"2 q0 b 2 1.0 t\n", "not-q0", 4),
    Malformed("second column in Latin-1", GOOD + b"2 \xe9 b 2 1.0 t\n", "not-q0", 4),
    Malformed("second column a zero", GOOD.replace(b"Q0", b"0"), "not-q0", 1),
    Malformed("1,001 documents", b"2 Q0 a 1 1e9 t\n" + b"".join(
        b"1 Q0 d%d %d -%d t\n" % (i, i, i) for i in range(1, 1002)), "too-many-documents", 1002),
    *(
        Malformed(f"docno {docno!a}", GOOD + f"2 Q0 {docno} 2 1.0 t\n".encode(), "mangled-docno", 4)
        for docno in _MANGLED
    ),
    Malformed("judged twice alike", QRELS + b"1 0 a 1\n", "repeated-judgement", None, "qrels"),
]  # fmt: skip
"""What `score` takes and `validate` warns of."""

if __name__ == "__main__":
    for case in (*REFUSED, *DOUBTFUL):
        case.write(Path(sys.argv[1]))
