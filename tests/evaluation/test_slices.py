"""Classes of queries and their figures, against slow loops and counts of the real files."""

from __future__ import annotations

import dataclasses
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations, Predictions
from truemoment.base.errors import InputError, UsageError
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.uncertainty import bootstrap, interval95
from truemoment.studies.evaluate.slices import class_of, membership, reference_lengths, slices

nan = float("nan")
MEASURES = "R@1,IoU=0.3; mIoU; R@1,IoU=0.3[ref=rows]; mAP,length=middle"


def made(*rows):
    """Annotations of (query, video, duration, start, end) rows; the sentence is the query's name."""
    return Annotations.from_rows([(q, v, d, f"s {q}", s, e) for q, v, d, s, e in rows])


def labels_of(annotations, family, **given_too):
    """Label of each query in a family."""
    (member,) = membership(annotations, families=[family], **given_too)
    assert sorted(set(member.number.tolist())) == list(range(len(member.labels)))  # no class without a query
    return [member.labels[c] for c in member.number]


def slow_label(w, slow, query, family):
    """The class of a query, from the table in the docstring and the exact numbers of the world."""
    references, duration = w.references[query], w.duration[query]
    start, end = references[slow.representative(references)]
    if family == "references":
        return "one" if len(references) == 1 else "several"
    if family == "shared moment":
        others = [
            m for q, ms in w.references.items() if q != query and q.split("#")[0] == query.split("#")[0] for m in ms
        ]
        return "of several queries" if set(references) & set(others) else "of one query"
    if end <= start:
        return "empty or swapped"
    if family == "reference length (s)":
        value, bounds, unit = end - start, [0, 5, 10, 30, 60], "s"
    elif family == "reference length":
        value, bounds, unit = (end - start) / duration * 100, [0, 10, 20, 30, 50], "%"
    else:
        value, bounds, unit = min((start + end) / 2 / duration, 1) * 100, [0, 20, 40, 60, 80, 100], "%"
        value = max(value, Fraction(1, 10))  # a middle of 0 stands in the first class
    for low, high in pairwise(bounds):
        if low < value <= high:
            return f"{low}-{high} {unit}"
    return f"over {bounds[-1]} {unit}"


FAMILIES = ("reference length", "reference length (s)", "position", "references", "shared moment")


@pytest.mark.parametrize("family", FAMILIES)
def test_classes_against_a_slow_loop(world, slow, family):
    seen = Counter()
    for seed in range(30):
        w = world(seed)
        expected = [slow_label(w, slow, query, family) for query in w.references]
        assert labels_of(w.annotations, family) == expected
        seen.update(expected)
    assert len(seen) >= 2, seen  # the worlds reach more than one class


def test_lengths_and_places_by_hand():
    # 10 to 30 of 40 s: half of it, in the middle; past the end: more than all of it, middle held to the end.
    annotations = made(("a", "v", 40.0, 10, 30), ("b", "v", 40.0, 30, 80), ("c", "w", nan, 1, 3), ("d", "x", 9.0, 5, 5))
    lengths = reference_lengths(annotations)
    assert lengths.length_s.tolist()[:3] == [20, 50, 2]
    assert lengths.length_norm.tolist()[:2] == [0.5, 1.25]
    assert lengths.middle_norm.tolist()[:2] == [0.5, 1.0]
    assert np.isnan([lengths.length_norm[2], lengths.middle_norm[2], *(column[3] for column in lengths)]).all()


def test_several_references_are_placed_by_the_representative_one():
    # 0-4 and 1-4 and 1-5 agree (mean IoU of 1-4 with the others 3/4); 30-40 stands alone. 1-4 is 7.5 % of 40 s.
    rows = [("q", "v", 40.0, "s", *m) for m in [(30, 40), (0, 4), (1, 4), (1, 5)]]
    annotations = Annotations.from_rows(rows)
    assert reference_lengths(annotations).length_s.tolist() == [3]
    assert labels_of(annotations, "position") == ["0-20 %"]
    # Disjoint moments overlap nothing: the first.
    annotations = Annotations.from_rows([("q", "v", 40.0, "s", *m) for m in [(30, 40), (0, 4)]])
    assert reference_lengths(annotations).length_s.tolist() == [10]


def test_a_value_within_rounding_of_a_bound_is_on_it():
    # 24.3 - 21.2 is 3.1000000000000014 in float64, a hair above 10 % of 31 s.
    assert 24.3 - 21.2 > 3.1
    assert labels_of(made(("q", "v", 31.0, 21.2, 24.3)), "reference length") == ["0-10 %"]
    assert labels_of(made(("q", "v", 31.0, 21.2, 24.31)), "reference length") == ["10-20 %"]
    assert class_of(np.array([-1.0, 0, 5, 5 + 1e-10, 5.001, 10, 11]), (0, 5, 10)).tolist() == [0, 0, 0, 0, 1, 1, 2]


def test_durations_that_are_not_known():
    annotations = made(("a", "v", nan, 1, 3), ("b", "w", 20.0, 1, 3), ("c", "x", 0.0, 3, 3))
    assert labels_of(annotations, "reference length") == ["unknown", "0-10 %", "unknown"]
    assert labels_of(annotations, "position") == ["unknown", "0-20 %", "unknown"]
    assert labels_of(annotations, "video length") == ["unknown", "20.0 s", "unknown"]
    assert labels_of(annotations, "reference length (s)") == ["0-5 s", "0-5 s", "empty or swapped"]
    nowhere = made(("a", "v", nan, 1, 3))
    assert labels_of(nowhere, "video length") == ["unknown"]


def test_quarters_of_the_videos_not_of_the_queries():
    # Videos of 10, 20, 30, 40 and 50 s; quartiles of five values are the 2nd, 3rd and 4th. The first has 6 queries.
    rows = [(f"a{k}", "v10", 10.0, 0, 1) for k in range(6)] + [
        (f"v{d}", f"v{d}", float(d), 0, 1) for d in (20, 30, 40, 50)
    ]
    labels = labels_of(made(*rows), "video length")
    assert Counter(labels) == {"10.0-20.0 s": 7, "20.0-30.0 s": 1, "30.0-40.0 s": 1, "40.0-50.0 s": 1}


def test_videos_of_one_length_are_one_class():
    assert labels_of(made(("a", "v", 150.0, 0, 1), ("b", "w", 150.0, 0, 1)), "video length") == ["150.0 s"] * 2


@given(st.lists(st.integers(1, 4000), min_size=1, max_size=12))
def test_labels_of_video_length_tell_the_truth(quarters):
    annotations = made(*((f"q{k}", f"v{k}", quarter / 4, 0.0, 0.2) for k, quarter in enumerate(quarters)))
    for label, quarter in zip(labels_of(annotations, "video length"), quarters, strict=True):
        bounds = [float(bound) for bound in label.removesuffix(" s").split("-")]
        # Bounds are printed to a tenth of a second, and are those that divide.
        assert bounds[0] - 1e-9 <= quarter / 4 <= bounds[-1] + 1e-9


@pytest.mark.parametrize(
    ("n_words", "label"),
    [(0, "up to 5 words"), (5, "up to 5 words"), (6, "6-8 words"), (8, "6-8 words"), (9, "9-12 words"),
     (12, "9-12 words"), (13, "13-20 words"), (20, "13-20 words"), (21, "over 20 words")],
)  # fmt: skip
def test_words(n_words, label):
    annotations = Annotations.from_rows([("q", "v", 9.0, " \n".join(["word,"] * n_words), 0, 1)])
    assert labels_of(annotations, "sentence length") == [label]


def test_frequent_verbs():
    # Twenty verbs: two sentences each of the first four (in reverse order of the alphabet), one of the others.
    verbs = ["zip", "yell", "walk", "turn"] * 2 + [f"a{k:02d}" for k in range(16)] + [""]
    annotations = made(*((f"q{k}", "v", 9.0, 0, 1) for k in range(len(verbs))))
    (member,) = membership(annotations, families=["first verb"], verbs=verbs)
    # By frequency, then by the alphabet; fifteen, the rest, none.
    assert member.labels == ("turn", "walk", "yell", "zip", *(f"a{k:02d}" for k in range(11)), "other verb", "no verb")
    assert member.masks.sum(axis=1).tolist() == [2, 2, 2, 2, *[1] * 11, 5, 1]


def test_sentences_that_stand_in_train():
    rows = [(f"q{k}", "v", 9.0, s, 0, 1) for k, s in enumerate(["  A door opens.", "a door opens!", "he sits"])]
    labels = labels_of(Annotations.from_rows(rows), "in train", train_sentences=["a DOOR opens", "She sits."])
    assert labels == ["verbatim in train", "not in train", "not in train"]


def test_two_references_of_one_query_share_nothing():
    annotations = made(("a", "v", 9.0, 1, 2), ("a", "v", 9.0, 1, 2), ("b", "v", 9.0, 3, 4), ("c", "w", 9.0, 3, 4))
    assert labels_of(annotations, "shared moment") == ["of one query"] * 3


# ---- Figures


@given(st.integers(0, 10_000))
@pytest.mark.slow
def test_every_family_divides_the_queries_and_adds_up(world, seed):
    w = world(seed)
    scores = evaluate(w.annotations, w.predictions, MEASURES)
    verbs = [f"verb{seed * 7 % 5}"] * 7 + [f"verb{k % 20}" for k in range(w.annotations.n_queries - 7)]
    sentences = list(w.annotations.queries.sentence[::2])
    members = membership(w.annotations, verbs=verbs, train_sentences=sentences)
    assert len({member.family for member in members}) == len(members) == 9
    found = slices(scores, w.annotations, np.random.default_rng(0), members, resamples=2)
    assert [(s.family, s.label) for s in found] == [(m.family, label) for m in members for label in m.labels]
    for member in members:
        assert np.array_equal(member.masks.sum(axis=0), np.ones(len(scores)))  # each query in exactly one class
        of_family = [s for s in found if s.family == member.family]
        assert sum(s.n_queries for s in of_family) == len(scores)
        for row in range(len(scores.measures)):
            weights = [scores.weight[row][mask].sum() for mask in member.masks]
            assert sum(weights) == scores.weight[row].sum()
            total = sum(s.value[row] * weight for s, weight in zip(of_family, weights, strict=True) if weight)
            # 1e-12: sums of a few quotients in another order.
            assert total == pytest.approx(scores.numerator[row].sum(), rel=0, abs=1e-12)
            assert [np.isnan(s.value[row]) for s in of_family] == [weight == 0 for weight in weights]


def test_values_counts_and_intervals_of_a_masked_evaluation(world):
    w = world(8, n_queries=40)
    scores = evaluate(w.annotations, w.predictions, MEASURES)
    members = membership(w.annotations)
    found = slices(scores, w.annotations, np.random.default_rng(42), members, resamples=80)
    masks = np.concatenate([member.masks for member in members])
    assert len(found) == len(masks) > 15
    defined = 0
    for one, mask in zip(found, masks, strict=True):
        kept = evaluate(w.annotations.select_queries(mask), w.predictions, MEASURES, on_unknown="ignore")
        figures = [kept.value(measure) for measure in kept.measures]
        assert one.value.tolist() == pytest.approx(figures, rel=1e-14, nan_ok=True)
        assert (one.n_queries, one.n_videos) == (len(kept), len(set(kept.video_id)))
        # The same draws of all videos, with everything outside the class weighing nothing.
        masked = dataclasses.replace(scores, numerator=scores.numerator * mask, weight=scores.weight * mask)
        expected = interval95(bootstrap(masked, np.random.default_rng(42), resamples=80))
        if one.n_videos < 2:
            expected[:] = nan
        assert one.ci95 == pytest.approx(expected, rel=1e-13, nan_ok=True)
        defined += int(np.isfinite(one.ci95).all(axis=1).sum())
    assert defined > 5


def test_a_class_of_one_video_has_no_interval():
    annotations = made(
        *((f"a{k}", "v", 40.0, 0, 2) for k in range(5)), ("b", "w", 40.0, 0, 20), ("c", "x", 40.0, 0, 20)
    )
    answers = Predictions.from_lists({query: [(0.0, 2.0)] for query in annotations.query_id})
    scores = evaluate(annotations, answers, "mIoU")
    members = membership(annotations, families=["reference length"])
    short, long = slices(scores, annotations, np.random.default_rng(0), members, resamples=20)
    assert (short.label, short.n_queries, short.n_videos, short.value.tolist()) == ("0-10 %", 5, 1, [1.0])
    assert np.isnan(short.ci95).all()
    assert (long.n_videos, long.value.tolist()) == (2, [0.1])
    # (1/3)^3 of 20 resamples hold neither of its two videos: some may, and then nothing is claimed.
    assert np.isnan(long.ci95).all() or long.ci95 == pytest.approx(np.array([[0.1, 0.1]]))


def test_a_split_of_one_video_has_no_interval():
    # Every resample is the split itself: an interval of no width would claim certainty.
    annotations = made(("a", "v", 40.0, 0, 2), ("b", "v", 40.0, 0, 20))
    scores = evaluate(annotations, Predictions.from_lists({"a": [(0.0, 2.0)]}), "mIoU")
    for one in slices(scores, annotations, np.random.default_rng(0), membership(annotations), resamples=5):
        assert np.isfinite(one.value).all()
        assert np.isnan(one.ci95).all()


def test_the_same_seed_gives_the_same_slices(world):
    w = world(3)
    scores = evaluate(w.annotations, w.predictions, "mIoU")
    members = membership(w.annotations)
    one, same, other = (
        slices(scores, w.annotations, np.random.default_rng(seed), members, resamples=50) for seed in (1, 1, 2)
    )
    assert all(np.array_equal(a.ci95, b.ci95, equal_nan=True) for a, b in zip(one, same, strict=True))
    assert not all(np.array_equal(a.ci95, b.ci95, equal_nan=True) for a, b in zip(one, other, strict=True))


def test_no_family_no_slice(world):
    w = world(3)
    scores = evaluate(w.annotations, w.predictions, "mIoU")
    assert slices(scores, w.annotations, np.random.default_rng(0), []) == []


# ---- Refusals


def test_what_is_refused(world):
    annotations = made(("a", "v", 9.0, 0, 1), ("b", "v", 9.0, 0, 1))
    for arguments, message in (
        (
            {"families": ["colour"]},
            "got family 'colour', expected one of reference length, reference length (s), position",
        ),
        ({"families": ["first verb"]}, "family 'first verb' needs verbs"),
        ({"families": ["in train"]}, "family 'in train' needs train_sentences"),
    ):
        with pytest.raises(UsageError) as caught:
            membership(annotations, **arguments)
        assert str(caught.value).startswith(message)
    with pytest.raises(InputError, match="got 1 verbs, expected one for each of 2 queries"):
        membership(annotations, verbs=["open"])
    w = world(1)
    scores = evaluate(w.annotations, w.predictions, "mIoU")
    with pytest.raises(InputError, match=r"got scores of 14 queries of own/all, expected scores of the 2 queries"):
        slices(scores, annotations, np.random.default_rng(0), membership(annotations))
    with pytest.raises(UsageError, match="got 1 resamples, expected 2 or more"):
        slices(scores, w.annotations, np.random.default_rng(0), membership(w.annotations), resamples=1)


# ---- Real files: counts were taken from the raw files by others, before this package


@pytest.mark.data
def test_counts_of_charades_sta(data_dir):
    test, train = (load_annotations("charades-sta", split, data_dir=data_dir) for split in ("test", "train"))
    # The survey of the field: 847 moments carry several queries, 1,989 rows; 1,571 queries stand verbatim in train.
    assert Counter(labels_of(test, "shared moment"))["of several queries"] == 1989
    assert Counter(labels_of(test, "in train", train_sentences=train.queries.sentence))["verbatim in train"] == 1571


@pytest.mark.data
def test_counts_of_activitynet_cd_and_qvhighlights(data_dir):
    labels = Counter(labels_of(load_annotations("activitynet-cd", "test-ood", data_dir=data_dir), "reference length"))
    # Closer Look, section 4.1: pairs longer than half the video stay in training. The survey: 2 swapped, 2 empty.
    assert labels["empty or swapped"] == 4
    assert "over 50 %" not in labels
    assert labels.total() == 13_578
    labels = Counter(labels_of(load_annotations("qvhighlights", "val", data_dir=data_dir), "references"))
    assert labels == {"several": 530, "one": 1550 - 530}  # the survey: 530 of 1,550 have several windows


def test_marks_are_families_of_two_classes():
    """Marks are given, one family each; without them, their family is refused by name."""
    rows = [(f"v#{q}", "v", 20.0, "a door opens", 0.0, 5.0) for q in range(3)]
    annotations = Annotations.from_rows(rows)
    marks = {"negation": np.array([False, True, True])}
    (member,) = membership(annotations, families=["negation"], marks=marks)
    assert (member.family, member.labels, member.number.tolist()) == ("negation", ("no", "yes"), [0, 1, 1])
    with pytest.raises(UsageError, match="family 'negation' needs marks"):
        membership(annotations, families=["negation"])
