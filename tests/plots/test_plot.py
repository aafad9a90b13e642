"""Figures: every kind, every format, and that nothing in them overlaps."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import riskcli
from riskcli.core.messages import UsageError
from riskcli.plots.kinds import FIGURE_NAMES, KINDS, MEANINGS, OF_EXPERIMENTS, find
from riskcli.plots.request import SIZES, Request
from riskcli.scores.matrix import ScoreMatrix
from tests.helpers.browser import chromium, tab
from tests.helpers.console import ROOT
from tests.helpers.inprocess import riskeval, run_inside
from tests.helpers.program import QRELS, SAMPLES, python

for extra in ("altair", "vl_convert"):
    pytest.importorskip(extra, reason=f"{extra} is not installed (pip install riskeval[plots])")

from riskcli.plots.ecir20 import mean_replicates  # noqa: E402
from riskcli.plots.in_words import alternative  # noqa: E402
from riskcli.plots.lines import stacked  # noqa: E402
from riskcli.plots.points import LETTER, beside, hull  # noqa: E402
from riskcli.plots.save import drawn  # noqa: E402
from riskcli.plots.style import LINE, Frame  # noqa: E402

pytestmark = pytest.mark.slow
OF_RUNS = [name for name in MEANINGS if name not in OF_EXPERIMENTS]

STARTS = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF-", "html": b"<!DOCTYPE", "json": b"{"}
HOSTILE = [
    "<script>alert(1)</script>",
    "=cmd()",
    "a & b",
    '"',
    "\\",
    "datum.x",
    "α",
    "x" * 80,
    "\x1b[31m\udc80",
]


def matrix(runs: Sequence[str], topics: int = 50, seed: int = 1) -> ScoreMatrix:
    rng = np.random.default_rng(seed)
    size = (len(runs), topics)
    values = rng.beta(1, 2.5, (1, topics)) * rng.lognormal(0, 0.4, size)
    values = np.clip(np.where(rng.random(size) < 0.1, 0, values), 0, 1)
    return ScoreMatrix("ERR@20", tuple(runs), tuple(str(151 + q) for q in range(topics)), values)


def request_of(scores: ScoreMatrix, **settings: Any) -> Request:
    options = riskcli.Options(baselines=(scores.runs[0],))
    return Request(scores, options, **settings)


@pytest.fixture(scope="module")
def samples() -> ScoreMatrix:
    rules = riskcli.Rules(measures=("ERR@20",))
    return riskcli.evaluate([SAMPLES], qrels=QRELS, rules=rules).matrices[0]


def description(kind: str, request: Request) -> dict[str, Any]:
    return dict(json.loads(drawn(kind, request, "json")))


def panels_of(figure: dict[str, Any]) -> list[Any]:
    """The panels of a figure, each with its own data."""

    def filled(node: Any) -> Any:
        if isinstance(node, list):
            return [filled(each) for each in node]
        if not isinstance(node, dict):
            return node
        if set(node) == {"name"} and node["name"] in figure["datasets"]:
            return {"values": figure["datasets"][node["name"]]}
        return {key: filled(each) for key, each in node.items()}

    return [filled(panel) for panel in figure.get("concat") or figure["vconcat"]]


def rows_with(node: Any, *names: str) -> list[dict[str, Any]]:
    """All data rows of a description that hold these fields."""
    if isinstance(node, dict):
        if all(name in node for name in names):
            return [node]
        return [row for value in node.values() for row in rows_with(value, *names)]
    if isinstance(node, list):
        return [row for value in node for row in rows_with(value, *names)]
    return []


# ---------------------------------------------------------------- kinds and formats


@pytest.mark.parametrize("kind", OF_RUNS)
def test_every_kind_is_drawn_the_same_each_time(kind: str, samples: ScoreMatrix) -> None:
    first, second = (drawn(kind, request_of(samples), "svg") for _ in range(2))
    assert first == second
    assert first.startswith(b"<svg") and b"NaN" not in first


@pytest.mark.parametrize("format", STARTS)
def test_every_format_by_its_suffix(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"figure.{format}"
    ran = riskeval("plot", "wins", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "-o", path)
    assert (ran.code, ran.out) == (0, "")
    content = path.read_bytes()
    assert content.lstrip().startswith(STARTS[format])
    assert b'http-equiv="refresh"' not in content and b'src="http' not in content


@pytest.mark.parametrize("format", ["png", "pdf", "html", "json"])
def test_all_formats_are_deterministic(format: str, samples: ScoreMatrix) -> None:
    request = request_of(samples)
    assert drawn("tradeoff", request, format) == drawn("tradeoff", request, format)


@pytest.mark.parametrize("kind", OF_RUNS)
def test_hostile_names_and_few_topics(kind: str) -> None:
    scores = matrix(HOSTILE, topics=5)
    svg = drawn(kind, request_of(scores), "svg")
    assert b"<script" not in svg
    ElementTree.fromstring(svg)


def test_the_documentation_shows_every_figure() -> None:
    text = (ROOT / "docs" / "leaderboards.md").read_text(encoding="utf-8")
    for name in OF_RUNS:
        asked = f"plot paper --figure {name}" if name not in KINDS else f"plot {name} "
        assert asked in text or name == "ecir14-2", asked
    for file in (ROOT / "docs" / "figures").glob("*.svg"):
        assert f"(figures/{file.name})" in text and file.stat().st_size > 10_000


def test_a_paper_s_figure_is_that_of_the_kind_that_it_is(tmp_path: Path) -> None:
    one, other = tmp_path / "1.json", tmp_path / "2.json"
    given = (SAMPLES, "-q", QRELS, "-m", "ERR@20", "-b", "indriCASP")
    assert run_inside("plot", "paper", *given, "--figure", "sigir14-1", "-o", one).code == 0
    assert run_inside("plot", "alpha", *given, "--of", "trisk", "-o", other).code == 0
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("figure", FIGURE_NAMES)
def test_the_library_draws_every_figure_of_a_paper(figure: str, samples: ScoreMatrix) -> None:
    table = riskcli.risk_table(samples, "indriCASP")
    runs = ("neuralMix",) if figure == "ecir20-3" else ()
    if figure in ("sigir12-4", "sigir12-5"):
        with pytest.raises(UsageError, match="from the folder of `riskeval train`"):
            table.plot("paper", figure=figure)
    else:
        assert table.plot("paper", figure=figure, run=runs).to_dict()["description"]


# ---------------------------------------------------------------- sizes and words


WIDTHS = {"column": 241.15 * 72 / 72.27, "page": 506.3 * 72 / 72.27, "lncs": 347.12 * 72 / 72.27}


@pytest.mark.parametrize("kind", OF_RUNS)
@pytest.mark.parametrize("size", ["column", "page"])
def test_a_figure_is_as_wide_as_its_place_with_type_of_7_to_9_points(
    kind: str, size: str, samples: ScoreMatrix
) -> None:
    runs = ("neuralMix",) if kind == "ecir20-3" else ()
    request = request_of(samples, size=SIZES[size], runs=runs)
    svg = drawn(kind, request, "svg").decode()
    root = ElementTree.fromstring(svg)
    assert root.get("width") == f"{WIDTHS[size]:.2f}pt"
    _, _, wide, _ = map(float, root.attrib["viewBox"].split())
    scale = WIDTHS[size] / wide
    sizes = {float(found) * scale for found in re.findall(r'font-size="([\d.]+)px"', svg)}
    assert min(sizes) >= 6.9 and max(sizes) <= 9.1, sizes


@pytest.mark.parametrize("size", [*WIDTHS, "slide"])
def test_the_width_of_a_pdf_and_a_png(tmp_path: Path, size: str) -> None:
    points = {**WIDTHS, "slide": 960.0}[size]
    for format in ("pdf", "png"):
        path = tmp_path / f"figure.{format}"
        ran = riskeval(
            "plot", "alpha", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "--width", size, "-o", path
        )
        assert ran.code == 0, ran.err
        content = path.read_bytes()
        if format == "pdf":
            (box,) = re.findall(rb"/MediaBox \[([^]]*)\]", content)
            assert float(box.split()[2]) == pytest.approx(points, abs=0.01)
        else:
            assert int.from_bytes(content[16:20]) == pytest.approx(points / 72 * 200, abs=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--width", "column", "-o", "x.html"), "--width column belongs to svg, png, pdf"),
        (
            ("--width", "99", "-o", "x.svg"),
            "'99' is none of column, page, lncs, slide, nor pixels from 100 to 4000",
        ),
        (("--width", "letter", "-o", "x.svg"), "'letter' is none of column, page"),
    ],
)
def test_widths_that_make_no_sense(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    ran = riskeval("plot", "alpha", SAMPLES, *arguments[:-1], tmp_path / arguments[-1])
    assert ran.code == 2 and message in ran.err and not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", OF_RUNS)
def test_words_for_those_who_cannot_see_a_figure(kind: str, samples: ScoreMatrix) -> None:
    runs = ("neuralMix",) if kind in ("ecir20-3", "ecir14-3") else ()
    request = request_of(samples, runs=runs)
    told = alternative(kind, request)
    assert "ERR@20 of 9 runs on 50 topics" in told and len(told) > 60
    root = ElementTree.fromstring(drawn(kind, request, "svg"))
    space = "{http://www.w3.org/2000/svg}"
    assert root.findtext(f"{space}desc") == told and root.findtext(f"{space}title")


def test_power_is_of_pairs_and_of_the_population_asked_for(tmp_path: Path) -> None:
    population, figure = tmp_path / "p.json", tmp_path / "figure.json"
    one = ("-m", "ERR@20", "-q", QRELS)
    riskeval("population", "freeze", SAMPLES, *one, "-o", population, "--quiet")
    drawn: list[object] = []
    for asked in ((), ("--population", population)):
        ran = riskeval("plot", "power", SAMPLES, *one, "--of", "georisk", *asked, "-o", figure)
        assert ran.code == 0 and "no baseline given" not in ran.err
        drawn.append(json.loads(figure.read_text())["datasets"])
        told = Path(f"{figure}.alt.txt").read_text(encoding="utf-8")
        assert told.endswith("on 50 topics.\n") and "baseline" not in told
    assert drawn[0] != drawn[1]
    several = ("-b", "indriCASP", "-b", "plainBM25")
    assert riskeval("plot", "power", SAMPLES, *one, *several, "-o", figure).code == 0
    assert "pairs with indriCASP, plainBM25" in Path(f"{figure}.alt.txt").read_text()


def test_the_words_stand_beside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "figure.pdf"
    riskeval("plot", "tradeoff", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "-o", path)
    told = (tmp_path / "figure.pdf.alt.txt").read_text(encoding="utf-8")
    assert "The highest gain is 0.0930, of boldRerank, with a risk of 0.0920." in told


def test_a_page_draws_offline_and_takes_names_for_names(tmp_path: Path) -> None:
    names = ["</script><script>window.broken = 1</script>", *HOSTILE]
    path = tmp_path / "figure.html"
    path.write_bytes(drawn("alpha", request_of(matrix(names, topics=5)), "html"))
    with chromium() as browser, tab(browser) as page:
        page.page.goto(path.as_uri())
        page.page.wait_for_selector("svg.marks")
        assert page.page.evaluate("window.broken") is None
        assert "</script>" in page.page.text_content("svg.marks")
        assert page.messages == []
        assert page.requests == [path.as_uri()]


# ---------------------------------------------------------------- numbers


def test_alpha_draws_the_numbers_of_score(samples: ScoreMatrix) -> None:
    options = riskcli.Options(baselines=("indriCASP",), alphas=(0.0, 10.0))
    request = Request(samples, options, ranged=True)
    rows = rows_with(description("alpha", request), "run", "alpha", "value")
    table = riskcli.risk_table(samples, "indriCASP", options=options)
    for row in table.result().rows:
        named = dict(zip(table.result().columns, row, strict=True))
        values = [
            r["value"] for r in rows if r["run"] == named["run"] and r["alpha"] == named["alpha"]
        ]
        assert any(abs(value - named["georisk"]) < 1e-12 for value in values)


def test_wins_counts_every_topic(samples: ScoreMatrix) -> None:
    options = riskcli.Options(baselines=("indriCASP",))
    panels = panels_of(description("wins", Request(samples, options)))
    assert len(panels) == 8
    for panel in panels:
        bars = rows_with(panel, "side", "topics", "low")
        counts = [
            sum(bar["topics"] for bar in bars if bar["side"] == side) for side in ("helped", "hurt")
        ]
        won, tied, lost = map(int, panel["title"]["text"][-1].split("/"))
        assert [won, lost] == counts and won + tied + lost == 50


def test_wins_draws_every_difference_in_its_own_bin(samples: ScoreMatrix) -> None:
    """Counted again from the differences: a bar stands over the numbers that it counts."""
    request = request_of(samples, runs=("neuralMix",))
    delta = request.comparison.paired.delta[samples.runs.index("neuralMix")]
    bars = rows_with(description("wins", request), "side", "topics", "low", "high")
    assert bars
    for bar in bars:
        low, high = bar["low"], bar["high"]
        within = (delta > low) & (delta <= high) if low >= 0 else (delta >= low) & (delta < high)
        assert bar["topics"] == np.count_nonzero(within), bar
        assert low * high >= 0
    assert sum(bar["topics"] for bar in bars) == np.count_nonzero(delta)


def test_a_line_at_0_is_drawn_only_where_0_is_in_the_figure() -> None:
    """Every run far above the baseline: TRisk from 6 upwards."""
    rng = np.random.default_rng(2)
    values = np.vstack([np.full(50, 0.1), 0.6 + 0.1 * rng.random((3, 50))])
    scores = ScoreMatrix("AP", tuple("abcd"), tuple(map(str, range(50))), values)
    figure = description("alpha", request_of(scores, of="trisk"))
    low, high = next(
        layer["encoding"]["y"]["scale"]["domain"]
        for layer in figure["layer"] if "y" in layer.get("encoding", {})
        and "scale" in layer["encoding"]["y"] and layer["encoding"]["y"]["scale"]
    )  # fmt: skip
    rules = rows_with(figure, "at")
    assert low > 0 and all(low < rule["at"] < high for rule in rules if "run" not in rule)


def test_alpha_of_trisk_shows_the_critical_values(samples: ScoreMatrix) -> None:
    request = Request(samples, riskcli.Options(baselines=("indriCASP",)), of="trisk")
    rules = rows_with(description("alpha", request), "at")
    levels = {rule["at"] for rule in rules if "run" not in rule}
    assert sorted(levels) == pytest.approx([-2.009575, 0.0, 2.009575])


def test_alpha_of_urisk_shades_what_replicates_alone_make() -> None:
    """From 0 to the deepest floor of the systems shown, and only where runs are systems."""
    runs = ("new-s1", "new-s2", "new-s3", "old-s1", "old-s2", "old-s3", "bm25")
    systems = matrix(runs).of_systems(r"^(.*)-s\d")
    options = riskcli.Options(baselines=("old",), alphas=(0.0, 10.0))
    request = Request(systems, options, of="urisk", ranged=True)
    figure = description("alpha", request)
    ends = {row["alpha"]: row["floor"] for row in rows_with(figure, "floor")}
    frame = riskcli.risk_table(systems, options=options).to_frame()
    floors = frame[frame["alpha"] == 10]["floor"].dropna()
    assert ends == {0.0: 0.0, 10.0: pytest.approx(floors.min())} and len(floors) == 2
    assert "down to the deepest floor of replicates" in json.dumps(figure)
    assert b"deepest floor" in drawn("alpha", request, "svg")
    for other in (Request(systems, options, of="georisk", ranged=True), request_of(matrix(runs))):
        assert not rows_with(description("alpha", other), "floor")


def test_the_title_of_alpha_names_what_its_values_rest_on(samples: ScoreMatrix) -> None:
    title = description("alpha", request_of(samples))["title"]
    assert title == "GeoRisk, 50 topics, population of 9 runs"
    title = description("alpha", request_of(samples, of="urisk"))["title"]
    assert title == "URisk, 50 topics, against boldRerank"


def legend_entries(node: Any) -> set[str]:
    """What the legends of a drawn figure say."""
    svg = ElementTree.fromstring(node)
    space = "{http://www.w3.org/2000/svg}"
    groups = [g for g in svg.iter(f"{space}g") if "role-legend-label" in g.get("class", "")]
    return {text.text or "" for group in groups for text in group.iter(f"{space}text")}


def test_no_legend_for_what_is_not_drawn() -> None:
    worse = ScoreMatrix(
        "AP", ("a", "b", "c"), ("1", "2", "3", "4"),
        np.array([[0.9, 0.8, 0.7, 0.6], [0.5, 0.4, 0.3, 0.1], [0.6, 0.6, 0.3, 0.4]]),
    )  # fmt: skip
    assert legend_entries(drawn("wins", request_of(worse), "svg")) == {"hurt"}
    assert "proportional reduction" not in legend_entries(
        drawn("tradeoff", request_of(worse), "svg")
    )
    assert legend_entries(drawn("topics", request_of(worse), "svg")) == {"within"}


@pytest.mark.parametrize(("kind", "size"), [("tradeoff", "lncs"), ("ecir20-3", "column")])
def test_keys_and_titles_leave_the_panels_room(kind: str, size: str, samples: ScoreMatrix) -> None:
    runs = ("neuralMix",) if kind == "ecir20-3" else ()
    request = request_of(samples, size=SIZES[size], runs=runs)
    figure = description(kind, request)
    wide = [panel["width"] for panel in figure.get("concat", [figure])]
    assert min(wide) * len(wide[:2]) > 0.5 * SIZES[size].design


@pytest.mark.parametrize("kind", ["ecir20-3", "ecir14-3", "tradeoff"])
def test_a_figure_for_a_slide_is_no_higher_than_the_slide(kind: str, samples: ScoreMatrix) -> None:
    runs = {"ecir20-3": ("neuralMix",), "ecir14-3": ("neuralMix", "boldRerank")}.get(kind, ())
    svg = drawn(kind, request_of(samples, size=SIZES["slide"], runs=runs), "svg").decode()
    found = re.match(r'<svg[^>]*? width="([\d.]+)pt" height="([\d.]+)pt"', svg)
    assert found is not None
    assert float(found[1]) == 960 and float(found[2]) <= 540


def test_every_point_has_its_name_in_a_column(samples: ScoreMatrix) -> None:
    """By a line where there is no room beside it; trials of other widths leave no remark."""
    request = Request(samples, riskcli.Options(baselines=("indriCASP",)), size=SIZES["column"])
    figure = description("ecir14-1", request)
    shown = {row["shown"] for row in rows_with(figure, "shown", "px")}
    assert shown == {*samples.runs, "@mean", "@median", "@max"}
    assert rows_with(figure, "x2", "y2"), "some names stand away from their points"
    assert request.notes == []


def test_rbo_has_a_bar_for_every_number_of_few_runs(samples: ScoreMatrix) -> None:
    panels = panels_of(description("ecir20-4", request_of(samples)))
    assert [bar["runs"] for bar in rows_with(panels[0], "least")] == list(range(2, 9))


def test_one_outlier_does_not_grey_the_heatmap() -> None:
    scores = matrix([f"run{i}" for i in range(20)])
    values = scores.values.copy()
    values[3, 7] = 40.0
    outlier = ScoreMatrix("gain", scores.runs, scores.topics, values)
    z = request_of(outlier).comparison.population.z
    colour = description("heatmap", request_of(outlier))["encoding"]["color"]
    domain, key = colour["scale"]["domain"], colour["legend"]
    assert domain[-1] == pytest.approx(np.quantile(np.abs(z), 0.98))
    assert domain[-1] < np.abs(z).max() / 3
    assert key["values"] == [domain[0], 0, domain[-1]]
    assert f"'≥ {domain[-1]:.2g}'" in key["labelExpr"], "the key says that values lie beyond"


def test_the_hull_joins_what_no_mixture_beats() -> None:
    points = np.array([[0.1, 0.05], [0.02, 0.03], [0.05, 0.03], [0.3, 0.06], [0.2, -0.1]])
    assert hull(points).tolist() == [[0, 0], [0.02, 0.03], [0.1, 0.05], [0.3, 0.06]]
    assert hull(np.array([[0.1, -0.05]])).tolist() == [[0, 0]]


def test_pair_draws_the_terms_of_urisk_both_ways(samples: ScoreMatrix) -> None:
    request = request_of(samples, runs=("neuralMix", "caspPlus"))
    panels = panels_of(description("ecir14-3", request))
    one, other = (samples.values[samples.runs.index(name)] for name in request.runs)
    for panel, delta in zip(panels[1:], (one - other, other - one), strict=True):
        shown = {row["topic"]: row["w"] for row in rows_with(panel, "topic", "w")}
        for topic, d in zip(samples.topics, delta, strict=True):
            assert shown[topic] == pytest.approx(d if d >= 0 else 2 * d)


def test_losses_are_in_ascending_order(samples: ScoreMatrix) -> None:
    options = riskcli.Options(baselines=("@mean",), alphas=(1.0, 10.0))
    request = Request(samples, options, runs=("neuralMix", "oldTFIDF"))
    panels = panels_of(description("ecir14-4", request))
    assert len(panels) == 4
    for panel in panels:
        terms = [row["w"] for row in rows_with(panel, "place", "w")]
        assert terms == sorted(terms) and len(terms) == 50


def test_loss_draws_both_losses(samples: ScoreMatrix) -> None:
    rows = rows_with(description("ecir20-2", request_of(samples)), "run", "x", "y")
    for row in rows:
        x = row["x"]
        smooth = 1.38426 * x**3 - 0.51659 * x**2 + 0.11578 * x
        expected = smooth if row["run"] == "smooth" else x * (2 if x < 0 else 1)
        assert row["y"] == pytest.approx(expected)


def test_rbo_bars_reach_from_the_least_to_the_most(samples: ScoreMatrix) -> None:
    request = request_of(samples)
    panels = panels_of(description("ecir20-4", request))
    comparison = request.comparison
    delta = np.delete(comparison.paired.delta, samples.runs.index(samples.runs[0]), axis=0)
    smooth = 1.38426 * delta**3 - 0.51659 * delta**2 + 0.11578 * delta
    linear = np.where(delta < 0, 2 * delta, delta)
    one, other = (np.argsort(-w.mean(axis=1), kind="stable").tolist() for w in (linear, smooth))
    whole = max(rows_with(panels[0], "runs", "least", "most"), key=lambda bar: bar["runs"])
    least = 0.0
    agreed = [len(set(one[:d]) & set(other[:d])) / d for d in range(1, len(one) + 1)]
    least = 0.1 * sum(0.9 ** (d - 1) * a for d, a in enumerate(agreed, start=1))
    assert whole["runs"] == len(one)
    assert least <= whole["least"] <= whole["most"] <= 1


def test_tradeoff_lines_pass_where_they_should(samples: ScoreMatrix) -> None:
    options = riskcli.Options(baselines=("indriCASP",), alphas=(2.0,))
    lines = rows_with(
        description("tradeoff", Request(samples, options, ranged=True)), "kind", "label", "x"
    )
    (end,) = [line for line in lines if "α = 2" in line["label"] and line["x"] > 0]
    assert end["y"] == pytest.approx(2 * end["x"])


def test_heatmap_shows_z(samples: ScoreMatrix) -> None:
    request = request_of(samples)
    cells = rows_with(description("heatmap", request), "z", "topic", "run")
    shown = {(cell["run"], cell["topic"]): cell["z"] for cell in cells}
    z = request.comparison.population.z
    assert shown[samples.runs[2], samples.topics[7]] == pytest.approx(z[2, 7], abs=1e-4)
    assert len(shown) == z.size


def test_replicates_follow_the_seed() -> None:
    values = np.arange(10.0)
    first = mean_replicates(values, 1000, 5)
    assert np.array_equal(first, mean_replicates(values, 1000, 5))
    assert not np.array_equal(first, mean_replicates(values, 1000, 6))
    assert first.mean() == pytest.approx(4.5, abs=0.1)


# ---------------------------------------------------------------- labels


@given(st.lists(st.floats(0, 300), min_size=1, max_size=20))
def test_stacked_names_never_overlap(heights: list[float]) -> None:
    placed = stacked(heights, 300)
    ordered = sorted(placed)
    assert all(b - a >= LINE - 1e-6 for a, b in pairwise(ordered))
    assert min(placed) >= -1e-6
    order = np.argsort(heights, kind="stable")
    assert [placed[i] for i in order] == sorted(placed[i] for i in order)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=60))
def test_names_beside_points_never_overlap(points: list[tuple[float, float]]) -> None:
    frame = Frame((0, 1), (0, 1), 500, 400)
    names = [f"system{i}" for i in range(len(points))]
    boxes = []
    for placed in beside(names, np.array(points), frame):
        x, y = frame.pixels(np.array([points[placed.point]]))[0] + (placed.dx, -placed.dy)
        wide = LETTER * len(names[placed.point])
        left = x - {"left": 0, "center": wide / 2, "right": wide}[placed.align]
        boxes.append((left, y - LINE / 2, left + wide, y + LINE / 2))
    for place, (left, low, right, high) in enumerate(boxes):
        for other in boxes[:place]:
            assert right <= other[0] or other[2] <= left or high <= other[1] or other[3] <= low


OVERLAPS = """() => {
  const texts = Array.from(document.querySelectorAll("text")).filter((t) => t.textContent.trim());
  const boxes = texts.map((t) => [t.textContent, t.getBoundingClientRect()]);
  const found = [];
  boxes.forEach(([a, p], i) => boxes.slice(0, i).forEach(([b, q]) => {
    const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (a !== b && wide > 1.5 && high > 3) found.push(`${a} | ${b}`);
  }));
  return found;
}"""


def test_no_text_overlaps_with_fifty_runs() -> None:
    groups = ("uogTrA", "srchvrs12c", "DFalah12", "ICTNET12ADR", "indri", "autoSTA", "QUTpara",
              "irra12c", "utw2012c", "CMUlm")  # fmt: skip
    names = [f"{group}{end}" for group in groups for end in ("1", "2x", "44xu", "Base", "3fused")]
    request = request_of(matrix(names))
    if not Path("/usr/share/fonts/truetype/liberation").is_dir():
        pytest.skip("the figures' font is absent (apt-get install fonts-liberation)")
    with chromium() as browser, tab(browser, viewport={"width": 1600, "height": 1600}) as page:
        for kind in OF_RUNS:
            page.page.set_content(drawn(kind, request, "svg").decode())
            assert page.page.locator("text").count() > 5
            assert page.page.evaluate(OVERLAPS) == [], kind


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("figure", "of", "found"),
    [
        ("sigir16-3", None, ("alpha", "georisk")),
        ("sigir16-3", "", ("alpha", "georisk")),
        ("sigir16-3", "trisk", ("alpha", "trisk")),
        ("sigir12-1", "", ("wins", None)),
        ("ecir14-1", None, ("ecir14-1", None)),
        ("ecir14-1", "tr", ("ecir14-1", "tr")),
    ],
)
def test_an_empty_of_is_the_usual_one_of_a_papers_figure(
    figure: str, of: str | None, found: tuple[str, str | None]
) -> None:
    assert find("paper", figure, of) == found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("wins", "-o", "figure.bmp"), "ends in one of .svg"),
        (("wins", "--of", "tr", "-o", "x.svg"), "--of belongs to"),
        (("alpha", "--of", "mean", "-o", "x.svg"), "this figure takes georisk"),
        (("box", "--loss", "smooth", "-o", "x.svg"), "--loss belongs to"),
        (("box", "--convention", "minus", "-o", "x.svg"), "plain convention"),
        (("heatmap", "-a", "1,5", "-o", "x.svg"), "shows one alpha, found 2"),
        (("wins", "--run", "indriCASP", "-o", "x.svg"), "is the baseline itself"),
        (("paper", "--figure", "ecir20-3", "--run", "c*", "-o", "x.svg"), "figure shows one run"),
        (("paper", "-o", "x.svg"), "which figure?"),
        (("paper", "--figure", "ecir20-9", "-o", "x.svg"), "ecir20-4   how alike"),
        (("wins", "--figure", "ecir20-2", "-o", "x.svg"), "--figure belongs to paper"),
        (("pie", "-o", "x.svg"), "'pie' is not one of"),
    ],
)
def test_wrong_requests(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    kind, *rest = arguments
    rest[-1] = str(tmp_path / rest[-1])
    ran = riskeval("plot", kind, SAMPLES, "-m", "ERR@20", "-b", "indriCASP", *rest)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert not Path(rest[-1]).exists()


def test_without_the_extra_the_command_says_how_to_get_it(tmp_path: Path) -> None:
    arguments = ["riskeval", "plot", "wins", str(SAMPLES), "-o", str(tmp_path / "x.svg")]
    ran = python(
        "import sys; sys.modules['altair'] = None\n"
        "from riskcli.__main__ import main\n"
        f"sys.argv = {arguments!r}\n"
        "main()"
    )
    assert ran.code == 2
    assert "pip install '.[plots]'" in ran.err


def test_too_little_to_draw() -> None:
    with pytest.raises(UsageError, match="three runs"):
        drawn("ecir14-1", request_of(matrix(["a", "b"])), "svg")
    negative = matrix(["a", "b", "c"])
    shifted = ScoreMatrix(negative.measure, negative.runs, negative.topics, negative.values - 0.5)
    with pytest.raises(UsageError, match="at least 0"):
        drawn("heatmap", request_of(shifted), "svg")


CURVES = """\
seed,fold,run,part,trees,mean,risk
1,1,plain,train,0,0.9,0.9
1,1,plain,valid,1,0.5,0.10
1,1,plain,valid,2,0.7,0.08
1,1,plain,valid,3,0.9,0.06
1,2,plain,valid,1,0.3,0.20
1,2,plain,valid,2,0.5,0.10
1,1,urisk-1,valid,1,0.4,0.05
1,2,urisk-1,valid,1,0.6,0.01
"""


def test_curves_are_means_over_folds_as_far_as_all_of_them_reach(tmp_path: Path) -> None:
    (tmp_path / "curve.csv").write_text(CURVES)
    for of, expected in (("mean", [0.4, 0.6, 0.5]), ("risk", [0.15, 0.09, 0.03])):
        target = tmp_path / "curve.json"
        done = riskeval("plot", "curve", tmp_path, "--of", of, "-o", target)
        assert done.code == 0, done.err
        drawing = json.loads(target.read_text())
        rows = [row for found in drawing["datasets"].values() for row in found]
        points = [row for row in rows if "trees" in row]
        assert [(row["run"], row["trees"]) for row in points] == [
            ("plain", 1), ("plain", 2), ("urisk-1", 1),
        ]  # fmt: skip
        assert [row["value"] for row in points] == pytest.approx(expected)
    for format in ("svg", "png", "pdf", "html"):
        target = tmp_path / f"curve.{format}"
        assert riskeval("plot", "curve", tmp_path, "--run", "u*", "-o", target).code == 0
        assert target.read_bytes().startswith(STARTS[format])


def experiment(folder: Path, rankings: dict[str, list[str]]) -> Path:
    """Runs whose queries are ranked as these texts have their documents, a letter each."""
    (folder / "runs").mkdir(parents=True)
    for name, queries in rankings.items():
        lines = [
            f"{query} Q0 {docno} {rank + 1} {-rank} {name}\n"
            for query, docnos in enumerate(queries, start=1)
            for rank, docno in enumerate(docnos)
        ]
        (folder / "runs" / f"{name}.run").write_text("".join(lines))
    return folder


TURNED = {
    "baseline": ["abcde", "abcde", "abcde", "abcde", "a"],
    "plain": ["abcde", "edcba", "bacde", "baced", "a"],
    "urisk-1": ["abcde", "abcde", "abcde", "abdce", "a"],
    "urisk-1.blend": ["edcba", "edcba", "edcba", "edcba", "a"],
}


def test_churn_is_the_share_of_pairs_that_changed_sides(tmp_path: Path) -> None:
    """Of 10 pairs none, all, one and two; a query of one document has no pair."""
    folder = experiment(tmp_path / "out", TURNED)
    done = riskeval("plot", "churn", folder, "-o", tmp_path / "churn.json")
    assert done.code == 0, done.err
    drawing = json.loads((tmp_path / "churn.json").read_text())
    rows = [row for found in drawing["datasets"].values() for row in found]
    shares = {name: [row["share"] for row in rows if row["run"] == name]
              for name in ("plain", "urisk-1", "urisk-1.blend")}  # fmt: skip
    assert shares["plain"] == [25.0, 25.0, 25.0, 0, 0, 0, 0, 0, 0, 25.0]
    assert shares["urisk-1"] == [75.0, 25.0] + [0.0] * 8
    assert shares["urisk-1.blend"] == []  # unless asked for
    done = riskeval("plot", "churn", folder, "--run", "*.blend", "-o", tmp_path / "x.svg")
    assert done.code == 0 and (tmp_path / "x.svg").read_bytes().startswith(STARTS["svg"])
    both = experiment(tmp_path / "two", {
        "baseline1": ["abcde"], "baseline2": ["edcba"], "plain": ["abcde"],
    })  # fmt: skip
    assert riskeval("plot", "churn", both, "-o", tmp_path / "churn.json").code == 0
    drawing = json.loads((tmp_path / "churn.json").read_text())
    (rows,) = drawing["datasets"].values()
    assert [row["share"] for row in rows] == [0, 0, 0, 0, 0, 100.0, 0, 0, 0, 0]


def test_churn_ranks_equal_scores_as_trec_eval_does(tmp_path: Path) -> None:
    """By falling document id, whatever their order in the file."""
    folder = experiment(tmp_path / "out", {"baseline": ["cba"], "tied": ["abc"], "near": ["abc"]})
    for name, step in (("tied", 0.0), ("near", 1e-9)):
        lines = [f"1 Q0 {docno} 1 {1 - step * i} t\n" for i, docno in enumerate("abc")]
        (folder / "runs" / f"{name}.run").write_text("".join(lines))
    done = riskeval("plot", "churn", folder, "-o", tmp_path / "churn.json")
    assert done.code == 0, done.err
    drawing = json.loads((tmp_path / "churn.json").read_text())
    rows = [row for found in drawing["datasets"].values() for row in found]
    assert [row["share"] for row in rows] == ([100.0] + [0.0] * 9) * 2


@pytest.mark.parametrize(
    ("rankings", "arguments", "message"),
    [
        (TURNED, ["--of", "risk"], "churn has none"),
        (TURNED, ["-b", "plain"], "churn takes no --baseline"),
        (TURNED, ["--run", "georisk*"], "no model is called georisk*"),
        ({"plain": ["ab"]}, [], "expected a folder that `riskeval train` wrote"),
        ({"baseline": ["ab"], "plain": ["ac"]}, [], "query 1 has other documents"),
    ],
)
def test_churn_refuses_what_it_cannot_show(
    tmp_path: Path, rankings: dict[str, list[str]], arguments: list[str], message: str
) -> None:
    folder = experiment(tmp_path / "out", rankings)
    done = run_inside("plot", "churn", folder, *arguments, "-o", tmp_path / "x.svg")
    assert done.code == 2 and message in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--of", "p"], "--of is 'p', this figure takes mean, risk"),
        (["--run", "georisk*"], "no model is called georisk*; there are plain, urisk-1"),
        (["-b", "plain"], "curve takes no --baseline"),
    ],
)
def test_curves_refuse_what_they_cannot_show(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "curve.csv").write_text(CURVES)
    done = riskeval("plot", "curve", tmp_path, *arguments, "-o", tmp_path / "x.svg")
    assert done.code == 2 and message in done.err
    missing = riskeval("plot", "curve", tmp_path / "absent", "-o", tmp_path / "x.svg")
    assert missing.code == 2 and "expected a folder that `riskeval train` wrote" in missing.err


@pytest.mark.parametrize(
    ("kind", "facts"),
    [
        ("topics", ("boldRerank at alpha 1 gains on", "most on topic 138")),
        ("ecir14-1", ("boldRerank and", "farthest apart", "nearest to indriCASP is")),
        (
            "ecir14-3",
            ("boldRerank scores higher on 36 topics, indriCASP on 14, both alike on 0",
             "boldRerank has a URisk of 0.0010", "losing most on topic 138"),
        ),
        ("ecir14-4", ("boldRerank loses on 14 topics, most on topic 138 (-", "Mix loses on 7")),
    ],
)  # fmt: skip
def test_the_words_name_the_runs_and_what_is_to_be_seen(
    kind: str, facts: tuple[str, ...], samples: ScoreMatrix
) -> None:
    runs = ("boldRerank",) if kind == "ecir14-3" else ("boldRerank", "neuralMix")
    request = Request(samples, riskcli.Options(baselines=("indriCASP",)), runs=runs)
    told = alternative(kind, request)
    assert all(fact in told for fact in facts), told
    assert not request.notes


def test_the_topics_in_words_are_those_that_the_figure_marks(samples: ScoreMatrix) -> None:
    request = Request(samples, riskcli.Options(baselines=("indriCASP",)), runs=("boldRerank",))
    rows = rows_with(description("topics", request), "topic", "value", "side")
    worst = min(rows, key=lambda row: row["value"])["topic"]
    lost = sum(row["side"].startswith("loss") for row in rows)
    assert f"loses on {lost} topic" in alternative("topics", request)
    assert f"most on topic {worst}." in alternative("topics", request)
