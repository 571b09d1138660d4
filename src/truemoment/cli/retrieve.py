"""truemoment retrieve: rank clips by text, and texts by clip."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from truemoment.base.errors import UsageError
from truemoment.base.request import In, InRun, Out, Request, argument, number, option, seed
from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import progress_bar
from truemoment.cli.parts import ModelThreads, Output
from truemoment.studies.request import MappedData


@dataclass(frozen=True, kw_only=True)
class RetrieveRequest(Request):
    """The features, and how clips are ranked."""

    source: In[Path] = argument()
    sentences: In[Path | None] = option("Vectors of the sentences: FILE.h5 or FILE.npz.", metavar="FILE")
    model: InRun[Path | None] = option("A run of truemoment train mean-pool or frame-sequence.", metavar="RUN")
    fit_split: str | None = option("Split that the blind floor learns. [default: train; none for none]", metavar="NAME")
    margin_s: float = option("Seconds added on each side of a moment.", 0.0, metavar="S")
    fps: float | None = option("Rows per second of features that state no rate.", metavar="F")
    measures: str | None = option(
        "Measures, e.g. 't2c:R@1; c2t:MdR'. [default: R@1, R@5, R@10, MdR, MnR of both directions]", metavar="'A; B'"
    )
    tie: float = option("Largest difference of equal similarities.", 0.0, metavar="D")
    resamples: int = number("Number of resamples of the videos for 95 % intervals.", 1000, 2, 100000)
    seed: int = seed("the resamples")
    save_similarities: Out[Path | None] = option("Save all similarities, texts x clips.", metavar="FILE.npz")


@binder.command("retrieve")
def command(request: RetrieveRequest, data: MappedData, _threads: ModelThreads, output: Output) -> None:
    """Rank all clips by a text and all texts by a clip, from features in SOURCE.

    Each sentence of a split is a text, and its moment is its clip. A clip's vector is the mean of the
    directions of at most 12 frames, or what a trained --model makes of them. SOURCE may also be
    FILE.npz with your own similarities, or the vectors that a run has written.

    \b
    truemoment retrieve clips.h5 --sentences texts.h5 --dataset mad --split test --data-dir data
    truemoment retrieve similarities.npz --measures "t2c:R@1; c2t:MdR"
    truemoment retrieve clips.h5 --sentences texts.h5 --model runs/pool --dataset lsmdc16 --split test-1000
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.searching.clips import report as reports
    from truemoment.searching.clips.measures import DEFAULT_MEASURES, parse_retrieval_measures
    from truemoment.searching.clips.ranked_clips import RetrievalChoices, rank_features, rank_similarities

    if request.margin_s != 0 and (request.model is not None or request.sentences is None):
        why = "the similarities are given" if request.model is None else "the recipe of --model sets it"
        raise UsageError(f"--margin-s: got {request.margin_s:g}, but {why}; leave it out")
    choices = RetrievalChoices(
        measures=parse_retrieval_measures(request.measures or DEFAULT_MEASURES),
        fit_split=request.fit_split,
        margin_s=request.margin_s,
        fps=request.fps,
        tie=request.tie,
        resamples=request.resamples,
        seed=request.seed,
        save=request.save_similarities,
    )
    track = progress_bar("videos", "video", show=output.progress)
    if request.model is not None:
        from truemoment.learning.training.ranking import rank_with_run

        ranked = rank_with_run(request.model, str(request.source), request.sentences, data.source, choices, track=track)
    elif request.sentences is None:
        ranked = rank_similarities(request.source, choices)
    else:
        ranked = rank_features(request.source, request.sentences, data.source, choices, track)
    deliver(reports.report(ranked), lambda: reports.document(ranked), output)
