"""Files that hold scores already, a module a family of formats. `registry` is the door."""

INPUT_FORMATS = (
    "run",
    "rank_eval",
    "msearch",
    "run-json",
    "run-jsonl",
    "msmarco",
    "ranklib",
    "predictions",
    "run-parquet",
    "run-lz4",
    "csv",
    "tsv",
    "gdeval",
    "trec_eval",
    "ir_measures",
    "json",
    "jsonl",
    "parquet",
)
"""What a file among RUNS can be: runs of TREC or other programs, then files of scores."""
