"""The page's formulas against the program's, in a real browser, on matrices of all kinds."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riskcli.page.document
from riskcli import Options, ScoreMatrix, Significance, freeze, risk_table
from riskcli.output.measure_words import usual_measures
from riskcli.page.data import page_data
from riskcli.page.document import SCRIPTS, Page, as_page
from riskcli.page.packing import packed
from riskcli.risk.estimate import CORRECTIONS
from tests.helpers.browser import Tab, chromium, tab
from tests.helpers.console import ROOT
from tests.helpers.strategies import ALPHAS, Floats, named, score_values

pytestmark = pytest.mark.slow

MODEL = SCRIPTS[: SCRIPTS.index("answers.js") + 1]
"""The scripts that do not look at the document."""

COMPUTE = """([text, alphas]) => {
  const data = JSON.parse(text);
  const plain = (values) => values && Array.from(values, String);
  return data.measures.map((packed) => new Measure(data, packed).comparisons.map((comparison) => ({
    baseline: comparison.baseline,
    trusted: Object.fromEntries(
      Object.entries(trusted(comparison)).map(([kind, ids]) => [kind, Array.from(ids)])),
    tables: alphas.map((alpha) => Object.fromEntries(data.riskMeasures.map((measure) => {
      const values = comparison.computed(measure, alpha);
      if (values === null) return [measure.id, null];
      const tested = comparison.tested(measure, alpha, values);
      return [measure.id, {
        value: plain(values), rank: plain(ranked(values)), p: plain(tested?.p),
        adjusted: plain(tested?.adjusted), flag: tested?.flags ?? null,
      }];
    }))),
  })));
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


def by_page(model: Tab, matrix: ScoreMatrix, options: Options, alphas: list[float]) -> list[Any]:
    """What the page computes at these alphas, given the table at the options' own."""
    table = risk_table([matrix], options.wanted, options=options)
    text = json.dumps(page_data([matrix], [table]), allow_nan=False)
    found: list[Any] = model.page.evaluate(COMPUTE, [text, alphas])[0]
    return found


def by_program(
    matrix: ScoreMatrix, options: Options, baseline: str, alpha: float
) -> dict[str, Any]:
    result = risk_table(
        [matrix], options.baselines, options=replace(options, alphas=(alpha,))
    ).result()
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
    rows = [row for row in rows if row["baseline"] == baseline]
    return {name: [row[name] for row in rows] for name in result.columns}


def numbers(values: list[Any]) -> Floats:
    """Undefined and infinite values alike as NaN: machine formats tell no difference."""
    found = np.array([math.nan if value is None else float(value) for value in values])
    return np.where(np.isfinite(found), found, np.nan)


def assert_same(
    page: dict[str, Any], program: dict[str, Any], gamma: float, tested: list[str] | None = None
) -> None:
    """Values and ranks; p-values and flags of the measures that the page tests by itself."""
    for measure in usual_measures():
        own = page[measure.id]
        np.testing.assert_allclose(
            numbers(own["value"]), numbers(program[measure.id]),
            rtol=1e-9, atol=1e-13, err_msg=measure.id,
        )  # fmt: skip
        np.testing.assert_array_equal(
            numbers(own["rank"]), numbers(program[f"rank_{measure.id}"]), err_msg=measure.id
        )
        if tested is not None and measure.id not in tested:
            continue
        if f"{measure.id}_p" not in program:
            assert own["p"] is None
            continue
        for name, column in (("p", "p"), ("adjusted", "p_adj")):
            np.testing.assert_allclose(
                numbers(own[name] or []), numbers(program[f"{measure.id}_{column}"]),
                rtol=1e-6, atol=1e-12, err_msg=f"{measure.id} {name}",
            )  # fmt: skip
        adjusted = numbers(program[f"{measure.id}_p_adj"])
        for flag, known, p in zip(
            own["flag"], program[f"{measure.id}_flag"], adjusted, strict=True
        ):
            assert flag == known or abs(p - gamma) < 1e-9


def named_baseline(options: Options) -> bool:
    """Whether the page makes the program's tests: against virtual baselines runs are shuffled."""
    return not options.wanted[0].startswith("@")


@pytest.mark.parametrize("baselines", [("r0",), ("r1", "r3"), ("@median",)])
@pytest.mark.parametrize("population", [None, "frozen"])
def test_topics_that_have_weights(
    model: Tab, baselines: tuple[str, ...], population: str | None
) -> None:
    """One of them nearly all of a run's scores, so that without it the others are added up."""
    generator = np.random.default_rng(7)
    values = generator.beta(0.7, 1.5, (5, 13))
    values[2] *= 1e-9
    values[2, 4] = 0.9
    weights = dict(zip(named(values).topics, [7.0, 3.5, *1 / np.arange(1, 12)], strict=True))
    matrix = named(values).labelled(weights=weights)
    options = Options(baselines, significance=Significance(shuffles=999))
    if population:
        options = replace(options, population=freeze(matrix))
    for place, found in enumerate(by_page(model, matrix, options, ALPHAS_OF_WEIGHTS)):
        assert place == 0
        for alpha, table in zip(ALPHAS_OF_WEIGHTS, found["tables"], strict=True):
            program = by_program(matrix, options, found["baseline"], alpha)
            tested = ["mean", "trisk", *(() if population else ("zrisk", "georisk"))]
            assert_same(table, program, 0.05, tested if named_baseline(options) else ["trisk"])


ALPHAS_OF_WEIGHTS = [0.0, 1.0, 5.0]


@st.composite
def matrices(draw: st.DrawFn) -> ScoreMatrix:
    """As the risk measures' own tests draw them, and some with negative scores, or a constant or
    tiny difference between two runs.
    """
    values = draw(score_values(min_runs=2, max_runs=7, min_topics=1, max_topics=9))
    what = draw(st.sampled_from(["plain", "plain", "negative", "constant", "tiny"]))
    if what == "negative":
        values = values - 0.25
    elif what == "constant":
        values[0] /= 2
        values[-1] = values[0] + 0.125
    elif what == "tiny":
        values[0, 0] = 0.0
        values[-1] = values[0]
        values[-1, 0] = 1e-200
    return named(values)


@st.composite
def plans(draw: st.DrawFn, runs: tuple[str, ...]) -> Options:
    baselines = draw(
        st.sampled_from([("@mean",), ("@median",), ("@max",), ("@min",)])
        | st.sets(st.sampled_from(runs), min_size=1, max_size=3).map(lambda one: tuple(sorted(one)))
    )
    virtual = baselines[0].startswith("@")
    return Options(
        baselines=baselines,
        pool="mean" if virtual else draw(st.sampled_from(["mean", "median", "max", "min", "each"])),
        population="all" if virtual else draw(st.sampled_from([None, "all", "baselines"])),
        alphas=(draw(ALPHAS),),
        significance=Significance(
            gamma=draw(st.sampled_from([0.01, 0.05, 0.3])),
            correction=draw(st.sampled_from(sorted(CORRECTIONS))),
        ),
    )


@settings(max_examples=250)
@given(st.data(), matrices(), st.lists(ALPHAS, min_size=1, max_size=3))
def test_the_page_computes_what_the_program_computes(
    model: Tab, data: st.DataObject, matrix: ScoreMatrix, alphas: list[float]
) -> None:
    options = data.draw(plans(matrix.runs))
    for comparison in by_page(model, matrix, options, alphas):
        for alpha, page in zip(alphas, comparison["tables"], strict=True):
            program = by_program(matrix, options, comparison["baseline"], alpha)
            own = None if named_baseline(options) else comparison["trusted"]["tests"]
            assert_same(page, program, options.significance.gamma, own)
        assert comparison["trusted"]["values"] == [measure.id for measure in usual_measures()]


@pytest.mark.parametrize("shape", [(45, 50), (20, 250)])
@pytest.mark.parametrize("baselines", [("@mean",), ("r3",), ("r1", "r4", "r7")])
def test_larger_matrices(model: Tab, shape: tuple[int, int], baselines: tuple[str, ...]) -> None:
    rng = np.random.default_rng(shape[0])
    scores = np.clip(rng.beta(1, 2, (1, shape[1])) + rng.normal(0, 0.15, shape), 0, 1)
    matrix, options = named(scores), Options(baselines=baselines)
    alphas = [0.0, 2.5, 20.0]
    (comparison,) = by_page(model, matrix, options, alphas)
    for alpha, page in zip(alphas, comparison["tables"], strict=True):
        program = by_program(matrix, options, comparison["baseline"], alpha)
        own = None if named_baseline(options) else ["trisk"]
        assert_same(page, program, 0.05, own)
    expected = ["mean", "trisk", "zrisk", "georisk"] if named_baseline(options) else ["trisk"]
    assert comparison["trusted"]["tests"] == expected


def test_baselines_taken_in_turn_are_one_family_on_the_page_too(model: Tab) -> None:
    matrix = named(np.random.default_rng(4).beta(1, 2, (6, 30)))
    options = Options(baselines=("r0", "r1", "r2"), pool="each")
    found = by_page(model, matrix, options, [1.0, 5.0])
    assert len(found) == 3
    for comparison in found:
        assert {"mean", "zrisk", "georisk", "trisk"} <= set(comparison["trusted"]["tests"])
        for alpha, page in zip([1.0, 5.0], comparison["tables"], strict=True):
            assert_same(page, by_program(matrix, options, comparison["baseline"], alpha), 0.05)


@pytest.mark.parametrize("size", [1e-12, 1e-14, 1e-16, 1e-30])
def test_a_topic_that_is_nearly_all_of_the_runs_hides_nothing(model: Tab, size: float) -> None:
    """RBP with a small p gives such scores: one document on top, the others deep down."""
    values = np.random.default_rng(3).beta(1, 2, (4, 9))
    values[:, 1:] *= size
    matrix, options = named(values), Options(baselines=("r2",))
    (comparison,) = by_page(model, matrix, options, [1.0, 5.0])
    for alpha, page in zip([1.0, 5.0], comparison["tables"], strict=True):
        assert_same(page, by_program(matrix, options, comparison["baseline"], alpha), 0.05)


@pytest.mark.parametrize("size", [1e-160, 1e-200])
def test_tiny_scores_have_their_departures_in_a_population_of_two(model: Tab, size: float) -> None:
    values = np.random.default_rng(4).beta(1, 2, (4, 9)) * size
    matrix = named(values)
    options = Options(baselines=("r2",), population="baselines")
    (comparison,) = by_page(model, matrix, options, [1.0])
    program = by_program(matrix, options, comparison["baseline"], 1.0)
    found = numbers(comparison["tables"][0]["zrisk"]["p"])
    np.testing.assert_allclose(found, numbers(program["zrisk_p"]), rtol=1e-6)
    assert np.isfinite(found).sum() == 3


# ---------------------------------------------------------------- what the page does not know


def page_with(matrix: ScoreMatrix, edit: Callable[[dict[str, Any]], None], folder: Path) -> Path:
    """The page of a matrix, its data changed as a changed program would change them."""
    options = Options(baselines=("r1",), alphas=(1.0, 5.0))
    table = risk_table([matrix], options.wanted, options=options)
    data = page_data([matrix], [table])
    edit(data)
    path = folder / "page.html"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(riskcli.page.document, "page_data", lambda *_: data)
        path.write_text(as_page(Page("changed", [matrix], [table])), encoding="utf-8")
    return path


def random_matrix() -> ScoreMatrix:
    return named(np.random.default_rng(7).beta(1, 2, (5, 30)))


def columns_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        table["columns"]
        for m in data["measures"]
        for c in m["comparisons"]
        for table in c["tables"]
    ]


def test_a_measure_without_a_formula_in_the_page_is_shown_as_computed(
    browser: Any, tmp_path: Path
) -> None:
    values = [0.5, -1.25, 0.25, 0.125, -2.0]

    def add(data: dict[str, Any]) -> None:
        data["riskMeasures"].append(
            {"id": "worst", "title": "Worst", "decimals": 3, "dependsOnAlpha": True,
             "paired": False, "nonnegative": False}
        )  # fmt: skip
        for columns in columns_of(data):
            columns |= {"worst": packed(np.array(values)), "rank_worst": [1, 4, 2, 3, 5]}

    with tab(browser) as page:
        page.open(page_with(random_matrix(), add, tmp_path))
        shown = dict(zip(page.runs(), map(float, page.column("worst")), strict=True))
        assert shown == dict(zip(random_matrix().runs, values, strict=True))
        page.click("#board th[data-column=worst] button")
        assert page.ranks("worst") == ["1", "2", "3", "4", "5"]
        page.set_alpha(2)
        assert page.column("worst") == [""] * 5
        assert "Worst: computed at α = 1, 5 only" in page.page.text_content("#fixed")
        page.set_alpha(5)
        assert len(set(page.column("worst"))) == 5
        assert page.page.text_content("#fixed") == ""
        assert "Worst" not in page.page.locator("#curve option").all_text_contents()
        assert page.messages == []


def test_a_formula_that_the_program_changed_is_not_computed_in_the_page(
    browser: Any, tmp_path: Path
) -> None:
    def change(data: dict[str, Any]) -> None:
        for columns in columns_of(data):
            columns["trisk"] = packed(np.linspace(-1.0, 1.0, 5))

    with tab(browser) as page:
        page.open(page_with(random_matrix(), change, tmp_path))
        assert sorted(map(float, page.column("trisk"))) == [-1.0, -0.5, 0.0, 0.5, 1.0]
        page.set_alpha(2)
        assert page.column("trisk") == [""] * 5
        assert all(page.column("zrisk"))
        assert "TRisk: computed at α = 1, 5 only" in page.page.text_content("#fixed")


def test_a_test_that_the_program_changed_is_not_computed_in_the_page(
    browser: Any, tmp_path: Path
) -> None:
    def change(data: dict[str, Any]) -> None:
        for columns in columns_of(data):
            columns["georisk_p_adj"] = packed(np.full(5, 0.001))
            columns["georisk_flag"] = "+++++"

    with tab(browser) as page:
        page.open(page_with(random_matrix(), change, tmp_path))
        assert page.marks("georisk") == ["better"] * 5
        page.set_alpha(2)
        assert page.marks("georisk") == [""] * 5 and all(page.column("georisk"))
        note = "Marks ▲ ▼ of GeoRisk: tested at α = 1, 5 only"
        assert note in page.page.text_content("#fixed")


@pytest.mark.parametrize("baseline", ["r0", "@mean"])
def test_a_frozen_population_is_kept_and_its_tests_come_from_the_table(
    model: Tab, baseline: str
) -> None:
    """Members that are not on the page: values follow alpha, tests are not made up."""
    values = np.random.default_rng(4).beta(1, 2, (6, 12))
    population, matrix = freeze(named(values[2:])), named(values[:4])
    options = Options(baselines=(baseline,), alphas=(1.0,), population=population)
    (found,) = by_page(model, matrix, options, [5.0])
    assert not {"zrisk", "georisk"} & set(found["trusted"]["tests"])
    assert {"zrisk", "georisk", "trisk"} <= set(found["trusted"]["values"])
    program = by_program(matrix, options, baseline, 5.0)
    for name in ("zrisk", "georisk"):
        page = numbers(found["tables"][0][name]["value"])
        np.testing.assert_allclose(page, numbers(program[name]), rtol=1e-9)
        assert found["tables"][0][name]["p"] is None
