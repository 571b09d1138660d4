"""TimeLens-Bench and TVGBench on small files of their form, with answers of their own programs."""

import json

import pytest

from truemoment.data.datasets import get_dataset
from truemoment.data.formats import read_predictions

TIMELENS = ["charades-timelens", "activitynet-timelens", "qvhighlights-timelens"]


def corrected(*queries, **more):
    spans = [[k, k + 2.5] for k in range(len(queries))]
    return {"duration": 30.5, "queries": list(queries), "spans": spans} | more


class TestTimeLens:
    @pytest.mark.parametrize("name", TIMELENS)
    def test_rows(self, put, load, rows, name):
        put(name, f"{name}.json", {"abc": corrected("A door opens.", "she sits"), "d": corrected()})
        assert rows(load(name, "test")) == [
            ("abc#0", "abc", 30.5, "A door opens.", 0.0, 2.5, ""),
            ("abc#1", "abc", 30.5, "she sits", 1.0, 3.5, ""),
        ]

    def test_answers_of_its_program_fit(self, put, load):
        # Its loader drops blanks and a last full stop from the query (timelens/dataset/timelens_data.py).
        put("charades-timelens", "charades-timelens.json", {"abc": corrected("A  door opens.", "she sits")})
        answers = {
            "abc.mp4>>>she sits>>>[1, 3.5]": {"timestamps": [[1, 2]], "answers": "1.0 - 2.0 seconds"},
            "abc.mp4>>>A door opens>>>[0, 2.5]": {"timestamps": [[4, 5]], "answers": "4.0 - 5.0 seconds"},
        }
        path = put("charades-timelens", "answers.json", answers)
        predictions, match = read_predictions(path, load("charades-timelens", "test"))
        assert (match.format, match.by_text, match.missing) == ("timelens", 2, 0)
        assert predictions.start_s.tolist() == [4.0, 1.0]

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"spans": []}, "v: got 1 queries and 0 spans, expected as many"),
            ({"spans": [[1]]}, "v.spans[0]: expected a list of length 2"),
            ({"spans": [[1, "2"]]}, "v.spans[0][1]: got text, expected a number"),
            ({"duration": None}, "v.duration: got null, expected a number"),
            ({"queries": [3]}, "v.queries[0]: got a whole number, expected text"),
        ],
    )
    def test_malformed(self, put, refused, change, said):
        put("charades-timelens", "charades-timelens.json", {"v": corrected("x") | change})
        assert refused("charades-timelens", "test") == f"charades-timelens/charades-timelens.json:1: field {said}"

    def test_published_counts(self):
        # Charades: field.md, section 2.4; the others: the owners' dataset card.
        counts = [(get_dataset(name).splits[0].n_queries, get_dataset(name).splits[0].n_videos) for name in TIMELENS]
        assert counts == [(3_363, 1_313), (4_500, 1_455), (1_541, 1_511)]


def benched(**more):
    return {
        "path": "./videos/KWZSA.mp4",
        "question": "a person sits.",
        "answer": "13.4-28.1",
        "start": None,
        "end": None,
        "duration": 30.12,
        "source": "./raw_data/Charades_sta_test.json",
        "qsemtype": "Human Pose",
    } | more


class TestTVGBench:
    def test_a_part_of_a_video_is_a_video_of_its_own(self, put, load, rows):
        part = benched(
            path="a.b-c.mkv", start=4.4928, end=100.2229, duration=95.73, answer="1e-05-0.5", source="x.y.json"
        )
        put("tvgbench", "tvgbench.json", [benched(), part, benched()])
        assert rows(load("tvgbench", "test")) == [
            ("Charades_sta_test_0", "KWZSA", 30.12, "a person sits.", 13.4, 28.1, ""),
            ("x_y_1", "a.b-c_4.49_100.22", 95.73, "a person sits.", 1e-05, 0.5, ""),
            ("Charades_sta_test_2", "KWZSA", 30.12, "a person sits.", 13.4, 28.1, ""),
        ]

    def test_answers_of_time_r1_fit(self, put, load):
        # Its ids: name of the source and number of the query (xiaomi-research/time-r1, data_loader.py).
        put("tvgbench", "tvgbench.json", [benched(), benched(question="she sits")])
        lines = [{"qid": f"Charades_sta_test_{k}", "pred": [k, k + 1.5]} for k in (1, 0)]
        path = put("tvgbench", "answers.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        predictions, match = read_predictions(path, load("tvgbench", "test"))
        assert (match.format, match.by_id, match.missing) == ("time-r1", 2, 0)
        assert predictions.start_s.tolist() == [0.0, 1.0]

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"answer": "13.4 to 28.1"}, "[1].answer: got '13.4 to 28.1', expected 'START-END' in seconds"),
            ({"answer": "-13.4-28.1"}, "[1].answer: got '-13.4-28.1', expected 'START-END' in seconds"),
            ({"answer": "1.2.3-28.1"}, "[1].answer: got '1.2.3', expected seconds up to 1e+08"),
            ({"answer": "1-1e9"}, "[1].answer: got '1e9', expected seconds up to 1e+08"),
            ({"answer": [1, 2]}, "[1].answer: got a list, expected text"),
            ({"start": 3.0}, "[1]: got one of start and end, expected both or none"),
            ({"duration": "30"}, "[1].duration: got text, expected a number"),
        ],
    )
    def test_malformed(self, put, refused, change, said):
        put("tvgbench", "tvgbench.json", [benched(), benched(**change)])
        assert refused("tvgbench", "test") == f"tvgbench/tvgbench.json:1: field {said}"
