// What one has typed into a text that others change as well, and how to take it back: one's own alone. Places count UTF-16 units.

import { diff } from "./merge.js";

const stepsMax = 500;
const unitsMax = 1_000_000;
const pauseMilliseconds = 1_000;

// A step is what takes a change back: `{at, length, text}` in order, with places in the text that it is taken back in.

/** Steps of one's own. Those under the last one are meant for the text without it. */
export class Undo {
  done = [];
  undone = [];
  /** When the last step was made, if typing goes on with it. */
  openSince = null;

  /** Notes that one has made `after` of `before`; the cursor stands at `cursor`. */
  note(before, after, cursor, now = performance.now()) {
    const step = taking(before, splicesAt(cursor, before, after));
    if (step.length === 0) return;
    this.undone = [];
    const last = this.done.at(-1);
    const joined = last && this.openSince !== null && now - this.openSince < pauseMilliseconds ? join(last, step, after) : null;
    if (joined) this.done[this.done.length - 1] = joined; else this.done.push(step);
    this.openSince = now;
    let units = 0, count = 0;
    for (const each of this.done.toReversed()) {
      units += each.reduce((sum, { length, text }) => sum + length + text.length, 0);
      if (++count > stepsMax || units > unitsMax) break;
    }
    if (count < this.done.length) this.done.splice(0, this.done.length - count);
  }

  /** What comes next is a step of its own. */
  close() { this.openSince = null; }

  /** Others have changed the text that is shown by `splices`, `{at, removed, added}` in order. */
  others(splices) {
    if (splices.length === 0) return;
    this.close();
    for (const name of ["done", "undone"]) {
      const steps = this[name];
      let theirs = splices;
      for (let index = steps.length - 1; index >= 0 && theirs.length > 0; index--) {
        const step = steps[index];
        steps[index] = moved(step, theirs);
        theirs = movedOthers(step, theirs);
      }
      this[name] = steps.filter((step) => step.some(({ length, text }) => length > 0 || text));
    }
  }

  /** Takes the last step back, or repeats it: what `text` is then and where that was, or `null` if there is none. */
  back(text) { return this.take(this.done, this.undone, text); }
  again(text) { return this.take(this.undone, this.done, text); }

  take(from, to, text) {
    this.close();
    const step = from.pop();
    if (!step) return null;
    let out = "", at = 0, place = 0;
    const reverse = [];
    for (const splice of step) {
      out += text.slice(at, splice.at);
      reverse.push({ at: out.length, length: splice.text.length, text: text.slice(splice.at, splice.at + splice.length) });
      out += splice.text;
      at = splice.at + splice.length;
      place = out.length;
    }
    to.push(reverse);
    return { text: out + text.slice(at), place };
  }
}

/** What makes `after` of `before`. Of equal letters the one before the cursor was typed. */
function splicesAt(cursor, before, after) {
  const splices = diff(before, after);
  if (splices.length !== 1 || splices[0].removed > 0) return splices;
  const [{ added }] = splices, at = cursor - added.length;
  const isThere = at >= 0 && before.slice(0, at) === after.slice(0, at) && before.slice(at) === after.slice(cursor);
  return isThere ? [{ at, removed: 0, added: after.slice(at, cursor) }] : splices;
}

/** The step that takes `splices` back, which were done to `before`. */
function taking(before, splices) {
  let shift = 0;
  return splices.map(({ at, removed, added }) => {
    const splice = { at: at + shift, length: added.length, text: before.slice(at, at + removed) };
    shift += added.length - removed;
    return splice;
  });
}

/** One step of two, if typing or deleting went on; a new line begins another one. */
function join(last, next, after) {
  if (last.length !== 1 || next.length !== 1) return null;
  const [one] = last, [two] = next;
  if (two.length > 0 && !two.text && two.at === one.at + one.length && one.length > 0) {
    return after.slice(two.at, two.at + two.length).includes("\n") ? null : [{ ...one, length: one.length + two.length }];
  }
  if (two.length > 0 || one.length > 0) return null;
  if (two.at + two.text.length === one.at) return [{ at: two.at, length: 0, text: two.text + one.text }];
  return two.at === one.at ? [{ at: one.at, length: 0, text: one.text + two.text }] : null;
}

/** The step, for the text that others have changed since. */
function moved(step, theirs) {
  return theirs.toReversed().reduce((left, { at, removed, added }) => left.flatMap((splice) => {
    const end = at + removed, spliceEnd = splice.at + splice.length;
    if (end <= splice.at) return [{ ...splice, at: splice.at + added.length - removed }];
    if (at >= spliceEnd) return [splice];
    // What others wrote within it stays, and what they removed is gone.
    const pieces = [];
    if (at > splice.at) pieces.push({ at: splice.at, length: at - splice.at, text: "" });
    if (end < spliceEnd) pieces.push({ at: at + added.length, length: spliceEnd - end, text: "" });
    if (pieces.length === 0) pieces.push({ at: at + added.length, length: 0, text: "" });
    pieces[0].text = splice.text;
    return pieces;
  }), step);
}

/** What others have done, for the text in which the step is taken back. */
function movedOthers(step, theirs) {
  // What stands where one's own comes back is before it only if it was inserted there.
  const place = (from, isInserted) => {
    let shift = 0;
    for (const { at, length, text } of step) {
      if (from >= at + length && !(isInserted && from === at)) shift += text.length - length;
      else return from > at ? at + shift + text.length : from + shift;
    }
    return from + shift;
  };
  return theirs.flatMap(({ at, removed, added }) => {
    const splices = added ? [{ at: place(at, removed === 0), removed: 0, added }] : [];
    let start = at;
    for (const splice of [...step, { at: Infinity, length: 0 }]) {
      const end = Math.min(splice.at, at + removed);
      if (end > start) splices.push({ at: place(start, false), removed: end - start, added: "" });
      start = Math.max(start, splice.at + splice.length);
    }
    return splices;
  });
}
