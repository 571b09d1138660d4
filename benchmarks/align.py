"""Time and memory of aligning a film of 120 minutes with its described track, from AAC files of 48 kHz stereo.

The simulated film has no picture. Its track leaves out three scenes, adds one, and starts late. Time is wall clock, and
processor time of the process that aligns; memory is its largest resident size.

Run: python benchmarks/align.py [MINUTES] [FOLDER]    the folder keeps the files for another run
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from itertools import chain
from pathlib import Path

import av

from truemoment.worlds.described.damage import Damage
from truemoment.worlds.described.film import DescribedSettings, make_described, read_truth

ALIGN = """
import resource, sys, time
from itertools import chain
from pathlib import Path
from truemoment.media.audio.aligning import align
from truemoment.media.audio.sources import Source
start = time.perf_counter()
steps = []
film, track = (Source(Path(name)) for name in sys.argv[1:3])
found = align(film, track, on_status=lambda what: steps.append((what, time.perf_counter())))
end = time.perf_counter()
found.write(Path(sys.argv[3]))
for (what, began), after in zip(steps, [at for _, at in steps[1:]] + [end]):
    print(f"  {what:32s} {after - began:6.1f} s")
used = resource.getrusage(resource.RUSAGE_SELF)
cpu = used.ru_utime + used.ru_stime
print(f"{end - start:.1f} s by the clock, {cpu:.1f} s of the processor, {used.ru_maxrss / 2**20:.2f} GiB at most")
"""


def main() -> None:
    """Make the files where they are missing, align them, and print figures."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 120.0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[2] if len(sys.argv) > 2 else temporary)
        names = [folder / name for name in ("film48.m4a", "track48.m4a")]
        if not all(name.exists() for name in names):
            truth = make_described(folder, minutes, 0, _settings(minutes))
            for made, name in zip((truth.film, truth.track), names, strict=True):
                transcode(made, name)
        subprocess.run([sys.executable, "-c", ALIGN, *map(str, names), str(folder / "alignment.json")], check=True)
        found, truth = json.loads((folder / "alignment.json").read_text()), read_truth(folder)
        print(f"{found['verdict']}; pieces found {len(found['pieces'])}, true {len(truth.pieces)}")
        for piece, true in zip(found["pieces"], truth.pieces, strict=False):
            delays = [of[0] * of[1] + of[2] for of in ((piece["rate"], piece["track_s"][0], piece["delay_s"]),)]
            error = abs(delays[0] - (true.rate * piece["track_s"][0] + true.delay_s))
            edges = [abs(a - b) for a, b in zip(piece["track_s"], true.track_s, strict=True)]
            print(f"  delay off by {1000 * error:.3f} ms, edges by {edges[0]:.2f} and {edges[1]:.2f} s")


def _settings(minutes: float) -> DescribedSettings:
    s = 60 * minutes
    cuts = ((0.2 * s, 60.0), (0.45 * s, 10.5), (0.8 * s, 100.0))
    damage = Damage(offset_s=37.5, cuts=cuts, insertions=((0.6 * s, 90.0),), rate=1.0003)
    return DescribedSettings(pictures=False, damage=damage)


def transcode(source: Path, target: Path, rate_hz: int = 48_000) -> None:
    """Write a sound as AAC of 48 kHz stereo."""
    with av.open(str(source)) as read, av.open(str(target), "w", format="mp4") as written:
        stream = written.add_stream("aac", rate=rate_hz, layout="stereo")
        resampler = av.AudioResampler("fltp", "stereo", rate_hz)
        for frame in chain(read.decode(audio=0), [None]):
            for made in resampler.resample(frame):
                written.mux(stream.encode(made))
        written.mux(stream.encode())


if __name__ == "__main__":
    main()
