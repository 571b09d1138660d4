"""truemoment leaderboard: a folder of prediction files as a site."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, output_options, testing_options
from truemoment.cli.options import (
    FILE,
    data_dir_option,
    floors_cache,
    no_cache_option,
    refuse_files,
    refuse_outputs,
    say,
    status_line,
)
from truemoment.cli.threads import threads_option
from truemoment.evaluation.uncertainty import DrawSettings


@click.command("leaderboard", cls=Command)
@click.argument("folder", type=FILE, metavar="DIR")
@click.option("-o", "--out", type=FILE, metavar="OUT", help="Folder of the site. [default: DIR/site]")
@data_dir_option
@click.option(
    "--gate", metavar="'A; B'", help="Exit 1 unless every system that sees the video passes; as in 'truemoment audit'."
)
@no_cache_option
@testing_options
@threads_option(None)
@output_options
def command(
    folder: Path,
    out: Path | None,
    data_dir: Path | None,
    gate: str | None,
    no_cache: bool,
    testing: DrawSettings,
    output: Output,
) -> None:
    """Write a site of the systems that DIR/leaderboard.yaml names.

    The site needs no server and no network: a table with floors and ceilings, ranks, pairwise
    tests, and the audit of each system. The same figures are in leaderboard.json and .csv.

    \b
    truemoment leaderboard board --data-dir data
    truemoment leaderboard board -o public --gate better-than-guessing
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.studies.leaderboard import read_entries, run_leaderboard, site
    from truemoment.studies.leaderboard import report as reports

    out = folder / "site" if out is None else out
    entries = read_entries(folder, data_dir)
    refuse_files({"--out": out})
    refuse_outputs(entries.inputs(), [output.json_path])
    site.refuse_folder(out)
    with status_line(show=output.progress) as on_status:
        found = run_leaderboard(
            entries, testing=testing, gate=gate, cache=floors_cache(no_cache=no_cache), on_status=on_status
        )
        on_status("writing")
        site.write_site(found, out, command=shlex.join(["truemoment", *sys.argv[1:]]))
    deliver(reports.report(found), lambda: reports.document(found), output)
    if not output.quiet:
        say(f"\nsite: {out / site.INDEX}", err=output.json_only)
    for name, outcome in site.outcomes(found):
        words = f"{name}, gate {outcome.condition.text}: {'passes' if outcome.passed else 'FAILS'} ({outcome.why})"
        say(words, err=True)
    if not found.passed:
        click.get_current_context().exit(1)
