"""truemoment search: from a sentence to moments, clips, pages, and predictions for evaluate."""

import csv
import io
import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from truemoment.cli import run
from truemoment.media.video import identity_of
from truemoment.searching import extraction
from truemoment.searching.index import Index
from truemoment.searching.layout import SETTINGS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_colours")]


@pytest.fixture(scope="module")
def indexed(painted, colours, tmp_path_factory):
    """An index of the three films where they were made."""
    folder = tmp_path_factory.mktemp("indexed") / "all.index"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("truemoment.media.video.encoders.load_encoder", colours.load_encoder)
        extraction._load.cache_clear()
        assert run(["index", str(painted), "-o", str(folder), "--model", "colours", "--quiet"]) == 0
    return folder


@pytest.fixture
def index(films, painted, indexed):
    """A copy of the index, for the films of this test, at ./all.index; films.jsonl says where red and green are."""
    shutil.copytree(indexed, "all.index")
    for about in Path("all.index").glob("videos/*/about.json"):
        text = about.read_text(encoding="utf-8")
        assert str(painted) in text
        about.write_text(text.replace(str(painted), str(films)), encoding="utf-8")
    rows = [("a", 40, "red", [20, 28]), ("c", 60, "red", [34, 42]), ("c", 60, "green", [42, 60])]
    Path("films.jsonl").write_text(
        "".join(
            json.dumps({"video_id": v, "duration_s": d, "sentence": s, "moments": [m]}) + "\n" for v, d, s, m in rows
        )
    )
    return Path("all.index")


def test_the_table(call, index):
    status, out, err = call("search", "green", index, "--top", "3")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["rank", "video", "from", "to", "score", "match"]
    assert len(lines) == 5
    assert len({len(line) for line in lines}) == 1  # columns stand below each other
    rank, video, start, end, score, match, unit = lines[2].split()
    assert (rank, video) in {("1", "b"), ("1", "c")}
    assert "0:00:00.0" <= start < end <= "0:01:00.0"
    assert 0.4 < float(score) < 0.9
    assert (0 <= float(match) <= 100, unit) == (True, "%")


def test_moments_go_to_other_programs(call, index):
    otio = pytest.importorskip("opentimelineio")
    found = {of["rank"]: of for of in json.loads(call("search", "green", index, "--json", "-")[1])["moments"]}
    status, _, err = call("search", "green", index, "-o", "found.otio", "--quiet")
    assert (status, err) == (0, "")
    timeline = otio.adapters.read_from_file("found.otio")
    for rank, clip in enumerate(timeline.tracks[0], start=1):
        own = clip.metadata["truemoment"]
        assert (own["video_id"], own["sentence"]) == (found[rank]["video_id"], "green")
        assert (own["score"], own["match"]) == (found[rank]["score"], found[rank]["match"])
        assert clip.source_range.start_time.to_seconds() == pytest.approx(own["start_s"])
        assert own["start_s"] <= found[rank]["start_s"] + 1e-6  # the frame that is shown then
    status, _, err = call("search", "green", index, "-o", "found.srt", "--quiet")
    assert (status, err.count("\n")) == (2, 1)
    assert "expected those of one: search one video" in err
    assert not Path("found.srt").exists()


def test_moments_that_are_shown_are_apart(call, index):
    def found(*options):
        out = call("search", "blue", index, "--top", "4", "--json", "-", *options)[1]
        return [(of["video_id"], of["start_s"], of["end_s"]) for of in json.loads(out)["moments"]]

    for options, apart_s in (((), 5.0), (("--apart", "0"), 0.0)):
        moments = found(*options)
        gaps = [max(s - f, t - e) for v, s, e in moments for w, t, f in moments if v == w and (s, e) < (t, f)]
        assert min(gaps, default=apart_s) >= apart_s


def test_moments_in_order_and_filters(call, fails, index):
    """Film c shows red from 34 s to 42 s, and then green; film a shows red, and no green."""
    status, out, err = call("search", "red", index, "--then", "green", "--gap", "3", "--top", "1", "--csv", "found.csv")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["rank", "video", "from", "then", "to", "score", "match"]
    assert lines[2].split()[:2] == ["1", "c"]
    assert "0:00:34.0" <= lines[2].split()[2] < lines[2].split()[3] <= "0:00:45.0"
    assert Path("found.csv").read_text(encoding="utf-8").splitlines()[1].startswith('1,"red, then green",c,')
    document = json.loads(call("search", "red", index, "--then", "green", "--gap", "3", "--json", "-")[1])
    assert (document["query"], document["then"], document["n_searched"]) == ("red", ["green"], 3)
    for found in document["moments"]:
        first, second = found["parts"]
        assert 0 <= second["start_s"] - first["end_s"] <= 3
        assert found["score"] == pytest.approx((first["score"] + second["score"]) / 2)
    status, out, err = call("search", "red", index, "--file", "[AC].MP4", "--length", "..40", "--first")
    assert (status, err) == (0, "note: 1 of 3 videos are searched\n")
    assert [line.split()[1] for line in out.splitlines()[2:]] == ["a"]
    status, out, err = call("search", "red", index, "--every", "--avoid", "red", "--quiet", "--json", "-")
    assert (status, json.loads(out)["moments"], json.loads(out)["nothing_stands_out"]) == (0, [], True)
    for words, problem in (
        (["--then", " "], "--then: got an empty sentence"),
        (["--date", "2024-13"], "--date: got '2024-13', expected"),
        (["--file", "x"], "--file x: no video of 3 fits"),
        (["--then", "green", "--engine", "ray", "--workers", "1", "--exact", "--fold", "2"], "--fold: got 2"),
    ):
        assert problem in fails(2, "search", "red", index, *words)


def test_a_video_is_indexed_once(call, films, monkeypatch):
    status, out, err = call("search", "red", films / "a.mp4", "--model", "colours")
    assert status == 0
    assert err == f"note: indexing {films / 'a.mp4'} once, into {films / 'a.mp4.index'}\n"
    assert out.splitlines()[2].split()[1] == "a"
    monkeypatch.setattr(extraction, "embed", None)  # nobody may look at a frame again
    again = call("search", "red", films / "a.mp4")
    assert again == (0, out, "")


def test_a_video_that_was_changed_is_indexed_anew(call, films, paint):
    call("search", "red", films / "a.mp4", "--model", "colours", "--index", "here.index")
    paint(films / "a.mp4", [((30, 200, 30), 20), ((200, 30, 30), 10)])
    status, out, err = call("search", "red", films / "a.mp4", "--index", "here.index", "--top", "1")
    assert status == 0
    assert "once, into here.index" in err
    assert out.splitlines()[2].split()[2] >= "0:00:20.0"
    assert list(Index("here.index")) == ["a"]


def test_clips_pictures_csv_json_and_page(call, index, films):
    options = ["--clips", "clips", "--thumbnails", "pictures", "--csv", "found.csv", "--json", "found.json"]
    status, out, err = call("search", "red", index, "--top", "2", *options, "--html", "found.html")
    assert (status, err) == (0, "")
    assert out.splitlines()[-3:] == ["page: found.html", "clips: clips", "pictures: pictures"]
    document = json.loads(Path("found.json").read_text())
    assert document["schema"] == "truemoment/search/1"
    assert (document["query"], document["n_videos"], document["n_scored"]) == ("red", 3, 3)
    moments = document["moments"]
    assert [of["rank"] for of in moments] == [1, 2]
    rows = list(csv.DictReader(Path("found.csv").read_text(encoding="utf-8").splitlines()))
    for row, of in zip(rows, moments, strict=True):
        assert (float(row["start_s"]), float(row["end_s"]), row["query"]) == (of["start_s"], of["end_s"], "red")
        assert (float(row["score"]), float(row["match"])) == (of["score"], of["match"])
        assert row["path"] == of["path"] == str(films / f"{of['video_id']}.mp4")
        assert Path(of["thumbnail"]).read_bytes()[:2] == b"\xff\xd8"
        assert _seconds_of(Path(of["clip"])) == pytest.approx(of["end_s"] - of["start_s"], abs=0.21)
    page = Path("found.html").read_text()
    assert page.count("data:image/jpeg;base64,") == 2
    spaces = re.compile(r"http://www\.w3\.org/(?:2000/svg|1999/xhtml)")  # names, which no browser opens
    assert "http:" not in spaces.sub("", page).replace("http-equiv", "")
    assert "https:" not in page


@pytest.mark.parametrize("option", ["--clips", "--thumbnails"])
def test_pictures_and_clips_are_not_written_through_links(call, fails, index, tmp_path, option):
    """Names that we choose, in a folder that may come from somebody else."""
    assert call("search", "red", index, "--top", "1", option, "made")[0] == 0
    made = next(Path("made").iterdir())
    made.unlink()
    Path("mine").write_text("mine")
    made.symlink_to(tmp_path / "mine")
    told = fails(2, "search", "red", index, "--top", "1", option, "made")
    assert told.startswith(f"{made}: is a link, expected")
    assert Path("mine").read_text() == "mine"


def _seconds_of(path):
    from truemoment.media.video.frames import duration_of

    return duration_of(path)


@pytest.mark.slow
def test_names_from_outside_are_text_on_the_page(call, films):
    (films / "a.mp4").rename(films / "<script>alert(1)<script>.mp4")
    call("index", films, "-o", "all.index", "--model", "colours", "--quiet")
    status, _, _ = call("search", "red <b>", "all.index", "--html", "found.html")
    assert status == 0
    page = Path("found.html").read_text()
    assert page.count("<script") == 1  # the page's own
    assert "<script>alert" not in page
    assert "red &lt;b&gt;" in page


def test_csv_alone_on_standard_output(call, index):
    status, out, err = call("search", "blue", index, "--csv", "-", "--top", "2", "--html", "page.html")
    assert (status, err) == (0, "")
    assert not Path("-").exists()
    assert [row["rank"] for row in csv.DictReader(out.splitlines())] == ["1", "2"]
    assert call("search", "blue", index, "--csv", "found.csv", "--top", "2", "--quiet")[0] == 0
    assert Path("found.csv").read_text(encoding="utf-8") == out


def test_a_spreadsheet_computes_no_name_and_no_sentence(call, films):
    (films / "a.mp4").rename(films / "=1+1.mp4")
    call("index", films / "=1+1.mp4", "-o", "all.index", "--model", "colours", "--quiet")
    for query, shown in (
        ("=red", "'=red"),
        ("+1 red", "'+1 red"),
        ("@red", "'@red"),
        ("\tred", "'\tred"),
        ("r=", "r="),
    ):
        row = next(csv.DictReader(call("search", query, "all.index", "--csv", "-")[1].splitlines()))
        assert (row["query"], row["video_id"]) == (shown, "'=1+1")
        assert row["path"] == str(films / "=1+1.mp4")
        assert float(row["start_s"]) >= 0


def test_latex_shows_the_name_of_a_film_as_it_is(call, films):
    (films / "a.mp4").rename(films / r"my_film 5% a&b #1\x.mp4")
    call("index", films / r"my_film 5% a&b #1\x.mp4", "-o", "all.index", "--model", "colours", "--quiet")
    out = call("search", "red", "all.index", "--top", "1", "--table", "latex")[1]
    assert r"& my\_film 5\% a\&b \#1\textbackslash{}x &" in out


@pytest.mark.parametrize("name", ["holiday-" * 25, "電影" * 40])
def test_a_long_name_leaves_the_table_in_the_terminal(call, films, name):
    def columns(line):
        return sum(2 if "\u2e80" < c < "\uffff" else 1 for c in line)

    (films / "a.mp4").rename(films / f"{name}.mp4")
    call("index", films / f"{name}.mp4", "-o", "all.index", "--model", "colours", "--quiet")
    lines = call("search", "red", "all.index")[1].splitlines()
    assert max(map(columns, lines)) <= 100
    assert name[:4] in lines[2]
    assert name[-4:] in lines[2]
    assert "…" in lines[2]
    assert name in call("search", "red", "all.index", "--csv", "-")[1]
    assert name in call("search", "red", "all.index", "--json", "-")[1]
    assert name in call("search", "red", "all.index", "--table", "md")[1]


def test_clips_of_films_with_long_names(call, films):
    name = "電" * 82
    (films / "a.mp4").rename(films / f"{name}.mp4")
    call("index", films / f"{name}.mp4", "-o", "all.index", "--model", "colours", "--quiet")
    status, _, err = call("search", "red", "all.index", "--top", "3", "--clips", "found", "--thumbnails", "found")
    assert (status, err) == (0, "")
    written = sorted(path.name for path in Path("found").iterdir())
    assert len(written) == 6  # a clip and a picture of each
    assert all(of[3:].startswith("電" * 26 + "-") for of in written)  # 26 of 3 bytes are the most in 80
    assert {of[:2] for of in written} == {"01", "02", "03"}


def test_clips_of_a_film_that_is_gone_leave_no_folder(call, fails, index, films, monkeypatch):
    from truemoment.base.errors import InputError
    from truemoment.searching import pictures

    def breaks(*_, **__):
        raise InputError("cannot be written (No space left on device)")

    with monkeypatch.context() as changed:
        changed.setattr(pictures, "cut_clip", breaks)
        fails(2, "search", "red", index, "--clips", "clips")
    assert not Path("clips").exists()
    for film in films.iterdir():
        film.unlink()
    Path("mine").mkdir()
    for options in (["--clips", "clips"], ["--thumbnails", "clips"], ["--clips", "mine"]):
        status, _, err = call("search", "red", index, *options)
        assert status == 1
        assert "no such file; pictures need the video" in err
    assert not Path("clips").exists()
    assert Path("mine").is_dir()


def test_clips_among_the_films_are_told(call, index, films):
    _, _, err = call("search", "red", index, "--top", "1", "--clips", films / "clips")
    assert err.startswith(f"note: {films / 'clips'} is in the folder of the videos of all.index")
    assert call("search", "red", index, "--top", "1", "--clips", "clips")[2] == ""
    shutil.rmtree(films / "clips")
    for film in ("b.mp4", "c.mp4"):
        (films / film).unlink()
    for out, is_told in ((f"{films}.index", True), (f"{films / 'a.mp4'}.index", False)):  # of the folder, of the film
        assert call("index", Path(out).with_suffix(""), "--model", "colours", "--quiet")[0] == 0
        _, _, err = call("search", "red", out, "--top", "1", "--clips", films / "others")
        assert ("is in the folder of the videos" in err) == is_told
        shutil.rmtree(films / "others")


def test_a_first_look_is_told(call, index):
    status, out, err = call("search", "red", index, "--candidates", "2")
    assert status == 0
    assert err == "note: the first stage selected 2 of 3 videos to score; --exact scores all\n"
    assert call("search", "red", index, "--exact") == (0, out, "")


def test_pictures_of_a_film_that_is_gone(call, index, films):
    (films / "a.mp4").unlink()
    assert call("search", "red", index)[0] == 0
    table = call("search", "red", index, "--top", "2")[1]
    status, out, err = call("search", "red", index, "--top", "2", "--html", "found.html", "--clips", "clips")
    assert status == 1
    told = f"no such file; pictures need the video, {index} has only its embeddings"
    assert err == f"no pictures or clips: {films / 'a.mp4'}: {told}\n"
    assert out.startswith(table)
    assert [clip.name for clip in Path("clips").iterdir()] == ["02-c-0h00m34.0s.mp4"]
    assert Path("found.html").read_text().count("<img") == 1


def test_pictures_of_a_film_that_cannot_be_decoded_any_more(call, index, films):
    # As an index that was made on a machine whose libraries know more codecs.
    data = (films / "a.mp4").read_bytes()
    (films / "a.mp4").write_bytes(data.replace(b"avc1", b"XYZ1"))
    (about,) = index.glob("videos/a-*/about.json")
    known = json.loads(about.read_text())
    about.write_text(json.dumps(known | {"identity": identity_of(films / "a.mp4")}))
    told = "has pictures of an unknown codec, expected one that FFmpeg decodes"
    for options in (["--html", "found.html"], ["--thumbnails", "pictures"], ["--clips", "clips"]):
        status, out, err = call("search", "red", index, "--top", "2", *options)
        assert status == 1
        assert err == f"no pictures or clips: {films / 'a.mp4'}: {told}\n"
        assert len(out.splitlines()) == 5  # a table of two, and where the others are
    assert Path("found.html").read_text().count("<img") == 1
    assert [file.name for file in (*Path("pictures").iterdir(), *Path("clips").iterdir())] == [
        "02-c-0h00m34.0s.jpg",
        "02-c-0h00m34.0s.mp4",
    ]


def test_every_query_of_a_split_for_evaluate(call, index):
    status, out, err = call("search", "split", index, "--annotations", "films.jsonl", "-o", "preds.jsonl", "--top", "5")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "method       zero-shot colours",
        "predictions  3 queries of films.jsonl/all answered in preds.jsonl, up to 5 moments each",
        "measure them:",
        "  truemoment evaluate preds.jsonl --annotations films.jsonl",
    ]
    status, out, _ = call("evaluate", "preds.jsonl", "--annotations", "films.jsonl", "--json", "-", "--quiet")
    measures = {of["measure"]: of["value"] for of in json.loads(out)["measures"]}
    assert status == 0
    assert measures["R@1,IoU=0.5"] == 1.0


def test_feature_files_with_sentences(call, index, tmp_path):
    """The rows of the index, written as a folder of arrays, give the same answers as the index."""
    from truemoment.media.features.sentences import write_sentences

    scheme = Index(index).settings.proposals
    words = ["--annotations", "films.jsonl", "--proposals", scheme, "--top", "5"]
    assert call("search", "split", index, *words, "-o", "of_index.jsonl", "--quiet") == (0, "", "")
    (tmp_path / "rows").mkdir()
    for name in ("a", "b", "c"):
        np.save(tmp_path / "rows" / f"{name}.npy", Index(index)[name])
    vectors = np.array([(1, 0, 0), (1, 0, 0), (0, 1, 0)], dtype=np.float32)
    write_sentences(tmp_path / "words.npz", ["a#0", "c#0", "c#1"], vectors)
    status, out, _ = call(
        "search", "split", "rows", *words, "--sentences", "words.npz", "-o", "preds.jsonl", "--json", "-"
    )
    assert status == 0
    made_by = json.loads(out)["made_by"]
    assert made_by["features"].startswith("folder:rows#")
    assert (made_by["proposals"], made_by["top"]) == (scheme, 5)
    mine, other = (Path(f).read_text().splitlines()[1:] for f in ("preds.jsonl", "of_index.jsonl"))
    assert mine == other


SPLIT = ["split", "all.index", "--annotations", "films.jsonl"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "got 0 arguments, expected a sentence and a video or index; for example truemoment search"),
        (
            ["a", "man", "opens", "all.index"],
            "got 4 arguments, expected a sentence and a video or index; put the sentence in",
        ),
        (["all.index", "a man"], "the sentence comes first: truemoment search 'a man' all.index"),
        ([" ", "all.index"], "got an empty sentence"),
        (["red", "nothing.mp4"], "nothing.mp4: no such video or index"),
        (["red", "all.index", "--image", "films.jsonl"], "got 2 arguments with --image, expected a video or index"),
        (["all.index", "--image", "nothing.png"], "nothing.png: no such file"),
        (["all.index", "--image", "nothing.png", "--first"], "--image: goes without --then, --every, --first, --av"),
        (["red", "all.index", "--said", "--then", "blue"], "--said: goes without --then, --every, --first, --avoid"),
        (["all.index", "--image", "nothing.png", "--said"], "got --image and --said, expected one of them: a picture"),
        (["red", "films"], "films: is no index; index videos in it first: truemoment index films -o films.index"),
        (["red", "all.index", "--fps", "5"], "--fps: all.index was made with 2, got 5"),
        (["red", "all.index", "--partial"], "all.index is an index, expected --index and --partial with a video"),
        ([*SPLIT, "--nms", "2", "-o", "x.jsonl"], "--nms: got 2, expected an IoU from 0 to 1"),
        (["red", "all.index", "--nms", "0.5"], "No such option '--nms'"),
        (["red", "all.index", "--apart", "-1"], "--apart: got -1, expected seconds, 0 to 1,000,000"),
        (["red", "all.index", "--exact", "--candidates", "3"], "got --exact and --candidates, expected one of them"),
        (["red", "all.index", "-o", "x.jsonl"], "-o: got x.jsonl, expected a name that ends in .otio, .edl"),
        (["red", "all.index", "--csv", "no/x.csv"], "no/x.csv: cannot be written, no is no folder"),
        (["red", "all.index", "--apart", "2e6"], "--apart: got 2e+06, expected seconds, 0 to 1,000,000"),
        (["red", "all.index", "--fps", "0"], "--fps: got 0, expected 0.01 to 120 frames a second"),
        (["red", "all.index", "--clips", "no/x"], "no/x: cannot be written, no is no folder"),
        (["red", "all.index", "--clips", "films.jsonl"], "--clips films.jsonl: is a file, expected a folder"),
        (["red", "all.index", "--thumbnails", "-"], "--thumbnails -: expected a folder"),
        (["red", "all.index", "--html", "-"], "--html: expected the name of a file"),
        (["red", "all.index", "--csv", "-", "--json", "-"], "--json and --csv: both to standard output"),
        (["\udcff red", "all.index"], "got the sentence '\\xff red', expected text in UTF-8"),
        (
            ["split", "red", "all.index", "--annotations", "films.jsonl", "-o", "x"],
            "Got unexpected extra argument (all.index)",
        ),
        (SPLIT, "Missing option '-o' / '--out'"),
        ([*SPLIT, "-o", "x.csv"], "-o: got x.csv, expected a name that ends"),
        ([*SPLIT, "-o", "films.jsonl"], "films.jsonl: is read or written al"),
        (
            ["split", "films.jsonl", "--annotations", "films.jsonl", "-o", "x.jsonl"],
            "films.jsonl: contains frames, and no",
        ),
        ([*SPLIT, "--html", "x", "-o", "x.jsonl"], "No such option '--html'"),
        (
            ["split", "films/a.mp4", "--annotations", "films.jsonl", "-o", "x.jsonl"],
            "films/a.mp4.index: 1 of 2 videos have no",
        ),
        (
            ["split", "no.index", "--annotations", "films.jsonl", "-o", "x.jsonl"],
            "no.index: no such index, video or features",
        ),
        (
            ["split", "films", "--annotations", "films.jsonl", "-o", "x.jsonl"],
            "films: is no index (truemoment index makes one)",
        ),
    ],
)
@pytest.mark.usefixtures("in_colours", "index")
def test_mistakes_are_one_line(fails, words, told):
    of_video = ["--quiet", "--model", "colours"] if "films/a.mp4" in words else []
    assert fails(2, "search", *words, *of_video).startswith(told)


@pytest.mark.parametrize("word", ["split", "page"])
def test_a_word_that_is_a_command_is_searched_after_two_dashes(call, fails, index, word):
    assert fails(2, "search", word, "nothing.index").startswith(
        "nothing.index: no such" if word == "page" else "Missing"
    )
    status, out, _ = call("search", "--top", "1", "--json", "-", "--", word, index)
    assert (status, json.loads(out)["query"]) == (0, word)
    Path(word).mkdir()
    assert call("search", word, "--help")[0] == 0  # a folder of that name changes nothing


def test_another_model_than_the_indexs_is_refused(fails, index):
    settings = json.loads((index / SETTINGS).read_text())
    (index / SETTINGS).write_text(json.dumps(settings | {"fingerprint": "0123456789abcdef"}))
    told = fails(2, "search", "red", index)
    assert told.startswith("all.index: was made with colours#01234567, and colours#c01075c0 is another model")


def test_a_sentence_that_is_cut_short_is_told(call, index, colours, monkeypatch):
    monkeypatch.setattr(colours.Colours, "cut_short", lambda _, texts: [0] * (len(texts[0]) > 20), raising=False)
    _, _, err = call("search", "red " * 10, index)
    assert err == "note: the sentence is longer than colours reads: only the start counts\n"


@pytest.fixture
def frames():
    """Frame vectors of a film of a minute in the authors' form, at ./frames.h5, and of two sentences of it."""
    h5py = pytest.importorskip("h5py")
    rng = np.random.default_rng(0)
    with h5py.File("frames.h5", "w") as file:
        file["film"] = rng.normal(size=(300, 8)).astype(np.float32)
    with h5py.File("sentences.h5", "w") as file:
        for query_id in ("film#0", "film#1"):
            file[query_id] = rng.normal(size=8).astype(np.float32)
    return Path("frames.h5")


def _ask_of(frames, call, *, duration_s, fps):
    rows = [{"video_id": "film", "duration_s": duration_s, "sentence": s, "moments": [[1, 5]]} for s in ("one", "two")]
    Path("film.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["--sentences", "sentences.h5", "--annotations", "film.jsonl", "-o", "out.jsonl", "--fps", fps]
    return call("search", "split", frames, *words, "--proposals", f"windowed-grid:window=16,stride=8,clips=8,fps={fps}")


def test_features_in_the_authors_form(frames, call):
    status, _, err = _ask_of(frames, call, duration_s=60.2, fps=5)
    assert (status, err) == (0, "")
    assert call("evaluate", "out.jsonl", "--annotations", "film.jsonl", "--quiet", "--json", "-")[0] == 0


def test_rows_that_end_far_before_the_film_are_refused(frames, call):
    status, _, err = _ask_of(frames, call, duration_s=600.0, fps=5)
    assert status == 2
    assert "rows end elsewhere than the video, in 1 of 1 videos: 'film' has rows up to 60 s, it lasts 600 s" in err
    assert "are there 5 rows a second? see --fps" in err
    assert not Path("out.jsonl").exists()


def test_an_index_that_ends_far_before_the_film_is_told(call, index):
    text = Path("films.jsonl").read_text().replace('"duration_s": 60', '"duration_s": 90')
    Path("films.jsonl").write_text(text)
    status, _, err = call("search", "split", index, "--annotations", "films.jsonl", "-o", "preds.jsonl")
    assert status == 0
    assert err == (
        "note: rows end elsewhere than the video, in 1 of 2 videos: 'c' has rows up to 60 s, it lasts 90 s; "
        "no moment after the last row is found\n"
    )


def test_rows_that_go_on_behind_the_end_of_the_film_are_told(call, index):
    text = Path("films.jsonl").read_text().replace('"duration_s": 60', '"duration_s": 50')
    Path("films.jsonl").write_text(text.replace("[42, 60]", "[42, 50]").replace('"duration_s": 40', '"duration_s": 45'))
    status, _, err = call("search", "split", index, "--annotations", "films.jsonl", "-o", "preds.jsonl")
    assert status == 0
    told = "note: rows end elsewhere than the video, in 1 of 2 videos: "
    assert err.splitlines() == [
        f"{told}'a' has rows up to 40 s, it lasts 45 s; no moment after the last row is found",
        f"{told}'c' has rows up to 60 s, it lasts 50 s; moments after its end may be found",
    ]


def test_videos_that_an_index_lacks_are_counted(fails, index):
    rows = [{"video_id": v, "duration_s": 40, "sentence": "red", "moments": [[1, 5]]} for v in ("a", "x", "y", "y")]
    Path("films.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = fails(2, "search", "split", index, "--annotations", "films.jsonl", "-o", "preds.jsonl")
    assert told.startswith("all.index: 2 of 3 videos have no frame vectors: 'x', 'y'")
    assert not Path("preds.jsonl").exists()


def test_the_command_that_is_told_knows_the_folder_of_datasets(frames, call):
    Path("some data/mad").mkdir(parents=True)
    entry = {"movie": "film", "sentence": "one", "ext_timestamps": [1, 5], "movie_duration": 60.0, "timestamps": [1, 5]}
    Path("some data/mad/MAD_test.json").write_text(json.dumps({"film#0": entry}))
    words = ["--dataset", "mad", "--split", "test", "--data-dir", "some data"]
    proposals = ["--proposals", "windowed-grid:window=16,stride=8,clips=8"]
    status, out, err = call(
        "search", "split", frames, "--sentences", "sentences.h5", *words, *proposals, "-o", "out.jsonl"
    )
    assert (status, err) == (0, "")
    told = shlex.split(out.splitlines()[-1])
    assert told[3:9] == words
    assert call(*told[1:], "--quiet")[0] == 0


@pytest.fixture
def typed(monkeypatch):
    """Put text on standard input."""

    def put(text, *, terminal=False):
        stream = io.TextIOWrapper(io.BytesIO(text))
        monkeypatch.setattr(stream, "isatty", lambda: terminal)
        monkeypatch.setattr("sys.stdin", stream)

    return put


def test_a_sentence_a_line_from_standard_input(call, index, typed):
    tables = [call("search", sentence, index, "--top", "2")[1] for sentence in ("red", "green or blue")]
    typed(b"red\n\n  green or blue\n")
    status, out, err = call("search", "-", index, "--top", "2")
    assert (status, err) == (0, "")
    assert out == f"\nred\n{tables[0]}\ngreen or blue\n{tables[1]}"


def test_moments_of_several_sentences_are_on_one_timeline(call, index, typed):
    otio = pytest.importorskip("opentimelineio")
    found = [json.loads(call("search", words, index, "--top", "2", "--json", "-")[1]) for words in ("red", "green")]
    typed(b"red\ngreen\n")
    status, out, err = call("search", "-", index, "--top", "2", "-o", "shelf.otio")
    assert (status, out.splitlines()[-1], err) == (0, "moments: shelf.otio", "")
    clips = list(otio.adapters.read_from_file("shelf.otio").tracks[0])
    own = [clip.metadata["truemoment"] for clip in clips]
    assert [(of["sentence"], of["video_id"], of["match"]) for of in own] == [
        (document["query"], of["video_id"], of["match"]) for document in found for of in document["moments"]
    ]
    reels = {of["video_id"]: clip.metadata["cmx_3600"]["reel"] for of, clip in zip(own, clips, strict=True)}
    assert len(set(reels.values())) == len(reels) > 1  # a reel a video, also if several sentences found it
    typed(b"red\ngreen\n")
    status, _, err = call("search", "-", index, "-o", "shelf.srt", "--quiet")
    assert (status, "expected those of one" in err, Path("shelf.srt").exists()) == (2, True, False)


@pytest.fixture
def red_picture():
    """A picture of the red of the films, at ./red.png."""
    images = pytest.importorskip("PIL.Image")
    images.new("RGB", (64, 48), (200, 30, 30)).save("red.png")
    return "red.png"


def test_moments_like_a_picture(call, index, red_picture):
    import truemoment as tm

    status, out, err = call("search", index, "--image", red_picture, "--top", "2", "--json", "-")
    document = json.loads(out)
    assert (status, document["query"], document["image"]) == (0, "like red.png", "red.png")
    found = {(of["video_id"], of["end_s"], of["match"]) for of in document["moments"]}
    assert found == {
        ("a", 28.0, None),
        ("c", 42.0, None),
    }  # red, and a little grey before it
    assert "note: no match: a picture is compared with frames of 5 videos or more" in err
    by_function = tm.search(None, index, image=red_picture, top=2)
    assert json.loads(json.dumps(by_function.document(), default=str)) == document
    assert call("search", index, "--image", red_picture, "--clips", "clips", "--csv", "-", "--quiet")[0] == 0
    assert len(list(Path("clips").iterdir())) == 5


def test_a_picture_is_read_before_a_video_is_indexed(fails, films):
    Path("red.png").write_bytes(b"no picture")
    told = "red.png: is no picture that can be read, expected PNG, JPEG, WebP, GIF or BMP"
    assert fails(2, "search", films / "a.mp4", "--image", "red.png") == told
    assert not (films / "a.mp4.index").exists()


def test_a_frame_has_the_vector_of_its_row(index, films, colours):
    from truemoment.media.video.frames import stream_frames
    from truemoment.searching.query_picture import QueryPicture

    times = dict(stream_frames(films / "a.mp4", 2.0))
    vector = QueryPicture(Path("frame.png"), times[24.0]).embed(colours.Colours())
    assert np.allclose(vector, Index(index).rows("a")[48], atol=1e-3)  # rows are float16


def test_the_first_look_is_made_once_for_all_lines(call, index, typed, monkeypatch):
    from truemoment.searching import first_stage

    table = call("search", "red", index, "--top", "2", "--candidates", "2")[1]
    made = []

    class Counted(first_stage.FirstStage):
        def __init__(self, *given):
            made.append(given)
            super().__init__(*given)

    monkeypatch.setattr(first_stage, "FirstStage", Counted)
    typed(b"red\nred\n")
    assert call("search", "-", index, "--top", "2", "--candidates", "2")[1] == 2 * f"\nred\n{table}"
    assert len(made) == 1
    typed(b"red\n")
    assert call("search", "-", index, "--exact")[0] == 0
    assert len(made) == 1


def test_whoever_types_is_asked(call, index, typed):
    typed(b"red\n", terminal=True)
    assert call("search", "-", index, "--top", "2")[2] == "\nsentence> \nsentence> "
    typed(b"red\n", terminal=True)
    assert call("search", "-", index, "--top", "2", "--quiet")[2] == ""


def test_lines_that_are_no_text_and_options_that_do_not_go_with_lines(call, fails, index, typed):
    typed(b"red\n\xff\n")
    status, out, err = call("search", "-", index, "--top", "1")
    assert (status, err) == (2, "truemoment: standard input:2: expected text in UTF-8\n")
    assert out.startswith("\nred\n")
    told = "sentences of standard input are answered with tables and -o: no --json, --csv, --html or pictures"
    assert fails(2, "search", "-", index, "--csv", "x.csv") == told
    typed(b"")
    assert call("search", "-", index) == (0, "", "")


SWEEP = ("--sentences", "sentences.h5", "--annotations", "film.jsonl", "--fps", "5")
SCHEME = ("--proposals", "windowed-grid:window=16,stride=8,clips=8,fps=5,tail=covered")


def test_a_sweep_ends_with_what_a_search_of_whole_films_scores(frames, call):
    assert _ask_of(frames, call, duration_s=60.0, fps=5)[0] == 0  # writes film.jsonl
    assert call("search", "split", frames, *SWEEP, *SCHEME, "-o", "whole.jsonl", "--quiet")[0] == 0
    measures = ("--measures", "R@1,IoU=0.1; R@100,IoU=0.5")
    words = ("--lengths", "20,inf", *measures, "--figures", "figures", "--html", "sweep.html")
    status, out, err = call("search", "sweep", frames, *SWEEP, *SCHEME, *words, "--json", "-", "--quiet")
    assert (status, err) == (0, "")
    document = json.loads(out)
    part, whole = document["lengths"]
    assert [(of["length_s"], of["n_chunks"], of["n_cut"]) for of in (part, whole)] == [(20.0, 3, 0), (None, 1, 0)]
    protocol = ("--protocol", "mad-clip,nms_threshold=none")
    _, out, _ = call(
        "evaluate", "whole.jsonl", "--annotations", "film.jsonl", *protocol, *measures, "--json", "-", "--quiet"
    )
    expected = [(of["measure"], of["value"]) for of in json.loads(out)["measures"]]
    assert [(of["measure"], of["value"]) for of in whole["measures"]] == expected
    assert whole["measures"][0]["ci95"] is None  # one film
    files = {path.name for path in Path("figures").iterdir()}
    assert files == {f"length-sweep.{end}" for end in ("png", "svg", "pdf", "csv")}
    assert "<svg" in Path("sweep.html").read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-o", "x.jsonl"), "No such option '-o'"),
        (("--top", "3"), "No such option '--top'"),
        (("--lengths", "60,30"), "--lengths: expected lengths in rising order"),
        (("--lengths", "a"), "--lengths: got 'a', expected seconds above 0, or inf"),
        (("--figures", "frames.h5"), "--figures frames.h5: is a file, expected a folder"),
    ],
)
def test_options_of_a_sweep_that_do_not_fit_are_refused(frames, fails, words, told):
    assert told in fails(2, "search", "sweep", frames, *SWEEP, *words)
