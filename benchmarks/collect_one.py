"""One film of 117 minutes collected: seconds and memory of every stage.

The film is simulated (truemoment.worlds.described), without a picture, with a track that starts late, leaves out three
scenes and adds one. By default its voices are tones, and `tones` hears them, so that what is timed is all but hearing.
Where espeak-ng and a model are, `--voices espeak --speech whisper:FOLDER` also times hearing.

Run: OMP_NUM_THREADS=2 python benchmarks/collect_one.py --folder FOLDER [--minutes 117] [--voices V] [--speech S]
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import shutil
import time
from pathlib import Path

from truemoment.collection.demo import score_film
from truemoment.collection.layout import CollectSettings, films_in
from truemoment.collection.pipeline import CollectRecipe, collect_films
from truemoment.collection.tasks import make_task
from truemoment.worlds.described.damage import Damage
from truemoment.worlds.described.film import DescribedSettings, make_described, read_truth


def make(folder: Path, minutes: float, voices: str) -> None:
    """Make the film where it is not there."""
    if (folder / "truth.json").exists():
        return
    s = 60 * minutes
    cuts = ((0.2 * s, 60.0), (0.45 * s, 10.5), (0.8 * s, 100.0))
    damage = Damage(offset_s=37.5, cuts=cuts, insertions=((0.6 * s, 90.0),))
    began = time.process_time()
    make_described(folder, minutes, 0, DescribedSettings(voices=voices, pictures=False, damage=damage))
    print(f"making the film: {time.process_time() - began:.0f} s", flush=True)


def main() -> None:
    """Print seconds of each stage, memory, and how good the outcome is."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--folder", type=Path, required=True)
    arguments.add_argument("--minutes", type=float, default=117.0)
    arguments.add_argument("--voices", default="tones")
    arguments.add_argument("--speech", default="tones")
    asked = arguments.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    make(asked.folder / "film", asked.minutes, asked.voices)
    truth, out = read_truth(asked.folder / "film"), asked.folder / "collected"
    shutil.rmtree(out, ignore_errors=True)
    marks: list[tuple[str, float, float]] = []

    def on_status(name: str, what: str) -> None:
        del name
        marks.append((what, time.perf_counter(), time.process_time()))

    recipe = CollectRecipe(CollectSettings(), asked.speech, None, out)
    collect_films([make_task(str(truth.film), str(truth.track), truth.subtitles)], recipe, on_status=on_status)
    marks.append(("", time.perf_counter(), time.process_time()))
    stages = {}
    for (what, clock, used), (_, clock_after, used_after) in itertools.pairwise(marks):
        stages[what] = round(used_after - used, 1)
        print(f"  {what:28s} {used_after - used:7.1f} s of the processor, {clock_after - clock:7.1f} s by the clock")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"memory {most:.2f} GB at most, of which the film was made with some, if it was made now")
    found = score_film(films_in(out)[0], truth, recipe)
    failed = [name for name, holds in found.passed.items() if not holds]
    off, score = 1e3 * found.aligned.error_s, found.score
    print(f"{found.aligned.n_pieces} of {found.aligned.n_true_pieces} pieces, off by {off:.0f} ms; recall", end=" ")
    print(f"{score.recall:.3f}, precision {score.precision:.3f}; not passed: {failed or 'none'}")
    print(json.dumps(stages))


if __name__ == "__main__":
    main()
