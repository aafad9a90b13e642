"""Settings kept in `riskeval.toml` or under `[tool.riskeval]` in `pyproject.toml`, here.

Keys are the commands' long options. Tables under `profile` hold further settings by name; a
profile's settings win over the rest of the files, and the command line wins over all of them.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riskcli.core.errors import InputError, UsageError, nearest

FILES = (("pyproject.toml", ("tool", "riskeval")), ("riskeval.toml", ()))
"""Where settings stand: the file and the table in it; later ones win."""

PROFILE = "profile"


@dataclass(frozen=True)
class Setting:
    """A value and where it came from."""

    value: Any
    source: str


def load_settings(profile: str | None = None) -> dict[str, Setting]:
    """All settings in force in the current folder, by key (with dashes)."""
    found: dict[str, Setting] = {}
    profiles: dict[str, dict[str, Setting]] = {}
    for name, keys in FILES:
        table = _table(Path(name), keys)
        for title, content in _profiles(name, table).items():
            source = f"{name}, profile {title}"
            profiles.setdefault(title, {}).update(_plain(name, content, source))
        found.update(_plain(name, table, name))
    if profile is not None:
        if profile not in profiles:
            hint = nearest(profile, profiles) or f"; known are {', '.join(profiles) or 'none'}"
            raise UsageError(f"no profile is called {profile!r}{hint}")
        found.update(profiles[profile])
    return found


def _table(file: Path, keys: tuple[str, ...]) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        content: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise InputError(file, "bad-settings", "values are nested too deeply") from error
    except (OSError, ValueError) as error:
        raise InputError(file, "bad-settings", str(error)) from error
    for key in keys:
        content = content.get(key, {})
        if not isinstance(content, dict):
            raise InputError(file, "bad-settings", f"{'.'.join(keys)} is not a table")
    return dict(content)


def _profiles(name: str, table: dict[str, Any]) -> dict[str, dict[str, Any]]:
    profiles = table.get(PROFILE, {})
    if not isinstance(profiles, dict) or not all(isinstance(p, dict) for p in profiles.values()):
        raise InputError(name, "bad-settings", f"{PROFILE} is not a table of tables")
    return profiles


def _plain(name: str, table: dict[str, Any], source: str) -> dict[str, Setting]:
    settings = {}
    for key, value in table.items():
        if key == PROFILE:
            continue
        if isinstance(value, dict):
            raise InputError(name, "bad-settings", f"{key} is a table, expected a value or a list")
        settings[key.replace("_", "-")] = Setting(value, source)
    return settings
