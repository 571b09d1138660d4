"""The two sounds of a film: their alignment, and where the narrator speaks."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.collection.layout import CollectSettings
from truemoment.collection.spans import Span
from truemoment.media.audio.activity import voice_activity
from truemoment.media.audio.aligning import AlignSettings, align, align_sounds
from truemoment.media.audio.alignment import Alignment, Piece, Side, Unmatched, gaps_between
from truemoment.media.audio.checking import PaperSettings
from truemoment.media.audio.difference import find_narrator
from truemoment.media.audio.rates import RATES
from truemoment.media.audio.reading import RATE_HZ, sound_of, stated_end_s
from truemoment.media.audio.recording import Recording, side_of
from truemoment.media.audio.sources import SOUND_CONTAINERS, Source, chosen_stream, reading_sound
from truemoment.media.video.containers import opened_container
from truemoment.media.video.frames import has_decoder, outline_of


class NarratorRuns(msgspec.Struct, frozen=True, kw_only=True):
    """The file speech.json: where the narrator speaks, in film time.

    Parameters
    ----------
    spans
        Disjoint and rising.
    why
        Why they are unknown; "" if they are known.
    voice
        Where the film's own sound has a voice; None where that is not known.
    notes
        What a person should know about the sounds.
    details
        Figures of the method.
    """

    spans: tuple[Span, ...]
    why: str = ""
    voice: tuple[Span, ...] | None = None
    notes: tuple[str, ...] = ()
    details: dict[str, object] = {}


def duration_of(film: Source) -> float:
    """Return the duration of a film: that of its pictures, or of its sound where it has none."""
    with reading_sound(film.path), opened_container(film.path, SOUND_CONTAINERS) as container:
        has_pictures = any(has_decoder(stream) for stream in container.streams.video)
        stated_s = None if has_pictures else stated_end_s(film.path, container, chosen_stream(film, container))
        duration_s = (container.duration or 0) / 1e6
    if has_pictures:
        return outline_of(film.path).duration_s
    if not (stated_s and duration_s):
        blocks = sound_of(film.path, stream=film.stream)
        duration_s = max((block.start_s + len(block.samples) / RATE_HZ for block in blocks), default=0.0)
    if duration_s <= 0:
        raise InputError("has no pictures, and no sound that can be decoded", path=film.path)
    return duration_s


def align_film(
    film: Source, described: Source, film_sound: Recording, track: Recording, settings: CollectSettings
) -> Alignment:
    """Align the described track with the film, or place a track of the narrator alone by its delay."""
    sides = side_of(film, film_sound.duration_s), side_of(described, track.duration_s)
    if settings.delay_s is not None:
        return _placed(*sides, settings.delay_s)
    align_settings = AlignSettings(
        method=settings.method,
        rate_hz=settings.rate_hz,
        rates=settings.rates or RATES,
        paper=PaperSettings(settings.windows, settings.window_s, settings.search_s, within_s=settings.within_s),
    )
    if settings.rate_hz != RATE_HZ:
        return align(film, described, align_settings)
    aligned = align_sounds(film_sound, track, align_settings)
    return Alignment(film=sides[0], track=sides[1], **aligned._asdict())


def _placed(film: Side, track: Side, delay_s: float) -> Alignment:
    """Return an alignment of one piece at a delay that a person gave."""
    low, high = max(0.0, -delay_s), min(track.duration_s, film.duration_s - delay_s)
    if high <= low:
        problem = f"got a delay of {delay_s:g} s, at which the track of {track.duration_s:.0f} s lies outside the film"
        raise UsageError(f"--delay-s: {problem} of {film.duration_s:.0f} s")
    piece = Piece((low, high), 1.0, delay_s, 0.0)
    unmatched = Unmatched(
        gaps_between([piece.track_s], track.duration_s), gaps_between([piece.film_s], film.duration_s)
    )
    why = "placed at a delay that was given"
    return Alignment(
        film=film,
        track=track,
        rate_candidate="1",
        pieces=(piece,),
        unmatched=unmatched,
        paper=None,
        verdict="aligned",
        why=why,
    )


def notes_of(film_sound: Recording, track: Recording) -> tuple[str, ...]:
    """Return what a person should know about the sounds."""
    return tuple(
        f"{name}: {sound.filled_s:.2f} s of missing sound are silence, {sound.cut_s:.2f} s are left out as repeated"
        for name, sound in (("film", film_sound), ("described track", track))
        if sound.filled_s > 0 or sound.cut_s > 0
    )


def find_runs(
    film_sound: Recording, track: Recording, alignment: Alignment, settings: CollectSettings, *, has_subtitles: bool
) -> NarratorRuns:
    """Find where the narrator speaks, from both sounds.

    A track that is the narrator alone, placed by its delay, speaks where it is loud. The voices of the film's own sound
    are found where subtitles are to be checked, or where narrator runs are unknown.

    Parameters
    ----------
    film_sound, track
        The two sounds.
    alignment
        Where the track lies in the film.
    settings
        How the film is collected.
    has_subtitles
        Whether there are subtitles.
    """
    notes = notes_of(film_sound, track)
    if settings.delay_s is not None:
        spans = _moved(voice_activity(track, "level"), settings.delay_s, film_sound.duration_s)
        return NarratorRuns(spans=spans, notes=notes, details={"method": "loud parts of the track"})
    narrator = find_narrator(film_sound, track, alignment.pieces)
    return NarratorRuns(
        spans=narrator.runs,
        why=narrator.why,
        voice=_voice(film_sound, required=settings.fit_subtitles) if has_subtitles or narrator.why else None,
        notes=notes,
        details={"gain_db": narrator.gain_db, "noise_db": narrator.noise_db, "histogram": narrator.histogram},
    )


def _moved(spans: Sequence[Span], delay_s: float, duration_s: float) -> tuple[Span, ...]:
    """Return spans of the track in film time, within the film."""
    moved = ((max(0.0, low + delay_s), min(duration_s, high + delay_s)) for low, high in spans)
    return tuple((low, high) for low, high in moved if low < high)


def _voice(film_sound: Recording, *, required: bool) -> tuple[Span, ...] | None:
    """Return where the film's own sound has a voice; None without the package for it, unless it is required."""
    try:
        return tuple(voice_activity(film_sound))
    except MissingPackageError:
        if required:
            raise
        return None
