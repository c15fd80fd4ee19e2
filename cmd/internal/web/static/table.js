// The table from above, in millimetres. The drawing's y points down, the table's
// away from player 1: y is turned round in one place, at().

import { byId, keepUnit, mm, set, setText, svg } from "./dom.js";
import { click, pendingAttacker } from "./choose.js";
import { label } from "./label.js";
import { placed } from "./labels.js";
import { say } from "./texts.js";

const margin = 34; // mm round the mat, for the edges' names
const drawing = byId("table");
const parts = {};
const ships = new Map(); // id → elements; kept, so that the focus is
const keep = keepUnit(drawing, () => drawn && showTable(drawn));
let size = "";
let height = 0;

const at = (x, y) => [x, height - y];

function build(mat) {
  size = `${mat.width_mm}×${mat.height_mm}`;
  height = mat.height_mm;
  drawing.replaceChildren();
  ships.clear();
  set(drawing, { viewBox: `${-margin} ${-margin} ${mat.width_mm + 2 * margin} ${mat.height_mm + 2 * margin}` });
  const defs = svg("defs", {}, drawing);
  patterns(defs);
  const clip = svg("clipPath", { id: "mat-clip" }, defs);
  svg("rect", { width: mat.width_mm, height: mat.height_mm }, clip);
  svg("rect", { class: "mat", width: mat.width_mm, height: mat.height_mm }, drawing);
  let lines = "";
  for (let x = 100; x < mat.width_mm; x += 100) lines += `M${x} 0V${mat.height_mm}`;
  for (let y = 100; y < mat.height_mm; y += 100) lines += `M0 ${mat.height_mm - y}H${mat.width_mm}`;
  svg("path", { class: "grid", d: lines }, drawing);
  for (const [text, y] of [["player 2", -margin / 2], ["player 1", mat.height_mm + margin / 2]]) {
    svg("text", { class: "edge", x: mat.width_mm / 2, y }, drawing).textContent = say(text);
  }
  parts.range = svg("g", { "clip-path": "url(#mat-clip)" }, drawing);
  parts.rocks = svg("g", {}, drawing);
  parts.ghost = svg("g", { class: "ghost", "clip-path": "url(#mat-clip)" }, drawing);
  parts.ships = svg("g", { class: "ships" }, drawing);
  parts.names = svg("g", {}, drawing);
  parts.measure = svg("g", { class: "measure" }, drawing);
  keep();
}

// patterns tell kinds of obstacles apart without colour: stone, wreckage, cloud.
function patterns(defs) {
  const pattern = (id, size, d) => {
    const p = svg("pattern", { id, width: size, height: size, patternUnits: "userSpaceOnUse" }, defs);
    svg("path", { d, class: id }, p);
  };
  pattern("p-asteroid", 12, "M0 12L12 0M-3 3L3 -3M9 15L15 9");
  pattern("p-debris", 14, "M2 4h6M9 10h5");
  pattern("p-gas", 12, "M3 3h.1M9 9h.1");
  pattern("p-unknown", 12, "M0 12L12 0M0 0L12 12");
}

// shipElements makes the drawing of one ship: in its own frame the nose is up.
function shipElements(ship) {
  const group = svg("g", { class: "ship", role: "button", tabindex: 0 }, parts.ships);
  const hit = svg("circle", { class: "hit" }, group); // a finger needs more than a small base
  const turned = svg("g", {}, group);
  const w = ship.width_mm, l = ship.length_mm;
  svg("rect", { class: "base", x: -w / 2, y: -l / 2, width: w, height: l, rx: 2 }, turned);
  const x = Math.min(w / 2, Math.tan((ship.front_half_angle_deg * Math.PI) / 180) * (l / 2));
  for (const [sx, sy] of [[x, -1], [-x, -1], [x, 1], [-x, 1]]) {
    svg("line", { class: "arc", x1: sx * 0.55, y1: sy * l * 0.275, x2: sx, y2: (sy * l) / 2 }, turned);
  }
  svg("path", { class: "nose", d: `M0 ${-l / 2 + 2}l6 8h-12z` }, turned);
  const tag = svg("text", { class: "tag" }, group);
  tag.textContent = ship.id;
  group.addEventListener("click", () => click(ship.id));
  group.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    click(ship.id);
  });
  return { group, turned, tag, hit, base: ship.base };
}

export function roleOf(id, choice) {
  const pending = pendingAttacker();
  if (pending !== null) return pending === id ? "attacker" : null;
  return id === choice.from ? "attacker" : id === choice.to ? "target" : null;
}

// tagPlace puts a ship's name on its base, or above it where the base is too small
// on this screen to be seen under it.
function tagPlace(ship, x, y, unit) {
  const small = ship.width_mm / unit < 46;
  const reach = (Math.abs(Math.cos((ship.heading_deg * Math.PI) / 180)) * ship.length_mm + Math.abs(Math.sin((ship.heading_deg * Math.PI) / 180)) * ship.width_mm) / 2;
  return { x, y: small ? y - reach - 9 * unit : y };
}

function showShips(state) {
  const unit = keep();
  const here = new Set();
  for (const ship of state.ships) {
    here.add(ship.id);
    let e = ships.get(ship.id);
    if (e && e.base !== ship.base) {
      e.group.remove();
      e = null;
    }
    if (!e) ships.set(ship.id, (e = shipElements(ship)));
    const [x, y] = at(ship.x_mm, ship.y_mm);
    const role = roleOf(ship.id, state.choice);
    set(e.turned, { transform: `translate(${x} ${y}) rotate(${ship.heading_deg})` });
    set(e.hit, { cx: x, cy: y, r: Math.max(ship.width_mm * 0.6, 20 * unit) });
    set(e.tag, tagPlace(ship, x, y, unit));
    if (e.tag.textContent !== label(ship)) e.tag.textContent = label(ship);
    set(e.group, {
      "data-player": ship.player,
      "data-role": role,
      "data-moving": ship.moving,
      "data-state": ship.state,
      "data-quarters": ship.heading_quarters || null,
      "aria-pressed": role !== null,
      "aria-label": `${label(ship)}, ${ship.player ? `player ${ship.player}` : "nobody's"}, ${ship.base} base${role ? `, ${role}` : ""}${ship.state !== "still" ? `, ${ship.state}` : ""}`,
    });
  }
  for (const [id, e] of ships) {
    if (here.has(id)) continue;
    e.group.remove();
    ships.delete(id);
  }
}

// Arcs that are another arc's sector: of the first edition, and of turrets (engine/arcs.go).
const sectors = { rear_aux: "rear", full_front_180: "full_front", front_90: "front", front_106: "front", front_136: "front" };
const opposite = { front: "rear", rear: "front", left: "right", right: "left" };
const halves = { front_90: 45, front_106: 53, front_136: 68 };

// wedge returns the outline of an arc in the ship's frame, far enough for range 3.
function wedge(arc, ship) {
  if (arc === "turret" || arc === "mobile") return wedge(ship.turret, ship);
  if (arc === "double_turret") return wedge(opposite[ship.turret], ship);
  if (halves[arc]) return wedge("front", { ...ship, front_half_angle_deg: halves[arc] });
  if (sectors[arc]) return wedge(sectors[arc], ship);
  const far = 700, w = ship.width_mm / 2;
  const half = (ship.front_half_angle_deg * Math.PI) / 180;
  const ray = (angle) => `${far * Math.sin(angle)} ${-far * Math.cos(angle)}`;
  const fan = (from, to) => `M0 0L${ray(from)}L${ray((from + to) / 2)}L${ray(to)}Z`;
  switch (arc) {
    case "front": return fan(-half, half);
    case "rear": return fan(Math.PI - half, Math.PI + half);
    case "right": return fan(half, Math.PI - half);
    case "left": return fan(-Math.PI + half, -half);
    case "full_front": return `M${-far} 0H${far}V${-far}H${-far}Z`;
    case "full_rear": return `M${-far} 0H${far}V${far}H${-far}Z`;
    case "bullseye": return `M${-ship.bullseye_mm / 2} ${-w}V${-far}H${ship.bullseye_mm / 2}V${-w}Z`;
  }
  return "";
}

// showRange draws the attacker's range bands and the chosen arc. The rounded
// rectangles are exact: all points at that distance from the base.
function showRange(state) {
  parts.range.replaceChildren();
  const ship = state.ships.find((s) => s.id === (pendingAttacker() ?? state.choice.from));
  // While the agreement forbids it, nothing is drawn that one could measure with.
  const free = state.policy.measuring === "free" || (state.policy.reach && pendingAttacker() === null);
  if (!ship || !free) return;
  const arcs = !ship.heading_quarters && (state.policy.measuring === "free" || state.policy.window?.doing === "attack");
  const [x, y] = at(ship.x_mm, ship.y_mm);
  const turned = svg("g", { transform: `translate(${x} ${y}) rotate(${ship.heading_deg})` }, parts.range);
  const w = ship.width_mm / 2, l = ship.length_mm / 2;
  const ring = (r) => ({ x: -w - r, y: -l - r, width: 2 * (w + r), height: 2 * (l + r), rx: r });
  const clip = svg("clipPath", { id: "range-clip" }, turned);
  svg("rect", ring(300), clip);
  if (arcs) svg("path", { class: "wedge", d: wedge(state.choice.arc, ship), "clip-path": "url(#range-clip)" }, turned);
  for (const r of [100, 200, 300]) svg("rect", { class: "ring", ...ring(r) }, turned);
  const turn = (ship.heading_deg * Math.PI) / 180;
  for (const r of [100, 200, 300]) {
    const d = l + r;
    svg("text", { class: "ringlabel", x: x + d * Math.sin(turn), y: y - d * Math.cos(turn) }, parts.range).textContent = r / 100;
  }
}

function outline(points, attributes, parent) {
  return svg("polygon", { ...attributes, points: points.map(([x, y]) => at(x, y).join(",")).join(" ") }, parent);
}

const middle = (points) => [0, 1].map((i) => points.reduce((sum, p) => sum + p[i], 0) / points.length);

function name(points, text, className) {
  const [x, y] = at(...middle(points));
  svg("text", { class: className, x, y }, parts.names).textContent = say(text);
}

// cut shortens a name that would run out of the map; other places show it whole.
const cut = (id) => (id.length > 18 ? `${id.slice(0, 17)}…` : id);

function showRocks(state) {
  parts.rocks.replaceChildren();
  parts.names.replaceChildren();
  for (const rock of state.obstacles) {
    outline(rock.outline_mm, { class: `rock ${rock.kind}` }, parts.rocks);
    outline(rock.outline_mm, { fill: `url(#p-${rock.kind})` }, parts.rocks);
    name(rock.outline_mm, rock.id.startsWith(rock.kind) ? cut(rock.id) : `${cut(rock.id)} · ${rock.kind}`, "rockname");
  }
  for (const part of state.things.blind_mm) outline(part.outline_mm, { class: "rock blind", fill: "url(#p-unknown)" }, parts.rocks);
  for (const thing of state.things.unknown_mm) {
    outline(thing, { class: "rock unknown", fill: "url(#p-unknown)" }, parts.rocks);
    name(thing, "? unknown", "rockname unknown");
  }
}

let ghost = null;
let drawn = null;

// setGhost shows what a tried move would come to; null: nothing.
export function setGhost(tried) {
  ghost = tried;
  if (drawn) showTable(drawn);
}

function ghostShip(ship, end, chosen) {
  const [x, y] = at(end.x_mm, end.y_mm);
  const turned = svg("g", { class: chosen ? "end chosen" : "end", "data-legal": end.legal, transform: `translate(${x} ${y}) rotate(${end.heading_deg})` }, parts.ghost);
  const w = ship.width_mm, l = ship.length_mm;
  svg("rect", { class: "base", x: -w / 2, y: -l / 2, width: w, height: l, rx: 2 }, turned);
  svg("path", { class: "nose", d: `M0 ${-l / 2 + 2}l6 8h-12z` }, turned);
  if (end.legal === "no") svg("path", { class: "cross", d: `M${-w / 2} ${-l / 2}L${w / 2} ${l / 2}M${w / 2} ${-l / 2}L${-w / 2} ${l / 2}` }, turned);
  if (end.legal === "too_close") svg("text", { class: "doubt", transform: `rotate(${-end.heading_deg})` }, turned).textContent = "≈";
  return [x, y];
}

function showGhost(state) {
  parts.ghost.replaceChildren();
  for (const old of state.play?.ghosts ?? []) { // where a nudged ship stood, to put it back
    const moved = state.ships.find((s) => s.id === old.id);
    if (moved) ghostShip(moved, { ...old, legal: "yes" }, false);
  }
  const ship = ghost && state.ships.find((s) => s.id === ghost.ship);
  if (!ship) return;
  if (ghost.template_mm.length) outline(ghost.template_mm, { class: "template" }, parts.ghost);
  for (const part of ghost.device_mm) outline(part, { class: "device" }, parts.ghost);
  const order = ghost.ends.map((end, i) => [end, i]).sort(([, i], [, j]) => (i === ghost.chosen) - (j === ghost.chosen));
  for (const [end, i] of order) {
    const chosen = i === ghost.chosen;
    if (end.slide_mm.length) {
      const [[x1, y1], [x2, y2]] = end.slide_mm.map((p) => at(...p));
      svg("line", { class: "slide", x1, y1, x2, y2 }, parts.ghost);
    }
    const [x, y] = ghostShip(ship, end, chosen);
    if (chosen) svg("text", { class: "ghosttag", x: x + 0.75 * ship.length_mm, y: y - 0.6 * ship.length_mm }, parts.names).textContent = say(`${ship.id}'s end`);
  }
}

function showMeasure(state) {
  parts.measure.replaceChildren();
  set(parts.measure, { "data-kind": state.answer.headline.kind });
  if (pendingAttacker() !== null) return;
  const lines = state.answer.lines_mm.map(([a, b]) => [at(...a), at(...b)]);
  if (lines.length === 0) return;
  if (lines.length > 1) {
    const [[a, b], [c, d]] = lines;
    svg("polygon", { points: [a, b, d, c].map((p) => p.join(",")).join(" ") }, parts.measure);
  }
  let sum = [0, 0];
  for (const [[x1, y1], [x2, y2]] of lines) {
    svg("line", { x1, y1, x2, y2 }, parts.measure);
    sum = [sum[0] + x1 + x2, sum[1] + y1 + y2];
  }
  if (ghost) return; // the card says the figure; here it would lie on the ghost
  // The figure stands next to the line, so that a short line and the bases stay seen.
  const n = 2 * lines.length;
  const [x, y] = [sum[0] / n, sum[1] / n];
  const [[x1, y1], [x2, y2]] = lines[0];
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  let [nx, ny] = [(y2 - y1) / length, (x1 - x2) / length];
  if (nx < 0 || (nx === 0 && ny < 0)) [nx, ny] = [-nx, -ny];
  const unit = keep(), w = 92 * unit, h = 24 * unit;
  const off = (Math.abs(nx) * 46 + Math.abs(ny) * 22) * unit;
  const places = [1, -1, 1.6, -1.6, 2.4, -2.4].map((by) => ({ x: x + by * nx * off - w / 2, y: y + by * ny * off - h / 2, w, h }));
  const [place] = placed([{ places, must: true }], [], taken(state, unit), { x: 0, y: 0, w: state.mat.width_mm, h: state.mat.height_mm });
  svg("text", { x: place.x + w / 2, y: place.y + h / 2 }, parts.measure).textContent = drawing.dataset.figures === "true" ? mm(state.answer.distance_mm) : say(state.answer.title);
}

// taken are the boxes of the bases and of their names, which the figure leaves free.
function taken(state, unit) {
  return state.ships.flatMap((ship) => {
    const [x, y] = at(ship.x_mm, ship.y_mm);
    const r = Math.max(ship.width_mm, ship.length_mm) / 2;
    const { tag } = ships.get(ship.id);
    const w = 10 * unit * tag.textContent.length, h = 18 * unit;
    return [{ x: x - r, y: y - r, w: 2 * r, h: 2 * r }, { x: Number(tag.getAttribute("x")) - w / 2, y: Number(tag.getAttribute("y")) - h / 2, w, h }];
  });
}

// showTable draws a state.
export function showTable(state) {
  if (!state.mat.width_mm) return;
  if (size !== `${state.mat.width_mm}×${state.mat.height_mm}`) build(state.mat);
  drawn = state;
  showRange(state);
  showRocks(state);
  showGhost(state);
  showShips(state);
  showMeasure(state);
  const n = state.ships.length;
  setText(byId("table-note"), n === 0 ? "" : (n === 1 ? "1 ship" : `${n} ships`) + (state.health.code !== "ok" ? ", as last seen" : ""));
}
