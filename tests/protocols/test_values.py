"""A protocol made in Python takes the values its fields take, and no others."""

import pytest

from truemoment import Annotations, Predictions, get_protocol
from truemoment.base.errors import ProtocolError, UsageError
from truemoment.evaluation.evaluate import evaluate


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("comparison", "=>", "> or >="),
        ("times", "norm", "seconds or normalised"),
        ("top", 2.5, "a whole number or none"),
        ("top", True, "a whole number or none"),
        ("clip_references", 1, "yes or no"),
        ("epsilon", "0", "a number"),
        ("tolerance", "none", "a number or none"),
    ],
)
def test_other_values_are_refused(field, value, expected):
    with pytest.raises(ProtocolError) as caught:
        get_protocol("default").changed(**{field: value})
    assert str(caught.value) == f"{field}: got {value!r}, expected {expected}"


def test_a_field_changed_twice_is_refused():
    with pytest.raises(ProtocolError, match="got the key 'top' twice"):
        get_protocol("default,top=1,top=3")


def test_an_unknown_way_with_unknown_queries_is_refused():
    annotations = Annotations.from_rows([("q", "v", 9.0, "s", 0.0, 1.0)])
    with pytest.raises(UsageError, match="on_unknown='raise'"):
        evaluate(annotations, Predictions.from_lists({"q": [(0, 1)]}), on_unknown="raise")
