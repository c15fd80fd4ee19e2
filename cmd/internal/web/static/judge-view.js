// The view into the pixels: the held picture, or the table from above, with everything
// that was measured drawn over it. All shapes come projected from the server. Zooming in
// fetches the part that is looked at in full resolution; enlarged, a pixel stays a square.

import { byId, set, setText, svg } from "./dom.js";
import { around, placed } from "./labels.js";
import { Quiet } from "./live.js";

const stage = byId("stage");
const canvas = byId("pixels");
const drawing = byId("shapes");
const most = 2 ** 21; // pixels in one part of the picture that the server gives out
const patience = 15000; // ms for one picture
const late = 3000; // ms; an older live picture is not shown as one

let above = false;
let judgement = null;
let live = null; // the state, while nothing is held
let chosen = null; // the verdict whose lines are thick
let onPick = () => {};
let view = { x: 0, y: 0, scale: 1 }; // middle of the stage in the world, and screen pixels per unit
let shownPart = "all"; // what goTo brought into view; "": it was moved by hand, and stays where it is
let base = null; // the whole picture, small: { held, key, bitmap, rect }; held is its number, 0 of a live one
let part = null; // the part looked at, in full resolution
let timer = 0;
let asked = "";

// The world is the picture's pixels, with centres at whole numbers, or the table's
// millimetres with y turned round, as a drawing wants it.
const place = ([x, y]) => (above ? [x, matHeight() - y] : [x + 0.5, y + 0.5]);
const matHeight = () => (judgement ?? live)?.mat.height_mm ?? 0;

// whole is all that there is to see: left, top, width, height.
function whole() {
  const now = judgement ?? live;
  if (!now) return [0, 0, 16, 9];
  if (above) return [-30, -30, now.mat.width_mm + 60, now.mat.height_mm + 60];
  return now.picture?.region_px ?? [0, 0, 16, 9];
}

const size = () => [stage.clientWidth || 1, stage.clientHeight || 1];

// fit shows a rectangle of the world with some room about it.
function fit([x, y, w, h], room = 1) {
  const [sw, sh] = size();
  view = { x: x + w / 2, y: y + h / 2, scale: Math.min(sw / (w * room), sh / (h * room)) };
  draw();
}

function boxOf(shapes) {
  const points = shapes.flatMap((s) => (above ? s.mm : s.px)).map(place);
  if (!points.length) return null;
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
  const x = Math.min(...xs), y = Math.min(...ys);
  return [x, y, Math.max(Math.max(...xs) - x, 1), Math.max(Math.max(...ys) - y, 1)];
}

const bases = (...ids) => (judgement?.shapes ?? []).filter((s) => s.kind === "base" && ids.includes(s.id));

// goTo brings a part into view: all, pair, line, from, to.
export function goTo(what) {
  const choice = judgement?.choice ?? {};
  const shapes = {
    pair: () => bases(choice.from, choice.to),
    from: () => bases(choice.from),
    to: () => bases(choice.to),
    line: () => (judgement?.shapes ?? []).filter((s) => s.kind === "line" && s.id === (chosen?.key.replace("_obstruction", "_attack") ?? "range")),
  }[what]?.();
  const box = shapes && boxOf(shapes);
  shownPart = what;
  if (box) fit(box, what === "pair" ? 1.35 : 1.5);
  else fit(whole(), 1);
}

// followPair brings the pair into view, unless both of its ships are.
export function followPair() {
  const choice = judgement?.choice ?? {}, box = boxOf(bases(choice.from, choice.to));
  if (!box) return;
  const [w, h] = size().map((side) => side / view.scale / 2);
  if (box[0] < view.x - w || box[1] < view.y - h || box[0] + box[2] > view.x + w || box[1] + box[3] > view.y + h) goTo("pair");
}

const limits = () => {
  const [sw, sh] = size();
  const [, , w, h] = whole();
  return [0.5 * Math.min(sw / w, sh / h), above ? 40 : 64];
};

// zoom enlarges by a factor about a point of the stage.
function zoom(factor, [px, py] = size().map((n) => n / 2)) {
  const [sw, sh] = size();
  const [least, greatest] = limits();
  const scale = Math.min(Math.max(view.scale * factor, least), greatest);
  const wx = view.x + (px - sw / 2) / view.scale, wy = view.y + (py - sh / 2) / view.scale;
  view = { x: wx - (px - sw / 2) / scale, y: wy - (py - sh / 2) / scale, scale };
  shownPart = "";
  draw();
}

function pan(dx, dy) {
  const [x, y, w, h] = whole();
  view.x = Math.min(Math.max(view.x - dx / view.scale, x), x + w);
  view.y = Math.min(Math.max(view.y - dy / view.scale, y), y + h);
  shownPart = "";
  draw();
}

// Drawing.

// fits reports whether a picture is that of the outlines over it, and not of what was shown before.
const fits = (image) => image !== null && image.held === (judgement?.held ?? 0);

function drawPixels() {
  const ratio = window.devicePixelRatio || 1;
  const [sw, sh] = size();
  set(canvas, { width: Math.round(sw * ratio), height: Math.round(sh * ratio) });
  const c = canvas.getContext("2d");
  c.clearRect(0, 0, canvas.width, canvas.height);
  byId("nothing").hidden = above || fits(base);
  if (above) return;
  for (const image of [base, part]) {
    if (!fits(image)) continue;
    const [x, y, w, h] = image.rect;
    // Enlarged, each pixel of the camera is a square with sharp edges: nothing is invented between them.
    c.imageSmoothingEnabled = view.scale * ratio < 1.5;
    c.drawImage(image.bitmap, ratio * (sw / 2 + (x - view.x) * view.scale), ratio * (sh / 2 + (y - view.y) * view.scale), ratio * w * view.scale, ratio * h * view.scale);
  }
}

function draw() {
  const [sw, sh] = size();
  const w = sw / view.scale, h = sh / view.scale;
  set(drawing, { viewBox: `${view.x - w / 2} ${view.y - h / 2} ${w} ${h}` });
  drawing.style.setProperty("--u", (1 / view.scale).toFixed(5));
  drawNames();
  drawPixels();
  setText(byId("zoom"), above ? `${view.scale.toFixed(1)} px/mm` : `${Math.round(100 * view.scale)} %`);
  clearTimeout(timer);
  if (!above && judgement) timer = setTimeout(fetchPart, 160);
}

async function bitmapOf(address) {
  const answer = await fetch(address, { signal: AbortSignal.timeout(patience) });
  if (!answer.ok) throw new Error(await answer.text());
  return createImageBitmap(await answer.blob());
}

const gray = () => (byId("gray").checked ? "&gray=1" : "");

// stepFor is the smallest halving at which a rectangle may be fetched.
function stepFor(w, h, wanted) {
  let step = 1;
  while (step < 8 && (step * 2 <= wanted || (w * h) / step / step > most)) step *= 2;
  return step;
}

const parted = (rect, step) => rect.map((n, i) => (i < 2 ? n : Math.floor(n / step) * step));

async function fetchBase() {
  const [x, y, w, h] = whole();
  const step = stepFor(w, h, (2 * w) / 1000); // at most 1000 pixels wide: soon there, and the part looked at follows
  const rect = parted([x, y, w, h], step);
  const { held } = judgement;
  const key = `${held}${gray()}`;
  if (base?.key === key || asked === key) return;
  asked = key;
  try {
    const bitmap = await bitmapOf(`/api/held.png?held=${held}&x=${rect[0]}&y=${rect[1]}&w=${rect[2]}&h=${rect[3]}&step=${step}${gray()}`);
    if (asked !== key) return; // something else is looked at since
    base = { held, key, bitmap, rect, step };
    part = null;
    draw();
  } catch {
    if (asked === key) asked = ""; // the next state asks again, or says that something else is held
  }
}

// fetchPart fetches what is looked at in full resolution, where the whole picture is coarser.
async function fetchPart() {
  if (!judgement || above || !base || base.key !== `${judgement.held}${gray()}`) return;
  const ratio = window.devicePixelRatio || 1;
  const [sw, sh] = size();
  const [x, y, w, h] = whole();
  const left = Math.max(Math.floor(view.x - sw / 2 / view.scale), x), top = Math.max(Math.floor(view.y - sh / 2 / view.scale), y);
  const right = Math.min(Math.ceil(view.x + sw / 2 / view.scale), x + w), bottom = Math.min(Math.ceil(view.y + sh / 2 / view.scale), y + h);
  if (right - left < 8 || bottom - top < 8) return;
  const step = stepFor(right - left, bottom - top, 1 / (view.scale * ratio));
  if (step >= base.step) {
    part = null;
    return;
  }
  const inside = part?.key === base.key && part.step <= step && part.rect[0] <= left && part.rect[1] <= top && part.rect[0] + part.rect[2] >= right && part.rect[1] + part.rect[3] >= bottom;
  if (inside) return;
  const rect = parted([left, top, right - left, bottom - top], step);
  const { key } = base, { held } = judgement;
  try {
    const bitmap = await bitmapOf(`/api/held.png?held=${held}&x=${rect[0]}&y=${rect[1]}&w=${rect[2]}&h=${rect[3]}&step=${step}${gray()}`);
    if (base?.key !== key) return;
    part = { held, key, bitmap, rect, step };
    drawPixels();
  } catch {
    // The coarser picture stays.
  }
}

function path(shape) {
  const points = (above ? shape.mm : shape.px).map(place);
  if (!points.length) return "";
  return `M${points.map((p) => p.join(" ")).join("L")}${shape.closed ? "Z" : ""}`;
}

const order = ["mat", "unknown", "obstacle", "arc", "base", "side", "nose", "band", "line"];

// lineState says whether a line belongs to the verdict that the judge looks at.
function lineState(shape) {
  const key = chosen?.key.replace("_obstruction", "_attack");
  return key === shape.id ? "chosen" : "other";
}

function drawShapes() {
  drawing.replaceChildren();
  if (above) drawGrid();
  if (!byId("drawn").checked) return;
  const choice = judgement?.choice ?? live?.choice ?? {};
  const shapes = judgement?.shapes ?? liveShapes();
  for (const kind of order) {
    for (const shape of shapes.filter((s) => s.kind === kind)) {
      const d = path(shape);
      if (!d) continue;
      const state = kind === "line" || kind === "band" ? lineState(shape) : shape.state;
      const role = shape.id === choice.from ? "attacker" : shape.id === choice.to ? "target" : null;
      const attributes = { d, "data-kind": kind, "data-state": state, "data-player": shape.player || null, "data-role": role };
      if (kind === "line" || kind === "arc" || kind === "side") svg("path", { ...attributes, class: "under" }, drawing);
      const element = svg("path", attributes, drawing);
      if (kind === "base") element.dataset.ship = shape.id;
    }
  }
  drawNames();
}

// drawNames writes the names, those of the pair first, where each can be read as that of
// its own base; they keep their size, so every zoom writes them again.
function drawNames() {
  for (const old of drawing.querySelectorAll("text")) old.remove();
  if (!byId("drawn").checked) return;
  const choice = judgement?.choice ?? live?.choice ?? {};
  const rank = (s) => (s.id === choice.from ? 0 : s.id === choice.to ? 1 : s.kind === "base" ? 2 : 3);
  const [sw, sh] = size(), unit = 1 / view.scale;
  const room = { x: view.x - (sw / 2) * unit, y: view.y - (sh / 2) * unit, w: sw * unit, h: sh * unit };
  const bases = [], names = [];
  for (const shape of (judgement?.shapes ?? liveShapes()).filter((s) => s.kind === "base" || s.kind === "obstacle").sort((a, b) => rank(a) - rank(b))) {
    const box = boxOf([shape]);
    if (!box) continue;
    const own = { x: box[0], y: box[1], w: box[2], h: box[3] };
    if (shape.kind === "base") bases.push(own);
    names.push({ shape, own, must: rank(shape) < 2, places: around(own, (10 * shape.id.length + 4) * unit, 19 * unit, unit) });
  }
  placed(names, bases, [], room).forEach((at, i) => {
    const { shape } = names[i];
    if (!at) return; // there is room for it once one zooms in
    svg("text", { x: at.x + at.w / 2, y: at.y + at.h / 2, "data-kind": shape.kind }, drawing).textContent = shape.id;
  });
}

function drawGrid() {
  const mat = (judgement ?? live)?.mat;
  if (!mat) return;
  svg("rect", { "data-kind": "ground", width: mat.width_mm, height: mat.height_mm }, drawing);
  let lines = "";
  for (let x = 100; x < mat.width_mm; x += 100) lines += `M${x} 0V${mat.height_mm}`;
  for (let y = 100; y < mat.height_mm; y += 100) lines += `M0 ${mat.height_mm - y}H${mat.width_mm}`;
  svg("path", { "data-kind": "grid", d: lines }, drawing);
}

// liveShapes are the outlines while nothing is held.
function liveShapes() {
  return (live?.ships ?? []).map((s) => {
    const turn = (s.heading_deg * Math.PI) / 180;
    const at = (x, y) => [s.x_mm + x * Math.cos(turn) + y * Math.sin(turn), s.y_mm - x * Math.sin(turn) + y * Math.cos(turn)];
    const w = s.width_mm / 2, l = s.length_mm / 2;
    return { kind: "base", id: s.id, player: s.player, state: s.state, closed: true, mm: [at(-w, l), at(w, l), at(w, -l), at(-w, -l)], px: s.outline_px };
  });
}

let livePicture = 0; // the number of the live picture that is shown; 0: none
let newest = new Quiet(); // since it was the newest
let fetching = false;
let fetched = -Infinity; // when one was fetched, by performance.now()

async function fetchLive() {
  const seq = live.picture?.seq;
  if (!seq || seq === livePicture || fetching || performance.now() - fetched < 900) return;
  fetching = true;
  fetched = performance.now();
  const begun = new Quiet(), rect = whole();
  try {
    const bitmap = await bitmapOf(`/api/picture.jpg?seq=${seq}`);
    if (!live) return;
    base = { held: 0, key: "live", bitmap, rect, step: 1 };
    [livePicture, newest] = [seq, begun];
    part = null;
    draw();
  } catch {
    // The next state asks again.
  } finally {
    fetching = false;
  }
}

// liveText says that what is seen is live, or how old the picture is where a slow network keeps it behind the table.
function liveText() {
  if (livePicture === live.picture?.seq) newest.heard();
  const age = newest.for();
  return livePicture !== 0 && age > late ? `The picture is ${Math.round(age / 1000)} s old` : "Live view: hold the picture to judge it.";
}

// showHeld shows a judgement, with the lines of a verdict thick.
export function showHeld(now, verdict) {
  live = null;
  judgement = now;
  chosen = verdict;
  drawShapes();
  draw();
  fetchBase();
  byId("gray-label").hidden = false;
  setText(byId("stage-text"), "Wheel or pinch to zoom, drag to move; press on two ships to choose the pair. Lines and outlines lie where the calibrated lens puts them, at the height of the bases' tops.");
}

// showLive shows the live picture: what would be held.
export function showLive(state) {
  const first = live === null;
  if (judgement) {
    base = part = null;
    asked = "";
    livePicture = 0;
  }
  judgement = null;
  chosen = null;
  live = state;
  byId("gray-label").hidden = true;
  if (first) goTo("all");
  drawShapes();
  fetchLive();
  setText(byId("stage-text"), liveText());
}

// Pointers: one moves the view, two pinch it, a press that does not move chooses a ship.

const pointers = new Map();
let pressed = null;

function down(event) {
  if (event.button > 0) return;
  stage.setPointerCapture(event.pointerId);
  const box = stage.getBoundingClientRect();
  pointers.set(event.pointerId, [event.clientX - box.left, event.clientY - box.top]);
  pressed = pointers.size === 1 ? { x: event.clientX, y: event.clientY, ship: event.target.dataset?.ship } : null;
}

function move(event) {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const box = stage.getBoundingClientRect();
  const now = [event.clientX - box.left, event.clientY - box.top];
  if (pressed && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > 6) pressed = null;
  if (pointers.size === 1 && !pressed) pan(now[0] - before[0], now[1] - before[1]);
  if (pointers.size === 2) {
    const other = [...pointers.entries()].find(([id]) => id !== event.pointerId)[1];
    const reach = (p) => Math.max(1, Math.hypot(p[0] - other[0], p[1] - other[1]));
    zoom(reach(now) / reach(before), [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
  }
  if (pointers.size !== 1 || !pressed) pointers.set(event.pointerId, now);
}

function up(event) {
  pointers.delete(event.pointerId);
  if (pressed?.ship && event.type === "pointerup") onPick(pressed.ship);
  pressed = null;
}

const keys = {
  ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60),
  "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: () => goTo("all"), 1: () => goTo("pair"),
};

function show(which) {
  above = which;
  byId("show-picture").setAttribute("aria-pressed", !above);
  byId("show-above").setAttribute("aria-pressed", above);
  stage.classList.toggle("above", above);
  drawShapes();
  goTo(judgement?.choice.from && judgement.choice.to ? "pair" : "all");
}

// startView begins to listen; pick is called with a ship that was pressed.
export function startView(pick) {
  onPick = pick;
  stage.addEventListener("pointerdown", down);
  stage.addEventListener("pointermove", move);
  stage.addEventListener("pointerup", up);
  stage.addEventListener("pointercancel", up);
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = stage.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0018)), [event.clientX - box.left, event.clientY - box.top]);
  }, { passive: false });
  stage.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  byId("zoom-in").addEventListener("click", () => zoom(1.5));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
  for (const what of ["all", "pair", "line", "from", "to"]) byId(`go-${what}`).addEventListener("click", () => goTo(what));
  byId("show-picture").addEventListener("click", () => show(false));
  byId("show-above").addEventListener("click", () => show(true));
  byId("drawn").addEventListener("change", drawShapes);
  byId("gray").addEventListener("change", () => judgement && fetchBase());
  new ResizeObserver(() => (shownPart ? goTo(shownPart) : draw())).observe(stage);
}
