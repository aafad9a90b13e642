"""Put a gate's comment on the pull or merge request of this job, in place of the one before.

`python -m riskcli.post REPORT [NAME]` reads in the environment what GitHub and GitLab say of a
job. It never fails: a job ends with the gate's exit code, whether there is a comment or not.
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from riskcli.output.escape import annotation
from riskcli.output.problems import MARKER

_PAGE = 100


def post(report: Path, name: str = "") -> str:
    """Post the report or update it, and say so; `name` tells it from other gates' comments."""
    env = os.environ
    if "CI_API_V4_URL" in env:
        if "CI_MERGE_REQUEST_IID" not in env:
            return "this job is of no merge request"
        request = f"merge_requests/{env['CI_MERGE_REQUEST_IID']}/notes"
        where = there = f"{env['CI_API_V4_URL']}/projects/{env['CI_PROJECT_ID']}/{request}"
        head, method = {"PRIVATE-TOKEN": env["RISKEVAL_TOKEN"]}, "PUT"
    else:
        event = json.loads(Path(env["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
        if "pull_request" not in event:
            return "this job is of no pull request"
        there = f"{env['GITHUB_API_URL']}/repos/{env['GITHUB_REPOSITORY']}/issues"
        there, where = f"{there}/comments", f"{there}/{event['pull_request']['number']}/comments"
        head, method = {"Authorization": f"Bearer {env['GITHUB_TOKEN']}"}, "PATCH"
    name = name or f"{env.get('GITHUB_WORKFLOW', '')} {env.get('GITHUB_JOB', '')}".strip()
    marker = MARKER.replace(" -->", f": {re.sub('[^a-zA-Z0-9_./:]+', '-', name)} -->")
    body = report.read_text(encoding="utf-8").replace(MARKER, marker, 1)
    for page in range(1, _PAGE):
        found = _answer(f"{where}?per_page={_PAGE}&page={page}", head)
        for each in found:
            if str(each["body"]).startswith(marker):
                _answer(f"{there}/{each['id']}", head, method, body)
                return "the comment is updated"
        if len(found) < _PAGE:
            break
    _answer(where, head, "POST", body)
    return "the comment is posted"


def _answer(url: str, head: dict[str, str], method: str = "GET", body: str | None = None) -> Any:
    data = None if body is None else json.dumps({"body": body}).encode()
    headers = {**head, "Content-Type": "application/json"}
    with urlopen(Request(url, data, headers, method=method), timeout=30) as answer:
        return json.load(answer)


def main() -> None:
    """Whatever happens is told."""
    try:
        print(post(Path(sys.argv[1]), *sys.argv[2:]))
    except (OSError, ValueError, LookupError, TypeError) as error:
        lacks = isinstance(error, KeyError)
        why = f"{error.args[0]} is not set" if lacks else str(error)
        message = f"no comment: {why}; the report is {sys.argv[1]}"
        on_github = os.environ.get("GITHUB_ACTIONS") == "true"
        print(annotation("warning", message, title="riskeval") if on_github else message)


if __name__ == "__main__":
    main()
