"""What is speech: capitals by file, speakers, songs, sounds, numbers, scripts without capitals; and cues of every form.

The kinds are those of reports on subtitle editors and readers, which are named; the texts are written anew.
"""

import pytest

from truemoment.base.errors import InputError
from truemoment.media.speech.captions import are_in_capitals, classify
from truemoment.media.speech.subtitles import read_subtitles


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        # SubtitleEdit#11563: short words, abbreviations and cries are no captions of sounds
        ("OK.", ("OK.", "speech")),
        ("I...", ("I...", "speech")),
        ("ESPN? NASA!", ("ESPN? NASA!", "speech")),
        ("911, 555-0134.", ("911, 555-0134.", "speech")),
        ("It is 10:42, sir.", ("It is 10:42, sir.", "speech")),
        ("GLASS BREAKS", ("", "sound")),
        # SubtitleEdit#3768, #5880, TeroSubtitler#148: notes alone, and at one end
        ("♪ ♪", ("", "sound")),
        ("♪ Row the boat", ("Row the boat", "song")),
        ("¶ Row the boat ¶", ("Row the boat", "song")),
        ("♪ (slow piano) ♪", ("", "sound")),
        # bazarr#2921, SubtitleEdit#7722: brackets of any kind, also within a sentence
        ("[men 2] Hurry!", ("Hurry!", "speech")),
        ("[MAN]: Hurry!", ("Hurry!", "speech")),
        ("What the [bleep] is it?", ("What the is it?", "speech")),
        ("*sighs*", ("", "sound")),
        ("That f*ck, that s*it.", ("That f*ck, that s*it.", "speech")),
        ("（風の音）", ("", "sound")),
        ("［拍手］はい", ("はい", "speech")),
        ("[door\ncreaks", ("", "sound")),
        # names of speakers
        (">> Anna: Hurry!", ("Anna: Hurry!", "speech")),
        ("ÉLODIE : Vite !", ("Vite !", "speech")),
        ("Anna: (sobs)", ("", "sound")),
        # cdown/srt#92: a colon at the end of a line; SubtitleEdit#19 and pull request 13687, NuvioTV#3255
        ("<i>Empire:\n1.204.306.</i>", ("Empire: 1.204.306.", "speech")),
        ("She writes:", ("She writes:", "speech")),
        ("UNA:\nThe log.\nStardate 2.", ("The log. Stardate 2.", "speech")),
        ("Fine. Ivo: Hi!", ("Fine. Ivo: Hi!", "speech")),
        (">> JOHN: Hurry!", ("Hurry!", "speech")),
        ("{b}Stop{/b} {\\an8}at {x, y}.", ("Stop at {x, y}.", "speech")),
        ("МУЖЧИНА: Стой", ("Стой", "speech")),
        # no capitals
        ("أين كنت", ("أين كنت", "speech")),
        ("누구세요?", ("누구세요?", "speech")),
        ("СТУК В ДВЕРЬ", ("", "sound")),
    ],
)
def test_what_is_spoken(raw, expected):
    assert classify(raw) == expected


def test_a_file_of_capitals_says_nothing_by_them():
    """Case 14: captions of US television; a song in small letters, and sounds in brackets, do not count."""
    texts = ["WHERE WERE YOU?", ">> AT THE MARKET.", "[Door slams]", "♪ la la la ♪", "DON'T WAIT"]
    assert are_in_capitals(texts)
    assert [classify(text, in_capitals=True)[1] for text in texts] == ["speech", "speech", "sound", "song", "speech"]
    assert classify("AT 10:42 WE GO", in_capitals=True)[0] == "AT 10:42 WE GO"
    assert not are_in_capitals(["Where were you?", "At the market.", "DOOR SLAMS"])
    assert not are_in_capitals(["どこ？", "[拍手]"])  # a script without capitals


def cues(tmp_path, text, name="a.srt", fps=None):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    subtitles = read_subtitles(path, fps=fps)
    return [(cue.start_s, cue.text) for cue in subtitles.cues], subtitles.notes


def srt(*texts, numbered=True):
    blocks = [f"00:00:0{k} --> 00:00:0{k},9\n{text}\n\n" for k, text in enumerate(texts, start=1)]
    return "".join(f"{k}\n{block}" if numbered else block for k, block in enumerate(blocks, start=1))


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize(
    "texts",
    [
        ["1", "2", "three"],  # SubtitleEdit#9802: a text that is its number
        ["I bet", "100", "1999"],  # SubtitleEdit#2147, VoiceStudio#2151: the last number has no cue after it
        ["3\n2\n1", "Go!"],  # VoiceStudio#2151: a countdown in one cue
        ["He said\n\n42", "Go!"],  # VoiceStudio#2077: a number after a blank line
        ["Meet at 10:00:00,000 to 11:00:00,000", "Go!"],  # pysubs2#115
        ["Jump to 00:01:23,456", "Go!"],  # MoneyPrinterTurbo#1391
    ],
)
def test_numbers_that_are_spoken(tmp_path, texts, numbered):
    assert [text for _, text in cues(tmp_path, srt(*texts, numbered=numbered))[0]] == [
        " ".join(t.split()) for t in texts
    ]


@pytest.mark.parametrize(
    ("times", "start_s"),
    [
        ("0:0:4,8 --> 0:0:7,4", 4.8),  # vidstack/captions#8
        ("00:00:04 --> 00:00:07", 4.0),  # pysrt#25, SubtitlesParser#5
        ("00:00:04，100 --> 00:00:07，300", 4.1),
        ("00:00:04,250000 --> 00:00:07,5", 4.25),  # androidx/media#1997
        ("00:00:04,100-->00:00:07,300 X1:40 X2:600", 4.1),  # go-astisub#51: no blanks beside the arrow
        ("01:04,200 --> 1:06,000", 64.2),  # cortex pull request 286, webvtt.js#17: no hours, minutes of one digit
    ],
)
def test_times_as_programs_write_them(tmp_path, times, start_s):
    assert cues(tmp_path, f"1\n{times}\nHurry!\n")[0] == [(start_s, "Hurry!")]


@pytest.mark.parametrize(
    "times",
    [
        "00:00:19werwer,580 --> 00:00:21,000",  # pysubs2#112
        "00:00:04,100 -> 00:00:07,300",
        "00:00:04:100 --> 00:00:07:300",
        "-00:00:04,100 --> 00:00:07,300",
        "00:00:04,100 -->",
        "00:00:04,100 \N{EN DASH}-> 00:00:07,300",  # UnityPlugin-AVProVideo#648
        "00\N{FULLWIDTH COLON}00\N{FULLWIDTH COLON}04,100 --> 00:00:07,300",  # srt-gpt-translator#2
        "00:00:04,249.0999999 --> 00:00:07,251.8",  # subtitle.js#68
    ],
)
def test_times_that_cannot_be_read_are_refused_with_their_line(tmp_path, times):
    with pytest.raises(InputError, match=r"a\.srt:6: got "):
        cues(tmp_path, srt("Hurry!") + f"2\n{times}\nGo!\n")


VTT = """WEBVTT - a film
Kind: captions

STYLE
::cue { color: red }

REGION
id:fred

NOTE
by hand

intro
00:01.000 --> 00:02.000 align:start
NOTE this

2
00:03.000 --> 00:04.000
REGION
STYLE
"""


def test_blocks_of_webvtt(tmp_path):
    """node-webvtt#10, webvtt.js#26 and #27; go-astisub#150: in the text of a cue these words are text."""
    assert cues(tmp_path, VTT)[0] == [(1.0, "NOTE this"), (3.0, "REGION STYLE")]
    with pytest.raises(InputError, match=r"a\.srt:22: got 'lost' after a blank line, expected the times of a cue"):
        cues(tmp_path, VTT + "\nlost\n")  # pycaption#44


def test_rolling_captions_give_each_line_once(tmp_path):
    """yt-dlp#1734 in WebVTT, YTSage#102 after conversion to SRT: what is 10 ms long repeats the line before."""
    vtt = (
        "WEBVTT\n\n00:00.000 --> 00:02.000\n \nhi<00:00:01.000><c> all</c>\n\n00:02.000 --> 00:02.010\nhi all\n \n\n"
        "00:02.010 --> 00:04.000\nhi all\ngo<00:00:03.000><c> on</c>\n"
    )
    srt_text = (
        "1\n00:00:00,000 --> 00:00:02,000\nhi all\n\n2\n00:00:02,000 --> 00:00:02,010\nhi all\n\n"
        "3\n00:00:02,010 --> 00:00:04,000\nhi all\ngo on\n"
    )
    assert cues(tmp_path, vtt)[0] == cues(tmp_path, srt_text)[0] == [(0.0, "hi all"), (2.01, "go on")]


def test_captions_that_roll_up_give_each_line_once(tmp_path):
    """ccextractor#1044: each cue shows three lines, of which one is new. Repeated refrains are no rolling."""
    lines = ["one", "two", "three", "four", "five"]
    shown = [lines[k : k + 3] for k in range(3)]
    text = "\n".join(
        f"{k + 1}\n00:00:0{k},000 --> 00:00:0{k + 1},000\n" + "\n".join(of) + "\n" for k, of in enumerate(shown)
    )
    assert cues(tmp_path, text)[0] == [(0.0, "one two three"), (1.0, "four"), (2.0, "five")]
    refrain = "".join(f"{k + 1}\n00:00:0{k},000 --> 00:00:0{k + 1},000\nla la\n\n" for k in range(3))
    assert cues(tmp_path, refrain)[0] == [(0.0, "la la"), (1.0, "la la"), (2.0, "la la")]


def test_captions_that_grow_give_each_word_once(tmp_path):
    """ccextractor#2288: live captions, a word or two a cue, after captions that are shown whole."""
    shown = ["Plus other prizes.", "Today", "Today only.", "Today only.\nLife", "Life <i>is</i>", "Life is short\nnow."]
    vtt = "WEBVTT\n\n" + "".join(f"00:0{k}.000 --> 00:0{k}.900\n{text}\n\n" for k, text in enumerate(shown))
    fresh = ["Plus other prizes.", "Today", "only.", "Life", "is", "short now."]
    assert cues(tmp_path, vtt)[0] == list(enumerate(fresh))
    once = srt("No.", "No. I won't.", "I won't go.", "Then stay.")  # repeated words of a talk
    assert [text for _, text in cues(tmp_path, once)[0]] == ["No.", "No. I won't.", "I won't go.", "Then stay."]


def test_cues_without_length_are_counted_or_refused(tmp_path):
    """Const-me/Whisper#229: every time is 0; noophq/subtitle#13: a cue without text."""
    zero = "1\n00:00:00,000 --> 00:00:00,000\nHi.\n\n"
    with pytest.raises(InputError, match="has no cues of speech: 2 of 2 cues do not end after they start"):
        cues(tmp_path, zero + zero.replace("1\n", "2\n"))
    assert cues(tmp_path, "WEBVTT\n\n00:01.000 --> 00:02.000\n\n00:03.000 --> 00:04.000\nGo.\n") == (
        [(3.0, "Go.")],
        ("1 of 2 cues have no text and are left out",),
    )


def test_braces_of_ass(tmp_path):
    """SubtitleEdit#8923: comments in braces; #5379: braces that are text; splayerx#539: hard blanks."""
    ass = "[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,Go\\hon {check} to \\{A\\}.\n"
    assert cues(tmp_path, ass)[0] == [(1.0, "Go on to {A}.")]


def test_drawings_and_positions_of_ass(tmp_path):
    """ass-compiler#10: a short format line; python-ass#6: fields out of order; drawings are no text."""
    ass = (
        "[Script Info]\n\n[Events]\nFormat: Layer, Start, End, Style, Text\n"
        "Dialogue: 0,0:00:01.00,0:00:02.00,Main,{\\pos(4,5)}Who, you\\Nask?\n"
        "Dialogue: 0,0:00:03.00,0:00:04.00,Sign,{\\p1}m 0 0 l 9 0{\\p0}\n"
        "Comment: 0,0:00:05.00,0:00:06.00,Main,hidden\n"
    )
    assert cues(tmp_path, ass) == ([(1.0, "Who, you ask?")], ("1 of 2 cues have no text and are left out",))
    with pytest.raises(InputError, match=r"a\.srt:6: got 2 fields, expected 5"):
        cues(tmp_path, ass.replace("0:00:04.00,Sign,{\\p1}m 0 0 l 9 0{\\p0}", "").replace("3.00,", "3.00"))


def test_frames_a_second_that_microdvd_states(tmp_path):
    assert cues(tmp_path, "{1}{1}25\n{50}{75}Go|on\n")[0] == [(2.0, "Go on")]
    with pytest.raises(InputError, match=r"a\.srt:2: got '\{76\}Go', expected"):
        cues(tmp_path, "{50}{75}Go\n{76}Go\n", fps=25)
