"""A model behind an embeddings endpoint: what is sent, what is refused, and an index made by it."""

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

from truemoment.base.boundary.endpoints import OpenAIEndpoint
from truemoment.base.errors import UsageError
from truemoment.media.video.encoders import Encoder, is_here, load_encoder
from truemoment.media.video.endpoint_encoder import EndpointEncoder
from truemoment.searching.encoder_options import EncoderOptions
from truemoment.searching.indexing import index_videos
from truemoment.searching.request import RankingOptions
from truemoment.searching.session import SearchTarget, open_session

from ..served.stub import FAST_S, Reply, error, serving

WORDS = {"red": [1.0, 0, 0], "green": [0, 1.0, 0], "blue": [0, 0, 1.0]}


def colour_of(url):
    """The mean colour of a picture in a data URL, from -1/2 to 1/2."""
    head, _, data = url.partition(",")
    assert head == "data:image/jpeg;base64"
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    assert picture.size == (336, 336)
    return (np.asarray(picture).mean(axis=(0, 1)) / 255 - 0.5).tolist()


def vectors(request):
    """Embed the sentences or pictures of a request as mean colours."""
    if "messages" in request:
        return [colour_of(part["image_url"]["url"]) for part in request["messages"][0]["content"]]
    return [
        colour_of(item) if request.get("modality") == "image" else WORDS.get(item.split()[-1], [0.1, 0.1, 0.1])
        for item in request["input"]
    ]


def answer(rows):
    """An answer in OpenAI's form; its order is not that of the request."""
    data = [{"object": "embedding", "index": k, "embedding": row} for k, row in enumerate(rows)]
    return Reply(body=json.dumps({"object": "list", "data": data[::-1]}).encode())


def embed(request, _):
    return answer(vectors(request))


def as_input(request, _):
    return error(400, "no field messages") if "messages" in request else answer(vectors(request))


def encoder_of(server, **options):
    return EndpointEncoder(OpenAIEndpoint(server.url, "colours", first_wait_s=FAST_S, timeout_s=5.0, **options))


@pytest.mark.parametrize(("reply", "n_requests"), [(embed, 3), (as_input, 1)])
def test_sentences_and_pictures_are_sent_as_servers_take_them(reply, n_requests):
    with serving(reply) as server:
        encoder = encoder_of(server, key="sk-secret-0123456789")
        assert isinstance(encoder, Encoder)
        assert (encoder.name, encoder.n_dimensions) == ("colours", 3)
        assert server.headers[0]["Authorization"] == "Bearer sk-secret-0123456789"
        assert set(server.paths) == {"/v1/embeddings"}
        assert server.requests[0] == {"model": "colours", "encoding_format": "float", "input": ["a"]}
        n_before = len(server.requests)
        pictures = np.stack([encoder.prepare(np.full((48, 64, 3), k, np.uint8)) for k in (0, 102, 255)])
        np.testing.assert_allclose(encoder.images(pictures)[:, 0], [-0.5, -0.1, 0.5], atol=0.01)  # k / 255 - 1 / 2
        assert len(server.requests) - n_before == n_requests
        assert encoder.sentences(["a red", "a blue"]).tolist() == [[1, 0, 0], [0, 0, 1]]
        assert encoder.sentences(["a red"] * 70).shape == (70, 3)  # three requests


def test_an_index_by_an_endpoint_is_searched(tmp_path, paint):
    film = paint(tmp_path / "a.mp4", [((200, 30, 30), 4), ((30, 30, 200), 8)])
    with serving(embed) as server:
        options = EncoderOptions(model=f"{server.url}#colours")
        index_videos([film], tmp_path / "index", options, workers=1)
        with open_session(SearchTarget(tmp_path / "index", options), RankingOptions(top=1)) as session:
            moment = session.find("a blue").moments[0]
            rows = session.index["a"][int(2 * moment.start_s) : int(2 * moment.end_s)]
        assert (rows.argmax(axis=1) == 2).mean() > 0.5
        # Whoever made an index chose where its sentences go, and the key with them: not without being named.
        n_requests = len(server.requests)
        with (
            pytest.raises(UsageError, match=r"is not on this machine; an index can name any model"),
            open_session(SearchTarget(tmp_path / "index", EncoderOptions()), RankingOptions()) as session,
        ):
            session.find("a blue")
        assert len(server.requests) == n_requests
        assert not is_here(f"{server.url}#colours")


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (answer([[1.0, 2.0]]), r"answers vectors of 2 numbers, and of 3 before: is it another model\?"),
        (answer([[1.0, 2.0, 3.0]] * 2), r"sent 2 embeddings, numbers \[1, 0\], expected 1"),
        (answer([[1.0, 2.0, 1e300]]), r"sent numbers that are not finite, or too large"),
        (Reply(body=b'{"data": [{"index": 0, "embedding": [NaN, 1, 2]}]}'), r"sent no embeddings \(JSON is malformed"),
        (Reply(body=b"<html>Welcome</html>"), r"sent no embeddings \(JSON is malformed"),
        (answer([[0.0, 0.0, 1e-50]]), r"sent a vector of zeros"),
        (answer([[]]), r"sent embeddings of \[0\] numbers, expected one width"),
        (error(500, "out of memory"), r"answers 500 \(out of memory\)"),
        (error(401), r"answers 401: it asks for a key, and there is none in OPENAI_API_KEY"),
        (Reply(stall_s=9), r"gave no answer within 0.3 s"),
    ],
    ids=["width", "count", "large", "zeros", "NaN", "HTML", "empty", "500", "401", "slow"],
)
def test_answers_that_are_refused(bad, told):
    bads = []
    with serving(lambda request, nth: bads[0] if bads else embed(request, nth)) as server:
        encoder = encoder_of(server, retries=1)
        bads.append(bad)
        if bad.stall_s:
            object.__setattr__(encoder._endpoint, "timeout_s", 0.3)
        with pytest.raises(UsageError, match=told) as refusal:
            encoder.sentences(["a red"])
    assert str(refusal.value).startswith(f"the endpoint {server.url} ")
    assert "\n" not in str(refusal.value)


def test_an_address_without_a_model_is_refused():
    with pytest.raises(UsageError, match="got the address http://localhost:8000/v1 without a model, expected URL#NAME"):
        load_encoder("http://localhost:8000/v1")


def test_an_endpoint_of_sentences_alone_is_refused():
    def texts(request, _):
        is_text = "modality" not in request and "input" in request
        return answer([[1.0]]) if is_text else error(400, "it takes text")

    with (
        serving(texts) as server,
        pytest.raises(UsageError, match=r"answers 400 \(it takes text\): expected one that embeds pictures, too"),
    ):
        encoder_of(server)
