"""Make the parts of the documentation that the program knows best.

`mkdocs build` calls the hooks at the end: they fill the pages of `PAGES` and add the schemas to the
site. docs/man_page.py puts the manual page into the wheel.

    python docs/generate.py FOLDER

writes all of them to a folder. None of them is kept in the repository.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from riskcli.cli.option import LazyGroup
from riskcli.cli.settings import settings_schema
from riskcli.commands import COMMANDS, load_command, riskeval
from riskcli.commands.glossary import columns_of, exit_codes, glossary_words
from riskcli.core.limits import COSTS, OTHERWISE, READING
from riskcli.effectiveness.measures import FAMILIES
from riskcli.output.measure_words import WILCOXON, column_of, columns, meaning_of, words_of
from riskcli.risk.measures import measures
from riskcli.trec.codes import CODES

MARK = "<!-- made by docs/generate.py when the site is built -->"
"""Where a page takes what is made."""
WIDTH = 96


def commands() -> str:
    """The help of every command."""
    parts = [f"```text\n{_help(riskeval, 'riskeval')}\n```\n"]
    for name in COMMANDS:
        command = load_command(name)
        shown = _help(command, f"riskeval {name}")
        parts.append(f"## {name}\n\n```text\n{shown}\n```\n")
        if isinstance(command, LazyGroup):
            parts += [_part_of(command, name, each) for each in command.summaries]
    return "\n".join(parts)


def _part_of(group: LazyGroup, name: str, each: str) -> str:
    command = group.get_command(click.Context(group), each)
    shown = _help(command, f"riskeval {name} {each}")
    return f"### {name} {each}\n\n```text\n{shown}\n```\n"


def _help(command: click.Command, name: str) -> str:
    context = click.Context(
        command,
        info_name=name,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    return command.get_help(context).rstrip()


def reference() -> str:
    """Measures, columns, effectiveness measures, exit codes, codes of problems, memory."""
    lines = ["## Risk measures", ""]
    for measure in measures():
        words = words_of(measure)
        source = f"Source: {words.source}. " if words.source else ""
        names = ", ".join(f"`{name}`" for name in columns_of(measure))
        lines += [
            f"### {words.title} (`{measure.id}`)", "",
            f"{words.summary[0].upper()}{words.summary[1:]}.", "",
            *([f"    {words.formula}", ""] if words.formula else []),
            *([words.reading, ""] if words.reading else []),
            f"{source}Columns: {names}.", "",
        ]  # fmt: skip
    lines += [
        "## Columns",
        "",
        "In the order of the machine formats. Empty or null: undefined.",
        "",
    ]
    lines += ["| column | kind | meaning |", "|:--|:--|:--|"]
    lines += [
        f"| `{c.name}` | {c.kind} | {_cell(meaning_of(c))} |"
        for c in (*columns().values(), column_of(WILCOXON))
    ]
    lines += [
        "",
        f"`{WILCOXON}` is computed where `--columns` names it.",
        "",
        "## Effectiveness measures",
        "",
    ]
    lines += ["| name | what | trec_eval's names |", "|:--|:--|:--|"]
    for family in FAMILIES:
        trec = ", ".join(f"`{name}`" for name in (family.plain, family.cut) if name) or "–"
        lines.append(f"| `{family.name}` | {_cell(family.summary)} | {trec} |")
    lines += ["", "## Exit codes", "", "| code | meaning |", "|--:|:--|"]
    lines += [f"| {code} | {meaning} |" for code, meaning in exit_codes().items()]
    lines += ["", "## Codes of problems", "", "| code | severity | meaning |", "|:--|:--|:--|"]
    lines += [f"| `{c.name}` | {c.severity} | {_cell(c.meaning)} |" for c in CODES.values()]
    return "\n".join([*lines, "", *_memory(), ""])


def _memory() -> list[str]:
    """What work and files are estimated to take."""
    lines = ["## Memory", "", "| work | base | a cell | a row | a pair |", "|:--|--:|--:|--:|--:|"]
    for name, work in COSTS.items():
        amounts = f"{work.cell:,} | {work.row:,} | {work.pair:,}"
        lines.append(f"| {name} | {work.base / 1e6:.0f} MB | {amounts} |")
    lines += ["", "| file | bytes for each byte |", "|:--|--:|"]
    lines += [f"| {name} | {rate} |" for name, rate in {**READING, "any other": OTHERWISE}.items()]
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def schema() -> str:
    """The JSON that `riskeval score -f json` writes, as a JSON Schema."""
    kinds: dict[str, dict[str, Any]] = {
        "name": {"type": "string"},
        "number": {"type": ["number", "null"]},
        "count": {"type": ["number", "null"], "minimum": 0},
        "p": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "flag": {"enum": ["better", "worse", ""]},
        "rank": {"type": ["integer", "null"], "minimum": 1},
    }
    properties = {
        column.name: {**kinds[column.kind], "description": meaning_of(column)}
        for column in columns().values()
    }
    text = {"type": "string"}
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "riskeval score -f json",
        "type": "object",
        "required": ["riskeval", "settings", "inputs", "warnings", "rows"],
        "properties": {
            "riskeval": {**text, "description": "version of the program"},
            "settings": {"type": "object", "description": "what the numbers depend on"},
            "verdicts": _list_of(
                {
                    "rule": text,
                    "text": text,
                    "about": text,
                    "runs": {"type": "array", "items": text},
                    "topics": {"type": "array", "items": text},
                    "numbers": {"type": "object"},
                }
            ),
            "inputs": _list_of({"path": text, "sha256": _checksum(), "kind": text}),
            "warnings": _list_of({"code": text, "message": text}),
            "skipped": _list_of(
                {"path": text, "line": {"type": ["integer", "null"]}, "code": text, "message": text}
            ),
            "rows": _list_of(properties),
        },
        "additionalProperties": False,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _checksum() -> dict[str, Any]:
    return {"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"}


def _list_of(properties: dict[str, Any]) -> dict[str, Any]:
    """An array of objects with exactly these members."""
    return {
        "type": "array",
        "items": {
            "type": "object",
            "required": list(properties),
            "properties": properties,
            "additionalProperties": False,
        },
    }


def settings() -> str:
    """What a settings file may hold, as a JSON Schema."""
    return settings_schema(map(load_command, COMMANDS))


def glossary() -> str:
    """Every word and sign that `riskeval help` explains."""
    lines = []
    for word in sorted(glossary_words(), key=lambda word: word.names[0].lower().strip("@⁻")):
        name, _, text = word.text.partition(": ")
        lines += [f"**{_prose(name)}**: {_prose(' '.join(text.split()))}", ""]
    return "\n".join(lines)


def _prose(text: str) -> str:
    """Text that Markdown takes for text."""
    return re.sub(r"([*_<>\[\]|])", r"\\\1", text)


def man() -> str:
    """The manual page: every command with all of its options."""
    root = click.Context(riskeval, info_name="riskeval", help_option_names=["-h", "--help"])
    lines = [
        '.TH RISKEVAL 1 "" "riskeval" "User Commands"',
        ".SH NAME", "riskeval \\- risk-sensitive evaluation of search systems",
        ".SH SYNOPSIS", ".B riskeval", "COMMAND [OPTIONS] [RUNS...]",
        ".SH DESCRIPTION", *_paragraphs(riskeval.help or ""), ".SH COMMANDS",
    ]  # fmt: skip
    for name in COMMANDS:
        command = load_command(name)
        lines += _manual(command, f"riskeval {name}", root)
        if isinstance(command, LazyGroup):
            inner = click.Context(command, info_name=name, parent=root)
            for each in command.summaries:
                part = command.get_command(inner, each)
                lines += _manual(part, f"riskeval {name} {each}", inner)
    lines += [".SH EXIT STATUS"]
    for code, meaning in exit_codes().items():
        lines += [".TP", f".B {code}", _roff(meaning)]
    lines += [".SH SEE ALSO", "riskeval help WORD explains every heading, sign, column and option."]
    return "\n".join([*lines, ""])


def _manual(command: click.Command, name: str, parent: click.Context) -> list[str]:
    context = click.Context(command, info_name=name.rpartition(" ")[2], parent=parent)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f".SS {_roff(f'{name} {usage}')}", *_paragraphs(command.help or "")]
    params = (*command.get_params(context), *getattr(command, "keys", ()))
    for option in (each for each in params if isinstance(each, click.Option)):
        record = option.get_help_record(context)
        if record is not None:
            lines += [".TP", f".B {_roff(record[0])}", _roff(" ".join(record[1].split()))]
    return lines


def _paragraphs(text: str) -> list[str]:
    parts = [" ".join(part.split()) for part in text.replace("\b", "").split("\n\n")]
    return [line for part in parts for line in (".PP", _roff(part))]


def _roff(text: str) -> str:
    """Text that roff takes for text, and dashes that can be copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands,
    "glossary.md": glossary,
    "reference.md": reference,
}
"""Pages of this folder, and what stands at their mark on the site."""
SCHEMAS: dict[str, Callable[[], str]] = {
    "riskeval.schema.json": schema,
    "settings.schema.json": settings,
}


def on_files(files: Any, config: Any) -> Any:
    """The hook of mkdocs that adds the schemas to the site."""
    from mkdocs.structure.files import File

    for name, make in SCHEMAS.items():
        files.append(File.generated(config, name, content=make()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The hook of mkdocs that fills the pages."""
    make = PAGES.get(page.file.src_uri)
    return markdown if make is None else markdown.replace(MARK, make())


def main(folder: Path) -> None:
    """Write all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in {**PAGES, **SCHEMAS, "riskeval.1": man}.items():
        (folder / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
