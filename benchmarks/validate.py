"""What checking a hundred and seventy submissions costs, beside scoring them.

    python benchmarks/validate.py

writes runs of 100 topics by 1,000 documents into a temporary folder, runs both commands several
times and prints the best times; exits with 1 where `validate` takes more than 1.5 times as long.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

LIMIT = 1.5
MAKER = Path(__file__).with_name("make_runs.py")


def seconds(command: str, folder: Path) -> float:
    """How long the command takes on the folder's runs."""
    call = [sys.executable, "-m", "riskcli", command, str(folder / "runs"), "--quiet"]
    start = time.perf_counter()
    subprocess.run(
        [*call, "-q", str(folder / "qrels.txt"), "-o", str(folder / "out.tsv")],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


@click.command()
@click.option("--runs", default=170, show_default=True, type=click.IntRange(min=1))
@click.option("--turns", default=5, show_default=True, type=click.IntRange(min=1))
def main(runs: int, turns: int) -> None:
    """Compare the cost of `riskeval validate` with that of `riskeval score`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = ["--runs", str(runs), "--topics", "100", "--depth", "1000"]
        subprocess.run([sys.executable, str(MAKER), str(folder), *size], check=True)
        times = {
            command: min(seconds(command, folder) for _ in range(turns))
            for command in ("score", "validate")
        }
    ratio = times["validate"] / times["score"]
    click.echo(f"score {times['score']:.2f} s, validate {times['validate']:.2f} s: {ratio:.2f}")
    sys.exit(ratio > LIMIT)


if __name__ == "__main__":
    main()
