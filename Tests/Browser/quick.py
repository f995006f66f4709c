"""A person has quick hands: the page ticks, finds, pastes and chooses what they meant, and the focus stays where they work."""

import os
import re

from homes import until
from moving import READING, Desk
from pages import PNG, pump, saved


def part_quick(browser):
    """A person ticks one box after the other, opens what they search for before it is found, and follows a link within the page."""
    desk = Desk(browser, "quick")
    tick_quickly(desk)
    stay_in_list(desk)
    search_at_once(desk)
    undo_after_links(desk)
    assert not desk.page.complaints, desk.page.complaints
    desk.home.stop()


def tick_quickly(desk):
    page, home = desk.page, desk.home
    note = desk.add("Boxes", "\n".join(f"- [ ] item {number}" for number in range(6)))
    desk.open(note)
    boxes = page.locator("#rendered input[type=checkbox]:not([disabled])")
    until(lambda: boxes.count() == 6, "the boxes can be ticked")
    # The page goes on to show the boxes as they were first.
    before = page.evaluate(READING)
    page.route("**/part/rendered/*", lambda route: route.fulfill(content_type="text/html", body=before))
    for number in range(4):
        if number == 2:
            page.focus("#text")
            page.keyboard.press("Control+Home")
            page.keyboard.insert_text("first, typed here\n")
        boxes.nth(number).click()
        until(lambda: home.body(note).count("[x]") == number + 1, "it is ticked")
    page.unroute("**/part/rendered/*")
    # Others write. The page shows that as it reads, and has not loaded the text yet.
    held = []
    page.route(f"**/api/note/{note}", lambda route: held.append(route))
    home.kith("note", "edit", note, "--body", "above\n" + home.body(note))
    page.evaluate("() => import('/app.js').then(({ current }) => current().render())")
    until(lambda: "above" in page.inner_text("#rendered"), "it is shown")
    boxes.nth(4).click()
    pump(page, lambda: held, "the page looks at the text")
    while held:
        held.pop().continue_()
    page.unroute(f"**/api/note/{note}")
    until(lambda: home.body(note).count("[x]") == 5, "it is ticked all the same")
    until(lambda: page.locator("#rendered input:checked").count() == 5, "that is shown")
    # The person ticks a box by key, and then takes the tick off.
    version = lambda: page.get_attribute("#markdown", "data-version")
    until(lambda: version() == home.version(note), "what is shown is what is saved")
    boxes.nth(5).focus()
    page.keyboard.press("Space")
    until(lambda: home.body(note).count("[x]") == 6 and page.locator("#rendered input:checked").count() == 6, "it is ticked")
    until(lambda: version() == home.version(note), "that is shown anew")
    page.keyboard.press("Space")
    until(lambda: home.body(note).count("[x]") == 5, "the focus is still there")


def stay_in_list(desk):
    page = desk.page
    page.click("#choose")
    page.locator("#rows .pick").first.focus()
    page.keyboard.press("Space")
    desk.add("One more")
    until(lambda: "One more" in page.inner_text("#rows"), "the list is another one")
    page.keyboard.press("Space")
    until(lambda: page.inner_text("#chosen") == "0 notes chosen", "the focus is still at the box")
    page.click("#several [data-several=none]")


def search_at_once(desk):
    page = desk.page
    desk.add("Zebra")
    desk.add("Last of all")
    until(lambda: page.inner_text("#rows .title >> nth=0") == "Last of all", "the list is there")
    desk.open(desk.add("Open"))
    held = []
    page.route("**/part/list?q=zebra*", lambda route: held.append(route))
    page.focus("#search")
    page.keyboard.insert_text("zebra")
    pump(page, lambda: held, "it is searched for")
    page.keyboard.press("Enter")
    while held:
        held.pop().continue_()
    page.unroute("**/part/list?q=zebra*")
    until(lambda: page.input_value("#title") != "Open", "a note is opened")
    assert page.input_value("#title") == "Zebra", page.input_value("#title")
    page.fill("#search", "")


def undo_after_links(desk):
    page, home = desk.page, desk.home
    note = desk.add("Linked", "[down](#end)\n")
    desk.open(note)
    desk.type_at_end("typed")
    until(lambda: saved(page) and home.body(note).endswith("typed"), "it is saved")
    page.locator("#rendered a[href$='#end']").click()
    page.evaluate("document.querySelector('.skip').click()")
    page.go_back()
    page.evaluate("fetch('/api/pair').then((answer) => answer.text())")
    page.focus("#text")
    page.keyboard.press("Control+z")
    until(lambda: home.body(note) == "[down](#end)\n", "what was typed is taken back")


def part_pasted(browser):
    """A person pastes text that has a picture beside it, attaches a file that is gone, and types into a note of which the server does not
    know the version."""
    desk = Desk(browser, "pasted")
    page, home = desk.page, desk.home
    note = desk.add("Pasted", "")
    desk.open(note)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for format in ("text/html", "text/rtf"):
        is_left = page.evaluate(PASTE, ["text/plain", format])
        assert is_left and not [each for each in asked if "/attach" in each], "the browser pastes the text"
    assert not page.evaluate(PASTE, []), "a picture alone is attached"
    until(lambda: "![[copied.png]]" in home.body(note), "it is in the text")
    for number, formats in enumerate((["text/plain"], ["text/html"])):
        assert not page.evaluate(PASTE, formats), "a file with its name, or a picture with its address, is attached"
        until(lambda: home.body(note).count("![[") == number + 2 and saved(page), "it is in the text")
    # As browsers call what is pasted, or what a camera takes: machines that attach apart have a name each.
    page.set_input_files("#attach", {"name": "image.png", "mimeType": "image/png", "buffer": PNG})
    named = r"!\[\[Picture \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.png\]\]"
    until(lambda: re.search(named, home.body(note)) and saved(page), "the picture is named by the time")
    page.evaluate(PASTE.replace("copied", "image"), [])
    until(lambda: home.body(note).count("![[Picture ") == 2 and saved(page), "so is a pasted one of last week")
    # Files that a person calls so keep their names.
    old = os.path.join(home.folder, "image.png")
    with open(old, "wb") as opened:
        opened.write(PNG)
    os.utime(old, (0, 0))
    page.set_input_files("#attach", old)
    until(lambda: "![[image.png]]" in home.body(note) and saved(page), "an old picture keeps its name")
    page.set_input_files("#attach", {"name": "image.zip", "mimeType": "application/zip", "buffer": b"PK"})
    until(lambda: "image.zip" in page.inner_text("#rendered") and saved(page), "so does what is no picture")
    assert page.evaluate("document.querySelector('#attach').value") == "", "the same file can be chosen again"
    # The second file is gone before the page sends it.
    files = [os.path.join(home.folder, name) for name in ("first.txt", "second.txt")]
    for file in files:
        with open(file, "w") as opened:
            opened.write("text")
    desk.hold("**/attach*")
    page.set_input_files("#attach", files)
    desk.is_held()
    os.remove(files[1])
    page.evaluate(SAID)
    desk.let_go("**/attach*")
    until(lambda: "cannot be read" in page.inner_text("#alerts"), "the page says why it is not attached")
    assert "“second.txt” was not attached" in page.inner_text("#alerts"), page.inner_text("#alerts")
    assert "does not answer" not in page.evaluate("said.join()"), page.evaluate("said")
    page.click("#alerts button")
    # The server does not know the version, as when an older file has taken the place of the notes: the note is not said to be deleted.
    desk.type_at_end(" newer")
    until(lambda: saved(page) and home.body(note).endswith(" newer"), "it is saved")
    unknown = '{"error":"notFound","message":"No change is named so."}'
    page.route("**/body", lambda route: route.fulfill(status=404, content_type="application/json", body=unknown))
    page.evaluate(SAID)
    with page.expect_response("**/body"):
        desk.type_at_end(" typed")
    until(lambda: page.inner_text("#saved").startswith("Kept"), "it is kept")
    page.unroute("**/body")
    until(lambda: home.body(note).endswith(" newer typed") and saved(page), "it is saved as soon as that goes")
    assert page.locator("#gone").count() == 0 and "deleted" not in page.evaluate("said.join()")
    home.stop()


# Pastes a picture with text in these formats beside it; `true` if the page leaves it to the browser.
PASTE = """(formats) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(9)], "copied.png", { type: "image/png", lastModified: 0 }));
  for (const format of formats) data.setData(format, "copied");
  const area = document.querySelector("#text");
  area.focus();
  return area.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""

# Remembers what is said on top.
SAID = """() => {
  window.said = [];
  const box = document.querySelector("#alerts");
  new MutationObserver(() => said.push(box.innerText)).observe(box, { childList: true });
}"""
