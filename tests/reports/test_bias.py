"""The report of surveys: JSON, sentences, tables."""

import dataclasses
import json
import math

import pytest

from truemoment.bias.surveys import Part
from truemoment.reports import bias as report
from truemoment.reports import bias_page as report_page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def document(world_survey):
    return report.document([world_survey], seed=3)


@pytest.mark.parametrize("which", ["world_survey", "hostile_survey", "bare_survey", "placeless_survey"])
def test_the_document_is_json_and_says_why_what_is_undefined(request, which):
    document = report.document([request.getfixturevalue(which)], seed=0)
    json.dumps(document, allow_nan=False)

    def look(entry):
        if isinstance(entry, dict):
            if "value" in entry and entry["value"] is None:
                assert entry["why"]
            for inside in entry.values():
                look(inside)
        elif isinstance(entry, list):
            for inside in entry:
                look(inside)

    look(document)


def test_the_document_has_the_figures_unrounded(document, world_survey):
    [dataset] = document["datasets"]
    assert document["schema"] == "truemoment/bias/1"
    assert (document["seed"], document["permutations"], document["draws"]) == (3, 20, 20)
    for entry, split in zip(dataset["splits"], world_survey.splits, strict=True):
        even, constant = split.evenness.value, split.constant.value
        assert entry["sha256"] == split.sha256
        assert entry["evenness"]["value"] == even.below_even_bits
        assert (entry["evenness"]["by_chance"], entry["evenness"]["p"]) == (even.by_chance_bits, even.p_value)
        assert (entry["constant"]["value"], entry["constant"]["by_chance"]) == (constant.value, constant.even_value)
        assert [one["value"] for one in entry["longer"]] == split.longer.tolist()
    assert dataset["whole"]["sha256"] is None
    assert dataset["information"]["value"] == world_survey.information.value.bits
    energies = [entry["energy"]["value"] for entry in dataset["distances"]]
    assert energies == [between.distance.value.energy for between in world_survey.between]
    counts = dataset["verbs"]["top"][0]["counts"]
    assert sum(counts.values()) == sum(of[dataset["verbs"]["top"][0]["verb"]] for of in
                                       world_survey.verb_use.value.counts.values())  # fmt: skip


def test_a_file_is_named_with_its_hash(world_survey):
    source = {"path": "mine.jsonl", "sha256": "ab" * 32}
    document = report.document([world_survey, world_survey], seed=0, sources=[None, source])
    assert [dataset["file"] for dataset in document["datasets"]] == [None, source]


# --------------------------------------------------------------------------------------------- sentences


def with_p(survey, p):
    """The same survey, all p values replaced."""
    tested = survey.tested
    tested = dataclasses.replace(tested, constant=Part(dataclasses.replace(tested.constant.value, p_value=p)))
    whole = dataclasses.replace(
        survey.whole, evenness=Part(dataclasses.replace(survey.whole.evenness.value, p_value=p))
    )
    between = tuple(
        dataclasses.replace(one, distance=Part(dataclasses.replace(one.distance.value, energy_p=p)))
        for one in survey.between
    )
    information = Part(dataclasses.replace(survey.information.value, p_value=p))
    splits = tuple(tested if split.name == tested.name else split for split in survey.splits)
    return dataclasses.replace(survey, splits=splits, whole=whole, between=between, information=information)


def test_what_is_not_shown_is_not_said_to_be_none(world_survey):
    shown, unshown = (report.verdict(with_p(world_survey, p)) for p in (0.05, 0.051))
    assert len(shown) == len(unshown) == 4
    assert not [sentence for sentence in shown if "not shown" in sentence]
    for sentence in unshown:
        assert "not shown to" in sentence
        assert "p = 0.051" in sentence
        assert not {"equal", "equally", "same", "identical", "unbiased"} & set(sentence.split())


def test_sentences_have_the_figures(world_survey):
    text = " ".join(report.verdict(with_p(world_survey, 0.0005)))
    constant = world_survey.tested.constant.value
    assert f"hits {100 * constant.value:.1f} % of test-ood" in text
    assert f"({100 * constant.even_value:.1f} %, if moments as long began anywhere; p < 0.001)" in text
    assert f"{world_survey.whole.evenness.value.below_even_bits:.2f} bits below an even spread" in text
    assert f"tells {world_survey.information.value.bits:.2f} bits" in text
    assert f"of train hits {100 * world_survey.tested.constant_of_train.value:.1f} % of test-ood" in text


def test_bits_are_told_as_a_part_of_the_places(world_survey):
    """Two bits are a quarter."""
    even = dataclasses.replace(world_survey.whole.evenness.value, below_even_bits=2.0, p_value=0.01)
    survey = dataclasses.replace(world_survey, whole=dataclasses.replace(world_survey.whole, evenness=Part(even)))
    assert "one part in 4.0 of the places" in " ".join(report.verdict(survey))


def test_what_cannot_be_told_says_why(placeless_survey, bare_survey):
    text = " ".join(report.verdict(placeless_survey))
    assert text.count("no video's duration is known") == 4
    assert "no sentence has a verb" in " ".join(report.verdict(bare_survey))


def test_what_was_left_out_is_told(hostile_survey, world_survey):
    whole = hostile_survey.whole
    text = " ".join(report.told(hostile_survey))
    assert f"{whole.n_without_moment:,} queries have no moment" in text
    assert f"{whole.n_unknown_duration:,} videos are of unknown duration" in text
    assert f"{whole.n_left_out:,} of {whole.n_moments:,} moments have no place" in text
    assert report.told(world_survey) == []


def test_the_grid_of_moments_is_named(grid_survey, world_survey):
    document = report.document([grid_survey, world_survey], seed=0)
    of_grid, of_world = (dataset["splits"][0]["grid"] for dataset in document["datasets"])
    assert (of_grid, of_world) == ({"step": 5.0, "unit": "seconds", "to_the_end": False}, None)
    text = " ".join(report.verdict(grid_survey))
    assert "bits below an even spread on their grid of 5 s (p = " in text
    assert "if moments as long began anywhere on their grid of 5 s; p = " in text
    [note] = report.told(grid_survey)
    assert note.startswith(
        "moments of test lie on a grid of 5 s: in an even spread every pair of a start and a later end"
    )
    assert "on a grid of 5 s; after chance" in report_page.page([grid_survey, world_survey], seed=0)
    assert "grid" not in " ".join(report.verdict(world_survey))


# ------------------------------------------------------------------------------------------------ tables


@pytest.mark.parametrize("style", ["plain", "md", "latex"])
@pytest.mark.parametrize("which", ["world_survey", "hostile_survey", "bare_survey", "placeless_survey"])
def test_every_style_can_be_printed(request, which, style):
    survey = request.getfixturevalue(which)
    text = "\n".join(report.lines([survey, survey], seed=0, style=style))
    assert "nan" not in text.lower().replace("nano", "").split()
    assert not {"\x1b", "\x00", "\u202e"} & set(text)
    assert text.splitlines()[-1].removeprefix("% ").replace("\\", "").startswith("bias|data:")


def test_rows_are_the_splits_and_all(world_survey):
    table = report.places_table([world_survey])
    [(title, rows)] = table.groups
    assert title == "The world"
    assert [row[0].text for row in rows] == ["train", "val", "test-iid", "test-ood", "all"]
    for row, split in zip(rows, (*world_survey.splits, world_survey.whole), strict=True):
        assert row[1].text == f"{split.n_queries:,}"
        assert row[7].text == f"{split.evenness.value.below_even_bits:.2f}"
    for table in report.tables([world_survey]):
        for _, group in table.groups:
            assert {len(row) for row in group} == {len(table.headings)}


def test_tables_fit_a_terminal(world_survey):
    lines = report.lines([world_survey], seed=0)[:-1]
    assert max(len(line) for block in lines for line in block.splitlines()) <= 110


def test_the_signature_names_data_engine_draws_and_seed(world_survey):
    text = report.closing([world_survey], 9)
    for split in world_survey.splits:
        assert f"/{split.name}#{split.sha256[:8]}" in text
    assert "|engine:lexicon|permutations:20 of videos|draws:20|seed:9|truemoment:" in text


def test_p_values_are_never_zero():
    assert [report.said_p(p) for p in (0.0004, 0.001, 0.05)] == ["p < 0.001", "p = 0.001", "p = 0.050"]
    assert report._percent(math.nan) == "-"
