"""truemoment predict: against a small server on loopback, with videos made here."""

import json
import shlex
import sys

import pytest

import truemoment as tm
from truemoment import __version__, read_annotations, read_predictions
from truemoment.base.errors import UsageError
from truemoment.data.answers import VERSION

from ..served.stub import Reply, error, guess, images_of, said, serving, text_of
from ..video.conftest import make_video

KEY = "sk-secret-0123456789"


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    """Neither keys nor proxies of whoever runs the tests are seen here; there is a key of our own."""
    monkeypatch.setenv("MY_KEY", KEY)
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def server():
    """A served model on loopback."""
    with serving() as stub:
        yield stub


@pytest.fixture
def videos(tmp_path):
    """The files of v and w, 40 s each, a frame every two seconds."""
    folder = tmp_path / "videos"
    folder.mkdir()
    for video in "vw":
        make_video(folder / f"{video}.mp4", [2000 * k for k in range(20)])
    return folder


@pytest.fixture
def predict(call, server, annotations, videos, tmp_path):
    """Run it: predict("--fps", 1, ...) -> (status, standard output, standard error)."""
    fixed = ["--model", "m", "--annotations", annotations, "--split", "test", "--videos", videos, "--retries", 0]
    out = tmp_path / "out.jsonl"
    return lambda *options, debug=False: call(
        "predict", "endpoint", server.url, *fixed, "-o", out, *options, debug=debug
    )


@pytest.fixture
def refused(fails, server, annotations, tmp_path):
    """Run it with options that are refused before anything is asked: the one line on standard error."""

    def run_options(*options, endpoint=None, prompts=None):
        way = ["endpoint", endpoint or server.url] if prompts is None else ["prompts", server.url, *prompts]
        fixed = ["--model", "m", "--annotations", annotations, "--split", "test", "-o", tmp_path / "out.jsonl"]
        told = fails(2, "predict", *way, *fixed, *options)
        assert server.requests == []
        assert not (tmp_path / "out.jsonl").exists()
        return told

    return run_options


def lines_of(path):
    return [json.loads(line) for line in path.read_text().rstrip("\n").split("\n")]


# ---- What is written


def test_in_python_it_is_the_command(predict, server, videos, annotations, tmp_path):
    """The same request gives the same file; fields may be a dictionary, and the queries a table."""
    assert predict("--seed", 5, "--set", "top_p=0.5", "--price", "1,2")[0] == 0
    rows = [json.loads(line) for line in annotations.read_text().splitlines()]
    words = {"model": "m", "videos": videos, "seed": 5, "set": {"top_p": 0.5}, "price": "1,2"}
    made = tm.predict_endpoint(server.url, annotations=rows, split="test", out=tmp_path / "again.jsonl", **words)
    assert lines_of(tmp_path / "again.jsonl")[1:] == lines_of(tmp_path / "out.jsonl")[1:]
    assert (made.warnings, vars(made.price)) == ([], {"prompt": 1.0, "completion": 2.0})
    assert made.to_pandas().columns.tolist() == ["query_id", "rank", "start_s", "end_s", "score"]
    assert server.requests[0]["top_p"] == server.requests[-1]["top_p"] == 0.5
    with pytest.raises(UsageError, match=r"predict_endpoint in Python"):
        tm.predict(server.url, annotations=rows, out=tmp_path / "p.jsonl")


def test_the_result_file_says_how_it_was_made(predict, server, tmp_path, annotations):
    status, _, _ = predict("--seed", 5, "--max-tokens", 99)
    assert status == 0
    head, *lines = lines_of(tmp_path / "out.jsonl")
    made_by = head["made_by"]
    assert (head["truemoment"], made_by["version"], made_by["parser"]) == (1, __version__, VERSION)
    assert (made_by["model"], made_by["endpoint"]) == ("m", server.url)
    assert (made_by["prompt"]["name"], made_by["frames"]["fps"]) == ("seconds", 1.0)
    assert made_by["request"] == {"temperature": 0, "max_tokens": 99, "seed": 5}
    assert [line["query_id"] for line in lines] == ["v#0", "v#1", "w#0"]
    assert [line["status"] for line in lines] == ["parsed"] * 3
    predictions, report = read_predictions(tmp_path / "out.jsonl", read_annotations(annotations, "test"))
    assert len(predictions) == report.rows == 3
    assert set(predictions.status) == {"parsed"}


def test_raw_answers_lie_beside_it(predict, tmp_path):
    predict()
    head, *lines = lines_of(tmp_path / "out.raw.jsonl")
    assert head["truemoment_answers"] == 1
    assert (head["dataset"], head["split"]) == ("mine.jsonl", "test")
    assert {line["query_id"] for line in lines} == {"v#0", "v#1", "w#0"}
    assert all(line["answer"] and line["duration_s"] == 40 for line in lines)


def test_only_raw_answers_that_the_user_names_may_be_a_link(predict, refused, tmp_path):
    (tmp_path / "mine").touch()
    (tmp_path / "out.raw.jsonl").symlink_to(tmp_path / "mine")
    told = refused("--prompt", "text-only")
    assert told.startswith(f"{tmp_path / 'out.raw.jsonl'}: is a link, expected")
    assert (tmp_path / "mine").read_bytes() == b""
    assert predict("--raw", tmp_path / "out.raw.jsonl")[0] == 0
    assert len(lines_of(tmp_path / "mine")) == 4


def test_the_command_it_tells_measures_what_it_wrote(predict, call):
    _, out, _ = predict()
    words = shlex.split(out.splitlines()[-1])
    assert words[:2] == ["truemoment", "evaluate"]
    status, table, _ = call(*words[1:])
    assert status == 0
    assert "R@1,IoU=0.5" in table


def test_raw_answers_can_be_read_again(predict, call, tmp_path, annotations):
    # What the raw file says, read anew by evaluate, is what predict wrote.
    predict()
    figures = []
    for name in ("out.jsonl", "out.raw.jsonl"):
        status, out, err = call(
            "evaluate", tmp_path / name, "--annotations", annotations, "--split", "test", "--json", "-", "--quiet"
        )
        assert status == 0, err
        figures.append([figure["value"] for figure in json.loads(out)["measures"]])
    assert figures[0] == figures[1]


def test_what_people_read(predict, server, tmp_path):
    server.reply = lambda request, nth: said("not in the video") if "dog" in text_of(request) else guess(request, nth)
    status, out, err = predict("--price", "2.5,10")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    facts = dict(line.split("  ", 1) for line in lines[:-2])
    assert {label: value.strip() for label, value in facts.items() if label != "time"} == {
        "method": "m, seconds",
        "data": "mine.jsonl/test: 3 queries, 2 videos",
        "queries": "new answers: 3; earlier answers: 0; not answered: 0",
        "answers read": f"2 parsed, 1 no answer (parser {VERSION})",
        # The server counts 100 and 7 tokens an answer: 300 at 2.5 and 21 at 10 a million.
        "tokens": "300 in, 21 out; cost 0.00096",
        "predictions": str(tmp_path / "out.jsonl"),
        "raw answers": str(tmp_path / "out.raw.jsonl"),
    }
    assert lines[-2] == "measure them:"


def test_the_report_as_json(predict, server):
    status, out, err = predict("--json", "-", "--price", "1,2", "--quiet")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert (document["schema"], document["truemoment"]) == ("truemoment/predict/1", __version__)
    assert document["queries"] == {"asked": 3, "from_raw": 0, "unanswered": 0}
    assert document["tokens"]["now"] == {"prompt": 300, "completion": 21, "not_told": 0}
    assert document["cost"]["now"] == pytest.approx((300 * 1 + 21 * 2) / 1e6)
    assert document["statuses"]["parsed"] == 3
    assert 0 < document["time"]["median_s"] <= document["time"]["p95_s"] <= document["time"]["total_s"]
    _, out, _ = predict("--json", "-", "--quiet")
    document = json.loads(out)
    assert document["queries"] == {"asked": 0, "from_raw": 3, "unanswered": 0}
    assert (document["requests"], document["cost"], document["time"]["median_s"]) == (0, None, None)
    assert document["tokens"]["all"]["prompt"] == 300
    assert len(server.requests) == 3


def test_workers_change_nothing_in_the_result(predict, tmp_path):
    found = []
    for workers in (1, 8):
        path = tmp_path / f"{workers}.jsonl"
        assert predict("--workers", workers, "-o", path)[0] == 0
        found.append(path.read_bytes())
    assert found[0] == found[1]


# ---- What is asked


def test_frames_in_place_of_fps(predict, server):
    predict("--frames", 4)
    assert {len(images_of(request)) for request in server.requests} == {4}


def test_the_floor_without_the_video(call, server, annotations, tmp_path):
    words = ["--model", "m", "--annotations", annotations, "--split", "test", "--prompt", "text-only"]
    status, out, _ = call("predict", "endpoint", server.url, *words, "-o", tmp_path / "floor.jsonl")
    assert status == 0
    assert "m, text-only" in out.splitlines()[0]
    assert all(not images_of(request) for request in server.requests)


def test_the_shuffled_run_goes_into_the_audit(predict, call, tmp_path, annotations):
    predict()
    status, out, _ = predict("--shuffled", "-o", tmp_path / "shuffled.jsonl")
    assert status == 0
    assert "m, seconds, shuffled" in out.splitlines()[0]
    assert lines_of(tmp_path / "shuffled.jsonl")[0]["made_by"]["shuffled"] == {"seed": 0}
    words = ["--annotations", annotations, "--split", "test", "--fit-split", "none", "--resamples", 200]
    status, out, err = call("audit", tmp_path / "out.jsonl", "--shuffled", tmp_path / "shuffled.jsonl", *words)
    assert status == 0, err
    assert "huffling the video" in out


def test_a_prompt_of_ones_own_and_fields_of_the_request(predict, server, tmp_path):
    prompt = tmp_path / "mine.toml"
    prompt.write_text('name = "mine"\nuser = "{frames}Find: {sentence}"\n')
    words = ["--prompt", prompt, "--set", "max_tokens=null", "--set", "top_p=0.5", "--set", 'extra={"a": [1]}']
    status, out, _ = predict(*words)
    assert status == 0
    assert "m, mine" in out.splitlines()[0]
    request = server.requests[0]
    assert text_of(request).startswith("Find: ")
    assert "max_tokens" not in request
    assert (request["top_p"], request["extra"], request["temperature"]) == (0.5, {"a": [1]}, 0)


def test_the_first_queries_only(predict, server, tmp_path):
    predict("--limit", 2)
    assert len(server.requests) == 2
    predict()
    assert len(server.requests) == 3
    assert len(lines_of(tmp_path / "out.jsonl")) == 4


def test_a_missing_video_may_be_passed_over(predict, videos, tmp_path):
    (videos / "w.mp4").unlink()
    status, _, err = predict("--on-missing-video", "skip")
    assert status == 1
    assert "1 of 3 queries are not answered, and will count as wrong:\n  w#0: no file of the video" in err
    assert [line["query_id"] for line in lines_of(tmp_path / "out.jsonl")[1:]] == ["v#0", "v#1"]


# ---- What goes wrong


def test_some_queries_that_cannot_be_asked(predict, server, tmp_path):
    server.reply = lambda request, nth: error(400, "no") if "dog" in text_of(request) else guess(request, nth)
    status, out, err = predict("--workers", 1)
    assert status == 1
    assert "not answered: 1" in out
    assert err.splitlines() == [
        "1 of 3 queries are not answered, and will count as wrong:",
        "  v#1: the endpoint answers 400 (no)",
        "the same command asks these again, and only these",
    ]
    server.reply = guess
    assert predict()[0] == 0
    assert len(server.requests) == 4
    assert len(lines_of(tmp_path / "out.jsonl")) == 4


def test_an_endpoint_that_answers_nothing(predict, server, tmp_path):
    server.reply = lambda *_: error(401)
    status, out, err = predict()
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "answers 401: it asks for a key, and there is none in OPENAI_API_KEY" in err
    assert not (tmp_path / "out.jsonl").exists()


def test_answers_that_were_cut_off_are_told(predict, server):
    server.reply = lambda *_: said("2 - 3", finish_reason="length")
    _, _, err = predict()
    assert "answers that were cut off at --max-tokens: 3" in err


def test_ctrl_c(predict, server, tmp_path, monkeypatch):
    from truemoment.learning.served import grounder

    take = grounder._Requests._take

    def pressed(run, row, outcome):
        take(run, row, outcome)
        if len(run.raw) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(grounder._Requests, "_take", pressed)
    status, out, err = predict("--workers", 1)
    assert (status, out) == (130, "")
    kept = len(lines_of(tmp_path / "out.raw.jsonl")) - 1
    assert kept in (2, 3)  # the third may have been under way
    assert f"{kept} raw answers are saved in {tmp_path / 'out.raw.jsonl'}; the same command resumes from there" in err
    assert not (tmp_path / "out.jsonl").exists()
    monkeypatch.undo()
    assert predict()[0] == 0
    assert len(server.requests) == 3


def test_another_setting_needs_another_raw_file(predict, server, tmp_path):
    predict()
    status, _, err = predict("--fps", 2)
    assert status == 2
    assert "contains answers by another setting (frames)" in err
    assert predict("--fps", 2, "--raw", tmp_path / "two.jsonl")[0] == 0
    assert len(server.requests) == 6


# ---- What is refused before anything is asked


def test_options_that_do_not_go_together(refused, videos):
    assert "give --videos DIR, or --prompt text-only" in refused()
    assert "expected no --fps" in refused("--prompt", "text-only", "--fps", 1)
    assert "expected no --fps" in refused("--prompt", "text-only", "--shuffled")
    assert "which frames?" in refused("--videos", videos, "--fps", 1, "--frames", 4)
    assert "above 0 and up to 1000" in refused("--videos", videos, "--fps", 0)
    assert "unknown prompt 'poem'" in refused("--videos", videos, "--prompt", "poem")
    assert "expected two prices" in refused("--videos", videos, "--price", "3")
    assert "expected two prices" in refused("--videos", videos, "--price", "3,-1")
    assert "expected FIELD=JSON" in refused("--videos", videos, "--set", "temperature")
    assert "expected JSON" in refused("--videos", videos, "--set", "stop=end")
    assert "which is set here" in refused("--videos", videos, "--set", "stream=true")
    assert "not the address of a served model" in refused("--videos", videos, endpoint="model.ckpt")
    assert "not the address of a served model" in refused("--videos", videos, endpoint="ftp://here/v1")
    assert "NO_KEY is not set" in refused("--videos", videos, "--key-variable", "NO_KEY")


def test_places_that_cannot_be_written(refused, videos, annotations, tmp_path):
    assert "ends in .jsonl" in refused("--videos", videos, "-o", tmp_path / "out.csv")
    assert "is read or written already" in refused("--videos", videos, "--raw", annotations)
    assert "is read or written already" in refused("--videos", videos, "--raw", tmp_path / "out.jsonl")
    assert "is no folder" in refused("--videos", videos, "-o", tmp_path / "none" / "out.jsonl")


def test_missing_videos_are_listed(refused, videos, tmp_path):
    (videos / "w.mp4").unlink()
    told = refused("--videos", videos)
    assert "1 of 2 videos are missing (w), expected a video file named by each id" in told
    assert "--on-missing-video skip" in told
    (videos / "v.mp4").unlink()
    assert "2 of 2 videos are missing (v, w)" in refused("--videos", videos, "--on-missing-video", "skip")
    assert "no such folder" in refused("--videos", tmp_path / "none")


@pytest.mark.parametrize("package", ["av", "PIL", "tenacity"])
def test_packages_that_are_not_there(predict, tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)  # importing it fails
    status, _, err = predict()
    assert status == 2
    assert "pip install 'truemoment[served]'" in err
    assert not (tmp_path / "out.jsonl").exists()


# ---- The key


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize(
    "reply",
    [
        guess,
        lambda *_: error(401, f"bad key {KEY}"),
        lambda *_: error(403, f"bad key {KEY[:9]}...{KEY[-6:]}"),
        lambda *_: said(f"{KEY} 1 - 2 s"),
        lambda *_: said("1 - 2 s", finish_reason=f"stop {KEY}"),
    ],
)
def test_the_key_is_nowhere(predict, server, tmp_path, debug, reply):
    server.reply = reply
    _, out, err = predict("--key-variable", "MY_KEY", "--json", tmp_path / "report.json", debug=debug)
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    for part in (KEY[k : k + 6] for k in range(len(KEY) - 5)):
        assert part not in out + err
        assert not any(part.encode() in content for content in written)


def test_the_key_goes_through_no_proxy_of_the_environment(predict, server, monkeypatch):
    """The proxy answers nothing, so the command would fail if it asked through it."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    status, _, _ = predict("--key-variable", "MY_KEY")
    assert status == 0
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}


def test_a_stall_ends_in_time(predict, server):
    server.reply = lambda *_: Reply(stall_s=5.0)
    status, _, err = predict("--timeout", 0.1)
    assert status == 2
    assert "gave no answer within 0.1 s" in err


# ---- Several prompts


def by_prompt(request, _nth):
    """The clock prompt answers 2 to 7 s, the others 2.5 to 7 s; the text-only prompt cannot be read."""
    if not images_of(request):
        return said("I do not know.")
    return said("00:02 - 00:07" if "minutes:seconds" in text_of(request) else "2.5 - 7.0")


def test_several_prompts_are_compared(call, videos, annotations, tmp_path, monkeypatch):
    from truemoment.learning.served import grounder

    decoded = []
    original = grounder.sample_frames
    monkeypatch.setattr(grounder, "sample_frames", lambda path, how: decoded.append(path.stem) or original(path, how))
    with serving(by_prompt) as stub:
        words = [
            "predict",
            "prompts",
            stub.url,
            "seconds",
            "clock",
            "text-only",
            "--model",
            "m",
            "--annotations",
            annotations,
            "--split",
            "test",
        ]
        words += ["--videos", videos, "--retries", 0]
        words += ["-o", tmp_path / "out.jsonl", "--json", tmp_path / "found.json"]
        status, out, _ = call(*words)
        assert status == 0
        n_requests = len(stub.requests)
        assert call(*words)[0] == 0  # the same command again asks nothing
        assert len(stub.requests) == n_requests
    assert "Measures in percent by prompt" in out
    assert sorted(decoded) == ["v", "w"]  # once for both prompts that show frames
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["schema"] == "truemoment/predict-prompts/1"
    n = len(read_annotations(annotations, "test").queries)
    assert n_requests == 3 * n
    assert {of["prompt"]: of["unread"] for of in found["prompts"]} == {"seconds": 0, "clock": 0, "text-only": n}
    first, *others = found["agreement"]
    # IoU of 2.5 to 7 s and 2 to 7 s: 4.5 / 5
    assert (first["n_both"], first["mean_iou"], first["same"]) == (n, pytest.approx(0.9), 0)
    assert [of["n_both"] for of in others] == [0, 0]
    figures = {of["prompt"]: {one["measure"]: one["value"] for one in of["figures"]} for of in found["prompts"]}
    for spread in found["spread"]:
        values = [of[spread["measure"]] for of in figures.values()]
        assert spread["range"] == pytest.approx(max(values) - min(values))
    pairs = {tuple(of["prompts"]) for of in found["differences"]}
    assert pairs == {("seconds", "clock"), ("seconds", "text-only"), ("clock", "text-only")}
    for name in ("seconds", "clock"):
        assert (tmp_path / f"out.{name}.jsonl").is_file()
        assert (tmp_path / f"out.{name}.raw.jsonl").is_file()
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("prompts", "message"),
    [
        (["seconds"], "expected two or more different prompts"),
        (["seconds", "seconds"], "expected two or more different prompts"),
        (["seconds", "clock"], "give --videos DIR"),
        (["seconds", "nonsense"], "unknown prompt 'nonsense'"),
    ],
)
def test_prompts_that_do_not_fit_are_refused(refused, prompts, message):
    assert message in refused(prompts=prompts)


def test_the_name_of_a_prompt_may_name_a_file(refused, tmp_path):
    own = tmp_path / "mine.toml"
    own.write_text('name = "../mine"\nuser = "When is {sentence}?"\n')
    assert "it names a file" in refused(prompts=["text-only", own])


def test_frames_beyond_the_limit_are_decoded_again():
    from types import SimpleNamespace

    from truemoment.learning.served.shared_frames import SharedFrames

    decoded = []

    def decode(video_id):
        decoded.append(video_id)
        return SimpleNamespace(images=[bytes(6)])

    shared = SharedFrames(most_bytes=10)
    for video in "abab":
        shared.get(video, decode)
    assert decoded == ["a", "b", "b"]
