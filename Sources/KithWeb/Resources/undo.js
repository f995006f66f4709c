// Takes back what was typed here, step by step: never what others wrote into the same text meanwhile.

import { tightDiff as diff } from "./diff.js";

export const stepsMax = 1_000;
// Of what all steps bring back; the longest text has half as many.
export const charactersMax = 2 ** 23;
const pauseMilliseconds = 1_000;
// Shorter ones are in any text by chance: whole, and parts of them.
const sharedMin = 4, partedMin = 16;
const isMac = /^(Mac|iP)/.test(navigator.platform);

/** What a key or an entry of the browser's menu asks for: `undo`, `redo` or neither. */
export function asked({ inputType, key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (inputType) return { historyUndo: "undo", historyRedo: "redo" }[inputType] ?? null;
  if (!key || altKey || (isMac ? ctrlKey || !metaKey : metaKey || !ctrlKey)) return null;
  const letter = key.toLowerCase();
  if (letter === "z") return shiftKey ? "redo" : "undo";
  return letter === "y" && !shiftKey && !isMac ? "redo" : null;
}

/** A step is what takes it back: splices as of {@link tightDiff}, with places in the text as it is when all later steps are taken back. */
export class Undo {
  constructor(text) {
    this.text = text;
    this.done = [];
    this.undone = [];
    /** Of which kind the last step is, if more of it may come, and when it came. */
    this.kind = null;
    this.time = 0;
  }

  /**
   * The text was made `text` here, which left the cursor at `cursor`. If the last step is of the same `inputType`, shortly before and beside
   * it, it is a part of that.
   */
  typed(text, cursor, inputType = "", time = 0) {
    const splices = difference(this.text, text, cursor);
    if (splices.length === 0) return;
    const kind = /^insert(Text|LineBreak|.*Composition)/.test(inputType) ? "typing" : inputType.startsWith("deleteContent") ? inputType : null;
    const goesOn = kind && kind === this.kind && this.done.length > 0 && time - this.time < pauseMilliseconds;
    const step = inverse(splices, this.text), both = goesOn ? joined(this.done.at(-1), step) : null;
    if (both) this.done.pop();
    this.done.push(both ?? step);
    this.undone = [];
    trim(this.done);
    Object.assign(this, { text, kind, time });
  }

  /** Others made the text `text`. A step of which they leave nothing is none any more. */
  others(text) {
    const count = this.done.length;
    for (const name of ["done", "undone"]) {
      let theirs = diff(this.text, text).flatMap((splice) => parted(splice, this.text));
      const steps = [];
      for (let index = this[name].length - 1; index >= 0; index--) {
        const step = this[name][index];
        steps.unshift(moved(step, theirs, (_, their) => !isBelow(their)));
        theirs = moved(theirs, step, isBelow);
      }
      this[name] = steps.filter(({ length }) => length > 0);
    }
    if (this.done.length < count) this.kind = null;
    this.text = text;
  }

  /** Takes the last step back; gives the place where that was, or `null` if there is no step. */
  undo() { return this.take(this.done, this.undone); }

  /** Does again what {@link undo} took back. */
  redo() { return this.take(this.undone, this.done); }

  take(steps, others) {
    this.kind = null;
    const step = steps.pop();
    if (!step) return null;
    const back = inverse(step, this.text), { at, removed } = back.at(-1);
    others.push(back);
    trim(others);
    this.text = applied(step, this.text);
    return at + removed;
  }
}

/** As {@link tightDiff}: of the places where `to` could have become of `from`, the one at the cursor. */
function difference(from, to, cursor) {
  const rest = to.slice(cursor);
  return from.endsWith(rest) ? diff(from.slice(0, from.length - rest.length), to.slice(0, cursor)) : diff(from, to);
}

/** Several splices in `text` for one that adds much of what it removes: then that stays, and what is around it differs. */
function parted(splice, text) {
  const { at, removed, added } = splice;
  const run = shared(text.slice(at, at + removed), added);
  if (!run) return removed || added ? [splice] : [];
  const end = run.from + run.length;
  return [{ at, removed: run.from, added: added.slice(0, run.to) }, { at: at + end, removed: removed - end, added: added.slice(run.to + run.length) }]
    .flatMap((part) => parted(part, text));
}

/** The run of at least half of the shorter text that is in both, with its places; `null` if none is found. */
function shared(from, to) {
  const [short, long] = from.length < to.length ? [from, to] : [to, from];
  if (short.length < sharedMin) return null;
  const at = long.indexOf(short);
  if (at >= 0) return short === from ? { from: 0, to: at, length: short.length } : { from: at, to: 0, length: short.length };
  if (short.length < partedMin) return null;
  // Such a run has the second or the third quarter in it.
  const quarter = Math.floor(short.length / 4);
  for (const place of [quarter, 2 * quarter]) {
    const found = long.indexOf(short.slice(place, place + quarter));
    if (found < 0) continue;
    const [inFrom, inTo] = short === from ? [place, found] : [found, place];
    let before = 0, length = quarter;
    while (before < Math.min(inFrom, inTo) && from[inFrom - before - 1] === to[inTo - before - 1]) before++;
    while (inFrom + length < from.length && inTo + length < to.length && from[inFrom + length] === to[inTo + length]) length++;
    // No letter is cut that is two units.
    if (/^[\uDC00-\uDFFF]/.test(from.slice(inFrom - before))) before--;
    if (/[\uD800-\uDBFF]$/.test(from.slice(inFrom, inFrom + length))) length--;
    if (before + length >= short.length / 2) return { from: inFrom - before, to: inTo - before, length: before + length };
  }
  return null;
}

function applied(splices, text) {
  let out = "", end = 0;
  for (const { at, removed, added } of splices) {
    out += text.slice(end, at) + added;
    end = at + removed;
  }
  return out + text.slice(end);
}

/** What takes `splices` back where they were done in `text`. */
function inverse(splices, text) {
  let shift = 0;
  return splices.map(({ at, removed, added }) => {
    const back = { at: at + shift, removed: added.length, added: text.slice(at, at + removed) };
    shift += added.length - removed;
    return back;
  });
}

/** One step of two that follow each other, if the later is what was typed behind the earlier, or deleted beside it. */
function joined([first, ...more], [next, ...others]) {
  if (more.length + others.length > 0) return null;
  if (!next.added && next.at === first.at + first.removed) return [{ ...first, removed: first.removed + next.removed }];
  if (first.removed || next.removed) return null;
  if (next.at === first.at) return [{ ...first, added: first.added + next.added }];
  return next.at + next.added.length === first.at ? [{ ...next, added: next.added + first.added }] : null;
}

/** Where both add at one place, what others added comes first, unless it begins a line. */
const isBelow = ({ added }) => added.startsWith("\n");

/** What `splices` are in the text in which `others` were done. `isSecond` says of two that add at one place whether the one of `splices` comes second. */
function moved(splices, others, isSecond) {
  const out = [];
  const put = (at, removed, added) => {
    const last = out.at(-1);
    if (last && last.at + last.removed === at) {
      last.removed += removed;
      last.added += added;
    } else if (removed || added) {
      out.push({ at, removed, added });
    }
  };
  for (const splice of splices) {
    const { at, removed, added } = splice;
    put(movedPlace(at, others, (other) => isSecond(splice, other)), 0, added);
    // What they removed is gone, and what they added in between stays.
    let start = at;
    for (const other of [...others, { at: at + removed, removed: 0 }]) {
      const end = Math.min(other.at, at + removed);
      if (start < end) put(movedPlace(start, others, () => true), end - start, "");
      start = Math.max(start, other.at + other.removed);
    }
  }
  return out;
}

function movedPlace(place, splices, isBehind) {
  let shift = 0;
  for (const splice of splices) {
    const { at, removed, added } = splice;
    if (at > place || (at === place && !isBehind(splice))) break;
    shift += added.length - Math.min(removed, place - at);
  }
  return place + shift;
}

/** Forgets the oldest steps for which there is no room. */
function trim(steps) {
  let count = 0, characters = 0;
  for (; count < Math.min(steps.length, stepsMax); count++) {
    for (const { added } of steps.at(-1 - count)) characters += added.length;
    if (characters > charactersMax) break;
  }
  steps.splice(0, steps.length - count);
}
