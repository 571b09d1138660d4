"""A picture as a query: files of every kind as they are shown, refusals in one line, and its match."""

import io
import re
import struct
import zlib

import numpy as np
import pytest
from drawn_indexes import sentences_near, write_drawn

from truemoment.base.boundary.pictures import MOST_PIXELS, decode_picture
from truemoment.base.errors import InputError
from truemoment.media.video.encoders import Preparation
from truemoment.searching.index import Index
from truemoment.searching.layout import UNRELATED_PICTURES
from truemoment.searching.median_scores import median_scores
from truemoment.searching.query_picture import QueryPicture
from truemoment.searching.retrieval import search_index
from truemoment.searching.stopping import RetrievedMoments
from truemoment.searching.unit_vectors import unit
from truemoment.searching.unrelated import STANDS_OUT, with_matches
from truemoment.searching.unrelated_pictures import (
    LEAST_VIDEOS,
    UnrelatedPictures,
    unrelated_pictures_of,
    write_unrelated_pictures,
)
from truemoment.worlds.descriptions import draw_scene
from truemoment.worlds.scenes import draw_picture

images = pytest.importorskip("PIL.Image")

TOP, BOTTOM = (200, 40, 40), (40, 40, 200)


def two_halves(mode="RGB"):
    """A picture of 32 x 48 pixels: red above blue."""
    picture = images.new("RGB", (32, 48), TOP)
    picture.paste(BOTTOM, (0, 24, 32, 48))
    return picture.convert(mode)


def saved(picture, kind, **options):
    stream = io.BytesIO()
    picture.save(stream, kind, **options)
    return stream.getvalue()


def turned():
    """The picture on its side, with the EXIF orientation 6 of a camera that was held upright."""
    exif = images.Exif()
    exif[0x0112] = 6
    return saved(two_halves().rotate(90, expand=True), "JPEG", exif=exif, quality=95)


def grey_16_bits():
    levels = np.repeat(np.array([[40_000], [10_000]], dtype=np.uint16), 24, axis=0).repeat(32, axis=1)
    return saved(images.fromarray(levels), "PNG")


def half_transparent():
    picture = two_halves("RGBA")
    picture.paste((0, 0, 0, 0), (0, 24, 32, 48))
    return saved(picture, "WEBP", lossless=True)


@pytest.mark.parametrize(
    ("data", "top", "bottom"),
    [
        (saved(two_halves(), "PNG"), TOP, BOTTOM),
        (saved(two_halves(), "BMP"), TOP, BOTTOM),
        (saved(two_halves("P"), "GIF"), TOP, BOTTOM),
        (saved(two_halves("CMYK"), "JPEG", quality=95), TOP, BOTTOM),
        (turned(), TOP, BOTTOM),
        (grey_16_bits(), (156, 156, 156), (39, 39, 39)),  # 40,000 and 10,000 of 65,535, of 255
        (half_transparent(), TOP, (255, 255, 255)),
        (saved(two_halves("1"), "PNG"), None, None),
    ],
    ids=["png", "bmp", "gif", "cmyk", "turned", "16 bits", "transparent", "black and white"],
)
def test_a_picture_is_what_programs_show(data, top, bottom):
    pixels = decode_picture(data, "dog.png")
    assert (pixels.shape, pixels.dtype) == ((48, 32, 3), np.uint8)
    for row, colour in ((8, top), (40, bottom)):
        assert colour is None or np.abs(pixels[row, 16].astype(int) - colour).max() <= 12  # JPEG, and a palette of GIF


def stated(width, height):
    """A PNG file that states a size, and has no picture in it."""
    chunks = (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def animated(kind):
    return saved(two_halves(), kind, save_all=True, append_images=[two_halves().rotate(180)], duration=100)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is no picture that can be read, expected PNG, JPEG, WebP, GIF or BMP"),
        (b"%PDF-1.7", "is no picture that can be read"),
        (saved(two_halves(), "TIFF"), "is no picture that can be read"),  # its decoder is not one that is opened
        (saved(two_halves(), "PNG")[:90], "is a damaged or truncated picture"),
        (saved(two_halves(), "JPEG")[:-200], "is a damaged or truncated picture"),
        (stated(10_000, 9_000), f"has 10,000 x 9,000 pixels, expected up to {MOST_PIXELS:,}; save the picture in a sm"),
        (stated(60_000, 60_000), f"pixels, expected up to {MOST_PIXELS:,}"),
        (animated("GIF"), "is animated and has 2 pictures, expected one; save the picture to search for"),
        (animated("WEBP"), "is animated and has 2 pictures"),
        (animated("PNG"), "is animated and has 2 pictures"),
    ],
    ids=["empty", "pdf", "tiff", "cut png", "cut jpeg", "large", "bomb", "gif", "webp", "apng"],
)
def test_what_is_not_one_whole_picture_is_refused(data, told):
    with pytest.raises(InputError, match=f"^dog.png: .*{re.escape(told)}"):
        decode_picture(data, "dog.png")


class Flat:
    """A model whose vector is the prepared picture itself, of 48 x 48 pixels."""

    preparation = Preparation(48, 48, 48, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))

    def prepare(self, rgb):
        assert min(rgb.shape[:2]) <= 96  # videos are decoded at twice the side of the model's input
        return self.preparation(rgb)

    def images(self, batch):
        return batch.reshape(len(batch), -1)


def test_a_large_picture_is_reduced_as_frames_are(tmp_path):
    pytest.importorskip("av")
    pixels = draw_picture(draw_scene(np.random.default_rng(3)), height=96, width=128)
    vectors = []
    for factor in (1, 8):
        images.fromarray(pixels.repeat(factor, axis=0).repeat(factor, axis=1)).save(tmp_path / "drawn.png")
        vectors.append(QueryPicture.read(tmp_path / "drawn.png").embed(Flat()))
    assert np.prod(unit(np.array(vectors)), axis=0).sum() > 0.9999  # the cosine


# ----------------------------------------------------------------------------------------------- its match


@pytest.fixture
def drawn(draw):
    return draw(12)


def test_the_formula_picture_by_picture(drawn):
    """The formula of the module's docstring, in loops over the frames that are spread over the videos."""
    pieces = {name: drawn.pieces(name).astype(np.float64) for name in drawn}
    every = np.concatenate(list(pieces.values()))
    best = []
    for name in drawn:
        for at in range(20):  # 250 // 12
            row = drawn[name][at * 120 // 20].astype(np.float64)
            row /= np.linalg.norm(row)
            others = np.concatenate([of for video, of in pieces.items() if video != name])
            best.append(max(others @ row) - np.median(every @ row))
    unrelated = unrelated_pictures_of(drawn)
    assert unrelated.best == pytest.approx(sorted(best), abs=1e-4)


def test_frames_of_other_films_stand_out_as_rarely_as_stated(settings, tmp_path):
    """Frames of films that are drawn alike are exchangeable with the unrelated ones, so 8 % of them reach 92 %."""
    many, fresh = (write_drawn(tmp_path / f"from{first}", settings, 40, first=first) for first in (0, 40))
    pieces = np.concatenate([many.pieces(name).astype(np.float32) for name in many])
    frames = unit(np.concatenate([fresh.rows(name)[5::10] for name in fresh]).astype(np.float32))
    stands_out = (frames @ pieces.T).max(axis=1) - np.median(frames @ many.piece_sample.T, axis=1)
    unrelated = UnrelatedPictures.of(many)
    reached = np.searchsorted(unrelated.best, stands_out) / (1 + len(unrelated.best)) >= STANDS_OUT
    assert 0.03 < reached.mean() < 0.14  # 0.08, and four standard errors of both draws


def test_a_moment_of_the_index_stands_out(drawn):
    near = sentences_near(drawn, 20, noise=0.1)
    unrelated, medians = unrelated_pictures_of(drawn), median_scores(drawn, near)
    found = search_index(drawn, near, 3, medians=medians)
    matched = [
        with_matches(drawn, unrelated, vector, median, moments)
        for vector, median, moments in zip(near, medians, found, strict=True)
    ]
    assert sum(not RetrievedMoments(moments, 1, "all").nothing_stands_out for moments in matched) >= 19


def test_an_index_keeps_them_until_its_videos_change(drawn, monkeypatch):
    write_unrelated_pictures(drawn)
    kept = unrelated_pictures_of(drawn).best
    assert np.array_equal(kept, UnrelatedPictures.of(drawn).best)
    file = drawn.path / UNRELATED_PICTURES
    with monkeypatch.context() as patch:
        patch.setattr(UnrelatedPictures, "of", None)
        write_unrelated_pictures(drawn)  # not again
        assert np.array_equal(unrelated_pictures_of(drawn).best, kept)
    about = next(drawn.path.glob("videos/*/about.json"))
    about.write_text(re.sub('"0:([0-9]+)"', '"1:\\1"', about.read_text()))  # another file of the same name
    before = file.read_bytes()
    write_unrelated_pictures(Index(drawn.path))
    assert file.read_bytes() != before
    file.write_bytes(before[:100])
    with pytest.raises(InputError, match=f"{UNRELATED_PICTURES}.*delete the file"):
        unrelated_pictures_of(drawn)


def test_few_videos_are_not_compared(draw):
    few = draw(LEAST_VIDEOS - 1)
    assert unrelated_pictures_of(few) is None
    write_unrelated_pictures(few)
    assert not (few.path / UNRELATED_PICTURES).exists()
