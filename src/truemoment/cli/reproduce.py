"""truemoment reproduce: published tables, computed again."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.cli import EXIT_CHECK_FAILED
from truemoment.cli.delivery import deliver, show_list
from truemoment.cli.groups import Output, PageOutput, output_options
from truemoment.cli.options import (
    FILE,
    count_option,
    data_dir_option,
    engine_option,
    floors_cache,
    refuse_outputs,
    seed_option,
    status_line,
)
from truemoment.exceptions import UsageError


@click.command("reproduce")
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@data_dir_option
@click.option("--list", "list_", is_flag=True, help="List the tables and the datasets they need.")
@count_option("--runs", 100, "Number of runs of a baseline whose published figure is a mean over runs.", least=1)
@engine_option("Engine that finds verbs: lexicon, spacy or spacy:MODEL.")
@seed_option("the draws of each table")
@click.option("--figures", type=FILE, metavar="DIR", help="Save the figures as PNG, SVG, PDF.")
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
    output: Output,
) -> None:
    """Compute published tables again, and compare them with the published figures: all, or each TABLE named.

    Exit status 0 when every figure that is judged lies within its tolerance, else 1.

    \b
    truemoment reproduce --data-dir data
    truemoment reproduce closer-look-2 --data-dir data
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.datasets import DATASETS, data_folder
    from truemoment.language import get_engine
    from truemoment.reports import reproduction as reports
    from truemoment.reproduction import TABLES, get_table, reproduce_tables

    if list_ and output.json_path is not None:
        raise UsageError("--list: prints names for people, without --json")
    if list_:
        rows = [(table.name, table.title, ", ".join(table.datasets)) for table in TABLES.values()]
        show_list(("table", "what it shows", "datasets"), rows, output.style)
        return
    for name in tables:
        get_table(name)
    get_engine(engine)  # a mistake is refused before work begins
    folder = data_folder(data_dir)
    page = PageOutput(html=None, open_it=False, figures=figures)
    page.refuse()
    refuse_outputs([folder / name for name in DATASETS], [output.json_path])
    with status_line(show=output.progress) as on_status:
        found = reproduce_tables(
            tables, folder, runs=runs, engine=engine, seed=seed, cache=floors_cache(), on_status=on_status
        )
    deliver(reports.report(found), lambda: reports.document(found), output, page)
    ctx.exit(EXIT_CHECK_FAILED if found.counts["outside"] else 0)
