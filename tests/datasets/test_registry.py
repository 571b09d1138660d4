"""What every dataset of the registry must state."""

import re

import pytest

from truemoment.base.errors import MissingFileError, UsageError
from truemoment.data.datasets import DATASETS, NO_DATA_FOLDER, data_folder, fetch, get_dataset, load_annotations
from truemoment.data.datasets.faults import known_faults

SPLITS = {"train", "val", "test", "test-iid", "test-ood", "val_1", "val_2"}  # DESIGN.md, command line
SPLITS |= {"test-1000"}  # LSMDC16, specification of retrieval, section 3
# Li et al. (2022), Compositional Temporal Grounding: "test-trivial", "novel-composition", "novel-word".
SPLITS |= {"test-trivial", "test-novel-composition", "test-novel-word"}
COUNTS_WITHOUT_VIDEOS = {"lsmdc16", "ego4d-nlq-v2"}  # of clips alone; of queries alone


def test_names():
    # DESIGN.md, "Dataset names".
    assert set(DATASETS) == {
        "charades-sta",
        "activitynet-captions",
        "tacos",
        "didemo",
        "qvhighlights",
        "mad",
        "charades-cd",
        "activitynet-cd",
        # The re-annotations of Hidden Challenges.
        "human-charades",
        "human-activitynet",
        # Clips of films, specification of retrieval, section 3.
        "lsmdc16",
        # Issue 27, point 3.
        "tvr",
        "ego4d-nlq-v1",
        "ego4d-nlq-v2",
        "charades-cg",
        "activitynet-cg",
        "charades-timelens",
        "activitynet-timelens",
        "qvhighlights-timelens",
        "tvgbench",
        "next-gqa",
    }


@pytest.mark.parametrize("name", DATASETS)
class TestEveryDataset:
    def test_is_named_as_its_key(self, name):
        assert DATASETS[name].name == name
        assert get_dataset(name) is DATASETS[name]

    def test_states_where_it_comes_from(self, name):
        dataset = DATASETS[name]
        assert dataset.title
        assert re.search(r"\b(19|20)\d\d\b", dataset.references()[0])  # a year
        assert dataset.references()[0].count(",") >= 2  # several authors
        assert dataset.homepage.startswith("https://")
        assert dataset.licence  # "not stated" where nothing was found
        for text in (*dataset.references(), dataset.licence, *dataset.notes, *dataset.steps):
            assert text == " ".join(text.split())

    def test_access(self, name):
        dataset = DATASETS[name]
        if dataset.access == "open":
            assert not dataset.steps
            assert all(file.url for file in dataset.files)
        else:
            assert dataset.access in {"agreement", "by hand"}
            assert dataset.steps
            assert not any(file.url for file in dataset.files)  # nothing to be fetched behind the owner's back

    def test_files(self, name):
        dataset = DATASETS[name]
        names = [file.name for file in dataset.files]
        assert names
        assert len(set(names)) == len(names)
        for file in dataset.files:
            assert not file.name.startswith("/")
            assert ".." not in file.name
            assert re.fullmatch(r"([0-9a-f]{64})?", file.sha256)
            assert re.fullmatch(r"([0-9a-f]{40})?", file.git_blob)
            assert re.fullmatch(r"(https://\S+)?", file.url)
            assert 0 <= file.n_bytes <= fetch.MOST_BYTES
            if file.url:
                assert file.sha256 or file.git_blob  # whatever is fetched can be checked
                assert re.search(r"/[0-9a-f]{40}/", file.url)  # and stays what it is: pinned to a commit
                assert file.url.endswith("/" + file.name)

    def test_splits(self, name):
        dataset = DATASETS[name]
        names = [split.name for split in dataset.splits]
        assert names
        assert len(set(names)) == len(names)
        assert set(names) <= SPLITS
        for split in dataset.splits:
            assert dataset.split(split.name) is split
            assert split.counted_in
            assert set(split.merges) <= set(names) - {split.name}
            known = split.n_videos is not None
            assert known == (split.n_queries is not None) or name in COUNTS_WITHOUT_VIDEOS
            if known:
                assert split.n_queries >= split.n_videos > 0

    def test_recorded_faults_are_of_its_splits(self, name):
        names = {split.name for split in DATASETS[name].splits}
        for place, kinds in known_faults(name).items():
            assert set(place.split(" -> ")) <= names
            for recorded in kinds.values():
                assert recorded.count > 0
                assert re.fullmatch(r"[0-9a-f]{16}", recorded.digest)

    def test_an_unknown_split(self, name):
        names = ", ".join(split.name for split in DATASETS[name].splits)
        with pytest.raises(UsageError) as caught:
            DATASETS[name].split("dev")
        assert str(caught.value) == f"{name} has no split 'dev', expected one of {names}"

    def test_a_missing_file_says_how_to_get_it(self, name, tmp_path):
        (tmp_path / name).mkdir()
        split = DATASETS[name].splits[0].name
        with pytest.raises(MissingFileError) as caught:
            load_annotations(name, split, data_dir=tmp_path)
        said = str(caught.value)
        assert said.startswith(f"{name}: {tmp_path / name}/")
        assert f"'truemoment datasets fetch {name}' downloads it or prints the steps" in said

    def test_a_missing_folder_is_told(self, name, tmp_path):
        split = DATASETS[name].splits[-1].name
        with pytest.raises(MissingFileError) as caught:
            load_annotations(name, split, data_dir=tmp_path)
        assert str(caught.value).startswith(f"{name}: {tmp_path / name} (no such folder) is missing, expected ")


def test_published_counts():
    # Closer Look (2021), Table 1, as published/closer_look_table1.csv and papers.md, section 1, have it.
    published = {
        ("charades-sta", "train"): (12_408, 5_338),
        ("charades-sta", "test"): (3_720, 1_334),
        ("activitynet-captions", "train"): (37_421, 10_009),
        ("activitynet-captions", "test"): (34_536, 4_917),
        ("charades-cd", "train"): (11_071, 4_564),
        ("charades-cd", "val"): (859, 333),
        ("charades-cd", "test-iid"): (823, 333),
        ("charades-cd", "test-ood"): (3_375, 1_442),
        ("activitynet-cd", "train"): (51_415, 10_984),
        ("activitynet-cd", "val"): (3_521, 746),
        ("activitynet-cd", "test-iid"): (3_443, 746),
        ("activitynet-cd", "test-ood"): (13_578, 2_450),
        # Hidden Challenges (2020), section 5; videos counted independently from the files.
        ("human-charades", "test"): (1_000, 723),
        ("human-activitynet", "val_2"): (1_288, 1_066),
        # MAD: field.md, section 2.3.
        ("mad", "train"): (280_183, 488),
        ("mad", "val"): (32_064, 50),
        ("mad", "test"): (72_044, 112),
    }
    for (name, split), (n_queries, n_videos) in published.items():
        stated = DATASETS[name].split(split)
        assert (stated.n_queries, stated.n_videos) == (n_queries, n_videos)


def test_an_unknown_dataset():
    with pytest.raises(UsageError) as caught:
        load_annotations("charades", "test", data_dir="/")
    assert str(caught.value) == (
        "unknown dataset 'charades', expected one that 'truemoment datasets list' shows; did you mean charades-cg?"
    )


def test_an_unknown_split_is_told_before_the_folder_is_looked_for(tmp_path):
    with pytest.raises(UsageError, match=r"^tacos has no split 'dev', expected one of train, val, test$"):
        load_annotations("tacos", "dev", data_dir=tmp_path / "none")


class TestDataFolder:
    def test_given(self, tmp_path, monkeypatch):
        monkeypatch.setenv("TRUEMOMENT_DATA", "/nowhere")
        assert data_folder(tmp_path) == tmp_path
        assert data_folder(str(tmp_path)) == tmp_path

    def test_by_the_variable(self, tmp_path, monkeypatch):
        monkeypatch.setenv("TRUEMOMENT_DATA", str(tmp_path))
        assert data_folder() == tmp_path

    @pytest.mark.parametrize("value", [None, ""])
    def test_neither(self, monkeypatch, value):
        monkeypatch.delenv("TRUEMOMENT_DATA", raising=False)
        if value is not None:
            monkeypatch.setenv("TRUEMOMENT_DATA", value)
        with pytest.raises(UsageError) as caught:
            data_folder()
        assert str(caught.value) == NO_DATA_FOLDER

    @pytest.mark.parametrize("name", ["none", "file"])
    def test_no_folder(self, tmp_path, name):
        (tmp_path / "file").write_text("")
        with pytest.raises(UsageError) as caught:
            data_folder(tmp_path / name)
        assert str(caught.value) == (
            f"{tmp_path / name} is not a folder, expected a folder with one folder per dataset"
        )
