// Attaches files to the note that is open: a picture is put where the cursor was, whatever the person types until it is sent.

import { say } from "./alerts.js";
import { current, notDone } from "./app.js";
import { moved } from "./merge.js";
import { send } from "./requests.js";

const composedMilliseconds = 100;
const newMilliseconds = 60_000;

/** The link that shows a picture. A name that would end the link, or make it another one, is written as an address. */
const linkTo = (name) => (/^[^\s[\]|#^][^[\]|#^]*$/.test(name) && !/\s$/.test(name) ? `![[${name}]]` : `![](attachments/${encodeURIComponent(name).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)})`);

/**
 * The name for a file. Browsers call each picture from the clipboard, or one that a camera takes now, `image.png` or the like: such a one is
 * named by the time, so that two devices which attach one each before they meet have two names.
 */
function nameOf({ name, type, lastModified }, isPasted) {
  const now = new Date(), isNew = isPasted || now - lastModified < newMilliseconds;
  const ending = isNew && type.startsWith("image/") && /^image(\.\w+)$/.exec(name)?.[1];
  if (!ending) return name;
  const here = new Date(now - 60_000 * now.getTimezoneOffset());
  return `Picture ${here.toISOString().slice(0, 19).replace("T", " ").replaceAll(":", ".")}${ending}`;
}

export class Attachments {
  constructor(editor) {
    this.editor = editor;
    this.queue = Promise.resolve();
    /** The places `{at}` in the text where files will stand. */
    this.places = new Set();
  }

  /** Attaches files, one after the other, so that each gets a name of its own. */
  attach(files, isPasted) {
    const place = { at: this.editor.area.selectionEnd };
    this.places.add(place);
    return this.queue = this.queue.then(() => this.attachAll(files, place, isPasted)).catch(notDone).finally(() => this.places.delete(place));
  }

  /** The text has changed from `before` to `after`: the places of files move with the text around them. */
  follow(before, after) {
    for (const place of this.places) place.at = moved(place.at, before, after);
  }

  async attachAll(files, place, isPasted) {
    const { editor } = this;
    for (const file of files) {
      const name = nameOf(file, isPasted);
      // In steps of ten percent, as a screen reader reads each of them.
      const progress = (part) => editor.tell(`Attaching ${name} … ${10 * Math.floor(10 * part)} %`);
      progress(0);
      const saved = await send(`/api/note/${editor.id}/attach?name=${encodeURIComponent(name)}`, file, progress)
        .catch((error) => { say(`“${name}” was not attached: ${error.message}`); });
      try {
        if (saved && file.type.startsWith("image/")) await this.insert(linkTo(saved.name), place);
      } catch (error) {
        notDone(error);
      }
    }
    editor.tell(editor.isDirty ? "Typing …" : "Saved");
    this.open.render();
  }

  /** The editor that shows the note now: another one if the person has left the note and opened it again. */
  get open() {
    const { editor } = this, now = current();
    return editor.isClosed && now?.id === editor.id ? now : editor;
  }

  /** Puts `words` into the text at `place`, which is behind them then. While the person composes a letter, it waits. */
  async insert(words, place) {
    while (this.open.isComposing) await new Promise((done) => setTimeout(done, composedMilliseconds));
    const { editor, open } = this, { area } = open;
    open.learn();
    const at = open === editor ? place.at : moved(place.at, editor.steps.text, area.value);
    const isThere = area.selectionStart === at && area.selectionEnd === at;
    area.setRangeText(words, at, at, isThere ? "end" : "preserve");
    open.learn();
    if (open === editor) place.at = at + words.length;
    open.changed();
  }
}
