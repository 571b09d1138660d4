"""Measures on lists much longer, or much shorter, than usual."""

import numpy as np
import pytest

from truemoment import Annotations, Predictions, Scores
from truemoment.base.errors import MeasureError
from truemoment.base.records import Saliency
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures.average_precision import mean_precision
from truemoment.evaluation.measures.base import Statistic
from truemoment.evaluation.measures.highlight import HighlightHit


def test_ap_far_beyond_a_list():
    # Eq. 12 of the AxIoU paper by a slow loop: one hit at rank 1, nothing behind it.
    k = 5000
    expected = sum(1 / rank for rank in range(1, k + 1)) / k
    assert mean_precision(np.array([[True]]), k)[0] == pytest.approx(expected, rel=1e-12)


def test_ap_of_many_ranks_needs_no_table_of_them():
    hits = np.ones((5000, 1), dtype=bool)
    assert mean_precision(hits, 999_999).shape == (5000,)  # a table of ranks would hold 5e9 numbers


def test_f1_of_a_long_chain():
    # Answer k overlaps references k and k + 1 by half, so that all can be paired: 1,300 pairs, F1 = 1.
    n = 1300
    references = [("q", "v", 2.0 * n, "s", float(k), float(k + 1)) for k in range(n)]
    answers = [(k + 0.5, k + 1.5) for k in range(n)]
    scores = evaluate(Annotations.from_rows(references), Predictions.from_lists({"q": answers}), "F1,IoU=0.3")
    assert scores.value("F1,IoU=0.3") == 1.0


def test_a_video_shorter_than_a_clip():
    annotations = Annotations.from_rows([("q", "v", 1.0, "s", 0.0, 1.0)])
    columns = {name: getattr(annotations, name) for name in ("query_id", "video_id", "duration_s", "sentence")}
    saliency = Saliency(np.array([0, 0]), np.zeros(0, int), np.zeros((0, 3), int), 2.0)
    annotations = Annotations(
        **columns,
        start_s=annotations.start_s,
        end_s=annotations.end_s,
        annotator=annotations.annotator,
        saliency=saliency,
    )
    predictions = Predictions(
        annotations.query_id,
        np.array([0, 1]),
        np.array([0.0]),
        np.array([1.0]),
        np.array([1.0]),
        saliency_offsets=np.array([0, 1]),
        saliency=np.array([0.5]),
    )
    assert evaluate(annotations, predictions, [HighlightHit("Fair")]).value("HIT@1,min=Fair") == 0.0


class Always:
    """A measure of one's own: 1 for every query."""

    needs = "overlaps"
    needs_duration = False
    depth = 1
    ref = None

    def __str__(self) -> str:
        return "Always"

    def per_unit(self, overlaps):
        return Statistic(np.ones(len(overlaps.iou)), np.ones(len(overlaps.iou)))


def test_a_measure_of_ones_own(tmp_path):
    annotations = Annotations.from_rows([("q", "v", 9.0, "s", 0.0, 1.0)])
    scores = evaluate(annotations, Predictions.from_lists({"q": [(0, 1)]}), [Always(), "mIoU"])
    assert scores.value("Always") == 1.0
    assert scores.value("mIoU") == 1.0
    with pytest.raises(MeasureError, match="Always"):
        scores.save(tmp_path / "scores.npz")  # nobody could read it back
    assert not (tmp_path / "scores.npz").exists()
    evaluate(annotations, Predictions.from_lists({"q": [(0, 1)]}), ["mIoU"]).save(tmp_path / "scores.npz")
    assert Scores.load(tmp_path / "scores.npz").value("mIoU") == 1.0


def test_no_measure_is_refused():
    annotations = Annotations.from_rows([("q", "v", 9.0, "s", 0.0, 1.0)])
    with pytest.raises(MeasureError, match="got no measure"):
        evaluate(annotations, Predictions.from_lists({"q": [(0, 1)]}), [])
