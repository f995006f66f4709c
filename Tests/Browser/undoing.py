"""Undo takes back what was typed here, and leaves what others wrote."""

import re

from homes import Home, free_port, until
from pages import PNG, open_page, saved


class Writer:
    """Somebody at the page of a note, while others write into the same."""

    def __init__(self, home, page, note):
        self.home, self.page, self.note = home, page, note

    def open(self):
        self.page.goto(re.match(r"http://[^/]+", self.page.url).group() + f"/note/{self.note}")
        self.page.locator("#text").wait_for()
        until(lambda: self.page.inner_text("#status") != "", "the page is told of changes")
        self.page.focus("#text")

    def shows(self, text, cursor=None):
        """Waits until this is shown and saved; `cursor` is what then stands before the cursor, which is seen."""
        until(lambda: self.page.input_value("#text") == text, f"the page shows {text[:200]!r}")
        until(lambda: saved(self.page) and self.home.body(self.note) == text, "that is saved")
        if cursor is not None:
            before = self.page.evaluate("() => { const { value, selectionEnd } = document.querySelector('#text'); return value.slice(0, selectionEnd); }")
            assert text.startswith(before) and before.endswith(cursor), f"the cursor is behind {before[-100:]!r}"

    def others(self, text):
        """Others write the note anew, and this page shows it."""
        until(lambda: saved(self.page) and self.home.body(self.note) == self.page.input_value("#text"), "all is saved")
        self.home.kith("note", "edit", self.note, "--body", "-", given=text)
        until(lambda: self.page.input_value("#text") == text, "what others wrote is shown")

    def select(self, start, end=None):
        self.page.focus("#text")
        self.page.evaluate("([start, end]) => document.querySelector('#text').setSelectionRange(start, end)", [start, start if end is None else end])

    def type_behind(self, found, words):
        """As one go, however slow the machine is."""
        self.select(self.page.input_value("#text").index(found) + len(found))
        self.page.keyboard.insert_text(words)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)


def part_undo(browser):
    """Ctrl+Z after others wrote before, behind and within what was typed: what they wrote stays, whatever is taken back and done again."""
    home = Home("undo")
    note = home.kith("note", "add", "Undone", "--body", "first\nmiddle\nlast").splitlines()[-1]
    other = home.kith("note", "add", "Another", "--body", "another").splitlines()[-1]
    home.start("web", "--port", free_port())
    page = open_page(browser, home)
    writer = Writer(home, page, note)
    writer.open()
    take_back_among_others(writer)
    take_back_steps(writer)
    take_back_what_others_changed(writer)
    take_back_otherwise(writer)
    # A note that was left and opened again.
    writer.type_behind("last", " of mine")
    text = page.input_value("#text")
    writer.shows(text)
    page.click(f'#rows li[data-id="{other}"] a')
    page.wait_for_url(f"**/note/{other}")
    page.click(f'#rows li[data-id="{note}"] a')
    page.wait_for_url(f"**/note/{note}")
    page.locator("#text").wait_for()
    writer.others("theirs\n" + text)
    page.focus("#text")
    writer.press("Control+z", "Control+z", "Control+Shift+z")
    writer.shows("theirs\n" + text)
    take_back_in_long_text(writer)
    assert not page.complaints, page.complaints
    result = page.evaluate(UNDO)
    assert result == "right", result
    home.stop()


def take_back_among_others(writer):
    # Before, behind, in the same line, and right in it.
    writer.type_behind("middle", " typed here")
    writer.shows("first\nmiddle typed here\nlast")
    for text in ("first\nmiddle typed here\nlast\nbelow", "above\nfirst\nmiddle typed here\nlast\nbelow",
                 "above\nfirst\nthe middle typed here\nlast\nbelow", "above\nfirst\nthe middle typed here, too\nlast\nbelow",
                 "above\nfirst\nthe middle typed, not here, too\nlast\nbelow"):
        writer.others(text)
    for undo, redo in (("Control+z", "Control+Shift+z"), ("Control+z", "Control+y")):
        writer.press(undo)
        writer.shows("above\nfirst\nthe middle, not, too\nlast\nbelow", "the middle, not")
        writer.press(redo)
        writer.shows(text, "here")
    # What they write between undo and redo stays as well.
    writer.press("Control+z")
    writer.shows("above\nfirst\nthe middle, not, too\nlast\nbelow")
    writer.others("top\nfirst\nthe middle, was not, too\nlast\nbelow")
    writer.press("Control+Shift+z")
    writer.shows("top\nfirst\nthe middle typed, was not here, too\nlast\nbelow")
    writer.press("Control+z", "Control+z")
    writer.shows("top\nfirst\nthe middle, was not, too\nlast\nbelow")


def take_back_steps(writer):
    # Where the cursor moved in between, and what was deleted or pasted, are steps of their own.
    writer.others("one\ntwo\nthree")
    writer.type_behind("one", " mine")
    writer.type_behind("three", " mine, too")
    writer.select(4, 8)
    writer.press("Delete")
    writer.shows("one \ntwo\nthree mine, too")
    writer.others("zero\none \nnew\ntwo\nthree mine, too")
    for text in ("zero\none mine\nnew\ntwo\nthree mine, too", "zero\none mine\nnew\ntwo\nthree", "zero\none\nnew\ntwo\nthree"):
        writer.press("Control+z")
        writer.shows(text)
    writer.press("Control+z", "Control+Shift+z", "Control+Shift+z")
    writer.shows("zero\none mine\nnew\ntwo\nthree mine, too")
    # What is typed now takes the place of what was taken back.
    writer.type_behind("new", "er")
    writer.press("Control+y")
    writer.shows("zero\none mine\nnewer\ntwo\nthree mine, too")
    writer.press("Control+z", "Control+z")
    writer.shows("zero\none mine\nnew\ntwo\nthree")


def take_back_what_others_changed(writer):
    # Around it, in two places of its line at once.
    writer.type_behind("three", " in this long line")
    writer.others("zero\none mine\nnew\ntwo\nall three in this long line of theirs")
    writer.press("Control+z")
    writer.shows("zero\none mine\nnew\ntwo\nall three of theirs", "three")
    writer.others("zero\none mine\nnew\ntwo\nthree")
    # A part of it, and all of it.
    writer.type_behind("two", " red green blue")
    writer.others("zero\none mine\nnew\ntwo red blue\nthree")
    writer.press("Control+z")
    writer.shows("zero\none mine\nnew\ntwo\nthree")
    writer.press("Control+Shift+z")
    writer.shows("zero\none mine\nnew\ntwo red blue\nthree")
    writer.others("zero\none\nnew\ntwo theirs\nthree")
    writer.press("Control+z", "Control+z", "Control+z", "Control+Shift+z")
    writer.shows("zero\none\nnew\ntwo theirs\nthree")


def take_back_otherwise(writer):
    page = writer.page
    # A box that was ticked, and the text of a picture.
    writer.others("- [ ] tick\nlast")
    page.locator("#rendered input[type=checkbox]:not([disabled])").click()
    writer.shows("- [x] tick\nlast")
    writer.select(10)
    page.set_input_files("#attach", {"name": "dot.png", "mimeType": "image/png", "buffer": PNG})
    writer.shows("- [x] tick![[dot.png]]\nlast")
    writer.others("above\n- [x] tick![[dot.png]]\nlast")
    page.focus("#text")
    writer.press("Control+z")
    writer.shows("above\n- [x] tick\nlast", "tick")
    writer.press("Control+z")
    writer.shows("above\n- [ ] tick\nlast")
    # A letter of several keys is left alone, and one step when it is whole.
    keys = page.context.new_cdp_session(page)
    writer.select(len("above\n- [ ] tick\nlast"))
    for part in ("k", "ka", "kan"):
        keys.send("Input.imeSetComposition", {"text": part, "selectionStart": len(part), "selectionEnd": len(part)})
    page.evaluate("document.querySelector('#text').dispatchEvent(new KeyboardEvent('keydown', { key: 'z', ctrlKey: true, isComposing: true, bubbles: true }))")
    assert page.input_value("#text").endswith("lastkan"), page.input_value("#text")
    keys.send("Input.insertText", {"text": "\u6f22"})
    writer.others("above\n- [ ] tick\nlast\u6f22\nbelow")
    writer.press("Control+z")
    writer.shows("above\n- [ ] tick\nlast\nbelow", "last")
    # By the browser's menu, also from another field.
    writer.type_behind("tick", " typed")
    writer.others("above\n- [ ] tick typed\nlast\nbelow\nmore")
    page.focus("#title")
    keys.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", "commands": ["undo"]})
    writer.shows("above\n- [ ] tick\nlast\nbelow\nmore", "tick")


def take_back_in_long_text(writer):
    long = "".join(f"line {number} of a long text\n" for number in range(2_000))
    writer.others(long)
    writer.type_behind("line 1900", " typed")
    text = long.replace("line 1900", "line 1900 typed")
    theirs = "".join(f"theirs {number}\n" for number in range(2_000))
    writer.others(theirs + text + "below")
    writer.select(0)
    writer.page.evaluate("document.querySelector('#text').scrollTop = 0")
    writer.press("Control+z")
    writer.shows(theirs + long + "below", "line 1900")
    assert writer.page.evaluate("document.querySelector('#text').scrollTop") > 0, "the cursor is out of sight"
    writer.press("Control+Shift+z")
    writer.shows(theirs + text + "below", "typed")


# Thousands of times, two people change a text of letters of which each is another one: so it is known whose each is.
UNDO = r"""async () => {
  const { Undo, stepsMax, charactersMax } = await import("/undo.js");
  let seed = 7;
  const random = (below) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor(seed / 2 ** 32 * below); };
  const sorted = (letters) => [...letters].filter((letter) => letter !== "\n").sort().join("");
  const all = (steps, way) => { while (steps[way]() !== null); return steps.text; };
  for (let turn = 0; turn < 4000; turn++) {
    let next = 0x4e00;
    const letters = (count) => Array.from({ length: count }, () => String.fromCharCode(next++)).join("");
    const lines = (count) => (count > 1 && random(2) ? "\n" : "") + letters(count);
    const steps = new Undo(letters(random(12)));
    const said = [steps.text], theirs = new Set(steps.text);
    const change = () => {
      const { text } = steps, at = random(text.length + 1), end = Math.min(text.length, at + random(4)), added = lines(random(4));
      return { text: text.slice(0, at) + added + text.slice(end), added, removed: text.slice(at, end), cursor: at + added.length };
    };
    const other = () => {
      const { text, added, removed } = change();
      for (const letter of added) theirs.add(letter);
      for (const letter of removed) theirs.delete(letter);
      steps.others(text);
    };
    for (let times = random(12); times > 0; times--) {
      const { text, cursor } = change(), what = random(5);
      if (what < 2) steps.typed(text, cursor, ["insertText", "deleteContentBackward", "insertFromPaste"][random(3)], random(2000));
      else if (what < 4) other();
      else steps[["undo", "redo"][random(2)]]();
      said.push(steps.text);
    }
    for (let times = 0; times < 2; times++) {
      const whole = all(steps, "redo"), rest = all(steps, "undo");
      if (sorted(rest) !== sorted(theirs)) return `undone: ${JSON.stringify([...said, whole, rest])}`;
      if (all(steps, "redo") !== whole) return `done again: ${JSON.stringify([...said, whole, rest, steps.text])}`;
      if (times === 0) { all(steps, "undo"); other(); }
    }
  }
  // Typing in one go is one step; a pause, another place and a deletion begin another.
  const go = new Undo("");
  const typings = [["a", 1, "insertText", 0], ["ab", 2, "insertText", 999], ["abc", 3, "insertLineBreak", 1500], ["abcd", 4, "insertText", 2500],
    ["xabcd", 1, "insertText", 2600], ["abcd", 0, "deleteContentBackward", 2700], ["abcd!", 5, "insertFromPaste", 2800], ["abcd!?", 6, "insertFromPaste", 2900],
    ["abcd!", 5, "deleteContentBackward", 3000], ["abcd", 4, "deleteContentBackward", 3100]];
  for (const [text, cursor, inputType, time] of typings) go.typed(text, cursor, inputType, time);
  const seen = [];
  while (go.undo() !== null) seen.push(go.text);
  if (seen.join() !== ["abcd!?", "abcd!", "abcd", "xabcd", "abcd", "abc", ""].join()) return `steps: ${JSON.stringify(seen)}`;
  // As many steps, and as many characters in them, as there is room for.
  const many = new Undo("");
  for (let count = 1; count <= stepsMax + 1; count++) many.typed("x".repeat(count), count);
  if (all(many, "undo") !== "x") return "steps at the limit";
  const long = new Undo("y".repeat(charactersMax));
  long.typed("", 0);
  if (long.undo() === null || long.redo() === null) return "characters at the limit";
  long.typed("z", 1);
  long.typed("", 0);
  if (all(long, "undo") !== "") return "characters past the limit";
  return "right";
}"""
