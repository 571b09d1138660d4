"""truemoment demo: the main job on a built-in world, without data or network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from truemoment.base.errors import UsageError
from truemoment.base.request import Request, number, option, seed
from truemoment.cli import binder
from truemoment.cli.serving import PageServing, SearchPageOptions


@dataclass(frozen=True, kw_only=True)
class DemoRequest(Request):
    """Which demo, and its size."""

    out: Path = option("Output folder.", Path("truemoment-demo"), name="-o --out", metavar="DIR")
    videos: int = number("Number of videos of the world.", 2000, 40, 20000)
    searching: bool = option("Render a video instead, index it, and find what happens in it.", False, name="--search")
    collecting: bool = option("Simulate a described film instead, and collect its sentences.", False, name="--collect")
    browsing: bool = option("Serve a page with the answers of two methods.", False, name="--browse")
    serve: bool = option("Serve the page of --search, on which sentences are typed.", False)
    minutes: float | None = option(
        "Length of the video of --search [default: 5], or of the film of --collect [default: 3].", metavar="M"
    )
    speech: str = option("Speech recogniser of --collect, as for 'collect run'.", "tones", metavar="ENGINE")
    seed: int = seed("the world and all draws")
    no_open: bool = option("Do not open the pages in a browser.", False)
    quiet: bool = option("No progress, and no list of written files.", False)


@binder.command("demo")
def command(request: DemoRequest, serving: PageServing) -> None:
    """Audit two methods on a built-in world, one that sees the videos and one that guesses.

    The locations of the world's moments are as uneven as the field's, and its verbs predict them.
    Both methods are trained on it; one of them gets frame features that are noise.

    With --search, a video of some minutes is rendered, indexed by a small built-in model, and
    searched for each event in it; with --serve also on a page, by sentences of your own.

    With --browse, short videos are rendered, and the answers of two methods are shown on a page.

    With --collect, a film with audio description is simulated, the described sentences are
    collected, and compared with the truth.
    """
    if request.searching + request.collecting + request.browsing > 1:
        raise UsageError("got two of --search, --collect and --browse, expected one of them")
    if request.serve and not request.searching:
        raise UsageError("--serve: goes with --search")
    page = SearchPageOptions(no_open=request.no_open)
    if request.browsing:
        from truemoment.cli.demo_browse import browse_demo

        browse_demo(request.out, request.seed, serving, page, quiet=request.quiet)
        return
    if request.searching:
        from truemoment.cli.demo_search import search_demo, serve_demo

        if request.serve:
            serving.listening()
        length = 5.0 if request.minutes is None else request.minutes
        no_open = request.no_open or request.serve
        search_demo(request.out, length, request.seed, no_open=no_open, quiet=request.quiet)
        if request.serve:
            serve_demo(request.out, serving, page)
        return
    if request.collecting:
        from truemoment.cli.demo_collect import collect_demo

        length = 3.0 if request.minutes is None else request.minutes
        collect_demo(
            request.out, length, request.seed, speech=request.speech, no_open=request.no_open, quiet=request.quiet
        )
        return
    from truemoment.cli.demo_audit import audit_demo

    audit_demo(request.out, request.videos, request.seed, no_open=request.no_open, quiet=request.quiet)
