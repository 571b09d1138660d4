"""Simulated films: what is drawn has the form and the size of MAD's, and the dial does what it says."""

import json
from collections import Counter
from itertools import pairwise

import h5py
import numpy as np
import pytest

from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.base.records import Queries
from truemoment.data.datasets import load_annotations
from truemoment.media.features import FeatureStore
from truemoment.media.features.sentences import SentenceFile, SentenceStore
from truemoment.searching.opening import open_features
from truemoment.worlds import films as module
from truemoment.worlds.films import CAUTION, FilmSettings, make_films, write_films
from truemoment.worlds.grammar import OBJECTS

SMALL = FilmSettings(minutes=8, n_sentences=40, n_dimensions=64)


def small(seed=0, **changed):
    settings = {"minutes": 8, "n_sentences": 40, "n_dimensions": 64} | changed
    return make_films({"val": 1, "test": 2}, FilmSettings(**settings), np.random.default_rng(seed))


def told(films):
    return [(film.film_id, film.split, film.duration_s, film.n_frames, film.sentence) for film in films.films.values()]


def test_the_generator_decides_everything():
    one, same, other = small(), small(), small(1)
    assert told(one) == told(same) != told(other)
    for film_id in one:
        assert np.array_equal(one[film_id], one[film_id])
        assert np.array_equal(one[film_id], same[film_id])
        assert np.array_equal(one.sentences_of(film_id), same.sentences_of(film_id))
    assert not np.array_equal(one["simulated-0001"][:100], other["simulated-0001"][:100])
    assert not np.array_equal(one["simulated-0001"][:100], one["simulated-0002"][:100])


def test_blocks_do_not_show(monkeypatch):
    whole = small()["simulated-0001"]
    monkeypatch.setattr(module, "BLOCK_FRAMES", 77)
    assert np.array_equal(small()["simulated-0001"], whole)


def test_they_are_frames_and_sentences():
    films = small()
    assert isinstance(films, FeatureStore)
    assert isinstance(films, SentenceStore)
    assert (len(films), films.fps, films.n_dimensions, "simulated" in films.name) == (3, 5.0, 64, True)
    assert "simulated-0004" not in films
    for film in films.films.values():
        frames = films[film.film_id]
        assert (frames.shape, frames.dtype) == ((film.n_frames, 64), np.float32)
        assert films.edges_s(film.film_id, film.duration_s)[-1] == pytest.approx(film.n_frames / 5, abs=1e-9)
    queries = films.annotations("test").queries
    backwards = Queries(
        *(column[::-1] for column in (queries.query_id, queries.video_id, queries.duration_s)), queries.sentence
    )
    assert np.array_equal(films.vectors(backwards), films.vectors(queries)[::-1])
    by_hand = np.concatenate([films.sentences_of(film_id) for film_id in ("simulated-0002", "simulated-0003")])
    assert np.array_equal(films.vectors(queries), by_hand)


def test_what_is_not_there_is_told():
    films = small()
    with pytest.raises(InputError, match="no film 'x' among 3 simulated ones"):
        films["x"]
    last = sum(len(film.sentence) for film in films.films.values())
    for query_id in (str(last), "-1", "x", ""):
        with pytest.raises(InputError, match=f"no query '{query_id}' about these films"):
            films.vectors(Queries([query_id], ["v"], np.array([9.0]), ["s"]))
    with pytest.raises(UsageError, match="got split 'train', expected one with films"):
        films.annotations("train")


def test_form_of_the_annotations():
    films = small()
    test = films.annotations("test")
    assert (test.dataset, test.split, test.n_videos) == ("mad", "test", 2)
    ids = [*films.annotations("val").query_id, *test.query_id]
    assert ids == [str(number) for number in range(len(ids))]
    assert np.all((test.start_s >= 0) & (test.start_s < test.end_s) & (test.end_s <= test.duration_s))


def test_sizes_are_those_of_mad():
    # Soldan et al. 2022: val and test films last 116.85 min, moments 4.1 s (Table 7), 72.0 K sentences in 112 films
    # (Table 4). 112 films: a standard error of 2 min; 72,000 moments: one of 0.01 s and of 0.1 in normed places.
    films = make_films({"test": 112}, FilmSettings(), np.random.default_rng(0))
    durations = np.array([film.duration_s for film in films.films.values()])
    assert durations.mean() / 60 == pytest.approx(116.85, abs=8)
    assert (durations.min() / 60 > 55, durations.max() / 60 < 190) == (True, True)
    test = films.annotations("test")
    assert test.n_queries == pytest.approx(72_044, rel=0.02)
    length_s = test.end_s - test.start_s
    assert length_s.mean() == pytest.approx(4.1, abs=0.1)
    assert (length_s.min() >= 0.59, length_s.max() <= 30.01) == (True, True)
    quarter = np.bincount((4 * (test.start_s + test.end_s) / 2 / test.duration_s).astype(int), minlength=4)
    assert quarter / len(test) == pytest.approx([0.25] * 4, abs=0.01)  # moments lie anywhere
    for film in films.films.values():
        n_frames = int(np.ceil(film.duration_s * 5))
        assert n_frames - 2 <= film.n_frames <= n_frames  # features end up to two frames early
    assert len({int(np.ceil(film.duration_s * 5)) - film.n_frames for film in films.films.values()}) == 3


def test_shots_make_up_the_film_and_places_come_back():
    film = make_films({"test": 1}, FilmSettings(minutes=110), np.random.default_rng(0)).films["simulated-0001"]
    assert (film.cut_s[0], film.cut_s[-1]) == (0.0, film.duration_s)
    lengths = np.diff(film.cut_s)
    assert lengths.min() > 0
    assert lengths.mean() == pytest.approx(5.0, rel=0.1)
    scenes = film.place[np.append(True, film.place[1:] != film.place[:-1])]
    assert len(scenes) == pytest.approx(film.duration_s / 90, rel=0.3)
    assert len(set(scenes)) < 0.6 * len(scenes)
    for frame in (0, 1, 777, film.n_frames - 1):  # slowly: the shot that the frame's middle lies in
        middle = (frame + 0.5) / 5
        shots = [k for k in range(len(lengths)) if film.cut_s[k] <= middle < film.cut_s[k + 1]]
        assert film.shot_of_frame[frame] == (shots[0] if shots else len(lengths) - 1)


class TestWithoutNoise:
    """Frames are what the formula says, seen where the noise is left out."""

    @pytest.fixture
    def films(self, monkeypatch):
        monkeypatch.setattr(module, "NOISE", 0.0)
        return small(n_sentences=60)

    @staticmethod
    def active(film):
        """Events active in each frame, slowly: those that the frame's middle lies in."""
        sets = []
        for frame in range(film.n_frames):
            middle = (frame + 0.5) / 5
            sets.append([k for k in range(len(film.start_s)) if film.start_s[k] <= middle < film.end_s[k]])
        return sets

    def test_frames_alike_are_equal(self, films):
        film = films.films["simulated-0001"]
        frames, active = films[film.film_id], self.active(film)
        first_with = {}
        for frame in range(film.n_frames):
            key = (int(film.shot_of_frame[frame]), tuple(active[frame]))
            first = first_with.setdefault(key, frame)
            assert np.array_equal(frames[frame], frames[first])
        assert len(np.unique(frames, axis=0)) == len(first_with)

    def test_an_event_adds_the_same_wherever_it_comes(self, films):
        film = films.films["simulated-0001"]
        frames, active = films[film.film_id].astype(np.float64), self.active(film)
        added = {}
        for k, what in enumerate(zip(film.action.tolist(), film.thing.tolist(), strict=True)):
            within = [frame for frame in range(film.n_frames) if active[frame] == [k]]
            shots = {int(film.shot_of_frame[frame]): frame for frame in within}
            without = [f for f in range(film.n_frames) if not active[f] and int(film.shot_of_frame[f]) in shots]
            added.setdefault(what, []).extend(frames[shots[int(film.shot_of_frame[f])]] - frames[f] for f in without)
        seen = [what for what in added if added[what]]
        assert len(seen) > 10
        for what in seen:
            assert np.allclose(added[what], added[what][0], atol=1e-4)
            # action and object, of length 5 each, are two random directions of 64
            assert 3 < np.linalg.norm(added[what][0]) < 9.9
        assert not np.allclose(added[seen[0]][0], added[seen[1]][0], atol=1e-1)

    def test_a_sentence_of_nearness_1_points_to_what_its_moment_adds_to_all(self, films, monkeypatch):
        monkeypatch.setattr(module, "COMMON", 0.0)
        films = small(n_sentences=60, nearness=1)
        film = films.films["simulated-0001"]
        frames, sentences, active = films[film.film_id], films.sentences_of(film.film_id), self.active(film)
        alone = [
            k
            for k in range(len(sentences))
            if any(events == [k] for events in active) and all(events == [k] for events in active if k in events)
        ]
        assert len(alone) > 10
        for k in alone:
            shown = frames[[frame for frame, events in enumerate(active) if events == [k]]].mean(axis=0)
            assert sentences[k] == pytest.approx(10 * shown / np.linalg.norm(shown), abs=1e-3)


def test_a_sentence_tells_its_event():
    films = small()
    film = films.films["simulated-0001"]
    for sentence, thing in zip(film.sentence, film.thing, strict=True):
        assert OBJECTS[thing] in sentence
    assert len(set(film.sentence)) > 30


def cosine_in_the_moment(nearness):
    """Mean cosine of sentences with the mean frame of their moment, and with that of another one."""
    films = small(nearness=nearness, n_sentences=200)
    own, other = [], []
    for film_id, film in films.films.items():
        frames, sentences = films[film_id].astype(np.float64), films.sentences_of(film_id).astype(np.float64)
        first, end = film.frames_of_events
        shown = np.stack([frames[a:b].mean(axis=0) for a, b in zip(first, end, strict=True)])
        cosine = sentences @ shown.T / np.linalg.norm(sentences, axis=1)[:, None] / np.linalg.norm(shown, axis=1)
        own.append(np.diag(cosine))
        apart = temporal_iou(film.start_s[:, None], film.end_s[:, None], film.start_s, film.end_s) == 0
        other.append(cosine[apart])
    return np.concatenate(own).mean(), np.concatenate(other).mean()


def test_the_dial():
    found = [cosine_in_the_moment(nearness) for nearness in (0.0, 0.1, 0.3, 0.6, 1.0)]
    gains = [own - other for own, other in found]
    assert gains[0] == pytest.approx(0.0, abs=0.02)
    assert all(low < high for low, high in pairwise(gains))
    assert gains[-1] > 0.4


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_files_are_those_of_mad(tmp_path, dtype):
    films = small()
    folder = write_films(tmp_path / "data", films, dtype=dtype)
    assert folder == tmp_path / "data" / "mad"
    frames = open_features(folder / "CLIP_B32_frames_features_5fps.h5", fps=5.0)
    close = {"rtol": 0, "atol": 0.02} if dtype == "float16" else {"rtol": 0, "atol": 0}
    for split in ("val", "test"):
        read = load_annotations("mad", split, data_dir=tmp_path / "data")
        assert read.sha256 == films.annotations(split).sha256
        sentences = SentenceFile(folder / f"CLIP_B32_language_features_MAD_{split}.h5")
        assert np.allclose(sentences.vectors(read.queries), films.vectors(read.queries), **close)
        for film_id in set(read.video_id):
            assert np.allclose(frames[film_id], films[film_id], **close)
    with h5py.File(folder / "CLIP_B32_frames_features_5fps.h5") as file:
        assert {table.dtype for table in file.values()} == {np.dtype(dtype)}
    assert not (folder / "MAD_train.json").exists()


def test_files_say_that_they_are_simulated(tmp_path):
    folder = write_films(tmp_path, small(nearness=0.25))
    about = json.loads((folder / "simulated.json").read_text())
    assert (about["caution"], about["nearness"], about["schema"]) == (CAUTION, 0.25, "truemoment/simulated-films/1")
    assert all(movie.startswith("simulated-") for movie in load_annotations("mad", "val", data_dir=tmp_path).video_id)


def test_reading_the_wrong_times_shows(tmp_path):
    entries = json.loads((write_films(tmp_path, small()) / "MAD_test.json").read_text())
    for entry in entries.values():
        assert set(entry) == {"movie", "sentence", "timestamps", "ext_timestamps", "movie_duration"}
        (start, end), (ext_start, ext_end) = entry["timestamps"], entry["ext_timestamps"]
        assert ext_start < start < end < ext_end


def test_a_folder_is_written_complete_or_not_at_all(tmp_path):
    def interrupted(film_ids):
        yield next(iter(film_ids))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_films(tmp_path, small(), progress=interrupted)
    assert list(tmp_path.iterdir()) == []
    write_films(tmp_path, small())
    before = Counter(path.name for path in (tmp_path / "mad").iterdir())
    with pytest.raises(InputError, match="cannot be made"):
        write_films(tmp_path, small(1))
    assert Counter(path.name for path in (tmp_path / "mad").iterdir()) == before
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        write_films(tmp_path / "file", small())


def test_a_missing_package_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(MissingPackageError, match="h5py"):
        write_films(tmp_path, small())


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"nearness": 1.1}, "nearness: got 1.1, expected a number from 0 to 1"),
        ({"minutes": 0}, "minutes: got 0, expected 0.1 to 600"),
        ({"minutes": float("nan")}, "minutes: got nan"),
        ({"n_sentences": 0}, "n_sentences: got 0, expected 1 to 100000"),
        ({"n_dimensions": 1}, "n_dimensions: got 1, expected 2 to 16384"),
        ({"shot_s": -1}, "shot_s: got -1"),
    ],
)
def test_settings_out_of_range_are_refused(changed, said):
    with pytest.raises(UsageError, match=said):
        FilmSettings(**changed)


@pytest.mark.parametrize(
    ("n_films", "said"),
    [({}, "got no split"), ({"test-iid": 1}, "unknown split 'test-iid'"), ({"test": 0}, "got 0 films for test")],
)
def test_numbers_of_films_that_make_no_sense_are_refused(n_films, said):
    with pytest.raises(UsageError, match=said):
        make_films(n_films, SMALL, np.random.default_rng(0))


def test_the_shortest_film():
    films = make_films({"test": 3}, FilmSettings(minutes=0.1, n_sentences=1, n_dimensions=2), np.random.default_rng(0))
    assert all(films[film_id].shape[1] == 2 for film_id in films)
    assert np.all(np.isfinite(films.vectors(films.annotations("test").queries)))
