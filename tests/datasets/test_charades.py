"""Charades-STA and Charades-CD on small files of their form."""

import math

import pytest

LIST = "id,subject,actions,length\r\n"


@pytest.fixture
def sta(put):
    """Write charades_sta_test.txt and its list of durations."""

    def write(text, durations=LIST + '3MSZA,A,"c1 0 1;c2 3 4",30.96\r\nAKKWU,B,,12.17\r\n'):
        put("charades-sta", "Charades_v1_test.csv", durations)
        return put("charades-sta", "charades_sta_test.txt", text)

    return write


class TestCharadesSTA:
    def test_rows(self, sta, load, rows):
        sta(
            "3MSZA 24.3 30.4##person turn a light on.\n"
            "AKKWU 38.0 13.0##person sits, then ## stands.\n"
            "3MSZA 0 4##a ß ✓\n"
        )
        annotations = load("charades-sta", "test")
        # Ids: position within the video in file order, from 0 (DESIGN.md, vocabulary). Times stay as they are,
        # swapped and past the end.
        assert rows(annotations) == [
            ("3MSZA#0", "3MSZA", 30.96, "person turn a light on.", 24.3, 30.4, ""),
            ("AKKWU#0", "AKKWU", 12.17, "person sits, then ## stands.", 38.0, 13.0, ""),
            ("3MSZA#1", "3MSZA", 30.96, "a ß ✓", 0.0, 4.0, ""),
        ]
        assert (annotations.dataset, annotations.split) == ("charades-sta", "test")

    def test_a_video_that_the_list_lacks_has_no_duration(self, sta, load):
        sta("3MSZA 1 2##a.\nNEWVD 1 2##b.\n")
        durations = load("charades-sta", "test").duration_s
        assert durations[0] == 30.96
        assert math.isnan(durations[1])

    @pytest.mark.parametrize(
        "text", ["\ufeff3MSZA 1 2##a.\n", "3MSZA 1 2##a.\r\n\r\n", "\n3MSZA 1 2##a.", "3MSZA 1e0 2##a.\n"]
    )
    def test_marks_and_line_ends(self, sta, load, rows, text):
        sta(text)
        assert rows(load("charades-sta", "test")) == [("3MSZA#0", "3MSZA", 30.96, "a.", 1.0, 2.0, "")]

    def test_a_sentence_keeps_its_blanks(self, sta, load):
        sta("3MSZA 1 2##  two  blanks \n")
        assert load("charades-sta", "test").sentence[0] == "  two  blanks "

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("3MSZA 1.0##a.", "got '3MSZA 1.0##a.', expected 'VIDEO START END##sentence'"),
            ("3MSZA 1.0 2.0#a.", "got '3MSZA 1.0 2.0#a.', expected 'VIDEO START END##sentence'"),
            ("3MSZA 1 2 3##a.", "got '3MSZA 1 2 3##a.', expected 'VIDEO START END##sentence'"),
            ("3MSZA\t1\t2##a.", "got '3MSZA\\t1\\t2##a.', expected 'VIDEO START END##sentence'"),
            ("x" * 100, f"got '{'x' * 60}', expected 'VIDEO START END##sentence'"),
            ("3MSZA one 2##a.", "field start: got 'one', expected seconds up to 1e+08"),
            ("3MSZA 1 nan##a.", "field end: got 'nan', expected seconds up to 1e+08"),
            ("3MSZA inf 2##a.", "field start: got 'inf', expected seconds up to 1e+08"),
            ("3MSZA 0:01 2##a.", "field start: got '0:01', expected seconds up to 1e+08"),
        ],
    )
    def test_a_bad_line(self, sta, refused, line, said):
        sta(f"3MSZA 1 2##a.\n\n{line}\n")
        assert refused("charades-sta", "test") == f"charades-sta/charades_sta_test.txt:3: {said}"

    def test_bytes_that_are_not_utf8(self, sta, refused):
        sta(b"3MSZA 1 2##a.\n3MSZA 1 2##\xe9.\n")
        assert refused("charades-sta", "test") == (
            "charades-sta/charades_sta_test.txt:2: got byte 0xe9, expected UTF-8 text; save it as UTF-8"
        )

    @pytest.mark.parametrize(
        ("durations", "said"),
        [
            ("", ":1: columns id, length are missing"),
            ("id,duration\r\nA,1\r\n", ":1: columns length are missing"),
            (LIST + "3MSZA,A,,long\r\n", ":2: field length: got 'long', expected seconds up to 1e+08"),
            (LIST + "3MSZA,A,,1\r\nAKKWU,B\r\n", ":3: field length: got None, expected seconds up to 1e+08"),
            (LIST + "3MSZA,A,,\r\n", ":2: field length: got '', expected seconds up to 1e+08"),
            (LIST + "3MSZA,A,,nan\r\n", ":2: field length: got 'nan', expected seconds up to 1e+08"),
            (LIST + "3MSZA,A,,inf\r\n", ":2: field length: got 'inf', expected seconds up to 1e+08"),
        ],
    )
    def test_a_bad_list_of_durations(self, sta, refused, durations, said):
        sta("3MSZA 1 2##a.\n", durations)
        assert refused("charades-sta", "test") == f"charades-sta/Charades_v1_test.csv{said}"

    def test_a_list_with_a_field_without_end(self, sta, refused):
        # Python's csv reads no field over 131,072 characters.
        sta("3MSZA 1 2##a.\n", LIST + '3MSZA,"' + "x" * 200_000 + '",,1\r\n')
        assert refused("charades-sta", "test").startswith("charades-sta/Charades_v1_test.csv:")

    @pytest.mark.parametrize("gone", ["charades_sta_test.txt", "Charades_v1_test.csv"])
    def test_a_missing_file(self, sta, refused, gone):
        folder = sta("3MSZA 1 2##a.\n").parent
        (folder / gone).unlink()
        assert refused("charades-sta", "test") == (
            f"charades-sta: charades-sta/{gone} is missing, expected {gone}; "
            "'truemoment datasets fetch charades-sta' downloads it or prints the steps"
        )


def video(sentences, timestamps, duration, **more):
    return {"sentences": sentences, "timestamps": timestamps, "video_duration": duration, **more}


class TestCharadesCD:
    @pytest.mark.parametrize(
        ("split", "name"),
        [
            ("train", "charades_train.json"),
            ("val", "charades_val.json"),
            ("test-iid", "charades_test_iid.json"),
            ("test-ood", "charades_test_ood.json"),
        ],
    )
    def test_rows(self, put, load, rows, split, name):
        # Field names as the authors' files have them (yytzsy/grounding_changing_distribution at 83b07d4).
        more = {"framestamps": [[16, 40]], "decode_fps": 16.0, "encoded_sentences": [[1]], "video_fps": -1.0}
        put(
            "charades-cd",
            name,
            {
                "QM4AD": video(["he sits", "he stands"], [[1, 2.5], [13.0, 38.0]], 12.3125, **more),
                "AAAAA": video([], [], 3.0),
                "ZZZZZ": video(["he runs"], [[0, 3.1]], 3.0),
            },
        )
        annotations = load("charades-cd", split)
        assert rows(annotations) == [
            ("QM4AD#0", "QM4AD", 12.3125, "he sits", 1.0, 2.5, ""),
            ("QM4AD#1", "QM4AD", 12.3125, "he stands", 13.0, 38.0, ""),
            ("ZZZZZ#0", "ZZZZZ", 3.0, "he runs", 0.0, 3.1, ""),
        ]
        assert annotations.split == split

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ([], ":1: got a list, expected an object"),
            (
                {"v": video(["a"], [[1, 2], [3, 4]], 9.0)},
                ":1: field v: got 1 sentences and 2 timestamps, expected as many",
            ),
            ({"v": video(["a"], [[1]], 9.0)}, ":1: field v.timestamps[0]: expected a list of length 2"),
            ({"v": video(["a"], [[1, "2"]], 9.0)}, ":1: field v.timestamps[0][1]: got text, expected a number"),
            ({"v": video([7], [[1, 2]], 9.0)}, ":1: field v.sentences[0]: got a whole number, expected text"),
            ({"v": video(["a"], [[1, 2]], None)}, ":1: field v.video_duration: got null, expected a number"),
            (
                {"v": {"sentences": ["a"], "timestamps": [[1, 2]]}},
                ":1: field v.video_duration: is missing",
            ),
        ],
    )
    def test_malformed(self, put, refused, content, said):
        put("charades-cd", "charades_val.json", content)
        assert refused("charades-cd", "val") == f"charades-cd/charades_val.json{said}"

    def test_a_video_that_stands_twice(self, put, refused):
        put("charades-cd", "charades_val.json", '{"v": {}, "v": {}}')
        assert refused("charades-cd", "val") == (
            "charades-cd/charades_val.json: field v: 'v' appears twice, expected each key once"
        )
