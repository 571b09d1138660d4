"""Normalisation over time."""

import torch

from truemoment.learning.models.layers.modulation import normalised_over_time


def test_two_rows_are_1_and_minus_1():
    """scdm.md, section 7, check 5; 0 where both are equal."""
    rows = torch.tensor([[[3.0, -1.0, 5.0], [7.0, -4.0, 5.0]]])
    expected = torch.tensor([[[-1.0, 1.0, 0.0], [1.0, -1.0, 0.0]]])
    torch.testing.assert_close(normalised_over_time(rows), expected)


def test_it_is_instance_normalisation():
    rows = torch.randn(3, 9, 4, dtype=torch.float64)
    expected = torch.nn.functional.instance_norm(rows.transpose(1, 2), eps=1e-6).transpose(1, 2)
    torch.testing.assert_close(normalised_over_time(rows), expected)


def test_rows_that_do_not_count_do_not_change_the_others():
    rows = torch.randn(2, 9, 4, dtype=torch.float64)
    found = normalised_over_time(rows, torch.arange(9) < torch.tensor([[9], [5]]))
    torch.testing.assert_close(found[0], normalised_over_time(rows[:1])[0])
    torch.testing.assert_close(found[1, :5], normalised_over_time(rows[1:, :5])[0])
