"""Oracle: no proposal of its scheme does better."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from truemoment import Annotations, Queries
from truemoment.base.errors import InputError
from truemoment.baselines import Oracle
from truemoment.baselines.proposals import MultiScale, SlidingWindows, SparseMap, WindowedGrid
from truemoment.evaluation.evaluate import evaluate

SCHEMES = [
    SparseMap(),
    SparseMap(5),
    SlidingWindows(),
    WindowedGrid(32, 16, 3.0, 16, (4, 3)),
    WindowedGrid(32, 12, 3.0, 16, (4, 3), tail="covered"),
    MultiScale((WindowedGrid(8, 4, 3.0, 8, (2,)), WindowedGrid(64, 32, 3.0, 16, (3, 2), tail="covered"))),
]


def slow_iou(a_start, a_end, b_start, b_end):
    """Intersection over union; empty and swapped moments overlap nothing."""
    overlap = min(a_end, b_end) - max(a_start, b_start)
    if overlap <= 0 or a_end <= a_start or b_end <= b_start:
        return 0.0
    return overlap / ((a_end - a_start) + (b_end - b_start) - overlap)


def references_of(annotations):
    """(start, end) of each query's references."""
    return {
        query_id: list(zip(annotations.start_s[low:high], annotations.end_s[low:high], strict=True))
        for query_id, low, high in zip(
            annotations.queries.query_id, annotations.offsets[:-1], annotations.offsets[1:], strict=True
        )
    }


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_against_a_slow_loop(asked, scheme):
    # The best IoU over all references of each proposal; the best proposal first, the earlier of equal ones first.
    top = 6
    predictions = Oracle(asked, scheme).ground(asked.queries, top)
    references = references_of(asked)
    for q, (query_id, duration_s) in enumerate(zip(asked.queries.query_id, asked.queries.duration_s, strict=True)):
        start, end = scheme.moments(duration_s)
        iou = [max(slow_iou(s, e, *r) for r in references[query_id]) for s, e in zip(start, end, strict=True)]
        rows = slice(predictions.offsets[q], predictions.offsets[q + 1])
        found = predictions.score[rows]
        best = sorted(iou, reverse=True)[:top]
        assert found.tolist() == pytest.approx(best, abs=1e-12)
        for s, e, score in zip(predictions.start_s[rows], predictions.end_s[rows], found, strict=True):
            assert (s, e) in set(zip(start, end, strict=True))
            assert max(slow_iou(s, e, *r) for r in references[query_id]) == pytest.approx(score, abs=1e-12)


class Hidden:
    """A scheme that tells nothing but its moments: everything has to be looked at."""

    def __init__(self, scheme):
        self.count, self.moments = scheme.count, scheme.moments


@pytest.mark.parametrize("top", [1, 3, 40, 5000])
@pytest.mark.parametrize("scheme", [SCHEMES[3], SCHEMES[4], SCHEMES[5], WindowedGrid()], ids=str)
def test_windows_around_a_reference_are_enough(scheme, top):
    # One to three references anywhere in the film and past its ends, short and long, swapped and empty ones too; the
    # same answers as from all proposals, in the same order.
    rng = np.random.default_rng(top)
    rows = []
    for query in range(40):
        duration_s = float(rng.choice([2.0, 9.5, 41.7, 300.0, 1234.5]))
        for _ in range(rng.integers(1, 4)):
            start_s = rng.uniform(-5, duration_s + 10)
            rows.append(
                (f"q{query}", f"v{query}", duration_s, "s", start_s, start_s + rng.choice([-2, 0, 0.1, 4, 30, 400]))
            )
    references = Annotations.from_rows(rows)
    quick, slow = (Oracle(references, one).ground(references.queries, top) for one in (scheme, Hidden(scheme)))
    for column in ("offsets", "start_s", "end_s", "score"):
        assert np.array_equal(getattr(quick, column), getattr(slow, column))
    assert quick.lengths.max() > 0


def test_films_at_true_scale_take_seconds(monkeypatch):
    # MAD's test split has 112 films and 72,044 sentences; here 112 x 20 of them. Only a few windows may be laid out for
    # a query, not the 300,000 proposals of its film.
    rng = np.random.default_rng(0)
    film = np.repeat(np.arange(112), 20)
    duration_s = rng.uniform(5400, 7800, 112)[film]
    start_s = rng.uniform(0, duration_s - 60)
    rows = [(f"q{q}", f"film{film[q]}", duration_s[q], "s", start_s[q], start_s[q] + 4.1) for q in range(len(film))]
    references = Annotations.from_rows(rows)
    laid_out = []
    moments = WindowedGrid.moments

    def told(self, duration_s, number=None):
        laid_out.append(len(number))
        return moments(self, duration_s, number)

    monkeypatch.setattr(WindowedGrid, "moments", told)
    scores = evaluate(
        references, Oracle(references, WindowedGrid()).ground(references.queries), "R@1,IoU=0.5", "mad-clip"
    )
    assert scores.value("R@1,IoU=0.5") == 1.0  # MAD, Table 2: 99.99, for moments of up to minutes
    assert max(laid_out) <= 6 * 626


def test_the_nearest_reference_counts():
    # By hand, four clips of 10 s: the first reference is met by no proposal as well as the second one is, exactly.
    rows = [("q", "v", 40.0, "s", 3.0, 7.0, "a"), ("q", "v", 40.0, "s", 10.0, 30.0, "b")]
    predictions = Oracle(Annotations.from_rows(rows), SparseMap(4)).ground(Queries(["q"], ["v"], [40.0], ["s"]), 2)
    assert (predictions.start_s[0], predictions.end_s[0], predictions.score[0]) == (10.0, 30.0, 1.0)
    # Then (0, 30) and (10, 40), 2/3 each: the earlier row of the map first.
    assert (predictions.start_s[1], predictions.end_s[1], predictions.score[1]) == (0.0, 30.0, pytest.approx(2 / 3))


def test_nothing_of_the_scheme_scores_more(asked):
    scores = evaluate(asked, Oracle(asked).ground(asked.queries, 1), "mIoU; R@1,IoU=0.5; R@1,IoU=0.7")
    references = references_of(asked)
    best = []
    for query_id, duration_s in zip(asked.queries.query_id, asked.queries.duration_s, strict=True):
        moments = zip(*SparseMap().moments(duration_s), strict=True)
        best.append(max(slow_iou(s, e, *r) for s, e in moments for r in references[query_id]))
    assert scores.value("mIoU") == pytest.approx(np.mean(best), abs=1e-12)
    assert scores.value("R@1,IoU=0.5") == np.mean(np.array(best) > 0.5 + 1e-9)
    assert scores.value("R@1,IoU=0.7") == np.mean(np.array(best) > 0.7 + 1e-9)


def test_a_query_that_is_not_among_the_references():
    references = Annotations.from_rows([("q", "v", 40.0, "s", 3.0, 7.0)])
    with pytest.raises(InputError) as caught:
        Oracle(references).ground(Queries(["q", "r"], ["v", "v"], [40.0, 40.0], ["s", "s"]))
    assert str(caught.value) == "Oracle needs a reference of query 'r'"


def test_some_queries_of_the_references(asked):
    # Answers go by query id, whatever the order and number of queries.
    chosen = asked.select_queries(np.arange(25) % 4 == 1).queries
    backwards = Queries(chosen.query_id[::-1], chosen.video_id[::-1], chosen.duration_s[::-1], chosen.sentence[::-1])
    whole = Oracle(asked).ground(asked.queries)
    expected = dict(zip(whole.query_id, zip(whole.start_s, whole.end_s, strict=True), strict=True))
    for queries in (chosen, backwards):
        found = Oracle(asked).ground(queries)
        assert found.query_id.tolist() == queries.query_id.tolist()
        for query_id, start, end in zip(found.query_id, found.start_s, found.end_s, strict=True):
            assert (start, end) == expected[query_id]


def test_a_video_without_proposals():
    references = Annotations.from_rows([("q", "v", 20.0, "s", 3.0, 7.0)])
    assert Oracle(references, WindowedGrid()).ground(references.queries, 3).lengths.tolist() == [0]


@pytest.mark.data
@pytest.mark.parametrize(
    ("dataset", "split", "n_clips", "published"),
    [
        pytest.param("charades-sta", "test", 16, (100.0, 99.54, 57.10), marks=pytest.mark.thorough),
        pytest.param("charades-cd", "test-ood", 16, (100.0, 97.95, 58.54), marks=pytest.mark.thorough),
        ("activitynet-cd", "test-iid", 64, (98.55, 96.25, 86.41)),
    ],
)
def test_best_cell_of_2d_tan(data_dir, dataset, split, n_clips, published):
    # specs/tan2d.md, "cheap sanity checks" 7: share of queries whose best cell has an IoU over 0.5, 0.7, 0.9. Computed
    # there with references clipped to the video, what is empty then left out, and plain comparison.
    from truemoment.data.datasets import load_annotations

    raw = load_annotations(dataset, split, data_dir=data_dir)
    clipped = dataclasses.replace(
        raw, start_s=np.clip(raw.start_s, 0, raw.duration_s), end_s=np.clip(raw.end_s, 0, raw.duration_s)
    )
    kept = clipped.select_queries(clipped.end_s > clipped.start_s)  # these files have a reference a query
    answers = Oracle(kept, SparseMap(n_clips)).ground(kept.queries)
    scores = evaluate(kept, answers, "R@1,IoU=0.5; R@1,IoU=0.7; R@1,IoU=0.9", "default,tolerance=none")
    assert tuple(round(100 * scores.value(measure), 2) for measure in scores.measures) == published
