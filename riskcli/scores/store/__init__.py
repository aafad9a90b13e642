"""Scores that are kept: a run is read once in its life, under a key of what its scores depend on.

The folder of a store, format 1:

    riskeval-store.json       says that the folder is a store, and its format
    scores/KEY/SUM.parquet    scores of runs by one measure, one set of judgements and of rules
    looks/SUM.parquet         checksums of files that can be told by their size and times

KEY is a checksum of what the scores in it have in common, SUM that of the file's own bytes. Files
are only ever added or removed whole. `SCORES` and `LOOKS` document the columns.
"""
