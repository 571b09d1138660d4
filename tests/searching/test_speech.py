"""What is said: words beside videos, their ranking, its fusion with what is seen, and damaged files."""

import json
import math
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import InputError, UsageError
from truemoment.searching.fusion import fuse, without_near
from truemoment.searching.layout import SAID
from truemoment.searching.passages import Passages, best_first
from truemoment.searching.request import RankingOptions
from truemoment.searching.retrieval import FoundMoment
from truemoment.searching.several_models import answer_of
from truemoment.searching.sidecars import sidecars_of
from truemoment.searching.speech import Speech, index_speech, write_passages
from truemoment.searching.spoken_words import Quote, spoken_words
from truemoment.searching.writing import VideoFile

SRT = """1
00:00:02,000 --> 00:00:04,500
Look at the red door.

2
00:00:05,000 --> 00:00:08,250
I don't see a door,

3
00:00:08,500 --> 00:00:10,000
and nobody opens it.
"""

WORDS = [("Nobody", 1.25, 1.5), ("opens", 1.5, 1.81), ("the", 1.9, 2.0), ("café", 2.0, 2.62), ("door.", 2.7, 3.13)]


def add_speech(index):
    """Read the files beside the videos of an index, as truemoment index --subtitles does."""
    videos = [VideoFile(name, Path(index.about(name).path), index.about(name).identity) for name in index]
    report = index_speech(index.path, videos)
    write_passages(index)
    return report


def search(index, query):
    """Return the best passages of an index for a query."""
    return answer_of({}, Speech(index), query, RankingOptions(apart=0.0, said=True), list(index)).moments


@pytest.fixture
def spoken(index, films):
    """An index of films: a has subtitles, b a transcript with the times of words, c neither."""
    (films / "a.en.srt").write_text(SRT)
    words = [{"word": f" {word}", "start": start, "end": end} for word, start, end in WORDS]
    (films / "b.json").write_text(json.dumps({"segments": [{"words": words}]}))
    return index


# ------------------------------------------------------------------------------------------ words beside videos


def test_times_are_those_of_words_and_else_of_cues(spoken):
    report = add_speech(spoken)
    assert report.files == {"a": "a.en.srt", "b": "b.json"}
    assert (report.without, report.failed) == (["c"], [])
    found = {moment.video_id: moment for moment in search(spoken, "opens NOBODY cafe")}
    by_word, by_cue = found["b"], found["a"]
    assert by_word[1:3] == (1.25, 3.13)
    assert [tuple(word) for word in by_word.quote.words] == [WORDS[0], WORDS[1], WORDS[3]]
    assert by_word.quote.text == "Nobody opens the café door."
    assert by_cue[1:3] == (5.0, 10.0)  # a sentence of two cues
    assert [tuple(word) for word in by_cue.quote.words] == [("nobody", 8.5, 10.0), ("opens", 8.5, 10.0)]


@pytest.mark.parametrize(
    ("files", "first"),
    [
        (["film.srt"], "film.srt"),
        (["film.en.sdh.srt", "film.en.vtt", "film.de.srt"], "film.en.vtt"),
        (["film.srt", "film.mp4.json"], "film.mp4.json"),
        (["film.PT-BR.SRT"], "film.PT-BR.SRT"),
        (["film.2.srt", "film.info.json", "films.srt", "film.srt.txt"], None),
        (["film.en.srt", "film.en.mp4"], None),  # those of the other film
    ],
)
def test_which_file_belongs_to_a_video(tmp_path, files, first):
    for name in ("film.mp4", *files):
        (tmp_path / name).touch()
    videos = sorted(tmp_path.glob("*.mp4"))
    beside = sidecars_of(videos)[tmp_path / "film.mp4"]
    assert [file.name for file in beside[:1]] == ([] if first is None else [first])


def test_subtitles_of_another_film_are_told_by_their_length(spoken, films):
    (films / "a.en.srt").write_text(SRT.replace("00:00:08,500 --> 00:00:10", "01:20:08,500 --> 01:20:10"))
    (films / "b.json").unlink()
    (films / "b.srt").write_text(SRT)
    report = add_speech(spoken)
    assert report.failed == [
        f"{films / 'a.en.srt'}: the last words end at 4,810 s, after the end of the video at 40 s; "
        "are they of another film?"
    ]
    assert report.notes == [f"{films / 'b.srt'}: the last words end at 10 s of 40 s: are they of another film?"]
    assert list(report.files) == ["b"]


def test_a_damaged_file_gives_way_to_the_next_one(spoken, films):
    (films / "b.json").write_text('{"segments": [{"words": [{"word": "no", "start": 9, "end": 1}]}]}')
    (films / "b.srt").write_text(SRT)
    report = add_speech(spoken)
    assert report.files["b"] == "b.srt"
    assert len(report.failed) == 1
    assert report.failed[0].startswith(f"{films / 'b.json'}: field word 1: got the word")


def test_files_are_read_once_and_again_when_they_change(spoken, films):
    assert add_speech(spoken).n_words == 19  # 14 of a, 5 of b
    assert add_speech(spoken).n_words == 0
    (films / "a.en.srt").write_text(SRT.replace("nobody", "somebody"))
    assert add_speech(spoken).n_words == 14
    assert [moment.video_id for moment in search(spoken, "somebody")] == ["a"]


def test_an_interrupted_command_keeps_what_is_complete(spoken, films, monkeypatch):
    add_speech(spoken)
    before = (spoken.path / SAID).read_bytes()
    for name in ("a.en.srt", "b.srt"):
        (films / name).write_text(SRT.replace("nobody", "somebody"))
    (films / "b.json").unlink()

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", killed)
        with pytest.raises(KeyboardInterrupt):
            add_speech(spoken)
    assert (spoken.path / SAID).read_bytes() == before
    assert {moment.video_id for moment in search(spoken, "nobody")} == {"a", "b"}
    add_speech(spoken)
    assert {moment.video_id for moment in search(spoken, "somebody")} == {"a", "b"}


def test_a_video_that_was_removed_or_has_changed_is_not_found(spoken):
    from truemoment.searching.index import Index

    add_speech(spoken)
    (about,) = spoken.path.glob("videos/a-*/about.json")
    about.write_text(about.read_text().replace(spoken.about("a").identity, "1:2"))
    assert [moment.video_id for moment in search(Index(spoken.path), "door")] == ["b"]


def test_an_index_without_speech_is_refused(spoken):
    with pytest.raises(UsageError, match=r"has no speech; .*: truemoment index VIDEO\.\.\. -o INDEX --subtitles"):
        Speech(spoken)


@pytest.mark.parametrize("file", ["said.npz", "videos/b-*/said.npz"])
def test_damage_is_one_line(spoken, file):
    add_speech(spoken)
    (path,) = spoken.path.glob(file)
    data = bytearray(path.read_bytes())
    for at in range(0, len(data), 7):
        data[at] ^= 0x55
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"--subtitles makes it again"):
        search(spoken, "door")
    add_speech(spoken)  # which also mends it
    assert len(search(spoken, "door")) == 3


@pytest.mark.parametrize(
    ("file", "name", "value"),
    [
        ("said.npz", "numbers", 1_000_000),
        ("said.npz", "begins", -1),
        ("videos/b-*/said.npz", "first_words", 99),
        ("videos/b-*/said.npz", "start_ms", -5),
    ],
)
def test_numbers_that_do_not_fit_together_are_refused(spoken, file, name, value):
    add_speech(spoken)
    (path,) = spoken.path.glob(file)
    with np.load(path) as stored:
        arrays = dict(stored)
    arrays[name][-1] = value
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=r"numbers do not fit together.*--subtitles makes it again"):
        search(spoken, "door")


# ------------------------------------------------------------------------------------------ ranking


PASSAGES = st.lists(
    st.lists(st.sampled_from(["the", "door", "red", "café", "opens"]), max_size=8), min_size=1, max_size=12
)


@given(PASSAGES, st.lists(st.sampled_from(["the", "door", "red", "window"]), max_size=4))
def test_scores_equal_the_formula(passages, query):
    """BM25 as in the docstring of truemoment.searching.passages, a loop over words and passages."""
    mean = max(sum(map(len, passages)) / len(passages), 1)
    expected = []
    for passage in passages:
        score = 0.0
        for word in set(query):
            n, f = sum(word in other for other in passages), Counter(passage)[word]
            rarity = math.log(1 + (len(passages) - n + 0.5) / (n + 0.5))
            score += rarity * 2.2 * f / (f + 1.2 * (1 - 0.75 + 0.75 * len(passage) / mean))
        expected.append(score)
    scores = Passages.of(passages).scores(query)
    assert scores.tolist() == pytest.approx(expected)


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), max_size=30), st.integers(1, 10))
def test_the_best_come_first_and_of_equal_ones_the_earlier(scores, many):
    numbers = best_first(np.array(scores), many).tolist()
    ordered = sorted((at for at, score in enumerate(scores) if score), key=lambda at: (-scores[at], at))
    assert numbers[:many] == ordered[:many]
    assert numbers == ordered[: len(numbers)]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, settings):
    """Give the speech of an index of one video."""
    from drawn_indexes import write_drawn

    folder = tmp_path_factory.mktemp("hostile")
    (folder / "v000.srt").write_text(SRT)
    index = write_drawn(folder / "index", settings, 1)
    index_speech(index.path, [VideoFile("v000", folder / "v000.mp4", index.about("v000").identity)])
    write_passages(index)
    return Speech(index)


@given(st.text() | st.sampled_from(['"', "door*", "NEAR(door, 3)", "a AND NOT", "ＤＯＯＲ", "\0door", "東京", "'"]))
def test_any_text_is_a_query(hostile, query):
    words = set(spoken_words(query))
    moments = answer_of({}, hostile, query, RankingOptions(apart=0.0, said=True), list(hostile.index)).moments
    expected = [
        text
        for text in ("Look at the red door.", "I don't see a door, and nobody opens it.")
        if words & set(spoken_words(text))
    ]
    assert sorted(moment.quote.text for moment in moments) == sorted(expected)
    assert all(moment.quote.words for moment in moments)


# ------------------------------------------------------------------------------------------ fusion


def seen(start_s, end_s, video="a"):
    return FoundMoment(video, start_s, end_s, 0.3, 0.95)


def said(start_s, end_s, video="a"):
    return FoundMoment(video, start_s, end_s, 7.0, why="said", quote=Quote(int(start_s)))


def test_the_times_of_a_joined_moment_are_those_of_the_better_rank():
    (joined, _) = fuse({"seen": [seen(40, 50), seen(10, 20)], "said": [said(19, 24)]})
    assert (joined.start_s, joined.end_s, joined.why) == (19, 24, "both")
    assert joined.ranks == (("seen", 2), ("said", 1))
    assert joined.score == pytest.approx(1 / 62 + 1 / 61)


def test_fusion_by_hand():
    """The sum of 1 / (60 + rank); the second passage joins the first moment, and the third finds it taken."""
    passages = [said(30, 33), said(19, 24), said(12, 13), said(15, 16, "b")]
    fused = fuse({"seen": [seen(10, 20), seen(40, 50)], "said": passages})
    assert [(moment.start_s, moment.end_s, moment.why) for moment in fused] == [
        (10, 20, "both"),
        (30, 33, "said"),
        (40, 50, "seen"),
        (12, 13, "said"),
        (15, 16, "said"),
    ]
    expected = [1 / 61 + 1 / 62, 1 / 61, 1 / 62, 1 / 63, 1 / 64]
    assert [moment.score for moment in fused] == pytest.approx(expected)
    assert (fused[0].quote.passage, fused[0].match) == (19, 0.95)


TIMES = st.integers(0, 60).flatmap(lambda start: st.tuples(st.just(start), st.integers(start + 1, start + 20)))


@given(st.lists(TIMES, max_size=12), st.integers(0, 10), st.integers(1, 6))
def test_moments_apart(spans, apart_s, top):
    kept = without_near([seen(*span) for span in spans], apart_s, top)
    assert len(kept) <= top
    by_time = sorted((moment.start_s, moment.end_s) for moment in kept)
    assert all(after[0] - before[1] >= apart_s for before, after in pairwise(by_time))
    for moment in map(seen, *zip(*spans, strict=True)) if spans and len(kept) < top else ():
        assert moment in kept or any(
            moment.start_s < other.end_s + apart_s and other.start_s < moment.end_s + apart_s for other in kept
        )
