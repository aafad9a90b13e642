"""What writes a result, apart from what needs much: loaded when a format is rendered, not named."""

from riskcli.output.latex import as_latex
from riskcli.output.markup import as_html, as_markdown
from riskcli.output.rows import as_csv, as_json, as_jsonl, as_tsv, spreadsheet_safe

__all__ = [
    "as_csv",
    "as_html",
    "as_json",
    "as_jsonl",
    "as_latex",
    "as_markdown",
    "as_tsv",
    "spreadsheet_safe",
]
