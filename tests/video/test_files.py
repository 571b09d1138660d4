"""Which file belongs to which video."""

import pytest

from truemoment.exceptions import InputError, MissingFileError
from truemoment.video import find_videos, identity_of


def fill(folder, *names):
    for name in names:
        (folder / name).write_bytes(b"x")


def test_the_id_and_a_suffix(tmp_path):
    fill(tmp_path, "v1.mp4", "v2.MKV", "v3.txt", "v1.jpg", "a.b.webm", "s13-d21.avi")
    (tmp_path / "v4.mp4").mkdir()
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
    with pytest.raises(InputError, match=r"holds v1.mkv and v1.mp4, expected one file of video 'v1'"):
        find_videos(tmp_path, ["v1"])


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


def test_no_file_to_identify(tmp_path):
    with pytest.raises(MissingFileError, match="no such file"):
        identity_of(tmp_path / "none")
    with pytest.raises(InputError, match="cannot be read"):
        identity_of(tmp_path)
