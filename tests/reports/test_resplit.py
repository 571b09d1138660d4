"""The report of a split made anew: lines, page and document tell the same figures; the drawing is always drawn."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from truemoment.bias.guarantees import inspect_split
from truemoment.bias.shifts import LocationShift, WordShift
from truemoment.bias.splitting import Plan, resplit
from truemoment.datasets.resplit_folder import SPLITS, Source
from truemoment.records import Annotations
from truemoment.reports import resplit as report
from truemoment.reports.drawing import save_drawings
from truemoment.worlds import make_world

SOURCE = Source(annotations="../mine_*.jsonl", splits={"all": "0" * 64})
SETTINGS = {"source": SOURCE, "seed": 7, "permutations": 99}


def inspected(whole, plan=None, seed=0):
    found = resplit(whole, np.random.default_rng(seed), plan)
    return found, inspect_split(found, np.random.default_rng(0), permutations=99)


@pytest.fixture(scope="module")
def world():
    """Give a split of a built-in world, and what was found of it."""
    splits = make_world(90, location_prior=0.8, seed=3).splits
    return inspected(Annotations.joined([splits[name] for name in ("train", "val", "test-iid")]))


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
    found, _ = inspected(Annotations.from_rows(rows))
    whole, members = found.annotations, found.members
    no_place = {"val": (np.nan, 5.0), "test-iid": (40.0, np.nan)}  # (duration, start)
    columns = {name: getattr(whole, name).copy() for name in ("duration_s", "start_s", "end_s")}
    for name, (duration_s, start_s) in no_place.items():
        columns["duration_s"][members[name]] = duration_s
        if np.isnan(start_s):
            columns["start_s"][members[name]] = columns["end_s"][members[name]] = np.nan
    found = replace(found, annotations=replace(whole, **columns))
    return found, inspect_split(found, np.random.default_rng(0), permutations=99)


def told(found, inspection, engine="lexicon"):
    """Give lines, page and document."""
    return (
        "\n".join(report.lines(found, inspection)),
        report.datasheet(found, inspection, **SETTINGS, name="my_folder", command="truemoment resplit -o 'a *b*'"),
        report.document(found, inspection, **SETTINGS, engine=engine),
    )


def rows_of(text, heading):
    """Rows of the Markdown table whose first heading is this."""
    [table] = re.findall(rf"^\| {re.escape(heading)} .*\n\|[:|-]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def percent(value):
    return "undefined" if value is None else f"{100 * value:.2f}"


@pytest.mark.parametrize("which", ["world", "worded", "placeless"])
def test_lines_page_and_document_agree(which, request):
    found, inspection = request.getfixturevalue(which)
    lines, page, document = told(found, inspection)
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
        assert f"| `{name}` | `{of['sha256']}` |" in re.sub(" +", " ", page)
    # What it promises.
    words = {True: ("kept", "kept"), False: ("NOT KEPT", "not kept"), None: ("unknown", "cannot be told")}
    for of in document["promises"]:
        in_lines, in_page = words[of["kept"]]
        assert f"- **{in_page}**: {of['said']}\n" in page
        assert f"{in_lines} {of['said']}".replace(" ", "") in re.sub(r"\s", "", lines) or in_lines == "NOT KEPT"
    # What guessing gains.
    for of in document["guessing"]:
        cells = [of["guesser"], of["measure"], percent(of["test-iid"]), percent(of["test-ood"])]
        assert cells in rows_of(page, "guesser")
        assert re.search(" +".join(map(re.escape, cells)), lines)
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
        assert f"- {warning}\n" in page
        assert re.sub(r"\s", "", f"warning{warning}") in re.sub(r"\s", "", lines)
    assert max(map(len, lines.splitlines())) <= 100
    # Moments by cell are all moments with a place, in cells of at most 10 %.
    shares = document["densities"]["share"]
    assert list(shares) == [name for name in SPLITS if report._points(found.part(name)) is not None]
    for share in shares.values():
        assert sum(share) == pytest.approx(1)
        assert len(share) == len(document["densities"]["cells"])


def test_shares_of_cells_by_hand(world):
    found, inspection = world
    part, cells = found.part("test-ood"), report.document(found, inspection, **SETTINGS, engine="e")["densities"]
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
    assert page.partition("## New words\n\n")[2].partition("\n")[0] == ", ".join(document["new_terms"])
    assert "kernels of standard deviation 0.1" in page
    assert f"{len(document['new_terms'])} words were drawn at random" in page
    assert "aside" in document["splits"]
    aside = document["splits"]["aside"]["n_queries"]
    assert f"{aside} queries were put aside" in page
    assert re.search(rf"^aside +{aside} ", lines, re.MULTILINE)


def test_names_on_the_page_are_shown_as_they_are(world):
    _, page, _ = told(*world)
    assert page.startswith(r"# my\_folder: ../mine\_\*.jsonl, split anew" + "\n\n")
    assert "\n\n    truemoment resplit -o 'a *b*'\n\n" in page  # in a block of code nothing is escaped
    assert report.datasheet(*world, **SETTINGS, name="f", command="").count("Made again by") == 0


def test_undefined_figures_are_null_and_told(placeless):
    lines, page, document = told(*placeless)
    pairs = {(of["a"], of["b"]): of["energy"] for of in document["distances"]}
    assert pairs[("train", "test-ood")] is not None
    others = {pair: energy for pair, energy in pairs.items() if {"val", "test-iid"} & set(pair)}
    assert others
    assert set(others.values()) == {None}
    assert all("why" in of for of in document["distances"] if of["energy"] is None)
    assert set(document["densities"]["share"]) == {"train", "test-ood"}
    assert document["guessing"] == [] or {of["test-iid"] for of in document["guessing"]} == {None}
    assert "nan" not in re.sub(r"[a-z]+nan|nan[a-z]+", "", (lines + page).lower())


@pytest.mark.parametrize("which", ["world", "placeless"])
def test_the_drawing_is_the_same_twice(which, request, tmp_path):
    found, _ = request.getfixturevalue(which)
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        save_drawings([report.densities(found)], tmp_path / folder, ("png", "svg"))
    one, other = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "other"))
    assert set(one) == {"densities.png", "densities.svg"}
    assert one == other


def test_titles_of_the_drawing_count_moments(world, placeless):
    for found, _ in (world, placeless):
        titles = [axes.get_title() for axes in report.densities_figure(found).axes[:4]]
        for name, title in zip(SPLITS, titles, strict=True):
            points = report._points(found.part(name))
            assert re.findall(r"[\w,-]+", title) == [name, f"{0 if points is None else len(points):,}", "moments"]


def test_an_empty_split_is_drawn_and_told(world):
    found, _ = world
    members = dict(found.members)
    members["train"], members["val"] = members["train"] | members["val"], np.zeros_like(members["val"])
    empty = replace(found, members=members)
    inspection = inspect_split(empty, np.random.default_rng(0), permutations=99)
    titles = [axes.get_title() for axes in report.densities_figure(empty).axes[:4]]
    assert re.findall(r"[\w-]+", titles[1]) == ["val", "0", "moments"]
    lines, page, document = told(empty, inspection)
    assert document["splits"]["val"]["n_queries"] == 0
    assert ["val", "0", "0.0", "0"] in rows_of(page.partition("## How")[0], "split")
    assert re.search(r"^val +0 +0\.0 +0$", lines, re.MULTILINE)
