"""Recognisers: tones in noise, engines by text, and folders that are missing files."""

import numpy as np
import pytest

from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.media.audio.tone_words import VOCABULARY
from truemoment.media.speech.base import Recogniser
from truemoment.media.speech.opening import open_speech
from truemoment.media.speech.tones import TonesRecogniser
from truemoment.worlds.described.voices import Tones

RATE_HZ = 16_000


@pytest.mark.parametrize("level_db", [-20, -26])
def test_tones_are_heard_in_noise(level_db):
    """The specification of the voices measured 97 % of the words at -20 dBFS and 96 % at -26 in a film's sound."""
    rng = np.random.default_rng(0)
    said = [VOCABULARY[k] for k in rng.integers(0, len(VOCABULARY), 60)]
    utterance = Tones().say(" ".join(said), 2, RATE_HZ)
    sound = utterance.samples * 10 ** (level_db / 20) + rng.standard_normal(len(utterance.samples)) * 10 ** (-45 / 20)
    heard = TonesRecogniser().hear(sound.astype(np.float32), RATE_HZ, at_s=5.0)
    near = {(word.text.lower(), round(100 * (5 + word.start_s)) + k) for word in utterance.words for k in range(-2, 3)}
    right = [word for word in heard if (word.text.lower(), round(100 * word.start_s)) in near]  # to 20 ms
    assert len(right) >= 0.96 * len(said)
    assert len(heard) == len(right)
    assert {word.voice for word in heard} == {"tones-2"}


def test_silence_has_no_words():
    assert TonesRecogniser().hear(np.zeros(RATE_HZ, np.float32), RATE_HZ) == []
    assert TonesRecogniser().hear(np.zeros(10, np.float32), RATE_HZ) == []


def test_engines_by_text(tmp_path):
    assert isinstance(open_speech("tones"), Recogniser)
    for text in ("whisper", "whisper:", "tones:x", "piper:x", ""):
        with pytest.raises(UsageError, match="expected whisper:FOLDER"):
            open_speech(text)
    with pytest.raises(MissingFileError, match="no such folder, expected a Whisper model"):
        open_speech(f"whisper:{tmp_path / 'none'}")
    with pytest.raises(InputError, match=r"is missing model\.bin, expected a Whisper model in CTranslate2 form"):
        open_speech(f"whisper:{tmp_path}")
    with pytest.raises(InputError, match=r"is missing am/final\.mdl or final\.mdl"):
        open_speech(f"vosk:{tmp_path}")
    for name in ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt"):
        (tmp_path / name).write_text("{}")
    engine = open_speech(f"whisper:{tmp_path},beam=2,compute=float32")
    assert engine.name == f"whisper {tmp_path.name}, beam=2, compute=float32"
    (tmp_path / "config.json").write_text("{ }")
    assert engine.fingerprint != open_speech(f"vosk:{_vosk(tmp_path)}").fingerprint
    with pytest.raises(UsageError, match="got the key 'bean'"):
        open_speech(f"whisper:{tmp_path},bean=2")


def _vosk(folder):
    (folder / "final.mdl").write_text("")
    return folder
