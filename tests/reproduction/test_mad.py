"""MAD's Table 1: amounts in their units, datasets that are not there, and the figures on the real files."""

from __future__ import annotations

from decimal import Decimal

import pytest

from truemoment.base.errors import MissingFileError
from truemoment.report.render import terminal
from truemoment.reproduction import ReproducedTable, Reproduction, get_table, reproduce
from truemoment.reproduction.base import beside
from truemoment.reproduction.report import document, report


@pytest.mark.parametrize(
    ("value", "unit", "ours", "expected"),
    [
        ("18.2", "thousand", 18_227, ("18.2", "exact")),
        ("18.2", "thousand", 18_250, ("18.3", "outside")),  # a half rounds up
        ("0.2", "million", 171_714, ("0.2", "exact")),
        ("487.6", "hours", 487.5955, ("487.6", "exact")),
        ("0.50", "minutes", 0.5098, ("0.51", "outside")),
        ("7.2", "words", 7.224, ("7.2", "exact")),
        ("7.2", "words", float("nan"), ("NaN", "outside")),
    ],
)
def test_amounts_are_printed_in_their_unit(figure, value, unit, ours, expected):
    printed, status = expected
    row = beside(figure(value, unit), ours, tolerance="0")
    assert (str(row.printed), row.status, row.unit, row.published) == (printed, status, unit, Decimal(value))


ROWS = (
    ("Table 1", "Charades-STA", "all", "", "queries", "16.1", "thousand"),
    ("Table 1", "Charades-STA", "all", "", "duration per video", "0.50", "minutes"),
    ("Table 1", "MAD", "all", "", "queries", "384.6", "thousand"),
)


def test_small(publish, small_data):
    # By hand: 20 and 30 queries, each of a video of 30 s; MAD's files are not there.
    publish("mad_table1.csv", *ROWS)
    told = []
    queries, duration, mad = found = reproduce("mad-1", small_data, on_status=told.append)
    assert (queries.ours, queries.published, str(queries.printed)) == (0.05, Decimal("16.1"), "0.1")
    assert (duration.ours, duration.status) == (0.5, "within")
    assert (mad.status, mad.unchecked) == ("published, unchecked", "files under agreement")
    assert any(line.startswith("MAD is left out") for line in told)
    shown = ReproducedTable(get_table("mad-1"), found)
    reproduction = Reproduction([shown], 0, 1, "lexicon")
    text = "\n".join(terminal.body(report(reproduction)))
    assert "queries (thousand)" in text
    assert "percent" not in text
    figures = document(reproduction)["tables"][0]["figures"]
    assert (figures[0]["unit"], figures[0]["published"], figures[0]["ours"]) == ("thousand", 16.1, 0.05)


def test_nothing_there(publish, tmp_path):
    publish("mad_table1.csv", *ROWS)
    (tmp_path / "data").mkdir()
    with pytest.raises(MissingFileError):
        reproduce("mad-1", tmp_path / "data")


@pytest.mark.data
@pytest.mark.thorough
def test_real_files(reproduce_once, data_dir):
    rows = reproduce_once("mad-1", data_dir)
    at = {(row.dataset, row.split, row.measure): row for row in rows}
    # Counts and durations print as published but for the hours of Charades-STA, which do not fit their own mean.
    exact = {key for key, row in at.items() if row.status == "exact"}
    for dataset in ("TACoS", "ActivityNet Captions", "Charades-STA"):
        asked = {"total duration", "duration per video", "duration per moment", "queries", "tokens"}
        if dataset == "Charades-STA":
            asked -= {"total duration", "duration per video"}
        assert {(dataset, "all", measure) for measure in asked} <= exact
        assert at[dataset, "all", "vocabulary, all"].status == "within"
    assert at["Charades-STA", "all", "total duration"].ours == pytest.approx(56.692, abs=0.001)
    # Mean over train and val_1 alone comes to the published 14.8, over all three files to 14.4.
    assert at["ActivityNet Captions", "train and val_1", "words per query"].status == "within"
    assert at["ActivityNet Captions", "all", "words per query"].ours == pytest.approx(14.41, abs=0.01)
    assert not [row for row in rows if row.status == "outside"]
