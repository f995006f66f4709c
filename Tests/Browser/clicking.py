"""A person clicks twice, or again before the answer: the page does what they meant, once."""

import json

from homes import until
from moving import Desk, focused
from pages import pump


def part_twice(browser):
    """A person clicks twice, or again while they wait: the second click does nothing, unless it is for something else."""
    desk = Desk(browser, "twice")
    page, home = desk.page, desk.home
    page.add_init_script(CLOCK)
    asked = []
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    counts = lambda path: len([each for each in asked if path in each])

    def click(place, milliseconds, times=1):
        """Clicks so much later than the last time; `times` is the browser's count of quick clicks."""
        page.evaluate("(milliseconds) => { clock += milliseconds; }", milliseconds)
        page.mouse.move(*place)
        page.mouse.down(click_count=times)
        page.mouse.up(click_count=times)
        desk.settle()

    def middle(element):
        box = element.bounding_box()
        return (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def click_twice(selector, is_done):
        place = middle(page.locator(selector).first)
        click(place, 1_000)
        pump(page, is_done, f"{selector} is done")
        # The second click, as browsers count it, hits what stands there by now.
        click(place, 200, times=2)
        click(place, 200)
        return place

    gone = [desk.add(f"Gone {number}") for number in range(7)]
    home.kith("note", "rm", *gone)
    page.goto(desk.base + "/trash")
    is_left = lambda count: pump(page, lambda: page.locator(".restore").count() == count, f"{count} are left")
    place = click_twice(".restore", lambda: page.locator(".restore").count() == 6)
    assert counts("/restore") == 1, asked
    # Whoever clicks on and on means the next ones, too: the time counts from the last click that did something.
    for left, milliseconds, times in ((5, 200, 1), (5, 400, 2), (4, 200, 3)):
        click(place, milliseconds, times)
        is_left(left)
    page.evaluate("clock += 1_000")
    page.locator(".restore").first.dblclick()
    is_left(3)
    assert counts("/restore") == 4, asked
    # With the keyboard, one after the other.
    page.keyboard.press("Enter")
    is_left(2)
    assert counts("/restore") == 5, asked
    # Two at once, one of them twice.
    desk.hold("**/restore")
    for number in (0, 1, 0):
        click(middle(page.locator(".restore").nth(number)), 1_000)
    assert len(desk.held) == 2, asked
    desk.held.pop(0).continue_()
    is_left(1)
    desk.let_go("**/restore")
    is_left(0)
    note = desk.add("Files")
    desk.open(note)
    files = [{"name": f"{name}.txt", "mimeType": "text/plain", "buffer": name.encode()} for name in "abcde"]
    page.set_input_files("#attach", files)
    until(lambda: page.locator("li[data-file]").count() == 5, "five files are attached")
    click_twice(".detach", lambda: page.locator("li[data-file]").count() == 4)
    assert counts("/detach") == 1, asked
    desk.hold("**/detach")
    for number in (0, 1, 0):
        click(middle(page.locator(".detach").nth(number)), 1_000)
    assert len(desk.held) == 2, asked
    desk.let_go("**/detach")
    until(lambda: page.locator("li[data-file]").count() == 2, "both are detached")
    for tag in ("one", "two", "three", "four", "five"):
        page.fill("#tag", tag)
        page.press("#tag", "Enter")
        until(lambda: f"#{tag}" in page.inner_text("#tags"), "it has the tag")
    begun = counts("/fields")
    # The next tag can be typed.
    click_twice(".untag", lambda: page.locator(".untag").count() == 4 and focused(page) == "tag")
    assert counts("/fields") == begun + 1, asked
    desk.hold("**/fields")
    for number in (0, 1, 0):
        click(middle(page.locator(".untag").nth(number)), 1_000)
    page.focus("#text")
    desk.let_go("**/fields")
    until(lambda: page.locator(".untag").count() == 2, "both are removed")
    desk.settle()
    assert counts("/fields") == begun + 3, asked
    assert focused(page) == "text", "the person types elsewhere by then"
    # To reading and back.
    views = lambda: page.get_attribute("#note", "data-view")
    before = views()
    page.locator("#view").click()
    assert views() != before
    page.evaluate("clock += 1_000")
    page.locator("#view").dblclick()
    assert views() != before, "a toggle can be pressed twice"
    begun = counts("/fields")
    page.locator("#pin").dblclick()
    pump(page, lambda: counts("/fields") == begun + 2, "it is pinned, and not pinned")
    desk.settle()
    until(lambda: page.get_attribute("#pin", "aria-pressed") == "false", "that is shown")
    until(lambda: not json.loads(home.kith("note", "show", note, "--json"))["pinned"], "it is not pinned")
    page.locator("#new").dblclick()
    page.wait_for_url(lambda url: not url.endswith(note))
    assert len([each for each in asked if each.endswith("/api/note")]) == 1, asked
    home.kith("note", "rm", page.url.split("/")[-1])
    page.locator("#gone button").first.dblclick()
    until(lambda: page.locator("#gone").count() == 0 and page.locator("#text").count() == 1, "it is written as a new note")
    assert len([each for each in asked if each.endswith("/api/note")]) == 2, asked
    home.stop()


# The page takes `clock`, in milliseconds, as the time of every event, so that a slow machine does not make clicks late.
CLOCK = "window.clock = 0; Object.defineProperty(Event.prototype, 'timeStamp', { get: () => clock });"
