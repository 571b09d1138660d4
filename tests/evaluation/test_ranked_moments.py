"""NDCG@K,IoU=m against TVR-Ranking's evaluator (Ranking-VMR/TVR-Ranking db1dc44, modules/ndcg_iou.py) on `made`."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import MeasureError
from truemoment.evaluation.ranked_moments import MomentOfVideo, ndcg


def made():
    """Yield the references and the answers of 30 queries."""
    draw = random.Random(46)  # noqa: S311 - no secret
    for _ in range(30):
        references, answers = [], []
        for _ in range(draw.randint(1, 12)):
            video, start = f"v{draw.randint(0, 5)}", draw.randint(0, 40) / 2
            end = start + draw.randint(1, 40) / 2
            references.append(MomentOfVideo(video, start, end, draw.choice([0, 1, 2, 2.5, 3, 4])))
        for _ in range(25):
            if draw.random() < 0.6:
                video, start, end, _ = draw.choice(references)
                start = max(0.0, start + draw.randint(-4, 4) / 2)
                end = max(start + 0.5, end + draw.randint(-4, 4) / 2)
            else:
                start = draw.randint(0, 40) / 2
                video, end = f"v{draw.randint(0, 5)}", start + draw.randint(1, 40) / 2
            answers.append(MomentOfVideo(video, start, end))
        yield references, answers


@pytest.mark.parametrize(
    ("k", "iou", "expected"),
    [
        (10, 0.3, 0.46109287274324856),
        (10, 0.5, 0.4129439978499799),
        (10, 0.7, 0.3125493780440828),
        (20, 0.3, 0.5203780026725452),
        (20, 0.5, 0.46893551748143947),
        (20, 0.7, 0.36409626412222923),
    ],
)
def test_the_owners_figures(k, iou, expected) -> None:
    values = [ndcg(answers, references, k, iou) for references, answers in made()]
    assert sum(values) / 30 == pytest.approx(expected, abs=1e-12)


def test_by_hand() -> None:
    references = [MomentOfVideo("a", 0.0, 4.0, 1.0), MomentOfVideo("a", 2.0, 6.0, 2.0)]
    # (1, 5) has IoU 3/5 with both: it takes the more relevant one, gain 3 of 3 + 1 / log2(3).
    assert ndcg([MomentOfVideo("a", 1.0, 5.0)], references, 5, 0.5) == pytest.approx(3 / (3 + 1 / math.log2(3)))
    assert ndcg([MomentOfVideo("a", 1.0, 5.0)], references, 5, 0.6) == 0.0  # more than m
    assert ndcg([MomentOfVideo("b", 1.0, 5.0)], references, 5, 0.5) == 0.0
    with pytest.raises(MeasureError):
        ndcg([], references, 0, 0.5)


moments = st.tuples(st.sampled_from("ab"), st.integers(0, 20), st.integers(1, 9), st.integers(0, 4)).map(
    lambda drawn: MomentOfVideo(drawn[0], drawn[1], drawn[1] + drawn[2], drawn[3])
)


@given(st.lists(moments, min_size=1, max_size=5, unique_by=lambda moment: moment[:3]), st.integers(1, 6))
def test_the_references_by_relevance_are_ideal(references, k) -> None:
    ideal = sorted(references, key=lambda moment: -moment.relevance)
    wanted = 1.0 if ideal[0].relevance else 0.0
    assert ndcg(ideal, references, k, 0.5) == pytest.approx(wanted)
    assert 0 <= ndcg(ideal[::-1], references, k, 0.5) <= wanted + 1e-12
