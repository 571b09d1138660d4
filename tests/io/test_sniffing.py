"""Recognising a format by a file's beginning: each is told, with the reason; anything else is refused."""

import gzip
import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from truemoment import Predictions
from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.data.formats import FORMATS, get_format, read_predictions, read_rows, sniff, write_predictions

NATIVE = '{"query_id": "v#0", "moments": [[1, 2, 3]]}\n'
MOMENT_DETR = '{"qid": 1, "query": "a", "vid": "v", "pred_relevant_windows": [[1, 2, 3]]}\n'
RESULTS = '{"version": 1, "results": {"v": [{"sentence": "a", "timestamp": [1, 2]}]}}'
CSV = "query_id,start,end\nv#0,1,2\n"
NAMES = (
    "native", "moment-detr", "results-by-video", "csv", "json", "parquet", "unitime", "cone", "ego4d-nlq", "tvr",
    "videomind", "time-r1", "timechat", "timelens", "lmms-eval", "vlmevalkit", "vtimellm", "next-gqa",
    "et-bench", "momentseeker", "answers", "activitynet-challenge", "fiftyone",
)  # fmt: skip
NONE = f": looks like none of the formats {', '.join(NAMES)}; name it with --format"


def test_the_formats():
    assert tuple(FORMATS) == NAMES
    for name, format_ in FORMATS.items():
        assert get_format(name) is format_
        assert "\n" not in format_.summary


def test_an_unknown_format():
    with pytest.raises(UsageError) as caught:
        get_format("pickle")
    assert str(caught.value) == f"unknown format 'pickle', expected one of {', '.join(NAMES)}"


@pytest.mark.parametrize("name", ["videomind", "time-r1", "timechat", "timelens", "vtimellm", "vlmevalkit", "answers"])
def test_formats_that_are_read_only(tmp_path, annotations, name):
    with pytest.raises(UsageError) as caught:
        write_predictions(tmp_path / "p", Predictions.from_lists({}), annotations, format=name)
    assert str(caught.value) == f"format {name} is read only"
    assert list(tmp_path.iterdir()) == []


RECOGNISED = [
    (NATIVE, "native", 'its first line has "moments"'),
    ('{"truemoment": 1}\n' + NATIVE, "native", 'its first line says "truemoment"'),
    (MOMENT_DETR, "moment-detr", 'its first line has "pred_relevant_windows"'),
    (RESULTS, "results-by-video", 'it has "results" with "timestamp"'),
    (json.dumps(json.loads(RESULTS), indent=1), "results-by-video", 'it has "results" with "timestamp"'),
    (CSV, "csv", "its headings are query_id,start,end"),
    ('"Video","Query","Start","End"\r\n', "csv", 'its headings are "Video","Query","Start","End"'),
    ("video,query,start,end," + "x" * 60 + "\n", "csv", "its headings are video,query,start,end," + "x" * 38),
    ("PAR1", "parquet", "it begins with PAR1"),
]
MARK, BLANKS = "\ufeff", "\n \r\n"


@pytest.mark.parametrize(
    ("content", "name", "why"),
    RECOGNISED
    + [(MARK + content, name, why) for content, name, why in RECOGNISED if name != "parquet"]
    + [(BLANKS + content, name, why) for content, name, why in RECOGNISED if name not in ("parquet", "csv")],
)
def test_each_format_is_recognised_by_its_content(tmp_path, content, name, why):
    path = tmp_path / "no-ending"
    path.write_text(content, newline="")
    format_, said = sniff(path)
    assert (format_.name, said) == (name, why)


@pytest.mark.parametrize("content", [NATIVE, MOMENT_DETR, RESULTS, CSV])
def test_a_packed_file_is_recognised_as_the_one_inside(tmp_path, content):
    plain, packed = tmp_path / "p", tmp_path / "p.gz"
    plain.write_text(content)
    packed.write_bytes(gzip.compress(content.encode()))
    assert sniff(packed) == sniff(plain)


def test_a_long_first_line(tmp_path):
    path = tmp_path / "p"
    path.write_text(json.dumps({"query_id": "v#0", "moments": [[1, 2, 3]] * 20_000}) + "\n")
    assert path.stat().st_size > 2 * 65_536  # more than is looked at
    assert sniff(path)[0].name == "native"


def test_a_reference_file_is_not_taken_for_predictions(tmp_path):
    path = tmp_path / "highlight_val_release.jsonl"
    path.write_text('{"qid": 1, "query": "a", "vid": "v", "duration": 150, "relevant_windows": [[0, 2]]}\n')
    with pytest.raises(InputError) as caught:
        sniff(path)
    assert str(caught.value) == (
        f"{path}:1: looks like references (qvhighlights), expected predictions; are predictions and annotations "
        "swapped? If it has predictions, name it with --format, or its columns with --prediction-fields"
    )


NO_FORMAT = "which no format of predictions has; expected for example native JSON Lines, a line a query"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}\n", f"is JSON without keys, {NO_FORMAT}"),
        ('{"predicted": []}\n', f'has the keys "predicted", {NO_FORMAT}'),
        # A list is not JSON Lines, nor is one object over several lines.
        (
            '[{"query_id": 1, "moments": []}]',
            "looks most like native: has its keys in another layout, expected native JSON Lines, a line a query "
            '(has the keys "query_id", "moments")',
        ),
        (
            json.dumps({"moments": [[1, 2, 3]]}, indent=1),
            'looks most like native: "query_id" is missing (has the keys "moments")',
        ),
        (
            '{"version": 1, "results": {"v": [{"sentence": "a", "time": [1, 2]}]}}',
            'looks most like results-by-video: "timestamp" is missing (has the keys "version", "results", "v", '
            '"sentence", "time")',
        ),
        (
            '{"video_id": "v", "query_id": 0, "answered": "from 1 to 2 s", "task": "grounding"}\n',
            'looks most like vtimellm: "answer" is missing (has the keys "video_id", "query_id", "answered", "task")',
        ),
    ],
)
def test_unknown_json_is_answered_with_what_is_missing(tmp_path, content, said):
    path = tmp_path / "p.json"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        sniff(path)
    assert str(caught.value).removesuffix(", or its columns with --prediction-fields") == (
        f"{path}:1: {said}; name it with --format"
    )


@pytest.mark.parametrize(
    "content",
    [
        b"hello\n",
        b"a,b,c\n1,2,3\n",
        b"\x00" * 64,
        b"\x89PNG\r\n\x1a\n\x00\x00",
        bytes(range(256)),
    ],
    ids=range(5),
)
def test_what_is_no_format_is_refused(tmp_path, content):
    path = tmp_path / "p.bin"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        sniff(path)
    assert str(caught.value) == f"{path}:1{NONE}"


def test_json_in_utf_16_is_refused(tmp_path):
    path = tmp_path / "p.json"
    path.write_bytes('{"query_id": "a"}'.encode("utf-16"))
    with pytest.raises(InputError, match="is JSON in UTF-16, expected UTF-8; save it as UTF-8"):
        sniff(path)


def test_a_table_in_utf_16_is_a_table(tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes("query_id,start,end\nv#0,2,5\n".encode("utf-16"))
    assert sniff(path)[0].name == "csv"


def test_a_packed_file_whose_name_does_not_say_so(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_bytes(gzip.compress(NATIVE.encode()))
    with pytest.raises(InputError) as caught:
        sniff(path)
    assert str(caught.value) == f"{path}: is packed by gzip, expected a name that ends in .gz; rename it"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ["p.pkl", "p.jsonl", "p.pkl.gz"])
@pytest.mark.parametrize("thing", [{"moments": [1]}, [{"v": 1}], np.arange(2.0)], ids=["dict", "list", "array"])
@pytest.mark.parametrize("format_name", [None, "native"])
def test_a_pickle_is_named_and_not_loaded(tmp_path, protocol, name, thing, format_name):
    path = tmp_path / name
    content = pickle.dumps(thing, protocol)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(InputError) as caught:
        read_rows(path, format_name)
    assert str(caught.value) == (
        f"{path}: is a pickle, which can run code when loaded, and is not read; where you trust it, export it: "
        'python -c "import pandas, sys; pandas.DataFrame(pandas.read_pickle(sys.argv[1])).to_csv(sys.argv[2], '
        f'index=False)" {path.name} {path.stem}.csv'
    )


@pytest.mark.parametrize("format_name", [None, *FORMATS])
def test_a_pickle_runs_no_code_whatever_it_is_called(tmp_path, annotations, format_name):
    trace = tmp_path / "trace"

    class Evil:
        def __reduce__(self):
            return (open, (str(trace), "w"))

    path = tmp_path / "p.jsonl"
    path.write_bytes(pickle.dumps(Evil()))
    with pytest.raises(InputError):
        read_predictions(path, annotations, format=format_name)
    assert not trace.exists()


@pytest.mark.parametrize("content", [b"", b"\n", b" \r\n\t\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
@pytest.mark.parametrize("name", ["p.jsonl", "p.csv", "p.jsonl.gz"])
def test_an_empty_file_is_told(tmp_path, content, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(InputError) as caught:
        sniff(path)
    assert str(caught.value) == f"{path}: is empty, expected predictions"


def test_two_formats_that_fit_are_both_named(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"qid": 1, "pred_relevant_windows": [], "moments": []}\n')
    with pytest.raises(InputError) as caught:
        sniff(path)
    assert str(caught.value) == (
        f'{path}: looks like native (its first line has "moments") and like moment-detr (its first line has '
        '"pred_relevant_windows"); name it with --format'
    )


@pytest.mark.parametrize(("format_name", "rows"), [("native", 1), ("moment-detr", 1)])
def test_the_format_asked_for_decides(tmp_path, format_name, rows):
    path = tmp_path / "p.jsonl"
    path.write_text('{"qid": 1, "query_id": "v#0", "pred_relevant_windows": [], "moments": []}\n')
    found, why = read_rows(path, format_name)
    assert (found.format, len(found), why) == (format_name, rows, "as asked")


def test_the_content_decides_not_the_name(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(NATIVE)
    assert sniff(path)[0].name == "native"


def numbers():
    stream = io.BytesIO()
    np.savez(stream, a=np.arange(3))
    return stream.getvalue()


def array():
    stream = io.BytesIO()
    np.save(stream, np.arange(3))
    return stream.getvalue()


def archive(name):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as writer:
        writer.writestr(name, NATIVE)
    return stream.getvalue()


TRUST = "where you trust it, write it as JSON Lines: 'truemoment convert --help' shows how"


@pytest.mark.parametrize("format_name", [None, "csv", "parquet", "timelens"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (numbers, f"is a NumPy archive (.npz), which names no query, expected predictions; {TRUST}"),
        (array, f"is a NumPy array (.npy), which names no query, expected predictions; {TRUST}"),
        (
            lambda: archive("model/data.pkl"),
            f"is a PyTorch file (.pt, .pth), which can run code when loaded, and is not read; {TRUST}",
        ),
        (
            lambda: archive("[Content_Types].xml"),
            "is a spreadsheet (.xlsx), expected text; save the sheet as TSV or CSV",
        ),
        (lambda: archive("p.jsonl"), "is packed by zip, as submissions are, expected the file inside; unpack it"),
        (lambda: b"\x89HDF\r\n\x1a\n", f"is an HDF5 file, expected predictions; {TRUST}"),
    ],
    ids=["npz", "npy", "torch", "xlsx", "zip", "hdf5"],
)
def test_what_is_no_text_is_named_with_what_to_do(tmp_path, content, said, format_name):
    path = tmp_path / "p.bin"
    path.write_bytes(content())
    with pytest.raises(InputError) as caught:
        read_rows(path, format_name)
    assert str(caught.value) == f"{path}: {said}"


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(MissingFileError) as missing:
        sniff(tmp_path / "none")
    assert str(missing.value) == f"{tmp_path / 'none'}: no such file"
    with pytest.raises(InputError) as folder:
        sniff(tmp_path)
    assert str(folder.value) == f"{tmp_path}: is a folder, expected a file"


@pytest.mark.parametrize("cut", [5, 30, -4])
def test_a_broken_packed_file(tmp_path, cut):
    path = tmp_path / "p.jsonl.gz"
    packed = gzip.compress(NATIVE.encode() * 3)
    path.write_bytes(packed[:cut])
    with pytest.raises(InputError) as caught:
        sniff(path)
    assert str(caught.value).startswith(f"{path}: cannot be read (")


def test_a_packed_file_with_noise_in_its_body(tmp_path):
    path = tmp_path / "p.jsonl.gz"
    packed = gzip.compress(NATIVE.encode() * 3)
    path.write_bytes(packed[:10] + b"\xff" * 20 + packed[-8:])
    with pytest.raises(InputError) as caught:
        sniff(path)
    assert str(caught.value).startswith(f"{path}: cannot be read (")
