"""Frame tables, playable copies, pictures and peaks, on videos of constant, fractional and variable rate."""

from fractions import Fraction

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import InputError, UsageError
from truemoment.media.video.frames import outline_of, shown_at
from truemoment.media.video.peaks import make_peaks
from truemoment.media.video.playable import why_copy
from truemoment.media.video.prepared import prepare_video
from truemoment.media.video.stamps import FrameTable, frame_table, table_of

from .conftest import make_video

CONSTANT_MS = tuple(range(0, 2000, 40))
VARIABLE_MS = (0, 40, 80, 200, 240, 500, 510, 1000, 1040, 1500)


def decoded_s(path):
    """Times of the frames as the decoder gives them, and whether the sound begins with the pictures."""
    outline = outline_of(path)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return [float(frame.pts * stream.time_base) - outline.origin_s for frame in container.decode(stream)]


@pytest.fixture(scope="module", params=["constant", "29.97", "variable", "late clock", "vp9", "b-frames"])
def path(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stamps")
    match request.param:
        case "constant":
            return make_video(folder / "v.mp4", CONSTANT_MS, codec="libx264")
        case "29.97":
            return make_video(folder / "v.mp4", [1001 * k for k in range(40)], codec="libx264", rate=30000)
        case "variable":
            return make_video(folder / "v.mp4", VARIABLE_MS, codec="libx264")
        case "late clock":
            return make_video(folder / "v.mp4", [ms + 3000 for ms in CONSTANT_MS], codec="libx264")
        case "b-frames":
            return make_video(folder / "v.mp4", CONSTANT_MS, codec="libx264", b_frames=2)
    return make_video(folder / "v.webm", CONSTANT_MS, codec="libvpx-vp9")


def test_a_table_has_the_times_of_the_decoded_frames(path):
    table, outline = frame_table(path)
    np.testing.assert_allclose(table.edges_s[:-1], decoded_s(path), atol=1e-6)
    assert table.duration_s == pytest.approx(outline.duration_s)
    again = FrameTable.of_runs(table.runs())
    assert again.starts.tolist() == table.starts.tolist()


def test_what_is_prepared_shows_the_same_frames(path, tmp_path):
    table, outline = frame_table(path)
    prepared = prepare_video(path, tmp_path / "media")
    first_s = float(table.edges_s[0])
    assert len(prepared.table) == len(table)
    np.testing.assert_allclose(prepared.table.edges_s[1:], table.edges_s[1:], atol=1e-4)
    assert prepared.table.edges_s[0] == pytest.approx(0 if prepared.copy_why else first_s)
    played = outline_of(prepared.played)
    assert why_copy(prepared.played, prepared.table, played) == ""
    middles = (prepared.table.edges_s[:-1] + prepared.table.edges_s[1:]) / 2

    def bright(frame):
        return frame.to_ndarray(format="gray")[40:].mean(axis=0) > 128

    for (_, own), (_, copied) in zip(
        shown_at(path, outline, middles.tolist()), shown_at(prepared.played, played, middles.tolist()), strict=True
    ):
        assert np.mean(bright(own) == bright(copied)) > 0.9
    assert prepare_video(path, tmp_path / "media").table.starts.tolist() == prepared.table.starts.tolist()


def test_why_a_copy_is_made(tmp_path):
    def why(name, times_ms=CONSTANT_MS, **settings):
        path = make_video(tmp_path / name, times_ms, **{"codec": "libx264"} | settings)
        return why_copy(path, *frame_table(path))

    faststart = {"movflags": "faststart"}
    assert why("a.mp4", options=faststart) == ""
    assert why("a.mp4") == "its index is at the end"
    assert why("a.mp4", codec="mpeg4") == "codec mpeg4"
    assert why("a.mkv") == "a file of type .mkv"
    assert "starts at 3.00 s" in why("a.mp4", [ms + 3000 for ms in CONSTANT_MS], options=faststart)
    slow = why("a.mp4", range(0, 5000, 40), gop=500, options=faststart)
    assert slow == "key frames are more than 2 s apart"


def test_a_late_video_starts_with_its_first_frame(tmp_path):
    path = make_video(tmp_path / "v.mp4", [ms + 500 for ms in CONSTANT_MS], codec="libx264", audio_s=2.0)
    table, _ = frame_table(path)
    assert table.edges_s[0] == pytest.approx(0.5, abs=0.03)  # the sound begins up to 23 ms before 0
    prepared = prepare_video(path, tmp_path / "media")
    assert prepared.table.edges_s[0] == 0
    np.testing.assert_allclose(prepared.table.edges_s[1:], table.edges_s[1:], atol=1e-4)
    peaks = make_peaks(path, outline_of(path))
    assert peaks is not None
    assert int.from_bytes(peaks[:4], "little") == 50
    assert not any(peaks[4:])  # silence


def test_pictures_and_peaks(tmp_path):
    path = make_video(tmp_path / "v.mp4", CONSTANT_MS, codec="libx264")
    prepared = prepare_video(path, tmp_path / "media")
    assert prepared.table.duration_s == pytest.approx(2.0)
    assert (tmp_path / "media" / "strip.jpg").read_bytes()[:2] == b"\xff\xd8"
    assert not (tmp_path / "media" / "peaks.bin").exists()


@given(
    steps=st.lists(st.integers(1, 5000), min_size=1, max_size=40),
    tick=st.sampled_from([Fraction(1, 1000), Fraction(1, 90000), Fraction(1001, 30000), Fraction(1, 12800)]),
    data=st.data(),
)
def test_a_moment_in_seconds_gives_back_its_frames(steps, tick, data):
    edges = np.cumsum([0, *steps])
    table = table_of(edges[:-1] * float(tick), float(edges[-1] * tick), tick)
    assert table.starts.tolist() == edges[:-1].tolist()
    first = data.draw(st.integers(0, len(table) - 1))
    last = data.draw(st.integers(first, len(table) - 1))
    start_s, end_s = table.moment_s(first, last)
    assert start_s < end_s
    assert table.frames_of(start_s, end_s) == (first, last)
    assert FrameTable.of_runs(table.runs()).starts.tolist() == table.starts.tolist()


def test_frames_that_are_not_there_are_refused():
    table = FrameTable(Fraction(1, 10), np.array([0, 1]), 2)
    for first, last in ((-1, 0), (1, 0), (0, 2)):
        with pytest.raises(UsageError):
            table.moment_s(first, last)
    with pytest.raises(InputError):
        FrameTable(Fraction(1, 10), np.array([1, 1]), 2)
