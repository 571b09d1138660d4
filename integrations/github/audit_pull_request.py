"""The steps of the GitHub Action (action.yml): an audit with its report in the summary of the job, and a comment.

``audit`` reads files of the pull request and has no token; ``comment`` has the token and reads only what the audit
wrote. Everything comes from variables: the inputs as ``AUDIT_*``, the rest as GitHub sets it. Exit status as of
``truemoment audit``: 1 if a condition of the gate fails, 2 if a file or an input is at fault.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import requests

from truemoment.cli import run

OPTIONS = ("annotations", "dataset", "split", "data-dir", "fit-annotations", "measures", "protocol", "gate")
COMMENT = "truemoment-comment.md"
"""File of the comment in the runner's temporary folder."""

LONGEST = 60_000
"""Characters of a comment; GitHub accepts 65,536."""
TIMEOUT_S = 30


def audit(variables: Mapping[str, str]) -> int:
    """Audit, write the report and the comment, and return the exit status."""
    folder = Path(variables["RUNNER_TEMP"])
    document, report = folder / "truemoment-audit.json", folder / "truemoment-audit.md"
    given = {name: variables.get(f"AUDIT_{name.upper().replace('-', '_')}", "") for name in OPTIONS}
    options = [f"--{name}={value}" for name, value in given.items() if value]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = run(
            ["audit", *options, "--table", "md", "--json", str(document), "--", variables["AUDIT_PREDICTIONS"]]
        )
    if status not in {0, 1}:
        return status
    found = json.loads(document.read_text("utf-8"))
    title = variables.get("AUDIT_TITLE") or "Audit"
    report.write_text(printed.getvalue(), encoding="utf-8")
    body = comment(title, found, printed.getvalue())
    (folder / COMMENT).write_text(body, encoding="utf-8")
    passed = all(of["passed"] for of in found["gate"])
    _append(variables.get("GITHUB_STEP_SUMMARY"), f"{body}\n")
    outputs = {"passed": str(passed).lower(), "json": str(document), "markdown": str(report)}
    _append(variables.get("GITHUB_OUTPUT"), "".join(f"{name}={value}\n" for name, value in outputs.items()))
    return status


def send_comment(variables: Mapping[str, str]) -> int:
    """Send the comment that the audit wrote; return the exit status."""
    body = (Path(variables["RUNNER_TEMP"]) / COMMENT).read_text("utf-8")
    print(send(body, variables))  # noqa: T201 - the log of the step
    return 0


def mark(title: str) -> str:
    """Return the first line of a comment, which is not shown and by which a later audit finds it."""
    return f"<!-- truemoment audit: {re.sub(r'[^A-Za-z0-9 _.-]', '-', title)} -->"


def comment(title: str, audit: Mapping[str, Any], report: str) -> str:
    """Return the comment: the verdict, the conditions of the gate, and the report folded."""
    conditions = [
        f"- {'passes' if of['passed'] else '**FAILS**'}: `{of['condition'].replace('`', '')}` ({of['why']})"
        for of in audit["gate"]
    ]
    lines = [f"## {title}: {audit['dataset']}/{audit['split']}", "", audit["findings"][0]["verdict"], "", *conditions]
    head = "\n".join([mark(title), *lines])
    rest = LONGEST - len(head)
    if len(report) > rest:
        report = f"{report[:rest]}\n\nThe report is cut here; the artifacts of the job have all of it.\n"
    folded = f"\n\n<details><summary>Report</summary>\n\n{report}\n</details>"
    return re.sub(r"(?<!\w)@(?=\w)", "@\u200b", head + folded)  # a name in a file calls nobody


def send(body: str, variables: Mapping[str, str]) -> str:
    """Add the comment to the pull request, or replace that of the last audit; return what was done, in words."""
    event = variables.get("GITHUB_EVENT_PATH")
    number = json.loads(Path(event).read_text("utf-8")).get("pull_request", {}).get("number") if event else None
    if number is None:
        return "no comment: this run belongs to no pull request"
    base = f"{variables.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{variables['GITHUB_REPOSITORY']}/issues"
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {variables.get('GITHUB_TOKEN', '')}"
        session.headers["Accept"] = "application/vnd.github+json"
        try:
            old = _last(session, f"{base}/{number}/comments", body.splitlines()[0])
            if old is None:
                answer = session.post(f"{base}/{number}/comments", json={"body": body}, timeout=TIMEOUT_S)
            else:
                answer = session.patch(f"{base}/comments/{old}", json={"body": body}, timeout=TIMEOUT_S)
            answer.raise_for_status()
        except requests.RequestException as error:
            return (
                f"::warning::no comment: {error}; the job needs the permission pull-requests: write, which forks lack"
            )
    return f"commented: {answer.json().get('html_url', '')}"


def _last(session: requests.Session, url: str, first_line: str) -> int | None:
    """Return the id of a bot's comment that begins with a line; a comment of a person is never replaced."""
    page = 1
    while True:
        answer = session.get(url, params={"per_page": 100, "page": page}, timeout=TIMEOUT_S)
        answer.raise_for_status()
        found = answer.json()
        for of in found:
            if of["user"]["type"] == "Bot" and of["body"].startswith(first_line):
                return int(of["id"])
        if len(found) < 100:
            return None
        page += 1


def _append(path: str | None, text: str) -> None:
    if path:
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(text)


if __name__ == "__main__":
    sys.exit({"audit": audit, "comment": send_comment}[sys.argv[1]](os.environ))
