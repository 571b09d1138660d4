"""What simulated perception gives away: rules that pick an action interval, on a few videos and on Charades-CD."""

import csv
import json
import re

import numpy as np
import pytest

from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import Annotations
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.grounders import Grounder
from truemoment.worlds import interval_rules
from truemoment.worlds.concepts import Concept
from truemoment.worlds.interval_rules import (
    ConceptInterval,
    LikeliestInterval,
    NamedInterval,
    RandomInterval,
    interval_share,
)
from truemoment.worlds.perception import CAUTION, AnnotatedActions, class_names, perfect_perception

pytestmark = pytest.mark.slow


NAMES = ("Closing a door", "Opening a book", "Holding a cup/glass of something")


CONCEPTS = (Concept("door", "NOUN"), Concept("open", "VERB"), Concept("book", "NOUN"))


def actions(*intervals, duration_s=20.0):
    """Make the intervals of a video: (class, start_s, end_s)."""
    klass, start_s, end_s = zip(*intervals, strict=True) if intervals else ((), (), ())
    return AnnotatedActions(
        duration_s, np.array(klass, dtype=np.int64), np.array(start_s, float), np.array(end_s, float)
    )


VIDEOS = {
    "v": actions((0, 12.0, 18.0), (1, 1.0, 5.0), (2, 6.0, 11.0)),
    "none": actions(),
    "cut": actions((0, -2.0, 4.0), (0, 20.0, 24.0), (1, 17.0, 21.0), (2, -3.0, -1.0)),
}


def intervals(video_id):
    if video_id not in VIDEOS:
        raise InputError(f"no video {video_id!r}")
    return VIDEOS[video_id]


def asked(*sentences, video_id="v"):
    """Make annotations that ask for each sentence; their moments are of no interest."""
    rows = [(f"{video_id}#{n}", video_id, 20.0, text, 0.0, 1.0) for n, text in enumerate(sentences)]
    return Annotations.from_rows(rows, dataset="d", split="s")


TRAIN = Annotations.from_rows(
    [
        (f"t#{n}", "t", 10.0, "a door", start, end)
        for n, (start, end) in enumerate([(3.0, 5.5), (3.1, 5.4), (0.5, 2.4)])
    ],
    dataset="d",
    split="train",
)
"""Two moments at 30 to 55 % of the video, one at 5 to 24 %: in sixteenths 4 to 8 and 0 to 3, counted from 0."""

RULES = {
    "random": lambda of: RandomInterval(of, np.random.default_rng(0)),
    "likeliest": lambda of: LikeliestInterval(of).fit(TRAIN),
    "named": lambda of: NamedInterval(of, NAMES),
    "concept": lambda of: ConceptInterval(of, CONCEPTS),
}


def moments(rule, annotations, top=1):
    found = rule.ground(annotations.queries, top)
    return [
        list(zip(found.start_s[low:high].tolist(), found.end_s[low:high].tolist(), strict=True))
        for low, high in zip(found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True)
    ]


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_a_grounder_that_answers_with_each_interval_once(name):
    rule = RULES[name](intervals)
    assert isinstance(rule, Grounder)
    (found,) = moments(rule, asked("a person closes the door"), top=9)
    assert sorted(found) == [(1.0, 5.0), (6.0, 11.0), (12.0, 18.0)]
    assert len(moments(rule, asked("a person closes the door"), top=2)[0]) == 2
    assert moments(rule, asked("a door", video_id="none")) == [[]]
    # Only what shows some of the video, none before its start; ends stay, as references also end after the video.
    assert sorted(moments(rule, asked("a door", video_id="cut"), top=9)[0]) == [(0.0, 4.0), (17.0, 21.0)]
    with pytest.raises(InputError, match="no video 'x'"):
        rule.ground(asked("a door", video_id="x").queries)


@pytest.mark.parametrize("name", RULES)
def test_the_order_in_which_a_detector_lists_intervals_does_not_count(name):
    """It lists true ones before false ones: with ties in its order a rule would know which are true."""

    def backwards(video_id):
        of = intervals(video_id)
        return AnnotatedActions(of.duration_s, of.klass[::-1], of.start_s[::-1], of.end_s[::-1])

    sentences = asked("a person sits", "the person closes a book", "somebody opens the door")  # ties for every rule
    assert moments(RULES[name](intervals), sentences, top=3) == moments(RULES[name](backwards), sentences, top=3)


@pytest.mark.parametrize("name", ["random", "likeliest"])
def test_floors_do_not_read_the_sentence(name):
    one, other = (moments(RULES[name](intervals), asked(*3 * [text]), top=3) for text in ("door", "opens a book"))
    assert one == other


def test_random_intervals_are_drawn_evenly():
    found = moments(RULES["random"](intervals), asked(*3000 * ["a door"]))
    counts = [found.count([of]) for of in ((1.0, 5.0), (6.0, 11.0), (12.0, 18.0))]
    assert sum(counts) == 3000
    assert all(abs(count - 1000) < 4 * np.sqrt(3000 * (1 / 3) * (2 / 3)) for count in counts)  # binomial


def test_the_likeliest_interval_lies_where_most_training_moments_do():
    rule = LikeliestInterval(intervals).fit(TRAIN)
    found = rule.ground(asked("opens a book").queries, 3)
    # 6 to 11 of 20 s is in the cell of two of three training moments, 1 to 5 s in none (its end is in sixteenth 3,
    # as 24 % is, its start in sixteenth 0, as 5 % is: that is the cell of the third), 12 to 18 s in none.
    assert list(zip(found.start_s.tolist(), found.score.tolist(), strict=True)) == [
        (6.0, pytest.approx(2 / 3)),
        (1.0, pytest.approx(1 / 3)),
        (12.0, 0.0),
    ]
    with pytest.raises(UsageError, match="has to be fitted first"):
        LikeliestInterval(intervals).ground(asked("a door").queries)
    unknown = Annotations.from_rows([("v#0", "v", float("nan"), "a door", 0.0, 1.0)])
    with pytest.raises(InputError, match="duration, and that of query 'v#0' is not known"):
        rule.ground(unknown.queries)


def test_the_named_interval_shares_most_verbs_and_nouns():
    rule = NamedInterval(intervals, NAMES)
    sentences = asked(
        "a person closes the door.", "a person opened the books", "someone is holding the glass in a door"
    )
    assert moments(rule, sentences) == [[(12.0, 18.0)], [(1.0, 5.0)], [(6.0, 11.0)]]


def test_the_concept_interval_agrees_most_with_the_others_of_the_sentence():
    """Against a slow loop on drawn intervals, several of a concept."""
    rng = np.random.default_rng(0)
    table = [(int(rng.integers(3)), start, start + rng.uniform(1, 9)) for start in rng.uniform(0, 11, 12)]
    rule = ConceptInterval(lambda _: actions(*table), CONCEPTS)
    for text, named in (("a person opens a book", (1, 2)), ("someone sees the door and opens a book", (0, 1, 2))):
        found = rule.ground(asked(text).queries, top=12)
        expected = {}
        for klass, start, end in table:
            score = 0.0
            for other in named if klass in named else ():
                ious = [
                    max(0.0, min(end, b) - max(start, a)) / (max(end, b) - min(start, a))
                    for k, a, b in table
                    if k == other
                ]
                score += max(ious, default=0.0)
            expected[start] = score
        assert dict(zip(found.start_s.tolist(), found.score.tolist(), strict=True)) == pytest.approx(expected)
        assert np.all(np.diff(found.score) <= 0)
    assert not rule.ground(asked("a dog runs").queries, top=3).score.any()  # no word is a concept


# ------------------------------------------------------------------------------------------ on Charades-CD

TABLE = {
    ("random", "test-iid"): (29.2, 22.4),
    ("likeliest", "test-iid"): (39.7, 32.8),
    ("named", "test-iid"): (89.6, 87.7),
    ("random", "test-ood"): (31.0, 22.8),
    ("likeliest", "test-ood"): (26.8, 20.9),
    ("named", "test-ood"): (90.8, 88.4),
}
"""R@1 at IoU 0.5 and 0.7, percent, as measured by others before this package had the rules.

Their description leaves open which words count, how ties are broken and what the prior is, and random intervals were
drawn: ours are within 0.4 points. The table in the docstring of the module has our figures.
"""

MEASURES = ("R@1,IoU=0.5", "R@1,IoU=0.7")
N_DRAWS = 20


@pytest.fixture(scope="module")
def perception(data_dir):
    return perfect_perception(data_dir / "charades-sta")


@pytest.fixture(scope="module")
def measured(data_dir, perception):
    """R@1 of each rule and split, percent; a row a draw."""
    train = load_annotations("charades-cd", "train", data_dir=data_dir)
    rules = {
        "random": (RandomInterval(perception.intervals), N_DRAWS),
        "likeliest": (LikeliestInterval(perception.intervals).fit(train), 1),
        "named": (NamedInterval(perception.intervals, class_names(data_dir / "charades-sta")), 1),
    }
    found = {}
    for split in ("test-iid", "test-ood"):
        of = load_annotations("charades-cd", split, data_dir=data_dir)
        for name, (rule, n_draws) in rules.items():
            scores = [evaluate(of, rule.ground(of.queries), MEASURES) for _ in range(n_draws)]
            found[name, split] = np.array([[100 * one.value(measure) for measure in MEASURES] for one in scores])
    return found


@pytest.fixture(scope="module")
def expected(data_dir, perception):
    """Expected R@1 of a random interval, percent, by a slow loop: the share of a video's intervals that are right."""
    found = {}
    for split in ("test-iid", "test-ood"):
        of = load_annotations("charades-cd", split, data_dir=data_dir)
        shares = np.zeros(2)
        for video_id, start_s, end_s in zip(of.video_id, of.start_s.tolist(), of.end_s.tolist(), strict=True):
            there = perception.actions[video_id]
            for a, b in zip(there.start_s.tolist(), there.end_s.tolist(), strict=True):
                iou = max(0.0, min(b, end_s) - max(a, start_s)) / (max(b, end_s) - min(a, start_s))
                shares += np.array([iou > 0.5 + 1e-9, iou > 0.7 + 1e-9]) / len(there.klass)
        found[split] = 100 * shares / len(of)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "split"), TABLE)
def test_what_the_rules_score_on_charades_cd(measured, expected, name, split):
    found = expected[split] if name == "random" else measured[name, split][0]
    assert found == pytest.approx(TABLE[name, split], abs=0.4)
    row = next(line for line in interval_rules.__doc__.splitlines() if re.match(rf"{name}-interval .* / ", line))
    told = np.array(re.findall(r"[\d.]+", row), dtype=float).reshape(2, 2)[int(split == "test-ood")]
    assert told == pytest.approx(found, abs=0.0501)


@pytest.mark.thorough
@pytest.mark.parametrize("split", ["test-iid", "test-ood"])
def test_draws_of_a_random_interval_have_their_expected_value(measured, expected, split):
    draws = measured["random", split]
    error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - expected[split]) < 4 * error)


@pytest.mark.thorough
def test_moments_of_charades_cd_are_annotated_action_intervals(data_dir, perception):
    """What the caution says, counted in the files themselves; and what is left when intervals are joined."""
    annotated = {}
    for part in ("train", "test"):
        with (data_dir / "charades-sta" / f"Charades_v1_{part}.csv").open(newline="") as stream:
            for row in csv.DictReader(stream):
                texts = filter(None, row["actions"].split(";"))
                annotated[row["id"]] = [tuple(map(float, text.split()[1:])) for text in texts]
    n_moments = n_alike = 0
    for split in ("train", "val", "test_iid", "test_ood"):
        videos = json.loads((data_dir / "charades-cd" / f"charades_{split}.json").read_text())
        for video_id, of in videos.items():
            for start_s, end_s in of["timestamps"]:
                n_moments += 1
                n_alike += any(abs(start_s - a) <= 0.15 and abs(end_s - b) <= 0.15 for a, b in annotated[video_id])
    assert f"({n_alike:,} of the {n_moments:,} moments of Charades-CD)" in CAUTION
    shares = [
        interval_share(load_annotations("charades-cd", split, data_dir=data_dir), perception.intervals)
        for split in ("train", "val", "test-iid", "test-ood")
    ]
    # 10,797 of 11,071, 839 of 859, 811 of 823 and 3,307 of 3,375: "97.5 to 98.5 %" of an earlier measurement by others.
    assert [round(100 * share, 2) for share in shares] == [97.53, 97.67, 98.54, 97.99]
