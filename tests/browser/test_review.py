"""The page of a review: a person answers, marks times while a track plays, and saves a file that can be read."""

import wave

import msgspec
import pytest

from truemoment.collection.review_answers import ReviewAnswer
from truemoment.collection.review_page import review_page
from truemoment.collection.review_sample import ReviewSample, SampledSentence

pytestmark = pytest.mark.slow

SENTENCES = (
    SampledSentence("film#0", "film", "A <b>door</b> opens.", (10.0, 12.0), 1.0, -3.0),
    SampledSentence("film#1", "film", "Rain falls.", (15.0, 18.0), None, None),
)


@pytest.fixture
def page(chromium, tmp_path):
    """The page, opened from a file."""
    path = tmp_path / "review.html"
    path.write_text(review_page(ReviewSample(SENTENCES, 400, 8, 0, 2, ()), "Review"))
    opened = chromium.new_page()
    opened.faults = []
    opened.on("pageerror", lambda error: opened.faults.append(str(error)))
    opened.on("console", lambda said: opened.faults.append(said.text) if said.type == "error" else None)
    opened.goto(path.as_uri())
    yield opened
    assert opened.faults == []
    opened.close()


def test_a_person_reviews_and_saves(page, tmp_path):
    with wave.open(str(tmp_path / "track.wav"), "wb") as sound:
        sound.setparams((1, 1, 8000, 0, "NONE", ""))
        sound.writeframes(b"\x80" * 8000 * 40)
    first, second = page.locator("article").all()
    assert first.locator("h3").inner_text() == "A <b>door</b> opens."
    first.get_by_label("description").check()
    first.get_by_label("right").check()
    page.locator(".open-track").set_input_files(tmp_path / "track.wav")
    while page.evaluate("document.querySelector('.track-player').readyState") < 2:
        page.wait_for_timeout(20)  # the page's policy forbids what wait_for_function needs
    page.evaluate("document.querySelector('.track-player').currentTime = 13.25")
    first.locator("button[data-mark=said][data-end='0']").click()
    first.locator("input[data-time=said][data-end='1']").fill("12.5")
    first.get_by_label("the picture does not show it").check()
    assert second.locator("button[data-play=track]").is_disabled()  # no part of the track is there
    assert page.locator("#state").inner_text() == "1 of 2 answered"

    page.locator("#save").click()
    assert page.locator("#state").inner_text() == "Write your name first."
    page.locator("#reviewer").fill("Ann")
    with page.expect_download() as saved:
        page.locator("#save").click()
    lines = saved.value.path().read_bytes().splitlines()
    (answer,) = [msgspec.json.decode(line, type=ReviewAnswer) for line in lines]
    # film time = rate x track time + delay: 13.25 s of the track are 10.25 s of the film
    assert answer == ReviewAnswer(
        id="film#0", film_s=(10, 12), reviewer="Ann", kind="description", words="right", said_s=(10.25, 12.5),
        not_seen=True,
    )  # fmt: skip


def test_impossible_times_are_not_saved(page):
    first = page.locator("article").first
    first.get_by_label("dialogue").check()
    first.get_by_label("slightly wrong").check()
    first.locator("input[data-time=seen][data-end='0']").fill("12")
    page.locator("#reviewer").fill("Ann")
    page.locator("#save").click()
    assert page.locator("#state").inner_text() == "A time is missing, or an end is before its start."


def test_the_page_breaks_no_rule_of_accessibility(page, axe):
    assert axe(page) == []
