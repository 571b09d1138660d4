"""The page of answers: figures and counts of the audit, filters against slow loops, lanes, notes."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette")

from truemoment import Annotations, Predictions
from truemoment.base.errors import InputError
from truemoment.base.intervals import temporal_iou
from truemoment.cli import run
from truemoment.data.datasets.source import AnnotationSource
from truemoment.evaluation.error_kinds import KINDS
from truemoment.web.annotating.plan import read_only
from truemoment.web.browsing.filters import QuerySelection, Tagged, column, select
from truemoment.web.browsing.looking import look_at
from truemoment.web.browsing.looking_routes import Commands
from truemoment.web.browsing.looking_site import open_looking

from .conftest import Client, lines_of

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = [("ours", EXAMPLES / "predictions.jsonl")]


def small(n_queries=60, seed=0):
    """Annotations with several annotators and two methods; some queries are not answered, some answers are swapped."""
    rng = np.random.default_rng(seed)
    rows, ours, theirs = [], {}, {}
    for number in range(n_queries):
        video, duration = f"v{number % 7}", 60.0 if number % 7 else math.nan
        sentence = f"a person {('opens', 'closes', 'takes')[number % 3]} a {('door', 'Box')[number % 2]}"
        start = float(rng.integers(0, 40))
        people = ("w1", "w2")[: 1 + number % 2]
        rows += [
            (f"q{number}", video, duration, sentence, start, start + 8 + number % 3 + (who == "w2"), who)
            for who in people
        ]
        shift = float(rng.integers(-10, 10))
        if number % 9:
            score = 0.5 + (number * 7 % 10) / 100
            ours[f"q{number}"] = [(max(0.0, start + shift), start + shift + 10.5, score), (start, start + 8.25, 0.1)]
        theirs[f"q{number}"] = [(start + 1, start + 9)] if number % 4 else [(30.0, 20.0)]
    return Annotations.from_rows(rows), Predictions.from_lists(ours), Predictions.from_lists(theirs)


def write_answers(path, verdicts, task="verify"):
    """Write the answers of a study: the verdicts of people w0, w1 ... on each query."""
    lines = [{"schema": "truemoment/answers/1", "study": "s", "truemoment": "0.1.0", "task": task}]
    lines += [
        {"query_id": query, "video_id": "v", "sentence": "s", "duration_s": 9.0, "annotator": f"w{k}", "verdict": of}
        for query, given in verdicts.items()
        for k, of in enumerate(given)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def looked(tmp_path_factory):
    annotations, ours, theirs = small()
    given = {f"q{number}": ("fits", ("fits", "no fit")[number % 2], "partly") for number in range(0, 60, 3)}
    verdicts = write_answers(tmp_path_factory.mktemp("study") / "answers.jsonl", given)
    return look_at([("ours", ours), ("theirs", theirs)], annotations, floors="none", verdicts=verdicts)


def no_notes(looked):
    return Tagged(np.zeros(looked.n_queries, bool), {})


@pytest.fixture
def served(tmp_path, looked):
    """Serve the answers: (server, client)."""
    commands = Commands(("truemoment", "browse", "ours.jsonl"), ("--annotations", "a.jsonl"), ())
    with (
        open_looking(looked, cache=tmp_path / "cache", notes=tmp_path / "notes.jsonl", commands=commands) as server,
        Client(server.app, server.tokens.owner) as client,
    ):
        yield server, client


# ---------------------------------------------------------------------------------------- as the audit


def test_counts_and_figures_are_those_of_the_audit(tmp_path, few_floors):
    del few_floors
    out = tmp_path / "audit.json"
    words = [str(FILES[0][1]), "--annotations", str(EXAMPLES / "annotations.jsonl"), "--no-cache"]
    assert run(["audit", *words, "--json", str(out), "--quiet", "--resamples", "200"]) == 0
    audit = json.loads(out.read_text())
    found = look_at(FILES, AnnotationSource(None, EXAMPLES / "annotations.jsonl", None, None))
    facets = select(found, QuerySelection(), no_notes(found))[1]
    expected = {of["kind"]: of["n_queries"] for of in audit["errors"]["kinds"]}
    assert facets.kinds == {kind: expected[kind] for kind in KINDS}
    assert facets.hidden == expected["hidden"]
    headline = next(of for of in audit["measures"] if of["measure"] == audit["headline"])
    assert found.systems[0].figure == headline["value"]
    best = max(
        next(of["value"] for of in floor["measures"] if of["measure"] == audit["headline"]) for floor in audit["floors"]
    )
    assert found.floor_figures == (best,)


@pytest.mark.data
def test_counts_are_those_of_the_audit_on_real_files(data_dir):
    from truemoment.evaluation.error_kinds import error_kinds

    source = AnnotationSource("charades-cd", None, "test-ood", data_dir)
    annotations = source.read()
    rows = {
        q: [(0.0, float(d))] for q, d in zip(annotations.queries.query_id, annotations.queries.duration_s, strict=True)
    }
    predictions = Predictions.from_lists(rows)
    found = look_at([("whole", predictions)], annotations, floors="none")
    facets = select(found, QuerySelection(), no_notes(found))[1]
    expected = error_kinds(annotations, predictions, 0.5)
    assert list(facets.kinds.values()) == np.bincount(expected.kind, minlength=len(KINDS)).tolist()
    assert sum(facets.kinds.values()) == annotations.n_queries


# --------------------------------------------------------------------------------------------- filters


def slow(looked, keep):
    """Return the queries for which a slow rule holds."""
    return [q for q in range(looked.n_queries) if keep(q)]


SELECTIONS = {
    "kind": (QuerySelection(kinds=(1, 3)), lambda of, q: of.systems[0].errors.kind[q] in (1, 3)),
    "system": (QuerySelection(system=1, kinds=(5,)), lambda of, q: of.systems[1].errors.kind[q] == 5),
    "hidden": (QuerySelection(hidden=True), lambda of, q: of.systems[0].errors.rank_of_hit[q] > 1),
    "words": (
        QuerySelection(words="DOOR open"),
        lambda of, q: all(word in of.annotations.queries.sentence[q].lower() for word in ("door", "open")),
    ),
    "verb": (QuerySelection(verb="close"), lambda of, q: of.verbs[q] == "close"),
    "length": (QuerySelection(ranges={"length": (8.5, 20.0)}), lambda of, q: 8.5 <= of.length_s[q] <= 20),
    "duration": (QuerySelection(ranges={"duration": (0.0, 1e9)}), lambda of, q: of.duration_s[q] >= 0),
    "agreement": (QuerySelection(ranges={"agreement": (0.5, 1.0)}), lambda of, q: of.agreement[q] >= 0.5),
    "fits": (
        QuerySelection(ranges={"fits": (0.5, 1.0)}),
        lambda of, q: of.verdicts.get(of.annotations.queries.query_id[q], {}).get("fits", 0) == 2,  # of three
    ),
    "differ": (
        QuerySelection(wrong=0, right=1),
        lambda of, q: not of.systems[0].hit[q] and of.systems[1].hit[q],
    ),
    "confident and wrong": (
        QuerySelection(view="confident-and-wrong"),
        lambda of, q: of.systems[0].row[q] >= 0 and of.systems[0].errors.iou[q] < 0.5,
    ),
    "several": (
        QuerySelection(kinds=(0,), words="box", ranges={"iou": (0.6, 1.0)}),
        lambda of, q: (
            of.systems[0].errors.kind[q] == 0
            and "box" in of.annotations.queries.sentence[q].lower()
            and of.systems[0].errors.iou[q] >= 0.6
        ),
    ),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_each_filter_against_a_slow_loop(looked, name):
    selection, keep = SELECTIONS[name]
    found, _ = select(looked, selection, no_notes(looked))
    assert sorted(found.tolist()) == slow(looked, lambda q: keep(looked, q))
    assert 0 < len(found) < looked.n_queries


def test_facets_are_what_each_choice_would_list(looked):
    base = QuerySelection(words="door")
    _, facets = select(looked, base, no_notes(looked))
    for number, kind in enumerate(KINDS):
        assert facets.kinds[kind] == len(
            select(looked, QuerySelection(words="door", kinds=(number,)), no_notes(looked))[0]
        )
    for verb, count in facets.verbs.items():
        assert count == len(select(looked, QuerySelection(words="door", verb=verb), no_notes(looked))[0])
    for wrong, right, count in facets.differ:
        chosen = QuerySelection(words="door", wrong=wrong, right=right)
        assert count == len(select(looked, chosen, no_notes(looked))[0])


def test_the_view_of_confident_and_wrong_begins_with_the_highest_score(served):
    _, client = served
    found = client.get("/api/queries?view=confident-and-wrong").json()
    scores = [row["systems"][0]["confidence"] for row in found["rows"]]
    assert scores == sorted(scores, reverse=True)
    assert all(row["systems"][0]["iou"] < 0.5 for row in found["rows"])
    assert found["total"] == found["facets"]["views"]["confident-and-wrong"] > 0
    assert client.get("/api/about").json()["has_confidence"] == [True, False]
    assert client.get("/api/queries?view=confident-and-wrong&system=1").json()["total"] == 0  # it gives no scores
    assert client.get("/api/queries?view=wrong").status_code == 400


@pytest.mark.parametrize(
    "sort",
    ["loss", "confidence", "iou", "best", "rank", "offset", "length", "duration", "agreement", "fits", "n_words"],
)
@pytest.mark.parametrize("falling", [False, True])
def test_orders(looked, sort, falling):
    found, _ = select(looked, QuerySelection(sort=sort, falling=falling), no_notes(looked))
    values = column(looked, sort, 0)[found]
    known = values[np.isfinite(values)]
    assert np.isfinite(values[: len(known)]).all()  # without a value they come last
    assert (np.diff(-known if falling else known) >= 0).all()
    place = looked.place[found]
    for value in set(known.tolist()):
        assert (np.diff(place[: len(known)][known == value]) > 0).all()  # equal ones by the hash of the id


def test_kind_then_loss(looked):
    found, _ = select(looked, QuerySelection(), no_notes(looked))
    kinds, iou = looked.systems[0].errors.kind[found], looked.systems[0].errors.iou[found]
    wrong = kinds[kinds > 0]
    assert len(wrong) < len(kinds)
    assert (kinds[: len(wrong)] == wrong).all()  # errors before hits
    assert (np.diff(wrong) >= 0).all()
    for kind in set(kinds.tolist()):
        assert (np.diff(iou[kinds == kind]) >= 0).all()


def test_offset_and_agreement_by_hand():
    rows = [("q", "v", 60.0, "a door opens", s, e, w) for s, e, w in ((10.0, 20.0, "a"), (12.0, 20.0, "b"))]
    looked = look_at([("x", Predictions.from_lists({"q": [(30.0, 40.0)]}))], Annotations.from_rows(rows), floors="none")
    assert looked.systems[0].offset_s.tolist() == [35.0 - 16.0]  # middles: 35; 15 and 16, the nearer one
    assert looked.agreement.tolist() == [0.8]  # 8 s of 10 s


def test_verdicts_are_those_of_the_queries_here(tmp_path):
    annotations = Annotations.from_rows([(q, "v", 60.0, "a door opens", 10.0, 20.0) for q in ("a", "b")])
    answers = [("x", Predictions.from_lists({"a": [(30.0, 40.0)]}))]
    given = {"a": ("fits", "fits", "no fit", "unclear"), "elsewhere": ("fits",)}
    path = write_answers(tmp_path / "answers.jsonl", given)
    looked = look_at(answers, annotations, floors="none", verdicts=path)
    assert looked.verdicts == {"a": {"fits": 2, "no fit": 1, "unclear": 1}}
    np.testing.assert_array_equal(looked.fits, [0.5, np.nan])  # 2 of 4; none
    for given, task, problem in (
        ({"elsewhere": ("fits",)}, "verify", "has none of the 2 queries"),
        ({"a": ("marked",)}, "mark", "got 'mark', expected 'verify'"),
    ):
        with pytest.raises(InputError, match=problem):
            look_at(answers, annotations, floors="none", verdicts=write_answers(path, given, task))


# ----------------------------------------------------------------------------------------------- pages


def test_rows_and_lanes(served, looked):
    _, client = served
    answer = client.get("/api/queries?limit=5&sort=id").json()
    assert (answer["total"], len(answer["rows"])) == (60, 5)
    order = looked.annotations.queries.order_by_hash()[:5].tolist()
    assert [of["n"] for of in answer["rows"]] == order
    assert client.get("/api/queries?offset=58").json()["rows"][0]["n"] >= 0
    assert client.get("/api/queries?limit=201").status_code == 400
    for n in (1, 9, 8):
        lanes = client.get(f"/api/query/{n}").json()
        assert lanes["query_id"] == f"q{n}"
        for system, of in zip(lanes["systems"], looked.systems, strict=True):
            assert system["kind"] == KINDS[of.errors.kind[n]]
            for start, end, _, iou in system["answers"]:
                best = max(temporal_iou(start, end, s, e) for s, e in lanes["references"])
                assert iou == pytest.approx(float(best))
        assert len(lanes["annotators"]) == 1 + n % 2
    assert client.get("/api/query/0").json()["duration_s"] is None  # v0 states none
    assert client.get("/api/query/0").json()["systems"][0]["answers"] == []
    assert client.get("/query/60").status_code == 404
    assert client.get("/", follow_redirects=False).headers["Location"] == "/queries"
    for path in ("/queries", "/query/3"):
        assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("kind=bad", "kind"),
        ("floor=x", "floor"),
        ("sort=x", "sort"),
        ("system=2", "system"),
        ("wrong=9", "wrong"),
        ("length=a..b", "length"),
        ("iou=1", "iou"),
        ("offset=-1", "offset"),
        ("limit=nan", "limit"),
        (f"words={'a' * 300}", "words"),
    ],
)
def test_bad_filters_name_the_field(served, query, field):
    _, client = served
    answer = client.get(f"/api/queries?{query}")
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_without_videos_everything_but_the_player_works(served):
    _, client = served
    row = client.get("/api/queries?limit=1").json()["rows"][0]
    assert (row["v"], row["file"]) == (None, "gone")
    assert client.get("/media/0").status_code == 404
    assert client.get("/picture/0/100.jpg").status_code == 404


def test_videos_are_played_where_they_are(tmp_path, films):
    rows = [("a#0", "a", 40.0, "red", 20.0, 28.0), ("z#0", "z", 40.0, "blue", 1.0, 2.0)]
    looked = look_at([("x", Predictions.from_lists({"a#0": [(1.0, 2.0)]}))], Annotations.from_rows(rows), floors="none")
    settings = {"cache": tmp_path / "cache", "notes": tmp_path / "n.jsonl", "commands": Commands((), (), ())}
    with open_looking(looked, videos=films, **settings) as server, Client(server.app, server.tokens.owner) as client:
        found = {of["video_id"]: of["v"] for of in client.get("/api/queries").json()["rows"]}
        assert found == {"a": 0, "z": None}
        assert client.get("/picture/0/24000.jpg").status_code == 200
        assert client.get("/media/0", headers={"Range": "bytes=0-3"}).status_code == 206
        shutil.copy(films / "b.mp4", films / "a.mp4")
        assert client.get("/media/0").status_code == 404  # another file than was opened


# ----------------------------------------------------------------------------------------------- notes


def test_notes_survive_and_hand_queries_to_annotate(served, tmp_path):
    _, client = served
    first = client.put("/api/notes/3", json={"revision": 0, "note": "two doors", "tags": ["mark-anew", "doubtful"]})
    assert first.json() == {"note": "two doors", "tags": ["mark-anew", "doubtful"], "revision": 1}
    client.put("/api/notes/5", json={"revision": 0, "note": "fine", "tags": []})
    path = tmp_path / "notes.jsonl"
    assert [of["query_id"] for of in lines_of(path)] == ["q3", "q5"]
    assert read_only(path) == {"q3"}
    listed = client.get("/api/queries?noted=1").json()
    assert sorted(of["query_id"] for of in listed["rows"]) == ["q3", "q5"]
    assert listed["facets"]["tags"] == {"doubtful": 1, "mark-anew": 1}
    assert client.get("/api/queries?tag=mark-anew").json()["total"] == 1
    assert "--only" in client.get("/api/about").json()["mark_anew"]
    conflict = client.put("/api/notes/3", json={"revision": 0, "note": "mine", "tags": []})
    assert (conflict.status_code, conflict.json()["note"], conflict.json()["revision"]) == (409, "two doors", 1)
    client.put("/api/notes/5", json={"revision": 1, "note": "", "tags": []})
    assert [of["query_id"] for of in lines_of(path)] == ["q3"]


@pytest.mark.parametrize(
    "body",
    [
        {"revision": 0, "note": "a" * 5001, "tags": []},
        {"revision": 0, "note": "", "tags": ["a b"]},
        {"revision": 0, "note": "", "tags": ["a\n"]},
        {"revision": 0, "note": "", "tags": ["x"] * 11},
        {"revision": 0, "note": 1, "tags": []},
        {"note": "", "tags": []},
    ],
)
def test_bad_notes_are_refused(served, body):
    _, client = served
    assert client.put("/api/notes/3", json=body).status_code == 400
    assert client.put("/api/notes/99", json={"revision": 0, "note": "", "tags": []}).status_code == 404


def test_notes_of_other_queries_stay_and_damage_is_named(tmp_path, looked):
    path = tmp_path / "notes.jsonl"
    path.write_text('{"query_id": "other", "note": "keep me"}\n')
    settings = {"cache": tmp_path / "cache", "notes": path, "commands": Commands((), (), ())}
    with open_looking(looked, **settings) as server, Client(server.app, server.tokens.owner) as client:
        client.put("/api/notes/0", json={"revision": 0, "note": "new", "tags": []})
        with open_looking(looked, **settings) as second:
            assert "another server" in second.service.notes.read_only
    assert [of["query_id"] for of in lines_of(path)] == ["other", "q0"]
    assert [of.name for of in tmp_path.iterdir()] == ["notes.jsonl"]
    path.write_text('{"query_id": "a"}\n{"query_id": "a"}\n')
    with (
        pytest.raises(InputError, match=r"notes.jsonl:2: field query_id: appears twice"),
        open_looking(looked, **settings),
    ):
        pass


def test_a_full_disk_keeps_the_earlier_notes(served, tmp_path, monkeypatch):
    _, client = served
    client.put("/api/notes/3", json={"revision": 0, "note": "first", "tags": []})

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("truemoment.base.boundary.files.os.fsync", full)
    answer = client.put("/api/notes/3", json={"revision": 1, "note": "second", "tags": []})
    assert (answer.status_code, "No space left" in answer.text) == (507, True)
    monkeypatch.undo()
    assert lines_of(tmp_path / "notes.jsonl")[0]["note"] == "first"
    assert client.get("/api/query/3").json()["note"] == "first"


def test_a_page_begins_with_its_view(tmp_path, looked):
    settings = {"cache": tmp_path / "cache", "notes": tmp_path / "n.jsonl", "commands": Commands((), (), ())}
    with open_looking(looked, view="confident-and-wrong", **settings) as server:
        client = Client(server.app, server.tokens.owner)
        answer = client.get("/", follow_redirects=False)
        assert answer.headers["Location"] == "/queries?view=confident-and-wrong"
        assert client.get(f"/api{answer.headers['Location']}").json()["total"] > 0


def test_guests_see_predictions_and_write_no_note(tmp_path, looked):
    settings = {"cache": tmp_path / "cache", "notes": tmp_path / "n.jsonl", "commands": Commands((), (), ())}
    with open_looking(looked, guests=True, **settings) as server:
        guest, stranger = Client(server.app, server.tokens.guest), Client(server.app, None)
        assert guest.get("/api/queries").status_code == 200
        assert guest.get("/api/about").json()["read_only"]
        assert guest.put("/api/notes/0", json={"revision": 0, "note": "", "tags": []}).status_code == 403
        assert stranger.get("/api/queries").status_code == 401
        assert stranger.get("/query/1", follow_redirects=False).headers["Location"] == "/in"


# -------------------------------------------------------------------------------------------- commands


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["browse", "nothing.jsonl", "--annotations", "a.jsonl"], "nothing.jsonl: no such file or index"),
        (["browse", str(EXAMPLES / "predictions.jsonl")], "which annotations?"),
        (["browse", str(EXAMPLES / "predictions.jsonl"), "--collections", "x"], "goes with an index"),
        (
            [*f"browse {FILES[0][1]} --annotations {EXAMPLES / 'annotations.jsonl'}".split(), "--verdicts", "none"],
            "none: no such file",
        ),
        (["browse", "x.jsonl", "--host", "192.0.2.1"], "--name: is missing"),
        (["browse", "a=x.jsonl", "a=y.jsonl", "--annotations", "z"], "would both have the name 'a'"),
        (["search", "page"], "Missing argument 'VIDEO|INDEX'"),
        (["search", "page", "a door", "x.index"], "Got unexpected extra argument (x.index)"),
        (["search", "page", "x.index"], "x.index: no such video or index"),
        (["search", "page", "x.index", "--top", "3"], "No such option '--top'"),
        (["search", "a door", "x.mp4", "--guest"], "No such option '--guest'"),
        (["demo", "--serve"], "--serve: goes with --search"),
        (["demo", "--browse", "--search"], "expected one of them"),
    ],
)
def test_bad_commands_are_one_line_and_status_2(capsys, words, problem):
    assert run(words) == 2
    errors = capsys.readouterr().err
    assert problem in errors
    assert errors.count("\n") == 1


def test_a_port_in_use_is_one_line(capsys, index):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert run(["browse", str(index.path), "--port", port, "--no-open"]) == 2
    assert f"--port {port}: is in use" in capsys.readouterr().err
