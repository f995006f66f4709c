// The order by hand: notes are moved with the mouse, a finger, or the keys.

import { notDone } from "./app.js";
import { api } from "./requests.js";

const beginsAfter = 6;
const edge = 48;
const cookieSeconds = 365 * 86_400;

const find = (selector) => document.querySelector(selector);

export class Order {
  constructor(list, several) {
    this.list = list;
    this.several = several;
    this.drag = null;
    this.turn = Promise.resolve();
    list.watchers.push(() => { this.show(); this.mark(); });
    list.order.addEventListener("change", () => this.choose());
    list.search.addEventListener("input", () => this.show());
    find("#several").addEventListener("click", ({ target }) => {
      const { move } = target.dataset;
      if (move) this.move(this.chosen(), move === "up" || move === "down" ? { step: move } : { end: move });
    });
    list.rows.addEventListener("keydown", (event) => this.pressed(event));
    list.rows.addEventListener("dragstart", (event) => { if (list.isByHand) event.preventDefault(); });
    list.rows.addEventListener("pointerdown", (event) => this.down(event));
    list.box.addEventListener("pointermove", (event) => this.pulled(event));
    list.box.addEventListener("pointerup", (event) => this.dropped(event));
    list.box.addEventListener("pointercancel", () => this.end());
    list.box.addEventListener("lostpointercapture", () => this.end());
    list.box.addEventListener("scroll", () => this.mark(), { passive: true });
    // What was dragged was not clicked.
    list.rows.addEventListener("click", (event) => {
      if (!this.isClick) return;
      this.isClick = false;
      event.preventDefault();
      event.stopPropagation();
    }, { capture: true });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.drag?.isOn) return;
      event.preventDefault();
      event.stopPropagation();
      this.end();
      this.tell("Not moved.");
    }, { capture: true });
    this.show();
  }

  /** What the page says and shows of the order. */
  show() {
    const { isByHand } = this.list;
    document.body.classList.toggle("by-hand", isByHand);
    if (isByHand) this.list.rows.setAttribute("aria-describedby", "movable"); else this.list.rows.removeAttribute("aria-describedby");
  }

  /** The server knows the choice by a cookie, so that the next page comes in this order at once. */
  choose() {
    document.cookie = `kith-order=${this.list.order.value}; Max-Age=${cookieSeconds}; Path=/; SameSite=Strict`;
    this.list.box.scrollTop = 0;
    this.show();
    this.list.load(0);
  }

  tell(text) { find("#moved").textContent = text; }

  chosen() { return [...this.several.ids]; }

  /** The notes that are moved with this one: all that are chosen, if it is. */
  with(id) { return this.several.isOn && this.several.ids.has(id) ? this.chosen() : [id]; }

  titleOf(id) { return this.list.rows.querySelector(`li[data-id="${id}"] .title`)?.textContent ?? "The note"; }

  pressed(event) {
    const { key, altKey, shiftKey, ctrlKey, metaKey, target } = event;
    const id = target.closest("li")?.dataset.id;
    if (!id || !altKey || ctrlKey || metaKey || (key !== "ArrowUp" && key !== "ArrowDown")) return;
    event.preventDefault();
    event.stopPropagation();
    if (this.list.search.value.trim()) { this.tell("What is found has an order of its own. Clear the search to move notes."); return; }
    if (!this.list.isByHand) { this.tell("Choose the order by hand to move notes."); return; }
    const isUp = key === "ArrowUp";
    this.move(this.with(id), shiftKey ? { end: isUp ? "first" : "last" } : { step: isUp ? "up" : "down" }, id);
  }

  /** Moves notes, one move after the other; `focused` keeps the focus. */
  move(ids, place, focused = null) {
    if (ids.length === 0) return;
    this.turn = this.turn.then(() => this.send(ids, place, focused));
  }

  async send(ids, place, focused) {
    const name = ids.length === 1 ? this.titleOf(ids[0]) : null;
    try {
      const { moved, place: first, total } = await api("/api/notes/move", { ids, ...place });
      await this.list.reveal(focused ?? ids[0], first, focused !== null);
      this.tell(moved === 1 ? `${name ?? "1 note"}: ${first + 1} of ${total}` : `${moved} notes: ${first + 1} to ${first + moved} of ${total}`);
    } catch (error) {
      this.tell("Not moved.");
      notDone(error);
      this.list.refresh();
    }
  }

  // With a pointer

  /** A mouse takes a note anywhere, a finger by its grip: elsewhere it scrolls. */
  down(event) {
    const { target, button, pointerType, pointerId, clientX, clientY } = event;
    const id = target.closest("li")?.dataset.id;
    this.isClick = false;
    if (!id || button !== 0 || !this.list.isByHand || target.matches("input") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (pointerType !== "mouse" && !target.matches(".grip")) return;
    this.drag = { id, ids: this.with(id), pointerId, x: clientX, y: clientY, isOn: false };
    if (target.matches(".grip")) { event.preventDefault(); this.list.box.setPointerCapture(pointerId); }
  }

  pulled({ pointerId, clientX, clientY, buttons }) {
    const { drag } = this;
    if (drag?.pointerId !== pointerId) return;
    if (buttons === 0) { this.end(); return; }
    if (!drag.isOn) {
      if (Math.hypot(clientX - drag.x, clientY - drag.y) < beginsAfter) return;
      drag.isOn = true;
      this.list.box.setPointerCapture(pointerId);
      document.body.classList.add("dragging");
      this.tell(drag.ids.length === 1 ? `Moving ${this.titleOf(drag.id)}` : `Moving ${drag.ids.length} notes`);
      this.scroll();
    }
    drag.y = clientY;
    this.mark();
  }

  /** The list goes on where the pointer is at its edge. */
  scroll() {
    const { drag, list: { box } } = this;
    if (!drag?.isOn) return;
    const { top, bottom } = box.getBoundingClientRect();
    const beyond = drag.y < top + edge ? drag.y - top - edge : drag.y > bottom - edge ? drag.y - bottom + edge : 0;
    if (beyond) box.scrollTop += Math.sign(beyond) * Math.min(20, Math.ceil(Math.abs(beyond) / 3));
    requestAnimationFrame(() => this.scroll());
  }

  /** Shows which notes are moved, and where they would stand. */
  mark() {
    const { drag, list: { items } } = this;
    for (const item of items) item.classList.remove("moving", "drop-above", "drop-below");
    if (!drag?.isOn || items.length === 0) return;
    for (const item of items) if (drag.ids.includes(item.dataset.id)) item.classList.add("moving");
    const { top: begin, bottom: end } = this.list.box.getBoundingClientRect();
    const y = Math.max(begin, Math.min(drag.y, end - 1));
    const at = items.find((item) => item.getBoundingClientRect().bottom > y) ?? items.at(-1);
    const { top, height } = at.getBoundingClientRect();
    drag.isAbove = y < top + height / 2;
    drag.beside = at.dataset.id;
    at.classList.add(drag.isAbove ? "drop-above" : "drop-below");
  }

  dropped({ pointerId }) {
    const { drag } = this;
    if (drag?.pointerId !== pointerId) return;
    this.isClick = drag.isOn;
    this.end();
    // The click comes next, if it comes.
    setTimeout(() => { this.isClick = false; });
    if (!drag.isOn || !drag.beside) return;
    if (drag.beside === drag.id && drag.ids.length === 1) { this.tell("Not moved."); return; }
    this.move(drag.ids, drag.isAbove ? { before: drag.beside } : { after: drag.beside });
  }

  end() {
    this.drag = null;
    document.body.classList.remove("dragging");
    this.mark();
  }
}
