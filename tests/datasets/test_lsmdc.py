"""LSMDC16 by its form: six fields between tabs; nothing of the files themselves is here."""

import math

import pytest

from truemoment.base.errors import InputError, MissingFileError
from truemoment.data.datasets import get_dataset, load_annotations
from truemoment.searching.clips.clips import clips_of


def line(clip, sentence):
    start, end = clip.rpartition("_")[2].split("-")
    return "\t".join([clip, "00.00.09.000", "00.00.11.000", start, end, sentence]) + "\n"


ONE, OTHER = "1001_Film_00.00.10.000-00.00.12.500", "1001_Film_00.01.10.000-00.01.12.500"


def test_a_line_is_a_query_about_its_film(tmp_path):
    folder = tmp_path / "lsmdc16"
    folder.mkdir()
    text = line(ONE, "SOMEONE opens a door.") + line(ONE, "A door opens.") + line(OTHER, "It rains.")
    (folder / "LSMDC16_annos_val.csv").write_text(text)
    read = load_annotations("lsmdc16", "val", data_dir=tmp_path)
    assert read.query_id.tolist() == [f"{ONE}#0", f"{ONE}#1", f"{OTHER}#0"]
    assert set(read.video_id) == {"1001_Film"}
    assert (read.start_s[0], read.end_s[0]) == (10.0, 12.5)  # the extracted times, fields 4 and 5
    assert math.isnan(read.duration_s[0])
    clips = clips_of(read)
    assert clips.clip_id.tolist() == [ONE, OTHER]  # a clip with two sentences is one clip
    assert clips.clip_of.tolist() == [0, 0, 1]


def test_counts_and_files():
    # Specification, section 3: 101,079 / 7,408 / 10,053 / 1,000.
    dataset = get_dataset("lsmdc16")
    assert [split.n_queries for split in dataset.splits] == [101_079, 7_408, 10_053, 1_000]
    assert dataset.access == "agreement"


def test_a_clip_that_ends_before_it_starts(tmp_path):
    folder = tmp_path / "lsmdc16"
    folder.mkdir()
    text = line(ONE, "x") + line(ONE, "y").replace("\t00.00.12.500", "\t00.00.09.999")
    (folder / "LSMDC16_annos_test.csv").write_text(text)
    with pytest.raises(InputError, match=r"LSMDC16_annos_test\.csv:2: field end_extracted: found 10 to 9\.999"):
        load_annotations("lsmdc16", "test", data_dir=tmp_path)
    with pytest.raises(MissingFileError, match=r"LSMDC16_annos_training\.csv"):
        load_annotations("lsmdc16", "train", data_dir=tmp_path)
