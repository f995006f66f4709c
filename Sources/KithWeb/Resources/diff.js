// Finds the changes that turn one text into another, as a person would describe them: it compares whole lines first, then words in the
// lines that differ. As in the node, the limit is work and not time, so that each browser finds the same. Positions count UTF-16 units.

import { differing, workMax } from "./sequence.js";

// How many units of a common beginning or end count as changed at most, so that a change begins and ends at the border of a line or word.
const lineMax = 1_024, wordMax = 64;
// Scripts that write without spaces: each letter is a word.
const single = "[\\p{Ideographic}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Mymr}\\p{sc=Khmr}]";
const letter = `(?!${single})[\\p{L}\\p{N}_]`;
// What belongs to the sign before it: marks, skin tones, tags, and what is joined to it.
const more = "[\\p{M}\\u200d\\u{1f3fb}-\\u{1f3ff}\\u{e0020}-\\u{e007f}]";
const words = new RegExp(`(?:${letter}${more}*)+|\\r\\n|[\\r\\n]|[^\\S\\r\\n]+|\\p{RI}{2}|.(?:${more}+(?:(?<=\\u200d).)?)*`, "gsu");
const isLetter = new RegExp(`^${letter}`, "u"), goesOn = new RegExp(`^${more}`, "u");
const isHigh = (unit) => unit >= 0xd800 && unit < 0xdc00, isLow = (unit) => unit >= 0xdc00 && unit < 0xe000;

/** The changes that turn `from` into `to`: `{at, removed, added}` in order, with places in `from`. A word is replaced as a whole. */
export function diff(from, to) { return splices(from, to, isWordBorder); }

/** As {@link diff}, but of a word that is replaced, the letters stay that both words begin or end with. */
export function tightDiff(from, to) { return splices(from, to, isSignBorder); }

/** `isBorder` says where a replacement may begin and end. A part is `[start, end, start, end]`: two places in `from`, two in `to`. */
function splices(from, to, isBorder) {
  if (from === to) return [];
  const whole = [0, from.length, 0, to.length], work = { left: workMax };
  const isBoth = (part) => part[0] < part[1] && part[2] < part[3];
  const compare = ([fromStart, fromEnd, toStart, toEnd], pieces) => {
    const olds = pieces(from.slice(fromStart, fromEnd)), news = pieces(to.slice(toStart, toEnd));
    const [oldPlaces, newPlaces] = [places(olds, fromStart), places(news, toStart)];
    return differing(olds, news, work).map(([a, b, c, d]) => [oldPlaces[a], oldPlaces[b], newPlaces[c], newPlaces[d]]);
  };
  const trim = (part) => {
    const tight = trimmed(from, to, part, isSignBorder);
    if (!isBoth(tight) || isBorder === isSignBorder) return tight;
    const wide = trimmed(from, to, part, isBorder);
    return size(wide) - size(tight) <= wordMax ? wide : tight;
  };
  const middle = trimmed(from, to, whole, isSignBorder);
  const parts = !isBoth(middle) ? [middle] : compare(widened(from, to, middle), (text) => text.split(/(?<=\n)/))
    .flatMap((part) => (isBoth(part) ? joined(from, compare(part, (text) => text.match(words))) : [part]));
  let last = 0;
  return parts.map(trim).filter(([a, b, c, d]) => a < b || c < d).map((part) => {
    const [text, ...ends] = part[0] < part[1] ? [from, part[0], part[1]] : [to, part[2], part[3]];
    const way = isBoth(part) || isBorder === isSignBorder ? 0 : wayBack(text, ...ends);
    const [at, end, start, stop] = part.map((place) => place - (way <= part[0] - last ? way : 0));
    last = end;
    return { at, removed: end - at, added: to.slice(start, stop) };
  });
}

/** How far back an insertion or deletion can be put, with the same result, so that it is whole words; 0 if no such place is near. */
function wayBack(text, start, end) {
  for (let way = 0; way < Math.min(wordMax, start); way++) {
    if (isWordBorder(text, start - way) && isWordBorder(text, end - way)) return way;
    if (text[start - way - 1] !== text[end - way - 1]) break;
  }
  return 0;
}

const size = ([a, b, c, d]) => Math.max(b - a, d - c);

/** Where the pieces begin, and where the last one ends. */
function places(pieces, start) {
  const found = [start];
  for (const { length } of pieces) found.push(start += length);
  return found;
}

/** The part without what both sides of it begin and end with. */
function trimmed(from, to, [a, b, c, d], isBorder) {
  const max = Math.min(b - a, d - c);
  let lead = 0, tail = 0;
  while (lead < max && from.charCodeAt(a + lead) === to.charCodeAt(c + lead)) lead++;
  while (lead > 0 && !(isBorder(from, a + lead) && isBorder(to, c + lead))) lead--;
  while (tail < max - lead && from.charCodeAt(b - 1 - tail) === to.charCodeAt(d - 1 - tail)) tail++;
  while (tail > 0 && !(isBorder(from, b - tail) && isBorder(to, d - tail))) tail--;
  return [a + lead, b - tail, c + lead, d - tail];
}

/** The part with the equal text around it, up to the borders of lines, or of words if those are far. */
function widened(from, to, [a, b, c, d]) {
  const isLineBorder = (text, place) => place === 0 || place === text.length || text[place - 1] === "\n";
  const toBorder = (place, other, step, max) => {
    for (const [isBorder, near] of [[isLineBorder, lineMax], [isWordBorder, wordMax]]) {
      const isEnd = (way) => isBorder(from, place + step * way) && isBorder(to, other + step * way);
      let way = 0;
      while (way < Math.min(near, max) && !isEnd(way)) way++;
      if (isEnd(way)) return way;
    }
    return 0;
  };
  const lead = toBorder(a, c, -1, Math.min(a, c)), tail = toBorder(b, d, 1, from.length - b);
  return [a - lead, b + tail, c - lead, d + tail];
}

/** Makes one replacement of replaced words that stand side by side, with only spaces and punctuation between them. */
function joined(from, parts) {
  const out = [];
  for (const part of parts) {
    const last = out.at(-1), between = last && from.slice(last[1], part[0]);
    const isOne = last && [last, part].every(([a, b, c, d]) => a < b && c < d && size([a, b, c, d]) > between.length);
    if (isOne && /^[\s\p{P}]*$/u.test(between)) out[out.length - 1] = [last[0], part[1], last[2], part[3]]; else out.push(part);
  }
  return out;
}

/** Whether a text can be cut at `place` without tearing a sign of several units, such as an emoji. */
function isSignBorder(text, place) {
  if (place <= 0 || place >= text.length) return true;
  const before = text.charCodeAt(place - 1), unit = text.charCodeAt(place);
  if (unit < 0x300) return before !== 13 || unit !== 10;
  if (before === 0x200d || (isHigh(before) && isLow(unit))) return false;
  const rest = text.slice(place, place + 2);
  if (goesOn.test(rest)) return false;
  if (!/^\p{RI}/u.test(rest)) return true;
  // A flag is two letters: which two, one sees only from the beginning of a row of flags.
  return (/(?:\p{RI}*)$/u.exec(text.slice(Math.max(0, place - 256), place))[0].length / 2) % 2 === 0;
}

/** Whether a text can be cut at `place` without tearing a sign or a word. */
function isWordBorder(text, place) {
  if (!isSignBorder(text, place)) return false;
  if (place <= 0 || place >= text.length || !isLetter.test(text.slice(place, place + 2))) return true;
  let start = place - 1;
  while (start > 0 && (isLow(text.charCodeAt(start)) || goesOn.test(text.slice(start, start + 2)))) start--;
  return !isLetter.test(text.slice(start, start + 2));
}
