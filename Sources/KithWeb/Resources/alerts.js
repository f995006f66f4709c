// What the page says on top, and wishes that are under way.

const alerts = new Map();

/** The names of what is said now. */
export const alertNames = () => [...alerts.keys()];

/** Says something, or with `null` no longer. */
export function alertWith(name, text, ...actions) {
  const had = alerts.get(name);
  // What stands there already is not read out again.
  if ((had?.text ?? null) === text) { if (had) had.actions = actions; return; }
  if (text === null) alerts.delete(name); else alerts.set(name, { text, actions });
  const box = document.querySelector("#alerts");
  box.replaceChildren(...[...alerts.values()].map((alert) => {
    const line = document.createElement("p");
    line.append(alert.text);
    alert.actions.forEach(({ label }, index) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: label });
      button.addEventListener("click", () => alert.actions[index].run());
      line.append(button, " ");
    });
    return line;
  }));
}

/** The wishes that are not answered yet, by their names. */
const running = new Set();
/**
 * Does `work`, unless work of the same name has begun and not ended: whoever presses a button again before the answer means the same wish.
 * `name` says what is done to what, so that a wish for another note, tag or file is another wish.
 */
export async function once(name, work) {
  if (running.has(name)) return;
  running.add(name);
  try { await work(); } finally { running.delete(name); }
}

export function say(text) {
  alertWith("said", text, { label: "Close", run: () => alertWith("said", null) });
}
