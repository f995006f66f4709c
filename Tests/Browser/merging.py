"""What two people change in one text is in it, once."""

from homes import Home
from pages import open_page


def part_merge(browser):
    """The two changes of a text, thousands of times, at many places each, of short texts and of long ones: both are in it, nothing else is
    there twice, whoever is asked, and the cursor stays where it was."""
    home = Home("merge")
    home.start("web", "--port", "0")
    page = open_page(browser, home)
    for script in (MERGE, WORDS, LONG):
        result = page.evaluate(script)
        assert result == "right", result
    home.stop()


MERGE = r"""async () => {
  const { diff, tightDiff } = await import("/diff.js");
  const { merge, shown, unshown } = await import("/merge.js");
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
    for (const compare of [diff, tightDiff]) {
      let built = "", at = 0;
      for (const splice of compare(base, theirs)) { built += base.slice(at, splice.at) + splice.added; at = splice.at + splice.removed; }
      if (built + base.slice(at) !== theirs) return `${compare.name} of ${JSON.stringify([base, theirs])}`;
    }
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


# Each word is changed by one of both at most, or not at all: so it is known what becomes of all of them.
WORDS = r"""async () => {
  const { merge } = await import("/merge.js");
  let seed = 7;
  const random = (below) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor(seed / 2 ** 32 * below); };
  const one = (...all) => all[random(all.length)];
  for (let turn = 0; turn < 3000; turn++) {
    let next = 0;
    const fresh = () => one("w", "x", "\u00e9") + (next++).toString(36) + "q";
    const text = { base: "", theirs: "", mine: "", both: "" };
    let place = null;
    for (let count = 1 + random(30); count > 0; count--) {
      const isCommon = random(3) === 0, word = isCommon ? one("the", "and", "of") : fresh();
      const end = count === 1 ? "" : one(" ", " ", " ", ", ", ". ", "\n", "\n\n");
      const owner = isCommon ? "nobody" : one("theirs", "mine", "nobody");
      const changed = owner === "nobody" ? word : one(fresh(), `${word} ${fresh()}`);
      // The cursor is in a word that nobody else changes.
      if (owner !== "theirs" && !isCommon && random(5) === 0) place = [text.mine.length + 1, text.both.length + 1];
      for (const name in text) text[name] += (name === owner || name === "both" ? changed : word) + end;
    }
    const merged = merge(text.base, text.theirs, text.mine, place ? [place[0]] : []);
    if (merged.text !== text.both) return JSON.stringify({ ...text, merged: merged.text });
    if (place && merged.marks[0] !== place[1]) return `cursor: ${JSON.stringify({ ...text, place, marks: merged.marks })}`;
  }
  // Of one word each has its own.
  const same = merge("on Monday at nine", "on Tuesday at ten", "all on Wednesday at nine").text;
  if (same !== "all on TuesdayWednesday at ten") return same;
  return "right";
}"""

# Texts that are too long for all ways to be tried: lines that are there once, and lines that are there often.
LONG = r"""async () => {
  const { merge } = await import("/merge.js");
  for (const line of [(index) => `line ${index} of a long text`, (index) => `line ${index % 7}`, (index) => `${index % 3}`]) {
    const lines = Array.from({ length: 9000 }, (_, index) => line(index));
    const made = (...owners) => lines.map((each, index) => each + (owners.includes(index % 3) ? ` ${index % 3}` : "")).join("\n");
    const base = made(), { text } = merge(base, made(0), "top\n" + made(1) + "\nend");
    if (text !== "top\n" + made(0, 1) + "\nend") return `${line(8)}: ${text.length} characters for ${made(0, 1).length + 8}`;
  }
  const parts = Array.from({ length: 9000 }, (_, index) => ["a", "the", `word${index % 50}`][index % 3]).join(" ");
  if (merge(parts, `they ${parts} too`, `I ${parts} also`).text.length !== parts.length + "they  tooI  also".length) return "one long line";
  return "right";
}"""
