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

from riskcli import Options, Rules, evaluate
from riskcli.plots.request import SIZES, Request, Size
from riskcli.plots.save import drawn
from riskcli.scores.matrix import ScoreMatrix

ROOT = Path(__file__).parent.parent
FIGURES = ROOT / "docs" / "figures"
BASELINE = "indriCASP"
KINDS: dict[str, dict[str, Any]] = {
    "alpha": {},
    "topics": {"runs": ("neuralMix", "boldRerank"), "alphas": (0.0, 5.0)},
    "wins": {},
    "profile": {"runs": ("neuralMix", "boldRerank", "steadyHand")},
    "ecir14-1": {},
    "box": {},
    "ecir20-3": {"runs": ("neuralMix",), "alphas": (1.0, 5.0)},
    "tradeoff": {"alphas": (1.0, 5.0)},
    "heatmap": {},
    "ecir14-3": {"runs": ("neuralMix", "boldRerank")},
    "ecir14-4": {"runs": ("neuralMix", "boldRerank"), "alphas": (1.0, 5.0, 10.0)},
    "ecir20-2": {},
    "power": {},
    "ecir20-4": {},
}
"""What each kind is drawn of."""
WINDOWS = {"phone": (390, 844), "tablet": (800, 1100), "laptop": (1280, 800), "wide": (1920, 1080)}


def draw(matrix: ScoreMatrix, kind: str, path: Path, size: Size | None = None) -> None:
    """One figure, as `riskeval plot` draws it, in the format of the path's suffix."""
    settings = dict(KINDS[kind])
    alphas = settings.pop("alphas", None)
    options = Options(baselines=(BASELINE,), **({"alphas": alphas} if alphas else {}))
    request = Request(matrix, options, size=size, ranged=alphas is not None, **settings)
    path.write_bytes(drawn(kind, request, path.suffix[1:]))


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
    program = Path(sys.executable).with_name("riskeval")
    subprocess.run(
        [program, "report", "sample_runs", "-b", BASELINE, "--also", "@mean", "--documents", "5",
         "--collection", "Simulated pages", "--quiet", "-o", path],
        cwd=ROOT, check=True,
    )  # fmt: skip
    return path


def samples() -> ScoreMatrix:
    """The scores of the sample runs."""
    rules = Rules(measures=("ERR@20",))
    return evaluate([ROOT / "sample_runs"], qrels=ROOT / "qrels", rules=rules).matrices[0]


def photograph(opened: Any, page: Path, target: Path, window: tuple[int, int], **how: Any) -> None:
    """The page in a window of that size, used a little: all of it, or what is in sight."""
    whole = how.pop("whole", True)
    width, height = window
    context = opened.new_context(
        viewport={"width": width, "height": height}, bypass_csp=True, **how
    )
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.wait_for_selector("#app:not([hidden])")
    if whole:  # controls that stay in sight would stand in the middle of so long a picture
        tab.add_style_tag(content=".controls { position: static !important }")
        use(tab)
    tab.wait_for_timeout(500)
    tab.screenshot(path=target, full_page=whole)
    context.close()


def use(tab: Any) -> None:
    """A topic's documents, a column of letters, and what is folded away."""
    tab.click("#columns > summary")
    tab.check("#column-choice input[value=georisk_group]")
    tab.click("#all-topics tbody button >> nth=0")
    for part in ("#intervals", "#side", "#heat"):
        tab.click(f"{part} > summary")


def print_page(opened: Any, page: Path, target: Path) -> None:
    """As a printer has it, A4."""
    tab = opened.new_page()
    tab.goto(page.as_uri())
    tab.wait_for_selector("#app:not([hidden])")
    tab.pdf(path=target, format="A4", prefer_css_page_size=True)


def for_documentation() -> None:
    """docs/figures."""
    matrix = samples()
    for kind in KINDS:
        draw(matrix, kind, FIGURES / f"{kind}.svg")
    with tempfile.TemporaryDirectory() as folder, browser() as opened:
        page = report(Path(folder))
        photograph(opened, page, FIGURES / "report.png", (1500, 860), whole=False)


def for_looking_at(folder: Path) -> None:
    """Everything, one file a picture."""
    folder.mkdir(parents=True, exist_ok=True)
    matrix = samples()
    for kind in KINDS:
        draw(matrix, kind, folder / f"{kind}.png")
        for name, size in SIZES.items():
            draw(matrix, kind, folder / f"{kind}-{name}.png", size)
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
