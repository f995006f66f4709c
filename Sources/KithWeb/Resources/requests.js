// What the page asks the server.

import { letIn, lost, signedOut } from "./app.js";

const answerMilliseconds = 30_000;

class Refusal extends Error {
  /** `isOffline`: it was not answered, and is tried again when the page is back. `isFinal`: asking the same again leads nowhere. */
  constructor(code, message, { isOffline = false, isFinal = false } = {}) {
    super(message);
    Object.assign(this, { code, isOffline, isFinal });
  }
}

const readJSON = (response) => response.json();
const askInTime = (path, options) => fetch(path, { ...options, signal: AbortSignal.timeout(answerMilliseconds) });

/** Whether a file that was chosen is still there. */
async function isReadable(file) {
  try {
    const reader = file.stream().getReader();
    await reader.read();
    reader.cancel();
    return true;
  } catch {
    return false;
  }
}

/** Asks with a body that may take long, and tells how much of it is sent, from 0 to 1; `fetch` does not say. */
const askTelling = (progress) => (path, { method, headers, body }) => new Promise((done, fail) => {
  const request = new XMLHttpRequest();
  request.open(method, path);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.upload.addEventListener("progress", ({ loaded, total }) => progress(total > 0 ? loaded / total : 1));
  request.addEventListener("load", () => done(new Response(request.response, { status: request.status })));
  for (const name of ["error", "abort", "timeout"]) {
    request.addEventListener(name, async () => {
      const isThere = await isReadable(body);
      fail(isThere ? new TypeError(name) : new Refusal("unreadable", "The file cannot be read.", { isFinal: true }));
    });
  }
  request.send(body);
});

export async function request(path, options, read = readJSON, ask = askInTime) {
  let response, content;
  try {
    response = await ask(path, options);
    // An answer that is cut off is none: it cannot be told what it was to.
    if (response.ok) content = await read(response);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    lost();
    throw new Refusal("offline", "Not connected.", { isOffline: true });
  }
  const { status } = response;
  if (status === 401) {
    signedOut();
    throw new Refusal("signedOut", "Signed out.", { isOffline: true });
  }
  if (!response.ok) {
    const { error = "failed", message = `The server answered ${status}.` } = await response.json().catch(() => ({}));
    throw new Refusal(error, message, { isFinal: status < 500 && status !== 408 });
  }
  letIn();
  return content;
}

/** Asks the server, or has it change something. */
export function api(path, change) {
  const options = change && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(change) };
  return request(path, options);
}

/** Sends a file, however long that takes; `progress` is told how much of it is sent, from 0 to 1. */
export function send(path, file, progress) {
  const options = { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file };
  return request(path, options, readJSON, askTelling(progress));
}

/** A part of a page. */
export function getPart(path, withResponse = false) {
  return request(path, { headers: { "X-Part": "main" } }, async (response) => {
    // What is a file, or of a script, is no part of a page, whoever made the link to it.
    if (!response.headers.get("Content-Type")?.startsWith("text/html")) throw new Refusal("failed", "This is no page.", { isFinal: true });
    const html = await response.text();
    return withResponse ? [html, response] : html;
  });
}
