"""Audits of answers in words, of methods that abstain, and of a model asked without its frames."""

import dataclasses
import json

import numpy as np
import pytest

from truemoment import Annotations, Predictions, read_predictions
from truemoment.base.boundary.caching import Cache
from truemoment.base.errors import ProtocolError, UsageError
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.audit import CHECKS, AuditSetup, Controls, Results, Splits
from truemoment.studies.audit.checks import changed_videos, conventions

NAN = float("nan")
DEFAULT = get_protocol("default")


def annotated(split, n_videos, *, without=0, seed=0):
    """Moments of 10 s anywhere in 50-s videos, two queries a video; the last `without` queries have none."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(2 * n_videos):
        start = round(float(rng.uniform(0, 40)), 2)
        times = (NAN, NAN) if k >= 2 * n_videos - without else (start, start + 10)
        rows.append((f"{split}{k // 2}#{k}", f"{split}{k // 2}", 50.0, "a person opens a door", *times))
    return Annotations.from_rows(rows, dataset="invented", split=split)


@pytest.fixture(scope="module")
def train():
    return annotated("train", 60, seed=1)


def right(annotations, *, fault_s=0.0):
    """The references as answers, moved; on queries without a moment it abstains."""
    located = annotations.with_moments()
    found = zip(located.query_id, located.start_s, located.end_s, strict=True)
    nothing = {q: [] for q in annotations.queries.query_id[annotations.without_moment]}
    return Predictions.from_lists({q: [(s + fault_s, e + fault_s, 1.0)] for q, s, e in found} | nothing, name="right")


def whole(annotations):
    return Predictions.from_lists({q: [(0.0, 50.0)] for q in annotations.queries.query_id}, name="whole")


def audited(annotations, predictions, *, measures="R@1,IoU=0.5; mIoU", protocol=DEFAULT, **more):
    """Give the results of an audit, of which nothing is computed before a check looks at it."""
    more = {"resamples": 200, "permutations": 99, "cache": Cache.of_user()} | more
    return Results(AuditSetup(annotations, predictions, parse_measures(measures), protocol, **more), 0)


def finding(results, check):
    return next(of for of in CHECKS if of.name == check).look(results)


def read(tmp_path, annotations, texts):
    """Answers in words as a file of them, read."""
    path = tmp_path / "said.jsonl"
    lines = zip(annotations.queries.query_id, texts, strict=True)
    path.write_text("".join(json.dumps({"query_id": q, "answer": t}) + "\n" for q, t in lines), encoding="utf-8")
    return read_predictions(path, annotations)


def said(annotations, *, unread=0):
    """Each reference in words, but for the first `unread` answers, which name half a moment."""
    times = zip(annotations.start_s, annotations.end_s, strict=True)
    return [f"from {s:.2f} to {e:.2f} s" if k >= unread else "It starts at 12 s." for k, (s, e) in enumerate(times)]


# ---- Answers that could not be read


@pytest.mark.parametrize(
    ("unread", "level", "holds"),
    [
        *[(0, "good", True), (1, "good", True), (2, "note", True), (5, "note", True)],
        *[(6, "warning", False), (20, "warning", False), (21, "serious", False)],
    ],
)
def test_the_level_follows_the_share_of_unread_answers(tmp_path, unread, level, holds):
    """Of 100 answers; good up to 1 %, a note up to 5 %, a warning up to 20 % (issue: coverage in the audit)."""
    test = annotated("test", 50)
    answers, match = read(tmp_path, test, said(test, unread=unread))
    found = finding(audited(test, answers, match=match), "unread-share")
    assert (found.level, found.holds, found.figure) == (level, holds, unread / 100)
    assert ("could not be read" in found.verdict) == (unread > 0)


def test_reasons_and_examples_are_told_of_different_kinds(tmp_path):
    test = annotated("test", 20)
    texts = said(test, unread=7)
    texts[7], texts[8] = "I cannot watch videos.", "Bananas" + " and bananas" * 200
    answers, match = read(tmp_path, test, texts)
    evidence = finding(audited(test, answers, match=match), "unread-share").evidence
    assert "not read, ambiguous: a start without an end: 7 answers" in evidence
    examples = [line for line in evidence if line.startswith("query ")]
    assert len(examples) == 3
    assert {line.partition("(")[2].partition(":")[0] for line in examples} == {"ambiguous", "refused", "failed"}
    assert max(map(len, examples)) < 260


def test_statuses_alone_are_enough(tmp_path):
    """A native file keeps how answers were understood, but not their texts: counts without reasons."""
    test = annotated("test", 20)
    answers, _ = read(tmp_path, test, said(test, unread=4))
    found = finding(audited(test, answers), "unread-share")
    assert found.figure == 4 / 40
    assert len(found.evidence) == 5  # a line a status


def test_numbers_are_not_answers_in_words():
    test = annotated("test", 20)
    assert finding(audited(test, right(test)), "unread-share") is None


# ---- Patterns of answers in words, and times that are no seconds


def test_the_same_text_is_a_pattern(tmp_path):
    """30 of 40 answers are one text; the most frequent reference holds far less."""
    test = annotated("test", 20)
    texts = ["The whole clip, from 3.5 to 17.2 s."] * 30 + said(test)[30:]
    answers, match = read(tmp_path, test, texts)
    found = finding(audited(test, answers, match=match), "answer-pattern")
    assert "75 % of the answers are the same text, character by character" in found.verdict
    assert found.holds is False


def test_saying_rightly_that_there_is_none_is_no_pattern(tmp_path):
    """20 of 40 queries have no moment, and are answered by one sentence."""
    test = annotated("test", 20, without=20)
    texts = said(test)[:20] + ["There is no such moment in the video."] * 20
    answers, match = read(tmp_path, test, texts)
    found = finding(audited(test, answers, match=match), "answer-pattern")
    assert "answers whose text is the most frequent one, character by character: 50.0 %" in found.evidence
    assert "character by character" not in found.verdict


def test_a_coarse_grid_is_left_to_the_pattern(tmp_path):
    """Every moment, and every reference, is from 105 to 115 s: no fault of the answers."""
    rows = [(f"v{k}#0", f"v{k}", 150.0, "a person opens a door", 105.0, 115.0) for k in range(20)]
    test = Annotations.from_rows(rows)
    answers, match = read(tmp_path, test, said(test))
    assert any("coarse" in sign for sign in match.signs)
    assert finding(audited(test, answers, match=match), "validity").level == "good"


# ---- Queries without a moment


@pytest.mark.slow
def test_queries_without_a_moment_change_no_figure(train):
    """The audit of a split is that of its queries with a moment, whatever is said of the others."""
    test = annotated("test", 30, without=15)
    answers = right(test, fault_s=2.0)
    with_them = audited(test, answers, splits=Splits(train=train))
    located = test.with_moments()
    keep = np.isin(answers.query_id.astype(str), located.query_id.astype(str))
    alone = audited(located, answers.select_queries(keep), splits=Splits(train=train))
    for check in CHECKS:
        if check.name != "abstention":
            assert check.look(with_them) == check.look(alone), check.name
    assert with_them.scores.annotations_sha256 == located.sha256
    assert with_them.whole.annotations.sha256 == test.sha256


@pytest.mark.slow
def test_every_split_is_held_to_its_queries_with_a_moment():
    test, train = annotated("test", 20, without=5), annotated("train", 60, without=9, seed=1)
    val, iid = annotated("val", 20, without=3, seed=2), annotated("iid", 20, without=2, seed=3)
    found = audited(
        test,
        right(test),
        splits=Splits(train=train, validation=val, others=(train, val)),
        iid=(iid, right(iid)),
        controls=Controls(shuffled=whole(test)),
    )
    setup, splits = found.setup, found.setup.splits
    located = (setup.annotations, splits.train, splits.validation, setup.iid[0])
    assert [of.n_queries for of in located] == [35, 111, 37, 38]
    assert len(setup.controls.shuffled) == 35
    assert len(setup.iid[1]) == 38
    assert finding(found, "better-than-guessing").holds is True


def test_videos_asked_only_for_what_they_lack_are_leaks_too():
    test, train = annotated("test", 20, without=2), annotated("train", 40, seed=1)
    asked_nowhere_else = test.video_id[-1]  # both queries of the last video are without a moment
    other = Annotations.from_rows(
        [("other#0", asked_nowhere_else, 50.0, "he sits", 1.0, 2.0)], dataset="invented", split="val"
    )
    leak = finding(audited(test, right(test), splits=Splits(train=train, others=(other,))), "leakage")
    assert leak.level == "serious"
    assert "val (1 of 20)" in leak.verdict


def test_one_that_knows_where_nothing_is_is_told_from_one_that_does_not(train):
    test = annotated("test", 30, without=20)
    knows = finding(audited(test, right(test), splits=Splits(train=train)), "abstention")
    assert (knows.level, knows.holds, knows.figure) == ("good", True, 1.0)
    assert "The method abstains rightly on 20 of 20 queries without a moment (100.0 %), " in knows.verdict
    never = finding(audited(test, whole(test), splits=Splits(train=train)), "abstention")
    assert (never.level, never.holds, never.figure) == ("warning", False, 0.0)
    assert "it never abstains" in never.verdict
    always = Predictions.from_lists({q: [] for q in test.queries.query_id})
    mute = finding(audited(test, always, splits=Splits(train=train)), "abstention")
    assert (mute.level, mute.holds, mute.figure) == ("warning", False, 0.0)
    assert "does not show that it recognises queries without a moment" in mute.verdict


def test_abstentions_where_every_query_has_a_moment(train):
    test = annotated("test", 30)
    assert finding(audited(test, right(test), splits=Splits(train=train)), "abstention") is None
    for silent, level in ((3, "note"), (4, "warning")):  # of 60: 5.0 and 6.7 %
        answers = right(test)
        lists = {q: [] if k < silent else [(1.0, 2.0)] for k, q in enumerate(answers.query_id)}
        found = finding(audited(test, Predictions.from_lists(lists), splits=Splits(train=train)), "abstention")
        assert (found.level, found.figure, found.holds) == (level, None, None)
        assert f"The method answers that there is no such moment for {silent} of 60 queries (" in found.verdict


def test_unread_answers_are_no_abstentions(tmp_path):
    test = annotated("test", 20, without=10)
    texts = [*said(test)[:30], *["I cannot watch videos."] * 10]
    answers, match = read(tmp_path, test, texts)
    found = finding(audited(test, answers, match=match), "abstention")
    assert "abstains rightly on 0 of 10 queries without a moment (0.0 %)" in found.verdict


def test_a_split_without_any_moment_is_refused():
    test = annotated("test", 5, without=10)
    with pytest.raises(UsageError, match="no query has a reference moment, which an audit needs"):
        audited(test, right(test))
    with pytest.raises(UsageError, match="invented/none: no query has a reference moment; name another split"):
        audited(
            annotated("test", 5), right(annotated("test", 5)), splits=Splits(train=annotated("none", 5, without=10))
        )


def test_a_duration_that_nothing_hangs_on_may_be_unknown(train):
    test = annotated("test", 20, without=2)
    nowhere = np.isnan(test.start_s)
    test = dataclasses.replace(test, duration_s=np.where(nowhere, NAN, test.duration_s))
    assert finding(audited(test, right(test), splits=Splits(train=train)), "abstention").figure == 1.0


# ---- Protocols that drop


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ("predictions", "could not be read, but"),
        ("shuffled", "on shuffled videos"),
        ("text_only", "without the frames"),
    ],
)
def test_answers_that_would_be_dropped_are_refused(tmp_path, which, words):
    test = annotated("test", 20)
    unread, _ = read(tmp_path, test, said(test, unread=4))
    given = {"predictions": right(test), "shuffled": None, "text_only": None, which: unread}
    answers = given.pop("predictions")
    with pytest.raises(UsageError, match=rf"drops the 4 queries .*{words}.*unreadable=worst"):
        audited(test, answers, protocol=get_protocol("default,unreadable=drop"), controls=Controls(**given))


def test_missing_answers_are_not_unread_ones():
    """A protocol that drops the unread takes answers of which some are missing."""
    test = annotated("test", 20)
    few = Predictions.from_lists({q: [(1.0, 2.0)] for q in test.queries.query_id[:30]})
    found = audited(test, few, protocol=get_protocol("default,unreadable=drop"))
    assert len(found.scores) == 40


# ---- Without the frames


def test_a_model_that_needs_no_frames_is_not_better_than_guessing(train):
    """It answers as well without them: no other floor comes near, so only this one takes the title away.

    Both hit every query: an overlap of 8 s of 12 s, and of 7.5 s of 12.5 s.
    """
    test = annotated("test", 30)
    found = audited(
        test,
        right(test, fault_s=2.0),
        splits=Splits(train=train),
        controls=Controls(text_only=right(test, fault_s=2.5)),
    )
    blind = finding(found, "text-only")
    assert (blind.level, blind.holds) == ("serious", False)
    assert "100.00 of 100.00 at R@1,IoU=0.5 (100 %)" in blind.verdict
    assert "No gain is shown" in blind.verdict
    verdict = finding(found, "better-than-guessing")
    assert verdict.holds is False
    assert verdict.verdict.startswith(f"Not decided against the {len(found.floors)} blind baselines tried: 0.0 points ")
    assert "above text only (no frames) at R@1,IoU=0.5 (100.00 against 100.00)" in verdict.verdict
    share = finding(found, "shortcut-share")
    assert (share.figure, share.holds) == (1.0, False)
    alone = audited(test, right(test, fault_s=2.0), splits=Splits(train=train))
    assert finding(alone, "better-than-guessing").holds is True
    assert finding(alone, "text-only") is None


def test_text_only_is_one_floor_more_and_changes_no_other(train):
    test = annotated("test", 30)
    alone = audited(test, right(test), splits=Splits(train=train))
    beside = audited(test, right(test), splits=Splits(train=train), controls=Controls(text_only=right(test)))
    assert [floor.name for floor in beside.floors] == [*(floor.name for floor in alone.floors), "text-only"]
    assert set(beside.verdict.strongest) == {len(alone.floors)}  # it has every answer
    for one, other in zip(beside.floors, alone.floors, strict=False):
        np.testing.assert_array_equal(one.scores.numerator, other.scores.numerator)


def test_the_figures_without_frames_are_those_of_the_file(train):
    test = annotated("test", 30)
    without = right(test, fault_s=4.0)
    found = audited(test, right(test), splits=Splits(train=train), controls=Controls(text_only=without))
    rival = found.floors[found.text_only]
    assert rival.scores.value("mIoU") == evaluate(test, without, "mIoU").value("mIoU")
    assert rival.scores.value("mIoU") == pytest.approx(6 / 14, abs=1e-9)  # 6 s of 14 s
    blind = finding(found, "text-only")
    assert blind.figure == pytest.approx(1.0)  # R@1,IoU=0.5: all of them with the frames, none without
    assert (blind.level, blind.holds) == ("good", True)


def test_most_of_the_score_without_frames_is_a_warning(train):
    """51 of 60 hits without the frames: shown to be fewer, but 85 %."""
    test = annotated("test", 30)
    lists = {
        q: [(s, e) if k % 7 else (0.0, 0.1)]
        for k, (q, s, e) in enumerate(zip(test.query_id, test.start_s, test.end_s, strict=True))
    }
    blind = finding(
        audited(
            test, right(test), splits=Splits(train=train), controls=Controls(text_only=Predictions.from_lists(lists))
        ),
        "text-only",
    )
    assert (blind.level, blind.holds) == ("warning", True)
    assert "(85 %)" in blind.verdict


def test_a_model_that_declines_without_frames_says_little(tmp_path, train):
    test = annotated("test", 30)
    silent, _ = read(tmp_path, test, ["I cannot watch videos."] * 40 + said(test)[40:])
    blind = finding(
        audited(test, right(test), splits=Splits(train=train), controls=Controls(text_only=silent)), "text-only"
    )
    assert (blind.level, blind.holds) == ("note", True)
    assert "Without them it predicts a moment for only 20 of 60 queries" in blind.verdict
    assert "answers without the frames: 20 parsed, 40 refused" in blind.evidence


def test_too_few_videos_tell_nothing_of_frames(train):
    """Five videos: no p value of a test that swaps videos is below 2 / 2^5 = 0.0625."""
    test = annotated("test", 5)
    blind = finding(
        audited(test, right(test), splits=Splits(train=train), controls=Controls(text_only=whole(test))), "text-only"
    )
    assert (blind.level, blind.holds) == ("warning", None)
    assert "5 videos are too few" in blind.verdict


def test_a_protocol_that_refuses_says_whose_answers():
    test = annotated("test", 20)
    few = Predictions.from_lists({q: [(1.0, 2.0)] for q in test.queries.query_id[:30]})
    results = audited(
        test, right(test), controls=Controls(text_only=few), protocol=get_protocol("default,missing=refuse")
    )
    with pytest.raises(ProtocolError, match=r"text-only answers: protocol .* refuses"):
        finding(results, "text-only")


# ---- Shuffled videos


def test_shuffled_answers_in_words(tmp_path, train):
    """Of 60 answers on shuffled videos 6 are unread and 6 deny: neither can be compared, and both cost score."""
    test = annotated("test", 30)
    texts = said(test, unread=6)
    texts[6:12] = ["There is no such moment in the video."] * 6
    shuffled, _ = read(tmp_path, test, texts)
    found = audited(test, right(test), splits=Splits(train=train), controls=Controls(shuffled=shuffled))
    moved = found.cached(changed_videos.shuffled_control).displacement
    assert moved.left_out == {"answered on the original video only": 12}
    assert int(moved.compared.sum()) == 48
    assert found.cached(changed_videos.shuffled_control).scores.value("R@1,IoU=0.5") == 48 / 60
    evidence = finding(found, "uses-video").evidence
    assert any("could not be read, which count as wrong: 6 (on the original ones: 0)" in line for line in evidence)


# ---- Evaluators, and records


def test_a_protocol_for_abstentions_is_no_evaluator_of_its_own():
    test = annotated("test", 20)
    assert "sets" not in audited(test, right(test)).cached(conventions.conventions)
    own = audited(test, right(test), measures="SetIoU", protocol=get_protocol("sets"))
    assert own.cached(conventions.conventions)["sets"] == 1.0


def test_some_answers_are_selected():
    answers = Predictions(
        np.array(["a", "b", "c"], dtype=object),
        np.array([0, 1, 1, 3]),
        np.array([0.0, 1.0, 2.0]),
        np.array([1.0, 2.0, 3.0]),
        np.array([0.3, 0.2, 0.1]),
        "all",
        saliency_offsets=np.array([0, 2, 2, 3]),
        saliency=np.array([0.1, 0.2, 0.3]),
        status=np.array(["parsed", "refused", "parsed"], dtype=object),
    )
    some = answers.select_queries(np.array([False, True, True]))
    assert (some.name, some.query_id.tolist(), some.status.tolist()) == ("all", ["b", "c"], ["refused", "parsed"])
    assert (some.offsets.tolist(), some.start_s.tolist(), some.score.tolist()) == ([0, 0, 2], [1.0, 2.0], [0.2, 0.1])
    assert (some.saliency_offsets.tolist(), some.saliency.tolist()) == ([0, 0, 1], [0.3])
    assert len(answers.select_queries(np.zeros(3, dtype=bool))) == 0
    assert answers.select_queries(np.ones(3, dtype=bool)) is answers


@pytest.mark.parametrize("n_places", [1, 3])
def test_answers_that_are_nearly_the_same_are_a_pattern(n_places):
    """Closer Look, section 5.2: a method's answers come down to three places; here each moves by up to 4 %."""
    test = annotated("test", 200)
    queries, rng = test.queries, np.random.default_rng(0)
    places = np.array([(0.04, 0.57), (0.42, 0.96), (0.04, 0.96)])[:n_places]
    shares = places[rng.integers(0, n_places, len(queries))] + rng.uniform(-0.04, 0.04, (len(queries), 2))
    times_s = shares * queries.duration_s[:, None]
    answers = Predictions.from_lists({q: [tuple(of)] for q, of in zip(queries.query_id, times_s.tolist(), strict=True)})
    found = finding(audited(test, answers), "answer-pattern")
    assert (found.level, found.holds) == ("warning", False)
    assert "% of the first answers are near " in found.verdict
    assert found.verdict.partition(" of the video")[0].count("-") == n_places
