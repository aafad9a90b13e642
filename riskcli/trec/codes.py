"""The stable codes of all errors and remarks about files: which are refused, what they mean."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Code:
    """A finding's code and its meaning. A file with an `error` is refused by every command."""

    name: str
    severity: Severity
    meaning: str


_ERRORS = {
    "not-found": "there is no such file",
    "unreadable": "the file cannot be read (its permissions, or an error of the system)",
    "damaged-archive": "compressed data that are truncated, damaged or followed by others",
    "too-large": "the file expands to more than max-bytes (a key of riskeval.toml)",
    "line-too-long": "a line of a run or of judgements that is longer than 8 MiB",
    "not-text": "an archive, UTF-16 text, or other binary data",
    "other-kind": "judgements, queries, a notebook, a log, means alone; skipped in folders",
    "other-form": "runs or scores in a form that is not read (a table, an HTML page, ...)",
    "empty-file": "nothing but blank lines",
    "column-count": "a line with too few or too many columns",
    "doubtful-comment": "a line that begins with # and has all columns of the format",
    "encoding": "a line that is not UTF-8 text",
    "nul-byte": "a line that holds a NUL byte",
    "bad-score": "a score that is not a finite decimal number (score files: or too large or small)",
    "no-score": "a topic without a score: a judge that failed, or an empty cell (a row a topic)",
    "duplicate-document": "a document that the topic has already",
    "bad-grade": "a grade that is not a whole number (qrels)",
    "conflicting-judgement": "a document judged twice, with different grades (qrels)",
    "nothing-judged": "a run of which the qrels judge no document, hardly by chance",
    "exchanged-columns": "a run whose rank and score columns are exchanged",
    "odd-name": "a topic or document whose name is neither text nor a whole number (Parquet)",
    "summary-topic": "a topic named like a measure or a summary (score files)",
    "index-column": "a topic that is an index of pandas (score files)",
    "no-topic-known": "a run that answers none of the qrels' topics",
    "shared-name": "two runs of one name",
    "no-tag": "a run whose lines carry different tags, where --run-names tag asks for one",
    "virtual-name": "a run named like a virtual baseline (@mean)",
    "ambiguous-format": "a score file that fits two formats, or has several measures (-m chooses)",
    "own-result": "a result of riskeval in place of runs or scores by topic; skipped in folders",
    "wrong-format": "a file that is not of the input-format given",
    "no-name": "a run, topic, document or measure whose name is empty",
    "bad-name": "a name with a NUL, half a character or a line end (learning: or a blank)",
    "duplicate-run": "a run that the file defines twice (score files)",
    "duplicate-topic": "a topic that the file defines twice (score files)",
    "duplicate-score": "a second score for one run, topic and measure (score files)",
    "bad-csv": "quotes that are not closed, or text behind them",
    "bad-json": "not the JSON or CBOR that was expected",
    "altered": "what riskeval wrote to be read again was changed since, or carries no hash",
    "bad-parquet": "not the Parquet that was expected",
}
ERRORS_OF_COMMANDS = {
    "no-ratchet": "the file of --ratchet is not one that it made",
    "changed": "a file that was changed while it was read",
    "empty-folder": "a folder without a run file",
    "bad-settings": "a malformed settings file",
    "cannot-write": "an output that cannot be written",
    "not-one-run": "a gate's baseline file that holds more than one run, or none",
    "other-settings": "a gate's baseline made with other settings than the candidates",
    "other-baseline": "a gate's baseline that is not the one which --baseline-sha256 names",
    "other-judgements": "a gate's file of scores made from other judgements than the rest",
    "other-measure": "a gate's baseline without scores by the candidates' measure",
    "other-topics": "a gate's baseline with other topics than the candidates",
    "store-format": "a store of scores that another version of riskeval has made",
    "bad-population": "a file that is not a population file, or an incomplete one",
    "changed-population": "a population file whose content does not fit its hash",
    "population-version": "a population file of another version of the format",
    "bad-manifest": "a manifest that riskeval organise did not write, or one of another version",
    "bad-queries": "a malformed file of queries, or a topic with two texts",
    "bad-teams": "a malformed file of teams, of replicates, of own baselines, or of names of runs",
    "bad-curve": "not a learning curve that riskeval train wrote",
    "bad-model": "not a model that riskeval train or LightGBM wrote",
    "bad-feature": "a feature that is not a number, or a table without features (learning)",
    "no-common-document": "a run or model without a document of the features (learning)",
    "same-name": "a gate's baseline named as one of the candidates",
    "bad-rule": "a line that is not a rule (files of check --require)",
}
"""What stops a command; it is nothing that `validate` could find in a file."""
_WARNINGS = {
    "rank-order": "a document with a higher score than one of a better rank",
    "duplicate-rank": "a rank that the topic has already",
    "bad-rank": "a rank that is not a whole number",
    "single-precision-tie": "scores that differ, but tie in single precision",
    "too-many-documents": "more documents for a topic than --max-docs",
    "missing-topic": "a topic of the qrels that the run does not answer",
    "unknown-topic": "a topic that the qrels do not have",
    "tag-name": "a tag that differs from the file's name",
    "mixed-tags": "lines that carry different tags",
    "not-q0": "a second column that is not Q0",
    "mangled-docno": "a document number that a program seems to have damaged",
    "hardly-judged": "a run with under 5 % of the judged documents that ranks 1 to 10 could hold",
    "all-tied": "a run with equal scores for all documents of a topic",
    "tie-order": "a run whose ties are in another order than its rank column",
    "upside-down": "a run whose scores rise with the rank",
    "perhaps-exchanged": "a run whose rank and score columns may be exchanged",
    "summary-run": "a run named like a summary (score files)",
    "mean-topic": "a topic that is the mean of the others (score files)",
    "above-one": "scores above 1 by a measure that has none (score files)",
    "same-ranking": "a run that ranks the same documents alike as another file",
    "near-same-ranking": "a run that ranks as another file does on all but a few topics",
    "same-scores": "a run that scores as another file does on every topic (nDCG@20)",
    "near-same-scores": "a run that scores as another file does on all but a few topics (nDCG@20)",
    "constant-scores": "a run with one and the same score on all topics (nDCG@20)",
    "repeated-judgement": "a document judged twice, with the same grade (qrels)",
}

CODES: dict[str, Code] = {
    **{
        name: Code(name, "error", meaning)
        for name, meaning in (_ERRORS | ERRORS_OF_COMMANDS).items()
    },
    **{name: Code(name, "warning", meaning) for name, meaning in _WARNINGS.items()},
}
