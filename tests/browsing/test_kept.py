"""Collections and exports of the search page: nothing vanishes, nothing is half written, and files read back."""

import csv
import io
import multiprocessing
import os
import signal
import time
import zipfile

import pytest

pytest.importorskip("starlette")

from truemoment.web.browsing.kept import Collections, KeptMoment
from truemoment.web.pages.errors import PageError

from .conftest import lines_of

RED = {"id": "m1", "v": 0, "start_s": 20.0, "end_s": 28.0, "sentence": "red", "score": 0.5, "match": 0.9}
ALSO = {
    "id": "m2",
    "v": 2,
    "start_s": 34.0,
    "end_s": 42.0,
    "sentence": "red",
    "score": 0.4,
    "match": 0.8,
    "note": "later",
}


def put(client, revision, moments, name="doors"):
    return client.put(f"/api/collections/{name}", json={"revision": revision, "moments": moments})


def moment(name):
    return KeptMoment(id=name, video_id="a", identity="1:2", start_s=0.0, end_s=1.0)


def test_a_collection_is_kept_as_lines(served, index, tmp_path):
    _, client = served()
    assert client.get("/api/collections/doors").json() == {"name": "doors", "revision": 0, "moments": []}
    stored = put(client, 0, [RED, ALSO]).json()
    assert (stored["revision"], [of["file"] for of in stored["moments"]]) == (1, ["here", "here"])
    head, first, second = lines_of(tmp_path / "kept" / "doors.jsonl")
    assert head == {
        "schema": "truemoment/collection/1",
        "name": "doors",
        "revision": 1,
        "index": "films.index",
        "fingerprint": "c01075c01075c010",
    }
    assert first["identity"] == index.about("a").identity
    assert (first["video_id"], second["video_id"], second["note"]) == ("a", "c", "later")
    assert "identity" not in client.get("/api/collections/doors").text
    assert client.get("/api/collections").json()["collections"] == [{"name": "doors", "revision": 1, "count": 2}]
    assert client.delete("/api/collections/doors").status_code == 204
    assert client.delete("/api/collections/doors").status_code == 404


def test_another_tab_gets_what_is_there_and_nothing_vanishes(served):
    _, client = served()
    put(client, 0, [RED])
    conflict = put(client, 0, [ALSO])
    assert conflict.status_code == 409
    there = conflict.json()
    assert (there["revision"], [of["id"] for of in there["moments"]]) == (1, ["m1"])
    assert put(client, there["revision"], [RED, ALSO]).json()["revision"] == 2


@pytest.mark.parametrize(
    "name",
    ["..", "%2e%2e", "a" * 61, "CON", "lpt1", "a.b", "ü", " a", "a ", "a%00", "a%0Ab", "..%2f..%2fx"],
)
def test_names_of_collections(refusing, name):
    client, kept = refusing
    assert client.put(f"/api/collections/{name}", json={"revision": 0, "moments": []}).status_code in (400, 404, 405)
    assert not kept.exists() or [of.name for of in kept.iterdir()] == [".lock"]


@pytest.mark.parametrize("name", ["a", "A b_c-9", "a" * 60])
def test_good_names(served, name):
    _, client = served()
    assert put(client, 0, [], name).status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"v": 99},
        {"v": None},
        {"start_s": 5.0, "end_s": 5.0},
        {"start_s": -1.0},
        {"start_s": 1e9, "end_s": 2e9},
        {"start_s": 100.0, "end_s": 101.0},
        {"id": "../x"},
        {"id": "x\n"},
        {"id": ""},
        {"sentence": "a" * 10_001},
        {"more": 1},
    ],
)
def test_bad_moments_are_refused(refusing, wrong):
    client, kept = refusing
    assert put(client, 0, [RED | wrong]).status_code in (400, 404)
    assert not (kept / "doors.jsonl").exists()


def test_limits(served, monkeypatch):
    monkeypatch.setattr("truemoment.web.browsing.kept.MOST_MOMENTS", 10)
    _, client = served()
    assert put(client, 0, [RED, RED]).status_code == 400
    many = [{"id": f"m{k}", "v": 0, "start_s": 1.0, "end_s": 2.0} for k in range(11)]
    assert put(client, 0, many).status_code == 413
    assert put(client, 0, many[:10]).status_code == 200


def test_a_damaged_collection_is_named_and_the_others_are_there(served, tmp_path):
    _, client = served()
    put(client, 0, [RED], "good")
    (tmp_path / "kept" / "bad.jsonl").write_text('{"schema": "truemoment/collection/1"}\n')
    answer = client.get("/api/collections/bad")
    assert (answer.status_code, "bad.jsonl:1" in answer.json()["error"]) == (400, True)
    assert [of["name"] for of in client.get("/api/collections").json()["collections"]] == ["good"]


def test_a_second_server_on_the_folder_is_read_only(served):
    _, client = served()
    put(client, 0, [RED])
    second, other = served()
    assert "another command" in second.collections.read_only
    assert other.get("/api/collections").json()["read_only"]
    assert other.get("/api/collections/doors").json()["revision"] == 1
    assert put(other, 1, []).status_code == 409
    assert put(client, 1, [RED, ALSO]).status_code == 200


def test_a_moment_whose_film_was_exchanged_is_stale(served, index):
    _, client = served()
    put(client, 0, [RED])
    path = next((index.path / "videos").glob("a-*")) / "about.json"
    path.write_text(path.read_text().replace(index.about("a").identity, "9:abc"))
    client.post("/api/index/reload", json={})
    assert client.get("/api/collections/doors").json()["moments"][0]["file"] == "changed"
    refused = client.post("/api/export", json={"format": "csv", "collection": "doors"})
    assert (refused.status_code, "changed since" in refused.text) == (404, True)


def test_a_full_disk_is_told_and_the_collection_stays(served, tmp_path, monkeypatch):
    _, client = served()
    put(client, 0, [RED])

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("truemoment.base.boundary.files.os.fsync", full)
    answer = put(client, 1, [RED, ALSO])
    assert (answer.status_code, "No space left" in answer.text) == (507, True)
    monkeypatch.undo()
    assert client.get("/api/collections/doors").json()["revision"] == 1
    assert sorted(of.name for of in (tmp_path / "kept").iterdir()) == [".lock", "doors.jsonl"]


def write_again_and_again(folder, told):
    collections = Collections(folder, index="i", fingerprint="f")
    for revision in range(10_000):
        collections.write("doors", revision, [moment(f"m{k}") for k in range(revision % 7 + 1)])
        told.send(revision + 1)


def test_a_killed_server_leaves_the_last_acknowledged_revision_or_the_one_under_way(tmp_path):
    context = multiprocessing.get_context("fork")
    folder = tmp_path / "kept"
    acknowledged = 0
    for round_ in range(4):
        for path in folder.glob("doors.jsonl"):
            path.unlink()
        receive, send = context.Pipe(duplex=False)
        process = context.Process(target=write_again_and_again, args=(folder, send))
        process.start()
        send.close()
        time.sleep(0.05 + 0.06 * round_)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        acknowledged = 0
        while receive.poll():
            try:
                acknowledged = receive.recv()
            except EOFError:
                break
        if acknowledged:
            found = Collections(folder, index="i", fingerprint="f").read("doors")
            assert found.revision in (acknowledged, acknowledged + 1)
            assert len(found.moments) == (found.revision - 1) % 7 + 1
    assert acknowledged > 0


# ---------------------------------------------------------------------------------------------- exports


@pytest.mark.parametrize("form", ["otio", "edl", "fcpxml", "xml", "csv", "json", "vtt", "srt"])
def test_each_format_is_a_file(served, form):
    pytest.importorskip("opentimelineio")
    _, client = served()
    put(client, 0, [RED])
    answer = client.post("/api/export", json={"format": form, "collection": "doors"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Disposition"] == f'attachment; filename="doors.{form}"'
    assert answer.headers["Content-Type"] == "application/octet-stream"
    if form == "csv":
        row = next(csv.DictReader(io.StringIO(answer.text)))
        assert (row["video_id"], row["first_frame"], row["last_frame"]) == ("a", "100", "139")


def test_moments_can_be_exported_without_a_collection(served):
    _, client = served()
    body = {"format": "json", "moments": [RED], "options": {"names": True}}
    assert client.post("/api/export", json=body).json()[0]["sentence"] == "red"
    for wrong in ({"format": "aaf"}, {"format": "csv", "collection": "x", "moments": []}, {"format": "csv"}):
        assert client.post("/api/export", json=wrong).status_code == 400


def test_a_collection_becomes_references_and_predictions(served, tmp_path):
    from truemoment import evaluate

    _, client = served()
    put(client, 0, [RED, RED | {"id": "m3", "start_s": 1.0, "end_s": 4.0, "score": 0.1}, ALSO])
    for form in ("annotations", "predictions"):
        answer = client.post("/api/export", json={"format": form, "collection": "doors"})
        (tmp_path / f"{form}.jsonl").write_bytes(answer.content)
    scores = evaluate(
        tmp_path / "predictions.jsonl", annotations=tmp_path / "annotations.jsonl", measures="R@1,IoU=0.5; mIoU"
    )
    assert (len(lines_of(tmp_path / "annotations.jsonl")), scores.value("mIoU")) == (
        2,
        1.0,
    )  # a sentence is one query of its film


def test_clips_come_as_a_zip_and_what_fails_is_named(served, films):
    _, client = served()
    put(client, 0, [RED | {"end_s": 21.0}, ALSO | {"end_s": 35.0}])
    (films / "c.mp4").unlink()
    job = client.post("/api/export", json={"format": "clips", "collection": "doors"})
    assert job.status_code == 202
    name = job.json()["job"]
    until = time.monotonic() + 60
    while (state := client.get(f"/api/jobs/{name}").json())["state"] in ("waiting", "running"):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert state["state"] == "ready"
    assert "1 of 2 moments are left out; 2: the video is gone" in state["why"]
    archive = zipfile.ZipFile(io.BytesIO(client.get(f"/api/jobs/{name}/file").content))
    assert archive.namelist() == ["01-a-0h00m20.0s.mp4"]
    assert archive.infolist()[0].compress_type == zipfile.ZIP_STORED
    assert client.get("/api/jobs/unknown").status_code == 404


def test_exports_into_a_folder(served, tmp_path):
    _, client = served(exports=tmp_path / "out")
    put(client, 0, [RED])
    answer = client.post("/api/export", json={"format": "csv", "collection": "doors"})
    assert answer.json() == {"written": "doors.csv"}
    assert "red" in (tmp_path / "out" / "doors.csv").read_text()


def test_pages_never_send_a_path(served):
    _, client = served()
    for body in ({"format": "csv", "collection": "../doors"}, {"format": "csv", "moments": [RED | {"path": "/x"}]}):
        assert client.post("/api/export", json=body).status_code == 400


def test_writing_refuses_a_link(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    (tmp_path / "elsewhere").write_text("")
    (folder / "doors.jsonl").symlink_to(tmp_path / "elsewhere")
    collections = Collections(folder, index="i", fingerprint="f")
    with pytest.raises(Exception, match="is a link"):
        collections.write("doors", 0, [])
    with pytest.raises(PageError):
        collections.read("..")
