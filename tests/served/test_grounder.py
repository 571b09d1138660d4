"""A served model as a grounder: what is shown, asked, kept, read; and what happens when it goes wrong."""

import base64
import io
import json
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from truemoment import Annotations, Grounder
from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import Queries
from truemoment.learning.served import Endpoint, Prompt, ServedModel, get_prompt
from truemoment.learning.served import grounder as under_test
from truemoment.media.video import Frames, Sampling

from ..video.conftest import make_video, number_in
from .stub import FAST_S, Reply, error, guess, images_of, said, text_of

pytestmark = pytest.mark.slow


KEY = "sk-secret-0123456789"


@pytest.fixture
def model(tmp_path, videos):
    """A served model: model(server, ...) with two frames a second."""

    def make(server, *, retries=2, timeout_s=5.0, key=None, prompt="seconds", **changes):
        endpoint = Endpoint(
            server.url, "m", key, retries=retries, timeout_s=timeout_s, first_wait_s=FAST_S, options={"temperature": 0}
        )
        prompt = get_prompt(prompt) if isinstance(prompt, str) else prompt
        sampling = Sampling(fps=2) if prompt.shows_frames else None
        options = {"raw": tmp_path / "raw.jsonl", "videos": videos, "sampling": sampling, **changes}
        return ServedModel(endpoint, prompt, **options)

    return make


def lists_of(predictions):
    offsets = predictions.offsets.tolist()
    return {
        query: list(zip(predictions.start_s[a:b].tolist(), predictions.end_s[a:b].tolist(), strict=True))
        for query, a, b in zip(predictions.query_id, offsets, offsets[1:], strict=False)
    }


def numbers_shown(request):
    return [number_in(base64.b64decode(url.split(",")[1])) for url in images_of(request)]


# ---- What is asked


def test_it_is_a_grounder(model, serve, annotations):
    served = model(serve())
    assert isinstance(served, Grounder)
    assert served.fit(annotations) is served
    assert served.name == "m, seconds"


def test_each_query_is_asked_once_with_the_frames_of_its_video(model, serve, annotations):
    server = serve()
    predictions = model(server, workers=1).ground(annotations.queries)
    assert predictions.query_id.tolist() == annotations.queries.query_id.tolist()
    assert set(predictions.status) == {"parsed"}
    assert len(server.requests) == 7
    by_sentence = {}
    for request in server.requests:
        sentence = next(line for line in text_of(request).splitlines() if line.startswith("somebody"))
        by_sentence[sentence] = request
    lasts = {"a": 6, "b": 4, "c": 5}
    for video, sentence in zip(annotations.queries.video_id, annotations.queries.sentence, strict=True):
        request = by_sentence[sentence]
        assert numbers_shown(request) == list(range(0, 10 * lasts[video], 5))  # two of ten frames a second
        assert f"{2 * lasts[video]} frames of a video that lasts {lasts[video]}.0 seconds" in text_of(request)
        assert "\n0.5 s:\n1.0 s:\n" in text_of(request)
        assert (request["model"], request["temperature"]) == ("m", 0)


def test_text_only_looks_at_no_video(model, serve, annotations):
    server = serve()
    served = model(server, prompt="text-only", videos={}, workers=1)
    assert len(served.ground(annotations.queries)) == 7
    assert all(images_of(request) == [] for request in server.requests)
    assert served.settings["frames"] is None
    assert "A video lasts 6.0 seconds. You cannot see it." in text_of(server.requests[0])


def test_frames_of_a_video_are_decoded_once(model, serve, annotations, monkeypatch):
    decoded = []
    whole = under_test.sample_frames

    def noted(path, sampling):
        decoded.append(path.stem)
        time.sleep(0.02)
        return whole(path, sampling)

    monkeypatch.setattr(under_test, "sample_frames", noted)
    model(serve(), workers=4).ground(annotations.queries)
    assert sorted(decoded) == ["a", "b", "c"]


def test_frames_are_let_go():
    store = under_test._FrameStore(lambda _: Frames(np.zeros(1), [b""], 1.0), ["a", "b", "a"])
    for video in "aba":
        store.get(video)
        store.let_go(video)
    assert store._frames == {}


def test_the_number_of_workers_changes_nothing(model, serve, annotations, tmp_path):
    found = {}
    for workers in (1, 8):
        served = model(serve(), workers=workers, raw=tmp_path / f"raw-{workers}.jsonl")
        predictions = served.ground(annotations.queries, 5)
        found[workers] = (predictions.query_id.tolist(), lists_of(predictions), predictions.status.tolist())
    assert found[1] == found[8]


def test_so_many_are_asked_at_a_time(model, serve, annotations):
    barrier = threading.Barrier(3, timeout=5)

    def together(request, nth):
        if nth < 6:
            barrier.wait()  # breaks unless three requests are under way at once
        return guess(request, nth)

    server = serve(together)
    model(server, workers=3).ground(annotations.queries)
    assert server.most_at_once == 3


def test_a_duration_that_is_not_known_is_the_files(model, serve, annotations):
    queries = annotations.queries
    unknown = Queries(queries.query_id, queries.video_id, np.full(7, np.nan), queries.sentence)
    server = serve(lambda *_: said("from 1 s to the end of the video"))
    predictions = model(server).ground(unknown)
    assert lists_of(predictions)["b#0"] == [(1.0, 4.0)]
    assert model(server).ask(unknown).new == frozenset()  # known by the same key
    with pytest.raises(InputError, match="the durations of 7 queries are not known"):
        model(server, prompt="text-only").ask(unknown)


def test_videos_that_last_another_time_are_told(model, serve, annotations):
    queries = annotations.queries
    other = Queries(
        queries.query_id, queries.video_id, queries.duration_s + 4 * (queries.video_id == "b"), queries.sentence
    )
    odd = model(serve()).ask(other).odd_durations
    assert [(video, told) for video, _, told in odd] == [("b", 8.0)]
    assert odd[0][1] == pytest.approx(4.0, abs=0.1)


# ---- What is read


ANSWERS = {
    "2.0 - 3.5": ("parsed", [(2.0, 3.5)]),
    "0:01 to 0:02, and 0:03 to 0:04": ("parsed", [(1.0, 2.0), (3.0, 4.0)]),
    "It is not in the video.": ("no answer", []),
    "I'm sorry, I can't watch videos.": ("refused", []),
    "It starts at 2 s.": ("ambiguous", []),
    "": ("failed", []),
}


@pytest.mark.parametrize("text", ANSWERS)
def test_answers_are_read(model, serve, annotations, text):
    status, moments = ANSWERS[text]
    served = model(serve(lambda *_: said(text)))
    asked = served.ask(annotations.queries)
    predictions, parsing = served.read(asked, 5)
    assert set(predictions.status) == {status}
    assert lists_of(predictions)["a#0"] == moments
    assert parsing.counts[status] == 7
    assert lists_of(served.read(asked, 1)[0])["a#0"] == moments[:1]


def test_times_that_no_video_has_do_not_end_a_run(model, serve, annotations):
    predictions = model(serve(lambda *_: said("900000000 - 999999999 s"))).ground(annotations.queries)
    assert len(predictions) == 7
    assert np.all(predictions.end_s <= predictions.start_s)  # nothing is there to overlap


def test_the_axis_is_the_prompts(model, serve, annotations):
    prompt = Prompt("mine", "{frames} {sentence}", axis="percent")
    served = model(serve(lambda *_: said("25 - 50")), prompt=prompt)
    assert lists_of(served.ground(annotations.queries))["b#0"] == [(1.0, 2.0)]  # of 4 s


def test_the_first_moments_of_each_list():
    kept, offsets = under_test._first_of_each(np.array([0, 3, 3, 4, 9]), 2)
    assert kept.tolist() == [0, 1, 3, 4, 5]
    assert offsets.tolist() == [0, 2, 2, 3, 5]


# ---- The randomised-video check


def test_shuffled_frames_stand_in_another_order_at_the_same_times(model, serve, annotations, tmp_path):
    server = serve()
    served = model(server, workers=1, shuffle_seed=3)
    served.ground(annotations.queries)
    assert served.name == "m, seconds, shuffled"
    assert served.settings["shuffled"] == {"seed": 3}
    orders = {}
    for request in server.requests:
        shown = numbers_shown(request)
        assert sorted(shown) == list(range(0, 5 * len(shown), 5))
        assert shown != sorted(shown)
        assert "0.0 s:\n0.5 s:\n1.0 s:\n" in text_of(request)
        assert orders.setdefault(len(shown), shown) == shown  # one order a video
    again = serve()
    model(again, workers=1, shuffle_seed=3, raw=tmp_path / "again").ground(annotations.queries)
    assert [numbers_shown(r) for r in again.requests] == [numbers_shown(r) for r in server.requests]
    other = serve()
    model(other, workers=1, shuffle_seed=4, raw=tmp_path / "other").ground(annotations.queries)
    assert [numbers_shown(r) for r in other.requests] != [numbers_shown(r) for r in server.requests]


# ---- Going on


def test_nothing_is_asked_twice(model, serve, annotations):
    server = serve()
    first = model(server).ground(annotations.queries)
    asked = model(server).ask(annotations.queries)
    assert (len(server.requests), len(asked.answers), asked.new, asked.n_requests) == (7, 7, frozenset(), 0)
    assert lists_of(model(server).read(asked)[0]) == lists_of(first)


def test_what_is_missing_is_asked(model, serve, annotations, tmp_path):
    server = serve()
    expected = lists_of(model(server).ground(annotations.queries))
    raw = tmp_path / "raw.jsonl"
    whole = raw.read_bytes().splitlines(keepends=True)
    raw.write_bytes(b"".join(whole[:4]) + whole[4][:-20])
    asked = model(server).ask(annotations.queries)
    assert len(server.requests) == 7 + 4
    assert len(asked.new) == 4
    assert asked.dropped_bytes == len(whole[4]) - 20
    assert lists_of(model(server).read(asked)[0]) == expected
    assert sorted(json.loads(line)["query_id"] for line in raw.read_bytes().splitlines()[1:]) == sorted(expected)


def test_more_queries_of_the_same_setting_join_the_file(model, serve, annotations):
    server = serve()
    some = annotations.select_queries(np.arange(7) < 3)
    assert len(model(server).ground(some.queries)) == 3
    assert len(model(server).ground(annotations.queries)) == 7
    assert len(server.requests) == 7


def test_another_video_file_of_the_same_name_is_noticed(model, serve, annotations, videos):
    server = serve()
    model(server).ground(annotations.queries)
    videos["b"].write_bytes(videos["a"].read_bytes())
    with pytest.raises(InputError, match="has an answer to 'b#0' for another sentence, duration or video file"):
        model(server).ground(annotations.queries)


def test_a_copied_folder_of_videos_is_the_same(model, serve, annotations, videos, tmp_path):
    server = serve()
    model(server).ground(annotations.queries)
    copies = {}
    for video, path in videos.items():
        copies[video] = tmp_path / f"copy-{video}.mkv"
        copies[video].write_bytes(path.read_bytes())
    model(server, videos=copies).ground(annotations.queries)
    assert len(server.requests) == 7


# ---- What goes wrong


def test_a_server_that_fails_now_and_then(model, serve, annotations):
    bad = [error(500), Reply(hang_up=True), error(429, Retry_After="0"), Reply(body=b"<html>"), said(7)]

    def now_and_then(request, nth):
        return bad[nth // 2 % 5] if nth % 2 == 0 else guess(request, nth)

    server = serve(now_and_then)
    asked = model(server, workers=1).ask(annotations.queries)
    assert (len(asked.answers), asked.unanswered, asked.n_requests) == (7, (), 14)


def of_video_b(request):
    return "that lasts 4.0 seconds" in text_of(request)


def test_queries_that_cannot_be_asked_are_left_out_and_told(model, serve, annotations):
    server = serve(lambda request, nth: error(400, "too long") if of_video_b(request) else guess(request, nth))
    served = model(server, workers=1)
    asked = served.ask(annotations.queries)
    assert [(u.query_id, u.why) for u in asked.unanswered] == [
        ("b#0", "the endpoint answers 400 (too long)"),
        ("b#1", "the endpoint answers 400 (too long)"),
    ]
    predictions, _ = served.read(asked)
    assert predictions.query_id.tolist() == ["a#0", "c#0", "a#1", "c#1", "a#2"]
    server.reply = guess
    assert served.ask(annotations.queries).new == {"b#0", "b#1"}


def test_a_video_that_cannot_be_read(model, serve, annotations, videos):
    videos["c"].write_bytes(b"no video")
    asked = model(serve()).ask(annotations.queries)
    assert [u.query_id for u in asked.unanswered] == ["c#0", "c#1"]
    assert "cannot be read as a video" in asked.unanswered[0].why


def test_one_video_of_an_unknown_codec_and_one_that_is_gone_do_not_end_a_run(model, serve, annotations, videos):
    data = make_video(videos["b"], [0, 100], codec="libx264").read_bytes()
    videos["b"].write_bytes(data.replace(b"avc1", b"XYZ1"))
    videos["c"].unlink()  # since it was found
    asked = model(serve()).ask(annotations.queries)
    assert sorted(asked.answers) == ["a#0", "a#1", "a#2"]
    assert [(of.query_id, of.why) for of in asked.unanswered] == [
        ("b#0", f"{videos['b']}: has pictures of an unknown codec, expected one that FFmpeg decodes"),
        ("c#0", f"{videos['c']}: no such file"),
        ("b#1", f"{videos['b']}: has pictures of an unknown codec, expected one that FFmpeg decodes"),
        ("c#1", f"{videos['c']}: no such file"),
    ]


def test_a_video_without_a_file(model, serve, annotations, videos):
    del videos["c"]
    asked = model(serve()).ask(annotations.queries)
    assert [(u.query_id, u.why) for u in asked.unanswered] == [
        ("c#0", "no file of the video"),
        ("c#1", "no file of the video"),
    ]
    assert len(asked.answers) == 5


@pytest.mark.parametrize("reply", [error(401), error(404), error(400), error(500), Reply(hang_up=True)])
def test_an_endpoint_that_takes_nothing_ends_the_run(model, serve, annotations, reply):
    server = serve(lambda *_: reply)
    with pytest.raises(InputError, match="5 requests in a row failed; the last error: the endpoint"):
        model(server, workers=1, retries=0).ask(annotations.queries)
    assert 5 <= len(server.requests) <= 6


def test_an_endpoint_that_goes_away_ends_the_run_and_answers_stay(model, serve, annotations):
    server = serve(lambda request, nth: guess(request, nth) if nth < 2 else error(503))
    with pytest.raises(InputError, match=r"2 answers are saved in .*raw\.jsonl; run the same command"):
        model(server, workers=1, retries=0).ask(annotations.queries)
    server.reply = guess
    assert len(model(server).ask(annotations.queries).new) == 5


def test_many_queries_that_are_refused_do_not_end_it(model, serve, annotations):
    server = serve(lambda request, nth: guess(request, nth) if nth == 0 else error(400))
    assert len(model(server, workers=1).ask(annotations.queries).unanswered) == 6


def test_nothing_could_be_asked(model, serve, annotations):
    few = annotations.select_queries(np.arange(7) < 2)
    with pytest.raises(InputError, match="no query has an answer: the endpoint answers 400"):
        model(serve(lambda *_: error(400))).ask(few.queries)


def test_a_bug_in_a_worker_is_not_swallowed(model, serve, annotations, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(under_test, "messages", broken)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        model(serve()).ask(annotations.queries)


def test_breaking_off_keeps_what_came(model, serve, annotations, tmp_path, monkeypatch):
    # The third answer is taken as somebody presses Ctrl-C; one more is under way and comes in time.
    server = serve()
    take = under_test._Requests._take
    taken = []

    def pressed(run, row, outcome):
        take(run, row, outcome)
        taken.append(row)
        if len(taken) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(under_test._Requests, "_take", pressed)
    served = model(server, workers=2)
    with pytest.raises(KeyboardInterrupt):
        served.ask(annotations.queries)
    monkeypatch.setattr(under_test._Requests, "_take", take)
    lines = (tmp_path / "raw.jsonl").read_bytes().splitlines()
    ids = [json.loads(line)["query_id"] for line in lines[1:]]
    assert 3 <= len(ids) == len(set(ids)) == len(server.requests)
    assert len(served.ask(annotations.queries).answers) == 7
    assert len(server.requests) == 7


def test_breaking_off_does_not_wait_for_a_stall(model, serve, annotations, monkeypatch):
    monkeypatch.setattr(under_test, "GRACE_S", 0.1)
    server = serve(lambda request, nth: guess(request, nth) if nth == 0 else Reply(stall_s=30.0))
    take = under_test._Requests._take

    def pressed(run, row, outcome):
        take(run, row, outcome)
        raise KeyboardInterrupt

    monkeypatch.setattr(under_test._Requests, "_take", pressed)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model(server, workers=2, timeout_s=30.0).ask(annotations.queries)
    assert time.monotonic() - began < 5


# ---- The key


def test_the_key_is_nowhere(model, serve, annotations, caplog, capfd):
    caplog.set_level(0)
    server = serve(lambda _, nth: error(400, f"key {KEY}") if nth % 2 else said(f"{KEY}: 1.0 - 2.0"))
    served = model(server, key=KEY, workers=1)
    asked = served.ask(annotations.queries)
    assert {h["Authorization"] for h in server.headers} == {f"Bearer {KEY}"}
    told = [repr(served), repr(asked), str(asked.unanswered), caplog.text, *capfd.readouterr()]
    told += [json.dumps(served.made_by), served.raw.read_text()]
    assert len(asked.unanswered) == 3
    assert not any(KEY in text for text in told)


# ---- What does not go together


def test_impossible_models(model, serve):
    server = serve()
    with pytest.raises(UsageError, match="shows frames"):
        model(server, sampling=None)
    with pytest.raises(UsageError, match="shows no frames"):
        model(server, prompt="text-only", sampling=Sampling(fps=1))
    with pytest.raises(UsageError, match="nothing can be shuffled"):
        model(server, prompt="text-only", shuffle_seed=1)
    with pytest.raises(UsageError, match="0 workers"):
        model(server, workers=0)


def test_settings_tell_everything_that_decides_an_answer(model, serve):
    served = model(serve())
    assert set(served.settings) == {"model", "endpoint", "prompt", "frames", "shuffled", "request"}
    assert served.settings["prompt"]["user"] == get_prompt("seconds").user
    assert served.settings["frames"] == {"fps": 2.0, "n_frames": None, "longest_side": 448, "jpeg_quality": 90}
    assert served.made_by["reading"].startswith("axis=seconds,")
    assert replace(served, shuffle_seed=1).settings != served.settings


def test_one_frame_cannot_be_shuffled_and_is_shown(model, serve):
    one = Annotations.from_rows([("a#0", "a", 6.0, "x", 0.0, 1.0)])
    server = serve()
    model(server, sampling=Sampling(n_frames=1), shuffle_seed=1).ground(one.queries)
    assert len(images_of(server.requests[0])) == 1


def test_pictures_are_pictures(model, serve, annotations):
    from PIL import Image

    server = serve()
    model(server, sampling=Sampling(fps=1, longest_side=64)).ground(annotations.queries)
    jpeg = base64.b64decode(images_of(server.requests[0])[0].removeprefix("data:image/jpeg;base64,"))
    assert Image.open(io.BytesIO(jpeg)).size == (64, 32)
