"""What is typed or chosen where scripts, disks or browsers lag behind."""

import os
import re
import time

from homes import Home, free_port, until
from pages import PNG, open_page, pump, saved


def part_early(browser):
    """Letters that are typed before the scripts run, or where neither the node nor the browser has room, are there, or the page says so."""
    home = Home("early")
    note = home.kith("note", "add", "Early", "--body", "begun").splitlines()[-1]
    folder = os.path.join(home.folder, "many")
    os.makedirs(folder)
    for number in range(130):
        with open(os.path.join(folder, f"note {number}.md"), "w") as file:
            file.write("text\n")
    home.kith("import", folder)
    home.start("web", "--port", free_port())
    page = open_page(browser, home)
    place = f"{re.match(r'https?://[^/]+', page.url).group(0)}/note/{note}"
    # A slow link: the text is there, and its scripts are not.
    held = []
    page.route("**/editor.js", lambda route: held.append(route))
    page.goto(place, wait_until="commit")
    page.locator("#text").wait_for()
    assert page.inner_text("#saved") == "", "the page says that it is saved before it can know"
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.type(" at once")
    pump(page, lambda: held, "the script is asked for")
    for route in held:
        route.continue_()
    page.unroute("**/editor.js")
    until(lambda: home.body(note) == "begun at once" and saved(page), "what was typed before is saved")
    assert page.input_value("#text") == "begun at once"
    # The disk is full: after a reload what was typed is seen, and not said to be saved.
    full = lambda route: route.fulfill(status=507, content_type="application/json", body='{"error":"diskFull","message":"The disk is full."}')
    context = page.context
    context.route("**/body", full)
    page.keyboard.type(" more")
    until(lambda: page.inner_text("#saved") == "Kept in this browser", "the page says where it is kept")
    # Nor does it take the place of what another tab has left.
    other = context.new_page()
    other.goto(place)
    other.locator("#text").wait_for()
    until(lambda: saved(other), "the note is open there")
    other.focus("#text")
    other.keyboard.press("Control+Home")
    other.keyboard.type("other, ")
    until(lambda: other.inner_text("#saved") == "Kept in this browser", "it is kept there")
    other.close()
    page.reload()
    until(lambda: page.inner_text("#saved") == "Kept in this browser" and "full" in page.inner_text("#alerts"), "the page says so again")
    assert page.input_value("#text") == "begun at once more"
    page.select_option("#color", "green")
    context.unroute("**/body")
    until(lambda: home.body(note) == "other, begun at once more" and saved(page), "all is saved once there is room")
    until(lambda: '"green"' in home.kith("note", "show", note, "--json"), "the note has the color")
    until(lambda: page.inner_text("#alerts") == "", "nothing is said that is so no longer")
    page.route("**/fields", full)
    page.select_option("#color", "red")
    until(lambda: "full" in page.inner_text("#alerts"), "the page says that a color was not taken")
    until(lambda: page.input_value("#color") == "green", "no color is shown that the note does not have", 10)
    page.unroute("**/fields")
    # The browser is full, and nobody answers.
    page.evaluate("for (let size = 1 << 22; size > 0; size >>= 1) { try { for (;;) localStorage[`x${Object.keys(localStorage).length}`] = 'x'.repeat(size); } catch {} }")
    home.kill()
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.type(" lost")
    until(lambda: "no room" in page.inner_text("#alerts"), "the page says that this browser has no room")
    time.sleep(1)
    assert page.inner_text("#saved").startswith("Not saved"), page.inner_text("#saved")
    page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('x')).forEach((name) => localStorage.removeItem(name))")
    page.keyboard.type(".")
    until(lambda: page.inner_text("#saved") == "Kept in this browser" and "no room" not in page.inner_text("#alerts"), "it is kept again")
    home.start_page_again(re.search(r":(\d+)", page.url).group(1))
    until(lambda: home.body(note) == "other, begun at once more lost." and saved(page), "it is saved when the node is back")
    # Pictures of one name, and of a name that would end a link.
    for name in ("image.png", "image.png", "x#1|].png"):
        page.set_input_files("#attach", {"name": name, "mimeType": "image/png", "buffer": PNG + name.encode() + os.urandom(4)})
        until(lambda: saved(page), "the picture is attached")
    until(lambda: page.locator("#markdown img").count() == 3, "all pictures are shown")
    pictures = page.locator("#markdown img").evaluate_all("(all) => all.map(({ src }) => src)")
    assert len(set(pictures)) == 3, f"{pictures}: {home.body(note)}"
    # From one box to another one with Shift, and to one that is not shown yet; from note to note beyond what is shown.
    page.click("#choose")
    boxes = page.locator("#rows .pick")
    boxes.nth(1).click()
    boxes.nth(5).click(modifiers=["Shift"])
    until(lambda: page.inner_text("#chosen") == "5 notes chosen", "all from one box to the other are chosen")
    page.evaluate("document.querySelector('#list').scrollTop = 1e6")
    until(lambda: page.evaluate("document.querySelector('#rows').style.paddingBottom") == "0px", "the end is shown")
    page.locator("#rows li a").last.click(modifiers=["Shift"])
    until(lambda: page.inner_text("#chosen") == "130 notes chosen", "all up to the end are chosen")
    page.click("#several [data-several=none]")
    page.evaluate("document.querySelector('#list').scrollTop = 0")
    until(lambda: page.locator("#rows li").first.get_attribute("aria-posinset") == "1", "the beginning is shown")
    page.locator("#rows li a").first.click()
    page.locator("#rows li a[aria-current]").focus()
    seen = set()
    for _ in range(75):
        page.keyboard.press("j")
        # The address is another one a moment before the list knows.
        current = lambda: page.evaluate("location.href.endsWith(document.querySelector('#rows li:has(a[aria-current])')?.dataset.id) && location.href")
        until(lambda: current() and current() not in seen, "the next note is opened")
        seen.add(current())
    assert not [each for each in page.complaints if "507" not in each and "ERR_" not in each], page.complaints
    home.stop()
