"""truemoment reproduce: published tables, computed again."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import click

from truemoment.base.errors import UsageError
from truemoment.base.request import In, Request, argument, number, option, seed
from truemoment.cli import EXIT_CHECK_FAILED, binder
from truemoment.cli.delivery import deliver, show_list
from truemoment.cli.expected import LONG_S
from truemoment.cli.outputs import floors_cache, say, status_line
from truemoment.cli.parts import Output, PageOutput, Threads
from truemoment.studies.request import data_dir


@dataclass(frozen=True, kw_only=True)
class ReproduceRequest(Request):
    """The tables, and how they are computed."""

    tables: tuple[str, ...] = argument(metavar="[TABLE]...", required=False)
    data_dir: Path | None = data_dir()
    list_: bool = option("List the tables and the datasets they need.", False, name="--list")
    folder_of_runs: In[Path | None] = option(
        "Folder of training runs of the tables' methods.", name="--runs", metavar="DIR"
    )
    repeats: int = number("Number of runs of a baseline whose published figure is a mean over runs.", 100, 1)
    engine: str = option(
        "Engine that finds verbs: lexicon, spacy or spacy:MODEL.", "lexicon", metavar="NAME", rare=True
    )
    seed: int = seed("the draws of each table")

    def inputs(self) -> list[Path]:
        """Return the folders of the datasets."""
        from truemoment.data.datasets import DATASETS, data_folder, has_data_folder

        return [data_folder(self.data_dir) / name for name in DATASETS] if has_data_folder(self.data_dir) else []


@binder.command("reproduce")
def command(request: ReproduceRequest, page: PageOutput, output: Output, _threads: Threads) -> None:
    """Compute published tables again, and compare them with the published figures.

    Without TABLE, all tables of papers are computed.

    Exit status 0 when every figure that is judged lies within its tolerance, else 1.

    \b
    truemoment reproduce --data-dir data
    truemoment reproduce closer-look-2 --data-dir data
    truemoment reproduce closer-look-journal-2 --data-dir data --runs runs --html table.html
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.data.datasets import data_folder, has_data_folder
    from truemoment.data.language import get_engine
    from truemoment.reproduction import TABLES, get_table, read_run_folders, reproduce_tables
    from truemoment.reproduction import report as reports

    if request.list_ and output.json_path is not None:
        raise UsageError("--list: prints names for people, without --json")
    if request.list_:
        rows = [(table.name, table.title, ", ".join(table.datasets) or "none") for table in TABLES.values()]
        show_list(("table", "what it shows", "datasets"), rows, output.style)
        return
    for name in request.tables:
        get_table(name)
    get_engine(request.engine)  # a mistake is refused before work begins
    folder = data_folder(request.data_dir) if has_data_folder(request.data_dir) else None
    trained = () if request.folder_of_runs is None else read_run_folders(request.folder_of_runs)
    began_s = time.monotonic()
    with status_line(show=output.progress) as on_status:
        comparison = reproduce_tables(
            request.tables,
            folder,
            runs=request.repeats,
            engine=request.engine,
            seed=request.seed,
            cache=floors_cache(),
            trained=trained,
            on_status=on_status,
        )
    deliver(reports.report(comparison), lambda: reports.document(comparison), output, page)
    if output.progress and (seconds := time.monotonic() - began_s) >= LONG_S:
        say(f"truemoment: computed in {seconds:,.0f} seconds", err=True)
    click.get_current_context().exit(EXIT_CHECK_FAILED if comparison.counts["outside"] else 0)
