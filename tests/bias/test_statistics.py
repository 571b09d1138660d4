"""Statistics of datasets beside plain loops, and on datasets with everything missing that may miss."""

import math
from statistics import fmean, median, pstdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations, load_annotations
from truemoment.data.language import Remembered, get_engine
from truemoment.studies.bias.statistics import dataset_statistics

NAN = float("nan")
ENGINE = Remembered(get_engine())


def rows_of(videos, *, prefix=""):
    """Rows of videos {video: (duration, [(sentence, start, end), ...])}."""
    return [
        (f"{prefix}{video}#{i}", video, duration, sentence, start, end)
        for video, (duration, moments) in videos.items()
        for i, (sentence, start, end) in enumerate(moments)
    ]


def annotations(videos, *, prefix=""):
    return Annotations.from_rows(rows_of(videos, prefix=prefix))


def equal(a, b):
    """Whether two statistics are the same, NaN being NaN."""

    def flat(of):
        parts = {f"{part}.{k}": v for part, x in vars(of).items() for k, v in vars(x).items()}
        parts["sentences.vocabulary"] = list(parts["sentences.vocabulary"].counts.items())
        parts["sentences.words_histogram"] = parts["sentences.words_histogram"].tolist()
        return parts

    left, right = flat(a), flat(b)
    assert left.keys() == right.keys()
    return all(
        left[k] == right[k]
        or (isinstance(left[k], float) and math.isclose(left[k], right[k], rel_tol=1e-12))
        or (left[k] != left[k] and right[k] != right[k])
        for k in left
    )


SENTENCES = st.sampled_from(["", "A door opens.", "a man waits", "🚪", "The dog doesn't bark, it eats!"])
MOMENTS = st.tuples(SENTENCES, st.integers(-4, 40), st.integers(-4, 40))
VIDEOS = st.dictionaries(
    st.sampled_from("abcdef"),
    st.tuples(st.sampled_from([NAN, 0.0, 20.0, 30.0]), st.lists(MOMENTS, min_size=1, max_size=4)),
    min_size=1,
)


@given(VIDEOS)
def test_by_plain_loops(videos):
    found = dataset_statistics({"train": annotations(videos)}, ENGINE).whole

    def mean(values):
        return pytest.approx(fmean(values), abs=1e-12) if values else pytest.approx(NAN, nan_ok=True)

    known = [duration for duration, _ in videos.values() if duration > 0]
    assert (found.videos.n, found.videos.n_unknown, found.videos.n_differing) == (
        len(videos),
        len(videos) - len(known),
        0,
    )
    assert found.videos.mean_min == mean([d / 60 for d in known])
    assert not known or found.videos.total_h == pytest.approx(sum(known) / 3600, abs=1e-12)
    moments = [(s, e, d) for d, of in videos.values() for _, s, e in of]
    lengths = [e - s for s, e, _ in moments if e > s]
    assert (found.moments.n, found.moments.n_without_length) == (len(lengths), len(moments) - len(lengths))
    assert found.moments.mean_s == mean(lengths)
    assert not lengths or (found.moments.median_s, found.moments.max_s) == (median(lengths), max(lengths))
    within = [(min(e, d) - max(s, 0), d) for s, e, d in moments if e > s and d > 0 and min(e, d) > max(s, 0)]
    assert found.moments.within_mean_s == mean([length for length, _ in within])
    assert found.moments.coverage_mean == mean([length / d for length, d in within])
    assert found.moments.n_outside == sum(e > s and d > 0 and (s < 0 or e > d) for s, e, d in moments)
    # By hand, words and with punctuation: "does" and "n't" are two words.
    lengths_of = {"": (0, 0), "A door opens.": (3, 4), "a man waits": (3, 3), "🚪": (0, 1)}
    counted = [lengths_of.get(sentence, (7, 9)) for _, of in videos.values() for sentence, _, _ in of]
    words = [n for n, _ in counted]
    sentences = found.sentences
    assert (sentences.n, sentences.n_words, sentences.n_tokens) == (len(words), sum(words), sum(n for _, n in counted))
    assert (sentences.words_mean, sentences.words_median) == (mean(words), median(words))
    assert sentences.words_std == pytest.approx(pstdev(words), abs=1e-12)
    assert sentences.words_histogram.tolist() == [words.count(n) for n in range(max(words) + 1)]
    assert sentences.per_video == len(words) / len(videos)


@given(VIDEOS, st.randoms(use_true_random=False))
def test_the_order_of_sentences_does_not_matter(videos, random):
    rows = rows_of(videos)
    a, b = (Annotations.from_rows(of) for of in (rows, random.sample(rows, len(rows))))
    assert equal(dataset_statistics({"x": a}, ENGINE).whole, dataset_statistics({"x": b}, ENGINE).whole)


@given(VIDEOS)
def test_shares_lie_in_0_to_1_and_counts_add_up(videos):
    split = annotations(videos)
    found = dataset_statistics({"a": split, "b": annotations(videos, prefix="b/")}, ENGINE, groups={"both": ["a", "b"]})
    for of in (found.whole, found.of_group["both"], *found.of_split.values()):
        assert np.isnan(of.moments.coverage_mean) or 0 < of.moments.coverage_mean <= 1
        assert of.moments.n + of.moments.n_without_length + of.moments.n_queries_without == of.sentences.n
        assert of.sentences.words_histogram.sum() == of.sentences.n
        assert of.sentences.n_words == of.sentences.vocabulary.n_occurrences <= of.sentences.n_tokens
    assert equal(found.whole, found.of_group["both"])
    # The same videos annotated twice: twice the queries, the videos once.
    one, two = found.of_split["a"], found.whole
    assert two.sentences.n == 2 * one.sentences.n
    assert two.videos == one.videos or (math.isnan(one.videos.total_h) and two.videos.n == one.videos.n)


@pytest.mark.slow
@given(VIDEOS)
def test_a_split_that_repeats_others_changes_nothing(videos):
    a, b = annotations(videos, prefix="a/"), annotations(videos, prefix="b/")
    merged = Annotations.from_rows([*rows_of(videos, prefix="a/"), *rows_of(videos, prefix="b/")])
    plain = dataset_statistics({"a": a, "b": b}, ENGINE).whole
    repeated = dataset_statistics({"a": a, "b": b, "test": merged}, ENGINE)
    assert repeated.whole.sentences.n_repeated == merged.n_queries
    assert repeated.whole.sentences.n == plain.sentences.n
    assert repeated.whole.moments == plain.moments or math.isnan(plain.moments.coverage_mean)
    assert repeated.of_split["test"].sentences.n == merged.n_queries


def test_durations_that_differ_or_are_known_only_once():
    a = annotations({"v": (NAN, [("x", 0, 1)]), "w": (10.0, [("x", 0, 1)])})
    b = annotations({"v": (30.0, [("x", 0, 1)]), "w": (12.0, [("x", 0, 1)])}, prefix="b/")
    videos = dataset_statistics({"a": a, "b": b}, ENGINE).whole.videos
    assert (videos.n, videos.n_unknown, videos.n_differing) == (2, 0, 1)
    assert videos.total_h == 40 / 3600


def test_several_annotators_and_queries_without_a_moment():
    rows = [
        ("v#0", "v", 20.0, "a door opens", 0.0, 4.0, "one"),
        ("v#0", "v", 20.0, "a door opens", 0.0, 8.0, "two"),
        ("v#1", "v", 20.0, "a dog barks", NAN, NAN, ""),
    ]
    found = dataset_statistics({"all": Annotations.from_rows(rows)}, ENGINE).whole
    assert (found.sentences.n, found.moments.n, found.moments.n_queries_without) == (2, 2, 1)
    assert (found.moments.n_without_length, found.moments.mean_s) == (0, 6.0)
    assert found.moments.coverage_mean == pytest.approx(0.3, abs=1e-15)


def test_no_rows_at_all():
    found = dataset_statistics({"all": Annotations.from_rows([])}, ENGINE).whole
    assert (found.videos.n, found.moments.n, found.sentences.n, found.sentences.n_tokens) == (0, 0, 0, 0)
    figures = [found.videos.total_h, found.moments.max_s, found.sentences.words_std, found.sentences.per_video]
    assert np.isnan(figures).all()


@pytest.mark.parametrize("sentence", ["", "🚪", "\x00\x1b[31m", "door " * 10_000])
def test_hostile_sentences(sentence):
    split = annotations({"v": (10.0, [(sentence, 0, 1), ("a door", 0, 1)])})
    sentences = dataset_statistics({"all": split}, ENGINE).whole.sentences
    assert sentences.n == 2
    assert sentences.words_histogram.sum() == 2


@pytest.mark.data
@pytest.mark.thorough
def test_activitynet_counts_its_test_videos_once(data_dir):
    splits = {s: load_annotations("activitynet-captions", s, data_dir=data_dir) for s in ("val_1", "val_2", "test")}
    found = dataset_statistics(splits, get_engine(), groups={"both": ["val_1", "val_2"]})
    # 4,917 videos and 34,536 queries: Closer Look (2021), Table 1.
    for of in (found.whole, found.of_group["both"], found.of_split["test"]):
        assert (of.videos.n, of.sentences.n) == (4917, 34_536)
        assert of.videos == found.whole.videos
    assert found.whole.sentences.n_repeated == 34_536
