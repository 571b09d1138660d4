"""Kept sentences as files of other programs: annotations in the project's own form, and MAD's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from truemoment.base.boundary.files import write_json, write_json_lines
from truemoment.base.boundary.own_path import OwnPath
from truemoment.collection.layout import ANNOTATIONS, MAD, CollectSettings, FoundFilm, StoredSentence
from truemoment.collection.splits import NAMES
from truemoment.data.datasets.own import OwnQuery


def kept_of(film: FoundFilm) -> list[StoredSentence]:
    """Return the kept sentences of a film; a discarded film has none."""
    return [] if film.report.discarded else [sentence for sentence in film.sentences() if sentence.kept]


def text_of(sentence: StoredSentence, settings: CollectSettings) -> str:
    """Return the sentence that the dataset has: with names, or with SOMEONE."""
    return sentence.sentence_someone if settings.names == "someone" else sentence.sentence


def write_annotations(
    out: OwnPath, films: Sequence[FoundFilm], settings: CollectSettings, splits: Mapping[str, str]
) -> None:
    """Write annotations.jsonl; without splits all sentences belong to all splits."""
    lines = (
        OwnQuery(
            query_id=sentence.id,
            video_id=film.report.name,
            duration_s=film.report.duration_s,
            sentence=text_of(sentence, settings),
            moments=[sentence.film_s],
            split=splits.get(film.report.name),
        )
        for film in films
        for sentence in kept_of(film)
    )
    write_json_lines(out / ANNOTATIONS, lines)


def write_mad(out: OwnPath, films: Sequence[FoundFilm], settings: CollectSettings, splits: Mapping[str, str]) -> None:
    """Write a file in MAD's form for each split; without splits all films are in train."""
    (out / MAD).mkdir(exist_ok=True)
    for split in NAMES:
        entries = {
            sentence.id: {
                "movie": film.report.name,
                "sentence": text_of(sentence, settings),
                "timestamps": list(sentence.film_s),
                "ext_timestamps": list(sentence.film_s),
                "movie_duration": film.report.duration_s,
            }
            for film in films
            if splits.get(film.report.name, NAMES[0]) == split
            for sentence in kept_of(film)
        }
        path = out / MAD / f"MAD_{split}.json"
        if entries:
            write_json(path, entries, indent=1)
        else:
            path.unlink(missing_ok=True)
