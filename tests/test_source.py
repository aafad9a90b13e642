"""A file's text: decompressed by content, whatever it is called, and never half of it."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from riskcli import InputError
from riskcli.trec import source
from riskcli.trec.source import load, sha256
from tests.conftest import Write

TEXT = b"".join(b"1 Q0 doc-%d %d %d.5 tag\n" % (i, i, -i) for i in range(200))
COMPRESSORS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
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
    "zip": (zipped(TEXT), "this is a zip archive; unpack it first"),
    "zstd": (b"\x28\xb5\x2f\xfd rest", "this is zstandard-compressed; unpack it first"),
    "utf-16-le": (b"\xff\xfe" + TEXT.decode().encode("utf-16-le"), "this is UTF-16 text"),
    "utf-16-be": (b"\xfe\xff" + TEXT.decode().encode("utf-16-be"), "this is UTF-16 text"),
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
        "from riskcli.trec.source import load\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\n"
        "print(len(load(Path(sys.argv[1]))))\n"
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
    opened = source.Source(write("run", compress(TEXT + b"the end")))
    pieces = list(opened.pieces())
    assert opened.start == pieces[0]
    assert b"".join(pieces) == TEXT + b"the end"
    assert all(piece.endswith(b"\n") for piece in pieces[:-1])
    assert (len(pieces) > 1) == (size < len(TEXT))
    assert opened.text() == TEXT + b"the end"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path / "absent")
    assert str(caught.value) == f"{tmp_path / 'absent'}: unreadable: No such file or directory"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    assert (caught.value.code, caught.value.message) == ("unreadable", "Is a directory")


def test_the_checksum_is_that_of_the_file_on_the_disk(write: Write) -> None:
    archive = gzip.compress(TEXT)
    assert sha256(write("run.gz", archive)) == hashlib.sha256(archive).hexdigest()
