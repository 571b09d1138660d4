"""Sound from files: its clock, its gaps, its streams, and files that are refused."""

import itertools
from fractions import Fraction

import av
import numpy as np
import pytest

from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.collection.soundtracks import duration_of
from truemoment.media.audio.reading import _PlacedBlock, sound_of
from truemoment.media.audio.recording import record
from truemoment.media.audio.sources import Source, parse_source
from truemoment.worlds.described.writing import write_sound

from ..thorough import quick_are

RATE_HZ = 16_000


def noise(seconds, seed=0, rate_hz=RATE_HZ):
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(round(seconds * rate_hz)))
    spectrum[round(3000 / rate_hz * 2 * (len(spectrum) - 1)) :] = 0
    return (np.fft.irfft(spectrum, round(seconds * rate_hz)) / 6).astype(np.float32)


def whole(path, **settings):
    blocks = list(sound_of(path, **settings))
    for before, after in itertools.pairwise(blocks):
        assert after.start_s == pytest.approx(before.start_s + len(before.samples) / RATE_HZ)
    return np.concatenate([block.samples for block in blocks]), blocks


def lag(a, b):
    n = len(a) + len(b)
    found = np.fft.irfft(np.conj(np.fft.rfft(a, n)) * np.fft.rfft(b, n), n)
    at = int(np.argmax(found))
    return at - n if at > n // 2 else at


@pytest.mark.parametrize(("name", "codec"), [("a.m4a", "aac"), ("a.mp3", "mp3"), ("a.wav", "wav")])
@pytest.mark.parametrize("rate_hz", quick_are([48_000], [16_000, 48_000]))
def test_the_delay_of_the_encoder_is_taken_off(tmp_path, name, codec, rate_hz):
    write_sound(tmp_path / name, noise(12, rate_hz=rate_hz), rate_hz, codec)
    found, _ = whole(tmp_path / name)
    want = noise(12, rate_hz=rate_hz)[:: rate_hz // RATE_HZ]  # band-limited: every third sample is the sound at 16 kHz
    assert abs(len(found) - len(want)) < 2000
    assert lag(want, found) == 0


def write_stamped(path, parts, rate_hz=RATE_HZ, languages=("eng",), titles=("",)):
    """Write parts (start in seconds, samples) as PCM in Matroska, the same for each language."""
    with av.open(str(path), "w") as container:
        streams = []
        for language, title in zip(languages, titles, strict=True):
            stream = container.add_stream("pcm_s16le", rate=rate_hz, layout="mono")
            stream.metadata.update({"language": language, "title": title})
            streams.append(stream)
        for start_s, samples in parts:
            for low in range(0, len(samples), 800):
                for stream in streams:
                    part = (samples[None, low : low + 800] * 32767).astype(np.int16)
                    frame = av.AudioFrame.from_ndarray(part, "s16", "mono")
                    frame.sample_rate, frame.time_base = rate_hz, Fraction(1, rate_hz)
                    frame.pts = round(start_s * rate_hz) + low
                    container.mux(stream.encode(frame))
        for stream in streams:
            container.mux(stream.encode())
    return path


def test_gaps_are_filled(tmp_path):
    sound = noise(30)
    parts = [(0.0, sound[: 10 * RATE_HZ]), (12.0, sound[12 * RATE_HZ :])]
    found, blocks = whole(write_stamped(tmp_path / "gap.mka", parts))
    assert sum(block.filled_s for block in blocks) == pytest.approx(2.0, abs=0.01)
    assert len(found) == pytest.approx(30 * RATE_HZ, abs=32)
    assert not found[round(10.1 * RATE_HZ) : round(11.9 * RATE_HZ)].any()
    assert lag(sound[25 * RATE_HZ :], found[25 * RATE_HZ :]) == pytest.approx(0, abs=16)  # Matroska's clock: 1 ms


def test_overlaps_are_cut():
    # No container can be written with stamps that fall, so sound is placed as its decoder would give it.
    placed = _PlacedBlock(1000, 0.0, None)
    placed.put(0, np.arange(500, dtype=np.float32), new=True)
    placed.put(400, np.arange(400, 900, dtype=np.float32), new=True)
    (block,) = placed.rest()
    np.testing.assert_array_equal(block.samples, np.arange(900))
    assert block.cut_s == 0.1


def test_part_of_a_sound_equals_that_part_of_all(tmp_path):
    write_sound(tmp_path / "a.m4a", noise(70), RATE_HZ)
    found, _ = whole(tmp_path / "a.m4a")
    part, blocks = whole(tmp_path / "a.m4a", start_s=20.5, end_s=60.25)
    assert blocks[0].start_s == 20.5
    assert len(part) == round(39.75 * RATE_HZ)
    assert np.abs(part - found[round(20.5 * RATE_HZ) : round(60.25 * RATE_HZ)]).max() < 1e-3


def test_streams_by_number_and_language(tmp_path):
    path = write_stamped(
        tmp_path / "f.mka", [(0.0, noise(2))], languages=("eng", "eng", "fra"), titles=("", "Audio description", "")
    )
    for name, number in (("0", 0), ("eng", 0), ("eng-ad", 1), ("fra", 2)):
        with_name = [block.samples for block in sound_of(path, stream=name)]
        assert len(np.concatenate(with_name)) == 2 * RATE_HZ, number
    with pytest.raises(InputError, match=r'has 3 sounds that fit: #0 eng, #1 eng-ad "Audio description", #2 fra; name'):
        list(sound_of(path))
    with pytest.raises(InputError, match="has no sound #deu, expected one of #0 eng"):
        list(sound_of(path, stream="deu"))
    assert parse_source(f"{path}#eng-ad") == Source(path, "eng-ad")
    with pytest.raises(UsageError, match="expected FILE#NUMBER or FILE#LANGUAGE"):
        parse_source(f"{path}#a b")


def test_what_is_refused_before_alignment(tmp_path):
    write_sound(tmp_path / "short.wav", noise(30), RATE_HZ, "wav")
    write_sound(tmp_path / "silent.wav", np.zeros(70 * RATE_HZ, np.float32), RATE_HZ, "wav")
    (tmp_path / "text.mp3").write_text("no sound at all")
    for name, finding in (
        ("short.wav", "has 30.0 s of sound, expected at least 60 s"),
        ("silent.wav", "is silence .* over 100 % of its duration"),
        ("text.mp3", "cannot be read as sound"),
    ):
        with pytest.raises(InputError, match=finding):
            record(Source(tmp_path / name))
    with pytest.raises(MissingFileError, match="no such file"):
        record(Source(tmp_path / "nothing.wav"))


def test_a_rate_that_no_sound_has_is_refused(tmp_path):
    """It would be days of sound, which no memory holds."""
    write_sound(tmp_path / "a.wav", noise(20), RATE_HZ, "wav")
    data = bytearray((tmp_path / "a.wav").read_bytes())
    data[24:28] = (1).to_bytes(4, "little")
    (tmp_path / "a.wav").write_bytes(data)
    with pytest.raises(InputError, match=r"a\.wav: has 1 samples a second, expected 1,000 or more"):
        record(Source(tmp_path / "a.wav"))


def test_a_truncated_file_is_refused(tmp_path):
    write_sound(tmp_path / "a.wav", noise(70), RATE_HZ, "wav")
    data = (tmp_path / "a.wav").read_bytes()
    (tmp_path / "a.wav").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"truncated\?|expected at least 60 s"):
        record(Source(tmp_path / "a.wav"))


def write_streamed(path, container_name, codec, samples, **options):
    """Write sound without going back in the file, so that its head can state no length; loud and quiet by turns."""
    with av.open(str(path), "w", format=container_name, options=options) as container:
        stream = container.add_stream(codec, rate=44_100, layout="mono", options={"strict": "-2"})
        if codec == "libmp3lame":
            stream.codec_context.options = {"compression_level": "9"}
            stream.codec_context.qscale = True
            stream.codec_context.global_quality = 4 * 118
        for low in range(0, len(samples), 1152):
            part = np.ascontiguousarray(samples[None, low : low + 1152])
            frame = av.AudioFrame.from_ndarray(part, "fltp", "mono")
            frame.sample_rate, frame.time_base, frame.pts = 44_100, Fraction(1, 44_100), low
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


@pytest.fixture(scope="module")
def uneven():
    """35 s at 44.1 kHz: the first 10 s are noise, then almost silence, so that a bit rate of the start misleads."""
    sound = noise(35, rate_hz=44_100)
    sound[10 * 44_100 :] *= 0.001
    return sound


@pytest.mark.parametrize(
    "file",
    [
        ("vbr.mp3", "mp3", "libmp3lame", {"write_xing": "0"}),
        ("raw.aac", "adts", "aac", {}),
        ("live.mka", "matroska", "libmp3lame", {"live": "1"}),
    ],
    ids=lambda file: file[0],
)
def test_a_length_that_is_estimated_from_a_bit_rate_is_no_statement(tmp_path, uneven, file):
    name, container_name, codec, options = file
    path = write_streamed(tmp_path / name, container_name, codec, uneven, **options)
    found, _ = whole(path)
    assert len(found) / RATE_HZ == pytest.approx(35, abs=0.1)
    assert duration_of(Source(path)) == pytest.approx(35, abs=0.1)


def test_an_mp3_that_states_its_frames_is_truncated(tmp_path, uneven):
    path = write_streamed(tmp_path / "a.mp3", "mp3", "libmp3lame", uneven)
    data = path.read_bytes()
    picture = b"ID3\x04\x00\x00\x00\x04\x00\x00" + bytes(1 << 16)  # a tag of 64 KiB before the sound
    for before in (b"", picture):
        path.write_bytes(before + data[: len(data) // 3])
        with pytest.raises(InputError, match=r"of the 35\.\d s that it states: truncated\?"):
            whole(path)


KINDS = [("a.wv", "wv", "wavpack"), ("a.tta", "tta", "tta"), ("a.au", "au", "pcm_s16be")]


@pytest.mark.parametrize(("name", "container_name", "codec"), KINDS)
def test_kinds_of_sound(tmp_path, name, container_name, codec):
    found, _ = whole(write_streamed(tmp_path / name, container_name, codec, noise(2, rate_hz=44_100)))
    want = noise(2, rate_hz=44_100)
    assert len(found) / RATE_HZ == pytest.approx(2, abs=0.05)
    assert found.std() == pytest.approx(want.std(), rel=0.1)
