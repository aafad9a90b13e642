"""The columns of a risk table by name: those of machine formats, and those that people read.

People's tables have columns that machine formats have in parts, such as wins, ties and losses in
one; a name of either kind stands for what the format at hand makes of it.
"""

from collections.abc import Iterable, Sequence

from riskcli.analyses.blocks import Block
from riskcli.output.measure_words import columns, every_column
from riskcli.risk.measure import FIELDS
from riskcli.risk.measures import measures

RECORD = "wtl"
INTERVAL, RANK_INTERVAL = "_interval", "_ranks"
KEYS = ("run", "measure", "baseline", "population", "alpha", "topics", "group")
"""What says which numbers a row holds."""
_OF_BLOCKS = ("measure", "baseline", "alpha", "population", "group")
"""Those that tell the blocks of a table apart, the plainest first."""
_OF_THE_LOSSES = ("reward", "risk", "wins", "ties", "losses", "losses20")


def column_names() -> list[str]:
    """What `--columns` knows: every column of the machine formats, and those made of several."""
    return [*every_column(), *_parts()]


def _parts() -> dict[str, tuple[str, ...]]:
    """The columns that people's tables have in one, by the name of that."""
    declared = {(column.measure, column.field) for column in columns().values()}
    parts: dict[str, tuple[str, ...]] = {RECORD: ("wins", "ties", "losses")}
    for suffix, ends in ((INTERVAL, ("low", "high")), (RANK_INTERVAL, ("rank_low", "rank_high"))):
        for measure in measures():
            if (measure.id, ends[0]) in declared:
                names = tuple(FIELDS[end].name.format(id=measure.id) for end in ends)  # type: ignore[index]
                parts[measure.id + suffix] = names
    return parts


def for_machines(names: Iterable[str]) -> tuple[str, ...]:
    """The columns of machine formats that these stand for, in their order, none twice."""
    parts = _parts()
    return tuple(dict.fromkeys(part for name in names for part in parts.get(name, (name,))))


def depends_on_alpha(name: str) -> bool:
    """Whether a column is another at another alpha."""
    column = columns().get(name.removesuffix(INTERVAL).removesuffix(RANK_INTERVAL))
    if column is None or name in _OF_THE_LOSSES:
        return False
    return any(m.depends_on_alpha for m in measures() if m.id == column.measure)


def left_out(names: Sequence[str], blocks: Sequence[Block]) -> list[str]:
    """The keys without which rows of these columns cannot be told apart; none where they can."""
    asked = for_machines(names)
    if not asked:
        return []
    missing = ["run"] if "run" not in asked and any(len(b.runs) > 1 for b in blocks) else []
    told = [key for key in _OF_BLOCKS if key in asked]
    for key in _OF_BLOCKS:
        if _distinct(blocks, [*told, key]) > _distinct(blocks, told):
            told.append(key)
            missing.append(key)
    return missing


def _distinct(blocks: Sequence[Block], keys: Sequence[str]) -> int:
    return len({tuple(getattr(block, key) for key in keys) for block in blocks})
