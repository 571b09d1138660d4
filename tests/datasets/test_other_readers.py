"""TACoS, DiDeMo, QVHighlights and MAD on small files of their form."""

import json

import numpy as np
import pytest


class TestTACoS:
    def test_frames_become_seconds(self, put, load, rows):
        # 29.4 frames a second (field.md, section 2.1): frame 294 is 10 s, 588 frames are 20 s.
        put(
            "tacos",
            "val.json",
            {
                "s13-d21.avi": {
                    "timestamps": [[0, 294], [147, 603]],
                    "sentences": ["He cuts.", "He cuts."],
                    "fps": 29.4,
                    "num_frames": 588,
                },
                "b.avi": {"timestamps": [[25, 50]], "sentences": ["x"], "fps": 25.0, "num_frames": 100},
            },
        )
        found = rows(load("tacos", "val"))
        assert [row[:2] + row[3:4] for row in found] == [
            ("s13-d21.avi#0", "s13-d21.avi", "He cuts."),
            ("s13-d21.avi#1", "s13-d21.avi", "He cuts."),
            ("b.avi#0", "b.avi", "x"),
        ]
        # Quotients to the last bit: frame / fps.
        assert [(row[2], row[4], row[5]) for row in found] == [
            (588 / 29.4, 0.0, 294 / 29.4),
            (588 / 29.4, 147 / 29.4, 603 / 29.4),
            (4.0, 1.0, 2.0),
        ]

    def test_a_video_without_a_sentence(self, put, load):
        entry = {"timestamps": [[1, 2]], "sentences": ["x"], "fps": 2.0, "num_frames": 8}
        put("tacos", "test.json", {"a": {**entry, "timestamps": [], "sentences": []}, "b": entry})
        assert load("tacos", "test").query_id.tolist() == ["b#0"]

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"fps": 0.0}, ":1: field v.fps: got 0, expected a number > 0.0"),
            ({"fps": -29.4}, ":1: field v.fps: got -29.4, expected a number > 0.0"),
            ({"fps": "29.4"}, ":1: field v.fps: got text, expected a number"),
            ({"num_frames": 8.5}, ":1: field v.num_frames: got a number, expected a whole number"),
            ({"timestamps": [[1, None]]}, ":1: field v.timestamps[0][1]: got null, expected a number"),
            ({"timestamps": []}, ":1: field v: got 1 sentences and 0 timestamps, expected as many"),
        ],
    )
    def test_malformed(self, put, refused, change, said):
        entry = {"timestamps": [[1, 2]], "sentences": ["x"], "fps": 2.0, "num_frames": 8}
        put("tacos", "train.json", {"v": {**entry, **change}})
        assert refused("tacos", "train") == f"tacos/train.json{said}"


def described(times, *, number=5, segments=6, **more):
    entry = {"annotation_id": number, "video": "a_1.mov", "description": "a dog", "times": times}
    return {**entry, "num_segments": segments, "dl_link": "https://example.org/a", **more}


class TestDiDeMo:
    def test_segments_become_seconds_and_each_annotator_a_row(self, put, load, rows):
        # 5-s segments, both indices inclusive: (0, 0) is 0-5 s, (1, 2) is 5-15 s, (5, 5) is 25-30 s; the duration
        # is nominal, 5 s a segment (LocalizingMoments, README; field.md, section 2.1).
        put(
            "didemo",
            "val_data.json",
            [
                described([[0, 0], [1, 2], [5, 5]]),
                described([[4, 4]], number=3, segments=5, video="b.", description=" x"),
            ],
        )
        annotations = load("didemo", "val")
        assert rows(annotations) == [
            ("5", "a_1.mov", 30.0, "a dog", 0.0, 5.0, "0"),
            ("5", "a_1.mov", 30.0, "a dog", 5.0, 15.0, "1"),
            ("5", "a_1.mov", 30.0, "a dog", 25.0, 30.0, "2"),
            ("3", "b.", 25.0, " x", 20.0, 25.0, "0"),
        ]
        assert (len(annotations), annotations.n_queries, annotations.n_videos) == (4, 2, 2)

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ({}, ":1: got an object, expected a list"),
            ([described([[0, 0]]), described([[0]])], ":1: field [1].times[0]: expected a list of length 2"),
            ([described([[0, 0.5]])], ":1: field [0].times[0][1]: got a number, expected a whole number"),
            ([described([[0, 1]], segments="6")], ":1: field [0].num_segments: got text, expected a whole number"),
            ([described([[0, 1]], description=None)], ":1: field [0].description: got null, expected text"),
            ([{"annotation_id": 1}], ":1: field [0].video: is missing"),
        ],
    )
    def test_malformed(self, put, refused, content, said):
        put("didemo", "test_data.json", content)
        assert refused("didemo", "test") == f"didemo/test_data.json{said}"

    def test_a_sentence_that_nobody_marked_is_no_query_less(self, put, refused):
        # As QVHighlights refuses a line without a window: a query must not vanish in silence.
        put("didemo", "val_data.json", [described([[0, 0]]), described([], number=6)])
        assert "expected at least one" in refused("didemo", "val")

    def test_an_id_that_stands_twice(self, put, refused):
        put("didemo", "val_data.json", [described([[0, 0]]), described([[1, 1]], number=6), described([[2, 2]])])
        assert "'5'" in refused("didemo", "val")

    def test_an_id_that_stands_twice_in_a_row(self, put, refused):
        # Two entries of one id must not melt into one query with more annotators.
        put("didemo", "val_data.json", [described([[0, 0]]), described([[1, 1]])])
        assert "'5'" in refused("didemo", "val")


def highlight(windows, clips=(), ratings=(), *, qid=10, **more):
    entry = {"qid": qid, "query": "A door opens", "duration": 150, "vid": "abc_0.0_150.0"}
    entry |= {
        "relevant_clip_ids": list(clips),
        "saliency_scores": [list(r) for r in ratings],
        "relevant_windows": windows,
    }
    return {**entry, **more}


def lines(*entries):
    return "".join(json.dumps(entry) + "\n" for entry in entries)


class TestQVHighlights:
    @pytest.mark.parametrize(
        ("split", "name"),
        [
            ("train", "highlight_train_release.jsonl"),
            ("val", "highlight_val_release.jsonl"),
            ("test", "highlight_test_with_gt.jsonl"),
        ],
    )
    def test_windows_and_ratings(self, put, load, rows, split, name):
        put(
            "qvhighlights",
            name,
            lines(
                highlight([[0, 2], [4, 8]], [0, 2, 3], [(4, 3, 2), (0, 1, 1), (2, 2, 2)]),
                highlight([[6, 8]], [3], [(4, 4, 4)], qid=11, query="Another", duration=126),
            ),
        )
        annotations = load("qvhighlights", split)
        assert rows(annotations) == [
            ("10", "abc_0.0_150.0", 150.0, "A door opens", 0.0, 2.0, ""),
            ("10", "abc_0.0_150.0", 150.0, "A door opens", 4.0, 8.0, ""),
            ("11", "abc_0.0_150.0", 126.0, "Another", 6.0, 8.0, ""),
        ]
        saliency = annotations.saliency
        assert saliency.offsets.tolist() == [0, 3, 4]
        assert saliency.clip.tolist() == [0, 2, 3, 3]
        assert saliency.rating.tolist() == [[4, 3, 2], [0, 1, 1], [2, 2, 2], [4, 4, 4]]
        assert saliency.clip_length_s == 2.0  # 2-s clips (Lei et al. 2021)

    def test_without_ratings(self, put, load):
        entry = highlight([[0, 2]])
        del entry["relevant_clip_ids"], entry["saliency_scores"]
        put("qvhighlights", "highlight_val_release.jsonl", lines(entry))
        assert load("qvhighlights", "val").saliency is None

    def test_ratings_follow_the_queries_that_are_selected(self, put, load):
        put(
            "qvhighlights",
            "highlight_val_release.jsonl",
            lines(highlight([[0, 2]], [0], [(1, 1, 1)]), highlight([[2, 4]], [1], [(2, 2, 2)], qid=11)),
        )
        kept = load("qvhighlights", "val").select_queries(np.array([False, True]))
        assert kept.saliency.clip.tolist() == [1]

    @pytest.mark.parametrize(
        ("entry", "said"),
        [
            (highlight([]), ":2: field relevant_windows: got no window, expected at least one"),
            (
                highlight([[0, 2]], [0, 1], [(1, 1, 1)]),
                ":2: field saliency_scores: got 1 ratings, expected 2 as relevant_clip_ids has",
            ),
            (highlight([[0, 2, 3]]), ":2: field relevant_windows[0]: expected a list of length 2"),
            (highlight([[0, 2]], [0], [(1, 1)]), ":2: field saliency_scores[0]: expected a list of length 3"),
            (
                highlight([[0, 2]], [0.5], [(1, 1, 1)]),
                ":2: field relevant_clip_ids[0]: got a number, expected a whole number",
            ),
            (highlight([[0, "2"]]), ":2: field relevant_windows[0][1]: got text, expected a number"),
            (highlight([[0, 2]], qid=None), ":2: field qid: got null, expected a whole number or text"),
            (highlight([[0, 2]], duration="150"), ":2: field duration: got text, expected a number"),
            (
                {"qid": 1, "query": "a", "vid": "v", "duration": 150},
                ":2: field relevant_windows: is missing",
            ),
        ],
    )
    def test_malformed(self, put, refused, entry, said):
        put("qvhighlights", "highlight_val_release.jsonl", lines(highlight([[0, 2]], qid=9)) + lines(entry))
        assert refused("qvhighlights", "val") == f"qvhighlights/highlight_val_release.jsonl{said}"

    def test_the_test_file_that_was_released_first_has_queries_alone(self, put, load):
        """It has no windows; where the file with them is there, that one is read."""
        queries = [{"qid": n, "query": "A door opens", "vid": "v", "duration": 150} for n in (1, 2)]
        put("qvhighlights", "highlight_test_release.jsonl", lines(*queries))
        found = load("qvhighlights", "test")
        assert found.query_id.tolist() == ["1", "2"]
        assert found.without_moment.all()
        put("qvhighlights", "highlight_test_with_gt.jsonl", lines(highlight([[0, 2]])))
        assert load("qvhighlights", "test").query_id.tolist() == ["10"]

    @pytest.mark.parametrize("rating", [-1, 5])
    def test_a_rating_that_does_not_exist(self, put, refused, rating):
        # 0 (very bad) to 4 (very good): Saliency in records.py.
        entry = highlight([[0, 2]], [0], [(1, 1, rating)])
        put("qvhighlights", "highlight_val_release.jsonl", lines(entry))
        assert "saliency" in refused("qvhighlights", "val")

    def test_an_id_that_stands_twice(self, put, refused):
        put("qvhighlights", "highlight_val_release.jsonl", lines(highlight([[0, 2]]), highlight([[2, 4]])))
        assert "'10'" in refused("qvhighlights", "val")


def film(**more):
    # The form that the authors' loaders read (mad.py); the times differ so that a mix-up shows.
    return {
        "movie": "3003_40_YEAR_OLD_VIRGIN",
        "sentence": "SOMEONE sits.",
        "timestamps": [1.0, 2.0],
        "ext_timestamps": [0.5, 2.5],
        "movie_duration": 7947.6,
        **more,
    }


class TestMAD:
    @pytest.mark.parametrize("name", ["MAD_val.json", "annotations/MAD_val.json", "annotations/MAD-v1/MAD_val.json"])
    def test_extended_times_and_places_of_the_file(self, put, load, rows, name):
        put("mad", name, {"7": film(), "12": film(movie="1_x", ext_timestamps=[5, 4], sentence="She\nruns.")})
        assert rows(load("mad", "val")) == [
            ("7", "3003_40_YEAR_OLD_VIRGIN", 7947.6, "SOMEONE sits.", 0.5, 2.5, ""),
            ("12", "1_x", 7947.6, "She\nruns.", 5.0, 4.0, ""),
        ]

    def test_the_folder_itself_comes_first(self, put, load):
        put("mad", "annotations/MAD_val.json", {"1": film()})
        put("mad", "MAD_val.json", {"2": film()})
        assert load("mad", "val").query_id.tolist() == ["2"]

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ({"7": film(ext_timestamps=None)}, ":1: field 7.ext_timestamps: got null, expected a list"),
            ({"7": film(ext_timestamps=[1])}, ":1: field 7.ext_timestamps: expected a list of length 2"),
            ({"7": film(movie=3)}, ":1: field 7.movie: got a whole number, expected text"),
            ({"7": film(movie_duration="2 h")}, ":1: field 7.movie_duration: got text, expected a number"),
            ([film()], ":1: got a list, expected an object"),
        ],
    )
    def test_malformed(self, put, refused, content, said):
        put("mad", "MAD_train.json", content)
        assert refused("mad", "train") == f"mad/MAD_train.json{said}"

    def test_the_older_field_is_not_taken_in_its_place(self, put, refused):
        entry = film()
        del entry["ext_timestamps"]
        put("mad", "MAD_test.json", {"7": entry})
        assert refused("mad", "test") == ("mad/MAD_test.json:1: field 7.ext_timestamps: is missing")

    def test_missing(self, refused):
        assert refused("mad", "test") == (
            "mad: mad (no such folder) is missing, expected MAD_test.json or annotations/MAD_test.json or "
            "annotations/MAD-v1/MAD_test.json; 'truemoment datasets fetch mad' downloads it or prints the steps"
        )
