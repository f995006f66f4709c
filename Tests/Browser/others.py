"""Other machines: paired, in step, revoked, and of another version."""

import json
import os
import re

from homes import Home, free_port, hold_port, pair, until
from pages import open_page, pump, saved


def part_pairing(browser):
    """Two pages pair with the digits that both show, whatever of the answers and the news comes late, and with stopping in between."""
    homes = [Home(name) for name in ("near", "far")]
    for home in homes:
        home.start("web", "--port", free_port(), "--no-discovery")
    near, far = [open_page(browser, home) for home in homes]
    address = near.url.rstrip("/")
    shows = lambda page, text: until(lambda: text in page.inner_text("#pairing"), f"the page says: {text}")

    def is_open(page):
        return page.locator("#stop").is_visible() and page.locator("#pair").is_disabled()

    def stop(page):
        page.click("#stop")
        shows(page, "it was stopped")
        assert page.locator("#pair").is_enabled() and page.locator("#stop").count() == 0

    # The news that the window is open overtakes the answer that it is about to be.
    near.goto(address + "/devices")
    late = []
    def answer_late(route):
        if route.request.method == "GET":
            return route.continue_()
        answer = route.fetch()
        late.append(lambda: route.fulfill(response=answer))
    near.route("**/api/pair", answer_late)
    near.click("#pair")
    pump(near, lambda: late and "within two minutes" in near.inner_text("#pairing"), "the window is open")
    with near.expect_event("requestfinished", lambda request: request.url.endswith("/api/pair")):
        late.pop()()
    near.evaluate("new Promise((done) => setTimeout(done))")
    assert is_open(near) and "within two minutes" in near.inner_text("#pairing"), near.inner_text("#pairing")
    # Another page of this machine shows it, too, and says so if it knew too late.
    other = near.context.new_page()
    other.goto(address + "/devices")
    until(lambda: is_open(other), "the other page shows the window")
    stop(other)
    shows(near, "it was stopped")
    near.unroute("**/api/pair")
    # The news do not come when the window opens: what was missed is told with the next ones.
    held = []
    near.route("**/events", lambda route: held.append(route))
    near.goto(address + "/devices")
    pump(near, lambda: held, "the page asks for news")
    near.click("#pair")
    until(lambda: is_open(near), "the answer shows it")
    held.pop().continue_()
    near.unroute("**/events")
    shows(near, "within two minutes")
    # The program is started anew: there is no window any more, and the page knows.
    homes[0].kill()
    homes[0].start("web", "--port", address.split(":")[-1], "--no-discovery")
    until(lambda: near.locator("#pair").is_enabled() and near.inner_text("#pairing") == "", "the page shows no window")
    # Said no to, and then yes.
    for answer in ("#other", "#same"):
        far.goto(far.url.split("/devices")[0].rstrip("/") + "/devices")
        near.click("#pair")
        shows(near, "the port")
        far.fill("#address", "127.0.0.1:" + re.search(r"the port (\d+)", near.inner_text("#pairing")).group(1))
        far.click("#pair")
        for page in (near, far):
            page.locator("#pairing .digits").wait_for()
        assert near.inner_text(".digits") == far.inner_text(".digits")
        if answer == "#other":
            far.click(answer)
            shows(far, "Not paired")
            until(lambda: near.locator("#pairing .digits").count() == 0, "the other page has heard the no")
            if is_open(near):
                stop(near)
            continue
        for page in (near, far):
            page.click(answer)
        for page in (near, far):
            shows(page, "Paired with")
            until(lambda: page.locator("th[scope=row]").count() == 1, "the other machine is in the list")
    unexpected = [text for page in (near, far) for text in page.complaints if "net::ERR_" not in text]
    assert not unexpected, unexpected
    for home in homes:
        home.stop()


def part_news(browser):
    """A machine is revoked, and the program is updated, while somebody types there: the page says so, in the words of kith status, and
    every letter is saved."""
    first, second = Home("first"), Home("second")
    pair(first, second)
    note = second.kith("note", "add", "Typed", "--body", "begun").splitlines()[-1]
    port = free_port()
    first.start("up", "--port", port, "--no-discovery", "--no-web")
    status = os.path.join(first.folder, "store", "notes.sqlite-status.json")
    until(lambda: os.path.exists(status) and json.load(open(status)).get("port"), "the node listens")
    standard = hold_port(4780)
    second.kith("device", "add", first.kith("device", "id"), "--address", "127.0.0.1:" + port)
    second.start("up", "--port", "0", "--no-discovery")
    page = open_page(browser, second)
    page.goto(page.url + f"note/{note}")
    until(lambda: page.inner_text("#status").startswith("Up to date"), "both are in step")
    words = []
    def type_word():
        words.append(f"word{len(words)}")
        page.focus("#text")
        page.keyboard.press("Control+End")
        page.keyboard.type(" " + words[-1])
    type_word()
    # Below the note stands where it is safe: as soon as the other machine has this word, and no longer when only this one has the next.
    until(lambda: page.inner_text("#safety") == "Safe on: first.", "the page says that the other machine has it")
    first.stop()
    type_word()
    until(lambda: page.inner_text("#safety") == "As it is now, confirmed by no other device yet.", "the page says that only this machine has it")
    first.start("up", "--port", port, "--no-discovery", "--no-web")
    until(lambda: page.inner_text("#safety") == "Safe on: first.", "the other machine has it, too")
    assert "Safe on: first." in second.kith("note", "show", note)
    first.kith("device", "revoke", "second")
    type_word()
    until(lambda: not page.inner_text("#status").startswith("Up to date"), "the page says that it is no longer in step")
    until(lambda: page.inner_text("#status") == json.loads(second.kith("status", "--json"))["sentence"], "it says so in the words of kith status")
    type_word()
    until(lambda: saved(page), "what is typed is saved on this machine")
    # It leaves its household: then it says that.
    second.kith("household", "leave")
    until(lambda: page.inner_text("#status").startswith("Local only"), "the page says that this machine is by itself")
    # Another version of the program takes over while letters are on their way.
    port = re.search(r":(\d+)", page.url).group(1)
    page.evaluate("document.body.dataset.software = '0.0.1 (older)'")
    second.kill()
    type_word()
    until(lambda: page.inner_text("#alerts").startswith("Kith does not answer"), "the page says that nobody answers")
    # What is kept nowhere is said not to be done, and not shown as if it were.
    color = page.input_value("#color")
    page.select_option("#color", "red")
    until(lambda: "That was not done" in page.inner_text("#alerts"), "the page says what it has not done")
    assert page.input_value("#color") == color, page.input_value("#color")
    second.start_page_again(port)
    until(lambda: "Kith was updated." in page.inner_text("#alerts"), "the page says that it is of another version")
    type_word()
    page.click("#alerts button:has-text('Load the new page')")
    page.locator("body:not([data-software^='0.0.1'])").wait_for(state="attached")
    until(lambda: page.inner_text("#alerts") == "" and saved(page), "all is well")
    text = second.kith("note", "show", note, "--body-only")
    assert text == " ".join(["begun", *words]), text
    assert page.input_value("#text") == text
    standard.close()
    for home in (first, second):
        home.stop()
