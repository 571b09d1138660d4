"""An index of several models: the first is the index itself, each other one an index inside it, of the same videos.

::

    INDEX/models/NAME-HASH/    an index made with another model: everything that works on an index works on it

The first model says which videos there are: a video that it does not have, or has with other content, is not searched
by the others, and the next ``truemoment index`` removes it from them. A search makes one list of theirs
(:mod:`truemoment.searching.fusion`). Of this list nothing stands out if nothing does in the list of any model.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.report.words import counted
from truemoment.searching.encoder_options import EncoderOptions, names_model
from truemoment.searching.fusion import DEPTH, fuse, without_near
from truemoment.searching.index import Index
from truemoment.searching.layout import MODELS, VIDEOS, Settings, is_index
from truemoment.searching.request import RankingOptions
from truemoment.searching.retrieval import FoundMoment
from truemoment.searching.speech import Speech
from truemoment.searching.stopping import RetrievedMoments, worst_reason
from truemoment.searching.unknown_words import UnknownWords

if TYPE_CHECKING:
    from truemoment.media.video.encoders import Encoder

LISTS = ("seen", "said")
"""Names of lists that are not those of a model."""


@dataclass(frozen=True, eq=False)
class IndexModel:
    """A model of an index.

    Parameters
    ----------
    name
        Its name among the models of the index.
    index
        Its rows.
    options
        The model and device, as far as a user names them.
    videos
        The videos that are searched by it; None for all.
    """

    name: str
    index: Index
    options: EncoderOptions
    videos: frozenset[str] | None = None

    @functools.cached_property
    def encoder(self) -> Encoder:
        """The model, loaded."""
        return self.options.encoder_of(self.index)

    def searched(self, videos: Iterable[str] | None) -> list[str] | None:
        """Return those of some videos, None for all, that are searched by this model."""
        if self.videos is None:
            return None if videos is None else list(videos)
        return sorted(self.videos if videos is None else self.videos.intersection(videos))


def other_models(index: AnyPath) -> list[OwnPath]:
    """Return the folder of each model of an index but the first; a link is refused."""
    folder = OwnPath.of(index) / MODELS
    folders = [path for path in folder.iterdir() if path.is_dir()] if folder.exists() else []
    return [path for path in folders if is_index(path) or (path / VIDEOS).exists()]  # else it is hardly begun


def models_of(
    index: Index, options: EncoderOptions, wanted: Sequence[str] = (), note: Callable[[str], None] = lambda _: None
) -> list[IndexModel]:
    """Open the models of an index that are searched.

    Parameters
    ----------
    index
        The index.
    options
        The first of the wanted models, and the device.
    wanted
        Their names, as ``truemoment index`` took them or as a search shows them; none for all models.
    note
        Receives a line on videos that a model does not have.

    Raises
    ------
    UsageError
        If the index has no model of a name.
    MissingFileError, InputError
        If a model's part of the index is damaged.
    """
    indexes = [index]
    for folder in other_models(index.folder):
        if (folder / VIDEOS).glob("[!.]*"):  # else it was interrupted before the first video
            indexes.append(_opened(folder))
        else:
            note(f"{folder}: has no video yet; truemoment index with the same model adds them")
    if len(indexes) == 1 and len(wanted) < 2:
        return [IndexModel(model_names([index.settings])[0], index, options)]
    names = model_names([other.settings for other in indexes])
    models: dict[str, IndexModel] = {}
    for name, other in zip(names, indexes, strict=True):
        given = next((text for text in wanted if text == name or names_model(text, other.settings.model)), None)
        if given is None and wanted:
            continue
        # Whoever made the index chose its short names, so these do not say that a user trusts the model.
        model = given if given is not None and names_model(given, other.settings.model) else None
        videos = None if other is index else _shared(index, other, name, note)
        models[given or name] = IndexModel(name, other, replace(options, model=model), videos)
    if missing := [text for text in wanted if text not in models]:
        raise UsageError(f"--model: got {missing[0]!r}, expected a model of {index.path}: {', '.join(names)}")
    return list(models.values())


def _opened(folder: OwnPath) -> Index:
    try:
        return Index(folder)
    except (InputError, MissingFileError) as error:
        raise InputError(str(error), hint=f"remove {folder} to search by the other models") from None


def _shared(index: Index, other: Index, name: str, note: Callable[[str], None]) -> frozenset[str]:
    """Return the videos that another model has as the first one has them."""
    shared = frozenset(
        video for video in index if video in other and index.about(video).identity == other.about(video).identity
    )
    if len(shared) < len(index):
        without = f"{len(index) - len(shared):,} of {counted(len(index), 'video')}"
        note(f"{without} are not searched by {name}, which has not seen them; truemoment index adds them")
    return shared


def model_names(models: Sequence[Settings]) -> list[str]:
    """Return a short name of each model: the last part of its name, with its fingerprint if others have that, too."""
    short = [re.split(r"[/#]", made.encoder)[-1] for made in models]
    count = Counter([*short, *LISTS])
    return [
        f"{name}#{made.fingerprint[:8]}" if count[name] > 1 else name for name, made in zip(short, models, strict=True)
    ]


def ranking_of_lists(ranking: RankingOptions, n_models: int) -> RankingOptions:
    """Return how each list is ranked: if lists are fused, they have more moments than the result."""
    is_fused = n_models > 1 or ranking.is_fused
    return replace(ranking, top=max(ranking.top, DEPTH)) if is_fused else ranking


def answer_of(
    seen: Mapping[str, RetrievedMoments],
    speech: Speech | None,
    sentence: str,
    ranking: RankingOptions,
    videos: Sequence[str],
) -> RetrievedMoments:
    """Return one list of what is seen by models, by their names, and of what is said, where that is searched.

    Parameters
    ----------
    seen
        Moments that are ranked as :func:`ranking_of_lists` says; none where only what is said is searched.
    speech
        What is said; None where only what is seen is searched.
    sentence, ranking, videos
        What is searched for, how, and in which videos.
    """
    if speech is None:
        return fuse_answers(seen, ranking)
    said = speech.find(sentence, ranking_of_lists(ranking, len(seen)).top, ranking.apart, videos)
    answer = fuse_answers(seen, ranking, said) if seen else RetrievedMoments(said, len(videos), "all")
    return replace(answer, moments=speech.quoted(answer.moments, sentence))


def fuse_answers(
    seen: Mapping[str, RetrievedMoments], ranking: RankingOptions, said: Sequence[FoundMoment] | None = None
) -> RetrievedMoments:
    """Return one list of those of models, by their names, and of what is said; the list of one model as it is.

    A model that knows no word of the sentence takes no part if another one does.
    """
    answers = list(seen.values())
    if len(answers) == 1 and said is None:
        return answers[0]
    known = {name: answer for name, answer in seen.items() if not answer.unknown.every} or seen
    lists = {name if len(seen) > 1 else LISTS[0]: answer.moments for name, answer in known.items()}
    fused = fuse(lists if said is None else {**lists, LISTS[1]: said})
    moments = without_near(fused, ranking.apart, ranking.top)
    if len(answers) == 1:
        return replace(answers[0], moments=moments)
    unknown, reasons = [answer.unknown for answer in answers], {answer.ended_by for answer in answers}
    words = [word for word in unknown[0].words if all(word in other.words for other in unknown)]
    return RetrievedMoments(
        moments,
        max(answer.n_videos for answer in answers),
        worst_reason(reasons),
        UnknownWords(tuple(words), all(other.every for other in unknown)),
        tuple(answers),
    )
