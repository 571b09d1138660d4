"""The GitHub Action: its file, the audit of its step, and its comment, on a server that answers as GitHub does."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from tests.hostile.modules import plant_modules

from truemoment.cli.audit import command

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
STEP = ROOT / "integrations" / "github" / "audit_pull_request.py"


@pytest.fixture(scope="module", name="step")
def step_fixture():
    spec = importlib.util.spec_from_file_location("audit_pull_request", STEP)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(name="github")
def github_fixture():
    """A server with the comments of pull request 7; `status` is that of every answer to a change."""
    state = SimpleNamespace(comments=[], requests=[], status=201)

    class Handler(BaseHTTPRequestHandler):
        def answer(self, status, content):
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            page = int(re.search(r"[?&]page=(\d+)", self.path)[1])
            self.answer(200, state.comments[100 * (page - 1) : 100 * page])

        def change(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
            state.requests.append((self.command, self.path, self.headers["Authorization"], body))
            self.answer(state.status, {"html_url": "https://example.invalid/7"})

        do_POST = do_PATCH = change  # noqa: N815 - the server's names

        def log_message(self, *_):
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def variables(tmp_path, github, **more):
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
    return {
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_API_URL": github.url,
        "GITHUB_REPOSITORY": "owner/name",
        "GITHUB_TOKEN": "secret",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        **more,
    }


def test_the_file_passes_each_input_as_a_variable():
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    steps = action["runs"]["steps"]
    assert action["runs"]["using"] == "composite"
    # An expression in a script would let the text of an input become a command.
    assert not any("${{" in step["run"] for step in steps)
    assert all(step["shell"] == "bash" for step in steps)
    passed = steps[1]["env"]
    token = steps[2]["env"]
    assert token == {"GITHUB_TOKEN": "${{ inputs.github-token }}"}
    assert sorted(passed.values()) == sorted(
        f"${{{{ inputs.{name} }}}}" for name in action["inputs"] if name not in ("comment", "github-token")
    )
    assert "inputs.comment == 'true'" in steps[2]["if"]
    read = set(re.findall(r'"(AUDIT_\w+)"', STEP.read_text("utf-8")))
    options = re.search(r"OPTIONS = \((.*?)\)", STEP.read_text("utf-8"))[1]
    read |= {f"AUDIT_{name.upper().replace('-', '_')}" for name in re.findall(r'"([a-z-]+)"', options)}
    assert read == set(passed)
    assert [step.get("id") for step in steps if step.get("id")] == ["audit"]
    assert re.findall(r"outputs\.(\w+)", json.dumps(action["outputs"])) == list(action["outputs"])


def scripts():
    """The scripts of the action's steps."""
    return [step["run"] for step in yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]]


def test_no_python_starts_in_the_checkout():
    """`python3 -m venv` in the checkout would run its venv.py, argparse.py and others: each one is isolated."""
    lines = [line for script in scripts() for line in script.splitlines() if re.search(r"\bpython3?\b", line)]
    assert len(lines) == 4
    assert all(re.search(r'python3?"? -I ', line) for line in lines)
    pip = [line for line in scripts()[0].splitlines() if "install[@]" in line]
    assert [bool(re.search("--require-hashes -r|--no-build-isolation", line)) for line in pip] == [True] * 3


@pytest.mark.thorough
def test_files_of_the_checkout_do_not_run(tmp_path):
    """The command that makes the environment, in a folder with modules of the standard library's names."""
    checkout, place = tmp_path / "checkout", tmp_path / "runner"
    place.mkdir()
    plant_modules(checkout, tmp_path / "pwned")
    line = next(line for line in scripts()[0].splitlines() if "-m venv" in line)
    environment = {**os.environ, "RUNNER_TEMP": str(place)}
    words = ["bash", "-c", line]
    done = subprocess.run(words, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (place / "truemoment" / "bin" / "python").exists()
    assert not (tmp_path / "pwned").exists()


def test_the_example_workflow_uses_inputs_that_exist():
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    page = (ROOT / "docs" / "integrations.md").read_text("utf-8")
    workflow = yaml.safe_load(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])
    given = workflow["jobs"]["audit"]["steps"][-1]["with"]
    assert set(given) <= set(action["inputs"])
    assert {name for name, of in action["inputs"].items() if of.get("required")} <= set(given)
    assert workflow["permissions"]["pull-requests"] == "write"


def test_an_audit_is_commented_and_its_gate_fails_the_step(step, github, tmp_path, capfd, monkeypatch):
    conditions = [("shortcut-share<0.5", True, "is 0.2380"), ("skill>0.9", False, "is 0.59")]
    document = {
        "dataset": "mine.jsonl",
        "split": "all",
        "findings": [{"verdict": "Better than the 5 blind baselines tried."}],
        "gate": [dict(zip(("condition", "passed", "why"), of, strict=True)) for of in conditions],
    }

    def run(words):
        """Parse the words as the command line does; an audit itself takes seconds, and has its own tests."""
        read = command.make_context("audit", words[1:]).params
        assert read["measures"] == "R@1,IoU=0.5"
        assert read["gate"] == "shortcut-share<0.5; skill>0.9"
        assert str(read["predictions"]) == "--html=x.jsonl"  # a name that looks like an option is a name
        Path(read["json_path"]).write_text(json.dumps(document))
        sys.stdout.write("| report |\n")
        return 1

    monkeypatch.setattr(step, "run", run)
    monkeypatch.chdir(tmp_path)
    Path("--html=x.jsonl").touch()
    given = variables(
        tmp_path,
        github,
        AUDIT_PREDICTIONS="--html=x.jsonl",
        AUDIT_ANNOTATIONS=str(EXAMPLES / "annotations.jsonl"),
        AUDIT_MEASURES="R@1,IoU=0.5",
        AUDIT_GATE="shortcut-share<0.5; skill>0.9",
    )
    del given["GITHUB_TOKEN"]  # the audit does not get it
    assert step.audit(given) == 1
    assert github.requests == []
    assert step.send_comment(variables(tmp_path, github)) == 0
    assert capfd.readouterr().out == "commented: https://example.invalid/7\n"
    [(method, path, token, body)] = github.requests
    assert (method, path, token) == ("POST", "/repos/owner/name/issues/7/comments", "Bearer secret")
    assert body == (
        "<!-- truemoment audit: Audit -->\n## Audit: mine.jsonl/all\n\nBetter than the 5 blind baselines tried.\n\n"
        "- passes: `shortcut-share<0.5` (is 0.2380)\n- **FAILS**: `skill>0.9` (is 0.59)\n\n"
        "<details><summary>Report</summary>\n\n| report |\n\n</details>"
    )
    output = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert output["passed"] == "false"
    assert json.loads(Path(output["json"]).read_text()) == document
    assert Path(output["markdown"]).read_text() == "| report |\n"
    assert (tmp_path / "summary.md").read_text() == body + "\n"


def test_a_fault_is_one_line_and_no_comment(step, github, tmp_path, capfd):
    hostile = '$(touch pwned); --html=x"'
    given = variables(
        tmp_path, github, AUDIT_PREDICTIONS=hostile, AUDIT_ANNOTATIONS=str(EXAMPLES / "annotations.jsonl")
    )
    assert step.audit(given) == 2
    assert capfd.readouterr().err.splitlines()[-1].startswith("truemoment: ")
    assert github.requests == []
    assert not (tmp_path / "pwned").exists()


def test_the_comment_of_a_bot_is_replaced_and_that_of_a_person_is_not(step, github, tmp_path):
    first = step.mark("My method")
    others = [{"id": n, "user": {"type": "User"}, "body": "hello"} for n in range(99)]
    person = {"id": 500, "user": {"type": "User"}, "body": f"{first}\nmine"}
    bot = {"id": 501, "user": {"type": "Bot"}, "body": f"{first}\nold"}
    github.comments = [*others, person, bot]
    step.send(f"{first}\nnew", variables(tmp_path, github))
    assert github.requests.pop()[:2] == ("PATCH", "/repos/owner/name/issues/comments/501")
    github.comments.pop()
    step.send(f"{first}\nnew", variables(tmp_path, github))
    assert github.requests.pop()[:2] == ("POST", "/repos/owner/name/issues/7/comments")


def test_a_token_without_permission_is_a_warning(step, github, tmp_path):
    github.status = 403
    said = step.send("text", variables(tmp_path, github))
    assert said.startswith("::warning::no comment: 403")
    assert "pull-requests: write" in said
    assert step.send("text", {}) == "no comment: this run belongs to no pull request"


def test_a_comment_fits_and_calls_nobody(step):
    audit = {"dataset": "d", "split": "s", "findings": [{"verdict": "by @someone: R@1"}], "gate": []}
    body = step.comment("a --> b", audit, "x" * 70_000)
    assert len(body) < 65_536
    assert "The report is cut here" in body
    assert body.splitlines()[0] == "<!-- truemoment audit: a --- b -->"
    assert "@someone" not in body
    assert "R@1" in body
