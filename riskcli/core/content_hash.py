"""The hash of its content that a document of riskeval carries, so that changes are noticed.

A document that was spelled anew (indented, sorted, 1.0 as 1) has the same content.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riskcli.core.messages import InputError

CONTENT_HASH = "content_sha256"
"""The member that states the hash."""
_MARK = "riskeval"
"""The member by which a document says that riskeval wrote it."""
_MINUS_ZERO = re.compile(r"(?<=[:\[,])-0\.0(?=[,\]}])")
_MEMBER = re.compile(f'"({_MARK}|{CONTENT_HASH})"\\s*:'.encode())


def content_sha256(content: Mapping[str, Any]) -> str:
    """The SHA-256 of all members but the hash itself, in one spelling (canonical JSON)."""
    members = {name: value for name, value in content.items() if name != CONTENT_HASH}
    text = json.dumps(members, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    if "-0.0" in text:  # which JavaScript spells 0
        text = _MINUS_ZERO.sub("0.0", text)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def parsed(text: str | bytes, **options: Any) -> Any:
    """JSON as the hash of a document has it: whole numbers are decimal ones."""
    return json.loads(text, parse_int=float, **options)


def with_hash(content: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a document, and behind the first of them the hash of all."""
    first, *others = content.items()
    return dict([first, (CONTENT_HASH, content_sha256(parsed(json.dumps(content)))), *others])


def text_with_hash(text: str) -> str:
    """The same of an indented document that is text already."""
    first, others = text.split(",\n", 1)
    return f'{first},\n  "{CONTENT_HASH}": "{content_sha256(parsed(text))}",\n{others}'


def may_have_hash(text: bytes) -> bool:
    """Whether a document can be one that states its hash, or should."""
    return _MEMBER.search(text) is not None


def should_have_hash(content: Mapping[str, Any]) -> bool:
    """Whether a document is riskeval's, or says so."""
    return _MARK in content or CONTENT_HASH in content


def check_hash(path: Path, stated: Mapping[str, Any], found: str, cure: str) -> None:
    """Refuse a document that is not what riskeval wrote, or that cannot show that it is."""
    if stated.get(CONTENT_HASH) == found:
        return
    if CONTENT_HASH in stated:
        message = "its content does not fit the hash that it carries: it was changed since"
    else:
        message = "riskeval wrote it, but it carries no hash of its content"
    raise InputError(path, "altered", f"{message}; {cure}")
