"""truemoment meta axioms: needs no systems and no data."""

import json

import pytest

pytestmark = pytest.mark.slow


QUICK = ("--pairs", "60")


def test_it_says_which_axioms_hold(call):
    status, out, err = call("meta", "axioms", "--measures", "R@3,IoU=0.5; AxIoU@3", *QUICK)
    assert (status, err) == (0, "")
    # AxIoU paper, Properties 1, 2, 7 and 8.
    text = " ".join(out.split())
    redundant = "redundant predictions change nothing (INV)"
    assert f"AxIoU@3: {redundant}; every better prediction raises the figure (MON)." in text
    assert f"R@3,IoU=0.5: {redundant}; some better predictions do not raise the figure (MON)." in text
    assert max(map(len, out.splitlines())) <= 100


def test_the_usual_measures_are_those_of_the_paper_and_the_open_ones(call):
    status, out, _ = call("meta", "axioms", "--pairs", "2", "--full")
    assert status == 0
    for measure in ("R@5,IoU=0.5", "AxIoU@5", "AP@5,IoU=0.5", "DCG@5", "dR@1,IoU=0.5", "mIoU", "SetIoU", "mAP"):
        assert f"\n{measure} " in out


@pytest.mark.usefixtures("undrawn")
def test_json_figures_and_page(call, tmp_path):
    words = ("--measures", "R@3,IoU=0.5; SetIoU", "--references", "2", "--length", "3", "--protocol", "moment-detr")
    places = ("--figures", tmp_path / "figures", "--html", tmp_path / "axioms.html", "--json", "-")
    status, out, _ = call("meta", "axioms", *words, *QUICK, *places)
    assert status == 0
    document = json.loads(out)
    assert document["schema"] == "truemoment/meta/1"
    assert document["seed"] == 0
    study = document["studies"]["axioms"]
    assert study["references"] == 2
    assert study["protocol"].startswith("protocol:moment-detr|")
    assert [(one["measure"], one["axiom"]) for one in study["results"]] == [
        ("R@3,IoU=0.5", "INV"),
        ("R@3,IoU=0.5", "MON"),
        ("SetIoU", "INV"),
        ("SetIoU", "MON"),
    ]
    assert [rank["rank"] for rank in study["results"][3]["by_rank"]] == [1, 2, 3]
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "axioms-counterexamples.pdf",
        "axioms-counterexamples.png",
        "axioms-counterexamples.svg",
    ]
    page = (tmp_path / "axioms.html").read_text(encoding="utf-8")
    assert "MON-1 is broken by R@3,IoU=0.5" in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--measures", "mIoU; FalseAbstention"), "FalseAbstention is not a measure of ranked moments, and the axioms"),
        (("--measures", "mAP@3"), "'mAP@3': mAP takes no @3"),
        (("--protocol", "nothing"), "unknown protocol 'nothing', expected one of"),
    ],
)
def test_what_cannot_be_checked_is_refused_in_one_line(fails, words, message):
    assert fails(2, "meta", "axioms", *words, *QUICK).startswith(message)


@pytest.mark.parametrize("words", [("--pairs", "0"), ("--length", "101"), ("--references", "0")])
def test_numbers_out_of_range_are_refused(fails, words):
    assert words[0] in fails(2, "meta", "axioms", *words)
