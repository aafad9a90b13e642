"""Files that hold scores already, a module a family of formats. `trec.scorefiles` is the door."""

INPUT_FORMATS = (
    "run",
    "csv",
    "tsv",
    "gdeval",
    "trec_eval",
    "ir_measures",
    "json",
    "jsonl",
    "parquet",
)
"""What a file given in place of RUNS can be; the first one holds no scores."""
