// The page: where one is, what the server says, and the keys.

import "./clicks.js";
import { Editor, isLeaving } from "./editor.js";
import { check } from "./checks.js";
import { List } from "./list.js";
import { Order } from "./order.js";
import { Several } from "./several.js";
import { alertNames, alertWith, once, say } from "./alerts.js";
import { api, getPart, request } from "./requests.js";
import * as drafts from "./drafts.js";
import { offerAnew, standing } from "./gone.js";
import { arriveAtSheet, clickedOnSheet, forgetPairing, lookAtDevices, showPairing } from "./sheets.js";

const retryMilliseconds = 1_000;
const refusedMilliseconds = 5_000;
const orphansMilliseconds = 5_000;
const lookMilliseconds = 3_000;
// The server says something every ten seconds.
const silenceMilliseconds = 25_000;

let editor = null, list = null, several = null, run = null, isConnected = false, isSignedOut = false, heard = Date.now();
let source = null, watch = null, retry = null, turns = 0;
// Which place is shown, and which one was asked for last.
let shownPath = null, wantedPath = location.pathname + location.search;

export const isOnline = () => isConnected && !isSignedOut;

/** What a person asked for, and is kept nowhere, was not done. */
export function notDone(error) {
  const reason = isSignedOut ? "this browser is not let in any more" : "Kith does not answer. Do it again when it is back";
  say(error.isOffline ? `That was not done: ${reason}.` : error.message);
}

/** A request was not answered. */
export function lost() {
  isConnected = false;
  alertWith("lost", "Kith does not answer: it may be starting again. What you type is saved when it is back.");
  stopListening();
  retry = setTimeout(listen, retryMilliseconds);
}

/** This browser is not let in. */
export function signedOut() {
  isSignedOut = true;
  stopListening();
  alertWith("lost", "This browser is not let in any more. Run “kith web” for a new address, and open it. What you typed is saved then.");
}

/** A request was answered. */
export function letIn() {
  if (!isSignedOut) return;
  isSignedOut = false;
  listen();
}

// News

/** Browsers have few connections to one server: a page that nobody sees leaves its own to the others, if all is saved. */
const isAsleep = () => document.hidden && (editor?.isIdle ?? true);

function stopListening() {
  source?.close();
  source = null;
  // What it says of the node may be so no longer.
  document.querySelector("#status").textContent = "";
  clearInterval(watch);
  clearTimeout(retry);
}

function listen() {
  stopListening();
  if (isAsleep()) return;
  source = new EventSource("/events");
  const heardOf = () => { heard = Date.now(); };
  watch = setInterval(() => { if (Date.now() - heard > silenceMilliseconds) lost(); }, 1_000);
  heardOf();
  source.addEventListener("hello", ({ data }) => { heardOf(); begin(JSON.parse(data)); });
  source.addEventListener("beat", heardOf);
  source.addEventListener("status", ({ data }) => { document.querySelector("#status").textContent = JSON.parse(data).sentence; look(); });
  source.addEventListener("pairing", ({ data }) => showPairing(JSON.parse(data)));
  source.addEventListener("changes", ({ data }) => { heardOf(); changed(JSON.parse(data)); });
  source.addEventListener("error", probe);
}

/** Asks why no news come: the server is gone, this browser is not let in, or too many pages are open. Then it is saved all the same. */
async function probe() {
  isConnected = false;
  stopListening();
  try {
    await request("/events", {}, (response) => response.body.cancel());
    if (!source) retry = setTimeout(listen, retryMilliseconds);
  } catch (error) {
    if (error.isOffline) return;
    alertWith("lost", error.message);
    retry = setTimeout(listen, refusedMilliseconds);
    editor?.save();
    saveOrphans();
  }
}

/** Asks for what changes without a change of the notes, as long as it is seen. */
function look() {
  if (!isOnline() || document.hidden) return;
  Promise.all([editor?.lookAtSafety(), lookAtDevices()]).catch(() => {});
}

/** Seen again, or no longer; perhaps let in again by another page. */
function looked() {
  if (isSignedOut) { if (!document.hidden) probe(); }
  else if (isAsleep()) stopListening();
  else if (!source) listen();
}
document.addEventListener("visibilitychange", looked);
window.addEventListener("focus", looked);

/** Connected, for the first time or again. */
function begin(hello) {
  isConnected = true;
  alertWith("lost", null);
  // This page has not heard which notes were restored meanwhile.
  refused.clear();
  if (hello.software !== document.body.dataset.software) {
    alertWith("updated", "Kith was updated. ", { label: "Load the new page", run: async () => { await editor?.save(); location.reload(); } });
  }
  if (hello.run !== run) forgetPairing();
  run = hello.run;
  // Also the first time: no event tells of what has changed since this page was made.
  editor?.refresh();
  editor?.save();
  list.refresh();
  saveOrphans();
}

function changed({ changed, deleted, more, conflicts }) {
  list.refresh();
  if (typeof conflicts === "number") showConflicts(conflicts);
  if (editor && (more || changed.includes(editor.id) || deleted.includes(editor.id))) editor.refresh();
  // A note that was deleted may have been restored.
  for (const [key, id] of refused) if (more || changed.includes(id)) refused.delete(key);
}

/** How many choices wait. */
function showConflicts(count) {
  const link = document.querySelector('header nav a[href="/conflicts"]');
  link.replaceChildren("Choices", ...(count > 0 ? [" ", Object.assign(document.createElement("span"), { className: "count", textContent: count })] : []));
}

/** The drafts that the server has refused, of which the page has told the person: their keys, and the ids of their notes. */
const refused = new Map();

/** Saves what closed pages, and notes that were left, have not saved. */
export function saveOrphans() {
  // What is said of drafts that are there no more.
  for (const name of alertNames()) if (drafts.isName(name) && localStorage.getItem(name) === null) alertWith(name, null);
  if (!drafts.areThere()) return;
  return drafts.inTurn(async () => {
    for (const orphan of await drafts.orphans()) {
      // What was typed in this tab is saved by the note that is open, or that was just left.
      const isOpen = orphan.id === editor?.id && (orphan.isOwn || !editor.base);
      if (isOpen || isLeaving(orphan.id) || refused.has(orphan.key)) continue;
      try {
        await drafts.deliver(orphan);
        alertWith(orphan.key, null);
        list.refresh();
      } catch (error) {
        if (error.isOffline) return;
        if (error.isFinal) refused.set(orphan.key, orphan.id);
        const where = error.code === "notFound" ? await standing(orphan.id) : "there";
        // Meanwhile the person may have written or discarded it.
        if (localStorage.getItem(orphan.key) === null) continue;
        if (where !== "there") offerAnew(orphan, where, () => { refused.delete(orphan.key); return saveOrphans(); });
        else alertWith(orphan.key, "What was typed here into a note could not be saved, and is kept in this browser. Open the note to look at it: " + error.message);
      }
    }
  });
}

// Places

/** The note that is open. */
export const current = () => editor;

/** Later tells whether the person is still at this place, has asked for no other one, and has not begun to write elsewhere. */
export function here() {
  const path = wantedPath, had = document.activeElement;
  return () => path === wantedPath && (document.activeElement === had || !document.activeElement.matches("input, textarea"));
}

function arrive() {
  editor?.close();
  shownPath = location.pathname + location.search;
  const note = document.querySelector("#note");
  editor = note ? new Editor(note) : null;
  document.body.dataset.place = note ? "note" : location.pathname === "/" ? "notes" : location.pathname.slice(1);
  list.choose(editor?.id ?? null);
  arriveAtSheet();
  document.title = (document.querySelector("#main h1")?.textContent || "(no title)") + " · Kith";
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.pathname === location.pathname) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  if (note) {
    const view = localStorage.kithView ?? "both";
    setView(matchMedia("(max-width: 50rem)").matches && view === "both" ? "write" : view);
  }
}

/** Whether a path is one of this page's own places. What else is served here is no part of the page, such as files. */
const isPlace = (path) => /^\/(conflicts|trash|devices|note\/[0-9a-f-]{36}(\/history)?)?$/i.test(path);

/** Shows another place, or this one anew; `true` if it is shown, and the person has not begun to write elsewhere meanwhile. */
export async function go(path, isNew = true) {
  const turn = ++turns;
  wantedPath = path;
  const isHere = here();
  try {
    const html = await getPart(path);
    // Another place was asked for meanwhile.
    if (turn !== turns) return false;
    if (isNew) history.pushState(null, "", path);
    const main = document.querySelector("#main"), hadFocus = main.contains(document.activeElement);
    main.innerHTML = html;
    arrive();
    // What had the focus is gone: a reader goes on with what has taken its place.
    if (hadFocus && !main.contains(document.activeElement)) main.focus();
    return isHere();
  } catch (error) {
    if (turn === turns) wantedPath = shownPath;
    if (!error.isOffline) say(error.message);
    return false;
  }
}

const newNote = (title = "") => once(`new ${title}`, async () => {
  const isHere = here();
  try {
    const { id } = await api("/api/note", { title: title || "New note" });
    if (isHere() && (await go(`/note/${id}`))) {
      const field = document.querySelector("#title");
      field.focus();
      field.select();
    }
  } catch (error) {
    notDone(error);
  }
});

function setView(view) {
  const note = document.querySelector("#note");
  note.dataset.view = view;
  const button = note.querySelector("#view");
  button.setAttribute("aria-pressed", String(view === "read"));
  if (view !== "write") editor?.render();
}

function nextView() {
  const isNarrow = matchMedia("(max-width: 50rem)").matches;
  const view = document.querySelector("#note").dataset.view === "read" ? (isNarrow ? "write" : "both") : "read";
  localStorage.kithView = view;
  setView(view);
}

// Hands

document.addEventListener("click", (event) => {
  if (event.defaultPrevented) return;
  const link = event.target.closest("a[href]");
  if (link && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey) {
    const isOwn = link.origin === location.origin;
    if (isOwn && link.hash && link.pathname === location.pathname) return;
    if (!isOwn || !(isPlace(link.pathname) || link.pathname === "/new")) {
      event.preventDefault();
      window.open(link.href, "_blank", "noopener,noreferrer");
    } else if (link.pathname === "/new") {
      event.preventDefault();
      const title = new URLSearchParams(link.search).get("title");
      if (confirm(`There is no note “${title}” yet. Write it?`)) newNote(title);
    } else {
      event.preventDefault();
      go(link.pathname + link.search);
    }
    return;
  }
  const button = event.target.closest("button");
  if (!button) return;
  if (clickedOnSheet(button)) return;
  if (button.id === "new") newNote();
  else if (button.id === "today") today();
  else if (button.classList.contains("detach")) detach(button.closest("li").dataset.file);
  else if (button.id === "view") nextView();
  else if (button.id === "pin") {
    const isPinned = button.getAttribute("aria-pressed") !== "true";
    // At once, so that a click before the answer takes this one back.
    button.setAttribute("aria-pressed", String(isPinned));
    editor.change({ isPinned });
  } else if (button.id === "delete") deleteNote();
  else if (button.classList.contains("untag")) {
    const { tag } = button.dataset, isHere = here();
    once(`untag ${editor.id} ${tag}`, async () => {
      await editor.change({ removeTags: [tag] });
      if (isHere()) document.querySelector("#tag").focus();
    });
  }
});

document.addEventListener("change", (event) => {
  const { target } = event;
  if (target.id === "color") editor.change({ color: target.value });
  else if (target.id === "attach") {
    const files = [...target.files];
    // So that the same file can be chosen again.
    target.value = "";
    editor.attach(files);
  } else if (target.type === "checkbox" && target.closest("#rendered")) check(editor, target);
});

// Files that are dropped or pasted.
for (const name of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    if (!editor || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    editor.element.classList.toggle("dropping", name === "dragover");
    if (name === "drop") editor.attach([...event.dataTransfer.files]);
  });
}
document.addEventListener("paste", (event) => {
  const { files = [], types = [] } = event.clipboardData ?? {};
  // Programs add a picture of the formatted text that was copied. A file manager adds the name of a file as plain text alone.
  const isText = types.includes("text/plain") && (types.includes("text/html") || types.includes("text/rtf"));
  if (editor && files.length && !isText) { event.preventDefault(); editor.attach([...files], true); }
});

const detach = (id) => once(`detach ${id}`, async () => {
  try {
    await api(`/api/file/${id}/detach`, {});
    editor?.render();
  } catch (error) {
    notDone(error);
  }
});

/** The note of the day, by this browser's calendar. */
async function today() {
  const now = new Date(), isHere = here();
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((number) => String(number).padStart(2, "0")).join("-");
  try {
    const { id } = await api("/api/day", { day });
    if (isHere() && (await go(`/note/${id}`))) editor.area.focus();
  } catch (error) {
    notDone(error);
  }
}

async function deleteNote() {
  const deleted = editor, next = list.neighbour(1) ?? list.neighbour(-1), isHere = here();
  try {
    await deleted.save();
    await api("/api/notes/delete", { ids: [deleted.id] });
    // Another note may be open by now. Whoever types into this one is offered to write it as a new note.
    if (!isHere() || !(await go("/"))) return;
    (next && document.querySelector(`#rows li[data-id="${next.closest("li").dataset.id}"] a`))?.focus();
  } catch (error) {
    notDone(error);
  }
}

function write() {
  if (document.querySelector("#note").dataset.view === "read") nextView();
  editor.area.focus();
}

/** Where a note takes the whole width, the list takes its place at once: what is typed next goes into its field. */
async function search() {
  const field = document.querySelector("#search"), { place } = document.body.dataset;
  const isHidden = field.offsetParent === null;
  if (isHidden) document.body.dataset.place = "notes";
  field.focus();
  if (isHidden && !(await go("/")) && location.pathname !== "/") document.body.dataset.place = place;
}

document.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (target.id === "tag" && key === "Enter" && !event.isComposing) {
    const tags = target.value.split(/[\s,]+/).map((tag) => tag.replace(/^#/, "")).filter(Boolean);
    target.value = "";
    if (tags.length) editor.change({ addTags: tags });
    return;
  }
  if (target.id === "title" && key === "Enter" && !event.isComposing) { event.preventDefault(); write(); return; }
  if (target.id === "search" && key === "Enter") {
    const isHere = here();
    list.first().then((link) => { if (isHere()) link?.click(); });
    return;
  }
  if (target.id === "search" && key === "ArrowDown") { event.preventDefault(); document.querySelector("#rows a")?.focus(); return; }
  if (key === "Escape" && !event.isComposing) {
    if (target.matches("textarea, input, select")) { target.blur(); document.querySelector("#rows a[aria-current], #rows a")?.focus(); } else if (location.pathname !== "/") go("/");
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches("textarea, input, select")) return;
  const open = (link) => { if (link) { link.focus(); link.click(); } };
  if (key === "/") { event.preventDefault(); search(); }
  else if (key === "n") { event.preventDefault(); newNote(); }
  else if (key === "t") { event.preventDefault(); today(); }
  else if (key === "x") { event.preventDefault(); several.toggle(target.closest("#rows li") ?? list.items.find(({ dataset }) => dataset.id === list.chosen)); }
  else if (key === "j" || key === "k") { event.preventDefault(); list.step(key === "j" ? 1 : -1).then(open); }
  else if (key === "ArrowDown" || key === "ArrowUp") {
    const item = target.closest("#rows li");
    const next = item && (key === "ArrowDown" ? item.nextElementSibling : item.previousElementSibling);
    if (next) { event.preventDefault(); next.querySelector("a").focus(); }
  } else if (key === "e" && editor) {
    event.preventDefault();
    write();
  } else if (key === "v" && editor) nextView();
});

document.addEventListener("compositionstart", () => { if (editor) editor.composing = true; });
document.addEventListener("compositionend", () => { if (editor) editor.composing = false; }, { capture: true });
window.addEventListener("popstate", () => {
  const path = location.pathname + location.search;
  // A place within the page is no other page.
  if (path !== shownPath) go(path, false);
});
window.addEventListener("pagehide", () => { if (editor?.isDirty) editor.save(); });

list = new List();
several = new Several(list);
new Order(list, several);
arrive();
listen();
saveOrphans();
// Also of tabs that are closed while this one is open.
setInterval(() => { if (isOnline()) saveOrphans(); }, orphansMilliseconds);
setInterval(look, lookMilliseconds);
