"""What a person does on a page: counted clicks and keys, and steps of marking, each awaited."""

import time


class Person:
    """A person who does a task on a page, from a first look at it: clicks, keys and seconds are counted."""

    def __init__(self, page):
        self.page, self.clicks, self.keys, self._began = page, 0, 0, time.perf_counter()

    def click(self, locator):
        self.clicks += 1
        locator.click()

    def press(self, key):
        self.keys += 1
        self.page.keyboard.press(key)

    @property
    def seconds(self):
        """Seconds so far: those of the page, since this person neither reads nor thinks."""
        return time.perf_counter() - self._began


def ready(page):
    """Wait until the first frame of a task is there, and the page takes an answer."""
    page.wait_for_selector("#work:not([hidden]):not([inert])")
    page.wait_for_function(
        "() => document.getElementById('place').textContent.includes('frame') && "
        "document.getElementById('video').readyState >= 2 && !document.getElementById('video').seeking"
    )


def at_frame(page, number):
    """Wait until the page names a frame."""
    page.wait_for_function(
        f"() => document.getElementById('place').textContent.includes('frame {number} /')", timeout=15_000
    )


def press(page, *keys):
    """Press keys, each when the page shows the last one's frame."""
    for key in keys:
        before = page.text_content("#place")
        page.keyboard.press(key)
        if key in (".", ",", "<", ">", "ArrowLeft", "ArrowRight", "Home", "End"):
            page.wait_for_function(
                "(before) => document.getElementById('place').textContent !== before", arg=before, timeout=15_000
            )


def saved(page):
    page.wait_for_function("() => document.getElementById('saving').textContent === 'Saved'")


def number_of(page):
    return int(page.url.rsplit("/", 1)[1])
