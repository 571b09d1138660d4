"""truemoment baseline: what is written, told and refused."""

import json
import os
import re
import statistics

import numpy as np
import pytest

from truemoment import __version__, get_protocol, parse_measures, read_annotations, read_predictions
from truemoment.base.boundary.text import short_line
from truemoment.baselines import BASELINES, Choices, make_baseline
from truemoment.baselines.proposals import SparseMap
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.protocols import CONVENTION_FIELDS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_networks")]

NAMES = tuple(BASELINES)
RANDOM = tuple(name for name in NAMES if BASELINES[name].random)
LEARNING = tuple(name for name in NAMES if BASELINES[name].learns)
MEASURES = "R@1,IoU=0.3; R@5,IoU=0.5; mIoU"


def lines_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def own_rows(seed=0):
    """48 queries to fit on and 18 to ask about, of videos of 30 to 60 s."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(66):
        duration_s = 30.0 + 5 * (k // 3 % 7)
        early = bool(k % 2)
        start = round(float(duration_s * (0.1 * rng.random() + (0 if early else 0.6))), 1)
        sentence = f"a person {'opens' if early else 'closes'} the door {k}"
        moment = [start, round(start + 4 + float(5 * rng.random()), 1)]
        split = "train" if k < 48 else "test"
        video = f"v{k // 3}"
        rows.append(
            {"video_id": video, "sentence": sentence, "duration_s": duration_s, "moments": [moment], "split": split}
        )
    return rows


@pytest.fixture
def own(tmp_path):
    """The rows in one file, by split."""
    path = tmp_path / "own.jsonl"
    path.write_text(lines_of(own_rows()))
    return path


@pytest.fixture
def baseline(call, own):
    """Run a baseline on the test split: baseline("uniform", ...) -> (status, standard output, standard error)."""
    return lambda name, *options: call("baseline", name, "--annotations", own, "--split", "test", *options)


@pytest.fixture
def baseline_fails(fails, own):
    """Run one that must be refused: the one line on standard error."""
    return lambda name, *options: fails(2, "baseline", name, "--annotations", own, "--split", "test", *options)


def by_api(own, name, rng, top=10, measures=MEASURES):
    """What a baseline answers and scores, without the command line."""
    test, train = (read_annotations(own, split) for split in ("test", "train"))
    answers = make_baseline(name, Choices(rng, references=test)).fit(train).ground(test.queries, top)
    scores = evaluate(test, answers, measures)
    return answers, {str(measure): scores.value(measure) for measure in scores.measures}


def figures(document):
    return {figure["measure"]: figure["value"] for figure in document["measures"]}


# ---- Every one of them


@pytest.mark.parametrize("name", NAMES)
def test_every_baseline_runs(baseline, own, name):
    status, out, _ = baseline(name, "--measures", MEASURES, "--json", "-")
    assert status == 0
    document = json.loads(out)
    _, expected = by_api(own, name, np.random.default_rng(0).spawn(1)[0])
    assert figures(document) == pytest.approx(expected, rel=1e-12)
    assert (document["baseline"], document["kind"]) == (name, BASELINES[name].kind)
    assert document["fitted_on"] == ("own.jsonl/train" if BASELINES[name].learns else None)


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("name", ["oracle", "prior-only", "predict-all"])
def test_what_is_written_is_read_back(call, baseline, own, name, suffix):
    path = own.with_name(f"answers.{suffix}")
    status, out, _ = baseline(name, "--measures", MEASURES, "-o", path, "--json", "-", "--seed", "7")
    assert status == 0
    told = json.loads(out)
    assert told["predictions"] == str(path)
    test = read_annotations(own, "test")
    found, report = read_predictions(path, test)
    assert report.format == ("parquet" if suffix == "parquet" else "native")
    expected, _ = by_api(own, name, np.random.default_rng(7).spawn(1)[0])
    assert found.query_id.tolist() == expected.query_id.tolist()
    for column in ("offsets", "start_s", "end_s", "score"):
        assert np.array_equal(getattr(found, column), getattr(expected, column))
    status, out, _ = call(
        "evaluate", path, "--annotations", own, "--split", "test", "--measures", MEASURES, "--json", "-"
    )
    assert status == 0
    assert figures(json.loads(out)) == figures(told)


def test_every_baseline_stands_in_the_help(call):
    _, out, _ = call("baseline", "--help")
    for name in NAMES:
        assert name in out


# ---- What is told


def test_what_people_read(baseline, tmp_path):
    path = tmp_path / "answers.jsonl"
    status, out, err = baseline("predict-all", "--measures", "mIoU; R@1,IoU=0.99", "-o", path, "--full")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert [line.split(maxsplit=1) for line in lines[:3]] == [
        ["baseline", "predict-all (floor): PredictAll"],
        ["data", "own.jsonl/test: 18 queries, 6 videos"],
        ["predictions", str(path)],
    ]
    # The whole video against each reference: mean of length / duration, by hand from the rows.
    rows = [row for row in own_rows() if row["split"] == "test"]
    shares = [(row["moments"][0][1] - row["moments"][0][0]) / row["duration_s"] for row in rows]
    assert [line.split() for line in lines[4:5] + lines[6:8]] == [
        ["measure", "%"],
        ["mIoU", f"{100 * statistics.mean(shares):.2f}"],
        ["R@1,IoU=0.99", "0.00"],
    ]
    assert re.fullmatch(
        r"protocol:default\|hit:IoU>m\|.*\|data:own\.jsonl/test#[0-9a-f]{8}\|truemoment:"
        + re.escape(__version__)
        + r"\|baseline:predict-all\|top:10\|seed:0",
        lines[-1],
    )


def test_what_it_was_fitted_on_is_told(baseline):
    _, out, _ = baseline("best-constant", "--measures", "mIoU")
    assert re.search(
        r"^baseline +best-constant \(floor\): best constant \(\d+-\d+ % of the video\), fitted on own\.jsonl/train\n",
        out,
        re.MULTILINE,
    )


def test_json_is_complete(baseline, own, tmp_path):
    path = tmp_path / "told.json"
    status, out, _ = baseline(
        "random-chance", "--measures", MEASURES, "--repeats", "3", "--seed", "4", "--top", "5", "--json", path
    )
    assert status == 0
    assert "random-chance (floor): Random Chance\n" in out  # a file leaves the table where it is
    document = json.loads(path.read_text())
    # DESIGN.md, command line: schema, version, hashes of what was read, seed; a measured value's keys.
    for key in (
        "schema",
        "truemoment",
        "dataset",
        "split",
        "annotations",
        "protocol",
        "convention",
        "seed",
        "measures",
    ):
        assert key in document
    assert document["schema"] == "truemoment/baseline/1"
    assert document["truemoment"] == __version__
    assert (document["dataset"], document["split"]) == ("own.jsonl", "test")
    test = read_annotations(own, "test")
    assert document["annotations"] == {"sha256": test.sha256, "n_queries": 18, "n_videos": 6}
    assert set(document["convention"]) == set(CONVENTION_FIELDS)
    assert (document["runs"], document["seed"], document["top"], document["predictions"]) == (3, 4, 5, None)
    for figure, measure in zip(document["measures"], parse_measures(MEASURES), strict=True):
        assert figure["measure"] == str(measure)
        assert 0 <= figure["value"] <= 1
        assert figure["spread"] >= 0
        assert (figure["unit"], figure["n_queries"], figure["n_videos"]) == ("fraction", 18, 6)
        assert figure["signature"].startswith(f"{measure}|protocol:default|")
        assert "why" not in figure


@pytest.mark.parametrize("name", ["best-constant", "action-aware", "random-chance"])
def test_json_says_all_that_decides_the_figures(baseline, own, name):
    # DESIGN.md, command line: hashes of what was read. And what was chosen: without these the run cannot be repeated.
    _, out, _ = baseline(name, "--measures", "mIoU", "--json", "-")
    if name == "random-chance":
        assert "sparse-map:16" in out or "SparseMap(n_clips=16)" in out
        return
    assert read_annotations(own, "train").sha256 in out
    assert ("R@1,IoU=0.5" if name == "best-constant" else "lexicon") in out


def test_an_undefined_measure_says_why(baseline):
    _, out, _ = baseline("uniform", "--measures", "R@1,IoU=0.5,length=long", "--repeats", "2", "--json", "-")
    (figure,) = json.loads(out)["measures"]
    assert figure["value"] is None
    assert figure["why"] == "no query has a reference that counts"
    assert "spread" not in figure
    _, out, _ = baseline("uniform", "--measures", "R@1,IoU=0.5,length=long", "--repeats", "2", "--quiet", "--full")
    assert out.splitlines()[-1].split() == ["R@1,IoU=0.5,length=long", "-", "-"]


def test_the_default_measures_are_the_protocol_s(baseline):
    _, out, _ = baseline("predict-all", "--protocol", "vslnet", "--json", "-")
    wanted = [str(measure) for measure in parse_measures(get_protocol("vslnet").measures)]
    assert list(figures(json.loads(out))) == wanted


# ---- Choices


@pytest.mark.parametrize("name", RANDOM)
def test_repeats(baseline, own, tmp_path, name):
    # Mean and sample standard deviation over runs on independent generators; the first run is the one that is written.
    path = tmp_path / "first.jsonl"
    status, out, _ = baseline(
        name, "--measures", MEASURES, "--repeats", "3", "--seed", "5", "-o", path, "--json", "-", "--top", "3"
    )
    assert status == 0
    document = json.loads(out)
    runs = [by_api(own, name, rng, top=3) for rng in np.random.default_rng(5).spawn(3)]
    for figure in document["measures"]:
        values = [values[figure["measure"]] for _, values in runs]
        assert figure["value"] == pytest.approx(statistics.mean(values), rel=1e-12)
        assert figure["spread"] == pytest.approx(statistics.stdev(values), rel=1e-9, abs=1e-15)
    n_different = len({values["mIoU"] for _, values in runs})
    assert n_different == 3 or ("network" in name and n_different > 1)  # networks may agree on so few queries
    written, _ = read_predictions(path, read_annotations(own, "test"))
    assert np.array_equal(written.start_s, runs[0][0].start_s)


def test_repeats_are_told_in_the_table(baseline, own):
    _, out, _ = baseline("uniform", "--measures", "mIoU", "--repeats", "3", "--full")
    values = [by_api(own, "uniform", rng)[1]["mIoU"] for rng in np.random.default_rng(0).spawn(3)]
    lines = out.splitlines()
    assert lines[3].split() == ["measure", "mean", "%", "of", "3", "runs", "spread"]
    assert lines[5].split() == ["mIoU", f"{100 * statistics.mean(values):.2f}", f"{100 * statistics.stdev(values):.2f}"]
    assert lines[-1].endswith("|top:10|seed:0|runs:3")


def test_top(baseline, tmp_path):
    path = tmp_path / "answers.jsonl"
    baseline("uniform", "-o", path, "--top", "4")
    assert [len(json.loads(line)["moments"]) for line in path.read_text().splitlines()[1:]] == [4] * 18


def test_fit_measure(baseline, own):
    # The constant that is best for mIoU on train, by the API.
    _, out, _ = baseline("best-constant", "--fit-measure", "mIoU", "--measures", "mIoU", "--json", "-")
    test, train = (read_annotations(own, split) for split in ("test", "train"))
    fitted = make_baseline("best-constant", Choices(measure="mIoU")).fit(train)
    assert json.loads(out)["title"] == fitted.name
    assert figures(json.loads(out)) == {
        "mIoU": pytest.approx(evaluate(test, fitted.ground(test.queries), "mIoU").value("mIoU"))
    }


@pytest.mark.parametrize(("text", "scheme"), [("sparse-map:5", SparseMap(5)), ("sparse-map:64", SparseMap(64))])
def test_proposals(baseline, own, text, scheme):
    _, out, _ = baseline("oracle", "--proposals", text, "--measures", "mIoU", "--json", "-")
    test = read_annotations(own, "test")
    oracle = make_baseline("oracle", Choices(references=test, proposals=scheme))
    expected = evaluate(test, oracle.ground(test.queries), "mIoU").value("mIoU")
    assert figures(json.loads(out))["mIoU"] == pytest.approx(expected, rel=1e-12)


def test_a_video_without_proposals_is_abstained_from(call, tmp_path):
    path, answers = tmp_path / "short.jsonl", tmp_path / "answers.jsonl"
    path.write_text(lines_of([{"video_id": "v", "sentence": "it rains", "duration_s": 20, "moments": [[1, 5]]}]))
    status, out, _ = call(
        "baseline", "random-chance", "--annotations", path, "--proposals", "windowed-grid", "-o", answers,
        "--measures", "mIoU", "--json", "-",
    )  # fmt: skip
    assert status == 0
    assert json.loads(answers.read_text().splitlines()[1])["moments"] == []
    assert figures(json.loads(out)) == {"mIoU": 0.0}  # missing answers score the worst value (protocol default)


@pytest.mark.parametrize("name", LEARNING)
def test_where_it_learns(call, own, tmp_path, name):
    # The same rows as a file of their own, as a split that is named, and as the split taken by default.
    train, test = tmp_path / "fit.jsonl", tmp_path / "asked.jsonl"
    rows = [row | {"query_id": f"q{k}"} for k, row in enumerate(own_rows())]
    for path, split in ((train, "train"), (test, "test")):
        path.write_text(
            lines_of({k: v for k, v in row.items() if k != "split"} for row in rows if row["split"] == split)
        )
    found = []
    for options in (
        ("--annotations", own, "--split", "test"),
        ("--annotations", own, "--split", "test", "--fit-split", "train"),
        ("--annotations", test, "--fit-annotations", train),
    ):
        status, out, _ = call("baseline", name, *options, "--measures", MEASURES, "--json", "-")
        assert status == 0
        found.append(json.loads(out))
    assert figures(found[0]) == figures(found[1]) == figures(found[2])
    assert [document["fitted_on"] for document in found] == ["own.jsonl/train", "own.jsonl/train", "fit.jsonl/all"]


# ---- Refusals


def test_an_unknown_name(fails):
    # Before anything is read: no annotations are named here.
    said = short_line(f"unknown baseline 'nobody', expected one of {', '.join(NAMES)}")
    assert fails(2, "baseline", "nobody") == said


@pytest.mark.parametrize("name", [name for name in NAMES if name not in RANDOM])
def test_repeats_of_what_draws_nothing(fails, name):
    said = fails(2, "baseline", name, "--repeats", "2")
    assert said == f"--repeats: {name} draws nothing, so every run would be the same"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--proposals", "dense"], "got proposals 'dense', expected sparse-map:N, sliding-windows or windowed-grid"),
        (["--proposals", "sparse-map:0"], "got 0 clips, expected 1 or more"),
        (["--measures", "R@1"], "'R@1': option IoU is missing, expected IoU=...; did you mean R@1,IoU=0.5?"),
        (["--fit-measure", "R@1"], "'R@1': option IoU is missing, expected IoU=...; did you mean R@1,IoU=0.5?"),
        (["--protocol", "default,top"], "protocol 'default,top': got 'top', expected KEY=VALUE"),
    ],
)
def test_mistakes_are_told_before_files_are_read(fails, tmp_path, options, said):
    assert fails(2, "baseline", "oracle", "--annotations", tmp_path / "missing.jsonl", *options) == said


@pytest.mark.parametrize(("option", "value"), [("--top", "0"), ("--repeats", "0"), ("--seed", "-1"), ("--top", "x")])
def test_what_the_parser_of_options_says(baseline_fails, option, value):
    said = baseline_fails("uniform", option, value)
    assert option in said
    assert said.endswith("--help)")


def test_an_unknown_engine(baseline_fails):
    said = baseline_fails("action-aware", "--engine", "parrot")
    assert said == "unknown language engine 'parrot', expected one of lexicon, spacy, spacy:MODEL"


def test_an_unknown_engine_is_told_before_files_are_read(fails, tmp_path):
    said = fails(2, "baseline", "action-aware", "--annotations", tmp_path / "missing.jsonl", "--engine", "parrot")
    assert said.startswith("unknown language engine 'parrot'")


@pytest.mark.parametrize("name", ["uniform", "oracle", "action-aware"])
def test_missing_files(fails, own, tmp_path, name):
    path = tmp_path / "missing.jsonl"
    assert fails(2, "baseline", name, "--annotations", path) == f"{path}: no such file"
    if BASELINES[name].learns:
        said = fails(2, "baseline", name, "--annotations", own, "--split", "test", "--fit-annotations", path)
        assert said == f"{path}: no such file"


@pytest.mark.parametrize("name", LEARNING)
def test_nothing_to_fit_on(fails, own, tmp_path, name):
    expected = f"{name} learns from a split: give --fit-split NAME or --fit-annotations FILE"
    unsplit = tmp_path / "unsplit.jsonl"
    unsplit.write_text(lines_of({k: v for k, v in row.items() if k != "split"} for row in own_rows()))
    assert fails(2, "baseline", name, "--annotations", own) == expected  # all rows are asked about
    assert fails(2, "baseline", name, "--annotations", own, "--split", "train") == expected
    # Lines without a split belong to every split, so "train" would be the queries that are asked about.
    assert fails(2, "baseline", name, "--annotations", unsplit, "--split", "test") == expected


def test_a_split_to_fit_on_that_is_not_there(baseline_fails, own):
    said = baseline_fails("bias-based", "--fit-split", "dev")
    assert said == f"{own}: has no queries of split 'dev'; expected one of test, train"


@pytest.mark.parametrize("name", LEARNING)
def test_two_things_to_fit_on(baseline_fails, own, name):
    said = baseline_fails(name, "--fit-split", "train", "--fit-annotations", own)
    assert said == "got --fit-split and --fit-annotations, expected one of them"


def test_a_fault_in_the_lines_to_fit_on_is_told(fails, own):
    rows = own_rows()
    rows[3]["moments"] = [[1]]
    own.write_text(lines_of(rows))
    said = fails(2, "baseline", "bias-based", "--annotations", own, "--split", "test")
    assert said.startswith(f"{own}:4: field moments[0]: expected a list of length 2; a third number is a score: ")


def test_an_unknown_duration(fails, own):
    rows = own_rows()
    del rows[-1]["duration_s"]
    own.write_text(lines_of(rows))
    for name in NAMES:
        said = fails(2, "baseline", name, "--annotations", own, "--split", "test", "--measures", "mIoU")
        assert "duration" in said


def test_an_unknown_duration_to_fit_on_names_the_split(fails, own):
    # The fault lies in the rows learned from; the message must not send the reader to the rows asked about.
    rows = own_rows()
    del rows[0]["duration_s"]
    own.write_text(lines_of(rows))
    said = fails(2, "baseline", "best-constant", "--annotations", own, "--split", "test", "--measures", "mIoU")
    assert "train" in said or "v0#0" in said


def test_clip_ratings_are_refused(baseline_fails):
    said = baseline_fails("best-constant", "--fit-measure", "HL-mAP,min=Good")
    assert said == "a constant answer rates no clips; ask for measures of moments"
    said = baseline_fails("uniform", "--measures", "HL-mAP,min=Good")
    assert said == "HL-mAP and HIT@1 need clip ratings, and the annotations have none"


def test_where_nothing_can_be_written(baseline_fails, tmp_path):
    said = baseline_fails("uniform", "-o", tmp_path / "no folder" / "answers.jsonl")
    assert said.startswith(f"{tmp_path / 'no folder' / 'answers.jsonl'}: cannot be written")


@pytest.mark.skipif(os.name != "posix", reason="such names are possible on POSIX")
@pytest.mark.parametrize("where", ["-", "FILE"])
def test_a_file_name_of_any_bytes(baseline, tmp_path, where):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/answers-\xff.jsonl")
    status, _, err = baseline(
        "uniform", "-o", path, "--measures", "mIoU", "--json", "-" if where == "-" else tmp_path / "told.json"
    )
    assert (status, err.count("bug of ours")) == (0, 0), err
