"""A collection of MAD's number of films, in all stages: made, collected, split, indexed, searched.

Each film is a minute and a half long: a track must have a minute of sound, also where it lacks a scene.

Films and described tracks are simulated (truemoment.worlds.described), with one damage each by lot: none, a late or an
early start, a cut, an insertion, another speed with the pitch kept or not, a narrow band with a compressor, noise, MP3
at 32 kbit/s, late subtitles, and, one in twelve, the track of another film, which must be refused.

The collection is made by the command line twice: by `local`, killed at a third and at two thirds of the films and
given the same command again, and by `ray` in one go. Both must be the same to the byte. Then it is compared with what
is known of each film, split by film, its films are indexed with `scenes`, and every sentence is searched.

Sentences of tracks whose speed differs and whose pitch is kept are counted apart: on the film's clock their voices are
4 % higher, which a recogniser of speech hears as well, and the one of tones does not hear at all.

Run: python benchmarks/collect_scale.py --folder FOLDER [--films 650] [--workers 2]    the folder keeps the films
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from truemoment.base.boundary.distribution import JobRunner, begin_worker, distribute
from truemoment.collection import layout
from truemoment.collection.layout import films_in
from truemoment.collection.scoring import score_alignment, score_sentences
from truemoment.media.audio.alignment import read_alignment
from truemoment.searching.encoder_options import EncoderOptions
from truemoment.searching.request import RankingOptions
from truemoment.searching.session import SearchTarget, open_session
from truemoment.worlds.described.damage import Damage
from truemoment.worlds.described.film import DescribedSettings, make_described, read_truth
from truemoment.worlds.described.subtitles import CueDamage

LOTS = (
    Damage(),
    Damage(offset_s=11.3),
    Damage(offset_s=-2.5),
    Damage(cuts=((22.0, 12.0),)),
    Damage(insertions=((31.0, 9.0),)),
    Damage(rate=25 / 24),
    Damage(rate=25 / 24, stretched=True),
    Damage(band_hz=(300.0, 3400.0), compression=4.0),
    Damage(noise_db=-20.0),
    Damage(codec="mp3", bitrate=32_000, gain_db=-6.0),
    Damage(),  # with late subtitles
    Damage(),  # with the track of the film before
)
STRETCHED, LATE_CUES, OTHER_TRACK = 6, 10, 11
MINUTES, FPS = 1.5, 8
SHARES = "0.7508,0.0769,0.1723"
"""488, 50 and 112 of 650, as in MAD."""


@dataclass(frozen=True)
class Timed:
    """A film that was made, and the processor time it took."""

    number: int
    seconds: float


def make_film(number: int, folder: Path) -> Timed:
    """Make a film with its damage."""
    out, began = folder / f"film{number:03}", time.process_time()
    if not (out / "truth.json").exists():
        lot = number % len(LOTS)
        cues = CueDamage(delay_s=1.5 if lot == LATE_CUES else 0.0)
        make_described(out, MINUTES, number, DescribedSettings(fps=FPS, damage=LOTS[lot], cues=cues))
    return Timed(number, time.process_time() - began)


def _given_up(number: int, times: int) -> Timed:
    raise RuntimeError(f"film {number} ended its worker {times} times")


def make_films(folder: Path, n_films: int, workers: int) -> Path:
    """Make all films and a list of them."""
    work = JobRunner(partial(make_film, folder=folder), begin_worker, _given_up, "nothing")
    began = time.perf_counter()
    spent = [of.seconds for of in distribute("local", iter(range(n_films)), work, workers)]
    lines = []
    for number in range(n_films):
        truth = read_truth(folder / f"film{number:03}")
        other = number % len(LOTS) == OTHER_TRACK
        track = read_truth(folder / f"film{number - 1:03}").track if other else truth.track
        entry = {"film": str(truth.film), "described": str(track), "subtitles": str(truth.subtitles)}
        lines.append(json.dumps(entry | {"name": f"film{number:03}"}) + "\n")
    (folder / "films.jsonl").write_text("".join(lines))
    clock = time.perf_counter() - began
    print(
        f"made {n_films} films: {sum(spent) / n_films:.1f} s of one core a film, {clock:.0f} s by the clock", flush=True
    )
    return folder / "films.jsonl"


def command(listed: Path, out: Path, engine: str, workers: int) -> list[str]:
    """Return the command that collects."""
    words = ["collect", "run", "--list", str(listed), "--speech", "tones", "-o", str(out), "--quiet"]
    return [sys.executable, "-m", "truemoment", *words, "--engine", engine, "--workers", str(workers)]


def done(out: Path) -> int:
    """Return how many films are finished."""
    return len(list((out / layout.FILMS).glob("*"))) if (out / layout.FILMS).is_dir() else 0


def collect(words: list[str], out: Path, kill_at: list[int]) -> None:
    """Collect; the process and its workers are killed when so many films are done, and the same command goes on."""
    clock, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    for limit in [*kill_at, None]:
        process = subprocess.Popen(words, start_new_session=True)
        while process.poll() is None:
            time.sleep(0.2)
            if limit is not None and done(out) >= limit:
                os.killpg(process.pid, signal.SIGKILL)
        print(f"  {done(out)} films done, {'killed' if limit is not None else 'ended'}", flush=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    clock = time.perf_counter() - clock
    print(f"  {clock:.0f} s by the clock; processor time of what was not killed {used:.0f} s", flush=True)


def contents(out: Path) -> dict[str, bytes]:
    """Return all files of a collection."""
    return {str(file.relative_to(out)): file.read_bytes() for file in sorted(out.rglob("*")) if file.is_file()}


def compare(folder: Path, out: Path, n_films: int) -> None:
    """Print what became of each film, and how far it is from the truth."""
    found = {film.report.name: film for film in films_in(out)}
    verdicts: Counter[str] = Counter()
    errors, n_true, n_matched, n_kept, n_dialogue, n_unheard, wrong = [], 0, 0, 0, 0, 0, []
    for number in range(n_films):
        name, other = f"film{number:03}", number % len(LOTS) == OTHER_TRACK
        if name not in found:
            wrong.append(f"{name} is missing")
            continue
        film, truth = found[name], read_truth(folder / name)
        refused = bool(film.report.discarded)
        verdicts["refused" if refused else film.report.verdict] += 1
        if refused != other:
            wrong.append(f"{name} (damage {number % len(LOTS)}): {film.report.discarded or 'kept'}")
        if refused or other:
            continue
        errors.append(score_alignment(read_alignment(film.folder / layout.ALIGNMENT), truth).error_s)
        score = score_sentences([of for of in film.sentences() if of.kept], truth)
        if number % len(LOTS) == STRETCHED:
            n_unheard += score.n_true - score.n_matched
            continue
        n_true, n_matched, n_kept = n_true + score.n_true, n_matched + score.n_matched, n_kept + score.n_kept
        n_dialogue += score.n_dialogue
    told = ", ".join(f"{verdict} {count}" for verdict, count in sorted(verdicts.items()))
    near = np.mean(np.array(errors) <= 0.02)
    print(f"accounted for: {sum(verdicts.values())} of {n_films} films: {told}; not as expected: {wrong or 'none'}")
    print(f"alignment within 20 ms for {100 * near:.1f} % of {len(errors)} films (largest {1e3 * max(errors):.0f} ms)")
    print(
        f"sentences: recall {n_matched / n_true:.3f} of {n_true}, precision {n_matched / n_kept:.3f} of {n_kept}, in "
        f"dialogue {n_dialogue}; {n_unheard} more of stretched tracks, which `tones` does not hear",
        flush=True,
    )


def run(*words: str | Path) -> str:
    """Run a command and return what it prints."""
    arguments = [sys.executable, "-m", "truemoment", *map(str, words)]
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


def split_and_search(folder: Path, out: Path, workers: int) -> None:
    """Split the films, index them with `scenes`, and search every collected sentence."""
    print(run("collect", "splits", out, "--splits", SHARES, "--no-compare"), flush=True)
    films = sorted(folder.glob("film*/film.mp4"))
    began = time.perf_counter()
    options = ("--model", "scenes", "--workers", str(workers), "--quiet")
    run("index", *films, "-o", folder / "films.index", *options)
    print(f"indexed {len(films)} films with scenes at 2 a second: {time.perf_counter() - began:.0f} s", flush=True)
    sentences = [
        of.sentence for film in films_in(out) if not film.report.discarded for of in film.sentences() if of.kept
    ]
    spent = []
    with open_session(SearchTarget(folder / "films.index", EncoderOptions()), RankingOptions()) as session:
        session.load()
        for sentence in sentences:
            began = time.perf_counter()
            session.find(sentence)
            spent.append(time.perf_counter() - began)
    print(f"searched {len(sentences)} sentences: {1e3 * np.median(spent):.0f} ms a sentence (median)", flush=True)


def main() -> None:
    """Print what each stage took and came to."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--folder", type=Path, required=True)
    arguments.add_argument("--films", type=int, default=650)
    arguments.add_argument("--workers", type=int, default=2)
    asked = arguments.parse_args()
    folder, n_films = asked.folder.resolve(), asked.films
    folder.mkdir(parents=True, exist_ok=True)
    listed = make_films(folder, n_films, asked.workers)
    outs = {engine: folder / f"collected-{engine}" for engine in ("local", "ray")}
    for engine, out in outs.items():
        shutil.rmtree(out, ignore_errors=True)
        print(f"collecting by {engine}, {asked.workers} workers", flush=True)
        kills = [n_films // 3, 2 * n_films // 3] if engine == "local" else []
        collect(command(listed, out, engine, asked.workers), out, kills)
    one, other = (contents(out) for out in outs.values())
    differ = [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]
    told = "the same to the byte" if not differ else f"NOT the same: {differ[:3]}"
    print(f"{len(one)} files; both collections are {told}", flush=True)
    compare(folder, outs["local"], n_films)
    split_and_search(folder, outs["local"], asked.workers)


if __name__ == "__main__":
    main()
