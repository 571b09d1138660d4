"""truemoment meta theory: figures of measures under noise, without any systems."""

import json

import pytest


def test_the_finding_is_told(call):
    """0.5 and 0.1 squared: appendix C of the AxIoU paper, at r = theta = 0.5."""
    status, out, err = call("meta", "theory", "--draws", 100)
    assert (status, err) == (0, "")
    assert "0.500 for R@1,IoU=0.5 and 0.0100 for AxIoU@1" in " ".join(out.split())


def test_json_to_standard_output_is_all_there_is(call):
    words = ("--iou", 0.6, "--noise", "0.02, 0.3", "--ious", "0.6 0.2", "--length", 0.5, "--draws", 100, "--seed", 4)
    status, out, _ = call("meta", "theory", *words, "--json", "-")
    document = json.loads(out)
    study = document["studies"]["theory"]
    assert (status, document["seed"]) == (0, 4)
    assert (study["iou"], study["noise"], study["draws"]) == (0.6, [0.02, 0.3], 100)
    assert study["lists"]["ious"] == [0.6, 0.2]
    assert study["discounted_recall@1"]["length_norm"] == 0.5


def test_the_seed_decides_the_simulation(call):
    def simulated(seed):
        _, out, _ = call("meta", "theory", "--draws", 50, "--seed", seed, "--json", "-")
        return json.loads(out)["studies"]["theory"]["axiou@1"]["simulated"]["bias"]

    assert simulated(1) == simulated(1) != simulated(2)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--iou", 1.2), "got an IoU of 1.2, expected 0 to 1"),
        (("--noise", "0.1 a lot"), "--noise: got 'a', expected numbers separated by blanks"),
        (("--noise", ""), "got no noise, expected standard deviations from 1e-06 to 10"),
        (("--ious", "0.1", "--ranks", 2), "got --ranks and --ious, expected one of them"),
        (("--length", 0), "got a length of 0 of the video, expected above 0, up to 1"),
        (("--draws", 1_000_000, "--ranks", 11), "got 1000000 draws of 11 answers"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_one_line(fails, words, problem):
    assert problem in fails(2, "meta", "theory", *words)
