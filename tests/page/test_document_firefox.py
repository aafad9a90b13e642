"""The page's state in Firefox, which keeps formats on reload: controls and numbers always agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.firefox import Firefox, firefox
from tests.helpers.program import QRELS, SAMPLES, riskeval

pytestmark = pytest.mark.slow

READY = "document.getElementById('app')?.hidden === false"
RESTED = "document.getElementById('app')?.getAttribute('aria-busy') !== 'true'"
SHOWN = """(() => {
  const byId = (id) => document.getElementById(id);
  const column = (name) => Array.from(document.querySelectorAll(`#board td[data-column=${name}]`),
    (cell) => cell.dataset.value ?? "");
  return {
    chosen: Object.fromEntries(["measure", "baseline", "curve", "one", "other"].map((id) =>
      [id, byId(id).selectedOptions[0].text])),
    typed: Object.fromEntries(["alpha", "slider", "filter"].map((id) => [id, byId(id).value])),
    weight: byId("weight").textContent,
    runs: Array.from(document.querySelectorAll("#board tbody th button"), (b) => b.textContent),
    sorted: document.querySelector("#board [aria-sort]").dataset.column,
    columns: Object.fromEntries(["mean", "urisk", "trisk", "georisk"].map((id) =>
      [id, column(id)])),
  };
})()"""
USE = """(async () => {
  const tell = (id, kind, value) => {
    const control = document.getElementById(id);
    control.value = value;
    control.dispatchEvent(new Event(kind, {bubbles: true}));
    return new Promise((done) => setTimeout(done, 100));
  };
  await tell("measure", "change", 1);
  await tell("baseline", "change", 1);
  await tell("slider", "input", 6);
  await tell("filter", "input", "a");
  document.querySelector("#board th[data-column=georisk] button").click();
  await new Promise((done) => setTimeout(done, 600));
})()"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    ran = riskeval("report", SAMPLES, "-q", QRELS, "-b", "indriCASP", "--also", "@mean", "-o", path)
    assert ran.code == 0, ran.err
    path.with_name("elsewhere.html").write_text("<!doctype html><title>elsewhere</title>")
    return path


def used(opened: Firefox, page: Path) -> dict[str, Any]:
    """What the page shows after choices of all kinds."""
    opened.go(page.as_uri())
    opened.wait_for(READY)
    opened.evaluate(USE)
    return shown(opened)


def shown(opened: Firefox) -> dict[str, Any]:
    opened.wait_for(READY)
    opened.wait_for(RESTED)
    return dict(opened.evaluate(SHOWN))


def assert_agrees(seen: dict[str, Any]) -> None:
    """The numbers are those of `score` for what the controls say."""
    chosen, alpha = seen["chosen"], seen["typed"]["alpha"]
    ran = riskeval("score", SAMPLES, "-q", QRELS, "-m", chosen["measure"],
                   "-b", chosen["baseline"], "-a", alpha, "-f", "json")  # fmt: skip
    rows = {row["run"]: row for row in json.loads(ran.out)["rows"]}
    assert sorted(rows) == sorted(seen["runs"])
    for name, values in seen["columns"].items():
        numbers = [float(value) if value else None for value in values]
        assert numbers == [pytest.approx(rows[run][name]) for run in seen["runs"]]
    assert float(seen["typed"]["slider"]) == float(alpha) == float(seen["weight"]) - 1


def test_reload_and_back_bring_controls_and_numbers_that_agree(
    tmp_path: Path, report: Path
) -> None:
    with firefox(tmp_path / "profile") as opened:
        before = used(opened, report)
        assert (before["typed"]["alpha"], before["chosen"]["baseline"]) == ("6", "@mean")
        assert before["sorted"] == "georisk" and before["typed"]["filter"] == "a"
        assert_agrees(before)
        opened.reload()
        assert shown(opened) == before
        opened.go(report.with_name("elsewhere.html").as_uri())
        opened.back()
        opened.wait_for("document.title !== 'elsewhere'")
        assert shown(opened) == before
        opened.evaluate("history.back()")
        opened.wait_for("document.querySelector('#board [aria-sort]').dataset.column === 'mean'")
        assert_agrees(shown(opened))
        assert opened.messages == []
