// The newest ruling and what is held, as every page for players says them.

import { byId, setText } from "./dom.js";

const shownSeconds = 60;
let closed = 0; // when the ruling was made that was read on this device: a new record counts from 1

// showRuling shows the newest ruling for a while, and says for how long. On a page that lost its connection nothing counts.
export function showRuling(state, lost) {
  const r = state.ruling;
  const left = r ? shownSeconds - r.age_ms / 1000 : 0; // no clock counts that someone may set
  if (r && left <= 0) closed = r.at_unix_ms;
  byId("ruling").hidden = r === null || r.at_unix_ms === closed;
  if (r === null) return;
  setText(byId("ruling-left"), lost ? "" : `leaves in ${Math.ceil(Math.max(0, left))} s`);
  byId("ruling").dataset.at = r.at_unix_ms;
  setText(byId("ruling-title"), `Ruling ${r.number}, ${r.from} to ${r.to}: ${r.title}`);
  setText(byId("ruling-text"), [r.decision === "as_measured" ? "" : `Measured: ${r.measured}. ${r.overruled ? "Overruled" : "Decided"}: ${r.reason}`, new Date(r.at_unix_ms).toLocaleTimeString()].filter(Boolean).join(" · "));
}

// startRuling lets whoever has read a ruling close it on this device.
export function startRuling() {
  byId("ruling-close").addEventListener("click", () => {
    closed = Number(byId("ruling").dataset.at);
    byId("ruling").hidden = true;
  });
}

// showHeld says that what is seen is not live, and whose ruling is awaited.
export function showHeld(state) {
  byId("held").hidden = state.held === null;
  if (!state.held) return;
  const by = state.held.asked;
  setText(byId("held-title"), by ? "A judge was called" : "Held");
  setText(byId("held-text"), `${by && by !== "the table" ? `by ${by}. ` : ""}Picture and answers are those of ${heldAt(state)}, until someone releases them.`);
}

export const heldAt = (state) => new Date(state.held.at_unix_ms).toLocaleTimeString();
