"""`riskeval organise`: from a folder of submissions to all that is published and sent.

The folder is replaced as a whole, with a manifest of what is in it.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from riskcli.cli.option import Reach, Section, command, own_option
from riskcli.cli.options import Comparing, comparing_options, tell
from riskcli.cli.reading import Inputs, organising_options
from riskcli.cli.types import OUTPUT
from riskcli.core.content_hash import check_hash, content_sha256, parsed, with_hash
from riskcli.core.files import replaced_folder, write_part
from riskcli.core.messages import InputError, Note, UsageError, counted, listed
from riskcli.core.stopping import UNFINISHED
from riskcli.page import TITLE, refuse_what_the_page_lacks

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
        said = " and ".join(
            f"{counted(len(names), 'file')} {what} ({listed(names)})"
            for names, what in ((strange, "from elsewhere"), (changed, "changed since"))
            if names
        )
        raise UsageError(f"{folder} holds {said}, which would be lost: move them away")
    return found


def _stated(manifest: Path) -> dict[str, str]:
    try:
        text = manifest.read_text(encoding="utf-8")
        document = json.loads(text)
        version, files = document["riskeval_pack"], document["files"]
        stated = {str(name): str(sha256) for name, sha256 in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = "not the manifest that `riskeval organise` writes: name a new folder"
        raise InputError(manifest, "bad-manifest", message) from error
    if version != FORMAT:
        message = f"the pack has format {version!r}, expected {FORMAT}: name a new folder"
        raise InputError(manifest, "bad-manifest", message)
    check_hash(manifest, document, content_sha256(parsed(text)), "name a new folder")
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
    with replaced_folder(folder, state=[folder / "population.json"]) as part:
        for name, data in contents.items():
            if name in new:
                write_part(part / name, data)
            else:
                _keep(folder / name, part / name)
        write_part(
            part / MANIFEST, [json.dumps(with_hash(manifest), indent=1, ensure_ascii=False), "\n"]
        )
    return len(new)


def _keep(file: Path, part: Path) -> None:
    part.parent.mkdir(exist_ok=True)
    UNFINISHED.update((str(part.parent), str(part)))
    try:
        os.link(file, part)
    except OSError:  # a file system without links
        shutil.copy2(file, part)


@command(organising_options, comparing_options)
@own_option(
    "-o", "--output", required=True, type=OUTPUT, settings=Reach.OUTPUT, heading=Section.MOST_USED,
    help="The folder to write; an existing pack is replaced.",
)  # fmt: skip
@own_option("--title", default=TITLE, metavar="TEXT", settings=Reach.NOTHING)
@own_option(
    "--collection", default="", metavar="TEXT", settings=Reach.NOTHING, help="What was searched."
)
@own_option(
    "--date", default="", metavar="TEXT", settings=Reach.NOTHING, help="When, below the title."
)
def organise(
    inputs: Inputs, comparing: Comparing, output: Path, title: str, collection: str, date: str
) -> int:
    """From submissions to all that a track's organiser publishes and sends.

    Checks RUNS, leaves out what is broken and says which and why, freezes the population, scores,
    and writes a folder: the leaderboard page, tables in every format, score matrices, best, median
    and worst by topic, all findings, and a sheet for each team (or run without one). A second call
    reads only what is new; --population FOLDER/population.json leaves the figures of others
    unchanged. Exits with 1 where a file is left out.
    """
    refuse_what_the_page_lacks(
        comparing.loss, comparing.convention, comparing.test, comparing.family
    )
    if "baselines" in comparing.population:
        raise UsageError("a pack's population is all runs or a file, not the baselines")
    # Late: numpy and scipy are for those who compute.
    from riskcli.organise.pack import packed
    from riskcli.organise.submissions import checked

    folder = output.resolve()
    before = pack_before(folder)
    store = inputs.store or folder.parent / f".{folder.name}.store"
    submissions, inputs = checked(inputs, store), replace(inputs, store=store)
    pack = packed(inputs, comparing, submissions, (title, collection, date))
    contents = pack.contents()
    new = write_pack(folder, contents, pack.about(), before)
    files = f"{counted(len(contents), 'file')}, {new} of them new or changed"
    tell([*pack.table.notes, Note("pack", f"{output}: {files}", warning=False)], inputs.quiet)
    return inputs.exit_code(pack.table.skipped)
