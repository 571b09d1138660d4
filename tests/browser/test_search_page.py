"""``truemoment search page`` in a real browser: search, play, keep and export by keys, mouse and touch."""

import contextlib
import csv
import json
import shutil

import pytest

pytest.importorskip("starlette")

from truemoment.searching.encoder_options import EncoderOptions
from truemoment.searching.index import Index
from truemoment.searching.speech import index_speech, write_passages
from truemoment.searching.writing import VideoFile
from truemoment.web.browsing.search_site import open_search

from ..thorough import quick_are
from .steps import Person

pytestmark = pytest.mark.slow


class ColourOptions(EncoderOptions):
    """The model of the tests: mean colours."""

    def encoder_of(self, index):
        del index
        import colours_of_tests

        if self.model == "broken":
            from truemoment.base.errors import UsageError

            raise UsageError("no such model")
        return colours_of_tests.Colours()


class Served:
    """A search page that is being served."""

    def __init__(self, base, server, watch, browser):
        self.base, self.server, self.watch, self.browser = base, server, watch, browser
        self.media = []

    def page(self, context=None, path="/", token=None, **settings):
        size = settings.pop("viewport", {"width": 1400, "height": 1000})
        page = self.watch.add((context or self.browser.new_context(viewport=size, **settings)).new_page())
        page.on("request", lambda request: "/media/" in request.url and self.media.append(request.url))
        page.goto(f"{self.base}/in#{token or self.server.tokens.owner}")
        page.wait_for_url(lambda url: "/in" not in url)
        if path != "/":
            page.goto(self.base + path)
        return page

    def searched(self, sentence="red", **settings):
        page = self.page(**settings)
        page.fill("#q", sentence)
        page.keyboard.press("Enter")
        found(page)
        return page


@pytest.fixture
def served(tmp_path, copy_index, chromium, serve_in_thread, watch):
    """Serve the index of three videos: served(model=None) -> Served; afterwards no page has broken a rule."""
    folder = copy_index("videos.index")
    with contextlib.ExitStack() as stack:
        made = []

        def make(model=None, **options):
            settings = {"cache": tmp_path / "cache", "collections": tmp_path / "kept"} | options
            server = stack.enter_context(open_search(Index(folder), ColourOptions(model), **settings))
            base = stack.enter_context(serve_in_thread(server.app))
            made.append(Served(base, server, watch(base), chromium))
            return made[-1]

        yield make
        for context in chromium.contexts:
            context.close()
        for one in made:
            assert one.watch.foreign == []
            assert one.watch.errors == []


def found(page):
    page.wait_for_selector(".card img:not([hidden])", timeout=40_000)


def focused(page):
    """Return the number of the card that has the focus."""
    return page.evaluate("[...document.querySelectorAll('.card')].indexOf(document.activeElement)")


def sources(page):
    """Return how many videos of the page have a source."""
    return page.evaluate("[...document.querySelectorAll('video')].filter((of) => of.getAttribute('src')).length")


def playing(page):
    page.wait_for_function("() => !document.getElementById('video').paused", timeout=15_000)


def test_by_keys_alone(served, tmp_path):
    page = served().page()
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type("red")
    page.keyboard.press("Enter")
    found(page)
    assert "moments, the best in a at 20 seconds" in page.text_content("#live")
    assert focused(page) == 0
    order = page.locator(".card .line .name").all_text_contents()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert focused(page) == 1
    page.keyboard.press("s")
    page.wait_for_function("() => document.getElementById('kept-state').textContent.startsWith('Added to')")
    page.keyboard.press("Space")
    playing(page)
    assert sources(page) == 1
    page.keyboard.press("Space")
    page.wait_for_function("() => document.getElementById('video').paused")
    page.wait_for_timeout(500)  # pictures have come meanwhile
    assert page.locator(".card .line .name").all_text_contents() == order
    page.keyboard.press("Escape")
    assert sources(page) == 0
    page.reload()
    found(page)
    assert page.locator(".card.kept").count() == 1
    kept = (tmp_path / "kept" / "kept.jsonl").read_text().splitlines()
    assert [json.loads(line)["sentence"] for line in kept[1:]] == ["red"]
    page.locator(".card").nth(1).focus()
    page.keyboard.press("Control+z")  # after a reload there is nothing to undo
    assert page.locator(".card.kept").count() == 1
    page.keyboard.press("s")
    page.wait_for_function("() => document.querySelectorAll('.card.kept').length === 0")
    page.keyboard.press("Control+z")
    page.wait_for_function("() => document.querySelectorAll('.card.kept').length === 1")
    page.keyboard.press("m")
    page.wait_for_function("() => document.getElementById('state').textContent.startsWith('Like')")
    assert "like=" in page.url
    page.locator(".card").first.focus()
    page.keyboard.press("f")
    page.wait_for_function("() => document.getElementById('state').textContent.includes('1 video')")
    page.keyboard.press("?")
    assert page.is_visible("#keys-title")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"


@pytest.mark.thorough
def test_hover_shows_pictures_and_asks_for_no_media(served):
    one = served()
    page = one.searched()
    page.locator(".card .screen").nth(2).hover()
    page.wait_for_selector(".card img.sheet:not([hidden])")
    assert one.media == []
    page.mouse.move(5, 5)
    page.wait_for_function("() => !document.querySelectorAll('.card')[2].querySelector('img.sheet')")
    still = one.searched(reduced_motion="reduce")
    still.locator(".card .screen").nth(1).hover()
    still.wait_for_selector(".card img.sheet.still:not([hidden])")


@pytest.mark.thorough
def test_ten_moments_are_played_and_never_two_videos_have_a_source(served):
    page = served().searched()
    for number in range(10):
        page.locator(".card .screen").nth(number % page.locator(".card").count()).click()
        playing(page)
        assert sources(page) == 1
        assert page.locator(".card video").count() == 1
    page.keyboard.press("Escape")
    assert sources(page) == 0


@pytest.mark.thorough
def test_a_moment_stops_at_its_end_and_all_are_played_one_after_another(served):
    page = served().page()
    page.select_option("#top", "6")
    page.fill("#q", "red")
    page.keyboard.press("Enter")
    found(page)
    page.evaluate("document.getElementById('video').defaultPlaybackRate = 8")
    page.keyboard.press("p")
    page.wait_for_function("() => document.querySelectorAll('.card')[1].contains(document.getElementById('video'))")
    page.wait_for_function("() => document.querySelectorAll('.card')[2].contains(document.getElementById('video'))")
    page.keyboard.press("Escape")


def test_the_page_of_a_video(served):
    page = served().searched("red")
    page.keyboard.press("Enter")
    page.wait_for_url("**/film/0?**")
    page.wait_for_selector("#found li:nth-child(2)")
    page.wait_for_function("() => document.getElementById('ends').textContent.includes('score')")
    before = page.inner_text("#ends")
    assert before.startswith("0:20.00 – 0:28.00")
    for _ in range(5):
        page.keyboard.press("[")
    page.wait_for_function("() => document.getElementById('ends').textContent.includes('→')")
    assert page.inner_text("#ends").startswith("0:19.00 – 0:28.00")
    page.keyboard.press("Control+z")
    page.wait_for_function("() => document.getElementById('ends').textContent.startsWith('0:19.20')")
    handle = page.locator("#timeline .handle.last").first.bounding_box()
    page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + 20)
    page.mouse.down()
    page.mouse.move(handle["x"] - 60, handle["y"] + 20, steps=4)
    page.mouse.up()
    page.wait_for_function("() => !document.getElementById('ends').textContent.includes('0:28.00')")
    page.keyboard.press("s")
    page.wait_for_function("() => document.getElementById('keep').getAttribute('aria-pressed') === 'true'")
    strip = page.locator("#strip .strip")
    box = strip.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 5)
    page.wait_for_function("() => document.getElementById('place').textContent.startsWith('0:2')")
    page.keyboard.press("Shift+G")
    page.wait_for_timeout(300)
    assert "score" in strip.get_attribute("aria-valuetext")
    page.keyboard.press("Home")
    page.keyboard.press("g")
    page.wait_for_function("() => !document.getElementById('place').textContent.startsWith('0:00.00')")
    assert sources(page) == 1
    page.click("#back-to-list")
    found(page)
    assert page.input_value("#q") == "red"


def test_an_example_is_searched_by_touch_and_nonsense_stands_out_in_nothing(served, colours, monkeypatch):
    monkeypatch.setattr(colours.Colours, "vocabulary", frozenset(colours.WORDS), raising=False)
    monkeypatch.setattr("truemoment.web.browsing.searches.EXAMPLES", ("a fir", "red", "blue"))  # firs are unknown
    page = served().page(viewport={"width": 400, "height": 800}, has_touch=True)
    examples = page.locator("#examples button")
    examples.first.wait_for()
    assert examples.all_text_contents() == ["red", "blue"]
    examples.first.tap()
    found(page)
    assert page.input_value("#q") == "red"
    assert page.is_hidden("#examples")
    page.fill("#q", "zzzz qqqq")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.getElementById('notes').textContent.includes('zzzz')")
    assert page.inner_text("#nothing") == "Nothing stands out: the model knows no word of this sentence."
    assert page.locator("#nothing").bounding_box()["y"] < page.locator(".card").first.bounding_box()["y"]


def test_what_comes_next_and_filters_are_behind_more(served):
    page = served().page()
    page.fill("#q", "red")
    page.click("#more summary")
    page.locator("#more [name=then]").fill("green")
    page.locator("#more [name=file]").fill("c*")
    page.keyboard.press("Enter")
    found(page)
    assert ", then 0:00:4" in page.locator(".card .time").first.text_content()  # green begins at 42 s
    assert {name[-1] for name in page.locator(".card .line .name").all_text_contents()} == {"c"}
    page.reload()
    found(page)
    assert page.locator("#more [name=then]").input_value() == "green"
    page.locator("#more [name=date]").fill("May")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.getElementById('problem').textContent.startsWith(\"--date: got 'May'\")")


@pytest.mark.thorough
def test_strips_by_keys_lead_to_a_video(served):
    page = served().searched("red")
    page.wait_for_selector("#strips details")
    page.keyboard.press("g")
    page.wait_for_function("() => document.activeElement.classList.contains('strip')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/film/**")
    page.wait_for_function("() => document.getElementById('place').textContent.includes('frame')")


@pytest.mark.thorough  # tests/browsing/test_kept.py orders and joins collections without a browser
def test_collections_are_ordered_played_and_survive_two_tabs(served):
    one = served()
    page = one.searched("red")
    other = one.page(page.context)
    other.fill("#q", "blue")
    other.keyboard.press("Enter")
    found(other)
    for tab, number in ((page, 0), (other, 0), (page, 1)):  # the second and third write know an older revision
        tab.locator(".card").nth(number).focus()
        tab.keyboard.press("s")
        tab.wait_for_timeout(500)
    page.goto(f"{one.base}/collection/kept")
    page.wait_for_selector("#rows tr:nth-child(3)")
    names = page.locator("#rows tr td:nth-child(6)").all_text_contents()
    assert sorted(names) == ["blue", "red", "red"]
    page.locator("#rows tr").first.focus()
    page.keyboard.press("Alt+ArrowDown")
    page.wait_for_timeout(400)
    assert page.locator("#rows tr td:nth-child(6)").all_text_contents()[1] == names[0]
    page.keyboard.press("Control+z")
    page.wait_for_timeout(400)
    assert page.locator("#rows tr td:nth-child(6)").all_text_contents() == names
    page.locator("#rows input").first.fill("a note")
    page.keyboard.press("Tab")
    page.wait_for_timeout(400)
    page.reload()
    page.wait_for_selector("#rows tr:nth-child(3)")
    assert page.locator("#rows input").first.input_value() == "a note"
    page.locator("#rows tr").first.focus()
    page.keyboard.press("Space")
    playing(page)
    assert sources(page) == 1


def test_a_clip_is_found_played_and_saved(served, tmp_path, tasks):
    page = served().page()
    person = Person(page)
    page.keyboard.type("red")
    person.click(page.get_by_role("button", name="Search"))
    found(page)
    person.click(page.locator(".card .screen").first)
    playing(page)
    with page.expect_download() as saved:
        person.click(page.get_by_role("button", name="Save the clip of moment 1"))
    saved.value.save_as(tmp_path / "clip.mp4")
    assert saved.value.suggested_filename.startswith("01-a-")
    assert b"ftyp" in (tmp_path / "clip.mp4").read_bytes()[:12]
    assert person.clicks == 3
    tasks["find, play and save a clip"] = f"{person.clicks} clicks", person.seconds


@pytest.mark.thorough
def test_exports_are_saved_as_files(served, tmp_path):
    pytest.importorskip("opentimelineio")
    page = served().searched("red")
    for form, begins in (("otio", "{"), ("csv", "rank,"), ("predictions", '{"truemoment"')):
        page.keyboard.press("x")
        page.select_option("#export-format", form)
        with page.expect_download() as saved:
            page.click("#export-go")
        path = tmp_path / saved.value.suggested_filename
        saved.value.save_as(path)
        assert path.read_text().startswith(begins)
        if form == "csv":
            matches = [float(row["match"]) for row in csv.DictReader(path.read_text().splitlines())]
            assert all(0 <= match < 1 for match in matches)
        page.keyboard.press("Escape")
    page.keyboard.press("x")
    page.select_option("#export-format", "clips")
    page.click("#export-go")
    page.wait_for_selector("#export-file", timeout=60_000)
    with page.expect_download() as saved:
        page.click("#export-file")
    assert saved.value.suggested_filename == "moments.zip"


@pytest.mark.thorough
def test_like_a_picture_that_is_chosen_and_like_a_frame_that_is_dropped(served, tmp_path):
    images = pytest.importorskip("PIL.Image")
    images.new("RGB", (64, 48), (200, 30, 30)).save(tmp_path / "red.png")
    (tmp_path / "text.png").write_text("no picture")
    page = served().page()
    page.set_input_files("#picture-file", tmp_path / "text.png")
    page.wait_for_selector("#problem:not([hidden])", timeout=40_000)
    assert page.text_content("#problem").startswith("text.png: is no picture that can be read")
    page.set_input_files("#picture-file", tmp_path / "red.png")
    found(page)
    assert page.text_content("#state").startswith("Like red.png")
    label = page.locator(".card").first.get_attribute("aria-label")
    assert label.startswith("1, a, at 18 seconds, 10 s")  # as the command line: red, and a little grey
    assert page.evaluate("document.getElementById('picture-shown').naturalWidth") == 64
    assert not page.is_visible("#problem")
    page.reload()  # the server knows the picture, as long as it is among its last searches
    found(page)
    assert page.text_content("#picture-name") == "red.png"
    page.locator(".card").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/film/**")
    page.wait_for_function("() => document.getElementById('ends').textContent.includes('score')")
    assert page.text_content("#sentence") == "like a picture"
    page.click("#back-to-list")
    found(page)
    assert page.text_content("#state").startswith("Like red.png")
    page.evaluate("""() => {
      const data = new DataTransfer();
      data.setData("text/uri-list", document.querySelector(".card img").src);
      document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }""")
    page.wait_for_function("() => document.getElementById('state').textContent.startsWith('Like a 0:00:23')")
    assert not page.is_visible("#picture")
    page.fill("#q", "blue")
    page.keyboard.press("Enter")
    page.wait_for_function("() => !document.getElementById('state').textContent.startsWith('Like')")
    assert "q=blue" in page.url
    page.goto(f"{page.url.partition('/?')[0]}/film/0?t=24")
    page.wait_for_function("() => document.getElementById('place').textContent.includes('frame 120 ')", timeout=40_000)
    page.keyboard.press("m")  # no moment is marked: the frame that is shown
    page.wait_for_url("**/?like=0%3A24%3A24.2*")


@pytest.mark.thorough  # tests/browsing/test_search.py has the answers of the server
def test_a_model_that_cannot_be_loaded_and_a_video_that_is_gone(served, films):
    broken = served("broken")
    page = broken.page()
    page.wait_for_function("() => document.getElementById('state').textContent.includes('no such model')")
    page.fill("#q", "red")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problem:not([hidden])")
    page.goto(f"{broken.base}/?like=0:20:28")
    found(page)
    (films / "a.mp4").unlink()
    page.locator(".card[aria-label*=', a, at']").first.locator(".screen").click()
    page.wait_for_function("() => document.getElementById('problem').textContent.includes('gone')")
    assert sources(page) == 0


@pytest.mark.thorough
def test_with_six_tabs_open_the_seventh_works(served):
    one = served()
    context = one.browser.new_context(viewport={"width": 1400, "height": 1000})
    for _ in range(6):
        tab = one.page(context)
        tab.fill("#q", "red")
        tab.keyboard.press("Enter")
        found(tab)
        tab.keyboard.press("Space")
        playing(tab)
    seventh = one.page(context)
    seventh.fill("#q", "blue")
    seventh.keyboard.press("Enter")
    found(seventh)
    seventh.keyboard.press("Space")
    playing(seventh)


@pytest.mark.thorough
def test_words_that_are_not_known_are_named_above_the_pictures(served, axe, colours, monkeypatch):
    monkeypatch.setattr(colours.Colours, "vocabulary", frozenset(colours.WORDS), raising=False)
    page = served().searched("red fir", viewport={"width": 400, "height": 800})
    page.wait_for_selector("#notes p")
    assert page.inner_text("#notes") == 'The model colours does not know "fir"'
    assert "match" in page.locator(".card").first.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert axe(page) == []
    page.fill("#q", "red")
    page.press("#q", "Enter")
    page.wait_for_selector("#notes p", state="detached")


def test_what_is_said_can_be_chosen_where_the_index_has_speech(served, films, tmp_path):
    assert served().page().locator("#by-choice").is_hidden()
    (films / "a.srt").write_text("1\n00:00:24,000 --> 00:00:30,000\nNobody opens the red door.\n")
    index = Index(tmp_path / "videos.index")
    index_speech(index.path, [VideoFile("a", films / "a.mp4", index.about("a").identity)])
    write_passages(index)
    page = served().page()
    page.select_option("#by", "said")
    page.fill("#q", "doors and a door")
    page.keyboard.press("Enter")
    found(page)
    assert page.locator(".card .said").all_text_contents() == ["Said: “Nobody opens the red door.”"]
    assert page.locator("#strips-section").is_hidden()
    page.fill("#q", "zebra")
    page.keyboard.press("Enter")
    page.wait_for_selector("#nothing:not([hidden])")
    assert page.text_content("#nothing") == "No word of this sentence is said in the videos."


@pytest.mark.thorough  # tests/browsing/test_search.py has the answers of the server
def test_a_moment_has_its_rank_by_each_model(served, tmp_path):
    other = tmp_path / "videos.index" / "models" / "hues"
    shutil.copytree(tmp_path / "videos.index", other)
    settings = json.loads((other / "index.json").read_text())
    (other / "index.json").write_text(json.dumps(settings | {"encoder": "hues", "fingerprint": 16 * "4"}))
    page = served().searched()
    assert page.locator(".card .said").first.text_content() == "Seen (colours #1, hues #1)"
    widths = page.eval_on_selector_all(".bar-of-score span", "bars => bars.map((bar) => parseFloat(bar.style.width))")
    assert widths == sorted(widths, reverse=True)
    assert (widths[0], widths[-1] > 0) == (100, True)  # shares of the best score, which is one of ranks


@pytest.mark.parametrize("scheme", quick_are(["light"], ["light", "dark"]))
def test_rules_of_accessibility(served, axe, scheme):
    one = served()
    page = one.searched(color_scheme=scheme)
    page.wait_for_selector("#strips details")
    page.keyboard.press("s")
    page.wait_for_timeout(500)
    assert axe(page) == []
    page.keyboard.press("x")
    assert axe(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    page.wait_for_url("**/film/**")
    page.wait_for_selector("#found li")
    page.wait_for_timeout(500)
    assert axe(page) == []
    page.goto(f"{one.base}/collection/kept")
    page.wait_for_selector("#rows tr")
    assert axe(page) == []


def test_on_a_phone(served):
    page = served().searched(viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True)
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) <= 360
    page.evaluate("document.querySelectorAll('.card .name').forEach((of) => of.append('W'.repeat(200)))")
    times = [card.locator(".name + span").bounding_box() for card in page.locator(".card").all()]
    cards = [card.bounding_box() for card in page.locator(".card").all()]
    assert all(at["x"] + at["width"] <= of["x"] + of["width"] for at, of in zip(times, cards, strict=True))
    page.locator(".card .screen").first.tap()
    playing(page)
    page.locator(".card").first.get_by_role("button", name="open the video").tap()
    page.wait_for_url("**/film/**")
    page.wait_for_selector("#found li")
    assert page.evaluate(width) <= 360
    assert page.locator("#mark-in").bounding_box()["height"] >= 44
