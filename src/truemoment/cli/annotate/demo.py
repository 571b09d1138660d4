"""truemoment annotate demo: mark moments in rendered videos."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from truemoment.base.request import Request, option, seed
from truemoment.cli import binder
from truemoment.cli.annotate.shared import run_server
from truemoment.cli.annotate.start import make_home_study
from truemoment.cli.demo_folder import claim
from truemoment.cli.outputs import say, status_line
from truemoment.cli.serving import ServingOptions
from truemoment.web.annotating.study import StudyFolder

VIDEOS = ("park.mp4", "street.mp4", "beach.mp4")
QUERIES, STUDY = "queries.jsonl", "study"
MINUTES = 0.4
PER_VIDEO = 2


def render_demo(out: Path, seed: int, *, show: bool) -> None:
    """Render the videos of the demo, and write its queries; existing ones are kept."""
    import numpy as np

    from truemoment.base.records import Annotations
    from truemoment.data.datasets import own
    from truemoment.worlds.scenes import render_video

    if (out / QUERIES).exists() and all((out / "videos" / name).exists() for name in VIDEOS):
        return
    claim(out, [QUERIES, "videos", STUDY])
    (out / "videos").mkdir(exist_ok=True)
    parts = []
    with status_line(show=show) as on_status:
        for number, name in enumerate(VIDEOS):
            on_status(f"rendering {name}")
            path = out / "videos" / name
            rng = np.random.default_rng([seed, number])
            rendered = render_video(path, rng, MINUTES, height=180, width=240, n_events=PER_VIDEO)
            keep = np.arange(rendered.n_queries) < PER_VIDEO
            parts.append(rendered.select_queries(keep))
    own.write(out / QUERIES, [replace(Annotations.joined(parts, split="demo"), dataset="demo")])


@dataclass(frozen=True, kw_only=True)
class StudyDemoRequest(Request):
    """The folder."""

    out: Path = option("Output folder.", Path("truemoment-annotate-demo"), name="-o --out", metavar="DIR")
    seed: int = seed("the videos")
    no_open: bool = option("Do not open the page in a browser.", False)


@binder.command("demo")
def command(request: StudyDemoRequest, serving: ServingOptions) -> None:
    """Render short videos of shapes, and mark what sentences describe in them.

    A second call resumes the demo in the same folder.
    """
    serving.listening()
    render_demo(request.out, request.seed, show=True)
    make_home_study(request.out / QUERIES, request.out / "videos", request.out / STUDY, title="Demo: mark the moments")
    words = ["truemoment", "annotate", "export", str(request.out / STUDY), "-o", str(request.out / "marked")]
    say("when you are done:")
    say(f"  {shlex.join(words)}")
    run_server(StudyFolder(request.out / STUDY), serving, role="w01", open_it=not request.no_open)
