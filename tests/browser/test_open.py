"""``truemoment open`` in a real browser: from the folder to an audit, its confident and wrong answers, and back."""

import contextlib

import pytest

from truemoment.base.boundary.caching import Cache
from truemoment.data.datasets.source import AnnotationSource
from truemoment.web.opening.folder_site import open_folder

from ..opening.conftest import N_QUERIES, light_studies, write_annotations, write_predictions
from ..thorough import quick_are
from .conftest import WAIT_MS
from .steps import Person

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=stolen()> \u202eلعب.jsonl"


@pytest.fixture
def results(tmp_path, empty_pictures):
    """A folder of annotations and predictions, whose studies are light."""
    folder = tmp_path / "results"
    folder.mkdir()
    write_annotations(folder / "mine.jsonl")
    write_predictions(folder / "ours.jsonl")
    for name in (HOSTILE, "a.jsonl", "b.jsonl", "c.jsonl"):
        write_predictions(folder / name, shift=1)
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


def look_copy_and_share(page, chromium, tasks, sent_path):
    """Do the tasks on the page of an audit, and return its frame."""
    person = Person(page)
    page.wait_for_url("**/item/**")
    shown = page.frame_locator("iframe.shown")
    for reason in (shown.locator("#verdict"), shown.locator(".figures"), shown.locator("#figure-floors tbody").last):
        reason.wait_for()
        box = reason.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 900  # all of it without a scroll
    tasks["why the verdict is what it is"] = "0 screens", person.seconds
    assert "Audit of ours" in shown.locator("h1").inner_text()
    assert shown.get_by_role("button", name="Copy this command").count() == 0

    person = Person(page)
    person.click(shown.locator(".first-look").get_by_role("button", name="LaTeX"))
    shown.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith(r"\begin{tabular}")
    tasks["the table of an audit as LaTeX"] = f"{person.clicks} click", person.seconds

    person = Person(page)
    with page.expect_download() as saved:
        person.click(shown.get_by_role("button", name="Save this page"))
    saved.value.save_as(sent_path)
    with chromium.new_context(offline=True) as elsewhere:
        sent = elsewhere.new_page()
        sent.goto(sent_path.as_uri())
        assert sent.locator("#verdict").is_visible()
    assert str(sent_path.parent) not in sent_path.read_text(encoding="utf-8")
    tasks["share an audit"] = f"1 file, {person.clicks} click", person.seconds
    return shown


def test_tasks_from_an_audit_to_what_it_shows_and_back(served, chromium, tasks, tmp_path):
    page = served(permissions=["clipboard-read", "clipboard-write"], viewport={"width": 1400, "height": 900})
    page.keyboard.press("/")
    page.keyboard.type("ours.jsonl")
    page.wait_for_function("() => document.querySelectorAll('.card').length === 1")
    page.get_by_role("button", name="audit ours.jsonl").press("Enter")
    page.wait_for_selector("#begin:not([disabled])")
    page.keyboard.press("Enter")  # the button to start has the focus
    page.get_by_role("link", name="open: Audit of ours").click(timeout=3 * WAIT_MS)
    shown = look_copy_and_share(page, chromium, tasks, tmp_path / "sent.html")
    person = Person(page)
    person.click(shown.get_by_role("link", name="Confident and wrong"))
    page.wait_for_selector(".query")
    ids = page.locator(".query .id").all_text_contents()
    assert all(page.locator(".query").nth(k).bounding_box()["y"] < 900 for k in range(3))
    assert person.clicks <= 2
    tasks["three queries that a model answers confidently and wrong, from its audit"] = (
        f"{person.clicks} click",
        person.seconds,
    )
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
def test_a_comparison_rules_of_accessibility_and_a_phone(served, axe, scheme, tasks):
    page = served(color_scheme=scheme, viewport={"width": 360, "height": 640})
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    person = Person(page)
    person.click(page.locator("#compare"))
    page.wait_for_selector("#begin:not([disabled])")
    assert page.locator("#method-list input:checked").count() == 5
    person.click(page.locator("#begin"))
    comparison = page.get_by_role("link", name="open: Comparison")
    comparison.wait_for(timeout=3 * WAIT_MS)
    tasks["compare five models"] = f"{person.clicks} clicks", person.seconds
    assert person.clicks == 2
    comparison.click()
    page.wait_for_selector("iframe.shown")
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.click("#confident")
    page.wait_for_selector(".query")
    assert axe(page) == []
    assert page.locator(".query").first.bounding_box()["y"] < 500  # the first screen shows a query
    assert "\u202e" not in page.inner_text("body")
