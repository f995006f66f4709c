// Choices, trash, history and devices: what is beside the notes.

import { diff } from "./diff.js";
import { shown, unshown } from "./merge.js";
import { once } from "./alerts.js";
import { go, here, notDone } from "./app.js";
import { api, getPart } from "./requests.js";

const find = (selector) => document.querySelector(selector);

async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    notDone(error);
    return null;
  }
}

/**
 * Changes what a sheet shows at `target`, and shows the sheet anew if the person is still there. The focus goes to what has taken the place
 * of what is done: of what `selector` names, to the one at `index`.
 */
const change = (work, path, target, selector, index = 0) => once(`${path} ${target}`, async () => {
  const isHere = here();
  await attempt(work);
  if (!isHere() || !(await go(path, false))) return;
  const left = [...document.querySelectorAll(selector)];
  left[Math.min(index, left.length - 1)]?.focus();
});

/** Does what a button of a sheet says; `false` if it is none of them. */
export function clickedOnSheet(button) {
  const { classList, id, dataset } = button;
  if (classList.contains("keep")) {
    const choice = button.closest(".choice");
    const { id: note, mark } = choice.dataset;
    change(() => api("/api/conflict", { note, mark, index: Number(dataset.index) }), "/conflicts", `${note} ${mark}`,
      ".choice h2 a", [...document.querySelectorAll(".choice")].indexOf(choice));
  } else if (classList.contains("restore")) {
    const index = [...document.querySelectorAll(".restore")].indexOf(button), note = button.closest("tr").dataset.id;
    change(() => api("/api/trash/restore", { ids: [note] }), "/trash", note, ".restore", index);
  } else if (classList.contains("all") || classList.contains("meant")) {
    const answer = { device: button.closest("[data-device]").dataset.device, isMeant: classList.contains("meant") };
    button.disabled = true;
    change(() => api("/api/trash/large", answer), "/trash", answer.device, ".all").finally(() => { button.disabled = false; });
  } else if (id === "empty") {
    const isMeant = confirm("What is in the trash of this machine cannot be restored here afterwards.");
    if (isMeant) change(() => api("/api/trash/empty", {}), "/trash", "all", "#empty");
  } else if (id === "again") bringBack(find("#history").querySelectorAll("#versions li")[Number(find("#version").value)]);
  else if (id === "pair" || id === "token") {
    attempt(() => api("/api/pair", { showsToken: id === "token", address: find("#address").value.trim() }))
      .then((view) => (view ? showPairing(view) : lookAtPairing()));
  } else if (id === "same" || id === "other") attempt(() => api("/api/pair/answer", { isSame: id === "same", digits: pairing.digits }));
  else if (id === "doctor") examine(button);
  else if (id === "stop") attempt(() => api("/api/pair/close", {}));
  else return false;
  return true;
}

export function arriveAtSheet() {
  if (find("#history")) showVersion();
  drawPairing();
  if (find("#pairing")) lookAtPairing();
}

document.addEventListener("input", ({ target }) => { if (target.id === "version") showVersion(); });

// History

const known = new Map();
let turn = 0;

async function textOf(id, version) {
  const key = id + version;
  if (!known.has(key)) known.set(key, (await api(`/api/note/${id}/at?version=${encodeURIComponent(version)}`)).text);
  return known.get(key);
}

async function showVersion() {
  const sheet = find("#history"), mine = ++turn;
  const items = [...sheet.querySelectorAll("#versions li")];
  const index = Number(find("#version").value);
  const item = items[index];
  if (!item) return;
  find("#about").textContent = `${index + 1} of ${items.length}: ${item.textContent}`;
  find("#version").setAttribute("aria-valuetext", item.textContent);
  const wanted = [items[index], items[index - 1], items.at(-1)];
  const texts = await attempt(() => Promise.all(wanted.map((each) => (each ? textOf(sheet.dataset.id, each.dataset.version) : ""))));
  if (!texts || mine !== turn) return;
  const [text, before, now] = texts.map(shown);
  const there = new Set(paragraphs(now).map((paragraph) => paragraph.text));
  const gone = paragraphs(text).filter((paragraph) => !there.has(paragraph.text));
  const pieces = [];
  let at = 0, place = 0;
  // A paragraph that is no longer there ends with a button.
  const add = (name, content) => {
    while (content) {
      const end = name !== "del" && gone[0]?.end <= place + content.length ? gone[0].end - place : Infinity;
      const part = content.slice(0, end);
      pieces.push(name ? Object.assign(document.createElement(name), { textContent: part }) : part);
      if (name !== "del") place += part.length;
      if (end !== Infinity) pieces.push(bringButton(gone.shift(), item));
      content = content.slice(part.length);
    }
  };
  for (const splice of diff(before, text)) {
    add(null, before.slice(at, splice.at));
    add("del", before.slice(splice.at, splice.at + splice.removed));
    add("ins", splice.added);
    at = splice.at + splice.removed;
  }
  add(null, before.slice(at));
  find("#difference").replaceChildren(...pieces);
}

function bringButton({ text, index }, item) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "bring", textContent: "Bring back" });
  button.setAttribute("aria-label", `Bring back: ${text.slice(0, 60)}`);
  button.addEventListener("click", () => bringBack(item, index));
  return button;
}

/** Brings a version back, or a paragraph of it beside what is there now. */
const bringBack = (item, index = null) => once(`${location.pathname} ${item.dataset.version} ${index}`, async () => {
  const { id } = find("#history").dataset, isHere = here();
  const isDone = await attempt(async () => {
    const before = await textOf(id, item.dataset.version);
    const { text: now, version } = await api(`/api/note/${id}`);
    const text = index === null ? before : unshown(now, withParagraph(shown(now), shown(before), index));
    return api(`/api/note/${id}/body`, { text, base: version });
  });
  if (isDone && isHere()) await go(`/note/${id}`);
});

/** What stands between empty lines: `{text, start, end, index}`. */
function paragraphs(text) {
  return [...text.matchAll(/[^\n]+(?:\n[^\n]+)*/g)].map(({ 0: part, index: start }, index) => ({ text: part, start, end: start + part.length, index }));
}

/** `now` with a paragraph of `before`: after the nearest one in front of it that is still there, or else before the next one. */
function withParagraph(now, before, index) {
  const old = paragraphs(before), there = new Map(paragraphs(now).map((paragraph) => [paragraph.text, paragraph]));
  const { text } = old[index];
  const near = (list) => list.map((paragraph) => there.get(paragraph.text)).find(Boolean);
  const previous = near(old.slice(0, index).reverse()), next = near(old.slice(index + 1));
  if (previous) return `${now.slice(0, previous.end)}\n\n${text}${now.slice(previous.end)}`;
  if (next) return `${now.slice(0, next.start)}${text}\n\n${now.slice(next.start)}`;
  return now.trim() ? `${now.replace(/\n*$/, "")}\n\n${text}\n` : text;
}

// What is wrong

async function examine(button) {
  const box = find("#findings");
  button.disabled = true;
  box.textContent = "Looking …";
  const findings = await attempt(() => api("/api/doctor", {}));
  button.disabled = false;
  const list = document.createElement("ul");
  list.append(...(findings ?? []).map(({ word, sentence, remedy, path, label }) => {
    const item = document.createElement("li");
    item.append(Object.assign(document.createElement("strong"), { textContent: word }), ` ${sentence} ${remedy ?? ""}`);
    if (path) item.append(" ", Object.assign(document.createElement("a"), { href: path, textContent: label }));
    return item;
  }));
  box.replaceChildren(list);
}

/** What is said of the devices, as it is now. */
export async function lookAtDevices() {
  const report = find("#report");
  if (!report) return;
  const fresh = new DOMParser().parseFromString(await getPart("/devices"), "text/html").querySelector("#report");
  if (fresh && fresh.innerHTML !== report.innerHTML) report.replaceChildren(...fresh.childNodes);
}

// Pairing

let pairing = { phase: "closed", sentence: "", number: -1 };

/** Another run of the server knows nothing of the pairing that was shown. */
export function forgetPairing() { pairing = { phase: "closed", sentence: "", number: -1 }; }

/** Shows how far a pairing is. An answer may come after the news of what happened next: then it is old. */
export function showPairing(view) {
  if (view.number <= pairing.number) return;
  pairing = view;
  drawPairing();
  if (view.phase === "ended") lookAtDevices().catch(() => {});
}

const lookAtPairing = () => attempt(() => api("/api/pair")).then((view) => view && showPairing(view));

function drawPairing() {
  const box = find("#pairing"), { phase, sentence, digits, token, path, size } = pairing;
  if (!box) return;
  const parts = sentence ? [Object.assign(document.createElement("p"), { textContent: sentence })] : [];
  const button = (id, label) => Object.assign(document.createElement("button"), { type: "button", id, textContent: label });
  if (digits) parts.push(Object.assign(document.createElement("p"), { className: "digits", textContent: digits }));
  if (phase === "compare") parts.push(button("same", "Yes, the same"), " ", button("other", "No"));
  if (token) parts.push(Object.assign(document.createElement("p"), { className: "token", textContent: token }));
  if (path) parts.push(picture(path, size));
  if (phase === "open") parts.push(button("stop", "Stop"));
  box.replaceChildren(...parts);
  const isOpen = ["open", "compare", "waiting"].includes(phase);
  for (const name of ["#pair", "#token"]) find(name).disabled = isOpen;
}

function picture(path, size) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg"), squares = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", `-2 -2 ${size + 4} ${size + 4}`);
  svg.setAttribute("class", "code");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "The code as a picture for a camera");
  squares.setAttribute("d", path);
  svg.append(squares);
  return svg;
}
