"""What a command reads is not written over: the register, and those who ask it."""

import contextvars
import os
import threading
from pathlib import Path

import pytest

from truemoment.base.boundary.files import atomic_folder, atomic_write, read_bytes, sha256_of
from truemoment.base.boundary.inputs import command_inputs, has_written, reading, updating, will_write, writing
from truemoment.base.errors import InputError, UsageError


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("input").write_text("x")
    Path("folder").mkdir()
    return tmp_path


@pytest.fixture
def register(place):
    with command_inputs():
        yield place


@pytest.mark.usefixtures("register")
class TestInACommand:
    @pytest.mark.parametrize("read", [read_bytes, sha256_of])
    def test_what_was_read_is_not_written(self, read):
        read(Path("input"))
        expected = r"^input: is read or written already, expected another file to write to$"
        with pytest.raises(UsageError, match=expected), atomic_write(Path("input")):
            raise AssertionError("nothing may be written")
        assert Path("input").read_text() == "x"

    @pytest.mark.parametrize("other", ["link", "folder/../input"])
    def test_by_another_name(self, other):
        Path("link").symlink_to("input")
        reading(Path("input"))
        with pytest.raises(UsageError, match="is read"):
            writing(Path(other))

    @pytest.mark.parametrize("write", [atomic_write, atomic_folder])
    def test_into_what_was_read(self, write):
        reading(Path("folder"))
        expected = r"^folder/sub/new: lies in folder, which is read, expected another place$"
        Path("folder/sub").mkdir()
        with pytest.raises(UsageError, match=expected), write(Path("folder/sub/new")):
            raise AssertionError("nothing may be written")
        writing(Path("folder-2"))

    def test_what_will_be_written_is_not_read(self):
        # So the command ends when an input is opened, and not when hours of work are written over it.
        will_write(Path("input"))
        will_write(Path("folder/out"))
        with pytest.raises(UsageError, match="input: is read or written already"):
            read_bytes(Path("input"))
        with pytest.raises(UsageError, match="folder/out: lies in folder, which is read"):
            reading(Path("folder"))
        with pytest.raises(UsageError, match="is read"):
            writing(Path("input"))

    def test_what_the_command_goes_on_with(self):
        will_write(Path("input"))
        reading(Path("folder"))
        for path in (Path("input"), Path("folder")):
            assert updating(path) == path
        read_bytes(Path("input"))
        writing(Path("input"))
        writing(Path("folder/sub"))

    def test_what_the_command_wrote_it_may_read_and_write_again(self):
        will_write(Path("new"))
        for _ in range(2):
            with atomic_write(Path("new")) as stream:
                stream.write(b"y")
            assert read_bytes(Path("new")) == b"y"

    def test_streams_are_not_replaced(self):
        os.mkfifo("pipe")
        for path in (Path(os.devnull), Path("pipe")):
            reading(path)
            assert writing(path) == path

    def test_whether_anything_was_written(self):
        will_write(Path("new"))
        reading(Path("input"))
        assert not has_written()
        with atomic_write(Path("new")):
            assert has_written()

    def test_a_thread_of_its_own_knows_no_command(self):
        # Threads that decode videos read what the command has listed; they are asked nothing.
        reading(Path("input"))
        seen = []
        thread = threading.Thread(target=lambda: seen.append(writing(Path("input"))))
        thread.start()
        thread.join()
        assert seen == [Path("input")]
        assert contextvars.copy_context().run(has_written) is False


@pytest.mark.usefixtures("place")
def test_outside_of_a_command_nothing_is_kept():
    will_write(Path("input"))
    read_bytes(Path("input"))
    with atomic_write(Path("input")) as stream:
        stream.write(b"y")
    assert Path("input").read_text() == "y"
    assert not has_written()


@pytest.mark.usefixtures("place")
def test_a_command_forgets_the_one_before():
    with command_inputs():
        reading(Path("input"))
    with command_inputs():
        assert writing(Path("input")) == Path("input")


@pytest.mark.parametrize("path", ["a\0b", Path("a\0b")])
def test_a_path_with_a_character_nul_is_refused(path):
    with pytest.raises(InputError, match="contains a NUL character, expected a path"):
        reading(path)
