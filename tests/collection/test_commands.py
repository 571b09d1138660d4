"""truemoment collect: what the commands print and write, and what is refused."""

import json
import shutil

import pytest

from truemoment.collection.layout import films_in


def test_run_again_reports_what_is_there(collected, described, tmp_path, call):
    out = shutil.copytree(collected, tmp_path / "out")
    words = ("collect", "run", described.film, "--described", described.track, "--subtitles", described.subtitles)
    status, printed, err = call(*words, "--speech", "tones", "-o", out, "--json", tmp_path / "run.json")
    assert status == 0
    n_kept = films_in(out)[0].report.n_kept
    assert f"1 film, {n_kept} sentences kept" in " ".join(printed.split())
    assert "done before" in printed
    assert "truemoment bias --annotations" in printed + err
    document = json.loads((tmp_path / "run.json").read_text())
    assert document["schema"] == "truemoment/collection-run/1"
    assert document["films"][0]["n_kept"] == n_kept
    assert document["engine"]["name"] == "tones"

    status, _, err = call(*words, "--speech", "tones", "-o", out, "--at-least-films", "2", "--quiet")
    assert (status, err) == (1, "1 films give sentences, expected at least 2\n")


@pytest.mark.usefixtures("aligned")
def test_a_transcript_in_place_of_a_recogniser(described, tmp_path, call):
    """Words of the truth, as another program would write them, in the time of the track."""
    delay_s = described.pieces[0].delay_s
    words = [
        {"word": word.text, "start": word.start_s - delay_s, "end": word.end_s - delay_s, "conf": 0.9}
        for line in described.lines
        for word in line.words
    ]
    (tmp_path / "heard.json").write_text(json.dumps({"result": words}))
    run = ("collect", "run", described.film, "--described", described.track, "--subtitles", described.subtitles)
    status, _, _ = call(*run, "--speech", f"transcript:{tmp_path / 'heard.json'}", "-o", tmp_path / "out", "--quiet")
    assert status == 0
    (film,) = films_in(tmp_path / "out")
    kept = [of for of in film.sentences() if of.kept]
    true = {line.text.lower(): line for line in described.descriptions}
    assert {of.sentence.lower() for of in kept} == set(true)
    for of in kept:
        line = true[of.sentence.lower()]
        assert of.word_s == (pytest.approx(line.start_s, abs=0.02), pytest.approx(line.end_s, abs=0.02))


def test_statistics_stand_beside_the_published_ones(collected, call):
    status, printed, _ = call("collect", "statistics", collected)
    assert status == 0
    assert "384,600" in printed  # queries of MAD, Table 1
    document = json.loads(call("collect", "statistics", collected, "--json", "-", "--quiet")[1])
    assert document["parts"]["all"]["queries"] == {"value": films_in(collected)[0].report.n_kept, "published": 384600.0}


def test_card_and_export(collected, tmp_path, call):
    out = shutil.copytree(collected, tmp_path / "out")
    (out / "card.md").unlink()
    status, printed, _ = call("collect", "card", out)
    assert status == 0
    assert printed == (collected / "card.md").read_text()
    assert (out / "card.md").read_text() == printed
    status, printed, _ = call("collect", "export", out, "-o", tmp_path / "shared", "--without", "sentences")
    assert status == 0
    assert sorted(path.name for path in (tmp_path / "shared").iterdir()) == [
        "card.json",
        "card.md",
        "discarded.json",
        "times.jsonl",
    ]
    sentences = [of.sentence for of in films_in(out)[0].sentences()]
    shared = "".join(path.read_text() for path in (tmp_path / "shared").iterdir())
    assert not any(sentence in shared for sentence in sentences)
    assert call("collect", "export", out, "-o", tmp_path / "all")[0] == 0
    assert (tmp_path / "all" / "annotations.jsonl").read_bytes() == (out / "annotations.jsonl").read_bytes()


@pytest.mark.parametrize("damaged", ["about.json", "sentences.jsonl", "report.json", "review.json", "splits.jsonl"])
def test_a_damaged_file_changes_nothing(collected, tmp_path, call, damaged):
    """The results of a collection are written after all that they are made of was read."""
    out = shutil.copytree(collected, tmp_path / "out")
    folder = films_in(out)[0].folder.path
    (out / damaged if damaged in {"review.json", "splits.jsonl"} else folder / damaged).write_text("{")
    for name in ("annotations.jsonl", "card.json", "mad/MAD_train.json"):
        (out / name).write_text("of an earlier time")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    status, _, err = call("collect", "card", out)
    assert status == 2
    assert damaged in err
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_everything_downstream_reads_what_was_collected(collected, tmp_path, call):
    annotations = collected / "annotations.jsonl"
    assert call("bias", "--annotations", annotations, "--permutations", "20", "--draws", "20", "--quiet")[0] == 0
    assert call("datasets", "check", annotations)[0] == 0
    found = tmp_path / "found.jsonl"
    assert call("baseline", "random-chance", "--annotations", annotations, "-o", found, "--quiet")[0] == 0
    draws = ("--resamples", "200", "--permutations", "20", "--no-cache", "--quiet")
    assert call("audit", found, "--annotations", annotations, *draws)[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "-o", "OUT", "--speech", "tones"), "which film? give FILM --described TRACK, or --list FILE"),
        (("run", "FILM", "--described", "TRACK", "-o", "OUT"), "what hears the words? give --speech whisper:FOLDER"),
        (("run", "FILM", "--described", "TRACK", "-o", "OUT", "--speech", "ears"), "--speech: got 'ears', expected"),
        (("run", "FILM", "--described", "TRACK", "-o", "OUT", "--speech", "whisper:OUT"), "no such folder"),
        (("run", "FILM", "--list", "FILM", "-o", "OUT", "--speech", "tones"), "got a film and --list"),
        (("run", "FILM", "--described", "none", "-o", "OUT", "--speech", "tones"), "none: no such file"),
        (
            ("run", "FILM", "--described", "TRACK", "-o", "OUT", "--speech", "tones", "--cast", "EMPTY"),
            "has no names, expected a name a line",
        ),
        (
            ("run", "FILM", "--described", "TRACK", "-o", "OUT", "--speech", "tones", "--pause-s", "-1"),
            "--pause-s: got -1, expected",
        ),
        (
            ("run", "FILM", "--described", "TRACK", "-o", "OUT", "--speech", "tones", "--rates", "x"),
            "got the rate 'x', expected a number or a quotient",
        ),
        (
            ("run", "FILM", "--described", "TRACK", "-o", "FOLDER", "--speech", "tones"),
            "contains film.mp4 and is no collection; give a new or empty folder: -o OUT",
        ),
        (("splits", "COLLECTION"), "1 films in 1 groups cannot be split into train, val, test"),
        (("splits", "COLLECTION", "--splits", "1,2,3"), "--splits: got '1,2,3', expected three shares"),
        (("statistics", "OUT"), "is no collection, it has no collection.json"),
        (("card", "FILM"), "is no collection, it has no collection.json"),
        (("export", "COLLECTION", "-o", "COLLECTION"), "is there already, expected a new or empty folder"),
    ],
)
def test_bad_input_is_one_line(collected, described, tmp_path, call, words, message):  # noqa: PLR0917 - fixtures
    (tmp_path / "empty").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "film.mp4").write_text("mine")
    places = {
        "OUT": tmp_path / "out",
        "FILM": described.film,
        "TRACK": described.track,
        "COLLECTION": collected,
        "EMPTY": tmp_path / "empty",
        "FOLDER": tmp_path / "folder",
    }
    named = [places.get(word, word.replace(":OUT", f":{places['OUT']}")) for word in words]
    before = sorted(path.name for path in collected.rglob("*"))
    status, printed, err = call("collect", *named)
    assert (status, printed) == (2, "")
    assert len(err.splitlines()) == 1
    assert message in err
    assert not (tmp_path / "out").exists()
    assert sorted(path.name for path in collected.rglob("*")) == before


@pytest.mark.thorough
def test_the_demo_passes_and_writes_its_page(tmp_path, call):
    status, printed, err = call("demo", "--collect", "--no-open", "--out", tmp_path / "demo", "--seed", "1")
    assert (status, err) == (0, "")
    assert "7 of 7 figures are as good as they must be" in " ".join(printed.split())
    page = (tmp_path / "demo" / "collected.html").read_text()
    for title in ("Is the track aligned?", "Which rule drops dialogue best?", "What was kept, and why not?"):
        assert title in page
    assert "it is no estimate for real films" in page
    status, _, _ = call("demo", "--collect", "--no-open", "--out", tmp_path / "demo", "--minutes", "1")
    assert status == 2
