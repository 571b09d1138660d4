"""The report of a sweep: means and spreads, what is said of them, what is drawn."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
from matplotlib.text import Text
from scipy import stats

from truemoment.base.boundary.documents import as_json
from truemoment.learning.training.report_sweep import document, findings, report, table
from truemoment.learning.training.report_sweep_figures import drawings, figure, spread_out
from truemoment.learning.training.sweep_results import Curve, EmptyCell, SweepResult, difference, mean_and_spread
from truemoment.report.drawing import drawing_style
from truemoment.report.render import terminal
from truemoment.report.roles import ROLES, SERIES

from ..thorough import quick_are

MEASURE = "R@1,IoU=0.5"
SPLITS = ("test-iid", "test-ood")


def curve(name, figures, *, kind="method", sees=True):
    """Make one of fractions by place and split: {(value, seed): (test-iid, test-ood)}."""
    points = {
        place: dict(zip([(split, MEASURE) for split in SPLITS], of, strict=True)) for place, of in figures.items()
    }
    return Curve(name, name.upper(), kind, sees, points, f"hash of {name}" if kind == "method" else "floor")


def swept(methods, floors=(), **changed):
    fields = {
        "dial": "perception",
        "values": (0.0, 1.0),
        "seeds": (0, 1, 2),
        "source": {"dataset": "charades-cd"},
        "splits": SPLITS,
        "measures": (MEASURE,),
        "headline": MEASURE,
        "methods": tuple(methods),
        "floors": tuple(floors),
    } | changed
    return SweepResult(**fields)


@pytest.fixture
def random_sweep():
    """Three methods, one of them level and one with a cell that is empty; two floors."""
    rng = np.random.default_rng(0)

    def drawn(places):
        return {place: tuple(rng.random(2).tolist()) for place in places}

    places = list(itertools.product((0.0, 0.3, 1.0), (0, 1, 2)))
    methods = [
        curve("a", drawn(places)),
        curve("b", drawn(place for place in places if place != (0.3, 1))),
        curve("blind", drawn((None, seed) for seed in (0, 1, 2)), sees=False),
    ]
    floors = [curve(name, drawn([(None, 0)]), kind="floor", sees=False) for name in ("one", "two")]
    failed = (EmptyCell("b", 0.3, 1, "the loss is not finite (nan)"),)
    return swept(methods, floors, values=(0.0, 0.3, 1.0), failed=failed)


# --------------------------------------------------------------------------------------------- arithmetic


def slow_figures(of, value, split):
    """Figures of a method at a value, seed by seed, from its points one at a time."""
    found = []
    for seed in (0, 1, 2):
        for place, figures in of.points.items():
            if place in ((value, seed), (None, seed)):
                found.append(figures[split, MEASURE])
    return found


def test_means_and_spreads_agree_with_a_slow_loop(random_sweep):
    for of, split in itertools.product([*random_sweep.methods, *random_sweep.floors], SPLITS):
        mean, spread = mean_and_spread(random_sweep.table(of, split))
        for number, value in enumerate(random_sweep.values):
            figures = slow_figures(of, value, split)
            assert mean[number] == pytest.approx(statistics.mean(figures), abs=1e-12)
            expected = statistics.stdev(figures) if len(figures) > 1 else math.nan
            assert spread[number] == pytest.approx(expected, abs=1e-12, nan_ok=True)
    summary = {
        (of["name"], of["dial_value"], of["split"]): (of["mean"], of["standard_deviation"], of["n_seeds"])
        for of in as_json(document(random_sweep))["summary"]
    }
    figures = slow_figures(random_sweep.methods[1], 0.3, "test-ood")
    assert len(figures) == 2
    assert summary["b", 0.3, "test-ood"] == pytest.approx((statistics.mean(figures), statistics.stdev(figures), 2))
    assert summary["one", 0.3, "test-ood"] == (random_sweep.floors[0].points[None, 0]["test-ood", MEASURE], None, 1)


def rows_of(sweep):
    """Cells of the table by group and first cell."""
    return {(split, row[0].text): row[1:] for split, rows in table(sweep).groups for row in rows}


def test_the_table_shows_percent(random_sweep):
    rows = rows_of(random_sweep)
    for of, split in itertools.product(random_sweep.methods, SPLITS):
        for value, cell in zip(random_sweep.values, rows[split, of.title], strict=True):
            figures = slow_figures(of, value, split)
            assert cell.text == f"{100 * statistics.mean(figures):.2f} ± {100 * statistics.stdev(figures):.2f}"
            assert cell.marked == (len(figures) == 2)
    both = (slow_figures(random_sweep.methods[0], 0.3, split) for split in SPLITS)
    losses = [iid - ood for iid, ood in zip(*both, strict=True)]
    assert rows["loss", "A"][1].text == f"{100 * statistics.mean(losses):.2f} ± {100 * statistics.stdev(losses):.2f}"
    note = "1 cell empty (* marks a mean of fewer seeds): B at perception 0.3, seed 1: the loss is not finite (nan)"
    assert report(random_sweep).notes == (note,)


def test_one_seed_has_no_spread():
    one = swept([curve("a", {(0.0, 7): (0.5, 0.25), (1.0, 7): (0.75, 0.5)})], seeds=(7,))
    assert table(one).caption == "R@1,IoU=0.5, % (one seed)"
    assert "±" not in "\n".join(terminal.body(report(one)))


@pytest.mark.parametrize("n_seeds", [2, 3, 5, 31])
def test_a_difference_has_the_interval_of_a_paired_t_test(n_seeds):
    rng = np.random.default_rng(n_seeds)
    a, b = rng.random((2, n_seeds))
    expected = stats.ttest_rel(a, b).confidence_interval(0.95)
    found = difference(a, b)
    assert found.mean == pytest.approx((a - b).mean())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-4)
    gap = difference(np.append(a, np.nan), np.append(b, 0.5))
    assert gap == pytest.approx(found)


def test_beyond_thirty_degrees_of_freedom_an_interval_is_rather_too_wide():
    a, b = np.random.default_rng(0).random((2, 60))
    expected = stats.ttest_rel(a, b).confidence_interval(0.95)
    found = difference(a, b)
    assert found.low < expected.low < expected.high < found.high


def test_one_seed_has_no_difference():
    assert difference(np.array([0.5, np.nan]), np.array([0.25, 0.5])) is None


# -------------------------------------------------------------------------------------------- what is said


def test_what_a_method_has_without_seeing():
    places = itertools.product((0.0, 1.0), (0, 1, 2))
    method = curve("a", {(value, seed): (0.2 + 0.5 * value, 0.1 + 0.01 * seed) for value, seed in places})
    blind = curve("blind", {(None, seed): (0.18, 0.1) for seed in (0, 1, 2)}, sees=False)
    # On each test split the floor that is highest there is named: the second on test-iid, the first on test-ood.
    floors = [
        curve(name, {(None, 0): of}, kind="floor", sees=False)
        for name, of in {"one": (0.1, 0.08), "two": (0.15, 0.05)}.items()
    ]
    told = findings(swept([method, blind], floors))
    assert told[0] == (
        "At perception 0 A scores 20.00 ± 0.00 % on test-iid without seeing (strongest floor, TWO: 15.00 %; BLIND "
        "18.00 %). Perception 1 changes that by +50.00 points."
    )
    assert "11.00 ± 1.00 % on test-ood" in told[1]
    assert "(strongest floor, ONE: 8.00 %; BLIND 10.00 %)" in told[1]
    assert told[1].endswith("Perception 1 changes that by 0.00 points.")


def test_without_perception_0_nothing_is_said_of_it():
    method = curve("a", {(value, 0): (0.5, 0.5) for value in (0.5, 1.0)})
    told = findings(swept([method], values=(0.5, 1.0), seeds=(0,)))
    assert told == ["The sweep has no perception 0, so it cannot show what the methods score without seeing."]


def test_a_prior_has_its_own_words():
    method = curve("a", {(0.0, 0): (0.2, 0.3), (1.0, 0): (0.6, 0.1)})
    told = findings(swept([method], dial="query-prior", seeds=(0,)))
    assert told == [
        "From query-prior 0 to 1 A goes from 20.00 % to 60.00 % on test-iid (+40.00 points).",
        "From query-prior 0 to 1 A goes from 30.00 % to 10.00 % on test-ood (-20.00 points).",
    ]


def losing(name, by_value):
    """Make a method that scores 0.8 on test-iid and so much less on test-ood."""
    return curve(
        name, {(value, seed): (0.8, 0.8 - loss) for value, of in by_value.items() for seed, loss in enumerate(of)}
    )


def test_who_loses_less_is_told_where_the_seeds_tell_it():
    a = losing("a", {0.0: (0.10, 0.11, 0.12), 1.0: (0.10, 0.30, 0.20)})
    b = losing("b", {0.0: (0.31, 0.30, 0.32), 1.0: (0.25, 0.12, 0.40)})
    assert findings(swept([a, b]))[-2] == (
        "A loses less than B at perception 0 (by 20.00 points, 17.52 to 22.48); the seeds do not show which of A and B "
        "loses less at perception 1."
    )
    assert findings(swept([b, a]))[-2].startswith(
        "A loses less than B at perception 0 (by 20.00 points, 17.52 to 22.48);"
    )


def test_a_difference_within_the_spread_cannot_be_told():
    a = losing("a", {0.0: (0.10, 0.30, 0.20), 1.0: (0.10, 0.30, 0.20)})
    b = losing("b", {0.0: (0.30, 0.20, 0.25), 1.0: (0.10, 0.30, 0.20)})
    assert findings(swept([a, b]))[-2] == "The seeds do not show which of A and B loses less at any perception."
    one = findings(swept([a, b], seeds=(0,)))
    assert one[-1] == "One seed cannot show which method loses less from test-iid to test-ood."


def test_blind_methods_are_compared_where_the_dial_reaches_them():
    """At every perception a blind method is the same: it is held beside, and not among those that see."""
    a = losing("a", {0.0: (0.1, 0.1, 0.11), 1.0: (0.1, 0.1, 0.11)})
    blind = curve("blind", {(None, seed): (0.5, 0.1) for seed in (0, 1, 2)}, sees=False)
    assert not any("loses less" in text for text in findings(swept([a, blind])))
    blind = curve("blind", {(value, seed): (0.5, 0.1) for value in (0.0, 1.0) for seed in (0, 1, 2)}, sees=False)
    assert "A loses less than BLIND" in findings(swept([a, blind], dial="query-prior"))[-2]


def test_equal_losses_are_not_told_apart():
    """Nor are those that differ by the rounding of a float, though by the same in every seed."""
    same = {0.0: (0.1, 0.1, 0.1), 1.0: (0.1, 0.1, 0.1)}
    nearly = {0.0: (0.1 + 1e-15,) * 3, 1.0: (0.1 - 1e-15,) * 3}
    for other in (same, nearly):
        assert "do not show which" in findings(swept([losing("a", same), losing("b", other)]))[-2]


def test_without_two_splits_there_is_no_loss():
    method = curve("a", {(value, seed): (0.5, 0.5) for value in (0.0, 1.0) for seed in (0, 1, 2)})
    one = swept([method, losing("b", {0.0: (0.1,) * 3, 1.0: (0.1,) * 3})], splits=("test-iid",))
    assert not any("loses less" in text for text in findings(one))
    assert [split for split, _ in table(one).groups] == ["test-iid"]


def test_the_strongest_floor_can_change_with_a_prior_and_with_the_split():
    floors = [
        curve(name, {(value, 0): of for value, of in by_value.items()}, kind="floor", sees=False)
        for name, by_value in {
            "one": {0.0: (0.4, 0.2), 1.0: (0.1, 0.7)},
            "two": {0.0: (0.3, 0.5), 1.0: (0.6, 0.6)},
        }.items()
    ]
    of = swept([], floors, dial="query-prior")
    assert [of.strongest_floor("test-iid", at).name for at in (0, 1)] == ["one", "two"]
    assert [of.strongest_floor("test-ood", at).name for at in (0, 1)] == ["two", "one"]
    assert swept([]).strongest_floor("test-iid", 0) is None


def test_a_floor_without_a_figure_is_not_the_strongest():
    floors = [
        curve(name, {(None, 0): (of, of)}, kind="floor", sees=False)
        for name, of in {"one": math.nan, "two": 0.1}.items()
    ]
    assert swept([], floors).strongest_floor("test-iid", 0).name == "two"


# --------------------------------------------------------------------------------------------- what is drawn


def test_the_figure_shows_means_and_spreads(random_sweep):
    drawn = figure(random_sweep, MEASURE)
    assert [axes.get_title(loc="left") for axes in drawn.axes] == list(SPLITS)
    for axes, split in zip(drawn.axes, SPLITS, strict=True):
        for container, of in zip(axes.containers, random_sweep.methods, strict=True):
            line, _, (bars,) = container
            mean, spread = mean_and_spread(random_sweep.table(of, split))
            assert line.get_xdata() == pytest.approx(random_sweep.values)
            assert line.get_ydata() == pytest.approx(100 * mean)
            ends = np.array([segment[:, 1] for segment in bars.get_segments()])
            assert ends == pytest.approx(100 * np.stack([mean - spread, mean + spread], axis=1))
        assert axes.get_ylim() == drawn.axes[0].get_ylim()
        grey = [line for line in axes.lines if line.get_color() == ROLES["other"].look.colour]
        assert len(grey) == len(random_sweep.floors)


@pytest.mark.slow
@pytest.mark.parametrize("splits", quick_are(["both"], {"both": SPLITS, "one": SPLITS[:1]}))
@pytest.mark.parametrize("n_floors", quick_are([24], [7, 13, 24]))
def test_names_of_floors_do_not_cover_each_other_nor_the_panels(n_floors, splits):
    """Point 9: with the sentence network and the rules there are 13 and a ceiling, beside 6 methods."""
    methods = [losing(f"method {name}", {0.0: (0.1, 0.2, 0.3), 1.0: (0.1, 0.2, 0.3)}) for name in "abcdef"]
    floors = [
        curve(f"sentence neighbours {number}", {(None, 0): (0.02 * (number > 3), 0.3)}, kind="floor", sees=False)
        for number in range(n_floors)
    ]
    ceiling = curve("ceiling", {(value, 0): (0.5, 0.6) for value in (0.0, 1.0)}, kind="ceiling")
    with drawing_style():
        drawn = figure(swept(methods, floors, ceilings=(ceiling,), splits=splits), MEASURE)
        drawn.canvas.draw()
        legend = drawn.legends[0].get_window_extent()
        assert drawn.bbox.x0 <= legend.x0 < legend.x1 <= drawn.bbox.x1
        for axes in drawn.axes:
            boxes = [Text.get_window_extent(text) for text in axes.texts]  # without their threads
            assert len(boxes) == n_floors + 1
            panel = axes.get_window_extent()
            # Boxes of text have room for descenders, which may touch by a pixel or two.
            assert not any(a.y0 + 2 < b.y1 and b.y0 + 2 < a.y1 for a, b in itertools.combinations(boxes, 2))
            for box in boxes:
                assert panel.x1 < box.x0 < box.x1 <= drawn.bbox.x1
                assert panel.y0 - 1 <= (box.y0 + box.y1) / 2 <= panel.y1 + 1
                assert not any(box.overlaps(other.get_window_extent()) for other in drawn.axes)
        assert not any(legend.overlaps(axes.get_tightbbox()) for axes in drawn.axes)


def test_more_methods_than_can_be_told_apart_stand_in_the_table_alone():
    methods = [losing(f"m{n}", {0.0: (0.1,), 1.0: (0.1,)}) for n in range(len(SERIES) + 2)]
    many = swept(methods, seeds=(0,))
    assert all(len(axes.containers) == len(SERIES) for axes in figure(many, MEASURE).axes)
    assert {of.title for of in methods} <= {row for _, row in rows_of(many)}


def test_one_value_can_be_drawn():
    drawn = figure(swept([losing("a", {0.5: (0.1, 0.2, 0.3)})], values=(0.5,)), MEASURE)
    assert [text.get_text() for text in drawn.axes[0].get_xticklabels()] == ["0.5"]


def test_each_measure_has_a_drawing_of_its_own_name():
    of = swept([], measures=("R@1,IoU=0.5", "dR@1,IoU=0.5", "AxIoU@10"), headline="AxIoU@10")
    names = [drawing.name for drawing in drawings(of)]
    assert names == ["sweep-axiou10", "sweep-r1-iou-0.5", "sweep-dr1-iou-0.5"]


@pytest.mark.parametrize("seed", range(5))
def test_places_are_moved_apart_as_little_as_their_order_allows(seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.random(7) * rng.choice([0.1, 1.0, 10.0])).tolist()
    step = 0.5
    places = spread_out(values, step, 0.0, 10.0)
    assert all(b - a >= step - 1e-9 for a, b in itertools.pairwise(places))
    assert min(places) >= -1e-9
    assert max(places) <= 10.0 + 1e-9
    assert spread_out(places, step, 0.0, 10.0) == pytest.approx(places)


# ------------------------------------------------------------------------------------------------ the JSON


def test_the_document_is_in_fractions_and_says_what_is_undefined(random_sweep):
    told = as_json(document(random_sweep))
    assert told["schema"] == "truemoment/sweep/2"
    assert "floor_chosen_on" not in told
    assert told["empty"] == [{"recipe": "b", "dial_value": 0.3, "seed": 1, "why": "the loss is not finite (nan)"}]
    assert len(told["cells"]) == (9 + 8 + 3) * 2
    for cell in told["cells"]:
        of = next(of for of in random_sweep.methods if of.name == cell["recipe"])
        assert cell["value"] == of.points[cell["dial_value"], cell["seed"]][cell["split"], cell["measure"]]
        assert cell["hash"] == of.config
    undefined = swept([curve("a", {(0.0, 0): (math.nan, 0.5)})], values=(0.0,), seeds=(0,))
    assert [cell["value"] for cell in as_json(document(undefined))["cells"]] == [None, 0.5]
    assert as_json(document(undefined))["summary"][0]["mean"] is None
