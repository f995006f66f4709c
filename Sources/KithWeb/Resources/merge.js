// Makes one text of the changes that two writers made to a text. Positions count UTF-16 units, as the browser does.

import { diff } from "./diff.js";

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
    // What is only added stands before what takes the place of something.
    const their = them.splices[them.next];
    if (isMineNext && me.splices[me.next].removed === 0 && their?.at === at && their.removed > 0) take(me, at, true);
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

/** Where a place in `before` is in `after`; what is added there comes behind it. */
export const moved = (place, before, after) => merge(before, after, before, [place]).marks[0];

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
