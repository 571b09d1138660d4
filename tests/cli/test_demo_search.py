"""truemoment demo --search: a rendered film is indexed and searched by the model that comes along, and measured."""

import html
import json
import re
import shlex
import shutil
import time
from pathlib import Path

import pytest

from truemoment import Annotations
from truemoment.base.errors import InputError
from truemoment.cli.demo_folder import claim

pytest.importorskip("transformers")
pytest.importorskip("av")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Run it once, for three minutes of film: (status, standard output, folder)."""
    from click.testing import CliRunner

    from truemoment.cli.group import cli

    folder = tmp_path_factory.mktemp("demo") / "shapes"
    result = CliRunner().invoke(cli, ["demo", "--search", "--minutes", "3", "--out", str(folder), "--no-open"])
    return result.exit_code, result.stdout, folder


def figures_of(out):
    """Figures by method, in per cent."""
    lines = [line for line in out.splitlines() if line.startswith(("search with", "Random Chance", "Oracle"))]
    return {line.split("  ")[0].split(" ")[0]: [float(x) for x in re.findall(r"\d+\.\d\d", line)] for line in lines}


def test_what_is_written(demo):
    status, out, folder = demo
    assert status == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        ".truemoment-demo", "film.jsonl", "film.mp4", "film.mp4.index", "found.html", "found.jsonl",
    ]  # fmt: skip
    n_sentences = len((folder / "film.jsonl").read_text().splitlines())
    assert n_sentences >= 3
    assert len(out.split("\n\n")[0].splitlines()) == 2 + n_sentences
    assert (folder / "found.html").read_text().count("data:image/jpeg") == 5


def test_the_figures_are_those_of_evaluate(demo, call):
    _, out, folder = demo
    measures = "R@1,IoU=0.1; R@1,IoU=0.3; R@5,IoU=0.5; mIoU"
    words = ["evaluate", folder / "found.jsonl", "--annotations", folder / "film.jsonl", "--measures", measures]
    status, printed, _ = call(*words, "--json", "-", "--quiet")
    assert status == 0
    values = [of["value"] for of in json.loads(printed)["measures"]]
    assert figures_of(out)["search"] == pytest.approx([100 * value for value in values], abs=0.006)


def test_it_finds_far_more_than_chance(demo):
    figures = figures_of(demo[1])
    for found, chance, best in zip(figures["search"], figures["Random"], figures["Oracle"], strict=True):
        assert 4 * chance < found <= best
    assert min(figures["Oracle"]) > 80


def test_it_can_be_searched(demo, call):
    sentence = json.loads((demo[2] / "film.jsonl").read_text().splitlines()[0])["sentence"]
    status, out, err = call("search", sentence, demo[2] / "film.mp4.index", "--top", "2")
    assert (status, err) == (0, "")
    assert len(out.splitlines()) == 4
    status, out, err = call("search", sentence, demo[2] / "film.mp4", "--top", "2")  # its index is beside it
    assert (status, err) == (0, "")


def test_the_page_answers_as_the_command_line_for_every_event(demo, call):
    from starlette.testclient import TestClient

    from truemoment.searching.encoder_options import EncoderOptions
    from truemoment.searching.index import Index
    from truemoment.web.browsing.search_site import open_search

    index = demo[2] / "film.mp4.index"
    sentences = [json.loads(line)["sentence"] for line in (demo[2] / "film.jsonl").read_text().splitlines()]
    cache, kept = demo[2].parent / "cache", demo[2].parent / "kept"
    with (
        open_search(Index(index), EncoderOptions(), cache=cache, collections=kept) as server,
        TestClient(server.app, base_url="http://localhost") as client,
    ):
        words = {"Origin": "http://localhost", "Content-Type": "application/json"}
        client.post("/in", json={"token": server.tokens.owner}, headers=words, follow_redirects=False)
        while server.service.model.state != "ready":
            time.sleep(0.05)
        for sentence in [*sentences, "zzz", "a tall red circle"]:
            shown = client.get("/api/search", params={"q": sentence, "top": 5}).json()
            written = json.loads(call("search", sentence, index, "--json", "-")[1])
            columns = ("start_s", "end_s", "score", "match")
            one, other = ([[of[name] for name in columns] for of in found["moments"]] for found in (shown, written))
            assert one == other
            for name in ("unknown_words", "no_word_known", "nothing_stands_out"):
                assert shown[name] == written[name]


def test_words_that_are_not_known_are_named_with_every_answer(demo, call):
    import truemoment

    index = demo[2] / "film.mp4.index"
    told = 'nothing stands out: no word of "zzz" is known to the model scenes'
    status, out, err = call("search", "zzz", index, "--top", "1", "--csv", "-")
    assert (status, len(out.splitlines()), err) == (0, 2, f"note: {told}\n")
    status, out, err = call("search", "zzz", index, "--top", "1")
    assert told in out + err
    document = json.loads(call("search", "a tall red circle", index, "--json", "-", "--quiet")[1])
    assert (document["unknown_words"], document["no_word_known"]) == (["tall"], False)
    found = truemoment.search("zzz", index, top=1)
    assert found.answer.unknown.every
    assert (found.report().notes, found.document()["no_word_known"]) == ((told,), True)


def test_events_are_found_whole_and_not_in_slivers(demo, call):
    """Mean pooling alone finds pieces of a second or two (issue 26, item 5)."""
    words = ["--annotations", demo[2] / "film.jsonl", "--top", "5"]
    miou = []
    for name, discount in (("plain", "0"), ("fair", "0.5")):
        out = demo[2].parent / f"{name}.jsonl"
        assert call("search", "split", demo[2] / "film.mp4.index", *words, "--discount", discount, "-o", out)[0] == 0
        told = call("evaluate", out, *words[:2], "--measures", "mIoU", "--json", "-", "--quiet")[1]
        miou.append(100 * json.loads(told)["measures"][0]["value"])
    assert miou[1] > 2 * miou[0]
    assert miou[1] == pytest.approx(figures_of(demo[1])["search"][3], abs=0.006)  # the demo searches with the discount


def test_the_sentence_that_index_tells_is_of_words_that_the_model_knows(demo, call):
    from truemoment.media.video.encoders import load_encoder

    status, out, _ = call("index", demo[2] / "film.mp4")  # there is nothing new to look at
    assert status == 0
    sentence = shlex.split(out.splitlines()[-1])[2]
    tokenizer = load_encoder("scenes").tokenizer

    def is_known(text):  # a word that the model was taught is one token, another one is spelled
        return len(tokenizer(text)["input_ids"]) == 2 + len(text.split())

    assert is_known(sentence)
    assert not is_known("a man opens a door")


def test_the_command_on_the_page_makes_this_page(demo, call, monkeypatch):
    """In the folder of the page, which names no other."""
    page = demo[2] / "found.html"
    monkeypatch.chdir(demo[2])
    before = page.read_text()
    words = shlex.split(html.unescape(re.search(r"truemoment search [^<]*", before)[0]))
    assert words[:2] == ["truemoment", "search"]
    again = demo[2].parent / "again.html"
    status, _, err = call(*words[1:-1], again)
    assert (status, err) == (0, "")
    assert words[-1] == page.name
    moments = [re.findall(r'class="when">(.*?)</p>|base64,(.*?)"', text) for text in (before, again.read_text())]
    assert len(moments[0]) == 10
    assert moments[0] == moments[1]


@pytest.mark.parametrize("name", ["film.mp4", "film.mp4.index", "film.jsonl", "found.jsonl", "found.html"])
@pytest.mark.parametrize("is_folder", [False, True])
def test_what_no_demo_has_made_is_kept(fails, tmp_path, name, is_folder):
    mine = tmp_path / name / "holiday" if is_folder else tmp_path / name
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    told = fails(2, "demo", "--search", "--out", tmp_path, "--no-open")
    assert told == f"{tmp_path}: contains {name} already, which no demo has made; give another folder: --out DIR"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]
    assert mine.read_text() == "mine"


def test_a_demo_takes_its_own_folder_again_but_not_what_was_put_beside(tmp_path):
    claim(tmp_path, ["film.mp4"])
    (tmp_path / "film.mp4").write_text("of the demo")
    claim(tmp_path, ["film.mp4", "found.html"])
    for name in ("seeing.html", "world.json"):
        (tmp_path / name).write_text("mine")
        with pytest.raises(InputError, match=f"contains {name} already, which no demo has made"):
            claim(tmp_path, ["film.mp4", name])
    (tmp_path / "gone").symlink_to("nowhere")
    with pytest.raises(InputError, match="contains gone already"):
        claim(tmp_path, ["gone"])
    claim(tmp_path, ["found.html"])


def test_the_other_demo_keeps_what_it_has_not_made_too(fails, tmp_path):
    (tmp_path / "annotations.jsonl").write_text("mine")
    told = fails(2, "demo", "--videos", "40", "--out", tmp_path, "--no-open")
    assert "contains annotations.jsonl already, which no demo has made" in told
    assert (tmp_path / "annotations.jsonl").read_text() == "mine"


def test_a_film_that_cannot_be_indexed_is_told(fails, tmp_path, monkeypatch):
    def render(path, *_):
        path.write_text("no film")
        return Annotations.from_rows([("v#0", "v", 40.0, "a red circle", 0.0, 4.0)])

    monkeypatch.setattr("truemoment.cli.demo_search.render_video", render)
    told = fails(2, "demo", "--search", "--minutes", "1", "--out", tmp_path / "demo", "--no-open")
    assert told.startswith(f"{tmp_path / 'demo' / 'film.mp4'}: cannot be read as a video")


def test_impossible_lengths_are_refused(fails):
    assert fails(2, "demo", "--search", "--minutes", "0.1") == "--minutes: got 0.1, expected 1 to 120"
    assert not Path("truemoment-demo").exists()


@pytest.mark.parametrize("name", [".truemoment-demo", "film.mp4", "film.mp4.index", "film.mp4.index/videos"])
def test_a_link_in_a_foreign_demo_is_not_followed(fails, tmp_path, name):
    """The mark of a demo that comes from elsewhere can name anything as the demo's own."""
    mine, out = tmp_path / "mine", tmp_path / "demo"
    (mine / ".ssh").mkdir(parents=True)
    (mine / ".ssh" / "key").write_text("mine")
    claim(out, ["film.mp4", "film.mp4.index", "film.jsonl", "found.jsonl", "found.html"])
    (out / "film.mp4.index").mkdir()
    (out / "film.mp4.index" / "index.json").write_text('{"schema": "truemoment/index/1"}')
    path = out / name
    if path.is_file():
        path.rename(mine / "file")
    elif path.is_dir():
        shutil.rmtree(path)
    path.symlink_to(mine / "file" if (mine / "file").exists() else mine)
    before = {of: of.read_bytes() for of in mine.rglob("*") if of.is_file()}
    assert f"{path}: is a link, expected" in fails(2, "demo", "--search", "--out", out, "--no-open")
    assert {of: of.read_bytes() for of in mine.rglob("*") if of.is_file()} == before


def test_what_was_put_into_the_index_of_a_demo_stays(fails, tmp_path, monkeypatch):
    video = Annotations.from_rows([("film#0", "film", 60.0, "a red circle", 2.0, 9.0)])
    monkeypatch.setattr("truemoment.cli.demo_search.render_video", lambda *_: video)
    claim(tmp_path, ["film.mp4", "film.mp4.index", "film.jsonl", "found.jsonl", "found.html"])
    (tmp_path / "film.mp4.index").mkdir()
    (tmp_path / "film.mp4.index" / "thesis.txt").write_text("mine")
    told = fails(2, "demo", "--search", "--minutes", "1", "--out", tmp_path, "--no-open")
    assert "film.mp4.index: exists already and is no index" in told
    assert (tmp_path / "film.mp4.index" / "thesis.txt").read_text() == "mine"
