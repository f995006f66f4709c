// The editor of the note that is open: it saves what the person types, shows what others write meanwhile, and loses no letter on the way.

import { merge, shown } from "./merge.js";
import { Attachments } from "./attachments.js";
import { enableChecks } from "./checks.js";
import { Undo, asked } from "./undo.js";
import * as drafts from "./drafts.js";
import { restoreGone, standing, writeAnew } from "./gone.js";
import { alertWith } from "./alerts.js";
import { isOnline, notDone, saveOrphans } from "./app.js";
import { api, getPart } from "./requests.js";

const pauseMilliseconds = 300;
const retriesMilliseconds = [2_000, 30_000];
// A person may tick a box that is shown of an older version: so many versions are known.
const versionsMax = 10;

/** The notes that the person left before all was saved: for each a promise, which is kept when its last save has ended. */
const leaving = new Map();
export const isLeaving = (id) => leaving.has(id);

export class Editor {
  constructor(element) {
    this.element = element;
    this.id = element.dataset.id;
    this.area = element.querySelector("#text");
    this.title = element.querySelector("#title");
    this.saved = element.querySelector("#saved");
    this.rendered = element.querySelector("#rendered");
    // What the server has sent: more may have been typed before this script ran.
    const begun = { text: shown(this.area.defaultValue), title: this.title.defaultValue };
    this.steps = new Undo(begun.text);
    this.queue = Promise.resolve();
    /** What the server has said last: `{text, version, title}`. */
    this.base = null;
    /** For the last versions, their texts as the area showed them. */
    this.versions = new Map();
    this.attachments = new Attachments(this);
    this.begun = { ...begun, version: element.querySelector("#markdown")?.dataset.version };
    /** The save that was sent and is not answered yet. */
    this.pending = null;
    /** The new note that this deleted one was written as, and what that has of it: `{id, title, body}`. */
    this.anew = null;
    /** What was sent as this new note: `{title, body, id}`; the answer may be lost. */
    this.sent = null;
    /** Whether this browser had room to keep what was typed. */
    this.isKept = true;
    /** What others wrote while the person composed a letter: `{note, before}`, as for {@link take}, which waits for the letter. */
    this.held = null;
    /** What the node said when it did not find the note: see {@link standing}. */
    this.where = "there";
    this.isClosed = false;
    this.renderings = 0;
    /** The HTML of the text as it reads, as the server sent it. */
    this.reading = null;
    this.retryMilliseconds = retriesMilliseconds[0];
    this.area.addEventListener("input", (event) => this.typed(event));
    for (const name of ["keydown", "beforeinput"]) this.area.addEventListener(name, (event) => this.step(event));
    this.area.addEventListener("compositionend", (event) => this.composed(event));
    this.title.addEventListener("input", () => this.changed());
    if (this.area.value !== begun.text || this.title.value !== begun.title) { this.learn(); this.changed(); }
    this.ready = this.load();
  }

  /** Gets the note, and what was typed into it and never saved. */
  load() {
    const ofThis = async () => (await drafts.orphans()).filter(({ id, key }) => id === this.id && key !== this.earlyKey);
    const work = async (found) => {
      let note = await api(`/api/note/${this.id}`);
      const left = [];
      for (const each of found) {
        const { draft, key } = each;
        try {
          if (draft.pending) note = await drafts.sendSave(this.id, draft.pending);
        } catch (error) {
          if (error.isFinal) draft.pending = null;
          // The node may have done this save, so it is sent again before anything else: this tab sends its own, and `saveOrphans` the others.
          else if (key === drafts.keyOf(this.id)) { this.resume(draft, note); throw error; }
          else continue;
        }
        left.push(each);
      }
      const { begun } = this, typedTitle = this.title.value;
      let { text } = merge(begun.text, shown(note.text), this.area.value);
      for (const { draft } of left) text = merge(draft.pending?.value ?? shown(draft.base.text), text, draft.text).text;
      const drafted = left.find(({ draft }) => draft.title !== draft.base.title)?.draft;
      const titled = typedTitle !== begun.title ? { title: typedTitle, base: begun } : drafted;
      const title = titled?.title ?? note.title;
      // Another writer may have given the note another title since: then the page asks which one to take.
      this.setBase({ ...note, title: titled && title !== note.title ? titled.base.title : note.title });
      this.show(text);
      // To set the same title again would move the cursor.
      if (this.title.value !== title) this.title.value = title;
      this.showFields(note);
      if (this.isDirty) this.changed(); else this.tell("Saved");
      enableChecks(this.rendered);
      // This tab's own draft has what is in them.
      for (const { key } of left) if (key !== drafts.keyOf(this.id) || !this.isDirty) localStorage.removeItem(key);
      this.dropEarly();
    };
    return this.enqueue(async () => {
      if (this.base) return;
      if (!this.isClosed) await leaving.get(this.id);
      // One tab at a time takes what closed tabs have left.
      if ((await ofThis()).length === 0) await work([]); else await drafts.inTurn(async () => work(await ofThis()));
    });
  }

  /** Goes on with a draft of which a save is not answered. `note` is the note as it is now. */
  resume(draft, note) {
    const { begun } = this, typedTitle = this.title.value;
    this.setBase({ ...note, ...draft.base });
    this.pending = draft.pending;
    this.show(merge(begun.text, draft.text, this.area.value).text);
    this.title.value = typedTitle !== begun.title ? typedTitle : draft.title;
    this.showMarks(note);
    if (this.keep()) this.dropEarly();
  }

  /** Forgets what was typed before the note was loaded: it is in this tab's own draft now, or saved. */
  dropEarly() {
    if (this.earlyKey) localStorage.removeItem(this.earlyKey);
    this.earlyKey = null;
  }

  setBase(note) {
    this.base = note;
    this.versions.delete(note.version);
    this.versions.set(note.version, shown(note.text));
    if (this.versions.size > versionsMax) this.versions.delete(this.versions.keys().next().value);
  }

  get isDirty() {
    return this.base !== null && (this.area.value !== shown(this.base.text) || this.title.value !== this.base.title);
  }

  /** Whether nothing was typed that is to be saved. */
  get isIdle() {
    if (this.anew) return this.area.value === this.anew.body && this.title.value === this.anew.title;
    return this.base ? !this.isDirty : !this.earlyKey;
  }

  /** Does `work` when all work before it has ended, so that one request of a note follows the other. A wish is done also if the person left. */
  enqueue(work, isWish = false) {
    const result = this.queue.then(() => (this.isClosed && this.isIdle && !isWish ? undefined : work()));
    this.queue = result.catch((error) => { this.failed(error); });
    return this.queue;
  }

  // Typing

  typed(event) {
    // A browser that cannot be kept from its own undo may have taken back what others wrote.
    if (asked(event)) this.put(this.steps.text); else if (!event.isComposing) this.learn(event);
    this.changed();
  }

  /** Tells `steps` and `attachments` what the person has typed since they were told last. */
  learn({ inputType, timeStamp } = {}) {
    this.attachments.follow(this.steps.text, this.area.value);
    this.steps.typed(this.area.value, this.area.selectionEnd, inputType, timeStamp);
  }

  /** Takes back what was typed last, or does it again, if `event` asks for that. */
  step(event) {
    const way = asked(event);
    if (!way || event.isComposing) return;
    event.preventDefault();
    this.learn();
    const { text } = this.steps, place = this.steps[way]();
    if (place === null) return;
    this.attachments.follow(text, this.steps.text);
    this.put(this.steps.text, [place, place]);
    // A text area that gets the focus scrolls to its cursor.
    if (this.area.scrollHeight > this.area.clientHeight) this.area.blur();
    this.area.focus();
    this.changed();
  }

  changed() {
    this.keep();
    this.tellGone();
    if (isOnline()) this.tell("Typing …"); else this.tellUnsaved();
    clearTimeout(this.timer);
    if (!this.isClosed) this.timer = setTimeout(() => this.save(), pauseMilliseconds);
  }

  /** Keeps what was typed in this browser; `false` if there is no room. */
  keep() {
    const { base } = this, { text, version, title } = base ?? this.begun;
    if (!base) this.earlyKey = drafts.keyOf(this.id, true);
    const draft = { base: { text, version, title }, text: this.area.value, title: this.title.value, pending: this.pending, anew: this.sent?.id };
    return this.isKept = drafts.keep(this.id, draft, !base);
  }

  save() {
    clearTimeout(this.timer);
    if (!this.base) return this.load();
    return this.enqueue(async () => {
      if (!this.base || this.isComposing || (this.anew && this.isIdle)) return;
      await this.settle();
      if (this.area.value !== shown(this.base.text)) await this.saveText();
      if (this.title.value !== this.base.title) await this.saveTitle();
      if (this.isDirty) return;
      drafts.drop(this.id);
      this.dropEarly();
      this.tell("Saved");
      this.isWell();
    });
  }

  async saveText() {
    this.pending = drafts.saveOf(this.base, this.area.value);
    this.keep();
    await this.settle();
    if (this.area.value !== shown(this.base.text)) this.changed();
    this.render();
  }

  /** Sends a save that is not answered, for the first time or again: the node does it once. */
  async settle() {
    const { pending } = this;
    if (!pending || this.held) return;
    let note;
    try {
      note = await drafts.sendSave(this.id, pending);
    } catch (error) {
      // Unless it was refused, it may have been done.
      if (error.isFinal) this.pending = null;
      throw error;
    }
    this.take(note, pending.value);
  }

  async saveTitle() {
    const value = this.title.value;
    try {
      const note = await api(`/api/note/${this.id}/fields`, { title: { value, base: this.base.title } });
      this.base.title = note.title;
      this.element.querySelector("h1").textContent = note.title;
      document.title = `${note.title || "(no title)"} · Kith`;
    } catch (error) {
      if (error.code !== "changedMeanwhile") throw error;
      const note = await api(`/api/note/${this.id}`);
      this.askForTitle(note.title);
    }
  }

  /** Somebody else has given the note another title in the meantime. */
  askForTitle(other) {
    const notice = this.element.querySelector("#titles");
    const button = (label, action) => {
      const element = Object.assign(document.createElement("button"), { type: "button", textContent: label });
      element.addEventListener("click", () => { notice.hidden = true; action(); });
      return element;
    };
    notice.replaceChildren(
      `The title was changed elsewhere to “${other}”. `,
      button("Take that one", () => { this.title.value = this.base.title = other; this.save(); }), " ",
      button("Keep mine", () => { this.base.title = other; this.save(); }));
    notice.hidden = false;
  }

  // What others write

  /** Looks at the note anew. */
  refresh() {
    if (!this.base) return this.load();
    return this.enqueue(async () => {
      if (this.isComposing) { this.isWaiting = true; return; }
      if (!this.base) return;
      await this.settle();
      const note = await api(`/api/note/${this.id}`);
      if (note.version !== this.base.version) this.take(note, shown(this.base.text));
      this.showFields(note);
      this.isBack();
      // What is typed meanwhile does not wait for it.
      this.render();
    });
  }

  /** Others have changed the text from `before` to that of `note`: shows that, with what the person has typed since `before`. */
  take(note, before) {
    const { selectionStart, selectionEnd } = this.area;
    const { text, marks } = merge(before, shown(note.text), this.area.value, [selectionStart, selectionEnd]);
    if (this.isComposing && text !== this.area.value) { this.held = { note, before }; return; }
    const { title } = this.base;
    this.setBase({ ...note, title });
    this.pending = null;
    this.show(text, marks);
    if (this.isDirty) this.keep();
  }

  /** The person has completed a letter of several keys. */
  composed({ timeStamp }) {
    const { held } = this;
    this.held = null;
    this.learn({ inputType: "insertCompositionText", timeStamp });
    if (held) this.take(held.note, held.before);
    if (this.isWaiting) this.refresh();
    this.isWaiting = false;
    if (this.base) this.save();
  }

  get isComposing() { return this.area.matches(":focus") && this.composing === true; }

  showMarks({ color, isPinned }) {
    this.marks = { color, isPinned };
    this.element.querySelector("#color").value = color;
    this.element.querySelector("#pin").setAttribute("aria-pressed", String(isPinned));
  }

  showFields(note) {
    if (this.title.value === this.base.title) {
      this.title.value = this.base.title = note.title;
      this.element.querySelector("h1").textContent = note.title;
    } else {
      this.save();
    }
    this.showMarks(note);
    this.element.querySelector("#contested").hidden = !note.isContested;
    const list = this.element.querySelector("#tags"), tags = note.tags.join(" ");
    if (tags === list.dataset.tags) return;
    list.dataset.tags = tags;
    list.replaceChildren(...note.tags.map((tag) => {
      const item = document.createElement("li");
      const label = Object.assign(document.createElement("span"), { className: "tag", textContent: "#" + tag });
      const button = Object.assign(document.createElement("button"), { type: "button", className: "untag", textContent: "×" });
      button.dataset.tag = tag;
      button.setAttribute("aria-label", "Remove the tag " + tag);
      item.append(label, button);
      return item;
    }));
  }

  /** Shows `text`, into which others may have written. */
  show(text, marks) {
    if (this.area.value === text) return;
    this.learn();
    this.attachments.follow(this.steps.text, text);
    this.steps.others(text);
    this.put(text, marks);
  }

  /** Puts `text` into the area, which stays scrolled to where it is. */
  put(text, marks = [this.area.selectionStart, this.area.selectionEnd]) {
    const { scrollTop } = this.area;
    this.area.value = text;
    this.area.setSelectionRange(...marks);
    this.area.scrollTop = scrollTop;
  }

  async render() {
    if (getComputedStyle(this.rendered).display === "none") return;
    const turn = ++this.renderings;
    try {
      const html = await getPart(`/part/rendered/${this.id}`);
      // What was asked for later is newer. What is the same stays, with what has the focus in it.
      if (turn !== this.renderings || html === this.reading) return;
      const inside = () => [...this.rendered.querySelectorAll("a, button, input")], focused = inside().indexOf(document.activeElement);
      this.rendered.innerHTML = this.reading = html;
      enableChecks(this.rendered);
      if (focused >= 0) inside()[focused]?.focus({ preventScroll: true });
    } catch (error) {
      this.failed(error);
    }
  }

  /** Asks which other machines have the note as it is: no news tell of that, as the note does not change. */
  async lookAtSafety() {
    const line = this.rendered.querySelector("#safety");
    if (!line?.offsetParent) return;
    const { safety } = await api(`/api/note/${this.id}/safety`);
    if (line.textContent !== safety) line.textContent = safety;
  }

  attach(files, isPasted = false) { return this.attachments.attach(files, isPasted); }

  // Fields

  async change(fields) {
    return this.enqueue(async () => {
      try {
        const note = await api(`/api/note/${this.id}/fields`, fields);
        if (this.base) this.showFields(note);
        if (this.isIdle) this.isWell();
      } catch (error) {
        // The fields show again what the note has, not what the person chose.
        if (this.marks) this.showMarks(this.marks);
        if (!error.isOffline && !this.isClosed) throw error;
        notDone(error);
      }
    }, true);
  }

  // Trouble

  tell(text, isWaiting = false) {
    if (this.saved.textContent !== text) this.saved.textContent = text;
    this.saved.classList.toggle("waiting", isWaiting);
  }

  /** Says where what was typed is, until it is saved. */
  tellUnsaved() {
    this.tell(this.isKept ? "Kept in this browser" : "Not saved: this browser has no room to keep it", true);
    if (!this.isClosed) alertWith("room", this.isKept ? null : "This browser has no room to keep what you typed. Do not close or reload this page before it is saved.");
  }

  failed(error) {
    if (["notFound", "unknownNote"].includes(error.code) && this.base) {
      // The note may be there all the same, if the server does not know a version of its text. It may be restored while this is asked: so
      // whoever looks at it next waits for the answer.
      this.enqueue(async () => {
        this.where = await standing(this.id);
        if (!this.isIdle) this.tellUnsaved();
        if (this.where === "there") this.tryAgain(); else this.isGone();
      });
      return;
    }
    if (!this.isIdle) this.tellUnsaved();
    // When the page is back, all is tried again.
    if (error.isOffline || this.isClosed) return;
    alertWith("note", error.message);
    if (!error.isFinal) this.tryAgain();
  }

  tryAgain() {
    clearTimeout(this.retry);
    this.retry = setTimeout(() => { if (!this.isClosed) { this.refresh(); this.save(); } }, this.retryMilliseconds);
    this.retryMilliseconds = Math.min(2 * this.retryMilliseconds, retriesMilliseconds[1]);
  }

  isWell() {
    this.retryMilliseconds = retriesMilliseconds[0];
    if (!this.isClosed) for (const name of ["note", "room"]) alertWith(name, null);
  }

  /** The note was deleted while it was open, or another Kith is at this address now. */
  isGone() {
    if (this.element.querySelector("#gone")) return this.tellGone();
    const notice = Object.assign(document.createElement("div"), { id: "gone", className: "notice" });
    notice.setAttribute("role", "alert");
    const again = Object.assign(document.createElement("button"), { type: "button", textContent: "Write it as a new note" });
    again.addEventListener("click", () => writeAnew(this));
    const back = Object.assign(document.createElement("button"), { type: "button", textContent: "Restore this note" });
    back.addEventListener("click", () => restoreGone(this.id));
    notice.append(document.createElement("span"), again, " ", back);
    this.title.before(notice);
    this.tellGone();
  }

  /** Says where the text is that was typed into this deleted note. */
  tellGone() {
    const words = this.element.querySelector("#gone span");
    const kept = `What you see is ${this.isKept ? "kept in this browser" : "nowhere else"}. `;
    const why = this.where === "unknown" ? "This note is none of those that are here now. " : "This note was deleted. ";
    if (!words) return;
    words.textContent = why + (this.isIdle ? "" : kept);
    this.element.querySelector("#gone button:last-child").hidden = this.where === "unknown";
  }

  /** The note was gone, and is there again. */
  isBack() {
    const notice = this.element.querySelector("#gone");
    if (!notice) return;
    notice.remove();
    this.anew = this.sent = null;
    if (this.isDirty) this.save();
  }

  /** The person leaves the note: what was typed is saved, and answers are shown no more. */
  close() {
    if (!this.isIdle) {
      const end = Promise.all([leaving.get(this.id), this.anew ?? this.save()]).then(() => {
        if (leaving.get(this.id) === end) leaving.delete(this.id);
        if (this.isIdle) alertWith("room", null); else saveOrphans();
      });
      leaving.set(this.id, end);
    }
    this.isClosed = true;
    alertWith("note", null);
  }
}
