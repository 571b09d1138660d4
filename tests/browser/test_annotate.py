"""``truemoment annotate`` in a real browser: marking by keys, mouse and touch; exact frames; and nothing is lost."""

import contextlib
import json
import time

import numpy as np
import pytest

from truemoment.web.annotating.people import OWNER

from ..thorough import quick_are
from .conftest import FILES, N_FRAMES
from .steps import Person, at_frame, number_of, press, ready, saved

pytestmark = pytest.mark.slow

SENTENCES = (
    "<script>document.title = 'stolen'</script> & a <b>door</b> opens",
    "الباب يفتح ببطء ثم يغلق",
    "she " + "walks and " * 250,
    "a person pours water",
)

READ = """(video) => {
  const canvas = document.createElement("canvas");
  canvas.width = 128; canvas.height = 64;
  const pen = canvas.getContext("2d", {willReadFrequently: true});
  pen.drawImage(video, 0, 0, 128, 64);
  const row = pen.getImageData(0, 48, 128, 1).data;
  let number = 0;
  for (let bit = 0; bit < 8; bit++) number += (row[4 * (bit * 16 + 8)] > 128 ? 1 : 0) << bit;
  return number;
}"""


# ---------------------------------------------------------------------------------------------- frames


@pytest.mark.parametrize("name", quick_are(["variable"], FILES))
def test_a_seek_shows_the_named_frame_in_40_of_40_places(study, name):
    served = study((name,))
    page = served.task_page("w01")
    wrong = page.evaluate(
        """async ({places}) => {
          const {Player} = await import("/static/player.js");
          const {FrameTable} = await import("/static/frames.js");
          const video = document.createElement("video");
          video.muted = true;
          document.body.append(video);
          const table = new FrameTable(await (await fetch("/media/1/frames.json")).json());
          const player = new Player(video);
          player.load("/media/1", table);
          const canvas = document.createElement("canvas");
          canvas.width = 128; canvas.height = 64;
          const pen = canvas.getContext("2d", {willReadFrequently: true});
          const wrong = [];
          for (const place of places) {
            const shown = await player.show(place);
            pen.drawImage(video, 0, 0, 128, 64);
            const row = pen.getImageData(0, 48, 128, 1).data;
            let number = 0;
            for (let bit = 0; bit < 8; bit++) number += (row[4 * (bit * 16 + 8)] > 128 ? 1 : 0) << bit;
            if (number !== place || shown !== place) wrong.push([place, shown, number]);
          }
          return wrong;
        }""",
        {"places": np.random.default_rng(1).integers(0, N_FRAMES, 40).tolist()},
    )
    assert wrong == []
    for key in (".", ".", "ArrowRight", ",", ">", "."):
        press(page, key)
    page.wait_for_timeout(200)
    named = int(page.inner_text("#place").split("frame ")[1].split(" /")[0])
    assert page.eval_on_selector("#video", READ) == named


# ------------------------------------------------------------------------------------ keys, mouse, touch


def test_by_keys_alone(study):
    served = study(sentences=("a person opens a door", "a person closes it"))
    page = served.task_page("w01")
    task = number_of(page)
    press(page, "ArrowRight", "i", "ArrowRight", "ArrowRight", ".", ".")
    at_frame(page, 77)
    press(page, "o")
    saved(page)
    assert served.answer(task)[0]["moments"] == [{"first": 25, "last": 77}]
    press(page, "[", "}", "}")
    saved(page)
    page.wait_for_timeout(400)
    saved(page)
    assert served.answer(task)[0]["moments"] == [{"first": 24, "last": 79}]
    page.keyboard.press("r")
    page.wait_for_function("() => document.getElementById('moments').textContent.includes('✓ Reviewed')")
    press(page, "End")
    at_frame(page, 149)
    page.keyboard.press("n")
    assert page.locator("#moments li").count() == 2
    press(page, "Control+z")
    assert page.locator("#moments li").count() == 1
    press(page, "Control+Shift+z")
    assert page.locator("#moments li").count() == 2
    page.keyboard.press("ArrowDown")  # after redo the first one is chosen
    page.keyboard.press("Delete")
    page.keyboard.press("?")
    assert page.is_visible("#keys-title")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    page.wait_for_function(f"() => !location.pathname.endsWith('/{task}')")
    ready(page)
    answer, state = served.answer(task)
    assert (state, answer["moments"]) == ("submitted", [{"first": 24, "last": 79}])
    page.keyboard.press("Alt+ArrowLeft")
    page.wait_for_url(f"**/task/{task}")
    ready(page)
    page.keyboard.press("Control+Enter")
    page.wait_for_function(f"() => !location.pathname.endsWith('/{task}')")
    ready(page)
    page.keyboard.press("a")
    assert page.get_attribute("#absent", "aria-pressed") == "true"
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#done:not([hidden])")


@pytest.mark.parametrize("count", quick_are([1], [1, 10]))
def test_moments_that_are_marked_while_the_video_plays(study, tasks, count):
    """The next video plays at once, also on the next visit; a required review begins by itself: three keys a moment."""
    served = study(sentences=[f"a person opens door {k}" for k in range(count + 1)], review="required")
    page = served.task_page("w01")
    page.keyboard.press("Space")
    answers = [mark_while_it_plays(served, page, Person(page))]
    page.wait_for_function("() => document.getElementById('video').currentTime > 0")
    page.goto(served.base)
    page.click("#begin")
    ready(page)
    person = Person(page)
    answers += [mark_while_it_plays(served, page, person) for _ in range(count)]
    page.wait_for_selector("#done:not([hidden])")
    assert all(state == "submitted" and len(answer["moments"]) == 1 for answer, state in answers)
    assert person.keys == 3 * count
    tasks["mark ten moments"] = (
        f"{3 * 10} keys; one more on a person's first visit, to play the first video",
        person.seconds * 10 / count,
    )


def mark_while_it_plays(served, page, person):
    """Mark a moment and submit it; return the answer that is stored, and its state."""
    task = number_of(page)
    page.wait_for_function("() => document.getElementById('video').currentTime > 0.3")
    person.press("i")
    page.wait_for_function("() => document.getElementById('video').currentTime > 0.8")
    person.press("o")
    page.wait_for_function("() => document.getElementById('moments').textContent.includes('✓ Reviewed')")
    person.press("Control+Enter")
    page.wait_for_function(f"() => !location.pathname.endsWith('/{task}')")
    return served.answer(task)


@pytest.mark.thorough
def test_by_mouse(study):
    served = study()
    page = served.task_page("w01")
    task = number_of(page)
    box = page.locator("#timeline").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + 70)
    at_frame(page, 37)
    page.click("#mark-in")
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + 70)
    page.wait_for_function("() => !document.getElementById('place').textContent.includes('frame 37 ')")
    page.click("#mark-out")
    saved(page)
    handle = page.locator(".handle.last").bounding_box()
    middle = handle["y"] + handle["height"] / 2
    page.mouse.move(handle["x"] + handle["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, middle, steps=4)
    page.mouse.move(box["x"] + box["width"] * 0.7, middle, steps=4)
    page.mouse.up()
    page.wait_for_timeout(500)
    saved(page)
    first, last = served.answer(task)[0]["moments"][0].values()
    assert first == 37
    assert 103 <= last <= 107  # 0.7 of 150 frames
    page.click("#zoom-in")
    page.click("#zoom-fit")
    assert page.locator(".overview .window").is_visible()
    strip = page.locator("#overview").bounding_box()
    page.mouse.click(strip["x"] + 2, strip["y"] + 10)
    at_frame(page, 0)
    field = page.locator("[data-field='0-first']")
    field.fill("0:02.00")
    field.press("Enter")
    page.wait_for_timeout(500)
    saved(page)
    assert served.answer(task)[0]["moments"][0]["first"] == 50
    page.click("#submit")
    page.wait_for_selector("#done:not([hidden])")
    assert served.answer(task)[1] == "submitted"


def test_by_touch_on_a_phone(study):
    served = study(review="required")
    page = served.task_page("w01", viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True)
    task = number_of(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for name in ("#mark-in", "#mark-out", "#submit"):
        assert page.locator(name).bounding_box()["height"] >= 44
    page.tap("#mark-in")
    page.tap("#on")
    at_frame(page, 1)
    page.tap("#on")
    at_frame(page, 2)
    page.tap("#mark-out")
    page.locator("#submit").scroll_into_view_if_needed()
    box = {name: page.locator(name).bounding_box() for name in ("#mark-in", "#submit")}
    assert box["#mark-in"]["y"] + box["#mark-in"]["height"] <= box["#submit"]["y"]  # the bar covers nothing after it
    page.tap("#submit")
    assert "Review moment 1" in page.inner_text("#hint")
    page.tap("#review")
    page.wait_for_function("() => document.getElementById('moments').textContent.includes('✓ Reviewed')")
    page.tap("#submit")
    page.wait_for_selector("#done:not([hidden])")
    answer, state = served.answer(task)
    assert (state, answer["moments"]) == ("submitted", [{"first": 0, "last": 2}])


def test_every_kind_of_answer(study):
    served = study(sentences=SENTENCES)
    page = served.task_page("w01")
    seen = set()
    for verdict in ("unclear", "broken", "absent", "marked"):
        task = number_of(page)
        seen.add(page.inner_text("#sentence").strip())
        if verdict == "marked":
            page.keyboard.press("i")
        elif verdict == "unclear":
            page.click("#unclear")
            page.click("#submit")
            assert "Choose why" in page.inner_text("#hint")
            page.check("input[value='only heard']")
        else:
            page.click(f"#{verdict}")
        page.click("#submit")
        page.wait_for_function(f"() => !location.pathname.endsWith('/{task}')")
        answer, state = served.answer(task)
        assert (state, answer["verdict"]) == ("submitted", verdict)
        if verdict != "marked":
            ready(page)
    assert page.title() != "stolen"
    assert seen == {sentence.strip() for sentence in SENTENCES}


# ---------------------------------------------------------------------------------------- nothing is lost


def test_a_draft_survives_reload_and_a_closed_tab(study):
    served = study()
    context = served.context()
    page = served.task_page("w01", context)
    press(page, "ArrowRight", "i")
    page.reload()
    ready(page)
    assert page.locator("#moments li").count() == 1
    press(page, "ArrowRight", "ArrowRight", "o")
    page.close()
    again = served.watch.add(context.new_page())
    again.goto(f"{served.base}/task")
    ready(again)
    again.wait_for_timeout(500)
    saved(again)
    answer, _ = served.answer(number_of(again))
    assert answer["moments"] == [{"first": 25, "last": 50}] or answer["moments"][0]["last"] >= 25
    assert again.locator("#moments li").count() == 1


def test_offline_for_three_changes(study):
    served = study()
    context = served.context()
    page = served.task_page("w01", context)
    task = number_of(page)
    press(page, "ArrowRight", "i")
    saved(page)
    context.set_offline(True)
    for _ in range(3):
        page.keyboard.press("}")
        page.wait_for_timeout(450)
    says = "document.getElementById('saving').textContent"
    page.wait_for_function(f"() => {says}.includes('Offline: 3 changes wait in this browser')")
    context.set_offline(False)
    saved(page)
    bodies = served.server.store.read(
        lambda connection: [
            json.loads(row["body"])
            for row in connection.execute(
                "SELECT body FROM events WHERE task = ? AND kind = 'answer' ORDER BY seq", (task,)
            )
        ]
    )
    assert [of["moments"][0]["last"] for of in bodies[-3:]] == [26, 27, 28]
    assert [of["version"] for of in bodies] == list(range(1, len(bodies) + 1))


def a_second_late(route):
    time.sleep(1)
    route.continue_()


@pytest.mark.thorough
def test_a_killed_browser_keeps_what_the_server_never_got(study, tmp_path, chromium):
    served = study()
    kind = chromium.browser_type
    profile, settings = tmp_path / "profile", {"args": ["--no-sandbox"]}
    from .conftest import chromium_path

    settings["executable_path"] = chromium_path()
    context = kind.launch_persistent_context(profile, **settings)
    page = served.task_page("w01", context)
    press(page, "ArrowRight")
    page.route("**/answer", lambda route: route.abort())
    page.keyboard.press("i")
    page.wait_for_function("() => document.getElementById('saving').dataset.state === 'offline'")
    page.wait_for_timeout(1000)
    session = context.browser.new_browser_cdp_session() if context.browser else context.new_cdp_session(page)
    with contextlib.suppress(Exception):
        session.send("Browser.crash")
    with contextlib.suppress(Exception):
        context.close()
    assert served.answer(1)[0] is None
    context = kind.launch_persistent_context(profile, **settings)
    context.route("**/frames.json", a_second_late)  # time enough to send what is left before the page shows the task
    page = served.task_page("w01", context)  # by the link: the cookie may be gone with the browser
    page.wait_for_function("() => document.querySelectorAll('#moments li').length === 1")
    saved(page)
    assert served.answer(1)[0]["moments"] == [{"first": 25, "last": 25}]
    context.close()


@pytest.mark.thorough  # tests/annotating/test_server.py has the answers of the server
@pytest.mark.parametrize("choice", ["mine", "theirs", "both"])
def test_two_tabs_show_their_conflict(study, choice):
    served = study()
    context = served.context()
    one = served.task_page("w01", context)
    two = served.watch.add(context.new_page())
    two.goto(f"{served.base}/task")
    ready(two)
    task = number_of(one)
    press(one, "ArrowRight", "i")
    saved(one)
    two.bring_to_front()
    press(two, "End")
    at_frame(two, 149)
    two.keyboard.press("i")
    two.wait_for_selector("#conflict[open]")
    two.click(f"[data-choice={choice}]")
    saved(two)
    two.wait_for_timeout(600)
    saved(two)
    expected = {"mine": [149], "theirs": [25], "both": [25, 149]}[choice]
    assert [of["first"] for of in served.answer(task)[0]["moments"]] == expected
    assert two.locator("#moments li").count() == len(expected)


@pytest.mark.thorough
def test_a_link_revoked_in_the_middle(study):
    served = study()
    page = served.task_page("w01")
    owner = served.page(OWNER)
    owner.wait_for_selector("#people tbody tr")
    owner.click("[aria-label='Revoke w01']")
    owner.click("#ask .main")
    owner.wait_for_function("() => document.querySelector('#people tbody').textContent.includes('revoked')")
    page.bring_to_front()
    page.keyboard.press("i")
    page.wait_for_function("() => document.getElementById('saving').dataset.state === 'refused'")
    assert "no longer valid" in page.inner_text("#problem")


@pytest.mark.thorough
def test_with_six_tabs_open_the_seventh_works(study):
    served = study()
    context = served.context()
    pages = [served.task_page("w01", context)]
    for _ in range(6):
        page = served.watch.add(context.new_page())
        page.goto(f"{served.base}/task")
        ready(page)
        pages.append(page)
    press(pages[-1], "ArrowRight")
    at_frame(pages[-1], 25)
    assert [page.title() for page in pages] == [pages[0].title()] * 7  # none became an error page


# ------------------------------------------------------------------------------- owner, verify, all screens


@pytest.mark.parametrize("colours", quick_are(["light"], ["light", "dark"]))
def test_the_owner_follows_and_every_screen_is_accessible(study, axe, colours):
    served = study(("constant", "ntsc"), people=2, per_query=2)
    first = served.watch.add(served.context().new_page())
    first.goto(f"{served.base}/in")
    problems = {"in": axe(first)}
    page = served.page("w01", color_scheme=colours)
    problems["home"] = axe(page)
    page.check("#read")
    page.click("#begin")
    ready(page)
    press(page, "ArrowRight", "i", "ArrowRight", "o")
    saved(page)
    page.click("#unclear")
    problems["task, reasons"] = axe(page)
    page.keyboard.press("Control+z")
    page.click("#help")
    problems["keys"] = axe(page)
    page.keyboard.press("Escape")
    page.click("#submit")
    page.wait_for_function("() => document.getElementById('progress').textContent.startsWith('1')")
    owner = served.page(OWNER, color_scheme=colours)
    owner.wait_for_function("() => document.querySelectorAll('#queries tbody tr').length > 0")
    problems["owner"] = axe(owner)
    owner.wait_for_function("() => document.getElementById('state').textContent.includes('1 of 4 answers')")
    owner.wait_for_selector("#queries a")
    owner.evaluate("document.querySelector('#queries a').textContent = 'W'.repeat(10_000)")
    assert owner.locator("#queries").bounding_box()["width"] < 1400
    assert owner.locator("#queries tbody tr").first.bounding_box()["height"] < 200
    owner.click("#export")
    with owner.expect_download() as found:
        owner.click("#job a")
    assert found.value.suggested_filename.endswith(".zip")
    owner.click("#queries a")
    owner.wait_for_selector("#answers tbody tr")
    problems["query"] = axe(owner)
    assert not {screen: of for screen, of in problems.items() if of}
    owner.click("[aria-label='Exclude the answer of w01']")
    owner.fill("#ask-field", "does not look")
    owner.keyboard.press("Enter")
    owner.wait_for_function("() => document.getElementById('answers').textContent.includes('(excluded)')")
    why = served.server.store.read(
        lambda connection: connection.execute("SELECT body FROM events WHERE kind = 'set aside'").fetchone()["body"]
    )
    assert json.loads(why) == {"why": "does not look"}


@pytest.mark.parametrize("task", quick_are(["mark"], ["mark", "verify"]))
def test_the_first_page_has_a_sample_picture(study, task):
    served = study(task=task)
    page = served.page("w01", viewport={"width": 360, "height": 640})
    page.wait_for_function("() => document.querySelector('.sample img').naturalWidth > 0")
    assert "a person opens the door" in page.get_attribute(".sample img", "alt")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360  # it shrinks with the page


@pytest.mark.thorough
def test_sentences_have_their_language_and_direction(study, tmp_path):
    words = tmp_path / "words.md"
    words.write_text("شاهد الفيديو", encoding="utf-8")
    served = study(sentences=("شخص يفتح الباب",), lang="ar", instructions=words)
    page = served.page("w01")
    direction = "(of) => [of.closest('[lang]').lang, getComputedStyle(of).direction]"
    assert page.eval_on_selector("main p", direction) == ["ar", "rtl"]  # the owner's instructions
    assert page.eval_on_selector(".soft", direction) == ["en", "ltr"]
    page.check("#read")
    page.click("#begin")
    ready(page)
    assert page.eval_on_selector("#sentence", direction) == ["ar", "rtl"]
    assert page.eval_on_selector("#submit", direction) == ["en", "ltr"]
    page.keyboard.press("a")
    page.click("#submit")
    page.wait_for_selector("#done:not([hidden])")
    owner = served.page(OWNER)
    owner.wait_for_selector("#queries tbody td[lang]")
    assert owner.eval_on_selector("#queries tbody td[lang]", direction) == ["ar", "rtl"]
    owner.wait_for_selector("#people td:text-is('w01 (done)')")
    owner.click("#close-study")
    owner.click("#ask button.main")
    owner.wait_for_selector("#state:has-text('closed')")
    owner.click("#export")
    owner.wait_for_selector("#state:has-text('exported')")


def test_verify_by_keys(study, axe):
    served = study(task="verify", moment_s=(0.2, 0.4))
    context = served.context()
    context.add_init_script(
        "const play = HTMLMediaElement.prototype.play; HTMLMediaElement.prototype.play = function () {"
        " return window.mayPlay ? play.call(this) : Promise.reject(new DOMException('not yet', 'NotAllowedError')); };"
    )
    page = served.task_page("w01", context)
    task = number_of(page)
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    assert "to its end first" in page.inner_text("#hint")
    page.evaluate("window.mayPlay = true")
    page.keyboard.press("0")
    at_frame(page, 60)  # the moment ends at 0.4 s; with 2 s around it, at 2.4 s
    page.wait_for_function("() => document.getElementById('play-word').textContent === 'Play'")
    page.keyboard.press("2")
    page.check("input[value='ends too late']")
    assert axe(page) == []
    page.click("#submit")
    page.wait_for_selector("#done:not([hidden])")
    answer, state = served.answer(task)
    assert (state, answer["verdict"], answer["reasons"]) == ("submitted", "partly", ["ends too late"])
