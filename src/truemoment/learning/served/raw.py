"""Raw answers on disk: one line for each query, never changed, so that they can be read again and a run can be resumed.

::

    {"truemoment_answers": 1, "version": "0.2.0", "dataset": "own", "split": "test", "made_by": {"model": ...}}
    {"key": "...", "query_id": "v#0", "video_id": "v", "sentence": "a door opens", "duration_s": 30.0,
     "answer": "2.5 - 7.0", "finish_reason": "stop", "usage": {"prompt_tokens": 900, "completion_tokens": 6},
     "took_s": 0.8, "asked_at": "2026-01-31T12:00:00+00:00"}

The first line has the settings of all requests; all answers of a file have one setting. Lines are
written whole and at once. A last line that a kill cut off is dropped when the file is opened again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import msgspec

from truemoment.base.boundary.files import decode_json, refuse_repeated_keys
from truemoment.base.boundary.folders import lock
from truemoment.base.boundary.inputs import updating
from truemoment.base.boundary.own_path import AnyPath, open_regular
from truemoment.base.errors import InputError
from truemoment.base.version import __version__

FORMAT_VERSION = 1

INFORMATIVE = ("endpoint",)
"""Settings that do not decide answers: a server may move."""


class RawHeader(msgspec.Struct):
    """The first line: the settings of the requests."""

    truemoment_answers: int
    made_by: dict[str, Any]
    version: str = ""
    dataset: str | None = None
    split: str | None = None


class Usage(msgspec.Struct, frozen=True):
    """Tokens, as the endpoint counts them; None where it does not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class RawAnswer(msgspec.Struct, frozen=True):
    """An answer, unchanged, with its tokens and times.

    Parameters
    ----------
    key
        Hash of everything that decides the answer; :func:`key_of` makes it.
    duration_s
        Duration in the prompt, seconds.
    asked_at
        When, in UTC.
    """

    key: str
    query_id: str
    video_id: str
    sentence: str
    duration_s: float
    answer: str
    finish_reason: str | None = None
    usage: Usage = Usage()
    took_s: float = 0.0
    asked_at: str = ""


def key_of(settings: Mapping[str, Any], video: str | None, sentence: str, duration_s: float | None) -> str:
    """Return the hash of everything that decides an answer.

    `video` is the identity of the video's file, None if no frames are shown; `duration_s` is None if the prompt has
    that of the file.
    """
    deciding = {name: value for name, value in settings.items() if name not in INFORMATIVE}
    text = msgspec.json.encode([deciding, video, sentence, duration_s], order="sorted")
    return hashlib.sha256(text).hexdigest()


class RawAnswers:
    """A file of raw answers that is open for more; no other process may have it open.

    It is made if it does not exist. An InputError means that it cannot be read or written, is being written, is no such
    file, or was made by other `settings`. `dropped_bytes` is the length of a last line that was cut off.
    """

    def __init__(
        self, path: AnyPath, settings: Mapping[str, Any], *, dataset: str | None = None, split: str | None = None
    ) -> None:
        self.path = path
        self.settings = dict(settings)
        self.answers: dict[str, RawAnswer] = {}
        self.dropped_bytes = 0
        if path.exists() and not path.is_file():
            raise InputError("is no file, expected one to write to", path=path)
        try:
            self._stream = open_regular(updating(path), "a+b")
        except OSError as error:
            raise InputError(f"cannot be written ({error.strerror or error})", path=path) from None
        try:
            self._keep_others_out()
            if not self._read():
                header = RawHeader(FORMAT_VERSION, self.settings, __version__, dataset, split)
                self._write(msgspec.json.encode(header))
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> RawAnswers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.answers)

    def close(self) -> None:
        """Close the file and release its lock."""
        self._stream.close()

    def find(self, query_id: str, key: str) -> RawAnswer | None:
        """Return the answer to a query, None if it was not asked."""
        answer = self.answers.get(query_id)
        if answer is not None and answer.key != key:
            raise InputError(
                f"has an answer to {query_id!r} for another sentence, duration or video file",
                path=self.path,
                hint="give another file with --raw",
            )
        return answer

    def add(self, answer: RawAnswer) -> None:
        """Write an answer, whole and at once."""
        self._write(msgspec.json.encode(answer))
        self.answers[answer.query_id] = answer

    def _keep_others_out(self) -> None:
        """Lock the file while it is open; a kill releases the lock."""
        try:
            lock(self._stream.fileno(), wait=False)
        except BlockingIOError:
            raise InputError(
                "is being written by another process", path=self.path, hint="wait for it, or give another --raw"
            ) from None

    def _write(self, line: bytes) -> None:
        try:
            written = self._stream.write(line + b"\n")
            if written != len(line) + 1:
                raise InputError("cannot be written (the disk is full?)", path=self.path)
        except OSError as error:
            raise InputError(f"cannot be written ({error.strerror or error})", path=self.path) from None

    def _read(self) -> bool:
        try:
            self._stream.seek(0)
            data = self._stream.read()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                self._refuse_strangers(data)
                self.dropped_bytes = len(data) - whole
                self._stream.truncate(whole)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", path=self.path) from None
        lines = data[:whole].split(b"\n")[:-1]
        if not lines:
            return False
        self._refuse_strangers(data)
        self._check(decode_json(lines[0], RawHeader, path=self.path))
        for number, line in enumerate(lines[1:], start=2):
            refuse_repeated_keys(line, self.path, number)
            answer = decode_json(line, RawAnswer, path=self.path, line=number)
            if answer.query_id in self.answers:
                raise InputError(f"{answer.query_id!r} occurs twice", path=self.path, line=number, field="query_id")
            self.answers[answer.query_id] = answer
        return True

    def _refuse_strangers(self, data: bytes) -> None:
        """Refuse a file that contains no raw answers, before its last line is cut off."""
        begin = b'{"truemoment_answers":'
        if data[: len(begin)] != begin[: len(data)]:
            raise InputError("exists and contains no raw answers", path=self.path, hint="give another --raw")

    def _check(self, header: RawHeader) -> None:
        if header.truemoment_answers != FORMAT_VERSION:
            came = f"got version {header.truemoment_answers}, expected {FORMAT_VERSION}"
            raise InputError(came, path=self.path, line=1, field="truemoment_answers")
        ours = msgspec.json.decode(msgspec.json.encode(self.settings))
        names = [name for name in {**ours, **header.made_by} if name not in INFORMATIVE]
        differing = [name for name in names if ours.get(name) != header.made_by.get(name)]
        if differing:
            raise InputError(
                f"contains answers by another setting ({', '.join(differing)})",
                path=self.path,
                line=1,
                hint="give another file with --raw, or the same settings",
            )


def utc_now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
