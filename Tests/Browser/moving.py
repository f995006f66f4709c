"""A person moves on while the page waits for an answer: the page does what they asked for, and nothing else."""

import json
import re

from homes import Home, until
from pages import PNG, open_page, pump, saved


class Desk:
    """A person's page; tests hold its requests back."""

    def __init__(self, browser, name):
        self.home = Home(name)
        self.home.start("web", "--port", "0", "--no-discovery")
        self.page = open_page(browser, self.home)
        self.base = re.match(r"https?://[^/]+", self.page.url).group(0)
        self.held = []

    def add(self, title, body="text"):
        return self.home.kith("note", "add", title, "--body", body).splitlines()[-1]

    def tab(self):
        tab = self.page.context.new_page()
        tab.set_default_timeout(60_000)
        return tab

    def open(self, note, page=None):
        page = page or self.page
        page.goto(f"{self.base}/note/{note}")
        page.locator("#text").wait_for()
        until(lambda: saved(page) and page.inner_text("#status") != "", "the note is open")

    def turn_to(self, note):
        """Opens the note from the list, so that the page is not loaded anew."""
        until(lambda: self.page.locator(f'#rows li[data-id="{note}"]').count() == 1, "it is in the list")
        self.page.evaluate("(id) => document.querySelector(`#rows li[data-id='${id}'] a`).click()", note)
        self.page.wait_for_url(f"**/note/{note}")
        self.page.locator(f"#note[data-id='{note}']").wait_for()

    def type_at_end(self, words, page=None):
        page = page or self.page
        page.focus("#text")
        page.keyboard.press("Control+End")
        page.keyboard.insert_text(words)

    def hold(self, path):
        """Holds back requests of this path that change something, until they are let go."""
        self.page.route(path, lambda route: self.held.append(route) if route.request.method == "POST" else route.continue_())

    def is_held(self, count=1):
        pump(self.page, lambda: len(self.held) >= count, "it is asked for")

    def let_go(self, path):
        while self.held:
            self.held.pop(0).continue_()
        # This also lets go what the page has asked for since.
        self.page.unroute(path)
        self.held.clear()

    def settle(self):
        """Waits until the page would have asked for what follows from the last answer."""
        self.page.evaluate("fetch('/api/pair').then((answer) => answer.text())")

    def titles(self):
        return sorted(line.split("  ")[-1] for line in self.home.kith("note", "list").splitlines())


def part_moving_on(browser):
    """While the page deletes, restores or writes a note, or sends a picture, the person opens another note, or types elsewhere."""
    desk = Desk(browser, "moving")
    old, precious = desk.add("Old", "rubbish"), desk.add("Precious", "precious")
    leave_what_is_deleted(desk, old, precious)
    leave_what_is_asked_for(desk, old, precious)
    leave_what_is_pinned(desk, old, precious)
    # The news that it is deleted may come before the answer.
    assert not [each for each in desk.page.complaints if "404" not in each], desk.page.complaints
    put_in_pictures(desk)
    desk.home.stop()


def leave_what_is_deleted(desk, old, precious):
    page, home = desk.page, desk.home
    desk.open(old)
    desk.hold("**/body")
    desk.type_at_end(" more")
    page.click("#delete")
    desk.is_held()
    desk.turn_to(precious)
    desk.let_go("**/body")
    until(lambda: home.kith("trash", "list"), "a note is deleted")
    desk.type_at_end(" and more")
    until(lambda: home.body(precious) == "precious and more" and saved(page), "the other note is there, and saved")
    assert page.url.endswith(precious) and "Old" in home.kith("trash", "list"), home.kith("trash", "list")
    # The person searches already when the answer comes.
    rubbish = desk.add("Rubbish")
    desk.turn_to(rubbish)
    desk.hold("**/api/notes/delete")
    page.click("#delete")
    desk.is_held()
    page.focus("#search")
    desk.let_go("**/api/notes/delete")
    page.locator("#gone").wait_for()
    until(lambda: "Rubbish" not in page.inner_text("#rows"), "the note is deleted")
    assert focused(page) == "search", focused(page)
    home.kith("trash", "restore", rubbish)
    desk.turn_to(precious)


def leave_what_is_asked_for(desk, old, precious):
    page, home = desk.page, desk.home
    page.goto(desk.base + "/trash")
    desk.hold("**/api/trash/restore")
    page.click(".restore")
    desk.is_held()
    desk.turn_to(precious)
    page.focus("#text")
    with page.expect_response("**/api/trash/restore"):
        desk.let_go("**/api/trash/restore")
    until(lambda: home.body(old), "the note is restored")
    desk.hold("**/api/note")
    page.click("#new")
    desk.is_held()
    page.focus("#text")
    with page.expect_response("**/api/note"):
        desk.let_go("**/api/note")
    until(lambda: "New note" in page.inner_text("#rows"), "the new note is in the list")
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(".")
    until(lambda: home.body(precious) == "precious and more.", "the person types on in the same note")
    assert page.url.endswith(precious), page.url
    # The person opens another note before the answer comes, or searches before the new note is shown.
    note = desk.add("Other")
    desk.hold("**/api/day")
    page.click("#today")
    desk.is_held()
    desk.turn_to(note)
    with page.expect_response("**/api/day"):
        desk.let_go("**/api/day")
    page.route("**/note/*", lambda route: desk.held.append(route))
    desk.settle()
    assert not desk.held and page.url.endswith(note), page.url
    page.click("#new")
    desk.is_held()
    page.focus("#search")
    desk.let_go("**/note/*")
    page.wait_for_url(lambda url: not url.endswith(note))
    page.locator("#note").wait_for()
    desk.settle()
    assert focused(page) == "search", focused(page)


def leave_what_is_pinned(desk, old, precious):
    """A person pins and tags a note while the page looks at it, and opens another one: it is pinned and tagged all the same."""
    page, home = desk.page, desk.home
    desk.open(old)
    page.route(f"**/api/note/{old}", lambda route: desk.held.append(route))
    home.kith("note", "edit", old, "--body", "theirs")
    desk.is_held()
    page.click("#pin")
    page.fill("#tag", "kept")
    page.press("#tag", "Enter")
    desk.turn_to(precious)
    desk.let_go(f"**/api/note/{old}")
    shown = lambda: json.loads(home.kith("note", "show", old, "--json"))
    until(lambda: shown()["pinned"] and shown()["tags"] == ["kept"], "it is pinned and tagged")


def put_in_pictures(desk):
    """A picture is put where the cursor was when the person attached it, whatever they type meanwhile."""
    page, home = desk.page, desk.home
    note, other = desk.add("Pictures", "start end"), desk.add("Another")
    choose = lambda: page.set_input_files("#attach", {"name": "dot.png", "mimeType": "image/png", "buffer": PNG})
    desk.open(note)
    page.focus("#text")
    page.evaluate("document.querySelector('#text').setSelectionRange(5, 5)")
    desk.hold("**/attach*")
    choose()
    desk.is_held()
    page.keyboard.type(", typed on")
    page.keyboard.press("Control+Home")
    page.keyboard.type("above ")
    keys = page.context.new_cdp_session(page)
    keys.send("Input.imeSetComposition", {"text": "ka", "selectionStart": 2, "selectionEnd": 2})
    with page.expect_response("**/attach*"):
        desk.let_go("**/attach*")
    until(lambda: "dot.png" in page.evaluate(READING), "it is attached")
    assert page.input_value("#text") == "above kastart, typed on end", page.input_value("#text")
    keys.send("Input.insertText", {"text": "\u6f22"})
    expected = "above \u6f22start![[dot.png]], typed on end"
    until(lambda: home.body(note) == expected and saved(page), "it stands where it was attached")
    # What stands before it is taken back, and others write there, while a picture is on its way.
    page.evaluate("document.querySelector('#text').setSelectionRange(0, 0)")
    page.keyboard.insert_text("mine, ")
    page.evaluate("(place) => document.querySelector('#text').setSelectionRange(place, place)", len("mine, " + expected) - 4)
    desk.hold("**/attach*")
    choose()
    desk.is_held()
    page.keyboard.press("Control+z")
    until(lambda: home.body(note) == expected and saved(page), "what was typed is taken back")
    home.kith("note", "edit", note, "--body", "theirs, " + expected)
    until(lambda: page.input_value("#text") == "theirs, " + expected, "what others wrote is shown")
    desk.let_go("**/attach*")
    expected = expected[:-4] + "![[dot-2.png]]" + expected[-4:]
    until(lambda: plain(home.body(note)) == f"theirs, {expected}" and saved(page), "it stands where it was attached")
    home.kith("note", "edit", note, "--body", home.body(note).removeprefix("theirs, "))
    until(lambda: plain(page.input_value("#text")) == expected and saved(page), "what they wrote is gone")
    # The person leaves the note, and opens it again, while a picture is on its way.
    desk.hold("**/attach*")
    page.evaluate("document.querySelector('#text').setSelectionRange(5, 5)")
    choose()
    desk.is_held()
    desk.turn_to(other)
    desk.turn_to(note)
    desk.type_at_end(", typed now")
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("on top, ")
    with page.expect_response("**/attach*"):
        desk.let_go("**/attach*")
    expected = "on top, " + expected.replace("above", "above![[dot-2.png]]") + ", typed now"
    until(lambda: plain(home.body(note)) == expected and saved(page), "the picture is there, too")
    # One that fails keeps no other one from its turn.
    page.evaluate("""import('/app.js').then(({ current }) => {
      const { attachments } = current();
      attachments.insert = () => { delete attachments.insert; throw new Error("It does not fit."); };
    })""")
    desk.type_at_end(" ")
    page.set_input_files("#attach", [{"name": name, "mimeType": "image/png", "buffer": PNG} for name in ("odd.png", "dot.png")])
    until(lambda: "It does not fit." in page.inner_text("#alerts"), "the page says what went wrong")
    until(lambda: plain(home.body(note)) == f"{expected} ![[dot-2.png]]" and saved(page), "the next one is put in")


def plain(text):
    """With one name for all pictures but the first one."""
    return re.sub(r"dot[^.\]]+\.png", "dot-2.png", text)


def focused(page):
    return page.evaluate("document.activeElement.id")


# What this browser keeps that is not saved.
DRAFTS = "Object.keys(localStorage).filter((name) => name.startsWith('kith:draft:'))"
# The note as it reads, asked for by itself.
READING = "fetch('/part/rendered/' + location.pathname.split('/').at(-1)).then((answer) => answer.text())"


def part_titles(browser):
    """Two people change a title: the page asks which one to take, and asks again after it was loaded anew or the note opened again."""
    desk = Desk(browser, "titles")
    page, home = desk.page, desk.home
    other = desk.add("Another")
    for answer, is_left in (("Take that one", False), ("Keep mine", True), ("Keep mine", False)):
        note = desk.add("Begun")
        desk.open(note)
        page.context.set_offline(True)
        page.fill("#title", "Mine")
        until(lambda: page.inner_text("#saved") == "Kept in this browser", "it is kept")
        home.kith("note", "edit", note, "--title", "Theirs")
        page.context.set_offline(False)
        page.locator("#titles").wait_for()
        if is_left:
            desk.turn_to(other)
            desk.turn_to(note)
        else:
            page.reload()
        page.locator("#titles").wait_for()
        title = lambda: json.loads(home.kith("note", "show", note, "--json"))["title"]
        assert page.input_value("#title") == "Mine" and title() == "Theirs", title()
        page.click(f"#titles button:has-text('{answer}')")
        chosen = "Mine" if answer == "Keep mine" else "Theirs"
        until(lambda: title() == chosen and page.input_value("#title") == chosen and saved(page), "it is what was chosen")
    type_late(desk, note, "Late")
    # The note is restored: what was typed is saved, also if the person knows before the page does.
    home.kith("trash", "restore", note)
    until(lambda: title() == "Late" and page.inner_text("#alerts") == "", "what was typed is saved")
    type_late(desk, note, "Later")
    page.evaluate(HIDE)
    home.kith("trash", "restore", note)
    page.click("#alerts button:has-text('Discard')")
    until(lambda: title() == "Later" and page.inner_text("#alerts").startswith("The note was restored:"), "what was typed is saved")
    # A version of the text is not known: the note is no deleted one.
    unknown = '{"error":"notFound","message":"No change is named so."}'
    desk.open(note)
    page.context.set_offline(True)
    desk.type_at_end(" typed")
    until(lambda: page.inner_text("#saved") == "Kept in this browser", "it is kept")
    page.goto("about:blank")
    page.context.set_offline(False)
    page.context.route("**/body", lambda route: route.fulfill(status=404, content_type="application/json", body=unknown))
    page.goto(desk.base)
    until(lambda: "could not be saved" in page.inner_text("#alerts"), "the page says that it is not saved")
    page.context.unroute("**/body")
    page.reload()
    until(lambda: home.body(note).endswith(" typed") and page.evaluate(DRAFTS) == [], "it is saved")
    # The person discards what they typed into a deleted note.
    type_late(desk, note, "Latest")
    page.click("#alerts button:has-text('Discard')")
    until(lambda: page.inner_text("#alerts") == "", "nothing is said any more")
    assert page.evaluate(DRAFTS) == []
    home.stop()


def type_late(desk, note, title):
    """Types a title while nobody answers; the note is deleted before it is saved, and the page opened anew."""
    page = desk.page
    desk.open(note)
    page.context.set_offline(True)
    page.fill("#title", title)
    until(lambda: page.inner_text("#saved") == "Kept in this browser", "it is kept")
    desk.home.kith("note", "rm", note)
    page.goto("about:blank")
    page.context.set_offline(False)
    page.goto(desk.base)
    until(lambda: "A note was deleted" in page.inner_text("#alerts") and page.inner_text("#status") != "", "the page says so")


# Nobody sees the page: so it hears no news.
HIDE = "Object.defineProperty(document, 'hidden', { value: true }); document.dispatchEvent(new Event('visibilitychange'));"
