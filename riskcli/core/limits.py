"""How much the program takes, and how much memory a piece of work needs."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from riskcli.core.messages import UsageError

MOST_JOBS = 1024
MOST_ALPHA = 1e9
"""Above it 1 + α leaves nothing of a gain beside a loss, and its powers leave the doubles."""
LEAST_SCORE, LARGEST_SCORE = 1e-302, 1e50
"""The sizes of effectiveness scores besides 0: RBP at p = 0.5 falls to 9e-302 in 1,000 ranks, and
the fourth powers of the largest are ordinary doubles."""
MOST_PAIRS = 1_000_000
"""Pairs of runs that one table compares: 1,414 runs."""
MOST_LISTED_PAIRS = 1_999_000
"""Pairs that `significance` and `sweep --over baseline` list, a row each: 2,000 runs."""


def refuse_many_pairs(runs: int, instead: str, most: int = MOST_PAIRS) -> int:
    """The pairs of runs; too many of them are refused, with what it would take."""
    pairs = runs * (runs - 1) // 2
    if pairs > most:
        gigabytes = pairs * COSTS["significance"].pair / 1e9
        raise UsageError(
            f"{runs:,} runs make {pairs:,} pairs, which would take about {gigabytes:.0f} GB; "
            f"at most {most:,} pairs are compared: {instead}"
        )
    return pairs


def is_score(value: float) -> bool:
    """Whether a finite number is an effectiveness score that can be computed with."""
    return value == 0 or LEAST_SCORE <= abs(value) <= LARGEST_SCORE


def score_expected(value: float | None) -> str:
    """What was expected in place of a value that is no score; None is what is no number."""
    if value is None or not isfinite(value):
        return "expected a finite number"
    return f"expected 0 or a size from {LEAST_SCORE:g} to {LARGEST_SCORE:g}"


# How much memory work takes, and whether this process can have it: asked before work begins.
#
# Each kind of work declares what it takes (`COSTS`): bytes for each cell (a run on a topic), each
# row of its table and each pair of runs, besides what the program takes anyway. The figures are
# rounded up from measurements (`benchmarks/memory.py`), and `docs/reliability.md` shows them.


if sys.platform != "win32":
    import resource

BASE = 110_000_000
"""The interpreter and the libraries."""
DRAWING = 190_000_000
"""The same, with what draws figures."""
PUBLISHING = 180_000_000
"""The same, with what writes all files of a pack."""
DRAWING_SPACE = 100_000_000_000
"""The address space that the engine that draws figures reserves, and aborts without."""
MEMORY = "RISKEVAL_MEMORY"
"""The environment variable that states how many bytes may be used, in place of what is found."""
_ROOT = Path("/")
_UNLIMITED = 2**60
"""Control groups say that there is no limit by a number that no machine reaches."""


@dataclass(frozen=True)
class MemoryCost:
    """What a kind of work takes: bytes a cell, a row and a pair of runs, above the base."""

    cell: int
    row: int = 0
    pair: int = 0
    base: int = BASE

    def bytes(self, cells: int, rows: int = 0, pairs: int = 0) -> int:
        """The estimate of the most that the process takes."""
        return self.base + self.cell * cells + self.row * rows + self.pair * pairs


COSTS: dict[str, MemoryCost] = {
    "score": MemoryCost(cell=120, row=5_000),
    "score against a virtual baseline": MemoryCost(cell=1_200, row=5_000),
    "topics": MemoryCost(cell=120, row=1_300),
    "significance": MemoryCost(cell=120, row=5_000, pair=1_000),
    "sweep": MemoryCost(cell=120, row=2_000, pair=3_000),
    "sweep --over baseline": MemoryCost(cell=120, pair=1_100),
    "sweep --over population": MemoryCost(cell=120, row=5_000, pair=32),
    "organise": MemoryCost(cell=600, row=60_000, base=PUBLISHING),
    "plot": MemoryCost(cell=300, base=DRAWING),
    "plot alpha": MemoryCost(cell=300, row=800_000, base=DRAWING),
    "plot heatmap": MemoryCost(cell=1_300, base=DRAWING),
}

READING = {
    "run": 4, "run to a cutoff": 1, "run of another program": 30, "qrels": 8, "csv": 14, "tsv": 14,
    "parquet": 30,
}  # fmt: skip
OTHERWISE = 40
"""Bytes for each byte of text, by the format of a file; what is not listed takes the most."""
IN_HAND = 60_000_000
"""What is worked on of each file at a time."""
_SMALL = 8_000_000
CELL, FEATURE_CELL = 180, 60
"""Bytes for each cell of Parquet, whose files may be as small as one likes: names and scores in
Python's hands, and features."""


def refuse_table(path: Path, rows: int, columns: int, each: int = CELL) -> None:
    """Refuse to read a table whose cells exceed the memory."""
    size = f"{rows:,} rows by {columns:,} columns"
    refuse_beyond(BASE + each * rows * columns, f"reading {path} ({size})")


def refuse_file(path: Path, kind: str, size: int, at_once: int) -> None:
    """Refuse to read a file whose text has `size` bytes if `at_once` of them exceed the memory."""
    if size > _SMALL:
        each = READING.get(kind, OTHERWISE) * size + IN_HAND
        refuse_beyond(BASE + at_once * each, f"reading {path} ({kind}, {size:,} bytes)")


def refuse_beyond(needed: int, work: str, root: Path = _ROOT) -> None:
    """Refuse work whose estimate exceeds what this process can have, with both figures."""
    available = _stated() if MEMORY in os.environ else obtainable(root)
    if available is not None and needed > available[0]:
        raise UsageError(
            f"out-of-memory: {work} would take about {_shown(needed)}; "
            f"{available[1].format(_shown(available[0]))} "
            f"(to go beyond this estimate: {MEMORY}=BYTES or unlimited)"
        )


def _stated() -> tuple[int, str] | None:
    """What the user says that there is; None: no limit. The system's own limits still hold."""
    value = os.environ[MEMORY]
    if value == "unlimited":
        return None
    if not value.isdecimal():
        raise UsageError(f"{MEMORY} is {value!r}, expected a number of bytes or unlimited")
    return int(value), f"{MEMORY} allows {{}}"


def obtainable(root: Path = _ROOT) -> tuple[int, str] | None:
    """(available bytes, message template), or None if unknown."""
    limits = [*_of_machine(root), *_of_groups(root), *_of_process(root)]
    return min(limits, default=None)


def address_space() -> int | None:
    """The limit that `ulimit -v` sets, None where there is none."""
    if sys.platform == "win32":  # which has no such limits
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _of_machine(root: Path) -> Iterator[tuple[int, str]]:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield _resident(root) + int(line.split()[1]) * 1024, "this machine has {}"


def _of_groups(root: Path) -> Iterator[tuple[int, str]]:
    """What the control groups of the process allow, in either version, with those above them."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, name = line.split(":", 2)
        if controllers not in _VERSIONS:
            continue
        top = root / "sys/fs/cgroup" / controllers
        group = top / name.strip("/")
        for folder in (group, *group.parents):
            if folder.is_relative_to(top):
                yield from _of_group(folder, *_VERSIONS[controllers], _resident(root))


_VERSIONS = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""What is called how in version 2 and in version 1: the limit, the use, what can be given up."""


def _of_group(
    folder: Path, limit: str, use: str, spare: str, resident: int
) -> Iterator[tuple[int, str]]:
    most, used = _number(folder / limit), _number(folder / use)
    if most is None or used is None or most >= _UNLIMITED:
        return
    counters = (line.split() for line in _lines(folder / "memory.stat"))
    free = next((int(fields[1]) for fields in counters if fields[0] == spare), 0)
    yield max(0, most - used + free) + resident, "the control group of this process has {}"


def _of_process(root: Path) -> Iterator[tuple[int, str]]:
    """Under a limit of address space: what is mapped and not used counts, too."""
    limit = address_space()
    mapped, resident = _statm(root)
    if limit is not None and resident:
        yield max(0, limit - mapped) + resident, "this process may have {} (ulimit -v)"


def _resident(root: Path) -> int:
    """What the process has now."""
    return _statm(root)[1]


def _statm(root: Path) -> tuple[int, int]:
    """The bytes that the process has mapped, and those that are in memory; 0 where unknown."""
    fields = " ".join(_lines(root / "proc/self/statm")).split()
    if len(fields) < 2:
        return 0, 0
    page = os.sysconf("SC_PAGE_SIZE")
    return int(fields[0]) * page, int(fields[1]) * page


def _number(path: Path) -> int | None:
    text = "".join(_lines(path)).strip()
    return int(text) if text.isdecimal() else None


def _lines(path: Path) -> list[str]:
    """The lines of a file of the system; none where there is no such file."""
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text().splitlines()
    return []


def _shown(size: int) -> str:
    return f"{size / 1e9:,.1f} GB"
