"""The report of a new split: terminal, datasheet and document have the same figures; the figure is always drawn."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from truemoment.base.boundary.caching import Cache
from truemoment.base.boundary.documents import as_json
from truemoment.base.records import Annotations
from truemoment.data.datasets.resplit_folder import SPLITS, ResplitSource
from truemoment.report.drawing import save_drawings
from truemoment.report.render import markdown, terminal
from truemoment.report.words import points
from truemoment.studies.bias import guessing as guesses
from truemoment.studies.bias import report_resplit as report
from truemoment.studies.bias.guarantees import inspect_split
from truemoment.studies.bias.guessing import MEASURES, guess_on_split
from truemoment.studies.bias.resplitting import MeasuredResplit
from truemoment.studies.bias.shifts import LocationShift, WordShift
from truemoment.studies.bias.splitting import Plan, resplit
from truemoment.worlds import make_world

from ..thorough import quick_are

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_networks")]

SOURCE = ResplitSource(annotations="../mine_*.jsonl", splits={"all": "0" * 64})


def looked_at(found, original=None):
    """Give a split, what was found of it and what floors reach on it."""
    guessing = guess_on_split(found, original=original, cache=Cache.of_user())
    return found, inspect_split(found, np.random.default_rng(0), guessing, permutations=99), guessing


def inspected(whole, plan=None, original=None):
    return looked_at(resplit(whole, np.random.default_rng(0), plan), original)


@pytest.fixture(scope="module")
def world():
    """Give a split of a built-in world, and what was found of it."""
    splits = make_world(90, location_prior=0.8, seed=3).splits
    whole = Annotations.joined([splits[name] for name in ("train", "val", "test-iid")])
    return inspected(whole, original=(splits["train"], [splits["test-iid"]]))


@pytest.fixture(scope="module")
def worded():
    """Give a split of both kinds: moments and nouns that repeat themselves in 200 videos, one line in two a noun's."""
    nouns = "door cup book phone bag shoe chair table box lamp towel pillow mirror broom sandwich"
    nouns = f"{nouns} laptop camera blanket window bottle knife plate spoon radio ball".split()
    rows = []
    for n in range(200):
        for sentence in (f"a man opens the {nouns[n % 25]}", "somebody sits"):
            start = n % 17 / 2
            rows.append((f"v{n}#{len(rows)}", f"v{n}", 40.0, sentence, start, start + 5 + n % 13))
    return inspected(Annotations.from_rows(rows), Plan(shifts=(LocationShift(width=0.1), WordShift("words"))))


@pytest.fixture(scope="module")
def placeless():
    """Give a split of which val has a moment without a duration, and others have none: little is defined."""
    rows = [(f"v{n}#0", f"v{n}", 40.0, "a man sits", n % 7, n % 7 + 3 + n % 5) for n in range(30)]
    found = resplit(Annotations.from_rows(rows), np.random.default_rng(0))
    whole, members = found.annotations, found.members
    no_place = {"val": (np.nan, 5.0), "test-iid": (40.0, np.nan)}  # (duration, start)
    columns = {name: getattr(whole, name).copy() for name in ("duration_s", "start_s", "end_s")}
    for name, (duration_s, start_s) in no_place.items():
        columns["duration_s"][members[name]] = duration_s
        if np.isnan(start_s):
            columns["start_s"][members[name]] = columns["end_s"][members[name]] = np.nan
    return looked_at(replace(found, annotations=replace(whole, **columns)))


def told(found, inspection, guessing, engine="lexicon"):
    """Give what the terminal shows, the datasheet and the document."""
    result = MeasuredResplit(found, inspection, tuple(guessing), engine, 99, 7)
    shown = report.report(result, SOURCE, name="my_folder")
    return (
        "\n".join(terminal.body(shown)),
        markdown.document(shown, command="truemoment resplit -o 'a *b*'"),
        as_json(report.document(result, SOURCE)),
    )


def rows_of(text, heading):
    """Rows of the Markdown table whose first heading is this."""
    [table] = re.findall(rf"^\| {re.escape(heading)} .*\n\|[:|-]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def percent(value):
    return "-" if value is None else f"{100 * value:.2f}"


@pytest.mark.parametrize("which", ["world", "worded", "placeless"])
def test_lines_page_and_document_agree(which, request):
    found, inspection, guessing = request.getfixturevalue(which)
    lines, page, document = told(found, inspection, guessing)
    json.dumps(document, allow_nan=False)
    # How much each split holds.
    sizes = document["splits"]
    assert sum(of["n_queries"] for of in sizes.values()) == document["n_queries"]
    assert sum(of["share"] for of in sizes.values()) == pytest.approx(1)
    tables = re.findall(r"^\| split .*\n\|[:|-]+\|\n((?:\|.*\n)+)", page, re.MULTILINE)
    for name, of in sizes.items():
        cells = [name, f"{of['n_queries']:,}", f"{100 * of['share']:.1f}", f"{of['n_videos']:,}"]
        assert cells in [[cell.strip() for cell in line.strip("|").split("|")] for line in tables[0].splitlines()]
        assert re.search("^" + " +".join(map(re.escape, cells)) + "$", lines, re.MULTILINE)
        assert f"| {name} | {of['sha256']} |" in re.sub(" +", " ", page)
    # What it promises.
    words = {True: "**good** Kept", False: "**serious** Not kept", None: "**note** Unknown"}
    for of in document["promises"]:
        line = f"{words[of['kept']]}: {of['said']}"
        assert f"- {line}\n" in page
        assert re.sub(r"[\s*]", "", line) in re.sub(r"\s", "", lines)
    # What is left to guess.
    assert [of["split"] for of in document["guessing"]] == [of.test.split for of in guessing]
    for of in document["guessing"]:
        assert len(of["floors"]) == len(MEASURES) * len({floor["floor"] for floor in of["floors"]})
    for measure in MEASURES if guessing else ():
        column = 1 + [of.test.split for of in guessing].index("test-ood")
        of = document["guessing"][column - 1]
        rows = rows_of(page, f"{measure}, %")
        figures = [float(row[column]) for row in rows]
        assert figures == sorted(figures, reverse=True)
        for floor in (floor for floor in of["floors"] if floor["measure"] == measure):
            (row,) = [row for row in rows if row[0] == floor["title"]]
            assert row[column] == percent(floor["value"])
            ci95 = floor["over_uniform_ci95"]
            assert row[-1].startswith("-" if ci95 is None else f"{points(floor['over_uniform'], sign='+')} (")
            assert re.search(" +".join(map(re.escape, row)), lines) or measure != MEASURES[0]
    assert re.sub(r"\s", "", guesses.summary(guessing)) in re.sub(r"\s", "", lines)
    assert f"## What guessing still reaches\n\n{guesses.summary(guessing)}\n" in page
    # How far splits lie apart.
    expected = [
        [f"{of['a']}, {of['b']}"]
        + (
            ["-"] * 6
            if of["energy"] is None
            else [
                *(f"{of['energy' + end]:.{digits}f}" for end, digits in (("", 4), ("_by_chance", 4), ("_p", 3))),
                *(f"{of['jensen_shannon' + end]:.3f}" for end in ("_bits", "_by_chance", "_p")),
            ]
        )
        for of in document["distances"]
    ]
    assert rows_of(page, "splits") == expected
    for warning in document["warnings"]:
        assert f"- **warning** {warning}\n" in page
        assert re.sub(r"\s", "", f"warning{warning}") in re.sub(r"\s", "", lines)
    assert max(map(len, lines.splitlines())) <= 100
    # Moments by cell are all moments with a place, in cells of at most 10 %.
    shares = document["densities"]["share"]
    assert list(shares) == [name for name in SPLITS if report._points(found.part(name)) is not None]
    for share in shares.values():
        assert sum(share) == pytest.approx(1)
        assert len(share) == len(document["densities"]["cells"])


def test_shares_of_cells_by_hand(world):
    part, cells = world[0].part("test-ood"), told(*world)[2]["densities"]
    held = dict.fromkeys(range(len(cells["cells"])), 0)
    places = [tuple(cell) for cell in cells["cells"]]
    for start_s, end_s, duration_s in zip(part.start_s, part.end_s, part.duration_s, strict=True):
        at = (min(int(10 * start_s / duration_s), 9), min(int(10 * end_s / duration_s), 9))
        held[places.index(at)] += 1
    assert [n / part.n_queries for n in held.values()] == pytest.approx(cells["share"]["test-ood"])


def test_the_plan_in_the_document(world, worded):
    _, _, document = told(*world)
    assert document["plan"] == {
        "ood": 0.2,
        "val": 0.05,
        "iid": 0.05,
        "location": {"place": "start-end", "width": None},
        "new": None,
        "engine": None,
        "marked": None,
        "longest_norm": 0.5,
        "ties": "rest",
    }
    assert document["new_terms"] == []
    lines, page, document = told(*worded, engine="ear")
    plan = document["plan"]
    assert (plan["new"], plan["engine"], plan["location"]) == ("words", "ear", {"place": "start-end", "width": 0.1})
    assert plan["marked"] == 0.4  # bias.splitting.MARKED_OF_TWO
    assert 0 < len(document["new_terms"]) == len(worded[0].terms)
    assert page.partition("### New words\n\n")[2].partition("\n")[0] == ", ".join(document["new_terms"])
    assert "kernels, standard deviation 0.1" in page
    assert f"{len(document['new_terms'])} words were drawn at random" in page
    assert "aside" in document["splits"]
    aside = document["splits"]["aside"]["n_queries"]
    assert f"{aside} queries were put aside" in page
    assert re.search(rf"^aside +{aside} ", lines, re.MULTILINE)


def test_names_on_the_page_are_shown_as_they_are(world):
    _, page, _ = told(*world)
    assert page.startswith(r"# my\_folder: a new split of ../mine\_\*.jsonl" + "\n\n")
    assert "\n\n    truemoment resplit -o 'a *b*'\n\n" in page  # in a block of code nothing is escaped


def test_undefined_figures_are_null_and_told(placeless):
    lines, page, document = told(*placeless)
    pairs = {(of["a"], of["b"]): of["energy"] for of in document["distances"]}
    assert pairs[("train", "test-ood")] is not None
    others = {pair: energy for pair, energy in pairs.items() if {"val", "test-iid"} & set(pair)}
    assert others
    assert set(others.values()) == {None}
    assert all("why" in of for of in document["distances"] if of["energy"] is None)
    assert set(document["densities"]["share"]) == {"train", "test-ood"}
    assert [of["split"] for of in document["guessing"]] == ["test-ood"]  # none of test-iid has a duration
    assert {of["promise"]: of["kept"] for of in document["promises"]}["less-to-guess"] is None
    assert "nan" not in re.sub(r"[a-z]+nan|nan[a-z]+", "", (lines + page).lower())


@pytest.mark.parametrize("which", quick_are(["placeless"], ["world", "placeless"]))
def test_the_drawing_is_the_same_twice(which, request, tmp_path):
    found, *_ = request.getfixturevalue(which)
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        save_drawings([report.densities(found)], tmp_path / folder, ("svg",))
    one, other = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "other"))
    assert set(one) == {"densities.svg"}
    assert one == other


def test_titles_of_the_drawing_count_moments(world, placeless):
    for found, *_ in (world, placeless):
        titles = [axes.get_title() for axes in report.densities_figure(found).axes[:4]]
        for name, title in zip(SPLITS, titles, strict=True):
            places = report._points(found.part(name))
            assert re.findall(r"[\w,-]+", title) == [name, f"{0 if places is None else len(places):,}", "moments"]


def test_an_empty_split_is_drawn_and_told(world):
    found, *_ = world
    members = dict(found.members)
    members["train"], members["val"] = members["train"] | members["val"], np.zeros_like(members["val"])
    empty = replace(found, members=members)
    inspection = inspect_split(empty, np.random.default_rng(0), permutations=99)
    titles = [axes.get_title() for axes in report.densities_figure(empty).axes[:4]]
    assert re.findall(r"[\w-]+", titles[1]) == ["val", "0", "moments"]
    lines, page, document = told(empty, inspection, ())
    assert document["splits"]["val"]["n_queries"] == 0
    assert ["val", "0", "0.0", "0"] in rows_of(page.partition("## How")[0], "split")
    assert re.search(r"^val +0 +0\.0 +0$", lines, re.MULTILINE)


# ----------------------------------------------------------------------------------- what is left to guess


def with_interval(guessing, split, low, high):
    """Give the same with another interval of what is left at every measure of a new split."""
    ends = np.array([[low, high]] * len(MEASURES))
    return [replace(of, best_gain_ci95=ends) if of.test.split == split and not of.original else of for of in guessing]


def test_guessing_is_never_said_to_be_useless_where_a_floor_is_above_uniform(world):
    _, _, guessing = world
    ood = guessing[1]
    strongest = ood.floors[ood.strongest[0]]
    said = guesses.summary(with_interval(guessing, "test-ood", 0.01, 0.09))
    assert said.startswith(
        f"Guessing still helps on test-ood: {strongest.title}, which never sees a video, scores "
        f"{100 * ood.values[ood.strongest[0], 0]:.1f} at R@1,IoU=0.5, {100 * ood.best_gain[0]:.1f} points above "
        "Uniform, which has learned nothing (95 % interval 1.0 to 9.0)."
    )
    assert f"{100 * guessing[2].best_gain[0]:+.1f} on the original test-iid" in said


def test_where_none_is_shown_the_size_of_the_test_is_said(world):
    found, _, guessing = world
    part = found.part("test-ood")
    for low, high in ((-0.01, 0.09), (-0.2, -0.1)):
        said = guesses.summary(with_interval(guessing, "test-ood", low, high))
        assert said.startswith("No floor is shown to be above Uniform, which has learned nothing, on test-ood ")
        assert f"({part.n_queries} queries in {part.n_videos} videos)" in said
        assert f"95 % interval {100 * low:+.1f} to {100 * high:+.1f}" in said
        assert "still helps" not in said
    assert guesses.summary(with_interval(guessing, "test-ood", np.nan, np.nan)) == guesses.UNKNOWN_GUESSING


@pytest.mark.parametrize(
    ("on_ood", "kept", "said"),
    [
        ((0.0, 0.1), True, "Guessing gains less on test-ood than on test-iid: "),
        ((0.1, 0.4), None, "Guessing is not shown to gain less on test-ood than on test-iid: "),
        ((0.5, 0.6), False, "Guessing gains more on test-ood than on test-iid: "),
    ],
)
def test_the_promise_that_guessing_gains_less(world, on_ood, kept, said):
    found, _, guessing = world
    guessing = with_interval(with_interval(guessing, "test-iid", 0.2, 0.3), "test-ood", *on_ood)
    bare, inspection = (inspect_split(found, np.random.default_rng(0), of, permutations=99) for of in (None, guessing))
    promise = inspection.promises[-1]
    assert (promise.name, promise.is_kept) == ("less-to-guess", kept)
    assert promise.finding.startswith(said)
    assert inspection.promises[:-1] == bare.promises


def test_the_whole_video_is_warned_of_where_it_gains(world):
    # All moments of test-ood are made 60 % of the video, which PredictAll answers with an IoU of 0.6.
    found, *_ = world
    of = found.annotations
    ood = np.repeat(found.members["test-ood"], np.diff(of.offsets))
    start_s, end_s = (
        np.where(ood, share * of.duration_s, time_s) for share, time_s in ((0.1, of.start_s), (0.7, of.end_s))
    )
    _, inspection, _ = looked_at(replace(found, annotations=replace(of, start_s=start_s, end_s=end_s)))
    [said] = inspection.warnings
    assert said.startswith("Floors that score higher on test-ood than on test-iid: ")
    assert re.search(r"PredictAll [\d.]+ to 100\.0 at R@1,IoU=0\.5", said)
    assert said.endswith("use a higher threshold, or keep their videos out of test-ood (--longest).")
