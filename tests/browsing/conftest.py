"""Served pages: the search page of an index of colours, whose answers are known without a model."""

import contextlib
import json
import time

import numpy as np
import pytest

pytest.importorskip("starlette")
from starlette.testclient import TestClient

from truemoment.searching.encoder_options import EncoderOptions
from truemoment.searching.index import Index
from truemoment.web.browsing.search_site import open_search

ORIGIN = {"Origin": "http://localhost"}


class ColourOptions(EncoderOptions):
    """The model of the tests, by name; "broken" cannot be loaded."""

    def encoder_of(self, index):  # noqa: ARG002 - the signature of the real one
        import colours_of_tests

        if self.model == "broken":
            from truemoment.base.errors import UsageError

            raise UsageError("no such model")
        return colours_of_tests.Colours()


class Client(TestClient):
    """A browser that is signed in; changes come from the page itself."""

    def __init__(self, app, token, **options):
        super().__init__(app, base_url="http://localhost", raise_server_exceptions=False, **options)
        if token:
            answer = self.post("/in", json={"token": token}, follow_redirects=False)
            assert answer.status_code == 303

    def request(self, method, url, **options):
        if method not in ("GET", "HEAD"):
            options["headers"] = {**ORIGIN, "Content-Type": "application/json", **(options.get("headers") or {})}
        return super().request(method, url, **options)

    def search(self, sentence, **options):
        """Return the answer to a sentence."""
        found = self.get("/api/search", params={"q": sentence, **options})
        assert found.status_code == 200, found.text
        return found.json()


@pytest.fixture
def index(copy_index):
    """An index of the films of this test, which may be changed."""
    return Index(copy_index("films.index"))


def open_page(stack, index, folder, model=None, **options):
    """Serve the page of an index, which keeps its files in a folder: the server, and a browser of its owner."""
    settings = {"cache": folder / "cache", "collections": folder / "kept"} | options
    server = stack.enter_context(open_search(Index(index), ColourOptions(model), **settings))
    client = stack.enter_context(Client(server.app, None))
    client.post("/in", json={"token": server.tokens.owner}, follow_redirects=False)
    while model is None and server.service.model.state != "ready":
        time.sleep(0.001)
    return server, client


@pytest.fixture
def served(tmp_path, index):
    """Serve an index: with served() as (server, client)."""
    with contextlib.ExitStack() as stack:
        yield lambda model=None, **options: open_page(stack, index.path, tmp_path, model, **options)


@pytest.fixture(scope="module")
def refusing(painted_index, tmp_path_factory):
    """A browser of a page's owner, for requests that are refused, and the folder of the page's collections."""
    folder = tmp_path_factory.mktemp("refusing")
    with contextlib.ExitStack() as stack:
        yield open_page(stack, painted_index, folder)[1], folder / "kept"


def as_arrays(strip):
    """Return the columns of a strip."""
    return np.frombuffer(strip.content, "<f2").astype(np.float64)


def lines_of(path):
    """Return the JSON values of a file, a line each."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
