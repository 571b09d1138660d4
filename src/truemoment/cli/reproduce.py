"""truemoment reproduce: published tables, computed again."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.base.errors import UsageError
from truemoment.cli import EXIT_CHECK_FAILED
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver, show_list
from truemoment.cli.groups import Output, PageOutput, output_options, page_options
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
from truemoment.cli.threads import threads_option


@click.command("reproduce", cls=Command)
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@data_dir_option
@click.option("--list", "list_", is_flag=True, help="List the tables and the datasets they need.")
@click.option(
    "--runs", "folder_of_runs", type=FILE, metavar="DIR", help="Folder of training runs of the tables' methods."
)
@count_option("--repeats", 100, "Number of runs of a baseline whose published figure is a mean over runs.", least=1)
@engine_option("Engine that finds verbs: lexicon, spacy or spacy:MODEL.")
@seed_option("the draws of each table")
@page_options
@output_options
@click.pass_context
@threads_option(None)
def command(
    ctx: click.Context,
    tables: tuple[str, ...],
    data_dir: Path | None,
    list_: bool,
    folder_of_runs: Path | None,
    repeats: int,
    engine: str,
    seed: int,
    page: PageOutput,
    output: Output,
) -> None:
    """Compute published tables again, and compare them with the published figures: all, or each TABLE named.

    Exit status 0 when every figure that is judged lies within its tolerance, else 1.

    \b
    truemoment reproduce --data-dir data
    truemoment reproduce closer-look-2 --data-dir data
    truemoment reproduce closer-look-journal-2 --data-dir data --runs runs --html table.html
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.data.datasets import DATASETS, data_folder, has_data_folder
    from truemoment.data.language import get_engine
    from truemoment.reproduction import TABLES, get_table, read_run_folders, reproduce_tables
    from truemoment.reproduction import report as reports

    if list_ and output.json_path is not None:
        raise UsageError("--list: prints names for people, without --json")
    if list_:
        rows = [(table.name, table.title, ", ".join(table.datasets) or "none") for table in TABLES.values()]
        show_list(("table", "what it shows", "datasets"), rows, output.style)
        return
    for name in tables:
        get_table(name)
    get_engine(engine)  # a mistake is refused before work begins
    folder = data_folder(data_dir) if has_data_folder(data_dir) else None
    page.refuse()
    datasets = [] if folder is None else [folder / name for name in DATASETS]
    refuse_outputs([*datasets, folder_of_runs], [page.html, output.json_path])
    trained = () if folder_of_runs is None else read_run_folders(folder_of_runs)
    with status_line(show=output.progress) as on_status:
        found = reproduce_tables(
            tables,
            folder,
            runs=repeats,
            engine=engine,
            seed=seed,
            cache=floors_cache(),
            trained=trained,
            on_status=on_status,
        )
    deliver(reports.report(found), lambda: reports.document(found), output, page)
    ctx.exit(EXIT_CHECK_FAILED if found.counts["outside"] else 0)
