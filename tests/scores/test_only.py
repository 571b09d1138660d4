"""Scores.only: some of the measures, in the order asked for, with everything that belongs to them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from truemoment import __version__, parse_measures
from truemoment.base.errors import MeasureError
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.scores import Scores

ALL = "R@1,IoU=0.5; mIoU; AxIoU@5; mAP,length=short; R@5,IoU=0.7"


def test_keeps_rows_in_the_order_asked_for(world) -> None:
    """As evaluate() gives it that was asked for these alone."""
    drawn = world(4)
    scores = evaluate(drawn.annotations, drawn.predictions, ALL)
    asked = parse_measures("AxIoU@5; mAP,length=short; R@1,IoU=0.5")
    found, alone = scores.only(asked), evaluate(drawn.annotations, drawn.predictions, asked)
    assert found.measures == asked
    for field in dataclasses.fields(Scores):
        np.testing.assert_array_equal(getattr(found, field.name), getattr(alone, field.name), err_msg=field.name)
    assert found.on_threshold.tolist() == alone.on_threshold.tolist()


def test_leaves_the_scores_it_was_asked_of(world) -> None:
    drawn = world(5)
    scores = evaluate(drawn.annotations, drawn.predictions, ALL)
    found = scores.only(parse_measures("mIoU"))
    assert len(scores.measures) == 5
    assert scores.numerator.shape == (5, len(scores))
    assert found.value("mIoU") == scores.value("mIoU")


def test_survives_saving(world, tmp_path) -> None:
    drawn = world(6)
    found = evaluate(drawn.annotations, drawn.predictions, ALL).only(parse_measures("R@5,IoU=0.7; mIoU"))
    found.save(tmp_path / "some.npz")
    again = Scores.load(tmp_path / "some.npz")
    assert again.measures == found.measures
    np.testing.assert_array_equal(again.numerator, found.numerator)


def test_refuses_what_was_not_computed(world) -> None:
    drawn = world(7)
    scores = evaluate(drawn.annotations, drawn.predictions, "mIoU")
    with pytest.raises(MeasureError, match=r"AxIoU@5: not among the measures computed: mIoU"):
        scores.only(parse_measures("mIoU; AxIoU@5"))


def test_the_signature_names_convention_data_and_version(world) -> None:
    drawn = world(4)
    scores = evaluate(drawn.annotations, drawn.predictions, "mIoU")
    data = f"{scores.dataset}/{scores.split}#{scores.annotations_sha256[:8]}"
    assert scores.signature() == f"{scores.protocol.signature()}|data:{data}|truemoment:{__version__}"
