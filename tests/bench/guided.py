"""Coverage-guided fuzzing of the targets in `targets.py`.

`python -m tests.bench.guided TARGET --runs 100000` needs `pip install atheris`, which watches the
lines and branches that an input reaches, and makes new inputs of those that reach new ones. It
stops at the first input that breaks a target, and writes it to a file.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Fuzz one target."""
    import atheris  # needed for this alone, and not where `--help` is read

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with atheris.instrument_imports(include=["riskcli"]):  # of what is imported from here on
        import riskcli.analyses.check.rules
        import riskcli.cli.settings
        import riskcli.cli.types
        import riskcli.commands
        import riskcli.learn.feature_files
        import riskcli.scores.comparisons
        import riskcli.scores.evaluation
        import riskcli.scores.files.objects
        import riskcli.scores.teams  # noqa: F401
    from tests.bench.targets import LARGEST, TARGETS  # late: it imports the package, too

    target = TARGETS[given.target]
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(target.all_seeds()):
            (Path(folder) / str(number)).write_bytes(seed)
        call = [sys.argv[0], folder, f"-runs={given.runs}", f"-seed={given.seed}"]
        atheris.Setup([*call, f"-max_len={LARGEST}", "-print_final_stats=1"], target.try_on)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
