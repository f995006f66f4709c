"""Two people change one text: the merged text has both changes, and each of them once."""

from homes import Home
from pages import open_page


def part_merge(browser):
    """Two people change a text at many places each, thousands of random times, short texts and long ones: the page merges both changes,
    writes nothing twice, and leaves the cursor where it was."""
    home = Home("merge")
    home.start("web", "--port", "0")
    page = open_page(browser, home)
    for script in (MERGE, WORDS, LONG, REWRITTEN):
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


# At most one of the two people changes a word: so the test knows what the merged text is.
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
      // My cursor is in a word that the other person does not change.
      if (owner !== "theirs" && !isCommon && random(5) === 0) place = [text.mine.length + 1, text.both.length + 1];
      for (const name in text) text[name] += (name === owner || name === "both" ? changed : word) + end;
    }
    const merged = merge(text.base, text.theirs, text.mine, place ? [place[0]] : []);
    if (merged.text !== text.both) return JSON.stringify({ ...text, merged: merged.text });
    if (place && merged.marks[0] !== place[1]) return `cursor: ${JSON.stringify({ ...text, place, marks: merged.marks })}`;
  }
  // If both people replace one word, both new words are there.
  const same = merge("on Monday at nine", "on Tuesday at ten", "all on Wednesday at nine").text;
  if (same !== "all on TuesdayWednesday at ten") return same;
  // Of two words beside each other, too: what each wrote stays in one piece.
  const both = merge("one two three", "un deux three", "eins zwei three").text;
  if (both !== "un deuxeins zwei three") return both;
  return "right";
}"""

# Texts that are too long for a shortest list of changes: with lines that occur once, and with lines that occur often.
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

# Texts that have little in common: the comparison takes no more steps than it may, and what it finds is right.
REWRITTEN = r"""async () => {
  const { diff } = await import("/diff.js");
  const { merge } = await import("/merge.js");
  const { differing, workMax } = await import("/sequence.js");
  let seed = 7;
  const random = (below) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor(seed / 2 ** 32 * below); };
  for (const kinds of [2_000_000, 7]) {
    const [olds, news] = [0, 0].map(() => Array.from({ length: 150_000 }, () => `w${random(kinds)}`));
    const work = { left: workMax };
    let at = 0, place = 0;
    for (const [start, end, from, to] of [...differing(olds, news, work), [olds.length, 0, news.length, 0]]) {
      while (at < start && place < from) if (olds[at++] !== news[place++]) return `${kinds}: not the same`;
      if (at !== start || place !== from) return `${kinds}: not in step`;
      [at, place] = [end, to];
    }
    // It may look once more for what is there once.
    if (work.left < -2 * (olds.length + news.length)) return `${kinds}: ${workMax - work.left} steps`;
    // In a line below, words that are there once are told apart all the same.
    const words = Array.from({ length: 1000 }, (_, index) => `word${index}`), others = words.map((word, index) => (index % 10 === 0 ? "new" + word : word));
    const from = olds.join(" ") + "\nthe same\n", to = news.join(" ") + "\nthe same\n";
    const count = diff(from + words.join(" "), to + others.join(" ")).filter(({ at }) => at >= from.length).length;
    if (count !== 100) return `${kinds}: ${count} changes instead of 100`;
  }
  // Between many lines that both lost and won, those that stay are found, and so is what another person writes there.
  const some = (name, count) => Array.from({ length: count }, (_, index) => `${name} ${index}\n`).join("");
  const stays = some("stays", 100), base = some("a", 5000) + stays + some("b", 5000), theirs = some("c", 8000) + stays + some("d", 2000);
  const mine = base.replace("stays 50", "stays and is changed 50");
  if (merge(base, theirs, mine).text !== theirs.replace("stays 50", "stays and is changed 50")) return "what stays is not found";
  return "right";
}"""
