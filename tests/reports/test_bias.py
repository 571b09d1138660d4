"""The report of surveys: document, verdict, tables, page."""

import dataclasses
import html
import json
import re

import numpy as np
import pytest
from page_reader import without_script

from truemoment.base.boundary.documents import as_json
from truemoment.data.language.paragraphs import OrderOfStarts
from truemoment.report.model import Drawing, Finding, Paragraph
from truemoment.report.render import html as renderer
from truemoment.report.render import latex, markdown, terminal
from truemoment.report.words import p_value
from truemoment.studies.bias import report as bias
from truemoment.studies.bias.order import SplitOrder
from truemoment.studies.bias.report_order import order_section
from truemoment.studies.bias.report_tables import comparison, location_tables, verb_tables, word_tables
from truemoment.studies.bias.surveys import SurveyPart

SURVEYS = ["world_survey", "hostile_survey", "bare_survey", "placeless_survey"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def document(world_survey):
    return as_json(bias.document([world_survey], seed=3))


@pytest.mark.parametrize("which", SURVEYS)
def test_the_document_is_json_and_says_why_a_value_is_undefined(request, which):
    document = as_json(bias.document([request.getfixturevalue(which)], seed=0))
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
    assert energies == [pair.distance.value.energy for pair in world_survey.pairs]
    counts = dataset["verbs"]["top"][0]["counts"]
    assert sum(counts.values()) == sum(of[dataset["verbs"]["top"][0]["verb"]] for of in
                                       world_survey.verb_use.value.counts.values())  # fmt: skip


def test_a_file_is_named_with_its_hash(world_survey):
    source = {"path": "mine.jsonl", "sha256": "ab" * 32}
    document = as_json(bias.document([world_survey, world_survey], seed=0, sources=[None, source]))
    assert [dataset["file"] for dataset in document["datasets"]] == [None, source]


# --------------------------------------------------------------------------------------------- sentences


def with_p(survey, p):
    """The same survey, all p values replaced."""
    tested = survey.tested
    tested = dataclasses.replace(tested, constant=SurveyPart(dataclasses.replace(tested.constant.value, p_value=p)))
    whole = dataclasses.replace(
        survey.whole, evenness=SurveyPart(dataclasses.replace(survey.whole.evenness.value, p_value=p))
    )
    pairs = tuple(
        dataclasses.replace(pair, distance=SurveyPart(dataclasses.replace(pair.distance.value, energy_p=p)))
        for pair in survey.pairs
    )
    information = SurveyPart(dataclasses.replace(survey.information.value, p_value=p))
    splits = tuple(tested if split.name == tested.name else split for split in survey.splits)
    return dataclasses.replace(survey, splits=splits, whole=whole, pairs=pairs, information=information)


def test_an_effect_that_is_not_shown_is_not_called_absent(world_survey):
    shown, unshown = (bias.verdict(with_p(world_survey, p)) for p in (0.05, 0.051))
    assert len(shown) == len(unshown) == 4
    assert not [sentence for sentence in shown if "not shown" in sentence]
    for sentence in unshown:
        assert "not shown to" in sentence
        assert "p = 0.051" in sentence
        assert not {"equal", "equally", "same", "identical", "unbiased"} & set(
            sentence.partition(" expected ")[0].split()
        )


def test_sentences_have_the_figures(world_survey):
    text = " ".join(bias.verdict(with_p(world_survey, 0.0005)))
    constant = world_survey.tested.constant.value
    assert f"hits {100 * constant.value:.1f} % of test-ood at IoU > 0.5, more than the " in text
    assert f"the {100 * constant.even_value:.1f} % expected if moments of the same lengths started anywhere" in text
    assert f"(unevenness {world_survey.whole.evenness.value.below_even_bits:.2f} bits, p < 0.001)" in text
    assert f"carries {world_survey.information.value.bits:.2f} bits of information" in text
    assert f"of train hits {100 * world_survey.tested.constant_of_train.value:.1f} % of test-ood" in text


def test_bits_are_a_share_of_the_locations(world_survey):
    """Two bits are a quarter."""
    even = dataclasses.replace(world_survey.whole.evenness.value, below_even_bits=2.0, p_value=0.01)
    survey = dataclasses.replace(world_survey, whole=dataclasses.replace(world_survey.whole, evenness=SurveyPart(even)))
    assert "only 25 % of the possible locations" in " ".join(bias.verdict(survey))


def test_undefined_findings_say_why(placeless_survey, bare_survey):
    text = " ".join(bias.verdict(placeless_survey))
    assert text.count("no video's duration is known") == 4
    assert "no sentence has a verb" in " ".join(bias.verdict(bare_survey))


def test_notes_count_what_is_left_out(hostile_survey, world_survey):
    whole = hostile_survey.whole
    text = " ".join(bias.notes(hostile_survey))
    assert f"{whole.n_without_moment:,} queries without a moment count only for words" in text
    assert f"{whole.n_unknown_duration:,} videos have no known duration" in text
    assert f"{whole.n_left_out:,} of {whole.n_moments:,} moments are not inside their video" in text
    assert bias.notes(world_survey) == []


def test_the_grid_of_moments_is_named(grid_survey, world_survey):
    document = as_json(bias.document([grid_survey, world_survey], seed=0))
    of_grid, of_world = (dataset["splits"][0]["grid"] for dataset in document["datasets"])
    assert (of_grid, of_world) == ({"step": 5.0, "unit": "seconds", "to_the_end": False}, None)
    text = " ".join(bias.verdict(grid_survey))
    assert "Moments are spread unevenly on their grid of 5 s, as if they used only " in text
    assert "started anywhere on their grid of 5 s (p = " in text
    [note] = bias.notes(grid_survey)
    assert note.startswith("moments of test are on a grid of 5 s; in an even spread, all pairs of a start and a later")
    biases, _ = comparison([grid_survey, world_survey])
    cells = {row[0].text: row[1:] for _, group in biases.groups for row in group}["unevenness of the locations, bits"]
    assert ["grid of 5 s" in cell.below for cell in cells] == [True, False]
    assert "grid" not in " ".join(bias.verdict(world_survey))


# ------------------------------------------------------------------------------------------------ tables


@pytest.mark.parametrize("write", [terminal.body, markdown.lines, latex.lines])
@pytest.mark.parametrize("which", SURVEYS)
def test_every_renderer_can_write_it(request, which, write):
    survey = request.getfixturevalue(which)
    text = "\n".join(write(bias.report([survey, survey], seed=0)))
    assert "nan" not in text.lower().replace("nano", "").split()
    assert not {"\x1b", "\x00", "\u202e"} & set(text)


def test_rows_are_the_splits_and_all(world_survey):
    table = location_tables(world_survey)[0]
    [(_, rows)] = table.groups
    assert [row[0].text for row in rows] == ["train", "val", "test-iid", "test-ood", "all"]
    for row, split in zip(rows, (*world_survey.splits, world_survey.whole), strict=True):
        assert row[1].text == f"{split.n_queries:,}"
        assert row[7].text == f"{split.evenness.value.below_even_bits:.2f}"
    for table in (*location_tables(world_survey), *verb_tables(world_survey), *word_tables(world_survey)):
        assert {len(row) for _, group in table.groups for row in group} == {len(table.headings)}


def test_datasets_are_compared_side_by_side(world_survey, placeless_survey):
    biases, sizes = comparison([world_survey, placeless_survey])
    rows = {row[0].text: row[1:] for table in (biases, sizes) for _, group in table.groups for row in group}
    assert {len(row) for row in rows.values()} == {2}
    constant = world_survey.whole.constant.value
    cell, placeless = rows["best constant prediction hits, %"]
    assert cell.text == f"{100 * constant.value:.1f}"
    assert cell.below == f"chance {100 * constant.even_value:.1f}, {p_value(constant.p_value)}"
    assert (placeless.text, placeless.below) == ("undefined", "no video's duration is known")
    assert rows["queries"][0].text == f"{world_survey.whole.n_queries:,}"


def test_the_signature_names_data_engine_draws_and_seed(world_survey):
    text = bias.signature([world_survey], 9)
    for split in world_survey.splits:
        assert f"/{split.name}#{split.sha256[:8]}" in text
    assert "|engine:lexicon|permutations:20 of videos|draws:20|seed:9|truemoment:" in text


def test_the_order_of_sentences_is_a_finding_where_it_informs(world_survey):
    def with_order(order, **more):
        found = SplitOrder(world_survey.tested.name, order, **more)
        return bias.verdict(dataclasses.replace(world_survey, order=(found,)))

    # The figures of val_2 of ActivityNet Captions (tests/bias/test_order.py), rounded.
    order = OrderOfStarts(later=0.955, earlier=0.015, n_pairs=12146, ci95=(0.951, 0.959), informs=True)
    sentence = with_order(order, in_file_order=0.596)[-1]
    assert "starts later in 95.5 % of 12,146 pairs (48.5 % by chance, 95 % interval 95.1 to 95.9)" in sentence
    assert sentence.endswith("A table over it alone has 59.60 % at R@1,IoU=0.5.")
    assert with_order(order, why="there is no split train")[-1].endswith("'sentence 3 of 4' is a hint.")
    assert len(with_order(order._replace(informs=False))) == len(with_order(order)) - 1


def test_the_table_of_order_says_why_a_score_is_missing(world_survey, placeless_survey):
    [paragraph, table] = order_section([world_survey, placeless_survey]).blocks
    assert isinstance(paragraph, Paragraph)
    (first, rows), (second, placeless) = table.groups
    assert (first, second) == ("The world", "placeless")
    assert [row[0].text for row in rows] == [split.name for split in world_survey.splits]
    assert {len(row) for row in (*rows, *placeless)} == {len(table.headings)}
    assert (rows[0][5].text, rows[0][5].below) == ("-", "fitted on this split")
    # Five videos of one sentence each, of unknown duration.
    assert [cell.text for cell in placeless[1][1:]] == ["0", "-", "-", "-", "-", "-"]
    assert placeless[1][5].below == "train has no moment in a video of known duration"


# ------------------------------------------------------------------------------------------------ report


def test_a_section_a_dataset_after_findings_and_comparison(world_survey, hostile_survey):
    source = {"path": "mine.jsonl", "sha256": "ab" * 32}
    report = bias.report([world_survey, hostile_survey], seed=7, sources=[None, source])
    names = [f"dataset-{name}" for name in bias.names_of([world_survey, hostile_survey])]
    assert report.anchors == ["found", "compare", "order", *names]
    for survey, finding, section in zip(
        (world_survey, hostile_survey), report.sections[0].blocks, report.sections[3:], strict=True
    ):
        assert finding == Finding(tuple(bias.verdict(survey)), title=survey.title)
        paragraphs = [block for block in section.blocks if isinstance(block, Paragraph)]
        assert len(paragraphs) == len(bias.notes(survey))
    drawn = [drawing.name for drawing in report.drawings]
    assert len(drawn) == len(set(drawn))
    hashes = [sha256 for _, sha256 in report.hashes]
    assert hashes == ["ab" * 32, *(split.sha256 for of in (world_survey, hostile_survey) for split in of.splits)]


def test_several_datasets_have_names_of_their_own(world_survey, placeless_survey):
    first, second, third = bias.names_of([world_survey, world_survey, placeless_survey])
    assert (second, third) == (f"{first}-2", "placeless")


@pytest.mark.parametrize(("dataset", "name"), [("<i>Dåta</i>.jsonl", "i-d-ta-i-jsonl"), ("日本", "dataset")])
def test_names_are_fit_for_files_and_links(world_survey, dataset, name):
    assert bias.names_of([dataclasses.replace(world_survey, dataset=dataset)]) == [name]


def test_the_page_of_a_hostile_dataset_has_every_sentence_and_different_ids(hostile_survey, monkeypatch):
    shown = ("drawing", lambda drawing: f"<svg>{drawing.name}</svg>")  # figures are drawn in other tests
    monkeypatch.setitem(renderer._DRAWN, Drawing, shown)
    text = renderer.page(bias.report([hostile_survey, hostile_survey], seed=0))
    assert not {"\u202e", "\x00", "\x1b"} & set(text)
    assert "<script>" not in without_script(text)
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids)) > np.sum([2, 2])
    flat = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
    for sentence in bias.verdict(hostile_survey):
        assert flat.count(" ".join(sentence.split())) == 2
