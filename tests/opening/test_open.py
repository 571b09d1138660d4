"""The page of a folder: what its files are, what it shows of them, what it starts, and what it refuses."""

import json
import os
import time

from truemoment.base.boundary.own_path import OwnPath
from truemoment.web.opening import kinds, work
from truemoment.web.opening.catalogue import Catalogue
from truemoment.web.opening.documents import report_of
from truemoment.web.opening.entries import key_of
from truemoment.web.opening.work import free_name

from ..browsing.conftest import Client
from .conftest import CANARY, N_QUERIES, write_annotations, write_predictions


def cards_of(client, **asked):
    """Return the cards by name, when all files are read."""
    while True:
        found = client.get("/api/cards", params={"limit": 200} | asked)
        assert found.status_code == 200, found.text
        if not found.json()["waiting"]:
            return {card["name"]: card for card in found.json()["cards"]}


def key(folder, *parts):
    """Return the key of a path in the folder."""
    return key_of(OwnPath(folder, parts))


def ended(client):
    """Wait for the end of the newest job, and return it."""
    while (job := client.get("/api/jobs").json()["jobs"][0])["state"] in ("waiting", "running"):
        time.sleep(0.01)
    return job


# ------------------------------------------------------------------------------------------------- cards


def test_a_table_of_annotations_is_none_of_predictions(folder, request):
    """docs/your-files.md begins with such a table; as predictions it could not be chosen as the annotations."""
    tables = {
        "references.csv": ("annotations", "video_id,duration_s,sentence,start_s,end_s\nv,73.1,a door opens,4.0,10.0\n"),
        "of-people.csv": ("annotations", "video;sentence;start;end;annotator\nv;a door opens;4,0;10,0;p\n"),
        "references.json": (
            "annotations",
            '[\n {"video": "v", "duration": 73.1, "caption": "a door opens", "start": 4.0, "end": 10.0}\n]',
        ),
        "answers.csv": ("predictions", "video,query,start,end\nv,a door opens,4.0,10.0\n"),
        "scored.csv": ("predictions", "video,duration,query,start,end,score\nv,73.1,a door opens,4.0,10.0,0.5\n"),
    }
    for name, (_, text) in tables.items():
        (folder / name).write_text(text)
    _, client = request.getfixturevalue("opened")
    cards = cards_of(client)
    assert {name: cards[name]["kind"] for name in tables} == {name: kind for name, (kind, _) in tables.items()}


def test_a_program_that_quotes_subtitles_is_no_annotations(folder):
    (folder / "make.py").write_text("1\n00:00:01,000 --> 00:00:02,000\na door opens\n")
    (folder / "told.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\na door opens\n")
    catalogue = Catalogue(OwnPath(folder))
    kinds = {card.title: card.facts.kind for card in map(catalogue.card, catalogue.listing().entries)}
    assert (kinds["make.py"], kinds["told.srt"]) == ("other", "annotations")


def test_each_result_has_its_kind_and_opens(opened, folder):
    _, client = opened
    cards = cards_of(client)
    found = {name: card["kind"] for name, card in cards.items()}
    assert {name: kind for name, kind in found.items() if "/" not in name} == {
        "mine.jsonl": "annotations",
        "ours.jsonl": "predictions",
        "theirs.jsonl": "predictions",
        "ours.audit.json": "audit",  # its page is on the same card
        "figure.png": "picture",
        "notes.txt": "other",
        "run": "run",
        "study": "study",
    }
    assert cards["ours.audit.json"]["page"] == key(folder, "ours.audit.html")
    assert "of ours.jsonl" in cards["ours.audit.json"]["lines"]
    assert cards["run"]["lines"] == ["model tan2d", "done"]
    for card in cards.values():
        if card["address"]:
            assert client.get(card["address"]).status_code == 200, card["name"]


def test_hostile_files_are_listed_as_what_they_are_and_never_opened(opened, folder):
    _, client = opened
    cards = {name.removeprefix("hostile/"): card for name, card in cards_of(client, q="hostile").items()}
    lines = {name: card["lines"] for name, card in cards.items() if not card["address"]}
    assert lines == {
        "link.json": ["a link, not followed"],
        "away": ["a link, not followed"],
        "pipe.jsonl": ["a pipe or device, not opened"],
        "huge.json": ["a document of more than 32 MB"],
        "deep.json": ["cannot be read: is nested too deeply"],
    }
    for name in lines:
        for place in ("item", "report", "page", "picture"):
            found = client.get(f"/{place}/{key(folder, 'hostile', name)}")
            assert CANARY not in found.text
            assert found.status_code == (200 if place == "item" else 404)
    shown = client.get(f"/report/{key(folder, 'hostile', '<img src=x onerror=stolen()>.json')}").text
    assert "<b>bold" not in shown
    assert "<script>stolen" not in shown
    assert "\u202e" not in shown
    if (bad := cards.get("bad\\xff.jsonl")) is not None:
        assert client.get(bad["address"]).status_code == 200


def test_a_page_of_somebody_runs_no_script_and_has_no_origin(opened, folder):
    _, client = opened
    policy = client.get(f"/page/{key(folder, 'hostile', 'lie.html')}").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "sandbox allow-scripts allow-downloads" in policy
    assert "allow-same-origin" not in policy
    own = client.get(f"/page/{key(folder, 'ours.audit.html')}")  # the hash of its script is that of our pages
    assert own.text.split("script-src ")[1].split(";")[0] in policy


def test_a_file_is_recognised_once_until_it_changes(folder, monkeypatch):
    read = []
    monkeypatch.setattr(
        kinds, "read_beginning", lambda entry, real=kinds.read_beginning: read.append(entry.name) or real(entry)
    )
    catalogue = Catalogue(OwnPath(folder))
    for _ in range(3):
        assert len(catalogue.of_kind("predictions")) >= 2
    assert read.count("ours.jsonl") == 1
    write_predictions(folder / "ours.jsonl", shift=1)
    os.utime(folder / "ours.jsonl", ns=(1, 1))
    catalogue.listing(fresh=True)
    catalogue.of_kind("predictions")
    assert read.count("ours.jsonl") == 2
    assert read.count("theirs.jsonl") == 1


def test_cards_are_searched_and_paged(opened):
    _, client = opened
    assert set(cards_of(client, q="ours audit")) == {"ours.audit.json"}
    assert set(cards_of(client, kind="predictions", q="theirs")) == {"theirs.jsonl"}
    names = list(cards_of(client))
    pages = [list(cards_of(client, offset=offset, limit=3)) for offset in range(0, len(names), 3)]
    assert [name for page in pages for name in page] == names
    assert client.get("/api/cards", params={"kind": "films"}).status_code == 400


# --------------------------------------------------------------------------------------------- security


def test_nothing_is_shown_without_the_link(opened, folder):
    server, _ = opened
    of = key(folder, "ours.jsonl")
    with Client(server.app, None) as stranger:
        for path in ("/", f"/item/{of}", "/api/cards", f"/page/{of}", f"/browse/{of}/queries", "/api/jobs"):
            found = stranger.get(path, follow_redirects=False)
            assert found.status_code in (303, 401), path
            assert "ours" not in found.text


def test_only_keys_of_results_name_files(opened):
    _, client = opened
    names = ("..%2F..%2Fsecret.json", "%2e%2e/secret.json", "hostile%2Flink.json", "ours.jsonl", "0" * 16, "x" * 5000)
    for place in ("item", "report", "page", "picture", "browse", "search", "api/data"):
        for name in (*names, "%00"):
            found = client.get(f"/{place}/{name}{'/queries' if place == 'browse' else ''}")
            assert found.status_code == 404, (place, name)
            assert CANARY not in found.text


def test_only_pictures_of_a_run_are_shown(opened, folder):
    _, client = opened
    for name in ("..", "run.json", "missing.png", "..%2F..%2Fsecret.json"):
        assert client.get(f"/run/{key(folder, 'run')}/{name}").status_code in (404, 405)


def test_another_host_and_another_origin_are_refused(opened, folder):
    _, client = opened
    assert client.get("/api/cards", headers={"Host": "evil.example"}).status_code == 400
    body = {"predictions": [key(folder, "ours.jsonl")]}
    for origin in ("http://evil.example", "null"):
        assert client.post("/api/audit", json=body, headers={"Origin": origin}).status_code == 403
    assert client.get("/api/cards", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert client.get("/api/jobs").json() == {"jobs": []}


# --------------------------------------------------------------------------------- audits and comparisons


def test_an_audit_is_started_and_leads_to_its_queries_and_back(opened, folder):
    _, client = opened
    (choice,) = client.get(f"/api/data/{key(folder, 'theirs.jsonl')}").json()["choices"]
    assert choice["title"] == "mine.jsonl"
    body = {"predictions": [key(folder, "theirs.jsonl")], "data": choice["key"]}
    assert client.post("/api/audit", json=body).json()["title"] == "Audit of theirs"
    job = ended(client)
    assert (job["state"], job["why"]) == ("ready", "")
    assert job["address"] == f"/item/{key(folder, 'theirs.audit.json')}"
    item = client.get(job["address"]).text
    confident = item.split('id="confident" href="')[1].split('"')[0]
    assert confident.endswith("/queries?view=confident-and-wrong")
    page = client.get(confident)
    assert f'href="{job["address"]}"' in page.text  # back to the audit
    root = confident.partition("/queries")[0]
    listed = client.get(f"{root}/api/queries", params={"view": "confident-and-wrong"}).json()
    assert [row["query_id"] for row in listed["rows"]] == [f"q{k}" for k in range(N_QUERIES - 2, -1, -2)]
    assert listed["facets"]["views"] == {"confident-and-wrong": N_QUERIES // 2}


def test_a_cancelled_audit_is_resumed(opened, folder, monkeypatch):
    _, client = opened

    def run_until_cancelled(*_, check, **__):
        while True:
            check()
            time.sleep(0.01)

    monkeypatch.setattr(work, "run_apart", run_until_cancelled)
    job = client.post("/api/audit", json={"predictions": [key(folder, "theirs.jsonl")]}).json()
    assert client.post(f"/api/jobs/{job['job']}/resume").status_code == 404  # it has not ended
    client.post(f"/api/jobs/{job['job']}/cancel")
    assert ended(client)["state"] == "cancelled"
    monkeypatch.setattr(work, "run_apart", lambda *_, **__: None)
    assert client.post(f"/api/jobs/{job['job']}/resume").json()["title"] == "Audit of theirs"
    assert ended(client)["state"] == "ready"
    assert len(client.get("/api/jobs").json()["jobs"]) == 1


def test_a_comparison_of_several_files_leads_to_their_queries(opened, folder):
    _, client = opened
    keys = [key(folder, "ours.jsonl"), key(folder, "theirs.jsonl")]
    assert client.post("/api/compare", json={"predictions": keys[:1]}).status_code == 400
    client.post("/api/compare", json={"predictions": keys})
    job = ended(client)
    assert (job["state"], job["why"]) == ("ready", "")
    assert (folder / "ours+theirs.compare.html").exists()
    assert f"/browse/{'-'.join(keys)}" in client.get(job["address"]).text
    assert len(client.get(f"/browse/{'-'.join(keys)}/api/about").json()["systems"]) == 2


def test_the_site_of_a_study_is_linked_for_its_owner(opened, folder, monkeypatch):
    server, client = opened
    assert "Open its site" in client.get(f"/item/{key(folder, 'study')}").text
    monkeypatch.setattr(server.service.sites, "link", lambda study: f"http://127.0.0.1:8790/in#{study.name}")
    answer = client.post(f"/api/site/{key(folder, 'study')}")
    assert answer.json() == {"link": "http://127.0.0.1:8790/in#study"}
    assert client.post(f"/api/site/{key(folder, 'run')}").status_code == 404
    server.service.sites = None  # the page is for other machines too
    assert "Open its site" not in client.get(f"/item/{key(folder, 'study')}").text
    assert client.post(f"/api/site/{key(folder, 'study')}").status_code == 400


def test_predictions_that_fit_no_annotations_are_refused_in_words(opened, folder):
    server, client = opened
    (folder / "else.jsonl").write_text('{"query_id": "other", "moments": [[1.0, 2.0, 0.5]]}\n')
    server.service.catalogue.listing(fresh=True)
    found = client.get(f"/browse/{key(folder, 'else.jsonl')}/queries")
    assert (found.status_code, "This cannot be opened" in found.text) == (400, True)
    write_annotations(folder / "newer.jsonl")
    server.service.catalogue.listing(fresh=True)
    for name, titles in (("else.jsonl", ["newer.jsonl", "mine.jsonl"]), ("ours.jsonl", ["mine.jsonl", "newer.jsonl"])):
        choices = client.get(f"/api/data/{key(folder, name)}").json()["choices"]
        assert [choice["title"] for choice in choices] == titles  # those of an audit of the file come first
        if name == "else.jsonl":
            shown = client.get(f"/browse/{key(folder, name)}/queries").text
            assert all(f"/browse/{key(folder, name)}.{choice['key']}/queries" in shown for choice in choices)
    client.post("/api/audit", json={"predictions": [key(folder, "else.jsonl")]})
    assert ended(client)["state"] == "failed"
    assert not (folder / "else.audit.json").exists()


def test_a_dataset_that_an_audit_of_the_file_names_comes_first(opened, folder):
    server, client = opened
    path = folder / "ours.audit.json"
    document = json.loads(path.read_text())
    assert (document["dataset"], document["split"]) == ("mine.jsonl", "all")
    path.write_text(json.dumps(document | {"dataset": "charades-cd", "split": "test-ood"}, indent=2))
    server.service.catalogue.listing(fresh=True)
    choices = client.get(f"/api/data/{key(folder, 'ours.jsonl')}").json()["choices"]
    assert [choice["title"] for choice in choices] == ["charades-cd, test-ood", "mine.jsonl"]


def test_a_result_gets_a_name_that_is_free(folder):
    place = OwnPath(folder)
    assert free_name(place, "audit", ["ours"]).name == "ours.audit-2"
    assert free_name(place, "compare", ["../a", "b/c"]).name == "a+b_c.compare"
    assert len(free_name(place, "audit", ["x" * 5000]).name) < 100


def test_a_document_becomes_tables():
    document = {
        "schema": "truemoment/x/1",
        "share": 0.5,
        "floors": [{"title": "A", "measures": [{"measure": "mIoU", "value": 0.25, "unit": "fraction"}]}],
        "by_name": {"n": 3, "part": {"value": 0.5, "unit": "fraction"}},
    }
    report = report_of("x", document)
    floors, values = report.tables
    assert (floors.headings, floors.groups[0][1][0][1].text) == (("title", "mIoU"), "25.00")
    assert [tuple(cell.text for cell in row) for row in values.groups[0][1]] == [("n", "3"), ("part", "50.00")]
    assert dict(report.facts)["share"] == "0.5"
