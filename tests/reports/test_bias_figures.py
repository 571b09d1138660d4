"""Figures of surveys: which there are, what they show, the same bytes for the same survey."""

import io
import re

import numpy as np
import pytest

from truemoment.base.density import Density
from truemoment.base.errors import UsageError
from truemoment.report import drawing
from truemoment.report.density_classes import density_on_grid
from truemoment.report.roles import SERIES
from truemoment.studies.bias import report as bias
from truemoment.studies.bias import report_figures as figures


def drawings(*surveys):
    return bias.report(surveys, seed=0).drawings


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def drawn(world_survey):
    return {one.name: one for one in drawings(world_survey)}


def test_all_figures_of_a_dataset_are_there(drawn, world_survey):
    kinds = (
        *("start-end", "start-length", "histograms", "seconds", "longer", "distances", "verbs", "verb-densities"),
        *("verb-places", "verbs-a-query", "words-a-query", "ranks"),
    )
    name = bias.names_of([world_survey])[0]
    assert list(drawn) == [f"{name}-{kind}" for kind in kinds]
    for one in drawn.values():
        assert one.title
        assert one.caption.endswith(".")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_chosen_verb_is_drawn_for_each_split_and_nothing_is_cut_off(world_survey, count):
    name, (verb, *_) = bias.names_of([world_survey])[0], world_survey.verb_use.value.top
    listed = bias.report([world_survey], seed=0, verbs=[verb]).drawings
    assert f"{name}-verb-1" in [one.name for one in listed]
    splits = [figures.DrawnSplit(split.name, split, SERIES[0]) for split in world_survey.splits][:count]
    figure = figures.verb_figure(splits, verb)
    figure.canvas.draw()
    assert figure.get_suptitle() == f"verb: {verb}"  # the picture stands alone, as a file
    for axes, one in zip(figure.axes, splits, strict=False):
        assert axes.get_title() == f"{one.name} ({len(one.split.points_of_verb(verb)):,})"
        assert axes.title.get_window_extent().y1 <= figure.bbox.height


def test_several_datasets_have_figures_together_with_names_of_their_own(world_survey, placeless_survey):
    names = [one.name for one in drawings(world_survey, world_survey, placeless_survey)]
    assert len(set(names)) == len(names)
    assert names[:3] == ["datasets-histograms", "datasets-longer", "datasets-constant"]


@pytest.mark.parametrize("which", ["bare_survey", "placeless_survey"])
def test_what_does_not_apply_is_not_there(request, which):
    survey = request.getfixturevalue(which)
    kinds = {one.name for one in drawings(survey)}
    assert not {name for name in kinds if name.endswith(("distances", "verb-densities", "verb-shift"))}
    _, again = bias.names_of([survey, survey])
    for one in drawings(survey, survey):
        if not one.name.startswith(f"{again}-"):
            drawing.inline_svg(one)


@pytest.mark.thorough
def test_names_in_any_script_can_be_drawn(hostile_survey):
    """Warnings are errors here, as that a font lacks a letter; $ must not begin a formula."""
    listed = drawings(hostile_survey, hostile_survey)
    assert len(listed) > 2  # those of both together, and of each
    for one in listed:
        picture = io.BytesIO()
        with drawing.drawing_style():
            one.draw().savefig(picture, format="png", dpi=40)
        assert picture.getvalue().startswith(b"\x89PNG"), one.name


@pytest.mark.thorough
def test_the_same_figure_is_the_same_bytes(world_survey, tmp_path):
    once, again = (drawing.save_drawings(drawings(world_survey)[:2], tmp_path / name) for name in ("once", "again"))
    assert [path.suffix for path in once] == [".png", ".svg", ".pdf"] * 2
    assert [path.read_bytes() for path in once] == [path.read_bytes() for path in again]


def test_svg_is_small_and_in_the_colours_of_the_page(drawn):
    for one in drawn.values():
        svg = drawing.inline_svg(one)
        assert len(svg) < 250_000, one.name
        assert not re.search(r"#[0-9a-f]{6}", svg), one.name


# ------------------------------------------------------------------------------------------ what they show


def outlines(axes):
    return [patch.get_data().values for patch in axes.patches if hasattr(patch, "get_data")]


def test_histograms_are_shares_of_the_moments(world_survey):
    splits = figures._splits(world_survey)
    start, end, length = figures.histograms_figure(splits).axes
    for column, axes in enumerate((start, end, length)):
        for values, one in zip(outlines(axes), splits, strict=True):
            of = (one.split.points[:, 0], one.split.points[:, 1], np.diff(one.split.points, axis=1)[:, 0])[column]
            by_hand = [100 * np.mean((of >= k / 40) & ((of < (k + 1) / 40) | (k == 39))) for k in range(40)]
            assert values.sum() == pytest.approx(100)
            assert np.abs(values - by_hand).max() < 2.0  # moments on a bound may fall to either side by rounding


def test_shares_longer_than_x_have_their_marks(world_survey):
    splits = figures._splits(world_survey)
    [axes] = figures.longer_figure(splits).axes
    marks = [line for line in axes.lines if len(line.get_xdata()) == 3]
    for line, one in zip(marks, splits, strict=True):
        np.testing.assert_allclose(line.get_ydata(), 100 * one.split.longer)
    curves = [line for line in axes.lines if len(line.get_xdata()) == 101]
    for line, mark in zip(curves, marks, strict=True):
        np.testing.assert_allclose(line.get_ydata()[[30, 50, 70]], mark.get_ydata())


def test_distances_are_drawn_beside_chance(world_survey):
    energy, divergence = figures.distances_figure(world_survey).axes
    found = [pair.distance.value for pair in world_survey.pairs]
    chance, own = energy.lines
    np.testing.assert_allclose(own.get_xdata(), [of.energy for of in found])
    np.testing.assert_allclose(chance.get_xdata(), [of.energy_by_chance for of in found])
    np.testing.assert_allclose(divergence.lines[1].get_xdata(), [of.jensen_shannon_bits for of in found])


def test_verbs_are_shares_of_each_split(world_survey):
    [axes] = figures.verbs_figure(world_survey, 5).axes
    use = world_survey.verb_use.value
    for line, split in zip(axes.lines, world_survey.splits, strict=True):
        counts = use.counts[split.name]
        np.testing.assert_allclose(line.get_xdata(), [100 * counts[verb] / counts.total() for verb in use.top[:5]])
    assert [label.get_text() for label in axes.get_yticklabels()] == list(use.top[:5])


def test_divergences_of_verbs_are_drawn_beside_chance(world_survey):
    [axes] = figures.verb_information_figure(world_survey, 4).axes
    chance, own = axes.lines
    by_verb = world_survey.information.value.by_verb[:4]
    np.testing.assert_allclose(own.get_xdata(), [of.raw_bits for of in by_verb])
    np.testing.assert_allclose(chance.get_xdata(), [of.by_chance_bits for of in by_verb])


def test_the_best_answer_is_marked_in_the_density(world_survey):
    figure = figures.densities_figure(figures._splits(world_survey))
    for axes, split in zip(figure.axes, world_survey.splits, strict=True):
        circle = axes.lines[-1]
        assert (circle.get_xdata()[0], circle.get_ydata()[0]) == (
            split.constant.value.start_norm,
            split.constant.value.end_norm,
        )
        assert axes.get_title() == f"{split.name} ({len(split.points):,})"


def test_densities_by_length_are_those_by_end_sheared():
    """Density of (start, start + length) at a place is that of (start, end): the Jacobian is 1."""
    rng = np.random.default_rng(0)
    start = rng.uniform(0, 0.5, 300)
    points = np.stack([start, start + rng.uniform(0.05, 0.4, 300)], axis=1)
    by_end = density_on_grid(points, cells=40)
    by_length = density_on_grid(points, of_duration=True, cells=40)
    middles = (np.arange(40) + 0.5) / 40
    for row, column in ((4, 10), (8, 2), (2, 16)):  # length, start: at end = start + length, half a cell further
        direct = Density.fit(points).evaluate(np.array([[middles[column], middles[column] + middles[row]]]))
        assert by_length[row, column] == pytest.approx(direct[0] / 2)
    assert by_end.max() > 1


def test_moments_on_one_line_have_no_density_but_a_picture():
    points = np.stack([np.zeros(50), np.linspace(0.1, 1, 50)], axis=1)
    assert density_on_grid(points) is None
    axes = drawing.new_figure(2.0).add_subplot()
    drawing.draw_density(axes, points)
    assert axes.patches
    figures.verb_densities_figure([("open", points)])


def test_verbs_are_compared_in_train_and_the_test(world_survey, monkeypatch):
    assert figures._shifted(world_survey) is None  # no verb has 30 moments in test-ood
    monkeypatch.setattr(figures, "FEW", 3)
    train, test, verbs = figures._shifted(world_survey)
    assert (train.name, test.name, len(verbs)) == ("train", "test-ood", 3)
    figure = figures.verb_shift_figure(train, test, verbs)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == [f"{verb} ({len(split.points_of_verb(verb)):,})" for split in (train, test) for verb in verbs]
    assert "world-verb-shift" in [one.name for one in drawings(world_survey)]


def test_usual_splits_look_alike_everywhere(world_survey, hostile_survey):
    styles = {one.name: one.style for one in figures._splits(world_survey)}
    assert styles["train"] == figures._splits(hostile_survey)[0].style
    assert len({one.style for one in figures._splits(hostile_survey)}) == figures.N_SHOWN
    assert len(set(styles.values())) == 4


def test_a_verb_that_is_asked_for_has_a_figure_of_each_split_that_has_it(world_survey):
    verb = world_survey.verb_use.value.top[-1]
    name = bias.names_of([world_survey])[0]
    chosen = bias.report([world_survey], seed=0, verbs=[verb]).drawings
    [drawing] = [one for one in chosen if one.name == f"{name}-verb-1"]
    counts = {split.name: len(split.points_of_verb(verb)) for split in world_survey.splits}
    titles = [axes.get_title() for axes in drawing.draw().axes if axes.get_title()]
    assert set(titles) >= {f"{split} ({count:,})" for split, count in counts.items() if count}
    with pytest.raises(UsageError, match="has the verb 'juggle'"):
        bias.report([world_survey], seed=0, verbs=["juggle"])
