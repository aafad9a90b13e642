"""Settings kept in `riskeval.toml` or under `[tool.riskeval]` in `pyproject.toml`.

They are looked for here, then in the parent folders up to the root of the repository; the first
folder that has any is the one that counts. A file that was chosen (--config) counts alone. What
settings name by a relative path is relative to their folder.

Keys are the commands' long options. Tables under `profile` hold further settings by name; a
profile's settings win over the rest of the files, and the command line wins over all of them.
"""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riskcli.core.inputs import note_input
from riskcli.core.messages import InputError, UsageError, nearest

FILES = (("pyproject.toml", ("tool", "riskeval")), ("riskeval.toml", ()))
"""Files that hold settings, and the table in each; later ones win."""

PROFILE = "profile"
REPOSITORY = ".git"
"""What the root of a repository holds; parents are searched only within one."""

CHOSEN: ContextVar[Path | None] = ContextVar("CHOSEN", default=None)
"""The settings file that was asked for, in place of those that would be found."""


@dataclass(frozen=True)
class Setting:
    """A value and where it came from."""

    value: Any
    source: str


@dataclass(frozen=True)
class SettingsFile:
    """A file with settings, and the table in it."""

    path: Path
    keys: tuple[str, ...]
    table: dict[str, Any]


def settings_files() -> list[SettingsFile]:
    """The files that count, of one folder; later ones win."""
    chosen = CHOSEN.get()
    if chosen is not None:
        if not chosen.is_file():
            raise InputError(chosen, "not-found", "no such settings file (--config)")
        keys = next((keys for name, keys in FILES if name == chosen.name), ())
        return [SettingsFile(chosen, keys, _table(chosen, keys))]
    for folder in _folders():
        files = [
            SettingsFile(path, keys, _table(path, keys))
            for name, keys in FILES
            if (path := folder / name).is_file()
        ]
        files = [file for file in files if file.table or not file.keys]
        if files:
            return files
    return []


def settings_folder() -> Path:
    """The folder of the settings, in which what they name must lie."""
    files = settings_files()
    return files[0].path.parent if files else Path()


def _folders() -> Iterator[Path]:
    """Here, and within a repository the parents up to its root."""
    here = Path()
    yield here
    try:
        parents = [Path.cwd(), *Path.cwd().parents]
    except OSError:  # the current folder is gone
        return
    root = next((i for i, each in enumerate(parents) if (each / REPOSITORY).exists()), 0)
    for _ in range(root):
        here = here / ".."
        yield here


def load_settings(profile: str | None = None) -> dict[str, Setting]:
    """All settings in force in the current folder, by key (with dashes)."""
    settings: dict[str, Setting] = {}
    profiles: dict[str, dict[str, Setting]] = {}
    files = settings_files()
    for file in files:
        name, table = str(file.path), file.table
        for title, content in _profiles(name, table).items():
            source = f"{name}, profile {title}"
            profiles.setdefault(title, {}).update(_plain(name, content, source))
        settings.update(_plain(name, table, name))
    if profile is not None:
        if profile not in profiles:
            hint = nearest(profile, profiles) or _known(profiles, files)
            raise UsageError(f"no profile is called {profile!r}{hint}")
        settings.update(profiles[profile])
    return settings


def profile_names() -> list[str]:
    """The profiles that the settings here have."""
    files = settings_files()
    names = (name for file in files for name in _profiles(str(file.path), file.table))
    return list(dict.fromkeys(names))


def _known(profiles: Iterable[str], files: Sequence[SettingsFile]) -> str:
    names = " and ".join(str(file.path) for file in files)
    if not files:
        return (
            "; no settings were found: neither riskeval.toml nor [tool.riskeval] in pyproject.toml "
            "here or in a parent folder of this repository"
        )
    listed = ", ".join(profiles)
    return f"; {names} has {listed}" if listed else f"; {names} has no profiles"


def _table(file: Path, keys: tuple[str, ...]) -> dict[str, Any]:
    note_input(file)
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
