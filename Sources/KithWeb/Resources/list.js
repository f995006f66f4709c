// The list of notes: only what is seen of it is there.

import { getPart } from "./requests.js";

const around = 30;
const piece = 200;
const pauseMilliseconds = 150;
const retryMilliseconds = 2_000;

export class List {
  constructor() {
    this.box = document.querySelector("#list");
    this.rows = document.querySelector("#rows");
    this.search = document.querySelector("#search");
    this.order = document.querySelector("#order");
    this.total = Number(this.box.dataset.total);
    this.from = 0;
    // The place of the first row that the page asked for last.
    this.aim = 0;
    this.chosen = null;
    this.turn = 0;
    // The search whose notes are shown.
    this.found = "";
    // Called whenever other rows are shown.
    this.watchers = [];
    // The note that gets the focus as soon as it is shown.
    this.wanted = null;
    this.box.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.search.addEventListener("input", () => { this.box.scrollTop = 0; this.load(0, true); });
    this.layOut();
  }

  get rowHeight() { return this.rows.firstElementChild?.offsetHeight || 76; }
  get seen() { return Math.ceil(this.box.clientHeight / this.rowHeight) + 2 * around; }
  get isByHand() { return this.order.value === "hand" && !this.search.value.trim(); }
  get items() { return [...this.rows.children]; }

  layOut(height = this.rowHeight) {
    const after = this.total - this.from - this.rows.children.length;
    this.rows.style.paddingTop = `${this.from * height}px`;
    this.rows.style.paddingBottom = `${Math.max(0, after) * height}px`;
  }

  scrolled() {
    const first = Math.floor(this.box.scrollTop / this.rowHeight);
    const last = first + Math.ceil(this.box.clientHeight / this.rowHeight);
    const isThere = first >= this.from && (last <= this.from + this.rows.children.length || this.from + this.rows.children.length >= this.total);
    if (!isThere) this.load(Math.max(0, first - around));
  }

  /** Shows the list from this place on. */
  async load(from, isSearch = false) {
    const turn = ++this.turn;
    this.aim = from;
    const { value } = this.search, query = new URLSearchParams({ q: value, order: this.order.value, from, count: this.seen });
    let html, response;
    try {
      [html, response] = await getPart(`/part/list?${query}`, true);
    } catch ({ isOffline, isFinal }) {
      // If nobody answers, the page loads the list when somebody does again.
      if (!isOffline && !isFinal && turn === this.turn) setTimeout(() => turn === this.turn && this.load(from, isSearch), retryMilliseconds);
      return;
    }
    if (turn !== this.turn) return;
    const { activeElement } = document, focused = this.rows.contains(activeElement) ? activeElement.closest("li").dataset.id : null;
    const kind = activeElement.matches(".pick") ? ".pick" : "a";
    // Until the list has its new height, nothing may ask for its layout: the browser would scroll back to the end of a lower one.
    const height = this.rowHeight;
    this.rows.innerHTML = html;
    this.found = value;
    this.from = from;
    this.total = Number(response.headers.get("X-Total"));
    this.layOut(height);
    this.choose(this.chosen);
    for (const watcher of this.watchers) watcher();
    const wanted = this.wanted && this.rows.querySelector(`li[data-id="${this.wanted}"] a`);
    if (wanted) this.wanted = null;
    (wanted ?? (focused && this.rows.querySelector(`li[data-id="${focused}"] ${kind}`)))?.focus({ preventScroll: true });
    if (isSearch) document.querySelector("#count").textContent = this.total === 1 ? "1 note" : `${this.total} notes`;
    if (from > 0 && this.rows.children.length === 0) this.load(0);
  }

  /** The first note that the search finds; `null` if it finds none, or the person goes on typing. */
  async first() {
    // If the person scrolls or types meanwhile, the answer is to that.
    for (let turn = 0; turn < 5 && this.found !== this.search.value; turn++) await this.load(0, true);
    return this.found === this.search.value ? this.rows.querySelector("a") : null;
  }

  /** Shows the note at `place`, from 0 on, and scrolls no further than that takes. With `focuses`, the note gets the focus. */
  async reveal(id, place, focuses) {
    const { box, rowHeight: height } = this, top = place * height;
    if (focuses) this.wanted = id;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
    await this.load(Math.max(0, Math.floor(box.scrollTop / height) - around));
  }

  /** Loads the rows that are shown anew: at once, but once in `pauseMilliseconds` at most. */
  refresh() {
    if (this.timer) { this.isDue = true; return; }
    this.load(this.aim);
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.isDue) { this.isDue = false; this.refresh(); }
    }, pauseMilliseconds);
  }

  choose(id) {
    this.chosen = id;
    for (const item of this.items) {
      const link = item.querySelector("a");
      if (item.dataset.id === id) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
  }

  /** The note before or after the chosen one. If it is not shown yet, the list shows the rows around it first. */
  async step(step) {
    const index = this.items.findIndex((item) => item.dataset.id === this.chosen), place = this.from + index + step;
    if (index < 0 || place < 0 || place >= this.total) return this.neighbour(step);
    const found = () => (this.items.some(({ dataset }) => dataset.id === this.chosen) ? this.neighbour(step) : null);
    // If the person scrolls meanwhile, other rows are shown.
    for (let turn = 0; turn < 5 && !found(); turn++) await this.load(Math.max(0, place - around));
    return found();
  }

  /** The ids of the notes from one place to another, in the order of the list. */
  async idsBetween(first, last) {
    const ids = [];
    for (let from = first; from <= last;) {
      const query = new URLSearchParams({ q: this.search.value, order: this.order.value, from, count: Math.min(last + 1 - from, piece) });
      const rows = document.createElement("ul");
      rows.innerHTML = await getPart(`/part/list?${query}`);
      if (!rows.children.length) break;
      for (const { dataset } of rows.children) ids.push(dataset.id);
      from += rows.children.length;
    }
    return ids;
  }

  /** The note before or after the chosen one, as far as they are shown. */
  neighbour(step) {
    const index = this.items.findIndex((item) => item.dataset.id === this.chosen);
    return this.items[index < 0 ? 0 : index + step]?.querySelector("a") ?? null;
  }
}
