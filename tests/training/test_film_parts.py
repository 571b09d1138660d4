"""Predictions on films in parts, and a first look at windows: the command line, on simulated films."""

import itertools
import json

import numpy as np
import pytest

from truemoment.base.errors import InputError, UsageError
from truemoment.cli import run as run_command
from truemoment.data.datasets import load_annotations
from truemoment.data.formats import read_predictions
from truemoment.learning.training import film_parts
from truemoment.learning.training.grounding import TrainedGrounder
from truemoment.learning.training.windows import AllCandidates, in_windows
from truemoment.media.features.sentences import SentenceFile
from truemoment.searching.first_look import FirstLook, summarise_first_look
from truemoment.searching.opening import open_features
from truemoment.searching.windows import LongVideo, Windows
from truemoment.worlds import FilmSettings, make_films, write_films

FRAMES, SENTENCES = "CLIP_B32_frames_features_5fps.h5", "CLIP_B32_language_features_MAD_test.h5"
CHANGES = ("settings.n_clips=8", "settings.hidden=16", "rows=16", "train.epochs=1", "decode.top=20")


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    """Simulated films in MAD's form, and a run on them."""
    folder = tmp_path_factory.mktemp("films")
    settings = FilmSettings(minutes=3, n_sentences=12, nearness=0.3, n_dimensions=32)
    write_films(folder, make_films({"train": 2, "val": 1, "test": 2}, settings, np.random.default_rng(0)))
    changes = itertools.chain.from_iterable(("--set", change) for change in CHANGES)
    words = ["train", "tan2d-windows", "--dataset", "mad", "--data-dir", str(folder), "--quiet", *changes]
    assert run_command([*words, "--features", str(folder / "mad" / FRAMES), "-o", str(folder / "run")]) == 0
    return folder


@pytest.fixture
def predict(films, tmp_path):
    """Predict the test split: predict("one.jsonl", "--workers", "2") gives the status and the bytes."""

    def call(name, *options):
        out = tmp_path / name
        words = ["predict", "run", str(films / "run"), "--dataset", "mad", "--split", "test", "--data-dir", str(films)]
        status = run_command([*words, "--quiet", "-o", str(out), *options])
        return status, out.read_bytes() if out.exists() else b""

    return call


def _predicted(path, films):
    return read_predictions(path, load_annotations("mad", "test", data_dir=films))[0]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(film_parts, "PART_QUERIES", 5)


@pytest.fixture
def parts_stay(monkeypatch):
    monkeypatch.setattr("truemoment.learning.training.prediction.remove_parts", lambda _: None)


def test_a_run_killed_twice_is_resumed_to_the_byte(films, predict, monkeypatch, tmp_path):
    status, whole = predict("whole.jsonl", "--workers", "1")
    assert status == 0
    assert not (tmp_path / "whole.parts").exists()
    found = _predicted(tmp_path / "whole.jsonl", films)
    assert len(found) == load_annotations("mad", "test", data_dir=films).n_queries
    asked, ground = [], film_parts.TrainedGrounder.ground

    def stops(self, queries, top):
        asked.append(queries.query_id[0])
        if len(asked) in (2, 5):
            raise KeyboardInterrupt
        return ground(self, queries, top)

    monkeypatch.setattr(film_parts.TrainedGrounder, "ground", stops)
    assert [predict("cut.jsonl", "--workers", "1")[0] for _ in range(2)] == [130, 130]
    assert (tmp_path / "cut.parts" / "request.json").exists()
    status, resumed = predict("cut.jsonl", "--workers", "1")
    assert (status, resumed) == (0, whole)
    assert len(set(asked)) == len(asked) - 2  # only the two parts under way were asked again
    assert not (tmp_path / "cut.parts").exists()


@pytest.mark.thorough
def test_workers_and_engines_change_nothing(predict, request):
    _, one = predict("one.jsonl", "--workers", "1")
    _, two = predict("two.jsonl", "--workers", "2")
    assert one == two
    request.getfixturevalue("no_cluster")
    assert predict("ray.jsonl", "--engine", "ray", "--workers", "2") == (0, one)


def test_a_damaged_part_is_predicted_again(predict, monkeypatch, tmp_path):
    _, whole = predict("whole.jsonl", "--workers", "1")
    monkeypatch.setattr("truemoment.learning.training.prediction.remove_parts", lambda _: None)
    predict("again.jsonl", "--workers", "1")
    part = tmp_path / "again.parts" / "000002.jsonl"
    part.write_bytes(part.read_bytes()[:100])
    assert predict("again.jsonl", "--workers", "1") == (0, whole)


@pytest.mark.usefixtures("parts_stay")
def test_parts_of_other_predictions_are_refused(films, predict, capsys):
    predict("one.jsonl", "--workers", "1")
    capsys.readouterr()
    sentences = ("--sentences", str(films / "mad" / SENTENCES))
    status, _ = predict("one.jsonl", "--workers", "1", "--first-look", "3", *sentences)
    told = capsys.readouterr().err
    assert (status, told.count("\n")) == (2, 1)
    assert "one.parts: contains parts of other predictions (first_look, sentences differ)" in told


def test_all_windows_equal_no_first_look(films, predict):
    sentences = ("--sentences", str(films / "mad" / SENTENCES))
    _, none = predict("none.jsonl", "--workers", "1")
    status, every = predict("all.jsonl", "--workers", "1", "--first-look", "1000", *sentences)
    assert status == 0
    assert every.split(b"\n")[1:] == none.split(b"\n")[1:]  # but for the first line, which says what was asked


def test_a_first_look_asks_its_windows_and_is_told(films, predict, tmp_path, capsys):
    sentences = SentenceFile(films / "mad" / SENTENCES)
    status, _ = predict(
        "few.jsonl", "--workers", "1", "--first-look", "2", "--sentences", str(films / "mad" / SENTENCES)
    )
    assert status == 0
    test = load_annotations("mad", "test", data_dir=films)
    store = open_features(films / "mad" / FRAMES, test, data_dir=films)
    windows = Windows()
    found, _ = read_predictions(tmp_path / "few.jsonl", test)
    for row, (query_id, video_id) in enumerate(zip(test.queries.query_id, test.queries.video_id, strict=True)):
        # The definition: all cosines of a sentence with the frames of each window, in float64.
        rows = store[video_id].astype(np.float64)
        vector = sentences.vectors(test.queries)[row].astype(np.float64)
        cosine = rows @ vector / (np.linalg.norm(rows, axis=1) * np.linalg.norm(vector))
        of_film = windows.of(LongVideo.of(store, video_id, float(test.queries.duration_s[row])))
        best = sorted(range(len(of_film)), key=lambda w: -cosine[of_film[w].first : of_film[w].end].max())[:2]
        number = found.query_id.tolist().index(query_id)
        of = slice(found.offsets[number], found.offsets[number + 1])
        inside = [
            any(of_film[w].start_s - 1e-6 <= start and end <= of_film[w].end / of_film[w].fps + 1e-6 for w in best)
            for start, end in zip(found.start_s[of], found.end_s[of], strict=True)
        ]
        assert inside
        assert all(inside)
    made_by = json.loads((tmp_path / "few.jsonl").read_text().split("\n")[0])["made_by"]
    look = summarise_first_look(test, windows, store, FirstLook(2, store, sentences))
    assert made_by["windows"] == look.name
    assert made_by["references_in_windows"] == look.share
    assert 0 < look.share < summarise_first_look(test, windows, store, None).share <= 1
    capsys.readouterr()
    words = ["evaluate", str(tmp_path / "few.jsonl"), "--dataset", "mad", "--split", "test", "--data-dir", str(films)]
    assert run_command(words) == 0
    told = capsys.readouterr().out
    assert f"|windows:{look.name}" in told
    assert f"{100 * look.share:.1f} % of the references lie in them" in " ".join(told.split())


@pytest.mark.parametrize("most", [None, 3])
def test_encoded_once_equals_encoded_for_each_sentence(films, most):
    """The slow way is a method without branches, which is shown each window with each sentence."""

    class OneByOne(AllCandidates):
        def window_scorer(self):
            return None

    test = load_annotations("mad", "test", data_dir=films)
    store = open_features(films / "mad" / FRAMES, test, data_dir=films)
    grounder = TrainedGrounder.load(films / "run", store=store)
    ranking = None if most is None else FirstLook(most, store, SentenceFile(films / "mad" / SENTENCES))
    answers = [
        in_windows(
            kind("2D-TAN", grounder.network, grounder.vocabulary, grounder.run.recipe, store),
            grounder.run.recipe.windows,
            ranking=ranking,
        ).ground(test.queries, 20)
        for kind in (AllCandidates, OneByOne)
    ]
    assert answers[0].lengths.tolist() == answers[1].lengths.tolist()
    np.testing.assert_allclose(answers[0].score, answers[1].score, atol=1e-5)
    same = np.isclose(answers[0].start_s, answers[1].start_s)  # moments of nearly equal scores may change places
    assert same.mean() > 0.95


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--first-look", "3"), "give --sentences FILE"),
        (("--sentences", "s.h5"), "expected --first-look K"),
        (("--chunks", "60", "--workers", "2"), "--workers and --engine: are of a run on windows of whole films"),
    ],
)
def test_options_that_do_not_go_together(predict, capsys, options, told):
    status, _ = predict("out.jsonl", *options)
    printed = capsys.readouterr().err
    assert (status, printed.count("\n")) == (2, 1)
    assert told in printed


def test_what_cannot_be_compared_is_refused(films):
    test = load_annotations("mad", "test", data_dir=films)
    store = open_features(films / "mad" / FRAMES, test, data_dir=films)
    with pytest.raises(UsageError, match="1 or more"):
        FirstLook(0, store, SentenceFile(films / "mad" / SENTENCES))


def test_a_recipe_without_windows_has_no_first_look(tiny):
    with pytest.raises(InputError, match="block windows"):
        tiny("tan2d", "decode.first_look=50")
    assert tiny("tan2d-windows", "decode.first_look=50").decode.first_look == 50
