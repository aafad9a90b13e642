"""Groups of topics in the page: a section that needs no script, with harmless names."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES


def page(folder: Path, *arguments: str | Path) -> str:
    path = folder / "page.html"
    call = ("report", SAMPLES, "-q", QRELS, "-m", "ERR@20", "-b", "indriCASP")
    ran = riskeval(*call, *arguments, "-o", path)
    assert ran.code == 0, ran.err
    return path.read_text("utf-8")


def test_groups_have_a_section_with_harmless_names(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>\u202e"
    groups = {str(topic): hostile if topic % 2 else "even" for topic in range(101, 151)}
    file = tmp_path / "g.json"
    file.write_text(json.dumps(groups))
    text = page(tmp_path, "--groups", file)
    section = re.search(r'<section class="notes" id="groups">.*?</section>', text, re.DOTALL)
    assert section is not None
    assert "By group: " in section[0]
    assert "even (25)" in section[0]
    assert "&lt;script&gt;" in section[0]
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert text.count("By group: ERR@20, baseline indriCASP") == 1


def test_without_groups_there_is_no_section(tmp_path: Path) -> None:
    assert 'id="groups"' not in page(tmp_path)
