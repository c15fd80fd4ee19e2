// The drawings of the overlay: the table from above in millimetres, and the same laid
// over the camera's own picture in its pixels.

import { label } from "/label.js";
import { placed } from "/labels.js";

export function make(name, attributes, parent) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key of Object.keys(attributes || {})) element.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(element);
  return element;
}

export function clear(element) {
  while (element.firstChild) element.removeChild(element.firstChild);
}

const join = (points) => points.map((p) => p.join(",")).join(" ");
const mm = (x) => `${x.toFixed(1)} mm`;

function text(parent, attributes, words) {
  make("text", attributes, parent).textContent = words;
}

const role = (id, state) => (id === state.choice.from ? "attacker" : id === state.choice.to ? "target" : "other");

// middle of all points of some lines.
function middle(lines) {
  let x = 0, y = 0, n = 0;
  for (const line of lines) for (const p of [line[0], line[line.length - 1]]) (x += p[0]), (y += p[1]), n++;
  return [x / n, y / n];
}

// beside returns a place for a figure next to a line, off to the side that has room.
function beside(lines, off, width) {
  const [x, y] = middle(lines);
  const a = lines[0][0], b = lines[0][lines[0].length - 1];
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
  let nx = (b[1] - a[1]) / length, ny = (a[0] - b[0]) / length;
  if (nx < 0 || (nx === 0 && ny < 0)) (nx = -nx), (ny = -ny);
  const reach = (Math.abs(nx) * 2.6 + 1) * off;
  const side = x + nx * reach > width - 2.6 * off ? -1 : 1;
  return [x + side * nx * reach, y + side * ny * reach];
}

// Top view.

const margin = 8; // mm round the mat

function topShip(parent, ship, height, state) {
  const group = make("g", { class: "ship", "data-player": ship.player, "data-role": role(ship.id, state), "data-state": ship.state }, parent);
  const w = ship.width_mm, l = ship.length_mm, x = ship.x_mm, y = height - ship.y_mm;
  const turned = make("g", { transform: `translate(${x} ${y}) rotate(${ship.heading_deg})` }, group);
  make("rect", { class: "base", x: -w / 2, y: -l / 2, width: w, height: l, rx: 3 }, turned);
  if (!ship.heading_quarters) make("path", { class: "nose", d: `M0 ${-l / 2 - 3}l9 13h-18z` }, turned);
  text(group, { class: "id", x, y: y + 1 }, label(ship));
}

function topRange(parent, state, height) {
  const ship = state.ships.find((s) => s.id === state.choice.from);
  if (!ship) return;
  if (state.overlay && state.overlay.arc_mm && state.overlay.arc_mm.length > 2) {
    make("polygon", { class: "arc", points: join(state.overlay.arc_mm.map((p) => [p[0], height - p[1]])) }, parent);
  }
  if (state.policy?.reach === false) return; // the players agreed that no one measures now
  const clip = make("g", { "clip-path": "url(#mat-clip)" }, parent);
  const x = ship.x_mm, y = height - ship.y_mm;
  const turned = make("g", { transform: `translate(${x} ${y}) rotate(${ship.heading_deg})` }, clip);
  const w = ship.width_mm / 2, l = ship.length_mm / 2;
  const turn = (ship.heading_deg * Math.PI) / 180;
  for (const r of [100, 200, 300]) {
    make("rect", { class: "ring", x: -w - r, y: -l - r, width: 2 * (w + r), height: 2 * (l + r), rx: r }, turned);
    text(clip, { class: "ringname", x: x + (l + r) * Math.sin(turn), y: y - (l + r) * Math.cos(turn) }, r / 100);
  }
}

function topLines(parent, lines, height, cls, figure, width) {
  const drawn = lines.map((line) => line.map((p) => [p[0], height - p[1]]));
  if (drawn.length === 0) return;
  if (drawn.length > 1) make("polygon", { class: `${cls} between`, points: join([drawn[0][0], drawn[0][1], drawn[1][1], drawn[1][0]]) }, parent);
  for (const line of drawn) {
    make("polyline", { class: `${cls} under`, points: join(line) }, parent);
    make("polyline", { class: `${cls} over`, points: join(line) }, parent);
  }
  if (!figure) return;
  const [x, y] = beside(drawn, 30, width);
  text(parent, { class: `figure ${cls}`, x, y }, figure);
}

// drawTop draws the table from above.
export function drawTop(svg, state, show) {
  clear(svg);
  const w = state.mat.width_mm, h = state.mat.height_mm;
  if (!(w > 0)) return;
  svg.setAttribute("data-kind", state.answer.headline.kind);
  svg.setAttribute("viewBox", `${-margin} ${-margin} ${w + 2 * margin} ${h + 2 * margin}`);
  const clip = make("clipPath", { id: "mat-clip" }, make("defs", {}, svg));
  make("rect", { width: w, height: h, rx: 6 }, clip);
  make("rect", { class: "mat", width: w, height: h, rx: 6 }, svg);
  const grid = [];
  for (let x = w / 3; x < w - 1; x += w / 3) grid.push(`M${x} 0V${h}`);
  for (let y = h / 3; y < h - 1; y += h / 3) grid.push(`M0 ${y}H${w}`);
  make("path", { class: "grid", d: grid.join("") }, svg);
  if (show.pair) topRange(svg, state, h);
  for (const rock of state.obstacles) {
    make("polygon", { class: "rock", "data-kind": rock.kind, points: join(rock.outline_mm.map((p) => [p[0], h - p[1]])) }, svg);
  }
  for (const ship of state.ships) {
    if (ship.state !== "hidden" && ship.state !== "lifted") topShip(svg, ship, h, state);
  }
  if (show.pair) topLines(svg, state.answer.lines_mm, h, "measure", mm(state.answer.distance_mm), w);
}

// Camera's view: everything was projected by the box, through the lens as it is.

// A pixel's centre is at whole numbers; the drawing's pixel 0 begins at 0.
const place = (p) => [p[0] + 0.5, p[1] + 0.5];

function stroke(parent, name, cls, points, extra) {
  const attributes = Object.assign({ points: join(points) }, extra);
  make(name, Object.assign({ class: `${cls} under` }, attributes), parent);
  make(name, Object.assign({ class: `${cls} over` }, attributes), parent);
}

function cameraShip(parent, ship, outline, unit, state) {
  const group = make("g", { class: "ship", "data-player": ship.player, "data-role": role(ship.id, state), "data-state": ship.state, "data-id": ship.id }, parent);
  stroke(group, "polygon", "outline", outline);
  const [fl, fr] = outline;
  const nose = [(fl[0] + fr[0]) / 2, (fl[1] + fr[1]) / 2];
  const x = outline.reduce((sum, p) => sum + p[0], 0) / 4, y = outline.reduce((sum, p) => sum + p[1], 0) / 4;
  const out = [nose[0] - x, nose[1] - y], length = Math.hypot(out[0], out[1]) || 1;
  const tip = 11 * unit, half = 9 * unit, ux = out[0] / length, uy = out[1] / length;
  const arrow = [
    [nose[0] + ux * tip, nose[1] + uy * tip],
    [nose[0] - uy * half, nose[1] + ux * half],
    [nose[0] + uy * half, nose[1] - ux * half],
  ];
  if (!ship.heading_quarters) stroke(group, "polygon", "nose", arrow);
  // The name stands behind the stern, where neither the arrow nor a line to the target is;
  // where that is taken next to the base, then before the arrow.
  const w = (16 * label(ship).length + 6) * unit, h = 28 * unit;
  const across = Math.hypot(fl[0] - fr[0], fl[1] - fr[1]) / 2 + w / 2 + 6 * unit;
  const [stern, bow] = [length + 20 * unit, length + 34 * unit];
  const at = (along, side) => ({ x: x + ux * along - uy * side - w / 2, y: y + uy * along + ux * side - h / 2, w, h });
  const places = [at(-stern, 0), at(0, across), at(0, -across), at(-stern, across), at(-stern, -across), at(bow, 0), at(stern, across), at(stern, -across)];
  const rank = ["attacker", "target", "other"].indexOf(role(ship.id, state));
  return { group, id: label(ship), own: boxOf(outline), places, rank, must: rank < 2 };
}

function boxOf(points) {
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
  const x = Math.min(...xs), y = Math.min(...ys);
  return { x, y, w: Math.max(...xs) - x, h: Math.max(...ys) - y };
}

// cameraNames writes the ships' names where none lies on another, on a figure or under a card.
function cameraNames(names, covers, room) {
  names.sort((a, b) => a.rank - b.rank);
  placed(names, names.map((n) => n.own), covers, room).forEach((p, i) => p && text(names[i].group, { class: "id", x: p.x + p.w / 2, y: p.y + p.h / 2 }, names[i].id));
}

// about is the room that words take in a drawing, written about a place.
const about = ([x, y], words, size) => ({ x: x - 0.31 * size * words.length, y: y - size / 2, w: 0.62 * size * words.length, h: size });

// under returns where elements of the page lie in a drawing's units.
function under(svg, elements) {
  const matrix = svg.getScreenCTM();
  if (!matrix) return [];
  return elements.map((e) => {
    const r = e.getBoundingClientRect();
    return { x: (r.left - matrix.e) / matrix.a, y: (r.top - matrix.f) / matrix.d, w: r.width / matrix.a, h: r.height / matrix.d };
  });
}

// drawCamera draws over the camera's picture. crop is the part of it that the stream
// shows: left, top, width, height in its pixels; null: all of it. cards are what lies over
// the drawing.
export function drawCamera(svg, state, show, crop, stage, cards) {
  clear(svg);
  const o = state && state.overlay;
  svg.setAttribute("data-kind", state ? state.answer.headline.kind : "none");
  if (!o || !(show.places || show.ruling)) return;
  const part = crop || [0, 0, o.width_px, o.height_px];
  svg.setAttribute("viewBox", part.join(" "));
  const unit = Math.max(part[2] / stage.width, part[3] / stage.height) * stage.scale; // camera's pixels per pixel of the stage
  svg.style.setProperty("--u", unit.toFixed(4));
  const covers = under(svg, cards);
  if (show.places && show.pair) {
    if (o.arc_px.length > 2) make("polygon", { class: "arc", points: join(o.arc_px.map(place)) }, svg);
    for (const ring of o.rings) {
      for (const part of ring.parts_px) stroke(svg, "polyline", "ring", part.map(place));
      const longest = ring.parts_px.reduce((a, b) => (b.length > a.length ? b : a), []);
      if (longest.length) {
        const [x, y] = place(longest[Math.floor(longest.length / 2)]);
        text(svg, { class: "ringname", x, y }, ring.band);
        covers.push(about([x, y], "0", 24 * unit));
      }
    }
  }
  const names = [];
  if (show.places) {
    for (const rock of o.obstacles_px) stroke(svg, "polygon", "rock", rock.map(place));
    for (const drawn of o.ships) {
      const ship = state.ships.find((s) => s.id === drawn.id);
      if (ship) names.push(cameraShip(svg, ship, drawn.outline_px.map(place), unit, state));
    }
    if (show.pair) covers.push(...lines(svg, o.lines_px, "measure", mm(state.answer.distance_mm), part, unit));
  }
  if (show.ruling) covers.push(...lines(svg, o.ruling_lines_px, "ruled", state.ruling.title, part, unit));
  cameraNames(names, covers, { x: part[0], y: part[1], w: part[2], h: part[3] });
}

// lines draws measuring lines with their figure, and returns what the figure covers.
function lines(svg, all, cls, figure, part, unit) {
  const drawn = all.map((line) => line.map(place));
  if (drawn.length === 0) return [];
  if (drawn.length > 1) make("polygon", { class: `${cls} between`, points: join(drawn[0].concat(drawn[1].slice().reverse())) }, svg);
  for (const line of drawn) {
    stroke(svg, "polyline", cls, line);
    for (const end of [line[0], line[line.length - 1]]) make("circle", { class: `${cls} end`, cx: end[0], cy: end[1], r: 5 * unit }, svg);
  }
  const [x, y] = beside(drawn, 30 * unit, part[0] + part[2]);
  text(svg, { class: `figure ${cls}`, x, y }, figure);
  return [about([x, y], figure, 34 * unit)];
}
