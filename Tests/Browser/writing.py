"""What is typed is there, once, whatever happens in between."""

import json
import os
import random
import re
import subprocess
import time

from homes import KITH, Home, free_port, is_served, two_nodes, until
from pages import listen_often, open_page, errors_of, pump, saved


def part_typing(browser):
    """Two people type into one note at once, ten rounds, every second one with the cable cut: nothing is lost, both end equal."""
    desk, laptop, cable = two_nodes()
    note = desk.kith("note", "add", "Together", "--body", "first line\nmiddle\nlast line\n").splitlines()[-1]
    pages = [open_page(browser, home) for home in (desk, laptop)]
    for page in pages:
        until(lambda: page.locator(f'#rows li[data-id="{note}"]').count() == 1, "the note is in the list")
        page.click(f'#rows li[data-id="{note}"] a')
        page.locator("#text").wait_for()
    # Each letter is another one: so it is seen of each that it is there once, wherever the other person has written in between.
    letters = map(chr, range(0x4E00, 0x9FFF))
    typed = []
    for turn in range(10):
        is_cut = turn % 2 == 1
        if is_cut:
            cable.cut()
        for number, page in enumerate(pages):
            # In the beginning, the middle or the end, wherever the cursor is sent.
            keys = random.Random(turn * 2 + number).choice(["Control+Home", "Control+End", "ArrowUp"])
            page.focus("#text")
            page.keyboard.press(keys)
            typed.append([next(letters) for _ in range(15)])
            page.keyboard.type("".join(typed[-1]), delay=4)
        if is_cut:
            cable.mend()
    for page in pages:
        until(lambda: saved(page), "all is saved")
    until(lambda: desk.body(note) == laptop.body(note), "both nodes are equal")
    text = desk.kith("note", "show", note, "--body-only")
    for page in pages:
        until(lambda: page.input_value("#text").strip() == text.strip(), "the page shows what the node has")
    for word in typed:
        places = [text.find(letter) for letter in word]
        assert places[0] >= 0 and places == sorted(places), f"lost, or where the cursor was not: {word} of {text}"
    letters = {letter for word in typed for letter in word}
    assert sum(text.count(letter) for letter in letters) == len(letters), f"twice in {text}"
    rest = "".join(letter for letter in text if letter not in letters)
    assert rest.strip() == "first line\nmiddle\nlast line", text
    for page in pages:
        assert not page.complaints, page.complaints
    # What was typed here can be taken back.
    pages[0].focus("#text")
    pages[0].keyboard.press("Control+End")
    pages[0].keyboard.type("undone")
    pages[0].keyboard.press("Control+z")
    assert "undone" not in pages[0].input_value("#text")
    until(lambda: saved(pages[0]), "the page is saved")
    # How long a letter takes from one browser to the other.
    took = []
    for turn in range(5):
        word = f"quick{turn}"
        pages[0].focus("#text")
        pages[0].keyboard.press("Control+End")
        pages[0].keyboard.type(word)
        begun = time.monotonic()
        until(lambda: word in pages[1].input_value("#text"), "the letter is there")
        took.append(round((time.monotonic() - begun) * 1000))
    print(f"a letter in the other browser after {sorted(took)[2]} ms ({min(took)} to {max(took)})")
    for home in (desk, laptop):
        home.stop()


def part_restart(browser):
    """The node is killed while somebody types, and starts again: the page says so, and no letter is lost; nor in a tab that was closed."""
    home = Home("restart")
    note = home.kith("note", "add", "Draft", "--body", "begun\r\nhere").splitlines()[-1]
    home.start("web", "--port", free_port())
    page = open_page(browser, home)
    port = re.search(r":(\d+)", page.url).group(1)
    page.click(f'#rows li[data-id="{note}"] a')
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.type(" one")
    until(lambda: saved(page) and " one" in home.kith("note", "show", note, "--body-only"), "it is saved")
    home.kill()
    page.keyboard.type(" two")
    until(lambda: page.inner_text("#alerts").startswith("Kith does not answer"), "the page says that nobody answers")
    assert page.inner_text("#status") == "", "the page says of the node what it does not know any more"
    page.keyboard.type(" three")
    until(lambda: "Kept in this browser" in page.inner_text("#saved"), "the page says where it is kept")
    home.start("web", "--port", port)
    until(lambda: home.kith("note", "show", note, "--body-only").endswith(" one two three"), "what was typed is saved after the restart")
    until(lambda: page.inner_text("#alerts") == "", "the page says no more that nobody answers")
    until(lambda: page.inner_text("#status") != "", "the page says how the node is")
    # The lines of the text end as they did.
    with open(os.path.join(home.folder, "body"), "wb") as file:
        file.write(subprocess.run([KITH, "note", "show", note, "--body-only"], env=home.environment, capture_output=True).stdout)
    assert open(os.path.join(home.folder, "body"), "rb").read().startswith(b"begun\r\nhere one"), "the ends of lines changed"
    # A tab that is closed while nobody answers; somebody else writes before it comes back.
    home.kill()
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.type(" four")
    context = page.context
    page.close()
    home.kith("note", "edit", note, "--body", "elsewhere, then begun\r\nhere one two three", "--base", home.version(note))
    home.start("web", "--port", port)
    until(lambda: os.path.exists(home.page_file()), "the page is served")
    again = context.new_page()
    again.complaints = errors_of(again)
    until(lambda: is_served(port), "the page answers")
    again.goto(f"http://127.0.0.1:{port}/")
    until(lambda: home.kith("note", "show", note, "--body-only").endswith(" three four"), "the draft of the closed tab is saved")
    assert home.kith("note", "show", note, "--body-only").startswith("elsewhere"), "what others wrote is gone"
    # The note is deleted under the cursor.
    again.goto(f"http://127.0.0.1:{port}/note/{note}")
    again.locator("#text").wait_for()
    until(lambda: again.evaluate("document.querySelector('#text').value.includes('four')"), "the note is shown")
    home.kith("note", "rm", note)
    again.focus("#text")
    again.keyboard.type("late ")
    again.locator("#gone button").first.click()
    again.wait_for_url(lambda url: "/note/" in url and not url.endswith(note))
    again.locator("#text").wait_for()
    assert "late " in again.input_value("#text")
    # Nobody is let in any more: the page says so and keeps what is typed.
    home.kith("web", "--sign-out")
    again.focus("#text")
    again.keyboard.type("kept ")
    until(lambda: "not let in" in again.inner_text("#alerts"), "the page says that it is signed out")
    again.goto(home.entrance())
    until(lambda: any("kept late" in home.kith("note", "show", name, "--body-only") for name in ["Draft"]), "it is saved when let in again")
    home.stop()


def part_letters(browser):
    """Answers are lost, letters composed, tabs closed, duplicated and many: each letter is there, and once."""
    home = Home("letters")
    note = home.kith("note", "add", "Letters", "--body", "begun").splitlines()[-1]
    home.start("web", "--port", free_port())
    page = open_page(browser, home)
    context, port = page.context, re.search(r":(\d+)", page.url).group(1)
    base = f"http://127.0.0.1:{port}"
    text = lambda: home.body(note)

    def new_page(path):
        fresh = context.new_page()
        fresh.goto(base + path)
        return fresh

    def type_at_end(where, words):
        where.focus("#text")
        where.keyboard.press("Control+End")
        # As one change: what comes key by key may be saved in parts.
        where.keyboard.insert_text(words)

    def is_kept_nowhere(where):
        return where.evaluate("Object.keys(localStorage).every((name) => !name.startsWith('kith:draft:'))")

    # What was sent was done, and its answer is lost, cut off, or says that something failed.
    page.goto(f"{base}/note/{note}")
    expected = "begun"
    for answer in ("lost", "cut", "failed"):
        page.evaluate(SPOILED, answer)
        expected += " once"
        type_at_end(page, " once")
        until(lambda: text() == expected, "it was saved")
        expected += " more"
        type_at_end(page, " more")
        until(lambda: text() == expected and saved(page), "the rest is saved when the page is back")
        assert page.input_value("#text") == expected, page.input_value("#text")
        until(lambda: is_kept_nowhere(page) and page.inner_text("#alerts") == "", "nothing is kept any more, and nothing said")
    # The answer never comes, and the tab is closed meanwhile: the next one neither forgets it nor writes it twice.
    page.evaluate(SPOILED, "none")
    type_at_end(page, " two")
    until(lambda: text() == expected + " two", "it was saved")
    home.kith("note", "edit", note, "--body", "others, " + text(), "--base", home.version(note))
    page.close()
    page = new_page("/")
    until(lambda: is_kept_nowhere(page), "the draft of the closed tab is settled")
    expected = f"others, {expected} two"
    assert text() == expected, text()
    page.goto(f"{base}/note/{note}")
    # The note did not come when it was opened: what is typed meanwhile is not lost.
    page.route("**/api/note/" + note, lambda route: route.abort(), times=2)
    page.reload()
    page.locator("#text").wait_for()
    type_at_end(page, " early")
    expected += " early"
    pump(page, lambda: text() == expected and saved(page), "what was typed before it came is saved")
    until(lambda: is_kept_nowhere(page), "nothing is kept any more")
    # A title that was typed while nobody answered, in a tab that is closed.
    home.kill()
    page.fill("#title", "Letters of mine")
    page.close()
    home.start("web", "--port", port)
    until(lambda: os.path.exists(home.page_file()) and is_served(port), "the page answers")
    page = new_page("/")
    until(lambda: "Letters of mine" in home.kith("note", "list"), "the title is saved")
    # Letters of several keys are left alone while they are composed, whoever writes and whatever is saved.
    page.goto(f"{base}/note/{note}")
    page.focus("#text")
    page.keyboard.press("Control+End")
    keys = context.new_cdp_session(page)
    for part in ("k", "ka", "kan"):
        keys.send("Input.imeSetComposition", {"text": part, "selectionStart": len(part), "selectionEnd": len(part)})
        time.sleep(0.45)
    home.kith("note", "edit", note, "--body", "they, " + text(), "--base", home.version(note))
    time.sleep(0.6)
    keys.send("Input.insertText", {"text": "\u6f22"})
    expected = f"they, {expected}\u6f22"
    until(lambda: text() == expected, "the letter is saved")
    until(lambda: page.input_value("#text") == text() and saved(page), "the page shows what is there")
    # A tab that is duplicated has the other one's memory, and not its drafts.
    page.evaluate(UNSENT)
    type_at_end(page, " mine")
    second = new_page("/")
    second.evaluate("(name) => { sessionStorage.kithTab = name; }", page.evaluate("sessionStorage.kithTab"))
    second.goto(f"{base}/note/{note}")
    until(lambda: second.evaluate("sessionStorage.kithTab") != page.evaluate("sessionStorage.kithTab"), "the tab has a name of its own")
    until(lambda: second.inner_text("#saved") == "Saved", "the note is open there")
    assert "mine" not in second.input_value("#text")
    page.close()
    until(lambda: text().endswith(" mine") and text().count("mine") == 1, "what was typed in the first one is saved")
    # More pages than are told of changes: the next one says so, and saves all the same.
    crowd = listen_often(port, context.cookies(), 64)
    third = new_page(f"/note/{note}")
    until(lambda: "Too many of these pages are open" in third.inner_text("#alerts"), "the page says that it is one too many")
    type_at_end(third, " more")
    until(lambda: text().endswith(" mine more") and saved(third), "it saves what is typed")
    for end in crowd:
        end.close()
    until(lambda: third.inner_text("#alerts") == "", "it is told of changes again")
    third.close()
    # More tabs than a browser has connections to one server.
    hide = "Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange'));"
    second.evaluate(hide)
    for _ in range(7):
        many = new_page(f"/note/{note}")
        many.locator("#status:not(:empty)").wait_for(state="attached")
        many.evaluate(hide)
    # One that was let out is let in again with the others.
    many.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'));")
    home.kith("web", "--sign-out")
    type_at_end(many, " out")
    until(lambda: "not let in" in many.inner_text("#alerts"), "the page says that it is signed out")
    second.goto(home.entrance())
    many.evaluate("window.dispatchEvent(new Event('focus'))")
    until(lambda: text().endswith(" out") and many.inner_text("#alerts") == "", "it goes on by itself")
    home.stop()


# The next save of a text is done, and the page gets another answer.
SPOILED = """(answer) => {
  const send = window.fetch;
  window.fetch = async (path, options) => {
    const right = send(path, options);
    if (!path.endsWith("/body")) return right;
    window.fetch = send;
    await right;
    if (answer === "lost") throw new TypeError("lost");
    if (answer === "cut") return new Response(new ReadableStream({ start: (stream) => stream.error() }));
    if (answer === "failed") return new Response("{}", { status: 500 });
    return new Promise(() => {});
  };
}"""


# No save of a text leaves this page.
UNSENT = """() => {
  const send = window.fetch;
  window.fetch = (path, options) => path.endsWith("/body") ? new Promise(() => {}) : send(path, options);
}"""
