"""Nothing is lost in silence: what a format cannot represent is refused. Positions are not trusted against the text."""

import json

import numpy as np
import pytest

from truemoment import Annotations, Predictions, read_predictions, write_predictions
from truemoment.base.errors import InputError, MatchError

ONE = Annotations.from_rows([("q", "v", 9.0, "s", 0.0, 1.0)])


def test_clip_ratings(tmp_path):
    plain = Predictions.from_lists({"q": [(0, 1, 0.5)]})
    rated = Predictions(
        plain.query_id,
        plain.offsets,
        plain.start_s,
        plain.end_s,
        plain.score,
        saliency_offsets=np.array([0, 2]),
        saliency=np.array([0.1, 0.2]),
    )
    with pytest.raises(InputError, match="format csv cannot represent clip ratings"):
        write_predictions(tmp_path / "p", rated, ONE, format="csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["native", "csv", "parquet"])
def test_answers_to_queries_nobody_asked(tmp_path, name):
    with pytest.raises(InputError, match="'other', which is not in the annotations"):
        write_predictions(tmp_path / "p", Predictions.from_lists({"other": [(0, 1)]}), ONE, format=name)
    assert not list(tmp_path.iterdir())


def test_positions_are_not_trusted_where_texts_show_another_order(tmp_path):
    # Queries alpha, beta, gamma, delta; the file lists beta, alpha and two sentences nobody asked.
    names = ("alpha", "beta", "gamma", "delta")
    annotations = Annotations.from_rows([(f"v#{k}", "v", 9.0, name, 0.0, 1.0) for k, name in enumerate(names)])
    said = ("beta", "alpha", "x", "y")
    answers = [{"sentence": name, "timestamp": [0, 1]} for name in said]
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"results": {"v": answers}}))
    with pytest.raises(MatchError, match="2 of 4 rows belong to no query"):
        read_predictions(path, annotations)
