"""The search page by its requests: the answers of the command line, strips, matches, scores, pictures and films."""

import base64
import io
import json
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from truemoment.base.intervals import temporal_iou
from truemoment.cli import run
from truemoment.searching.retrieval import search_index
from truemoment.searching.speech import index_speech, write_passages
from truemoment.searching.writing import VideoFile
from truemoment.web.browsing.serving import SearchThread, SupersededError
from truemoment.web.browsing.strip import best_by_column

from .conftest import Client, ColourOptions, as_arrays

SENTENCES = ("red", "green", "blue", "red green")


@pytest.fixture
def in_colours(colours, monkeypatch):
    """The command line searches with the model of the tests."""
    monkeypatch.setattr("truemoment.searching.encoder_options.EncoderOptions.encoder_of", lambda *_: colours.Colours())


@pytest.mark.usefixtures("in_colours")
def test_answers_are_those_of_search_index_and_of_the_command_line(served, index, colours, tmp_path):
    _, client = served()
    for sentence in SENTENCES:
        found = client.search(sentence, top=7, apart=3)
        vector = colours.Colours().sentences([sentence])
        expected = search_index(index, vector, 7, apart_s=3.0)[0]
        names = {of["v"]: of["video_id"] for of in client.get("/api/index").json()["videos"]}
        shown = [(names[of["v"]], of["start_s"], of["end_s"], of["score"], of["match"]) for of in found["moments"]]
        assert [of[:4] for of in shown] == [tuple(of)[:4] for of in expected]
        out = tmp_path / "out.json"
        assert run(["search", sentence, str(index.path), "--top", "7", "--apart", "3", "--json", str(out)]) == 0
        written = json.loads(out.read_text())["moments"]
        assert [(of["video_id"], of["start_s"], of["end_s"], of["score"], of["match"]) for of in written] == shown


@pytest.mark.parametrize(
    "options",
    [
        {"then": "blue", "gap": "12"},
        {"every": "", "file": "[ac].mp4"},
        {"first": "", "length": "30.."},
        {"avoid": "green", "folder": "films"},
    ],
)
@pytest.mark.usefixtures("in_colours")
def test_sequences_lists_and_filters_are_those_of_the_command_line(served, tmp_path, options):
    server, client = served()
    lists = [name for name in ("every", "first") if name in options]
    asked = {name: value for name, value in options.items() if value} | ({"list": lists[0]} if lists else {})
    found = client.search("red", top=4, **asked)
    names = {of["v"]: of["video_id"] for of in client.get("/api/index").json()["videos"]}
    index, out = server.service.searches.index.path, tmp_path / "out.json"
    words = [word for name, value in options.items() for word in (f"--{name}", value) if word]
    assert run(["search", "red", str(index), "--top", "4", "--json", str(out), "--quiet", *words]) == 0
    written = json.loads(out.read_text())
    assert (found["videos"], found["nothing_stands_out"]) == (written["n_searched"], written["nothing_stands_out"])
    keys = ("start_s", "end_s", "score", "match")
    assert [[names[of["v"]], *map(of.get, keys)] for of in found["moments"]] == [
        [of["video_id"], *map(of.get, keys)] for of in written["moments"]
    ]
    parts = [[(part["start_s"], part["end_s"]) for part in of["parts"]] for of in written["moments"]]
    assert [[(part["start_s"], part["end_s"]) for part in of["parts"]] for of in found["moments"]] == parts
    assert all(len(of) == (2 if "then" in options else 0) for of in parts)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"list": "some"}, "got 'some', expected every or first"),
        ({"date": "May"}, "--date: got 'May'"),
        ({"file": "x*"}, "--file 'x*': no video of 3 fits"),
        ({"gap": "1e9"}, "got '1e9', expected"),
        ({"then": "a" * 2001}, "got 2,001 characters"),
    ],
)
def test_filters_that_do_not_fit_are_one_line(refusing, asked, problem):
    client, _ = refusing
    client.search("red")
    refused = client.get("/api/search", params={"q": "red"} | asked)
    assert (refused.status_code, refused.json()["error"][: len(problem)]) == (400, problem)


def test_the_median_is_that_of_the_pieces_of_all_films(served, index):
    _, client = served()
    pieces = np.concatenate([index.pieces(name).astype(np.float64) @ [1, 0, 0] for name in index])
    assert client.search("red")["median"] == pytest.approx(np.median(pieces))


@given(st.data(), st.integers(1, 400), st.integers(1, 60))
def test_the_strip_equals_painting_each_moment(data, n_frames, columns):
    n = data.draw(st.integers(1, 30))
    first = np.array(data.draw(st.lists(st.integers(0, n_frames - 1), min_size=n, max_size=n)))
    length = np.array(data.draw(st.lists(st.integers(1, n_frames), min_size=n, max_size=n)))
    end = np.minimum(first + length, n_frames)
    score = np.array(data.draw(st.lists(st.floats(-1, 1, width=32), min_size=n, max_size=n)))
    painted = np.full(columns, -np.inf, np.float32)
    for one, low, high in zip(score, first, end, strict=True):
        for column in range(columns):  # columns and moments overlap in time
            if low * columns < (column + 1) * n_frames and high * columns > column * n_frames:
                painted[column] = max(painted[column], np.float32(one))
    found = best_by_column(score, first, end, n_frames, columns)
    assert np.array_equal(found, np.where(np.isinf(painted), np.nan, painted), equal_nan=True)


def test_the_highest_column_of_a_strip_lies_in_the_first_moment(served):
    _, client = served()
    found = client.search("red")
    best = found["moments"][0]
    answer = client.get(f"/api/strip/{found['search']}/{best['v']}")
    columns = as_arrays(answer)
    duration = client.get("/api/index").json()["videos"][best["v"]]["duration_s"]
    times = (np.flatnonzero(columns == np.nanmax(columns)) + 0.5) * duration / len(columns)
    assert len(columns) == 1200
    assert ((times >= best["start_s"]) & (times <= best["end_s"])).any()
    assert float(answer.headers["X-Best"]) == pytest.approx(best["score"], abs=1e-6)
    assert client.get(f"/api/strip/s999/{best['v']}").status_code == 404
    assert client.get(f"/api/strip/{found['search']}/99").status_code == 404


def test_the_last_searches_are_remembered(served, monkeypatch):
    monkeypatch.setattr("truemoment.web.browsing.searches.MOST_RECORDS", 5)
    _, client = served()
    first = client.search("red")["search"]
    for _ in range(5):
        last = client.search("blue", top=1)["search"]
    assert client.get(f"/api/strip/{first}/0").status_code == 404
    assert client.get(f"/api/strip/{last}/0").status_code == 200


def test_more_like_a_moment_leaves_it_out_and_works_without_a_model(served):
    server, client = served("broken")
    red = {"v": 0, "start": 20, "end": 28}  # film a shows red from 20 s to 28 s, film c from 34 s to 42 s
    found = client.get("/api/like", params=red | {"top": 3}).json()
    assert found["moments"][0]["v"] == 2
    first = found["moments"][0]  # the vector of grey is short, so seconds of grey around red hardly change the mean
    assert temporal_iou(*map(np.array, (34.0, 42.0, first["start_s"], first["end_s"]))) > 0.75
    assert all(of["v"] != 0 or of["end_s"] <= 20 or of["start_s"] >= 28 for of in found["moments"])
    assert found["like"] == {"v": 0, "start_s": 20.0, "end_s": 28.0}
    while server.service.model.state == "loading":
        time.sleep(0.001)
    refused = client.get("/api/search", params={"q": "red"})
    assert (refused.status_code, "no such model" in refused.text) == (422, True)
    index = client.get("/api/index").json()
    assert (index["state"], index["ready"]) == ("failed", False)


def sent(picture):
    """A picture as a page sends it."""
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return {"name": "red.png", "data": base64.b64encode(stream.getvalue()).decode()}


def test_like_a_picture_as_on_the_command_line(served, index, colours, tmp_path, monkeypatch):
    monkeypatch.setattr("truemoment.searching.encoder_options.EncoderOptions.encoder_of", lambda *_: colours.Colours())
    _, client = served()
    picture = sent(Image.new("RGB", (64, 48), (200, 30, 30)))
    found = client.post("/api/search/picture?top=3&apart=3", json=picture).json()
    assert (found["picture"], found["q"], found["like"]) == ("red.png", "", None)
    names = {of["v"]: of["video_id"] for of in client.get("/api/index").json()["videos"]}
    shown = [(names[of["v"]], of["start_s"], of["end_s"], of["score"], of["match"]) for of in found["moments"]]
    (tmp_path / "red.png").write_bytes(base64.b64decode(picture["data"]))
    words = ["--image", str(tmp_path / "red.png"), "--top", "3", "--apart", "3", "--json", str(tmp_path / "out.json")]
    assert run(["search", str(index.path), *words]) == 0
    written = json.loads((tmp_path / "out.json").read_text())
    assert [
        (of["video_id"], of["start_s"], of["end_s"], of["score"], of["match"]) for of in written["moments"]
    ] == shown

    fewer = client.get("/api/like", params={"picture": found["search"], "top": 1, "apart": 3}).json()
    assert (fewer["moments"], fewer["picture"]) == (found["moments"][:1], "red.png")
    first = found["moments"][0]
    span = {"v": first["v"], "start": first["start_s"], "end": first["end_s"]}
    for how in ({"search": found["search"]}, {"picture": fewer["search"]}):
        assert client.get("/api/score", params=span | how).json()["score"] == pytest.approx(first["score"], abs=2e-6)
    forgotten = client.get("/api/like", params={"picture": "s999"})
    assert (forgotten.status_code, forgotten.json()["field"]) == (404, "picture")
    assert client.get("/api/like", params={"picture": client.search("red")["search"]}).status_code == 404


def test_what_is_no_picture_is_refused_in_one_line(served):
    _, client = served()
    for body, told in (
        ({"name": "a.txt", "data": base64.b64encode(b"text").decode()}, "a.txt: is no picture that can be read"),
        ({"name": "a.png", "data": "%"}, "base64"),
        ({"name": "", "data": ""}, "length"),
        (sent(Image.new("1", (9_000, 9_000))), "red.png: has 9,000 x 9,000 pixels"),
    ):
        refused = client.post("/api/search/picture", json=body)
        assert (refused.status_code, told in refused.text) == (400, True), refused.text
    most = client.post("/api/search/picture", content=b" ", headers={"Content-Length": str(50 << 20)})
    assert most.status_code == 413


def of_own_vector(length_s, median):
    """The formula of truemoment.searching.discount with a cosine of 1 and h = 0.5 s."""
    return 1 - (1 - median) / (1 + (length_s / 0.5) ** 2)


def test_the_score_of_a_moment_by_its_own_vector(served):
    _, client = served()
    record = client.get("/api/like", params={"v": 0, "start": 20, "end": 28}).json()
    told = client.get("/api/score", params={"v": 0, "start": 20, "end": 28, "search": record["search"]}).json()
    assert told["score"] == pytest.approx(of_own_vector(8.0, record["median"]), abs=2e-6)


def test_the_score_of_a_found_moment_is_told_the_same(served):
    _, client = served()
    found = client.search("red green")
    for of in found["moments"][:3]:
        span = {"v": of["v"], "start": of["start_s"], "end": of["end_s"]}
        for how in ({"search": found["search"]}, {"q": "red green"}):
            told = client.get("/api/score", params=span | how).json()
            assert told["score"] == pytest.approx(of["score"], abs=2e-6)
            assert told["match"] == of["match"]
    short = client.get("/api/score", params={"v": 0, "start": 20.1, "end": 20.2, "q": "red"}).json()
    assert short["shorter_than_a_row"]
    like = client.get("/api/score", params={"v": 0, "start": 20, "end": 28, "like": "0:20:28"}).json()
    median = client.get("/api/like", params={"v": 0, "start": 20, "end": 28}).json()["median"]
    assert like["score"] == pytest.approx(of_own_vector(8.0, median), abs=2e-6)


def test_words_that_are_not_known_come_with_each_answer(served, colours, monkeypatch):
    monkeypatch.setattr(colours.Colours, "vocabulary", frozenset(colours.WORDS), raising=False)
    _, client = served()
    for sentence, words, none, notes in (
        ("red", [], False, []),
        ("red fir", ["fir"], False, ['the model colours does not know "fir"']),
        ("zzz", ["zzz"], True, ['no word of "zzz" is known to the model colours']),
    ):
        found = client.search(sentence)
        assert (found["unknown_words"], found["no_word_known"], found["notes"]) == (words, none, notes)
    assert client.get("/api/like", params={"v": 0, "start": 20, "end": 28}).json()["notes"] == []


def test_only_some_films(served):
    _, client = served()
    assert {of["v"] for of in client.search("red", videos="1,2")["moments"]} <= {1, 2}
    assert client.search("red", videos="2")["videos"] == 1


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/api/search?q=", "q"),
        ("/api/search?q=%20%20", "q"),
        (f"/api/search?q={'a' * 2001}", "q"),
        ("/api/search?q=a&top=0", "top"),
        ("/api/search?q=a&top=x", "top"),
        ("/api/search?q=a&apart=nan", "apart"),
        ("/api/search?q=a&apart=1e7", "apart"),
        ("/api/search?q=a&videos=1,x", "videos"),
        ("/api/search?q=a&videos=99", "v"),
        ("/api/search?q=a&exact=2", "exact"),
        ("/api/like?v=0&start=nan&end=3", "start"),
        ("/api/like?v=0&start=1", "end"),
        ("/api/like?start=1&end=2", "v"),
        ("/api/score?v=0&start=1e99&end=2&q=a", "start"),
        ("/api/score?v=0&start=1&end=2&like=a:b", "like"),
        ("/picture/0/1000.jpg?side=100000", "side"),
        ("/picture/0/99999999999999.jpg", "ms"),
        ("/picture/9/1000.jpg", "v"),
        ("/preview/0/5-5.jpg", "start"),
    ],
)
def test_bad_requests_name_the_field(refusing, path, field):
    client, _ = refusing
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert answer.json()["field"] == field


def test_moments_outside_the_film_are_refused(served):
    _, client = served()
    answer = client.get("/api/like?v=0&start=4000&end=4001")
    assert (answer.status_code, "within the video" in answer.text) == (400, True)
    assert client.get("/api/like?v=0&start=5&end=4").status_code == 400


def test_the_model_loads_while_the_page_is_there(served, colours, monkeypatch):
    gate = threading.Event()

    def load(*_):
        gate.wait(10)
        return colours.Colours()

    monkeypatch.setattr(ColourOptions, "encoder_of", load)
    server, client = served("slow")
    assert client.get("/").status_code == 200
    waiting = client.get("/api/search", params={"q": "red"})
    assert (waiting.status_code, waiting.headers["Retry-After"]) == (503, "1")
    gate.set()
    while server.service.model.state == "loading":
        time.sleep(0.001)
    assert client.search("red")["moments"]


# ------------------------------------------------------------------------------------------ latest wins


def test_the_newest_search_of_a_tab_wins():
    thread, gate, done = SearchThread(), threading.Event(), []

    def task(name):
        def run():
            gate.wait(10)
            done.append(name)
            return name

        return run

    first = thread.submit("other", 1, task("first"))
    while first.running() or not thread._thread.is_alive() or thread._waiting:
        time.sleep(0.01)
    old, new = thread.submit("a", 1, task("old")), thread.submit("a", 2, task("new"))
    late = thread.submit("a", 1, task("late"))
    gate.set()
    assert (first.result(5), new.result(5)) == ("first", "new")
    for lost in (old, late):
        with pytest.raises(SupersededError):
            lost.result(5)
    assert done == ["first", "new"]
    thread.close()


def test_a_superseded_search_is_told_so(served):
    _, client = served()
    assert client.get("/api/search?q=red&tab=t&n=5").status_code == 200
    late = client.get("/api/search?q=red&tab=t&n=4")
    assert (late.status_code, late.json()["superseded"]) == (409, True)


def test_twenty_tabs_at_once_are_all_answered(served):
    _, client = served()
    answers = []

    def ask(number):
        answers.append(client.get(f"/api/search?q={'red' if number % 2 else 'blue'}&tab=t{number}&n=1").status_code)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == [200] * 20


# ------------------------------------------------------------------------------------ films, pictures


def test_pictures_show_the_film_at_a_time(served, tmp_path):
    _, client = served()
    answer = client.get("/picture/0/24000.jpg?half=4000&exact=1")  # film a is red from 20 s to 28 s
    red, green, blue = np.asarray(Image.open(io.BytesIO(answer.content)).convert("RGB")).mean(axis=(0, 1))
    assert red > 150
    assert max(green, blue) < 100
    assert 23.7 <= float(answer.headers["X-Time"]) <= 24.0
    again = client.get("/picture/0/24000.jpg?half=4000&exact=1", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304
    kept = list((tmp_path / "cache" / "pictures").glob("*/exact-24000-320.jpg"))
    kept[0].write_bytes(b"damaged")
    assert client.get("/picture/0/24000.jpg?half=4000&exact=1").content == answer.content
    sheet = Image.open(io.BytesIO(client.get("/preview/0/20000-28000.jpg").content))
    assert sheet.width == 6 * 64  # pictures of 64 x 48 side by side
    quick = client.get("/picture/0/24000.jpg?half=4000")
    assert quick.headers["Cache-Control"] == "private, max-age=86400"


def test_a_film_that_is_gone_exchanged_or_moved(served, films, index):
    _, client = served()
    (films / "a.mp4").unlink()
    assert client.get("/picture/0/1000.jpg").status_code == 404
    assert client.get("/media/0").status_code == 404
    assert "gone" in client.get("/api/videos/0").text
    (films / "b.mp4").write_bytes((films / "c.mp4").read_bytes())
    exchanged = client.get("/picture/1/1000.jpg")
    assert (exchanged.status_code, "changed since" in exchanged.text) == (404, True)
    (films / "c.mp4").rename(index.path.parent / "c.mp4")  # found beside the index
    assert client.get("/picture/2/1000.jpg").status_code == 200
    states = [of["file"] for of in client.get("/api/index").json()["videos"]]
    assert states == ["gone", "changed", "here"]
    assert client.search("red")["moments"]


def test_a_film_that_is_no_video_costs_a_picture(served, films, monkeypatch):
    server, client = served()
    broken = films / "a.mp4"
    broken.write_bytes(b"no video at all" * 1000)
    film = server.service.videos.shown.rows[0]
    from truemoment.media.video.files import identity_of

    monkeypatch.setattr(server.service.videos.shown, "identity", lambda _: identity_of(broken))
    answer = client.get(f"/picture/{film.number}/1000.jpg")
    assert (answer.status_code, "cannot be read as a video" in answer.text) == (422, True)


def test_media_in_ranges_with_frames_pictures_and_peaks(served):
    _, client = served()
    until = time.monotonic() + 60
    while not client.get("/api/videos/0").json()["frames"] and time.monotonic() < until:
        time.sleep(0.1)
    assert client.get("/api/videos/0").json()["state"] == "original"
    part = client.get("/media/0", headers={"Range": "bytes=10-19"})
    assert (part.status_code, len(part.content), part.headers["Content-Type"]) == (206, 10, "video/mp4")
    table = client.get("/media/0/frames.json").json()
    assert sum(run[2] for run in table["runs"]) == 200  # 40 s at 5 frames a second
    assert client.get("/media/0/peaks.bin").status_code == 404  # there is no sound


def test_an_index_that_changes_on_disk_is_loaded_anew(served, index):
    server, client = served()
    assert client.search("red")["changed"] is False
    (next((index.path / "videos").glob("c-*")) / "about.json").unlink()
    server.service._looked_at = 0.0
    assert client.search("red")["changed"] is True
    assert len(client.get("/api/index").json()["videos"]) == 3
    assert client.post("/api/index/reload", json={}).status_code == 204
    assert len(client.get("/api/index").json()["videos"]) == 2
    assert client.search("red")["changed"] is False


# ------------------------------------------------------------------------------------------------ roles


ROUTES = [
    ("GET", "/", 200),
    ("GET", "/film/0", 200),
    ("GET", "/collection/kept", 200),
    ("GET", "/api/index", 200),
    ("GET", "/api/search?q=red", 200),
    ("GET", "/api/like?v=0&start=1&end=2", 200),
    ("GET", "/api/score?v=0&start=1&end=2&q=red", 200),
    ("GET", "/api/collections", 200),
    ("GET", "/api/collections/kept", 200),
    ("GET", "/picture/0/1000.jpg", 200),
    ("GET", "/media/0", 200),
    ("PUT", "/api/collections/kept", 403),
    ("DELETE", "/api/collections/kept", 403),
    ("POST", "/api/export", 403),
    ("POST", "/api/index/reload", 403),
    ("GET", "/api/jobs/x", 403),
]


def test_guests_look_and_change_nothing(served):
    server, client = served(guests=True)
    guest, stranger = Client(server.app, server.tokens.guest), Client(server.app, None)
    for method, path, status in ROUTES:
        body = {} if method == "GET" else {"json": {}}
        assert guest.request(method, path, **body).status_code == status, path
        nobody = stranger.request(method, path, follow_redirects=False, **body).status_code
        assert nobody == (303 if path in ("/", "/film/0", "/collection/kept") else 401), path
    assert client.get("/api/search?q=red", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert client.get("/api/index", headers={"Host": "evil.example"}).status_code == 400


def test_the_page_of_an_index_in_a_folder_of_results_has_the_same_addresses_below_its_own(
    index, tmp_path, monkeypatch, colours
):
    from truemoment.base.boundary.caching import Cache
    from truemoment.base.boundary.own_path import OwnPath
    from truemoment.data.datasets.source import AnnotationSource
    from truemoment.web.opening.entries import key_of
    from truemoment.web.opening.folder_site import open_folder

    monkeypatch.setattr("truemoment.searching.encoder_options.EncoderOptions.encoder_of", lambda *_: colours.Colours())
    root = f"/search/{key_of(OwnPath(index.path.parent, (index.path.name,)))}"
    with (
        open_folder(index.path.parent, AnnotationSource(), cache=Cache(tmp_path / "cache")) as server,
        Client(server.app, server.tokens.owner) as client,
    ):
        page = client.get(f"{root}/").text
        assert f'data-root="{root}"' in page
        assert client.get(f"{root}/static/search.js").status_code == 200
        while not (shown := client.get(f"{root}/api/index").json())["ready"]:
            time.sleep(0.01)
        assert len(shown["videos"]) == len(list(index))
        best = client.get(f"{root}/api/search", params={"q": "red"}).json()["moments"][0]
        assert best["score"] == search_index(index, colours.Colours().sentences(["red"])[0], 1)[0][0].score


def test_speech_is_searched_as_on_the_command_line(  # noqa: PLR0917 - fixtures
    served, index, films, colours, tmp_path, monkeypatch
):
    monkeypatch.setattr("truemoment.searching.encoder_options.EncoderOptions.encoder_of", lambda *_: colours.Colours())
    _, client = served()
    assert not client.get("/api/index").json()["has_speech"]
    assert client.get("/api/search", params={"q": "red", "by": "said"}).status_code == 400
    (films / "a.srt").write_text("1\n00:00:24,000 --> 00:00:30,000\nNobody opens the red door.\n")
    index_speech(index.path, [VideoFile("a", films / "a.mp4", index.about("a").identity)])
    write_passages(index)
    _, client = served()
    assert client.get("/api/index").json()["has_speech"]
    names = {of["v"]: of["video_id"] for of in client.get("/api/index").json()["videos"]}
    for by, options in (("seen", []), ("said", ["--said"]), ("both", ["--said", "--seen"])):
        shown = client.search("red", by=by, top=4)["moments"]
        out = tmp_path / "out.json"
        assert run(["search", "red", str(index.path), "--top", "4", *options, "--json", str(out)]) == 0
        written = json.loads(out.read_text())["moments"]
        keys = ("start_s", "end_s", "score", "match", "why", "said")
        assert [[names[of["v"]], *map(of.get, keys)] for of in shown] == [
            [of["video_id"], *map(of.get, keys)] for of in written
        ]
        assert {of["why"] for of in shown} == {"seen": {"seen"}, "said": {"said"}, "both": {"both", "seen"}}[by]
    assert client.get("/api/search", params={"q": "red", "by": "heard"}).status_code == 400
    assert client.get("/api/search", params={"q": "red", "by": "said", "then": "blue"}).status_code == 400
