"""truemoment index --add-model and search: an index by several models, whose lists are fused."""

import contextlib
import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from truemoment.cli import run
from truemoment.searching import extraction
from truemoment.searching.request import RankingOptions
from truemoment.searching.retrieval import FoundMoment
from truemoment.searching.several_models import fuse_answers
from truemoment.searching.stopping import RetrievedMoments
from truemoment.searching.unknown_words import UnknownWords
from truemoment.searching.writing import remove_index

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_colours")]

HUES = "models/hues_40e540e540e540e5-ea8d524c"


def content(folder, *, without="models"):
    """Return the bytes of each file of an index."""
    files = (file for file in Path(folder).rglob("*") if file.is_file())
    names = {file.relative_to(folder): file for file in files if without not in file.relative_to(folder).parts}
    return {str(name): file.read_bytes() for name, file in names.items()}


@pytest.fixture(scope="module")
def indexed(painted, colours, tmp_path_factory):
    """An index of three films by two models; `alone`: by the first only, `other`: by the other one only."""
    folder = tmp_path_factory.mktemp("indexed")
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.setattr("truemoment.media.video.encoders.load_encoder", colours.load_encoder)
        extraction._load.cache_clear()
        assert run(["index", str(painted), "-o", "alone", "--model", "colours", "--quiet"]) == 0
        assert run(["index", str(painted), "-o", "other", "--model", "hues", "--fps", "1", "--quiet"]) == 0
        shutil.copytree("alone", "both")
        words = ["--add-model", "hues", "--fps", "1", "--quiet"]
        assert run(["index", str(painted), "-o", "both", *words]) == 0
    return folder


@pytest.fixture
def both(films, indexed, painted):
    """A copy of the index by two models, of the films of this test."""
    shutil.copytree(indexed / "both", "both")
    for file in Path("both").rglob("about.json"):
        file.write_text(file.read_text().replace(str(painted.resolve()), str(films.resolve())))
    return Path("both")


def search(call, *words):
    """Return the document of a search."""
    status, out, _ = call("search", *words, "--json", "-", "--quiet")
    assert status == 0
    return json.loads(out)


def fused_slowly(first, second, top, apart_s):
    """Fuse two lists as truemoment.searching.fusion defines it, one moment at a time."""

    def apart(a, b, apart_s=0.0):
        places = a["video_id"], b["video_id"]
        return len(set(places)) == 2 or a["end_s"] + apart_s <= b["start_s"] or b["end_s"] + apart_s <= a["start_s"]

    fused = [moment | {"score": 1 / (60 + k), "ranks": [("colours", k)]} for k, moment in enumerate(first, 1)]
    taken = set()
    for k, moment in enumerate(second, 1):
        at = next((n for n in range(len(first)) if n not in taken and not apart(first[n], moment)), None)
        if at is None:
            fused.append(moment | {"score": 1 / (60 + k), "ranks": [("hues", k)]})
            continue
        taken.add(at)
        times = moment if k < at + 1 else first[at]
        fused[at] |= {name: times[name] for name in ("start_s", "end_s")}
        fused[at]["score"] += 1 / (60 + k)
        fused[at]["ranks"] = [("colours", at + 1), ("hues", k)]
        fused[at]["match"] = max(first[at]["match"], moment["match"])
    kept = []
    for moment in sorted(fused, key=lambda moment: -moment["score"]):
        if all(apart(moment, better, apart_s) for better in kept):
            kept.append(moment)
    keys = ("video_id", "start_s", "end_s", "score", "match", "ranks")
    chosen = [{name: moment[name] for name in keys} for moment in kept[:top]]
    return [moment | {"ranks": [{"list": name, "rank": k} for name, k in moment["ranks"]]} for moment in chosen]


def test_another_model_changes_nothing_of_the_index_and_is_an_index_itself(indexed):
    assert content(indexed / "both") == content(indexed / "alone")
    assert content(indexed / "both" / HUES) == content(indexed / "other")


@pytest.mark.parametrize("sentence", ["red", "green blue", "zebra"])
def test_the_list_is_that_of_both_models_fused(call, both, sentence):
    singles = [search(call, sentence, both, "--model", name, "--top", 100) for name in ("colours", "hues")]
    assert singles[1]["moments"] == search(call, sentence, both / HUES, "--top", 100)["moments"]
    together = search(call, sentence, both, "--top", 6, "--apart", 3)
    lists = [search(call, sentence, both, "--model", name, "--top", 100, "--apart", 3) for name in ("colours", "hues")]
    expected = fused_slowly(*(single["moments"] for single in lists), 6, 3.0)
    assert [{name: moment[name] for name in expected[0]} for moment in together["moments"]] == expected
    assert [model["name"] for model in together["models"]] == ["colours", "hues"]
    nothing = [single["nothing_stands_out"] for single in singles]
    assert together["nothing_stands_out"] is all(nothing)
    status, out, _ = call("search", sentence, both, "--top", 1)
    names = [f"{place['list']} #{place['rank']}" for place in together["moments"][0]["ranks"]]
    assert (status, out.splitlines()[2].endswith(f"seen ({', '.join(names)})")) == (0, True)


def test_the_page_answers_as_the_command_line(call, both, tmp_path):
    pytest.importorskip("starlette")
    from starlette.testclient import TestClient

    from truemoment.searching.encoder_options import EncoderOptions
    from truemoment.searching.index import Index
    from truemoment.web.browsing.search_site import open_search

    picture = tmp_path / "red.png"
    pytest.importorskip("PIL.Image").new("RGB", (64, 48), (200, 30, 30)).save(picture)
    keys = ("start_s", "end_s", "score", "match", "ranks")
    with (
        open_search(Index(both), EncoderOptions(), cache=tmp_path / "cache", collections=tmp_path / "kept") as server,
        TestClient(server.app, base_url="http://localhost", headers={"Origin": "http://localhost"}) as client,
    ):
        client.post("/in", json={"token": server.tokens.owner})
        while not client.get("/api/index").json()["ready"]:
            time.sleep(0.001)
        assert client.get("/api/index").json()["models"] == ["colours", "hues"]
        sent = {"name": "red.png", "data": __import__("base64").b64encode(picture.read_bytes()).decode()}
        for words, answer in (
            (("red", both), client.get("/api/search", params={"q": "red"})),
            (("red", both, "--then", "blue"), client.get("/api/search", params={"q": "red", "then": "blue"})),
            ((both, "--image", picture), client.post("/api/search/picture", json=sent)),
        ):
            shown, written = answer.json(), search(call, *words, "--top", 12)
            assert [[moment[key] for key in keys] for moment in shown["moments"]] == [
                [moment[key] for key in keys] for moment in written["moments"]
            ]
            assert shown["nothing_stands_out"] == written["nothing_stands_out"]
        strip = client.get(f"/api/strip/{shown['search']}/0")
        assert float(strip.headers["X-Best"]) > 0.9  # a cosine, not the score of two ranks


def test_sequences_are_those_of_the_first_model_and_say_so(call, both):
    words = ("search", "red", both, "--then", "blue", "--json", "-")
    status, out, err = call(*words)
    assert (status, json.loads(out)["moments"]) == (0, search(call, *words[1:5], "--model", "colours")["moments"])
    assert "use one model: colours; --model names another" in err


def test_every_model_follows_the_films(call, both, films, paint):
    (films / "a.mp4").rename(films / "moved.mp4")
    shutil.rmtree(next(both.glob("videos/b-*")))
    (films / "b.mp4").unlink()
    paint(films / "c.mp4", [((30, 200, 30), 25), ((30, 30, 200), 40)])
    paint(films / "d.mp4", [((200, 30, 30), 30), ((110, 110, 110), 10)])
    _, _, err = call("search", "red", both)
    assert err == ""  # what the first model does not have is not searched by the other
    status, out, _ = call("index", films, "-o", both, "--json", "-")
    (other,) = json.loads(out)["other_models"]
    assert (status, other["encoder"], other["failed"]) == (0, "hues", {})
    assert (sorted(other["indexed_now"]), other["unchanged"]) == (["c", "d"], ["a"])
    records = [
        {file.parent.name: json.loads(file.read_text()) for file in folder.glob("videos/*/about.json")}
        for folder in (both, both / HUES)
    ]
    keys = ("video_id", "path", "identity")
    first, second = ({name: [about[key] for key in keys] for name, about in of.items()} for of in records)
    assert first == second
    assert len(first) == 3


def test_a_video_that_a_model_has_not_seen_is_named(call, both):
    shutil.rmtree(next((both / HUES).glob("videos/c-*")))
    status, _, err = call("search", "red", both)
    expected = "note: 1 of 3 videos are not searched by hues, which has not seen them; truemoment index adds them\n"
    assert (status, err) == (0, expected)


def test_an_interrupted_model_is_resumed(call, both, films):
    for video in (both / HUES / "videos").iterdir():
        shutil.rmtree(video)
    status, out, err = call("search", "red", both, "--json", "-")
    assert (status, [model["name"] for model in json.loads(out)["models"]]) == (0, ["colours"])
    assert "has no video yet; truemoment index with the same model adds them" in err
    status, out, _ = call("index", films, "-o", both, "--json", "-")
    document = json.loads(out)
    assert (status, document["n_frames"], document["unchanged"]) == (0, 0, ["a", "b", "c"])
    assert document["other_models"][0]["indexed_now"] == ["a", "b", "c"]


def test_predictions_of_a_split_are_those_of_a_model_or_fused(call, both, tmp_path):
    lengths, lines = {"a": 40.0, "c": 60.0}, []
    for number, (video, sentence) in enumerate((("a", "red"), ("c", "green"), ("c", "red"))):
        moment = {"query_id": f"q{number}", "video_id": video, "duration": lengths[video], "query": sentence}
        lines.append(json.dumps(moment | {"moments": [[1.0, 9.0]]}))
    annotations = tmp_path / "mine.jsonl"
    annotations.write_text("\n".join(lines) + "\n")

    def split(index, *words):
        out = f"{len(list(tmp_path.glob('*.jsonl')))}.jsonl"
        words = ("search", "split", index, "--annotations", annotations, "-o", out, "--quiet", *words)
        assert call(*words)[:2] == (0, "")
        return [json.loads(line) for line in Path(out).read_text().splitlines()[1:]]

    colours, hues = split(both, "--model", "colours"), split(both, "--model", "hues")
    assert hues == split(both / HUES)
    assert colours != hues
    for fused, *singles in zip(split(both, "--top", 5), colours, hues, strict=True):
        starts = [[moment[:2] for moment in single["moments"]] for single in singles]
        assert all(moment[:2] in starts[0] or moment[:2] in starts[1] for moment in fused["moments"])
        best = fused["moments"][0]
        ranks = [next(k for k, span in enumerate(of, 1) if span[0] < best[1] and best[0] < span[1]) for of in starts]
        assert best[2] == pytest.approx(sum(1 / (60 + rank) for rank in ranks))
    h5py = pytest.importorskip("h5py")
    with h5py.File("texts.h5", "w") as texts:
        for number in range(3):
            texts[f"q{number}"] = np.eye(4, dtype=np.float32)[number]
    words = ("--sentences", "texts.h5", "--annotations", annotations, "--fit-split", "none", "--json", "-")
    status, out, _ = call("retrieve", both / HUES, *words)
    assert (status, json.loads(out)["pool"]["n_clips"]) == (0, 2)  # two sentences have one moment


@pytest.mark.parametrize(
    ("spoil", "words", "told"),
    [
        (
            lambda folder: (folder / "index.json").write_text("{"),
            (),
            "remove both/models/hues_40e540e540e540e5-ea8d524c to search by the other models",
        ),
        (lambda folder: (folder / "index.json").unlink(), (), "is no index, it contains no index.json of one"),
        (
            lambda folder: (shutil.move(folder, "elsewhere"), folder.symlink_to(Path("elsewhere").absolute())),
            (),
            f"both/{HUES}: is a link, expected a file or folder that TrueMoment has made",
        ),
        (lambda _: None, ("--model", "clip"), "--model: got 'clip', expected a model of both: colours, hues"),
        (lambda _: None, ("--engine", "ray"), "--engine ray: searches by one model; name it: --model colours"),
        (
            lambda folder: (folder / "index.json").write_text(
                (folder / "index.json").read_text().replace('"model": "hues"', '"model": "http://localhost:1/v1#hues"')
            ),
            (),
            f"both/{HUES}: its model http://localhost:1/v1#hues is not on this machine; an index can name any model",
        ),
    ],
    ids=["damaged", "without settings", "link", "unknown", "ray", "address"],
)
def test_a_search_that_cannot_be_made_is_one_line(fails, both, spoil, words, told):
    spoil(both / HUES)
    assert told in fails(2, "search", "red", both, *words)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--add-model", "colours"), "--add-model colours: is the model of both already"),
        (("--add-model", "clip"), "no model clip"),
        (("--add-model", "hues", "--fps", "2"), f"both/{HUES}: was made with --fps 1, got 2"),
        (
            ("-o", "new", "--model", "colours", "--add-model", "hues", "--fps", "2"),
            "are those of --add-model; make the index",
        ),
    ],
)
def test_a_model_that_cannot_be_added_is_one_line(fails, both, films, words, told):
    before = content(both, without="-")
    assert told in fails(2, "index", films, "-o", both, *words)
    assert content(both, without="-") == before
    assert not Path("new").exists()


def test_an_index_is_removed_with_its_models(both):
    remove_index(both)
    assert not both.exists()


def test_something_stands_out_if_it_does_for_a_model_that_knows_the_words():
    def answer(match, **unknown):
        return RetrievedMoments([FoundMoment("a", 0.0, 4.0, 0.5, match)], 1, "all", UnknownWords(**unknown))

    def fused(*answers):
        return RetrievedMoments(answers[0].moments, 1, "all", by_model=answers)

    blind = answer(0.99, words=("zzz",), every=True, model="scenes")
    together = fuse_answers({"scenes": blind, "clip": answer(0.5)}, RankingOptions())
    assert [moment.ranks for moment in together.moments] == [(("clip", 1),)]
    assert together.lines_on_words("zzz") == ('no word of "zzz" is known to the model scenes',)
    for answers, nothing, best in (
        ((answer(0.5), answer(0.95)), False, 0.95),
        ((answer(0.5), answer(0.9)), True, 0.9),
        ((answer(0.5), blind), True, 0.5),
    ):
        assert (fused(*answers).nothing_stands_out, fused(*answers).best_match) == (nothing, best)


def test_folders_that_are_not_of_the_index_stay(call, both, films):
    kept = [both / HUES / "videos" / "mine" / "notes.txt", both / "models" / "mine" / "index.json"]
    for file in kept:
        file.parent.mkdir()
        file.write_text("my own")
    assert call("index", films, "-o", both, "--quiet")[0] == 0
    remove_index(both)
    assert [file.read_text() for file in kept] == ["my own", "my own"]
