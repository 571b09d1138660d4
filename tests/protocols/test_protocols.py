"""Protocols: each has a source and reads back as itself, and each of its fields does what it says."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations, Predictions
from truemoment.base.boundary.keyed import write_value
from truemoment.base.errors import MeasureError, ProtocolError
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import (
    CONVENTION_FIELDS,
    PROTOCOLS,
    Protocol,
    get_protocol,
    protocol_for_dataset,
)
from truemoment.evaluation.protocols.base import read_fields
from truemoment.evaluation.references import REFERENCE_RULES

nan = float("nan")
NAMES = list(PROTOCOLS)
FIELDS = {field.name for field in dataclasses.fields(Protocol)}


# ---- The named ones


def test_the_names_of_the_design_page_are_there():
    wanted = {"default", "closer-look", "hidden-challenges", "2d-tan", "moment-detr", "mad-clip", "mad-vlgnet"}
    assert wanted <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_says_where_it_was_read(name):
    protocol = PROTOCOLS[name]
    assert protocol.name == name
    assert protocol.source.strip()
    assert protocol.summary.strip()
    assert "\n" not in protocol.summary
    assert set(protocol.read_in) <= FIELDS
    assert all(text.strip() for text in protocol.read_in.values())


@pytest.mark.parametrize("name", NAMES)
def test_each_source_names_a_commit_and_a_file_or_a_paper(name):
    source = PROTOCOLS[name].source
    assert re.search(r"\w+/\w[\w-]* (\S+ )?at [0-9a-f]{7,40}, \S+\.py", source) or re.search(
        r"\(\w+ et al\. \d{4}\)", source
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_measures_of_each_read_back(name):
    text = PROTOCOLS[name].measures
    assert "; ".join(map(str, parse_measures(text))) == text


@pytest.mark.parametrize("name", NAMES)
def test_the_name_alone_gives_the_protocol(name):
    assert get_protocol(name) is PROTOCOLS[name]
    assert get_protocol(f" {name} ") is PROTOCOLS[name]


def test_the_named_ones_cannot_be_changed():
    with pytest.raises(TypeError):
        PROTOCOLS["default"] = PROTOCOLS["vslnet"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        PROTOCOLS["default"].top = 5


def test_signatures_tell_the_named_ones_apart():
    conventions = {str(p.convention()) for p in PROTOCOLS.values()}
    signatures = {p.signature().split("|", 1)[1] for p in PROTOCOLS.values()}  # without the name
    assert len(signatures) == len(conventions)


def test_datasets_have_their_protocols():
    assert protocol_for_dataset("qvhighlights").name == "moment-detr"
    assert protocol_for_dataset("charades-sta").name == "default"
    rows = [("q", "v", 20.0, "s", 0.0, 10.0)]
    answers = Predictions.from_lists({"q": [(0.0, 5.0)]})
    assert evaluate(Annotations.from_rows(rows, dataset="qvhighlights"), answers).protocol.name == "moment-detr"
    assert evaluate(Annotations.from_rows(rows), answers).protocol.name == "default"


# ---- Printing and parsing

OTHER_VALUES = {
    "comparison": ">=",
    "tolerance": None,
    "precision": "float32",
    "denominator": "union",
    "ap_denominator": "union",
    "epsilon": 0.25,
    "times": "normalised",
    "clip_references": True,
    "clip_predictions": True,
    "nms_threshold": 0.5,
    "nms_denominator": "union",
    "top": 3,
    "ranking": "file",
    "references": "rows",
    "missing": "drop",
    "unreadable": "refuse",
    "empty": "abstain",
    "decimals": 1,
    "rounding": "truncate",
}


def test_every_field_has_another_value_here():
    assert set(OTHER_VALUES) == set(CONVENTION_FIELDS)
    assert all(getattr(PROTOCOLS["default"], name) != value for name, value in OTHER_VALUES.items())


@pytest.mark.parametrize("field", OTHER_VALUES)
def test_a_changed_field_reads_back(field):
    changed = PROTOCOLS["default"].changed(**{field: OTHER_VALUES[field]})
    assert changed.name == f"default,{field}={write_value(OTHER_VALUES[field])}"
    assert get_protocol(changed.name) == changed
    assert getattr(changed, field) == OTHER_VALUES[field]
    assert all(getattr(changed, f) == getattr(PROTOCOLS["default"], f) for f in CONVENTION_FIELDS if f != field)


@pytest.mark.parametrize("field", OTHER_VALUES)
def test_a_changed_field_shows_in_the_signature(field):
    # Beside the name: a number printed with its signature must show what it was computed with. (How suppression
    # writes its denominator can matter only where there is suppression.)
    plain = dataclasses.replace(PROTOCOLS["default"], nms_threshold=0.3)
    same_name = dataclasses.replace(plain, **{field: OTHER_VALUES[field]})
    assert same_name.signature() != plain.signature()


VALUES = {
    "comparison": st.sampled_from([">", ">="]),
    "tolerance": st.none() | st.floats(0, 0.5, exclude_max=True),
    "precision": st.sampled_from(["float64", "float32"]),
    "denominator": st.sampled_from(["hull", "union"]),
    "ap_denominator": st.sampled_from([None, "hull", "union"]),
    "epsilon": st.floats(0, 1e6),
    "times": st.sampled_from(["seconds", "normalised"]),
    "clip_references": st.booleans(),
    "clip_predictions": st.booleans(),
    "nms_threshold": st.none() | st.floats(0, 1),
    "nms_denominator": st.sampled_from(["hull", "union"]),
    "top": st.none() | st.integers(1, 10**6),
    "ranking": st.sampled_from(["score", "file"]),
    "references": st.sampled_from(REFERENCE_RULES),
    "missing": st.sampled_from(["worst", "refuse", "drop"]),
    "unreadable": st.sampled_from(["worst", "refuse", "drop"]),
    "empty": st.sampled_from(["drop", "abstain"]),
    "decimals": st.integers(0, 15),
    "rounding": st.sampled_from(["nearest", "truncate"]),
}


def test_every_field_is_drawn():
    assert set(VALUES) == set(CONVENTION_FIELDS)


@given(st.sampled_from(NAMES), st.fixed_dictionaries({}, optional=VALUES))
def test_any_change_reads_back(name, fields):
    changed = PROTOCOLS[name].changed(**fields) if fields else PROTOCOLS[name]
    assert get_protocol(changed.name) == changed


def test_what_is_as_it_always_was_does_not_show_in_the_signature():
    # Signatures printed before there were these two fields still name the same convention.
    assert not any(word in PROTOCOLS["default"].signature() for word in ("unreadable", "empty"))
    changed = get_protocol("default,unreadable=drop,empty=abstain").signature()
    assert changed.endswith("|missing:worst|unreadable:drop|empty:abstain")


def test_small_numbers_show_in_the_signature_as_they_are():
    # 1e-9 and 1.0000001e-9 are two tolerances; their signatures must not be one.
    one, two = (dataclasses.replace(PROTOCOLS["default"], tolerance=value) for value in (1e-9, 1.0000001e-9))
    assert one.signature() != two.signature()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown protocol '', expected one of default, closer-look"),
        ("Default", "unknown protocol 'Default', expected one of default, closer-look"),
        ("default,top", "protocol 'default,top': got 'top', expected KEY=VALUE"),
        ("default,", "protocol 'default,': got '', expected KEY=VALUE"),
        (
            "default,colour=red",
            "protocol 'default,colour=red': got the key 'colour', expected one of comparison, tolerance",
        ),
        ("default,name=mine", "protocol 'default,name=mine': got the key 'name', expected one of comparison"),
        (
            "default,measures=mIoU",
            "protocol 'default,measures=mIoU': got the key 'measures', expected one of comparison",
        ),
        ("default,comparison=<", "comparison: got '<', expected > or >="),
        ("default,comparison=none", "comparison: got 'none', expected > or >="),
        ("default,tolerance=small", "tolerance: got 'small', expected a number or none"),
        ("default,tolerance=nan", "tolerance: got 'nan', expected a number or none"),
        ("default,tolerance=-1", "tolerance: got -1.0, expected none or 0 to 0.5"),
        ("default,tolerance=0.5", "tolerance: got 0.5, expected none or 0 to 0.5"),
        ("default,precision=float16", "precision: got 'float16', expected float64 or float32"),
        ("default,denominator=outer", "denominator: got 'outer', expected hull or union"),
        ("default,ap_denominator=outer", "ap_denominator: got 'outer', expected hull or union or none"),
        ("default,epsilon=-1", "epsilon: got -1.0, expected 0 or more"),
        ("default,epsilon=inf", "epsilon: got 'inf', expected a number"),
        ("default,epsilon=none", "epsilon: got 'none', expected a number"),
        ("default,times=frames", "times: got 'frames', expected seconds or normalised"),
        ("default,clip_references=true", "clip_references: got 'true', expected yes or no"),
        ("default,clip_predictions=1", "clip_predictions: got '1', expected yes or no"),
        ("default,nms_denominator=none", "nms_denominator: got 'none', expected hull or union"),
        ("default,nms_threshold=1.5", "nms_threshold: got 1.5, expected 0 to 1"),
        ("default,top=0", "top: got 0, expected 1 or more"),
        ("default,top=2.5", "top: got '2.5', expected a whole number or none"),
        ("default,ranking=random", "ranking: got 'random', expected score or file"),
        ("default,references=best", "references: got 'best', expected nearest or representative"),
        ("default,missing=ignore", "missing: got 'ignore', expected worst or refuse or drop"),
        ("default,unreadable=ignore", "unreadable: got 'ignore', expected worst or refuse or drop"),
        ("default,empty=worst", "empty: got 'worst', expected drop or abstain"),
        ("default,decimals=16", "decimals: got 16, expected 0 to 15"),
        ("default,decimals=none", "decimals: got 'none', expected a whole number"),
        ("default,rounding=up", "rounding: got 'up', expected nearest or truncate"),
    ],
)
def test_refused_with_a_reason(text, message):
    with pytest.raises(ProtocolError) as caught:
        get_protocol(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("field", CONVENTION_FIELDS)
def test_a_field_is_read_as_it_is_written(field):
    for value in (getattr(PROTOCOLS["default"], field), OTHER_VALUES[field]):
        assert read_fields([f"{field}={write_value(value)}"], "default") == {field: value}


def test_infinite_and_impossible_values_made_by_hand_are_refused():
    for fields in ({"epsilon": math.inf}, {"epsilon": nan}, {"tolerance": nan}, {"nms_threshold": nan}, {"top": -1}):
        with pytest.raises(ProtocolError):
            PROTOCOLS["default"].changed(**fields)


# ---- What each field does

NO_TOLERANCE = "default,tolerance=none"


def figure(pair, measure, protocol):
    return evaluate(*pair, measure, protocol).value(measure)


def test_comparison(one_video):
    # IoU of (0, 5) with (0, 10) is exactly 0.5.
    pair = one_video({"a": [(0, 10)]}, {"a": [(0.0, 5.0)]})
    assert figure(pair, "R@1,IoU=0.5", "default") == 0
    assert figure(pair, "R@1,IoU=0.5", "default,comparison=>=") == 1


def test_tolerance(one_video):
    # (0.1, 0.8) in (0.1, 1.1) is exactly 0.7, in float64 0.7000000000000001; (0, 5.0000001) in (0, 10) is 0.50000001.
    tie = one_video({"a": [(0.1, 1.1)]}, {"a": [(0.1, 0.8)]})
    near = one_video({"a": [(0, 10)]}, {"a": [(0.0, 5.0000001)]})
    assert figure(tie, "R@1,IoU=0.7", "default") == 0
    assert figure(tie, "R@1,IoU=0.7", NO_TOLERANCE) == 1
    assert figure(near, "R@1,IoU=0.5", "default") == 1  # 1e-8 above the threshold is above it
    assert figure(near, "R@1,IoU=0.5", "default,tolerance=1e-7") == 0
    assert figure(near, "R@1,IoU=0.500001", "default,comparison=>=,tolerance=1e-5") == 1  # and works below it


def test_precision(one_video):
    # 2**24 + 1 is not a float32: in float32 the answer (0, 16777217) is (0, 16777216), exactly half the reference.
    pair = one_video({"a": [(0, 33554432)]}, {"a": [(0.0, 16777217.0)]}, duration_s=4e7)
    assert figure(pair, "R@1,IoU=0.5", NO_TOLERANCE) == 1
    assert figure(pair, "R@1,IoU=0.5", f"{NO_TOLERANCE},precision=float32") == 0
    assert figure(pair, "mIoU", f"{NO_TOLERANCE},precision=float32") == 0.5
    # References are float32 too, and so is every step: (0, 0.1) in (0, 0.3) is float32(0.1) / float32(0.3).
    third = one_video({"a": [(0, 0.3)]}, {"a": [(0.0, 0.1)]})
    assert figure(third, "mIoU", "default") == 0.1 / 0.3
    assert figure(third, "mIoU", "default,precision=float32") == float(np.float32(0.1) / np.float32(0.3))


def test_denominator(one_video):
    # (0.1, 0.4) and (0.2, 0.7): 1/3; see tests/intervals/test_iou.py for the two floats that this is.
    pair = one_video({"a": [(0.2, 0.7)]}, {"a": [(0.1, 0.4)]})
    hull, union = (figure(pair, "mIoU", f"default,denominator={name}") for name in ("hull", "union"))
    assert hull == (0.4 - 0.2) / (0.7 - 0.1)
    assert union == (0.4 - 0.2) / ((0.4 - 0.1) + (0.7 - 0.2) - (0.4 - 0.2))
    assert hull > union
    # The threshold between them: plain comparison, so the last bit decides.
    between = f"R@1,IoU={union!r}"
    assert figure(pair, between, f"{NO_TOLERANCE},denominator=hull") == 1
    assert figure(pair, between, f"{NO_TOLERANCE},denominator=union") == 0


def test_ap_denominator(one_video):
    # The same pair: only mAP follows ap_denominator, and it follows denominator without it.
    pair = one_video({"a": [(0.2, 0.7)]}, {"a": [(0.1, 0.4)]})
    union = (0.4 - 0.2) / ((0.4 - 0.1) + (0.7 - 0.2) - (0.4 - 0.2))
    recall, ap = f"R@1,IoU={union!r}", f"mAP,IoU={union!r}"
    for protocol, expected in {
        NO_TOLERANCE: (1, 1),
        f"{NO_TOLERANCE},ap_denominator=union": (1, 0),
        f"{NO_TOLERANCE},denominator=union": (0, 0),
        f"{NO_TOLERANCE},denominator=union,ap_denominator=hull": (0, 1),
    }.items():
        assert (figure(pair, recall, protocol), figure(pair, ap, protocol)) == expected, protocol


@pytest.mark.parametrize("rule", ["nearest", "merged"])
def test_epsilon(one_video, rule):
    # 5 / (10 + 1e-3) instead of 5 / 10, for an interval and for a region.
    pair = one_video({"a": [(0, 10)]}, {"a": [(0.0, 5.0)]})
    assert figure(pair, f"mIoU[ref={rule}]", "default,epsilon=1e-3") == 5 / 10.001
    assert figure(pair, f"R@1,IoU=0.5[ref={rule}]", "default,comparison=>=,epsilon=1e-3") == 0


def test_times(one_video):
    # Epsilon is in the unit of the times: 0.5 added to 10 s of 40, or to 0.25. And dR does not divide twice.
    pair = one_video({"a": [(0, 10)]}, {"a": [(0.0, 5.0)]})
    assert figure(pair, "mIoU", "default,epsilon=0.5") == 5 / 10.5
    assert figure(pair, "mIoU", "default,epsilon=0.5,times=normalised") == 0.125 / 0.75
    assert figure(pair, "dR@1,IoU=0.3", "default,times=normalised") == 1 - 5 / 40


def test_clip_references(one_video):
    # Video of 40 s, reference (30, 50), answer (30, 40): IoU 10/20, clipped 10/10. A start below 0 is clipped too.
    pair = one_video({"a": [(30, 50)], "b": [(-10, 10)]}, {"a": [(30.0, 40.0)], "b": [(0.0, 10.0)]})
    assert evaluate(*pair, "mIoU").numerator.tolist() == [[0.5, 0.5]]
    clipped = evaluate(*pair, "mIoU", "default,clip_references=yes")
    assert clipped.numerator.tolist() == [[1.0, 1.0]]
    assert clipped.touched == {"a clipped reference": 2}


def test_clip_predictions(one_video):
    # Video of 40 s, reference (30, 40), answer (30, 50): IoU 10/20, clipped 10/10.
    pair = one_video({"a": [(30, 40)], "b": [(0, 10)]}, {"a": [(30.0, 50.0), (45.0, 46.0)], "b": [(0.0, 10.0)]})
    assert evaluate(*pair, "mIoU").numerator.tolist() == [[0.5, 1.0]]
    clipped = evaluate(*pair, "mIoU", "default,clip_predictions=yes")
    assert clipped.numerator.tolist() == [[1.0, 1.0]]
    assert clipped.touched == {"a clipped answer": 1}  # queries, not moments


def test_clipping_both_in_normalised_times(one_video):
    pair = one_video({"a": [(30, 50)]}, {"a": [(30.0, 60.0)]})
    # Unclipped 20/30; both clipped to (30, 40): 1.
    assert figure(pair, "mIoU", "default,times=normalised") == pytest.approx(2 / 3, rel=1e-15)
    both = "default,times=normalised,clip_references=yes,clip_predictions=yes"
    assert figure(pair, "mIoU", both) == 1


def test_nms_threshold(one_video):
    # Answers (20, 30), (20, 31), (0, 10): IoU of the first two is 10/11. Reference (0, 10) stands third, or second.
    pair = one_video({"a": [(0, 10)]}, {"a": [(20.0, 30.0), (20.0, 31.0), (0.0, 10.0)]})
    assert figure(pair, "R@2,IoU=0.5", "default") == 0
    assert figure(pair, "R@2,IoU=0.5", "default,nms_threshold=0.9") == 1
    assert figure(pair, "R@2,IoU=0.5", "default,nms_threshold=0.91") == 0  # 10/11 = 0.909 is not more than 0.91


def test_nms_denominator(one_video):
    # (0.1, 0.4) and (0.2, 0.7) again: 1/3 in two floats. A threshold of the smaller suppresses by the hull only.
    pair = one_video({"a": [(0.2, 0.7)]}, {"a": [(0.1, 0.4), (0.2, 0.7)]})
    union = (0.4 - 0.2) / ((0.4 - 0.1) + (0.7 - 0.2) - (0.4 - 0.2))
    protocol = f"default,nms_threshold={union!r}"
    assert figure(pair, "R@2,IoU=0.5", protocol) == 0
    assert figure(pair, "R@2,IoU=0.5", f"{protocol},nms_denominator=union") == 1
    assert figure(pair, "R@2,IoU=0.5", f"{protocol},denominator=union") == 0  # that is the recall's denominator


def test_nms_comes_before_top_and_before_the_measures_depth(one_video):
    answers = [(20.0, 30.0), *[(20.0, 30.0 + 0.1 * i) for i in range(1, 9)], (0.0, 10.0)]
    pair = one_video({"a": [(0, 10)]}, {"a": answers})
    # By hand: all copies of the first go, so the tenth answer becomes the second.
    assert figure(pair, "R@2,IoU=0.5", "default,nms_threshold=0.5,top=2") == 1
    assert figure(pair, "R@2,IoU=0.5", "default,top=2") == 0
    assert figure(pair, "R@1,IoU=0.5", "default,nms_threshold=0.5,top=2") == 0
    assert figure(pair, "F1,IoU=0.5", "default,nms_threshold=0.5") == 2 / 3  # two answers are left, one right


def test_top(one_video):
    pair = one_video({"a": [(0, 10)]}, {"a": [(20.0, 30.0), (22.0, 30.0), (0.0, 10.0)]})
    assert figure(pair, "R@5,IoU=0.5", "default,top=3") == 1
    assert figure(pair, "R@5,IoU=0.5", "default,top=2") == 0
    assert figure(pair, "AxIoU@3", "default,top=3") == pytest.approx(1 / 3, rel=1e-15)
    assert figure(pair, "AxIoU@3", "default,top=2") == 0
    assert figure(pair, "mAP", "default,top=2") == 0
    assert figure(pair, "F1,IoU=0.5", "default,top=3") == 2 / 4
    assert figure(pair, "F1,IoU=0.5", "default,top=2") == 0


def test_ranking(one_video):
    # In the file's order the miss is first, by score the hit; ties keep the file's order.
    pair = one_video({"a": [(0, 10)]}, {"a": [(20.0, 30.0, 0.1), (0.0, 10.0, 0.9)]})
    tied = one_video({"a": [(0, 10)]}, {"a": [(20.0, 30.0, 0.5), (0.0, 10.0, 0.5)]})
    assert figure(pair, "R@1,IoU=0.5", "default") == 1
    assert figure(pair, "R@1,IoU=0.5", "default,ranking=file") == 0
    assert figure(tied, "R@1,IoU=0.5", "default") == 0


def test_ranking_decides_what_suppression_and_cut_keep(one_video):
    pair = one_video({"a": [(0, 10)]}, {"a": [(20.0, 30.0, 0.1), (0.0, 10.0, 0.9)]})
    assert figure(pair, "R@5,IoU=0.5", "default,top=1") == 1
    assert figure(pair, "R@5,IoU=0.5", "default,top=1,ranking=file") == 0


@pytest.mark.parametrize("rule", REFERENCE_RULES)
def test_references(world, rule):
    # The protocol's rule is the measure's suffix written once for all, and the suffix goes before it.
    w = world(11)
    plain, suffixed = "R@1,IoU=0.3; mIoU; AxIoU@5; DCG@5; AP@3,IoU=0.3", ""
    suffixed = "; ".join(f"{measure}[ref={rule}]" for measure in plain.split("; "))
    by_protocol = evaluate(w.annotations, w.predictions, plain, f"default,references={rule}")
    by_suffix = evaluate(w.annotations, w.predictions, suffixed, "default,references=first")
    assert by_protocol.numerator.tolist() == by_suffix.numerator.tolist()
    assert by_protocol.weight.tolist() == by_suffix.weight.tolist()


def test_missing_worst_and_drop(one_video):
    # Of four queries one is right, one wrong, one has an empty list, one is not there.
    pair = one_video({q: [(0, 10)] for q in "abcd"}, {"a": [(0.0, 10.0)], "b": [(20.0, 30.0)], "c": []})
    measures = "R@1,IoU=0.5; mIoU; mAP; F1,IoU=0.5; AxIoU@5; DCG@2; AP@1,IoU=0.5; dR@1,IoU=0.5"
    worst = evaluate(*pair, measures)
    assert worst.numerator.tolist() == [[1, 0, 0, 0]] * 8
    assert worst.weight.tolist() == [[1, 1, 1, 1]] * 8
    assert worst.touched == {"no answer (worst value)": 2}
    drop = evaluate(*pair, measures, "default,missing=drop")
    assert drop.weight.tolist() == [[1, 1, 0, 0]] * 8
    assert drop.value("mIoU") == 0.5
    assert drop.touched == {"no answer (left out)": 2}
    assert drop.measured()[0].n_queries == 2


def test_missing_refuse(one_video):
    pair = one_video({q: [(0, 10)] for q in "abcd"}, {"a": [(0.0, 10.0)], "c": []})
    with pytest.raises(ProtocolError) as caught:
        evaluate(*pair, "mIoU", "moment-detr")
    assert str(caught.value) == (
        "protocol moment-detr refuses predictions without an answer for 3 of 4 queries (b, c, d, ...); add "
        "missing=worst to score them 0: --protocol moment-detr,missing=worst"
    )
    full = one_video({"a": [(0, 10)]}, {"a": [(0.0, 10.0)]})
    assert figure(full, "mIoU", "moment-detr") == 1


@pytest.mark.parametrize(
    ("decimals", "rounding", "fraction", "expected"),
    [
        (2, "nearest", 0.12346, "12.35"),
        (2, "truncate", 0.12346, "12.34"),
        (2, "truncate", 0.123499, "12.34"),
        (1, "nearest", 0.12346, "12.3"),
        (0, "nearest", 0.126, "13"),
        (0, "truncate", 0.126, "12"),
        (4, "nearest", 1 / 3, "33.3333"),
        (2, "truncate", 0.0, "0.00"),
        (2, "truncate", 1.0, "100.00"),
        (2, "truncate", 0.29, "29.00"),  # 100 * 0.29 is 28.999999999999996 in float64
        (2, "truncate", 0.1377, "13.77"),
        (2, "truncate", 907 / 3375, "26.87"),  # 26.874...
    ],
)
def test_decimals_and_rounding(decimals, rounding, fraction, expected):
    protocol = get_protocol(f"default,decimals={decimals},rounding={rounding}")
    assert protocol.percent(fraction) == expected


@pytest.mark.parametrize(
    ("protocol", "needs"),
    [
        ("default", False),
        ("default,times=normalised", True),
        ("default,clip_references=yes", True),
        ("default,clip_predictions=yes", True),
    ],
)
def test_durations_are_asked_for_where_they_are_used(protocol, needs):
    annotations = Annotations.from_rows([("a", "v", nan, "s", 0.0, 10.0)])
    answers = Predictions.from_lists({"a": [(0.0, 10.0)]})
    assert get_protocol(protocol).needs_duration == needs
    if needs:
        with pytest.raises(MeasureError, match="needs every video's duration"):
            evaluate(annotations, answers, "mIoU", protocol)
    else:
        assert figure((annotations, answers), "mIoU", protocol) == 1


def test_measures_of_the_protocol_are_reported_when_none_are_asked_for(one_video):
    pair = one_video({"a": [(0, 10)]}, {"a": [(0.0, 5.0)]})
    scores = evaluate(*pair, protocol="cone")
    assert [str(measure) for measure in scores.measures] == [
        f"R@{n},IoU={m}" for m in ("0.1", "0.3", "0.5") for n in (1, 5, 10, 50, 100)
    ]


def test_float32_thresholds(one_video):
    # MAD and CONE compare in float32, thresholds too: an IoU that is float32(0.3) is not more than 0.3.
    # (0, 3) in (0, 10) is 0.3 rounded to float32, which lies above the float64 0.3.
    pair = one_video({"a": [(0, 10)]}, {"a": [(0.0, 3.0)]})
    assert float(np.float32(0.3)) > 0.3
    assert figure(pair, "R@1,IoU=0.3", "cone") == 0
    assert figure(pair, "R@1,IoU=0.3", "mad-vlgnet,nms_threshold=none") == 1
