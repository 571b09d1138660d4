"""truemoment cite: references by name and from reports, BibTeX, and bad input in one line."""

import json
import re
from pathlib import Path

import pytest

import truemoment as tm
from truemoment.base import papers
from truemoment.base.boundary.text import printable
from truemoment.baselines import BASELINES
from truemoment.cli import run
from truemoment.data.datasets import DATASETS
from truemoment.evaluation.measures import FAMILIES
from truemoment.evaluation.protocols import PROTOCOLS

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PAPERS = [value for value in vars(papers).values() if isinstance(value, papers.Paper)]
ENTRY = re.compile(r"@(inproceedings|article|misc)\{([a-z0-9]+),\n(?:  [a-z]+ += \{.*\},\n)*  [a-z]+ += \{.*\}\n\}")


def keys(*of):
    return [paper.key for paper in tm.cite(*of).papers]


def test_names_give_their_papers_and_truemoment():
    # Closer Look, section 4: dR and Charades-CD; TALL: Charades-STA and, as AxIoU's section 2 states, R@n,IoU=m.
    assert keys("dR@1,IoU=0.5", "charades-cd") == ["truemoment", "yuan2021closer", "gao2017tall"]
    assert keys("R@1,IoU=0.5; AxIoU@10") == ["truemoment", "gao2017tall", "togashi2022axiou"]
    assert keys("prior-only", "mad-vlgnet") == ["truemoment", "otani2020uncovering", "soldan2022mad"]
    assert keys("default,comparison=>=", "sentence-network") == ["truemoment"]


def test_every_name_of_the_package_can_be_cited():
    names = [*DATASETS, *PROTOCOLS, *BASELINES]
    assert len(set(names)) == len(names)  # a name means one thing
    for name in [*names, *(family.written for family in FAMILIES.values())]:
        found = tm.cite(name)
        assert len(found.papers) > 1 or any(of.source or of.papers for of in found.cited[1:]), name


def test_entries_are_bibtex_with_keys_of_their_own():
    assert len({paper.key for paper in PAPERS}) == len(PAPERS) > 12
    for paper in PAPERS:
        entry = ENTRY.fullmatch(paper.bibtex())
        assert entry is not None, paper.bibtex()
        assert entry[2] == paper.key
        assert paper.text().endswith(".") or "doi:" in paper.text()
        assert printable(paper.bibtex().replace("\n", "")) == paper.bibtex().replace("\n", "")
        if paper.year is not None:  # the key has family name, year and a word of the title
            assert re.search(rf"[a-z]{{3,}}{paper.year}[a-z]+", paper.key)


def test_citation_file_names_the_same_papers():
    import yaml

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    known = {paper.title: paper for paper in PAPERS}
    for entry in cited:
        paper = known[entry["title"]]
        assert entry["year"] == paper.year
        names = tuple(f"{author['family-names']}, {author['given-names']}" for author in entry["authors"])
        assert names == paper.authors


def test_a_report_gives_what_it_used(capsys, tmp_path):
    report = tmp_path / "audit.json"
    figures = [{"measure": "dR@1,IoU=0.5", "value": 0.5}, {"measure": "a figure of a study"}]
    conventions = [{"protocol": "vslnet", "value": 0.5}]  # another evaluator's figure beside: not what was used
    document = {
        "schema": "truemoment/audit/2",
        "dataset": "qvhighlights",
        "protocol": "moment-detr,top=5",
        "measures": figures,
        "floors": [{"name": "prior-only", "kind": "floor"}, {"name": "own-answers", "kind": "floor"}],
        "conventions": conventions,
    }
    report.write_text(json.dumps(document))
    expected = ["truemoment", "lei2021qvhighlights", "yuan2021closer", "otani2020uncovering"]
    assert keys(report) == keys(str(report)) == expected
    status = run(["cite", str(report), "--bibtex", "-"])
    out = capsys.readouterr().out
    assert status == 0
    assert [entry[2] for entry in ENTRY.finditer(out)] == expected
    assert ENTRY.sub("", out).split() == []
    assert run(["cite", str(report), "--bibtex", str(tmp_path / "refs.bib"), "--json", "-"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert [entry["key"] for entry in written["references"]] == expected
    assert (tmp_path / "refs.bib").read_text() == out


def test_nothing_is_printed_where_entries_cannot_be_written(fails, tmp_path):
    assert fails(2, "cite", "mIoU", "--bibtex", tmp_path) == f"--bibtex {tmp_path}: is a folder, expected a file"


def test_results_and_own_data():
    scores = tm.evaluate(
        EXAMPLES / "predictions.jsonl", annotations=EXAMPLES / "annotations.jsonl", measures="R@1,IoU=0.5"
    )
    assert keys(scores) == ["truemoment", "gao2017tall"]
    assert "annotations.jsonl has no paper here" in str(tm.cite(scores))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "no such file"),
        ("{", "report.json:1: input data was truncated"),
        ("[]", "expected an object"),
        ('{"schema": "other/1"}', "field schema: got 'other/1', expected a report that TrueMoment wrote"),
        ('{"schema": 3, "measure": "mIoU"}', "field schema: got 3"),
        ('{"schema": "truemoment/index/1"}', "names no measure, dataset, protocol or baseline"),
    ],
)
def test_bad_reports_are_one_line(capsys, tmp_path, content, expected):
    path = tmp_path / "report.json"
    if content is not None:
        path.write_text(content)
    assert run(["cite", str(path)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert expected in err


def test_unknown_names_are_one_line(capsys):
    for name, expected in (("charades", "got 'charades', expected a report"), ("R@1", "did you mean R@1,IoU=0.5?")):
        assert run(["cite", name]) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert expected in err
