"""Which file belongs to which video."""

from itertools import pairwise

import numpy as np
import pytest

from truemoment.base.errors import DataWarning, InputError, MissingFileError
from truemoment.media.video import files, find_videos, identity_of, sorted_files


def fill(folder, *names):
    for name in names:
        (folder / name).write_bytes(b"x")


def test_the_id_and_a_suffix(tmp_path):
    fill(tmp_path, "v1.mp4", "v2.MKV", "v3.txt", "v1.jpg", "a.b.webm", "s13-d21.avi")
    (tmp_path / "v4.mp4").mkdir()
    with pytest.warns(DataWarning, match=r"left out v3\.txt, which FFmpeg does not open as videos$"):
        found = find_videos(tmp_path, ["v2", "v1", "v1", "v3", "v4", "a.b", "a", "s13-d21.avi", "../v1"])
    assert {video: path.name for video, path in found.items()} == {
        "v2": "v2.MKV",
        "v1": "v1.mp4",
        "a.b": "a.b.webm",
        "s13-d21.avi": "s13-d21.avi",
    }
    assert list(found) == ["v2", "v1", "a.b", "s13-d21.avi"]


def test_two_files_of_one_video(tmp_path):
    fill(tmp_path, "v1.mp4", "v1.mkv")
    assert find_videos(tmp_path, ["v2"]) == {}  # nobody asks for it
    with pytest.raises(InputError, match=r"contains v1.mkv and v1.mp4, expected one file of video 'v1'"):
        find_videos(tmp_path, ["v1"])


def test_files_are_videos_by_their_content(tmp_path):
    """Case 13; DeepLabCut#2763, photoprism#2899, libopenshot#417: endings in capitals, and endings on no list."""
    av = pytest.importorskip("av")
    kinds = {"mp4": "mp4", "MP4": "mp4", "MTS": "mpegts", "ts": "mpegts", "m2ts": "mpegts", "m4v": "mp4", "mpg": "mpeg"}
    noise = np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8)
    kinds |= {"flv": "flv", "wmv": "asf", "3gp": "3gp", "mov": "mov", "film": "matroska"}
    for ending, container in kinds.items():
        codec = "flv" if ending == "flv" else "mpeg1video" if container in ("mpeg", "mpegts") else "mpeg4"
        with av.open(str(tmp_path / f"of {ending}.{ending}"), "w", format=container) as file:
            stream = file.add_stream(codec, rate=25)
            stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
            for _ in range(3):
                file.mux(stream.encode(av.VideoFrame.from_ndarray(noise, "rgb24").reformat(format="yuv420p")))
            file.mux(stream.encode(None))
    fill(tmp_path, "of srt.srt", "of jpg.jpg")
    videos, others = sorted_files(sorted(tmp_path.iterdir()))
    assert [path.name for path in others] == ["of jpg.jpg", "of srt.srt"]
    assert len(videos) == len(kinds)
    assert set(find_videos(tmp_path, [f"of {ending}" for ending in kinds])) == {f"of {ending}" for ending in kinds}


def test_no_folder(tmp_path):
    with pytest.raises(MissingFileError, match="no such folder"):
        find_videos(tmp_path / "none", ["v"])
    fill(tmp_path, "file")
    with pytest.raises(InputError, match="expected a folder"):
        find_videos(tmp_path / "file", ["v"])


@pytest.mark.parametrize("size", [0, 10, 1 << 20, (1 << 20) + 5, 3 << 20])
def test_a_copy_is_the_same_and_another_file_is_not(tmp_path, size):
    content = bytes(k % 251 for k in range(min(size, 1000))) + b"\x07" * max(0, size - 1000)
    one, copy, other, longer = (tmp_path / name for name in "abcd")
    one.write_bytes(content)
    copy.write_bytes(content)
    other.write_bytes(content[:-1] + b"\xff" if content else b"\xff")
    longer.write_bytes(content + b"\x07")
    assert identity_of(one) == identity_of(copy)
    assert len({identity_of(path) for path in (one, other, longer)}) == 3
    assert identity_of(one).startswith(f"{size}:")


@pytest.mark.parametrize("size", [(2 << 20) + 1000, 3 << 20, 5 << 20, 40 << 20])
def test_a_middle_that_is_not_there_yet_is_seen(tmp_path, size):
    """A download that is under way has its size and both its ends; any hole of an eighth of the middle is found."""
    path = tmp_path / "film"
    content = bytes(range(1, 252)) * (size // 251 + 1)
    path.write_bytes(content[:size])
    whole = identity_of(path)
    ends, between = 1 << 20, size - (2 << 20)
    for k in range(8):
        with path.open("r+b") as stream:
            stream.seek(ends + k * between // 8)
            stream.write(bytes(between // 8))
        assert identity_of(path) != whole
        path.write_bytes(content[:size])
    assert identity_of(path) == whole


def test_a_large_file_is_not_read_whole():
    """Of 4 GiB 3 MiB are read, from the first byte to the last, none twice."""
    assert sum(length for _, length in files._examined_parts(4 << 30)) == 3 << 20
    for size in (3 << 20, (3 << 20) + 1, (3 << 20) + 123_457, 4 << 30):
        looked_at = sorted(files._examined_parts(size))
        assert all(at + length <= after for (at, length), (after, _) in pairwise(looked_at))
        assert (looked_at[0][0], sum(looked_at[-1])) == (0, size)


def test_no_file_to_identify(tmp_path):
    with pytest.raises(MissingFileError, match="no such file"):
        identity_of(tmp_path / "none")
    with pytest.raises(InputError, match="cannot be read"):
        identity_of(tmp_path)
