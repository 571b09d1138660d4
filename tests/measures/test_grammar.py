"""The grammar of measures: what is printed reads back as itself; what cannot be meant is refused in plain words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import MeasureError
from truemoment.evaluation.measures import (
    DCG,
    FAMILIES,
    AveragePrecisionAt,
    AxIoU,
    CorrectAbstention,
    DiscountedRecall,
    FalseAbstention,
    HighlightAveragePrecision,
    HighlightHit,
    MatchedF1,
    MeanAveragePrecision,
    MeanIoU,
    NCxIoU,
    Recall,
    SetIoU,
    parse_measure,
    parse_measures,
)
from truemoment.evaluation.measures.covered_f1 import CoveredF1
from truemoment.evaluation.measures.iop import MeanIoP, RecallIoP
from truemoment.evaluation.measures.seconds_f1 import SecondsF1
from truemoment.evaluation.measures.several_moments import MeanIoUOfSeveral, MomentRecall
from truemoment.evaluation.measures.span_precision import SpanPrecision
from truemoment.evaluation.measures.threshold_area import RATIOS, ThresholdArea
from truemoment.evaluation.references import REFERENCE_RULES

ranks = st.integers(1, 999_999)
thresholds = st.floats(0, 1)
rules = st.none() | st.sampled_from(REFERENCE_RULES)
lengths = st.none() | st.sampled_from(["short", "middle", "long"])
ratings = st.sampled_from(["Fair", "Good", "VeryGood"])
weights = st.lists(st.floats(0, 1e9), min_size=1, max_size=6).filter(lambda values: sum(values) > 0)
distributions = st.one_of(
    st.tuples(st.integers(1, 500), st.just(("uniform",))),
    st.tuples(st.integers(1, 500), st.floats(0, 1, exclude_min=True).map(lambda s: ("geometric", s))),
    weights.map(lambda values: (len(values), ("weights", *values))),
)

WRITTEN = {
    "R": st.builds(Recall, ranks, thresholds, lengths, rules) | st.builds(RecallIoP, ranks, thresholds, rules),
    "dR": st.builds(DiscountedRecall, ranks, thresholds, rules),
    "mIoU": st.builds(MeanIoU, rules) | st.builds(MeanIoUOfSeveral, ranks),
    "mIoP": st.builds(MeanIoP, rules),
    "AxIoU": st.builds(AxIoU, ranks, rules),
    "NCxIoU": st.builds(lambda pair, ref: NCxIoU(pair[0], pair[1], ref), distributions, rules),
    "AP": st.builds(AveragePrecisionAt, ranks, thresholds, rules),
    "mAP": st.builds(MeanAveragePrecision, st.none() | thresholds, lengths),
    "DCG": st.builds(DCG, ranks, rules),
    "F1": st.builds(MatchedF1, thresholds),
    "CoverF1": st.builds(CoveredF1, thresholds),
    "SecondsF1": st.builds(SecondsF1),
    "mR": st.builds(MomentRecall, ranks, st.none() | thresholds),
    "SetIoU": st.builds(SetIoU),
    "SpanAP": st.builds(SpanPrecision, ranks),
    "Area": st.builds(ThresholdArea, st.sampled_from(RATIOS)),
    "CorrectAbstention": st.builds(CorrectAbstention),
    "FalseAbstention": st.builds(FalseAbstention),
    "HIT": st.builds(HighlightHit, ratings),
    "HL-mAP": st.builds(HighlightAveragePrecision, ratings),
}


def test_every_family_is_tested_here():
    assert set(WRITTEN) == set(FAMILIES)


@pytest.mark.parametrize("family", WRITTEN)
@given(data=st.data())
def test_what_is_printed_reads_back_as_itself(family, data):
    measure = data.draw(WRITTEN[family])
    read = parse_measure(str(measure))
    assert read == measure
    assert hash(read) == hash(measure)
    assert str(read) == str(measure)


@given(st.lists(st.one_of(*WRITTEN.values()), min_size=1, max_size=8))
def test_lists_read_back_with_repeats_counted_once(measures):
    assert parse_measures("; ".join(map(str, measures))) == tuple(dict.fromkeys(measures))


# The forms of the design page, as they must stay written.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R@5,IoU=0.7", Recall(5, 0.7)),
        ("R@1,IoU=0.5,length=short", Recall(1, 0.5, "short")),
        ("R@1,IoU=0.5[ref=rows]", Recall(1, 0.5, None, "rows")),
        ("dR@1,IoU=0.5", DiscountedRecall(1, 0.5)),
        ("dR@1,IoU=0.5[ref=representative]", DiscountedRecall(1, 0.5, "representative")),
        ("mIoU", MeanIoU()),
        ("mIoU[ref=first]", MeanIoU("first")),
        ("AxIoU@10", AxIoU(10)),
        ("NCxIoU@10,p=geometric(0.5)", NCxIoU(10, ("geometric", 0.5))),
        ("NCxIoU@2,p=weights(1,2)[ref=merged]", NCxIoU(2, ("weights", 1.0, 2.0), "merged")),
        ("NCxIoU@3,p=uniform", NCxIoU(3)),
        ("AP@10,IoU=0.5", AveragePrecisionAt(10, 0.5)),
        ("mAP", MeanAveragePrecision()),
        ("mAP,IoU=0.75", MeanAveragePrecision(0.75)),
        ("mAP,length=long", MeanAveragePrecision(length="long")),
        ("mAP,IoU=0.5,length=short", MeanAveragePrecision(0.5, "short")),
        ("DCG@10", DCG(10)),
        ("F1,IoU=0.5", MatchedF1(0.5)),
        ("SetIoU", SetIoU()),
        ("CorrectAbstention", CorrectAbstention()),
        ("FalseAbstention", FalseAbstention()),
        ("HIT@1,min=VeryGood", HighlightHit("VeryGood")),
        ("HL-mAP,min=Good", HighlightAveragePrecision("Good")),
    ],
)
def test_canonical_forms(text, expected):
    assert parse_measure(text) == expected
    assert str(expected) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("  mIoU  ", "mIoU"),
        ("R@1, IoU = 0.50", "R@1,IoU=0.5"),
        ("R@1,length=short,IoU=.5", "R@1,IoU=0.5,length=short"),
        ("R@01,IoU=5e-1", "R@1,IoU=0.5"),
        ("R@1,iou=0.5,LENGTH=short", "R@1,IoU=0.5,length=short"),
        ("NCxIoU@3", "NCxIoU@3,p=uniform"),
        ("NCxIoU@2,p=weights( 1, 2)", "NCxIoU@2,p=weights(1,2)"),
    ],
)
def test_loose_forms(text, canonical):
    assert str(parse_measure(text)) == canonical


REFUSED = [
    ("", "'': expected a measure such as R@1,IoU=0.5 or AxIoU@10"),
    ("R@1,IoU=0.5[ref=first", "'R@1,IoU=0.5[ref=first': expected a measure such as R@1,IoU=0.5 or AxIoU@10"),
    (
        "P@1",
        "'P@1': unknown measure P, expected one of R, dR, mIoU, mIoP, AxIoU, NCxIoU, AP, mAP, DCG, F1, "
        "CoverF1, SecondsF1, mR, SetIoU, Area, SpanAP, CorrectAbstention, FalseAbstention, HIT, HL-mAP",
    ),
    ("r@1,IoU=0.5", "is not in the grammar of measures; did you mean R@1,IoU=0.5?"),
    ("R,IoU=0.5", "'R,IoU=0.5': got nothing after @, expected a whole number as in R@5"),
    ("R@,IoU=0.5", "'R@,IoU=0.5': got '' after @, expected a whole number as in R@5"),
    ("R@one,IoU=0.5", "'R@one,IoU=0.5': got 'one' after @, expected a whole number as in R@5"),
    ("R@1.5,IoU=0.5", "got '1.5' after @"),
    ("R@-1,IoU=0.5", "got '-1' after @"),
    ("R@1000000,IoU=0.5", "got '1000000' after @"),
    ("R@0,IoU=0.5", "R@0: got 0 answers, expected 1 or more"),
    ("dR@0,IoU=0.5", "dR@0: got 0 answers, expected 1 or more"),
    ("SetIoU@5", "'SetIoU@5': SetIoU takes no @5"),
    ("SetIoU,IoU=0.5", "'SetIoU,IoU=0.5': SetIoU has no option IoU"),
    ("SetIoU[ref=first]", "'SetIoU[ref=first]': SetIoU looks at all references and takes no [ref=first]"),
    ("CorrectAbstention[ref=first]", "CorrectAbstention looks at all references and takes no [ref=first]"),
    ("FalseAbstention@1", "'FalseAbstention@1': FalseAbstention takes no @1"),
    ("AxIoU@0", "AxIoU@0: got 0 answers, expected 1 or more"),
    ("NCxIoU@0", "NCxIoU@0: got 0 answers, expected 1 or more"),
    ("AP@0,IoU=0.5", "AP@0: got 0 answers, expected 1 or more"),
    ("DCG@0", "DCG@0: got 0 answers, expected 1 or more"),
    ("R@1", "'R@1': option IoU is missing, expected IoU=...; did you mean R@1,IoU=0.5?"),
    ("dR@1", "'dR@1': option IoU is missing, expected IoU=...; did you mean dR@1,IoU=0.5?"),
    ("F1", "'F1': option IoU is missing, expected IoU=..."),
    ("AP@1", "'AP@1': option IoU is missing, expected IoU=..."),
    ("R@1,iou=0.5,IOU=0.7", "'R@1,iou=0.5,IOU=0.7': got 'IOU=0.7', expected NAME=VALUE once each"),
    ("R@1,IoU=half", "'R@1,IoU=half': got IoU=half, expected a number"),
    ("R@1,IoU=1.5", "R: got IoU=1.5, expected a threshold from 0 to 1"),
    ("R@1,IoU=-0.5", "R: got IoU=-0.5, expected a threshold from 0 to 1"),
    ("R@1,IoU=nan", "R: got IoU=nan, expected a threshold from 0 to 1"),
    ("dR@1,IoU=inf", "dR: got IoU=inf, expected a threshold from 0 to 1"),
    ("AP@1,IoU=2", "AP: got IoU=2, expected a threshold from 0 to 1"),
    ("mAP,IoU=2", "mAP: got IoU=2, expected a threshold from 0 to 1"),
    ("F1,IoU=2", "F1: got IoU=2, expected a threshold from 0 to 1"),
    ("R@1,IoU=0.5,", "'R@1,IoU=0.5,': got '', expected NAME=VALUE once each"),
    ("R@1,IoU", "'R@1,IoU': got 'IoU', expected NAME=VALUE once each"),
    ("R@1,IoU=0.5,IoU=0.7", "'R@1,IoU=0.5,IoU=0.7': got 'IoU=0.7', expected NAME=VALUE once each"),
    ("R@1,IoU=0.5,top=3", "'R@1,IoU=0.5,top=3': R has no option top"),
    ("mIoU,IoU=0.5", "'mIoU,IoU=0.5': mIoU has no option IoU"),
    ("R@1,IoU=0.5)length=short", "'R@1,IoU=0.5)length=short': "),
    ("R@1,IoU=0.5,length=tiny", "length=tiny: expected one of short, middle, long"),
    ("mAP,length=tiny", "length=tiny: expected one of short, middle, long"),
    ("mAP@10", "'mAP@10': mAP takes no @10"),
    ("F1@3,IoU=0.5", "'F1@3,IoU=0.5': F1 takes no @3"),
    ("HL-mAP@1,min=Good", "'HL-mAP@1,min=Good': HL-mAP takes no @1"),
    (
        "mIoU[ref=best]",
        "'mIoU[ref=best]': got [ref=best], expected [ref=nearest|representative|first|merged|pooled|rows]",
    ),
    ("mIoU[first]", "'mIoU[first]': got [first], expected [ref="),
    ("mIoU[]", "'mIoU[]': got [], expected [ref="),
    ("mIoU[ref=first][ref=rows]", "'mIoU[ref=first][ref=rows]': got [ref=first][ref=rows], expected [ref="),
    ("mAP[ref=first]", "'mAP[ref=first]': mAP looks at all references and takes no [ref=first]"),
    ("F1,IoU=0.5[ref=first]", "F1 looks at all references and takes no [ref=first]"),
    ("HIT@1,min=Good[ref=first]", "'HIT@1,min=Good[ref=first]': "),
    ("HIT@5,min=Good", "'HIT@5,min=Good': QVHighlights defines HIT@1 only"),
    ("HIT@1", "'HIT@1': option min is missing, expected min=..."),
    ("HIT@1,min=Great", "HIT@1,min=Great: expected one of Fair, Good, VeryGood"),
    ("HL-mAP,min=good", "HL-mAP,min=good: expected one of Fair, Good, VeryGood"),
    (
        "NCxIoU@3,p=weights(1,2)",
        "NCxIoU@3,p=weights(1,2): expected p=uniform, p=geometric(s) with 0 < s <= 1, "
        "or p=weights(...) with 3 weights of at least 0",
    ),
    ("NCxIoU@3,p=geometric(2)", "NCxIoU@3,p=geometric(2): expected p=uniform"),
    ("NCxIoU@3,p=poisson(2)", "NCxIoU@3,p=poisson(2): expected p=uniform"),
    ("NCxIoU@3,p=geometric(half)", "got p=geometric(half), expected a number"),
    ("NCxIoU@3,p=geometric(0.5", "'NCxIoU@3,p=geometric(0.5': "),
    ("NCxIoU@3,p=", "'NCxIoU@3,p=': got 'p=', expected NAME=VALUE once each"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refused_with_a_reason(text, message):
    with pytest.raises(MeasureError) as caught:
        parse_measure(text)
    assert str(caught.value).startswith(message) or message in str(caught.value)


@given(st.text(alphabet="RdmIoUAxNCPGF1HTL-@,=.;[]()0579 refminshotpw", max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        measure = parse_measure(text)
    except MeasureError:
        return
    assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mIoU", ["mIoU"]),
        ("mIoU; R@1,IoU=0.5 ;; AxIoU@10;", ["mIoU", "R@1,IoU=0.5", "AxIoU@10"]),
        ("R@1,IoU=0.5; R@1,IoU=0.50; mIoU; R@1,IoU=0.5", ["R@1,IoU=0.5", "mIoU"]),
        ("NCxIoU@2,p=weights(1,2);mAP", ["NCxIoU@2,p=weights(1,2)", "mAP"]),
    ],
)
def test_parse_measures(text, expected):
    assert [str(measure) for measure in parse_measures(text)] == expected


@pytest.mark.parametrize("text", ["", " ", ";", " ; ; "])
def test_no_measure_at_all(text):
    with pytest.raises(MeasureError) as caught:
        parse_measures(text)
    assert str(caught.value) == f"{text!r}: got no measure, expected some separated by ';'"


def test_one_bad_measure_spoils_the_list():
    with pytest.raises(MeasureError, match="unknown measure nonsense"):
        parse_measures("mIoU; nonsense")


def test_every_family_is_described():
    for name, (_, _, description) in FAMILIES.items():
        assert description, name
        assert "\n" not in description, name
