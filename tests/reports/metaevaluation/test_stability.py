"""The report on stability: the right numbers in sentences, tables, JSON and pictures."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from truemoment import parse_measures
from truemoment.report.drawing import save_drawings
from truemoment.studies.meta.reports import stability as reports
from truemoment.studies.meta.reports.stability import ENOUGH, first_reaching, sentences
from truemoment.studies.meta.stability import Stability

nan = float("nan")

MEAN = [[0.10, 0.40, 0.30, 0.20, 0.05], [0.50, 0.93, 0.60, 0.40, 0.30], [0.80, 0.95, 0.91, 0.70, 0.50]]


def made(**changes: object) -> Stability:
    """Five measures at 10, 40 and 1,200 queries, of which 40 is the middle size."""
    settled = Stability(
        measures=parse_measures("R@1,IoU=0.3; AxIoU@10; AxIoU@1; R@1,IoU=0.7; mIoU"),
        n_systems=6,
        unit="query",
        overlapping=False,
        sizes=np.array([10, 40, 1200]),
        queries=np.array([10.0, 40.0, 1200.0]),
        trials=5000,
        mean=np.array(MEAN),
        variance=np.array(MEAN) / 7,
        undefined=np.zeros((3, 5)),
    )
    return dataclasses.replace(settled, **changes)


def test_says_which_is_most_and_least_stable_in_the_middle() -> None:
    assert sentences(made()) == [
        "On two subsets of 40 queries, the self-agreement (mean tau) is 0.30 (mIoU) to 0.93 (AxIoU@10).",
        "Measures that reach a mean tau of 0.9: AxIoU@10 (40 queries) and AxIoU@1 (1,200 queries).",
    ]


def test_says_when_none_reaches_it() -> None:
    low = sentences(made(mean=np.array(MEAN) / 2))
    assert low[1] == "No measure reaches a mean tau of 0.9 with 1,200 queries or fewer."


def test_says_how_often_all_systems_tie() -> None:
    undefined = np.zeros((3, 5))
    undefined[0, 4], undefined[1, 3] = 0.123, 0.02
    assert sentences(made(undefined=undefined))[-1] == (
        "On 10 queries, mIoU ties all systems in 12 % of the trials; tau counts as 0 there."
    )
    assert not any("ties all" in sentence for sentence in sentences(made(undefined=undefined / 100)))


def test_reached_is_from_where_on_it_stays() -> None:
    """0.95 that falls to 0.8 again is not reached there; ENOUGH itself is enough."""
    mean = np.array([[0.95, 0.95, ENOUGH, 0.1], [0.8, 0.95, 0.95, 0.2], [0.95, 0.95, ENOUGH, 0.89]])
    np.testing.assert_array_equal(first_reaching(made(mean=mean)), [1200, 10, 10, nan])


def test_one_measure_is_not_set_against_itself() -> None:
    """Best and worst of one are the same: it is said once."""
    one = made(
        measures=parse_measures("mIoU"),
        mean=np.array([[0.2], [0.5], [0.95]]),
        variance=np.full((3, 1), 0.1),
        undefined=np.zeros((3, 1)),
    )
    told = sentences(one)[0]
    assert told.count("mIoU") == 1
    assert "0.50" in told  # of the middle size
    assert "least" not in told


def test_table_has_every_measure_and_size(shown) -> None:
    table = shown(reports, made()).tables[0]
    assert table.headings == ("measure", "10 queries", "40 queries", "1,200 queries")
    ((_, rows),) = table.groups
    assert [row[0].text for row in rows] == ["R@1,IoU=0.3", "AxIoU@10", "AxIoU@1", "R@1,IoU=0.7", "mIoU"]
    for m, row in enumerate(rows):
        for n in range(3):
            assert row[n + 1].text == f"{MEAN[n][m]:.3f}"
            assert row[n + 1].below == f"var {MEAN[n][m] / 7:.3f}"
            assert row[n + 1].marked == (m == 1)  # AxIoU@10 is best at each size


def test_table_shows_some_of_many_sizes_first_and_last_among_them(shown) -> None:
    sizes = np.arange(1, 11) * 100
    many = made(
        sizes=sizes,
        queries=sizes.astype(float),
        mean=np.tile(MEAN[0], (10, 1)),
        variance=np.zeros((10, 5)),
        undefined=np.zeros((10, 5)),
    )
    headings = shown(reports, many).tables[0].headings
    assert (len(headings), headings[1], headings[-1]) == (6, "100 queries", "1,000 queries")


def test_document_holds_everything_unrounded(shown) -> None:
    document = shown(reports, made()).document
    assert (document["unit"], document["subsets"], document["trials"], document["n_systems"]) == (
        "query",
        "disjoint",
        5000,
        6,
    )
    assert document["sizes"] == [10, 40, 1200]
    assert document["queries"] == [10, 40, 1200]
    for m, entry in enumerate(document["measures"]):
        assert entry["measure"] == str(made().measures[m])
        assert entry["mean_tau"] == [row[m] for row in MEAN]
        assert entry["variance"] == (np.array(MEAN)[:, m] / 7).tolist()
        assert entry["undefined_share"] == [0, 0, 0]
    assert shown(reports, made(overlapping=True)).document["subsets"] == "overlapping"


def test_notes_say_what_was_drawn(shown) -> None:
    def notes(**changes: object) -> str:
        return " ".join(shown(reports, made(**changes)).notes)

    assert "drawn one by one" in notes()
    assert "Whole videos" in notes(unit="video")
    assert "by construction" in notes(overlapping=True)
    assert "by construction" not in notes()
    assert "tau counts as 0" in notes()


@pytest.mark.slow
@pytest.mark.parametrize("n_sizes", [1, 3])
def test_drawings_draw(shown, tmp_path: Path, n_sizes: int) -> None:
    """Warnings are errors here."""
    few = made(
        sizes=np.array([10, 40, 1200])[:n_sizes],
        queries=np.array([10.0, 40.0, 1200.0])[:n_sizes],
        mean=np.array(MEAN)[:n_sizes],
        variance=np.array(MEAN)[:n_sizes],
        undefined=np.zeros((n_sizes, 5)),
    )
    drawings = shown(reports, few).drawings
    assert [one.name for one in drawings] == ["stability-mean", "stability-variance"]
    assert all(one.caption.endswith(".") for one in drawings)
    save_drawings(drawings, tmp_path, ("svg",))
    for name in ("stability-mean", "stability-variance"):
        assert (tmp_path / f"{name}.svg").stat().st_size > 2000
        assert n_sizes == 1 or (tmp_path / f"{name}.svg").stat().st_size > 2000


def test_caption_says_how_many_and_which_subsets(shown) -> None:
    first = shown(reports, made()).drawings[0].caption
    assert first == "5,000 pairs of subsets of each size, without shared queries, drawn by query."
    assert (
        "which may share queries, drawn by video"
        in shown(reports, made(overlapping=True, unit="video")).drawings[0].caption
    )
