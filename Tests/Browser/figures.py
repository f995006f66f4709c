"""How long things take: the figures N1 to N5 of docs/performance.md; not in `make test`."""

import json
import os
import random
import re
import sqlite3
import statistics
import time
import urllib.request

from homes import FOLDER, Home, two_nodes, until
from pages import open_page

NOTES = int(os.environ.get("KITH_NOTES", "100000"))
ROUNDS = 7
COLORS = 6


def part_figures(browser):
    many_notes(browser)
    letters(browser)
    changes_of_others(browser)


def many_notes(browser):
    """N1, N2, N4 and N5, with so many notes of 1 kB."""
    home = Home("many")
    home.kith("import", made_notes())
    begun = time.monotonic()
    home.kith("note", "search", "zebra")
    first = time.monotonic() - begun
    begun = time.monotonic()
    home.kith("note", "search", "zebra")
    print(f"N5: {NOTES} notes are in the index after {first - (time.monotonic() - begun):.1f} s")
    home.start("web", "--port", "0", "--no-discovery")
    page = open_page(browser, home)
    base = page.url.rstrip("/")
    cookie = "; ".join(f"{each['name']}={each['value']}" for each in page.context.cookies())

    def get(path):
        request = urllib.request.Request(base + path, headers={"Cookie": cookie})
        return urllib.request.urlopen(request).read()

    took, painted = [], []
    for _ in range(ROUNDS):
        begun = time.monotonic()
        get("/")
        took.append((time.monotonic() - begun) * 1_000)
        page.goto(base + "/")
        until(lambda: page.evaluate(PAINTED), "the page is painted")
        painted.append(page.evaluate(PAINTED))
    print(f"N1: the first page after {statistics.median(took):.0f} ms, painted in the browser after {statistics.median(painted):.0f} ms")
    for words in ("zebra lemon tiger", "zebra", "zebra lemon", "z", "ze", "tag:tag3", "color:red", "tag:tag3 zebra", "color:red zebra", "ebra", "ebr emo", "bqxz",
                  "\U0001F389"):
        query = "/part/list?count=60&q=" + urllib.request.quote(words)
        get(query)
        took, processor = [], processor_milliseconds(home)
        for _ in range(ROUNDS):
            begun = time.monotonic()
            get(query)
            took.append((time.monotonic() - begun) * 1_000)
        spent = (processor_milliseconds(home) - processor) / ROUNDS
        print(f"N2: {words}: {statistics.median(took):.0f} ms, {spent:.0f} ms of a processor")
    html = get("/")
    files = re.findall(rb'(?:src|href)="(/[a-z]+\.(?:js|css|svg))"', html)
    sizes, todo = {"/": len(html)}, {name.decode() for name in files}
    while todo - sizes.keys():
        for name in todo - sizes.keys():
            content = get(name)
            sizes[name] = len(content)
            todo |= {"/" + other.decode() for other in re.findall(rb'from "\./([a-z]+\.js)"', content)}
    print(f"N4: {sum(sizes.values())} bytes are served for the first page, {sizes['/']} of them the page with its rows")
    home.stop()


def made_notes():
    """A file to import: texts of the words of a small vocabulary, so that a word is in many of them."""
    draw = random.Random(1)
    words = ["".join(draw.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(draw.randint(3, 9))) for _ in range(5_000)]
    words += ["zebra", "lemon", "tiger"] * 50
    path = os.path.join(FOLDER, "many.jsonl")
    with open(path, "w") as file:
        file.write(json.dumps({"kith": {"format": "kith-notes", "version": 1}}) + "\n")
        for number in range(NOTES):
            now = 1_700_000_000_000 + number * 1_000
            note = {"id": f"00000000-0000-7000-8000-{number:012x}", "title": f"Note {number} {draw.choice(words)}", "body": " ".join(draw.choices(words, k=150)),
                    "color": number % COLORS, "tags": [f"tag{number % 7}"], "created": now, "updated": now, "pinned": False, "deleted": False, "attachments": []}
            file.write(json.dumps({"note": note}) + "\n")
        file.write(json.dumps({"end": {"notes": NOTES}}) + "\n")
    return path


def processor_milliseconds(home):
    with open(f"/proc/{home.process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1_000 / os.sysconf("SC_CLK_TCK")


PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def letters(browser):
    """N3: how long a letter takes from one browser to another one at another node, the pause before saving included."""
    desk, laptop, _ = two_nodes("one", "two")
    note = desk.kith("note", "add", "Measured", "--body", "begun").splitlines()[-1]
    pages = [open_page(browser, home) for home in (desk, laptop)]
    for page in pages:
        until(lambda: page.locator(f'#rows li[data-id="{note}"]').count() == 1, "the note is in the list")
        page.click(f'#rows li[data-id="{note}"] a')
        page.locator("#text").wait_for()
    took = []
    for turn in range(20):
        word = f"word{turn}"
        pages[1].evaluate(WATCH, word)
        pages[0].focus("#text")
        pages[0].keyboard.press("Control+End")
        typed = time.time() * 1_000
        pages[0].keyboard.insert_text(word)
        took.append(round(pages[1].evaluate("seen") - typed))
        time.sleep(0.3)
    took.sort()
    print(f"N3: a letter in the other browser after {took[10]} ms ({took[0]} to {took[-1]})")
    for home in (desk, laptop):
        home.stop()


def changes_of_others(browser):
    """N3: how long a change of another machine takes from this machine's file to the page."""
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
        while word not in store.execute("SELECT body FROM note").fetchone()[0]:
            time.sleep(0.0005)
        here = time.time() * 1000
        seen = page.evaluate("seen")
        took.append(round(seen - here))
        time.sleep(0.3)
    took.sort()
    print(f"N3: a change of another machine on the page {took[10]} ms after it was here ({took[0]} to {took[-1]})")
    for home in (desk, laptop):
        home.stop()


# A promise of the moment at which the text has the word.
WATCH = """(word) => {
  window.seen = new Promise((done) => {
    const look = () => document.querySelector("#text").value.includes(word) ? done(Date.now()) : setTimeout(look, 1);
    look();
  });
}"""
