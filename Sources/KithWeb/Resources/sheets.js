// Choices, trash, history and devices: what is beside the notes.

import { diff } from "./merge.js";
import { go, say } from "./app.js";
import { api, getPart } from "./requests.js";

const find = (selector) => document.querySelector(selector);

async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (!error.isOffline) say(error.message);
    return null;
  }
}

/** Does what a button of a sheet says; `false` if it is none of them. */
export function clickedOnSheet(button) {
  const { classList, id, dataset } = button;
  if (classList.contains("keep")) {
    const choice = button.closest(".choice");
    attempt(() => api("/api/conflict", { note: choice.dataset.id, mark: choice.dataset.mark, index: Number(dataset.index) }))
      .then(() => go("/conflicts", false));
  } else if (classList.contains("restore")) {
    attempt(() => api("/api/trash/restore", { ids: [button.closest("tr").dataset.id] })).then(() => go("/trash", false));
  } else if (id === "empty") {
    if (confirm("What is in the trash of this machine cannot be restored here afterwards.")) attempt(() => api("/api/trash/empty", {})).then(() => go("/trash", false));
  } else if (id === "again") bringBack();
  else if (id === "pair" || id === "token") {
    attempt(() => api("/api/pair", { showsToken: id === "token", address: find("#address").value.trim() }))
      .then((view) => (view ? showPairing(view) : lookAtPairing()));
  } else if (id === "same" || id === "other") attempt(() => api("/api/pair/answer", { isSame: id === "same" }));
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

const texts = new Map();
let turn = 0;

async function textOf(id, version) {
  const key = id + version;
  if (!texts.has(key)) texts.set(key, (await api(`/api/note/${id}/at?version=${encodeURIComponent(version)}`)).text);
  return texts.get(key);
}

async function showVersion() {
  const sheet = find("#history"), mine = ++turn;
  const items = [...sheet.querySelectorAll("#versions li")];
  const index = Number(find("#version").value);
  const item = items[index];
  if (!item) return;
  find("#about").textContent = `${index + 1} of ${items.length}: ${item.textContent}`;
  find("#version").setAttribute("aria-valuetext", item.textContent);
  const [text, before] = await attempt(() => Promise.all([
    textOf(sheet.dataset.id, item.dataset.version), index > 0 ? textOf(sheet.dataset.id, items[index - 1].dataset.version) : "",
  ])) ?? [];
  if (text === undefined || mine !== turn) return;
  const pieces = [];
  const add = (name, content) => { if (content) pieces.push(name ? Object.assign(document.createElement(name), { textContent: content }) : content); };
  let at = 0;
  for (const splice of diff(before, text)) {
    add(null, before.slice(at, splice.at));
    add("del", before.slice(splice.at, splice.at + splice.removed));
    add("ins", splice.added);
    at = splice.at + splice.removed;
  }
  add(null, before.slice(at));
  find("#difference").replaceChildren(...pieces);
}

async function bringBack() {
  const { id } = find("#history").dataset;
  const item = find("#history").querySelectorAll("#versions li")[Number(find("#version").value)];
  const isDone = await attempt(async () => {
    const text = await textOf(id, item.dataset.version);
    const { version } = await api(`/api/note/${id}`);
    return api(`/api/note/${id}/body`, { text, base: version });
  });
  if (isDone) go(`/note/${id}`);
}

// What is wrong

async function examine(button) {
  const box = find("#findings");
  button.disabled = true;
  box.textContent = "Looking …";
  const findings = await attempt(() => api("/api/doctor", {}));
  button.disabled = false;
  const list = document.createElement("ul");
  list.append(...(findings ?? []).map(({ word, sentence, remedy }) => {
    const item = document.createElement("li");
    item.append(Object.assign(document.createElement("strong"), { textContent: word }), ` ${sentence} ${remedy ?? ""}`);
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
