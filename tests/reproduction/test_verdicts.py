"""Our figure beside a published one: how it is printed, how far it is off, what is said of it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.evaluation.protocols import get_protocol
from truemoment.reproduction import Reproduced, ReproducedTable, Reproduction, get_table, published_figures
from truemoment.reproduction.base import as_published, beside, unchecked, with_ours
from truemoment.reproduction.report import report
from truemoment.studies.compare.comparison import read_published


@pytest.mark.parametrize(
    ("published", "ours", "tolerance", "status"),
    [
        ("13.8", "13.8", "0", "exact"),
        ("13.8", "13.7", "0", "outside"),
        ("13.8", "15.3", "1.5", "within"),  # 1.5 is still within 1.5, and in float64 15.3 - 13.8 would be more
        ("13.8", "15.31", "1.5", "outside"),
        ("13.8", "12.29", "1.5", "outside"),
        ("13.8", "99", None, "informational"),
        ("13.8", None, None, "published, unchecked"),
        ("13.8", "NaN", "1.5", "outside"),  # undefined is no agreement
        ("13.8", "NaN", "0", "outside"),
        (None, "0.69", "1.5", "within"),  # where nothing is published the tolerance bounds our figure
        (None, "1.51", "1.5", "outside"),
        (None, "7", None, "informational"),
    ],
)
def test_verdict(published, ours, tolerance, status):
    def number(text):
        return None if text is None else Decimal(text)

    row = Reproduced(
        *("paper", "table", "dataset", "split", "method", "measure", "percent"),
        published=number(published),
        printed=number(ours),
        tolerance=number(tolerance),
    )
    assert row.status == status


def test_a_figure_to_be_exact_is_printed_as_the_paper_prints_it(figure):
    truncated = get_protocol("closer-look")
    rounded = replace(truncated, rounding="nearest")
    # By hand: 20.0589 % truncated and rounded to two decimals, and to one.
    for value, protocol, printed in [
        ("20.05", truncated, "20.05"),
        ("20.05", rounded, "20.06"),
        ("20.0", truncated, "20.0"),
        ("20.1", rounded, "20.1"),
    ]:
        row = beside(figure(value), 0.200589, tolerance="0", protocol=protocol)
        assert (str(row.printed), row.status == "exact") == (printed, value == printed)
        assert row.ours == pytest.approx(20.0589, abs=1e-12)


def test_a_figure_with_a_tolerance_is_printed_with_two_decimals_or_more(figure):
    for value, printed in [("24", "23.58"), ("23.6", "23.58"), ("23.578", "23.578")]:
        row = beside(figure(value), 0.23578, tolerance="1.5")
        assert (str(row.printed), row.difference) == (printed, Decimal(printed) - Decimal(value))


@pytest.mark.parametrize(("value", "published"), [("0.35", "35"), ("1.00", "100"), ("0.057", "5.7"), ("0", "0")])
def test_published_fractions_become_percent(figure, value, published):
    row = beside(figure(value, "fraction"), float(value), tolerance="0")
    assert (row.unit, row.published, row.printed, row.status) == ("percent", Decimal(published), row.published, "exact")


def test_a_count_stays_one(figure):
    same, other = (beside(figure("5338", "count"), count, tolerance="0") for count in (5338, 5337))
    assert (same.unit, same.ours, same.difference, same.status) == ("count", 5338, 0, "exact")
    assert (other.difference, other.status) == (-1, "outside")


def test_mean_and_spread_of_runs(figure):
    # By hand: mean 11 %, sample variance (1 + 1) / 2 points squared.
    row = beside(figure("10.77"), [0.10, 0.11, 0.12], tolerance="0.3")
    assert (row.printed, row.runs, row.status) == (Decimal("11.00"), 3, "within")
    assert row.spread == pytest.approx(1.0, abs=1e-12)
    assert beside(figure("10.77"), [0.11], tolerance="0.3").spread is None


def test_an_undefined_figure_is_told_apart_from_none(figure):
    row = beside(figure("10.77"), float("nan"), tolerance=None)
    assert (row.status, row.difference) == ("informational", None)
    assert as_published(figure("10.77")).status == "published, unchecked"


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(0, 2000))
def test_the_verdict_is_that_of_whole_hundredths(published, ours, tolerance):
    # Decimals in, decimals compared: what is shown is what is judged, to the last digit.
    row = Reproduced("s", "t", "d", "test", "m", "R@1", "percent", published=Decimal(published).scaleb(-2))
    row = replace(with_ours(row, ours / 10_000), tolerance=Decimal(tolerance).scaleb(-2))
    good = "within" if tolerance else "exact"
    assert row.status == (good if abs(published - ours) <= tolerance else "outside")


SHARED_FILES = {
    "closer_look_table1.csv": ["closer_look_table1.csv"],
    "closer_look_table2.csv": ["closer_look_table2.csv"],
    "closer_look_text.csv": ["closer_look_text.csv"],
    "mad_table1.csv": ["mad_table1.csv"],
    "mad_table2.csv": ["mad_table2.csv"],
    "mad_table3.csv": ["mad_table3.csv"],
    "hidden_challenges_table1.csv": ["hidden_challenges_table1.csv"],
    "hidden_challenges_table2.csv": ["hidden_challenges_table2.csv"],
    "hidden_challenges_blind.csv": ["hidden_challenges_text.csv", "hidden_challenges_notebooks.csv"],
}


@pytest.mark.data
@pytest.mark.parametrize("name", SHARED_FILES)
def test_published_figures_are_those_written_down_from_the_papers(name, data_dir):
    folder = data_dir.parent / "published"
    if not folder.is_dir():
        pytest.skip(f"no published figures at {folder}")

    def key(f):
        return f.source, f.table, f.dataset, f.split, f.method, f.measure, f.value, f.unit

    written_down = {key(f) for file in SHARED_FILES[name] for f in read_published(folder / file)}
    ours = [key(f) for f in published_figures(name)]
    assert len(set(ours)) == len(ours)
    assert set(ours) <= written_down
    if name.startswith("closer_look_table"):
        assert set(ours) == written_down


def test_agreement_that_reproduces_nothing_and_unchecked_figures_are_counted_apart(figure):
    alike = beside(figure("10.77"), 0.1077, tolerance="0")
    searched, other = replace(alike, agreement="found by search"), replace(alike, agreement="ours beside ours")
    outside = replace(searched, tolerance=Decimal(0), printed=Decimal("10.78"))
    rows = [
        alike,
        searched,
        other,
        outside,
        unchecked(figure("1.0"), "no run"),
        unchecked(figure("1.0"), "not defined"),
    ]
    assert [row.status for row in rows[:4]] == ["exact", "found by search", "ours beside ours", "outside"]
    reproduction = Reproduction([ReproducedTable(get_table("best-constant"), rows)], 0, 1, "lexicon")
    assert reproduction.unchecked == {"no run": 1, "not defined": 1}
    _, totals = report(reproduction).answer
    shown = [tuple(cell.text for cell in line[:2]) for _, lines in totals.groups for line in lines]
    assert shown == [
        ("exact", "1"),
        ("outside", "1"),
        ("found by search", "1"),
        ("ours beside ours", "1"),
        ("published, unchecked", "2"),
        ("unchecked: no run", "1"),
        ("unchecked: not defined", "1"),
    ]
