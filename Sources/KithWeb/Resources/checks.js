// Boxes of check lists, which can be ticked where a note is read.

import { moved } from "./merge.js";

/** Boxes of check lists can be ticked where they are shown. */
export function enableChecks(rendered) {
  for (const box of rendered.querySelectorAll("li[data-sourcepos] input[type=checkbox]")) {
    box.disabled = false;
    box.setAttribute("aria-label", box.parentElement.textContent.trim() || "Item");
  }
}

/** Ticks the box, or takes the tick off, in the line of the text that it stands for. */
export function check(editor, box) {
  const { version } = editor.rendered.querySelector("#markdown").dataset, { checked } = box;
  const item = box.closest("li[data-sourcepos]");
  if (!item) return;
  const index = Number(item.dataset.sourcepos.split(":")[0]) - 1, tickNow = () => tick(editor, version, index, checked);
  // The box may be of a newer version than this editor has loaded.
  if (!tickNow()) { editor.reading = null; editor.refresh().then(tickNow); }
}

/** Ticks a box of a version, or takes the tick off; `false` if its text is not known. */
function tick(editor, version, index, isTicked) {
  const text = editor.base ? editor.versions.get(version) : undefined;
  if (text === undefined) return false;
  const lines = text.split("\n"), [start] = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+/.exec(lines[index]) ?? [""];
  // By now, the line may stand elsewhere, and the box may be another one.
  const at = moved(lines.slice(0, index).join("\n").length + (index > 0 ? 1 : 0) + start.length, text, editor.area.value);
  const [box] = /^\[[xX ]{1,2}\]/.exec(editor.area.value.slice(at, at + 4)) ?? [];
  if (!box) return true;
  const { selectionStart, selectionEnd } = editor.area;
  const follow = (place) => moved(place, editor.steps.text, editor.area.value);
  editor.learn();
  editor.area.setRangeText(`[${isTicked ? "x" : " "}]`, at, at + box.length, "preserve");
  editor.area.setSelectionRange(follow(selectionStart), follow(selectionEnd));
  editor.learn();
  editor.changed();
  editor.save();
  return true;
}
