"""The reports of a search and of an index: moments with their pictures, and what indexing came to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from truemoment.base.boundary.documents import document_head
from truemoment.base.boundary.tables import csv_text
from truemoment.report.model import Block, Cell, Details, Gallery, Paragraph, Picture, Report, Section, Table
from truemoment.report.words import clock, counted, few
from truemoment.searching.building import IndexReport
from truemoment.searching.index import Index
from truemoment.searching.layout import Calibration, Settings
from truemoment.searching.listing import BEST, MomentListing
from truemoment.searching.pictures import SearchResult
from truemoment.searching.retrieval import FoundMoment
from truemoment.searching.split_search import SearchPrediction
from truemoment.searching.stopping import RetrievedMoments
from truemoment.searching.unrelated import STANDS_OUT, can_match
from truemoment.searching.unrelated_pictures import LEAST_VIDEOS, can_match_pictures

SCORE_DIGITS = 3

EXCERPT_COLUMNS = 60

WHY = (
    "whether a moment is seen, its words are said, or both, and its rank in the list of each model; the score is then "
    "that of the words (BM25), or that of the ranks in all lists"
)

NO_MODELS: Mapping[str, Settings] = MappingProxyType({})


def match_text(match: float | None) -> str:
    """Return a match in words for people; one that does not stand out is never rounded up to one that does.

    Examples
    --------
    >>> match_text(0.9762), match_text(0.9195), match_text(None)
    ('98 %', '91 %', '-')
    """
    if match is None:
        return "-"
    return f"{math.floor(100 * match) if match < STANDS_OUT <= round(match, 2) else round(100 * match)} %"


def copies_text(moment: FoundMoment) -> str:
    """Return how many near copies of a moment are not listed; "" for none."""
    return f"and {counted(moment.copies, 'near copy', 'near copies')}" if moment.copies else ""


def why_text(moment: FoundMoment) -> str:
    """Return why a moment was found, for people: that it is seen, with its rank by each model, or what is said in it.

    Examples
    --------
    >>> from truemoment.searching.spoken_words import Quote, QuotedWord
    >>> red = QuotedWord("red", 7.0, 7.5)
    >>> why_text(FoundMoment("film", 4.0, 8.0, 5.1, why="said", quote=Quote(3, "Look at the red door.", (red,))))
    'said: "Look at the red door."'
    >>> why_text(FoundMoment("film", 4.0, 8.0, 0.03, ranks=(("clip", 1), ("xclip", 4))))
    'seen (clip #1, xclip #4)'
    """
    ranks = ", ".join(f"{name} #{rank}" for name, rank in moment.ranks)
    is_of_one = {name for name, _ in moment.ranks} <= {"seen", "said"}
    why = moment.why if is_of_one else f"{moment.why} ({ranks})"
    return why if moment.quote is None else f'{why}: "{moment.quote.excerpt(EXCERPT_COLUMNS)}"'


def report(
    query: str,
    results: Sequence[SearchResult],
    index: Index,
    answer: RetrievedMoments,
    listing: MomentListing = BEST,
    *,
    models: Mapping[str, Settings] = NO_MODELS,
) -> Report:
    """Return what people read: the moments as a table; on a page also their pictures, and the index."""
    what = (
        "share of unrelated sentences whose best moment fits them less well than this one fits the sentence; "
        f"below {100 * STANDS_OUT:.0f} % nothing stands out"
    )
    notes = _notes(query, answer, listing)
    if any(result.moment.why == "seen" for result in results) and not can_match(index):
        notes = (*notes, "no match: expected two minutes of video or more, in less it is unknown what stands out")
    return _report(query, results, index, notes=notes, match=what, listing=listing, models=models)


def report_of_picture(
    query: str,
    results: Sequence[SearchResult],
    index: Index,
    answer: RetrievedMoments,
    *,
    models: Mapping[str, Settings] = NO_MODELS,
) -> Report:
    """Return what people read of moments that are like a picture."""
    what = (
        "share of frames of the videos whose best moment in another video resembles them less than this one resembles "
        f"the picture; below {100 * STANDS_OUT:.0f} % nothing stands out"
    )
    notes = (*_notes(query, answer, BEST), *notes_on_pictures(index))
    return _report(query, results, index, notes=notes, match=what, listing=BEST, models=models)


def notes_on_pictures(index: Index) -> tuple[str, ...]:
    """Return why the moments of a picture have no match, if they have none."""
    if can_match_pictures(index):
        return ()
    return (
        f"no match: a picture is compared with frames of {LEAST_VIDEOS} videos or more, two minutes or more in all",
    )


def _report(
    query: str,
    results: Sequence[SearchResult],
    index: Index,
    *,
    notes: tuple[str, ...],
    match: str,
    listing: MomentListing,
    models: Mapping[str, Settings],
) -> Report:
    folds = any(result.moment.copies for result in results)
    with_why = any(result.moment.why != "seen" or result.moment.ranks for result in results)
    rows = tuple(
        (
            Cell(str(result.rank)),
            Cell(result.moment.video_id),
            *(Cell(clock(part.start_s)) for part in result.moment.parts or (result.moment,)),
            Cell(clock(result.moment.end_s)),
            Cell(f"{result.moment.score:.{SCORE_DIGITS}f}"),
            Cell(match_text(result.moment.match)),
            *([Cell(copies_text(result.moment))] if folds else []),
            *([Cell(why_text(result.moment))] if with_why else []),
        )
        for result in results
    )
    starts = ("from", *("then" for _ in listing.later))
    headings = (
        "rank",
        "video",
        *starts,
        "to",
        "score",
        "match",
        *([""] if folds else []),
        *(["why"] if with_why else []),
    )
    table = Table("", headings, (("", rows),), text_columns=(1, len(headings) - 1) if with_why else (1,))
    query = listing.title(query)
    facts = (
        f"Index: {index.name}, {counted(len(index), 'video')}",
        *(
            f"Model: {about.encoder}#{about.fingerprint[:8]}, {about.fps:g} frames a second"
            for about in models.values() or (index.settings,)
        ),
    )
    blocks: list[Block] = [
        *([table] if rows else []),
        *([_gallery(results)] if any(result.picture for result in results) else []),
        Details("Index and model", tuple(map(Paragraph, facts))),
    ]
    return Report(
        title=query,
        question="Where is it?",
        sections=(Section("moments", "Moments, best first", tuple(blocks)),),
        notes=notes,
        reading=(
            ("score", "how well a moment fits the query; there always is a best moment, whether it fits or not"),
            ("match", match),
            *([("why", WHY)] if with_why else []),
        ),
    )


def _notes(query: str, answer: RetrievedMoments, listing: MomentListing) -> tuple[str, ...]:
    """Return that nothing stands out, and the words that the model does not know."""
    known, best, least = answer.lines_on_words(query), answer.best_match, match_text(STANDS_OUT)
    if listing.must_stand_out and not answer.moments and not answer.unknown.every:
        return (f"nothing stands out: no moment has a match of {least} or more", *known)
    if not answer.nothing_stands_out:
        return known
    if answer.unknown.every or best is None:
        return (f"nothing stands out: {'; '.join(known)}",)
    return (f"nothing stands out: the best match is {match_text(best)}, and moments stand out from {least}", *known)


def _gallery(results: Sequence[SearchResult]) -> Gallery:
    return Gallery(
        tuple(
            Picture(
                jpeg=result.picture,
                alt=f"The middle of moment {result.rank}, at {clock(moment.start_s)} of {moment.video_id}",
                title=f"{result.rank}. {clock(moment.start_s)} to {clock(moment.end_s)}",
                lines=(
                    f"{moment.video_id}, score {moment.score:.{SCORE_DIGITS}f}, match {match_text(moment.match)}",
                    *(f"then from {clock(part.start_s)}" for part in moment.parts[1:]),
                    *filter(None, [copies_text(moment)]),
                    *([why_text(moment)] if moment.quote is not None or moment.ranks else []),
                    result.path.name,
                ),
            )
            for result, moment in ((result, result.moment) for result in results)
        )
    )


def as_csv(query: str, results: Sequence[SearchResult]) -> str:
    """Return the moments as CSV, seconds in full; a spreadsheet takes no text for a formula."""
    moments = ((result.rank, query, result.moment.video_id, str(result.path), result.moment) for result in results)
    rows = (
        (
            *about,
            moment.start_s,
            moment.end_s,
            moment.score,
            moment.match,
            moment.why,
            moment.quote and moment.quote.text,
        )
        for *about, moment in moments
    )
    columns = ("rank", "query", "video_id", "path", "start_s", "end_s", "score", "match", "why", "said")
    return csv_text(columns, rows)


def ending(answer: RetrievedMoments, models: Mapping[str, Settings], n_searched: int) -> str:
    """Return a note on videos that were searched and not scored, and what that means; "" if all were scored."""
    calibration = next(iter(models.values())).calibration if len(models) == 1 else None
    scored = f"{answer.n_videos:,} of {counted(n_searched, 'video')}"
    if answer.ended_by == "all" or answer.n_videos >= n_searched:
        return ""
    if calibration and answer.ended_by == "rule":
        return f"complete with probability {calibration.quantile:g} as calibrated: {scored} scored; --exact scores all"
    if calibration:
        return f"stopped at {scored}, before the search was complete as calibrated; --candidates scores more"
    return f"the first stage selected {scored} to score; --exact scores all"


def document(
    query: str,
    results: Sequence[SearchResult],
    index: Index,
    answer: RetrievedMoments,
    listing: MomentListing,
    *,
    models: Mapping[str, Settings],
) -> dict[str, Any]:
    """Return what programs read of a search."""
    return {
        **document_head("truemoment/search/1"),
        "query": query,
        "then": list(listing.later),
        "index": index.name,
        **_of_settings(next(iter(models.values()))),
        "models": [{"name": name, **_of_settings(settings)} for name, settings in models.items()],
        "n_videos": len(index),
        "n_scored": answer.n_videos,
        "ended_by": answer.ended_by,
        "unknown_words": list(answer.unknown.words),
        "no_word_known": answer.unknown.every,
        "nothing_stands_out": answer.nothing_stands_out or (listing.must_stand_out and not results),
        "seed": None,
        "moments": [
            {
                "rank": result.rank,
                "video_id": result.moment.video_id,
                "path": result.path,
                **place_and_score(result.moment),
                "parts": [place_and_score(part) for part in result.moment.parts],
                "near_copies": result.moment.copies,
                **reason(result.moment),
                "thumbnail": result.thumbnail,
                "clip": result.clip,
            }
            for result in results
        ],
    }


def place_and_score(moment: FoundMoment) -> dict[str, float | None]:
    """Return where a moment is, in seconds, and how well it matches, for programs."""
    return {"start_s": moment.start_s, "end_s": moment.end_s, "score": moment.score, "match": moment.match}


def reason(moment: FoundMoment) -> dict[str, Any]:
    """Return why a moment was found, for programs."""
    quote = moment.quote
    said = quote and {"text": quote.text, "words": [word._asdict() for word in quote.words]}
    return {"why": moment.why, "said": said, "ranks": [{"list": name, "rank": rank} for name, rank in moment.ranks]}


def _of_settings(settings: Settings) -> dict[str, Any]:
    names = ("model", "encoder", "fingerprint", "n_dimensions", "fps", "proposals")
    return {name: getattr(settings, name) for name in names}


def report_of_split(prediction: SearchPrediction) -> Report:
    """Return what people read of the predictions for a split."""
    split = f"{prediction.annotations.dataset}/{prediction.annotations.split}"
    size = counted(prediction.n_predicted, "query", "queries")
    written = f"{size} of {split} answered in {prediction.out}, up to {prediction.made_by['top']} moments each"
    facts = (("method", str(prediction.made_by["method"])), ("predictions", written))
    return Report(title=f"Search for the queries of {split}", facts=facts, sections=())


def document_of_split(prediction: SearchPrediction) -> dict[str, Any]:
    """Return what programs read of the predictions for a split."""
    return {
        **document_head("truemoment/search-run/1"),
        "dataset": prediction.annotations.dataset,
        "split": prediction.annotations.split,
        "annotations_sha256": prediction.annotations.sha256,
        "made_by": prediction.made_by,
        "seed": None,
        "answered": prediction.n_predicted,
        "predictions": str(prediction.out),
    }


# ------------------------------------------------------------------------------------------------- indexing


def report_of_index(done: IndexReport, settings: Settings, folder: str, n_videos: int) -> Report:
    """Return what people read of an index that was made or extended."""
    plan = done.plan
    counts = [
        (len(done.indexed), "indexed now"),
        (len(plan.unchanged), "indexed before"),
        (plan.moved, "of these moved"),
        (len(plan.copies), "left out as copies"),
        (len(done.failed), "not readable"),
    ]
    videos = ", ".join(f"{many:,} {what}" for many, what in counts if many)
    facts = [
        ("index", f"{folder}: {counted(n_videos, 'video')} ({videos})"),
        ("model", f"{settings.encoder}, {settings.n_dimensions:,} dimensions"),
        ("frames", f"{settings.fps:g} a second"),
        *(
            (
                "model",
                f"{made.encoder}, {made.n_dimensions:,} dimensions, {made.fps:g} frames a second; "
                f"{counted(len(by_model.indexed), 'video')} now, {len(by_model.plan.unchanged):,} before",
            )
            for made, by_model in done.by_model
        ),
    ]
    if done.others:
        facts.append(
            ("left out", f"{counted(len(done.others), 'file')}, no videos: {few([path.name for path in done.others])}")
        )
    if done.n_frames:
        length_s, rate = sum(done.indexed.values()), done.n_frames / max(done.wall_s, 1e-9)
        stages = ", ".join(f"{name} {rate:,.0f}" for name, rate in done.rates.items())
        facts += [
            (
                "time",
                f"{clock(length_s)} of video, {done.n_frames:,} frames in {done.wall_s:,.1f} s: {rate:,.0f} a second",
            ),
            ("stages", f"frames a second of a worker: {stages}; slowest: {done.bound_by}"),
        ]
    if done.speech is not None:
        facts.append(("speech", done.speech.line))
    if done.parts_kept:
        facts.append(("resumed", f"{counted(done.parts_kept, 'part')} of an earlier command"))
    return Report(title=f"Index {folder}", facts=tuple(facts), sections=())


def document_of_index(
    done: IndexReport, settings: Settings, folder: str, videos: Mapping[str, float]
) -> dict[str, Any]:
    """Return what programs read of an index that was made or extended; `videos` are durations of all its videos."""
    plan = done.plan
    return {
        **document_head("truemoment/index-report/1"),
        "index": folder,
        **_of_settings(settings),
        "seed": None,
        "videos": [{"video_id": name, "duration_s": duration_s} for name, duration_s in videos.items()],
        "new": [video.video_id for video in plan.new if video.video_id in done.indexed],
        "changed": [video.video_id for video in plan.changed if video.video_id in done.indexed],
        "unchanged": [video.video_id for video in plan.unchanged],
        "moved": plan.moved,
        "copies": plan.copies,
        "failed": done.failed,
        "no_videos": done.others,
        "notes": done.notes,
        "parts_kept": done.parts_kept,
        "n_frames": done.n_frames,
        "frames_a_second": done.rates,
        "bound_by": done.bound_by,
        "seconds": done.wall_s,
        "speech": None if done.speech is None else done.speech.document(),
        "other_models": [
            {
                **_of_settings(made),
                "indexed_now": list(by_model.indexed),
                "unchanged": [video.video_id for video in by_model.plan.unchanged],
                "failed": by_model.failed,
            }
            for made, by_model in done.by_model
        ],
    }


def report_of_calibration(rule: Calibration, where: str) -> Report:
    """Return what people read of a calibration."""
    sample = f"{counted(rule.n_videos, 'video')}, {counted(rule.n_sentences, 'sentence')} of {rule.sentences}"
    facts = (
        ("index", where),
        ("sample", sample),
        (
            "rule",
            f"a search for up to {counted(rule.top, 'moment')} stops {rule.delta:.4f} above the best piece of the "
            f"next video, complete with probability {rule.quantile:g}",
        ),
    )
    return Report(title=f"Calibration of {where}", facts=facts, sections=())


def document_of_calibration(rule: Calibration, where: str) -> dict[str, Any]:
    """Return what programs read of a calibration."""
    return {
        **document_head("truemoment/calibration/1"),
        "index": where,
        **msgspec.to_builtins(rule),
    }
