"""The folder that a pack is: replaced as a whole, with a manifest of what is in it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riskcli.core.errors import InputError, UsageError
from riskcli.core.files import replaced_folder, write_part
from riskcli.core.notes import counted, listed
from riskcli.core.stopping import UNFINISHED

FORMAT = 1
MANIFEST = "manifest.json"
Checksums = Mapping[str, str]
"""The SHA-256 of each file, by its name in the pack."""


def checksums_of(contents: Mapping[str, bytes]) -> dict[str, str]:
    """The checksum of each file."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}


def pack_before(folder: Path) -> dict[str, str]:
    """The files that an earlier call has written there; none where nothing is there.

    A folder that holds anything else, or files that were changed since, is refused: what somebody
    has put there is not to be lost.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return {}
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file, expected a folder to write")
    if not (folder / MANIFEST).is_file():
        raise UsageError(
            f"{folder} holds something else ({MANIFEST} is missing): name a new folder"
        )
    stated = _stated(folder / MANIFEST)
    there = {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }
    strange = sorted(there.keys() - stated.keys() - {MANIFEST})
    found = checksums_of({name: there[name].read_bytes() for name in stated if name in there})
    changed = sorted(name for name in found if found[name] != stated[name])
    if strange or changed:
        said = [f"{counted(len(strange), 'file')} from elsewhere ({listed(strange)})"] * bool(
            strange
        )
        said += [f"{counted(len(changed), 'file')} changed since ({listed(changed)})"] * bool(
            changed
        )
        raise UsageError(
            f"{folder} holds {' and '.join(said)}, which would be lost: move them away"
        )
    return found


def _stated(manifest: Path) -> dict[str, str]:
    try:
        document = json.loads(manifest.read_text(encoding="utf-8"))
        version, files = document["riskeval_pack"], document["files"]
        stated = {str(name): str(sha256) for name, sha256 in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = "not the manifest that `riskeval organise` writes: name a new folder"
        raise InputError(manifest, "bad-manifest", message) from error
    if version != FORMAT:
        message = f"the pack has format {version!r}, expected {FORMAT}: name a new folder"
        raise InputError(manifest, "bad-manifest", message)
    return stated


def write_pack(
    folder: Path, contents: Mapping[str, bytes], about: Mapping[str, Any], before: Checksums
) -> int:
    """Put the pack in its place, as a whole; how many of its files are new or not as before.

    The others keep their times, so that what copies the pack elsewhere can pass over them.
    """
    checksums = checksums_of(contents)
    manifest = {"riskeval_pack": FORMAT, **about, "files": dict(sorted(checksums.items()))}
    new = [name for name in contents if before.get(name) != checksums[name]]
    with replaced_folder(folder) as part:
        for name, data in contents.items():
            if name in new:
                write_part(part / name, data)
            else:
                _keep(folder / name, part / name)
        write_part(part / MANIFEST, [json.dumps(manifest, indent=1, ensure_ascii=False), "\n"])
    return len(new)


def _keep(file: Path, part: Path) -> None:
    part.parent.mkdir(exist_ok=True)
    UNFINISHED.update((str(part.parent), str(part)))
    try:
        os.link(file, part)
    except OSError:  # a file system without links
        shutil.copy2(file, part)
