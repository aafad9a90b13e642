"""Files and folders that are replaced as a whole: no reader ever sees half of one."""

import errno
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from riskcli.core.inputs import note_input, refuse_input, refuse_inputs_below
from riskcli.core.locations import RemotePath
from riskcli.core.messages import InputError, UsageError
from riskcli.core.stopping import UNFINISHED

_KEPT_OF_NAME = 50
PART = ".part"
"""The ending of a file that is still being written; its name begins with a dot."""


def as_text(name: str) -> str:
    """A file's name, or a text with one in it, as text that is UTF-8: other bytes spelled out."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


LIST_MARK = "@"
"""Before the name of a file that lists values of an option, one a line."""


def listed_in(path: Path, what: str) -> list[tuple[int, str]]:
    """The lines of a file that hold something but comments (#), by their numbers."""
    note_input(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InputError(path, "unreadable", why) from error
    entries = [
        (n, text) for n, line in enumerate(lines, 1) if (text := line.partition("#")[0].strip())
    ]
    if not entries:
        raise InputError(path, "empty-file", f"this file contains no {what}")
    return entries


def object_in(text: bytes | str) -> dict[str, Any]:
    """The members of a JSON object; none where the text is something else."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


GZIP = ".gz"
"""The ending of outputs that are compressed."""


def replace_file(path: Path, data: bytes, state: bool = False) -> None:
    """Write a file in the target's folder and rename it: readers see the old one or the new one.

    A device or a pipe is written to; it is nothing that could be replaced. An input of this call is
    refused, unless it is `state`: there to be read and replaced, as a kept baseline is.
    """
    if not state:
        refuse_input(path)
    if isinstance(path, RemotePath):
        path.replace_content(data)
        return
    try:
        target = path.resolve()
        if target.is_symlink():  # since Python 3.13 `resolve` returns a loop of links as it is
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if path.exists() and not path.is_file():  # what `resolve` makes of a pipe is no name
            with path.open("wb") as stream:
                stream.write(data)
        else:
            _replace(target, data)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(path, "cannot-write", why) from error


def _replace(target: Path, data: bytes) -> None:
    part = target.parent / f".{target.name[:_KEPT_OF_NAME]}.{os.urandom(4).hex()}{PART}"
    UNFINISHED.add(str(part))
    try:
        with part.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        part.chmod(_mode_of(target))
        part.replace(target)
    except FileExistsError:
        raise  # somebody else's
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    finally:
        UNFINISHED.discard(str(part))


@contextmanager
def replaced_folder(path: Path, state: Collection[Path] = ()) -> Iterator[Path]:
    """A folder to fill with `write_part`, which then takes the place of `path` as a whole.

    One that holds an input of this call is refused, unless that is `state` of the folder's own.
    """
    import shutil  # late: it loads all compression formats

    path.resolve().parent.mkdir(parents=True, exist_ok=True)
    part = path.resolve().parent / f".{path.name[:_KEPT_OF_NAME]}.{os.urandom(4).hex()}{PART}"
    UNFINISHED.add(str(part))
    try:
        part.mkdir()
        yield part
        if path.exists():
            refuse_inputs_below(path, state)
            old = part.with_suffix(".old")
            path.replace(old)
            part.replace(path)
            shutil.rmtree(old)
        else:
            part.replace(path)
    except OSError as error:
        raise InputError(path, "cannot-write", error.strerror or str(error)) from error
    finally:
        UNFINISHED.difference_update({name for name in UNFINISHED if name.startswith(str(part))})
        with suppress(OSError):
            shutil.rmtree(part)


def write_part(path: Path, pieces: Iterable[str] | bytes) -> None:
    """A file in a folder that is still being filled."""
    path.parent.mkdir(exist_ok=True)
    UNFINISHED.update((str(path.parent), str(path)))
    if isinstance(pieces, bytes):
        path.write_bytes(pieces)
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(pieces)


def _mode_of(target: Path) -> int:
    """The mode of the file that is replaced, or what a new file gets here."""
    with suppress(OSError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def refuse_outside(key: str, path: Path, folder: Path) -> None:
    """Refuse a file that settings name and that is git's, or not below the settings' folder."""
    try:
        real = path.resolve()
        below = real.is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # RuntimeError: a loop of links
        below = False
    if not below:
        raise UsageError(
            f"the settings here ask for {key} = {path}, which is not below "
            f"{'this folder' if folder == Path() else folder}; "
            f"give --{key} on the command line if that is meant"
        )
    if any(part.lower() == ".git" for part in real.parts):
        raise UsageError(
            f"the settings here ask for {key} = {path}: nothing is read or written below .git"
        )


def refuse_location(key: str, name: str) -> None:
    """Refuse a value of the settings that names a host or a collection rather than a file."""
    if "://" in name or name.partition("=")[2].startswith("irds:") or name.startswith("irds:"):
        raise UsageError(
            f"the settings here ask for {key} = {name}, which is no file below this folder; "
            f"give --{key} on the command line if that is meant"
        )


_OWN_BEGINNINGS = (
    b'{\n  "riskeval":',
    b"run,measure,baseline,population,alpha,topics,",
    b"run\tmeasure\tbaseline\tpopulation\talpha\ttopics\t",
    b'{"run": ',
    b"kind,name,shown\n",
    b'<figure class="riskeval">',
    b"<?xml version='1.0' encoding='UTF-8'?>\n<testsuites name=\"riskeval ",
)
"""How files begin that only riskeval writes."""


def refuse_foreign(key: str, path: Path) -> None:
    """Refuse an output of the settings that is a file which riskeval did not write.

    Folders are looked at by whoever fills them.
    """
    if os.path.lexists(path) and not path.is_dir() and not _is_own(path):
        raise UsageError(
            f"the settings here ask for {key} = {path}, which exists, and nothing in it says that "
            f"riskeval wrote it; give --{key} on the command line to replace it"
        )


def _is_own(path: Path) -> bool:
    """Whether a file says that this program wrote it; plain formats cannot say so."""
    try:
        with path.open("rb") as stream:
            start = stream.read(4096)
            stream.seek(max(0, path.stat().st_size - 2**16))
            end = stream.read()
    except OSError:
        return False
    return (
        start.startswith(_OWN_BEGINNINGS)
        or (start.startswith(b"PAR1") and b"riskeval" in end)
        or (b"sarif" in start and b'"name": "riskeval"' in start)
    )


def sha256_of_file(path: Path) -> str | None:
    """The checksum of a file's bytes; None where they cannot be read."""
    note_input(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
