"""What a page compares: the comparison asked for, further baselines, and the other population."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from riskcli.analyses import human
from riskcli.analyses.base import Scores
from riskcli.analyses.score import ComparisonTable, risk_table
from riskcli.core.choices import PopulationRule, Precision
from riskcli.core.messages import UsageError, counted
from riskcli.core.version import __version__
from riskcli.effectiveness.ranking import rank
from riskcli.output.display import Display
from riskcli.output.escape import html, script_json, source_hash, visible
from riskcli.output.measure_words import about_logarithms, usual_measures, words_of
from riskcli.output.renderers import as_html
from riskcli.page.data import RunNotes, page_data
from riskcli.scores.comparisons import Options
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.teams import table_of_runs
from riskcli.trec.qrels import read_qrels
from riskcli.trec.runs import read_run


def plans(options: Options, further: Sequence[str], both_populations: bool) -> list[Options]:
    """What is compared: as asked for, with each further baseline, and in the other population."""
    kept = None if isinstance(options.population, str) else options.population
    plans = [options]
    plans += [
        replace(options, baselines=(name,), population=kept)
        for name in further
        if (name,) != options.wanted
    ]
    if not both_populations:
        return plans
    return [
        replace(plan, population=population) for plan in plans for population in _populations(plan)
    ]


def comparisons_of(
    table: ComparisonTable, scores: Scores, further: Sequence[str], both_populations: bool
) -> list[ComparisonTable]:
    """The tables to put into the page, the one asked for first."""
    return [
        table if plan == table.options else risk_table(scores, options=plan)
        for plan in plans(table.options, further, both_populations)
    ]


def _populations(plan: Options) -> tuple[PopulationRule | FrozenPopulation | None, ...]:
    """Both, the plan's own first; a virtual baseline has no population of its own.

    A frozen population stands alone: its figures are not put beside those of another.
    """
    if plan.population is not None and not isinstance(plan.population, str):
        raise UsageError("both-populations is for the runs given, not for a population from a file")
    if plan.wanted[0].startswith("@"):
        return (plan.population,)
    own = plan.population or ("baselines" if len(plan.wanted) > 1 else "all")
    return ("all", "baselines") if own == "all" else ("baselines", "all")


# What the page takes along on wish: names, teams and descriptions of runs, and the top documents
# of each run on each topic with their grades.


ABOUT_COLUMNS = ("run", "name", "team", "description")


def documents_of(
    evaluation: Evaluation, depth: int, precision: Precision = "single"
) -> dict[str, Any]:
    """The first `depth` documents of every ranking under the evaluation.

    By topic: its documents once, their grades (None: unjudged), and each run's as numbers.
    """
    runs = [entry for entry in evaluation.inputs if entry.kind == "run"]
    judged = [entry.path for entry in evaluation.inputs if entry.kind == "qrels"]
    if not runs or not judged:
        raise UsageError("documents can be taken along from runs and qrels only, not from scores")
    tops = {entry.run or "": rank(read_run(entry.path), depth, precision) for entry in runs}
    first, judgements = evaluation.matrices[0], read_qrels(judged[0]).judgements
    topics: dict[str, Any] = {}
    for topic in first.topics:
        rankings = [list(tops.get(run, {}).get(topic, ())) for run in first.runs]
        docnos = sorted({docno for ranking in rankings for docno in ranking})
        number = {docno: index for index, docno in enumerate(docnos)}
        grades = judgements.get(topic, {})
        topics[visible(topic)] = {
            "docnos": list(map(visible, docnos)),
            "grades": [grades.get(docno) for docno in docnos],
            "runs": [[number[docno] for docno in ranking] for ranking in rankings],
        }
    return {"depth": depth, "topics": topics}


def read_about(path: Path) -> RunNotes:
    """A CSV or TSV file with a header: `run`, and any of name, team, description."""
    rows = table_of_runs(path, ABOUT_COLUMNS[:1], ABOUT_COLUMNS)
    return {row.pop("run"): row for _, row in rows}


# The page as a document: its data, its scripts and its style in one file.
#
# Its formulas are a second implementation of those in `risk/`, in JavaScript, compared with the
# first on random matrices in a real browser (tests/page/test_document_model.py). What is not a
# formula (ids, titles, decimals, what depends on alpha) is read from the data. At the alphas of the
# table the page shows the table's own numbers; at other alphas it computes only what agrees with
# them, and names the rest.
#
# Style and script lie beside this module as files of their own. The page's Content-Security-Policy
# names them by their hashes and forbids all else: no request, no other script, no inline handler.
# All names reach the script as JSON, and the document as text.


SCRIPTS = (
    "statistics.js", "jackknife.js", "unjudged.js", "model.js", "answers.js", "draw.js",
    "figures.js", "pair.js", "ranked.js", "table.js", "sorted.js", "state.js", "take.js",
    "copying.js", "views.js", "sentences.js", "page.js",
)  # fmt: skip
STATIC_WIDTH = 120


@dataclass(frozen=True)
class Page:
    """What a page shows: scores, and the risk tables of their comparisons, the first one first."""

    title: str
    matrices: Sequence[ScoreMatrix]
    tables: Sequence[ComparisonTable]
    collection: str = ""
    date: str = ""
    about: RunNotes = field(default_factory=dict)
    """By run: a name to show, its team, a description."""
    documents: Mapping[str, Any] | None = None
    """The top of each run's rankings, where they are taken along."""
    further: Sequence[Display] = ()
    """Tables of another analysis of the same runs, below the leaderboard."""
    further_title: str = ""
    queries: Mapping[str, str] | None = None
    """What topics ask."""


def as_page(page: Page) -> str:
    """The page as one HTML document; the same inputs and settings give the same bytes."""
    style, script = _asset("page.css"), _script()
    data = page_data(page.matrices, page.tables, page.about, page.queries)
    if page.documents is not None:
        data["documents"] = page.documents
    parts = {
        "policy": _policy(style, script),
        "title": html(page.title),
        "style": style,
        "context": _context(page),
        "key": _key(matrix.measure for matrix in page.matrices),
        "further": _further(page),
        "about": _about(page.tables[0]),
        "static": as_html(replace(page.tables[0], by_group=()).displays(STATIC_WIDTH)),
        "data": script_json(compact(data)),
        "script": script,
    }
    return _filled(_asset("page.html"), parts)


def compact(data: Any) -> str:
    """JSON without blanks."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _asset(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _script() -> str:
    """All scripts as one, with no names in common with whatever surrounds the page."""
    body = "\n".join(map(_asset, SCRIPTS))
    return f'"use strict";\n(() => {{\n{body}\n}})();\n'


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{source_hash(style)}'; "
        f"script-src '{source_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _filled(template: str, parts: dict[str, str]) -> str:
    """The template with each `{{name}}` replaced; what is put in is not looked at again."""
    pieces = template.split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        filled += [parts[name], rest]
    return "".join(filled)


def _context(page: Page) -> str:
    """What was measured on what, when and by which version, in one line."""
    first = page.matrices[0]
    parts = [
        page.collection,
        ", ".join(matrix.measure for matrix in page.matrices),
        counted(len(first.topics), "topic"),
        counted(len(first.runs), "run"),
        page.date,
        f"riskeval {__version__}",
    ]
    return html(" · ".join(part for part in parts if part))


def _key(measures: Iterable[str]) -> str:
    """What the columns mean, from the measures' own declarations."""
    counts = (
        ("W/T/L", "Topics won, tied and lost against the baseline."),
        ("L>20%", "Topics that lose more than 20 % of the baseline's score."),
        ("Reward, Risk", "Mean gain and mean loss against the baseline, each over all topics."),
        (
            "# range",
            "The ranks by GeoRisk that a run has when each other run (or team) is left out of the "
            "population in turn. A run or team that is left out keeps its rank.",
        ),
    )
    described = [words_of(measure) for measure in usual_measures()]
    entries = [(words.title, words.definition) for words in described]
    logarithms = about_logarithms(measures)
    listed = "\n".join(
        f"<dt>{html(title)}</dt><dd>{html(text)}</dd>" for title, text in [*counts, *entries]
    )
    return f"<dl>\n{listed}\n</dl>" + "".join(map("\n<p>{}</p>".format, map(html, logarithms)))


def _section(name: str, title: str, tables: Sequence[Display]) -> str:
    """Tables that need no script; nothing of none."""
    if not tables:
        return ""
    return (
        f'<section class="notes" id="{name}">\n<h2>{html(title)}</h2>\n'
        f'<div class="wide">\n{as_html(tables)}</div>\n</section>\n'
    )


def _further(page: Page) -> str:
    """Groups of topics, at the first alpha, and the tables of another analysis."""
    first = page.tables[0]
    by_humans = human.tables(first.shown_blocks, first.options.significance)
    title = page.further_title or "Corrected by humans"
    groups = _section("groups", "Groups of topics", first.displays_by_group(STATIC_WIDTH))
    return groups + _section("further", title, [*by_humans, *page.further])


def _about(table: ComparisonTable) -> str:
    """Settings, warnings, and inputs with their checksums (on paper they are counted only)."""
    found = table.result().envelope()
    settings = "".join(
        f"<dt>{html(name)}</dt><dd>{html(_shown(value))}</dd>"
        for name, value in found["settings"].items()
        if value is not None
    )
    inputs = "".join(
        f'<tr><th scope="row">{html(entry["path"])}</th><td>{html(entry["kind"])}</td>'
        f"<td><code>{entry['sha256']}</code></td></tr>\n"
        for entry in found["inputs"]
    )
    warnings = "".join(f"<li>{html(entry['message'])}</li>\n" for entry in found["warnings"])
    return "\n".join(
        [
            f"<h3>Warnings</h3>\n<ul>{warnings}</ul>" if warnings else "",
            f"<h3>Settings</h3>\n<dl>{settings}</dl>",
            f"<h3>Inputs</h3>\n<p>{_counted_inputs(found['inputs'])}</p>",
            '<details class="checksums"><summary>Checksums</summary>'
            '<div class="wide"><table class="inputs">'
            '<thead><tr><th scope="col">file</th><th scope="col">kind</th>'
            '<th scope="col">SHA-256</th></tr></thead>\n'
            f"<tbody>{inputs}</tbody></table></div></details>",
            f"<p>riskeval {html(__version__)}</p>",
        ]
    )


def _counted_inputs(inputs: Sequence[Mapping[str, str]]) -> str:
    """How many files of which kind, and one checksum of all of theirs."""
    kinds = Counter(entry["kind"] for entry in inputs)
    listed = ", ".join(counted(count, f"{kind} file") for kind, count in kinds.items())
    all_of_them = "".join(sorted(entry["sha256"] for entry in inputs))
    digest = hashlib.sha256(all_of_them.encode()).hexdigest()
    return html(f"{listed}. SHA-256 of their sorted checksums: ") + f"<code>{digest}</code>"


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    return str(value)
