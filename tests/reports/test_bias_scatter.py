"""Datasets by length, coverage and vocabulary: circles lie where the statistics say."""

import dataclasses

import numpy as np
import pytest

from truemoment.studies.bias.report_scatter import places, scatter_drawings

pytestmark = pytest.mark.slow


def test_circles_are_at_the_means_and_as_large_as_the_vocabulary(world_survey):
    of = world_survey.statistics.whole
    twice = dataclasses.replace(world_survey, title="Again")
    [drawing] = scatter_drawings([world_survey, twice])
    [axes] = drawing.draw().axes
    circles = [one for one in axes.collections if hasattr(one, "get_sizes")]
    assert len(circles) == 2
    for circle in circles:
        np.testing.assert_allclose(circle.get_offsets()[0], [of.videos.mean_min, 100 * of.moments.coverage_mean])
    rows = drawing.numbers()
    assert [row["dataset"] for row in rows] == [world_survey.title, "Again"]
    assert rows[0]["distinct_words"] == of.sentences.vocabulary.sizes.total
    assert rows[0]["coverage_q25"] <= np.median(np.diff(world_survey.whole.points)) <= rows[0]["coverage_q75"]


def test_a_single_dataset_has_none(world_survey):
    assert scatter_drawings([world_survey]) == []
    assert len(places([world_survey])) == 1
