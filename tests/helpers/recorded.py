"""What a room said of awkward input, as it was recorded in a file beside its test.

`python -m tests.ROOM.test_recorded` records it anew; the difference is what a change explains.
"""

import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

AWKWARD = (
    b"", b" ", b"\t", b"\n", b"\r\n", b"#", b"0", b"-1", b"1.5", b"1e400", b"nan", b"1_0",
    b"99999999999999999999", b"x", b'"', b",", b"{", b"]", b"null", b"\xff", "é".encode(), b"\0",
)  # fmt: skip


def spoiled(text: bytes, times: int) -> Iterator[bytes]:
    """The text with, each time, one awkward thing in the place of a few of its bytes; or cut."""
    generator = random.Random(len(text))
    for _ in range(times):
        start = generator.randrange(len(text))
        end = start + generator.choice([0, 1, 1, 4])
        yield text[:start] + generator.choice(AWKWARD) + text[end:]
    lines = text.splitlines(keepends=True)
    for _ in range(times // 4):
        one, other = generator.randrange(len(lines)), generator.randrange(len(lines))
        yield b"".join([*lines[:one], lines[other], *lines[one:]])
    yield from (text[: len(text) // 2], text.replace(b"\n", b"\r\n"), text.replace(b"\n", b"\n\n"))


def read(test: str) -> dict[str, Any]:
    """What was recorded beside a test file."""
    return dict(json.loads(_beside(test).read_text(encoding="utf-8")))


def write(test: str, cases: Mapping[str, Any]) -> None:
    """Record this beside a test file, a line a case."""
    lines = [f"{json.dumps(name)}: {json.dumps(said)}" for name, said in cases.items()]
    _beside(test).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _beside(test: str) -> Path:
    return Path(test).with_name("recorded.json")
