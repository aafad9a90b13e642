"""The page as it is used: its address, what is taken along, two runs, keyboard, speed, paper."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riskcli import Rules, evaluate, population_bias, risk_table
from riskcli.effectiveness.ranking import rank
from riskcli.risk.paired import Paired
from riskcli.trec.qrels import read_qrels
from riskcli.trec.runs import read_run
from tests.helpers.browser import FLAGS, Tab, chromium, program, tab
from tests.helpers.program import QRELS, SAMPLES, Key, riskeval

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    ran = riskeval(
        "report", SAMPLES, "-b", "indriCASP", "--also", "@mean", "-a", "1,5", "--documents", "5",
        "--collection", "Simulated pages", "--date", "18 November", "-o", path,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "documents make the page 0." in ran.err
    return path


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[Tab]:
    with tab(browser) as page:
        page.open(report)
        yield page
        assert page.messages == []


def said(page: Tab) -> dict[str, Any]:
    """What the controls say."""
    return dict(
        page.page.evaluate(
            """() => Object.fromEntries(["measure", "baseline", "curve", "one", "other"].map((id) =>
              [id, document.getElementById(id).selectedOptions[0].text]).concat(
              ["alpha", "slider", "filter"].map((id) => [id, document.getElementById(id).value]),
              [["weight", document.getElementById("weight").textContent]]))"""
        )
    )


def numbers(page: Tab) -> list[list[str]]:
    return [page.runs(), *(page.column(name) for name in ("mean", "urisk", "trisk", "georisk"))]


def assert_controls_say_what_is_shown(page: Tab) -> None:
    """The numbers are those of `score` for what the controls say."""
    control = said(page)
    ran = riskeval(
        "score", SAMPLES, "-m", control["measure"], "-b", control["baseline"],
        "-a", control["alpha"], "-f", "json",
    )  # fmt: skip
    rows = {row["run"]: row for row in json.loads(ran.out)["rows"]}
    for name in ("mean", "urisk", "trisk", "georisk"):
        shown = [float(value) if value else None for value in page.column(name)]
        assert shown == [pytest.approx(rows[run][name]) for run in page.runs()]
    assert float(control["slider"]) == pytest.approx(float(control["alpha"]))
    assert float(control["weight"]) == pytest.approx(1 + float(control["alpha"]))
    title = page.page.text_content("#curves svg .title >> nth=1")
    assert title == control["curve"]


def use(page: Tab) -> None:
    """Choices of all kinds, none of which the page opens with."""
    page.choose("measure", "nDCG@20")
    page.choose("baseline", "@mean")
    page.set_alpha(6)
    page.choose("curve", "TRisk")
    page.click("#board th[data-column=georisk] button")
    page.page.locator("#board tbody button", has_text="steadyHand").click()
    page.settle()


# ---------------------------------------------------------------- who is there


def test_ranks_with_each_other_run_left_out_stand_beside_the_rank(opened: Tab) -> None:
    """As `sweep --over population` has them, at the alphas of the table; elsewhere unknown."""
    evaluation = evaluate([SAMPLES], qrels=QRELS, rules=Rules(measures=("ERR@20", "nDCG@20")))
    moved = 0
    for measure in ("ERR@20", "nDCG@20"):
        opened.choose("measure", measure)
        for alpha in (1.0, 5.0):
            opened.set_alpha(alpha)
            parts = population_bias(evaluation, of="georisk", alpha=alpha).parts
            (part,) = (part for part in parts if part.measure == measure)
            expected = {}
            for row, run in enumerate(part.runs):
                best, worst = part.range_of(row)[2:]
                expected[run] = f"{best:.0f}" if best == worst else f"{best:.0f}–{worst:.0f}"
                moved += best != worst
            cells = opened.page.locator("#board td[data-column=georisk_range]").all_text_contents()
            assert dict(zip(opened.runs(), cells, strict=True)) == expected
    assert moved
    opened.set_alpha(3)
    cells = opened.page.locator("#board td[data-column=georisk_range]").all_text_contents()
    assert set(cells) == {"–"}


def test_in_a_frozen_population_its_members_are_left_out_in_turn(
    browser: Any, tmp_path: Path
) -> None:
    """As `sweep --over population --population FILE` has them."""
    file, call = tmp_path / "p.json", ("-q", QRELS, "-m", "ERR@20", "--quiet")
    assert riskeval("population", "freeze", SAMPLES, *call, "-o", file).code == 0
    some = [SAMPLES / f"{name}.run" for name in ("neuralMix", "steadyHand", "coarseTies")]
    ran = riskeval(
        "report", *some, *call, "-a", "5", "--population", file, "-o", tmp_path / "r.html"
    )
    assert ran.code == 0, ran.err
    with tab(browser) as page:
        page.open(tmp_path / "r.html")
        page.set_alpha(5)
        cells = page.page.locator("#board td[data-column=georisk_range]").all_text_contents()
        shown = dict(zip(page.runs(), cells, strict=True))
    bias = riskeval("sweep", "--over", "population", *some, *call, "-a", "5", "--population", file,
                    "--of", "georisk", "-f", "json")  # fmt: skip
    ends = {row["run"]: (row["rank_min"], row["rank_max"]) for row in json.loads(bias.out)["rows"]}
    assert shown == {
        run: f"{best}" if best == worst else f"{best}–{worst}"
        for run, (best, worst) in ends.items()
    }


def test_no_range_where_everyone_has_a_population_of_its_own(browser: Any, tmp_path: Path) -> None:
    ran = riskeval("report", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "--population",
                   "baselines", "-o", tmp_path / "r.html")  # fmt: skip
    assert ran.code == 0
    with tab(browser) as page:
        page.open(tmp_path / "r.html")
        assert page.page.locator("#board th[data-column=georisk]").count() == 1
        assert page.page.locator("#board th[data-column=georisk_range]").count() == 0


# ---------------------------------------------------------------- the address


def test_back_brings_controls_and_numbers_that_agree(browser: Any, report: Path) -> None:
    with tab(browser) as page:
        page.open(report)
        use(page)
        before, control = numbers(page), said(page)
        page.page.wait_for_timeout(400)
        page.page.goto("data:text/html,elsewhere")
        page.page.go_back()
        page.page.wait_for_selector("#app:not([hidden])")
        page.page.wait_for_timeout(300)
        assert said(page) == control
        assert numbers(page) == before
        assert_controls_say_what_is_shown(page)
        assert control["alpha"] == "6" and control["baseline"] == "@mean"


def test_reload_and_a_link_bring_the_same_page(browser: Any, report: Path) -> None:
    with tab(browser) as page, tab(browser) as other:
        page.open(report)
        use(page)
        page.page.fill("#filter", "a")
        page.settle()
        page.page.wait_for_timeout(400)
        before, control = numbers(page), said(page)
        page.page.reload()
        page.page.wait_for_selector("#app:not([hidden])")
        assert (numbers(page), said(page)) == (before, control)
        other.page.goto(page.page.url)
        other.page.wait_for_selector("#app:not([hidden])")
        assert (numbers(other), said(other)) == (before, control)
        assert other.page.locator("#board button[aria-pressed=true]").all_text_contents() == (
            page.page.locator("#board button[aria-pressed=true]").all_text_contents()
        )


def test_a_restored_tab_brings_the_same_page(browser: Any, report: Path, tmp_path: Path) -> None:
    """As Chromium brings its tabs back when it is started again."""
    settings = {
        "user_data_dir": tmp_path / "profile",
        "executable_path": program(),
        "args": [*FLAGS, "--restore-last-session"],
    }
    chromium_type = browser.browser_type
    context = chromium_type.launch_persistent_context(**settings)
    first = Tab(context.new_page())
    first.open(report)
    use(first)
    first.page.wait_for_timeout(1000)
    before, control = numbers(first), said(first)
    context.close()
    context = chromium_type.launch_persistent_context(**settings)
    restored = Tab(next(page for page in context.pages if "report.html" in page.url))
    restored.page.wait_for_selector("#app:not([hidden])")
    restored.settle()
    assert (numbers(restored), said(restored)) == (before, control)
    context.close()


def test_back_and_forward_go_through_choices(opened: Tab) -> None:
    first = numbers(opened)
    opened.choose("measure", "nDCG@20")
    second = numbers(opened)
    opened.choose("baseline", "@mean")
    opened.page.go_back()
    opened.settle()
    assert numbers(opened) == second and said(opened)["baseline"] == "indriCASP"
    opened.page.go_back()
    opened.settle()
    assert numbers(opened) == first and said(opened)["measure"] == "ERR@20"
    opened.page.go_forward()
    opened.settle()
    assert numbers(opened) == second


def test_an_address_of_things_that_are_not_there_opens_the_page(browser: Any, report: Path) -> None:
    address = (
        "#measure=none&baseline=nobody&alpha=-3&sort=-nothing&run=ghost&topic=x&of=y&columns=z"
    )
    with tab(browser) as page:
        page.page.goto(report.as_uri() + address)
        page.page.wait_for_selector("#app:not([hidden])")
        assert said(page)["measure"] == "ERR@20" and said(page)["alpha"] == "1"
        assert len(page.runs()) == 9
        assert page.messages == []


# ---------------------------------------------------------------- what is seen first


def test_what_a_reader_wants_first(opened: Tab) -> None:
    context = opened.page.text_content(".context")
    for part in ("Simulated pages", "ERR@20, nDCG@20", "50 topics", "9 runs", "18 November"):
        assert part in context
    finding = opened.page.text_content("#finding")
    assert finding.startswith("boldRerank leads by GeoRisk of ERR@20 at α = 1, over 50 topics")
    assert finding.endswith("; 3 other runs may be the best as well.")
    table = risk_table(evaluate([SAMPLES], qrels=QRELS), "indriCASP")
    shown = table.verdict.of("ERR@20, baseline indriCASP")
    told = opened.page.locator("#verdict p").all_text_contents()
    assert told == [*shown.sentences] and "loses over 20 % on 11 of 50" in told[1]
    opened.set_alpha(2)
    told = opened.page.locator("#verdict p").all_text_contents()
    assert told == [f"At α = 1: {shown.sentences[0]}", *shown.sentences[1:]]
    finding = opened.page.text_content("#finding")
    assert finding.endswith("how certain that is was computed at α = 1, 5 only.")


def test_the_first_run_shown_is_the_best_that_is_not_the_baseline(
    browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    riskeval("report", SAMPLES, "-m", "ERR@20", "-b", "boldRerank", "-o", path)
    with tab(browser) as page:
        page.open(path)
        assert page.runs()[0] == "boldRerank"
        assert page.page.text_content("#run-name") == "neuralMix against boldRerank"
        pressed = page.page.locator("#board button[aria-pressed=true]").all_text_contents()
        assert "boldRerank" not in pressed
        differences = page.page.locator("#all-topics td[data-column=delta]").all_text_contents()
        assert len(set(differences)) > 10


def test_details_on_demand_are_those_of_score(opened: Tab) -> None:
    opened.page.click("#columns summary")
    opened.page.click("#column-choice button >> nth=0")
    opened.settle()
    frame = _score_frame("indriCASP", 1.0)
    for run, low, p, effect in zip(
        opened.runs(), opened.column("georisk_interval"), opened.column("georisk_p_adj"),
        opened.column("mean_dz"), strict=True,
    ):  # fmt: skip
        row = frame[run]
        assert float(low) == pytest.approx(row["georisk_lo"], rel=1e-12)
        known = [float(x) if x else None for x in (p, effect)]
        assert known == [row["georisk_p_adj"], pytest.approx(row["mean_dz"])]
    opened.set_alpha(2)
    opened.settle()
    assert set(opened.column("georisk_interval")) == {""}
    assert "Intervals, letters, # range: computed at α = 1, 5 only." in opened.page.text_content(
        "#fixed"
    )


def _score_frame(baseline: str, alpha: float) -> dict[str, dict[str, Any]]:
    """The rows of `score` by run."""
    arguments = ("-m", "ERR@20", "-b", baseline, "-a", f"{alpha:g}", "-f", "json")
    return {
        row["run"]: row for row in json.loads(riskeval("score", SAMPLES, *arguments).out)["rows"]
    }


def test_names_teams_and_descriptions(browser: Any, tmp_path: Path) -> None:
    about, path = tmp_path / "about.csv", tmp_path / "report.html"
    about.write_text('run,name,team\nneuralMix,"Neural, mixed",B\nindriCASP,,A\n')
    ran = riskeval("report", SAMPLES, "-b", "indriCASP", "--about-runs", about, "-o", path)
    assert ran.code == 0
    with tab(browser) as page:
        page.open(path)
        assert "Neural, mixed" in page.runs() and "indriCASP" in page.runs()
        teams = page.page.locator("#board td[data-column=team]").all_text_contents()
        assert sorted(teams)[:3] == ["A", "B", "–"]
        page.click("#board th[data-column=team] button")
        assert page.page.locator("#board td[data-column=team]").all_text_contents()[-2:] == [
            "A",
            "B",
        ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("run,colour\na,b\n", "about.csv:1: bad-teams: the header is 'run,colour'"),
        ("name\nb\n", "expected the columns run (and perhaps name, team, description)"),
        ("run,name\nneuralMix\n", "about.csv:2: bad-teams: found 1 columns, expected 2"),
        (
            "run,name\nneuralMix,a\nneuralMix,b\n",
            "about.csv:3: bad-teams: run 'neuralMix' is already listed on line 2",
        ),
        ("run,name\nnobody,a\n", "no run is named 'nobody'"),
    ],
)
def test_wrong_descriptions_are_refused(tmp_path: Path, text: str, message: str) -> None:
    about = tmp_path / "about.csv"
    about.write_text(text)
    path = tmp_path / "report.html"
    ran = riskeval("report", SAMPLES, "-b", "indriCASP", "--about-runs", about, "-o", path)
    assert ran.code == 2 and message in ran.err and not path.exists()


# ---------------------------------------------------------------- taking things along


def pasted(page: Tab) -> list[list[str]]:
    """What Ctrl+C puts on the clipboard, as a plain text field receives it."""
    page.page.evaluate(
        """() => document.addEventListener("copy", (event) => {
             window.copied = event.clipboardData.getData("text/plain"); })"""
    )
    page.page.keyboard.press("Control+c")
    return [line.split("\t") for line in page.page.evaluate("window.copied").splitlines()]


def test_a_copied_table_has_a_cell_for_every_number(opened: Tab) -> None:
    opened.page.evaluate(
        "() => document.getSelection().selectAllChildren(document.getElementById('board'))"
    )
    heading, *rows = pasted(opened)
    frame = _score_frame("indriCASP", 1.0)
    assert [row[0] for row in rows] == opened.runs()
    assert all(len(row) == len(heading) for row in rows)
    for title, name in (("URisk", "urisk"), ("URisk rank", "rank_urisk"), ("ZRisk", "zrisk")):
        for row in rows:
            cell, known = row[heading.index(title)], frame[row[0]][name]
            assert (float(cell) if cell else None) == (
                known if known is None else pytest.approx(known, rel=1e-15)
            )
    assert not any("−" in cell for row in rows for cell in row)


def test_a_few_copied_rows_are_whole_rows(opened: Tab) -> None:
    opened.page.evaluate(
        """() => { const rows = document.querySelectorAll("#board tbody tr");
          document.getSelection().setBaseAndExtent(rows[1].cells[3], 0, rows[2].cells[6], 1); }"""
    )
    heading, *rows = pasted(opened)
    assert heading[0] == "run" and [row[0] for row in rows] == opened.runs()[1:3]


def test_one_copied_cell_has_a_minus_that_spreadsheets_read(opened: Tab) -> None:
    opened.page.evaluate(
        """() => { const cell = document.querySelector("#board td[data-column=zrisk]");
          document.getSelection().selectAllChildren(cell); }"""
    )
    ((cell,),) = pasted(opened)
    assert float(cell) < 0


def saved(page: Tab, button: str) -> str:
    with page.page.expect_download() as waiting:
        page.page.click(button)
    return Path(waiting.value.path()).read_text(encoding="utf-8")


def test_csv_and_json_are_those_of_score(opened: Tab) -> None:
    ran = riskeval("score", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "-a", "5", "-f", "json")
    program = json.loads(ran.out)
    opened.set_alpha(5)
    page = json.loads(saved(opened, "#json"))
    order = [row["run"] for row in page["rows"]]
    rows = sorted(program["rows"], key=lambda row: order.index(row["run"]))
    assert page["rows"] == rows
    assert page["inputs"] == program["inputs"] and page["settings"]["alphas"] == [5]
    table = list(csv.DictReader(io.StringIO(saved(opened, "#csv"))))
    assert list(table[0]) == list(rows[0])
    for shown, known in zip(table, rows, strict=True):
        for name, value in known.items():
            if isinstance(value, str) or value is None:
                assert shown[name] == (value or "")
            else:
                assert float(shown[name]) == value


def test_at_another_alpha_csv_holds_what_the_page_computes(opened: Tab) -> None:
    opened.set_alpha(2.5)
    table = {row["run"]: row for row in csv.DictReader(io.StringIO(saved(opened, "#csv")))}
    for run, known in _score_frame("indriCASP", 2.5).items():
        for name in ("mean", "urisk", "trisk", "zrisk", "georisk", "trisk_p_adj", "georisk_p_adj"):
            cell = table[run][name]
            expected = known[name] if known[name] is None else pytest.approx(known[name], rel=1e-6)
            assert (float(cell) if cell else None) == expected
        assert table[run]["georisk_flag"] == known["georisk_flag"]
        assert table[run]["georisk_lo"] == ""


def test_figures_are_saved_as_files_of_their_own(opened: Tab, tmp_path: Path) -> None:
    text = saved(opened, "#tradeoff .save button >> nth=0")
    assert text.startswith("<svg") and "<title>Gain against risk of every run</title>" in text
    assert "class=" not in text and "neuralMix" in text
    with opened.page.expect_download() as waiting:
        opened.page.click("#tradeoff .save button >> nth=1")
    assert Path(waiting.value.path()).read_bytes().startswith(b"\x89PNG")


# ---------------------------------------------------------------- two runs


def test_two_runs_topic_by_topic(opened: Tab) -> None:
    matrix = evaluate([SAMPLES], qrels=QRELS).matrices[0]
    opened.choose("one", "steadyHand")
    opened.choose("other", "caspPlus")
    opened.set_alpha(5)
    one, other = (matrix.values[matrix.runs.index(run)] for run in ("steadyHand", "caspPlus"))
    paired = Paired(one[None, :], other)
    sentence = opened.page.text_content("#pair")
    assert f"above caspPlus on {paired.wins[0]} topics" in sentence
    assert f"URisk at α = 5: {paired.urisk(5.0)[0]:.4f}".replace("-", "−") in sentence
    opened.click("#all-topics th[data-column=q] button")
    rows = opened.page.locator("#all-topics tbody tr")
    assert rows.count() == len(matrix.topics)
    for i in (0, 7, 31):
        cells = rows.nth(i).locator("th, td").all_text_contents()
        assert cells[0] == matrix.topics[i]
        without = Paired(np.delete(one, i)[None, :], np.delete(other, i)).urisk(5.0)[0]
        shown = [float(cell.replace("−", "-")) for cell in cells[1:6]]
        delta = one[i] - other[i]
        expected = [one[i], other[i], delta, delta * (6 if delta < 0 else 1), without]
        assert shown == pytest.approx(expected, abs=5.1e-5)


def test_which_topics_decide(browser: Any, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("run,t1,t2,t3\nbase,0.5,0.5,0.5\nlucky,1.0,0.4,0.4\nsteady,0.6,0.6,0.6\n")
    path = tmp_path / "report.html"
    riskeval("report", table, "-b", "base", "-o", path)
    with tab(browser) as page:
        page.open(path)
        page.choose("one", "lucky")
        assert "without t1 it would be another" in page.page.text_content("#pair")
        page.choose("one", "steady")
        assert "No single topic decides its sign." in page.page.text_content("#pair")


def test_from_a_topic_to_its_documents(opened: Tab) -> None:
    opened.choose("one", "steadyHand")
    assert not opened.page.is_visible("#documents")
    opened.page.locator("#all-topics tbody button", has_text="110").click()
    opened.settle()
    tables = opened.page.locator("#documents table")
    assert tables.locator("caption").all_text_contents() == ["steadyHand", "indriCASP"]
    grades = read_qrels(QRELS).judgements["110"]
    for side, name in enumerate(("steadyHand", "indriCASP")):
        first = rank(read_run(SAMPLES / f"{name}.run"), 5)["110"]
        assert tables.nth(side).locator("th[scope=row]").all_text_contents() == first
        shown = tables.nth(side).locator("td:nth-of-type(2)").all_text_contents()
        assert shown == [str(grades[doc]) if doc in grades else "–" for doc in first]
    assert "topic=110" in opened.page.url


def test_documents_need_runs(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("run,t1,t2\na,0.5,0.5\nb,1.0,0.4\n")
    ran = riskeval("report", table, "-b", "a", "--documents", "3", "-o", tmp_path / "x.html")
    assert ran.code == 2 and "from runs and qrels only" in ran.err


def test_both_populations(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    riskeval("report", SAMPLES, "-m", "ERR@20", "-b", "c*", Key("both-populations"), "-o", path)
    with tab(browser) as page:
        page.open(path)
        for choice, rule in (
            ("all runs", "all"),
            ("the baselines and the run itself", "baselines"),
        ):
            page.choose("population", choice)
            ran = riskeval(
                "score", SAMPLES, "-m", "ERR@20", "-b", "c*", "--population", rule, "-f", "json"
            )
            rows = {row["run"]: row for row in json.loads(ran.out)["rows"]}
            shown = dict(zip(page.runs(), map(float, page.column("zrisk")), strict=True))
            assert shown == {run: pytest.approx(row["zrisk"]) for run, row in rows.items()}


def test_measures_side_by_side(opened: Tab) -> None:
    opened.page.click("#side summary")
    opened.settle()
    rows = opened.page.locator("#measures tbody tr")
    ran = riskeval("score", SAMPLES, "-b", "indriCASP", "-a", "1", "-f", "json")
    known = {(r["run"], r["measure"]): r for r in json.loads(ran.out)["rows"]}
    for i in range(9):
        run, *cells = rows.nth(i).locator("th, td").all_text_contents()
        for measure, cell in zip(("ERR@20", "nDCG@20"), cells, strict=True):
            row = known[run, measure]
            assert cell == f"{row['georisk']:.4f} ({row['rank_georisk']})"


def test_letters_are_those_of_significance(opened: Tab) -> None:
    """Runs that share one cannot be told apart; at alphas of the table only."""
    opened.click("#columns summary")
    opened.click("#column-choice input[value=georisk_letters]")
    opened.click("#column-choice input[value=mean_letters]")
    for alpha in (1, 5):
        opened.set_alpha(alpha)
        ran = riskeval(
            "significance", SAMPLES, "-m", "ERR@20", "-a", str(alpha), "-f", "json",
            "-b", "indriCASP", "--between", "all",
        )  # fmt: skip
        for measure in ("mean", "georisk"):
            rows = [row for row in json.loads(ran.out)["rows"] if row["of"] == measure]
            known = {row["run"]: row["letters"] for row in rows}
            known |= {row["other"]: row["other_letters"] for row in rows}
            cells = opened.page.locator(f"#board td[data-column={measure}_letters]")
            shown = dict(zip(opened.runs(), cells.all_text_contents(), strict=True))
            assert shown == known and len(set(known.values())) > 2
    assert (
        "share a letter are not significantly different (tests of every pair; Holm)"
        in opened.page.text_content(".key")
    )
    opened.set_alpha(2)
    assert set(
        opened.page.locator("#board td[data-column=georisk_letters]").all_text_contents()
    ) == {"–"}
    assert "Intervals, letters, # range: computed at α = 1, 5 only." in opened.page.text_content(
        "#fixed"
    )


# ---------------------------------------------------------------- keyboard, screen reader, paper


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Any, report: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is absent")
    source = (Path(axe.__path__[0]) / "axe.min.js").read_text(encoding="utf-8")
    with tab(browser, color_scheme=scheme, bypass_csp=True) as page:
        page.open(report)
        page.page.add_script_tag(content=source)
        for _ in range(2):
            found = page.page.evaluate("async () => (await axe.run()).violations")
            told = [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found]
            assert told == []
            use(page)
            for part in ("#intervals", "#side", "#heat", "#columns", "#meanings"):
                page.click(f"{part} > summary")


def test_arrow_keys_go_from_mark_to_mark(opened: Tab) -> None:
    marks = opened.page.locator("#tradeoff [role=button]")
    assert opened.page.locator("#tradeoff [tabindex='0'][role=button]").count() == 1
    opened.page.locator("#tradeoff [tabindex='0'][role=button]").focus()
    name = "document.activeElement.getAttribute('aria-label')"
    first = opened.page.evaluate(name)
    assert opened.page.text_content("#tip") == first and opened.page.is_visible("#tip")
    opened.page.keyboard.press("End")
    last = opened.page.evaluate(name)
    assert last != first and "risk" in last
    assert opened.page.locator("#tradeoff [tabindex='0'][role=button]").count() == 1
    pressed = opened.page.locator("#board button[aria-pressed=true]").count()
    opened.page.keyboard.press("Enter")
    opened.settle()
    assert opened.page.locator("#board button[aria-pressed=true]").count() == pressed + 1
    assert marks.count() == 8


def test_a_click_in_a_figure_chooses_the_run(opened: Tab) -> None:
    name = opened.page.locator("#tradeoff .dot.other >> nth=0").get_attribute("aria-label")
    opened.page.locator("#tradeoff .dot.other >> nth=0").click()
    opened.settle()
    assert opened.page.text_content("#run-name").startswith(name.split(":")[0])
    assert name.split(":")[0] in opened.page.text_content("#chosen")


def test_controls_stay_in_sight(opened: Tab) -> None:
    opened.page.evaluate("document.getElementById('all-topics').scrollIntoView()")
    opened.settle()
    box = opened.page.locator("form.controls").bounding_box()
    assert 0 <= box["y"] < 5


def test_the_first_screen_of_a_phone_shows_run_mean_and_georisk(browser: Any, report: Path) -> None:
    with tab(browser, viewport={"width": 390, "height": 844}, has_touch=True) as page:
        page.open(report)
        headings = page.page.locator("#board thead th")
        assert [text.strip() for text in headings.all_text_contents()] == ["run", "Mean", "GeoRisk"]
        box = page.page.locator("#board").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["y"] < 300
        sizes = page.page.evaluate(
            """() => Array.from(document.querySelectorAll("svg text"), (t) => {
              const s = t.ownerSVGElement;
              const scale = s.getBoundingClientRect().width / s.viewBox.baseVal.width;
              return parseFloat(getComputedStyle(t).fontSize) * scale; })"""
        )
        assert min(sizes) >= 10.5
        assert page.page.evaluate("document.documentElement.scrollWidth") == 390


def test_paper_has_the_key_and_no_checksums(browser: Any, report: Path) -> None:
    with tab(browser) as page:
        page.open(report)
        page.page.click(".checksums summary")
        page.page.emulate_media(media="print")
        page.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.page.is_visible("#meanings dl") and page.page.is_visible(".key >> nth=0")
        assert not page.page.is_visible(".checksums")
        rank, value = page.page.evaluate(
            """() => ["#board .rank", "#board td span"].map((s) =>
              parseFloat(getComputedStyle(document.querySelector(s)).fontSize))"""
        )
        assert rank < value


def test_the_table_and_the_letters_of_figures_fit_on_paper(browser: Any, report: Path) -> None:
    """A4 less its margins; no heading holds a box, or it would not be repeated on the next page."""
    with tab(browser, viewport={"width": 688, "height": 1000}) as page:
        page.open(report)
        page.page.set_viewport_size({"width": 1366, "height": 768})
        page.settle()
        assert page.page.locator("#board thead th").count() == 11
        drawn = page.page.get_attribute("#curves svg", "width")
        page.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.page.emulate_media(media="print")
        page.page.set_viewport_size({"width": 688, "height": 1000})
        box = page.page.locator("#board").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 688
        sizes = page.page.evaluate(
            """() => Array.from(document.querySelectorAll("svg text"), (t) => {
              const s = t.ownerSVGElement;
              const scale = s.getBoundingClientRect().width / s.viewBox.baseVal.width;
              return parseFloat(getComputedStyle(t).fontSize) * scale; })"""
        )
        assert min(sizes) >= 10
        boxes = """Array.from(document.querySelectorAll("thead button"),
          (button) => getComputedStyle(button).display)"""
        assert set(page.page.evaluate(boxes)) == {"contents"}
        page.page.emulate_media(media="screen")
        page.page.set_viewport_size({"width": 1366, "height": 768})
        page.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert page.page.get_attribute("#curves svg", "width") == drawn


@pytest.mark.parametrize("width", [390, 800, 1100, 1280, 1920])
def test_georisk_is_in_sight_at_every_width(browser: Any, report: Path, width: int) -> None:
    with tab(browser, viewport={"width": width, "height": 900}) as page:
        page.open(report)
        box = page.page.locator("#board th[data-column=georisk]").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
        shown = page.page.locator("#board thead th").count() - 1
        assert page.page.text_content("#columns summary").startswith(f"Columns: {shown} of ")


# ---------------------------------------------------------------- size and speed


def many(folder: Path, runs: int, topics: int = 250) -> Path:
    """Two effectiveness measures of many runs."""
    rng = np.random.default_rng(5)
    path = folder / f"many{runs}.csv"
    lines = ["run,topic,measure,score"]
    for measure in ("AP", "nDCG@20"):
        values = np.clip(rng.beta(1, 2, (1, topics)) + rng.normal(0, 0.1, (runs, topics)), 0, 1)
        lines += [
            f"run{i},{q + 1},{measure},{score!r}"
            for i, row in enumerate(values.tolist())
            for q, score in enumerate(row)
        ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(("runs", "first", "each"), [(170, 100, 30), (500, 200, 60)])
def test_alpha_moves_at_once(
    browser: Any, tmp_path: Path, runs: int, first: float, each: float
) -> None:
    """Milliseconds that the page's own thread takes for script, style and layout."""
    path = tmp_path / "report.html"
    ran = riskeval("report", many(tmp_path, runs), "-b", "run0", "-o", path)
    assert ran.code == 0
    if runs == 170:
        assert path.stat().st_size < 1_500_000
    with tab(browser) as page:
        page.open(path)
        page.page.wait_for_timeout(1500)
        times = [_cost_of_alpha(page, 0.7 * step) for step in range(1, 10)]
        print(f"{runs} runs: first {times[0]:.0f} ms, then {np.median(times[1:]):.0f} ms")
        assert times[0] < first
        assert np.median(times[1:]) < each
        assert page.messages == []


def _cost_of_alpha(page: Tab, alpha: float) -> float:
    session = page.page.context.new_cdp_session(page.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        found = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
        kinds = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
        return 1000 * float(sum(found[kind] for kind in kinds))

    before = spent()
    page.page.evaluate(
        """async (alpha) => {
          const slider = document.getElementById("slider");
          slider.value = alpha;
          slider.dispatchEvent(new Event("input"));
          const frame = () => new Promise(requestAnimationFrame);
          await frame();
          await frame(); }""",
        alpha,
    )
    cost = spent() - before
    page.page.wait_for_timeout(300)
    session.detach()
    return cost
