"""What the page says of unjudged documents, and of the documents behind a difference."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riskcli.page.unjudged
from riskcli import Evaluation, Options, Rules, diff, evaluate, risk_table
from riskcli.analyses.query_texts import QueryTexts
from riskcli.analyses.unjudged import columns_of, ranges, statement
from riskcli.analyses.verdicts import called
from riskcli.core.choices import Unjudged
from riskcli.effectiveness.parts import parts
from riskcli.output.display import decimal
from riskcli.page.data import page_data
from riskcli.page.document import SCRIPTS, Page, as_page
from riskcli.risk.comparison import Comparison
from riskcli.scores.comparisons import comparisons
from riskcli.scores.matrix import ScoreMatrix
from riskcli.trec.queries import read_queries
from tests.helpers.browser import Tab, chromium, tab
from tests.helpers.console import ROOT
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES
from tests.helpers.shared_data import shared

pytestmark = pytest.mark.slow

BASELINES = ("indriCASP", "[ci]*", "@mean", "@max")
MODEL = (*SCRIPTS[: SCRIPTS.index("answers.js") + 1], "pair.js", "table.js", "ranked.js")
"""The scripts that do not look at the document before a function of theirs is called."""

PAIRS = """(text) => JSON.parse(text).measures.map((packed) => {
  const measure = new Measure({ riskMeasures: [] }, packed);
  const said = (comparison, other) => measure.runs.map(
    (_, row) => unjudgedSentence(comparison, row, other, measure.runs));
  return {
    own: measure.comparisons.map((each) => [each.baseline, said(each, each.own)]),
    against: measure.runs.map((_, other) => said(measure.comparisons.at(-1), other)),
  };
})"""
"""By comparison, and by any other run, the sentence on each run."""

PARTS = """(text) => {
  const data = JSON.parse(text);
  return data.measures.map((packed) => {
    const measure = new Measure({ riskMeasures: [] }, packed);
    return measure.runs.map((_, row) => measure.topics.map((topic, q) => {
      const { topics, depth } = data.documents;
      const both = sideBySide(topics[topic], [row, 0], measure, q, depth);
      const { parts, below } = partsByKind(both);
      return { parts, below, docs: eachOnce(both.lists).map(({ docno, part }) => [docno, part]) };
    }));
  });
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def model(browser: Any) -> Iterator[Tab]:
    with tab(browser) as page:
        for name in MODEL:
            source = (ROOT / "riskcli" / "page" / name).read_text(encoding="utf-8")
            page.page.add_script_tag(content=source)
        yield page
        assert page.messages == []


def web(rule: Unjudged, *names: str) -> Evaluation:
    """Real runs of which much is unjudged."""
    return evaluate(
        [shared("trec-web-2012", "runs")],
        qrels=shared("trec-web-2012", "qrels.txt.gz"),
        rules=Rules(names or ("nDCG@20",), unjudged=rule, run_names="file"),
    )


def samples(rule: Unjudged) -> Evaluation:
    return evaluate([SAMPLES], qrels=QRELS, rules=Rules(("ERR@20",), unjudged=rule))


def beside_scores(rule: Unjudged) -> Evaluation:
    """The real runs, of one of which only the scores are known."""
    (matrix,) = web(rule).matrices
    judging, run = matrix.judging, "indriCASP"
    assert judging is not None
    shares = {name: share for name, share in judging.by_run.items() if name != run}
    judging = replace(judging, by_run=shares)
    return replace(web(rule), matrices=(replace(matrix, judging=judging),))


def data_of(scores: Evaluation, *baselines: str) -> dict[str, Any]:
    tables = [risk_table(scores, name) for name in baselines]
    return page_data(scores.matrices, tables)


def sentences(matrix: ScoreMatrix, comparison: Comparison) -> list[str]:
    """What the program says of each run by itself; nothing of the baseline."""
    assert matrix.judging is not None
    name = comparison.baseline.name
    columns = columns_of(matrix, comparison, ranges(matrix, comparison, "mean"), 1.0)
    whom = called(name, len(comparison.baseline.members))
    said = [
        statement(columns, matrix.runs, [row], name, whom, matrix.judging, "")
        for row in range(len(matrix.runs))
    ]
    own = comparison.baseline.own_row
    return [each.text if each and row != own else "" for row, each in enumerate(said)]


def compared(matrix: ScoreMatrix, baseline: str) -> Comparison:
    return comparisons(matrix, Options(baselines=(baseline,)))[0]


# ---------------------------------------------------------------- in words


@pytest.mark.parametrize(
    ("scores", "rule"),
    [*product([web, samples], ["zero", "bounds", "condensed"]), (beside_scores, "zero")],
)
def test_the_page_says_what_the_program_says(model: Tab, scores: Any, rule: Unjudged) -> None:
    """Of every run against a run, a set and virtual ones; of every pair of runs without ranges."""
    evaluation = scores(rule)
    (matrix,) = evaluation.matrices
    (found,) = model.page.evaluate(PAIRS, json.dumps(data_of(evaluation, *BASELINES)))
    told = []
    for baseline, (name, said) in zip(BASELINES, found["own"], strict=True):
        comparison = compared(matrix, baseline)
        assert name == comparison.baseline.name
        expected = sentences(matrix, comparison)
        assert said == expected
        told += expected
    assert sum(map(bool, told)) > 0 and (scores is not samples or "" in told)
    if rule != "bounds":
        for run, said in zip(matrix.runs, found["against"], strict=True):
            assert said == sentences(matrix, compared(matrix, run))


def test_nothing_is_said_or_embedded_where_nothing_is_known(tmp_path: Path) -> None:
    """Of scores; and of runs without `bounds` no more than the shares."""
    table = tmp_path / "table.csv"
    table.write_text("run,t1,t2,t3\na,0.5,0.5,0.5\nb,1.0,0.4,0.4\n")
    known = {"judging", "judged", "ranges", "queries", "documents"}
    (measure,) = data_of(evaluate([table]), "a")["measures"]
    assert not known & {*measure, *measure["comparisons"][0]}
    data = data_of(samples("zero"), "indriCASP")
    (measure,) = data["measures"]
    assert "documents" not in data and "losses_certain" not in data["columns"]
    assert known & {*measure} == {"judging"} and {*measure["judging"]} == {"depth", "rule", "runs"}


# ---------------------------------------------------------------- what is shown


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    folder = shared("trec-web-2012")
    ran = riskeval(
        "report", folder / "runs", "-q", folder / "qrels.txt.gz", "--run-names", "file",
        "-m", "ERR@20", "-b", "indriCASP", "--also", "@mean", "-a", "1", "--unjudged", "bounds",
        "--queries", folder / "queries.txt", "-o", path,
    )  # fmt: skip
    assert (ran.code, ran.out) == (0, "")
    return path


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[Tab]:
    with tab(browser) as page:
        page.open(report)
        yield page
        assert page.messages == []


def texts(page: Tab, selector: str) -> list[str]:
    return list(page.page.locator(selector).all_text_contents())


def span(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "–"
    return f"[{decimal(low, 4)}, {decimal(high, 4)}]".replace("-", "−")


@pytest.mark.parametrize("baseline", ["indriCASP", "@mean"])
def test_ranges_are_those_of_score(opened: Tab, baseline: str) -> None:
    """At the alpha of the table, and at one that the page computes by itself."""
    folder = shared("trec-web-2012")
    ran = riskeval(
        "score", folder / "runs", "-q", folder / "qrels.txt.gz", "--run-names", "file", "-m",
        "ERR@20", "-b", baseline, "-a", "1,4", "--unjudged", "bounds", "-f", "json",
    )  # fmt: skip
    known = {(row["alpha"], row["run"]): row for row in json.loads(ran.out)["rows"]}
    opened.choose("baseline", baseline)
    assert "losses certain–possible" in texts(opened, "#board thead button")
    opened.click("#columns summary")
    for name in ("mean_diff_span", "urisk_span", "judged"):
        opened.click(f"#column-choice input[value={name}]")
    for alpha in (1.0, 4.0):
        opened.set_alpha(alpha)
        rows = [known[alpha, run] for run in opened.runs()]
        lost = texts(opened, "#board td[data-column=losses_range]")
        ends = [(row["losses_certain"], row["losses_possible"]) for row in rows]
        assert lost == ["–" if low is None else f"{low}–{high}" for low, high in ends]
        for name in ("mean_diff", "urisk"):
            shown = texts(opened, f"#board td[data-column={name}_span]")
            assert shown == [span(row[f"{name}_min"], row[f"{name}_max"]) for row in rows]
        shown = texts(opened, "#board td[data-column=judged]")
        assert shown == [f"{row['judged']:.2f}" for row in rows]
    judged = next(line for line in texts(opened, "#verdict p") if line.startswith("Nobody judged"))
    assert "; in the mean no run is sure to be above or below " in judged


def test_a_pair_shows_the_range_and_both_shares_of_each_topic(opened: Tab) -> None:
    (matrix,) = web("bounds", "ERR@20").matrices
    assert matrix.judging is not None
    allowed = ranges(matrix, compared(matrix, "indriCASP"), "mean")
    assert allowed is not None
    row, other = map(matrix.runs.index, ("indriCA", "indriCASP"))
    shares = matrix.judging.shares(("indriCA", "indriCASP"), matrix.topics).T
    opened.choose("one", "indriCA")
    opened.click("#all-topics th[data-column=q] button")
    low, high = allowed.low[row], allowed.high[row]
    expected = [
        decimal(a, 4).replace("-", "−") if decimal(a, 4) == decimal(b, 4) else span(a, b)
        for a, b in zip(low.tolist(), high.tolist(), strict=True)
    ]
    assert texts(opened, "#all-topics td[data-column=range]") == expected
    assert texts(opened, "#all-topics td[data-column=judged]") == [
        f"{100 * own:.0f} % / {100 * there:.0f} %" for own, there in shares
    ]
    said = opened.page.text_content("#pair-unjudged")
    certain, possible = int((high < -1e-12).sum()), int((low < -1e-12).sum())
    assert said.startswith("Nobody judged 62 % of indriCA and 25 % of indriCASP (first 20 docum")
    assert span(low.mean(), high.mean()) in said
    assert f"topics lost: {certain} for certain, {possible} at most." in said
    assert opened.page.locator("#topics .span").count() == int((low < high).sum())
    opened.choose("other", "indriCB")  # no baseline of the page: shares without ranges
    assert opened.page.locator("#all-topics td[data-column=range]").count() == 0
    assert "differences may be no more than that" in opened.page.text_content("#pair-unjudged")
    assert other == matrix.runs.index("indriCASP")


def test_what_topics_ask_stands_beside_them(opened: Tab) -> None:
    (matrix,) = web("zero", "ERR@20").matrices
    queries = QueryTexts.of(
        read_queries(shared("trec-web-2012", "queries.txt")), matrix.topics
    ).by_topic
    opened.click("#all-topics th[data-column=q] button")
    assert texts(opened, "#all-topics tbody th") == list(matrix.topics)
    shown = texts(opened, "#all-topics td[data-column=query]")
    assert shown == [queries[topic] for topic in matrix.topics]
    opened.click("#all-topics th[data-column=query] button")
    assert texts(opened, "#all-topics td[data-column=query]") == sorted(shown)
    marks = opened.page.locator("#topics .bar")
    names = [marks.nth(i).get_attribute("aria-label") for i in range(3)]
    assert all(f"topic {t} {queries[t]}:" in n for n in names for t in [n.split()[1]])


# ---------------------------------------------------------------- documents


SAID = """(text) => {
  const data = JSON.parse(text);
  const measure = new Measure({ riskMeasures: [] }, data.measures[0]);
  const [comparison] = measure.comparisons;
  const { judging, topics, queries } = measure;
  const row = measure.runs.indexOf("indriCA");
  return topics.map((topic, q) => {
    const named = namedTopic({ topic, query: queries[q] });
    const rows = [row, comparison.own];
    const both = sideBySide(data.documents.topics[topic], rows, measure, q, judging.cutoff);
    return documentSentence(named, both, rangeOn(comparison, ...rows, q), true);
  });
}"""


@pytest.mark.parametrize("measure", ["ERR@20", "P@10"])
def test_the_page_says_of_a_topic_what_diff_says(model: Tab, measure: str) -> None:
    scores, queries = web("bounds", measure), read_queries(shared("trec-web-2012", "queries.txt"))
    tables, topics = [risk_table(scores, "indriCASP")], scores.matrices[0].topics
    data = page_data(scores.matrices, tables, queries=queries)
    compared = diff(scores, "indriCASP", run="indriCA", topic=topics, queries=queries)
    about = [f"{measure}, baseline indriCASP, topic {topic}" for topic in topics]
    expected = [" ".join(compared.verdict.of(each).sentences) for each in about]
    assert model.page.evaluate(SAID, json.dumps(data)) == expected
    assert len(set(expected)) == len(topics) == 50


@pytest.mark.parametrize("measure", ["ERR@20", "nDCG@20", "P@10", "RBP(p=0.8)"])
def test_the_parts_of_documents_add_up_to_the_difference(model: Tab, measure: str) -> None:
    scores = web("bounds", measure)
    (matrix,) = scores.matrices
    judging = matrix.judging
    assert judging is not None and judging.documents is not None
    data = data_of(scores, "indriCASP")
    (found,) = model.page.evaluate(PARTS, json.dumps(data))
    delta = matrix.values - matrix.values[0]
    kinds = np.array([[topic["parts"] for topic in run] for run in found])
    deep = measure.startswith("RBP")  # it has no end
    np.testing.assert_allclose(kinds.sum(axis=2), delta, atol=0.15 if deep else 1e-6)
    below = np.array([[topic["below"] for topic in run] for run in found])
    np.testing.assert_allclose(kinds.sum(axis=2) + below, delta, atol=1e-12)
    by_run = [_parts_of(matrix, run) for run in (3, 0)]
    for column in range(len(matrix.topics)):
        own, other = (each[column] for each in by_run)
        expected = {doc: own.get(doc, 0) - other.get(doc, 0) for doc in {**own, **other}}
        assert dict(found[3][column]["docs"]) == pytest.approx(expected, abs=1e-6)


def _parts_of(matrix: ScoreMatrix, row: int) -> list[dict[str, float]]:
    """By topic what each of the first documents of a run adds to its score."""
    judging = matrix.judging
    assert judging is not None and judging.documents is not None
    documents, run = judging.documents, matrix.runs[row]
    depth = judging.depth
    ranked = documents.ranked(run, matrix.topics, judging.measure.cutoff)
    own = parts(judging.measure, ranked, documents.levels(matrix.topics))
    assert own is not None
    names = [[doc for doc, _ in documents.ranking(run, t)[:depth]] for t in matrix.topics]
    return [
        dict(zip(docs, some.tolist(), strict=False)) for docs, some in zip(names, own, strict=True)
    ]


def test_a_topic_leads_to_both_rankings(opened: Tab) -> None:
    """What `riskeval diff` says of the topic, and each document with grade, move and part."""
    (matrix,) = web("bounds", "ERR@20").matrices
    assert matrix.judging is not None and matrix.judging.documents is not None
    documents = matrix.judging.documents
    opened.choose("one", "indriCA")
    opened.page.locator("#all-topics tbody button", has_text="171").click()
    opened.settle()
    assert opened.page.text_content("#moves") == (
        "171 ron howard: 0.174 to 0.051; documents: 19 lost (-0.111), 19 new (+0.031) and 1 in "
        "both (-0.043). Whatever the grades of the 17 unjudged documents, the difference lies in "
        "[-0.155, +0.094]."
    )
    tables, total = opened.page.locator("#documents table"), 0.0
    rankings = [dict(documents.ranking(run, "171")[:20]) for run in ("indriCA", "indriCASP")]
    for side, ranking in enumerate(rankings):
        rows = [
            tables.nth(side).locator("tbody tr").nth(i).locator("th, td").all_text_contents()
            for i in range(20)
        ]
        grades = ["–" if grade is None else str(grade) for grade in ranking.values()]
        assert [row[:3] for row in rows] == [
            [str(i + 1), doc, grade]
            for i, (doc, grade) in enumerate(zip(ranking, grades, strict=True))
        ]
        alone = [
            "lost" if side else "new" if doc not in rankings[1 - side] else "" for doc in ranking
        ]
        moved = ["↓2" if doc in rankings[1 - side] else kind
                 for doc, kind in zip(ranking, alone, strict=True)]  # fmt: skip
        assert [row[3] for row in rows] == moved
        total += sum(float(row[4].replace("−", "-") or 0) for row in rows)
    own, other = map(matrix.runs.index, ("indriCA", "indriCASP"))
    column = matrix.topics.index("171")
    assert total == pytest.approx(
        matrix.values[own, column] - matrix.values[other, column], abs=1e-3
    )


def test_what_is_too_large_for_a_page_is_left_out_and_said(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    call = ("report", SAMPLES, "-b", "indriCASP", "-m", "ERR@20", "--unjudged", "bounds")
    monkeypatch.setattr(riskcli.page.unjudged, "MOST_RANGES", 9_000)
    monkeypatch.setattr(riskcli.page.unjudged, "MOST_DOCUMENTS", 9_000)
    ran = riskeval(*call, "-o", path)
    assert ran.code == 0
    assert (
        "the page is without the ranges of topics, which would take 0.0 MB (at most 0.009)"
        in ran.err
    )
    assert "the page is without the documents behind a difference, which would take" in ran.err
    with tab(browser) as page:
        page.open(path)
        assert page.page.locator("#board td[data-column=losses_range]").count() == 9
        page.choose("one", "oldTFIDF")
        assert page.page.locator("#all-topics td[data-column=range]").count() == 0
        page.page.locator("#all-topics tbody button").first.click()
        page.settle()
        assert not page.page.is_visible("#documents")
        page.set_alpha(4)
        page.click("#columns summary")
        page.click("#column-choice input[value=urisk_span]")
        assert set(texts(page, "#board td[data-column=urisk_span]")) == {"–"}
        assert page.messages == []


def test_rankings_reach_as_deep_as_the_measure_looks(browser: Any, tmp_path: Path) -> None:
    """To its cutoff, whatever the others are; without one so many that the rest is told."""
    scores = samples_by("AP", "Rprec", "P@5")
    table = risk_table(scores, "indriCASP")
    path = tmp_path / "report.html"
    path.write_text(as_page(Page("deep", scores.matrices, [table])), encoding="utf-8")
    with tab(browser) as page:
        page.open(path)
        page.page.locator("#all-topics tbody button").first.click()
        page.settle()
        assert page.page.locator("#documents tbody tr").count() == 40
        said = page.page.text_content("#moves")
        assert "; those below: " in said and "grades of the unjudged documents, the" in said
        assert texts(page, "#documents th[scope=col]").count("part") == 2
        page.choose("measure", "Rprec")
        assert texts(page, "#documents th[scope=col]").count("part") == 0
        assert page.page.locator("#documents tbody tr").count() == 40
        page.choose("measure", "P@5")
        assert page.page.locator("#documents tbody tr").count() == 10
        assert page.page.text_content("#documents-heading").endswith(": the first 5 documents")
        assert "below" not in page.page.text_content("#moves")
        assert page.messages == []


def samples_by(*names: str) -> Evaluation:
    return evaluate([SAMPLES], qrels=QRELS, rules=Rules(names, unjudged="bounds"))


# ---------------------------------------------------------------- safety, room, readers


HOSTILE = (
    "<script>window.broken=1</script>", "<img/src=x/onerror=window.broken=2>", "__proto__",
    "</script><script>window.broken=3</script>", "{{data}}", "<!--", "\u202eevil",
)  # fmt: skip


def test_hostile_queries_and_documents_are_shown_and_do_nothing(
    browser: Any, tmp_path: Path
) -> None:
    def lines(names: Sequence[str]) -> str:
        return "".join(
            f"{t} Q0 {doc} {i + 1} {9 - i} x\n" for t in HOSTILE for i, doc in enumerate(names)
        )

    for name, docs in (("a", HOSTILE), ("b", HOSTILE[::-1])):
        (tmp_path / f"{name}.run").write_text(lines(docs), encoding="utf-8")
    qrels, queries = tmp_path / "q.qrels", tmp_path / "queries.jsonl"
    qrels.write_text("".join(f"{t} 0 {HOSTILE[1]} 1\n" for t in HOSTILE), encoding="utf-8")
    asked = [json.dumps({"id": t, "text": f"{t} & '\"`"}) for t in HOSTILE]
    queries.write_text("\n".join(asked), encoding="utf-8")
    ran = riskeval(
        "report", tmp_path / "a.run", tmp_path / "b.run", "-q", qrels, "-m", "P@5", "-b", "a",
        "--run-names", "file", "--unjudged", "bounds", "--queries", queries,
        "-o", tmp_path / "r.html",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    with tab(browser) as page:
        page.open(tmp_path / "r.html")
        buttons = page.page.locator("#all-topics tbody button")
        assert buttons.count() == len(HOSTILE)
        for place in range(len(HOSTILE)):
            buttons.nth(place).click()
            page.settle()
            assert page.page.locator("#documents tbody tr").count() == 10
            page.page.locator("#topics .bar").nth(place).hover()
            assert page.page.text_content("#tip").startswith("topic ")
        assert sorted(texts(page, "#all-topics td[data-column=query]"))[0] == "<!-- & '\"`"
        assert page.page.evaluate("window.broken") is None
        assert page.page.locator("script").count() == 2 and page.page.locator("img").count() == 0
        assert page.messages == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_ranges_and_rankings(browser: Any, report: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is absent")
    source = (Path(axe.__path__[0]) / "axe.min.js").read_text(encoding="utf-8")
    with tab(browser, color_scheme=scheme, bypass_csp=True) as page:
        page.page.goto(f"{report.as_uri()}#run=indriCA&topic=171")
        page.page.wait_for_selector("#documents table")
        page.page.add_script_tag(content=source)
        found = page.page.evaluate("async () => (await axe.run()).violations")
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []


@pytest.mark.parametrize("width", [390, 1280])
def test_all_of_it_has_room(browser: Any, report: Path, width: int) -> None:
    with tab(browser, viewport={"width": width, "height": 900}) as page:
        page.page.goto(f"{report.as_uri()}#run=indriCA&topic=171")
        page.page.wait_for_selector("#documents table")
        assert page.page.evaluate("document.documentElement.scrollWidth") == width
        box = page.page.locator("#board th[data-column=georisk]").bounding_box()
        assert box["x"] + box["width"] <= width
        box = page.page.locator("#documents table >> nth=0").bounding_box()
        assert box["x"] + box["width"] <= width


def test_the_page_stays_small(report: Path) -> None:
    """Eight runs with their documents: names are there once a topic; it is less when packed."""
    assert report.stat().st_size < 400_000
    assert len(gzip.compress(report.read_bytes())) < 150_000
