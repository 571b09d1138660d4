"""The report of surveys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from truemoment.base.boundary.documents import Measured, document_head
from truemoment.base.errors import UsageError
from truemoment.base.version import __version__ as version
from truemoment.evaluation.uncertainty import LEVEL
from truemoment.report.drawing import shortened
from truemoment.report.model import Block, Finding, Paragraph, Report, Section
from truemoment.report.words import listed, low_to_high, number, p_value, percent
from truemoment.studies.bias import report_figures as figures
from truemoment.studies.bias.grids import Grid
from truemoment.studies.bias.information import VerbInformation
from truemoment.studies.bias.report_order import order_document, order_section, order_sentence
from truemoment.studies.bias.report_scatter import scatter_drawings
from truemoment.studies.bias.report_tables import comparison, location_tables, short_name, verb_tables, word_tables
from truemoment.studies.bias.statistics import Statistics
from truemoment.studies.bias.surveys import OVER, SplitPair, SplitSurvey, Survey, SurveyPart

SCHEMA = "truemoment/bias/1"

NO_MOMENT, NO_WORD, NO_VIDEO = "there is no moment", "there is no query", "no video's duration is known"

# -------------------------------------------------------------------------------------------- document


def document(
    surveys: Sequence[Survey], *, seed: int, sources: Sequence[Mapping[str, str] | None] = ()
) -> dict[str, Any]:
    """Return what programs read; shares are fractions, never percent.

    Parameters
    ----------
    surveys
        One a dataset.
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
    even = split.evenness.value
    if even is None:
        return Measured(None, split.evenness.why, unit="bits")
    return {
        **_tested(even.below_even_bits, "bits", even.by_chance_bits, even.p_value),
        "entropy_bits": even.entropy_bits,
        "even_bits": even.even_bits,
        "shortest": even.shortest_norm,
        "n_moments": even.n_moments,
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


def _statistics(of: Statistics) -> dict[str, Any]:
    return {
        "total_duration": Measured(of.videos.total_h, NO_VIDEO, unit="hours"),
        "duration_per_video": Measured(of.videos.mean_min, NO_VIDEO, unit="minutes"),
        "duration_per_moment": Measured(of.moments.mean_s, NO_MOMENT, unit="seconds"),
        "coverage": Measured(of.moments.coverage_mean, NO_MOMENT),
        "coverage_median": Measured(of.moments.coverage_median, NO_MOMENT),
        "queries_per_video": Measured(of.sentences.per_video, NO_WORD, unit="queries"),
        "words_per_query": Measured(of.sentences.words_mean, NO_WORD, unit="words"),
        "words_per_query_std": Measured(of.sentences.words_std, NO_WORD, unit="words"),
        "tokens_per_query": Measured(of.sentences.tokens_mean, NO_WORD, unit="tokens"),
        "n_words": of.sentences.n_words,
        "n_tokens": of.sentences.n_tokens,
        "vocabulary": of.sentences.vocabulary.sizes,
        "words_histogram": of.sentences.words_histogram,
    }


def _distance(pair: SplitPair) -> dict[str, Any]:
    found = pair.distance.value
    entry: dict[str, Any] = {"a": pair.a, "b": pair.b}
    if found is None:
        why = pair.distance.why
        return entry | {"energy": Measured(None, why), "jensen_shannon": Measured(None, why, unit="bits")}
    return entry | {
        "n_a": found.n_a,
        "n_b": found.n_b,
        "energy": _tested(found.energy, "fraction", found.energy_by_chance, found.energy_p),
        "jensen_shannon": _tested(
            found.jensen_shannon_bits, "bits", found.jensen_shannon_by_chance, found.jensen_shannon_p
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
    found = part.value
    if found is None:
        return Measured(None, part.why, unit="bits")
    return {
        **_tested(found.bits, "bits", found.by_chance_bits, found.p_value),
        "share_of_location": Measured(found.share_of_location, "all moments lie in one cell"),
        "n_verbs": found.n_verbs,
        "n_cells": found.n_cells,
        "of_verb": [
            {"verb": of.verb, "n_queries": of.n_queries, **_tested(of.bits, "bits", of.by_chance_bits, of.p_value)}
            for of in found.by_verb
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
            "train": of.train,
            "test": of.test,
            "n_shared": of.overlap.n_shared,
            "share_of_test": of.overlap.share_of_test,
            "n_not_in_train": of.overlap.not_in_train.n_words,
            "occurrences_not_in_train": of.overlap.not_in_train.share_of_occurrences,
            "frequent_not_in_train": of.overlap.not_in_train.frequent,
            "n_not_in_test": of.overlap.not_in_test.n_words,
            "occurrences_not_in_test": of.overlap.not_in_test.share_of_occurrences,
        }
        for of in survey.shared
    ]


def _uniqueness(survey: Survey) -> list[dict[str, Any]]:
    return [
        {
            "threshold": of.threshold,
            **Measured(of.share, NO_WORD).as_dict(),
            "n_sentences": of.n_sentences,
            "n_unique": of.n_unique,
            "n_verbatim": of.n_verbatim,
        }
        for of in survey.uniqueness.value or ()
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
    """Return what people read.

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
            raise UsageError(f"no moment of {listed([of.title for of in surveys])} has the verb {verb!r}")
    several = len(surveys) > 1
    findings = [Finding(tuple(verdict(survey)), title=survey.title) for survey in surveys]
    together = [*figures.drawings_of_datasets(surveys), *scatter_drawings(surveys)] if several else []
    return Report(
        title=f"Bias of {listed([survey.title for survey in surveys])}",
        question="What can a model guess without looking at the video?",
        sections=(
            Section("found", "What a guess can learn", tuple(findings), short="Findings"),
            Section("compare", "Side by side" if several else "Overview", (*comparison(surveys), *together)),
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
    seen: Counter[str] = Counter({"datasets": 1})  # the name of figures of several datasets
    names = []
    for survey in surveys:
        name = re.sub(r"[^a-z0-9]+", "-", survey.dataset.lower()).strip("-")[:40].strip("-") or "dataset"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return names


def signature(surveys: Sequence[Survey], seed: int) -> str:
    """Return the signature of every figure."""
    read = "+".join(
        f"{survey.dataset}/{split.name}#{split.sha256[:8]}" for survey in surveys for split in survey.splits
    )
    first = surveys[0]
    return (
        f"bias|data:{read}|engine:{first.engine}|permutations:{first.permutations} of videos|draws:{first.draws}|"
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
    """Return what a reader has to know about the data: what was left out, and grids of times."""
    whole, found = survey.whole, list(survey.notes)
    if whole.n_without_moment:
        found.append(f"{whole.n_without_moment:,} queries have no moment; they count only for words")
    if whole.n_unknown_duration:
        found.append(
            f"{whole.n_unknown_duration:,} videos have no known duration; their moments have no location "
            "(--durations FILE or --videos DIR gives durations)"
        )
    if whole.n_left_out and whole.locations.value is not None:
        found.append(
            f"{whole.n_left_out:,} of {whole.n_moments:,} moments are not inside their video; figures of locations "
            "leave them out"
        )
    grids: dict[Grid, list[str]] = {}
    for split in (*survey.splits, *([whole] if len(survey.splits) > 1 else [])):
        if split.grid is not None:
            grids.setdefault(split.grid, []).append(short_name(split.name))
    found += [
        f"moments of {', '.join(names)} are on a grid of {grid.name}; in an even spread, all pairs of a start and a "
        "later end on the grid are equally likely within a video"
        for grid, names in grids.items()
    ]
    return found


# --------------------------------------------------------------------------------------------- verdict


def verdict(survey: Survey) -> list[str]:
    """Return the findings of a survey, one sentence each; an effect that is not shown is not called absent."""
    found = (
        _of_locations(survey),
        _of_constant(survey),
        _of_verbs(survey),
        _of_distance(survey),
        order_sentence(survey),
    )
    return [sentence for sentence in found if sentence]


def _of_locations(survey: Survey) -> str:
    found, why = survey.whole.evenness.value, survey.whole.evenness.why
    if found is None:
        return f"The evenness of the locations is undefined: {why}."
    if found.p_value > LEVEL:
        grid = _on(found.grid)
        return f"Moments are not shown to be less evenly spread{grid} than by chance ({p_value(found.p_value)})."
    bits = found.below_even_bits
    return (
        f"The entropy of the locations is {number(bits)} bits below an even spread{_on(found.grid)} "
        f"({p_value(found.p_value)}), as if moments used only {percent(2**-bits)} of the possible locations."
    )


def _on(grid: Grid | None) -> str:
    return "" if grid is None else f" on their grid of {grid.name}"


def _of_constant(survey: Survey) -> str:
    split = survey.tested
    found = split.constant.value
    if found is None:
        return f"The best constant prediction for {short_name(split.name)} is undefined: {split.constant.why}."
    where = low_to_high((found.start_norm, found.end_norm), 0, times=100)
    hits = (
        f"The best constant prediction, {where} % of the video, hits {percent(found.value, 1)} of "
        f"{'all moments' if split is survey.whole else short_name(split.name)} at IoU > 0.5"
    )
    by_chance = (
        f"the {percent(found.even_value, 1)} expected if moments of the same lengths started anywhere{_on(found.grid)} "
        f"({p_value(found.p_value)})"
    )
    return f"{hits}{', more than' if found.p_value <= LEVEL else '; this is not shown to be more than'} {by_chance}."


def _of_verbs(survey: Survey) -> str:
    found = survey.information.value
    if found is None:
        return f"The information of verbs about locations is undefined: {survey.information.why}."
    p = p_value(found.p_value)
    if found.p_value > LEVEL:
        return f"Verbs are not shown to carry more information about locations than by chance ({p})."
    share = percent(found.share_of_location, 1)
    of_all = "" if share == "-" else f", {share} of the maximum"
    return (
        f"The verb of a query carries {number(found.bits)} bits of information about the location of its moment beyond "
        f"chance{of_all} ({p})."
    )


def _of_distance(survey: Survey) -> str:
    pair, tested = survey.train_to_tested, short_name(survey.tested.name)
    if pair is None:
        return ""
    found, of_train = pair.distance.value, survey.tested.constant_of_train.value
    if found is None:
        return f"The distance between train and {tested} is undefined: {pair.distance.why}."
    hits = (
        "" if of_train is None else f"; the best constant prediction of train hits {percent(of_train, 1)} of {tested}"
    )
    p = p_value(found.energy_p)
    if found.energy_p > LEVEL:
        return f"Moments of train and {tested} are not shown to be further apart than by chance ({p}){hits}."
    return (
        f"Moments of train and {tested} are further apart than by chance (energy distance {number(found.energy, 4)}, "
        f"by chance {number(found.energy_by_chance, 4)}, {p}){hits}."
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
            "Bits below an even spread",
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
            "Share of the draws that reach the value or more; the data itself counts as one draw. p values are not "
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
