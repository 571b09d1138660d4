"""The report of surveys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from truemoment.base.boundary.documents import Measured, document_head
from truemoment.base.errors import UsageError
from truemoment.base.known_names import NO_DURATION
from truemoment.base.version import __version__ as version
from truemoment.evaluation.uncertainty import LEVEL
from truemoment.report.drawing import shortened
from truemoment.report.model import Block, Finding, Paragraph, Report, Section
from truemoment.report.words import counted, listed, low_to_high, number, p_value, percent
from truemoment.studies.bias import report_figures as figures
from truemoment.studies.bias.grids import Grid
from truemoment.studies.bias.information import VerbInformation
from truemoment.studies.bias.report_order import order_document, order_section, order_sentence
from truemoment.studies.bias.report_scatter import scatter_drawings
from truemoment.studies.bias.report_tables import comparison, location_tables, short_name, verb_tables, word_tables
from truemoment.studies.bias.statistics import Statistics
from truemoment.studies.bias.surveys import OVER, SplitPair, SplitSurvey, Survey, SurveyPart

SCHEMA = "truemoment/bias/1"

NO_MOMENT, NO_WORD, NO_VIDEO = "there is no moment", "there is no query", NO_DURATION

# -------------------------------------------------------------------------------------------- document


def document(
    surveys: Sequence[Survey], *, seed: int, sources: Sequence[Mapping[str, str] | None] = ()
) -> dict[str, Any]:
    """Return the JSON document of surveys; shares are fractions, never percent.

    Parameters
    ----------
    surveys
        Survey of each dataset.
    seed
        Seed of all draws.
    sources
        ``path`` and ``sha256`` of the file of each survey; None for a dataset of the field.
    """
    files = list(sources) or [None] * len(surveys)
    return {
        **document_head(SCHEMA),
        "engine": surveys[0].engine if surveys else "",
        "seed": seed,
        "permutations": surveys[0].permutations if surveys else 0,
        "draws": surveys[0].draws if surveys else 0,
        "datasets": [_dataset(survey, file) for survey, file in zip(surveys, files, strict=True)],
    }


def _dataset(survey: Survey, file: Mapping[str, str] | None) -> dict[str, Any]:
    return {
        "dataset": survey.dataset,
        "title": survey.title,
        "file": file,
        "notes": survey.notes,
        "splits": [_split(split, survey.statistics.of_split[split.name]) for split in survey.splits],
        "whole": _split(survey.whole, survey.statistics.whole),
        "distances": [_distance(pair) for pair in survey.pairs],
        "order": order_document(survey.order),
        "verbs": _verbs(survey),
        "information": _information(survey.information),
        "long_tail": _long_tail(survey),
        "shared_words": _shared_words(survey),
        "uniqueness": _uniqueness(survey),
        "verdict": verdict(survey),
    }


def _tested(value: float, unit: str, by_chance: float, p: float) -> dict[str, Any]:
    return {"value": value, "unit": unit, "by_chance": by_chance, "p": p}


def _split(split: SplitSurvey, statistics: Statistics) -> dict[str, Any]:
    of_train = split.constant_of_train
    return {
        "split": split.name,
        "sha256": split.sha256 or None,
        "n_queries": split.n_queries,
        "n_videos": split.n_videos,
        "n_moments": split.n_moments,
        "n_without_moment": split.n_without_moment,
        "n_unknown_duration": split.n_unknown_duration,
        "n_left_out": split.n_left_out,
        "longer": [
            {"over": over, **Measured(share, split.locations.why).as_dict()}
            for over, share in zip(OVER, split.longer.tolist(), strict=True)
        ],
        "grid": split.grid,
        "evenness": _evenness(split),
        "constant": _constant(split),
        "constant_of_train": Measured(of_train.value, of_train.why),
        "statistics": _statistics(statistics),
    }


def _evenness(split: SplitSurvey) -> Any:  # noqa: ANN401 - as_json writes it
    evenness = split.evenness.value
    if evenness is None:
        return Measured(None, split.evenness.why, unit="bits")
    return {
        **_tested(evenness.below_even_bits, "bits", evenness.by_chance_bits, evenness.p_value),
        "entropy_bits": evenness.entropy_bits,
        "even_bits": evenness.even_bits,
        "shortest": evenness.shortest_norm,
        "n_moments": evenness.n_moments,
    }


def _constant(split: SplitSurvey) -> Any:  # noqa: ANN401 - as_json writes it
    constant = split.constant.value
    if constant is None:
        return Measured(None, split.constant.why)
    return {
        "measure": constant.measure,
        **_tested(constant.value, "fraction", constant.even_value, constant.p_value),
        "start": constant.start_norm,
        "end": constant.end_norm,
    }


def _statistics(statistics: Statistics) -> dict[str, Any]:
    return {
        "total_duration": Measured(statistics.videos.total_h, NO_VIDEO, unit="hours"),
        "duration_per_video": Measured(statistics.videos.mean_min, NO_VIDEO, unit="minutes"),
        "duration_per_moment": Measured(statistics.moments.mean_s, NO_MOMENT, unit="seconds"),
        "coverage": Measured(statistics.moments.coverage_mean, NO_MOMENT),
        "coverage_median": Measured(statistics.moments.coverage_median, NO_MOMENT),
        "queries_per_video": Measured(statistics.sentences.per_video, NO_WORD, unit="queries"),
        "words_per_query": Measured(statistics.sentences.words_mean, NO_WORD, unit="words"),
        "words_per_query_std": Measured(statistics.sentences.words_std, NO_WORD, unit="words"),
        "tokens_per_query": Measured(statistics.sentences.tokens_mean, NO_WORD, unit="tokens"),
        "n_words": statistics.sentences.n_words,
        "n_tokens": statistics.sentences.n_tokens,
        "vocabulary": statistics.sentences.vocabulary.sizes,
        "words_histogram": statistics.sentences.words_histogram,
    }


def _distance(pair: SplitPair) -> dict[str, Any]:
    distance = pair.distance.value
    entry: dict[str, Any] = {"a": pair.a, "b": pair.b}
    if distance is None:
        why = pair.distance.why
        return entry | {"energy": Measured(None, why), "jensen_shannon": Measured(None, why, unit="bits")}
    return entry | {
        "n_a": distance.n_a,
        "n_b": distance.n_b,
        "energy": _tested(distance.energy, "fraction", distance.energy_by_chance, distance.energy_p),
        "jensen_shannon": _tested(
            distance.jensen_shannon_bits, "bits", distance.jensen_shannon_by_chance, distance.jensen_shannon_p
        ),
    }


def _verbs(survey: Survey) -> dict[str, Any]:
    use = survey.verb_use.value
    if use is None:
        return {"coverage": Measured(None, survey.verb_use.why), "top": []}
    return {
        "coverage": Measured(use.coverage, "no sentence has a verb"),
        "per_query": Measured(use.mean_per_sentence, NO_WORD, unit="verbs"),
        "histogram": use.per_sentence,
        "top": [
            {"verb": verb, "counts": {split: counts[verb] for split, counts in use.counts.items()}} for verb in use.top
        ],
    }


def _information(part: SurveyPart[VerbInformation]) -> Any:  # noqa: ANN401 - as_json writes it
    information = part.value
    if information is None:
        return Measured(None, part.why, unit="bits")
    return {
        **_tested(information.bits, "bits", information.by_chance_bits, information.p_value),
        "share_of_location": Measured(information.share_of_location, "all moments lie in one cell"),
        "n_verbs": information.n_verbs,
        "n_cells": information.n_cells,
        "of_verb": [
            {
                "verb": divergence.verb,
                "n_queries": divergence.n_queries,
                **_tested(divergence.bits, "bits", divergence.by_chance_bits, divergence.p_value),
            }
            for divergence in information.by_verb
        ],
    }


def _long_tail(survey: Survey) -> dict[str, Any] | None:
    tail = survey.tail.value
    if tail is None:
        return None
    return {
        "n_words": tail.n_words,
        "n_occurrences": tail.n_occurrences,
        "n_once": tail.n_once,
        "at_least": tail.at_least,
        "covered_by_top": tail.covered_by_top,
    }


def _shared_words(survey: Survey) -> list[dict[str, Any]]:
    return [
        {
            "train": pair.train,
            "test": pair.test,
            "n_shared": pair.overlap.n_shared,
            "share_of_test": pair.overlap.share_of_test,
            "n_not_in_train": pair.overlap.not_in_train.n_words,
            "occurrences_not_in_train": pair.overlap.not_in_train.share_of_occurrences,
            "frequent_not_in_train": pair.overlap.not_in_train.frequent,
            "n_not_in_test": pair.overlap.not_in_test.n_words,
            "occurrences_not_in_test": pair.overlap.not_in_test.share_of_occurrences,
        }
        for pair in survey.shared
    ]


def _uniqueness(survey: Survey) -> list[dict[str, Any]]:
    return [
        {
            "threshold": row.threshold,
            **Measured(row.share, NO_WORD).as_dict(),
            "n_sentences": row.n_sentences,
            "n_unique": row.n_unique,
            "n_verbatim": row.n_verbatim,
        }
        for row in survey.uniqueness.value or ()
    ]


# ---------------------------------------------------------------------------------------------- report


def report(
    surveys: Sequence[Survey],
    *,
    seed: int,
    sources: Sequence[Mapping[str, str] | None] = (),
    top_verbs: int = 30,
    verbs: Sequence[str] = (),
) -> Report:
    """Return the report of surveys.

    Parameters
    ----------
    surveys, seed, sources
        See :func:`document`.
    top_verbs
        Number of frequent verbs in the figures.
    verbs
        Verbs that have a figure of their own in each dataset.

    Raises
    ------
    UsageError
        If no moment of any dataset has one of `verbs`.
    """
    for verb in verbs:
        if not any(len(survey.whole.points_of_verb(verb)) for survey in surveys):
            raise UsageError(f"no moment of {listed([survey.title for survey in surveys])} has the verb {verb!r}")
    several = len(surveys) > 1
    findings = [Finding(tuple(verdict(survey)), title=survey.title) for survey in surveys]
    drawings = [*figures.drawings_of_datasets(surveys), *scatter_drawings(surveys)] if several else []
    return Report(
        title=f"Bias of {listed([survey.title for survey in surveys])}",
        question="What can a model guess without looking at the video?",
        sections=(
            Section("found", "What a guess can learn", tuple(findings), short="Findings"),
            Section("compare", "Side by side" if several else "Overview", (*comparison(surveys), *drawings)),
            order_section(surveys),
            *(
                _section(survey, name, top_verbs, verbs)
                for survey, name in zip(surveys, names_of(surveys), strict=True)
            ),
        ),
        reading=_reading(surveys[0]),
        signature=signature(surveys, seed),
        hashes=_hashes(surveys, sources),
    )


def _section(survey: Survey, name: str, top_verbs: int, verbs: Sequence[str]) -> Section:
    blocks: list[Block] = [Paragraph(f"{note[:1].upper()}{note[1:]}.") for note in notes(survey)]
    blocks += [*figures.location_drawings(survey, name), *location_tables(survey)]
    blocks += [*figures.verb_drawings(survey, name, top_verbs, verbs), *verb_tables(survey)]
    blocks += [*figures.word_drawings(survey, name), *word_tables(survey)]
    return Section(f"dataset-{name}", survey.title, tuple(blocks), short=short_name(survey.title))


def names_of(surveys: Sequence[Survey]) -> list[str]:
    """Return names for files and links, each different: ``charades-sta``, ``mine-jsonl``, ``mine-jsonl-2``."""
    counts: Counter[str] = Counter({"datasets": 1})  # the name of figures of several datasets
    names = []
    for survey in surveys:
        name = re.sub(r"[^a-z0-9]+", "-", survey.dataset.lower()).strip("-")[:40].strip("-") or "dataset"
        counts[name] += 1
        names.append(name if counts[name] == 1 else f"{name}-{counts[name]}")
    return names


def signature(surveys: Sequence[Survey], seed: int) -> str:
    """Return the signature of every figure."""
    data = "+".join(
        f"{survey.dataset}/{split.name}#{split.sha256[:8]}" for survey in surveys for split in survey.splits
    )
    first = surveys[0]
    return (
        f"bias|data:{data}|engine:{first.engine}|permutations:{first.permutations} of videos|draws:{first.draws}|"
        f"seed:{seed}|truemoment:{version}"
    )


def _hashes(surveys: Sequence[Survey], sources: Sequence[Mapping[str, str] | None]) -> tuple[tuple[str, str], ...]:
    files = [(file["path"], file["sha256"]) for file in sources if file is not None]
    splits = [
        (f"{shortened(survey.dataset, 40)}, {shortened(split.name, 40)}", split.sha256)
        for survey in surveys
        for split in survey.splits
    ]
    return (*files, *splits)


def notes(survey: Survey) -> list[str]:
    """Return remarks on the data: omitted queries and moments, and grids of times."""
    whole, lines = survey.whole, list(survey.notes)
    if whole.n_without_moment:
        without = counted(whole.n_without_moment, "query without a moment counts", "queries without a moment count")
        lines.append(f"{without} only for words")
    if whole.n_unknown_duration:
        lines.append(
            f"{counted(whole.n_unknown_duration, 'video has', 'videos have')} no known duration; such moments have no "
            "location (--durations FILE or --videos DIR gives durations)"
        )
    if whole.n_left_out and whole.locations.value is not None:
        lines.append(
            f"{whole.n_left_out:,} of {whole.n_moments:,} moments are not inside their video; figures of locations "
            "leave them out"
        )
    grids: dict[Grid, list[str]] = {}
    for split in (*survey.splits, *([whole] if len(survey.splits) > 1 else [])):
        if split.grid is not None:
            grids.setdefault(split.grid, []).append(short_name(split.name))
    lines += [
        f"moments of {', '.join(names)} are on a grid of {grid.name}; in an even spread, all pairs of a start and a "
        "later end on the grid are equally likely within a video"
        for grid, names in grids.items()
    ]
    return lines


# --------------------------------------------------------------------------------------------- verdict


def verdict(survey: Survey) -> list[str]:
    """Return the findings of a survey, one sentence each; an effect that is not shown is not called absent."""
    sentences = (
        _of_locations(survey),
        _of_constant(survey),
        _of_verbs(survey),
        _of_distance(survey),
        order_sentence(survey),
    )
    return [sentence for sentence in sentences if sentence]


def _of_locations(survey: Survey) -> str:
    evenness, why = survey.whole.evenness.value, survey.whole.evenness.why
    if evenness is None:
        return f"The evenness of the locations is undefined: {why}."
    if evenness.p_value > LEVEL:
        grid = _on(evenness.grid)
        return f"Moments are not shown to be less evenly spread{grid} than by chance ({p_value(evenness.p_value)})."
    bits = evenness.below_even_bits
    return (
        f"Moments are spread unevenly{_on(evenness.grid)}, as if they used only {percent(2**-bits)} of the possible "
        f"locations (unevenness {number(bits)} bits, {p_value(evenness.p_value)})."
    )


def _on(grid: Grid | None) -> str:
    return "" if grid is None else f" on their grid of {grid.name}"


def _of_constant(survey: Survey) -> str:
    split = survey.tested
    constant = split.constant.value
    if constant is None:
        return f"The best constant prediction for {short_name(split.name)} is undefined: {split.constant.why}."
    place = low_to_high((constant.start_norm, constant.end_norm), 0, times=100)
    hits = (
        f"The best constant prediction, {place} % of the video, hits {percent(constant.value, 1)} of "
        f"{'all moments' if split is survey.whole else short_name(split.name)} at IoU > 0.5"
    )
    by_chance = (
        f"the {percent(constant.even_value, 1)} expected if moments of the same lengths started "
        f"anywhere{_on(constant.grid)} ({p_value(constant.p_value)})"
    )
    return f"{hits}{', more than' if constant.p_value <= LEVEL else '; this is not shown to be more than'} {by_chance}."


def _of_verbs(survey: Survey) -> str:
    information = survey.information.value
    if information is None:
        return f"The information of verbs about locations is undefined: {survey.information.why}."
    p = p_value(information.p_value)
    if information.p_value > LEVEL:
        return f"Verbs are not shown to carry more information about locations than by chance ({p})."
    share = percent(information.share_of_location, 1)
    of_all = "" if share == "-" else f", {share} of the maximum"
    return (
        f"The verb of a query carries {number(information.bits)} bits of information about the location of its moment "
        f"beyond chance{of_all} ({p})."
    )


def _of_distance(survey: Survey) -> str:
    pair, tested = survey.train_to_tested, short_name(survey.tested.name)
    if pair is None:
        return ""
    distance, of_train = pair.distance.value, survey.tested.constant_of_train.value
    if distance is None:
        return f"The distance between train and {tested} is undefined: {pair.distance.why}."
    hits = (
        "" if of_train is None else f"; the best constant prediction of train hits {percent(of_train, 1)} of {tested}"
    )
    p = p_value(distance.energy_p)
    if distance.energy_p > LEVEL:
        return f"Moments of train and {tested} are not shown to be further apart than by chance ({p}){hits}."
    return (
        f"Moments of train and {tested} are further apart than by chance (energy distance "
        f"{number(distance.energy, 4)}, by chance {number(distance.energy_by_chance, 4)}, {p}){hits}."
    )


# --------------------------------------------------------------------------------------------- reading


def _reading(survey: Survey) -> tuple[tuple[str, str], ...]:
    """Return the terms of the report and their meaning; draws and engine are the same for all surveys."""
    return (
        (
            "Location",
            "Start and end of a moment as shares of its video, cut to the video. A moment that several sentences name "
            "counts once for each. Such sentences are not independent: tests keep them, and whole videos, together.",
        ),
        (
            "Densities",
            "Gaussian kernel density with Scott's bandwidth: times as dense as moments spread evenly over all (start, "
            "end). All figures of this page use the same classes. With fewer than "
            f"{figures.FEW} moments, each moment is a dot.",
        ),
        (
            "Unevenness",
            "Entropy of the locations, subtracted from the entropy of an even spread over all moments no shorter than "
            "the shortest one, and corrected for chance. One bit: as if moments used only half of the possible "
            "locations. If moments are on a grid, all pairs of a start and a later end on the grid are equally likely "
            "in an even spread.",
        ),
        (
            "Best constant prediction",
            "The share of the video that, predicted for every query, hits most moments at IoU > 0.5. By chance: what "
            "the best one hits if moments of the same lengths start anywhere (on a grid, at any step), searched again "
            f"in each of {survey.draws:,} draws.",
        ),
        (
            "Information of verbs",
            "Mutual information of the verb and the location cell, less its mean when moments are exchanged between "
            "sentences at random. 0: the verb carries no information.",
        ),
        (
            "Distance of splits",
            "Energy distance of (start, end), and Jensen-Shannon divergence in cells of 5 % of the video. By chance: "
            f"whole videos exchanged between the two splits, {survey.permutations:,} times.",
        ),
        (
            "p",
            "Share of the draws that reach the value or more; the data itself counts as one draw. p-values are not "
            "corrected for their number. An effect that is not shown may still exist: small splits show little.",
        ),
        (
            "Words and verbs",
            f"Found by the language engine {survey.engine}. A word has a letter or a digit; tokens are words "
            "and punctuation. The vocabulary counts words in lower case, each under its most frequent part of speech.",
        ),
        ("Unique sentences", "METEOR with every other sentence of the video is below the threshold (MAD, A.1.2)."),
        (
            "Sources",
            "Closer Look: Yuan et al. (2021). Hidden Challenges: Otani et al. (2020). MAD: Soldan et al. (2022). "
            "Figures after theirs are drawn from the annotations named below.",
        ),
    )
