// Messages that leave after a stated time.

import { setLinked, setText } from "./dom.js";

const seconds = 15;
const timers = new Map();

// leave shows a text in an element, says when it leaves, and takes it away then.
export function leave(element, text) {
  clearTimeout(timers.get(element));
  setLinked(element, text ? `${text} (leaves in ${seconds} s)` : "");
  if (text) timers.set(element, setTimeout(() => setText(element, ""), 1000 * seconds));
}
