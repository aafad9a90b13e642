"""A file's text: decompressed by content, whatever it is called, and never half of it."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import resource
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riskcli import InputError
from riskcli.trec import source
from riskcli.trec.qrels import read_qrels
from riskcli.trec.runs import read_run
from riskcli.trec.source import ARCHIVES, PIECE, TextFile
from tests.conftest import Write
from tests.helpers.trec_text import load

TEXT = b"".join(b"1 Q0 doc-%d %d %d.5 tag\n" % (i, i, -i) for i in range(200))
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}
MAGIC = {archive.name: archive.magic for archive in ARCHIVES}
Compress = Callable[[bytes], bytes]

compressed = pytest.mark.parametrize("compress", COMPRESSORS.values(), ids=COMPRESSORS.keys())


@pytest.mark.parametrize("name", ["run", "run.txt", "run.gz", "run.bz2", "run.xz", "a b.é"])
@pytest.mark.parametrize("compress", [bytes, *COMPRESSORS.values()], ids=["plain", *COMPRESSORS])
def test_content_decides_not_the_name(write: Write, name: str, compress: Compress) -> None:
    assert load(write(name, compress(TEXT))) == TEXT


@compressed
def test_archives_of_several_members_are_read_to_the_end(write: Write, compress: Compress) -> None:
    assert (
        load(write("run", compress(TEXT) + compress(b"") + compress(b"end\n"))) == TEXT + b"end\n"
    )


@pytest.mark.parametrize("compress", [bytes, *COMPRESSORS.values()], ids=["plain", *COMPRESSORS])
def test_a_byte_order_mark_is_removed_once(write: Write, compress: Compress) -> None:
    mark = b"\xef\xbb\xbf"
    assert load(write("run", compress(mark + TEXT))) == TEXT
    assert load(write("run", compress(mark + mark + TEXT))) == mark + TEXT


@pytest.mark.parametrize("compress", [bytes, *COMPRESSORS.values()], ids=["plain", *COMPRESSORS])
def test_an_empty_file_is_empty_text(write: Write, compress: Compress) -> None:
    assert load(write("run", compress(b""))) == b""


def zipped(text: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("run", text)
    return stream.getvalue()


FOREIGN: dict[str, tuple[bytes, str]] = {
    "zip": (zipped(TEXT), "this file holds an archive (zip, 7z, rar): unpack it first"),
    "utf-16-le": (b"\xff\xfe" + TEXT.decode().encode("utf-16-le"), "this file holds UTF-16 text"),
    "utf-16-be": (b"\xfe\xff" + TEXT.decode().encode("utf-16-be"), "this file holds UTF-16 text"),
}


@pytest.mark.parametrize(("content", "message"), FOREIGN.values(), ids=FOREIGN.keys())
@pytest.mark.parametrize("wrap", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_other_packings_are_refused_by_name(
    write: Write, content: bytes, message: str, wrap: Compress
) -> None:
    path = write("run", wrap(content))
    with pytest.raises(InputError) as caught:
        load(path)
    assert (caught.value.code, caught.value.path) == ("not-text", str(path))
    assert caught.value.message.startswith(message)


@compressed
@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, -1, -4])
def test_a_truncated_archive_is_never_half_read(
    write: Write, compress: Compress, kept: float
) -> None:
    whole = compress(TEXT)
    path = write("run", whole[: int(kept * len(whole)) if kept > 0 else int(kept)])
    with pytest.raises(InputError, match=r"damaged-archive: damaged (gzip|bzip2|xz) data"):
        load(path)


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
def test_a_truncated_second_member_is_never_dropped(write: Write, compress: Compress) -> None:
    with pytest.raises(InputError, match="damaged-archive"):
        load(write("run", compress(TEXT) + compress(TEXT)[:-6]))


@compressed
def test_a_flipped_byte_is_noticed(write: Write, compress: Compress) -> None:
    spoilt = bytearray(compress(TEXT))
    spoilt[len(spoilt) // 2] ^= 0xFF
    with pytest.raises(InputError, match="damaged-archive"):
        load(write("run", bytes(spoilt)))


@pytest.mark.parametrize("flipped", ["header", "body", "checksum"])
@compressed
def test_a_damaged_later_stream_is_never_dropped(
    write: Write, compress: Compress, flipped: str
) -> None:
    second = bytearray(compress(b"1 Q0 b 2 1 t\n"))
    place = {"header": 4, "body": len(second) // 2, "checksum": -9}[flipped]
    if flipped == "header" and second.startswith(b"\x1f\x8b"):
        place = 2  # the method: the bytes behind it hold a time, which is free
    second[place] ^= 1
    path = write("run", compress(b"1 Q0 a 1 2 t\n") + bytes(second))
    with pytest.raises(InputError, match="damaged-archive"):
        load(path)
    with pytest.raises(InputError, match="damaged-archive"):
        read_run(path)
    with pytest.raises(InputError, match="damaged-archive"):
        read_qrels(path)


@pytest.mark.parametrize("zeros", [4, 8, 400_000])
def test_padding_between_and_behind_xz_streams_is_allowed(write: Write, zeros: int) -> None:
    padding = bytes(zeros)
    archive = lzma.compress(TEXT) + padding + lzma.compress(b"end\n") + padding
    assert load(write("run", archive)) == TEXT + b"end\n"


@pytest.mark.parametrize("zeros", [1, 400_001])
def test_a_gzip_file_may_end_with_zeros(write: Write, zeros: int) -> None:
    assert load(write("run", gzip.compress(TEXT) + bytes(zeros))) == TEXT


BEHIND: dict[str, tuple[Compress, bytes]] = {
    "xz, odd padding": (lzma.compress, bytes(3)),
    "xz, odd padding between": (lzma.compress, bytes(5) + lzma.compress(TEXT)),
    "xz, text": (lzma.compress, b"1 Q0 a 1 2 t\n"),
    "xz, text behind padding": (lzma.compress, bytes(4) + b"text"),
    "xz, half a magic number": (lzma.compress, b"\xfd7zX"),
    "bzip2, zeros": (bz2.compress, bytes(4)),
    "bzip2, text": (bz2.compress, b"1 Q0 a 1 2 t\n"),
    "bzip2, half a magic number": (bz2.compress, b"BZ"),
    "gzip, text": (gzip.compress, b"1 Q0 a 1 2 t\n"),
    "gzip, a stream behind zeros": (gzip.compress, bytes(3) + gzip.compress(TEXT)),
    "gzip, one byte": (gzip.compress, b"\x1f"),
    "gzip, a stream of another kind": (gzip.compress, bz2.compress(TEXT)),
}


@pytest.mark.parametrize(("compress", "behind"), BEHIND.values(), ids=BEHIND.keys())
def test_nothing_else_may_stand_behind_a_stream(
    write: Write, compress: Compress, behind: bytes
) -> None:
    with pytest.raises(InputError, match="damaged-archive"):
        load(write("run", compress(TEXT) + behind))


def test_an_xz_stream_that_asks_for_too_much_memory_is_refused(write: Write) -> None:
    packed = bytearray(lzma.compress(TEXT))
    at = packed.index(b"\x21\x01") + 2  # the filter, the size of its property, then the dictionary
    packed[at] = 38
    packed[20:24] = zlib.crc32(packed[12:20]).to_bytes(4, "little")
    with pytest.raises(InputError, match=r"damaged-archive: .*[Mm]emory usage limit"):
        load(write("run", bytes(packed)))


@st.composite
def spoilt_archives(
    draw: st.DrawFn, compressors: dict[str, Compress] = COMPRESSORS
) -> tuple[str, bytes]:
    """One to five streams of one format, with some bytes flipped, cut out or put in."""
    name = draw(st.sampled_from(list(compressors)))
    texts = draw(st.lists(st.sampled_from([b"", b"1 Q0 a 1 2 t\n", TEXT]), min_size=1, max_size=5))
    padding = bytes(draw(st.sampled_from([0, 0, 0, 4, 5])))
    archive = bytearray(b"".join(compressors[name](text) + padding for text in texts))
    for _ in range(draw(st.integers(0, 2))):
        where = draw(st.integers(0, len(archive) - 1))
        match draw(st.sampled_from(["flip", "cut out", "cut off", "insert", "zeros"])):
            case "flip":
                archive[where] ^= 1 << draw(st.integers(0, 7))
            case "cut out":
                del archive[where : where + draw(st.integers(1, 20))]
            case "cut off":
                del archive[where:]
            case "insert":
                archive[where:where] = draw(st.binary(min_size=1, max_size=8))
            case _:
                archive += bytes(4)
        if not archive:
            break
    return name, bytes(archive)


def packed_by_tool(name: str, *options: str) -> Compress:
    """By the format's own program, which writes a checksum of the text unless it is told not to."""

    @cache
    def pack(text: bytes) -> bytes:
        tool = shutil.which(name) or pytest.skip(f"{name} is not installed")
        call = [tool, "-cq", *options]
        return subprocess.run(call, input=text, capture_output=True, check=True).stdout

    return pack


READ_BY_ARROW = {"zstd": packed_by_tool("zstd"), "LZ4": packed_by_tool("lz4")}
WITHOUT_CHECKSUM = {
    "zstd": packed_by_tool("zstd", "--no-check"),
    "LZ4": packed_by_tool("lz4", "--no-frame-crc"),
}
"""Nobody can see each flipped bit in these."""


@pytest.mark.slow
@pytest.mark.parametrize("name", READ_BY_ARROW)
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_spoilt_zstd_and_lz4_give_what_their_tool_gives_or_an_error(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    _, archive = data.draw(spoilt_archives({name: READ_BY_ARROW[name]}))
    path = tmp_path / "run"
    path.write_bytes(archive)
    try:
        text = load(path)
    except InputError as error:
        assert error.code in ("damaged-archive", "not-text")
        return
    if not archive.startswith(MAGIC[name]):
        assert text == archive
        return
    tool = str(shutil.which(name.lower()))
    told = subprocess.run([tool, "-dc"], input=archive, capture_output=True, check=False)
    assert (text, told.returncode) == (told.stdout, 0)


@pytest.mark.parametrize("name", READ_BY_ARROW)
@pytest.mark.parametrize("streams", [1, 2, 5])
def test_whole_zstd_and_lz4_streams_are_read_to_the_end(
    write: Write, name: str, streams: int
) -> None:
    pack = READ_BY_ARROW[name]
    packed = b"".join(pack(part) for part in (TEXT, b"", b"1 Q0 a 1 2 t\n", TEXT, b"")[:streams])
    text = b"".join((TEXT, b"", b"1 Q0 a 1 2 t\n", TEXT, b"")[:streams])
    assert load(write("run", packed)) == text


@pytest.mark.parametrize("name", WITHOUT_CHECKSUM)
def test_streams_without_a_checksum_are_whole_or_refused(write: Write, name: str) -> None:
    packed = WITHOUT_CHECKSUM[name](TEXT)
    assert load(write("run", packed * 2)) == TEXT * 2
    for end in [*range(len(MAGIC[name]), len(packed)), *range(len(packed) + 4, 2 * len(packed))]:
        with pytest.raises(InputError, match="damaged-archive"):
            load(write("run", (packed * 2)[:end]))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc/self/statm here")
@pytest.mark.parametrize("name", WITHOUT_CHECKSUM)
def test_a_damaged_stream_takes_no_memory_for_good(write: Write, name: str) -> None:
    """A hundred of them took 840 MB of address space: a piece for each."""
    path = write("run", WITHOUT_CHECKSUM[name](TEXT)[:-9])
    taken = []
    for _ in range(2):
        for _ in range(100):
            with pytest.raises(InputError, match="damaged-archive"):
                load(path)
        taken.append(int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize())
    assert taken[1] - taken[0] < 20 * PIECE


@pytest.mark.slow
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spoilt=spoilt_archives())
def test_spoilt_archives_give_what_the_reference_tool_gives_or_an_error(
    tmp_path: Path, spoilt: tuple[str, bytes]
) -> None:
    name, archive = spoilt
    tool = shutil.which(name) or pytest.skip(f"{name} is not installed")
    path = tmp_path / "run"
    path.write_bytes(archive)
    told = subprocess.run([tool, "-dc"], input=archive, capture_output=True, check=False)
    try:
        text = load(path)
    except InputError as error:
        assert error.code in ("damaged-archive", "not-text")
        assert told.returncode or told.stderr or len(archive) == 0, "the tool has no complaint"
        return
    if not archive.startswith(MAGIC[name]):
        assert text == archive  # not compressed at all, and no run either
        if archive:
            with pytest.raises(InputError):
                read_run(path)
        return
    assert (text, told.returncode) == (told.stdout, 0)


@compressed
def test_an_archive_that_expands_too_far_is_refused(write: Write, compress: Compress) -> None:
    path = write("run", compress(TEXT))
    assert load(path, max_bytes=len(TEXT)) == TEXT
    with pytest.raises(InputError) as caught:
        load(path, max_bytes=len(TEXT) - 1)
    assert caught.value.code == "too-large"
    assert f"{len(TEXT) - 1:,} bytes" in caught.value.message


@compressed
def test_an_archive_takes_no_more_memory_than_its_text(write: Write, compress: Compress) -> None:
    resource = pytest.importorskip("resource", reason="limits of memory are Unix's")
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from riskcli.trec.source import TextFile\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\n"
        "print(len(TextFile(Path(sys.argv[1])).text()))\n"
    )
    assert resource is not None
    call = [sys.executable, "-c", code, str(write("run", compress(TEXT)))]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{len(TEXT)}\n", "")


@pytest.mark.parametrize("compress", [bytes, *COMPRESSORS.values()], ids=["plain", *COMPRESSORS])
@pytest.mark.parametrize("size", [1, 100, 10_000, 2**20])
def test_pieces_are_whole_lines(
    write: Write, monkeypatch: pytest.MonkeyPatch, compress: Compress, size: int
) -> None:
    monkeypatch.setattr(source, "PIECE", size)
    opened = source.TextFile(write("run", compress(TEXT + b"the end")))
    pieces = list(opened.pieces())
    assert opened.start == pieces[0]
    assert b"".join(pieces) == TEXT + b"the end"
    assert all(piece.endswith(b"\n") for piece in pieces[:-1])
    assert (len(pieces) > 1) == (size < len(TEXT))
    assert opened.text_again() == TEXT + b"the end"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path / "absent")
    assert str(caught.value) == f"{tmp_path / 'absent'}: unreadable: No such file or directory"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    assert (caught.value.code, caught.value.message) == ("unreadable", "Is a directory")


@pytest.mark.parametrize("compress", [bytes, *COMPRESSORS.values()], ids=["plain", *COMPRESSORS])
@pytest.mark.parametrize("size", [1, 100, 10_000, 2**20])
def test_the_checksum_is_that_of_the_file_on_the_disk(
    write: Write, monkeypatch: pytest.MonkeyPatch, compress: Compress, size: int
) -> None:
    monkeypatch.setattr(source, "PIECE", size)
    for text in (TEXT, b"\xef\xbb\xbf" + TEXT, b""):
        content = compress(text)
        opened = TextFile(write("run", content), checksum=True)
        opened.text()
        assert opened.sha256 == hashlib.sha256(content).hexdigest()


def test_nobody_asked_for_a_checksum(write: Write) -> None:
    opened = TextFile(write("run", TEXT))
    assert (opened.text(), opened.sha256) == (TEXT, None)


def test_a_file_that_changes_before_it_is_read_anew_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "PIECE", 100)
    opened = TextFile(write("run", TEXT))
    assert opened.text() == opened.text_again() == TEXT
    write("run", TEXT + TEXT)
    with pytest.raises(InputError) as caught:
        opened.text_again()
    assert caught.value.code == "changed"


@pytest.mark.parametrize("kept", [0, 7, 20, 29])
@pytest.mark.parametrize("read", [1, 2, 3])
def test_a_file_that_is_cut_while_it_is_read_is_changed(
    write: Write, monkeypatch: pytest.MonkeyPatch, kept: int, read: int
) -> None:
    """At the end of a line, where what is left is a run, too."""
    lines = [f"1 Q0 d{number:02d} {number} {99 - number} tag\n" for number in range(30)]
    path = write("run", "".join(lines))
    monkeypatch.setattr(source, "PIECE", 100)
    pieces = TextFile(path).pieces()
    for _ in range(read):
        next(pieces)
    os.truncate(path, len("".join(lines[:kept])))
    with pytest.raises(InputError, match="changed"):
        list(pieces)


def test_a_packed_file_is_taken_to_hold_more_than_its_size(write: Write) -> None:
    text = b"1 Q0 d 1 2.5 tag\n" * 100
    plain, packed = write("a.run", text), write("b.run.gz", gzip.compress(text))
    assert TextFile(plain).likely_size == len(text)
    assert TextFile(packed).likely_size == source._UNPACKED * packed.stat().st_size
