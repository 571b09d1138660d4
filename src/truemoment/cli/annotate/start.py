"""truemoment annotate start: one person marks queries at home."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from truemoment.base.request import Request, argument, option
from truemoment.cli import binder
from truemoment.cli.annotate.shared import run_server
from truemoment.cli.outputs import say
from truemoment.cli.serving import ServingOptions
from truemoment.report.words import counted, few
from truemoment.web.annotating.plan import StudyPlan
from truemoment.web.annotating.study import ControlShares, StudyFolder


def make_home_study(queries: Path, videos: Path, study: Path, *, title: str = "", lang: str = "") -> None:
    """Make the study of one person, or keep an existing one."""
    from truemoment.web.annotating.creation import new_study
    from truemoment.web.annotating.study_queries import read_queries

    folder = StudyFolder(study)
    if folder.settings_file.exists():
        folder.settings()
        return
    annotations = read_queries(queries)
    plan = StudyPlan(
        per_query=1,
        people=1,
        controls=ControlShares(0.0, 0.0, 0.0),
        same_video="any",
        review="offered",
        practice=0,
        lang=lang,
        title=title or f"Moments of {annotations.dataset}",
    )
    made = new_study(study, annotations, videos, plan, source=f"{annotations.dataset}/{annotations.split}")
    say(f"{study}: {counted(made.n_queries, 'query', 'queries')} in {counted(made.n_videos, 'video')}")
    if made.without_file:
        lost = f"{counted(len(made.without_file), 'video has', 'videos have')} no file ({few(made.without_file)})"
        say(f"warning: {lost}; their queries are left out", err=True)


@dataclass(frozen=True, kw_only=True)
class StartRequest(Request):
    """The queries, and the study."""

    queries: Path = argument(metavar="QUERIES")
    videos: Path = option("Folder of video files, named by video id.", metavar="DIR", required=True)
    study: Path | None = option("Folder of the study. [default: QUERIES without suffix + .study]", metavar="DIR")
    lang: str = option(
        "Language of the sentences, e.g. en or ar, for screen readers and fonts.", "", metavar="TAG", show=False
    )
    no_open: bool = option("Do not open the page in a browser.", False)


@binder.command("start")
def command(request: StartRequest, serving: ServingOptions) -> None:
    """Mark the moments of QUERIES (JSON Lines with video_id and sentence) yourself.

    The first call makes a study; later calls resume it.

    \b
    truemoment annotate start mine.jsonl --videos films
    truemoment annotate export mine.study -o marked
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    serving.listening()
    study = request.study or request.queries.with_name(f"{request.queries.stem}.study")
    make_home_study(request.queries, request.videos, study, lang=request.lang)
    words = ["truemoment", "annotate", "export", str(study), "-o", f"{study.with_suffix('')}-marked"]
    say("when you are done:")
    say(f"  {shlex.join(words)}")
    run_server(StudyFolder(study), serving, role="w01", open_it=not request.no_open)
