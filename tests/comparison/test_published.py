"""Published figures: reading, refusing, and finding those that stand beside ours."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from pathlib import Path

import pytest

from truemoment.base.errors import InputError, MissingFileError
from truemoment.studies.compare.comparison import PublishedFigure, published_beside, read_published

HEADER = "source,table,dataset,split,method,measure,value,unit,note"
ROW = 'paper,Table 2,Made,test,CTRL,"R@1,IoU=0.5",30.70,percent,"a, remark"'


@pytest.fixture
def write(tmp_path):
    def write_lines(*lines, name="p.csv"):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return write_lines


def test_a_row(write):
    path = write(HEADER, ROW)
    (figure,) = read_published(path)
    assert figure == PublishedFigure(
        source="paper",
        table="Table 2",
        dataset="Made",
        split="test",
        method="CTRL",
        measure="R@1,IoU=0.5",
        value=Decimal("30.70"),
        unit="percent",
        note="a, remark",
        path=path,
        line=2,
    )
    assert figure.percent == "30.70"  # digits as printed
    assert figure.fraction == 0.307


@pytest.mark.parametrize(
    ("value", "unit", "percent", "fraction"),
    [("0.35", "fraction", "35", 0.35), ("0.3050", "fraction", "30.50", 0.305), ("100", "percent", "100", 1.0)],
)
def test_units(write, value, unit, percent, fraction):
    (figure,) = read_published(write(HEADER, f"p,,d,s,m,mIoU,{value},{unit},"))
    assert (figure.percent, figure.fraction) == (percent, fraction)


def test_columns_in_any_order_and_blank_lines(write):
    names = HEADER.split(",")[::-1]
    figures = read_published(write(",".join(names), "", ",percent,5,mIoU,m,s,d,t,p", ""))
    assert [(figure.method, figure.value, figure.line) for figure in figures] == [("m", 5, 3)]


def test_a_folder_is_read_by_name(write, tmp_path):
    write(HEADER, ROW.replace("CTRL", "B"), name="b.csv")
    write(HEADER, ROW.replace("CTRL", "A"), name="a.csv")
    write("no table", name="README.md")
    assert [figure.method for figure in read_published(tmp_path)] == ["A", "B"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("header", "came"),
        [
            ("", "none"),
            (HEADER.removesuffix(",note"), "source, table, dataset, split, method, measure, value, unit"),
            (HEADER + ",more", "source, table, dataset, split, method, measure, value, unit, note, more"),
            (HEADER.replace("note", "unit"), "source, table, dataset, split, method, measure, value, unit, unit"),
        ],
    )
    def test_headings(self, write, header, came):
        path = write(header, ROW)
        with pytest.raises(InputError) as caught:
            read_published(path)
        wanted = ", ".join(HEADER.split(","))
        assert str(caught.value) == f"{path}:1: got headings {came}, expected {wanted}"

    @pytest.mark.parametrize(
        ("row", "said"),
        [
            ("a,b,c", "got 3 values, expected 9 as in the headings"),
            (ROW + ",x", "got 10 values, expected 9 as in the headings"),
            (ROW.replace("30.70", "-"), "field value: got '-', expected a number"),
            (ROW.replace("30.70", "nan"), "field value: got 'nan', expected a number"),
            (ROW.replace("30.70", "1_0"), "field value: got '1_0', expected a number"),
            (ROW.replace("30.70", "1e999999999"), "field value: got '1e999999999', expected a number"),
            (ROW.replace("30.70", "0e-99999"), "field value: got '0e-99999', expected a number"),
            (ROW.replace("30.70", f"0e{10**20}"), f"field value: got '0e{10**20}', expected a number"),
            (ROW.replace("paper", ""), "field source: is empty, expected text"),
            (ROW.replace('"R@1,IoU=0.5"', ""), "field measure: is empty, expected text"),
            (ROW.replace("percent", ""), "field unit: is empty, expected text"),
        ],
    )
    def test_rows(self, write, row, said):
        path = write(HEADER, ROW, row)
        with pytest.raises(InputError) as caught:
            read_published(path)
        assert str(caught.value) == f"{path}:3: {said}"

    def test_no_csv_at_all(self, write, tmp_path):
        path = write(HEADER, 'p,"')
        with pytest.raises(InputError, match=r":2: .*expected CSV"):
            read_published(path)
        path.unlink()
        with pytest.raises(MissingFileError, match=r"p\.csv: no such file"):
            read_published(path)
        with pytest.raises(InputError, match=r"contains no \.csv file, expected published figures"):
            read_published(tmp_path)


class TestBeside:
    @pytest.fixture
    def scores(self, made_scores):
        scores = made_scores(["v"], [[1], [1]], measures="R@1,IoU=0.5; mIoU")
        return dataclasses.replace(scores, dataset="charades-cd", split="test-ood")

    def beside(self, write, scores, *rows):
        found = published_beside(read_published(write(HEADER, *rows)), scores)
        return [(row, str(figure.value)) for row, figure in found]

    def test_dataset_split_and_measure_decide(self, write, scores):
        rows = [
            'p,T,Charades-CD,test-ood,m,"R@1,IoU=0.5",1,percent,',
            'p,T,charades cd,TEST-OOD,m,"R@1,IoU=0.50",2,percent,',  # written otherwise, the same
            "p,T,Charades-CD,test-ood,m,mIoU,0.3,fraction,",
            'p,T,Charades-CD,test-iid,m,"R@1,IoU=0.5",4,percent,',
            'p,T,Charades-STA,test-ood,m,"R@1,IoU=0.5",5,percent,',
            'p,T,Charades-CD,test-ood,m,"R@1,IoU=0.7",6,percent,',
            'p,T,Charades-CD,test-ood,m,"R@1,IoU=0.5 gain",7,percent,',
            'p,T,Charades-CD,test-ood,m,"R@1,IoU=0.5",8,percent points,',
            "p,T,Charades-CD,test-ood,,videos,900,count,",
        ]
        assert self.beside(write, scores, *rows) == [(0, "1"), (0, "2"), (1, "0.3")]

    @pytest.mark.parametrize(("value", "unit", "expected"), [("101", "percent", "100"), ("46.8", "fraction", "1")])
    def test_no_share(self, write, scores, value, unit, expected):
        with pytest.raises(InputError) as caught:
            self.beside(write, scores, f"p,T,Charades-CD,test-ood,m,mIoU,{value},{unit},")
        assert str(caught.value).endswith(f":2: field value: got {value} {unit}, expected 0 to {expected}")

    @pytest.mark.data
    def test_the_papers(self, made_scores, data_dir):
        folder = Path(data_dir).parent / "published"
        if not folder.is_dir():
            pytest.skip(f"no published figures at {folder}")
        thresholds = ("0.1", "0.3", "0.5", "0.7", "0.9")
        scores = made_scores(["v"], [[1]] * 5, measures="; ".join(f"dR@1,IoU={m}" for m in thresholds))
        scores = dataclasses.replace(scores, dataset="charades-cd", split="test-ood")
        figures = [figure for file in sorted(folder.glob("[!s]*.csv")) for figure in read_published(file)]
        found = published_beside(figures, scores)
        table = [figure for _, figure in found if (figure.source, figure.table) == ("closer_look_2021", "Table 2")]
        # Closer Look 2021, Table 2: ten methods at five thresholds; PredictAll at 0.5 on Charades-CD test-ood is 0.06.
        assert len(table) == 50
        assert len({figure.method for figure in table}) == 10
        (printed,) = (f.percent for f in table if (f.method, f.measure) == ("PredictAll", "dR@1,IoU=0.5"))
        assert printed == "0.06"
