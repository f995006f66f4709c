"""A person types into a note that is deleted: that is saved if the note is restored, or written as a new note, once."""

import re

from homes import Home, until
from moving import DRAFTS, Desk, focused
from pages import saved


def part_gone(browser):
    """Others delete a note, restore it and delete it again, while a person types into it, leaves it, and writes it as a new one."""
    desk = Desk(browser, "gone")
    write_in_what_is_deleted(desk, desk.add("Precious"))
    desk.page.add_init_script(SELDOM)
    other = desk.add("Other")
    write_what_was_typed_last(desk, other)
    write_once(desk, other)
    stay_where_one_is(desk)
    restore_it_there(desk)
    # That a note is gone, that one is not shown, and that an answer is lost.
    assert not [each for each in desk.page.complaints if not re.search("404|500|ERR_FAILED", each)], desk.page.complaints
    desk.home.stop()


def write_in_what_is_deleted(desk, precious):
    """A person types into a note that another tab has deleted: that is saved when the note is restored, or written as a new note."""
    page, home, other = desk.page, desk.home, desk.tab()
    desk.open(precious, other)
    desk.open(precious)
    page.click("#delete")
    other.locator("#gone").wait_for()
    assert "kept in this browser" not in other.inner_text("#gone"), "nothing was typed that would be kept"
    # The page asks whether the note is gone, and hears the answer only when it is there again.
    answers = []
    other.route(f"**/api/note/{precious}", lambda route: answers.append((route, route.fetch())), times=1)
    desk.type_at_end(" late", other)
    until(lambda: "kept in this browser" in other.inner_text("#gone"), "the page says where it is kept")
    until(lambda: other.inner_text("#gone") and answers, "the page has asked")
    home.kith("trash", "restore", precious)
    other.wait_for_timeout(1_500)
    [(asked, answer)] = answers
    asked.fulfill(response=answer)
    other.wait_for_timeout(500)
    until(lambda: home.body(precious).endswith(" late") and other.locator("#gone").count() == 0, "it is saved, and not said to be deleted")
    # The person types on until a new note is there, and then into that one.
    desk.open(precious)
    home.kith("note", "rm", precious)
    page.locator("#gone").wait_for()
    desk.hold("**/api/note")
    page.click("#gone button")
    desk.is_held()
    desk.type_at_end(", typed")
    page.keyboard.press("ArrowLeft")
    desk.let_go("**/api/note")
    page.wait_for_url(lambda url: not url.endswith(precious))
    page.locator("#text").wait_for()
    until(lambda: focused(page) == "text", "the person is where they typed")
    page.keyboard.insert_text(" on")
    written = page.url.split("/")[-1]
    until(lambda: (home.body(written) or "").endswith(" late, type ond") and saved(page), "all that was typed is in the new note")
    until(lambda: page.evaluate(DRAFTS) == [] and page.inner_text("#alerts") == "", "nothing is left of the old one")


def part_elsewhere(browser):
    """Another Kith takes the address of the page: what was typed into a note of the first stays that one's, and is not called deleted."""
    desk = Desk(browser, "elsewhere")
    page, home, port = desk.page, desk.home, desk.base.split(":")[-1]
    note, closed = desk.add("Open"), desk.add("Closed")
    tab = desk.tab()
    desk.open(closed, tab)
    desk.open(note)
    home.stop()
    for each in (page, tab):
        desk.type_at_end(" late", each)
        until(lambda: each.inner_text("#saved").startswith("Kept"), "it is kept")
    tab.close()
    other = Home("another")
    other.kith("note", "add", "Theirs", "--body", "theirs")
    other.start_page_again(port)
    theirs = desk.tab()
    theirs.goto(other.entrance())
    # The person looks at the first page again.
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    until(lambda: page.locator("#gone").count() == 1 and page.inner_text("#gone").startswith("This note is none of"), "the page says so")
    until(lambda: "belongs to another Kith" in theirs.inner_text("#alerts"), "the page of the other one says what is kept")
    assert "deleted before" not in theirs.inner_text("#alerts"), theirs.inner_text("#alerts")
    assert len(other.kith("note", "list").splitlines()) == 1, other.kith("note", "list")
    other.stop()
    home.start_page_again(port)
    page.goto(home.entrance())
    until(lambda: home.body(note) == home.body(closed) == "text late", "what was typed is saved where it belongs")
    until(lambda: page.evaluate(DRAFTS) == [] and page.inner_text("#alerts") == "", "nothing is left of it")
    home.stop()


def write_what_was_typed_last(desk, other):
    """The page offers to write a draft, which has another text by the time the person presses the button, or is written already."""
    page, home = desk.page, desk.home
    note = desk.add("Twice deleted", "")
    desk.open(note)
    for words in ("first", " second"):
        type_into_what_is_deleted(desk, note, words)
        desk.turn_to(other)
        until(lambda: "A note was deleted" in page.inner_text("#alerts"), "the page offers to write it")
        if words == "first":
            home.kith("trash", "restore", note)
            desk.turn_to(note)
            until(lambda: home.body(note) == "first" and saved(page), "it is saved")
    page.click("#alerts button:has-text('Write it as a new note')")
    page.wait_for_url(lambda url: not url.endswith(other))
    until(lambda: home.body(page.url.split("/")[-1]) == "first second", "all that was typed is in the new note")
    until(lambda: page.evaluate(DRAFTS) == [] and page.inner_text("#alerts") == "", "nothing is left of the old one")


def write_once(desk, other):
    """The person leaves before the new note is written, or the new note is not shown, and the old one restored and deleted again."""
    page, home = desk.page, desk.home
    note = desk.add("Left", "")
    desk.open(note)
    type_into_what_is_deleted(desk, note, "typed")
    desk.hold("**/api/note")
    page.click("#gone button")
    desk.is_held()
    desk.turn_to(other)
    until(lambda: "A note was deleted" in page.inner_text("#alerts"), "the page offers to write it")
    desk.let_go("**/api/note")
    until(lambda: page.inner_text("#alerts") == "", "it is written, and not offered any more")
    assert desk.titles().count("Left") == 1 and page.evaluate(DRAFTS) == [], desk.titles()
    note = desk.add("Unheard", "")
    desk.open(note)
    type_into_what_is_deleted(desk, note, "typed")
    page.route("**/api/note", lambda route: (route.fetch(), route.abort()), times=1)
    page.click("#gone button")
    until(lambda: "That was not done" in page.inner_text("#alerts"), "the page has heard no answer")
    desk.type_at_end(", more")
    page.click("#gone button")
    page.wait_for_url(lambda url: not url.endswith(note))
    until(lambda: home.body(page.url.split("/")[-1]) == "typed, more", "all that was typed is in the new note")
    assert desk.titles().count("Unheard") == 1 and page.evaluate(DRAFTS) == [], desk.titles()
    page.click("#alerts button:has-text('Close')")
    note = desk.add("Not shown", "")
    desk.open(note)
    type_into_what_is_deleted(desk, note, "typed")
    refused = []
    page.route(SHOWN, lambda route: (refused.append(route.request.url), route.fulfill(status=500, body="{}")))
    page.click("#gone button")
    until(lambda: saved(page) and refused, "it is written")
    page.evaluate("import('/app.js').then(({ current }) => current().save())")
    assert page.evaluate(DRAFTS) == [] and "kept" not in page.inner_text("#gone"), page.inner_text("#gone")
    desk.type_at_end(", more")
    until(lambda: "kept in this browser" in page.inner_text("#gone") and page.inner_text("#saved").startswith("Kept"), "more is kept")
    page.unroute(SHOWN)
    home.kith("trash", "restore", note)
    until(lambda: home.body(note) == "typed, more" and page.locator("#gone").count() == 0, "all of it is saved")
    # Others write into the new note before it is shown.
    home.kith("note", "rm", note)
    page.locator("#gone").wait_for()
    page.route(SHOWN, lambda route: desk.held.append(route))
    page.click("#gone button")
    desk.is_held()
    first, second = (url.split("/")[-1] for url in (refused[0], desk.held[0].request.url))
    home.kith("note", "edit", second, "--body", "theirs, typed, more")
    desk.type_at_end(", mine")
    desk.let_go(SHOWN)
    until(lambda: home.body(second) == "theirs, typed, more, mine" and saved(page), "what both wrote is in the new note")
    assert home.body(first) == "typed" and page.evaluate(DRAFTS) == [], home.body(first)


def stay_where_one_is(desk):
    """A place that the person asks for is not shown: they go on at the old one, also if that is a note that they deleted."""
    page, home = desk.page, desk.home
    note = desk.add("Stays")
    desk.open(note)
    desk.hold("**/api/note")
    page.click("#new")
    desk.is_held()
    page.route("**/conflicts", lambda route: route.fulfill(status=500, body="{}"))
    page.click("header nav a[href='/conflicts']")
    until(lambda: "answered 500" in page.inner_text("#alerts"), "the place is not shown")
    desk.let_go("**/api/note")
    page.wait_for_url(lambda url: "/note/" in url and not url.endswith(note))
    desk.open(note)
    page.route(desk.base + "/", lambda route: route.fulfill(status=500, body="{}"))
    page.click("#delete")
    page.locator("#gone").wait_for()
    desk.type_at_end(" late")
    page.click("#gone button")
    page.wait_for_url(lambda url: not url.endswith(note))
    until(lambda: home.body(page.url.split("/")[-1]) == "text late", "what was typed is in a new note")


def restore_it_there(desk):
    """The person restores the note where they typed: it has its tags again, and what was typed."""
    page, home = desk.page, desk.home
    note = desk.add("Back")
    home.kith("note", "edit", note, "--add-tag", "home")
    desk.open(note)
    type_into_what_is_deleted(desk, note, " typed")
    page.click("#gone button:has-text('Restore this note')")
    until(lambda: home.body(note) == "text typed" and page.locator("#gone").count() == 0 and saved(page), "it is back, with what was typed")
    assert "home" in home.kith("note", "show", note) and page.evaluate(DRAFTS) == []


def type_into_what_is_deleted(desk, note, words):
    page = desk.page
    desk.home.kith("note", "rm", note)
    page.locator("#gone").wait_for()
    desk.type_at_end(words)
    until(lambda: "kept in this browser" in page.inner_text("#gone"), "the page says where it is kept")


# The address of a note's page.
SHOWN = re.compile(r"//[^/]+/note/")
# The page does not look every few seconds for what is kept.
SELDOM = "{ const set = setInterval; window.setInterval = (work, time) => set(work, time === 5_000 ? 1e9 : time); }"
