"""The encoder of documents: NaN becomes null and why, whatever it is in."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.boundary.documents import NO_INTERVAL, Measured, as_json


class Pair(NamedTuple):
    name: str
    value: float


@dataclass(frozen=True)
class Record:
    pair: Pair
    path: Path


def test_every_kind_of_value():
    found = as_json(
        {
            "nan": math.nan,
            "ends": [math.inf, 1.0],
            "array": np.array([[1.0, np.nan]]),
            "number": np.int64(3),
            "truth": np.bool_(True),
            "record": Record(Pair("a", -math.inf), Path("b/c")),
            1: ("a", None),
        }
    )
    assert found == {
        "nan": None,
        "ends": [None, 1.0],
        "array": [[1.0, None]],
        "number": 3,
        "truth": True,
        "record": {"pair": {"name": "a", "value": None}, "path": "b/c"},
        "1": ["a", None],
    }
    json.dumps(found, allow_nan=False)


def test_a_value_that_json_cannot_hold_is_refused():
    with pytest.raises(TypeError, match="set"):
        as_json({"a": {1, 2}})


def test_a_measured_value_shows_what_is_known():
    assert as_json(Measured(0.25)) == {"value": 0.25, "unit": "fraction"}
    assert as_json(Measured(3.5, unit="bits", ci95=(3.0, 4.0))) == {"value": 3.5, "unit": "bits", "ci95": [3.0, 4.0]}
    full = Measured(0.5, measure="mIoU", ci95=(0.4, 0.6), n_queries=3, n_videos=2, on_threshold=0, signature="s")
    assert as_json(full) == {
        "measure": "mIoU",
        "value": 0.5,
        "unit": "fraction",
        "ci95": [0.4, 0.6],
        "n_queries": 3,
        "n_videos": 2,
        "on_threshold": 0,
        "signature": "s",
    }


@pytest.mark.parametrize("value", [None, math.nan])
def test_what_is_undefined_is_null_and_why(value):
    found = as_json(Measured(value, "no query counts", (math.nan, 1.0)))
    assert found == {"value": None, "unit": "fraction", "why": "no query counts", "ci95": None}


def test_an_undefined_interval_of_a_defined_value_has_its_own_reason():
    assert as_json(Measured(0.5, ci95=(math.nan, math.nan)))["why"] == NO_INTERVAL
    assert as_json(Measured(0.5, ci95=(math.nan, math.nan), no_interval="one video"))["why"] == "one video"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


@given(values)
def test_whatever_comes_out_is_json_and_stays_as_it_is(value):
    found = as_json(value)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert as_json(found) == found
