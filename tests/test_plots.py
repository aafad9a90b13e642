"""Figures: every kind, every form, and that nothing in them overlaps."""

from __future__ import annotations

import json
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
from riskcli.core.errors import UsageError
from riskcli.plots import KINDS
from riskcli.plots.bootstrap import mean_replicates
from riskcli.plots.labels import LETTER, LINE, Frame, beside, stacked
from riskcli.plots.request import Request
from riskcli.plots.save import drawn
from riskcli.scores.matrix import ScoreMatrix
from tests.browser import chromium, tab
from tests.console import ROOT
from tests.program import QRELS, SAMPLES, python, riskeval

pytestmark = pytest.mark.slow

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


@pytest.fixture(scope="module", autouse=True)
def extra() -> None:
    for name in ("altair", "vl_convert"):
        pytest.importorskip(name, reason=f"{name} is not installed (pip install riskeval[plots])")


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


def rows_with(node: Any, *names: str) -> list[dict[str, Any]]:
    """All data rows of a description that hold these fields."""
    if isinstance(node, dict):
        if all(name in node for name in names):
            return [node]
        return [row for value in node.values() for row in rows_with(value, *names)]
    if isinstance(node, list):
        return [row for value in node for row in rows_with(value, *names)]
    return []


# ---------------------------------------------------------------- kinds and forms


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn_the_same_each_time(kind: str, samples: ScoreMatrix) -> None:
    first, second = (drawn(kind, request_of(samples), "svg") for _ in range(2))
    assert first == second
    assert first.startswith(b"<svg") and b"NaN" not in first


@pytest.mark.parametrize("form", STARTS)
def test_every_form_by_its_suffix(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"figure.{form}"
    ran = riskeval("plot", "wins", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "-o", path)
    assert (ran.code, ran.out) == (0, "")
    content = path.read_bytes()
    assert content.lstrip().startswith(STARTS[form])
    assert b'http-equiv="refresh"' not in content and b'src="http' not in content


@pytest.mark.parametrize("form", ["png", "pdf", "html", "json"])
def test_all_forms_are_deterministic(form: str, samples: ScoreMatrix) -> None:
    request = request_of(samples)
    assert drawn("tradeoff", request, form) == drawn("tradeoff", request, form)


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_and_few_topics(kind: str) -> None:
    scores = matrix(HOSTILE, topics=5)
    svg = drawn(kind, request_of(scores), "svg")
    assert b"<script" not in svg
    ElementTree.fromstring(svg)


def test_the_documentation_shows_every_kind() -> None:
    text = (ROOT / "docs" / "leaderboards.md").read_text(encoding="utf-8")
    for kind in KINDS:
        assert f"(figures/{kind}.svg)" in text and f"plot {kind} " in text
        assert (ROOT / "docs" / "figures" / f"{kind}.svg").stat().st_size > 10_000


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
    bars = rows_with(description("wins", Request(samples, options)), "side", "topics", "low")
    by_run: dict[str, dict[str, int]] = {}
    for bar in bars:
        sides = by_run.setdefault(bar["run"], {"helped": 0, "unchanged": 0, "hurt": 0})
        sides[bar["side"]] += bar["topics"]
    for run, sides in by_run.items():
        assert run.split()[-1] == "/".join(map(str, sides.values()))
        assert sum(sides.values()) == 50


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
        for kind in KINDS:
            page.page.set_content(drawn(kind, request, "svg").decode())
            assert page.page.locator("text").count() > 5
            assert page.page.evaluate(OVERLAPS) == [], kind


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("wins", "-o", "figure.bmp"), "ends in one of .svg"),
        (("wins", "--of", "tr", "-o", "x.svg"), "--of belongs to"),
        (("alpha", "--of", "mean", "-o", "x.svg"), "this figure knows georisk"),
        (("box", "--loss", "smooth", "-o", "x.svg"), "--loss belongs to"),
        (("box", "--convention", "minus", "-o", "x.svg"), "plain convention"),
        (("heatmap", "-a", "1,5", "-o", "x.svg"), "shows one alpha, found 2"),
        (("wins", "--run", "indriCASP", "-o", "x.svg"), "is the baseline itself"),
        (("qq", "--run", "c*", "-o", "x.svg"), "qq shows one run"),
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
    assert "pip install 'riskeval[plots]'" in ran.err


def test_too_little_to_draw() -> None:
    with pytest.raises(UsageError, match="three runs"):
        drawn("pca", request_of(matrix(["a", "b"])), "svg")
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
    for form in ("svg", "png", "pdf", "html"):
        target = tmp_path / f"curve.{form}"
        assert riskeval("plot", "curve", tmp_path, "--run", "u*", "-o", target).code == 0
        assert target.read_bytes().startswith(STARTS[form])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--of", "p"], "--of is 'p', this figure knows mean, risk"),
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
