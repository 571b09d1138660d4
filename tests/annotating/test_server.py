"""Requests of people and of the owner: who may do what, how answers are stored, and what is never sent."""

import contextlib
import importlib
import io
import json
import math
import shutil
import time
import zipfile

import pytest

from truemoment.base.boundary.folders import lock_folder
from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import Annotations
from truemoment.web.annotating import leases
from truemoment.web.annotating.events import identity_of_study
from truemoment.web.annotating.exporting import export_study
from truemoment.web.annotating.rebuilding import differences, rebuild
from truemoment.web.annotating.results import read_state
from truemoment.web.annotating.store import connect
from truemoment.web.annotating.study import StudyFolder

from .conftest import annotations_of

ALL = ("marked", "absent", "unclear", "broken")


def body(key="a" * 16, base=0, **more):
    """A save with one moment."""
    answer = {"verdict": "marked", "moments": [{"first": 10, "last": 19}], "submit": False}
    return {"key": key, "base": base} | answer | more


def answer_all(client, answer=lambda _: {}, most=10_000):
    """Answer every task of a person; return what was seen of each."""
    seen, after = [], None
    while len(seen) < most:
        found = client.post("/api/next", json={"after": after})
        if found.status_code == 204:
            return seen
        task = found.json()
        seen.append(task)
        request = body(key=f"k-{task['task']:012d}", base=task["version"], submit=True) | answer(task)
        assert client.put(f"/api/tasks/{task['task']}/answer", json=request).status_code == 200
        after = task["task"]
    return seen


# ------------------------------------------------------------------------------------------------ roles

PATHS = [
    ("GET", "/api/me", 200, 403),
    ("POST", "/api/next", 200, 403),
    ("GET", "/api/tasks/{own}", 200, 403),
    ("GET", "/api/tasks/{other}", 404, 403),
    ("GET", "/api/tasks/99999999999999999999", 404, 403),
    ("PUT", "/api/tasks/{own}/answer", 200, 403),
    ("PUT", "/api/tasks/{other}/answer", 404, 403),
    ("POST", "/api/tasks/{own}/alive", 204, 403),
    ("POST", "/api/tasks/{other}/alive", 404, 403),
    ("GET", "/media/{video}", 200, 200),
    ("GET", "/media/{video}/frames.json", 200, 200),
    ("GET", "/media/{video}/strip.jpg", 200, 200),
    ("GET", "/media/{video}/peaks.bin", 404, 404),
    ("GET", "/media/{foreign}", 404, 200),
    ("GET", "/media/0", 404, 404),
    ("GET", "/media/..%2fstudy.sqlite", 404, 404),
    ("GET", "/task", 200, 303),
    ("GET", "/owner", 303, 200),
    ("GET", "/owner/query/1", 303, 200),
    ("GET", "/api/owner/summary", 403, 200),
    ("GET", "/api/owner/queries", 403, 200),
    ("GET", "/api/owner/queries/1", 403, 200),
    ("POST", "/api/owner/people", 403, 200),
    ("POST", "/api/owner/people/w03/revoke", 403, 204),
    ("POST", "/api/owner/people/w99/replace", 403, 400),
    ("POST", "/api/owner/tasks/99/set-aside", 403, 404),
    ("GET", "/api/jobs/none", 403, 404),
]


def test_who_may_use_what(served):
    study = served(annotations_of(4, 1), people=4, per_query=2, practice=0)
    person, owner, stranger = study.client("w01"), study.client("owner"), study.client("w01")
    stranger.cookies.clear()
    own = person.post("/api/next", json={}).json()
    other = study.client("w02").post("/api/next", json={}).json()["task"]
    owned = {task["video"] for task in _tasks_of(person)}
    foreign = next(video for video in (1, 2, 3, 4) if video not in owned)
    names = {"own": own["task"], "other": other, "video": own["video"], "foreign": foreign}
    for method, path, of_person, of_owner in PATHS:
        path = path.format(**names)  # noqa: PLW2901 - with this study's numbers
        sent = {
            "PUT": body(f"{path[-14:-7]:x>16}".replace("/", "-")),
            "POST": {"count": 1} if path.endswith("people") else {},
        }.get(method)
        for client, status in ((stranger, None), (person, of_person), (owner, of_owner)):
            found = client.request(method, path, json=sent)
            if status is None:
                expected = (303,) if path.startswith(("/task", "/owner")) else (401, 404)
                assert found.status_code in expected, (method, path, found.text)
            else:
                assert found.status_code == status, (method, path, found.text)


def _tasks_of(client):
    number, found = 1, []
    while number < 20:
        task = client.get(f"/api/tasks/{number}")
        found += [task.json()] if task.status_code == 200 else []
        number += 1
    return found


def test_a_revoked_link_ends_at_once(served):
    study = served(annotations_of(3, 1), people=2, per_query=1, practice=0)
    person = study.client("w01")
    task = person.post("/api/next", json={}).json()["task"]
    assert person.put(f"/api/tasks/{task}/answer", json=body()).status_code == 200
    assert study.client("owner").post("/api/owner/people/w01/revoke", json={}).status_code == 204
    assert person.put(f"/api/tasks/{task}/answer", json=body("b" * 16, 1)).status_code == 401
    assert person.get("/", follow_redirects=False).headers["Location"] == "/in"


# ----------------------------------------------------------------------------------------------- saving


def test_saves_have_versions_and_keys(served):
    study = served(annotations_of(2, 1), people=1, per_query=1, practice=0)
    client = study.client("w01")
    task = client.post("/api/next", json={}).json()["task"]
    path = f"/api/tasks/{task}/answer"
    first = client.put(path, json=body())
    assert first.json()["version"] == 1
    again = client.put(path, json=body())
    assert again.json() == {**first.json(), "again": True}
    second = client.put(path, json=body("b" * 16, 1, moments=[{"first": 5, "last": 9}]))
    assert second.json()["version"] == 2
    conflict = client.put(path, json=body("c" * 16, 1))
    assert conflict.status_code == 409
    assert conflict.json()["version"] == 2
    assert conflict.json()["answer"]["moments"] == [{"first": 5, "last": 9}]
    assert client.put(path, json=body("c" * 16, 2, submit=True)).json()["state"] == "submitted"
    assert client.get("/api/me").json()["progress"]["done"] == 1
    assert client.put(path, json=body("d" * 16, 3)).json()["state"] == "draft"  # reopened by the person
    other = client.post("/api/next", json={"after": task}).json()["task"]
    assert other != task
    assert client.put(f"/api/tasks/{other}/answer", json=body()).status_code == 400  # a key of another task
    assert study.server.store.read(differences) == []
    with pytest.raises(Exception, match="events are never"):
        study.server.store.write(lambda connection: connection.execute("DELETE FROM events"))
    study.server.store.write(rebuild)
    assert study.server.store.read(differences) == []


NO_ANSWERS = [
    ({"moments": [{"first": 5, "last": 4}]}, "moments[0]"),
    ({"moments": [{"first": 5, "last": 300}]}, "moments[0]"),  # the video has 300 frames
    ({"moments": [{"first": 5, "last": 9}, {"first": 9, "last": 12}]}, "moments[1]"),
    ({"moments": [{"first": 5, "last": 9}, {"first": 1, "last": 2}]}, "moments[1]"),
    ({"moments": [{"first": 2 * k, "last": 2 * k} for k in range(51)]}, "moments"),
    ({"moments": [{"first": -1, "last": 4}]}, "moments[0].first"),
    ({"moments": [{"first": 1e999, "last": 4}]}, None),
    ({"moments": [{"first": 1.5, "last": 4}]}, "moments[0].first"),
    ({"verdict": "absent"}, "moments"),
    ({"verdict": "fits", "moments": []}, "verdict"),
    ({"verdict": "", "moments": [], "submit": True}, "verdict"),
    ({"moments": [], "submit": True}, "moments"),
    ({"verdict": "unclear", "moments": [], "submit": True}, "reasons"),
    ({"verdict": "unclear", "moments": [], "reasons": ["bored"]}, "reasons"),
    ({"comment": "a" * 501}, "comment"),
    ({"key": "short"}, "key"),
    ({"key": "12345678\n"}, "key"),
    ({"base": -1}, "base"),
    ({"control": "gold"}, ""),
    ({"active_s": -1}, "active_s"),
]


def test_what_is_no_answer_is_refused(served):
    study = served(annotations_of(1, 1), people=1, per_query=1, practice=0)
    client = study.client("w01")
    for changed, field in NO_ANSWERS:
        sent = json.dumps(body() | changed).replace("Infinity", "1e999")
        found = client.put("/api/tasks/1/answer", content=sent, headers={"Content-Type": "application/json"})
        assert found.status_code == 400, changed
        assert field is None or found.json()["field"] == field, changed
        assert client.get("/api/tasks/1").json()["version"] == 0


def test_one_moment_where_several_are_not_allowed(served):
    study = served(annotations_of(1, 1), people=1, per_query=1, practice=0, several=False)
    two = [{"first": 1, "last": 2}, {"first": 5, "last": 6}]
    assert study.client("w01").put("/api/tasks/1/answer", json=body(moments=two)).status_code == 400


def test_a_full_disk_is_told_and_nothing_is_half_stored(served):
    study = served(annotations_of(2, 1), people=1, per_query=1, practice=0)
    client = study.client("w01")
    assert client.put("/api/tasks/1/answer", json=body()).status_code == 200
    store = study.server.store

    def limit(connection):
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")

    store.write(limit)
    answers = []
    for number in range(200):
        request = body(f"fill-{number:08d}", 1 + number, comment="x" * 500)
        answers.append(client.put("/api/tasks/1/answer", json=request))
        if answers[-1].status_code != 200:
            break
    assert answers[-1].status_code == 503
    assert "the change is not stored" in answers[-1].json()["error"]
    assert client.get("/api/tasks/1").json()["version"] == len(answers)  # the one before and those acknowledged
    assert store.read(differences) == []
    store.write(lambda connection: connection.execute("PRAGMA max_page_count = 1000000"))
    assert client.put("/api/tasks/1/answer", json=request).status_code == 200


# ----------------------------------------------------------------------------------------- order of work


def test_each_query_gets_its_answers(served):
    study = served(annotations_of(6, 2), people=4, per_query=3, practice=0)
    seen = {name: answer_all(study.client(name)) for name in ("w01", "w02", "w03", "w04")}
    assert sum(map(len, seen.values())) == 36
    assert all(len({task["sentence"] + str(task["video"]) for task in of}) == len(of) for of in seen.values())
    summary = study.client("owner").get("/api/owner/summary").json()
    assert (summary["answers"], summary["needed"]) == (36, 36)
    assert summary["mean_iou"] == 1.0  # everybody marked the same
    assert {person["done"] for person in summary["people"]} <= {8, 9, 10}
    last = summary["seq"]
    assert study.client("owner").get(f"/api/owner/summary?since={last}").status_code == 304
    assert study.client("owner").get("/api/owner/summary?since=-1").status_code == 400


def test_whoever_comes_gets_the_next_query(served, monkeypatch):
    study = served(annotations_of(3, 2), people=0, per_query=2, practice=0)
    links = study.client("owner").post("/api/owner/people", json={"count": 3}).json()["links"]
    study.tokens.update({link["name"]: link["link"].split("#")[1] for link in links})
    first = study.client("w01").post("/api/next", json={}).json()
    assert study.client("w01").post("/api/next", json={}).json()["task"] == first["task"]  # the lease is kept
    later = leases.now() + leases.LEASE_S + 1
    monkeypatch.setattr(leases, "now", lambda: later)
    seen = [answer_all(study.client(name)) for name in ("w02", "w03")]
    assert [len(of) for of in seen] == [6, 6]
    late = study.client("w01").put(f"/api/tasks/{first['task']}/answer", json=body(submit=True))
    assert late.json()["state"] == "submitted"  # an answer that comes late is kept, as a surplus one
    assert study.client("w01").post("/api/next", json={}).status_code == 204


def test_a_draft_of_somebody_who_left_goes_to_another(served, monkeypatch):
    study = served(annotations_of(1, 1), people=0, per_query=1, practice=0)
    links = study.client("owner").post("/api/owner/people", json={"count": 3}).json()["links"]
    study.tokens.update({link["name"]: link["link"].split("#")[1] for link in links})
    one, two, three = (study.client(name) for name in ("w01", "w02", "w03"))
    task = one.post("/api/next", json={}).json()["task"]
    assert one.put(f"/api/tasks/{task}/answer", json=body()).json()["state"] == "draft"
    assert two.post("/api/next", json={}).status_code == 204  # somebody works on the only query
    later = leases.now() + leases.LEASE_S + 1
    monkeypatch.setattr(leases, "now", lambda: later)
    found = two.post("/api/next", json={}).json()["task"]  # the lease is over
    assert two.put(f"/api/tasks/{found}/answer", json=body("b" * 16)).json()["state"] == "draft"
    assert three.post("/api/next", json={}).status_code == 204
    study.client("owner").post("/api/owner/people/w02/revoke", json={})
    assert three.post("/api/next", json={}).status_code == 200  # nobody can go on with it
    assert one.post("/api/next", json={}).json()["task"] == task  # one's own draft is never lost
    assert one.put(f"/api/tasks/{task}/answer", json=body("c" * 16, 1, submit=True)).json()["state"] == "submitted"


def test_another_study_of_the_same_name_is_another_study(make_study):
    """What a browser has not sent yet belongs to one study, not to the next in the same folder."""
    names = []
    for _ in range(2):
        folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1)
        with contextlib.closing(connect(folder / "study.sqlite")) as connection:
            names.append(identity_of_study(connection))
        shutil.rmtree(folder)
    assert len(set(names)) == 2


def test_people_who_leave_are_replaced(served):
    study = served(annotations_of(10, 1), people=3, per_query=2, practice=0)
    owner = study.client("owner")
    done = answer_all(study.client("w01"), most=2)
    link = owner.post("/api/owner/people/w01/replace", json={}).json()["links"][0]
    study.tokens[link["name"]] = link["link"].split("#")[1]
    rest = answer_all(study.client(link["name"]))
    assert len(done) + len(rest) >= 6
    assert not {(of["video"], of["sentence"]) for of in done} & {(of["video"], of["sentence"]) for of in rest}
    for name in ("w02", "w03"):
        answer_all(study.client(name))
    assert owner.get("/api/owner/summary").json()["answers"] == 20
    added = owner.post("/api/owner/people", json={"count": 1})
    assert added.status_code == 200
    assert study.server.store.read(differences) == []


def test_a_closed_study_is_read_only(served):
    study = served(annotations_of(2, 1), people=1, per_query=1, practice=0)
    client, owner = study.client("w01"), study.client("owner")
    client.put("/api/tasks/1/answer", json=body(submit=True))
    assert owner.post("/api/owner/close", json={}).status_code == 204
    assert client.put("/api/tasks/1/answer", json=body("b" * 16, 1)).status_code == 403
    assert client.post("/api/next", json={}).status_code == 409
    assert client.get("/api/me").json()["progress"]["closed"] is True


def test_the_owner_exports_a_zip(served):
    study = served(annotations_of(2, 1), people=2, per_query=2, practice=0)
    answer_all(study.client("w01"))
    owner = study.client("owner")
    job = owner.post("/api/owner/export", json={}).json()["job"]
    for _ in range(200):
        state = owner.get(f"/api/jobs/{job}").json()
        if state["state"] == "ready":
            break
        assert state["state"] in ("waiting", "running"), state
        time.sleep(0.05)
    with zipfile.ZipFile(io.BytesIO(owner.get(f"/api/jobs/{job}/file").content)) as archive:
        assert set(archive.namelist()) == {
            "annotations.jsonl",
            "answers.jsonl",
            "hidden-challenges.csv",
            "datasheet.md",
            "datasheet.json",
        }


def test_an_export_whose_process_dies_is_a_failed_job(served, monkeypatch, tmp_path):
    study = served(annotations_of(1, 1), people=1, per_query=1, practice=0)
    owner = study.client("owner")

    def outcome():
        job = owner.post("/api/owner/export", json={}).json()["job"]
        while (found := owner.get(f"/api/jobs/{job}").json())["state"] in ("waiting", "running"):
            time.sleep(0.05)
        return found["state"], found["why"]

    (tmp_path / "ending.py").write_text("import os\n\ndef write(*_):\n    os.abort()\n", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path)  # also that of the process
        patch.setattr("truemoment.web.annotating.owner.write_archive", importlib.import_module("ending").write)
        state, why = outcome()
        assert state == "failed"
        assert "the process of the export ended" in why
    assert outcome() == ("ready", "")


def test_states_of_people_and_of_the_study(served, tmp_path):
    """The states of the specification: invited, read, practised, working, done; running, closed, exported."""
    gold = Annotations.from_rows([(f"g#{k}", f"v{k}", 30.0, f"a bell rings {k}", 1.0, 2.0, "") for k in range(2)])
    study = served(annotations_of(2, 1), people=2, per_query=1, practice=1, gold=gold)
    client, owner = study.client("w01"), study.client("owner")

    def states():
        shown = owner.get("/api/owner/summary").json()
        assert client.get("/api/me").json()["progress"]["state"] == shown["people"][0]["state"]
        return [of["state"] for of in shown["people"]], shown["state"]

    def submit(after=None):
        task = client.post("/api/next", json={"after": after}).json()["task"]
        client.put(f"/api/tasks/{task}/answer", json=body(f"key-of-task-{task}", submit=True))
        return task

    assert states() == (["invited", "invited"], "running")
    client.post("/api/read", json={})
    assert states() == (["read", "invited"], "running")
    submit()
    assert states() == (["practised", "invited"], "running")
    draft = client.post("/api/next", json={}).json()["task"]
    client.put(f"/api/tasks/{draft}/answer", json=body("key-of-a-draft"))
    assert states() == (["working", "invited"], "running")
    client.put(f"/api/tasks/{draft}/answer", json=body("key-of-the-answer", 1, submit=True))
    assert states() == (["done", "invited"], "running")
    owner.post("/api/owner/people/w02/revoke", json={})
    assert states() == (["done", "revoked"], "running")

    def export():
        with contextlib.closing(connect(study.study.database, read_only=True)) as connection:
            export_study(study.study, connection, tmp_path / "out")

    with lock_folder(tmp_path / "out"), pytest.raises(UsageError, match="is being written by another command"):
        export()
    assert states()[1] == "running"
    export()
    assert states()[1] == "running"  # people can go on
    owner.post("/api/owner/close", json={})
    assert states()[1] == "closed"
    export()
    assert states()[1] == "exported"
    owner.post(f"/api/owner/tasks/{draft}/set-aside", json={"why": "a test"})
    assert states()[1] == "closed"  # what was exported is no longer what the study has
    study.server.store.write(rebuild)
    assert states() == (["done", "revoked"], "closed")


def test_a_study_is_made_then_prepared(make_study):
    folder, _ = make_study(annotations_of(2, 1), people=1, per_query=1, practice=0)
    study = StudyFolder(folder)
    with contextlib.closing(connect(study.database)) as connection:
        for waiting, expected in ((2, "made"), (1, "preparing"), (0, "running")):
            connection.execute("UPDATE videos SET state = iif(id <= ?, 'waiting', 'ready')", (waiting,))
            assert read_state(study, connection).state == expected


# ------------------------------------------------------------------------------------------------ blind


def test_people_never_see_references_controls_or_other_answers(served):
    """Every byte that a person gets during a whole study, with all kinds of controls."""
    rows = [
        (of.query_id[k], of.video_id[k], 30.0, of.sentence[k], 7.654321, 9.876543, "")
        for of in (annotations_of(6, 4),)
        for k in range(len(of.query_id))
    ]
    gold = [(f"golden#{k}", f"v{k}", 30.0, f"somebody waves at window {k}", 3.1415926, 5.3589793, "") for k in range(6)]
    study = served(
        Annotations.from_rows(rows),
        people=2,
        per_query=2,
        practice=2,
        gold=Annotations.from_rows(gold),
        controls=(0.2, 0.2, 0.2),
    )
    other = study.client("w02")
    answer_all(other, lambda _: {"moments": [{"first": 123, "last": 234}], "comment": "a secret of w02"}, most=12)
    client = study.client("w01")
    got = []
    send = client.send

    def listening(request, **how):
        response = send(request, **how)
        got.append((request.url.path, response.content + repr(response.headers).encode()))
        return response

    client.send = listening
    for path in ("/", "/task", "/in", "/static/task.js", "/static/session.js"):
        client.get(path)
    seen = answer_all(client, lambda _: {"reasons": []})
    for task in seen:
        client.get(f"/api/tasks/{task['task']}")
        client.get(f"/media/{task['video']}")
        client.get(f"/media/{task['video']}/frames.json")
    client.put(f"/api/tasks/{seen[-1]['task']}/answer", json=body("conflict-key", 0))
    client.get("/api/owner/summary")
    state = study.server.store.read(
        lambda connection: [dict(row) for row in connection.execute("SELECT control, id FROM tasks WHERE person = 2")]
    )
    controls = {row["control"] for row in state}
    assert controls >= {"gold", "repeat", "absent", "practice", ""}
    practice = {row["id"] for row in state if row["control"] == "practice"}
    feedback = {f"/api/tasks/{task}/answer" for task in practice}
    assert len(got) > 100
    shapes = set()
    for path, content in got:
        for secret in (b"7.654321", b"9.876543", b"secret", b"golden", b'"hidden"', b'"agree', b"w02", b"repeat"):
            assert secret not in content or path.startswith("/static"), (path, secret)
        if path not in feedback:
            assert b"3.14159" not in content, path
            assert b"5.35897" not in content, path
        if path.startswith("/api/tasks/") and not path.endswith("answer"):
            shapes.add(frozenset(json.loads(content.split(b"Headers(")[0])))
    assert len(shapes) == 1  # no field tells a control from another task
    assert all(task["practice"] is (task["task"] in practice) for task in seen)


def test_practice_gives_feedback(served):
    gold = Annotations.from_rows([(f"g#{k}", f"v{k}", 30.0, f"a bell rings {k}", 1.0, 2.0, "") for k in range(4)])
    study = served(annotations_of(4, 1), people=1, per_query=1, practice=2, gold=gold)
    client = study.client("w01")
    task = client.post("/api/next", json={}).json()
    assert task["practice"] is True
    found = client.put(f"/api/tasks/{task['task']}/answer", json=body(submit=True)).json()["feedback"]
    assert found["right"] is True  # frames 10 to 19 of 10 a second: 1 to 2 s
    assert found["moments"] == [[1.0, 2.0]]


# --------------------------------------------------------------------------------------------- bad input


def test_plans_that_cannot_be_are_refused(make_study, tmp_path):
    with pytest.raises(UsageError, match="3 people for 5 answers"):
        make_study(annotations_of(2, 1), people=3, per_query=5)
    make_study(annotations_of(2, 1), people=2, per_query=1)
    with pytest.raises(UsageError, match="already exists"):
        make_study(annotations_of(2, 1), people=2, per_query=1)
    with pytest.raises(UsageError, match="--lang: got 'Arabic; x'"):
        make_study(annotations_of(2, 1), name="other", people=2, per_query=1, lang="Arabic; x")
    with pytest.raises(InputError, match="v9#9"):
        make_study(annotations_of(2, 1), name="other", only=frozenset({"v9#9"}))
    assert not (tmp_path / "other").exists()


def test_one_server_a_study(served):
    from truemoment.web.annotating.serving import open_study

    study = served(annotations_of(1, 1), people=1, per_query=1, practice=0)
    with pytest.raises(UsageError, match="another command"), open_study(study.study):
        pass


def test_agreement_of_the_empty_study_is_no_number(served):
    study = served(annotations_of(1, 1), people=1, per_query=1, practice=0)
    summary = study.client("owner").get("/api/owner/summary").json()
    assert summary["mean_iou"] is None
    assert not any(isinstance(value, float) and math.isnan(value) for value in summary.values())
