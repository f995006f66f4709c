"""What two people wrote at once, what strangers write into names and texts, and what one sees first."""

import json
import os
import re

from homes import FOLDER, Home, two_nodes, until
from pages import PNG, open_page, picture, saved


def pair_by_token(page, other, name):
    """Another machine pairs with the token that the page shows."""
    page.goto(re.sub(r"^(https?://[^/]+).*", r"\1/devices", page.url))
    page.click("#token")
    token = page.locator("#pairing .token")
    token.wait_for()
    assert page.locator("#pairing svg.code path").count() == 1, "it is shown as a picture, too"
    port = re.search(r"the port (\d+)", page.inner_text("#pairing")).group(1)
    other.kith("pair", token.inner_text(), "--address", f"127.0.0.1:{port}", "--no-discovery", "--name", name)
    until(lambda: "Paired with" in page.inner_text("#pairing"), "the page says that they are paired")
    until(lambda: name in page.inner_text("#report"), "the other machine is in the list")


def part_conflicts(browser):
    """Two people change one line at once, twice: they choose one side, and then what became of both. The trash gives back and is emptied,
    the history knows who wrote, and a machine without a screen pairs by the page's token."""
    desk, laptop, cable = two_nodes("choosing", "choosing-laptop")
    add = lambda title, body: desk.kith("note", "add", title, "--body", body).splitlines()[-1]
    soup, tea, old = add("Soup", "water\nleek\nsalt\n"), add("Tea", "black\nmilk\n"), add("Old", "gone")
    until(lambda: laptop.body(tea) and laptop.body(soup) and laptop.body(old), "the other machine has the notes")
    cable.cut()
    desk.kith("note", "edit", soup, "--body", "water\npotato\nsalt\n", "--base", desk.version(soup))
    laptop.kith("note", "edit", soup, "--body", "water\nonion\nsalt\n", "--base", laptop.version(soup))
    desk.kith("note", "edit", tea, "--body", "green\nmilk\n", "--base", desk.version(tea))
    laptop.kith("note", "edit", tea, "--body", "white\nmilk\n", "--base", laptop.version(tea))
    cable.mend()
    until(lambda: desk.body(tea) == laptop.body(tea) and desk.body(soup) == laptop.body(soup), "both have both")
    page = open_page(browser, desk)
    base = page.url.rstrip("/")
    until(lambda: page.inner_text("nav .count") == "2", "the page says that there is something to choose")
    contested = lambda: page.locator("#rows li:has(.contested)").count()
    until(lambda: contested() == 2, "the list marks both")
    other = open_page(browser, laptop)
    other.goto(other.url.rstrip("/") + f"/note/{tea}")
    until(lambda: other.locator("#contested").is_visible(), "the open note says it")
    page.click("nav a[href='/conflicts']")
    choice = lambda note: page.locator(f"section.choice[data-id='{note}']")
    focused = lambda selector: page.evaluate("(selector) => document.activeElement.matches(selector)", selector)
    until(lambda: choice(soup).count() == 1 and choice(tea).count() == 1, "both choices are shown")
    assert "leek" in choice(soup).locator("q").inner_text(), "it says what was there before"
    # The other machine's side, and then the merge.
    choice(soup).locator("li:has(p:has-text('by laptop')) button:has-text('Keep this')").click()
    until(lambda: choice(soup).count() == 0, "it is chosen")
    until(lambda: focused(f".choice a[href='/note/{tea}']"), "the focus is at the next choice")
    merged = desk.body(tea)
    assert "green" in merged and "white" in merged, merged
    choice(tea).locator("li:has(p:has-text('both, as it stands')) button").click()
    until(lambda: "There is nothing to choose" in page.inner_text("main") and focused("#main"), "all is chosen")
    for home in (desk, laptop):
        until(lambda: home.body(soup) == "water\nonion\nsalt\n", "what was chosen is on both machines")
        until(lambda: not home.kith("conflicts", "list"), "there is nothing to choose on either")
        assert home.body(tea) == merged
    until(lambda: other.locator("#contested").is_hidden(), "the open note says it no longer")
    until(lambda: page.locator("nav .count").count() == 0, "nothing is counted any more")
    until(lambda: contested() == 0, "the list marks none any more")
    # The history says who wrote.
    page.goto(f"{base}/note/{soup}/history")
    said = []
    last = int(page.get_attribute("#version", "max"))
    for number in range(last, -1, -1):
        until(lambda: page.inner_text("#about").startswith(f"{number + 1} of {last + 1}: "), "a version is shown")
        said.append(page.inner_text("#about"))
        page.focus("#version")
        page.keyboard.press("ArrowLeft")
    assert any("this device" in about for about in said) and any("laptop" in about for about in said), said
    # The trash.
    desk.kith("note", "rm", old)
    page.goto(base + "/trash")
    page.click(f"tr[data-id='{old}'] .restore")
    until(lambda: "The trash is empty" in page.inner_text("main") and desk.body(old) == "gone", "the note is back")
    until(lambda: focused("#main"), "the focus stays in the sheet")
    desk.kith("note", "rm", old)
    page.goto(base + "/trash")
    answers = []
    page.on("dialog", lambda dialog: dialog.accept() if answers.pop(0) else dialog.dismiss())
    answers.append(False)
    page.click("#empty")
    assert page.locator(f"tr[data-id='{old}']").count() == 1, "nothing is done without a yes"
    answers.append(True)
    page.click("#empty")
    until(lambda: "The trash is empty" in page.inner_text("main") and not desk.kith("trash", "list"), "the trash is emptied")
    # The other machine deletes nearly all, and one button brings it back.
    recipes = os.path.join(FOLDER, "recipes")
    os.mkdir(recipes)
    for number in range(60):
        with open(os.path.join(recipes, f"Recipe {number}.md"), "w") as file:
            file.write("flour")
    desk.kith("import", recipes)
    many = [note["id"] for note in json.loads(desk.kith("note", "list", "--json")) if note["title"].startswith("Recipe ")]
    until(lambda: all(laptop.body(note) for note in many), "the other machine has the recipes")
    laptop.kith("note", "rm", *many)
    until(lambda: len(desk.kith("note", "list").splitlines()) == 2, "they are gone here, too")
    page.goto(base + "/trash")
    assert "laptop deleted 60 of 62 notes" in page.inner_text(".notice"), page.inner_text("main")
    for width, height in ((390, 844), (1280, 900)):
        page.set_viewport_size({"width": width, "height": height})
        picture(page, f"large-deletion-{width}")
    page.click("button:has-text('Bring them back')")
    until(lambda: "The trash is empty" in page.inner_text("main"), "the trash gave all of it back")
    until(lambda: len(laptop.kith("note", "list").splitlines()) == 62, "they are back on the other machine, too")
    pair_by_token(page, Home("choosing-attic"), "attic")
    assert not page.complaints, page.complaints


# Runs where a page takes it for HTML. A tag has no spaces.
EVIL = "<img src=x onerror=window.hit=1>"
EVIL_TAG = "<img/src=x/onerror=window.hit=1>"


def part_hostile(browser):
    """HTML in a title, a text, a tag, the names of a file and of a device: it is text at every place of the page, on both machines."""
    desk, laptop, cable = two_nodes("hostile", "hostile-laptop")
    desk.kith("device", "rename", "laptop", EVIL + "laptop")
    note = desk.kith("note", "add", EVIL, "--body", f"{EVIL}\n\n- [ ] {EVIL}\n\n[[{EVIL}]] ![[{EVIL}]]\n", "--tag", EVIL_TAG).splitlines()[-1]
    gone = desk.kith("note", "add", EVIL + "gone", "--body", EVIL).splitlines()[-1]
    plain = desk.kith("note", "add", "Marked", "--body", EVIL).splitlines()[-1]
    until(lambda: laptop.body(note) and laptop.body(gone) and laptop.body(plain), "the other machine has the notes")
    cable.cut()
    for home, side in ((desk, "1"), (laptop, "2")):
        home.kith("note", "edit", note, "--title", EVIL + side)
        home.kith("note", "edit", note, "--body", home.body(note).replace("- [ ]", f"- [ ] {EVIL}{side}"), "--base", home.version(note))
    cable.mend()
    desk.kith("note", "rm", gone)
    until(lambda: desk.body(note) == laptop.body(note) and not laptop.body(gone), "both have both")
    for home in (desk, laptop):
        page = open_page(browser, home)
        base = page.url.rstrip("/")

        def check(where):
            page.wait_for_timeout(50)
            assert page.evaluate("window.hit") is None, f"it ran: {where}"
            made = page.evaluate("document.querySelectorAll('img[onerror], img[src=x]').length")
            assert made == 0, f"it became a part of the page: {where}"

        page.fill("#search", "img")
        until(lambda: page.locator("#rows mark").count() > 0, "it is found, and marked")
        check("search")
        assert EVIL in page.inner_text("#rows") and EVIL_TAG in page.inner_text("#rows"), page.inner_text("#rows")
        page.goto(f"{base}/note/{note}")
        page.set_input_files("#attach", {"name": EVIL + ".png", "mimeType": "image/png", "buffer": PNG})
        page.locator("#rendered a.file").first.wait_for()
        until(lambda: saved(page), "it is attached")
        check("attaching")
        assert EVIL in page.inner_text("#rendered") and EVIL in page.title()
        paths = ("/", f"/note/{note}/history", "/trash", "/conflicts", "/devices", f"/note/{note}")
        for path in paths:
            page.goto(base + path)
            check(path)
        # Also as a part of the page that is there already.
        for path in paths:
            page.evaluate("(path) => import('/app.js').then(({ go }) => go(path))", path)
            check(path)
            if path in ("/trash", "/conflicts", f"/note/{note}/history"):
                assert EVIL in page.inner_text("main"), path
        page.goto(base + "/devices")
        if home is desk:
            assert EVIL in page.inner_text("main")
            page.click("#doctor")
            page.locator("#findings li").first.wait_for()
            check("doctor")
            pair_by_token(page, Home("hostile-attic"), EVIL + "attic")
            check("pairing")
        page.context.close()


def part_first(browser):
    """The first visit explains itself; of 10,000 notes the page holds only what is seen, wherever one scrolls to."""
    home = Home("first-visit")
    home.start("web", "--port", "0", "--no-discovery")
    page = open_page(browser, home)
    assert "write a new one: it is saved as you type, and comes to your other machines by itself." in page.inner_text("main")
    assert page.locator("#rows li").count() == 0
    home.stop()
    many = os.path.join(FOLDER, "many.jsonl")
    with open(many, "w") as file:
        file.write(json.dumps({"kith": {"format": "kith-notes", "version": 1}}) + "\n")
        for number in range(10_000):
            note = {"id": f"01900000-0000-7000-8000-{number:012d}", "title": f"Note {number}", "body": "text " * 20, "color": 0, "tags": [],
                    "created": 1_767_225_600_000 + number, "updated": 1_767_225_600_000 + number, "pinned": False, "deleted": False,
                    "attachments": []}
            file.write(json.dumps({"note": note}) + "\n")
        file.write(json.dumps({"end": {"notes": 10_000}}) + "\n")
    home.kith("import", many)
    home.start("web", "--port", "0", "--no-discovery")
    page = open_page(browser, home)
    assert page.get_attribute("#list", "data-total") == "10000"
    seen = set()
    for share in (0, 0.5, 1):
        page.evaluate("(share) => { const list = document.querySelector('#list'); list.scrollTop = share * list.scrollHeight; }", share)
        # A row stands where one looks.
        until(lambda: page.evaluate(LOOKED_AT), "the rows are there")
        rows = page.locator("#rows li").count()
        assert 0 < rows < 200, f"{rows} rows at {share}"
        everything = page.evaluate("document.querySelectorAll('*').length")
        assert everything < 3_000, f"{everything} elements at {share}"
        seen.add(page.evaluate(LOOKED_AT))
    assert len(seen) == 3, seen
    page.evaluate("document.querySelector('#list').scrollTop = 1e9")
    until(lambda: "Note 0\n" in page.inner_text("#rows") + "\n" or "Note 9999\n" in page.inner_text("#rows") + "\n", "the last note is there")
    assert not page.complaints, page.complaints


# The id of the note in the middle of what is seen of the list.
LOOKED_AT = """() => {
  const { left, top, width, height } = document.querySelector("#list").getBoundingClientRect();
  return document.elementFromPoint(left + width / 2, top + height / 2)?.closest("#rows li")?.dataset.id ?? null;
}"""
