// Several notes that are chosen for one action.

import { notDone } from "./app.js";
import { api } from "./requests.js";

// As many as the server changes at once.
const chosenMax = 10_000;

const find = (selector) => document.querySelector(selector);

export class Several {
  constructor(list) {
    this.list = list;
    this.ids = new Set();
    // The note that was marked last, and its place in the list.
    this.last = null;
    this.lastPlace = 0;
    list.watchers.push(() => this.show());
    find("#rows").addEventListener("change", ({ target }) => { if (target.matches(".pick")) this.mark(target, target.checked); });
    find("#rows").addEventListener("click", (event) => this.clicked(event));
    find("#choose").addEventListener("click", () => this.begin(!this.isOn));
    find("#several").addEventListener("click", ({ target }) => { if (target.dataset.several) this.perform(target.dataset.several); });
    find("#several-color").addEventListener("change", ({ target }) => {
      if (target.value) this.change({ color: target.value });
      target.value = "";
    });
    find("#several-tag").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      const tags = event.target.value.split(/[\s,]+/).map((tag) => tag.replace(/^#/, "")).filter(Boolean);
      event.target.value = "";
      if (tags.length) this.change({ addTags: tags });
    });
  }

  get isOn() { return document.body.classList.contains("choosing"); }

  begin(isOn) {
    document.body.classList.toggle("choosing", isOn);
    if (!isOn) { this.ids.clear(); this.last = null; }
    this.show();
  }

  /** With the keyboard: the note that has the focus. */
  toggle(item) {
    const box = item?.querySelector(".pick");
    if (!box) return;
    if (!this.isOn) this.begin(true);
    box.checked = !box.checked;
    this.mark(box, box.checked);
  }

  /** A click with Control chooses a note, one with Shift all from the last one to it. */
  clicked(event) {
    const item = event.target.closest("li");
    const isBox = event.target.matches(".pick");
    if (!item || !(event.ctrlKey || event.metaKey || event.shiftKey) || (isBox && !event.shiftKey)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!this.isOn) this.begin(true);
    const { last, lastPlace } = this, { items } = this.list;
    const from = items.findIndex(({ dataset }) => dataset.id === last), to = items.indexOf(item);
    this.remember(item);
    if (event.shiftKey && from >= 0) for (const each of items.slice(Math.min(from, to), Math.max(from, to) + 1)) this.ids.add(each.dataset.id);
    else if (event.shiftKey && last !== null) this.addBetween([last, lastPlace], [this.last, this.lastPlace]);
    else this.ids[this.ids.has(item.dataset.id) ? "delete" : "add"](item.dataset.id);
    // A browser gives a box back the tick that it had.
    if (isBox) setTimeout(() => this.show()); else this.show();
  }

  /** Chooses all notes from `one`, which is not shown, to `other`. If `one` stands elsewhere by now, it chooses `other` alone. */
  async addBetween([one, onePlace], [other, otherPlace]) {
    try {
      if (Math.abs(onePlace - otherPlace) >= chosenMax) throw new Error(`At most ${chosenMax} notes are chosen at once.`);
      const ids = await this.list.idsBetween(Math.min(onePlace, otherPlace), Math.max(onePlace, otherPlace));
      if (!this.isOn) return;
      const ends = [ids[0], ids.at(-1)], areThese = ends.includes(one) && ends.includes(other);
      for (const id of areThese ? ids : [other]) this.ids.add(id);
      this.show();
    } catch (error) {
      notDone(error);
    }
  }

  remember(item) {
    this.last = item.dataset.id;
    this.lastPlace = this.list.from + this.list.items.indexOf(item);
  }

  mark(box, isChosen) {
    const item = box.closest("li");
    this.ids[isChosen ? "add" : "delete"](item.dataset.id);
    this.remember(item);
    this.show();
  }

  /** Makes boxes and words say what is chosen; rows come and go as the list is scrolled. */
  show() {
    const { isOn } = this;
    find("#choose").setAttribute("aria-pressed", String(isOn));
    find("#several").hidden = !isOn;
    find("#chosen").textContent = this.ids.size === 1 ? "1 note chosen" : `${this.ids.size} notes chosen`;
    for (const control of document.querySelectorAll("#several button, #several select, #several input")) {
      control.disabled = this.ids.size === 0 && control.dataset.several !== "none";
    }
    for (const item of this.list.items) {
      const box = item.querySelector(".pick");
      box.checked = this.ids.has(item.dataset.id);
      box.tabIndex = isOn ? 0 : -1;
    }
  }

  perform(action) {
    if (action === "none") { this.begin(false); find("#choose").focus(); return; }
    if (action === "pin" || action === "unpin") this.change({ isPinned: action === "pin" });
    else this.send("/api/notes/delete", {}).then((isDone) => isDone && this.begin(false));
  }

  change(fields) { return this.send("/api/notes/change", fields); }

  async send(path, fields) {
    try {
      await api(path, { ids: [...this.ids], ...fields });
      this.list.refresh();
      return true;
    } catch (error) {
      notDone(error);
      return false;
    }
  }
}
