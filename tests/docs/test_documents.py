"""What README and docs show was really printed: every console example is run and compared."""

from __future__ import annotations

import doctest
import re
import shutil
from pathlib import Path

import pytest

from tests.helpers.console import ROOT, examples, lacks_data, on_terminal, scratch

pytestmark = pytest.mark.slow

LONG_NUMBER = re.compile(r"-?\d+\.\d{9,}(?:e-?\d+)?")
"""A number at full precision, whose last digit may differ between versions of numpy and scipy."""

FLAGS = re.MULTILINE | re.DOTALL
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_EXAMPLES = [
    pytest.param(document, id=str(document.relative_to(ROOT)))
    for document in DOCUMENTS
    if examples(document)
]


@pytest.mark.parametrize("document", WITH_EXAMPLES)
def test_examples_print_what_the_document_shows(document: Path) -> None:
    """One after the other, since some build on files that earlier ones made."""
    with scratch() as folder:
        for example in examples(document):
            if "jq " in example.command and shutil.which("jq") is None:
                continue
            if lacks_data(example.command):
                continue
            _, output = on_terminal(example.command, cwd=folder)
            expected = LONG_NUMBER.sub("N", example.output)
            assert LONG_NUMBER.sub("N", output) == expected, example.command
            shown, printed = (
                [float(number) for number in LONG_NUMBER.findall(text)]
                for text in (example.output, output)
            )
            assert printed == pytest.approx(shown, rel=1e-9)


def test_readme_has_examples() -> None:
    assert len(examples(ROOT / "README.md")) >= 4


def test_ci_calls_the_very_test_command_of_the_readme() -> None:
    commands = re.findall(r"```sh\n(.*)\n```", (ROOT / "README.md").read_text(encoding="utf-8"))
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert len(commands) == 2
    for command in commands:
        assert command in script


PYTHON = [
    pytest.param(document, id=str(document.relative_to(ROOT)))
    for document in DOCUMENTS
    if "```python" in document.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("document", PYTHON)
def test_python_examples_give_what_the_document_shows(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document's examples run one after the other, in a copy of the project's data."""
    if "import lightgbm" in document.read_text(encoding="utf-8"):
        pytest.importorskip("lightgbm", reason="needs the extra learn: LightGBM is absent")
    for name in ("sample_runs", "qrels"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"^```python\n(.*?)^```$", document.read_text(encoding="utf-8"), flags=FLAGS
    )
    session = doctest.DocTestParser().get_doctest(
        "\n".join(blocks), {}, str(document), str(document), 0
    )
    assert session.examples
    output: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(session, out=output.append)
    assert not output, "".join(output)
