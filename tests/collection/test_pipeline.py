"""Films to sentences: figures on a simulated film, resuming, workers, what comes of several films, bad input."""

import json
import os
import shutil
from dataclasses import replace

import pytest

from truemoment.base.errors import InputError, TrueMomentError
from truemoment.collection import pipeline
from truemoment.collection.demo import score_film
from truemoment.collection.layout import CollectSettings, films_in
from truemoment.collection.narration import dropped_by
from truemoment.collection.pipeline import CollectRecipe, collect_films
from truemoment.collection.splitting import split_collection
from truemoment.collection.tasks import make_task, read_tasks
from truemoment.data.datasets import load_annotations
from truemoment.data.references import read_annotations
from truemoment.data.split_file import read_splits
from truemoment.worlds.described.film import DescribedSettings, make_described


def task_of(truth, **about):
    return make_task(str(truth.film), str(truth.track), truth.subtitles, **about)


def recipe_of(out, **settings):
    return CollectRecipe(CollectSettings(**settings), "tones", None, out)


def contents(out):
    """Every file of a collection by its path."""
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_figures_of_a_simulated_film(collected, described):
    """Section 13 of the specification: what a film with tones must reach."""
    (film,) = films_in(collected)
    result = score_film(film, described, recipe_of(collected))
    assert all(result.passed.values()), result.passed
    assert result.score.share_above(0.5) >= 0.95
    assert result.score.share_above(0.7) >= 0.90
    assert film.report.paper_passed
    rules = {rule.title: rule.score for rule in result.rules}
    assert rules["no rule"].recall == 1.0
    assert rules["no rule"].n_dialogue > 0
    assert rules["paper: any overlap with a cue"].n_dialogue == 0
    assert rules["paper, captions of sounds not left out"].recall <= rules["paper: any overlap with a cue"].recall
    assert rules["paper, 15 % of the cues missing"].n_dialogue > 0
    assert rules["difference: no subtitles at all"].n_dialogue == 0


@pytest.mark.usefixtures("aligned")
@pytest.mark.parametrize("step", [1, 2])
def test_cues_without_milliseconds_give_the_same_sentences(described, collected, tmp_path, step):
    """Case 15: half or all cues have their times in whole seconds, rounded outwards."""

    def whole(times):
        (start, _), (end, millis) = (time.split(",") for time in times.split(" --> "))
        hours, minutes, seconds = map(int, end.split(":"))
        return f"{start} --> {hours:02}:{minutes:02}:{seconds + (millis > '000'):02}"

    blocks = described.subtitles.read_text().strip().split("\n\n")
    changed = tmp_path / "whole.srt"
    parts = [block.split("\n", 2) for block in blocks]
    lines = [[n, whole(times) if k % step == 0 else times, text] for k, (n, times, text) in enumerate(parts)]
    changed.write_text("\n\n".join(map("\n".join, lines)))
    collect_films([make_task(str(described.film), str(described.track), changed)], recipe_of(tmp_path / "out"))
    (film,), (before,) = films_in(tmp_path / "out"), films_in(collected)
    assert [row.kept for row in film.sentences()] == [row.kept for row in before.sentences()]
    # By the subtitles alone no dialogue is kept; what lies within a second of a cue may be dropped.
    kept, kept_before = (
        {row.id for row in rows.sentences() if dropped_by(row.verdicts, "subtitles") is None} for rows in (film, before)
    )
    assert kept <= kept_before
    assert len(kept) > 0.7 * len(kept_before)


def test_files_of_a_collection(collected):
    (film,) = films_in(collected)
    assert sorted(path.name for path in film.folder.iterdir()) == [
        "about.json",
        "alignment.json",
        "bands.npy",
        "report.json",
        "sentences.jsonl",
        "speech.json",
        "words.jsonl",
    ]
    kept = [of for of in film.sentences() if of.kept]
    own = read_annotations(collected / "annotations.jsonl")
    assert own.queries.query_id.tolist() == [of.id for of in kept]
    assert own.queries.sentence.tolist() == [of.sentence for of in kept]
    assert list(zip(own.start_s.tolist(), own.end_s.tolist(), strict=True)) == [of.film_s for of in kept]
    assert all(of.sentence[0].isupper() and of.sentence.endswith(".") for of in kept)
    assert all({verdict.rule for verdict in of.verdicts} >= {"overlap", "difference", "text"} for of in kept)
    card = (collected / "card.md").read_text() + (collected / "card.json").read_text()
    assert str(collected.parent) not in card  # identities, not paths
    assert film.about().film in card
    assert "What may not be passed on" in card
    assert not (collected / "parts").exists()


def test_the_mad_form_is_read_as_mad(collected, tmp_path):
    shutil.copytree(collected / "mad", tmp_path / "mad")
    mad = load_annotations("mad", "train", data_dir=tmp_path)
    own = read_annotations(collected / "annotations.jsonl")
    assert mad.queries.sentence.tolist() == own.queries.sentence.tolist()
    assert mad.start_s.tolist() == own.start_s.tolist()
    assert mad.duration_s.tolist() == own.duration_s.tolist()


@pytest.mark.usefixtures("aligned")
def test_a_run_that_is_killed_at_any_stage_resumes_with_the_same_bytes(collected, described, tmp_path, monkeypatch):
    class KillError(BaseException):
        """What ends a program wherever it is."""

    def killed(*_):
        raise KillError

    out = tmp_path / "one"
    whole = dict(pipeline.STAGES)
    for file in whole:
        monkeypatch.setattr(pipeline, "STAGES", {**whole, file: killed})
        with pytest.raises(KillError):
            collect_films([task_of(described)], recipe_of(out))
        assert not films_in(out)
        (parts,) = (out / "parts").iterdir()
        assert not (parts / file).exists()
    monkeypatch.setattr(pipeline, "STAGES", whole)
    with monkeypatch.context() as context:
        context.setattr(pipeline, "assemble", killed)
        with pytest.raises(KillError):
            collect_films([task_of(described)], recipe_of(out))
    done = collect_films([task_of(described)], recipe_of(out)).films
    assert [film.done_before for film in done] == [True]
    assert contents(out) == contents(collected)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """A film of little more than a minute, twice."""
    folder = tmp_path_factory.mktemp("short")
    truth = make_described(folder, minutes=1.1, seed=4, settings=DescribedSettings(pictures=False))
    lines = []
    for name in ("first", "second"):
        shutil.copy(truth.film, folder / f"{name}.mp4")
        files = {"film": f"{name}.mp4", "described": truth.track.name, "subtitles": truth.subtitles.name}
        lines.append(json.dumps({**files, "group": "pair"}) + "\n")
    (folder / "films.jsonl").write_text("".join(lines))
    return folder / "films.jsonl"


@pytest.mark.thorough
@pytest.mark.usefixtures("no_cluster")
def test_a_cluster_writes_what_one_worker_writes(short, tmp_path):
    tasks = read_tasks(short)[:1]
    for engine in ("local", "ray"):
        collect_films(tasks, recipe_of(tmp_path / engine), engine=engine, workers=1)
    assert contents(tmp_path / "local") == contents(tmp_path / "ray")


@pytest.mark.usefixtures("aligned")
def test_of_several_films_those_that_can_be_read_are_done(short, tmp_path):
    tasks = read_tasks(short)
    tasks[0] = replace(tasks[0], described=str(short))  # no sound
    collected = collect_films(tasks, recipe_of(tmp_path / "out", keep_all=True), workers=1)
    assert [film.task.name for film in collected.films] == ["second"]
    assert [(film.task.name, "cannot be read as sound" in film.why) for film in collected.failed] == [("first", True)]
    assert not (tmp_path / "out" / "parts").exists()


@pytest.mark.usefixtures("aligned")
def test_a_film_that_meets_a_bug_of_ours_does_not_end_the_others(short, tmp_path, monkeypatch):
    def collect(task, recipe, *rest):
        if task.name == "second":
            raise IndexError("of a stage")
        return whole(task, recipe, *rest)

    whole = pipeline.collect_film
    monkeypatch.setattr(pipeline, "collect_film", collect)
    found = collect_films(read_tasks(short), recipe_of(tmp_path / "out"))
    assert [film.task.name for film in found.films] == ["first"]
    assert "a bug of ours: IndexError: of a stage" in found.failed[0].why


def test_splits_are_written_everywhere(collected, tmp_path):
    out = tmp_path / "three"
    shutil.copytree(collected, out)
    (folder,) = (out / "films").iterdir()
    for name in ("b", "c"):
        copy = shutil.copytree(folder, folder.with_name(name))
        for file in ("about.json", "report.json", "sentences.jsonl"):
            text = (copy / file).read_text().replace('"name": "film"', f'"name": "{name}"')
            (copy / file).write_text(text.replace("film#", f"{name}#"))
    made = split_collection(out, shares="0.4,0.3,0.3", compare=False)
    assert sorted(made.films.values()) == ["test", "train", "val"]
    assert read_splits(out) == made.films
    for split in ("train", "val", "test"):
        own = read_annotations(out / "annotations.jsonl", split)
        mad = json.loads((out / "mad" / f"MAD_{split}.json").read_text())
        assert own.queries.query_id.tolist() == list(mad)
        assert made.films[own.video_id[0]] == split
    assert made.warnings  # the copies share every sentence


@pytest.mark.parametrize("settings", [{"dialogue": "paper"}, {"pause_s": 1.5}])
def test_other_settings_are_refused(collected, described, settings):
    before = contents(collected)
    with pytest.raises(InputError, match=r"was collected with .* now .*; give another folder: -o OUT"):
        collect_films([task_of(described)], recipe_of(collected, **settings))
    assert contents(collected) == before


@pytest.mark.usefixtures("aligned")
def test_subtitles_of_a_stub_are_told_and_not_used(described, tmp_path):
    stub = tmp_path / "stub.srt"
    stub.write_text("1\n00:00:01,000 --> 00:00:02,000\nHello.\n")
    done = collect_films([replace(task_of(described), subtitles=stub)], recipe_of(tmp_path / "out")).films
    (report,) = (film.report for film in done)
    assert any(note.startswith("subtitles are not used: 0.50 cues a minute") for note in report.notes)
    assert "overlap" not in report.deciding
    with pytest.raises(InputError, match=r"--dialogue paper needs subtitles; subtitles are not used: 0\.50 cues"):
        collect_films([replace(task_of(described), subtitles=stub)], recipe_of(tmp_path / "by-paper", dialogue="paper"))


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        ({"subtitles": "film.mp4"}, {}, "contains NUL bytes"),
        ({"film": "none.mp4"}, {}, "none.mp4: no such file"),
        ({"described": "film.srt"}, {}, "cannot be read as sound"),
        ({"described": "film.mp4#7"}, {}, "has no sound #7, expected one of"),
        ({"transcript": "film.srt"}, {}, "is no transcript that TrueMoment knows"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(described, tmp_path, change, settings, message):
    folder = described.film.parent
    paths = {name: folder / value for name, value in change.items()}
    paths |= {name: str(path) for name, path in paths.items() if name in ("film", "described")}
    with pytest.raises(TrueMomentError) as error:
        collect_films([replace(task_of(described), **paths)], recipe_of(tmp_path / "out", **settings))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not os.path.lexists(tmp_path / "out")


def test_another_film_gives_no_sentences_and_says_why(described, short, tmp_path):
    task = replace(task_of(described), described=read_tasks(short)[0].described)
    (film,) = collect_films([task], recipe_of(tmp_path / "out")).films
    assert film.report.discarded.startswith("not this film: another film, or a speed that was not tried")
    assert film.report.n_kept == 0
    assert json.loads((tmp_path / "out" / "discarded.json").read_text())["films"] == {"film": film.report.discarded}
    assert (tmp_path / "out" / "annotations.jsonl").read_text() == ""


def test_a_list_is_checked_before_any_work(tmp_path):
    line = '{"film": "a.mp4", "described": "a.mp3"}\n'
    for text, message in (
        (line + line, r"films\.jsonl:2: field name: got 'a' again, expected each film once \(first in line 1\)"),
        (
            line + line.replace("a.mp4", "sub/../a.mp4").replace("}", ', "name": "b"}'),
            r"films\.jsonl:2: field film: got 'sub/\.\./a\.mp4' again, expected each film once \(first in line 1\)",
        ),
        (line + '{"film": "b.mp4"}\n', r"films\.jsonl:2: field described: is missing"),
        (line.replace("}", ', "subtitle": "x"}'), r"films\.jsonl:1: .*subtitle"),
        ("", "has no films"),
    ):
        (tmp_path / "films.jsonl").write_text(text)
        with pytest.raises(InputError, match=message):
            read_tasks(tmp_path / "films.jsonl")


def test_a_linked_film_is_not_followed(collected, described, tmp_path):
    out = shutil.copytree(collected, tmp_path / "out")
    (film,) = (out / "films").iterdir()
    elsewhere = tmp_path / "elsewhere"
    film.rename(elsewhere)
    (elsewhere / "report.json").unlink()  # damaged: it would be replaced
    film.symlink_to(elsewhere)
    kept = sorted(path.name for path in elsewhere.iterdir())
    with pytest.raises(InputError, match="is a link"):
        collect_films([task_of(described)], recipe_of(out))
    assert sorted(path.name for path in elsewhere.iterdir()) == kept
