"""Published figures on the real files, each table once: what issue 3 asks to come out, and by how much."""

from __future__ import annotations

import functools
from itertools import islice

import pytest

from truemoment.reproduction import TABLES, TableInputs, published_figures

from ..thorough import quick_are

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def rows(reproduce_once, data_dir):
    """Compute a table, once."""
    return functools.cache(lambda name: reproduce_once(name, data_dir))


def select(rows, **wanted):
    """Rows by measure, of those whose other fields are as wanted."""
    found = {row.measure: row for row in rows if all(getattr(row, name) == value for name, value in wanted.items())}
    assert found
    return found


NOT_JUDGED = {"verb-engine", "axiou-agreement", "blind-beside-published"}
"""Nothing of these is judged, and the last trains ten networks: see test_blind.py."""

JUDGED = set(TABLES) - NOT_JUDGED
LONG = {
    *("hidden-challenges-blind", "hidden-challenges-2", "bandwidth-search", "mad-1", "verb-coverage"),
    *("axiou-noise", "closer-look-resplit", "closer-look-journal-2", "closer-look-original", "mad-5"),
}


@pytest.mark.parametrize("name", quick_are(JUDGED - LONG, sorted(JUDGED)))
def test_nothing_lies_outside(rows, name, data_dir):
    if TABLES[name].datasets == ("mad",) and not (data_dir / "mad").is_dir():
        pytest.skip("MAD's files need an agreement with its authors, and are not here")
    assert [row for row in rows(name) if row.status == "outside"] == []
    assert [row for row in rows(name) if (row.printed is None) is (row.unchecked is None)] == []


def test_counts_are_exact(rows):
    # Closer Look, Table 1: 24 counts.
    assert [row.status for row in rows("closer-look-1")] == ["exact"] * 24
    train = select(rows("closer-look-1"), dataset="ActivityNet-CD", split="training")
    assert (train["videos"].ours, train["query-moment pairs"].ours) == (10_984, 51_415)


class TestDiscountedRecall:
    """Closer Look, Table 2: five thresholds on two splits of two datasets."""

    def test_predict_all_is_exact(self, rows):
        predict_all = [row for row in rows("closer-look-2") if row.method == "PredictAll"]
        assert [row.status for row in predict_all] == ["exact"] * 20
        figures = select(predict_all, dataset="ActivityNet-CD", split="test-iid")
        assert [str(row.printed) for row in figures.values()] == ["36.43", "29.62", "20.05", "12.45", "7.83"]

    @pytest.mark.parametrize(
        ("dataset", "found"),
        # Issue 3 asks for 1.5 points or less on Charades-CD with the principled default. Found before the table was
        # written, with a bandwidth nobody tuned: 0.69 and 0.18.
        [("Charades-CD", 0.69), ("ActivityNet-CD", 0.18)],
    )
    def test_bias_based(self, rows, dataset, found):
        figures = [row for row in rows("closer-look-2") if (row.dataset, row.method) == (dataset, "Bias-based")]
        single = [row for row in figures if row.published is not None]
        assert len(single) == 10
        (mean,) = (row for row in figures if row.published is None)
        off = sum(abs(row.difference) for row in single) / 10
        assert off <= 1.5
        assert float(off) == pytest.approx(mean.ours, abs=1e-9)
        assert round(mean.ours, 2) == found

    def test_other_methods_are_unchecked(self, rows):
        others = [row for row in rows("closer-look-2") if row.method not in ("PredictAll", "Bias-based")]
        assert len(others) == 160  # 8 methods, 2 datasets, 2 splits, 5 thresholds
        assert {row.status for row in others} == {"published, unchecked"}


def test_recall_in_the_text(rows):
    # Closer Look, section 5.2, R@1,IoU=0.7.
    figures = {(row.dataset, row.split, row.method): row for row in rows("closer-look-text") if row.ours is not None}
    assert len(figures) == 7
    assert str(figures["ActivityNet-CD", "test-iid", "PredictAll"].printed) == "13.8"
    assert str(figures["ActivityNet Captions", "test", "PredictAll"].printed) == "11.9"
    assert {row.status for row in figures.values() if row.method == "PredictAll"} == {"exact"}
    assert abs(figures["ActivityNet-CD", "test-iid", "Bias-based"].difference) <= 1.5  # 13.6
    assert abs(figures["ActivityNet-CD", "test-ood", "Bias-based"].difference) <= 1.5  # 0.1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("dataset", "method", "published", "tolerance"),
    # Issue 3, point 9 and "figures it must meet".
    [
        ("Charades-STA", "Uniform random", 10.77, 0.3),
        ("ActivityNet Captions", "Uniform random", 13.57, 0.3),
        ("Charades-STA", "Prior-Only Blind", 23.58, 1.5),
        ("ActivityNet Captions", "Prior-Only Blind", 10.80, 1.5),
        ("Charades-STA", "Action-Aware Blind", 28.06, 2.5),
        ("ActivityNet Captions", "Action-Aware Blind", 24.30, 2.5),
    ],
)
def test_blind_baselines(rows, dataset, method, published, tolerance):
    row = select(rows("hidden-challenges-blind"), dataset=dataset, method=method)["R@1,IoU=0.5"]
    assert float(row.published) == published
    assert abs(row.ours - published) <= tolerance
    assert (row.status, float(row.tolerance)) == ("within", tolerance)


@pytest.mark.thorough
def test_blind_baselines_at_other_ranks(rows):
    # The notebooks print 9 figures of each of 2 baselines on 2 datasets; Uniform has 1 on each.
    judged = [row for row in rows("hidden-challenges-blind") if row.ours is not None]
    assert len(judged) == 2 * 2 * 9 + 2
    assert {row.status for row in judged} == {"within"}


def test_the_first_30_percent(rows):
    # Issue 3; it stands in no paper.
    figures = [(row.measure, str(row.printed), row.status) for row in rows("best-constant")]
    assert figures == [("R@1,IoU=0.5", "30.65", "ours beside ours"), ("R@1,IoU=0.7", "15.16", "ours beside ours")]


@pytest.mark.thorough
def test_the_reading_found_by_search_is_near_all_quoted_ious(rows):
    # AxIoU, section 6.4: eight IoUs; issue 22, point 7: within 0.010 of all, in the digits of the paper.
    found = [row for row in rows("axiou-noise") if row.method == "found by search"]
    assert [row.status for row in found] == ["found by search"] * 8
    assert {row.status for row in rows("axiou-noise") if row not in found} == {"informational"}


@pytest.mark.thorough
def test_the_bandwidth_search_is_no_result(rows):
    found = rows("bandwidth-search")
    assert {(row.status, row.published) for row in found} == {("informational", None)}
    of_default = next(row for row in found if row.method == "1 x Scott's bandwidth, reflected")
    closest = next(row for row in found if row.method.startswith("the closest constant"))
    # papers.md, section 1: a search over constants comes closest with about (0.00, 0.18) on Charades-CD.
    assert closest.measure.endswith("answer 0-18 %")
    assert closest.ours < of_default.ours


@pytest.mark.thorough
def test_verbs_cover_what_they_are_said_to(rows):
    # Hidden Challenges, section 3.1; Closer Look, section 4.2. Another engine: 2.5 points, as for Action-Aware Blind.
    said = {"Charades-STA": 93.2, "ActivityNet Captions": 51.4, "Charades-CD": 92.7, "ActivityNet-CD": 52.9}
    found = {row.dataset: row.ours for row in rows("verb-coverage")}
    assert found == pytest.approx(said, abs=2.5)


def test_how_far_our_verbs_are_from_theirs(data_dir):
    # The notebook's 50 counts of training queries that hold a verb sum to 13,475. The bounds are twice what was found
    # when Action-Aware Blind came out 0.4 points from theirs: 2.3 % apart, 49 verbs in common.
    table = TABLES["verb-engine"]
    of_charades_sta = islice(table.compute(published_figures(table.figures), TableInputs(data_dir)), 3)
    summed, verb_by_verb, both = of_charades_sta
    assert summed.published == 13_475
    assert verb_by_verb.ours < 5
    assert both.ours >= 47
