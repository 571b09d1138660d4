"""truemoment leaderboard: a folder of prediction files as a site."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from truemoment.base.request import OutFolder, Request, option
from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import refuse_files, say, show_progress
from truemoment.cli.parts import Output, Threads
from truemoment.studies.leaderboard.request import LeaderboardRequest


@dataclass(frozen=True, kw_only=True)
class SiteFolder(Request):
    """The folder of the pages."""

    out: OutFolder[Path | None] = option("Folder of the site. [default: DIR/site]", name="-o --out", metavar="OUT")


@binder.command("leaderboard")
def command(place: SiteFolder, request: LeaderboardRequest, _threads: Threads, output: Output) -> None:
    """Write a site of the systems that DIR/leaderboard.yaml names.

    The site needs no server and no network: a table with floors and ceilings, ranks, pairwise
    tests, and the audit of each system. The same figures are in leaderboard.json and .csv.

    \b
    truemoment leaderboard board --data-dir data
    truemoment leaderboard board -o public --gate better-than-guessing
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.studies.leaderboard.run import INDEX, outcomes, refuse_folder, run, write_site

    out = Path(request.folder) / "site" if place.out is None else place.out
    refuse_files({"--out": out})
    refuse_folder(out)
    with show_progress(request, show=output.progress) as running:
        site = run(running)
        running.on_status("writing")
        write_site(site.leaderboard, out, command=shlex.join(["truemoment", *sys.argv[1:]]))
    deliver(site.report(), site.document, output)
    if not output.quiet:
        say(f"\nsite: {out / INDEX}", err=output.json_only)
    for name, outcome in outcomes(site.leaderboard):
        words = f"{name}, gate {outcome.condition.text}: {'passes' if outcome.passed else 'FAILS'} ({outcome.why})"
        say(words, err=True)
    if not site.passed:
        click.get_current_context().exit(1)
