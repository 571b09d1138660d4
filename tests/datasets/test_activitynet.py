"""ActivityNet Captions and ActivityNet-CD on small files of their form."""

import pytest


def video(*sentences, duration=100.0):
    """Build an entry; each sentence is (text, start, end)."""
    return {
        "duration": duration,
        "timestamps": [[start, end] for _, start, end in sentences],
        "sentences": [text for text, *_ in sentences],
    }


TRAIN = {"v_t": video((" A man.", 0, 9.5), ("A dog. ", 50, 40)), "v_u": video(("A cat.", 1, 2), duration=5.5)}
VAL_1 = {"v_a": video(("One.", 1, 2), ("Two.", 3, 4)), "v_b": video(("Three.", 5, 6))}
VAL_2 = {"v_b": video(("Four.", 7, 8)), "v_a": video((" Two.", 9, 10))}


@pytest.fixture
def captions(put):
    put("activitynet-captions", "train.json", TRAIN)
    put("activitynet-captions", "val_1.json", VAL_1)
    put("activitynet-captions", "val_2.json", VAL_2)


@pytest.mark.usefixtures("captions")
class TestCaptions:
    def test_train(self, load, rows):
        # Blanks stay, and so do swapped times.
        assert rows(load("activitynet-captions", "train")) == [
            ("v_t#0", "v_t", 100.0, " A man.", 0.0, 9.5, ""),
            ("v_t#1", "v_t", 100.0, "A dog. ", 50.0, 40.0, ""),
            ("v_u#0", "v_u", 5.5, "A cat.", 1.0, 2.0, ""),
        ]

    def test_validation_ids_carry_their_file(self, load):
        # DESIGN.md, vocabulary: the two files annotate the same videos.
        assert load("activitynet-captions", "val_1").query_id.tolist() == ["val_1/v_a#0", "val_1/v_a#1", "val_1/v_b#0"]
        assert load("activitynet-captions", "val_2").query_id.tolist() == ["val_2/v_b#0", "val_2/v_a#0"]

    def test_test_is_both_one_after_the_other(self, load, rows):
        annotations = load("activitynet-captions", "test")
        assert rows(annotations) == rows(load("activitynet-captions", "val_1")) + rows(
            load("activitynet-captions", "val_2")
        )
        assert (annotations.n_queries, annotations.n_videos, annotations.split) == (5, 2, "test")

    def test_a_missing_half_of_test(self, tmp_path, refused):
        (tmp_path / "activitynet-captions" / "val_2.json").unlink()
        assert refused("activitynet-captions", "test") == (
            "activitynet-captions: activitynet-captions/val_2.json is missing, expected val_2.json; "
            "'truemoment datasets fetch activitynet-captions' downloads it or prints the steps"
        )

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("", ":1: input data was truncated, expected JSON"),
            ('{"v": {"duration": 1, "timestamps": [[0, NaN]], "sentences": ["a"]}}', ":1: got NaN, expected a number"),
            ({"v": {**TRAIN["v_u"], "duration": "5"}}, ":1: field v.duration: got text, expected a number"),
            ({"v": {**TRAIN["v_u"], "sentences": "a"}}, ":1: field v.sentences: got text, expected a list"),
            (
                {"v": {**TRAIN["v_u"], "sentences": []}},
                ":1: field v: got 0 sentences and 1 timestamps, expected as many",
            ),
            ({"v": {"duration": 1.0, "sentences": []}}, ":1: field v.timestamps: is missing"),
        ],
    )
    def test_malformed(self, put, refused, content, said):
        put("activitynet-captions", "val_2.json", content)
        assert refused("activitynet-captions", "val_2") == f"activitynet-captions/val_2.json{said}"


class TestCD:
    @pytest.fixture(autouse=True)
    def files(self, put, captions):
        # v_b lies in val (both of its annotations), v_u in test-ood; v_t and v_a are left for training.
        del captions
        put("activitynet-cd", "anet_val.json", {"v_b": video(("Three.", 5, 6), ("Four.", 7, 8))})
        put("activitynet-cd", "anet_test_iid.json", {})
        put("activitynet-cd", "anet_test_ood.json", {"v_u": video(("A cat.", 1, 2), duration=5.5)})

    def test_a_split_with_a_file(self, load, rows):
        assert rows(load("activitynet-cd", "val")) == [
            ("v_b#0", "v_b", 100.0, "Three.", 5.0, 6.0, ""),
            ("v_b#1", "v_b", 100.0, "Four.", 7.0, 8.0, ""),
        ]
        assert load("activitynet-cd", "test-ood").query_id.tolist() == ["v_u#0"]

    def test_train_is_derived_from_captions(self, load, rows):
        # All of ActivityNet Captions less the videos of the other three files (papers.md, section 1); a video's
        # val_1 sentences before its val_2 ones, numbered through.
        annotations = load("activitynet-cd", "train")
        assert rows(annotations) == [
            ("v_t#0", "v_t", 100.0, " A man.", 0.0, 9.5, ""),
            ("v_t#1", "v_t", 100.0, "A dog. ", 50.0, 40.0, ""),
            ("v_a#0", "v_a", 100.0, "One.", 1.0, 2.0, ""),
            ("v_a#1", "v_a", 100.0, "Two.", 3.0, 4.0, ""),
            ("v_a#2", "v_a", 100.0, " Two.", 9.0, 10.0, ""),
        ]
        assert (annotations.dataset, annotations.split) == ("activitynet-cd", "train")

    def test_train_is_read_where_its_file_is_there(self, put, load):
        put("activitynet-cd", "anet_train.json", {"v_z": video(("Z.", 1, 2))})
        assert load("activitynet-cd", "train").query_id.tolist() == ["v_z#0"]

    def test_train_cannot_be_derived_without_captions(self, tmp_path, refused):
        (tmp_path / "activitynet-captions" / "train.json").unlink()
        assert refused("activitynet-cd", "train") == (
            "activitynet-captions: activitynet-captions/train.json is missing, expected train.json; "
            "'truemoment datasets fetch activitynet-captions' downloads it or prints the steps"
        )

    def test_train_cannot_be_derived_without_its_neighbours(self, tmp_path, refused):
        (tmp_path / "activitynet-cd" / "anet_test_iid.json").unlink()
        assert refused("activitynet-cd", "train").startswith(
            "activitynet-cd: activitynet-cd/anet_test_iid.json is missing, expected anet_test_iid.json; "
        )

    def test_malformed(self, put, refused):
        put("activitynet-cd", "anet_val.json", {"v": {"duration": 3, "timestamps": [[1, 2, 3]], "sentences": ["a"]}})
        assert refused("activitynet-cd", "val") == (
            "activitynet-cd/anet_val.json:1: field v.timestamps[0]: expected a list of length 2"
        )
