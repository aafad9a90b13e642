"""The action and the component: their shell word for word, against a server that plays the API."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from riskcli.output.problems import MARKER
from riskcli.post import main, post
from tests.helpers.console import PROGRAMS, ROOT
from tests.helpers.program import QRELS, SAMPLES

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEP = ACTION["runs"]["steps"][-1]
SPEC, COMPONENT = yaml.safe_load_all((ROOT / "templates" / "check.yml").read_text(encoding="utf-8"))
(JOB,) = COMPONENT.values()
NEW, WORSE, OLD = (SAMPLES / f"{name}.run" for name in ("neuralMix", "oldTFIDF", "indriCASP"))


class Service(HTTPServer):
    """Comments as GitHub and GitLab keep them; `answers` says with which code it refuses."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.comments: dict[int, str] = {}
        self.calls: list[tuple[str, str, str]] = []
        self.refuses = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Service

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the log of a test is its own."""

    def do_GET(self) -> None:
        page = int(self.path.rsplit("page=", 1)[1])
        first = [{"id": n, "body": "a talk"} for n in range(1000, 1100)]  # the first page is full
        own = [{"id": n, "body": body} for n, body in self.server.comments.items()]
        self._answer(first if page == 1 else own)

    def do_POST(self) -> None:
        self._write(len(self.server.comments) + 1)

    def do_PATCH(self) -> None:
        self._write(int(self.path.rsplit("/", 1)[1]))

    def do_PUT(self) -> None:
        self.do_PATCH()

    def _write(self, number: int) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        if not self.server.refuses:
            self.server.comments[number] = body
        self._answer({"id": number})

    def _answer(self, content: object) -> None:
        token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN") or ""
        self.server.calls.append((self.command, self.path.split("?")[0], token))
        self.send_response(self.server.refuses or 200)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())


@pytest.fixture
def service() -> Iterator[Service]:
    server = Service()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def shell(
    script: str, folder: Path, environment: dict[str, str], name: str = "bash"
) -> subprocess.CompletedProcess[str]:
    """A step with nothing in its environment but this; `python` is the one of these tests."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    python = programs / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    path = os.pathsep.join([str(programs), str(PROGRAMS), "/usr/bin", "/bin"])
    return subprocess.run(
        [name, "-e", "-c", script], cwd=folder, env={"PATH": path, **environment},
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def action(
    folder: Path, service: Service, event: object, **inputs: str
) -> tuple[int, str, dict[str, str]]:
    """The action's last step: exit code, stdout, and the outputs."""
    names = {re.sub(r"\W", "", str(value)[10:]): name for name, value in STEP["env"].items()}
    given = {key: str(each.get("default", "")) for key, each in ACTION["inputs"].items()}
    given |= {"github-token": "t0ken", "qrels": str(QRELS), "measure": "ERR@20"}
    given |= {"baseline": str(OLD)} | {key.replace("_", "-"): text for key, text in inputs.items()}
    (folder / "event.json").write_text(json.dumps(event))
    (folder / "output").write_text("")
    environment = {names[key.replace("-", "")]: text for key, text in given.items()
                   if key != "python-version"}  # fmt: skip
    environment |= {
        "GITHUB_ACTIONS": "true", "GITHUB_API_URL": service.url, "GITHUB_REPOSITORY": "me/it",
        "GITHUB_EVENT_PATH": str(folder / "event.json"), "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_WORKFLOW": "CI", "GITHUB_JOB": "gate", "RUNNER_TEMP": str(folder),
    }  # fmt: skip
    done = shell(STEP["run"], folder, environment)
    lines = (folder / "output").read_text().splitlines()
    return done.returncode, done.stdout + done.stderr, dict(x.split("=", 1) for x in lines)


PULL = {"pull_request": {"number": 7}}


def test_a_comment_is_posted_then_updated_and_a_failure_is_told(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    report = tmp_path / "report.md"
    report.write_text(f"{MARKER}\n### pass: a\n")
    monkeypatch.setattr("os.environ", {"CI_API_V4_URL": service.url, "CI_PROJECT_ID": "3"})
    assert post(report) == "this job is of no merge request"
    os.environ.update({"CI_MERGE_REQUEST_IID": "9", "RISKEVAL_TOKEN": "x", "GITHUB_JOB": "-->"})
    assert [post(report), post(report), post(report, "b")] == [
        "the comment is posted", "the comment is updated", "the comment is posted",
    ]  # fmt: skip
    assert service.comments == {
        1: "<!-- riskeval check: - -->\n### pass: a\n",
        2: "<!-- riskeval check: b -->\n### pass: a\n",
    }
    monkeypatch.setattr("sys.argv", ["post", str(report)])
    service.refuses = 500
    main()
    report.unlink()
    main()
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"no comment: HTTP Error 500: Internal Server Error; the report is {report}"
    assert told[1].startswith("no comment: ") and "No such file" in told[1]


@pytest.mark.slow
def test_the_first_call_posts_a_comment_and_the_second_updates_it(
    tmp_path: Path, service: Service
) -> None:
    code, out, outputs = action(tmp_path, service, PULL, runs=str(WORSE))
    assert (code, outputs["exit-code"], outputs["verdict"]) == (1, "1", "fail")
    assert "::error title=" in out and "the comment is posted" in out
    assert Path(outputs["report"]).read_text().startswith(f"{MARKER}\n### FAIL: oldTFIDF")
    assert json.loads(Path(outputs["sarif"]).read_text())["version"] == "2.1.0"
    code, out, outputs = action(tmp_path, service, PULL, runs=str(NEW))
    assert (code, outputs["verdict"]) == (0, "pass") and "the comment is updated" in out
    (comment,) = service.comments.values()
    assert comment.startswith("<!-- riskeval check: CI-gate -->\n### pass: neuralMix")
    action(tmp_path, service, PULL, runs=str(NEW), name="other --> <b>")
    assert len(service.comments) == 2
    assert service.comments[2].startswith("<!-- riskeval check: other-b- -->\n### pass")
    place = "/repos/me/it/issues"
    assert {(method, path) for method, path, _ in service.calls} == {
        ("GET", f"{place}/7/comments"), ("POST", f"{place}/7/comments"),
        ("PATCH", f"{place}/comments/1"),
    }  # fmt: skip
    assert {token for *_, token in service.calls} == {"Bearer t0ken"}


@pytest.mark.slow
@pytest.mark.parametrize(("run", "code"), [(NEW, 0), (WORSE, 1), (SAMPLES / "nowhere.run", 2)])
def test_an_api_that_refuses_does_not_hide_the_gates_exit_code(
    tmp_path: Path, service: Service, run: Path, code: int
) -> None:
    service.refuses = 403  # as a fork's token is
    found, out, outputs = action(tmp_path, service, PULL, runs=str(run))
    assert found == code and outputs["verdict"] == ("pass", "fail", "error")[code]
    assert "::warning title=riskeval::no comment: HTTP Error 403" in out and "t0ken" not in out
    assert outputs["report"] in out and Path(outputs["report"]).read_text().startswith(MARKER)


@pytest.mark.slow
def test_no_comment_where_none_is_asked_for_or_possible(tmp_path: Path, service: Service) -> None:
    code, out, _ = action(tmp_path, service, {"push": 1}, runs=str(NEW))
    assert code == 0 and "this job is of no pull request" in out
    code, out, _ = action(tmp_path, service, PULL, runs=str(NEW), comment="false")
    assert (code, service.calls) == (0, [])


@pytest.mark.slow
def test_nothing_of_the_inputs_is_run(tmp_path: Path, service: Service) -> None:
    """They never stand in a script, and each line is one argument, whatever is in it."""
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert not any("${{" in script for script in [*scripts, *JOB["script"]])
    assert not any("$[[" in script for script in JOB["script"])
    evil = "$(touch hacked) `touch hacked`; touch hacked #\" '"
    (tmp_path / evil).write_bytes(NEW.read_bytes())
    rules = f"--require=losses20 <= 5\n\n--run-names\nfile\n--report=json={evil}.json"
    code, out, _ = action(tmp_path, service, PULL, runs=f"{evil}\n{NEW}", args=rules, name=evil)
    assert code == 0, out
    rows = json.loads((tmp_path / f"{evil}.json").read_text())["rows"]
    assert {row["candidate"] for row in rows} == {evil, "neuralMix"}
    assert "losses20 <= 5" in {row["rule"] for row in rows}
    assert not (tmp_path / "hacked").exists()


@pytest.mark.slow
@pytest.mark.parametrize("token", ["t0ken", None])
def test_the_component_does_the_same_in_a_merge_request(
    tmp_path: Path, service: Service, token: str | None
) -> None:
    inputs = {name: each.get("default", "") for name, each in SPEC["spec"]["inputs"].items()}
    inputs |= {"runs": f"{WORSE}\n{NEW}", "baseline": str(OLD), "qrels": str(QRELS)}
    inputs |= {"measure": "ERR@20", "args": "--require=losses20 <= 5\n--run-names=file"}
    environment = {
        name: inputs[re.sub(r"[^a-z]", "", str(value)).removeprefix("inputs")]
        for name, value in JOB["variables"].items()
    }
    environment |= {
        "CI_API_V4_URL": service.url, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "9",
        "CI_JOB_NAME": "riskeval",
    }  # fmt: skip
    environment |= {"RISKEVAL_TOKEN": token} if token else {}
    for name in ("sh", "bash"):
        done = [shell(line, tmp_path, environment, name) for line in JOB["script"][1:]]
        assert [each.returncode for each in done] == [0, 1], done[-1].stderr
    text = (tmp_path / "riskeval-reports" / "comment.md").read_text()
    assert text.startswith(f"{MARKER}\n### FAIL: 2 candidates")
    for file in JOB["artifacts"]["reports"].values():
        assert (tmp_path / file).is_file()
    if token is None:
        told = "no comment: RISKEVAL_TOKEN is not set; the report is riskeval-reports/comment.md"
        assert told in done[-1].stdout and service.calls == []
        return
    assert "the comment is updated" in done[-1].stdout and len(service.comments) == 1
    assert ("PUT", "/projects/3/merge_requests/9/notes/1", "t0ken") in service.calls


def test_every_input_has_its_variable_and_the_steps_install_the_checkout() -> None:
    used = " ".join(map(str, STEP["env"].values()))
    for name, each in ACTION["inputs"].items():
        assert each["description"] and (each.get("required") or "default" in each)
        assert f"inputs.{name} " in used or name == "python-version"
    assert ACTION["runs"]["using"] == "composite"
    assert ACTION["runs"]["steps"][1]["run"] == 'pip install "$GITHUB_ACTION_PATH"'
    assert all(step.get("shell") for step in ACTION["runs"]["steps"] if "run" in step)
    assert {f"$[[ inputs.{name} ]]" for name in SPEC["spec"]["inputs"]} == {
        *JOB["variables"].values(), *COMPONENT, JOB["stage"], JOB["image"],
    }  # fmt: skip
