// A picture of the camera on the page's canvas: fetched when there is a newer one, one at
// a time and not too often.

import { byId, set } from "./dom.js";

const every = 200; // ms: at most five pictures a second
const canvas = byId("canvas");
let shown = 0;
let fetching = false;
let last = 0;

async function fetchPicture(address, seq) {
  fetching = true;
  last = Date.now();
  try {
    const answer = await fetch(`${address}?seq=${seq}`);
    if (!answer.ok) return;
    const bitmap = await createImageBitmap(await answer.blob());
    set(canvas, { width: bitmap.width, height: bitmap.height });
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    bitmap.close();
    shown = seq;
    byId("nopicture").hidden = true;
  } catch {
    // The next state asks again; the watchdog says when the connection is lost.
  } finally {
    fetching = false;
  }
}

// drawPicture draws the picture of a number unless it is there already.
export function drawPicture(address, seq) {
  if (!fetching && seq !== shown && Date.now() - last >= every) fetchPicture(address, seq);
}

// clearPicture takes the picture away.
export function clearPicture() {
  byId("nopicture").hidden = false;
  canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
  shown = 0;
}
