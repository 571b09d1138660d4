"""What stands where in the beginning of JSON, cut off, laid out or faulty as it may be."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.data.formats.head import Head, outline

DOCUMENT = {"version": "1.0", "results": {"v": [{"label": 'a "b": [c', "segment": [1, 2]}]}, "more": {"x": None}}
WANTED = {
    ("version",): "text",
    ("results",): "object",
    ("results", "v"): "list",
    ("results", "v", "[]"): "object",
    ("results", "v", "[]", "label"): "text",
    ("results", "v", "[]", "segment"): "list",
    ("results", "v", "[]", "segment", "[]"): "other",
    ("more",): "object",
    ("more", "x"): "other",
}


@pytest.mark.parametrize("indent", [None, 0, 4])
def test_a_document(indent):
    assert outline(json.dumps(DOCUMENT, indent=indent).encode()) == WANTED


@pytest.mark.parametrize("cut", range(len(json.dumps(DOCUMENT))))
def test_what_is_cut_off_is_a_part_of_the_whole(cut):
    seen = outline(json.dumps(DOCUMENT).encode()[:cut])
    assert seen.items() <= WANTED.items()


def test_words_in_a_text_are_no_keys():
    # An answer in words may hold JSON; recognising a format by it would read the answer as the file.
    answer = json.dumps({"moments": [[1, 2]], "pred": 1})
    assert outline(json.dumps({"query_id": "q", "answer": answer}).encode()) == {
        ("query_id",): "text",
        ("answer",): "text",
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


def naive(value, path=(), found=None):
    """Walk the parsed value: the other way to the same."""
    found = {} if found is None else found
    kind = {dict: "object", list: "list", str: "text"}.get(type(value), "other")
    if 0 < len(path) <= 6:
        found.setdefault(path, kind)
    if isinstance(value, dict):
        for key, inner in value.items():
            naive(inner, (*path, key), found)
    if isinstance(value, list):
        for inner in value:
            naive(inner, (*path, "[]"), found)
    return found


@pytest.mark.slow
@given(JSON)
def test_as_a_walk_over_the_parsed_value(value):
    found = outline(json.dumps(value).encode())
    plain = {path: kind for path, kind in found.items() if not any("\\" in name for name in path)}
    wanted = naive(value)
    spelled = {path for path in wanted if all(json.dumps(name) == f'"{name}"' for name in path)}
    assert {path: plain[path] for path in plain if path in spelled} == {path: wanted[path] for path in spelled}


@given(st.binary(max_size=80))
def test_noise_is_borne(data):
    head = Head(Path("noise"), data)
    assert isinstance(head.line_keys | head.entry_keys, frozenset)
    assert isinstance(outline(data), dict)
