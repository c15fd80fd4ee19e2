// Trying a move before it is made: a grid of moves, what would come of one, its ghost.

import { ask } from "./ask.js";
import { byId, set, setText } from "./dom.js";
import { declareMove } from "./policy.js";
import { leave } from "./leave.js";
import { differs, restsOn } from "./rests.js";
import { setGhost } from "./table.js";
import { showRows, sign } from "./targets.js";
import { say } from "./texts.js";

// Each kind is a table: columns with a sign and a name, rows with a speed.
const speeds = (...n) => n;
const kinds = {
  dial: {
    doing: "maneuver",
    columns: [["↰", "turn left", 3], ["↖", "bank left", 3], ["↑", "straight", 5], ["↗", "bank right", 3], ["↱", "turn right", 3], ["⟲", "koiogran", 5]],
    rows: speeds(5, 4, 3, 2, 1),
    extra: ["stationary"],
  },
  loops: {
    doing: "maneuver",
    columns: [["⤺", "segnor left", 3], ["⤻", "segnor right", 3], ["↶", "tallon left", 3], ["↷", "tallon right", 3]],
    rows: speeds(3, 2, 1),
    extra: [],
  },
  reverse: { doing: "maneuver", columns: [["↙", "reverse bank left", 3], ["↓", "reverse straight", 5], ["↘", "reverse bank right", 3]], rows: speeds(1, 2, 3), extra: [] },
  action: {
    doing: "action",
    columns: [],
    rows: [],
    extra: ["barrel-roll left", "barrel-roll right", "boost left", "boost straight", "boost right", "decloak left", "decloak forward", "decloak right"],
  },
  drop: { doing: "drop", columns: [], rows: [], extra: ["straight 1", "bank left 1", "bank right 1", "straight 2", "turn left 1", "turn right 1", "launch straight 5"] },
};

let state = null;
let kind = "dial";
let tried = null; // what was asked: {doing, ship, move, option}
let given = ""; // where the ship stood that was asked about
let rested = null; // what else the answer rested on
let asked = 0; // when, by this device's clock
let again = 0; // the timer that asks again; 0: none runs

const spoken = (move) => move.charAt(0).toUpperCase() + move.slice(1).replaceAll("-", " ");

function cell(move, text, label) {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.move = move;
  button.textContent = say(text);
  if (label) button.setAttribute("aria-label", say(label));
  button.tabIndex = -1;
  button.addEventListener("click", () => choose(move));
  return button;
}

function gridCell(row, content) {
  const box = document.createElement("div");
  box.setAttribute("role", "gridcell");
  if (content) box.append(content);
  row.append(box);
}

function build() {
  const grid = byId("try-grid");
  grid.replaceChildren();
  const { columns, rows, extra } = kinds[kind];
  grid.style.setProperty("--columns", columns.length || 1);
  for (const speed of rows) {
    const row = document.createElement("div");
    row.setAttribute("role", "row");
    row.className = "gridrow";
    const head = document.createElement("div");
    head.setAttribute("role", "rowheader");
    head.textContent = speed;
    row.append(head);
    for (const [glyph, name, most] of columns) {
      const move = `${name} ${speed}`;
      gridCell(row, speed <= most ? cell(move, glyph, spoken(move)) : null);
    }
    grid.append(row);
  }
  if (extra.length) {
    const row = document.createElement("div");
    row.setAttribute("role", "row");
    row.className = "gridextra";
    for (const move of extra) gridCell(row, cell(move, spoken(move), ""));
    grid.append(row);
  }
  const first = grid.querySelector("button");
  if (first) first.tabIndex = 0;
}

// keys: arrows go through the grid by place, Enter and space press.
function arrows(event) {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  const buttons = [...byId("try-grid").querySelectorAll("button:enabled")];
  const here = event.target.getBoundingClientRect();
  const [x, y] = [here.x + here.width / 2, here.y + here.height / 2];
  let best = null;
  let least = Infinity;
  for (const b of buttons) {
    const r = b.getBoundingClientRect();
    const [dx, dy] = [r.x + r.width / 2 - x, r.y + r.height / 2 - y];
    const along = dx * step[0] + dy * step[1];
    const across = Math.abs(dx * step[1]) + Math.abs(dy * step[0]);
    if (b !== event.target && along > 1 && along + 4 * across < least) {
      least = along + 4 * across;
      best = b;
    }
  }
  if (!best) return;
  for (const b of buttons) b.tabIndex = b === best ? 0 : -1;
  best.focus();
}

const shipToTry = () => byId("try-ship").value;

// Of a huge ship only the stationary maneuver and drops are known.
const known = (move, huge) => !huge || kinds[kind].doing === "drop" || move === "stationary";

// enable greys out what cannot be tried, and leaves the tab key a button that can.
function enable() {
  const nobody = state.policy.measuring === "judge" || state.ships.length === 0;
  const ship = state.ships.find((s) => s.id === shipToTry());
  const huge = Boolean(ship && ship.base.startsWith("huge"));
  const buttons = [...byId("try-grid").querySelectorAll("button")];
  for (const b of buttons) b.disabled = nobody || !known(b.dataset.move, huge);
  const first = buttons.find((b) => !b.disabled);
  if (first && !buttons.some((b) => b.tabIndex === 0 && !b.disabled)) for (const b of buttons) b.tabIndex = b === first ? 0 : -1;
  setText(byId("try-huge"), huge ? "Huge ships move by templates of their own, whose dimensions no source gives: only stationary and drops are known." : "");
}

async function choose(move) {
  const doing = kinds[kind].doing;
  const ship = shipToTry();
  if (!ship) return leave(byId("try-refused"), "Choose a ship first.");
  const p = state.policy;
  if (p.measuring === "edition" && !(p.window && p.window.ship === ship && p.window.move === move)) {
    const [, refused] = await declareMove(doing, ship, move);
    if (refused) return leave(byId("try-refused"), refused);
  }
  tried = { doing, ship, move, option: "" };
  await request(true);
}

async function request(focus) {
  const mine = tried;
  const { doing, ship, move, option } = mine;
  const body = { ship, [doing]: move };
  if (option) body.option = option;
  given = placeOf(ship);
  rested = restsOn(state);
  asked = performance.now();
  const [answer, refused] = await ask("/api/try", body);
  if (tried !== mine || option !== mine.option) return; // something else was asked, or it was let go of
  leave(byId("try-refused"), refused);
  if (!answer) return clear();
  show(answer);
  // On a phone the table with the ghost stays on top: nothing scrolls.
  if (focus && matchMedia("(min-width: 760px)").matches) byId("try-answer").scrollIntoView({ block: "nearest" });
}

function show(a) {
  byId("try-answer").hidden = false;
  set(byId("try-answer"), { "data-stale": differs(rested, restsOn(state)) ? "true" : null });
  for (const b of byId("try-grid").querySelectorAll("button")) set(b, { "aria-pressed": b.dataset.move === a.move ? "true" : null });
  setText(byId("try-title"), `${a.ship}: ${spoken(a.move)}`);
  const lines = byId("try-lines");
  const key = JSON.stringify(a.lines) + a.nearest;
  if (lines.dataset.key !== key) {
    lines.dataset.key = key;
    lines.replaceChildren(
      ...a.lines.map((line) => {
        const item = document.createElement("li");
        sign(item, line.outcome);
        item.append(say(line.text));
        return item;
      }),
    );
    if (a.nearest) {
      const item = document.createElement("li");
      item.className = "nearest";
      item.textContent = say(a.nearest);
      lines.append(item);
    }
  }
  const ends = byId("try-ends");
  ends.replaceChildren();
  if (a.ends.length > 1) {
    a.ends.forEach((end, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = say(spoken(end.name));
      button.disabled = end.legal === "no";
      set(button, { "aria-pressed": i === a.chosen });
      button.addEventListener("click", () => {
        tried.option = end.name;
        request(false);
      });
      ends.append(button);
    });
  }
  byId("try-after").hidden = a.after === null;
  setText(byId("try-why"), a.after === null && a.why_nothing_after ? `Ranges and arcs after it are not shown: ${a.why_nothing_after}.` : "");
  if (a.after) {
    const enemy = state.ships.find((s) => s.id === a.ship)?.player;
    const targets = a.after.targets.list.filter((t) => t.player !== enemy && t.arcs.some((arc) => arc.arc === "front"));
    showRows(byId("try-targets"), targets, "front", "", byId("figures").checked, null);
    const incoming = a.after.incoming.map((i) => (i.no_attack ? `${i.from} (${i.no_attack.text})` : i.arc.outcome === "yes" ? i.from : `${i.from} (too close to call)`));
    const unknown = a.after.uncounted;
    const seen = unknown.length ? " that is seen" : "";
    const none = targets.length === 0 ? `Nothing${seen} would be in the front arc. ` : "";
    const open = unknown.length ? ` Not counted: ${unknown.join(", ")}.` : "";
    setText(byId("try-incoming"), none + (incoming.length ? `It would be in the arc of ${incoming.join(", ")}.` : `No enemy${seen} would have it in the front arc.`) + open);
  }
  setGhost(a);
}

function clear() {
  tried = null;
  for (const b of byId("try-grid").querySelectorAll("button")) set(b, { "aria-pressed": null });
  byId("try-answer").hidden = true;
  setGhost(null);
}

const placeOf = (id) => {
  const s = state.ships.find((ship) => ship.id === id);
  return s ? [s.x_mm, s.y_mm, s.heading_deg].map((v) => v.toFixed(0)).join() : "";
};

const askEvery = 1000; // ms: the table is seen to change far more often

// askAgain takes the answer back at once and asks for a new one, once a second at most.
function askAgain() {
  byId("try-answer").dataset.stale = "true";
  if (again) return;
  again = setTimeout(() => {
    again = 0;
    if (tried) request(false);
  }, Math.max(0, asked + askEvery - performance.now()));
}

// showTry brings the list of ships up to date, and lets go of a ghost whose ship has moved.
export function showTry(now) {
  state = now;
  const select = byId("try-ship");
  const ids = state.ships.map((s) => s.id);
  if (select.dataset.options !== ids.join("|")) {
    const keep = select.value;
    select.dataset.options = ids.join("|");
    select.replaceChildren(...(ids.length ? ids : [""]).map((id) => new Option(id || say("none"), id)));
    select.disabled = ids.length === 0;
    if (ids.includes(keep)) select.value = keep;
  }
  if (select.dataset.from !== state.choice.from && ids.includes(state.choice.from)) {
    select.dataset.from = state.choice.from;
    select.value = state.choice.from;
  }
  const p = state.policy.measuring;
  setText(byId("try-note"), p === "edition" ? "a move is declared by trying it" : p === "judge" ? "only the judge" : "nothing is moved");
  enable();
  if (tried && given !== placeOf(tried.ship)) clear();
  if (tried && rested && differs(rested, restsOn(state))) askAgain();
  const declared = state.policy.window;
  if (tried && (p === "judge" || (p === "edition" && !(declared && declared.ship === tried.ship && declared.move === tried.move)))) clear();
}

// startTry builds the grid and listens.
export function startTry() {
  build();
  byId("try-kind").addEventListener("change", () => {
    kind = byId("try-kind").value;
    build();
    if (state) showTry(state);
  });
  byId("try-ship").addEventListener("change", () => {
    clear();
    if (state) enable();
  });
  byId("try-grid").addEventListener("keydown", arrows);
  byId("try-clear").addEventListener("click", () => {
    clear();
    byId("try-grid").querySelector('[tabindex="0"]')?.focus();
  });
}
