"""truemoment audit of answers in words: with failures and abstentions, without the frames, on shuffled videos."""

import json
import shutil

import pytest

WORDS = {
    "refused": "I am unable to watch videos.",
    "ambiguous": "It starts at 12 seconds.",
    "failed": "<script>alert(1)</script> \u202e A person " + "thinks " * 100 + "of <b>doors</b>.",
}
"""Answers that name no moment, by how the reader calls them."""

DENIAL = "The event does not occur in the video."


def say(start_s, end_s):
    return f"The moment is from {start_s:.2f} to {end_s:.2f} seconds."


@pytest.fixture(scope="session")
def files(demo_run, tmp_path_factory):
    """Files of a world of 400 videos: annotations with 40 queries without a moment, and answers in words.

    The method that sees answers the test split; of every 20 answers one is refused, one ambiguous, one holds nothing,
    and one wrongly says that there is no such moment. Of queries without a moment it abstains on three of four.
    Without the frames the method that guesses answers.
    """
    folder = tmp_path_factory.mktemp("words")
    demo = shutil.copytree(demo_run / "truemoment-demo", folder / "demo")
    lines = [json.loads(line) for line in (demo / "annotations.jsonl").read_text(encoding="utf-8").splitlines()]
    asked = [line for line in lines if line["split"] == "test-ood"]
    nothing = [
        line | {"query_id": f"{line['query_id']}/none", "sentence": f"A unicorn, {n}.", "moments": []}
        for n, line in enumerate(asked[:40])
    ]
    trained = next(line for line in lines if line["split"] == "train")
    nothing.append(trained | {"query_id": "train/none", "sentence": "A unicorn.", "moments": []})
    write(folder / "annotations.jsonl", lines + nothing)

    kinds = [*WORDS.values(), DENIAL]
    for name in ("seeing-test-ood", "seeing-test-ood-shuffled", "guessing-test-ood"):
        _, *rows = (demo / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        answers = []
        for number, row in enumerate(map(json.loads, rows)):
            text = say(*row["moments"][0][:2])
            if name != "guessing-test-ood" and number % 20 < len(kinds):
                text = kinds[number % 20]
            answers.append({"query_id": row["query_id"], "answer": text})
        for number, line in enumerate(nothing[:40]):
            answers.append({"query_id": line["query_id"], "answer": DENIAL if number % 4 else say(1, 5)})
        write(folder / f"{name}.jsonl", answers)
    return folder


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def arguments(files, *more):
    return [
        *("audit", str(files / "seeing-test-ood.jsonl"), "--annotations", str(files / "annotations.jsonl")),
        *("--split", "test-ood", "--measures", "R@1,IoU=0.5; mIoU", "--resamples", "200", "--permutations", "99"),
        *more,
    ]


@pytest.fixture(scope="module", autouse=True)
def after_the_demo(files, quick_networks):
    """Train small networks, but not for the demo, which others look at."""
    del files, quick_networks


@pytest.fixture(scope="module")
def written(files, empty_pictures, after_the_demo):
    """Give the document and the page of an audit with all that may be given."""
    from truemoment.cli import run

    del after_the_demo
    document, page = files / "audit.json", files / "audit.html"
    words = ["--text-only", str(files / "guessing-test-ood.jsonl"), "--json", str(document), "--html", str(page)]
    words += ["--shuffled", str(files / "seeing-test-ood-shuffled.jsonl"), "--quiet"]
    with empty_pictures():
        assert run(arguments(files, *words)) == 0
    return json.loads(document.read_text(encoding="utf-8")), page.read_text(encoding="utf-8")


def finding(document, check):
    [found] = [one for one in document["findings"] if one["check"] == check]
    return found


def test_unread_answers_are_counted_and_shown(written):
    """Of 178 answers numbers 0, 1, 2 of every 20 are unread, 9 of each kind; 40 more are to the unicorns."""
    document, _ = written
    found = finding(document, "unread-share")
    assert document["answers"]["statuses"] == {
        "parsed": 178 - 36 + 10,
        "no answer": 9 + 30,
        **dict.fromkeys(WORDS, 9),
    }
    assert found["figure"] == 27 / 218
    assert (found["level"], found["holds"]) == ("warning", False)
    assert "12.4 % of the answers in words could not be read (27 of 218" in found["verdict"]
    assert "refused: 9 (4.1 %)" in found["evidence"]
    examples = [line for line in found["evidence"] if line.startswith("query ")]
    assert len(examples) == 3
    assert {line.rpartition(" (")[2].partition(":")[0] for line in examples} == set(WORDS)
    assert all(len(line) < 300 for line in examples)  # the long one is cut
    assert any(line.endswith("of <b>doors</b>.” (failed: nothing that could be a moment)") for line in examples)


def test_abstentions_are_told_apart(written):
    """30 of 40 queries without a moment are left unanswered, and 9 of 178 with one (in words: numbers 3 of each 20)."""
    document, _ = written
    assert document["annotations"]["n_queries"] == 218
    assert document["annotations"]["n_without_moment"] == 40
    told = document["abstention"]
    assert (told["n_rightly"], told["n_without_moment"], told["n_wrongly"], told["n_with_moment"]) == (30, 40, 9, 178)
    assert [one["value"] for one in told["measures"]] == [30 / 40, 9 / 178]
    found = finding(document, "abstention")
    assert found["figure"] == pytest.approx(30 / 40 - 9 / 178, abs=1e-12)
    assert found["holds"] is True
    assert "9 queries are answered with no moment" in finding(document, "validity")["evidence"]


def test_queries_without_a_moment_take_no_part_in_the_rest(written):
    document, _ = written
    assert all(entry["n_queries"] == 178 for entry in document["measures"])
    assert document["measures"][0]["signature"].count(document["annotations"]["measured_sha256"][:8]) == 1
    assert sum(entry["n_queries"] for entry in document["slices"] if entry["family"] == "references") == 178
    assert document["answers"]["n_queries"] == 178


def test_text_only_is_a_floor_of_its_own(written, files):
    document, _ = written
    floors = {floor["name"]: floor for floor in document["floors"]}
    text_only = floors["text-only"]
    assert text_only["title"] == "text only (no frames)"
    assert text_only["measures"][0]["validation"] == {
        "value": None,
        "unit": "fraction",
        "why": "it has no answers on another split",
    }
    assert {entry["n_floors"] for entry in document["verdict"]} == {len(floors)}
    without, own = text_only["measures"][0]["value"], document["measures"][0]["value"]
    versus = document["text_only"]["versus"][0]
    assert versus["difference"] == pytest.approx(own - without, abs=1e-12)
    found = finding(document, "text-only")
    assert found["figure"] == versus["difference"]
    assert found["verdict"].startswith(
        f"Without the frames the same model has {100 * without:.2f} of {100 * own:.2f} at R@1,IoU=0.5"
    )
    assert (found["level"], found["holds"]) == ("good", True)
    evidence = document["findings"][0]["evidence"]
    assert any(line.startswith(f"text only (no frames): {100 * without:.2f}; the method is ") for line in evidence)
    assert any(line.startswith("the strongest floor on val is ") for line in evidence)
    assert "text only (no frames)" in [curve["of"] for curve in document["curves"]]
    beside = document["predictions"]["beside"]
    assert set(beside) == {"shuffled", "text-only"}
    assert beside["text-only"]["path"] == str(files / "guessing-test-ood.jsonl")


def test_shuffled_answers_in_words_are_compared(written):
    """Nothing is said of the 36 queries that name no moment on either video."""
    document, _ = written
    shuffled = document["shuffled"]
    assert shuffled["left_out"] == {"answered on neither video": 36}
    assert shuffled["n_queries"] == 178 - 36
    assert shuffled["statuses"]["refused"] == 9
    found = finding(document, "uses-video")
    assert found["holds"] is True
    assert any("could not be read" in line and "27" in line for line in found["evidence"])


def test_the_page_shows_it_escaped(written):
    _, page = written
    for words in ("Answers in words", "Without the frames", "Abstaining", "text only (no frames)"):
        assert words in page
    assert page.count("<script") == 1  # the page's own
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "&lt;b&gt;doors&lt;/b&gt;" in page
    assert "thinks " * 40 not in page
    assert "40 more queries without a moment" in page


def test_the_terminal_says_it(call, files):
    text_only = files / "guessing-test-ood.jsonl"
    status, out, err = call(
        *arguments(files, "--text-only", text_only, "--gate", "unread-share<0.1; text-only", "--full")
    )
    assert status == 1
    flat = " ".join(out.split())
    assert "40 more queries without a moment, used only for abstention" in flat
    assert "floors 13 baselines that never see the video; training split: train" in flat
    assert "Without the frames the same model has" in flat
    told = [line for line in err.splitlines() if line.startswith("gate ")]
    assert ["FAILS" in line for line in told] == [True, False]


def test_a_method_that_is_its_own_floor_is_refused(call, files, tmp_path):
    same = tmp_path / "copy.jsonl"
    same.write_bytes((files / "seeing-test-ood.jsonl").read_bytes())
    status, out, err = call(*arguments(files, "--text-only", same))
    assert (status, out) == (2, "")
    assert "copy.jsonl has the same content as the audited predictions" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--protocol", "default,unreadable=drop"], "drops the 27 queries with an answer that could not be read, but"),
        (["--protocol", "default,missing=drop"], "drops the 9 queries without a prediction, but"),
        (["--measures", "CorrectAbstention"], "an audit needs measures of moments"),
        (["--text-only", "nowhere.jsonl"], "nowhere.jsonl: no such file"),
    ],
)
def test_what_cannot_be_audited_is_told_in_one_line(call, files, more, message):
    status, out, err = call(*arguments(files, *more))
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_the_protocol_for_sets_can_be_audited(call, files):
    """Its measures of abstention are left to the finding, and where every query has a moment it is no evaluator."""
    words = arguments(files, "--protocol", "sets", "--json", "-", "--quiet")
    at = words.index("--measures")
    del words[at : at + 2]
    status, out, err = call(*words)
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert [entry["measure"] for entry in document["measures"]] == [
        *("SetIoU", "F1,IoU=0.3", "F1,IoU=0.5", "F1,IoU=0.7"),
    ]
    assert finding(document, "abstention")["figure"] == pytest.approx(30 / 40 - 9 / 178, abs=1e-12)


def test_files_of_numbers_say_nothing_of_words(call, files):
    """The demo's own answers to its own annotations: moments as numbers, a moment for every query."""
    demo = files / "demo"
    words = arguments(files, "--json", "-", "--quiet")
    words[1] = str(demo / "seeing-test-ood.jsonl")
    words[words.index("--annotations") + 1] = str(demo / "annotations.jsonl")
    status, out, _ = call(*words)
    assert status == 0
    document = json.loads(out)
    assert not {"unread-share", "abstention", "text-only"} & {one["check"] for one in document["findings"]}
    assert document["abstention"] is document["text_only"] is document["answers"]["statuses"] is None
    assert "sets" not in [one["protocol"] for one in document["conventions"]]
