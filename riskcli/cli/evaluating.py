"""What the options about RUNS ask for: files read and scored, in teams, under the names to show."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from riskcli.cli.asked import AskedInputs
from riskcli.cli.progress import on_terminal
from riskcli.core.files import replace_file
from riskcli.core.messages import UsageError
from riskcli.core.parallel import keep_freed_memory
from riskcli.effectiveness.measures import split_names
from riskcli.scores.evaluation import Evaluation, evaluate, under_each
from riskcli.scores.matrix import topics_of_option
from riskcli.scores.reading import Rules
from riskcli.scores.teams import (
    TeamList,
    Teams,
    anonymised,
    read_key,
    read_teams,
    with_teams,
    without_team,
)

if TYPE_CHECKING:
    from riskcli.scores.remote import Workers
    from riskcli.scores.store import Store


def rules(inputs: AskedInputs) -> Rules:
    """How files are turned into scores."""
    return Rules(
        measures=tuple(split_names(inputs.measures)),
        topics=inputs.topics,
        only_topics=topics_of_option(inputs.only_topics),
        max_grade=None if inputs.max_grade == "auto" else int(inputs.max_grade),
        score_precision=inputs.score_precision,
        run_names=inputs.run_names,
        on_error=inputs.on_error,
        max_bytes=inputs.max_bytes,
        input_format=inputs.input_format,
    )


def evaluated(inputs: AskedInputs, baselines: Sequence[str], checksums: bool) -> Evaluation:
    """The scores of all runs."""
    keep_freed_memory()
    with _workers(inputs) as executor, on_terminal(inputs.quiet) as progress:
        found = [
            evaluate(
                inputs.runs,
                qrels=qrels,
                rules=rules(inputs),
                baselines=baselines,
                jobs=inputs.jobs,
                progress=progress,
                checksums=checksums,
                executor=executor,
                store=_store(inputs),
                folders=inputs.folders,
            )
            for qrels in inputs.judged or (None,)
        ]
    evaluation = found[0] if len(found) == 1 else under_each(inputs.judged, found)
    return _named(inputs, evaluation) if inputs.renames else evaluation


def _named(inputs: AskedInputs, evaluation: Evaluation) -> Evaluation:
    runs = list(dict.fromkeys(run for m in evaluation.matrices for run in m.runs))
    listed = read_teams(inputs.teams, runs) if inputs.teams else TeamList()
    by_run = Teams(listed.teams, inputs.team_of).found(runs)
    provenance = evaluation.provenance.adding(notes=without_team(runs, by_run))
    evaluation = with_teams(replace(evaluation, provenance=provenance), by_run, listed.names)
    if inputs.anonymise is None:
        return evaluation
    evaluation, key = anonymised(evaluation, read_key(inputs.anonymise))
    replace_file(inputs.anonymise, key.encode())
    return evaluation


def _store(inputs: AskedInputs) -> Store | None:
    """The store of scores, if one is named."""
    if inputs.store is None:
        if inputs.rehash:
            raise UsageError("--rehash belongs to --store")
        return None
    from riskcli.scores.store import Store  # late: most calls have no store

    return Store(inputs.store, inputs.rehash)


def _workers(inputs: AskedInputs) -> AbstractContextManager[Workers | None]:
    """The workers of a cluster, if one is named."""
    if inputs.cluster is None:
        if inputs.send is not None:
            raise UsageError("--send belongs to --cluster")
        return nullcontext()
    from riskcli.scores.dask import cluster  # late: most calls have no cluster

    return cluster(inputs.cluster, inputs.send or "paths")
