"""The files that a call of the program reads: no output may take the place of one.

A file is known by its device and inode, whatever it is called, and a place elsewhere by its URL.
The list lasts for one call of the program. The library keeps none, since a notebook may well write
today what it read yesterday: there a result knows its own inputs (`Analysis.write`).
"""

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from riskcli.core.locations import Location
from riskcli.core.messages import UsageError

Identity = tuple[int, int] | str
_inputs: dict[Identity | None, Path] | None = None
"""Every input by its identity, as it was called; None in the library."""


def identity(file: Path | int) -> Identity | None:
    """What tells a file, or one that is open, from all others; None where it is no plain file."""
    if isinstance(file, Location):
        return str(file)
    try:
        status = os.stat(file)  # noqa: PTH116
    except (OSError, ValueError):  # ValueError: a NUL byte in the name
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


@contextmanager
def one_call() -> Iterator[None]:
    """A call of the program, with a list of its own; threads of the call share it."""
    global _inputs
    before, _inputs = _inputs, {}
    try:
        yield
    finally:
        _inputs = before


def note_input(*files: Path) -> None:
    """Whoever opens a file for reading, or finds that a result rests on it, says so here."""
    if _inputs is not None:
        for file in files:
            known = identity(file)
            if known is not None:
                _inputs.setdefault(known, file)


def not_inputs(files: Iterable[Path]) -> None:
    """These were looked at and passed over, as results of before in a folder of runs are."""
    inputs = {} if _inputs is None else _inputs
    for file in files:
        inputs.pop(identity(file), None)


def refuse_input(output: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse an output that is an input of this call, or one of `inputs`, under whatever name."""
    known = identity(output)
    if known is None:
        return
    named = next((path for path in inputs if identity(path) == known), None)
    named = (_inputs or {}).get(known, named)
    if named is not None:
        also = "" if str(named) == str(output) else f" (it is {named})"
        raise UsageError(
            f"{output} is one of the inputs{also}, which an output never replaces: name another "
            "file to write"
        )


def refuse_same(outputs: Iterable[Path | None]) -> None:
    """Refuse two outputs of one call to the same file, or both to stdout (None, or `-`)."""
    seen: set[Identity] = set()
    for output in outputs:
        file = None if str(output) == "-" else output
        if file is not None and file.exists() and identity(file) is None:
            continue  # /dev/null takes everything
        known = "" if file is None else identity(file) or os.path.realpath(file)
        if known in seen:
            raise UsageError(f"two outputs go to {file or 'stdout'}: give each a file of its own")
        seen.add(known)


def refuse_inputs_below(folder: Path, state: Collection[Path] = ()) -> None:
    """Refuse to replace a folder that holds an input, but for the files among `state`."""
    inputs = _inputs or {}
    for home, _, names in os.walk(folder) if inputs else ():
        for path in (Path(home, name) for name in names):
            if identity(path) in inputs and path not in state:
                raise UsageError(
                    f"{folder} would be replaced, and {path} is one of the inputs: name another "
                    "folder to write"
                )
