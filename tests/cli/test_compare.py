"""truemoment compare: which files are runs of which method, what is told, what is refused."""

import hashlib
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from truemoment import Annotations, __version__, get_protocol, parse_measures
from truemoment.base.errors import UsageError
from truemoment.data.datasets import own
from truemoment.studies.compare.request import files_by_method


@pytest.fixture
def world(tmp_path):
    """Forty queries, one a video: a file that answers all rightly, two that answer 34 and 36, one that answers 20."""
    annotations = tmp_path / "mine.jsonl"
    annotations.write_text(
        "".join(
            json.dumps({"video_id": f"v{i}", "sentence": "a door opens", "duration_s": 40, "moments": [[10, 20]]})
            + "\n"
            for i in range(40)
        )
    )

    def answers(name, right):
        path = tmp_path / f"{name}.jsonl"
        moments = [[10, 20, 1.0] if i < right else [30, 40, 1.0] for i in range(40)]
        path.write_text(
            "".join(json.dumps({"query_id": f"v{i}#0", "moments": [m]}) + "\n" for i, m in enumerate(moments))
        )

    for name, right in (("all", 40), ("run1", 34), ("run2", 36), ("half", 20)):
        answers(name, right)
    return tmp_path


@pytest.fixture
def compare(call, world, monkeypatch):
    monkeypatch.chdir(world)
    how = ("--annotations", "mine.jsonl", "--measures", "R@1,IoU=0.5; mIoU", "--full")
    return lambda *words: call("compare", *words, *how)


@pytest.fixture
def compare_fails(fails, world, monkeypatch):
    monkeypatch.chdir(world)
    return lambda *words: fails(2, "compare", *words, "--annotations", "mine.jsonl")


GROUPS = ("ours=run1.jsonl", "ours=run2.jsonl", "half.jsonl", "all.jsonl")


def test_what_people_read(compare):
    status, out, err = compare(*GROUPS)
    assert (status, err) == (0, "")
    head, *found, ranked, methods, pairs, parts, closing = out.split("\n\n")
    assert "all is not shown to be above ours: 100.00 against 87.50" in " ".join(found[0].split())
    assert [line.split()[0] for line in ranked.splitlines()[-3:]] == ["all", "ours", "half"]
    assert [line.split() for line in head.splitlines()] == [
        ["data", "mine.jsonl/all:", "40", "queries,", "40", "videos"],
        *(
            f'{method} {file}.jsonl: native (its first line has "moments"); 40 rows, 40 matched by id'.split()
            for method, file in (("ours", "run1"), ("ours", "run2"), ("half", "half"), ("all", "all"))
        ),
    ]
    # 34 and 36 of 40: mean 87.50, sample standard deviation 5 / sqrt(2). "all" beats ours on 6 videos: p is 2/64, and
    # more among six comparisons. Wrong answers do not touch the reference: IoU 0.
    assert [line.split() for line in methods.splitlines()] == [
        ["Measures", "in", "percent"],
        ["method", "runs", "R@1,", "IoU=0.5", "mIoU"],
        ["-------", "----", "--------------", "--------------"],
        ["a:", "ours", "2", *("87.50", "±", "3.54", "b") * 2],
        ["b:", "half", "1", "50.00", "50.00"],
        ["c:", "all", "1", "100.00", "b*", "100.00", "b*"],
    ]
    rows = [line.split() for line in pairs.splitlines()[3:]]
    assert [row[:4] for row in rows[:4]] == [
        ["R@1,IoU=0.5"],
        ["ours", "-", "half", "+37.50"],
        ["ours", "-", "all", "-12.50"],
        ["half", "-", "all", "-50.00"],
    ]
    assert len(rows) == 4  # mIoU equals R@1 in every row: it is left out
    assert [line.split()[:3] for line in parts.splitlines()[5:7]] == [["ours", "-", "half"], ["ours", "-", "all"]]
    lines = " ".join(closing.split())
    where = "R@1,IoU=0.5, mIoU, so the smallest detectable difference there is unknown"
    assert "note: every file: 100 % of the first moments start and end on multiples of 5 s: a coarse grid" in lines
    assert f"note: ours and all: they differ on 6 videos in {where}" in lines
    assert lines.endswith(f"|truemoment:{__version__}|compared:1000 resamples and 10000 permutations of videos, seed 0")


def test_against_one(compare):
    status, out, _ = compare(*GROUPS, "--against", "half", "--resamples", "100", "--permutations", "500", "--seed", "3")
    assert status == 0
    assert out.count("↑") == 5  # two methods and two measures, and once in the words
    assert " - half" in out
    assert " - all" not in out
    assert "compared:100 resamples and 500 permutations of videos, seed 3" in out


def test_the_seed_decides(compare):
    one, same, other = (compare(*GROUPS, "--quiet", "--seed", seed)[1] for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_a_difference_of_depth_is_no_difference_of_methods(call, world, monkeypatch):
    # Ten answers of which the last is right, and one answer that is wrong: at R@5 the first would be better by 100.
    monkeypatch.chdir(world)
    lists = {"ten": [[30, 40, 1.0], [30, 39, 0.9], [10, 20, 0.8]], "one": [[30, 40, 1.0]]}
    for name, moments in lists.items():
        lines = (json.dumps({"query_id": f"v{i}#0", "moments": moments}) + "\n" for i in range(40))
        (world / f"{name}.jsonl").write_text("".join(lines))
    words = ("compare", "ten.jsonl", "one.jsonl", "--annotations", "mine.jsonl", "--measures", "R@5,IoU=0.5; mIoU")
    _, out, _ = call(*words, "--full")
    assert "R@5,IoU=0.5 (top 1)" in out
    assert "mIoU (" not in out
    note = "note: R@5,IoU=0.5: only the first prediction of every list counts, since lists of one have no more"
    assert note in " ".join(out.split())
    document = json.loads(call(*words, "--json", "-", "--quiet")[1])
    (entry,) = (entry for entry in document["comparisons"] if entry["measure"] == "R@5,IoU=0.5")
    assert (entry["difference"], entry["significant"]) == (0.0, False)
    for method in document["methods"]:
        at_5, at_1 = method["measures"]
        assert (at_5["depth"], at_1["depth"]) == (1, None)
        assert "|top:1|" in at_5["signature"]
        assert "top:" not in at_1["signature"]
    # Two answers of each file are as deep as each other, and nothing is cut.
    lists = {"ten": lists["ten"][1:], "one": [[30, 40, 1.0], [30, 39, 0.9]]}
    for name, moments in lists.items():
        lines = (json.dumps({"query_id": f"v{i}#0", "moments": moments}) + "\n" for i in range(40))
        (world / f"{name}.jsonl").write_text("".join(lines))
    document = json.loads(call(*words, "--json", "-", "--quiet")[1])
    assert [entry["difference"] for entry in document["comparisons"]] == [1.0, 0.0]


def test_json_pure_and_complete(compare, world):
    status, out, err = compare(*GROUPS, "--json", "-", "--quiet", "--against", "all")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert document["schema"] == "truemoment/comparison/2"
    assert document["truemoment"] == __version__
    assert (document["against"], document["seed"], document["resamples"], document["permutations"]) == (
        "all",
        0,
        1000,
        10000,
    )
    assert re.fullmatch("[0-9a-f]{64}", document["annotations"]["sha256"])
    ours = document["methods"][0]
    assert [run["predictions"] for run in ours["runs"]] == [
        {"path": name, "sha256": hashlib.sha256((world / name).read_bytes()).hexdigest()}
        for name in ("run1.jsonl", "run2.jsonl")
    ]
    assert [m["values"] for m in ours["measures"]] == [[0.85, 0.9]] * 2
    assert [entry["methods"] for entry in document["comparisons"]] == [["ours", "all"], ["half", "all"]] * 2
    status, _, err = compare(*GROUPS, "--json", "-", "--against", "all")
    assert "note: ours and all: they differ on 6 videos" in err
    assert "mine.jsonl/all: 40 queries" in compare(*GROUPS, "--json", world / "x.json", "--against", "all")[1]
    assert json.loads((world / "x.json").read_text()) == document


def test_published_rows(compare, world):
    folder = world / "published"
    folder.mkdir()
    (folder / "p.csv").write_text(
        "source,table,dataset,split,method,measure,value,unit,note\n"
        'paper,Table 2,mine.jsonl,all,CTRL,"R@1,IoU=0.5",30.70,percent,\n'
        'paper,Table 2,mine.jsonl,test,CTRL,"R@1,IoU=0.5",99,percent,\n'
    )
    status, out, _ = compare(*GROUPS, "--published", folder)
    assert status == 0
    lines = out.splitlines()
    at = lines.index("Published, unchecked: paper, Table 2")
    assert lines[at + 1].split() == ["CTRL", "30.70"]
    assert "99" not in out.split("\n\n")[1]
    _, out, _ = compare(*GROUPS, "--published", folder / "p.csv", "--json", "-", "--quiet")
    (source,) = json.loads(out)["published"]["sources"]
    assert source["path"] == str(folder / "p.csv")


def test_the_default_measures_are_the_protocol_s(call, world, monkeypatch):
    monkeypatch.chdir(world)
    words = ("compare", "all.jsonl", "half.jsonl", "--annotations", "mine.jsonl", "--protocol", "vslnet", "--json", "-")
    document = json.loads(call(*words, "--quiet")[1])
    wanted = [str(measure) for measure in parse_measures(get_protocol("vslnet").measures)]
    assert [m["measure"] for m in document["methods"][0]["measures"]] == wanted


class TestTheSentenceNetwork:
    """It is a method where there is a training split, and every method is compared with it."""

    WORDS = ("compare", "runs/a.jsonl", "runs/b.jsonl", "--annotations", "mine.jsonl", "--split", "test")

    def document(self, call, *words):
        status, out, err = call(*self.WORDS, "--resamples", "200", "--permutations", "200", "--json", "-", *words)
        assert status == 0, err
        return json.loads(out)

    @pytest.mark.slow
    @pytest.mark.usefixtures("three_runs")
    def test_it_is_a_row_that_all_are_compared_with(self, call):
        document = self.document(call, "--quiet")
        assert [(of["method"], of["kind"], len(of["runs"])) for of in document["methods"]] == [
            ("a", "file", 1),
            ("b", "file", 1),
            ("sentence-network", "floor", 0),
        ]
        assert len(document["methods"][2]["measures"][0]["values"]) == 2  # trainings
        pairs = [["a", "b"], ["a", "sentence-network"], ["b", "sentence-network"]]
        assert [entry["methods"] for entry in document["comparisons"]] == pairs * len(
            document["methods"][0]["measures"]
        )
        fitted_on = document["network"]["fitted_on"]
        assert (fitted_on["dataset"], fitted_on["split"], fitted_on["n_queries"]) == ("mine.jsonl", "train", 24)
        # 20 and 14 of 24 right: each hits in sum what it hits where the network misses, and where it hits.
        n_missed, n_hit = document["network"]["n_missed"], document["network"]["n_hit"]
        assert n_missed + n_hit == 24
        for entry, right in zip(document["network"]["methods"], (20, 14), strict=True):
            hits = [entry["where_missed"] * n_missed, (entry["where_hit"] or 0) * n_hit]
            assert sum(hits) == pytest.approx(right)
        document = self.document(call, "--quiet", "--against", "a", "--measures", "mIoU")
        pairs = [["b", "a"], ["sentence-network", "a"], ["b", "sentence-network"]]
        assert [entry["methods"] for entry in document["comparisons"]] == pairs
        document = self.document(call, "--quiet", "--against", "sentence-network", "--measures", "mIoU")
        assert [entry["methods"] for entry in document["comparisons"]] == [
            ["a", "sentence-network"],
            ["b", "sentence-network"],
        ]

    @pytest.mark.slow
    @pytest.mark.usefixtures("three_runs")
    def test_it_is_the_one_of_the_audit(self, call):
        # Of the same file and seed an audit quotes the same figures of the network and of the file beside it.
        document = self.document(call, "--quiet", "--measures", "R@1,IoU=0.5; mIoU", "--seed", "3")
        words = ("audit", "runs/a.jsonl", *self.WORDS[3:], "--measures", "R@1,IoU=0.5; mIoU", "--seed", "3")
        audit = json.loads(call(*words, "--resamples", "200", "--permutations", "20", "--json", "-", "--quiet")[1])
        (floor,) = (of for of in audit["floors"] if of["name"] == "sentence-network")
        values = [measured["value"] for measured in document["methods"][2]["measures"]]
        assert values == pytest.approx([measured["value"] for measured in floor["measures"]])
        beside = audit["where_blind_misses"]
        ours = document["network"]["methods"][0]
        assert (ours["where_missed"], ours["where_hit"]) == pytest.approx(
            (beside["where_missed"]["method"], beside["where_hit"]["method"])
        )
        for key in ("value", "ci95"):
            assert ours["excess"][key] == beside["excess"][key]

    @pytest.mark.usefixtures("three_runs")
    def test_what_people_read(self, call):
        status, out, err = call(*self.WORDS, "--measures", "R@1,IoU=0.5", "--against", "a", "--full")
        assert (status, err) == (0, "")
        head, *_, methods, pairs, hits, closing = out.split("\n\n")
        assert " ".join(head.split()).endswith(
            "sentence-network a blind baseline, which reads the sentence and the duration of the video; fitted on "
            "mine.jsonl/train, 2 times"
        )
        assert methods.splitlines()[-1].split()[:2] == ["sentence-network", "2"]
        assert "b - sentence-network" in pairs
        assert [line.split()[0] for line in hits.splitlines()[3:]] == ["a", "b", "a"]  # a second network
        assert "network misses, network hits: share of these queries" in closing
        assert call(*self.WORDS, "--table", "md")[1].count("\n\n| method") == 4

    def test_without_a_training_split_a_note_says_so(self, compare, compare_fails):
        why = "there is no training split to fit it on (--fit-split, --fit-annotations)"
        assert f"note: sentence-network is not compared: {why}" in " ".join(compare(*GROUPS)[1].split())
        assert "sentence-network" not in compare(*GROUPS, "--fit-split", "none")[1]
        assert compare_fails(*GROUPS, "--against", "sentence-network") == (
            f"--against sentence-network: it is not compared: {why}"
        )

    def test_its_name_is_taken(self, compare_fails):
        assert compare_fails("sentence-network=all.jsonl", "half.jsonl") == (
            "got a method called 'sentence-network', which is the name of a blind baseline; give NAME=FILE with "
            "another name, or --fit-split none"
        )

    @pytest.mark.usefixtures("three_runs")
    def test_a_measure_that_it_cannot_answer(self, call):
        out = call(*self.WORDS, "--measures", "mIoU; FalseAbstention", "--full")[1]
        assert (
            "note: sentence-network is not compared: it finds moments only, and FalseAbstention is no measure of them "
            "(--measures)"
        ) in " ".join(out.split())

    @pytest.mark.slow
    @pytest.mark.usefixtures("three_runs")
    def test_it_is_kept_for_the_next_time(self, call, monkeypatch, tmp_path):
        monkeypatch.setenv("TRUEMOMENT_CACHE", str(tmp_path / "cache"))
        first = self.document(call, "--quiet")
        monkeypatch.setattr("truemoment.baselines.sentence_network.SentenceNetwork.fit", None)
        assert self.document(call, "--quiet") == first
        assert call(*self.WORDS, "--no-cache")[0] == 3  # it would be trained anew


class TestWhichFilesAreRuns:
    def test_names(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        words = ["ours=a.jsonl", "base.jsonl.gz", " ours =b=2.jsonl", "runs/lr=1/c.json", "ü ö=/x/y.csv"]
        assert files_by_method(words) == {
            "ours": [Path("a.jsonl"), Path("b=2.jsonl")],
            "base": [Path("base.jsonl.gz")],
            "c": [Path("runs/lr=1/c.json")],
            "ü ö": [Path("/x/y.csv")],
        }

    def test_a_file_with_an_equals_sign(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert list(files_by_method(["lr=0.1.jsonl", "x.jsonl"])) == ["lr", "x"]
        Path("lr=0.1.jsonl").touch()
        assert files_by_method(["lr=0.1.jsonl", "x.jsonl"]) == {
            "lr=0.1": [Path("lr=0.1.jsonl")],
            "x": [Path("x.jsonl")],
        }

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["=a", "b"], "got '=a', expected NAME=FILE, or FILE"),
            (["a=", "b"], "got 'a=', expected NAME=FILE, or FILE"),
            (["x\ny=a", "b"], "got the name 'x\\ny', expected printable text"),
            (
                ["a.jsonl"],
                "got one method (a, 1 file), expected two or more; give files of different methods different "
                "names, as in ours=a.jsonl base=b.jsonl",
            ),
            (
                ["m=a", "m=b"],
                "got one method (m, 2 files), expected two or more; give files of different methods different "
                "names, as in ours=a.jsonl base=b.jsonl",
            ),
            (["m=a", "m=./a", "b"], "a is given twice under the name 'm', expected each run once"),
            (["a", "a", "b"], "a is given twice under the name 'a', expected each run once"),
            (
                ["x/p.jsonl", "y/p.jsonl"],
                "x/p.jsonl and y/p.jsonl would both have the name 'p'; give NAME=FILE: one name for runs of one "
                "method, two for two methods",
            ),
            (
                ["p=x/q.jsonl", "y/p.jsonl"],
                "x/q.jsonl and y/p.jsonl would both have the name 'p'; give NAME=FILE: one name for runs of one "
                "method, two for two methods",
            ),
        ],
    )
    def test_refused(self, words, said, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(UsageError) as caught:
            files_by_method(words)
        assert str(caught.value) == said


class TestErrors:
    def test_of_options(self, compare_fails):
        assert compare_fails("a=all.jsonl", "half.jsonl", "--against", "x") == (
            "--against: got 'x', expected one of a, half or sentence-network"
        )
        assert compare_fails("all.jsonl").startswith("got one method (all, 1 file), expected two or more")
        assert compare_fails().endswith("(see truemoment compare --help)")

    @pytest.mark.parametrize(
        ("option", "value"), [("--resamples", 1), ("--permutations", 0), ("--seed", -1), ("--table", "x")]
    )
    def test_what_the_parser_says(self, compare_fails, option, value):
        said = compare_fails("all.jsonl", "half.jsonl", option, value)
        assert option in said
        assert said.endswith("(see truemoment compare --help)")

    def test_of_files(self, compare_fails, world):
        assert compare_fails("all.jsonl", "none.jsonl") == "none.jsonl: no such file"
        assert compare_fails("all.jsonl", "half.jsonl", "--published", "none") == "none: no such file"
        for option in (("--on", "val"), ("--changed", "shuffled")):
            assert compare_fails("all.jsonl", "half.jsonl", *option, "all=none.jsonl") == "none.jsonl: no such file"
        (world / "p.csv").write_text("a,b\n")
        said = compare_fails("all.jsonl", "half.jsonl", "--published", "p.csv")
        assert said.startswith("p.csv:1: got headings a, b, expected source, table, ")

    def test_other_queries(self, compare_fails, world):
        (world / "other.jsonl").write_text('{"query_id": "elsewhere#0", "moments": [[0, 1, 1.0]]}\n')
        said = compare_fails("all.jsonl", "other.jsonl")
        assert said.startswith("other.jsonl:1:")
        assert "elsewhere#0" in said

    def test_mistakes_in_options_are_told_before_files_are_read(self, compare_fails):
        assert compare_fails("a=/no", "b=/no", "--measures", "xyz").startswith("'xyz': unknown measure")
        assert compare_fails("a=/no", "b=/no", "--published", "/none") == "/none: no such file"

    def test_nothing_half_written(self, compare, world):
        status, _, err = compare(*GROUPS, "--json", world / "no" / "x.json")
        assert status == 2
        assert err.endswith("no is no folder\n")


@pytest.mark.data
def test_a_real_file_against_itself_moved(call, data_dir, tmp_path):
    real = data_dir / "predictions" / "hao2022_charades_cd_test_ood.json"
    content = json.loads(real.read_text())
    for answers in content["results"].values():
        for answer in answers:
            answer["timestamp"] = [t + 2 for t in answer["timestamp"]]
    moved = tmp_path / "moved.json"
    moved.write_text(json.dumps(content))
    shutil.copy(real, tmp_path / "copy.json")
    status, out, _ = call(
        "compare", f"hao={real}", moved, tmp_path / "copy.json", "--dataset", "charades-cd", "--split", "test-ood",
        "--data-dir", data_dir, "--measures", "R@1,IoU=0.5", "--json", "-", "--quiet", "--fit-split", "none",
    )  # fmt: skip
    assert status == 0
    document = json.loads(out)
    # 46.84: what evaluate prints of this file (README.md).
    assert round(100 * document["methods"][0]["measures"][0]["value"], 2) == 46.84
    by_pair = {tuple(entry["methods"]): entry for entry in document["comparisons"]}
    assert by_pair["hao", "moved"]["significant"] is True
    assert by_pair["hao", "moved"]["ci95"][0] > 0
    same = by_pair["hao", "copy"]
    assert (same["difference"], same["p"], same["p_corrected"], same["significant"]) == (0.0, 1.0, 1.0, False)
    assert same["resolves"]["value"] is None
    assert same["resolves"]["why"] == "they differ on no videos"


@pytest.fixture
def in_order(tmp_path, monkeypatch):
    """A file whose videos have three sentences in the order of their moments, and two methods that see some."""
    rng = np.random.default_rng(0)
    parts = [
        Annotations.from_rows(
            [
                (
                    f"{name}{v}#{k}",
                    f"{name}{v}",
                    60.0,
                    "somebody waits",
                    20.0 * k + 2,
                    20.0 * k + 2 + rng.uniform(5, 16),
                )
                for v in range(count)
                for k in range(3)
            ],
            split=name,
        )
        for name, count in (("train", 80), ("test", 40))
    ]
    own.write(tmp_path / "mine.jsonl", parts)
    for name, sees in (("a", 0.5), ("b", 0.3)):
        lists = [
            {"query_id": query, "moments": [[start, end, 1.0] if rng.random() < sees else [0.0, 5.0, 1.0]]}
            for query, start, end in zip(parts[1].query_id.tolist(), parts[1].start_s, parts[1].end_s, strict=True)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(of) + "\n" for of in lists))
    monkeypatch.chdir(tmp_path)
    return ("compare", "a.jsonl", "b.jsonl", "--annotations", "mine.jsonl", "--split", "test", "--measures", "mIoU")


def test_where_the_order_predicts_moments_the_paragraph_network_is_a_method(call, in_order):
    document = json.loads(call(*in_order, "--json", "-", "--quiet")[1])
    assert [of["method"] for of in document["methods"]] == ["a", "b", "sentence-network", "paragraph-network"]
    assert [of["kind"] for of in document["methods"]] == ["file", "file", "floor", "floor"]
    notes = " ".join(document["notes"])
    assert "a is significantly below paragraph-network" in notes
    declared = json.loads(call(*in_order, "--reads", "a=sentence", "--json", "-", "--quiet")[1])
    assert declared["reads_sentence"] == ["a"]
    assert "a is significantly below paragraph-network" not in " ".join(declared["notes"])
    assert "b is significantly below paragraph-network" in " ".join(declared["notes"])
    every = json.loads(call(*in_order, "--reads", "sentence", "--json", "-", "--quiet")[1])
    assert [of["method"] for of in every["methods"]] == ["a", "b", "sentence-network"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("paragraph", "--reads: got 'paragraph', expected sentence, or NAME=sentence with the name of a method"),
        ("c=sentence", "--reads: got 'c', expected one of half, all"),
    ],
)
def test_declarations_that_name_nothing(compare_fails, word, expected):
    assert compare_fails("half.jsonl", "all.jsonl", "--reads", word) == expected


def test_every_field_of_the_json_is_explained(compare):
    page = Path(__file__).resolve().parents[2] / "docs" / "api" / "comparison.md"
    table = page.read_text(encoding="utf-8").partition("\n| --- | --- |\n")[2].partition("\n\n")[0]
    explained = {name for row in table.splitlines() for name in re.findall("`([^`]+)`", row.split("|")[1])}
    document = json.loads(compare(*GROUPS, "--json", "-", "--quiet")[1])
    names = set(document)
    for inside in ("methods", "comparisons"):
        names |= {f"{inside}.{key}" for entry in document[inside] for key in entry}
    network = ("fitted_on", "hit", "n_missed", "n_hit", "second", "methods")
    names |= {f"network.{key}" for key in network}  # null here
    assert explained == names | {"comparisons.why"}  # only where a p value is undefined


def test_help_fits_and_shows_its_examples(call):
    status, out, err = call("compare", "--help")
    assert (status, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 100
    assert [line.split()[2] for line in out.splitlines() if "  truemoment compare" in line] == [
        "ours.jsonl",
        "ours=1.jsonl",
        "ours.jsonl",
    ]
