"""truemoment demo --collect: the sentences of a simulated described film are collected, and compared with the truth."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from truemoment.base.boundary.files import write_text
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError, UsageError
from truemoment.cli.demo_folder import claim
from truemoment.cli.outputs import open_page, say, status_line
from truemoment.collection import report_demo as reports
from truemoment.collection.demo import run_demo
from truemoment.collection.layout import CollectSettings
from truemoment.collection.narration import require_comparison
from truemoment.collection.pipeline import opened
from truemoment.report.render import html, terminal

FILM, COLLECTION, PAGE = "described", "collection", "collected.html"


def collect_demo(out: Path, minutes: float, seed: int, *, speech: str, no_open: bool, quiet: bool) -> None:
    """Simulate a described film, collect its sentences, and compare them with the truth.

    Parameters
    ----------
    out
        Output folder.
    minutes
        Length of the film.
    seed
        Seed of all draws.
    speech
        What hears the words: ``tones`` hears voices of tones, all others those of espeak-ng.
    no_open, quiet
        As for the demo.
    """
    if not 2 <= minutes <= 120:
        raise UsageError(f"--minutes: got {minutes:g}, expected 2 to 120")
    require_comparison()
    opened(
        speech, CollectSettings().language
    )  # a recogniser that cannot be opened is refused before anything is replaced
    claim(out, [FILM, COLLECTION, PAGE])
    try:
        folder = OwnPath(out)
        for old in (FILM, COLLECTION):
            if (folder / old).is_dir():
                (folder / old).remove_tree()
        (folder / PAGE).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot be replaced ({error.strerror})", path=out) from None
    with status_line(show=not quiet) as on_status:
        result = run_demo(out / FILM, out / COLLECTION, minutes, seed, speech=speech, on_status=on_status)
        on_status("writing the page")
        report = reports.report(result)
        write_text(folder / PAGE, html.page(report, command=_command(out, minutes, seed, speech)))
    click.echo("\n".join(terminal.body(report)))
    if not quiet:
        _write_next_steps(out)
    if not no_open:
        open_page(out / PAGE)


def _command(out: Path, minutes: float, seed: int, speech: str) -> str:
    """Return the command that makes the page again."""
    words = ["truemoment", "demo", "--collect", "--minutes", f"{minutes:g}", "--seed", str(seed), "--out", str(out)]
    return shlex.join(words if speech == "tones" else [*words, "--speech", speech])


def _write_next_steps(out: Path) -> None:
    """Write the names of the files, and commands that use them."""
    annotations = str(out / COLLECTION / "annotations.jsonl")
    say(f"\nwritten to {out}: {FILM}, {COLLECTION}, {PAGE}")
    click.echo("the biases of the sentences:")
    say(f"  {shlex.join(['truemoment', 'bias', '--annotations', annotations])}")
