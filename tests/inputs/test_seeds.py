"""Seeds in files: one below 0, which no generator takes, is refused where the file is read."""

import msgspec
import pytest
from msgspec.inspect import type_info

pytest.importorskip("torch")

from truemoment.collection.review_file import Review
from truemoment.data.datasets.answer_file import AnswersHead
from truemoment.data.datasets.resplit_folder import Datasheet
from truemoment.learning.training.checkpoints import RunRecord
from truemoment.learning.training.conversion import PublishedOptions
from truemoment.learning.training.results import ResultRow
from truemoment.reproduction.run_folders import _RunRequest
from truemoment.searching.layout import Calibration
from truemoment.web.annotating.study import StudySettings

OF_FILES = [
    *(AnswersHead, Calibration, Datasheet, PublishedOptions, ResultRow, Review),
    *(RunRecord, StudySettings, _RunRequest),
]


@pytest.mark.parametrize("struct", OF_FILES)
def test_a_seed_is_0_or_more(struct):
    (seed,) = (field for field in type_info(struct).fields if field.name == "seed")
    assert seed.type.ge == 0


def test_no_other_file_has_a_seed():
    def below(struct):
        return {struct}.union(*(below(of) for of in struct.__subclasses__()))

    ours = [of for of in below(msgspec.Struct) if of.__module__.startswith("truemoment.")]
    assert {of for of in ours if "seed" in of.__struct_fields__} == set(OF_FILES)
