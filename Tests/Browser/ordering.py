"""The order by hand: moved with keys, the mouse and a finger, on two machines at once."""

import json
import os

from homes import FOLDER, Home, two_nodes, until
from pages import looks, open_page, picture
from places import ACCESSIBILITY

SHOWN = "[...document.querySelectorAll('#rows .title')].map((title) => title.textContent)"
FOCUSED = "document.activeElement.closest('#rows li')?.querySelector('.title').textContent ?? null"


def row(page, title):
    return page.locator(f"#rows li:has(.title:text-is('{title}'))")


def shows(page, titles):
    expected = titles.split()
    until(lambda: page.evaluate(SHOWN) == expected, f"the page shows {titles}")


def says(page, text):
    until(lambda: page.inner_text("#moved") == text, f"a screen reader is told: {text}")


def by_hand(home):
    return " ".join(note["title"] for note in json.loads(home.kith("note", "list", "--order", "hand", "--json")))


def boxes(page, *titles):
    """Where rows are: one that is just drawn anew is nowhere."""
    found = []
    for title in titles:
        until(lambda: (box := row(page, title).bounding_box()) and not found.append(box), f"the note {title} is shown")
    return found


def pull(page, title, beside, share, drops=True):
    """Drags a note with the mouse to so much of the height of another one."""
    start, end = boxes(page, title, beside)
    page.mouse.move(start["x"] + 60, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + 60, end["y"] + end["height"] * share, steps=6)
    if drops:
        page.mouse.up()


def touch(page, title, beside, share, at=None):
    """The same with a finger, by the grip of the note or, with `at`, so far from its left edge."""
    start, end = boxes(page, title, beside)
    x = start["x"] + (start["width"] - 20 if at is None else at)
    client = page.context.new_cdp_session(page)
    send = lambda kind, *points: client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for y in points]})
    first, last = start["y"] + start["height"] / 2, end["y"] + end["height"] * share
    send("touchStart", first)
    for step in range(1, 7):
        send("touchMove", first + (last - first) * step / 6)
    send("touchEnd")


def part_order(browser):
    """Notes are put into an order by keys alone, with the mouse and with a finger; two machines move different notes at once, and both
    show both moves; what is found, and any other order, is left as it is."""
    desk, laptop, cable = two_nodes("order", "order-laptop")
    for title in "five four three two one".split():
        desk.kith("note", "add", title, "--body", f"the note {title}", "--color", "green" if title == "two" else "none")
    until(lambda: len(laptop.kith("note", "list").splitlines()) >= 5, "the other machine has the notes")
    page, other = open_page(browser, desk), open_page(browser, laptop)
    with_keys(page, desk)
    with_mouse(page, desk)
    live_on(page, other, desk, laptop, cable)
    with_finger(browser, desk)
    for each in (page, other):
        unexpected = [text for text in each.complaints if "404" not in text and "422" not in text]
        assert not unexpected, unexpected
    for home in (desk, laptop):
        home.stop()
    in_long_list(browser)


def with_keys(page, home):
    shows(page, "one two three four five")
    page.focus("#rows li:nth-child(2) a")
    page.keyboard.press("Alt+ArrowUp")
    says(page, "Choose the order by hand to move notes.")
    page.focus("#order")
    page.keyboard.press("ArrowDown")
    until(lambda: page.input_value("#order") == "hand" and page.locator("#rows[aria-describedby=movable]").count() == 1, "the order is by hand")
    page.focus("#rows li:nth-child(2) a")
    page.keyboard.press("Alt+ArrowUp")
    says(page, "two: 1 of 5")
    shows(page, "two one three four five")
    for _ in range(2):
        page.keyboard.press("Alt+ArrowDown")
    says(page, "two: 3 of 5")
    shows(page, "one three two four five")
    assert page.evaluate(FOCUSED) == "two", "the note that is moved keeps the focus"
    page.keyboard.press("Alt+Shift+ArrowDown")
    says(page, "two: 5 of 5")
    assert page.evaluate(FOCUSED) == "two"
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Alt+Shift+ArrowUp")
    says(page, "two: 1 of 5")
    shows(page, "two one three four five")
    assert by_hand(home) == "two one three four five", by_hand(home)
    # Several at once: they stay in their order, however they were chosen.
    for title in ("four", "one"):
        page.focus(f"#rows li:has(.title:text-is('{title}')) a")
        page.keyboard.press("x")
    page.keyboard.press("Alt+Shift+ArrowDown")
    says(page, "2 notes: 4 to 5 of 5")
    shows(page, "two three five one four")
    # The same without a drag and without the keyboard.
    page.click("[data-move=up]")
    says(page, "2 notes: 3 to 4 of 5")
    page.click("[data-move=first]")
    says(page, "2 notes: 1 to 2 of 5")
    shows(page, "one four two three five")
    home.kith("note", "undo")
    shows(page, "two three one four five")
    page.click("[data-several=none]")
    # What is found has an order of its own.
    page.fill("#search", "note")
    until(lambda: page.locator("#rows .grip").first.is_hidden(), "what is found cannot be moved")
    page.focus("#rows li:nth-child(2) a")
    page.keyboard.press("Alt+ArrowUp")
    says(page, "What is found has an order of its own. Clear the search to move notes.")
    page.fill("#search", "")
    shows(page, "two three one four five")
    # The next page comes in this order.
    page.reload()
    assert page.evaluate(SHOWN) == "two three one four five".split() and page.input_value("#order") == "hand"
    # A pinned note stays before the others, wherever it is put.
    row(page, "one").locator("a").click()
    page.click("#pin")
    until(lambda: page.evaluate(SHOWN)[0].endswith("one"), "it is pinned")
    row(page, "three").locator("a").focus()
    page.keyboard.press("Alt+Shift+ArrowUp")
    says(page, "three: 2 of 5")
    page.click("#pin")
    until(lambda: page.locator("#rows .pin").count() == 0, "it is not pinned any more")


def with_mouse(page, home):
    home.kith("note", "move", "one", "two", "three", "four", "five", "--first")
    shows(page, "one two three four five")
    place = page.url
    pull(page, "one", "three", 0.75)
    shows(page, "two three one four five")
    says(page, "one: 3 of 5")
    pull(page, "five", "two", 0.25)
    shows(page, "five two three one four")
    # Dragging opens nothing; a click does.
    assert page.url == place, page.url
    pull(page, "five", "one", 0.75, drops=False)
    until(lambda: page.locator("#rows li.drop-below, #rows li.drop-above").count() == 1 and page.locator("#rows li.moving").count() == 1, "it is marked")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        picture(page, f"moving-1280-{scheme}")
    # What others do meanwhile is shown, and takes nothing out of the hand.
    home.kith("note", "move", "four", "--first")
    until(lambda: page.evaluate(SHOWN)[0] == "four" and page.locator("#rows li.moving .title").inner_text() == "five", "it is still held")
    page.keyboard.press("Escape")
    page.mouse.up()
    says(page, "Not moved.")
    shows(page, "four five two three one")
    assert page.locator("#rows li.moving").count() == 0
    # All that are chosen go together.
    page.click("#choose")
    for title in ("one", "five"):
        row(page, title).locator(".pick").check()
    pull(page, "one", "two", 0.75)
    shows(page, "four two five one three")
    page.click("[data-several=none]")
    row(page, "three").locator("a").click()
    until(lambda: page.input_value("#title") == "three", "a click opens the note")
    assert by_hand(home) == "four two five one three", by_hand(home)
    # The place is gone when the note arrives there.
    page.evaluate(HELD)
    pull(page, "four", "three", 0.75)
    until(lambda: page.evaluate("Boolean(window.go)"), "the move is on its way")
    home.kith("note", "rm", "three")
    page.evaluate("go()")
    until(lambda: "was deleted. Choose another place." in page.inner_text("#alerts"), "the page says that the place is gone")
    page.click("#alerts button:has-text('Close')")
    home.kith("trash", "restore", "three")
    shows(page, "four two five one three")


# Holds a move up until `go()`.
HELD = """() => {
  const send = window.fetch;
  window.fetch = async (path, options) => {
    if (path.endsWith("/move")) {
      window.fetch = send;
      await new Promise((done) => { window.go = done; });
    }
    return send(path, options);
  };
}"""


def live_on(page, other, desk, laptop, cable):
    """Both machines move notes while they cannot reach each other."""
    other.select_option("#order", "hand")
    shows(other, "four two five one three")
    cable.cut()
    pull(page, "three", "four", 0.25)
    shows(page, "three four two five one")
    pull(other, "two", "one", 0.75)
    pull(other, "four", "three", 0.75)
    until(lambda: by_hand(laptop).split()[-1] == "four", "it is moved")
    before = other.evaluate(SHOWN)
    assert before.index("two") > before.index("one"), before
    cable.mend()
    until(lambda: page.evaluate(SHOWN) == other.evaluate(SHOWN) and page.evaluate(SHOWN)[0] == "three", "both pages show the same")
    both = page.evaluate(SHOWN)
    assert sorted(both) == sorted("one two three four five".split())
    assert both.index("two") > both.index("one") and both[-1] == "four" and both[0] == "three", both
    assert by_hand(desk).split() == by_hand(laptop).split() == both
    # A move is on the other page without anybody asking.
    pull(page, "four", "three", 0.25)
    until(lambda: other.evaluate(SHOWN)[0] == "four", "the other page shows it")


def with_finger(browser, home):
    home.kith("note", "move", "one", "two", "three", "four", "five", "--first")
    page = open_page(browser, home, has_touch=True)
    page.set_viewport_size({"width": 390, "height": 844})
    page.select_option("#order", "hand")
    shows(page, "one two three four five")
    touch(page, "one", "three", 0.75)
    shows(page, "two three one four five")
    # Elsewhere a finger scrolls.
    touch(page, "two", "five", 0.75, at=60)
    page.click("#choose")
    row(page, "two").locator(".pick").check()
    row(page, "five").locator(".pick").check()
    touch(page, "five", "three", 0.75)
    shows(page, "three two five one four")
    for width, scheme in looks():
        page.set_viewport_size({"width": width, "height": 844 if width == 390 else 800})
        page.emulate_media(color_scheme=scheme)
        picture(page, f"order-{width}-{scheme}")
        problems = page.evaluate(ACCESSIBILITY)
        assert not problems, f"at {width} in {scheme}: {problems}"
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, f"at {width}: {overflow} pixels too wide"
    assert not page.complaints, page.complaints
    page.context.close()


def in_long_list(browser):
    """A note that goes to the other end of a list is shown there; at the edge, a drag scrolls."""
    home = Home("order-long")
    file = os.path.join(FOLDER, "long.jsonl")
    with open(file, "w") as lines:
        lines.write(json.dumps({"kith": {"format": "kith-notes", "version": 1}}) + "\n")
        for number in range(400):
            time = 1_767_225_600_000 + number
            note = {"id": f"{time:012x}"[:8] + "-" + f"{time:012x}"[8:] + f"-7000-8000-{number:012d}", "title": f"n{number}", "body": "", "color": 0, "tags": [],
                    "created": time, "updated": time, "pinned": False, "deleted": False, "attachments": []}
            lines.write(json.dumps({"note": note}) + "\n")
        lines.write(json.dumps({"end": {"notes": 400}}) + "\n")
    home.kith("import", file)
    home.start("web", "--port", "0", "--no-discovery")
    page = open_page(browser, home)
    page.select_option("#order", "hand")
    row(page, "n399").locator("a").focus()
    page.keyboard.press("Alt+Shift+ArrowDown")
    says(page, "n399: 400 of 400")
    until(lambda: page.evaluate(FOCUSED) == "n399" and page.evaluate(SHOWN)[-1] == "n399", "it has the focus where it is now")
    page.keyboard.press("Alt+ArrowUp")
    says(page, "n399: 399 of 400")
    page.keyboard.press("Alt+Shift+ArrowUp")
    until(lambda: page.evaluate(FOCUSED) == "n399" and page.evaluate(SHOWN)[0] == "n399", "it is back")
    box = page.locator("#list").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + box["height"] - 10, steps=5)
    until(lambda: page.evaluate("document.querySelector('#list').scrollTop") > 3_000, "the list scrolls")
    page.mouse.move(box["x"] + 60, box["y"] + box["height"] / 2)
    until(lambda: page.locator("#rows li.drop-above, #rows li.drop-below").count() == 1, "a place is marked")
    page.mouse.up()
    until(lambda: not page.evaluate(SHOWN)[0] == "n399" and page.inner_text("#moved").startswith("n399: "), "it is moved there")
    assert int(page.inner_text("#moved").split()[1]) > 30, page.inner_text("#moved")
    assert not page.complaints, page.complaints
    home.stop()
