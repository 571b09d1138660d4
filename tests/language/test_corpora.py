"""What the default engine makes of whole datasets, beside what was published. None of it was tuned to come out."""

import functools

import pytest

from truemoment import load_annotations
from truemoment.data.language import Remembered, coverage, get_engine, verb_counts, verbs_of

pytestmark = pytest.mark.data

ALL = {
    "charades-sta": ("train", "test"),
    "charades-cd": ("train", "val", "test-iid", "test-ood"),
    "activitynet-captions": ("train", "val_1", "val_2"),
    "activitynet-cd": ("train", "val", "test-iid", "test-ood"),
}


@pytest.fixture(scope="module")
def verbs(data_dir):
    """Give the verbs of the sentences of some splits of a dataset, with or without stop words."""
    engine = Remembered(get_engine())  # splits and datasets share sentences

    @functools.cache
    def find(name, splits, keep_stop_words):
        if not (data_dir / name).is_dir():
            pytest.skip(f"no real files in {data_dir / name}")
        sentences = [s for split in splits for s in load_annotations(name, split, data_dir=data_dir).queries.sentence]
        return verbs_of(sentences, engine, keep_stop_words=keep_stop_words)

    return find


# Share of all occurrences of verbs that the 30 most frequent cover, in percent: published, ours without stop words
# (as Hidden Challenges counts), ours with them. Closer Look, section 4.2, "actions" in the whole of its datasets;
# Hidden Challenges, section 3.1, "verbs", splits not said. With stop words ours are 0.2 and 0.4 points from Closer
# Look's, without 0.4 and 2.4, which suggests that it keeps them. Without, ours are 0.1 and 0.9 points from Hidden
# Challenges' over all splits, 0.0 and 1.8 on train.
COVERAGE = [
    ("charades-cd", ALL["charades-cd"], 92.7, (93.10, 92.87)),  # Closer Look
    pytest.param(  # Closer Look
        *("activitynet-cd", ALL["activitynet-cd"], 52.9, (50.53, 52.54)), marks=pytest.mark.thorough
    ),
    ("charades-sta", ALL["charades-sta"], 93.2, (93.10, 92.88)),  # Hidden Challenges
    pytest.param("charades-sta", ("train",), 93.2, (93.18, 92.91), marks=pytest.mark.thorough),
    pytest.param(  # Hidden Challenges
        *("activitynet-captions", ALL["activitynet-captions"], 51.4, (50.53, 52.55)), marks=pytest.mark.thorough
    ),
    pytest.param("activitynet-captions", ("train",), 51.4, (49.64, 51.83), marks=pytest.mark.thorough),
]


@pytest.mark.parametrize(("name", "splits", "published", "ours"), COVERAGE)
def test_coverage_of_the_30_most_frequent_verbs(verbs, name, splits, published, ours):
    found = [100 * coverage(verb_counts(verbs(name, splits, keep))) for keep in (False, True)]
    assert found == pytest.approx(ours, abs=0.005)  # as printed above
    # What is published lies between ours without and with stop words, or within half a point of that.
    assert min(found) - 0.5 < published < max(found) + 0.5


@pytest.mark.thorough
def test_verbs_per_query(verbs):
    # Hidden Challenges, section 3.2: 2.2 verbs a query in ActivityNet Captions, its split and count not said.
    train, every = (verbs("activitynet-captions", s, False) for s in (("train",), ALL["activitynet-captions"]))
    assert sum(map(len, train)) / len(train) == pytest.approx(2.132, abs=0.0005)
    assert sum(map(len, every)) / len(every) == pytest.approx(2.088, abs=0.0005)


# The 50 most frequent verbs as Hidden Challenges' authors store them, made with spaCy
# (github.com/mayu-ot/hidden-challenges-MR at e0c4546, data/processed/*/top50_actions), most frequent first.
TOP_50 = {
    "charades-sta": (
        "open put eat take close sit hold turn throw run drink start begin walk look sneeze laugh pour smile stand "
        "undress cook watch awaken wash dress play read fix snuggle tidy work talk get lie see leave lay grab "
        "enter pick proceed go grasp come stop fold decide carry try"
    ),
    "activitynet-captions": (
        "show play stand see continue walk hold talk begin sit speak run put jump throw ride watch start take wear "
        "move look go hit end perform lead get appear follow use turn fall cut dance pull come demonstrate finish "
        "try push make spin grab stop pick add smile lift pour"
    ),
}


@pytest.mark.parametrize(
    ("name", "shared_30", "theirs", "ours"),
    [
        ("charades-sta", 30, {"fold"}, {"continue"}),
        pytest.param("activitynet-captions", 29, {"pour"}, {"pan"}, marks=pytest.mark.thorough),
    ],
)
def test_most_frequent_verbs_are_those_of_hidden_challenges(verbs, name, shared_30, theirs, ours):
    frequent = [verb for verb, _ in verb_counts(verbs(name, ("train",), False)).most_common(50)]
    listed = TOP_50[name].split()
    assert len(set(frequent[:30]) & set(listed[:30])) == shared_30
    assert (set(listed) - set(frequent), set(frequent) - set(listed)) == (theirs, ours)


@pytest.mark.parametrize(
    ("name", "share"),
    [("charades-sta", 0.004), pytest.param("activitynet-captions", 0.014, marks=pytest.mark.thorough)],
)
def test_sentences_without_a_verb_are_few(verbs, name, share):
    # Fragments exist ("person a cookbook."), but a tagger that misses verbs would show here. Counted on train splits.
    of_sentences = verbs(name, ("train",), True)
    assert sum(not v for v in of_sentences) / len(of_sentences) < share
