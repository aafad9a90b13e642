"""What the options that commands share ask for, as it stands on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from riskcli.core.choices import (
    Convention,
    Correction,
    Family,
    Loss,
    OnError,
    Pool,
    Precision,
    RunNames,
    Sending,
    Test,
    TopicRule,
)
from riskcli.core.messages import UsageError
from riskcli.trec.discovery import Folders


@dataclass(frozen=True)
class Files:
    """Which files to read, and how."""

    runs: tuple[Path, ...]
    judged: tuple[Path, ...]
    run_names: RunNames
    input_format: str | None
    max_bytes: int
    jobs: int | None
    quiet: bool
    recursive: bool
    include: tuple[str, ...]
    exclude: tuple[str, ...]

    @property
    def qrels(self) -> Path | None:
        """The judgements, where no more than one file of them can be used."""
        if len(self.judged) > 1:
            names = ", ".join(map(str, self.judged))
            raise UsageError(f"one file of judgements at a time here, found {names}")
        return self.judged[0] if self.judged else None

    @property
    def folders(self) -> Folders:
        """Which files of folders are taken."""
        return Folders(self.recursive, self.include, self.exclude)


@dataclass(frozen=True)
class AskedInputs(Files):
    """Which runs and judgements to read, and how scores are made of them."""

    measures: tuple[str, ...]
    topics: TopicRule
    only_topics: tuple[str, ...]
    max_grade: str
    score_precision: Precision
    on_error: OnError
    exit_zero: bool
    store: Path | None
    rehash: bool
    cluster: str | None
    send: Sending | None
    teams: Path | None = None
    team_of: str | None = None
    anonymise: Path | None = None

    @property
    def renames(self) -> bool:
        """Whether runs are put into teams or shown under other names."""
        return not (self.teams is None and self.team_of is None and self.anonymise is None)


@dataclass(frozen=True)
class AskedAgainst:
    """What runs are compared with, and how gains and losses count."""

    baselines: tuple[str, ...]
    alphas: tuple[tuple[float, ...], ...]
    alpha_hats: tuple[tuple[float, ...], ...]
    loss: Loss
    convention: Convention
    pool: Pool
    population: tuple[str, ...]
    gamma: float


@dataclass(frozen=True)
class AskedComparing(AskedAgainst):
    """What runs are compared with, and how it is tested."""

    test: Test
    correction: Correction
    family: Family
    swaps: int
    seed: int
