// Files that are attached to the note that is open: a picture goes where the cursor was, whatever is typed until it is sent.

import { current, say } from "./app.js";
import { moved } from "./merge.js";
import { send } from "./requests.js";

const composedMilliseconds = 100;

/** What shows a picture: a name that would end the link, or be another one, is written as an address. */
const linkTo = (name) => (/^[^\s[\]|#^][^[\]|#^]*$/.test(name) && !/\s$/.test(name) ? `![[${name}]]` : `![](attachments/${encodeURIComponent(name).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)})`);

export class Attachments {
  constructor(editor) {
    this.editor = editor;
    this.queue = Promise.resolve();
    /** The places `{at}` in the text where files will stand. */
    this.places = new Set();
  }

  /** Attaches files, one after the other, so that each gets a name of its own. */
  attach(files) {
    const place = { at: this.editor.area.selectionEnd };
    this.places.add(place);
    return this.queue = this.queue.then(() => this.attachAll(files, place)).finally(() => this.places.delete(place));
  }

  /** The text was made `after`: a file goes where the text goes that it belongs to. */
  follow(before, after) {
    for (const place of this.places) place.at = moved(place.at, before, after);
  }

  async attachAll(files, place) {
    const { editor } = this;
    for (const file of files) {
      // In tens, as each is read out. Beside the saves, which go on.
      const progress = (part) => editor.tell(`Attaching ${file.name} … ${10 * Math.floor(10 * part)} %`);
      progress(0);
      const saved = await send(`/api/note/${editor.id}/attach?name=${encodeURIComponent(file.name)}`, file, progress)
        .catch((error) => { say(`“${file.name}” was not attached: ${error.message}`); });
      if (saved && file.type.startsWith("image/")) await this.insert(linkTo(saved.name), place);
    }
    editor.tell(editor.isDirty ? "Typing …" : "Saved");
    this.open.render();
  }

  /** The note, also if it was left and opened again. */
  get open() {
    const { editor } = this, now = current();
    return editor.isClosed && now?.id === editor.id ? now : editor;
  }

  /** Puts `words` into the text where `place` is, which is behind them then. No letter is disturbed that is being composed. */
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
