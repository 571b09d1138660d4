"""What a person does on the page on which moments are marked, each step awaited."""


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
