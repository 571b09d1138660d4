"""A search of an index that several machines share: each is asked, and the answers are merged.

A machine that does not answer in time is named in the answer, never passed over in silence.
"""

from __future__ import annotations

import http.client
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import msgspec

from truemoment.base.errors import InputError, UsageError
from truemoment.media.features.base import Frames
from truemoment.searching.layout import Settings
from truemoment.searching.outstanding import Background
from truemoment.searching.searcher import RankingOptions
from truemoment.searching.serving import JSON_TYPE, MOST_BYTES, ShardAbout, ShardAnswers, ShardRequest
from truemoment.searching.sharding import MOST_SHARDS, IndexShard, merged, refuse_gaps
from truemoment.searching.stopping import RetrievedMoments
from truemoment.searching.unknown_words import ALL_KNOWN, UnknownWords

MOST_ANSWER_BYTES = 64 << 20


@dataclass(frozen=True)
class ShardAddress:
    """Where a shard answers.

    Parameters
    ----------
    host, port
        Of the machine.

    Examples
    --------
    >>> [str(address) for address in ShardAddress.read_all("10.0.0.3:8765, localhost:8766")]
    ['10.0.0.3:8765', 'localhost:8766']
    """

    host: str
    port: int

    @classmethod
    def read_all(cls, text: str) -> tuple[ShardAddress, ...]:
        """Read "HOST:PORT,HOST:PORT"."""
        found = []
        for word in text.split(","):
            host, _, port = word.strip().rpartition(":")
            if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
                raise UsageError(f"--shards: got {word.strip()!r}, expected HOST:PORT,HOST:PORT,...")
            found.append(cls(host, int(port)))
        if len(set(found)) < len(found) or len(found) > MOST_SHARDS:
            raise UsageError(f"--shards: expected different addresses, up to {MOST_SHARDS:,}")
        return tuple(found)

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    def get(self, path: str, body: bytes | None, wait_s: float) -> bytes:
        """Return what the machine answers.

        Raises
        ------
        OSError, http.client.HTTPException
            If there is no answer in time.
        InputError
            If the answer is an error or too long.
        """
        connection = http.client.HTTPConnection(self.host.strip("[]"), self.port, timeout=wait_s)
        try:
            connection.connect()
            # In numbers, also where the address is a name: a shard refuses names, which web pages could use.
            headers = {"Host": _numbers_of(connection)} | ({} if body is None else {"Content-Type": JSON_TYPE})
            connection.request("GET" if body is None else "POST", path, body, headers)
            answer = connection.getresponse()
            content = answer.read(MOST_ANSWER_BYTES + 1)
        finally:
            connection.close()
        if len(content) > MOST_ANSWER_BYTES:
            raise InputError(f"shard {self}: answers more than {MOST_ANSWER_BYTES:,} bytes")
        if answer.status != 200:
            raise InputError(f"shard {self}: answers {answer.status}: {content[:200].decode('utf-8', 'replace')}")
        return content


def _numbers_of(connection: http.client.HTTPConnection) -> str:
    """Return the address of the other side of a connection, as the Host of a request."""
    host, port = connection.sock.getpeername()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@dataclass(frozen=True)
class SharedAnswer:
    """Moments of a sentence, the addresses of the shards that did not answer, and the words that are not known."""

    found: RetrievedMoments
    silent: tuple[str, ...] = ()
    unknown: UnknownWords = ALL_KNOWN


class SharedIndex:
    """An index that several machines share.

    Parameters
    ----------
    addresses
        Of the machines.
    settings
        How the index was made; machines with another one are refused.
    wait_s
        How long a machine may take.
    """

    def __init__(self, addresses: Sequence[ShardAddress], settings: Settings, wait_s: float) -> None:
        if not (math.isfinite(wait_s) and wait_s > 0):
            raise UsageError(f"--wait-s: got {wait_s:g}, expected seconds above 0")
        self.addresses, self.settings, self.wait_s = tuple(addresses), settings, wait_s

    def find(self, vectors: Frames, around: Sequence[Background], ranking: RankingOptions) -> list[SharedAnswer]:
        """Return the best moments of each sentence (S, D) over all shards.

        Parameters
        ----------
        vectors
            Of the sentences.
        around
            Background of each sentence in the whole index, so that the scores of all shards are comparable.
        ranking
            How moments are ranked.
        """
        request = ShardRequest(
            vectors=[[float(number) for number in vector] for vector in vectors],
            backgrounds=list(around),
            top=ranking.top,
            apart_s=ranking.apart_s,
            exact=ranking.exact,
            candidates=ranking.candidates,
            per_video=ranking.per_video,
        )
        body = msgspec.json.encode(request)
        if len(body) > MOST_BYTES:
            raise UsageError(
                f"got sentences of {len(body):,} bytes, expected {MOST_BYTES:,} at most: ask fewer at once"
            )
        with ThreadPoolExecutor(min(len(self.addresses), 64)) as pool:
            answers = list(pool.map(lambda address: self._ask(address, body, len(vectors)), self.addresses))
        silent = tuple(str(of) for of, answer in zip(self.addresses, answers, strict=True) if answer is None)
        there = [answer for answer in answers if answer is not None]
        refuse_gaps([shard for shard, _ in there], len(silent))
        if not there:
            raise InputError(f"--shards: no shard answers: {', '.join(silent)}")
        return [
            SharedAnswer(merged([found[row] for _, found in there], ranking.top), silent) for row in range(len(vectors))
        ]

    def _ask(
        self, address: ShardAddress, body: bytes, n_sentences: int
    ) -> tuple[IndexShard, list[RetrievedMoments]] | None:
        """Return what a shard is and answers; None if it does not answer."""
        try:
            about = address.get("/about", None, self.wait_s)
            shard = self._checked(address, about)
            content = address.get("/search", body, self.wait_s)
        except (OSError, http.client.HTTPException):
            return None
        try:
            answers = msgspec.json.decode(content, type=ShardAnswers).answers
        except (msgspec.DecodeError, RecursionError) as error:
            raise InputError(f"shard {address}: answers something else than moments ({error})") from None
        if len(answers) != n_sentences:
            problem = f"{len(answers)} answers to {n_sentences} sentences"
            raise InputError(f"shard {address}: answers something else than moments ({problem})")
        found = [RetrievedMoments(one.moments, one.n_videos, one.ended_by) for one in answers]
        if not all(math.isfinite(number) for of in found for moment in of.moments for number in moment[1:]):
            raise InputError(f"shard {address}: answers numbers that are not finite")
        return shard, found

    def _checked(self, address: ShardAddress, content: bytes) -> IndexShard:
        """Return which shard a machine has; refuse one of another index."""
        try:
            about = msgspec.json.decode(content, type=ShardAbout)
            shard = IndexShard.read(about.shard)
        except (msgspec.DecodeError, RecursionError, UsageError) as error:
            raise InputError(f"shard {address}: is no shard of an index ({error})") from None
        delta = self.settings.calibration.delta if self.settings.calibration else None
        for name, theirs, ours in (
            ("fingerprint", about.fingerprint, self.settings.fingerprint),
            ("n_dimensions", about.n_dimensions, self.settings.n_dimensions),
            ("fps", about.fps, self.settings.fps),
            ("proposals", about.proposals, self.settings.proposals),
            ("calibration", about.delta, delta),
        ):
            if theirs != ours:
                raise InputError(f"shard {address}: found {theirs}, expected {ours} as in the index", field=name)
        return shard
