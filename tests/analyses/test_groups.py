"""Figures by group: those of the group's topics alone, and what is claimed of them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks.calibration import robust_like
from benchmarks.groups import NULLS, null_rates
from riskcli import (
    Options,
    ScoreMatrix,
    Significance,
    UsageError,
    freeze,
    risk_table,
    topic_table,
)
from riskcli.analyses.score import ComparisonTable
from riskcli.output.result import Value
from riskcli.risk.estimate import holm
from riskcli.scores.axes import ALL_TOPICS as ALL
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES

CLAIMS = ("_p", "_p_adj", "_flag", "_lo", "_hi", "shuffles")
"""The ends of columns that tests and intervals fill in."""


def matrix(sizes: tuple[int, ...] = (14, 12, 11), effect: float = 0.0) -> ScoreMatrix:
    runs = 4
    generator = np.random.default_rng(11)
    values = generator.beta(1.2, 2.0, size=(runs, sum(sizes))) / 2
    values[1, : sizes[0]] += effect
    names = tuple(f"run{i}" for i in range(runs))
    topics = tuple(str(100 + i) for i in range(sum(sizes)))
    return ScoreMatrix("AP", names, topics, values)


def groups_of(sizes: tuple[int, ...] = (14, 12, 11)) -> dict[str, str]:
    labels = [name for name, size in zip("xyz", sizes, strict=False) for _ in range(size)]
    return {str(100 + i): label for i, label in enumerate(labels)}


def rows(table: ComparisonTable) -> list[dict[str, Value]]:
    result = table.result()
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


@pytest.mark.parametrize("baseline", ["run0", "@mean", ("run0", "run2")])
@pytest.mark.parametrize("loss", ["linear", "smooth:fit"])
def test_figures_by_group_are_those_of_its_topics_alone(
    baseline: str | tuple[str, ...], loss: str
) -> None:
    scores, labels = matrix(), groups_of()
    options = Options(alphas=(1, 5), loss=loss)  # type: ignore[arg-type]
    found = rows(risk_table(scores.labelled(labels), baseline, options=options))
    assert [row["group"] for row in found].count(ALL) == len(found) // 4
    for group in "xyz":
        columns = [i for i, topic in enumerate(scores.topics) if labels[topic] == group]
        alone = rows(risk_table(scores.of_topics(columns), baseline, options=options))
        for mine, theirs in zip((r for r in found if r["group"] == group), alone, strict=True):
            for name, value in theirs.items():
                is_rank = name.startswith("rank_") and name.endswith(("_lo", "_hi"))
                if not name.endswith(("_p_adj", "_flag")) and not is_rank:
                    assert mine[name] == value, name
                elif is_rank:
                    assert mine[name] is None


@pytest.mark.parametrize(
    "arguments", [["-b", "@median"], ["-b", "indriCASP", "--unjudged", "bounds"]]
)
def test_the_program_s_figures_are_those_of_only_topics(
    tmp_path: Path, arguments: list[str]
) -> None:
    labels = {str(topic): "odd" if topic % 2 else "even" for topic in range(101, 151)}
    (tmp_path / "g.json").write_text(json.dumps(labels))
    call: list[str | Path] = [
        "score",
        SAMPLES,
        "-q",
        QRELS,
        "-m",
        "ERR@20",
        "-f",
        "json",
        "--sort",
        "run",
        *arguments,
    ]
    found = json.loads(riskeval(*call, "--groups", tmp_path / "g.json").out)["rows"]
    odd = ",".join(topic for topic, group in labels.items() if group == "odd")
    alone = json.loads(riskeval(*call, "--only-topics", odd).out)["rows"]
    mine = [row for row in found if row["group"] == "odd"]
    assert len(mine) == len(alone) == 9
    for one, other in zip(mine, alone, strict=True):
        for name, value in other.items():
            if not name.endswith(("_p_adj", "_flag")) and not name.startswith("rank_"):
                same = pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
                assert one[name] == same, name


def test_rows_of_all_topics_are_those_without_groups() -> None:
    scores = matrix()
    plain = rows(risk_table(scores, "run0"))
    found = rows(risk_table(scores.labelled(groups_of()), "run0"))
    assert "group" not in plain[0]
    assert [{k: v for k, v in row.items() if k != "group"} for row in found[:4]] == plain
    one = rows(risk_table(scores.labelled(dict.fromkeys(scores.topics, "all of it")), "run0"))
    for mine, whole in zip(one[4:], one[:4], strict=True):
        assert all(
            mine[name] == whole[name]
            for name in mine
            if not name.endswith(("group", *CLAIMS[2:-1]))
        )


def test_p_values_are_corrected_over_runs_and_groups() -> None:
    table = risk_table(matrix(effect=0.3).labelled(groups_of()), "run0")
    (by_group,) = table.by_group
    means = [block.estimates["mean"] for block in by_group.first]
    p = np.concatenate([mean.p for mean in means if mean.p is not None])
    tested = np.isfinite(p)
    assert tested.sum() == 9
    expected = np.full(len(p), np.nan)
    expected[tested] = holm(p[tested])
    found = np.concatenate([mean.p_adjusted for mean in means if mean.p_adjusted is not None])
    np.testing.assert_array_equal(found, expected)


def test_a_group_that_matters_has_marks_and_says_so() -> None:
    (by_group,) = risk_table(matrix(effect=0.3).labelled({"type": groups_of()}), "run0").by_group
    assert by_group.p is not None
    assert by_group.p < 0.01
    assert by_group.first[-1].group == "x"
    flags = by_group.first[-1].estimates["mean"].flag
    assert flags is not None
    assert flags.tolist() == ["", "better", "", ""]
    first, second = by_group.said
    assert first.rule == "by-group"
    assert first.text.startswith("By type: differences to run0 depend on the group (p ")
    assert first.numbers["p"] == by_group.p
    assert second.rule == "in-group"
    assert second.text.startswith("Compared with run0, run1 is better in x (mean +0.")
    assert second.runs == ("run1",)


def test_without_an_interaction_no_group_has_marks() -> None:
    """A run that is far better everywhere would be flagged in each group by itself."""
    scores = matrix()
    values = scores.values.copy()
    values[1] = values[0] + 0.2 + np.random.default_rng(1).normal(size=37) / 50
    scores = replace(scores, values=values)
    table = risk_table(scores.labelled(groups_of()), "run0")
    (by_group,) = table.by_group
    assert by_group.p is not None
    assert by_group.p >= 0.05
    for block, name in product(by_group.first, by_group.first[0].estimates):
        flags = block.estimates[name].flag
        assert flags is None or not any(flags)
    assert table.blocks[0].estimates["mean"].flag is not None
    assert table.blocks[0].estimates["mean"].flag[1] == "better"
    (said,) = by_group.said
    assert "it is not shown that differences to run0 depend on the group" in said.text
    assert said.text in table.verdict.sentences


def test_no_single_group_may_be_found() -> None:
    """The test of all finds what no test in a group does."""
    table = risk_table(
        matrix(effect=0.12).labelled(groups_of()), "run0",
        options=Options(significance=Significance(gamma=0.2, correction="bonferroni")),
    )  # fmt: skip
    (by_group,) = table.by_group
    quiet = by_group.mapped(
        lambda block: replace(
            block,
            estimates={
                name: replace(each, flag=None if each.flag is None else np.full(4, ""))
                for name, each in block.estimates.items()
            },
        )
    )
    assert quiet.depends
    assert quiet.said.sentences[1] == (
        "No run is shown to be better or worse than run0 in a single group."
    )


def test_small_groups_are_not_tested() -> None:
    sizes = (14, 14, 9)
    table = risk_table(matrix(sizes=sizes, effect=0.3).labelled(groups_of(sizes)), "run0")
    (small,) = [row for row in rows(table) if row["group"] == "z" and row["run"] == "run1"]
    assert small["mean_diff"] is not None
    for name, value in small.items():
        if name.endswith(("_p", "_p_adj", "_diff_lo", "_diff_hi")) or "rank_mean_" in name:
            assert value is None, name
        if name.endswith("_flag"):
            assert value == ""
    sizes = (9, 14, 14)  # the worst group is the small one
    first = risk_table(matrix(sizes=sizes, effect=-0.4).labelled(groups_of(sizes)), "run0")
    later = replace(first, by_group=(replace(first.by_group[0], p=0.01),))
    assert first.by_group[0].first[0].topics == 9
    assert "(6 tests)" in later.displays(80)[-1].caption[1]
    few = risk_table(matrix(sizes=(28, 9)).labelled(groups_of((28, 9))), "run0").by_group[0]
    assert few.said.sentences == (
        "By group: nothing is tested, for fewer than two groups have 10 topics.",
    )


def test_the_worst_group_comes_first() -> None:
    scores = matrix(effect=0.3)
    for baseline in ("run0", "@mean"):
        (by_group,) = risk_table(scores.labelled(groups_of()), baseline).by_group
        means = []
        for block in by_group.first:
            mean = block.estimates["mean"]
            assert mean.difference is not None
            of_runs = np.nanmean(mean.difference) if baseline == "run0" else mean.value.mean()
            means.append(float(of_runs))
        assert means == sorted(means)


def test_groups_follow_the_runs_of_the_table() -> None:
    table = risk_table(matrix(effect=0.3).labelled(groups_of()), "run0").sorted_by("-mean")
    order = table.blocks[0].runs
    assert all(block.runs == order for block in table.by_group[0].first)
    assert all(
        block.runs == table.top(1).blocks[0].runs for block in table.top(1).by_group[0].first
    )
    turned = risk_table(matrix().labelled(groups_of()), "run0", options=Options(convention="minus"))
    found = {(row["group"], row["run"]): row["urisk"] for row in rows(turned)}
    plain = rows(risk_table(matrix().labelled(groups_of()), "run0", options=Options()))
    assert all(found[r["group"], r["run"]] in (None, -float(r["urisk"] or 0)) for r in plain)  # type: ignore[arg-type]


def test_the_order_of_topics_changes_nothing() -> None:
    scores = matrix(effect=0.1).labelled(groups_of())
    order = np.random.default_rng(2).permutation(len(scores.topics)).tolist()
    tables = [risk_table(each, "run0") for each in (scores, scores.of_topics(order))]
    ours, theirs = (table.by_group[0] for table in tables)
    assert [each.group for each in ours.first] == [each.group for each in theirs.first]
    assert ours.p is not None
    assert ours.p == theirs.p
    for mine, other in zip(*map(rows, tables), strict=True):
        for name, value in mine.items():
            assert value == (
                pytest.approx(other[name], rel=1e-9) if isinstance(value, float) else other[name]
            )


def test_several_groupings_are_told_apart() -> None:
    labels = groups_of()
    both = {"type": labels, "half": {t: "a" if i % 2 else "b" for i, t in enumerate(labels)}}
    table = risk_table(matrix().labelled(both), "run0")
    assert {row["group"] for row in rows(table)} == {
        ALL, "type=x", "type=y", "type=z", "half=a", "half=b",
    }  # fmt: skip
    assert [each.grouping for each in table.by_group] == ["type", "half"]
    chosen = table.laid_out(("run", "mean"))
    assert chosen.keys_left_out == ["group"]
    assert table.laid_out(("run", "group", "mean")).keys_left_out == []
    with pytest.raises(UsageError, match="group is known with --groups"):
        risk_table(matrix(), "run0").laid_out(("group",))


def test_each_baseline_in_turn_has_groups() -> None:
    options = Options(("run0", "run1"), pool="each")
    table = risk_table(matrix().labelled(groups_of()), options=options)
    assert [each.first[0].baseline for each in table.by_group] == [
        "run0", "run1", "each(run0,run1)",
    ]  # fmt: skip
    assert table.by_group[2].said.sentences == ()


def test_a_frozen_population_has_no_groups() -> None:
    population = freeze(matrix())
    with pytest.raises(UsageError, match="leave out --groups, or --population"):
        risk_table(matrix().labelled(groups_of()), "run0", options=Options(population=population))


def test_many_groups_show_the_worst_that_fit() -> None:
    scores = matrix(sizes=(60,))
    labels = {topic: f"group with a long name {i % 12}" for i, topic in enumerate(scores.topics)}
    table = risk_table(scores.labelled(labels), "run0")
    shown = table.displays(80)[-1]
    assert shown.width() <= 80
    assert "not shown: -f tsv" in shown.caption[-1]
    assert shown.columns[1].heading.text.endswith("(5)\nmean diff")


# ---------------------------------------------------------------- topic by topic


def test_topics_carry_their_groups_and_losses_by_group_come_first() -> None:
    scores, labels = matrix(effect=0.3), groups_of()
    table = topic_table(scores.labelled(labels), "run0")
    result = table.result()
    found = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
    assert result.columns[-1] == "group"
    assert all(row["group"] == labels[str(row["topic"])] for row in found)
    (by_group,) = table.by_group
    delta = scores.values[1:] - scores.values[0]
    shown = [[cell.text for cell in row] for row in by_group.rows]
    for group, topics, losing, change, worst in shown:
        own = delta[:, [labels[topic] == group for topic in scores.topics]]
        assert int(topics) == own.shape[1]
        assert losing == f"{(own < 0).sum() / 3:.1f}"
        assert change == f"{own.mean():.4f}"
        assert labels[worst] == group
    assert [float(row[3]) for row in shown] == sorted(float(row[3]) for row in shown)
    assert table.screen(80)[0].title.startswith("Losses by group, mean of 3 runs: AP against run0")
    one = topic_table(scores.labelled(labels), "run0", runs="run1")
    assert one.screen(80)[0].title.startswith("Losses by group, run1: AP against run0")
    assert one.top(2).screen(80)[0].title.startswith("run1 against run0")
    assert "group" not in topic_table(scores, "run0").result().columns


def test_losses_by_group_are_beyond_repeat_noise_and_count_weights() -> None:
    generator = np.random.default_rng(5)
    values = generator.uniform(0.2, 0.8, size=20) + generator.normal(0, 0.1, size=(6, 20))
    names, topics = ("a-s1", "a-s2", "a-s3", "b-s1", "b-s2", "b-s3"), tuple(map(str, range(20)))
    labels = {topic: "x" if int(topic) < 8 else "y" for topic in topics}
    weights = {topic: 1 / (1 + int(topic)) for topic in topics}
    systems = ScoreMatrix("AP", names, topics, values).of_systems("^(.)")
    table = topic_table(systems.labelled(labels, weights), "a")
    delta = values[3:].mean(axis=0) - values[:3].mean(axis=0)
    (lost,) = [dict(zip(part.topics, part.lost.tolist(), strict=True)) for part in table.parts]
    assert 0 < sum(lost.values()) < (delta < 0).sum()
    shown = {row[0].text: [cell.text for cell in row] for row in table.by_group[0].rows}
    for group in "xy":
        own = [i for i, topic in enumerate(topics) if labels[topic] == group]
        mean = np.average(delta[own], weights=[weights[topics[i]] for i in own])
        assert shown[group][2] == str(sum(lost[topics[i]] for i in own))
        assert shown[group][3] == f"{mean:.4f}"


def test_topics_of_several_groupings_have_a_column_each() -> None:
    labels = groups_of()
    both = {"type": labels, "half": {t: "a" if i % 2 else "b" for i, t in enumerate(labels)}}
    table = topic_table(matrix().labelled(both), "run0")
    assert table.result().columns[-2:] == ("group_type", "group_half")
    assert len(table.by_group) == 2
    chosen = table.of_columns(["delta", "group_half"])
    assert chosen.result().columns[-2:] == ("delta", "group_half")
    assert all(display.width() <= 80 for display in chosen.displays(80))
    with pytest.raises(UsageError, match="no column is called 'group_hal'; did you mean group_ha"):
        table.of_columns(["group_hal"])


@pytest.mark.slow
@pytest.mark.parametrize("null", NULLS)
def test_marks_are_as_rare_as_promised_where_there_is_nothing_to_find(null: str) -> None:
    """Of 40 samples 2 are expected; 7 or more come in one of 200 such tests."""
    test, marked = null_rates(robust_like(8, 250, 1), (25, 15, 10), NULLS[null], 40)
    assert marked <= test <= 0.15


@pytest.mark.parametrize("command", ["score", "topics"])
def test_names_of_groups_are_harmless_on_a_terminal(tmp_path: Path, command: str) -> None:
    labels = {
        topic: {"a\u202eb\x1b[1m": f"\u202ex\x1b[31m{group}", "z": group}
        for topic, group in groups_of().items()
    }
    (tmp_path / "g.json").write_text(json.dumps(labels))
    matrix().to_frame().to_csv(tmp_path / "s.csv")
    for arguments in ([], ["--full"], ["--run", "run1"])[: 3 if command == "topics" else 1]:
        call: list[str | Path] = [
            command,
            tmp_path / "s.csv",
            "-b",
            "run0",
            "--groups",
            tmp_path / "g.json",
        ]
        ran = riskeval(*call, *arguments, "-f", "table")
        assert ran.code == 0, ran.err
        assert "\\u202ex" in ran.out
        assert not {"\u202e", "\x1b"} & {*ran.out, *ran.err}
