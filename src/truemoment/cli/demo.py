"""truemoment demo: the main job on a built-in world, without data or network."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from truemoment.base.boundary.files import sha256_of
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import UsageError
from truemoment.base.request import Request, number, option, seed
from truemoment.cli import binder
from truemoment.cli.demo_folder import claim
from truemoment.cli.outputs import floors_cache, open_page, say, status_line, write_text
from truemoment.cli.serving import PageServing, SearchPageOptions, ServingOptions

if TYPE_CHECKING:
    from truemoment.base.records import Predictions
    from truemoment.studies.audit.setup import AuditSetup
    from truemoment.worlds import World

PERCEPTION = {"seeing": 0.4, "guessing": 0.0}
"""Perception of each method of the demo, on the same videos."""

ANSWERED = ("test-ood", "test-iid", "test-ood-shuffled")

SEGMENT_S = 2.0
"""Length of the segments that are shuffled."""


@dataclass(frozen=True, kw_only=True)
class DemoRequest(Request):
    """Which demo, and its size."""

    out: Path = option("Output folder.", Path("truemoment-demo"), metavar="DIR")
    videos: int = number("Size of the world.", 2000, 40, 20000)
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
        _search(
            request.out,
            5.0 if request.minutes is None else request.minutes,
            request.seed,
            serving if request.serve else None,
            page,
            quiet=request.quiet,
        )
        return
    if request.collecting:
        from truemoment.cli.demo_collect import collect_demo

        length = 3.0 if request.minutes is None else request.minutes
        collect_demo(
            request.out, length, request.seed, speech=request.speech, no_open=request.no_open, quiet=request.quiet
        )
        return
    from truemoment.worlds import make_world, write_world
    from truemoment.worlds.export import FILES

    claim(request.out, [*FILES, *(name for method in PERCEPTION for name in _files_of(method))])
    folder = OwnPath(request.out)
    with status_line(show=not request.quiet) as on_status:
        on_status("making a world")
        world = make_world(
            request.videos, location_prior=0.4, query_prior=0.5, perception=PERCEPTION["seeing"], seed=request.seed
        )
        for name in PERCEPTION:  # of an earlier demo: half of it would be misread
            for old in _files_of(name):
                (folder / old).unlink(missing_ok=True)
        write_world(world, folder)
        pages = [_audit(world, name, request.out, request.seed, on_status) for name in PERCEPTION]
    if not request.quiet:
        names = "annotations.jsonl, the predictions of both methods (*.jsonl), and a page each:"
        say(f"\nwritten to {request.out}: {names}")
        for path in pages:
            say(f"  {path}")
        say("audit one yourself:")
        say(f"  {_command(request.out, 'seeing', request.seed)}")
    if not request.no_open:
        for path in pages:
            open_page(path)


def _search(
    out: Path, minutes: float, seed: int, serving: ServingOptions | None, page: SearchPageOptions, *, quiet: bool
) -> None:
    """Run the demo of search, and serve its page if `serving` says where."""
    from truemoment.cli.demo_search import search_demo, serve_demo

    if serving is not None:
        serving.listening()
    search_demo(out, minutes, seed, no_open=page.no_open or serving is not None, quiet=quiet)
    if serving is not None:
        serve_demo(out, serving, page)


def _files_of(name: str) -> list[str]:
    """Files of one of the methods."""
    return [f"{name}.html", *(f"{name}-{split}.jsonl" for split in ANSWERED)]


def _audit(world: World, name: str, out: Path, seed: int, on_status: Callable[[str], None]) -> Path:
    """Audit one of the methods, write its predictions and its page, and print the verdict; return the page."""
    from truemoment.data.formats import write_predictions
    from truemoment.report.render import html
    from truemoment.studies.audit import report
    from truemoment.studies.audit.run import audit

    def on_step(what: str) -> None:
        on_status(f"{name}: {what}" if what else "")

    predictions = _answers(world, name, seed, on_step)
    for split, answers in predictions.items():
        reference = world.splits["test-iid" if split == "test-iid" else "test-ood"]
        write_predictions(OwnPath(out) / f"{name}-{split}.jsonl", answers, reference)
    path = out / f"{name}-test-ood.jsonl"
    sources = {"path": path.name, "sha256": sha256_of(path)}
    audited = audit(_setup(world, predictions), seed=seed, sources=sources, on_status=on_step)
    on_step("writing the page")
    page = OwnPath(out) / f"{name}.html"
    write_text(page, html.page(report.report(audited), command=_command(out, name, seed)))
    on_status("")
    say(f"\n{name}: {audited.findings[0].verdict}")
    return page.path


def _setup(world: World, predictions: dict[str, Predictions]) -> AuditSetup:
    """Return what is audited."""
    from truemoment.evaluation.measures import parse_measures
    from truemoment.evaluation.protocols import get_protocol
    from truemoment.studies.audit.setup import AuditSetup, Controls, Splits

    protocol = get_protocol("default")
    train, val, iid = (world.splits[split] for split in ("train", "val", "test-iid"))
    return AuditSetup(
        annotations=world.splits["test-ood"],
        predictions=predictions["test-ood"],
        measures=parse_measures(protocol.measures),
        protocol=protocol,
        splits=Splits(train, val, (train, val, iid)),
        iid=(iid, predictions["test-iid"]),
        controls=Controls(shuffled=predictions["test-ood-shuffled"]),
        cache=floors_cache(),
    )


def _answers(world: World, name: str, seed: int, on_status: Callable[[str], None]) -> dict[str, Predictions]:
    """Fit a method, and predict both test splits, and test-ood with its videos shuffled."""
    import numpy as np

    from truemoment.studies.audit.shuffled import shuffle_features
    from truemoment.worlds import ToyGrounder, make_world

    on_status("training")
    settings = dataclasses.asdict(world.settings) | {"perception": PERCEPTION[name]}
    features = make_world(**settings).features  # the same videos and sentences, seen more or less clearly
    method = ToyGrounder(features, name=name).fit(world.splits["train"], world.splits["val"])
    rows = max(1, round(SEGMENT_S * features.fps))
    shuffled = shuffle_features(features.by_video, np.random.default_rng(seed), segment_rows=rows)
    blinded = method.with_features(dataclasses.replace(features, by_video=shuffled))
    test, iid = world.splits["test-ood"].queries, world.splits["test-iid"].queries
    on_status("predicting")
    return dict(zip(ANSWERED, (method.ground(test), method.ground(iid), blinded.ground(test)), strict=True))


def _command(out: Path, name: str, seed: int) -> str:
    """Return the command that makes a page of the demo again."""
    answers, iid, shuffled = (str(out / f"{name}-{split}.jsonl") for split in ANSWERED)
    words = ["truemoment", "audit", answers, "--annotations", str(out / "annotations.jsonl"), "--split", "test-ood"]
    words += ["--iid", iid, "--shuffled", shuffled, "--seed", str(seed), "--html", str(out / f"{name}.html")]
    return shlex.join(words)
