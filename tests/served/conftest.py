"""A served model on loopback, and three small videos."""

import shutil

import pytest

from truemoment import Annotations

from ..video.conftest import make_video
from .stub import serving


@pytest.fixture
def serve():
    """Serve replies: serve(reply) -> the server; stopped when the test ends."""
    open_ones = []

    def start(*reply):
        context = serving(*reply)
        open_ones.append(context)
        return context.__enter__()

    yield start
    for context in open_ones:
        context.__exit__(None, None, None)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    """Neither keys nor proxies of whoever runs the tests are seen here."""
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def annotations():
    """Seven queries of three videos of 6, 4 and 5 s."""
    lasts = {"a": 6.0, "b": 4.0, "c": 5.0}
    rows = [
        (f"{video}#{k // 3}", video, lasts[video], f"somebody does {{sentence}} number {k}", 0.5, 2.0)
        for k, video in enumerate("abcabca")
    ]
    return Annotations.from_rows(rows, dataset="own", split="test")


@pytest.fixture(scope="session")
def videos_once(tmp_path_factory):
    """The folder of these videos: ten frames a second, each of which says its number."""
    folder = tmp_path_factory.mktemp("videos")
    for video, seconds in (("a", 6), ("b", 4), ("c", 5)):
        make_video(folder / f"{video}.mp4", [100 * k for k in range(10 * seconds)])
    return folder


@pytest.fixture
def videos(tmp_path, videos_once):
    """A copy of these videos for a test: name -> file."""
    folder = shutil.copytree(videos_once, tmp_path / "videos")
    return {video: folder / f"{video}.mp4" for video in "abc"}
