"""The report on label ambiguity: the right numbers in sentences, tables, JSON and pictures."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from truemoment import parse_measures
from truemoment.base.intervals import Floats
from truemoment.report.drawing import save_drawings
from truemoment.studies.meta.ambiguity import Ambiguity, NoiseLevel
from truemoment.studies.meta.noise import VARIANCES_S2
from truemoment.studies.meta.reports import ambiguity as reports
from truemoment.studies.meta.reports.ambiguity import sentences, unsettled_pairs

nan = float("nan")

ORIGINAL = np.array([[0.60, 0.30], [0.50, 0.28], [0.20, 0.10]])
"""Three systems by R@1,IoU=0.7 and AxIoU@10."""


def a_level(figures: Floats, level: str = "variance 4 s²", *, original: Floats = ORIGINAL, model: str = "shift"):
    return NoiseLevel(model, level, 0.81, 0.84, original, figures, np.ones(original.shape[1]))


def little() -> NoiseLevel:
    """Ten sets, off by 0.01 and 0.002, up and down by turns: nobody changes places."""
    sign = np.where(np.arange(10) % 2, 1, -1)[:, None, None]
    return a_level(ORIGINAL + sign * np.array([0.01, 0.002]), "variance 1 s²")


def much() -> NoiseLevel:
    """Ten sets, off by 0.02 and 0.005; in four of them the first two change places by the first measure, in one by
    the second."""
    sign = np.where(np.arange(10) % 2, 1, -1)[:, None, None]
    figures = ORIGINAL + sign * np.array([0.02, 0.005])
    figures[:4, [0, 1], 0] = figures[:4, [1, 0], 0]
    figures[:1, [0, 1], 1] = figures[:1, [1, 0], 1]
    return a_level(figures)


def made(
    *levels: NoiseLevel, measures: str = "R@1,IoU=0.7; AxIoU@10", source: str = "", dataset: str = ""
) -> Ambiguity:
    levels = levels or (little(), much())
    names = tuple(f"system {n}" for n in range(len(levels[0].original)))
    return Ambiguity(names, parse_measures(measures), levels, source, dataset)


def rows_of(found, table: int) -> list[list[str]]:
    return [[cell.text for cell in row] for _, rows in found.tables[table].groups for row in rows]


def test_says_how_far_figures_move_and_who_changes_places() -> None:
    """By the first measure sets 0 to 3 swap 0.6 and 0.5 and add 0.02: RMSE from the formula, in points.

    Of three pairs one turns in 4 of 10 sets by R@1, in 1 of 10 by AxIoU: a mean of 13.3 % and 3.3 %.
    """
    level = much()
    rmse = 100 * np.sqrt(((level.figures - ORIGINAL) ** 2).mean(axis=0)).mean(axis=0)
    assert f"{rmse[1]:.1f}" == "0.7"  # 0.0067 by hand: (0.0079 + 0.0072 + 0.005) / 3
    assert sentences(made(), level) == [
        "With label noise (shift, variance 4 s²: mean IoU 0.81 with the original labels), the root mean square error "
        f"of a figure is 0.7 (AxIoU@10) to {rmse[0]:.1f} (R@1,IoU=0.7) points.",
        "Two systems change places in 3.3 % (AxIoU@10) to 13.3 % (R@1,IoU=0.7) of the noisy sets.",
    ]


def test_mean_of_flips_leaves_ties_out() -> None:
    original = np.array([[0.5, 0.5], [0.5, 0.5], [0.2, 0.5]])
    figures = np.stack([original, original[::-1]])
    turned = a_level(figures, original=original).mean_flips
    assert turned[0] == 0.25  # pair 01 ties; of the others, 02 turns in one set of two, 12 ties there
    assert np.isnan(turned[1])


def test_unsettled_pairs_are_those_that_turn_most_often_first() -> None:
    assert unsettled_pairs(much()).tolist() == [0]
    assert unsettled_pairs(little()).tolist() == []
    figures = np.repeat(ORIGINAL[None], 10, axis=0)
    figures[:3, 2] = 0.9  # above both others
    figures[3:5, 2] = 0.55, 0.29  # above the second alone
    assert unsettled_pairs(a_level(figures)).tolist() == [2, 1]
    assert unsettled_pairs(a_level(figures), most=1).tolist() == [2]


def test_table_of_levels_sets_the_papers_ious_beside_ours(shown) -> None:
    """AxIoU paper, section 6.4: 0.906, 0.870, 0.835, 0.802 on Charades-STA, for its own levels alone."""
    levels = [a_level(much().figures, f"variance {v:g} s²") for v in VARIANCES_S2]
    found = shown(reports, made(*levels, dataset="charades-sta"))
    assert found.tables[0].headings[-1] == "quoted in the paper"
    assert [row[-1] for row in rows_of(found, 0)] == ["0.906", "0.870", "0.835", "0.802"]
    assert [row[1:3] for row in rows_of(found, 0)] == [["0.810", "0.840"]] * 4
    assert rows_of(shown(reports, made(*levels, dataset="activitynet-captions")), 0)[0][-1] == "0.846"
    for other in (shown(reports, made(*levels, dataset="own")), shown(reports, made(dataset="charades-sta"))):
        assert other.tables[0].headings == ("noise", "mean IoU", "mean of medians")
    learned = [dataclasses.replace(level, model="annotators") for level in levels]
    assert len(shown(reports, made(*learned, dataset="charades-sta")).tables[0].headings) == 3


def test_table_has_every_measure(shown) -> None:
    found = shown(reports, made())
    level = much()
    assert found.tables[1].headings == (
        *("measure", "RMSE, 1 s²", "RMSE, 4 s²", "bias", "RMSE / spread", "change places, %", "tau"),
    )
    rows = rows_of(found, 1)
    for m, name in enumerate(("R@1,IoU=0.7", "AxIoU@10")):
        relative = level.rmse.mean(axis=0)[m] / ORIGINAL[:, m].std()
        assert rows[m] == [
            name,
            ("1.00", "0.20")[m],
            f"{100 * level.rmse[:, m].mean():.2f}",
            ("0.00", "0.00")[m],  # up and down by turns, and a swap adds to one what it takes from the other
            f"{relative:.2f}",
            ("13.3", "3.3")[m],
            # A swap of the best two of three leaves 2 of 3 pairs: tau 1/3, in 4 (in 1) of 10 sets.
            ("0.733", "0.933")[m],
        ]
    marked = [[cell.marked for cell in row] for _, rows in found.tables[1].groups for row in rows]
    assert marked[1] == [False, False, False, False, True, True, True]
    assert marked[0] == [False] * 7


def test_document_holds_everything_and_no_nan(shown) -> None:
    """What is undefined is null: a pair that ties as it is, and the spread of systems that are equal.

    Of the pairs those are listed that ever change places: the last one, in the second set.
    """
    original = np.array([[0.5, 0.5], [0.5, 0.5], [0.2, 0.5]])
    figures = np.stack([original + 0.1, original + 0.1])
    figures[1, 1:, 0] = 0.3, 0.6
    found = shown(reports, made(a_level(figures, original=original)))
    document = found.document
    assert document["model"] == "shift"
    assert (document["sets"], document["systems"]) == (2, ["system 0", "system 1", "system 2"])
    assert document["measures"] == ["R@1,IoU=0.7", "AxIoU@10"]
    assert document["original"] == original.tolist()
    (level,) = document["levels"]
    assert (level["level"], level["mean_iou"], level["mean_of_median_iou"]) == ("variance 4 s²", 0.81, 0.84)
    assert level["rmse_over_spread"][1] is None
    (pair,) = level["pairs"]
    assert pair["why"] == "null: the two tie on the original labels"
    assert {key: pair[key] for key in pair if key != "why"} == {
        "first": "system 1",
        "second": "system 2",
        "change_places": [0.5, None],
    }
    errors = [[(0.1, 0.1), (0.1, 0.1)], [(0.1, -0.2), (0.1, 0.1)], [(0.1, 0.4), (0.1, 0.1)]]
    np.testing.assert_allclose(level["rmse"], np.sqrt((np.array(errors) ** 2).mean(axis=2)), atol=1e-12)
    np.testing.assert_allclose(level["bias"], np.array(errors).mean(axis=2), atol=1e-12)
    # Second set: 0.6, 0.3, 0.6 against 0.5, 0.5, 0.2: one of the two pairs told turns, the other ties.
    assert level["mean_tau"] == [pytest.approx((1 - 1 / np.sqrt(2 * 2)) / 2), 0.0]


def test_all_systems_equal_is_told_without_a_warning(shown, tmp_path: Path) -> None:
    """No spread, no pair to change places: nothing is marked, nothing undefined is printed as a number."""
    original = np.full((2, 2), 0.1)
    found = shown(reports, made(a_level(np.stack([original + 0.01, original]), original=original)))
    text = "\n".join(found.lines)
    assert "nan" not in text.lower()
    assert "e+" not in text
    assert [row[3:5] for row in rows_of(found, 1)] == [["-", "-"]] * 2
    save_drawings(found.drawings, tmp_path, ("png",))


def test_an_undefined_measure_is_told_as_such(shown, tmp_path: Path) -> None:
    """As of a class of lengths that the data lack: its figures are NaN for all systems, and others are still told."""
    original = ORIGINAL.copy()
    original[:, 0] = nan
    figures = much().figures.copy()
    figures[:, :, 0] = nan
    found = shown(reports, made(a_level(figures, original=original)))
    text = "\n".join(found.lines)
    assert "nan" not in text.lower()
    assert "AxIoU@10" in found.said[0]
    assert rows_of(found, 1)[0][1:5] == ["-"] * 4
    save_drawings(found.drawings, tmp_path, ("png",))


def test_one_measure_is_not_set_against_itself() -> None:
    """Least and most of one are the same: no sentence names it twice."""
    level = much()
    one = a_level(level.figures[:, :, :1], original=ORIGINAL[:, :1])
    for sentence in sentences(made(one, measures="R@1,IoU=0.7"), one):
        assert sentence.count("R@1,IoU=0.7") == 1, sentence


def test_notes_and_titles_go_with_the_model(shown) -> None:
    def of(model: str, source: str = ""):
        return shown(reports, made(dataclasses.replace(much(), model=model), source=source))

    assert (of("shift").study.section.name, of("annotators").study.section.name) == (
        "ambiguity-shift",
        "ambiguity-annotators",
    )
    assert "do not follow from its model" in " ".join(of("published").notes)
    assert "do not follow" not in " ".join(of("shift").notes)
    assert "Learned on human-charades/test" in " ".join(of("annotators", "human-charades/test").notes)
    assert len({of(model).title for model in ("published", "shift", "annotators")}) == 3
    assert of("annotators", "human-charades/test").document["learned_on"] == "human-charades/test"
    assert of("shift").document["learned_on"] is None


@pytest.mark.parametrize("levels", [(much(),), (little(), much())])
def test_drawings_draw(shown, tmp_path: Path, levels) -> None:
    """Warnings are errors here. The pairs are drawn where any changes places."""
    drawings = shown(reports, made(*levels)).drawings
    names = ["ambiguity-shift-rmse", "ambiguity-shift-places", "ambiguity-shift-pairs"]
    assert [one.name for one in drawings] == names
    assert all(one.caption.endswith(".") for one in drawings)
    save_drawings(drawings, tmp_path, ("svg",))
    for name in names:
        assert (tmp_path / f"{name}.svg").stat().st_size > 2000
    assert [one.name for one in shown(reports, made(little())).drawings] == names[:2]


def test_better_by_most_measures_stands_first(shown, monkeypatch) -> None:
    """The caption says "by most measures": two small leads count more than one large lead the other way."""
    from truemoment.studies.meta.reports import ambiguity as module

    original = np.array([[0.30, 0.30, 0.1], [0.29, 0.29, 0.9]])
    figures = np.repeat(original[None], 4, axis=0)
    figures[:2] = original[::-1]
    found = made(a_level(figures, original=original), measures="R@1,IoU=0.7; AxIoU@10; mIoU")
    seen = []
    monkeypatch.setattr(module, "heat_map", lambda rows, *_, **__: seen.extend(rows))
    shown(reports, found).drawings[-1].draw()
    assert seen == ["system 0 > system 1"]
