"""Feature files of one's own videos and sentences: the frames of FFmpeg's filter, resumption, the published layout."""

import shutil

import numpy as np
import pytest

av = pytest.importorskip("av")
pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("transformers")

from truemoment.base.errors import InputError, UsageError  # noqa: E402 - packages may be missing
from truemoment.base.records import Queries  # noqa: E402 - as above
from truemoment.media.features.folder import FolderStore  # noqa: E402 - as above
from truemoment.media.features.own import OwnStore  # noqa: E402 - as above
from truemoment.media.video.encoders import load_encoder  # noqa: E402 - as above
from truemoment.media.video.frames import outline_of, stream_frames  # noqa: E402 - as above
from truemoment.searching import feature_files  # noqa: E402 - as above
from truemoment.searching.extraction import Loader  # noqa: E402 - as above
from truemoment.searching.feature_files import Extraction  # noqa: E402 - as above

pytestmark = pytest.mark.slow


def shades_by_filter(path, every_s):
    """Return the mean shade of the frames that FFmpeg's filter ``fps`` shows, one for every clip."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        graph = av.filter.Graph()
        source, sink = graph.add_buffer(template=stream), graph.add("buffersink")
        fps = graph.add("fps", f"fps=1/{every_s:g}")
        source.link_to(fps)
        fps.link_to(sink)
        graph.configure()
        for frame in container.decode(stream):
            source.push(frame)
        source.push(None)
        shades = []
        while True:
            try:
                shades.append(sink.pull().to_ndarray(format="rgb24").mean())
            except (EOFError, av.error.EOFError):
                return shades


@pytest.mark.parametrize("seconds", [2.8, 5.0, 6.8, 7.2, 12.0])
def test_the_frames_are_those_of_the_filter(tmp_path, paint, seconds):
    """Published features were made with FFmpeg's filter: https://github.com/linjieli222/HERO_Video_Feature_Extractor."""
    shades = np.linspace(0, 250, round(5 * seconds))
    path = paint(tmp_path / "a.mp4", [((int(shade),) * 3, 0.2) for shade in shades])
    how = Extraction(Loader("scenes"), 2.0)
    ours = [pixels.mean() for _, pixels in stream_frames(path, how.fps, offset_s=how.first_s)]
    assert len(ours) == outline_of(path).n_frames(how.fps, how.first_s)
    assert ours == pytest.approx(shades_by_filter(path, 2.0), abs=0.5)


@pytest.mark.parametrize("every_s", ["1e-320", "9e-07"])
def test_a_clip_is_not_shorter_than_a_frame(fails, tmp_path, films, every_s):
    # The rows of a second were infinite: "a bug of ours".
    told = fails(2, "features", "extract", films, "-o", tmp_path / "new", "--model", "scenes", "--every", every_s)
    assert told == f"--every: got {float(every_s):g}, expected seconds, 1e-06 or more"
    assert not (tmp_path / "new").exists()


def test_rows_are_the_vectors_of_the_middles(films, tmp_path):
    """`a.mp4` is grey up to 20 s and red up to 28 s: rows of 2 s change at 10 and 14."""
    encoder = load_encoder("scenes", device="cpu")
    report = Extraction(Loader("scenes", "cpu")).videos([films], tmp_path / "clip")
    assert (sorted(report.made), report.kept, report.failed) == (["a", "b", "c"], [], {})
    store = FolderStore(tmp_path / "clip", fps=0.5)
    assert {name: len(store[name]) for name in store} == {"a": 20, "b": 20, "c": 30}
    frames = np.stack([encoder.prepare(frame) for _, frame in stream_frames(films / "a.mp4", 0.5, offset_s=0.9)])
    assert store["a"] == pytest.approx(encoder.images(frames), abs=1e-4)
    assert np.flatnonzero(np.abs(np.diff(store["a"], axis=0)).max(axis=1) > 0.01).tolist() == [9, 13]


def test_the_same_command_resumes(films, tmp_path, monkeypatch):
    how, out = Extraction(Loader("scenes", "cpu"), dtype="float16"), tmp_path / "clip"
    write, done = feature_files.write_npz, []

    def write_one(path, **arrays):
        if done:
            raise KeyboardInterrupt
        done.append(path.name)
        write(path, **arrays)

    monkeypatch.setattr(feature_files, "write_npz", write_one)
    with pytest.raises(KeyboardInterrupt):
        how.mapped([films], out)
    assert not out.exists()
    monkeypatch.setattr(feature_files, "write_npz", write)
    report = how.mapped([films], out)
    assert (len(report.made), report.kept) == (2, [done[0].removesuffix(".npz")])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clip", "films"]
    store = OwnStore(out)
    assert (sorted(store), store.fps, store.n_dimensions) == (["a", "b", "c"], 0.5, load_encoder("scenes").n_dimensions)
    assert store.made_of.startswith("scenes#")


def test_what_was_made_otherwise_is_refused(films, tmp_path):
    Extraction(Loader("scenes", "cpu")).videos([films / "a.mp4"], tmp_path / "clip")
    with pytest.raises(InputError, match=r"a\.npz: was made of something else \(another every_s\); give -o another"):
        Extraction(Loader("scenes", "cpu"), 4.0).videos([films / "a.mp4"], tmp_path / "clip")
    shutil.copy(films / "b.mp4", films / "a.mp4")
    with pytest.raises(InputError, match=r"\(another source\)"):
        Extraction(Loader("scenes", "cpu")).videos([films / "a.mp4"], tmp_path / "clip")
    np.savez(tmp_path / "clip" / "a.npz", features=np.ones((3, 2)))
    with pytest.raises(InputError, match="was made of something else"):
        Extraction(Loader("scenes", "cpu")).videos([films / "a.mp4"], tmp_path / "clip")


def test_videos_of_one_name_are_refused(films, tmp_path):
    shutil.copytree(films, tmp_path / "more")
    with pytest.raises(UsageError, match=r"a\.mp4: their features would have one name; rename one of them"):
        Extraction(Loader("scenes", "cpu")).videos([films, tmp_path / "more"], tmp_path / "clip")


def test_rows_of_sentences(tmp_path):
    """The marks at the beginning and the end have rows; a longer sentence beside it adds none."""
    queries = Queries(["2579", "7"], ["v", "v"], np.ones(2), ["a red ball rolls", "a cat"])
    how = Extraction(Loader("scenes", "cpu"))
    how.sentences(queries, tmp_path / "text")
    again = how.sentences(queries, tmp_path / "text")
    assert (again.made, again.kept) == ([], ["2579", "7"])
    encoder = load_encoder("scenes", device="cpu")
    for query_id, sentence in zip(queries.query_id, queries.sentence, strict=True):
        with np.load(tmp_path / "text" / f"qid{query_id}.npz") as file:
            assert file["last_hidden_state"] == pytest.approx(encoder.tokens([sentence])[0], abs=1e-5)
            assert file["pooler_output"] == pytest.approx(encoder.sentences([sentence])[0], abs=1e-5)
            assert len(file["last_hidden_state"]) == len(encoder.tokenizer(str(sentence))["input_ids"])
    bad = Queries(["../up"], ["v"], np.ones(1), ["a cat"])
    with pytest.raises(InputError, match=r"got the name '\.\./up', expected one that a file can have"):
        how.sentences(bad, tmp_path / "text")
    assert not list(tmp_path.glob("*.npz"))


def test_the_command_names_what_cannot_be_read(call, films, tmp_path):
    (films / "d.mp4").write_bytes(b"no video")
    words = ("features", "extract", films, "-o", tmp_path / "clip", "--model", "scenes")
    status, out, err = call(*words, "--quiet")
    assert (status, out) == (1, "")
    assert f"{tmp_path / 'clip'}: is not written" in err
    assert "d.mp4" in err
    (films / "d.mp4").unlink()
    status, out, _ = call(*words)
    assert (status, out) == (0, f"{tmp_path / 'clip'}: 0 videos made now, 3 before\n")
    status, out, _ = call("features", tmp_path / "clip")
    assert status == 0
    assert ": 3 videos, 96 numbers a row, 0.5 rows a second" in out


def test_words_that_do_not_fit(fails, films, annotations, tmp_path):
    out = ("-o", tmp_path / "out", "--model", "scenes")
    assert fails(2, "features", "extract", *out).startswith("features of what? give VIDEO... or --queries FILE")
    assert fails(2, "features", "extract", films, "--queries", annotations, *out).startswith("features of what?")
    found = fails(2, "features", "extract", "--queries", annotations, "--layout", "own", *out)
    assert found.startswith("--layout own: is of videos")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    assert "is there already, expected a new or empty folder" in fails(2, "features", "extract", films, *out)
