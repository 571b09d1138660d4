"""Places that many answers are near to, against a slow loop and known patterns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.studies.evaluate.first_answers import NearPlace, near_places

ends = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda pair: (min(pair) * 5, max(pair) * 5))


def iou(one, other):
    """IoU of moments in whole per cents, whose last per cent belongs to them."""
    overlap = min(one[1], other[1]) + 1 - max(one[0], other[0])
    return max(overlap, 0) / (one[1] - one[0] + other[1] - other[0] + 2 - max(overlap, 0))


@given(st.lists(ends, min_size=1, max_size=30))
def test_places_against_a_slow_loop(answers):
    found = near_places(np.array(answers) / 100, 3)
    left = list(answers)
    for place in found:
        near = {centre: [answer for answer in left if iou(centre, answer) >= 0.8] for centre in answers}
        most = max(len(of) for of in near.values())
        centre = (round(100 * place.start_norm), round(100 * place.end_norm))
        assert len(near[centre]) == most == pytest.approx(place.share * len(answers))
        left = [answer for answer in left if answer not in near[centre]]
    assert len(found) == 3 or not left


def test_answers_that_are_nearly_one():
    """Ends of 0.495 to 0.65: what WSSL predicts on Charades-CD, where no 1 % holds a fifth of the answers."""
    rng = np.random.default_rng(0)
    answers = np.column_stack([rng.uniform(0, 0.03, 1000), rng.uniform(0.52, 0.63, 1000)])
    first, *_ = near_places(answers)
    assert first.share == 1
    assert first.start_norm < 0.03
    assert 0.52 <= first.end_norm <= 0.63


def test_no_answer_and_swapped_answers_have_no_place():
    assert near_places(np.empty((0, 2))) == ()
    assert near_places(np.array([[0.9, 0.1]])) == ()
    assert near_places(np.array([[0.4, 0.4], [-3.0, 7.0]])) == (NearPlace(0.0, 1.0, 0.5), NearPlace(0.4, 0.4, 0.5))
