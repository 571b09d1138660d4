"""LSMDC16: 128 thousand short clips of films, each with a sentence of its audio description or script.

The files need an agreement with the owners; nothing of them is shipped. A line is a clip: its name, which contains the
film and the times, the aligned and the extracted times, and the sentence (:mod:`truemoment.data.datasets.clip_lines`).
The video of a query is its film, its moment is the extracted span, and its id is ``CLIP#K``, K from 0 where a clip has
several sentences. Durations of the films are in no file, so they are unknown.
"""

from __future__ import annotations

import math
from pathlib import Path
from types import MappingProxyType

from truemoment.base.papers import MOVIE_DESCRIPTION
from truemoment.base.records import Annotations
from truemoment.data.datasets.base import Dataset, SourceFile, Split, numbered, required_file
from truemoment.data.datasets.clip_lines import read_clip_lines

NAME = "lsmdc16"

FILES = MappingProxyType(
    {
        "train": ("LSMDC16_annos_training.csv", "LSMDC16_annos_training_someone.csv"),
        "val": ("LSMDC16_annos_val.csv", "LSMDC16_annos_val_someone.csv"),
        "test": ("LSMDC16_annos_test.csv", "LSMDC16_annos_test_someone.csv"),
        "test-1000": ("LSMDC16_challenge_1000_publictect.csv",),
    }
)
"""Files of each split; those of "someone" have that word in place of names of persons."""

COUNTED = "lines of the file, as works on retrieval count them"


def read(folder: Path, split: str) -> Annotations:
    """Read a split; moments are the extracted times."""
    lines = read_clip_lines(required_file(folder, *FILES[split], dataset=NAME))
    ids = numbered(line.clip for line in lines)
    rows = [
        (query_id, line.film, math.nan, line.sentence, *line.extracted_s)
        for query_id, line in zip(ids, lines, strict=True)
    ]
    return Annotations.from_rows(rows, dataset=NAME, split=split)


DATASET = Dataset(
    name=NAME,
    title="LSMDC16",
    papers=(MOVIE_DESCRIPTION,),
    homepage="https://sites.google.com/site/describingmovies",
    licence="annotations and clips under an agreement with the owners",
    access="agreement",
    files=tuple(SourceFile(names[0], needed=split != "test-1000") for split, names in FILES.items()),
    splits=(
        Split("train", 101_079, None, COUNTED),
        Split("val", 7_408, None, COUNTED),
        Split("test", 10_053, None, COUNTED),
        Split("test-1000", 1_000, None, COUNTED),
    ),
    read=read,
    notes=(
        "Retrieval is mostly reported on the 1,000 clips of test-1000. A larger pool gives lower figures.",
        "Its films are those of MAD's validation and test splits: do not train on the one and test on the other.",
        "For grounding, 'truemoment collect clips' converts the clips to the time of whole films, in the form of mad.",
        "Form only: the files were not looked at.",
    ),
    steps=(
        "ask for access as https://sites.google.com/site/describingmovies/download describes",
        "download LSMDC16_annos_training.csv, LSMDC16_annos_val.csv, LSMDC16_annos_test.csv and "
        "LSMDC16_challenge_1000_publictect.csv with the password that you receive",
        "put them into the folder lsmdc16/ of your data folder",
    ),
)
