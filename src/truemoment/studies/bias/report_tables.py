"""Tables of surveys: each dataset by split, and datasets side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from truemoment.report.drawing import shortened
from truemoment.report.model import Cell, Table
from truemoment.report.words import UNDEFINED, low_to_high, number, p_number, p_value, points
from truemoment.studies.bias.distances import SplitDistance
from truemoment.studies.bias.spread import Evenness
from truemoment.studies.bias.statistics import Statistics
from truemoment.studies.bias.surveys import OVER, SplitSurvey, Survey, SurveyPart

T = TypeVar("T")


def short_name(name: str) -> str:
    """Return the name of a dataset or split, short enough for a table or a sentence."""
    return shortened(name, 32)


def _table(
    caption: str, headings: Sequence[str], rows: Sequence[Sequence[str]], text_columns: tuple[int, ...] = (0,)
) -> Table:
    return Table(caption, tuple(headings), (("", tuple(tuple(map(Cell, row)) for row in rows)),), text_columns)


# -------------------------------------------------------------------------------------------- by split


def location_tables(survey: Survey) -> list[Table]:
    """Return tables of locations, of best constant predictions, and of distances between splits."""
    splits = [*survey.splits, *([survey.whole] if len(survey.splits) > 1 else [])]
    tables = [
        _table(
            "Locations of moments: share longer than 30, 50 and 70 % of the video; unevenness (bits of entropy less "
            "than if all locations were equally frequent), after subtracting the bits expected by chance.",
            ("split", "queries", "videos", "moments", "> 30 %", "> 50 %", "> 70 %", "uneven, bits", "by chance", "p"),
            [[short_name(split.name), *_locations_row(split)] for split in splits],
        ),
        _table(
            "The best constant prediction of each split: share of the moments that it hits at IoU > 0.5; by chance, if "
            "moments of the same lengths started anywhere; and the share that the constant of train hits.",
            ("split", "prediction, % of the video", "hits, %", "by chance, %", "p", "constant of train hits, %"),
            [[short_name(split.name), *_constants_row(split)] for split in splits],
        ),
    ]
    if survey.pairs:
        distances = _table(
            "Distance between the moments of two splits, and by chance: the mean distance when whole videos are "
            "exchanged between the splits.",
            ("splits", "energy distance", "by chance", "p", "Jensen-Shannon, bits", "by chance", "p"),
            [
                [f"{short_name(pair.a)}, {short_name(pair.b)}", *_distance_row(pair.distance.value)]
                for pair in survey.pairs
            ],
        )
        tables.append(distances)
    return tables


def _locations_row(split: SplitSurvey) -> list[str]:
    counts = [f"{n:,}" for n in (split.n_queries, split.n_videos, split.n_moments)]
    row = counts + [points(share) for share in split.longer.tolist()]
    evenness = split.evenness.value
    if evenness is None:
        return [*row, *[UNDEFINED] * 3]
    return [*row, number(evenness.below_even_bits), number(evenness.by_chance_bits), p_number(evenness.p_value)]


def _constants_row(split: SplitSurvey) -> list[str]:
    constant, of_train = split.constant.value, split.constant_of_train.value
    transferred = UNDEFINED if of_train is None else points(of_train)
    if constant is None:
        return [*[UNDEFINED] * 4, transferred]
    prediction = low_to_high((constant.start_norm, constant.end_norm), 0, times=100)
    return [prediction, points(constant.value), points(constant.even_value), p_number(constant.p_value), transferred]


def _distance_row(distance: SplitDistance | None) -> list[str]:
    if distance is None:
        return [UNDEFINED] * 6
    return [
        number(distance.energy, 4),
        number(distance.energy_by_chance, 4),
        p_number(distance.energy_p),
        number(distance.jensen_shannon_bits, 3),
        number(distance.jensen_shannon_by_chance, 3),
        p_number(distance.jensen_shannon_p),
    ]


def verb_tables(survey: Survey) -> list[Table]:
    """Return the table of the information of verbs about locations."""
    use, information = survey.verb_use.value, survey.information.value
    row = [short_name(survey.title)]
    row += [UNDEFINED] * 2 if use is None else [number(use.mean_per_sentence), points(use.coverage)]
    if information is None:
        row += [*[UNDEFINED] * 4, survey.information.why]
    else:
        most = sorted(information.by_verb, key=lambda divergence: -divergence.bits)[:4]
        row += [number(information.bits, 3), number(information.by_chance_bits, 3), p_number(information.p_value)]
        row += [points(information.share_of_location), ", ".join(divergence.verb for divergence in most)]
    return [
        _table(
            "Mutual information of the verb of a query and the location of its moment, in bits, after subtracting "
            "the bits expected by chance.",
            (
                *("dataset", "verbs per query", "frequent verbs cover, %", "bits", "by chance", "p", "% of maximum"),
                "most informative verbs",
            ),
            [row],
            text_columns=(0, 7),
        )
    ]


def word_tables(survey: Survey) -> list[Table]:
    """Return tables of durations, queries and words, of words that splits share, and of repeated sentences."""
    statistics = [*survey.statistics.of_split.items()]
    statistics += [("all", survey.statistics.whole)] if len(survey.splits) > 1 else []
    tables = [
        _table(
            "Durations, queries and words, as in MAD, Tables 1 and 7.",
            (
                *("split", "hours", "min per video", "s per moment", "coverage, %", "words per query", "tokens"),
                *("adjectives", "nouns", "verbs", "all words"),
            ),
            [[short_name(name), *_statistics_row(part)] for name, part in statistics],
        )
    ]
    if survey.shared:
        tables.append(_shared_words_table(survey))
    tables.append(_unique_table(survey))
    return tables


def _statistics_row(statistics: Statistics) -> list[str]:
    sizes = statistics.sentences.vocabulary.sizes
    return [
        *(
            number(statistics.videos.total_h, 1),
            number(statistics.videos.mean_min),
            number(statistics.moments.mean_s, 1),
        ),
        *(points(statistics.moments.coverage_mean), number(statistics.sentences.words_mean, 1)),
        *(f"{n:,}" for n in (statistics.sentences.n_tokens, sizes.adjectives, sizes.nouns, sizes.verbs, sizes.total)),
    ]


def _shared_words_table(survey: Survey) -> Table:
    rows = []
    for pair in survey.shared:
        new_words = pair.overlap.not_in_train
        rows.append(
            [
                f"{short_name(pair.train)}, {short_name(pair.test)}",
                f"{pair.overlap.n_shared:,}",
                points(pair.overlap.share_of_test),
                f"{new_words.n_words:,}",
                points(new_words.share_of_occurrences, 2),
                ", ".join(new_words.frequent[:4]) or UNDEFINED,
            ]
        )
    return _table(
        "Words that train shares with other splits (MAD, A.1.1).",
        (
            *("splits", "shared", "% of the second split", "not in train", "% of its occurrences"),
            "most frequent new words",
        ),
        rows,
        text_columns=(0, 5),
    )


def _unique_table(survey: Survey) -> Table:
    levels = survey.uniqueness.value or ()
    repeats = f"{levels[0].n_verbatim:,}" if levels else UNDEFINED
    n_once = UNDEFINED if survey.tail.value is None else f"{survey.tail.value.n_once:,}"
    return _table(
        "Unique sentences: METEOR with every other sentence of the video is below the threshold; sentences that repeat "
        "another sentence of the video word for word; words that occur once.",
        (
            "dataset",
            *(f"unique at {level.threshold:g}, %" for level in levels),
            "verbatim repeats",
            "words that occur once",
        ),
        [[short_name(survey.title), *(points(level.share) for level in levels), repeats, n_once]],
    )


# ---------------------------------------------------------------------------------- datasets side by side


class _Row(NamedTuple):
    """A row of the comparison: its label, and the cell of each dataset."""

    label: str
    cell: Callable[[Survey], Cell]


def comparison(surveys: Sequence[Survey]) -> list[Table]:
    """Compare datasets, their biases and their sizes: a column a dataset, with chance in smaller text."""
    headings = ("", *(short_name(survey.title) for survey in surveys))
    return [
        Table(
            caption,
            headings,
            tuple(
                (title, tuple((Cell(row.label), *(row.cell(survey) for survey in surveys)) for row in rows))
                for title, rows in groups
            ),
        )
        for caption, groups in (
            (
                "Biases. Beside a figure: the value by chance with p, what was subtracted for chance, or the split. "
                "Constant predictions hit at IoU > 0.5.",
                _BIASES,
            ),
            ("Sizes and words.", _SIZES),
        )
    ]


def _splits(survey: Survey) -> Cell:
    return Cell(", ".join(short_name(split.name) for split in survey.splits))


def _statistic(read: Callable[[Statistics], float], decimals: int = 0) -> Callable[[Survey], Cell]:
    return lambda survey: _number(read(survey.statistics.whole), decimals)


def _number(value: float, decimals: int) -> Cell:
    text = number(value, decimals)
    return Cell("undefined" if text == UNDEFINED else text)


def _longer(at: int) -> Callable[[Survey], Cell]:
    return lambda survey: _number(100 * float(survey.whole.longer[at]), 1)


def _undefined(why: str) -> Cell:
    return Cell("undefined", why)


def _after_chance(by_chance_bits: float, p: float) -> str:
    return f"after subtracting {number(by_chance_bits)}, {p_value(p)}"


def _of_part(part: Callable[[Survey], SurveyPart[T]], cell: Callable[[T], Cell]) -> Callable[[Survey], Cell]:
    """Return the function that shows a part of a survey, or why it does not apply."""

    def show(survey: Survey) -> Cell:
        shown = part(survey)
        return _undefined(shown.why) if shown.value is None else cell(shown.value)

    return show


def _evenness(evenness: Evenness) -> Cell:
    grid = "" if evenness.grid is None else f"on a grid of {evenness.grid.name}; "
    return Cell(number(evenness.below_even_bits), grid + _after_chance(evenness.by_chance_bits, evenness.p_value))


def _constant_of_train(survey: Survey) -> Cell:
    constant = survey.tested.constant_of_train
    return (
        _undefined(constant.why)
        if constant.value is None
        else Cell(points(constant.value), short_name(survey.tested.name))
    )


def _distance(survey: Survey) -> Cell:
    pair = survey.train_to_tested
    if pair is None or pair.distance.value is None:
        return _undefined("no split train and a test" if pair is None else pair.distance.why)
    distance, tested = pair.distance.value, short_name(survey.tested.name)
    return Cell(
        number(distance.energy, 4),
        f"{tested}; chance {number(distance.energy_by_chance, 4)}, {p_value(distance.energy_p)}",
    )


def _new_words(survey: Survey) -> Cell:
    pair = next((pair for pair in survey.shared if pair.test == survey.tested.name), None)
    if pair is None:
        return _undefined("no split train and a test")
    new_words = pair.overlap.not_in_train
    return Cell(
        points(new_words.share_of_vocabulary),
        f"{short_name(pair.test)}; {points(new_words.share_of_occurrences, 2)} % of its words",
    )


_Groups = tuple[tuple[str, tuple[_Row, ...]], ...]

_BIASES: _Groups = (
    (
        "Moments",
        (
            _Row("seconds per moment", _statistic(lambda s: s.moments.mean_s, 1)),
            _Row("coverage of the video, %", _statistic(lambda s: 100 * s.moments.coverage_mean, 1)),
            *(_Row(f"longer than {100 * over:.0f} % of the video, %", _longer(at)) for at, over in enumerate(OVER)),
        ),
    ),
    (
        "Locations, all splits",
        (
            _Row("unevenness of the locations, bits", _of_part(lambda s: s.whole.evenness, _evenness)),
            _Row(
                "best constant prediction hits, %",
                _of_part(
                    lambda s: s.whole.constant,
                    lambda c: Cell(points(c.value), f"chance {points(c.even_value)}, {p_value(c.p_value)}"),
                ),
            ),
            _Row("constant of train hits in the test, %", _constant_of_train),
            _Row("train to test, energy distance", _distance),
        ),
    ),
    (
        "Verbs",
        (
            _Row(
                "verb information about the location, bits",
                _of_part(
                    lambda s: s.information, lambda i: Cell(number(i.bits), _after_chance(i.by_chance_bits, i.p_value))
                ),
            ),
            _Row("verbs per query", _of_part(lambda s: s.verb_use, lambda use: _number(use.mean_per_sentence, 2))),
            _Row(
                "frequent verbs cover, %",
                _of_part(lambda s: s.verb_use, lambda use: Cell(points(use.coverage), f"the first {len(use.top)}")),
            ),
        ),
    ),
)

_SIZES: _Groups = (
    (
        "Size",
        (
            _Row("splits", _splits),
            _Row("queries", _statistic(lambda s: s.sentences.n)),
            _Row("videos", _statistic(lambda s: s.videos.n)),
            _Row("hours of video", _statistic(lambda s: s.videos.total_h, 1)),
            _Row("minutes per video", _statistic(lambda s: s.videos.mean_min, 2)),
            _Row("queries per video", _statistic(lambda s: s.sentences.per_video, 1)),
        ),
    ),
    (
        "Words",
        (
            _Row("words per query", _statistic(lambda s: s.sentences.words_mean, 1)),
            _Row("tokens", _statistic(lambda s: s.sentences.n_tokens)),
            _Row("vocabulary, adjectives", _statistic(lambda s: s.sentences.vocabulary.sizes.adjectives)),
            _Row("vocabulary, nouns", _statistic(lambda s: s.sentences.vocabulary.sizes.nouns)),
            _Row("vocabulary, verbs", _statistic(lambda s: s.sentences.vocabulary.sizes.verbs)),
            _Row("vocabulary, total", _statistic(lambda s: s.sentences.vocabulary.sizes.total)),
            _Row(
                "unique sentences, % (METEOR < 0.99)",
                _of_part(lambda s: s.uniqueness, lambda levels: _number(100 * levels[0].share, 1)),
            ),
            _Row("words of the test not in train, %", _new_words),
        ),
    ),
)
