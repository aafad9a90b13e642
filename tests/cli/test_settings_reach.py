"""What a settings file may reach: every option, against values that point out of the checkout.

A settings file comes with a checkout, so it may be a stranger's. The guard is Python's audit hook:
it sees every file that is opened, every folder that is listed and every connection, whoever asks
for it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from riskcli.cli.option import Option, Reach, options, own_option, settable_options
from riskcli.cli.reading import Inputs
from riskcli.commands import COMMANDS, load_command
from tests.helpers.inprocess import riskeval

RUN = "".join(f"{topic} Q0 d{n} {n} {9 - n} NAME\n" for topic in (1, 2, 3) for n in (1, 2))
JUDGED = "1 0 d1 1\n2 0 d2 1\n3 0 d1 2\n"
ARGUMENTS: dict[str, list[str]] = {
    "explain": ["--run", "a"],
    "check": ["-b", "a"],
    "topics": ["-b", "a"],
    "report": ["-o", "page.html"],
    "organise": ["-o", "pack"],
    "matrix": ["-m", "AP"],
}
"""What a command needs besides runs; commands that draw or learn have no settings of their own."""
_EVENTS: list[tuple[str, str]] = []
_FILES = {"open", "os.listdir", "os.scandir"}
_CONNECTIONS = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname"}
_watched: list[str] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watched:
        return
    if event in _CONNECTIONS:
        _EVENTS.append((event, repr(arguments)))
    elif event in _FILES and isinstance(arguments[0], str | bytes):
        path = arguments[0].decode() if isinstance(arguments[0], bytes) else arguments[0]
        if any(str(Path(path).resolve()).startswith(place) for place in _watched):
            _EVENTS.append((event, path))


sys.addaudithook(_audit)


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """A checkout of a stranger's, beside a folder that is nobody's business."""
    outside, inside = tmp_path / "outside", tmp_path / "checkout"
    for folder in (outside, inside / ".git" / "hooks"):
        folder.mkdir(parents=True)
    for name in ("a", "b"):
        (inside / f"{name}.run").write_text(RUN.replace("NAME", name))
    (inside / "qrels").write_text(JUDGED)
    (outside / "secret").write_text(RUN.replace("NAME", "secret"))
    (inside / "link").symlink_to(outside / "secret")
    (inside / "folder").symlink_to(outside)
    _EVENTS.clear()
    _watched[:] = [str(outside.resolve()), str((inside / ".git").resolve())]
    yield inside
    _watched.clear()


def every_option() -> dict[str, tuple[str, Option]]:
    """Each option of the program that a settings file can name, with a command that has it."""
    named: dict[str, tuple[str, Option]] = {}
    for name in COMMANDS:
        command = load_command(name)
        if not isinstance(command, click.Group):
            for option in (*command.params, *getattr(command, "keys", ())):
                if isinstance(option, Option) and {"runs", "qrels"} & {
                    str(param.name) for param in command.params
                }:
                    named.setdefault(option.key, (name, option))
    return named


PREFIXES = {
    Reach.NAME_OR_INPUT: ("", "x="),
    Reach.LISTED_INPUT: ("", "@"),
    Reach.REPORT: ("junit=",),
    Reach.PATTERN_OR_INPUT: ("", "re:"),
}


@pytest.mark.parametrize("key", sorted(every_option()))
def test_no_setting_reaches_out_of_its_folder(checkout: Path, key: str) -> None:
    command, option = every_option()[key]
    outside = checkout.parent / "outside"
    hostile = [
        outside / "secret", "../outside/secret", "link", "folder/secret", "http://127.0.0.1:9/x",
        "s3://bucket/x", "tcp://127.0.0.1:9", f"file://{outside}/secret", "irds:vaswani",
        ".git/hooks/x",
    ]  # fmt: skip
    call = [command, "a.run", "b.run", "--quiet", *ARGUMENTS.get(command, [])]
    short = [argument for argument in call if argument != f"--{key}"]
    for prefix in PREFIXES.get(option.settings or Reach.NOTHING, ("", "@")):
        for value in hostile if prefix != "@" else hostile[:5]:
            text = f"{prefix}{value}"
            listed = f"['{text}']" if option.multiple else f"'{text}'"
            (checkout / "riskeval.toml").write_text(f"{key} = {listed}\n")
            ran = riskeval(*short, cwd=checkout)
            assert ran.code in (0, 1, 2, 3), ran.err
            assert _EVENTS == [], (text, ran.err)
    assert list((checkout / ".git" / "hooks").iterdir()) == []
    assert (outside / "secret").read_text() == RUN.replace("NAME", "secret")


@pytest.mark.parametrize("key", ["cluster", "also", "send", "config", "profile", "cite"])
def test_what_reaches_a_host_or_decides_on_settings_is_no_setting(checkout: Path, key: str) -> None:
    (checkout / "riskeval.toml").write_text(f'{key} = "tcp://127.0.0.1:9"\n')
    ran = riskeval("score", "a.run", "b.run", cwd=checkout)
    assert (ran.code, ran.out) == (2, "") and f"{key}" in ran.err
    assert _EVENTS == []


def test_the_environment_of_the_user_names_the_cluster(checkout: Path) -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    ran = riskeval("score", "a.run", "b.run", cwd=checkout, RISKEVAL_CLUSTER="nowhere")
    assert ran.code == 2 and "no Dask scheduler answers at nowhere" in ran.err


def test_an_option_that_declares_no_reach_cannot_be_set() -> None:
    @click.command()
    @own_option("--secret", help="Nobody said what a settings file may do with it.")
    @own_option("--size", type=int, settings=Reach.NOTHING)
    @options(Inputs, "inputs")
    def command(**_given: Any) -> None: ...

    known = settable_options(command)
    assert "secret" not in known and "size" in known
    assert known["qrels"].settings is Reach.INPUT
    assert "cluster" not in known and "runs" not in known


def test_a_key_of_settings_alone_needs_a_reach() -> None:
    with pytest.raises(TypeError, match="nothing could set"):
        own_option("--hidden", key_only=True)(lambda: None)


@pytest.mark.parametrize("place", [".git/hooks/pre-commit", ".GIT/config", "sub/.git/x.csv"])
def test_nothing_is_written_below_git(checkout: Path, place: str) -> None:
    (checkout / "sub" / ".git").mkdir(parents=True)
    (checkout / "riskeval.toml").write_text(f'output = "{place}"\nformat = "csv"\n')
    ran = riskeval("score", "a.run", "b.run", cwd=checkout)
    assert (ran.code, ran.out) == (2, "") and "nothing is read or written below .git" in ran.err
    assert not (checkout / place).exists()


def test_only_what_riskeval_wrote_is_replaced(checkout: Path) -> None:
    (checkout / "riskeval.toml").write_text('output = "result.json"\n')
    (checkout / "result.json").write_text('{"name": "package.json of somebody"}')
    ran = riskeval("score", "a.run", "b.run", cwd=checkout)
    assert (ran.code, ran.out) == (2, "") and "riskeval wrote it" in ran.err
    assert "somebody" in (checkout / "result.json").read_text()
    (checkout / "result.json").unlink()
    for _ in range(2):
        ran = riskeval("score", "a.run", "b.run", "-b", "a", cwd=checkout)
        assert ran.code == 0, ran.err
        assert (checkout / "result.json").read_text().startswith('{\n  "riskeval":')
    assert "warning: the settings here ask for output = result.json" in ran.err


@pytest.mark.parametrize("suffix", ["json", "csv", "tsv", "jsonl", "html", "parquet"])
def test_its_own_results_are_known_again(checkout: Path, suffix: str) -> None:
    (checkout / "riskeval.toml").write_text(f'output = "result.{suffix}"\n')
    for _ in range(2):
        ran = riskeval("score", "a.run", "b.run", "-b", "a", cwd=checkout)
        assert ran.code == 0, ran.err


def test_a_key_given_as_an_option_is_told_where_it_goes() -> None:
    ran = riskeval("score", "x.run", "--siunitx")
    assert (ran.code, ran.out) == (2, "")
    assert "--siunitx is no option but a key of settings" in ran.err


def test_a_folder_of_judgements_leads_nowhere_else(checkout: Path) -> None:
    (checkout / "judged").mkdir()
    (checkout / "judged" / "q").symlink_to(checkout.parent / "outside" / "secret")
    (checkout / "riskeval.toml").write_text('qrels = "judged"\n')
    ran = riskeval("score", "a.run", "b.run", cwd=checkout)
    assert (ran.code, ran.out) == (2, "") and "is not below this folder" in ran.err
    assert _EVENTS == []


@pytest.mark.parametrize("command", ["organise", "check", "power", "validate"])
def test_a_command_that_shows_real_names_refuses_to_hide_them(checkout: Path, command: str) -> None:
    (checkout / "riskeval.toml").write_text('anonymise = "key.csv"\n')
    given = {"organise": ["-o", "pack"], "check": ["-b", "a"]}.get(command, [])
    ran = riskeval(command, "a.run", "b.run", *given, cwd=checkout)
    assert (ran.code, ran.out) == (2, "")
    assert f"anonymise is set, and {command} does not have it" in ran.err
    assert riskeval("score", "a.run", "b.run", cwd=checkout).code == 0


def test_a_key_that_is_no_option_is_not_said_to_be_one(checkout: Path) -> None:
    (checkout / "riskeval.toml").write_text('anonymise = "key.csv"\n')
    (checkout / "key.csv").write_text("somebody's\n")
    ran = riskeval("score", "a.run", "b.run", cwd=checkout)
    assert ran.code == 2 and "riskeval wrote it" in ran.err and "--anonymise" not in ran.err
