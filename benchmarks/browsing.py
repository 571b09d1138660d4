"""The search page and the page of answers: answers, pictures, filters, many tabs, exports, memory.

The film lasts 2 hours (1280 x 720, 24 frames a second, a key frame every 10 s): a minute is rendered, and its packets
are repeated. Its rows are simulated, 512 numbers each at 5 a second, so that no text encoder is timed: an answer is
measured from the sentence's vector on. The page is served on the loopback interface by this process, and asked by a
client in another one.

Run: OMP_NUM_THREADS=1 python benchmarks/browsing.py [--only search|looking|exports] [--rounds 10]
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from pathlib import Path

import av
import httpx
import numpy as np
import uvicorn

from truemoment.base.records import Annotations, Predictions
from truemoment.media.video.files import identity_of
from truemoment.media.video.stamps import FrameTable
from truemoment.searching.encoder_options import EncoderOptions
from truemoment.searching.exporting.formats import export_text
from truemoment.searching.exporting.moments import ExportedFilm, ExportedMoment
from truemoment.searching.exporting.timecodes import time_code_of
from truemoment.searching.index import Index
from truemoment.searching.layout import Settings, default_proposals
from truemoment.searching.writing import IndexWriter, VideoFile
from truemoment.web.browsing.filters import QuerySelection, Tagged, select
from truemoment.web.browsing.looking import AnswerColumns, look_at
from truemoment.web.browsing.looking_routes import Commands
from truemoment.web.browsing.looking_site import open_looking
from truemoment.web.browsing.search_site import open_search
from truemoment.web.pages.launch import Listening, bind
from truemoment.web.pages.security import Application

MINUTES, FPS, KEY_S, SIDE = 120, 24, 10, (720, 1280)
ROWS_A_SECOND, N_DIMENSIONS = 5.0, 512
TOP, TABS = 12, 20
N_QUERIES, N_SYSTEMS, N_ANSWERS = 72_044, 4, 10


class Sentences:
    """Vectors of sentences by their hash: what a text encoder would give, in no time."""

    name, fingerprint, n_dimensions = "simulated", "simulated", N_DIMENSIONS

    def sentences(self, texts: list[str]) -> np.ndarray:
        return np.stack([np.random.default_rng(abs(hash(of)) % 2**32).normal(size=N_DIMENSIONS) for of in texts])


class Simulated(EncoderOptions):
    """A model that is loaded in no time."""

    def encoder_of(self, index: Index) -> Sentences:  # type: ignore[override]  # no film is encoded
        del index
        return Sentences()


def write_film(path: Path) -> None:
    """Render a minute of moving stripes, and repeat its packets for 2 hours."""
    minute = path.with_name("minute.mp4")
    height, width = SIDE
    columns = np.arange(width)
    with av.open(str(minute), "w") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        key = str(FPS * KEY_S)
        stream.codec_context.options = {"preset": "ultrafast", "crf": "28", "bf": "0", "g": key, "keyint_min": key}
        for number in range(60 * FPS):
            line = (np.sin((columns + 7 * number) / 40)[:, None] * 90 + [128, 100 + number % 100, 90]).clip(0, 255)
            frame = av.VideoFrame.from_ndarray(np.broadcast_to(line, (height, width, 3)).astype(np.uint8), "rgb24")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with av.open(str(path), "w", options={"movflags": "faststart"}) as target, av.open(str(minute)) as first:
        copied = target.add_stream_from_template(first.streams.video[0])
        for repeat in range(MINUTES):
            with av.open(str(minute)) as source:
                of = source.streams.video[0]
                for packet in source.demux(of):
                    if packet.pts is None or packet.dts is None or packet.time_base is None:
                        continue
                    shift = round(60 * repeat / packet.time_base)
                    packet.pts, packet.dts, packet.stream = packet.pts + shift, packet.dts + shift, copied
                    target.mux(packet)
    minute.unlink()


def write_index(folder: Path, film: Path) -> Index:
    """Write an index of the film with simulated rows that change slowly, as those of a film do."""
    rng = np.random.default_rng(0)
    n_rows = int(60 * MINUTES * ROWS_A_SECOND)
    shots = np.repeat(rng.normal(size=(n_rows // 20 + 1, N_DIMENSIONS)), 20, axis=0)[:n_rows]
    rows = (shots + 0.3 * rng.normal(size=shots.shape)).astype(np.float32)
    settings = Settings(
        model="simulated",
        encoder="simulated",
        fingerprint="simulated",
        n_dimensions=N_DIMENSIONS,
        fps=ROWS_A_SECOND,
        proposals=default_proposals(ROWS_A_SECOND),
    )
    with IndexWriter(folder, settings) as writer:
        video = VideoFile("film", film, identity_of(film))
        writer.keep_part(video, n_rows, 0, rows)
        writer.finish(video, n_rows, n_rows, n_rows / ROWS_A_SECOND)
    return Index(folder)


@contextlib.contextmanager
def served(app: Application) -> Iterator[str]:
    """Serve an application in this process."""
    sock = bind(Listening())
    config = uvicorn.Config(app, log_level="error", ws="none", http="h11", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([sock],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


def client(base: str, token: str) -> httpx.Client:
    """Return a client that is signed in."""
    found = httpx.Client(base_url=base, timeout=120)
    found.post("/in", json={"token": token}, headers={"Origin": base})
    return found


def timed(work: Callable[[], object]) -> float:
    """Seconds of some work."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def say(what: str, seconds: list[float], target: str) -> None:
    """Print the median and the largest of some times, in milliseconds."""
    ms = 1000 * np.asarray(seconds)
    print(f"{what:<58} {np.median(ms):8.0f} {ms.max():8.0f}   {target}", flush=True)


def ask_search(base: str, token: str, rounds: int) -> None:
    """Ask the search page, in a process of its own."""
    page = client(base, token)
    say("first page", [timed(lambda: page.get("/")) for _ in range(rounds)], "200")
    while not page.get("/api/index").json()["ready"]:
        time.sleep(0.05)
    page.get("/picture/0/1000.jpg")  # the workers are there
    answers, strips, firsts, twelves, again, exact = [], [], [], [], [], []
    inside = []
    with ThreadPoolExecutor(4) as four:
        for number in range(rounds):
            began = time.perf_counter()
            found = page.get("/api/search", params={"q": f"sentence {number}", "top": TOP}).json()
            answers.append(time.perf_counter() - began)
            inside.append(found["ms"]["score"] / 1000)
            addresses = [_picture(of) for of in found["moments"]]
            load = partial(_load, page, four, addresses)
            first, last = load(began)
            firsts.append(first)
            twelves.append(last)
            again.append(answers[-1] + timed(partial(load, 0.0)))
            exact.append(timed(partial(_load, page, four, [f"{of}&exact=1" for of in addresses], 0.0)))
            strips.append(timed(partial(page.get, f"/api/strip/{found['search']}/0")))
    say("answer of a search, from the vector on", inside, "150")
    say("the same with the request", answers, "")
    say("Enter to the first picture, cold cache", firsts, "200")
    say("Enter to all 12 pictures, cold cache", twelves, "300")
    say("Enter to all 12 pictures, cached", again, "180")
    say("exact pictures of 12 moments, in the background", exact, "4,000")
    say("strip of a film", strips, "")
    _many_tabs(base, token)
    _play_while_searching(base, token)


def _load(page: httpx.Client, four: ThreadPoolExecutor, addresses: list[str], began: float) -> tuple[float, float]:
    """Load pictures, four at a time; return when the first and the last were there."""

    def load(address: str) -> float:
        page.get(address).raise_for_status()
        return time.perf_counter() - began

    times = list(four.map(load, addresses))
    return min(times), max(times)


def _picture(of: dict[str, float]) -> str:
    middle, half = round(500 * (of["start_s"] + of["end_s"])), round(500 * (of["end_s"] - of["start_s"]))
    return f"/picture/0/{middle}.jpg?half={half}"


def _many_tabs(base: str, token: str) -> None:
    """Search in 20 tabs at once."""
    pages = [client(base, token) for _ in range(TABS)]

    def ask(number: int) -> tuple[int, float]:
        began = time.perf_counter()
        answer = pages[number].get("/api/search", params={"q": f"tab {number}", "tab": f"t{number}", "n": 1})
        return answer.status_code, time.perf_counter() - began

    with ThreadPoolExecutor(TABS) as all_at_once:
        found = list(all_at_once.map(ask, range(TABS)))
    statuses = {status for status, _ in found}
    say(f"{TABS} tabs at once, statuses {statuses}", [seconds for _, seconds in found], "20 x one search")


def _play_while_searching(base: str, token: str) -> None:
    """Read the film in ranges as a player does, while 20 searches run; the largest gap between two chunks."""
    page, other = client(base, token), client(base, token)
    page.get("/media/0", headers={"Range": "bytes=0-9"})  # the file is known
    stop = threading.Event()

    def search() -> None:
        for number in range(20):
            other.get("/api/search", params={"q": f"meanwhile {number}"})
        stop.set()

    thread = threading.Thread(target=search)
    thread.start()
    gaps, start, size = [], 0, 1 << 20
    while not stop.is_set():
        before = time.perf_counter()
        with page.stream("GET", "/media/0", headers={"Range": f"bytes={start}-{start + size - 1}"}) as answer:
            for _ in answer.iter_raw(1 << 16):
                now = time.perf_counter()
                gaps.append(now - before)
                before = now
        start += size
        time.sleep(0.02)
    thread.join()
    say("gap between chunks of a film during 20 searches", gaps, "200")


def search_page(folder: Path, rounds: int) -> None:
    """Time the search page."""
    film = folder / "film.mp4"
    write_film(film)
    index = write_index(folder / "film.index", film)
    n_spans = len(index.spans("film")[0])
    print(f"film: {film.stat().st_size / 1e6:.0f} MB, {len(index.rows('film')):,} rows, {n_spans:,} candidate moments")
    before = _memory_mb()
    with open_search(index, Simulated(), cache=folder / "cache", collections=folder / "kept") as server:
        began = time.perf_counter()
        with served(server.app) as base:
            print(f"start of the server: {1000 * (time.perf_counter() - began):.0f} ms")
            _in_process(ask_search, base, server.tokens.owner, rounds)
    print(f"memory: {before:.0f} MB before, {_memory_mb():.0f} MB after, without mapped files; target: 300 MB more")


def _in_process(work: Callable[..., None], *arguments: object) -> None:
    process = multiprocessing.get_context("spawn").Process(target=work, args=arguments)
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"the client ended with status {process.exitcode}")


def _memory_mb() -> float:
    """Memory of this process without files that are mapped, MB (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


def answers() -> AnswerColumns:
    """Look at 72,044 queries and 4 systems of 10 answers each."""
    rng = np.random.default_rng(0)
    ids = [f"q{k}" for k in range(N_QUERIES)]
    start = rng.uniform(0, 7000, N_QUERIES)
    verbs = ("opens", "closes", "takes", "walks", "smiles", "turns", "looks", "runs")
    rows = [
        (of, f"film{k % 112}", 7200.0, f"a person {verbs[k % 8]} something {k % 997}", s, s + 4.1)
        for k, (of, s) in enumerate(zip(ids, start.tolist(), strict=True))
    ]
    annotations = Annotations.from_rows(rows, dataset="mad", split="test")
    query_id = annotations.queries.query_id
    offsets = np.arange(N_QUERIES + 1) * N_ANSWERS
    systems = []
    for number in range(N_SYSTEMS):
        first = np.repeat(start, N_ANSWERS) + rng.normal(0, 40, N_QUERIES * N_ANSWERS)
        first = np.abs(first)
        score = np.sort(rng.random((N_QUERIES, N_ANSWERS)), axis=1)[:, ::-1].ravel()
        of = Predictions(query_id, offsets, first, first + rng.uniform(1, 8, len(first)), score, name=f"s{number}")
        systems.append((f"s{number}", of))
    began = time.perf_counter()
    found = look_at(systems, annotations, floors="none")
    _ = found.place, found.contains("a"), found.agreement, found.verb_numbers, found.n_words
    print(f"columns of {N_QUERIES:,} queries and {N_SYSTEMS} systems: {time.perf_counter() - began:.1f} s   20 s")
    return found


FILTERS: tuple[dict[str, str], ...] = (
    {},
    {"kind": "wrong place"},
    {"kind": "shifted,too long", "sort": "-offset"},
    {"words": "opens something"},
    {"verb": "walk"},
    {"wrong": "0", "right": "1", "sort": "-loss"},
    {"length": "2..6", "iou": "..0.2", "system": "2"},
    {"hidden": "1", "offset": "1000"},
)


def ask_looking(base: str, token: str, rounds: int) -> None:
    """Ask the page of answers, in a process of its own."""
    page = client(base, token)
    for query in FILTERS:
        total = page.get("/api/queries", params=query).json()["total"]
        spent = [timed(partial(page.get, "/api/queries", params=query)) for _ in range(rounds)]
        say(f"request {query or 'all'}: {total:,}", spent, "100")
    say("query to query", [timed(partial(page.get, f"/api/query/{k}")) for k in range(0, 5000, 100)], "300")


def looking_page(folder: Path, rounds: int) -> None:
    """Time the page of answers."""
    found = answers()
    none = Tagged(np.zeros(found.n_queries, bool), {})
    say(
        "a filter by kind, without a request",
        [timed(lambda: select(found, QuerySelection(kinds=(4,)), none)) for _ in range(rounds)],
        "100",
    )
    commands = Commands((), (), ())
    with (
        open_looking(found, cache=folder / "cache", notes=folder / "n.jsonl", commands=commands) as server,
        served(server.app) as base,
    ):
        _in_process(ask_looking, base, server.tokens.owner, rounds)
    print(f"memory: {_memory_mb():.0f} MB, without mapped files")


def exports() -> None:
    """Time exports of 1,000 moments."""
    rate = Fraction(24000, 1001)
    table = FrameTable(1 / Fraction(24000), 1001 * np.arange(200_000), 1001 * 200_000)
    film = ExportedFilm("film", Path("/films/film.mp4"), table, rate, time_code_of(rate))
    moments = [ExportedMoment(film, 100 * k, 100 * k + 49, f"a door opens {k}", 0.5) for k in range(1000)]
    for ending in (".otio", ".edl", ".xml", ".fcpxml", ".csv"):
        export_text(moments[:2], ending)
        say(f"1,000 moments as {ending}", [timed(partial(export_text, moments, ending)) for _ in range(3)], "1,000")


def main() -> None:
    """Time all parts, or one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["search", "looking", "exports"])
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    print(f"{'milliseconds':<58} {'median':>8} {'most':>8}   target")
    with tempfile.TemporaryDirectory() as folder:
        if options.only in (None, "search"):
            search_page(Path(folder), options.rounds)
        if options.only in (None, "looking"):
            looking_page(Path(folder), options.rounds)
    if options.only in (None, "exports"):
        exports()


if __name__ == "__main__":
    main()
