"""The manual page of a release, made from the program's help (a build hook of hatchling).

A source distribution gets it, for which the build needs what the program needs. A wheel that is
built from one installs it; a wheel that is built from a checkout goes without.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "docs/riskeval.1"


class ManPage(BuildHookInterface):
    """Makes the page for a source distribution, and takes it from there for a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Say where the page is."""
        page = Path(self.root) / PAGE
        if self.target_name == "wheel":
            if page.exists():
                build_data["shared_data"][str(page)] = "share/man/man1/riskeval.1"
        elif not page.exists():
            sys.path.insert(0, self.root)
            made = runpy.run_path(str(Path(self.root) / "docs" / "generate.py"))
            self.folder = TemporaryDirectory()
            page = Path(self.folder.name) / "riskeval.1"
            page.write_text(made["man"](), encoding="utf-8")
            build_data["force_include"][str(page)] = PAGE
