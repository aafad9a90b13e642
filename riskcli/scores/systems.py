"""Which runs are replicates of one system, and how many of each system are averaged."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from riskcli.core.messages import Note, UsageError, counted, listed, naturally, nearest
from riskcli.trec.names import refuse_virtual_names

PATTERN_MARK = "re:"
REPLICATES = "replicates"
"""The setting that says which runs are averaged."""
SystemsGiven = str | Mapping[str, str]
"""A pattern whose first group, else its whole match, names a run's system; or names by run."""


@dataclass(frozen=True)
class Systems:
    """The runs that each system is the mean of, systems and runs in natural order."""

    members: Mapping[str, tuple[str, ...]]
    by_run: Mapping[str, str]
    """The system of every run, averaged or left out."""

    @classmethod
    def of(cls, runs: Sequence[str], given: SystemsGiven) -> "Systems":
        """A run of no system is one of its own; those of several runs get equally many."""
        found = _listed(runs, given) if isinstance(given, Mapping) else _matched(runs, given)
        groups: dict[str, list[str]] = {}
        for run in naturally(runs):
            groups.setdefault(found.get(run) or run, []).append(run)
        refuse_virtual_names(groups.keys())
        for system, members in groups.items():
            if len(members) > 1 and system in runs and not found.get(system):
                raise UsageError(
                    f"{system!r} is a run of its own, and the system of "
                    f"{listed([run for run in members if run != system], 3)}: rename one of them"
                )
        by_run = {run: system for system, members in groups.items() for run in members}
        several = [len(members) for members in groups.values() if len(members) > 1]
        if not several:
            what = "the list of replicates" if found is given else f"the pattern {given!r}"
            made = [run if run == name else f"{run} → {name}" for run, name in by_run.items()]
            whose = f"of the {counted(len(runs), 'run')}: {listed(made)}"
            hint = "" if found is given else " (and no file has that name)"
            raise UsageError(f"{what}{hint} makes no system of two or more {whose}")
        least = min(several)
        return cls({name: tuple(groups[name][:least]) for name in naturally(groups)}, by_run)

    def record(self) -> tuple[dict[str, dict[str, list[str]]], list[Note]]:
        """For the provenance: what is averaged; what was left out, and which are one run."""
        several = {name: [*runs] for name, runs in self.members.items() if len(runs) > 1}
        averaged = {run for members in self.members.values() for run in members}
        left_out = [run for run in self.by_run if run not in averaged]
        alone = [name for name in self.members if name not in several]
        notes = []
        if left_out:
            number = max(map(len, several.values()))
            message = (
                f"systems have different numbers of replicates, and URisk, ZRisk and GeoRisk hang "
                f"on that: the first {number} of each are averaged; left out: "
            )
            notes.append(Note("replicates-left-out", message + listed(naturally(left_out), 10)))
        if alone:
            message = f"one run, taken as always giving the same: {listed(alone)}"
            notes.append(Note("one-replicate", message, warning=False))
        return {REPLICATES: several}, notes


def _listed(runs: Sequence[str], by_run: Mapping[str, str]) -> Mapping[str, str]:
    """Systems by run; refuse a run that is not there."""
    for run, system in by_run.items():
        if run not in runs:
            message = f"system {system!r} is given for {run!r}, but no run has that name"
            raise UsageError(message + nearest(run, runs))
    return by_run


def _matched(runs: Sequence[str], text: str) -> Mapping[str, str]:
    """Systems by run, of the runs that the pattern finds one for."""
    try:
        pattern = re.compile(text.removeprefix(PATTERN_MARK))
    except re.error as error:
        raise UsageError(f"the pattern of replicates {text!r} is wrong: {error}") from error
    matches = {run: match for run in runs if (match := pattern.search(run))}
    return {run: match[1 if pattern.groups else 0] for run, match in matches.items()}
