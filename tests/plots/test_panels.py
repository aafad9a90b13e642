"""Figures by group of topics: a panel a group, on common scales, with the group's own numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riskcli
from riskcli.core.messages import UsageError
from riskcli.plots.kinds import BY_GROUP, KINDS, OF_EXPERIMENTS
from riskcli.plots.request import Request
from riskcli.scores.axes import Axes
from riskcli.scores.matrix import ScoreMatrix
from tests.helpers.inprocess import riskeval
from tests.helpers.program import SAMPLES

for extra in ("altair", "vl_convert"):
    pytest.importorskip(extra, reason=f"{extra} is not installed (pip install riskeval[plots])")

from riskcli.plots.in_words import alternative  # noqa: E402
from riskcli.plots.save import drawn  # noqa: E402
from tests.plots.test_plot import panels_of, rows_with  # noqa: E402

pytestmark = pytest.mark.slow
GROUPS = {str(151 + q): ("head", "torso", "tail")[q % 3] for q in range(30)}


def matrix() -> ScoreMatrix:
    rng = np.random.default_rng(5)
    values = rng.beta(1, 2, (4, 30))
    values[1:, 2::3] *= 0.5  # the tail is where runs lose
    scores = ScoreMatrix("ERR@20", ("base", "one", "two", "three"), tuple(GROUPS), values)
    return replace(scores, axes=Axes(groups={"frequency": GROUPS}))


def request_of(scores: ScoreMatrix, **settings: Any) -> Request:
    return Request(scores, riskcli.Options(baselines=("base",)), **settings)


def figure(kind: str) -> dict[str, Any]:
    return dict(json.loads(drawn(kind, request_of(matrix()), "json")))


@pytest.mark.parametrize("kind", BY_GROUP)
def test_a_panel_a_group_with_the_group_that_lost_most_first(kind: str) -> None:
    panels = panels_of(figure(kind))
    assert panels[0]["title"] == "tail, 10 topics"
    assert {panel["title"] for panel in panels} == {f"{g}, 10 topics" for g in GROUPS.values()}


def ends(layers: list[dict[str, Any]]) -> set[tuple[float, float]]:
    """Where the vertical axis of a panel's layers ends."""
    scales = (layer.get("encoding", {}).get("y", {}).get("scale") or {} for layer in layers)
    return {tuple(scale["domain"]) for scale in scales if scale.get("domain")}


@pytest.mark.parametrize("kind", ["alpha", "tradeoff"])
def test_scales_are_common_to_all_panels_and_hold_what_each_needs(kind: str) -> None:
    scores, found = matrix(), [ends(panel["layer"]) for panel in panels_of(figure(kind))]
    ((low, high),) = set.union(*found)
    alone = []
    for group in dict.fromkeys(GROUPS.values()):
        columns = [c for c, topic in enumerate(scores.topics) if GROUPS[topic] == group]
        part = replace(scores.of_topics(columns), axes=Axes())
        ((least, most),) = ends(json.loads(drawn(kind, request_of(part), "json"))["layer"])
        alone.append((least, most))
    assert (low, high) == (min(alone)[0], max(most for _, most in alone))


def test_values_are_those_of_the_group_alone() -> None:
    scores = matrix()
    (tail, *_) = panels_of(figure("alpha"))
    columns = [index for index, topic in enumerate(scores.topics) if GROUPS[topic] == "tail"]
    values = np.ascontiguousarray(scores.values[:, columns])
    alone = ScoreMatrix("ERR@20", scores.runs, tuple(scores.topics[c] for c in columns), values)
    expected = json.loads(drawn("alpha", request_of(alone), "json"))

    def lines(node: Any) -> list[tuple[Any, ...]]:
        return sorted((r["run"], r["alpha"], r["value"]) for r in rows_with(node, "alpha", "value"))

    assert lines(tail) == lines(expected["datasets"])


def test_the_same_runs_stand_in_every_panel() -> None:
    rng = np.random.default_rng(3)
    runs = ("base", *(f"run{number}" for number in range(14)))
    scores = ScoreMatrix("ERR@20", runs, tuple(GROUPS), rng.beta(1, 2, (15, 30)))
    scores = replace(scores, axes=Axes(groups={"frequency": GROUPS}))
    request = request_of(scores)
    panels = panels_of(json.loads(drawn("alpha", request, "json")))
    named = [{row["run"] for row in rows_with(panel, "shown", "end")} for panel in panels]
    assert len(named[0]) == 8 and all(each == named[0] for each in named)
    assert [note.code for note in request.notes] == ["runs-left-out"]


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in (*BY_GROUP, *OF_EXPERIMENTS)]
)
def test_other_kinds_refuse_in_words(kind: str) -> None:
    with pytest.raises(UsageError, match=f"alpha, box, tradeoff: leave out --groups for {kind}"):
        drawn(kind, request_of(matrix()), "json")


def test_one_grouping_at_a_time() -> None:
    scores = replace(matrix(), axes=Axes(groups={"frequency": GROUPS, "type": GROUPS}))
    with pytest.raises(UsageError, match="choose one of frequency, type with --group-by"):
        drawn("box", request_of(scores), "json")


def test_the_description_names_the_groups() -> None:
    said = alternative("box", request_of(matrix()))
    assert "A panel for each group by frequency: head (10 topics), torso (10 topics)" in said


def test_through_the_program(tmp_path: Path) -> None:
    table = tmp_path / "groups.csv"
    table.write_text("topic,type\n" + "".join(f"{t},{'ab'[t % 2]}\n" for t in range(101, 151)))
    path = tmp_path / "box.svg"
    ran = riskeval("plot", "box", SAMPLES, "-b", "indriCASP", "--groups", table, "-o", path)
    assert (ran.code, ran.out) == (0, "")
    assert "By type, the group that lost most first" in path.read_text(encoding="utf-8")
