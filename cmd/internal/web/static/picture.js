// A picture of the camera on the page's canvas: fetched when there is a newer one, one at
// a time and not too often.

import { byId, set, setText } from "./dom.js";
import { Quiet } from "./live.js";

const every = 200; // ms: at most five pictures a second
const late = 3000; // ms; an older picture is not shown as live
const patience = 15000; // ms for one picture
const canvas = byId("canvas");
let shown = 0;
let fetching = false;
let last = -Infinity; // when one was fetched, by performance.now()
let newest = new Quiet(); // since the one that is shown was the newest

async function fetchPicture(address, seq) {
  fetching = true;
  last = performance.now();
  const asked = new Quiet();
  try {
    const answer = await fetch(`${address}?seq=${seq}`, { signal: AbortSignal.timeout(patience) });
    if (!answer.ok) return;
    const bitmap = await createImageBitmap(await answer.blob());
    set(canvas, { width: bitmap.width, height: bitmap.height });
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    bitmap.close();
    [shown, newest] = [seq, asked];
    set(canvas, { "data-old": null }); // until the next state says how old it is
    byId("nopicture").hidden = true;
  } catch {
    // The next state asks again; the watchdog says when the connection is lost.
  } finally {
    fetching = false;
  }
}

// showAge says how old the picture is where a slow network keeps it behind the table.
function showAge(seq) {
  if (seq === shown) newest.heard();
  const age = newest.for();
  const old = shown !== 0 && age > late;
  set(canvas, { "data-old": old ? "true" : null });
  setText(byId("nopicture"), old ? `The picture is ${Math.round(age / 1000)} s old` : "No picture yet");
  byId("nopicture").hidden = shown !== 0 && !old;
}

// drawPicture draws the picture of a number unless it is there already.
export function drawPicture(address, seq) {
  showAge(seq);
  if (!fetching && seq !== shown && performance.now() - last >= every) fetchPicture(address, seq);
}

// clearPicture takes the picture away.
export function clearPicture() {
  canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
  shown = 0;
  showAge(0);
}
