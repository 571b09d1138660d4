"""``truemoment browse`` in a real browser: filters, keys, lanes, notes, links that restore the view."""

import contextlib
import json

import numpy as np
import pytest

pytest.importorskip("starlette")

from truemoment import Annotations, Predictions
from truemoment.base.boundary.text import printable_lines
from truemoment.web.browsing.looking import look_at
from truemoment.web.browsing.looking_routes import Commands
from truemoment.web.browsing.looking_site import open_looking

from ..thorough import quick_are

pytestmark = pytest.mark.slow

HOSTILE = ("<script>document.title = 'stolen'</script> & a <b>door</b>", "الباب يفتح ببطء", "she " + "walks and " * 60)


def world(n_queries=24):
    """Queries on the three painted videos, of 40, 40 and 60 s; two methods."""
    rows, ours, theirs = [], {}, {}
    for number in range(n_queries):
        video, duration = (("a", 40.0), ("b", 40.0), ("c", 60.0))[number % 3]
        start = float(2 + number % 20)
        sentence = HOSTILE[number] if number < len(HOSTILE) else f"a person opens door {number}"
        people = ("w1", "w2") if number % 4 == 0 else ("",)
        rows += [(f"q{number}", video, duration, sentence, start, start + 6.0 + k, who) for k, who in enumerate(people)]
        ours[f"q{number}"] = (
            [(start, start + 5.5, 0.9)]
            if number % 2
            else [(30.0, 39.0, 0.8), (start, start + 6.0, 0.2), (29.0, 30.5, 0.1), (31.0, 32.0, 0.1)]
        )
        theirs[f"q{number}"] = [(start + 0.5, start + 6.0, 0.7)] if number % 3 else [(0.0, 40.0, 0.7)]
    return Annotations.from_rows(rows), Predictions.from_lists(ours), Predictions.from_lists(theirs)


class Served:
    """A page of answers that is being served."""

    def __init__(self, base, server, watch, browser):
        self.base, self.server, self.watch, self.browser = base, server, watch, browser

    def page(self, path="/queries", context=None, **settings):
        size = settings.pop("viewport", {"width": 1400, "height": 1000})
        page = self.watch.add((context or self.browser.new_context(viewport=size, **settings)).new_page())
        page.goto(f"{self.base}/in#{self.server.tokens.owner}")
        page.wait_for_url("**/queries")
        if path != "/queries":
            page.goto(self.base + path)
        return page


@pytest.fixture
def served(tmp_path, films, chromium, serve_in_thread, watch):
    """Serve answers: served(with_videos=True, looked=None) -> Served; afterwards no page has broken a rule."""
    with contextlib.ExitStack() as stack:
        made = []

        def make(*, with_videos=True, looked=None):
            if looked is None:
                annotations, ours, theirs = world()
                looked = look_at([("ours", ours), ("theirs", theirs)], annotations, floors="none")
            settings = {"cache": tmp_path / "cache", "notes": tmp_path / "notes.jsonl"}
            commands = Commands(("truemoment", "browse", "ours.jsonl"), ("--annotations", "a.jsonl"), ())
            videos = films if with_videos else None
            server = stack.enter_context(open_looking(looked, commands=commands, videos=videos, **settings))
            base = stack.enter_context(serve_in_thread(server.app))
            made.append(Served(base, server, watch(base), chromium))
            return made[-1]

        yield make
        for context in chromium.contexts:
            context.close()
        for one in made:
            assert one.watch.foreign == []
            assert one.watch.errors == []


def listed(page, count=None):
    """Wait for the list, and return the ids of its queries."""
    page.wait_for_selector(".query, #none:not([hidden])")
    if count is not None:
        page.wait_for_function(f"() => document.querySelectorAll('.query').length === {count}")
    return page.locator(".query .id").all_text_contents()


def test_filters_by_keys_and_a_link_restores_them(served):
    one = served()
    page = one.page()
    assert len(listed(page)) == 24
    page.keyboard.press("5")  # wrong place
    wrong = listed(page, int(page.locator("#kinds button").nth(4).inner_text().split()[-1]))
    assert 0 < len(wrong) < 24
    assert "kind=wrong+place" in page.url
    page.select_option("#differ", "0:1")
    page.wait_for_function("() => location.search.includes('right=1')")
    page.wait_for_timeout(400)
    differ = listed(page)
    assert 0 < len(differ) <= len(wrong)
    page.fill("#words", "door")
    page.wait_for_function("() => location.search.includes('words=door')")
    page.select_option("#sort", "offset")
    page.check("#falling")
    page.wait_for_function("() => location.search.includes('sort=-offset')")
    page.wait_for_timeout(400)
    order, address = listed(page), page.url
    other = one.page(address.removeprefix(one.base))
    assert listed(other, len(order)) == order
    assert other.input_value("#words") == "door"
    assert other.is_checked("#falling")
    assert other.locator("#kinds button[aria-pressed=true]").count() == 1
    other.click("#clear")
    assert len(listed(other, 24)) == 24


def test_from_query_to_query_by_keys(served):
    page = served().page()
    ids = listed(page)
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/query/**")
    page.wait_for_function(f"() => document.getElementById('about').textContent.startsWith('{ids[1]} ')")
    page.wait_for_function("() => document.getElementById('position').textContent === '2 of 24'")
    page.keyboard.press("j")
    page.wait_for_function("() => document.getElementById('position')?.textContent === '3 of 24'")
    page.keyboard.press("k")
    page.wait_for_function("() => document.getElementById('position')?.textContent === '2 of 24'")
    page.wait_for_function("() => document.getElementById('place').textContent.includes('frame')")
    page.keyboard.press("r")
    page.wait_for_function("() => !document.getElementById('video').paused")
    page.keyboard.press("Space")
    page.keyboard.press("1")
    page.wait_for_function("() => !document.getElementById('video').paused")
    assert page.evaluate("[...document.querySelectorAll('video')].filter((of) => of.getAttribute('src')).length") == 1
    page.click("#back-to-list")
    assert listed(page, 24) == ids


def test_lanes_show_references_people_answers_and_lead_the_video(served):
    page = served().page("/query/4")
    page.wait_for_selector(".lane-row .answer")
    names = page.locator(".lane-row .name").all_text_contents()
    assert names[:5] == ["Reference", "w1", "w2", "ours", "theirs"]
    labels = page.locator(".lane-row button").evaluate_all("(all) => all.map((of) => of.getAttribute('aria-label'))")
    assert "ours, answer 1, score 0.800, IoU 0.00, 0:30.00 to 0:39.00" in labels
    assert any(label.startswith("ours, answer 2") for label in labels)
    assert "hidden: hit at rank 2" in page.inner_text("#facts")
    page.wait_for_function("() => document.getElementById('place').textContent.includes('frame')")
    page.get_by_role("button", name="ours, answer 1").click()
    page.wait_for_function("() => document.getElementById('place').textContent.startsWith('0:3')")


@pytest.mark.thorough  # tests/browsing/test_looking.py has the answers of the server
def test_notes_survive_tabs_and_reload(served, tmp_path):
    one = served()
    page = one.page("/query/4")
    other = one.page("/query/4", context=page.context)
    for tab in (page, other):
        tab.wait_for_selector(".lane-row .answer")
    page.keyboard.press("n")
    page.keyboard.type("two doors")
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.getElementById('saved').textContent === 'Saved'")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("a")
    page.wait_for_function("() => document.getElementById('mark').getAttribute('aria-pressed') === 'true'")
    page.wait_for_timeout(500)
    other.fill("#note", "mine")
    other.keyboard.press("Tab")
    other.wait_for_function("() => document.getElementById('saved').textContent.includes('another tab')")
    assert other.input_value("#note") == "two doors\nmine"
    other.fill("#note", "two doors, mine")
    other.keyboard.press("Tab")
    other.wait_for_function("() => document.getElementById('saved').textContent === 'Saved'")
    lines = [json.loads(line) for line in (tmp_path / "notes.jsonl").read_text().splitlines()]
    assert [(of["query_id"], of["note"], of["tags"]) for of in lines] == [("q4", "two doors, mine", ["mark-anew"])]
    page.reload()
    page.wait_for_selector(".lane-row .answer")
    assert page.input_value("#note") == "two doors, mine"
    assert page.get_attribute("#mark", "aria-pressed") == "true"
    page.goto(f"{one.base}/queries?noted=1")
    assert listed(page, 1) == ["q4"]
    assert page.locator(".tag").all_text_contents() == ["mark-anew"]


def test_without_videos_lanes_and_notes_work(served):
    page = served(with_videos=False).page("/query/5")
    page.wait_for_selector(".lane-row .answer")
    assert "--videos" in page.inner_text("#no-video")
    assert not page.is_visible("#player")
    page.keyboard.press("a")
    page.wait_for_function("() => document.getElementById('saved').textContent === 'Saved'")


@pytest.mark.thorough
def test_ten_thousand_queries_in_pages_of_a_hundred(served):
    rng = np.random.default_rng(0)
    starts = rng.uniform(0, 50, 10_000)
    rows = [(f"q{k}", f"v{k % 900}", 60.0, f"a person opens door {k}", s, s + 5) for k, s in enumerate(starts.tolist())]
    ours = {f"q{k}": [(s, s + 5.0)] for k, s in enumerate(rng.uniform(0, 50, 10_000).tolist())}
    looked = look_at([("ours", Predictions.from_lists(ours))], Annotations.from_rows(rows), floors="none")
    page = served(with_videos=False, looked=looked).page()
    first = listed(page)
    assert len(first) == 100
    page.keyboard.press("End")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(400)
    assert page.inner_text("#count") == "301–400 of 10,000"
    assert page.locator(".query").count() == 100
    assert "offset=300" in page.url
    page.fill("#words", "door 777")
    page.wait_for_function(
        "() => document.getElementById('count').textContent.includes('of 19')"
    )  # 777, 1777 to 9777, 7770 to 7779


@pytest.mark.thorough
def test_six_tabs_and_hostile_sentences(served):
    one = served()
    context = one.browser.new_context(viewport={"width": 1400, "height": 1000})
    tabs = [one.page(f"/query/{number}", context=context) for number in range(7)]
    for tab in tabs:
        tab.wait_for_selector(".lane-row .answer")
        tab.wait_for_function("() => document.getElementById('place').textContent.includes('frame')")
    assert tabs[0].title() != "stolen"
    assert "<script>" in tabs[0].inner_text("#sentence")


def test_the_pages_write_what_hides_as_the_commands_do(served):
    """All characters but ideographs, and one in 257 of the planes that have little else: 150,000 of 1,100,000."""
    page = served().page()
    codes = (*range(0x3000), *range(0xD7F0, 0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE1000))
    chars = [chr(code) for code in (*codes, *range(0x20000, 0x110000, 257), 0x10FFFF)]
    texts = [*chars, "a\u200db", "\u0645\u200c\u0646", "\U0001f468\u200d\U0001f469", "\u200d", "e\u200d\u0646"]
    made = page.evaluate(
        "async (texts) => JSON.parse(texts).map((await import('/static/page.js')).printable).join('\\n')",
        json.dumps(texts),  # one value is passed on, which is quicker than 150,000
    )
    assert made == "\n".join(map(printable_lines, texts))


@pytest.mark.thorough
def test_marks_of_direction_turn_nothing_around_them(served):
    """A right-to-left override in an id or a name would turn what is behind it on the line."""
    query = "\u202eq0"
    answers = Predictions.from_lists({query: [(1.0, 2.0, 0.9)]})
    annotations = Annotations.from_rows([(query, "a", 40.0, "a \u2066person", 1.0, 2.0, "")])
    one = served(looked=look_at([("\u202eours", answers), ("theirs", answers)], annotations, floors="none"))
    page = one.page()
    assert listed(page) == ["\\u202eq0"]
    assert "\\u202eours 100" in page.inner_text("#figures")
    assert "\u202e" not in page.inner_text("body")
    page.goto(f"{one.base}/query/0")
    page.wait_for_selector(".lane-row .answer")
    assert "\u202e" not in page.evaluate("document.title + document.body.outerHTML")
    assert page.inner_text("#about").startswith("\\u202eq0 · a · ")
    assert page.inner_text("#sentence") == "a \\u2066person"


@pytest.mark.parametrize("scheme", quick_are(["light"], ["light", "dark"]))
def test_rules_of_accessibility(served, axe, scheme):
    one = served()
    page = one.page(color_scheme=scheme)
    listed(page)
    page.click("#ranges summary")
    page.click(".legend summary")
    page.click(".commands summary")
    assert axe(page) == []
    page.goto(f"{one.base}/query/4")
    page.wait_for_selector(".lane-row .answer")
    page.wait_for_function("() => document.getElementById('place').textContent.includes('frame')")
    page.set_viewport_size({"width": 400, "height": 800})
    assert axe(page) == []  # answers that lie over each other are large enough for a finger
    page.keyboard.press("?")
    assert axe(page) == []


def test_on_a_phone(served):
    """Names of methods are longer than the screen is wide."""
    annotations, ours, theirs = world()
    names = ("a-method-with-a-long-name-pretrained-seed0", "another-method-with-a-long-name-pretrained-seed0")
    looked = look_at(list(zip(names, (ours, theirs), strict=True)), annotations, floors="none")
    one = served(looked=looked)
    page = one.page(viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True)
    listed(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator(".query").first.tap()
    page.wait_for_url("**/query/**")
    page.wait_for_selector(".lane-row .answer")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator(".lane-row button").first.tap()
    page.wait_for_function("() => document.getElementById('place').textContent.includes('frame')")
