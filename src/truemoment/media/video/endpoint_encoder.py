"""An embeddings endpoint in OpenAI's form as an encoder of pictures and sentences.

The wire
    ``POST {url}/embeddings`` with ``model`` and ``encoding_format: float``. Sentences go in ``input``, 32 at a time.
    Pictures are JPEG files in data URLs, in one of two forms, of which the first that the endpoint takes is used:

    - ``messages``: a message with a part ``image_url`` a request, as vLLM takes it
      (https://docs.vllm.ai, "OpenAI Chat Embedding Client For Multimodal");
    - ``input``: a list of data URLs with ``modality: image``, as Infinity takes it.

    The answer is ``data[k].embedding``. An endpoint that answers another number of vectors or another width, or numbers
    that are not finite, is refused.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from truemoment.base.boundary.endpoints import EndpointError, OpenAIEndpoint, key_from_environment
from truemoment.base.boundary.endpoints.connection import Connection
from truemoment.base.boundary.text import one_line
from truemoment.base.errors import UsageError
from truemoment.media.features.base import Frames
from truemoment.media.video.encoders import Preparation, Prepared
from truemoment.media.video.frames import Pixels, jpeg_of

AT_ONCE = 32
"""Sentences or pictures of a request."""

SIDE = 336
"""Side of the pictures that are sent, pixels: the middle square of a frame, as CLIP models see it."""

PictureForm = Literal["messages", "input"]


class _Embedding(msgspec.Struct):
    embedding: list[float]
    index: int | None = None


class _EmbeddingsBody(msgspec.Struct):
    data: list[_Embedding]


class _RefusalError(UsageError):
    """An endpoint that takes other requests, but not this one."""


class EndpointEncoder:
    """A model behind an address, which embeds pictures and sentences.

    Parameters
    ----------
    endpoint
        Its address and name.

    Raises
    ------
    UsageError
        If it does not answer, takes no pictures, or gives vectors of two widths.
    """

    preparation = Preparation(SIDE, SIDE, SIDE, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))

    def __init__(self, endpoint: OpenAIEndpoint) -> None:
        self._endpoint, self.name = endpoint, endpoint.model
        with endpoint.connect() as connection:
            self.n_dimensions = self._embed(connection, {"input": ["a"]}, 1).shape[1]
        self.fingerprint = hashlib.sha256(f"{self.name} {self.n_dimensions}".encode()).hexdigest()[:16]
        self._form = self._form_of_pictures()

    @classmethod
    def load(cls, text: str) -> EndpointEncoder:
        """Connect to ``URL#MODEL``; the key is that of the environment."""
        url, _, model = text.partition("#")
        if not model.strip():
            raise UsageError(f"got the address {one_line(url)} without a model, expected URL#NAME")
        return cls(OpenAIEndpoint(url, model, *key_from_environment(url)))

    def prepare(self, rgb: Pixels) -> Prepared:
        """Prepare a picture (H, W, 3): (336, 336, 3)."""
        return self.preparation(rgb)

    def images(self, batch: Prepared) -> Frames:
        """Return the vectors (B, D) of prepared pictures (B, h, w, 3)."""
        return self._images(batch, self._form)

    def sentences(self, texts: Sequence[str]) -> Frames:
        """Return the vectors (S, D) of sentences."""
        return self._in_parts(texts, AT_ONCE, lambda part: {"input": list(part)})

    def _form_of_pictures(self) -> PictureForm:
        """Return the first form of pictures that the endpoint takes."""
        black = np.zeros((1, SIDE, SIDE, 3), np.uint8)
        forms: tuple[PictureForm, ...] = ("messages", "input")
        refusal: _RefusalError | None = None
        for form in forms:
            try:
                self._images(black, form)
            except _RefusalError as error:
                refusal = refusal or error
            else:
                return form
        raise UsageError(f"{refusal}: expected one that embeds pictures, too")

    def _images(self, batch: Prepared, form: PictureForm) -> Frames:
        urls = [f"data:image/jpeg;base64,{base64.b64encode(jpeg_of(np.array(pixels))).decode()}" for pixels in batch]
        if form == "input":
            return self._in_parts(urls, AT_ONCE, lambda part: {"input": list(part), "modality": "image"})

        def message(part: Sequence[str]) -> dict[str, Any]:
            content = [{"type": "image_url", "image_url": {"url": url}} for url in part]
            return {"messages": [{"role": "user", "content": content}]}

        return self._in_parts(urls, 1, message)

    def _in_parts(
        self, items: Sequence[str], at_once: int, fields: Callable[[Sequence[str]], dict[str, Any]]
    ) -> Frames:
        """Embed items, so many a request."""
        rows = [np.zeros((0, self.n_dimensions), np.float32)]
        with self._endpoint.connect() as connection:
            for first in range(0, len(items), at_once):
                part = items[first : first + at_once]
                rows.append(self._embed(connection, fields(part), len(part)))
                if rows[-1].shape[1] != self.n_dimensions:
                    came = f"answers vectors of {rows[-1].shape[1]} numbers, and of {self.n_dimensions} before"
                    raise UsageError(f"the endpoint {self._endpoint.url} {came}: is it another model?")
        return np.concatenate(rows)

    def _embed(self, connection: Connection, fields: dict[str, Any], n_items: int) -> Frames:
        """Send a request for so many vectors."""
        body = msgspec.json.encode({"model": self.name, "encoding_format": "float", **fields})
        try:
            return self._endpoint.send(
                connection, "/embeddings", body, functools.partial(_vectors_in, n_items=n_items)
            )[0]
        except EndpointError as error:
            kind = _RefusalError if error.fault == "request" else UsageError
            raise kind(f"the endpoint {self._endpoint.url} {error}") from None


def _vectors_in(data: bytes, n_items: int) -> Frames:
    """Return the vectors of an answer, (N, D)."""
    try:
        rows = msgspec.json.decode(data, type=_EmbeddingsBody).data
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EndpointError(f"sent no embeddings ({error})", "endpoint") from None
    places = [place if row.index is None else row.index for place, row in enumerate(rows)]
    if sorted(places) != list(range(n_items)):
        raise EndpointError(f"sent {len(rows)} embeddings, numbers {places[:5]}, expected {n_items}", "endpoint")
    widths = sorted({len(row.embedding) for row in rows})
    if len(widths) != 1 or widths[0] == 0:
        raise EndpointError(f"sent embeddings of {widths[:5]} numbers, expected one width", "endpoint")
    table = np.array([rows[at].embedding for at in np.argsort(places)])
    if not (np.abs(table) <= np.finfo(np.float32).max).all():
        raise EndpointError("sent numbers that are not finite, or too large", "endpoint")
    vectors = table.astype(np.float32)
    if not vectors.any(axis=1).all():
        raise EndpointError("sent a vector of zeros, which is like no other", "endpoint")
    return vectors
