"""Searching what is said: 1,200 hours of invented speech, 10 million words, beside SQLite's FTS5.

Words are drawn by Zipf's law with Mandelbrot's shift of 2.7 from a vocabulary of 80,000, in sentences of 12 words on
average; 600 videos have two hours each. Queries are one frequent word, one rare word, and five words of which two are
among the ten most frequent, as a sentence that is typed has. A query is timed from its text to five quoted passages,
with the index open. FTS5 has the same passages in one table without their text, and its own BM25.

Run: OMP_NUM_THREADS=1 python benchmarks/said.py [--words 10000000] [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import contextlib
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from truemoment.searching.index import Index
from truemoment.searching.layout import SAID, VIDEOS, Settings, default_proposals, folder_name
from truemoment.searching.request import APART_S
from truemoment.searching.speech import Speech, index_speech, read_words, write_passages
from truemoment.searching.spoken_words import spoken_words
from truemoment.searching.writing import IndexWriter, VideoFile

N_VIDEOS, DURATION_S = 600, 7200.0
VOCABULARY, SHIFT, SENTENCE_WORDS = 80_000, 2.7, 12
WORD_S, PAUSE_S = 0.3, 1.2
N_QUERIES, TOP = 20, 5


def write_index(folder: Path, n_words: int, rng: np.random.Generator) -> list[VideoFile]:
    """Write an index of videos of one row each, and a transcript with the times of words beside each (CTM)."""
    share = 1 / (np.arange(1, VOCABULARY + 1) + SHIFT)
    settings = Settings(
        model="invented",
        encoder="invented",
        fingerprint="invented",
        n_dimensions=1,
        fps=1.0,
        proposals=default_proposals(1.0),
    )
    videos = [VideoFile(f"v{k:03}", folder / f"v{k:03}.mp4", f"{k}:0") for k in range(N_VIDEOS)]
    with IndexWriter(folder / "index", settings) as writer:
        for video in videos:
            writer.keep_part(video, 1, 0, np.ones((1, 1)))
            writer.finish(video, 1, 1, DURATION_S)
            words = rng.choice(VOCABULARY, size=n_words // N_VIDEOS, p=share / share.sum())
            pauses = np.where(rng.random(len(words)) < 1 / SENTENCE_WORDS, PAUSE_S, 0.0)
            starts = np.cumsum(WORD_S + pauses)
            lines = (f"v 1 {start:.2f} {WORD_S} w{word}" for start, word in zip(starts, words, strict=True))
            video.path.with_suffix(".ctm").write_text("\n".join(lines), encoding="utf-8")
    return videos


def queries(n_words: Sequence[int], rng: np.random.Generator) -> list[str]:
    """Draw queries: a word of each of these ranks, twice as frequent or half as frequent at most."""
    return [" ".join(f"w{int(rank * 2 ** rng.uniform(-1, 1))}" for rank in n_words) for _ in range(N_QUERIES)]


def median_ms(work: Callable[[str], object], texts: Sequence[str]) -> str:
    """Return the median and the largest processor time of a query, after one that is not counted."""
    work(texts[0])
    spent = []
    for text in texts:
        began = time.thread_time()
        work(text)
        spent.append(1000 * (time.thread_time() - began))
    return f"{np.median(spent):.0f} ms, most {max(spent):.0f}"


def passages_of(index: Index) -> Iterator[list[str]]:
    """Yield the words of each passage."""
    for name in index:
        spoken = read_words(index.folder / VIDEOS / folder_name(name))
        assert spoken is not None  # noqa: S101 - all have words
        for number in range(spoken.about.n_passages):
            yield spoken_words(" ".join(spoken.words[spoken.passage(number)]))


def fts5(index: Index, file: Path) -> sqlite3.Connection:
    """Put the same passages into a table of FTS5."""
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("CREATE VIRTUAL TABLE said USING fts5(words, content='')")
    rows = ((number, " ".join(words)) for number, words in enumerate(passages_of(index)))
    connection.executemany("INSERT INTO said(rowid, words) VALUES (?, ?)", rows)
    connection.execute("INSERT INTO said(said) VALUES ('optimize')")
    connection.commit()
    return connection


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        rng = np.random.default_rng(0)
        videos = write_index(folder, options.words, rng)
        began = time.process_time()
        report = index_speech(folder / "index", videos)
        print(f"reading {report.n_words:,} words of {len(videos)} transcripts: {time.process_time() - began:.0f} s")
        index, began = Index(folder / "index"), time.process_time()
        write_passages(index)
        print(f"writing the passages: {time.process_time() - began:.0f} s")
        of_videos = sum(file.stat().st_size for file in index.path.glob(f"{VIDEOS}/*/{SAID}"))
        print(
            f"{(index.path / SAID).stat().st_size / 1e6:.0f} MB, and {of_videos / 1e6:.0f} MB in the folders of videos"
        )
        began = time.process_time()
        speech = Speech(index)
        print(f"opening {len(speech.passages.lengths):,} passages: {time.process_time() - began:.2f} s")
        began = time.process_time()
        table = fts5(index, folder / "fts5.sqlite")
        print(f"FTS5: {time.process_time() - began:.0f} s, {(folder / 'fts5.sqlite').stat().st_size / 1e6:.0f} MB")
        best = "SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank LIMIT 20"
        for what, ranks in (
            ("one frequent word", (2,)),
            ("one rare word", (10_000,)),
            ("five words", (2, 5, 100, 1000, 5000)),
            ("ten frequent words", (1, 2, 3, 4, 5, 6, 8, 10, 15, 20)),
        ):
            texts = queries(ranks, rng)
            ours = median_ms(lambda text: speech.quoted(speech.find(text, TOP, APART_S), text), texts)
            theirs = median_ms(lambda text: table.execute(best, (" OR ".join(text.split()),)).fetchall(), texts)
            print(f"{what}: {ours}; FTS5 {theirs}")


if __name__ == "__main__":
    main()
