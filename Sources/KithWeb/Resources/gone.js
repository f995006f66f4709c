// What was typed into a note that was deleted meanwhile: a person can write it as a new note.

import { alertWith, once, say } from "./alerts.js";
import { current, go, here, notDone } from "./app.js";
import * as drafts from "./drafts.js";
import { merge } from "./merge.js";
import { api } from "./requests.js";

/**
 * What the node says of a note that it did not find: "there", "deleted", or "unknown", if it is none of its notes. To a save the answer
 * `notFound` may also mean that a version of the text is unknown.
 */
export async function standing(id) {
  try {
    await api(`/api/note/${id}`);
    return "there";
  } catch ({ code }) {
    return { notFound: "deleted", unknownNote: "unknown" }[code] ?? "there";
  }
}

/** Offers to write a draft as a new note, or to discard it. `save` saves it into its own note, which may be restored by then. */
export function offerAnew({ id: note, draft: { title, text }, key }, where, save) {
  const why = where === "deleted"
    ? "A note was deleted before what was typed into it here was saved"
    : "What was typed into a note that is none of these is kept in this browser. That note was deleted long ago, or belongs to another Kith that had this address";
  const forget = () => { localStorage.removeItem(key); alertWith(key, null); };
  alertWith(key, `${why}: “${title || text.slice(0, 40)}”. `, {
    label: "Write it as a new note",
    run: () => once(`write ${note}`, async () => {
      const isHere = here(), draft = drafts.named(key), kept = localStorage.getItem(key);
      // It may be saved by now, or be another one than when this was offered.
      if (!draft) return forget();
      try {
        const { id: written } = await api("/api/note", { title: draft.title, body: draft.text, id: draft.anew });
        if (localStorage.getItem(key) === kept) forget();
        if (isHere()) await go(`/note/${written}`);
      } catch (error) {
        notDone(error);
      }
    }),
  }, {
    label: "Discard",
    run: async () => {
      if ((await standing(note)) !== "there") return forget();
      await save();
      if (localStorage.getItem(key) === null) say("The note was restored: what was typed is saved in it.");
    },
  });
}

/** Takes a deleted note out of the trash, with its tags and attachments; its editor saves then what was typed. */
export const restoreGone = (id) => once(`restore ${id}`, () => api("/api/trash/restore", { ids: [id] }).catch(notDone));

/** Writes what the editor of a deleted note shows as a new note, and opens that, with what the person has typed into the old one meanwhile. */
export const writeAnew = (editor) => once(`write ${editor.id}`, async () => {
  const { area, title } = editor;
  try {
    if (!editor.anew) {
      // If the answer is lost, the same is sent again: the node writes it once.
      editor.sent ??= { title: title.value, body: area.value, id: crypto.randomUUID() };
      editor.keep();
      editor.anew = { ...editor.sent, ...(await api("/api/note", editor.sent)) };
    }
    const { id, ...sent } = editor.anew, isOpen = current() === editor;
    const focused = [area, title].find((field) => field.matches(":focus"));
    if (isOpen) await go(`/note/${id}`);
    const open = current();
    if (isOpen && open?.id === id) {
      for (const [from, to, was] of [[area, open.area, sent.body], [title, open.title, sent.title]]) {
        const { text, marks } = merge(was, to.value, from.value, [from.selectionStart, from.selectionEnd]);
        if (to.value !== text) {
          to.value = text;
          to.dispatchEvent(new Event("input"));
        }
        if (from !== focused) continue;
        to.focus();
        to.setSelectionRange(...marks);
      }
      editor.anew = { id, title: title.value, body: area.value };
    }
    // More was typed, and is not in the new note. If that could not be shown, this editor stays open.
    if (!editor.isIdle) return;
    drafts.drop(editor.id);
    editor.dropEarly();
    alertWith(drafts.keyOf(editor.id), null);
    editor.tell("Saved");
    editor.tellGone();
  } catch (error) {
    if (error.isFinal) editor.sent = null;
    notDone(error);
  }
});
