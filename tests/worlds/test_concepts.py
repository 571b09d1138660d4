"""Simulated perception for ActivityNet: what a second shows, and that nothing else tells where a moment lies."""

import math
import re

import numpy as np
import pytest

from truemoment import Annotations, load_annotations
from truemoment.base.errors import InputError, UsageError
from truemoment.data.language import get_engine
from truemoment.evaluation.evaluate import evaluate
from truemoment.worlds import interval_rules
from truemoment.worlds.concepts import (
    CALIBRATION,
    CAUTION,
    FALSE_LENGTH_S,
    Concept,
    ConceptVocabulary,
    calibrate_concepts,
    concepts_of,
    perceived_concepts,
    perfect_concepts,
)
from truemoment.worlds.interval_rules import ConceptInterval, LikeliestInterval, interval_share
from truemoment.worlds.perception import Detector, dial_of, row_coverage

SENTENCES = (
    "A man jumps over the box.",
    "The man is holding a ball.",
    "A dog runs and jumps.",
    "The woman throws the ball to the dog.",
    "A child sits in the box.",
)


def drawn(seed, n_videos=12, split="train", durations=5):
    """Draw annotations; the seed changes moments alone: sentences, videos and durations stay."""
    fixed, rng = np.random.default_rng(durations), np.random.default_rng(seed)
    rows = []
    for video in range(n_videos):
        duration = round(fixed.uniform(6, 40), 2)
        for number in range(fixed.integers(1, 5)):
            start = rng.uniform(0, duration - 1)
            end = min(start + rng.uniform(0.2, 20), duration + 2)  # some are short, some end after the video
            name = f"{split}{video}"
            rows.append((f"{name}#{number}", name, duration, str(fixed.choice(SENTENCES)), start, end))
    return Annotations.from_rows(rows, dataset="activitynet-captions", split=split)


def slow_rows(annotations, video_id, concepts):
    """Look at each second: a concept is visible if a sentence has it and its moment contains the middle."""
    rows = [row for row in range(len(annotations)) if annotations.video_id[row] == video_id]
    duration = annotations.duration_s[rows[0]]
    seen = np.zeros((math.ceil(duration), len(concepts)))
    for second in range(len(seen)):
        middle = (second + min(second + 1, duration)) / 2
        for row in rows:
            if annotations.start_s[row] <= middle <= annotations.end_s[row]:
                (found,) = concepts_of([annotations.sentence[row]], get_engine())
                seen[second, [at for at, concept in enumerate(concepts) if concept in found]] = 1
    return seen


def test_concepts_are_the_verbs_and_nouns_of_most_training_sentences():
    found = ConceptVocabulary.of(concepts_of([*SENTENCES, SENTENCES[0]], get_engine()), n_concepts=5)
    # Counted by hand: box 3, jump 3, man 3, then the first of ball 2, dog 2 by the alphabet; "jumps ... jumps" is one.
    expected = [("box", "NOUN", 3), ("jump", "VERB", 3), ("man", "NOUN", 3), ("ball", "NOUN", 2), ("dog", "NOUN", 2)]
    assert [(*of, n) for of, n in zip(found.concepts, found.count.tolist(), strict=True)] == expected
    unseen = Annotations.from_rows([("t#0", "t", 9.0, "A cat sleeps near the box.", 1.0, 5.0)], split="test")
    store = perceived_concepts(drawn(0), [unseen])
    assert Concept("cat", "NOUN") not in store.concepts  # words of test sentences are no concepts
    assert [store.concepts[at].lemma for at in np.flatnonzero(store["t"].any(axis=0))] == ["box"]


def test_without_errors_a_second_shows_the_concepts_of_the_sentences_that_cover_it():
    train, others = drawn(0), drawn(1, 4, "val", durations=6)
    store = perceived_concepts(train, [others])
    assert len(store) == 16
    for annotations in (train, others):
        for video_id in dict.fromkeys(annotations.video_id.tolist()):
            assert np.array_equal(store[video_id], slow_rows(annotations, video_id, store.concepts))
    few = perceived_concepts(train, n_concepts=3)
    assert (few.concepts, few.n_dimensions, few["train0"].shape[1]) == (store.concepts[:3], 3, 3)


def test_a_moment_shows_no_more_than_its_seconds():
    def at(start, end):
        return Annotations.from_rows([("v#0", "v", 20.0, "A man jumps.", start, end)])

    one = perceived_concepts(at(4.0, 9.0)).at(0.9, seed=2)
    # The middles 4.5 to 8.5 lie in each of these moments, and no other middle.
    for start, end in ((3.51, 9.49), (4.5, 8.5), (4.2, 8.7)):
        assert np.array_equal(one["v"], perceived_concepts(at(start, end)).at(0.9, seed=2)["v"])
    assert not np.array_equal(one["v"], perceived_concepts(at(3.4, 9.0)).at(0.9, seed=2)["v"])


def test_noise_does_not_depend_on_any_moment():
    """All moments are replaced, those that concepts and false positives are learned from too."""
    one, other = (perceived_concepts(drawn(seed), [drawn(seed, 4, "val")]) for seed in (0, 1))
    assert any(not np.array_equal(one[video_id], other[video_id]) for video_id in one)
    for video_id in one:
        assert np.array_equal(one.at(0, seed=3)[video_id], other.at(0, seed=3)[video_id])
    assert any(not np.array_equal(one.at(0.3, seed=3)[v], other.at(0.3, seed=3)[v]) for v in one)


def test_rows_depend_on_the_duration_only():
    long = ("w#0", "w", 20.25, "A dog runs.", 0.0, 20.25)
    annotations = Annotations.from_rows(
        [*((f"v#{n}", "v", 20.25, text, 2.0, 4.0) for n, text in enumerate(SENTENCES)), long]
    )
    store = perceived_concepts(annotations).at(0.3, seed=0)
    for video_id in ("v", "w"):
        assert store[video_id].shape == (21, store.n_dimensions)
        assert store.edges_s(video_id, 20.25).tolist() == [*range(21), 20.25]
    assert store.fps == 1.0


def test_other_times_change_the_visible_seconds_alone():
    """The moments of a video's sentences change places: false positives and noise stay, equal to the bit."""
    before = drawn(0)
    rows = np.flatnonzero(before.video_id == "train1")
    assert len(rows) > 1
    start_s, end_s = before.start_s.copy(), before.end_s.copy()
    start_s[rows], end_s[rows] = start_s[rows[::-1]], end_s[rows[::-1]]
    columns = (before.query_id, before.video_id, before.duration_s, before.sentence, start_s, end_s)
    after = Annotations.from_rows(list(zip(*(column.tolist() for column in columns), strict=True)))
    one, other = (perceived_concepts(of).at(0.3, seed=4) for of in (before, after))
    for video_id in one:
        shown = [row_coverage(of.intervals(video_id), of.n_dimensions) for of in (one, other)]
        alike = shown[0] == shown[1]
        assert alike.all() == (video_id != "train1")
        assert np.array_equal(one[video_id][alike], other[video_id][alike])
        # What differs is what the detector finds in the visible seconds: noise is added to both.
        assert one[video_id] - shown[0] == pytest.approx(other[video_id] - shown[1], abs=1e-6)


def test_features_depend_on_seed_and_video_alone():
    train, val = drawn(0), drawn(1, 4, "val")
    one, same, other = (perceived_concepts(train, [val]).at(0.3, seed=seed) for seed in (7, 7, 8))
    backwards = {video_id: same[video_id] for video_id in reversed(list(same))}
    for video_id in one:
        assert np.array_equal(one[video_id], backwards[video_id])
        assert not np.array_equal(one[video_id], other[video_id])
    order = np.argsort([int(name.removeprefix("train")) for name in train.video_id], kind="stable")[::-1]
    columns = (train.query_id, train.video_id, train.duration_s, train.sentence, train.start_s, train.end_s)
    reversed_rows = Annotations.from_rows(list(zip(*(column[order].tolist() for column in columns), strict=True)))
    sorted_otherwise = perceived_concepts(reversed_rows, [val]).at(0.3, seed=7)
    assert all(np.array_equal(one[video_id], sorted_otherwise[video_id]) for video_id in one)


def test_false_positives_have_the_mean_length_and_the_counts_of_concepts():
    found = ConceptVocabulary(tuple(Concept(f"c{n}", "NOUN") for n in range(4)), np.array([4000, 3000, 2000, 1000]))
    habits = found.false_positives()
    assert np.bincount(habits.klass).tolist() == [4000, 3000, 2000, 1000]
    assert habits.length_s.mean() == pytest.approx(FALSE_LENGTH_S, rel=0.001)  # the mean of the distribution
    assert np.median(habits.length_s) == pytest.approx(FALSE_LENGTH_S * math.log(2), rel=0.001)  # its median


def test_a_store_says_what_it_is():
    store = perceived_concepts(drawn(0)).at(0.3, seed=5)
    assert (store.name, store.caution) == ("perception:0.3, seed=5", CAUTION)
    assert store.detector == Detector.at(dial_of(0.3, CALIBRATION))
    assert np.all(np.diff(np.array(CALIBRATION), axis=0) > 0)
    assert store["train0"].dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        store["train0"][0, 0] = 1
    with pytest.raises(InputError, match="ActivityNet has no video 'x' to perceive"):
        store["x"]
    with pytest.raises(UsageError, match=r"from 0\.014 .* to 1"):
        store.at(0.001, seed=0)
    with pytest.raises(UsageError, match="seed -1"):
        store.at(0.3, seed=-1)


@pytest.mark.parametrize("seconds", [float("nan"), 0.0, 1e6, 21.0])
def test_a_video_without_one_usable_duration_is_named(seconds):
    rows = [("v#0", "v", 20.0, "A man jumps.", 2.0, 3.0), ("w#0", "w", seconds, "A man jumps.", 2.0, 3.0)]
    if seconds == 21.0:
        rows[1] = ("v#1", "v", 21.0, "A man jumps.", 2.0, 3.0)
    with pytest.raises(InputError, match=r"for video '[vw]', expected one duration above 0 and at most 3600 s"):
        perceived_concepts(Annotations.from_rows(rows[:1]), [Annotations.from_rows(rows[1:])])


@pytest.fixture(scope="module")
def activitynet(data_dir):
    return perfect_concepts("activitynet-cd", data_dir=data_dir)


@pytest.mark.data
@pytest.mark.thorough
def test_quality_is_the_measured_frame_map_on_activitynet(activitynet, data_dir):
    """Under another seed than that of the calibration; 14,926 videos are those of the published splits."""
    train = load_annotations("activitynet-cd", "train", data_dir=data_dir)
    assert (len(activitynet), activitynet.n_dimensions) == (10_984 + 746 + 746 + 2_450, 500)
    assert calibrate_concepts(activitynet, train, np.array([dial_of(0.3, CALIBRATION)]), seed=11) == pytest.approx(
        [0.3], abs=0.02
    )


@pytest.mark.data
@pytest.mark.thorough
def test_most_moments_are_runs_of_a_concept(activitynet, data_dir):
    """The share of moments that are no longer an interval because sentences of one video share all their words."""
    for split, share in (("test-iid", 0.9498), ("test-ood", 0.9509)):  # measured when the module was written
        annotations = load_annotations("activitynet-cd", split, data_dir=data_dir)
        found = interval_share(annotations, activitynet.actions.__getitem__, activitynet.within_s)
        assert found == pytest.approx(share, abs=0.0005)


@pytest.mark.data
@pytest.mark.thorough
@pytest.mark.parametrize("split", ["test-iid", "test-ood"])
def test_what_the_rules_score_on_activitynet_cd(activitynet, data_dir, split):
    """The second table of the module; for random intervals, the share of a video's intervals that are right."""
    of = load_annotations("activitynet-cd", split, data_dir=data_dir)
    train = load_annotations("activitynet-cd", "train", data_dir=data_dir)
    shares = np.zeros(2)
    for video_id, start_s, end_s in zip(of.video_id, of.start_s.tolist(), of.end_s.tolist(), strict=True):
        there = activitynet.actions[video_id]
        overlap = np.minimum(there.end_s, end_s) - np.maximum(there.start_s, start_s)
        iou = overlap / (np.maximum(there.end_s, end_s) - np.minimum(there.start_s, start_s))
        shares += [(iou >= threshold).mean() for threshold in (0.5, 0.7)]
    found = {"random": 100 * shares / len(of)}
    rules = {
        "likeliest": LikeliestInterval(activitynet.intervals).fit(train),
        "concept": ConceptInterval(activitynet.intervals, activitynet.concepts),
    }
    for name, rule in rules.items():
        scores = evaluate(of, rule.ground(of.queries), ("R@1,IoU=0.5", "R@1,IoU=0.7"))
        found[name] = [100 * scores.value(measure) for measure in ("R@1,IoU=0.5", "R@1,IoU=0.7")]
    for name, figures in found.items():
        row = [line for line in interval_rules.__doc__.splitlines() if re.match(rf"{name}-interval .* / ", line)][-1]
        told = np.array(re.findall(r"[\d.]+", row), dtype=float).reshape(2, 2)[int(split == "test-ood")]
        assert told == pytest.approx(figures, abs=0.0501)
