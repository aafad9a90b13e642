"""The page of `riskeval report`, in a real browser and as a file."""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import re
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, stdtr

from riskcli.output.escape import visible
from tests.helpers.browser import Tab, chromium, tab
from tests.helpers.console import ROOT
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Key

pytestmark = pytest.mark.slow

VALUES = ("mean", "reward", "risk", "urisk", "trisk", "zrisk", "georisk")
RANKED = ("mean", "urisk", "trisk", "zrisk", "georisk")
FLAGGED = ("mean", "trisk", "zrisk", "georisk")
HOSTILE = [
    "<script>window.broken = 1</script>",
    "</script><script>window.broken = 2</script>",
    "<img src=x onerror='window.broken = 3'>",
    "=cmd()",
    "{{data}}",
    "__proto__",
    "a & b",
    "<!--",
    "\u202eevil",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    ran = riskeval("report", SAMPLES, "-b", "indriCASP", "--also", "@mean", "-o", path)
    assert (ran.code, ran.out) == (0, "")
    return path


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[Tab]:
    with tab(browser) as page:
        page.open(report)
        yield page
        assert page.messages == []
        assert page.requests == [report.as_uri()]


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """A server on this machine, and what it was asked for."""
    heard: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            self.send_error(404)

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", heard
    server.shutdown()
    thread.join()
    server.server_close()


def scores(path: Path, names: list[str], shift: float = 0.0) -> Path:
    rng = np.random.default_rng(3)
    values = rng.beta(1, 2, (len(names), 30)) + shift
    rows = [{"run": name, "scores": dict(zip(map(str, range(1, 31)), row, strict=True))}
            for name, row in zip(names, values.tolist(), strict=True)]  # fmt: skip
    long = [
        f'"{row["run"]}",{topic},m,{score!r}'
        for row in rows
        for topic, score in row["scores"].items()  # type: ignore[attr-defined]
    ]
    path.write_text("run,topic,measure,score\n" + "\n".join(long) + "\n", encoding="utf-8")
    return path


# ---------------------------------------------------------------- numbers


BY_SHUFFLES = ("zrisk", "georisk")
"""Measures that are tested by shuffles against a virtual baseline, which no page can draw again."""


def assert_shows(
    page: Tab, rows: list[dict[str, Any]], tested: Sequence[str] = tuple(FLAGGED)
) -> None:
    by_run = {row["run"]: row for row in rows}
    expected = [by_run[run] for run in page.runs()]
    assert len(expected) == len(rows)
    for name in VALUES:
        shown = [float(value) if value else np.nan for value in page.column(name)]
        known = [np.nan if row[name] is None else row[name] for row in expected]
        np.testing.assert_allclose(shown, known, rtol=1e-12, atol=1e-15, err_msg=name)
    for name in RANKED:
        assert page.ranks(name) == [str(row[f"rank_{name}"] or "") for row in expected], name
    for name in FLAGGED:
        flags = [row[f"{name}_flag"] for row in expected]
        assert page.marks(name) == (flags if name in tested else [""] * len(rows)), name


def score_rows(*arguments: str | Path) -> list[dict[str, Any]]:
    return list(json.loads(riskeval("score", *arguments, "-f", "json").out)["rows"])


@pytest.mark.parametrize("baseline", ["indriCASP", "@mean"])
def test_moving_alpha_gives_the_numbers_of_score(opened: Tab, baseline: str) -> None:
    alphas = (0.0, 0.7, 1.0, 5.0, 20.0, 137.5)
    listed = ",".join(f"{alpha:g}" for alpha in alphas)
    rows = score_rows(SAMPLES, "-b", baseline, "-a", listed)
    opened.choose("baseline", baseline)
    for measure in ("nDCG@20", "ERR@20"):
        opened.choose("measure", measure)
        for alpha in alphas:
            opened.set_alpha(alpha)
            wanted = [r for r in rows if r["measure"] == measure and r["alpha"] == alpha]
            assert_shows(opened, wanted, measures_tested(alpha, baseline))
    key = opened.page.text_content(".key")
    assert ("max-t over runs" in key) == (baseline == "@mean") and "Holm" in key


def measures_tested(alpha: float, baseline: str) -> list[str]:
    """The measures that the page tests: the table of alpha 1 came with it, others it computes."""
    away = baseline.startswith("@") and alpha != 1
    return [name for name in FLAGGED if not (away and name in BY_SHUFFLES)]


def test_the_slider_gives_the_numbers_of_score(opened: Tab) -> None:
    opened.page.focus("#slider")
    for _ in range(5):
        opened.page.keyboard.press("ArrowRight")
        opened.settle()
    assert opened.page.input_value("#alpha") == "1.5"
    rows = score_rows(SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "-a", "1.5")
    assert_shows(opened, rows)


@pytest.mark.parametrize(
    "arguments",
    [
        ("-b", "c*"),
        ("-b", "c*", "--population", "all", "--correction", "bh"),
        ("-b", "indriCASP", "--population", "baselines", "--correction", "none", "--gamma", "0.2"),
        ("-b", "@max", "--correction", "bonferroni"),
    ],
)
def test_sets_populations_and_corrections(
    browser: Any, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    path = tmp_path / "report.html"
    common: tuple[str | Path, ...] = (SAMPLES, "-m", "ERR@20", *arguments)
    riskeval("report", *common, "-o", path)
    with tab(browser) as page:
        page.open(path)
        for alpha in (0.0, 1.0, 3.0):
            page.set_alpha(alpha)
            rows = score_rows(*common, "-a", f"{alpha:g}")
            assert_shows(page, rows, measures_tested(alpha, arguments[1]))
        assert page.messages == []


def test_every_baseline_of_a_set_in_turn(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    common = (SAMPLES, "-m", "ERR@20", "-b", "c*", "--pool", "each")
    riskeval("report", *common, "-o", path)
    with tab(browser) as page:
        page.open(path)
        for baseline in ("coarseTies", "caspPlus"):
            page.choose("baseline", baseline)
            assert_shows(page, [r for r in score_rows(*common) if r["baseline"] == baseline])


@pytest.mark.parametrize("topics", [1, 2])
def test_few_topics(browser: Any, tmp_path: Path, topics: int) -> None:
    table = tmp_path / "few.csv"
    header = ",".join(f"t{place}" for place in range(topics))
    rows = ["a,0.2,0.3", "b,0.4,0.1", "c,0.2,0.3", "d,0,0"]
    kept = "\n".join(",".join(row.split(",")[: topics + 1]) for row in rows)
    table.write_text(f"run,{header}\n{kept}\n")
    riskeval("report", table, "-b", "a", "-o", tmp_path / "report.html")
    with tab(browser) as page:
        page.open(tmp_path / "report.html")
        assert_shows(page, score_rows(table, "-b", "a"))
        assert page.messages == []


def test_scores_below_zero_have_no_zrisk(browser: Any, tmp_path: Path) -> None:
    table = scores(tmp_path / "negative.csv", ["a", "b", "c"], shift=-0.2)
    riskeval("report", table, "-b", "a", "-o", tmp_path / "report.html")
    with tab(browser) as page:
        page.open(tmp_path / "report.html")
        assert page.column("zrisk") == page.column("georisk") == ["", "", ""]
        assert_shows(page, score_rows(table, "-b", "a"))
        assert page.messages == []


def test_distributions_are_those_of_scipy(browser: Any) -> None:
    source = ROOT / "riskcli" / "page" / "statistics.js"
    with tab(browser) as page:
        page.page.add_script_tag(content=source.read_text(encoding="utf-8"))
        x = np.linspace(-9, 9, 181).tolist()
        shown = page.page.evaluate("(x) => x.map(normal)", x)
        np.testing.assert_allclose(shown, ndtr(x), rtol=5e-14)
        assert page.page.evaluate("Number.isNaN(studentP(1, 1))"), "two topics are no test"
        for degrees in (2, 3, 8, 49, 249, 1000):
            t = np.linspace(0.01, 12, 100).tolist()
            shown = page.page.evaluate("([t, n]) => t.map((one) => studentP(one, n))", [t, degrees])
            np.testing.assert_allclose(shown, 2 * stdtr(degrees, -np.array(t)), rtol=2e-12)


# ---------------------------------------------------------------- handling


def test_headings_sort(opened: Tab) -> None:
    for column in ("mean", "urisk", "georisk", "losses20"):
        heading = f"#board th[data-column={column}]"
        orders = {}
        for _ in range(2):
            opened.click(f"{heading} button")
            values = [float(value) for value in opened.column(column) if value]
            orders[opened.page.get_attribute(heading, "aria-sort")] = values
        assert orders["descending"] == sorted(orders["descending"], reverse=True)
        assert orders["ascending"] == sorted(orders["descending"])
        assert opened.page.locator("#board [aria-sort]").count() == 1
    opened.click("#board th[data-column=run] button")
    assert opened.runs() == sorted(opened.runs())


def test_an_undefined_value_comes_last_either_way(opened: Tab) -> None:
    for _ in range(2):
        opened.click("#board th[data-column=trisk] button")
        assert opened.runs()[-1] == "indriCASP"


def test_alpha_sorts_again(opened: Tab) -> None:
    opened.click("#board th[data-column=georisk] button")
    before = opened.runs()
    opened.set_alpha(10)
    assert opened.runs() != before
    values = [float(value) for value in opened.column("georisk")]
    assert values == sorted(values, reverse=True)


def test_filter(opened: Tab) -> None:
    opened.page.fill("#filter", "CASP")
    opened.settle()
    assert sorted(opened.runs()) == ["caspPlus", "indriCASP"]
    assert opened.page.text_content("#count") == "2 of 9 runs"
    opened.page.fill("#filter", "")
    opened.settle()
    assert len(opened.runs()) == 9


def test_a_number_that_is_no_alpha_changes_nothing(opened: Tab) -> None:
    before = opened.column("urisk")
    opened.page.fill("#alpha", "-1")
    assert opened.page.get_attribute("#alpha", "aria-invalid") == "true"
    assert opened.column("urisk") == before


def test_the_keyboard_selects_a_run_and_shows_its_topics(opened: Tab) -> None:
    button = opened.page.locator("#board tbody button", has_text="plainBM25")
    button.focus()
    opened.page.keyboard.press("Enter")
    opened.settle()
    assert button.get_attribute("aria-pressed") == "true"
    assert opened.page.text_content("#run-name") == "plainBM25 against indriCASP"
    assert opened.page.locator("#curves .label", has_text="plainBM25").count() == 1
    assert opened.page.locator("#topics rect").count() == 50
    worst = opened.page.locator("#all-topics tbody tr")
    explained = riskeval(
        "explain", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "--run", "plainBM25",
        "--of", "urisk", "--top", "10", "-f", "json",
    )  # fmt: skip
    topics = [r["what"] for r in json.loads(explained.out)["rows"] if r["part"] == "topic"]
    assert [worst.nth(i).locator("th").text_content() for i in range(10)] == topics
    opened.page.keyboard.press("Enter")
    opened.settle()
    assert button.get_attribute("aria-pressed") == "false"


def test_focus_stays_where_it_is_while_rows_move(opened: Tab) -> None:
    opened.click("#board th[data-column=georisk] button")
    button = opened.page.locator("#board tbody button", has_text="boldRerank")
    button.focus()
    opened.page.evaluate(
        "(() => { const a = document.getElementById('alpha'); a.value = 20;"
        " a.dispatchEvent(new Event('input')); })()"
    )
    assert opened.page.evaluate("document.activeElement.textContent") == "boldRerank"


def test_the_table_is_one_to_a_screen_reader(opened: Tab) -> None:
    page = opened.page
    assert page.locator("#board thead th[scope=col]").count() == 11
    assert page.locator("#board tbody th[scope=row]").count() == 9
    assert page.locator("#board caption").count() == 1
    unnamed = page.evaluate(
        "Array.from(document.querySelectorAll('input, select, button, [role=button]'))"
        ".filter((e) => !e.labels?.length && !e.getAttribute('aria-label'))"
        ".filter((e) => !e.textContent.trim()).length"
    )
    assert unnamed == 0
    assert page.locator("svg:not([role=group][aria-label])").count() == 0
    assert page.get_attribute("html", "lang") == "en"


# ---------------------------------------------------------------- appearance


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(browser: Any, report: Path, scheme: str) -> None:
    with tab(browser, color_scheme=scheme) as page:
        page.open(report)
        page.set_alpha(5)
        for run in ("caspPlus", "oldTFIDF", "plainBM25", "steadyHand"):
            page.page.locator("#board tbody button", has_text=run).click()
        pairs = page.page.evaluate(
            """() => {
              const back = (e) => { for (; e; e = e.parentElement) {
                const c = getComputedStyle(e).backgroundColor;
                if (c !== "rgba(0, 0, 0, 0)") return c; } return "rgb(255, 255, 255)"; };
              const all = document.querySelectorAll(
                "h1, label, td, th, button, .mark, .rank, #count, p, dt, dd, figcaption, text");
              return Array.from(all).map((e) => { const s = getComputedStyle(e);
                return [e instanceof SVGElement ? s.fill : s.color, back(e)]; });
            }"""
        )
        for front, back in {tuple(pair) for pair in pairs}:
            light, dark = sorted([luminance(front), luminance(back)], reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (front, back)


def test_a_phone_scrolls_down_only(browser: Any, report: Path) -> None:
    with tab(browser, viewport={"width": 360, "height": 740}) as page:
        page.open(report)
        assert page.page.evaluate("document.documentElement.scrollWidth") == 360


def test_print_shows_the_whole_table(browser: Any, report: Path) -> None:
    with tab(browser) as page:
        page.open(report)
        page.page.emulate_media(media="print")
        assert not page.page.is_visible("#filter")
        assert page.page.is_visible("#board")
        box = ".parentElement"
        assert page.page.evaluate(
            f"getComputedStyle(document.getElementById('board'){box}).overflowX"
        ) == "visible"  # fmt: skip


def test_without_scripts_there_is_a_table(browser: Any, report: Path) -> None:
    with tab(browser, java_script_enabled=False) as page:
        page.page.goto(report.as_uri())
        assert page.page.locator("noscript table tbody tr").count() == 18
        assert page.page.is_visible("noscript table >> nth=0")


# ---------------------------------------------------------------- safety


def test_hostile_names_are_shown_and_do_nothing(browser: Any, tmp_path: Path) -> None:
    table = scores(tmp_path / "hostile.csv", HOSTILE)
    title = "</title><script>window.broken = 4</script>"
    path = tmp_path / "report.html"
    ran = riskeval("report", table, "-b", HOSTILE[0], "--title", title, "-o", path)
    assert ran.code == 0, ran.err
    with tab(browser) as page:
        page.open(path)
        assert sorted(page.runs()) == sorted(map(visible, HOSTILE))
        for place in range(len(HOSTILE)):
            page.page.locator("#board tbody button").nth(place).click()
        assert page.page.title() == title
        assert page.page.evaluate("window.broken") is None
        assert page.page.locator("script").count() == 2
        assert page.page.locator("img").count() == 0
        assert page.messages == []
        assert page.requests == [path.as_uri()]


def test_the_policy_stops_what_is_not_of_the_page(
    browser: Any, report: Path, listener: tuple[str, list[str]]
) -> None:
    address, heard = listener
    with tab(browser) as page:
        page.open(report)
        page.page.evaluate(
            """(address) => {
              const script = document.createElement("script");
              script.textContent = "window.broken = 1";
              const image = document.createElement("img");
              image.src = `${address}/image.png`;
              const style = document.createElement("link");
              style.rel = "stylesheet";
              style.href = `${address}/style.css`;
              document.head.append(script, style, image);
              document.body.setAttribute("style", "color: rgb(1, 2, 3)");
              fetch(`${address}/data`).catch(() => {});
            }""",
            address,
        )
        page.page.wait_for_timeout(300)
        assert page.page.evaluate("window.broken") is None
        assert page.page.evaluate("getComputedStyle(document.body).color") != "rgb(1, 2, 3)"
        assert len(page.messages) >= 4
    assert heard == []


def test_the_policy_names_the_very_style_and_script(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert "unsafe" not in policy and policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not re.search(r"(src|href)=[\"'](?!data:,)", text)
    assert "style=" not in text


# ---------------------------------------------------------------- the file


def test_many_runs_open_at_once(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    values = np.clip(rng.beta(1, 2, (1, 250)) + rng.normal(0, 0.1, (150, 250)), 0, 1)
    table, path = tmp_path / "many.csv", tmp_path / "report.html"
    lines = [f"run{i}," + ",".join(map(repr, row)) for i, row in enumerate(values.tolist())]
    header = "run," + ",".join(f"t{q}" for q in range(250))
    table.write_text("\n".join([header, *lines]) + "\n")
    riskeval("report", table, "-b", "run0", "-o", path)
    assert path.stat().st_size < 3_000_000
    with tab(browser) as page:
        began = time.perf_counter()
        page.open(path)
        assert time.perf_counter() - began < 5
        step = page.page.evaluate(
            """() => { const slider = document.getElementById("slider");
              const began = performance.now();
              for (let i = 0; i < 10; i += 1) { slider.value = i;
                slider.dispatchEvent(new Event("input")); document.body.offsetHeight; }
              return (performance.now() - began) / 10; }"""
        )
        assert step < 500
        assert len(page.runs()) == 150


def test_the_same_inputs_give_the_same_file(report: Path, tmp_path: Path) -> None:
    shutil.copytree(SAMPLES, tmp_path / "elsewhere")
    shutil.copy(QRELS, tmp_path)
    files = sorted((tmp_path / "elsewhere").glob("*.run"), reverse=True)
    again = tmp_path / "again.html"
    riskeval(
        "report", *files, "-q", tmp_path / QRELS.name, "-b", "indriCASP", "--also", "@mean",
        "--jobs", "1", "-o", again,
    )  # fmt: skip
    assert again.read_bytes() == report.read_bytes()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--loss", "smooth"),
        ("--convention", "minus"),
        (Key("test", "swap"),),
        (Key("family", "all"),),
    ],
)
def test_what_the_page_lacks_is_refused(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    path = tmp_path / "report.html"
    ran = riskeval("report", SAMPLES, "-b", "indriCASP", *arguments, "-o", path)
    assert ran.code == 2 and "the page supports" in ran.err
    assert not path.exists()


def test_inputs_with_checksums_settings_and_version_are_in_the_page(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    digest = hashlib.sha256((SAMPLES / "indriCASP.run").read_bytes()).hexdigest()
    assert digest in text
    assert "partial46 (4)" in text
    assert "<dt>correction</dt><dd>holm</dd>" in text
    assert re.search(r"<p>riskeval \d", text)
