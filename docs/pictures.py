"""Make the pictures of the documentation, and all others that should be looked at before a release.

    python docs/pictures.py            the figures of docs/figures, and the page's picture there
    python docs/pictures.py FOLDER     every kind at every size, and the page in four sizes, light,
                                       dark and printed, as PNG files in FOLDER

Needs the extras `plots` and `browser`, and Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FIGURES = ROOT / "docs" / "figures"
SAMPLES = ("sample_runs", "-m", "ERR@20", "-b", "indriCASP", "--quiet")
KINDS: dict[str, tuple[str, ...]] = {
    "alpha": (),
    "topics": ("--run", "neuralMix", "--run", "boldRerank", "-a", "0,5"),
    "wins": (),
    "profile": ("--run", "neuralMix", "--run", "boldRerank", "--run", "steadyHand"),
    "pca": (),
    "box": (),
    "qq": ("--run", "neuralMix", "-a", "1,5"),
    "tradeoff": ("-a", "1,5"),
    "heatmap": (),
    "pair": ("--run", "neuralMix", "--run", "boldRerank"),
    "losses": ("--run", "neuralMix", "--run", "boldRerank", "-a", "1,5,10"),
    "loss": (),
    "power": (),
    "rbo": (),
}
"""What each kind is drawn of."""
WINDOWS = {"phone": (390, 844), "tablet": (800, 1100), "laptop": (1366, 768), "wide": (1920, 1080)}
SIZES = ("column", "page", "lncs", "slide")


def riskeval(*arguments: str | Path) -> None:
    """Run the program that is installed beside this Python."""
    program = Path(sys.executable).with_name("riskeval")
    subprocess.run([str(program), *map(str, arguments)], cwd=ROOT, check=True)


def draw(kind: str, path: Path, *more: str) -> None:
    """One figure, without its words beside it."""
    riskeval("plot", kind, *SAMPLES, *KINDS[kind], *more, "-o", path)
    path.with_name(f"{path.name}.alt.txt").unlink()


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium, driven."""
    from playwright.sync_api import sync_playwright

    programs = map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
    program = next(filter(None, programs))
    with sync_playwright() as driver:
        yield driver.chromium.launch(executable_path=program, args=["--no-sandbox"])


def report(folder: Path) -> Path:
    """The page of the sample runs."""
    path = folder / "report.html"
    riskeval(
        "report", "sample_runs", "-b", "indriCASP", "--also", "@mean", "--documents", "5",
        "--collection", "Simulated pages", "--quiet", "-o", path,
    )  # fmt: skip
    return path


def photograph(opened: Any, page: Path, target: Path, window: tuple[int, int], **how: Any) -> None:
    """The page in a window of that size, used a little, all of it."""
    whole = how.pop("whole", True)
    width, height = window
    context = opened.new_context(viewport={"width": width, "height": height}, **how)
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.wait_for_selector("#app:not([hidden])")
    for part in ("#intervals", "#side", "#heat") if whole else ():
        tab.click(f"{part} > summary")
    tab.wait_for_timeout(500)
    tab.screenshot(path=target, full_page=whole)
    context.close()


def print_page(opened: Any, page: Path, target: Path) -> None:
    """As a printer has it, A4."""
    tab = opened.new_page()
    tab.goto(page.as_uri())
    tab.wait_for_selector("#app:not([hidden])")
    tab.pdf(path=target, format="A4")


def for_documentation() -> None:
    """docs/figures."""
    for kind in KINDS:
        draw(kind, FIGURES / f"{kind}.svg")
    with tempfile.TemporaryDirectory() as folder, browser() as opened:
        page = report(Path(folder))
        photograph(opened, page, FIGURES / "report.png", (1500, 860), whole=False)


def for_looking_at(folder: Path) -> None:
    """Everything, one file a picture."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        draw(kind, folder / f"{kind}.png")
        for size in SIZES:
            draw(kind, folder / f"{kind}-{size}.png", "--size", size)
    with browser() as opened:
        page = report(folder)
        for name, window in WINDOWS.items():
            for scheme in ("light", "dark"):
                target = folder / f"page-{name}-{scheme}.png"
                photograph(opened, page, target, window, color_scheme=scheme)
        print_page(opened, page, folder / "page-print.pdf")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for_looking_at(Path(sys.argv[1]))
    else:
        for_documentation()
