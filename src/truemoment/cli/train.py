"""truemoment train: train a model by a recipe, choose its epoch on a validation split, answer the test splits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from truemoment.cli.options import (
    STANDARD_OUTPUT,
    files_of_run,
    learning_options,
    output_options,
    refuse_outputs,
    seed_option,
    source_file,
    told_path,
    write_json,
)
from truemoment.datasets.source import AnnotationSource, files_of
from truemoment.exceptions import UsageError
from truemoment.text import printable

if TYPE_CHECKING:
    from truemoment.features.base import FeatureStore
    from truemoment.records import Annotations
    from truemoment.training.checkpoints import Epoch
    from truemoment.training.loop import Follow


@click.command("train")
@click.argument("recipe", metavar="RECIPE")
@learning_options
@click.option("--train-split", default="train", show_default=True, metavar="NAME", help="What is learned from.")
@click.option(
    "--select-split", metavar="NAME", help="What chooses the epoch. [default: the recipe's; 'held out' if none]"
)
@click.option("--force", is_flag=True, help="Let a test split choose the epoch; every result will say so.")
@click.option(
    "--on-missing-video",
    type=click.Choice(["refuse", "skip"]),
    default="refuse",
    show_default=True,
    help="Videos without features.",
)
@click.option(
    "--measures", metavar="'A; B'", help="Of the test splits. [default: R@1, dR@1 at 0.5 and 0.7, mIoU, AxIoU]"
)
@seed_option("weights, order and all draws")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), metavar="DIR", help="The run's folder; goes on if it is there."
)
@click.option("--results", type=click.Path(path_type=Path), metavar="FILE.csv", help="Add the figures to a file.")
@output_options
def command(
    recipe: str,
    dataset: str | None,
    annotations: Path | None,
    data_dir: Path | None,
    features: str | None,
    train_split: str,
    select_split: str | None,
    force: bool,
    tests: tuple[str, ...],
    on_missing_video: str,
    changes: tuple[str, ...],
    measures: str | None,
    seed: int,
    out: Path | None,
    results: Path | None,
    json_path: Path | None,
    style: Literal["md", "latex"] | None,
    quiet: bool,
) -> None:
    """Train a model by RECIPE: tan2d, blind-tan, tcn-dcm, mdd (small), their -full versions, or FILE.yaml.

    tan2d-windows learns from windows of films that last hours.

    The epoch that is best on the validation split is kept. A run that is broken off goes on with the same command.

    \b
    truemoment train tan2d --dataset charades-cd --features perception:0.3 -o runs/tan2d
    truemoment train blind-tan --dataset charades-sta -o runs/blind
    truemoment predict runs/tan2d --dataset charades-cd --split test-ood -o preds.jsonl
    truemoment audit preds.jsonl --dataset charades-cd --split test-ood --model runs/tan2d
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.measures import parse_measures
    from truemoment.reports import training as report
    from truemoment.training.recipes import read_recipe
    from truemoment.training.results import keep
    from truemoment.training.runs import MEASURES, perform

    # Mistakes in the options are told before files are read.
    asked = read_recipe(recipe, changes)
    if measures is not None:
        parse_measures(measures)
    own_recipe = Path(recipe) if recipe.lower().endswith((".yaml", ".yml")) else None
    out = out or Path("runs") / f"{asked.model}-{dataset or (annotations or Path('own')).stem}-{asked.hash[:6]}-{seed}"
    inputs = [*files_of_run(out), annotations, own_recipe, source_file(features), *files_of(dataset, data_dir)]
    refuse_outputs(inputs, [results, json_path])
    for path in (results, json_path):
        if path is not None and path.is_dir():
            raise UsageError(f"{told_path(path)}: is a folder, expected the name of a file to write")
    data = AnnotationSource(dataset, annotations, None, data_dir)
    task, answered = prepare(
        asked,
        data,
        features=features,
        train_split=train_split,
        select_split=select_split,
        force=force,
        tests=tests,
        skip_missing=on_missing_video == "skip",
        seed=seed,
    )
    show = not quiet and sys.stderr.isatty()
    with told_epochs(asked.train.epochs, show=show, quiet=quiet) as (follow, tell):
        if not quiet:
            click.echo("\n".join(report.opening(task, told_path(out))), err=True)
        result = perform(task, out, answered, measures=measures or MEASURES, follow=follow, tell=tell)
    if results is not None:
        keep(results, result.tests)
    if json_path is not None:
        from truemoment.training.runs import document

        write_json(json_path, document(result))
    if json_path != STANDARD_OUTPUT:
        click.echo("\n".join(report.lines(result, style=style or "plain")))
        if not quiet and style is None:
            click.echo("\n".join(report.next_steps(result, data.words())))


def prepare(
    recipe: Any,  # noqa: ANN401 - its module is imported late
    data: AnnotationSource,
    *,
    features: str | None,
    train_split: str,
    select_split: str | None,
    force: bool,
    tests: tuple[str, ...],
    skip_missing: bool,
    seed: int,
) -> tuple[Any, dict[str, Annotations]]:
    """Read what a run learns from, chooses by and answers."""
    from truemoment.features.opening import open_features
    from truemoment.models import get_family
    from truemoment.training.runs import HELD_OUT, Task, hold_out

    train = data.read(train_split)
    split = select_split or recipe.select.split
    notes: list[str] = []
    if split != HELD_OUT and select_split is None and not _has(data, split):
        notes.append(
            f"{train.dataset} has no split {split}: the epoch was chosen on a tenth of the training videos, held out"
        )
        split = HELD_OUT
    for option, name in (("--train-split", train_split), ("--select-split", split)):
        if name != HELD_OUT and _is_test(data, name) and not force:
            does = "train on" if option == "--train-split" else "choose the epoch on"
            raise UsageError(
                f"{option} {name}: would {does} a test split; give --force to do so, and every result says so"
            )
    forced = _is_test(data, train_split) or (split != HELD_OUT and _is_test(data, split))
    if split == HELD_OUT:
        train, val = hold_out(train, seed)
    else:
        val = data.read(split)
        if set(val.query_id) & set(train.query_id) and val.dataset == train.dataset:
            raise UsageError(f"--select-split {split}: holds queries of {train_split}, expected a split apart from it")
    answered = {name: data.read(name) for name in tests or _test_splits(data)}
    learned = {*train.query_id, *val.query_id}
    for name, of in answered.items():
        if (shared := len(learned & set(of.query_id))) and not force:
            raise UsageError(
                f"--test {name}: {shared:,} of its queries are among those learned from or chosen by (lines without a "
                "split belong to all); name another split, or give --force, and every result says so"
            )
        forced = forced or bool(shared)
    store = None
    if features is not None:
        if "video" not in get_family(recipe.model).needs:
            raise UsageError(f"{recipe.model} sees no video, expected no --features")
        store = open_features(features, data_dir=data.data_dir, seed=seed)
        train, val = (_seen(of, store, skip_missing=skip_missing) for of in (train, val))
        answered = {name: _seen(of, store, skip_missing=skip_missing) for name, of in answered.items()}
        notes += [caution] if (caution := getattr(store, "caution", "")) else []
    task = Task(
        recipe=recipe,
        seed=seed,
        train=train,
        val=val,
        features=features or "",
        store=store,
        sentences=[s for of in (train, val, *answered.values()) for s in of.queries.sentence],
        data_dir=data.data_dir,
        forced=forced,
        notes=tuple(notes),
    )
    return task, answered


def _seen(of: Annotations, store: FeatureStore, *, skip_missing: bool) -> Annotations:
    """Return the annotations of videos that have features, which are all of them unless some may be skipped."""
    import numpy as np

    from truemoment.features.alignment import check

    usable = check(store, of).require(skip_missing=skip_missing)
    kept = np.isin(of.queries.video_id.astype(str), usable)
    if not kept.all():
        told = f"{of.dataset}/{of.split}: {int((~kept).sum()):,} queries are passed over, their videos have no features"
        click.echo(printable(told), err=True)
    return of.select_queries(kept)


def _names(data: AnnotationSource) -> list[str]:
    """Names of the splits of the dataset, or of the user's own file."""
    from truemoment.datasets import get_dataset, own

    if data.annotations is not None:
        return sorted(own.splits_of(data.annotations))
    return [split.name for split in get_dataset(data.dataset or "").splits]


def _merged(data: AnnotationSource) -> list[str]:
    """Splits that a test split is merged from."""
    from truemoment.datasets import get_dataset

    if data.annotations is not None:
        return []
    splits = get_dataset(data.dataset or "").splits
    return [name for split in splits if split.name.startswith("test") for name in split.merges]


def _has(data: AnnotationSource, split: str) -> bool:
    return split in _names(data)


def _is_test(data: AnnotationSource, split: str) -> bool:
    from truemoment.training.runs import is_test

    return is_test(split, _merged(data))


def _test_splits(data: AnnotationSource) -> list[str]:
    return [name for name in _names(data) if name.startswith("test")]


@contextmanager
def told_epochs(epochs: int, *, show: bool, quiet: bool) -> Iterator[tuple[Follow, Any]]:
    """Follow steps in a progress bar if there is someone to see it, and tell a line an epoch."""
    from tqdm import tqdm

    def follow(items: Any, what: str) -> Any:  # noqa: ANN401 - any iterable
        return tqdm(items, desc=what, leave=False) if show else items

    def tell(epoch: Epoch) -> None:
        if not quiet:
            from truemoment.reports.training import epoch_line

            click.echo(epoch_line(epoch, epochs), err=True)

    yield follow, tell
