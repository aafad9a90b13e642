"""The gate among the tests: `pytest` fails with the verdict."""

from pathlib import Path

import rank

from riskcli.testing import assert_no_regression

HERE = Path(__file__).parent


def test_the_ranking_holds_up(tmp_path: Path) -> None:
    """Against the last run that was accepted."""
    run = tmp_path / "candidate.run"
    run.write_text("\n".join(rank.lines()) + "\n", encoding="utf-8")
    rules = ["losses20 <= 5", "max_loss <= 0.5"]
    assert_no_regression(
        run, HERE / "state.json", HERE / "qrels.txt", measures="nDCG@10", rules=rules,
        queries=HERE / "queries.tsv",
    )  # fmt: skip
