"""What the options ask for: files read and scored, and the library's options.

Apart from the declarations, since this needs numpy and the readers, and help needs neither.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from riskcli.cli.progress import on_terminal
from riskcli.cli.types import alpha_of_hat
from riskcli.core.choices import PopulationRule, Sending, check_words, words
from riskcli.core.files import replace_file, sha256_of_file
from riskcli.core.inputs import identity
from riskcli.core.messages import Input, UsageError
from riskcli.core.parallel import keep_freed_memory
from riskcli.effectiveness.measures import split_names
from riskcli.risk.estimate import Significance
from riskcli.scores import teams
from riskcli.scores.comparisons import Options
from riskcli.scores.evaluation import Evaluation, evaluate
from riskcli.scores.frozen import FrozenPopulation, read_population
from riskcli.scores.judges import rules_of_each, under_each
from riskcli.scores.matrix import topics_of_option
from riskcli.scores.reading import Rules
from riskcli.trec.discovery import find_qrels
from riskcli.trec.names import named_place
from riskcli.trec.qrels import read_qrels

if TYPE_CHECKING:
    from riskcli.scores.remote import Workers
    from riskcli.scores.store import Store

Given = Any
"""The groups of options of `cli/reading.py` and `cli/options.py`, which call these functions."""

SEND_VARIABLE = "RISKEVAL_SEND"
"""What the environment asks to send to the workers of a cluster: paths or bytes."""


def _filled(kind: type[Any], given: object, **converted: Any) -> dict[str, Any]:
    """The fields of a library's options that options of the same name give."""
    same = {f.name: getattr(given, f.name) for f in fields(kind) if hasattr(given, f.name)}
    return {**same, **converted}


def rules(inputs: Given) -> Rules:
    """How files are turned into scores."""
    converted = {
        "measures": tuple(split_names(inputs.measures)),
        "only_topics": topics_of_option(inputs.only_topics),
        "max_grade": None if inputs.max_grade == "auto" else inputs.max_grade,
    }
    return Rules(**_filled(Rules, inputs, **converted))


def options_of(against: Given, swept: bool) -> Options:
    """The library's options; `swept` alphas belong to the linear loss."""
    if not swept and against.loss != "linear" and against.alphas:
        raise UsageError(f"--loss {against.loss} has no alpha: leave out --alpha or --loss")
    converted = {
        "population": chosen_population(against.population),
        "alphas": _alphas(against) or (1.0,),
        "significance": Significance(**_filled(Significance, against)),
    }
    return Options(**_filled(Options, against, **converted))


def _alphas(against: Given) -> tuple[float, ...]:
    """Each alpha asked for, once; under the minus convention what is asked for is 1 + alpha."""
    given = tuple(dict.fromkeys(alpha for group in against.alphas for alpha in group))
    if against.convention == "plain":
        return given
    for alpha_hat in given:
        if alpha_hat < 1:
            raise UsageError(
                f"--alpha is {alpha_hat:g}: under --convention {against.convention} it is how many "
                "times losses count, 1 or more: 1 + the alpha of the others"
            )
    return tuple(map(alpha_of_hat, given))


def chosen_population(given: Sequence[str]) -> PopulationRule | FrozenPopulation | None:
    """The rule that was named, or the population of a file."""
    chosen = tuple(dict.fromkeys(given))
    if len(chosen) > 1:
        raise UsageError(
            f"one population at a time, found {' and '.join(chosen)}: figures from different "
            "populations cannot be in one table"
        )
    if not chosen or chosen[0] in words(PopulationRule):
        return cast(PopulationRule, chosen[0]) if chosen else None
    if not Path(chosen[0]).is_file():
        known = ", ".join(words(PopulationRule))
        raise UsageError(f"--population is {chosen[0]!r}, expected {known}, or a file")
    return read_population(chosen[0])


def frozen_population(given: Sequence[str]) -> FrozenPopulation | None:
    """The population of a file, or None for that of the two runs that are compared."""
    chosen = chosen_population(given)
    if chosen == "all":
        raise UsageError(
            "two runs are compared whatever others there are: --population is baselines, or a file"
        )
    return chosen if isinstance(chosen, FrozenPopulation) else None


def options_of_pairs(
    baselines: tuple[str, ...], population: Sequence[str], alpha: float, gamma: float
) -> Options:
    """The library's options where pairs of runs are measured, each whatever others there are."""
    return Options(
        baselines=baselines,
        population=frozen_population(population),
        alphas=(alpha,),
        significance=Significance(gamma=gamma),
    )


def evaluated(inputs: Given, baselines: Sequence[str], checksums: bool) -> Evaluation:
    """The scores of all runs."""
    keep_freed_memory()
    score: Callable[..., Evaluation] = evaluate
    judged: Sequence[Any] = inputs.judged or (None,)
    by_each = [rules(inputs)]
    if len(judged) > 1:
        hashed = checksums or inputs.store is not None
        judged = [read_qrels(find_qrels(place, ())[0], hashed) for place in judged]
        by_each = rules_of_each(by_each[0], judged)
    if inputs.human is not None:
        from riskcli.scores.human import evaluate_corrected  # late: most calls have none

        score, judged = partial(evaluate_corrected, human=inputs.human), [inputs.qrels]
    with _workers(inputs) as executor, on_terminal(inputs.quiet) as progress:
        found = [
            score(
                inputs.runs,
                qrels=qrels,
                rules=own,
                baselines=baselines,
                jobs=inputs.jobs,
                progress=progress,
                checksums=checksums,
                executor=executor,
                store=_store(inputs),
                folders=inputs.folders,
            )
            for qrels, own in zip(judged, by_each, strict=True)
        ]
    evaluation = found[0] if len(found) == 1 else under_each(inputs.judged, found, inputs.measures)
    if inputs.replicates is not None:
        evaluation = of_systems(evaluation, inputs.replicates, checksums)
    evaluation = _labelled(inputs, evaluation)
    return _named(inputs, evaluation) if inputs.teams or inputs.anonymise else evaluation


def of_systems(evaluation: Evaluation, given: Path | str, checksums: bool) -> Evaluation:
    """Runs made into systems by a pattern, or by a file, which is then one of the inputs."""
    if not isinstance(given, Path):
        return evaluation.of_systems(given)
    made = evaluation.of_systems(teams.read_systems(given))
    return with_inputs(made, [given], "replicates", checksums)


def with_inputs(made: Evaluation, files: Sequence[Path], kind: str, hashed: bool) -> Evaluation:
    """The evaluation with more files that numbers rest on."""
    more = [Input(file, kind, sha256_of_file(file) if hashed else None) for file in files]
    return replace(made, provenance=replace(made.provenance, inputs=(*made.inputs, *more)))


def two_runs(inputs: Given, checksums: bool) -> tuple[Evaluation, str, str]:
    """The scores of two runs, each given by its place, and their names in that order."""
    places = [named_place(place)[1] for place in inputs.runs]
    if len(places) != 2:
        raise UsageError(f"diff compares two runs: name RUN and BASELINE, found {len(places)}")
    if len({identity(place) or str(place) for place in places}) == 1:
        raise UsageError(f"{places[0]} is RUN and BASELINE: name two files")
    evaluation = evaluated(inputs, (), checksums)
    names = []
    for place in places:
        found = [n for n, file in evaluation.files.items() if place in (file, *file.parents)]
        if not found:
            raise UsageError(f"diff compares documents: give the runs themselves, not {place}")
        if len(found) > 1:
            raise UsageError(f"diff compares two runs, {place} holds {len(found)}: name run files")
        names += found
    return evaluation, names[0], names[1]


def queries_in(file: Path | None, inputs: Given) -> dict[str, str] | None:
    """The texts of topics, if a file of them is named."""
    if file is None:
        return None
    from riskcli.trec.queries import read_queries  # late: most calls have none

    return read_queries(file, inputs.max_bytes)


def _labelled(inputs: Given, evaluation: Evaluation) -> Evaluation:
    """The evaluation with groups and weights of its topics, and the files that say them."""
    names = [name.strip() for given in inputs.group_by for name in given.split(",")]
    if names and inputs.groups is None:
        raise UsageError("--group-by names columns of --groups FILE: name that file, too")
    if inputs.groups is None and inputs.weights is None:
        return evaluation
    from riskcli.scores.topic_labels import read_labels  # late: most calls have none

    files, groups, weights, column = [], None, None, inputs.weights
    if inputs.groups is not None:
        files.append(read_labels(inputs.groups, names, max_bytes=inputs.max_bytes))
        groups = files[0].groups(names, column)
    if column is not None:
        if not (files and column in files[0].columns):
            files.append(read_labels(column, kind="weights", max_bytes=inputs.max_bytes))
        weights = files[-1].weights(column)
    labelled = evaluation.labelled(groups, weights)
    inputs_read = (*labelled.inputs, *(file.input for file in files))
    return replace(labelled, provenance=replace(labelled.provenance, inputs=inputs_read))


def _named(inputs: Given, evaluation: Evaluation) -> Evaluation:
    runs = list(dict.fromkeys(run for m in evaluation.matrices for run in m.runs))
    listed = teams.read_teams(inputs.teams_file, runs) if inputs.teams_file else teams.TeamList()
    by_run = teams.Teams(listed.teams, inputs.team_pattern).found(runs)
    provenance = evaluation.provenance.adding(notes=teams.without_team(runs, by_run))
    evaluation = teams.with_teams(replace(evaluation, provenance=provenance), by_run, listed.names)
    if inputs.anonymise is None:
        return evaluation
    evaluation, key = teams.anonymised(evaluation, teams.read_key(inputs.anonymise))
    replace_file(inputs.anonymise, key.encode())
    return evaluation


def _store(inputs: Given) -> "Store | None":
    """The store of scores, if one is named."""
    if inputs.store is None:
        return None
    from riskcli.scores.store import Store  # late: most calls have no store

    return Store(inputs.store, inputs.rehash)


def _workers(inputs: Given) -> "AbstractContextManager[Workers | None]":
    """The workers of a cluster, if one is named."""
    if inputs.cluster is None:
        return nullcontext()
    send = os.environ.get(SEND_VARIABLE) or "paths"
    check_words(**{SEND_VARIABLE: (send, Sending)})
    from riskcli.scores.dask import cluster  # late: most calls have no cluster

    return cluster(inputs.cluster, cast(Sending, send))
