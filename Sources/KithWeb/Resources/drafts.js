// What was typed and is not saved yet, in this browser: it outlives a page that is closed and a server that is gone.

const prefix = "kith:draft:";
// Names this tab, also after a reload.
const tab = (sessionStorage.kithTab ??= crypto.getRandomValues(new Uint32Array(2)).join("-"));
// Held as long as this tab lives, so that others leave its drafts alone.
navigator.locks?.request("kith:tab:" + tab, () => new Promise(() => {}));

const key = (id) => `${prefix}${id}:${tab}`;

/** Keeps what was typed into a note; `false` if the browser has no room for it. */
export function keep(id, draft) {
  try {
    localStorage.setItem(key(id), JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

export const drop = (id) => localStorage.removeItem(key(id));

/** Takes what tabs that are gone, and this one before it was reloaded, have left: `[{id, draft, key}]`. Who has saved it removes it. */
export async function orphans() {
  const held = (await navigator.locks?.query())?.held ?? [];
  const alive = new Set(held.map(({ name }) => name));
  const found = [];
  for (const name of Object.keys(localStorage)) {
    if (!name.startsWith(prefix)) continue;
    const [id, owner] = name.slice(prefix.length).split(":");
    if (owner !== tab && alive.has("kith:tab:" + owner)) continue;
    try {
      found.push({ id, draft: JSON.parse(localStorage.getItem(name)), key: name });
    } catch {
      localStorage.removeItem(name);
    }
  }
  return found;
}
