#!/usr/bin/env python3
"""Uses the page of two nodes in two browsers, as two people would.

usage: browser.py KITH FOLDER PART...

KITH is the program, FOLDER an empty folder for homes and pictures, each PART one of the functions below whose name begins with `part_`.
Prints a line for each part, with what went wrong; ends with 1 if something did.

No part depends on how fast the machine is: each waits until something is so, and holds back itself what shall come late.
"""

import base64
import json
import os
import random
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request

from playwright.sync_api import sync_playwright

KITH, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
CHROMIUM = "/usr/bin/chromium"


class Home:
    """A person's machine: notes, key, and the program that runs."""

    def __init__(self, name):
        self.folder = os.path.join(FOLDER, name)
        os.makedirs(self.folder)
        self.environment = dict(os.environ, KITH_HOME=self.folder, HOME=self.folder, TZ="UTC")
        self.process = None

    def kith(self, *arguments, given=None):
        result = subprocess.run([KITH, *arguments], env=self.environment, input=given, capture_output=True, text=True)
        assert result.returncode == 0, f"kith {arguments}: {result.stderr}"
        return result.stdout.strip()

    def start(self, *arguments):
        log = open(os.path.join(self.folder, "log"), "a")
        self.process = subprocess.Popen([KITH, *arguments], env=self.environment, stdout=log, stderr=log)

    def entrance(self):
        """An address that lets in one browser."""
        until(lambda: os.path.exists(self.page_file()), "the page is served")
        return self.kith("web").splitlines()[-1]

    def page_file(self):
        web = os.path.join(self.folder, "keys", "web")
        names = os.listdir(web) if os.path.isdir(web) else []
        return os.path.join(web, names[0], "page.json") if names else "none"

    def body(self, note):
        """The text as it is in the file: asked for often, that is cheaper than the program."""
        file = sqlite3.connect(f"file:{self.folder}/store/notes.sqlite?mode=ro", uri=True)
        try:
            found = file.execute("SELECT body FROM note WHERE id = ?", (bytes.fromhex(note.replace("-", "")),)).fetchone()
            return found[0] if found else None
        finally:
            file.close()

    def version(self, note):
        return json.loads(self.kith("note", "show", note, "--json"))["version"]

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None


def until(is_true, what, seconds=90, pause=0.02):
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, f"waited {seconds} s until {what}"
        time.sleep(pause)


def pump(page, is_true, what):
    """Waits like `until`; requests that a test holds up are seen only while it speaks with the browser."""
    until(lambda: page.wait_for_timeout(10) or is_true(), what)


class Cable:
    """Carries the connections of one port to another one, until it is cut."""

    def __init__(self, port):
        self.target, self.pairs, self.is_cut = port, [], False
        self.server = socket.socket()
        self.server.bind(("127.0.0.1", 0))
        self.server.listen()
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.server.accept()
            if self.is_cut:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            self.pairs.append((near, far))
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    @staticmethod
    def carry(one, other):
        try:
            while piece := one.recv(65536):
                other.sendall(piece)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(2)
            except OSError:
                pass

    def cut(self):
        self.is_cut = True
        for near, far in self.pairs:
            for end in (near, far):
                try:
                    end.shutdown(2)
                except OSError:
                    pass
        self.pairs = []

    def mend(self):
        self.is_cut = False


def errors_of(page):
    """What the browser complains of; a page that was cut off may say that it was."""
    found = []
    page.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


def open_page(browser, home, **options):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, **options)
    page = context.new_page()
    page.complaints = errors_of(page)
    page.set_default_timeout(60_000)
    page.goto(home.entrance())
    return page


def saved(page):
    return page.inner_text("#saved") == "Saved"


def two_nodes():
    """Two machines that trust each other, with a cable between them that can be cut."""
    desk, laptop = Home("desk"), Home("laptop")
    ids = [home.kith("device", "id") for home in (desk, laptop)]
    desk.kith("device", "add", ids[1], "--name", "laptop")
    desk.start("up", "--port", "0", "--no-discovery")
    status = os.path.join(desk.folder, "store", "notes.sqlite-status.json")
    until(lambda: os.path.exists(status) and json.load(open(status)).get("port"), "the node listens")
    cable = Cable(json.load(open(status))["port"])
    laptop.kith("device", "add", ids[0], "--name", "desk", "--address", f"127.0.0.1:{cable.port}")
    laptop.start("up", "--port", "0", "--no-discovery")
    return desk, laptop, cable


def part_typing(browser):
    """Two people type into one note at once, ten rounds, every second one with the cable cut: nothing is lost, both end equal."""
    desk, laptop, cable = two_nodes()
    note = desk.kith("note", "add", "Together", "--body", "first line\nmiddle\nlast line\n").splitlines()[-1]
    pages = [open_page(browser, home) for home in (desk, laptop)]
    for page in pages:
        until(lambda: page.locator(f'#rows li[data-id="{note}"]').count() == 1, "the note is in the list")
        page.click(f'#rows li[data-id="{note}"] a')
        page.locator("#text").wait_for()
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
            words = [f"{'ab'[number]}{turn}w{index}" for index in range(3)]
            typed += words
            page.keyboard.type(" ".join(words) + " ", delay=4)
        if is_cut:
            cable.mend()
    for page in pages:
        until(lambda: saved(page), "all is saved")
    until(lambda: desk.body(note) == laptop.body(note), "both nodes are equal")
    text = desk.kith("note", "show", note, "--body-only")
    for page in pages:
        until(lambda: page.input_value("#text").strip() == text.strip(), "the page shows what the node has")
    missing = [word for word in typed if word not in text]
    assert not missing, f"lost: {missing} of {text}"
    assert all(len(re.findall(word + r"\b", text)) == 1 for word in typed), f"twice in {text}"
    for word in ("first line", "middle", "last line"):
        assert word in text, text
    for page in pages:
        assert not page.complaints, page.complaints
    # The browser's own undo still works on what was typed here.
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
    home.start("web", "--port", "0")
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
    page.keyboard.type(" three")
    until(lambda: "Kept in this browser" in page.inner_text("#saved"), "the page says where it is kept")
    home.start("web", "--port", port)
    until(lambda: home.kith("note", "show", note, "--body-only").endswith(" one two three"), "what was typed is saved after the restart")
    until(lambda: page.inner_text("#alerts") == "", "the page says no more that nobody answers")
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
    again.locator("#gone button").click()
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
    home.start("web", "--port", "0")
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


def listen_often(port, cookies, times):
    """Connections of other pages, as far as they are let in."""
    cookie = "; ".join(f"{each['name']}={each['value']}" for each in cookies)
    ends = []
    for _ in range(times):
        end = socket.create_connection(("127.0.0.1", int(port)))
        end.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n".encode())
        assert end.recv(12).startswith(b"HTTP/1.1 ")
        ends.append(end)
    return ends


def pair(first, second):
    """Two machines of one household, by a token."""
    waiting = subprocess.Popen([KITH, "pair", "--token", "--json", "--no-discovery", "--port", "0", "--name", "first"], env=first.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    said = ""
    while '"token"' not in said or '"port"' not in said:
        line = waiting.stdout.readline()
        assert line, f"no token: {said}"
        said += line
    token = re.search(r'"token" *: *"([^"]*)"', said).group(1)
    port = re.search(r'"port" *: *(\d+)', said).group(1)
    second.kith("pair", token, "--address", f"127.0.0.1:{port}", "--no-discovery", "--name", "second")
    waiting.communicate(timeout=90)
    assert waiting.returncode == 0


def part_news(browser):
    """A machine is revoked, and the program is updated, while somebody types there: the page says so, in the words of kith status, and
    every letter is saved."""
    first, second = Home("first"), Home("second")
    pair(first, second)
    note = second.kith("note", "add", "Typed", "--body", "begun").splitlines()[-1]
    first.start("up", "--port", "0", "--no-discovery", "--no-web")
    status = os.path.join(first.folder, "store", "notes.sqlite-status.json")
    until(lambda: os.path.exists(status) and json.load(open(status)).get("port"), "the node listens")
    port = str(json.load(open(status))["port"])
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
    until(lambda: page.inner_text("#safety") == "As it is now, only here.", "the page says that only this machine has it")
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
    second.start("web", "--port", port)
    until(lambda: "Kith was updated." in page.inner_text("#alerts"), "the page says that it is of another version")
    type_word()
    page.click("#alerts button:has-text('Load the new page')")
    page.locator("body:not([data-software^='0.0.1'])").wait_for(state="attached")
    until(lambda: page.inner_text("#alerts") == "" and saved(page), "all is well")
    text = second.kith("note", "show", note, "--body-only")
    assert text == " ".join(["begun", *words]), text
    assert page.input_value("#text") == text
    for home in (first, second):
        home.stop()


def is_served(port):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/")
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def part_hands(browser):
    """Everything that can be done with a keyboard is done with it; boxes are ticked, files dropped, versions chosen."""
    home = Home("hands")
    home.kith("note", "add", "Shopping", "--body", "- [ ] bread\n- [ ] milk\n\n[[Recipes]]\n", "--tag", "home")
    home.kith("note", "add", "Recipes", "--body", "jam")
    home.start("web", "--port", "0")
    page = open_page(browser, home)
    page.keyboard.press("/")
    page.keyboard.type("tag:home")
    until(lambda: page.locator("#rows li").count() == 1, "the list is what was searched")
    page.keyboard.press("Enter")
    page.locator("#rendered input[type=checkbox]").nth(1).check()
    until(lambda: "- [x] milk" in home.kith("note", "show", "Shopping", "--body-only"), "the tick is in the text")
    page.click("#rendered a")
    until(lambda: page.input_value("#title") == "Recipes", "the link leads to the note")
    assert "Shopping" in page.inner_text("#rendered"), "what links here is listed"
    page.set_input_files("#attach", {"name": "dot.png", "mimeType": "image/png", "buffer": PNG})
    until(lambda: "![[dot.png]]" in home.kith("note", "show", "Recipes", "--body-only"), "the picture is in the text")
    until(lambda: page.evaluate("document.querySelector('#rendered img')?.naturalWidth") == 1, "the picture is shown")
    # Another file is no part of the page, by whatever link: it is a download.
    page.set_input_files("#attach", {"name": "evil.html", "mimeType": "text/html", "buffer": b"<h1 id=evil>evil</h1><article id=note>"})
    until(lambda: page.locator("#rendered a.file:has-text('evil.html')").count() == 1, "the file is attached")
    recipes = page.url.split("/")[-1]
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.type(f"\n[[evil.html]] [more](/api/note/{recipes}) [parts](/part/list)")
    until(lambda: page.locator("#markdown a").count() == 3, "the links are shown")
    for number in range(3):
        page.locator("#markdown a").nth(number).click()
        time.sleep(0.2)
        assert page.locator("#evil").count() == 0 and page.input_value("#title") == "Recipes" and page.locator("main #note").count() == 1
    page.keyboard.press("Escape")
    page.fill("#search", "")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    until(lambda: page.evaluate("document.activeElement.id") == "title", "a new note is begun")
    page.keyboard.type("By hand")
    page.keyboard.press("Tab")
    page.keyboard.type("work")
    page.keyboard.press("Enter")
    until(lambda: "By hand" in home.kith("note", "list") and "#work" in home.kith("note", "show", "By hand"), "it has its title and its tag")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    page.keyboard.type("text")
    until(lambda: home.kith("note", "show", "By hand", "--body-only") == "text", "it has its text")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    until(lambda: re.fullmatch(r"\d{4}-\d\d-\d\d", page.input_value("#title") or ""), "the note of the day is open")
    # Several notes are chosen with the keyboard and the mouse, and changed at once.
    page.goto(page.url.split("/note")[0] + "/")
    page.focus("#rows li:has-text('Recipes') a")
    page.keyboard.press("x")
    page.click("#rows li:has-text('Shopping') a", modifiers=["Control"])
    until(lambda: page.inner_text("#chosen") == "2 notes chosen", "two notes are chosen")
    page.fill("#several-tag", "both")
    page.press("#several-tag", "Enter")
    until(lambda: home.kith("note", "list", "--tag", "both").count("#both") == 2, "both have the tag")
    page.select_option("#several-color", "blue")
    until(lambda: page.locator("#rows li[data-color=blue]").count() == 2, "both have the color")
    page.click("[data-several=none]")
    assert page.locator("#several").is_hidden() and page.locator("#rows .pick").first.is_hidden()
    page.keyboard.press("t")
    until(lambda: re.fullmatch(r"\d{4}-\d\d-\d\d", page.input_value("#title") or ""), "the note of the day is open again")
    # Titles that others change meanwhile are asked about.
    page.goto(page.url.split("/note")[0])
    page.click("#rows li:has-text('By hand') a")
    page.locator("#text").wait_for()
    page.evaluate(HELD_FIELDS)
    page.fill("#title", "By this hand")
    until(lambda: page.evaluate("Boolean(window.release)"), "the title is on its way")
    home.kith("note", "edit", "By hand", "--title", "By other hands")
    page.evaluate("release()")
    page.click("text=Keep mine")
    until(lambda: "By this hand" in home.kith("note", "list"), "the title that was chosen is there")
    unexpected = [text for text in page.complaints if "409" not in text]
    assert not unexpected, unexpected
    home.stop()


def part_pairing(browser):
    """Two pages pair with the digits that both show, whatever of the answers and the news comes late, and with stopping in between."""
    homes = [Home(name) for name in ("near", "far")]
    for home in homes:
        home.start("web", "--port", "0", "--no-discovery")
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


def part_history(browser):
    """The slider of a history shows each version with what it changed, by whom, and brings one back."""
    home = Home("history")
    note = home.kith("note", "add", "Soup", "--body", "leek\n").splitlines()[-1]
    for body in ("leek, potato\n", "leek, potato, cream\n"):
        home.kith("note", "edit", note, "--body", body, "--base", home.version(note))
    home.start("web", "--port", "0", "--no-discovery")
    page = open_page(browser, home)
    page.goto(page.url + f"note/{note}")
    page.click("text=History")

    def shows(number, text, added):
        until(lambda: page.inner_text("#about").startswith(f"{number} of 3: ") and page.locator("#difference ins").all_inner_texts() == [added]
              and page.inner_text("#difference").strip() == text, f"version {number} is shown")
        assert "this device" in page.inner_text("#about") and page.get_attribute("#version", "aria-valuetext") in page.inner_text("#about")

    shows(3, "leek, potato, cream", ", cream")
    page.focus("#version")
    page.keyboard.press("ArrowLeft")
    shows(2, "leek, potato", ", potato")
    page.keyboard.press("Home")
    shows(1, "leek", "leek\n")
    page.keyboard.press("ArrowRight")
    shows(2, "leek, potato", ", potato")
    page.click("text=Bring this text back")
    page.locator("#text").wait_for()
    until(lambda: page.input_value("#text") == "leek, potato\n" and home.body(note) == "leek, potato\n", "the text is what it was")
    # What it was before is not lost.
    page.click("text=History")
    until(lambda: page.inner_text("#about").startswith("4 of 4: "), "bringing it back is a version of its own")
    assert page.locator("#difference del").all_inner_texts() == [", cream"]
    assert not page.complaints, page.complaints
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

# Holds a change of the title up until `release()`.
HELD_FIELDS = """() => {
  const send = window.fetch;
  window.fetch = async (path, options) => {
    if (path.endsWith("/fields")) {
      window.fetch = send;
      await new Promise((done) => { window.release = done; });
    }
    return send(path, options);
  };
}"""

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def sample(home):
    home.kith("note", "add", "Garden", "--body", "Sow the peas", "--tag", "garden", "--color", "green")
    home.kith("note", "add", "Recipes", "--body", "Marmalade: 1 kg oranges, sugar. See [[Shopping]].", "--tag", "food")
    home.kith("note", "add", "A long title that goes on until nobody can read it on a telephone any more", "--body", "words " * 40, "--color", "blue")
    body = "For the weekend:\n\n- [ ] Bread\n- [x] Coffee\n- [ ] Oranges for the [[Recipes]]\n\n| what | how much |\n|---|---|\n| flour | 1 kg |\n"
    home.kith("note", "add", "Shopping", "--body", body, "--tag", "home", "--tag", "food", "--color", "yellow")


def part_pictures(browser):
    """Pictures of every place, narrow and wide, light and dark; names, roles, order of focus and contrast on each of them."""
    home = Home("pictures")
    sample(home)
    home.kith("note", "rm", "Garden")
    home.start("up", "--port", "0", "--no-discovery")
    entrance = home.entrance()
    base = entrance.split("/?")[0]
    page = open_page(browser, home)
    page.click("#rows li:has-text('Shopping') a")
    page.locator("#text").wait_for()
    note = page.url
    for width in (390, 1280):
        for scheme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": 844 if width == 390 else 800})
            page.emulate_media(color_scheme=scheme)
            for name, url in (("list", base + "/"), ("note", note), ("trash", base + "/trash"), ("choices", base + "/conflicts"),
                              ("devices", base + "/devices"), ("history", note + "/history")):
                page.goto(url)
                page.locator("#status:not(:empty)").wait_for(state="attached")
                page.screenshot(path=os.path.join(FOLDER, f"{name}-{width}-{scheme}.png"))
                problems = page.evaluate(ACCESSIBILITY)
                assert not problems, f"{name} at {width} in {scheme}: {problems}"
                overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert overflow <= 0, f"{name} at {width}: {overflow} pixels too wide"
    assert not page.complaints, page.complaints
    # The order of focus is the order of what is seen.
    page.goto(note)
    page.locator("#text").wait_for()
    order = []
    for _ in range(40):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.id || document.activeElement.className || document.activeElement.textContent.trim()"))
    wanted = ["skip", "search", "new", "view", "title", "tag", "text"]
    places = [order.index(name) for name in wanted]
    assert places == sorted(places), order
    home.stop()


# Names, roles and contrast (WCAG 2.2, 1.4.3 and 4.1.2), as far as a script can tell.
ACCESSIBILITY = r"""() => {
  const problems = [];
  const isSeen = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== "hidden";
  const name = (element) => (element.getAttribute("aria-label") || (element.labels?.length ? [...element.labels].map((label) => label.textContent).join(" ") : "")
    || element.textContent || element.getAttribute("title") || "").trim();
  for (const element of document.querySelectorAll("a[href], button, input, select, textarea, [tabindex='0'], img, [role=img]")) {
    if (!isSeen(element)) continue;
    if (element.matches("img") ? !element.hasAttribute("alt") : !name(element)) problems.push("no name: " + element.outerHTML.slice(0, 80));
  }
  for (const element of document.querySelectorAll("section")) if (!element.getAttribute("aria-label")) problems.push("section without a name");
  if (document.querySelectorAll("main").length !== 1) problems.push("not one main");
  if (document.querySelectorAll("main h1").length !== 1) problems.push("not one h1");
  if (!document.documentElement.lang) problems.push("no language");
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) problems.push("twice: " + id);
  const levels = [...document.querySelectorAll("main h1, main h2, main h3")].filter((heading) => !heading.closest("#markdown")).map(({ tagName }) => Number(tagName[1]));
  levels.forEach((level, index) => { if (index > 0 && level > levels[index - 1] + 1) problems.push("a level of headings is left out"); });
  const parse = (color) => { const [r, g, b, a = 1] = color.match(/[\d.]+/g).map(Number); return { rgb: [r, g, b], a }; };
  const light = (rgb) => { const [r, g, b] = rgb.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const backOf = (element) => { for (let each = element; each; each = each.parentElement) { const { rgb, a } = parse(getComputedStyle(each).backgroundColor); if (a === 1) return rgb; } return [255, 255, 255]; };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !isSeen(element) || element.closest(".unseen, .skip, script, option, :disabled")) continue;
    const style = getComputedStyle(element);
    const one = light(parse(style.color).rgb), other = light(backOf(element));
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) problems.push(`contrast ${ratio.toFixed(2)}: ${node.data.trim().slice(0, 40)}`);
  }
  for (const element of document.querySelectorAll("input, textarea")) {
    if (!isSeen(element) || !element.placeholder) continue;
    const one = light(parse(getComputedStyle(element, "::placeholder").color).rgb), other = light(backOf(element));
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) problems.push(`contrast ${ratio.toFixed(2)} of the placeholder of ${element.id}`);
  }
  return problems;
}"""


def part_merge(browser):
    """The two changes of a text, thousands of times: both are in it, whoever is asked, and the cursor stays where it was."""
    home = Home("merge")
    home.start("web", "--port", "0")
    page = open_page(browser, home)
    result = page.evaluate(MERGE)
    assert result == "right", result
    home.stop()


MERGE = r"""async () => {
  const { diff, merge, shown, unshown } = await import("/merge.js");
  let seed = 7;
  const random = (below) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor(seed / 2 ** 32 * below); };
  const letters = ["a", "b", "c", "\n", "\n", " ", "é", "😀", "😁", "\r\n"];
  const words = (count) => Array.from({ length: count }, () => letters[random(letters.length)]).join("");
  const change = (text) => {
    const units = [...text];
    for (let times = random(4); times > 0; times--) units.splice(random(units.length + 1), random(4), ...[...words(random(5))]);
    return units.join("");
  };
  const isWhole = (text) => text.isWellFormed ? text.isWellFormed() : true;
  for (let turn = 0; turn < 4000; turn++) {
    const base = words(random(40)), theirs = change(base), mine = change(base);
    let built = "", at = 0;
    for (const splice of diff(base, theirs)) { built += base.slice(at, splice.at) + splice.added; at = splice.at + splice.removed; }
    if (built + base.slice(at) !== theirs) return `diff of ${JSON.stringify([base, theirs])}`;
    if (merge(base, base, mine).text !== mine || merge(base, theirs, base).text !== theirs) return `one side: ${JSON.stringify([base, theirs, mine])}`;
    const { text, marks } = merge(base, theirs, mine, [0, mine.length]);
    if (!isWhole(text)) return `half a letter: ${JSON.stringify([base, theirs, mine, text])}`;
    const count = (text, letter) => [...text].filter((each) => each === letter).length;
    for (const letter of new Set([...base, ...theirs, ...mine])) {
      const added = diff(base, theirs).concat(diff(base, mine)).reduce((sum, { added }) => sum + count(added, letter), 0);
      if (count(text, letter) < added) return `lost ${letter}: ${JSON.stringify([base, theirs, mine, text])}`;
    }
    if (marks[0] > marks[1] || marks[1] > text.length) return `marks: ${JSON.stringify([base, theirs, mine, marks])}`;
    const typed = shown(base) + "new";
    if (shown(unshown(base, typed)) !== typed) return `ends of lines: ${JSON.stringify([base, typed])}`;
    if (unshown(base, shown(base)) !== base) return `untouched: ${JSON.stringify(base)}`;
  }
  const cursor = merge("one two", "zero one two", "one two three", [13]);
  if (cursor.text !== "zero one two three" || cursor.marks[0] !== 18) return JSON.stringify(cursor);
  return "right";
}"""


def part_lan(browser):
    """A phone in the same network, whose owner has looked at the certificate."""
    home = Home("lan")
    home.start("web", "--lan", "--port", "0", "--json")
    log = os.path.join(home.folder, "log")
    until(lambda: "entrance" in open(log).read(), "the page is served")
    entrance = json.loads(open(log).read())["entrance"]
    assert entrance.startswith("https://") and "127.0.0.1" not in entrance, entrance
    context = browser.new_context(viewport={"width": 390, "height": 844}, ignore_https_errors=True, has_touch=True)
    page = context.new_page()
    page.complaints = errors_of(page)
    page.goto(entrance)
    page.locator("#status:not(:empty)").wait_for(state="attached")
    assert "token" not in page.url
    page.click("#new")
    page.locator("#title").fill("From the phone")
    page.locator("#text").fill("written at the shop")
    until(lambda: "From the phone" in home.kith("note", "list") and saved(page), "the note is there")
    home.kith("note", "edit", "From the phone", "--body", "written at the shop, and at home")
    until(lambda: page.input_value("#text").endswith("at home"), "what is written on the machine comes to the phone")
    page.set_input_files("#attach", {"name": "dot.png", "mimeType": "image/png", "buffer": PNG})
    until(lambda: "dot.png" in home.kith("note", "show", "From the phone", "--body-only"), "its pictures come, too")
    assert not page.complaints, page.complaints
    home.stop()


def part_figures(browser):
    """How long a change of another machine takes from this machine's file to the page; not in `make test`."""
    desk, laptop, _ = two_nodes()
    note = desk.kith("note", "add", "Measured", "--body", "begun").splitlines()[-1]
    page = open_page(browser, laptop)
    until(lambda: page.locator(f'#rows li[data-id="{note}"]').count() == 1, "the note is in the list")
    page.click(f'#rows li[data-id="{note}"] a')
    page.locator("#text").wait_for()
    store = sqlite3.connect(f"file:{laptop.folder}/store/notes.sqlite?mode=ro", uri=True, isolation_level=None)
    took = []
    for turn in range(20):
        word = f"word{turn}"
        page.evaluate(WATCH, word)
        version = desk.version(note)
        desk.kith("note", "edit", note, "--body", f"begun {word}", "--base", version)
        until(lambda: word in store.execute("SELECT body FROM note").fetchone()[0], "it is here", pause=0.0005)
        here = time.time() * 1000
        seen = page.evaluate("seen")
        took.append(round(seen - here))
        time.sleep(0.3)
    took.sort()
    print(f"a change of another machine on the page {took[10]} ms after it was here ({took[0]} to {took[-1]})")
    for home in (desk, laptop):
        home.stop()


# A promise of the moment at which the text has the word.
WATCH = """(word) => {
  window.seen = new Promise((done) => {
    const look = () => document.querySelector("#text").value.includes(word) ? done(Date.now()) : setTimeout(look, 1);
    look();
  });
}"""


def part_readme(browser):
    """The picture of the README."""
    home = Home("readme")
    sample(home)
    home.start("web", "--port", "0")
    page = open_page(browser, home)
    page.set_viewport_size({"width": 1100, "height": 560})
    page.click("#rows li:has-text('Shopping') a")
    page.locator("#rendered table").wait_for()
    page.locator("#status:not(:empty)").wait_for(state="attached")
    page.screenshot(path=os.path.join(FOLDER, "page.png"))
    home.stop()


def main():
    started, failed = [], []
    begin = Home.start
    Home.start = lambda self, *arguments: (begin(self, *arguments), started.append(self))[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        for name in sys.argv[3:]:
            begun = time.monotonic()
            try:
                globals()["part_" + name](browser)
                print(f"{name}: right, {time.monotonic() - begun:.1f} s", flush=True)
            except Exception:
                failed.append(name)
                print(f"{name}: wrong, {time.monotonic() - begun:.1f} s\n{traceback.format_exc()}", flush=True)
            finally:
                for context in browser.contexts:
                    context.close()
                while started:
                    started.pop().stop()
        browser.close()
    sys.exit(1 if failed else 0)


main()
