"""A survey of a dataset: every part is there or says why it is not."""

import math

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.base.errors import UsageError
from truemoment.data.language import get_engine, verbs_of
from truemoment.studies.bias.distances import split_distance
from truemoment.studies.bias.grids import Grid
from truemoment.studies.bias.information import verb_information
from truemoment.studies.bias.locations import Locations
from truemoment.studies.bias.spread import constant_bias, evenness
from truemoment.studies.bias.surveys import survey
from truemoment.worlds import make_world

NAN = float("nan")
QUICK = {"permutations": 20, "draws": 20}


@pytest.fixture(scope="module")
def engine():
    return get_engine()


@pytest.fixture(scope="module")
def splits():
    return make_world(150, location_prior=0.8, query_prior=0.8, seed=3).splits


@pytest.fixture(scope="module")
def surveyed(splits, engine):
    return survey(splits, np.random.default_rng(5), engine, title="The world", **QUICK)


def of_rows(*rows, split="all"):
    """Annotations of (video, duration, sentence, start, end)."""
    return Annotations.from_rows([(f"{split}#{n}", *row) for n, row in enumerate(rows)], split=split)


def test_counts_are_those_of_the_annotations(surveyed, splits):
    assert [split.name for split in surveyed.splits] == list(splits)
    for split in surveyed.splits:
        of = splits[split.name]
        assert (split.n_queries, split.n_videos, split.n_moments) == (of.n_queries, of.n_videos, len(of))
        assert split.sha256 == of.sha256
        assert len(split.points) == len(split.duration_s) == split.n_moments - split.n_left_out
    whole = surveyed.whole
    assert whole.n_queries == sum(of.n_queries for of in splits.values())
    assert len(whole.verbs) == whole.n_queries
    assert (surveyed.title, surveyed.tested.name) == ("The world", "test-ood")


def test_places_are_those_of_each_split(surveyed, splits):
    for split in surveyed.splits:
        np.testing.assert_array_equal(split.points, Locations.of(splits[split.name]).start_end_norm)
        lengths = np.diff(split.points, axis=1)[:, 0]
        assert split.longer == pytest.approx([np.mean(lengths > over + 1e-9) for over in (0.3, 0.5, 0.7)])


def test_figures_that_draw_nothing_are_those_of_the_parts(surveyed, splits, engine):
    """Raw figures do not depend on the draws, so that they must be equal whatever the generator."""
    rng = np.random.default_rng(99)
    for split in surveyed.splits:
        where = Locations.of(splits[split.name])
        assert split.evenness.value.raw_bits == pytest.approx(evenness(where, rng, draws=5).raw_bits)
        constant = constant_bias(where, rng, draws=5)
        found = split.constant.value
        assert (found.value, found.start_norm, found.end_norm) == (
            constant.value,
            constant.start_norm,
            constant.end_norm,
        )
    train, test = (Locations.of(splits[name]) for name in ("train", "test-ood"))
    [pair] = [one for one in surveyed.pairs if (one.a, one.b) == ("train", "test-ood")]
    assert pair.distance.value.energy == pytest.approx(split_distance(train, test, rng, permutations=5).energy)
    sentences = [sentence for split in splits.values() for sentence in split.queries.sentence]
    verbs = verbs_of(sentences, engine)
    assert list(map(tuple, surveyed.whole.verbs)) == verbs
    information = verb_information(verbs, surveyed.whole.locations.value, rng, permutations=5)
    assert surveyed.information.value.raw_bits == pytest.approx(information.raw_bits)


def test_train_s_best_answer_is_scored_on_the_others(surveyed):
    """By a loop over the moments: IoU above 0.5 with the constant of train."""
    constant = surveyed.split("train").constant.value
    test = surveyed.split("test-ood")

    def iou(start, end):
        overlap = min(end, constant.end_norm) - max(start, constant.start_norm)
        hull = max(end, constant.end_norm) - min(start, constant.start_norm)
        return max(overlap, 0) / hull

    hits = sum(iou(start, end) > 0.5 + 1e-9 for start, end in test.points.tolist())
    assert test.constant_of_train.value == pytest.approx(hits / len(test.points))
    assert surveyed.split("train").constant_of_train.value is None
    assert surveyed.split("train").constant_of_train.why


def test_pairs_are_train_and_each_and_the_tests(surveyed, splits, engine):
    pairs = [(pair.a, pair.b) for pair in surveyed.pairs]
    assert pairs == [("train", "val"), ("train", "test-iid"), ("train", "test-ood"), ("test-iid", "test-ood")]
    without = {name: splits[name] for name in ("val", "test-iid", "test-ood")}
    found = survey(without, np.random.default_rng(0), engine, **QUICK)
    assert len(found.pairs) == 3  # each and each
    assert found.shared == ()


def test_the_same_seed_gives_the_same_survey(splits, engine):
    one, other = (survey(splits, np.random.default_rng(7), engine, **QUICK) for _ in range(2))
    for a, b in zip(one.splits, other.splits, strict=True):
        assert (a.evenness.value, a.constant.value) == (b.evenness.value, b.constant.value)
    assert [x.distance.value for x in one.pairs] == [x.distance.value for x in other.pairs]
    assert one.information.value == other.information.value


@pytest.mark.slow
def test_parts_have_draws_of_their_own(splits, engine):
    """Places of a split are drawn alike whatever else is asked: more permutations change no evenness."""
    few, many = (survey(splits, np.random.default_rng(7), engine, draws=20, permutations=n) for n in (5, 30))
    for a, b in zip(few.splits, many.splits, strict=True):
        assert (a.evenness.value, a.constant.value) == (b.evenness.value, b.constant.value)


def test_queries_that_stand_in_two_splits_count_once_in_the_whole(engine):
    rows = [("v", 30.0, "a door opens", 0.0, 6.0), ("w", 30.0, "a man waits", 6.0, 24.0)]
    part = of_rows(*rows)
    found = survey({"one": part, "both": part}, np.random.default_rng(0), engine, **QUICK)
    assert found.whole.n_queries == 2
    assert found.statistics.whole.sentences.n == 2
    assert found.uniqueness.value[0].n_sentences == 2


def test_sentences_of_one_video_in_several_splits_are_compared(engine):
    val_1 = of_rows(("v", 30.0, "a man opens the door", 0.0, 6.0), ("v", 30.0, "a dog barks", 0.0, 6.0), split="val_1")
    val_2 = of_rows(("v", 30.0, "A man opens the door.", 0.0, 6.0), split="val_2")
    found = survey({"val_1": val_1, "val_2": val_2}, np.random.default_rng(0), engine, **QUICK)
    assert found.uniqueness.value[0].is_unique.tolist() == [False, True, False]


# ----------------------------------------------------------------------------- what does not apply says why


def test_one_split_has_no_distance(engine):
    rows = [(f"v{n}", 30.0, "a door opens", 0.4 * n, 0.4 * n + 6) for n in range(12)]
    found = survey({"all": of_rows(*rows)}, np.random.default_rng(0), engine, **QUICK)
    assert found.pairs == found.shared == ()
    assert found.whole is found.splits[0] is found.tested


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([("v", NAN, "a door opens", 0.0, 6.0)], "no video's duration is known"),
        ([("v", 30.0, "a door opens", NAN, NAN)], "no query has a moment"),
        ([("v", 30.0, "a door opens", 40.0, 50.0)], "no moment lies within its video"),
    ],
)
def test_moments_without_places_have_no_statistics_of_places(engine, rows, why):
    found = survey({"train": of_rows(*rows), "test": of_rows(*rows)}, np.random.default_rng(0), engine, **QUICK)
    for split in (*found.splits, found.whole):
        assert split.locations.value is split.evenness.value is split.constant.value is None
        assert split.locations.why == split.evenness.why == split.constant.why == why
        assert all(math.isnan(share) for share in split.longer)
        assert split.points.shape == (0, 2)
    assert found.information.why == why
    [pair] = found.pairs
    assert pair.distance.why == f"train: {why}"


def test_moments_that_are_left_out_are_counted(engine):
    rows = [
        ("v", 30.0, "a door opens", 0.0, 6.0),
        ("v", 30.0, "a door shuts", NAN, NAN),
        ("w", NAN, "a man waits", 3.0, 5.0),
        ("x", 20.0, "a dog barks", 25.0, 30.0),
        ("x", 20.0, "a dog runs", 5.0, 9.0),
    ]
    split = survey({"all": of_rows(*rows)}, np.random.default_rng(0), engine, **QUICK).whole
    # By hand: five queries, four moments; one video of unknown duration; its moment and the one past the end go.
    assert (split.n_queries, split.n_moments, split.n_without_moment) == (5, 4, 1)
    assert (split.n_unknown_duration, split.n_left_out, len(split.points)) == (1, 2, 2)


def test_sentences_without_verbs_and_moments_all_alike(engine):
    rows = [(f"v{n}", 30.0, "the red door", 0.0, 30.0) for n in range(8)]
    found = survey({"all": of_rows(*rows)}, np.random.default_rng(0), engine, **QUICK)
    assert found.verb_use.why == found.information.why == "no sentence has a verb"
    assert found.whole.evenness.value is None  # every moment is the whole video: there is one place only
    assert found.whole.evenness.why
    assert found.whole.constant.value.value == 1


def test_one_moment_and_empty_sentences(engine):
    found = survey({"all": of_rows(("v", 30.0, "", 0.0, 6.0))}, np.random.default_rng(0), engine, **QUICK)
    assert found.tail.why == "no sentence has a word"
    assert found.whole.constant.value is not None


def test_nothing_to_survey_is_refused(engine):
    with pytest.raises(UsageError, match="got no split to survey"):
        survey({}, np.random.default_rng(0), engine)


def test_a_part_of_a_verb_is_its_queries_moments(surveyed):
    split = surveyed.splits[0]
    verb = surveyed.verb_use.value.top[0]
    expected = [
        point
        for point, query in zip(split.points.tolist(), split.locations.value.query.tolist(), strict=True)
        if verb in split.verbs[query]
    ]
    assert split.points_of_verb(verb).tolist() == expected


def gridded(split, *, stray=False):
    """Annotations of 40 videos of six segments of 5 s, of which one has a moment off them if `stray`."""
    pairs = [(a, b) for a in range(6) for b in range(a + 1, 7)]
    rows = [(f"{split}{n}", 30.0, f"a door opens {n}", *(5.0 * k for k in pairs[n % 21])) for n in range(40)]
    return of_rows(*([*rows[:-1], ("stray", 30.0, "a dog barks", 2.3, 7.1)] if stray else rows), split=split)


def test_what_grid_a_split_lies_on_is_kept(engine, surveyed):
    found = survey({"train": gridded("train"), "test": gridded("test")}, np.random.default_rng(0), engine, **QUICK)
    assert [split.grid for split in (*found.splits, found.whole)] == [Grid(5.0, "seconds")] * 3
    assert {split.grid for split in (*surveyed.splits, surveyed.whole)} == {None}


def test_a_constant_of_train_that_is_refused_says_why(engine):
    """It was said that there is no split train."""
    splits = {"train": gridded("train", stray=True), "test": gridded("test")}
    train, test = survey(splits, np.random.default_rng(0), engine, **QUICK).splits
    assert train.grid is None
    assert "are on a grid of 5 s and 1 is not" in train.constant.why
    assert test.constant_of_train.why == train.constant.why
