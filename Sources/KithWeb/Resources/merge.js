// Texts that two people change: what differs, and both changes made in one text. Positions count UTF-16 units, as the browser does.

const isHigh = (unit) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit) => unit >= 0xdc00 && unit < 0xe000;
// More pairs of lines than these are not compared one by one.
const pairsMax = 1_000_000;

/** What makes `to` of `from`: `{at, removed, added}` in order, with places in `from`. */
export function diff(from, to) {
  const max = Math.min(from.length, to.length);
  let start = 0;
  while (start < max && from.charCodeAt(start) === to.charCodeAt(start)) start++;
  if (start > 0 && isHigh(from.charCodeAt(start - 1))) start--;
  let end = 0;
  while (end < max - start && from.charCodeAt(from.length - 1 - end) === to.charCodeAt(to.length - 1 - end)) end++;
  if (end > 0 && isLow(from.charCodeAt(from.length - end))) end--;
  const removed = from.slice(start, from.length - end);
  const added = to.slice(start, to.length - end);
  if (!removed && !added) return [];
  if (!removed.includes("\n") || !added.includes("\n")) return [{ at: start, removed: removed.length, added }];
  return diffLines(removed, added).map((splice) => ({ ...splice, at: splice.at + start }));
}

/** The same for texts of several lines, of which some may be the same. */
function diffLines(from, to) {
  const a = from.split(/(?<=\n)/), b = to.split(/(?<=\n)/);
  if (a.length * b.length > pairsMax) return [{ at: 0, removed: from.length, added: to }];
  // The longest common subsequence, from the end on.
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j]
        ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const splices = [];
  let i = 0, j = 0, at = 0, removed = "", added = "";
  const flush = () => {
    if (removed || added) {
      // Within lines of which several may have changed, what is around the change is the same.
      const inner = removed && added && removed !== from ? diff(removed, added) : [{ at: 0, removed: removed.length, added }];
      for (const splice of inner) splices.push({ ...splice, at: at + splice.at });
    }
    at += removed.length;
    removed = added = "";
  };
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      flush();
      at += a[i].length;
      i++; j++;
    } else if (j === b.length || (i < a.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      removed += a[i++];
    } else {
      added += b[j++];
    }
  }
  flush();
  return splices;
}

/**
 * The text in which both `theirs` and `mine`, each made from `base`, are done: what either removed is gone, what either added is there.
 * `marks` are places in `mine`; they come back as places in the new text.
 */
export function merge(base, theirs, mine, marks = []) {
  const lanes = [diff(base, theirs), diff(base, mine)].map((splices) => ({ splices, next: 0, removedUntil: 0 }));
  const [them, me] = lanes;
  const stops = new Set([0, base.length]);
  for (const { splices } of lanes) for (const { at, removed } of splices) stops.add(at).add(at + removed);
  const moved = marks.map(() => null);
  let out = "", minePlace = 0;
  const place = (length, isKept) => {
    marks.forEach((mark, index) => {
      if (moved[index] === null && mark >= minePlace && mark < minePlace + length) moved[index] = out.length + (isKept ? mark - minePlace : 0);
    });
  };
  const take = (lane, at, isMine) => {
    while (lane.next < lane.splices.length && lane.splices[lane.next].at === at) {
      const { removed, added } = lane.splices[lane.next++];
      lane.removedUntil = at + removed;
      if (isMine) {
        place(added.length, true);
        minePlace += added.length;
      }
      out += added;
    }
  };
  const sorted = [...stops].sort((left, right) => left - right);
  sorted.forEach((at, index) => {
    // A cursor before which they write stays where it is, unless it stands behind something new of mine.
    const isMineNext = me.next < me.splices.length && me.splices[me.next].at === at;
    if (!isMineNext) {
      marks.forEach((mark, index) => { if (moved[index] === null && mark === minePlace) moved[index] = out.length; });
    }
    take(them, at, false);
    take(me, at, true);
    const end = sorted[index + 1];
    if (end === undefined) return;
    const isInMine = me.removedUntil <= at, isKept = isInMine && them.removedUntil <= at;
    if (isInMine) {
      place(end - at, isKept);
      minePlace += end - at;
    }
    if (isKept) out += base.slice(at, end);
  });
  return { text: out, marks: moved.map((mark) => mark ?? out.length) };
}

/** The text as a text area shows it: every line ends in one character. */
export const shown = (text) => text.replace(/\r\n?/g, "\n");

/** The text that is meant where a text area shows `value`, in which `raw` was shown before. */
export function unshown(raw, value) {
  if (!raw.includes("\r")) return value;
  // The place in `raw` of each place in what is shown of it.
  const places = [];
  for (let index = 0; index < raw.length; index++) {
    places.push(index);
    if (raw[index] === "\r" && raw[index + 1] === "\n") index++;
  }
  places.push(raw.length);
  let out = "", at = 0;
  for (const splice of diff(shown(raw), value)) {
    out += raw.slice(at, places[splice.at]) + splice.added;
    at = places[splice.at + splice.removed];
  }
  return out + raw.slice(at);
}
