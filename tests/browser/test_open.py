"""``truemoment open`` in a real browser: from the folder to an audit, its confident and wrong answers, and back."""

import contextlib

import pytest

from truemoment.base.boundary.caching import Cache
from truemoment.data.datasets.source import AnnotationSource
from truemoment.web.opening.folder_site import open_folder

from ..opening.conftest import N_QUERIES, light_studies, write_annotations, write_predictions
from ..thorough import quick_are

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=stolen()> \u202eلعب.jsonl"


@pytest.fixture
def results(tmp_path, empty_pictures):
    """A folder of annotations and predictions, whose studies are light."""
    folder = tmp_path / "results"
    folder.mkdir()
    write_annotations(folder / "mine.jsonl")
    write_predictions(folder / "ours.jsonl")
    write_predictions(folder / HOSTILE, shift=1)
    with light_studies(empty_pictures):
        yield folder


@pytest.fixture
def served(results, chromium, serve_in_thread, watch):
    """Serve a folder: served() -> a page of it."""
    with contextlib.ExitStack() as stack:
        cache = Cache(results.parent / "cache")
        server = stack.enter_context(open_folder(results, AnnotationSource(), cache=cache))
        base = stack.enter_context(serve_in_thread(server.app))
        seen = watch(base)

        def page(**settings):
            size = settings.pop("viewport", {"width": 1400, "height": 1000})
            made = seen.add(chromium.new_context(viewport=size, **settings).new_page())
            made.goto(f"{base}/in#{server.tokens.owner}")
            made.wait_for_selector(".card")
            return made

        yield page
        for context in chromium.contexts:
            context.close()
        assert seen.foreign == []
        assert seen.errors == []


def test_from_an_audit_to_confident_and_wrong_answers_and_back(served):
    page = served()
    page.keyboard.press("/")
    page.keyboard.type("ours.jsonl")
    page.wait_for_function("() => document.querySelectorAll('.card').length === 1")
    page.get_by_role("button", name="audit ours.jsonl").press("Enter")
    page.wait_for_selector("#begin:not([disabled])")
    page.keyboard.press("Enter")  # the button to start has the focus
    page.get_by_role("link", name="open: Audit of ours").click()
    page.wait_for_url("**/item/**")
    shown = page.frame_locator("iframe.shown")
    assert "Audit of ours" in shown.locator("h1").inner_text()
    assert shown.get_by_role("button", name="Copy this command").count() == 0
    shown.get_by_role("link", name="Confident and wrong").click()  # one click from the audit to the queries
    page.wait_for_selector(".query")
    ids = page.locator(".query .id").all_text_contents()
    assert ids == [f"q{k}" for k in range(N_QUERIES - 1, 0, -2)]  # odd ones are wrong, with the score k / 100
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector(".lane-row .answer")
    page.click("#back-to-list")
    page.wait_for_selector(".query")
    assert page.locator(".query .id").all_text_contents() == ids
    assert page.get_attribute("#confident", "aria-pressed") == "true"
    page.click("#confident")
    page.wait_for_function(f"() => document.querySelectorAll('.query').length === {N_QUERIES}")
    page.get_by_role("link", name="audit").click()
    page.wait_for_url("**/item/**")
    page.get_by_role("link", name="results").click()
    page.wait_for_selector(".card")


@pytest.mark.parametrize("scheme", quick_are(["light"], ["light", "dark"]))
def test_rules_of_accessibility_and_a_phone(served, axe, scheme):
    page = served(color_scheme=scheme, viewport={"width": 360, "height": 640})
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.click("#compare")
    page.wait_for_selector("#begin:not([disabled])")
    assert axe(page) == []
    page.click("#begin")
    page.get_by_role("link", name="open: Comparison").click()
    page.wait_for_selector("iframe.shown")
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.click("#confident")
    page.wait_for_selector(".query")
    assert axe(page) == []
    assert page.locator(".query").first.bounding_box()["y"] < 500  # the first screen shows a query
    assert "\u202e" not in page.inner_text("body")
