"""A world as files, and back."""

import io
import json

import msgspec
import numpy as np
import pytest

from truemoment import read_annotations
from truemoment.base.errors import InputError, MissingFileError
from truemoment.base.version import __version__
from truemoment.data.datasets import own
from truemoment.worlds import Features, WorldSettings, make_world, read_features, write_world
from truemoment.worlds.export import write_features


@pytest.fixture
def saved(tmp_path):
    """Write a small world; return it and its folder."""
    world = make_world(12, n_annotators=3, seed=4)
    write_world(world, tmp_path / "deep" / "world")
    return world, tmp_path / "deep" / "world"


def test_annotations_come_back(saved):
    world, folder = saved
    for name, part in world.splits.items():
        again = read_annotations(folder / "annotations.jsonl", name)
        assert (again.sha256, again.split) == (part.sha256, name)
    for name, marked in world.humans.items():
        assert read_annotations(folder / "humans.jsonl", name).sha256 == marked.sha256
    line = json.loads((folder / "annotations.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert line["query_id"] == "world00000#0"
    assert line["split"] == "train"


def test_one_annotator_has_no_file_of_several(saved):
    _, folder = saved
    write_world(make_world(12), folder)
    assert not (folder / "humans.jsonl").exists()


def test_features_come_back(saved):
    world, folder = saved
    again = read_features(folder / "features.npz")
    assert list(again) == list(world.features)
    assert again.fps == world.features.fps
    assert all(np.array_equal(again[video_id], world.features[video_id]) for video_id in again)
    assert {again[video_id].dtype for video_id in again} == {np.dtype(np.float32)}


def test_settings_come_back(saved):
    world, folder = saved
    document = json.loads((folder / "world.json").read_text(encoding="utf-8"))
    assert (document.pop("schema"), document.pop("truemoment")) == ("world/1", __version__)
    assert msgspec.convert(document, WorldSettings) == world.settings


def test_writing_again_gives_the_same_bytes(saved, tmp_path):
    # Of archives the content, since the container stores the time of writing.
    world, folder = saved
    write_world(world, tmp_path / "again")
    for name in ("annotations.jsonl", "humans.jsonl", "world.json"):
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == [
        "annotations.jsonl",
        "features.npz",
        "humans.jsonl",
        "world.json",
    ]


def test_an_unknown_duration_is_left_out(tmp_path):
    from truemoment import Annotations

    annotations = Annotations.from_rows(
        [("q", "v", float("nan"), "ü", 2.0, 5.0, "ann"), ("q", "v", float("nan"), "ü", 1.0, 9.0, "")], split="val"
    )
    own.write(tmp_path / "own.jsonl", [annotations])
    assert read_annotations(tmp_path / "own.jsonl", "val").sha256 == annotations.sha256


def test_no_videos(tmp_path):
    write_features(tmp_path / "none.npz", Features({}, 2.0))
    assert len(read_features(tmp_path / "none.npz")) == 0


def arrays(**changed):
    good = {
        "frames": np.zeros((5, 2), dtype=np.float32),
        "offsets": np.array([0, 2, 5]),
        "video_id": np.frombuffer(b'["v", "w"]', dtype=np.uint8),
        "fps": np.array(2.0),
    }
    return {name: value for name, value in (good | changed).items() if value is not None}


def test_the_form_is_as_documented(tmp_path):
    np.savez(tmp_path / "features.npz", **arrays())
    features = read_features(tmp_path / "features.npz")
    assert {video_id: features[video_id].shape for video_id in features} == {"v": (2, 2), "w": (3, 2)}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"frames": None}, "frames"),
        ({"frames": np.zeros((5, 2))}, "field frames: got float64 of shape (5, 2), expected finite float32"),
        ({"frames": np.zeros(5, dtype=np.float32)}, "got float32 of shape (5,), expected finite float32"),
        ({"frames": np.full((5, 2), np.nan, dtype=np.float32)}, "expected finite float32"),
        ({"offsets": np.array([0, 2, 4])}, "field offsets: expected rising positions from 0 to 5"),
        ({"offsets": np.array([0, 0, 5])}, "expected rising positions from 0 to 5"),
        ({"offsets": np.array([0, 5])}, "expected rising positions from 0 to 5"),
        ({"offsets": np.array([0.0, 2.0, 5.0])}, "expected rising positions from 0 to 5"),
        ({"video_id": np.frombuffer(b'["v", "v"]', dtype=np.uint8)}, "a video appears twice, expected each once"),
        ({"video_id": np.frombuffer(b"[1, 2]", dtype=np.uint8)}, "str"),
        ({"fps": np.array(-1.0)}, "field fps: got -1.0, expected frames a second above 0"),
        ({"fps": np.array([1.0, 2.0])}, "is not a file of frame features"),
        ({"frames": np.array([{}], dtype=object)}, "contains Python objects"),
    ],
)
def test_refused_features(tmp_path, changed, said):
    path = tmp_path / "features.npz"
    np.savez(path, **arrays(**changed))
    with pytest.raises(InputError) as caught:
        read_features(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_damaged_bytes_are_refused(tmp_path):
    stream = io.BytesIO()
    np.savez(stream, **arrays())
    path = tmp_path / "features.npz"
    for content in (b"", b"not an archive", stream.getvalue()[:200], stream.getvalue()[:-30]):
        path.write_bytes(content)
        with pytest.raises(InputError, match="is not a file of frame features"):
            read_features(path)


def test_what_is_not_there(tmp_path):
    with pytest.raises(MissingFileError, match="no such file"):
        read_features(tmp_path / "features.npz")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        write_world(make_world(1), tmp_path / "file" / "world")


@pytest.mark.parametrize("name", ["annotations.jsonl", "humans.jsonl", "features.npz", "world.json"])
def test_a_world_is_not_written_through_links(tmp_path, name):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "world").mkdir()
    (tmp_path / "world" / name).symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match=f"{name}: is a link, expected"):
        write_world(make_world(20), tmp_path / "world")
    assert (tmp_path / "mine").read_text() == "mine"
    assert [path.name for path in (tmp_path / "world").iterdir()] == [name]
