"""Representative references that tie: the first one, whatever the order in which their IoUs are summed."""

import numpy as np

from truemoment.evaluation.references import representative


def test_a_tie_of_sums_is_a_tie():
    # By hand, IoUs with the others: (0, 15) has 2/3, 0, 1/6 (sum 5/6); (5, 15) 2/3, 0, 1/5 (13/15);
    # (20, 30) 0, 0, 1/2 (1/2); (10, 30) 1/6, 1/5, 1/2 (13/15). Two tie exactly; the first of them is taken.
    start = np.array([[0.0, 5.0, 20.0, 10.0]])
    end = np.array([[15.0, 15.0, 30.0, 30.0]])
    assert representative(start, end).tolist() == [1]


def test_turning_the_list_round_turns_the_choice_round():
    start = np.array([[10.0, 20.0, 5.0, 0.0]])
    end = np.array([[30.0, 30.0, 15.0, 15.0]])
    assert representative(start, end).tolist() == [0]
