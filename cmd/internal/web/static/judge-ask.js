// Requests of the judge's page.

import { patience, send } from "./ask.js";

let refused = () => {};

// onRefused says what to do when this device may not (any more) what it asked for.
export function onRefused(f) {
  refused = f;
}

// ask sends a request and returns the answer's JSON; its errors are sentences.
export async function ask(path, method = "GET", body = null) {
  let answer;
  try {
    answer = body === null ? await fetch(path, { method, signal: AbortSignal.timeout(patience) }) : await send(path, body, method);
  } catch {
    throw new Error("The program does not answer. Nothing is recorded as far as this page knows; try again when it is back.");
  }
  if (answer.status === 403) refused();
  if (!answer.ok) {
    const error = new Error((await answer.text()).trim() || `The program answers ${answer.status}.`);
    error.status = answer.status;
    throw error;
  }
  return answer.status === 204 ? null : answer.json();
}
