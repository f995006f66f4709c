// What was typed and is not saved yet, in this browser: it outlives a page that is closed and a server that is gone.

import { api } from "./requests.js";
import { merge, shown, unshown } from "./merge.js";

const prefix = "kith:draft:", lock = "kith:tab:";
const newName = () => crypto.getRandomValues(new Uint32Array(2)).join("-");
const reloadMilliseconds = 500;

// Names this tab, also after a reload.
let tab = (sessionStorage.kithTab ??= newName());
const key = (id, part = "") => `${prefix}${id}:${tab}${part}`;

/** Holds the name as long as this tab lives, so that others leave its drafts alone. A tab that was duplicated has the name of the other one. */
const claimed = (async () => {
  if (!navigator.locks || await hold()) return;
  tab = sessionStorage.kithTab = newName();
  await hold();
})();

function hold() {
  return new Promise((isHeld) => {
    const options = { signal: AbortSignal.timeout(reloadMilliseconds) };
    navigator.locks.request(lock + tab, options, () => { isHeld(true); return new Promise(() => {}); }).catch(() => isHeld(false));
  });
}

/** Keeps what was typed into a note; `false` if the browser has no room for it. What was typed before the note was loaded is `early`. */
export function keep(id, draft, isEarly = false) {
  return store(keyOf(id, isEarly), draft);
}

/** A browser has room for some millions of characters: a text that follows from another one is left out. */
function store(name, draft) {
  try {
    const { pending, ...rest } = draft;
    const value = pending && pending.value !== draft.text ? { value: pending.value } : {};
    const kept = pending && { key: pending.key, base: pending.base, ...value, ...(pending.text === pending.value ? {} : { text: pending.text }) };
    localStorage.setItem(name, JSON.stringify({ ...rest, pending: kept }));
    return true;
  } catch {
    return false;
  }
}

/** The name in the browser's storage under which {@link keep} keeps. */
export const keyOf = (id, isEarly = false) => key(id, isEarly ? ".early" : "");

export const drop = (id) => localStorage.removeItem(keyOf(id));

export const isName = (name) => name.startsWith(prefix);

/** Whether anything is kept. */
export const areThere = () => Object.keys(localStorage).some(isName);

/** Takes what tabs that are gone, and this one before it was reloaded, have left: `[{id, draft, key, isOwn}]`. Who has saved it removes it. */
export async function orphans() {
  await claimed;
  const held = (await navigator.locks?.query())?.held ?? [];
  const alive = new Set(held.map(({ name }) => name));
  const found = [];
  for (const name of Object.keys(localStorage)) {
    if (!isName(name)) continue;
    const [id, owner = ""] = name.slice(prefix.length).split(":");
    const [other] = owner.split(".");
    if (other !== tab && alive.has(lock + other)) continue;
    const draft = parse(localStorage.getItem(name));
    if (draft) found.push({ id, draft, key: name, isOwn: other === tab }); else localStorage.removeItem(name);
  }
  return found;
}

/** The draft that is kept under a name, with the id of the note that it may be written as; `null` if there is none. */
export function named(name) {
  const draft = parse(localStorage.getItem(name));
  if (draft && !draft.anew) {
    draft.anew = crypto.randomUUID();
    store(name, draft);
  }
  return draft;
}

/** The draft that a text of the storage is; `null` if it is none. */
export function parse(text) {
  try {
    const draft = JSON.parse(text);
    if (draft?.pending) {
      draft.pending.value ??= draft.text;
      draft.pending.text ??= draft.pending.value;
    }
    return typeof draft?.text === "string" && typeof draft.base?.text === "string" ? draft : null;
  } catch {
    return null;
  }
}

/** A save of what a text area shows as `value`, made from `base`. It has a name, so that it is done once, however often it is sent. */
export const saveOf = (base, value) => ({ key: crypto.randomUUID(), text: unshown(base.text, value), base: base.version, value });

/** Sends a save, for the first time or again; gives the note as it is then. */
export const sendSave = (id, { key, text, base }) => api(`/api/note/${id}/body`, { key, text, base });

/** Saves a draft and removes it. */
export async function deliver({ id, draft, key: name }) {
  for (;;) {
    if (draft.pending) {
      const note = await sendSave(id, draft.pending);
      draft.text = merge(draft.pending.value, shown(note.text), draft.text).text;
      draft.base = { ...note, title: draft.base.title };
      draft.pending = null;
      store(name, draft);
    }
    if (draft.text === shown(draft.base.text)) break;
    draft.pending = saveOf(draft.base, draft.text);
    store(name, draft);
  }
  if (draft.title !== draft.base.title) await api(`/api/note/${id}/fields`, { title: { value: draft.title, base: draft.base.title } });
  localStorage.removeItem(name);
}

/** One tab at a time. */
export const inTurn = (work) => (navigator.locks ? navigator.locks.request("kith:orphans", work) : work());
