"""truemoment reproduce: papers' tables beside ours."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click

from truemoment.cli import EXIT_CHECK_FAILED
from truemoment.cli.options import (
    STANDARD_OUTPUT,
    data_dir_option,
    floors_cache,
    followed,
    output_options,
    refuse_files,
    refuse_outputs,
    seed_option,
    write_json,
)
from truemoment.exceptions import MissingFileError, UsageError


@click.command("reproduce")
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@data_dir_option
@click.option("--list", "list_", is_flag=True, help="List the tables and the datasets they need.")
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Runs of a baseline whose published figure is a mean over runs.",
)
@click.option(
    "--engine",
    default="lexicon",
    show_default=True,
    metavar="NAME",
    help="What finds verbs: lexicon, spacy or spacy:MODEL.",
)
@seed_option("what is drawn; every table starts from it anew")
@click.option("--figures", type=click.Path(path_type=Path), metavar="DIR", help="Save the figures as PNG, SVG, PDF.")
@output_options
@click.pass_context
def command(
    ctx: click.Context,
    tables: tuple[str, ...],
    data_dir: Path | None,
    list_: bool,
    runs: int,
    engine: str,
    seed: int,
    figures: Path | None,
    json_path: Path | None,
    style: Literal["md", "latex"] | None,
    quiet: bool,
) -> None:
    """Compute papers' tables anew and set them beside the published figures: all, or each TABLE named.

    Exit status 0 when every figure that is judged lies within its tolerance, else 1.

    \b
    truemoment reproduce --data-dir data
    truemoment reproduce closer-look-2 --data-dir data
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    import numpy as np

    from truemoment.datasets import DATASETS, data_folder
    from truemoment.language import get_engine
    from truemoment.reports.drawing import save_drawings
    from truemoment.reports.render.tabular import render
    from truemoment.reproduction import TABLES, get_table, report, reproduce

    if list_ and json_path is not None:
        raise UsageError("--list: prints names for people, without --json")
    if list_:
        rows = [[table.name, table.title, ", ".join(table.datasets)] for table in TABLES.values()]
        click.echo(render(["table", "what it shows", "datasets"], rows, style=style or "plain"))
        return
    asked = [get_table(name) for name in dict.fromkeys(tables)] or list(TABLES.values())
    get_engine(engine)  # a mistake is told before work begins
    folder = data_folder(data_dir)
    refuse_files({"--figures": figures})
    refuse_outputs([folder / name for name in DATASETS], [json_path])
    done, cache = [], floors_cache()
    with followed(show=not quiet and sys.stderr.isatty()) as tell:
        for table in asked:

            def tell_of_table(what: str, name: str = table.name) -> None:
                tell(f"{name}: {what}")

            rng = np.random.default_rng(seed)
            try:
                found = reproduce(table, folder, rng, runs=runs, engine=engine, tell=tell_of_table, cache=cache)
                done.append(report.ReproducedTable(table, found))
            except MissingFileError as error:
                if tables:
                    raise
                done.append(report.ReproducedTable(table, (), why_not=str(error)))
    if not any(of.rows for of in done):
        raise MissingFileError(f"no table could be run; {done[0].table.name}: {done[0].why_not}")
    reproduction = report.Reproduction(done, seed=seed, runs=runs, engine=engine)
    if json_path is not None:
        write_json(json_path, report.document(reproduction))
    if figures is not None:
        save_drawings([drawing for of in done for drawing in of.table.drawings(of.rows)], figures)
    if json_path != STANDARD_OUTPUT:
        click.echo("\n\n\n".join(report.table(of, style=style or "plain") for of in done if of.rows))
    if not quiet:
        to_error = style is not None or json_path == STANDARD_OUTPUT
        click.echo("\n".join([*([] if to_error else [""]), *report.closing(reproduction)]), err=to_error)
    ctx.exit(EXIT_CHECK_FAILED if reproduction.counts["outside"] else 0)
