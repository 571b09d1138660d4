"""``truemoment annotate`` in a real browser: what happens while a task loads, is submitted, or cannot be saved."""

import json
import time
from itertools import pairwise

import msgspec
import pytest

from truemoment.web.annotating.answers import AnswerRequest
from truemoment.web.annotating.people import add_people
from truemoment.web.annotating.people import number_of as number_of_person
from truemoment.web.annotating.tasks import save

from ..thorough import quick_are
from .steps import at_frame, number_of, press, ready, saved

pytestmark = pytest.mark.slow

TWO = ("a person opens a door", "a person closes it")


def hint(page):
    return page.inner_text("#hint")


def moments(page):
    """Return the times of the moments that the page shows."""
    return page.eval_on_selector_all(
        "#moments li", "(items) => items.map((of) => [...of.querySelectorAll('input')].map((i) => i.value))"
    )


class Held:
    """Keeps a request until the test lets it go on."""

    route = None

    def take(self, route):
        self.route = route


def state_is(page, name):
    page.wait_for_function(f"() => document.getElementById('saving').dataset.state === '{name}'")


@pytest.mark.thorough
def test_a_key_while_the_next_task_loads_reaches_no_task(study):
    served = study(sentences=TWO)
    page = served.task_page("w01")
    first = number_of(page)
    press(page, "ArrowRight", "i")
    saved(page)
    held = Held()
    page.route("**/api/me", held.take, times=1)
    with page.expect_request("**/api/me"):
        page.keyboard.press("Control+Enter")
    assert served.answer(first)[1] == "submitted"
    for key in ("o", "Delete", "a", "Control+z", "Control+Enter"):
        page.keyboard.press(key)
    held.route.continue_()
    page.wait_for_function(f"() => !location.pathname.endsWith('/{first}')")
    ready(page)
    saved(page)
    second = number_of(page)
    assert moments(page) == []
    assert served.answer(second)[0] is None
    answer, state = served.answer(first)
    assert (state, answer["moments"]) == ("submitted", [{"first": 25, "last": 25}])


@pytest.mark.thorough
def test_the_next_video_is_read_while_the_person_works(study):
    served = study(names=("constant", "vp9"))
    page = served.page("w01")
    heads = []
    page.on("request", lambda request: heads.append((request.url[-8:], request.headers.get("range"))))
    with page.expect_response("**/media/2/frames.json"):
        page.check("#read")
        page.click("#begin")
    ready(page)
    while ("/media/2", "bytes=0-524287") not in heads:  # its beginning
        page.wait_for_timeout(20)
    page.route("**/frames.json", lambda route: route.abort())
    page.keyboard.press("a")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/task/2")
    ready(page)
    assert page.get_attribute("#video", "src") == "/media/2"
    assert served.answer(1)[1] == "submitted"


@pytest.mark.thorough
def test_no_query_is_leased_ahead(study):
    served = study(names=("constant", "vp9"), people=0)
    link = served.server.store.write(lambda database: add_people(database, 1, served.server.study.settings()))[0]
    served.tokens[link.name] = link.token
    page = served.task_page(link.name)
    press(page, "ArrowRight")
    tasks = served.server.store.read(lambda database: database.execute("SELECT id FROM tasks").fetchall())
    assert len(tasks) == 1


def test_a_time_that_is_being_typed_is_submitted(study):
    served = study()
    page = served.task_page("w01")
    task = number_of(page)
    press(page, "ArrowRight", "i")
    field = page.locator("[data-field='0-last']")
    field.fill("soon")
    page.keyboard.press("Control+Enter")
    assert "Enter a time" in hint(page)
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("0:03")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#done:not([hidden])")
    answer, state = served.answer(task)
    assert (state, answer["moments"]) == ("submitted", [{"first": 25, "last": 74}])  # frame 74 ends at 3 s
    page.click("#last")  # from the last page back to the last task
    page.wait_for_url(f"**/task/{task}")
    ready(page)
    assert moments(page) == [["0:01.00", "0:03.00"]]


@pytest.mark.thorough
def test_a_refused_answer_keeps_its_task_open(study):
    served = study(sentences=TWO)
    page = served.task_page("w01")
    task = number_of(page)
    page.route("**/answer", lambda route: route.fulfill(status=400, json={"error": "this is wrong", "field": ""}))
    page.keyboard.press("a")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => document.getElementById('problem').textContent === 'this is wrong'")
    ready(page)
    assert number_of(page) == task
    page.unroute("**/answer")
    page.keyboard.press("Control+Enter")
    page.wait_for_function(f"() => !location.pathname.endsWith('/{task}')")
    assert served.answer(task)[1] == "submitted"  # and no conflict: what was refused counts as no version


@pytest.mark.thorough
def test_a_submission_offline_waits_and_does_not_hammer(study):
    served = study(sentences=TWO)
    page = served.task_page("w01")
    task = number_of(page)
    tries = []

    def fail(route):
        tries.append(time.monotonic())
        route.abort()

    page.route("**/answer", fail)
    press(page, "ArrowRight", "i")
    page.keyboard.press("Control+Enter")
    state_is(page, "offline")
    while len(tries) < 4:
        page.wait_for_timeout(50)
    assert tries[3] - tries[0] > 3.4  # 0.5 + 1 + 2 s
    page.keyboard.press("}")  # the person goes on: the answer is not submitted any more
    page.unroute("**/answer")
    page.evaluate("window.dispatchEvent(new Event('online'))")
    page.wait_for_function("() => document.getElementById('hint').textContent.includes('submit it again')")
    saved(page)
    answer, state = served.answer(task)
    assert (number_of(page), state, answer["moments"]) == (task, "draft", [{"first": 25, "last": 26}])
    page.route("**/api/next", lambda route: route.abort(), times=1)
    page.keyboard.press("Control+Enter")
    page.wait_for_function(f"() => !location.pathname.endsWith('/{task}')")  # it tries again for the next task, too
    assert served.answer(task)[1] == "submitted"


@pytest.mark.thorough
def test_a_full_disk_is_told_until_there_is_room(study):
    served = study()
    page = served.task_page("w01")
    page.route("**/answer", lambda route: route.fulfill(status=503, json={"error": "the disk is full", "field": ""}))
    page.keyboard.press("a")
    state_is(page, "failed")
    assert page.inner_text("#saving") == "Not saved yet: 1 change waits in this browser"
    assert page.inner_text("#problem") == "the disk is full"
    page.unroute("**/answer")
    saved(page)
    assert page.is_hidden("#problem")


@pytest.mark.thorough
def test_a_change_that_the_server_may_have_is_not_altered(study):
    """The answer to the first save is lost. The next change has a key of its own: it is not taken for a repeat."""
    served = study()
    page = served.task_page("w01")
    task = number_of(page)

    def store_and_lose(route):
        request = msgspec.json.decode(route.request.post_data_buffer, type=AnswerRequest)
        store = served.server.store
        person = store.read(lambda connection: number_of_person(connection, "w01"))
        store.write(lambda connection: save(connection, person, task, request, served.server.study.settings()))
        route.abort()

    page.route("**/answer", store_and_lose, times=1)
    page.evaluate(
        """async (task) => {
          const {Outbox} = await import("/static/outbox.js");
          window.box = new Outbox("test");
          window.box.addEventListener("state", (event) => { window.state = event.detail; });
          const now = Date.now();
          Date.now = () => now;  // both changes lie within the time in which changes become one
          const answer = {verdict: "absent", moments: [], reasons: [], active_s: 1};
          window.box.put(task, 0, {...answer, comment: "first"}, true);
        }""",
        task,
    )
    page.wait_for_function("() => window.state === 'offline'")
    again = {"verdict": "absent", "moments": [], "reasons": [], "active_s": 1, "comment": "second"}
    page.evaluate("([task, answer]) => { window.box.put(task, 0, answer); }", [task, again])
    page.wait_for_function("() => window.state === 'saved'")
    answer, _ = served.answer(task)
    assert (answer["comment"], answer["version"]) == ("second", 2)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", quick_are(["mark"], ["mark", "verify"]))
def test_a_conflict_of_another_task_is_kept_with_that_task(study, kind):
    served = study(sentences=TWO, task=kind)
    context = served.context()
    page = served.task_page("w01", context)
    task, other = 1, 2
    page.goto(f"{served.base}/{'task' if kind == 'mark' else 'verify'}/{task}")
    ready(page)
    context.set_offline(True)
    page.keyboard.press("u" if kind == "mark" else "4")
    page.check("input[value='only heard']")
    state_is(page, "offline")
    stored = {"key": "somebody-else", "base": 0, "verdict": "broken", "active_s": 5}
    request = {"data": json.dumps(stored), "headers": {"Content-Type": "application/json", "Origin": served.base}}
    assert context.request.put(f"{served.base}/api/tasks/{task}/answer", **request).ok  # of the test, not of the page
    page.close()
    context.set_offline(False)
    page = served.watch.add(context.new_page())
    page.goto(f"{served.base}/{'task' if kind == 'mark' else 'verify'}/{other}")
    page.wait_for_selector("#conflict[open]")
    assert "does not play" in page.inner_text("#conflict")
    page.click("[data-choice=mine]")
    ready(page)
    saved(page)
    assert served.answer(task)[0]["reasons"] == ["only heard"]
    assert served.answer(other)[0] is None
    assert page.get_attribute("#unclear" if kind == "mark" else "[data-verdict=unclear]", "aria-pressed") == "false"


@pytest.mark.thorough
def test_space_plays_after_a_click(study):
    served = study(review="required")
    page = served.task_page("w01")
    page.eval_on_selector("#video", "(video) => { video.playbackRate = 0.1; }")  # it plays for long enough to be seen
    press(page, "ArrowRight")
    page.click("#mark-in")
    box = page.locator("#timeline").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + 70)
    at_frame(page, 75)
    page.keyboard.press(" ")
    page.wait_for_function("() => document.getElementById('play-word').textContent === 'Pause'")
    page.keyboard.press(" ")
    page.wait_for_function("() => document.getElementById('play-word').textContent === 'Play'")
    assert moments(page) == [["0:01.00", "0:01.04"]]
    # A moment that is changed while it is played has not been reviewed.
    page.locator("[data-field='0-last']").fill("0:03")
    page.locator("[data-field='0-last']").press("Enter")
    at_frame(page, 74)
    page.focus("#sentence")
    page.keyboard.press("r")
    page.wait_for_function("() => document.getElementById('play-word').textContent === 'Pause'")
    page.keyboard.press("}")
    page.keyboard.press("Control+Enter")
    assert "Review moment 1" in hint(page)


@pytest.mark.thorough
def test_marks_while_playing_are_earlier_by_a_setting(study):
    served = study()
    page = served.task_page("w01")
    page.keyboard.press("?")
    field = page.locator("#keys input[type=number]")
    field.fill("1")
    field.press("Tab")
    page.keyboard.press("Escape")
    press(page, "Shift+ArrowRight", "ArrowLeft")
    at_frame(page, 100)
    page.eval_on_selector("#video", "(video) => { video.playbackRate = 0.1; }")
    page.keyboard.press("k")
    page.wait_for_function("() => document.getElementById('play-word').textContent === 'Pause'")
    page.keyboard.press("i")
    page.wait_for_selector("#moments li")
    (start, _), *_ = moments(page)
    assert 3.0 <= float(start.removeprefix("0:")) < 4.0  # one second before a frame from 100 on, which is at 4 s
    # A key can be changed, and not to one that is in use.
    page.keyboard.press("k")
    page.keyboard.press("?")
    change = page.get_by_label("change the key A")
    change.click()
    page.keyboard.press("o")
    assert change.text_content() == "O is in use"
    page.keyboard.press("x")
    assert "X" in page.inner_text("#keys")
    page.keyboard.press("Escape")
    page.keyboard.press("x")
    assert page.get_attribute("#absent", "aria-pressed") == "true"


@pytest.mark.thorough
def test_a_video_that_the_server_cannot_send_now_is_tried_again(study):
    served = study()
    page = served.page("w01")
    refusals = []

    def refuse(route):
        refusals.append(route.request.method)
        route.fulfill(status=429, json={"error": "too many videos are being played", "field": ""})

    page.route("**/media/1", refuse)
    page.check("#read")
    page.click("#begin")
    page.wait_for_selector("#problem:has-text('tries again')")
    page.unroute("**/media/1")
    ready(page)
    page.wait_for_selector("#problem", state="hidden")
    assert "HEAD" in refusals


@pytest.mark.thorough
def test_a_task_without_its_video_can_be_answered(study):
    served = study()
    page = served.page("w01")
    page.route("**/frames.json", lambda route: route.fulfill(status=404, json={"error": "not ready", "field": ""}))
    page.check("#read")
    page.click("#begin")
    page.wait_for_selector("#problem:has-text('does not play')")
    page.keyboard.press("i")
    assert moments(page) == []
    page.click("#broken")
    page.click("#submit")
    page.wait_for_selector("#done:not([hidden])")
    assert served.answer(1)[0]["verdict"] == "broken"


@pytest.mark.thorough
def test_pictures_of_an_earlier_video_do_not_come_late(study):
    served = study()
    page = served.task_page("w01")
    held = Held()
    page.route("**/strip.jpg?old", held.take)
    layout = "{times: [0], width: 1, height: 1, columns: 1}"
    with page.expect_request("**/strip.jpg?old"):
        page.evaluate(
            """async (layout) => {
              const {Overview} = await import("/static/overview.js");
              const timeline = Object.assign(new EventTarget(), {table: null});
              window.made = [];
              window.Image = class extends Image { constructor() { super(); window.made.push(this); } };
              window.pictures = new Overview(document.createElement("div"), timeline, () => {});
              window.pictures.load("/media/1/strip.jpg?old", LAYOUT);
            }""".replace("LAYOUT", layout)
        )
    page.evaluate(f"window.pictures.load('/media/1/strip.jpg?new', {layout})")
    page.wait_for_function("() => window.pictures.image !== null")
    held.route.continue_()
    page.wait_for_function("() => window.made[0].complete && window.made[0].naturalWidth > 0")
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 0))")
    assert page.evaluate("window.pictures.image.src").endswith("?new")


@pytest.mark.thorough  # test_annotate.py undoes and redoes one kind
def test_undo_and_redo_of_every_kind_of_change(study):
    served = study()
    page = served.task_page("w01")

    def shown():
        pressed = page.eval_on_selector_all("[aria-pressed=true]", "(of) => of.map((one) => one.id)")
        chosen = "#reasons:not([hidden]) input[type=checkbox]"
        boxes = page.eval_on_selector_all(chosen, "(of) => of.map((one) => one.checked)")
        return moments(page), pressed, boxes

    def drag():
        box, handle = page.locator("#timeline").bounding_box(), page.locator(".handle.last").first.bounding_box()
        page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + 5)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.5, handle["y"] + 5, steps=3)
        page.mouse.up()

    def type_time():
        page.locator("[data-field='0-first']").fill("0.5")
        page.locator("[data-field='0-first']").press("Enter")
        page.focus("#sentence")

    press(page, "ArrowRight")
    steps = [
        lambda: page.keyboard.press("i"),
        lambda: page.keyboard.press("}"),
        drag,
        type_time,
        lambda: (press(page, "End"), page.keyboard.press("n")),
        lambda: page.keyboard.press("Delete"),
        lambda: page.keyboard.press("a"),
        lambda: page.keyboard.press("u"),
        lambda: page.check("input[value='ambiguous']"),
    ]
    seen = [shown()]
    for step in steps:
        step()
        seen.append(shown())
    assert all(one != other for one, other in pairwise(seen))
    page.focus("#sentence")
    for before in reversed(seen[:-1]):
        page.keyboard.press("Control+z")
        assert shown() == before
    for after in seen[1:]:
        page.keyboard.press("Control+Shift+z")
        assert shown() == after
    saved(page)
    page.reload()
    ready(page)
    assert shown() == seen[-1]
