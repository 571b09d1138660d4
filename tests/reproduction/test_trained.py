"""Figures of trained methods: published ones beside run folders, as train and sweep write them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest

from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.cli import run
from truemoment.data.datasets import load_annotations
from truemoment.media.features import Features, write_store
from truemoment.reproduction import TABLES, beside, published_figures, read_run_folders, reproduce
from truemoment.reproduction.closer_look_journal import JOURNAL_SYSTEMS, PAPER, counted
from truemoment.reproduction.systems import SYSTEMS, TOLERANCE
from truemoment.searching.chunks import chunk_annotations
from truemoment.searching.opening import open_features
from truemoment.studies.compare.comparison import read_published
from truemoment.worlds.films import FilmSettings, make_films, write_films

MDD = {"phrases": True, "reconstruct": True}


@pytest.fixture
def drn_at_half(publish):
    """Publish one figure of DRN in Closer Look's Table 2."""
    publish("closer_look_table2.csv", ("Table 2", "Charades-CD", "test-iid", "DRN", "dR@1,IoU=0.5", "41.91", "percent"))


def rows_of(table, data, folder):
    return reproduce(table, data, trained=read_run_folders(folder))


@pytest.mark.usefixtures("drn_at_half")
def test_a_figure_without_a_run(small_data, trained):
    trained("another-method", "ctrl", figures=[("dR@1,IoU=0.5", "0.5")])
    trained("another-dataset", "drn", dataset="activitynet-cd", figures=[("dR@1,IoU=0.5", "0.5")])
    (row,) = rows_of("closer-look-2", small_data, trained.folder)
    assert (row.ours, row.status, row.unchecked) == (None, "published, unchecked", "no run")
    assert reproduce("closer-look-2", small_data) == [row]


@pytest.mark.usefixtures("drn_at_half")
def test_predictions_are_measured_by_the_protocol_of_the_table(small_data, trained):
    # By hand: both references are (0, 10) of 20 s. (0, 10) has dR 1; (0, 5) has IoU 0.5, which is a hit by this
    # protocol only, with dR 1 x (1 - 5 / 20) = 0.75. The figure in result.json is another one and is not used.
    first, second = query_ids(small_data, "charades-cd", "test-iid")
    answers = [(first, [[0.0, 10.0]]), (second, [[0.0, 5.0]])]
    trained("drn", "drn", answers=answers, figures=[("dR@1,IoU=0.5", "0.1")])
    (row,) = rows_of("closer-look-2", small_data, trained.folder)
    assert row.ours == pytest.approx(87.5)
    assert row.signature.startswith("dR@1,IoU=0.5|protocol:closer-look|")
    assert (row.status, row.difference, str(row.tolerance)) == ("outside", Decimal("45.59"), TOLERANCE)
    assert (row.features, row.recipe.split()[0]) == ("hdf5:i3d.hdf5#12", "drn")


def query_ids(data, dataset, split):
    return load_annotations(dataset, split, data_dir=data).queries.query_id.tolist()


@pytest.mark.usefixtures("drn_at_half")
def test_seeds_are_a_mean_with_their_number(small_data, trained):
    # By hand: the mean of 40 and 42 is 41, 0.91 below 41.91; the sample standard deviation is the root of 2.
    trained("drn/seed-0", "drn", figures=[("dR@1,IoU=0.5", "0.40")])
    trained("drn/seed-1", "drn", seed=1, figures=[("dR@1,IoU=0.5", "0.42")])
    (row,) = rows_of("closer-look-2", small_data, trained.folder)
    assert (row.ours, row.runs, row.difference, row.status) == (pytest.approx(41), 2, Decimal("-0.91"), "within")
    assert row.spread == pytest.approx(2**0.5)
    assert "from result.json, by the protocol default" in row.reason
    assert "recipe: drn of a test" in row.reason


@pytest.mark.usefixtures("drn_at_half")
def test_each_recipe_and_features_are_a_row(small_data, trained):
    trained("a", "drn", figures=[("dR@1,IoU=0.5", "0.40")])
    trained("b", "drn", {"hidden": 7}, figures=[("dR@1,IoU=0.5", "0.42")])
    trained("c", "drn", features="perception:0.3", figures=[("dR@1,IoU=0.5", "0.41")])
    rows = rows_of("closer-look-2", small_data, trained.folder)
    assert [(round(row.ours), row.features) for row in rows] == [
        (40, "hdf5:i3d.hdf5#12"),
        (42, "hdf5:i3d.hdf5#12"),
        (41, "perception:0.3"),
    ]
    assert rows[0].recipe != rows[1].recipe
    assert rows[0].recipe == rows[2].recipe


@pytest.mark.parametrize("value", ["0.4191", "0.01"])
@pytest.mark.usefixtures("drn_at_half")
def test_simulated_perception_is_never_judged(small_data, trained, value):
    for seed in (0, 1):  # features are drawn again for each seed: the name of the store differs
        trained(f"drn-{seed}", "drn", seed=seed, features="perception:0.3", figures=[("dR@1,IoU=0.5", value)])
    (row,) = rows_of("closer-look-2", small_data, trained.folder)
    assert (row.is_simulated, row.tolerance, row.status, row.runs) == (True, None, "informational", 2)
    assert row.reason.startswith("simulated perception: no reproduction, not judged")


def test_simulated_perception_is_not_judged_even_with_a_tolerance(figure):
    for tolerance in ("0", "5"):
        row = replace(beside(figure("41.91"), 0.4191, tolerance=tolerance), features="perception:0.3")
        assert row.status == "informational"


@pytest.mark.usefixtures("drn_at_half")
def test_features_of_simulated_perception_in_a_folder_are_recognised(small_data, trained, tmp_path):
    """Runs on them were judged: an exported folder had a name of its own."""
    drawn = Features({"x": np.ones((20, 2), dtype=np.float32)}, fps=1.0, name="perception:0.3 (frame mAP 0.27), seed=4")
    write_store(tmp_path / "copied", drawn)
    write_store(tmp_path / "again", open_features(tmp_path / "copied"))
    name = open_features(tmp_path / "again").name
    assert name.startswith(f"{drawn.name}; own:copied#")
    assert "; own:again#" in name
    for seed in (0, 1):
        trained(
            f"drn-{seed}",
            "drn",
            seed=seed,
            features="again",
            features_name=name,
            figures=[("dR@1,IoU=0.5", "0.4191")],
        )
    (row,) = rows_of("closer-look-2", small_data, trained.folder)
    assert (row.is_simulated, row.status, row.runs) == (True, "informational", 2)
    assert row.features.startswith("perception:0.3, own:again#")


@pytest.mark.usefixtures("drn_at_half")
def test_a_run_that_chose_by_a_test_split_is_not_judged(small_data, trained):
    trained("drn", "drn", figures=[("dR@1,IoU=0.5", "0.4191")], forced=True)
    (row,) = rows_of("closer-look-2", small_data, trained.folder)
    assert (row.status, row.tolerance) == ("informational", None)
    assert "a test split was learned from" in row.reason


def test_a_list_that_is_too_short_for_a_measure(publish, small_data, trained):
    # A recipe keeps 10 moments a query unless it says otherwise.
    publish("closer_look_table2.csv", ("T", "Charades-CD", "test-iid", "DRN", "R@50,IoU=0.5", "41.91", "percent"))
    trained("drn", "drn", figures=[("R@50,IoU=0.5", "0.4")])
    (row,) = rows_of("closer-look-2", small_data, trained.folder)
    assert (row.ours, row.reason) == (None, "no run has this figure")


@pytest.mark.usefixtures("drn_at_half")
def test_two_runs_of_the_same_recipe_features_and_seed(small_data, trained):
    trained("a", "drn", figures=[("dR@1,IoU=0.5", "0.40")])
    trained("b", "drn", figures=[("dR@1,IoU=0.5", "0.41")])
    with pytest.raises(UsageError, match=r"a and .*b have the same recipe, features and seed, expected one"):
        rows_of("closer-look-2", small_data, trained.folder)


def test_folders_that_hold_no_finished_run(tmp_path, trained):
    with pytest.raises(MissingFileError, match="no such folder"):
        read_run_folders(tmp_path / "none")
    trained("cut-off", "drn", finished=False)
    with pytest.raises(MissingFileError, match=r"contains no run with run.json and result.json; 1 unfinished"):
        read_run_folders(trained.folder)
    trained("done", "drn")
    assert [run.folder.name for run in read_run_folders(trained.folder)] == ["done"]


def test_a_damaged_run_names_its_file(trained):
    folder = trained("drn", "drn")
    (folder / "run.json").write_text('{"recipe": {"model": 3}}')
    with pytest.raises(InputError, match=r"run\.json"):
        read_run_folders(trained.folder)


# ----------------------------------------------------------------------------------------- the journal's tables


def test_parts_and_confounders_are_told_by_settings(publish, tmp_path, trained):
    # docs of MDDSettings: base is phrases=no, reconstruct=no, branches=(); base + EM is branches=().
    publish(
        "closer_look_tomm_table4.csv",
        *(
            ("Table 4", "Charades-CD", "test-iid", method, "R@1,IoU=0.5", "50.00", "percent")
            for method in ("base (2D-TAN)", "base + EM", "base + EM + MC", "MDD-loc?", "MDD-loc*uno?")
        ),
    )
    of = {
        "base": ({"phrases": False, "reconstruct": False, "branches": []}, "0.10"),
        "em": (MDD | {"branches": []}, "0.20"),
        "luu": (MDD | {"branches": ["U", "L", "U"]}, "0.30"),
        "l": (MDD | {"branches": ["L"]}, "0.40"),
        "lu": (MDD | {"branches": ["L", "U"]}, "0.50"),
        "other": ({"phrases": False, "reconstruct": True, "branches": ["L"]}, "0.99"),
    }
    for name, (settings, value) in of.items():
        trained(name, "mdd", settings, figures=[("R@1,IoU=0.5", value)])
    trained("tan2d", "tan2d", figures=[("R@1,IoU=0.5", "0.60")])
    (tmp_path / "data").mkdir()
    rows = rows_of("closer-look-journal-4", tmp_path / "data", trained.folder)
    found = [(row.method, round(row.ours)) for row in rows]
    assert found == [
        ("base (2D-TAN)", 10),
        ("base (2D-TAN)", 60),
        ("base + EM", 20),
        ("base + EM + MC", 30),
        ("MDD-loc?", 40),
        ("MDD-loc*uno?", 50),
    ]


def test_the_journal_leaves_out_moments_that_begin_after_the_video(publish, small_data, trained):
    # By hand: of two queries, one begins at 25 s of 20 s; only the other counts, and its answer is right.
    videos = {"x": {"video_duration": 20.0, "timestamps": [[0, 10], [25, 26]], "sentences": ["a", "b"]}}
    (small_data / "charades-cd" / "charades_test_ood.json").write_text(json.dumps(videos))
    publish("closer_look_tomm_table4.csv", ("T", "Charades-CD", "test-ood", "MDD-loc?", "R@1,IoU=0.5", "44", "percent"))
    answers = [("x#0", [[0.0, 10.0]]), ("x#1", [[0.0, 10.0]])]
    trained("mdd", "mdd", MDD | {"branches": ["L"]}, split="test-ood", answers=answers)
    (row,) = rows_of("closer-look-journal-4", small_data, trained.folder)
    assert row.ours == 100


def test_runs_on_the_original_splits_stand_beside(publish, small_data, trained):
    # By hand: every reference of Charades-STA is (0, 30) of 30 s; half of the answers are right, others have IoU 1/3.
    text = ("text 5.2", "Charades-STA", "test", "PredictAll", "R@1,IoU=0.7", "100.0", "percent")
    publish("closer_look_original.csv", text)
    queries = query_ids(small_data, "charades-sta", "test")
    answers = [(query, [[0.0, 30.0 if number % 2 else 10.0]]) for number, query in enumerate(queries)]
    trained("drn", "drn", dataset="charades-sta", split="test", answers=answers)
    captions = small_data / "activitynet-captions"
    captions.mkdir()
    for name in ("train", "val_1", "val_2"):
        videos = {f"v_{name}": {"duration": 20.0, "timestamps": [[0, 10], [2, 8], [5, 20]], "sentences": ["a"] * 3}}
        (captions / f"{name}.json").write_text(json.dumps(videos))
    rows = rows_of("closer-look-original", small_data, trained.folder)
    assert (rows[0].status, rows[0].ours) == ("exact", 100)
    assert {row.dataset for row in rows} == {"Charades-STA", "ActivityNet Captions"}
    found = {row.measure: row for row in rows if row.method == "DRN"}
    assert {name: row.ours for name, row in found.items()} == dict.fromkeys(
        ("R@1,IoU=0.5", "R@1,IoU=0.7", "dR@1,IoU=0.5", "dR@1,IoU=0.7"), 50
    )
    assert {(row.published, row.status, row.split) for row in found.values()} == {(None, "informational", "test")}
    assert {row.method for row in rows} == {"PredictAll", "Bias-based", "DRN"}


def test_r_at_1_of_table_4_are_whole_counts_of_3372_queries():
    # Issue 22: 3,375 queries of test-ood less three; README of the published figures: 823 of test-iid.
    figures = [of for of in published_figures("closer_look_tomm_table4.csv") if of.measure.startswith("R@1")]
    whole = {
        n: [
            any(_percent(count, n, of.value) == of.value for count in _near(of.value, n))
            for of in figures
            if of.split == split
        ]
        for split, n in (("test-iid", 823), ("test-ood", 3_372), ("test-ood", 3_375))
    }
    assert {n: (sum(fits), len(fits)) for n, fits in whole.items()} == {823: (18, 18), 3_372: (18, 18), 3_375: (1, 18)}


def _near(percent, n):
    return range(int(percent * n / 100) - 1, int(percent * n / 100) + 3)


def _percent(count, n, printed):
    return (Decimal(100 * count) / n).quantize(printed, ROUND_HALF_UP)


@pytest.mark.data
def test_three_moments_of_test_ood_begin_after_the_end_of_their_video(data_dir):
    # Issue 22: LEOL6, and AKKWU twice.
    annotations = load_annotations("charades-cd", "test-ood", data_dir=data_dir)
    kept = counted(annotations)
    left_out = sorted(set(annotations.query_id) - set(kept.query_id))
    assert (annotations.n_queries, kept.n_queries) == (3_375, 3_372)
    assert [query.partition("#")[0] for query in left_out] == ["AKKWU", "AKKWU", "LEOL6"]


def test_the_tolerance_is_the_largest_difference_between_the_two_versions_in_2d_tan():
    first, second = (
        {
            (of.dataset, of.split, of.measure): of.value
            for of in published_figures(name)
            if of.method == "2D-TAN" and of.measure in ("dR@1,IoU=0.5", "dR@1,IoU=0.7")
        }
        for name in ("closer_look_table2.csv", "closer_look_tomm_table2.csv")
    )
    assert len(first) == len(second) == 8
    assert max(abs(first[place] - second[place]) for place in first) == Decimal(TOLERANCE)


def test_every_trained_method_of_the_tables_is_known():
    # Tables 2 of both versions name eight and ten trained methods, Table 3 three rows, Table 4 nine; issue 22.
    journal = {name: of for name, of in TABLES.items() if name.startswith("closer-look-journal")}
    assert all(of.source.startswith(PAPER) for of in journal.values())
    assert list(journal) == [f"closer-look-journal-{number}" for number in (2, 3, 4)]
    figures = [of for table in journal.values() for of in published_figures(table.figures)]
    assert len(figures) == 96 + 24 + 72
    assert {of.method for of in figures} - set(JOURNAL_SYSTEMS) == {"PredictAll", "Bias-based"}
    first = published_figures("closer_look_table2.csv")
    assert len(first) == 200
    assert {of.method for of in first} - set(SYSTEMS) == {"PredictAll", "Bias-based"}


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [f"closer_look_tomm_table{number}.csv" for number in (2, 3, 4)] + ["closer_look_table2.csv", "mad_table4.csv"],
)
def test_published_figures_are_those_written_down_from_the_paper(name, data_dir):
    folder = data_dir.parent / "published"
    if not folder.is_dir():
        pytest.skip(f"no published figures at {folder}")
    ours, written_down = (
        {(f.source, f.table, f.dataset, f.split, f.method, f.measure, f.value, f.unit) for f in figures}
        for figures in (published_figures(name), read_published(folder / name))
    )
    assert ours == written_down


# ------------------------------------------------------------------------------------------------------ MAD


@pytest.fixture
def two_films(tmp_path):
    """Write simulated films as MAD, with 6 sentences each, two of them in test."""
    films = make_films(
        {"train": 1, "val": 1, "test": 2},
        FilmSettings(minutes=2, n_sentences=6, n_dimensions=2),
        np.random.default_rng(0),
    )
    write_films(tmp_path / "films", films)
    return tmp_path / "films"


def test_vlg_net_on_films(publish, two_films, trained):
    # The references themselves are right answers. Files of simulated films say so, and nothing on them is judged.
    publish("mad_table2.csv", ("Table 2", "MAD", "test", "VLG-Net", "R@1,IoU=0.5", "2.63", "percent"))
    films = load_annotations("mad", "test", data_dir=two_films)
    moments = zip(films.query_id.tolist(), films.start_s.tolist(), films.end_s.tolist(), strict=True)
    answers = [(query, [[start, end]]) for query, start, end in moments]
    trained("vlg-net", "vlg-net", dataset="mad", split="test", answers=answers)
    (row,) = rows_of("mad-2", two_films, trained.folder)
    assert (row.ours, row.status) == (100, "informational")
    assert row.signature.startswith("R@1,IoU=0.5|protocol:mad-vlgnet|")
    publish("mad_table3.csv", ("Table 3", "MAD", "test", "VLG-Net", "R@1,IoU=0.5", "10.17", "percent"))
    (in_chunks,) = rows_of("mad-3", two_films, trained.folder)
    assert (in_chunks.ours, in_chunks.reason) == (None, "no run has this figure")  # answers to whole films do not count


def test_vlg_net_on_chunks(publish, two_films, trained):
    # The references, from the start of the chunk of three minutes that they overlap most, are right answers.
    publish("mad_table3.csv", ("Table 3", "MAD", "test", "VLG-Net", "R@1,IoU=0.5", "10.17", "percent"))
    chunks = chunk_annotations(load_annotations("mad", "test", data_dir=two_films), 180).annotations
    moments = zip(chunks.query_id.tolist(), chunks.start_s.tolist(), chunks.end_s.tolist(), strict=True)
    answers = [(query, [[max(start, 0), end]]) for query, start, end in moments]
    trained("vlg-net", "vlg-net", dataset="mad", split="test-180s", answers=answers)
    (row,) = rows_of("mad-3", two_films, trained.folder)
    assert (row.ours, row.status) == (100, "informational")


def test_genres_and_years_of_films(two_films):
    """Of four films three have metadata, one of them in two genres; one line is of another film."""
    films = [load_annotations("mad", split, data_dir=two_films).video_id.tolist() for split in ("train", "val", "test")]
    one, two, three, _ = dict.fromkeys(name for split in films for name in split)
    missing = {row.measure: row for row in reproduce("mad-7", two_films) if row.table == "Figure 7"}
    assert [(str(row.published), row.ours) for row in missing.values()] == [("22", None), ("90", None)]
    assert all("write MAD_metadata.csv" in row.reason for row in missing.values())
    lines = [f"{one},1948,Drama|Film-Noir", f"{two},1999, Drama", f"{three},2010,Comedy", "other,1899,War"]
    (two_films / "mad" / "MAD_metadata.csv").write_text("\n".join(["movie,year,genres", *lines]) + "\n")
    rows = reproduce("mad-7", two_films)
    found = {(row.method, row.measure): row.ours for row in rows if row.table == "Figure 7"}
    assert (found["", "genres"], found["", "years"]) == (3, 2010 - 1948 + 1)
    assert {name: n for (method, name), n in found.items() if method == "films of a genre"} == {
        "Drama": 2,
        "Comedy": 1,
        "Film-Noir": 1,
    }
    assert [name for method, name in found if method == "films of a decade"] == ["1940s", "1990s", "2010s"]
    assert any("MAD_metadata.csv has 3 of 4 films" in row.reason for row in rows)
    (drawing,) = TABLES["mad-7"].drawings(rows)
    assert len(drawing.draw().axes) == 2


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a,late,Drama", "field year: got 'late', expected a year from 1880 to 2100"),
        ("a,1999.5,Drama", "field year: got '1999.5'"),
        ("a,1999, | ", "field genres: is empty"),
        (",1999,Drama", "field movie: is empty"),
        ("a,1999,Drama\na,1999,War", "field movie: 'a' appears twice"),
    ],
)
def test_metadata_that_are_damaged(two_films, line, expected):
    (two_films / "mad" / "MAD_metadata.csv").write_text(f"movie,year,genres\n{line}\n")
    with pytest.raises(InputError, match=r"MAD_metadata\.csv:[23]: " + re.escape(expected)):
        reproduce("mad-7", two_films)


def test_sizes_of_mad_beside_lsmdc(two_films):
    rows = {(row.dataset, row.split, row.measure): row for row in reproduce("mad-4", two_films)}
    # Two films were written; Soldan et al. 2022, Table 4: 112 films and 72.0 thousand sentences in test.
    n_queries = load_annotations("mad", "test", data_dir=two_films).n_queries
    test = rows["MAD", "test", "videos"], rows["MAD", "test", "annotations"]
    assert [(str(row.published), row.ours, row.status) for row in test] == [
        ("112", 2, "informational"),
        ("72.0", pytest.approx(n_queries / 1000), "informational"),
    ]
    assert {row.status for (dataset, *_), row in rows.items() if dataset != "MAD"} == {"published, unchecked"}


def test_mad_by_training_and_the_other_splits_together(two_films):
    # One film was written as training split, one as val and two as test.
    train, val, test = (load_annotations("mad", split, data_dir=two_films) for split in ("train", "val", "test"))
    found = [row for row in reproduce("mad-7", two_films) if row.table == "Table 7"]
    rows = {(row.split, row.measure): row for row in found}
    assert {(row.status, row.reason.partition(":")[0]) for row in rows.values()} == {("informational", "not judged")}
    assert len(rows) == 2 * 10  # Soldan et al. 2022, Table 7: ten columns
    assert rows["train", "queries"].ours == pytest.approx(train.n_queries / 1000)
    assert rows["val+test", "queries"].ours == pytest.approx((val.n_queries + test.n_queries) / 1000)


# --------------------------------------------------------------------------------------------------- command


def test_command(capsys, publish, small_data, trained, tmp_path):
    publish(
        "closer_look_table2.csv",
        ("Table 2", "Charades-CD", "test-iid", "DRN", "dR@1,IoU=0.5", "41.91", "percent"),
        ("Table 2", "Charades-CD", "test-iid", "CTRL", "dR@1,IoU=0.5", "29.80", "percent"),
    )
    trained("drn", "drn", features="perception:0.3", figures=[("dR@1,IoU=0.5", "0.4191")])
    page = tmp_path / "table.html"

    def printed(*more):
        words = ["reproduce", "closer-look-2", "--data-dir", small_data, "--runs", trained.folder, *more]
        assert run([str(word) for word in words]) == 0
        return capsys.readouterr().out

    lines = printed("--html", page).splitlines()
    assert "Runs of drn" in "\n".join(lines)
    assert any("perception:0.3 (simulated)" in line for line in lines)
    assert any(line.split()[:3] == ["dR@1,IoU=0.5", "DRN", "41.91"] and "simulated (a)" in line for line in lines)
    assert "Published, unchecked: no run" in lines
    assert "0 exact; 0 within; 0 outside; 1 informational; 1 published, unchecked; seed 0" in lines
    assert "perception:0.3 (simulated)" in page.read_text()
    (table,) = json.loads(printed("--json", "-"))["tables"]
    drn, ctrl = table["figures"]
    assert (drn["features"], drn["simulated"], drn["runs"], drn["status"]) == (
        "perception:0.3",
        True,
        1,
        "informational",
    )
    assert drn["recipe"].startswith("drn ")
    assert "tolerance" not in drn
    assert (ctrl["unchecked"], "recipe" in ctrl, "simulated" in ctrl) == ("no run", False, False)
    for style in ("md", "latex"):
        assert "perception:0.3 (simulated)" in printed("--table", style)
