"""The task of models that answer queries with moments, and the trained method: a Grounder like any other."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import msgspec
import numpy as np
from msgspec import UNSET

from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.boundary.yaml_files import naming
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Bools, Floats
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.baselines.targets import usable
from truemoment.data.formats import read_predictions, write_predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import Measure, parse_measure, parse_measures
from truemoment.evaluation.uncertainty import sums_by_video
from truemoment.learning.models.base import TIMES, Need
from truemoment.learning.models.decoding import as_predictions, grid_note, on_grid
from truemoment.learning.training import checkpoints
from truemoment.learning.training.answering import pairs_to_answer, score
from truemoment.learning.training.network import Network
from truemoment.learning.training.progress import Track
from truemoment.learning.training.query_rows import QueryRows, reads_rows
from truemoment.learning.training.recipes import Recipe, Text
from truemoment.learning.training.run import Run
from truemoment.learning.training.task import Answers, EpochData, SplitFigure, Task
from truemoment.learning.training.trained import TrainedNetwork
from truemoment.learning.training.video_pairs import VideoWindows, WholeVideos
from truemoment.learning.training.vocabulary import (
    UNKNOWN,
    TokenVocabulary,
    make_vocabulary,
    vocabulary_of_rows,
    word_numbers,
)
from truemoment.learning.training.windows import AllCandidates, in_windows
from truemoment.media.features.alignment import check
from truemoment.media.features.base import FeatureStore
from truemoment.searching.first_look import WindowRanking

LAST_EPOCH = "it was trained without times of moments, and its last epoch is kept: no reference was used"

BEST_EPOCH = "it was trained without times of moments, but its epoch was chosen with those of {val}"

OF_WORDS: frozenset[Need] = frozenset({"phrases", "heads", "word numbers", "word vectors"})
"""Inputs that are made of the words themselves."""

WINDOWED = "truemoment.searching.windowed.WindowedGrounder"
"""What predicts long videos with any method."""


@dataclass(frozen=True, eq=False)
class TrainedGrounder(TrainedNetwork):
    """A trained method that answers queries with moments.

    Parameters
    ----------
    run, network, vocabulary, features, texts, track
        As for :class:`~truemoment.learning.training.trained.TrainedNetwork`.
    ranking
        Chooses the windows of a film that a query asks; None for all.
    """

    ranking: WindowRanking | None = None

    @property
    def name(self) -> str:
        """Name in reports: that of the family."""
        return self.run.recipe.family.title

    def with_features(self, features: FeatureStore) -> TrainedGrounder:
        """Return the same method with other features."""
        return dataclasses.replace(self, features=features)

    def fit(self, train: Annotations, val: Annotations | None = None) -> TrainedGrounder:
        """Return itself: it is trained already."""
        del train, val
        return self

    def unknown_words(self, queries: Queries) -> tuple[int, int]:
        """Return the number of unknown words in queries, and of all words."""
        if self.vocabulary.rows is not None:
            return 0, int(self.vocabulary.rows.of(queries).n_words.sum())
        numbers, n_words = word_numbers(queries.sentence, self.vocabulary, self.run.recipe.text.tokens)
        return int((numbers == UNKNOWN).sum()), int(n_words.sum())

    def ground(self, queries: Queries, top: int = 10) -> Predictions:
        """Answer queries with ranked moments.

        A run whose recipe has windows answers whole videos, window by window.
        """
        recipe = self.run.recipe
        if self.features is not None:
            self.run.refuse_other_width(self.features)
        if recipe.windows is not UNSET:
            method = AllCandidates(self.name, self.network, self.vocabulary, recipe, self.features)
            films = in_windows(method, recipe.windows, ranking=self.ranking, track=self.track)
            return on_grid(films.ground(queries, top), recipe.decode.grid_s or None)
        unknown = ~(queries.duration_s > 0)
        if unknown.any():
            raise InputError(
                f"of video {queries.video_id[unknown][0]!r} is not known, and candidates are shares of it",
                field="duration_s",
            )
        pairs = pairs_to_answer(
            queries,
            self.features,
            self.vocabulary,
            recipe,
            self.network.model,
            track=lambda ids: self.track(ids, "features"),
        )
        scored = score(self.network, pairs, recipe.train.batch)
        duration_s, decode = queries.duration_s, recipe.decode
        answers = as_predictions(queries.query_id, scored, duration_s, nms=decode.nms, top=top, name=self.name)
        return on_grid(answers, decode.grid_s or None)


class GroundingTask(Task):
    """A query is answered with moments of its video."""

    trained = TrainedGrounder
    use = "answers with moments: use truemoment predict run"

    measures: ClassVar[str] = "R@1,IoU=0.5; R@1,IoU=0.7; dR@1,IoU=0.5; dR@1,IoU=0.7; mIoU; AxIoU@10"

    mixture_default: ClassVar[str] = "R@1,IoU=0.5; R@5,IoU=0.5; R@10,IoU=0.5; mIoU"
    """Measures of Table 5 of MAD, and the mean IoU of the first answer."""

    def check_recipe(self, recipe: Recipe, path: AnyPath | None) -> None:
        """Refuse another measure, a block `clips`, and `windows` for a model that cannot learn from them."""
        with naming(path, "select.measure"):
            parse_measure(recipe.select.measure)
        if recipe.clips is not UNSET:
            raise InputError(f"got clips, but {recipe.model} answers with moments", path=path, field="clips")
        if reads_rows(recipe.text) and (needed := sorted(recipe.family.needs & OF_WORDS)):
            problem = f"got {recipe.text.vectors}, but {recipe.model} needs {needed[0]}, which rows do not have"
            raise InputError(problem, path=path, field="text.vectors")
        if recipe.windows is UNSET:
            return
        needs, why = recipe.family.needs, ""
        if "windows" in needs:
            why = f"learns from sliding windows itself; predict long videos with {WINDOWED}"
        elif not needs & TIMES:
            why = "learns without the times of moments, by which windows are drawn"
        if why:
            raise InputError(f"{recipe.model} {why}; expected a recipe without this block", path=path, field="windows")

    def parse_measures(self, text: str) -> tuple[Measure, ...]:
        """Return measures of moments."""
        return parse_measures(text)

    def mixture_measures(self, text: str | None) -> tuple[str, ...]:
        """Return the measures of a study of mixtures, each once."""
        return tuple(dict.fromkeys(map(str, parse_measures(text or self.mixture_default))))

    def with_features(self, split: Annotations, store: FeatureStore, *, skip_missing: bool) -> Bools:
        """Return which queries are of videos with features."""
        return np.isin(split.queries.video_id.astype(str), check(store, split).require(skip_missing=skip_missing))

    def learnable(self, split: Annotations, needs: frozenset[Need]) -> Bools:
        """Return which queries have a usable first reference, or any, for a model that needs all "moments".

        Where a model does not need times, those of videos with a duration: no time of a reference is read.
        """
        first = split.offsets[:-1]
        if "moments" in needs:
            return np.logical_or.reduceat(usable(split), first)
        return np.asarray(usable(split)[first] if needs & TIMES else split.duration_s[first] > 0)

    def check_run(self, run: Run) -> None:
        """Refuse validation videos of unknown duration."""
        if not np.all(run.val.queries.duration_s > 0):
            raise UsageError(
                f"{run.val.dataset}/{run.val.split} has videos of unknown duration, and candidates are shares of it"
            )

    def notes(self, run: Run) -> tuple[str, ...]:
        """Return which references a model used that learns without times."""
        if run.family.needs & TIMES:
            return ()
        return (LAST_EPOCH if run.recipe.train.keeps_last else BEST_EPOCH.format(val=run.val.split),)

    def vocabulary(self, run: Run, text: Text) -> TokenVocabulary:
        """Return the words of the training sentences, or those with fixed vectors."""
        rows = QueryRows.open(msgspec.structs.replace(run.recipe, text=text), run.queries, run.recipe.data or ())
        if rows is None:
            return make_vocabulary(text, run.train.queries.sentence, run.sentences, run.data_dir, seed=run.seed)
        for split in (run.train, run.val, *run.tests.values()):  # what is missing or damaged is refused here
            rows.of(split.queries)
        return vocabulary_of_rows(rows)

    def prepare(self, run: Run, network: Network, track: Track) -> EpochData:
        """Return windows of videos if the recipe has a block ``windows``, else whole videos."""
        make = WholeVideos.prepare if run.recipe.windows is UNSET else VideoWindows.prepare
        return make(run, network, track)

    def answer(
        self, run: Run, record: checkpoints.RunRecord, folder: OwnPath, measures: str | None, track: Track
    ) -> Answers:
        """Answer the test splits with moments, write the answers to ``SPLIT.jsonl``, and measure them."""
        grounder = TrainedGrounder.load(folder, store=run.store, track=track)
        figures: list[SplitFigure] = []
        notes: list[str] = []
        for name, split in run.tests.items():
            answers = grounder.ground(split.queries, run.recipe.decode.top)
            write_predictions(folder / f"{name}.jsonl", answers, split, made_by=record.made_by)
            notes += [f"{name}: {note}" for note in grid_note(answers, run.recipe.decode.grid_s or None)]
            if split.without_moment.all():
                notes.append(f"{name}: has no references, and no figures; the predictions are in {name}.jsonl")
                continue
            scores = evaluate(split, answers, parse_measures(measures or self.measures))
            figures += [SplitFigure(name, mean.measure, mean.value, mean.n_queries or 0) for mean in scores.measured()]
        return Answers(grounder.network, tuple(figures), notes=tuple(notes))

    def sums_by_film(self, folder: OwnPath, name: str, split: Annotations, measure: str) -> Floats:
        """Return sums of a measure and of its weights by film, of the answers in ``SPLIT.jsonl``."""
        answers, _ = read_predictions(folder / f"{name}.jsonl", split)
        return np.concatenate(sums_by_video(evaluate(split, answers, parse_measures(measure))), axis=1)


TASK = GroundingTask()


def require_grounding(recipe: Recipe, message: str) -> None:
    """Refuse a recipe of a model that does not answer with moments."""
    if not isinstance(recipe.family.task, GroundingTask):
        raise UsageError(message)
