"""truemoment meta selection: which validation measure selects variants that test well."""

from __future__ import annotations

import click

from truemoment.cli.command import Command
from truemoment.cli.groups import Output, PageOutput, bound, output_options, page_options
from truemoment.cli.meta.options import finish, refuse, resamples_option
from truemoment.cli.options import FILE, data_dir_option, dataset_option, reading_options, seed_option, status_line
from truemoment.studies.meta.loading import VariantSource

variant_options = bound(
    "source",
    VariantSource,
    click.option(
        "--validation",
        multiple=True,
        required=True,
        metavar="DIR|FILE",
        help="Variants on the validation split: a folder, or files one by one.",
    ),
    click.option(
        "--test",
        multiple=True,
        required=True,
        metavar="DIR|FILE",
        help="The same variants on the test split, with the same names.",
    ),
    dataset_option,
    click.option("--validation-split", metavar="NAME", help="Split of the validation files, e.g. val."),
    click.option("--split", metavar="NAME", help="Split of the test files, e.g. test."),
    click.option(
        "--validation-annotations",
        type=FILE,
        metavar="FILE",
        help="Your own annotations for validation, in place of --dataset.",
    ),
    click.option("--annotations", type=FILE, metavar="FILE", help="Your own annotations for the test."),
    data_dir_option,
    click.option(
        "--measures", metavar="'A; B'", help="Measures that select. [default: those of all studies, or all saved]"
    ),
    click.option(
        "--test-measures", metavar="'A; B'", help="Measures that judge. [default: the same without R@10,IoU=0.3]"
    ),
    click.option("--protocol", metavar="NAME[,FIELD=VALUE...]", help="Evaluation convention. [default: the dataset's]"),
    reading_options,
    heading="Variants",
)


@click.command("selection", cls=Command)
@variant_options
@resamples_option
@seed_option("the resamples")
@page_options
@output_options
def command(source: VariantSource, resamples: int, seed: int, page: PageOutput, output: Output) -> None:
    """Report which validation measure selects variants that test well, and what each choice loses.

    A file of --validation and a file of --test with the same name are one variant. They are
    predictions of any format, or scores saved by 'truemoment evaluate --save-scores' (.npz),
    which need no annotations.

    \b
    truemoment meta selection --validation val/ --test test/ --dataset charades-cd \\
        --validation-split val --split test-ood
    truemoment meta selection --validation val-scores/ --test test-scores/
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import selection as reports
    from truemoment.studies.meta.selection import select

    refuse(output, page, source.inputs, source.folders)
    with status_line(show=output.progress) as on_status:
        validation, test = source.load(on_status)
    rng = stream(seed, "selection")
    found = select(validation, test.systems, rng, resamples=resamples, progress=output.progress)
    finish([StudyReport.of(reports, found)], output, page, seed=seed, systems=test)
