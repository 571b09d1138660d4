"""The main demo: a world is made, and two methods are trained on it and audited."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np

from truemoment.base.boundary.files import sha256_of
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.records import Predictions
from truemoment.cli.demo_folder import claim
from truemoment.cli.outputs import floors_cache, open_page, say, status_line, write_text
from truemoment.data.formats import write_predictions
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.report.render import html
from truemoment.studies.audit import report
from truemoment.studies.audit.run import audit
from truemoment.studies.audit.setup import AuditSetup, Controls, Splits
from truemoment.studies.audit.shuffled import shuffle_features
from truemoment.worlds import ToyGrounder, World, make_world, write_world
from truemoment.worlds.export import FILES

PERCEPTION = {"seeing": 0.4, "guessing": 0.0}
"""Perception of each method of the demo, on the same videos."""

ANSWERED = ("test-ood", "test-iid", "test-ood-shuffled")

SEGMENT_S = 2.0
"""Length of the segments that are shuffled."""


def audit_demo(out: Path, videos: int, seed: int, *, no_open: bool, quiet: bool) -> None:
    """Make a world, train a method that sees its videos and one that guesses, and audit both.

    Parameters
    ----------
    out
        Folder; files of an earlier demo in it are replaced.
    videos
        Size of the world.
    seed
        Seed of the world and of all draws.
    no_open, quiet
        As for the demo.
    """
    claim(out, [*FILES, *(name for method in PERCEPTION for name in _files_of(method))])
    folder = OwnPath(out)
    with status_line(show=not quiet) as on_status:
        on_status("making a world")
        world = make_world(videos, location_prior=0.4, query_prior=0.5, perception=PERCEPTION["seeing"], seed=seed)
        for name in PERCEPTION:  # of an earlier demo: half of it would be misread
            for old in _files_of(name):
                (folder / old).unlink(missing_ok=True)
        write_world(world, folder)
        pages = [_audit(world, name, out, seed, on_status) for name in PERCEPTION]
    if not quiet:
        names = "annotations.jsonl, the predictions of both methods (*.jsonl), and a page each:"
        say(f"\nwritten to {out}: {names}")
        for path in pages:
            say(f"  {path}")
        say("audit one yourself:")
        say(f"  {_command(out, 'seeing', seed)}")
    if not no_open:
        for path in pages:
            open_page(path)


def _files_of(name: str) -> list[str]:
    """Files of one of the methods."""
    return [f"{name}.html", *(f"{name}-{split}.jsonl" for split in ANSWERED)]


def _audit(world: World, name: str, out: Path, seed: int, on_status: Callable[[str], None]) -> Path:
    """Audit one of the methods, write its predictions and its page, and print the verdict; return the page."""

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
