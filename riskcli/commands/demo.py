"""`riskeval demo`: the sample runs, wherever somebody wants to try the program."""

from importlib.resources import files
from pathlib import Path

import click

from riskcli.cli.types import OUTPUT
from riskcli.core.files import replace_file
from riskcli.core.messages import UsageError

_PACKED = files("riskcli") / "samples"
_CHECKOUT = Path(__file__).parents[2]


@click.command()
@click.argument("folder", default="riskeval-demo", type=OUTPUT, metavar="[FOLDER]")
def demo(folder: Path) -> None:
    """Write the simulated sample runs and their judgements to FOLDER, and show what to try.

    FOLDER is riskeval-demo unless you name another one; it must be new or empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty: name a new folder")
    samples = [*_samples("sample_runs", ".run"), *_samples("qrels", ".qrels")]
    for name, content in samples:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, content)
    click.echo(f"{len(samples)} files are in {folder}. Try:\n")
    click.echo(f"  cd {folder}")
    click.echo("  riskeval score sample_runs --baseline indriCASP")
    click.echo("  riskeval explain sample_runs --baseline indriCASP --run boldRerank -a 10")
    click.echo("  riskeval report sample_runs --baseline indriCASP -o report.html")


def _samples(part: str, ending: str) -> list[tuple[str, bytes]]:
    """The files as the package has them, or the checkout that the package is used from."""
    folder = _PACKED / part if (_PACKED / part).is_dir() else _CHECKOUT / part
    if not folder.is_dir():
        raise UsageError("the samples are missing from this installation; they are in a checkout")
    found = [each for each in folder.iterdir() if each.is_file() and each.name.endswith(ending)]
    return sorted((f"{part}/{each.name}", each.read_bytes()) for each in found)
