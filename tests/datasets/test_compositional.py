"""Charades-CG and ActivityNet-CG on small files of their form."""

import pytest

from truemoment.data.datasets import get_dataset
from truemoment.data.datasets.whole import whole_dataset

TESTS = {
    "test-trivial": "test_trivial.json",
    "test-novel-composition": "novel_composition.json",
    "test-novel-word": "novel_word.json",
}


def video(*sentences, duration=30.5, **more):
    return {
        "timestamps": [[k, k + 2.5] for k in range(len(sentences))],
        "sentences": list(sentences),
        "duration": duration,
    } | more


@pytest.fixture
def put_all(put):
    """Write a training file and three tests that share a video, as the real ones do."""

    def write(name):
        put(name, "train.json", {"AAA": video("a door opens", "she sits")})
        put(name, "test_trivial.json", {"BBB": video("a door opens")})
        put(name, "novel_composition.json", {"BBB": video("a door sits", novels=[["door", "sits"]])})
        put(name, "novel_word.json", {"BBB": video("a hatch opens", duration=31, news=[{"NOUN": ["hatch"]}])})

    return write


@pytest.mark.parametrize("name", ["charades-cg", "activitynet-cg"])
class TestBoth:
    def test_rows(self, put_all, load, rows, name):
        put_all(name)
        assert rows(load(name, "train")) == [
            ("AAA#0", "AAA", 30.5, "a door opens", 0.0, 2.5, ""),
            ("AAA#1", "AAA", 30.5, "she sits", 1.0, 3.5, ""),
        ]
        assert rows(load(name, "test-novel-word")) == [
            ("test-novel-word/BBB#0", "BBB", 31.0, "a hatch opens", 0.0, 2.5, "")
        ]

    def test_no_query_of_two_splits_has_one_id(self, put_all, tmp_path, name):
        # The tests share videos, and "truemoment resplit" joins all splits.
        put_all(name)
        whole = whole_dataset(name, data_dir=tmp_path)
        assert whole.annotations.query_id.tolist() == ["AAA#0", "AAA#1", *(f"{split}/BBB#0" for split in TESTS)]
        assert {test.split for test in whole.original.tests} == set(TESTS)

    def test_tests_are_known_as_tests(self, name):
        pytest.importorskip("torch")
        from truemoment.learning.training.run import is_test

        # Choosing by one of them is refused without --force.
        assert {split.name for split in get_dataset(name).splits if is_test(split.name)} == set(TESTS)

    @pytest.mark.parametrize(("split", "file"), [("train", "train.json"), *TESTS.items()])
    def test_malformed(self, put, refused, name, split, file):
        put(name, file, {"v": video("x") | {"duration": "31"}})
        assert refused(name, split) == f"{name}/{file}:1: field v.duration: got text, expected a number"
        put(name, file, {"v": video("x") | {"timestamps": []}})
        assert refused(name, split) == (f"{name}/{file}:1: field v: got 1 sentences and 0 timestamps, expected as many")


def test_published_counts():
    # Li et al. (2022), Table 1; the released files of novel words have 8 and 24 queries less (counted with jq).
    published = {
        "charades-cg": [(8_281, 3_555), (3_096, 1_689), (3_442, 2_480), (703 - 8, 588 - 8)],
        "activitynet-cg": [(36_724, 9_659), (15_712, 4_775), (12_028, 4_202), (3_944 - 24, 2_011 - 20)],
    }
    for name, counts in published.items():
        assert [(split.n_queries, split.n_videos) for split in get_dataset(name).splits] == counts
