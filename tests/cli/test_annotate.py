"""``truemoment annotate``: one command for one person, and bad input in one line."""

import http.client
import json
import re
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

pytest.importorskip("starlette")

from truemoment.cli import run
from truemoment.web.pages.launch import Listening, bind

from ..video.conftest import make_video

QUERIES = '{"video_id": "v1", "sentence": "a door opens"}\n{"video_id": "v2", "sentence": "she sits"}\n'


@pytest.fixture
def films(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films").mkdir()
    make_video(tmp_path / "films" / "v1.mp4", range(0, 1000, 40), codec="libx264")
    (tmp_path / "films" / "v2.mp4").write_text("no video")
    (tmp_path / "mine.jsonl").write_text(QUERIES)
    return tmp_path


def test_queries_are_read_in_every_form_of_references(tmp_path):
    from truemoment.web.annotating.study_queries import read_queries

    (tmp_path / "mine.csv").write_text("video_id,sentence,start_s,end_s\nv,a door opens,1,2\n")
    (tmp_path / "mine.jsonl").write_text('{"video_id": "v", "sentence": "a door opens"}\n')
    for name in ("mine.csv", "mine.jsonl"):
        assert list(read_queries(tmp_path / name).queries.query_id) == ["v#0"]


@pytest.mark.slow
def test_one_command_one_person(films, capsys):
    words = [sys.executable, "-m", "truemoment", "annotate", "start", "mine.jsonl", "--videos", "films"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*words, "--port", "0", "--no-open"], text=True, **streams) as process:
        link = next(found[0] for line in process.stdout if (found := re.search(r"http://127\S+", line)))
        base, token = link.split("/in#")
        headers = {"Origin": base, "Content-Type": "application/json"}

        def ask(method, path, body):
            request = urllib.request.Request(base + path, json.dumps(body).encode(), headers, method=method)  # noqa: S310
            opener = urllib.request.build_opener(NoRedirect)
            with opener.open(request) as answer:
                return answer.headers, answer.read()

        found, _ = ask("POST", "/in", {"token": token})
        headers["Cookie"] = found["Set-Cookie"].split(";")[0]
        task = {"task": None}
        while task["task"] is None:  # the video is prepared in the background
            time.sleep(0.02)
            task = json.loads(ask("POST", "/api/next", {})[1])
        body = {"key": "k" * 16, "base": 0, "verdict": "marked", "moments": [{"first": 5, "last": 9}], "submit": True}
        assert json.loads(ask("PUT", f"/api/tasks/{task['task']}/answer", body)[1])["state"] == "submitted"
        waiting = http.client.HTTPConnection(base.removeprefix("http://"))
        waiting.putrequest("PUT", f"/api/tasks/{task['task']}/answer")
        for name, value in {**headers, "Content-Length": "100"}.items():
            waiting.putheader(name, value)
        waiting.endheaders(b"half a body")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert "Traceback" not in process.stderr.read()
    assert run(["annotate", "export", "mine.study", "-o", "marked"]) == 0
    assert "1 line" in capsys.readouterr().out
    line = json.loads((films / "marked" / "annotations.jsonl").read_text())
    assert (line["video_id"], line["moments"], line["annotators"]) == (
        "v1",
        [[0.2, 0.4]],
        ["w01"],
    )  # 25 frames a second
    assert run(["annotate", "status", "mine.study", "--json", "-", "--quiet"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["answers"] == 1
    assert list(status["not_playable"]) in ([], ["v2"])


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Takes the way to another page as the answer."""

    def http_error_303(self, _, answer, *__):
        return answer


def test_a_study_is_made_prepared_and_listed(films, capsys):
    words = ["annotate", "new", "lab", "--annotations", "mine.jsonl", "--videos", "films"]
    assert run([*words, "--people", "2", "--per-query", "2", "--address", "https://lab.example"]) == 0
    links = re.findall(r"w\d\d  https://lab\.example/in#(\S+)", capsys.readouterr().out)
    assert len(set(links)) == 2
    assert run(["annotate", "prepare", "lab"]) == 0
    printed = capsys.readouterr()
    assert "1 video is ready, 1 by a playable copy" in printed.out
    assert "not playable: v2" in printed.err
    assert run(["annotate", "people", "lab", "list"]) == 0
    assert "w02" in capsys.readouterr().out
    assert run(["annotate", "people", "lab", "replace", "w02"]) == 0
    assert "w03" in capsys.readouterr().out
    assert run(["annotate", "status", "lab"]) == 0
    text = json.loads((films / "lab" / "study.json").read_text())
    assert not any(token in json.dumps(text) for token in links)
    assert not any(token.encode() in (films / "lab" / "study.sqlite").read_bytes() for token in links)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("start mine.jsonl --videos nothing --port 0", "nothing: no such folder"),
        ("start mine.jsonl --videos empty --port 0", "contains none of the 2 videos"),
        ("start nothing.jsonl --videos films --port 0", "nothing.jsonl: no such file"),
        ("start bad.jsonl --videos films --port 0", "bad.jsonl:1: field sentence"),
        ("new lab --annotations mine.jsonl --videos films --only other.jsonl", "v9#0"),
        ("new lab --annotations mine.jsonl --videos films --people 2", "2 people for 5 answers"),
        ("new lab --annotations mine.jsonl --videos films --controls gold=2", "--controls"),
        ("new lab --annotations mine.jsonl --videos films --address nowhere", "--address"),
        ("new films --annotations mine.jsonl --videos films", "already exists"),
        ("serve films --port 0", "films: is no study"),
        ("prepare films", "films: is no study"),
        ("export films -o out", "films: is no study"),
        ("status nothing", "nothing: is no study"),
        ("start mine.jsonl --videos films --host 192.0.2.1", "--name"),
    ],
)
def test_bad_input_is_one_line(films, capsys, words, says):
    (films / "empty").mkdir()
    (films / "bad.jsonl").write_text('{"video_id": "v1"}\n')
    (films / "other.jsonl").write_text('{"query_id": "v9#0"}\n')
    before = {path.name for path in films.iterdir()}
    assert run(["annotate", *words.split()]) == 2
    printed = capsys.readouterr()
    assert len(printed.err.splitlines()) == 1
    assert says in printed.err
    assert {path.name for path in films.iterdir()} == before  # nothing is written


def test_a_port_in_use_and_a_second_server_are_one_line(films, capsys):
    new = ["annotate", "new", "lab", "--annotations", "mine.jsonl", "--videos", "films"]
    assert run([*new, "--people", "1", "--per-query", "1"]) == 0
    capsys.readouterr()
    with bind(Listening()) as taken:
        assert run(["annotate", "serve", "lab", "--port", str(taken.getsockname()[1])]) == 2
    assert "is in use" in capsys.readouterr().err
    from truemoment.web.annotating.serving import open_study
    from truemoment.web.annotating.study import StudyFolder

    with open_study(StudyFolder(films / "lab")):
        assert run(["annotate", "serve", "lab", "--port", "0"]) == 2
    assert "another command" in capsys.readouterr().err
