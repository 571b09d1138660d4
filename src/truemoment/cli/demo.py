"""truemoment demo: the main job on a built-in world, without data or network."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.cli.options import floors_cache, followed, open_page, seed_option, told_path, write_text
from truemoment.exceptions import InputError
from truemoment.inputs import updating

if TYPE_CHECKING:
    from truemoment.records import Predictions
    from truemoment.worlds import World

PERCEPTION = {"seeing": 0.4, "guessing": 0.0}
"""How clearly each method of the demo sees the same videos."""

ANSWERED = ("test-ood", "test-iid", "test-ood-shuffled")

MARK = ".truemoment-demo"
"""A file of a demo's folder that names what demos have made there."""

SEGMENT_S = 2.0
"""Length of the segments that shuffling a video moves about."""


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("truemoment-demo"),
    show_default=True,
    metavar="DIR",
    help="Where everything goes.",
)
@click.option(
    "--videos", type=click.IntRange(40, 20_000), default=2000, show_default=True, metavar="N", help="Size of the world."
)
@click.option(
    "--search", "searching", is_flag=True, help="Render a film instead, index it, and find what happens in it."
)
@click.option(
    "--minutes", type=float, default=5.0, show_default=True, metavar="M", help="Length of the film of --search."
)
@seed_option("the world and all draws")
@click.option("--no-open", is_flag=True, help="Do not open the pages in a browser.")
@click.option("--quiet", is_flag=True, help="No progress, and no list of what was written.")
def command(out: Path, videos: int, searching: bool, minutes: float, seed: int, no_open: bool, quiet: bool) -> None:
    """Audit two methods on a built-in world, one that sees the videos and one that guesses.

    The world's moments lie unevenly, as the field's do, and its verbs tell where. Both methods are
    trained on it; one of them gets frame features that are noise.

    With --search a film of some minutes is rendered, indexed by a small model that comes along, and
    searched for each event in it.
    """
    if searching:
        from truemoment.cli.demo_search import search_demo

        search_demo(out, minutes, seed, no_open=no_open, quiet=quiet)
        return
    from truemoment.auditing import AuditSetup, Controls, Splits, audit
    from truemoment.files import sha256_of
    from truemoment.io import write_predictions
    from truemoment.measures import parse_measures
    from truemoment.protocols import get_protocol
    from truemoment.reports import audit as report
    from truemoment.reports.render import html
    from truemoment.worlds import make_world, write_world
    from truemoment.worlds.export import FILES

    cache = floors_cache()
    claim(out, [*FILES, *(name for of in PERCEPTION for name in _written_of(of))])
    pages = []
    with followed(show=not quiet and sys.stderr.isatty()) as tell:
        tell("making a world")
        world = make_world(videos, location_prior=0.4, query_prior=0.5, perception=PERCEPTION["seeing"], seed=seed)
        for name in PERCEPTION:  # of an earlier demo: half of it would be misread
            for old in _written_of(name):
                (out / old).unlink(missing_ok=True)
        write_world(world, out)
        test, iid = world.splits["test-ood"], world.splits["test-iid"]
        train, val = world.splits["train"], world.splits["val"]
        protocol = get_protocol("default")
        for name in PERCEPTION:
            answers = _answers(world, name, seed, tell)
            for split, of in answers.items():
                asked = iid if split == "test-iid" else test
                write_predictions(out / f"{name}-{split}.jsonl", of, asked)
            setup = AuditSetup(
                annotations=test,
                predictions=answers["test-ood"],
                measures=parse_measures(protocol.measures),
                protocol=protocol,
                splits=Splits(train, val, (train, val, iid)),
                iid=(iid, answers["test-iid"]),
                controls=Controls(shuffled=answers["test-ood-shuffled"]),
                cache=cache,
            )
            path = out / f"{name}-test-ood.jsonl"
            sources = {"path": path.name, "sha256": sha256_of(path)}
            found = audit(setup, seed=seed, sources=sources, on_status=_told_of(name, tell))
            tell(f"{name}: writing the page")
            pages.append(out / f"{name}.html")
            write_text(pages[-1], html.page(report.report(found), command=_command(out, name, seed)))
            tell("")
            click.echo(f"\n{name}: {found.findings[0].verdict}")
    if not quiet:
        click.echo(
            f"\nwritten to {told_path(out)}: annotations.jsonl, the answers of both methods (*.jsonl), and a page each:"
        )
        for path in pages:
            click.echo(f"  {told_path(path)}")
        click.echo(f"audit one yourself:\n  {_command(out, 'seeing', seed)}")
    if not no_open:
        for path in pages:
            open_page(path)


def _written_of(name: str) -> list[str]:
    """Files of one of the methods."""
    return [f"{name}.html", *(f"{name}-{split}.jsonl" for split in ANSWERED)]


def claim(out: Path, names: Sequence[str]) -> None:
    """Make the folder of a demo, and keep in it which files are the demo's; refuse to write over any others.

    Parameters
    ----------
    out
        The folder.
    names
        Files and folders that are to be written into it.
    """
    from truemoment.files import atomic_write
    from truemoment.folders import refuse_links

    mark = updating(out) / MARK
    try:
        refuse_links(out, MARK)
        made = set(mark.read_text("utf-8").splitlines()) if mark.is_file() else set()
        foreign = next((name for name in names if name not in made and os.path.lexists(out / name)), None)
        if foreign is not None:
            problem = f"holds {foreign} already, which no demo has made"
            raise InputError(problem, path=told_path(out), hint="give another folder: --out DIR")
        refuse_links(out, *names)
        out.mkdir(parents=True, exist_ok=True)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise InputError(f"cannot be made ({why})", path=told_path(out)) from None
    with atomic_write(mark) as stream:
        stream.write("".join(f"{name}\n" for name in sorted(made | set(names))).encode())


def _told_of(name: str, tell: Callable[[str], None]) -> Callable[[str], None]:
    """Tell what is done for one of the methods."""
    return lambda what: tell(f"{name}: {what}")


def _answers(world: World, name: str, seed: int, tell: Callable[[str], None]) -> dict[str, Predictions]:
    """Fit a method, and let it answer both test splits, and test-ood with its videos shuffled."""
    import dataclasses

    import numpy as np

    from truemoment.diagnosis.shuffled import shuffle_features
    from truemoment.worlds import ToyGrounder, make_world

    tell(f"{name}: training")
    settings = dataclasses.asdict(world.settings) | {"perception": PERCEPTION[name]}
    features = make_world(**settings).features  # the same videos and sentences, seen more or less clearly
    method = ToyGrounder(features, name=name).fit(world.splits["train"], world.splits["val"])
    rows = max(1, round(SEGMENT_S * features.fps))
    shuffled = shuffle_features(features.by_video, np.random.default_rng(seed), segment_rows=rows)
    blinded = method.with_features(dataclasses.replace(features, by_video=shuffled))
    test, iid = world.splits["test-ood"].queries, world.splits["test-iid"].queries
    tell(f"{name}: answering")
    return dict(zip(ANSWERED, (method.ground(test), method.ground(iid), blinded.ground(test)), strict=True))


def _command(out: Path, name: str, seed: int) -> str:
    """Write the command that makes a page of the demo again."""
    answers, iid, shuffled = (str(out / f"{name}-{split}.jsonl") for split in ANSWERED)
    words = ["truemoment", "audit", answers, "--annotations", str(out / "annotations.jsonl"), "--split", "test-ood"]
    words += ["--iid", iid, "--shuffled", shuffled, "--seed", str(seed), "--html", str(out / f"{name}.html")]
    return shlex.join(words)
