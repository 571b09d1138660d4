"""The order of sentences in an audit."""

from __future__ import annotations

import pytest

from truemoment import Annotations
from truemoment.base.boundary.documents import as_json
from truemoment.studies.audit import Splits
from truemoment.studies.audit.checks import order as check


def split_of(name, starts, n_videos=30):
    """Videos of 60 s whose sentences have moments of 5 s from these starts on."""
    return Annotations.from_rows(
        [
            (f"{name}{v}#{k}", f"{name}{v}", 60.0, "a door opens", start, start + 5)
            for v in range(n_videos)
            for k, start in enumerate(starts)
        ],
        split=name,
    )


def audited(with_floors, constant, starts, floor=True):
    test = split_of("test", starts)
    answers = constant(test, 0.0, 5.0)  # hits the moments that start at 0
    floors = {"order-table" if floor else "other": answers}
    return with_floors(test, answers, floors, splits=Splits(train=split_of("train", (0.0, 10.0, 5.0))))


def test_a_file_in_the_order_of_its_moments(with_floors, constant):
    # By hand: 60 pairs, all later, half by chance. The constant answers hit the first of three sentences. In train, one
    # pair of two is later.
    results = audited(with_floors, constant, (0.0, 10.0, 20.0))
    found = check.look(results)
    assert (found.level, found.figure, found.ci95, found.holds) == ("note", 1.0, (1.0, 1.0), None)
    assert found.verdict == (
        "The order of sentences predicts where moments are: the next sentence of a video starts later in 100.0 % of 60 "
        "pairs (50.0 % by chance, 95 % interval 100.0 to 100.0); a table over 'sentence k of n' scores 33.33 at "
        "R@1,IoU=0.5."
    )
    (line,) = found.evidence
    assert line.startswith("training split: the next sentence of a video starts later in 50.0 % of 60 pairs (50.0 % by")
    [[table]] = check.blocks(results).values()
    assert [[cell.text for cell in row[:4]] for _, rows in table.groups for row in rows] == [
        ["test", "60", "100.0", "50.0"],
        ["train", "60", "50.0", "50.0"],
    ]
    document = as_json(check.document(results))["order"]
    assert (document["audited"]["later"]["value"], document["training"]["later"]["value"]) == (1.0, 0.5)


def test_an_order_that_is_not_shown_to_tell_much(with_floors, constant):
    results = audited(with_floors, constant, (0.0, 10.0, 5.0), floor=False)
    found = check.look(results)
    assert found.verdict.startswith("The order of sentences is not shown to predict where moments are: ")
    assert "table" not in found.verdict
    assert not check.CHECK.passes


@pytest.mark.parametrize("n_sentences", [1, 2])
def test_it_applies_where_a_video_has_two_sentences(with_floors, constant, n_sentences):
    test = split_of("test", (0.0, 10.0)[:n_sentences])
    results = with_floors(test, constant(test, 0.0, 5.0), {"other": constant(test, 0.0, 5.0)})
    assert (check.look(results) is None) == (n_sentences == 1)
    assert bool(check.blocks(results)) == (n_sentences == 2)
    document = as_json(check.document(results))["order"]
    assert document["training"] is None
    assert (document["audited"]["later"]["value"] is None) == (n_sentences == 1)
