// Choosing the pair: by clicks (attacker, then target), by keys, by the lists. The
// choice is one for everybody; the server holds it.

import { send as request } from "./ask.js";
import { byId, setText } from "./dom.js";
import { leave } from "./leave.js";
import { say } from "./texts.js";

let state = null;
let pending = null; // the attacker that was clicked, while its target is awaited

async function send(change) {
  try {
    const answer = await request("/api/choice", change, "PATCH");
    leave(byId("refused"), answer.ok ? "" : (await answer.text()).trim());
  } catch {
    // The watchdog says that the connection is lost.
  }
}

// click takes a ship that was clicked, in whichever drawing.
export function click(id) {
  if (pending === null || pending === id) {
    pending = pending === id ? null : id;
  } else {
    send({ from: pending, to: id });
    pending = null;
  }
  hint();
  document.dispatchEvent(new Event("pending"));
}

export const pendingAttacker = () => pending;

function hint() {
  setText(byId("hint"), pending === null ? "Tap the attacker, then the target." : `${pending} attacks. Now tap its target, or Esc.`);
}

const ids = () => state.ships.map((ship) => ship.id);

// step returns the id that lies by steps further in the list, leaving out one.
function step(list, now, by, without) {
  const rest = list.filter((id) => id !== without);
  if (rest.length === 0) return null;
  const at = rest.indexOf(now);
  return at < 0 ? rest[0] : rest[(at + by + rest.length) % rest.length];
}

// targets lists the ships of the other player first: they are what one attacks.
function targets(from) {
  const attacker = state.ships.find((ship) => ship.id === from);
  const enemies = state.ships.filter((ship) => ship.id !== from && (!attacker || ship.player !== attacker.player));
  return (enemies.length ? enemies : state.ships).map((ship) => ship.id);
}

// know takes the newest state, where there are no lists to bring up to date.
export function know(now) {
  state = now;
}

export function cycleAttacker(by) {
  const from = step(ids(), state.choice.from, by, null);
  if (!from) return;
  const to = state.choice.to && state.choice.to !== from && targets(from).includes(state.choice.to) ? state.choice.to : step(targets(from), null, 1, from);
  send(to ? { from, to } : { from });
}

export function cycleTarget(by) {
  const to = step(targets(state.choice.from), state.choice.to, by, state.choice.from);
  if (to) send({ to });
}

export function cycleArc(by) {
  const arc = step(state.arcs, state.choice.arc, by, null);
  if (arc) send({ arc });
}

export function swap() {
  if (state.choice.from && state.choice.to) send({ from: state.choice.to, to: state.choice.from });
}

const keys = {
  a: () => cycleAttacker(-1),
  d: () => cycleAttacker(1),
  arrowleft: () => cycleTarget(-1),
  arrowright: () => cycleTarget(1),
  w: () => cycleArc(1),
  s: swap,
  escape: () => {
    if (pending !== null) click(pending);
  },
};

function fill(select, options, value, empty) {
  const wanted = [...new Set(value ? [...options, value] : ["", ...options])];
  if (select.dataset.options !== wanted.join("|")) {
    select.dataset.options = wanted.join("|");
    select.replaceChildren(...wanted.map((id) => new Option(say(id ? id.replaceAll("_", " ") : empty), id)));
  }
  if (document.activeElement !== select || select.value !== value) select.value = value;
}

// chooseTarget makes a ship the chosen attacker's target.
export const chooseTarget = (to) => send({ to });

// showChoice brings the lists up to date.
export function showChoice(now) {
  state = now;
  fill(byId("from"), ids(), state.choice.from, "choose");
  fill(byId("to"), ids().filter((id) => id !== state.choice.from), state.choice.to, "choose");
  fill(byId("arc"), state.arcs, state.choice.arc, "front");
}

// startChoosing listens to keys and lists.
export function startChoosing() {
  document.addEventListener("keydown", (event) => {
    if (!state || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("select, input:not([type=checkbox])")) return; // a list has its own keys
    if (event.key.length === 1 && !byId("letters").checked) return; // somebody dictates, or types elsewhere
    const action = keys[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  });
  byId("from").addEventListener("change", (event) => {
    const from = event.target.value;
    if (!from) return;
    send(from === state.choice.to ? { from, to: state.choice.from } : { from });
  });
  byId("to").addEventListener("change", (event) => event.target.value && send({ to: event.target.value }));
  byId("arc").addEventListener("change", (event) => event.target.value && send({ arc: event.target.value }));
  byId("swap").addEventListener("click", swap);
}
