"""The manual page for the wheel, made while the wheel is built (a build hook of hatchling)."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManPage(BuildHookInterface):
    """Adds share/man/man1/riskeval.1 to the wheel; an editable installation goes without."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the page to a folder of its own, which `finalize` removes."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        made = runpy.run_path(str(Path(self.root) / "docs" / "generate.py"))
        self.page = Path(mkdtemp()) / "riskeval.1"
        self.page.write_text(made["man"](), encoding="utf-8")
        build_data["shared_data"][str(self.page)] = "share/man/man1/riskeval.1"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the page once it is in the wheel."""
        if version != "editable":
            self.page.unlink()
            self.page.parent.rmdir()
