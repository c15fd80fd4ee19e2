// Marking bases by hand: a wire frame is dragged onto a base in a picture, twice; what is marked is answered about.

import { patience } from "/ask.js";
import { setLinked } from "/dom.js";
import { say as translated } from "/texts.js";
import { heightAt, inTable, pixelOf, pointAt } from "./camera.js";

const byId = (id) => document.getElementById(id);
const stage = byId("stage"), canvas = byId("pixels");
const top = 4; // mm, of a base over the mat
const longest = 4096; // px of a photograph's longer side, as the server takes it

let picture = null; // as the server describes it
let bitmap = null;
let view = { x: 0, y: 0, scale: 1 }; // middle of the stage in the picture, and screen pixels for each of its own
let corners = []; // of the mat, while it is calibrated, then points of its edges
let tapped = 1; // px of the picture: how exactly they were tapped, the worst of them
let frame = null; // the wire frame that is dragged: { id, base, pose, tries }
let proposal = null;
let marks = []; // { id, base, tries }
let kept = null; // what was marked in an earlier picture of the camera: { at_unix_ms, ships, from, to, arc }; null: nothing
let rocks = []; // { kind, outline_px }
let edge = null; // of an obstacle that is being marked
let answer = null;
let asking = 0;

// Talking to the server.

async function ask(path, options = {}) {
  let response, text;
  try {
    response = await fetch(path, { signal: AbortSignal.timeout(patience), ...options });
    text = await response.text();
  } catch {
    throw new Error("The program does not answer.");
  }
  if (!response.ok) throw new Error(text.trim() || `The program answers ${response.status}.`);
  return JSON.parse(text);
}

// post asks about the picture that is shown. It never returns once another is shown: nothing that comes then is about that.
async function post(path, body) {
  const { id } = picture;
  try {
    return await ask(`/api/outline/pictures/${id}/${path}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  } finally {
    if (picture.id !== id) await new Promise(() => {});
  }
}

function complain(error) {
  setLinked(byId("problem"), error ? error.message : "");
}

async function trying(work) {
  complain(null);
  try {
    await work();
  } catch (error) {
    complain(error);
  }
}

// Pictures.

let wanted = 0; // how many pictures were asked for

// bring shows the picture that was asked for last, however long the others take.
async function bring(fetching) {
  const mine = ++wanted;
  complain(null);
  let got = null, failed = null;
  try {
    got = await fetching();
  } catch (error) {
    failed = error;
  }
  if (mine !== wanted) return;
  if (failed) complain(failed);
  else show(...got);
  step();
}

const take = (from) => bring(async () => {
  say("Fetching the picture …");
  const described = await ask(`/api/outline/pictures?from=${from}`, { method: "POST" });
  const response = await fetch(`/api/outline/pictures/${described.id}/pixels`);
  if (!response.ok) throw new Error(await response.text());
  return [described, await createImageBitmap(await response.blob())];
});

// drop sends a photograph: turned as it was held, and no larger than the server takes.
const drop = (file) => bring(async () => {
  say("Reading the photograph …");
  let image;
  try {
    image = await createImageBitmap(file, { imageOrientation: "from-image" });
  } catch {
    throw new Error("This browser cannot read that file as a picture. A JPEG or PNG will do.");
  }
  const shrink = Math.min(1, longest / Math.max(image.width, image.height));
  const paper = document.createElement("canvas");
  paper.width = Math.round(image.width * shrink);
  paper.height = Math.round(image.height * shrink);
  paper.getContext("2d").drawImage(image, 0, 0, paper.width, paper.height);
  const blob = await new Promise((done) => paper.toBlob(done, "image/jpeg", 0.95));
  say("Looking for the mat's markers …");
  const described = await ask(`/api/outline/pictures?name=${encodeURIComponent(file.name)}`, { method: "POST", headers: { "Content-Type": "image/jpeg" }, body: blob, signal: AbortSignal.timeout(4 * patience) }); // some MB
  return [described, await createImageBitmap(blob)];
});

function show(described, pixels) {
  picture = described;
  bitmap = pixels;
  corners = [];
  tapped = 1;
  frame = proposal = edge = answer = null;
  marks = [];
  rocks = [];
  kept = described.kept;
  asking++;
  showAnswer();
  byId("mat-w").value = picture.mat_mm[0];
  byId("mat-h").value = picture.mat_mm[1];
  fit();
}

// What to do next.

function say(english) {
  const text = translated(english);
  if (byId("say").textContent !== text) byId("say").textContent = text;
}

const cornerNames = ["near left", "near right", "far right", "far left"];

function step() {
  byId("nothing").hidden = bitmap !== null;
  byId("desk").dataset.empty = bitmap === null;
  byId("source").textContent = picture?.source ?? "";
  const calibrated = picture?.camera != null;
  byId("mat").hidden = !picture || calibrated;
  byId("corners-done").disabled = corners.length < 4;
  byId("marking").hidden = byId("asking").hidden = !calibrated;
  byId("nudge").hidden = !frame;
  byId("all-label").hidden = picture?.obstacles_watched ?? false;
  sure();
  buttons();
  list();
  if (!picture) say("Choose a picture: what the camera shows, what is held, or a photograph of the table.");
  else if (!calibrated && corners.length < 4) say(`Tap the mat's ${cornerNames[corners.length]} corner, as player 1 sees it. Zoom in first: the nearer, the surer.`);
  else if (!calibrated) say(`Now tap two or three points of each edge: they say how the lens bends (${corners.length - 4} so far). Then use these corners.`);
  else if (edge) say(`Tap around the obstacle's upper edge (${edge.outline_px.length} points), then close it.`);
  else if (frame?.tries.length) say(`Once more: the frame was moved away. Drag it onto ${frame.id} again; the two tries say how exact it is.`);
  else if (frame) say(`Drag the frame onto ${frame.id}: its upper edge on the plastic's, its nose forward. Then keep it.`);
  else if (marks.length < 2) say(`Tap the middle of ${marks.length ? "the other ship's" : "a ship's"} base.`);
  else say(answer?.measured ? `${answer.measured}. Tap another base to mark it too.` : "Tap another base, or read the answer.");
  draw();
}

function sure() {
  const by = { table: "its table calibration", markers: "the mat's markers", corners: "the mat's corners" }[picture?.calibrated_by];
  byId("sure").textContent = !picture ? "A photograph is kept only in a ruling."
    : by ? `Calibrated by ${by}: a base is known to ${picture.sigma_mm.toFixed(2)} mm in the mat's middle, ${picture.worst_sigma_mm.toFixed(2)} mm at its worst place (1 sigma), without the hand's own error.`
    : picture.finds_markers ? "No markers were found in it: its calibration comes from the mat's corners."
    : "This program is built without OpenCV and finds no markers: the calibration comes from the mat's corners.";
}

function buttons() {
  byId("keep").disabled = byId("propose").disabled = !frame;
  byId("keep").textContent = frame?.tries.length ? "Keep the second try" : "Keep";
  byId("accept").hidden = !proposal;
  byId("cancel").hidden = !frame;
  byId("rock").hidden = edge !== null;
  byId("rock-done").hidden = edge === null;
  byId("rock-done").disabled = (edge?.outline_px.length ?? 0) < 3;
}

function row(text, label, remove) {
  const item = document.createElement("li"), name = document.createElement("span"), button = document.createElement("button");
  name.textContent = text;
  button.type = "button";
  button.textContent = "Remove";
  button.setAttribute("aria-label", label);
  button.addEventListener("click", remove);
  item.append(name, button);
  return item;
}

// before lists what was marked in an earlier picture, and not again in this one.
const before = () => (kept?.ships ?? []).filter((s) => !marks.some((m) => m.id === s.id));
const clock = () => new Date(kept.at_unix_ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

function listKept() {
  const left = before();
  byId("kept").hidden = left.length === 0;
  if (left.length === 0) return;
  byId("kept-say").textContent = translated(`Marked at ${clock()}, in an earlier picture:`);
  byId("kept-ships").replaceChildren(...left.map((s) => {
    const item = document.createElement("li");
    item.dataset.stands = s.stands;
    item.textContent = translated(s.stands ? `${s.id}: still stands there` : `${s.id}: old, ${s.why}`);
    return item;
  }));
  byId("kept-use").disabled = !left.some((s) => s.stands);
}

function list() {
  listKept();
  byId("ships").replaceChildren(...marks.map((m) => {
    const known = answer?.ships.find((s) => s.id === m.id);
    const text = `${m.id}, ${m.base}` + (known ? ` ± ${known.sigma_mm.toFixed(2)} mm, ± ${known.sigma_deg.toFixed(2)}°` : "");
    return row(text, `Remove ${m.id}`, () => { marks = marks.filter((o) => o !== m); update(); });
  }));
  byId("rocks").replaceChildren(...rocks.map((r, i) => row(`${r.kind}, ${r.outline_px.length} points`, `Remove obstacle ${i + 1}`, () => { rocks = rocks.filter((o) => o !== r); update(); })));
  const ids = [...new Set([...marks.map((m) => m.id), ...(picture?.ships ?? []).map((s) => s.id)])];
  const [from, to] = [byId("from"), byId("to")];
  const now = [from.value, to.value];
  for (const select of [from, to]) select.replaceChildren(...ids.map((id) => new Option(id, id)));
  from.value = ids.includes(now[0]) ? now[0] : (ids[0] ?? "");
  to.value = ids.includes(now[1]) && now[1] !== from.value ? now[1] : (ids.find((id) => id !== from.value) ?? "");
}

// The wire frame.

function nextID() {
  const used = [...marks.map((m) => m.id), ...(picture?.ships ?? []).map((s) => s.id)];
  const player = marks.length % 2 ? "B" : "A";
  for (let n = 1; n < 10; n++) if (!used.includes(player + n)) return player + n;
  return player + "1";
}

function place(u, v) {
  const p = pointAt(picture.camera, u, v, top);
  if (!p) return;
  const known = picture.ships.find((s) => Math.hypot(s.x_mm - p[0], s.y_mm - p[1]) < 30 && !marks.some((m) => m.id === s.id));
  if (known) {
    byId("ship").value = known.id;
    byId("size").value = known.base;
  }
  const pose = { x_mm: p[0], y_mm: p[1], heading_deg: known?.heading_deg ?? (p[1] > picture.mat_mm[1] / 2 ? 180 : 0) };
  frame = { id: byId("ship").value.trim().toUpperCase(), base: byId("size").value, pose, tries: [] };
  proposal = null;
  zoomTo(u, v);
  step();
}

// zoomTo brings a base so near that a pixel of the picture is two on the screen at least.
function zoomTo(u, v) {
  const wide = wires().flatMap((w) => w.points);
  const reach = Math.max(8, ...wide.map(([x, y]) => Math.hypot(x - u, y - v)));
  view = { x: u, y: v, scale: Math.max(2, (0.32 * Math.min(stage.clientWidth, stage.clientHeight)) / reach) };
}

// wires returns the frame's lines in the picture.
function wires(pose = frame?.pose, base = frame?.base) {
  if (!pose) return [];
  const h = heightAt(picture.camera, pose.x_mm, pose.y_mm);
  return picture.wires[base].map((w) => ({
    kind: w.kind,
    points: w.points_mm.map(([x, y, z]) => pixelOf(picture.camera, ...inTable(pose, x, y), z + h)).filter((p) => p),
  }));
}

const nudges = { left: [-0.1, 0], right: [0.1, 0], up: [0, -0.1], down: [0, 0.1], clockwise: 0.1, anticlockwise: -0.1, quarter: 90 };

// nudge moves the frame by so many mm to a side of the screen, or turns it.
function nudge(name, times = 1) {
  if (!frame) return;
  const by = nudges[name], pose = { ...frame.pose };
  if (typeof by === "number") {
    pose.heading_deg = (((pose.heading_deg + by * times) % 360) + 360) % 360;
  } else {
    const at = pixelOf(picture.camera, pose.x_mm, pose.y_mm, top);
    const there = at && pointAt(picture.camera, at[0] + Math.sign(by[0]) * 5, at[1] + Math.sign(by[1]) * 5, top);
    if (!there) return;
    const dx = there[0] - pose.x_mm, dy = there[1] - pose.y_mm, n = Math.hypot(dx, dy);
    pose.x_mm += (dx / n) * 0.1 * times;
    pose.y_mm += (dy / n) * 0.1 * times;
  }
  frame.pose = pose;
  draw();
}

// keep takes the first try and moves the frame away, so that the second is made as freely; after the second the base is marked.
function keep() {
  if (!frame) return;
  const known = /^[AB](?:[1-9]|1[0-8])$/.test(frame.id);
  complain(known ? null : new Error(`Ship: expected A1 to A18 or B1 to B18, got ${frame.id || "nothing"}.`));
  if (!known) return byId("ship").focus();
  frame.tries.push({ ...frame.pose });
  proposal = null;
  if (frame.tries.length < 2) {
    const off = () => (3 + 3 * Math.random()) * (Math.random() < 0.5 ? -1 : 1);
    frame.pose = { x_mm: frame.pose.x_mm + off(), y_mm: frame.pose.y_mm + off(), heading_deg: frame.pose.heading_deg + off() };
    step();
    return;
  }
  marks = [...marks.filter((m) => m.id !== frame.id), { id: frame.id, base: frame.base, tries: frame.tries }];
  frame = null;
  byId("ship").value = nextID();
  goToMarks();
  update();
}

// goToMarks shows all that is marked, with room about it; of one base alone the whole picture.
function goToMarks() {
  const points = marks.flatMap((m) => wires(m.tries[0], m.base).flatMap((w) => w.points));
  if (marks.length < 2 || !points.length) return fit();
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  view = { x: (x0 + x1) / 2, y: (y0 + y1) / 2, scale: 0.7 * Math.min(stage.clientWidth / (x1 - x0), stage.clientHeight / (y1 - y0)) };
  draw();
}

const propose = () => trying(async () => {
  proposal = await post("snap", { base: frame.base, ...frame.pose });
  step();
});

// takeUp marks what still stands where it was marked in an earlier picture.
function takeUp() {
  marks = [...marks, ...before().filter((s) => s.stands).map(({ id, base, tries }) => ({ id, base, tries }))];
  list();
  for (const [id, value] of [["from", kept.from], ["to", kept.to], ["arc", kept.arc]]) {
    if ([...byId(id).options].some((o) => o.value === value)) byId(id).value = value;
  }
  byId("ship").value = nextID();
  goToMarks();
  update();
}

const forget = () => trying(async () => {
  await post("answer", { ships: [], arc: byId("arc").value });
  kept = null;
  step();
});

// The answer.

const request = () => ({
  ships: marks, obstacles: rocks, all_obstacles: byId("all").checked, from: byId("from").value, to: byId("to").value, arc: byId("arc").value,
});

async function update() {
  list();
  answer = null;
  showAnswer(); // what was measured before is not said of what is marked and asked now
  const mine = ++asking;
  if (marks.length) {
    await trying(async () => {
      const got = await post("answer", request());
      if (mine === asking) answer = got;
    });
    if (mine !== asking) return;
  }
  showAnswer();
  step();
}

function showAnswer() {
  byId("measured").textContent = answer?.measured || (answer?.reason && marks.length > 1 ? answer.reason : "");
  byId("verdicts").replaceChildren(...(answer?.verdicts ?? []).filter((v, i) => i < 4 || v.key === "range").map((v) => {
    const item = document.createElement("li"), title = document.createElement("b"), text = document.createElement("small");
    item.dataset.key = v.key;
    item.dataset.outcome = v.outcome;
    title.textContent = `${v.name}: ${v.title}`;
    const sigma = v.sigma_mm === null ? "" : ` Margin ${Math.abs(v.margin_mm).toFixed(1)} mm, sigma ${v.sigma_mm.toFixed(2)} mm.`;
    text.textContent = v.text + sigma + (v.decide ? ` ${v.decide}` : "");
    item.append(title, text);
    return item;
  }));
  byId("hold").disabled = !answer?.measured && !answer?.withheld;
}

const hold = () => trying(async () => {
  const held = await post("hold", request());
  location.href = held.judge;
});

// Drawing.

function fit() {
  const w = picture?.width ?? 16, h = picture?.height ?? 9;
  view = { x: w / 2, y: h / 2, scale: Math.min(stage.clientWidth / w, stage.clientHeight / h) };
  draw();
}

const toScreen = ([u, v]) => [stage.clientWidth / 2 + (u + 0.5 - view.x) * view.scale, stage.clientHeight / 2 + (v + 0.5 - view.y) * view.scale];
const toPicture = (x, y) => [(x - stage.clientWidth / 2) / view.scale + view.x - 0.5, (y - stage.clientHeight / 2) / view.scale + view.y - 0.5];

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function stroke(c, points, style, width, dash = []) {
  if (points.length < 2) return;
  for (const [ink, more] of [["rgb(0 0 0 / .6)", 2], [style, 0]]) {
    c.beginPath();
    points.map(toScreen).forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.setLineDash(dash);
    c.strokeStyle = ink;
    c.lineWidth = width + more;
    c.stroke();
  }
}

function drawFrame(c, lines, ink, thin, dash) {
  for (const w of lines) {
    const width = w.kind === "top" ? thin + 0.5 : w.kind === "foot" || w.kind === "edge" ? 0.8 : thin;
    stroke(c, w.points, ink, width, w.kind === "arc" ? [6, 4] : dash);
  }
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.round(stage.clientWidth * ratio), h = Math.round(stage.clientHeight * ratio);
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const c = canvas.getContext("2d");
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.clearRect(0, 0, w, h);
  byId("zoom").textContent = `${Math.round(view.scale * 100)} %`;
  if (!bitmap) return;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.imageSmoothingEnabled = view.scale * ratio < 1.5; // enlarged, a pixel stays a square
  const [x, y] = toScreen([-0.5, -0.5]);
  c.drawImage(bitmap, x, y, bitmap.width * view.scale, bitmap.height * view.scale);
  corners.forEach((p, i) => cross(c, p, i < 4 ? translated(cornerNames[i]) : ""));
  for (const m of marks) {
    drawFrame(c, wires(m.tries[m.tries.length - 1], m.base), color(m.id.startsWith("A") ? "--picture-player1" : "--picture-player2"), 1, []);
    const at = pixelOf(picture.camera, m.tries[0].x_mm, m.tries[0].y_mm, top);
    if (at) label(c, at, m.id);
  }
  for (const s of before()) { // never as what is marked now: dashed, with its time
    drawFrame(c, wires(s.tries[0], s.base), color(s.stands ? "--picture-good" : "--picture-ghost"), 0.8, [2, 5]);
    const at = pixelOf(picture.camera, s.tries[0].x_mm, s.tries[0].y_mm, top);
    if (at) label(c, at, `${s.id} ${clock()}`);
  }
  for (const r of [...rocks, ...(edge ? [edge] : [])]) stroke(c, r === edge ? r.outline_px : [...r.outline_px, r.outline_px[0]], color("--picture-good"), 1.5);
  const range = answer?.verdicts.find((v) => v.lines_px.length);
  for (const line of range?.lines_px ?? []) stroke(c, line, color("--on-picture"), 2.5);
  if (proposal) drawFrame(c, wires(proposal), color("--picture-good"), 1, [4, 4]);
  if (frame) {
    drawFrame(c, wires(), color("--picture-ghost"), 1.2, []);
    const handle = handleAt();
    if (handle) {
      c.setLineDash([]);
      c.beginPath();
      c.arc(...toScreen(handle), 9, 0, 2 * Math.PI);
      c.fillStyle = "rgb(0 0 0 / .5)";
      c.strokeStyle = color("--picture-ghost");
      c.lineWidth = 2;
      c.fill();
      c.stroke();
    }
  }
}

function cross(c, p, name) {
  const [x, y] = toScreen(p);
  stroke(c, [toPicture(x - 9, y), toPicture(x + 9, y)], color("--picture-good"), 1.5);
  stroke(c, [toPicture(x, y - 9), toPicture(x, y + 9)], color("--picture-good"), 1.5);
  if (name) label(c, toPicture(x + 14, y - 12), name);
}

function label(c, p, text) {
  const [x, y] = toScreen(p);
  c.setLineDash([]);
  c.font = "600 14px system-ui, sans-serif";
  c.textAlign = "center";
  c.lineWidth = 4;
  c.strokeStyle = color("--under-picture");
  c.fillStyle = color("--on-picture");
  c.strokeText(text, x, y);
  c.fillText(text, x, y);
}

// handleAt is the handle that turns the frame, ahead of its nose.
function handleAt() {
  const size = Math.max(...picture.wires[frame.base].flatMap((w) => w.points_mm.map((p) => p[1])));
  return pixelOf(picture.camera, ...inTable(frame.pose, 0, size + 12), top);
}

// Pointers: inside the frame they drag it, on its handle they turn it, elsewhere they move the view; a tap marks.

const pointers = new Map();
let drag = null;

const at = (event) => {
  const box = stage.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

function grab(x, y) {
  if (!frame) return "pan";
  const handle = handleAt();
  if (handle) {
    const [hx, hy] = toScreen(handle);
    if (Math.hypot(hx - x, hy - y) < 22) return "turn";
  }
  const p = pointAt(picture.camera, ...toPicture(x, y), top);
  const reach = Math.max(...picture.wires[frame.base].flatMap((w) => w.points_mm.map((q) => Math.hypot(q[0], q[1]))));
  return p && Math.hypot(p[0] - frame.pose.x_mm, p[1] - frame.pose.y_mm) < reach ? "move" : "pan";
}

stage.addEventListener("pointerdown", (event) => {
  if (!bitmap) return;
  stage.setPointerCapture(event.pointerId);
  const [x, y] = at(event);
  pointers.set(event.pointerId, [x, y]);
  drag = { kind: pointers.size > 1 ? "pinch" : grab(x, y), from: [x, y], last: [x, y], moved: false, view: { ...view } };
  if (pointers.size > 1) drag.spread = spread();
});

const spread = () => {
  const [a, b] = [...pointers.values()];
  return { d: Math.hypot(a[0] - b[0], a[1] - b[1]), x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2 };
};

stage.addEventListener("pointermove", (event) => {
  if (!drag || !pointers.has(event.pointerId)) return;
  const [x, y] = at(event);
  pointers.set(event.pointerId, [x, y]);
  if (Math.hypot(x - drag.from[0], y - drag.from[1]) > 5) drag.moved = true;
  if (drag.kind === "pinch" && pointers.size > 1) {
    const now = spread();
    zoom(now.d / drag.spread.d, now.x, now.y);
    drag.spread = now;
  } else if (drag.moved && drag.kind === "pan") {
    view.x -= (x - drag.last[0]) / view.scale;
    view.y -= (y - drag.last[1]) / view.scale;
  } else if (drag.moved && frame) {
    const p = pointAt(picture.camera, ...toPicture(x, y), top), q = pointAt(picture.camera, ...toPicture(...drag.last), top);
    if (p && q && drag.kind === "move") frame.pose = { ...frame.pose, x_mm: frame.pose.x_mm + p[0] - q[0], y_mm: frame.pose.y_mm + p[1] - q[1] };
    if (p && drag.kind === "turn") frame.pose = { ...frame.pose, heading_deg: ((Math.atan2(p[0] - frame.pose.x_mm, p[1] - frame.pose.y_mm) * 180) / Math.PI + 360) % 360 };
  }
  drag.last = [x, y];
  draw();
});

for (const kind of ["pointerup", "pointercancel"]) {
  stage.addEventListener(kind, (event) => {
    const was = drag;
    pointers.delete(event.pointerId);
    if (pointers.size === 0) drag = null;
    if (kind === "pointerup" && was && !was.moved && was.kind !== "pinch") tap(...toPicture(...at(event)), event.pointerType === "touch" ? 4 : 1);
  });
}

// tap marks a place; a mouse points to a pixel of the screen, a finger to four.
function tap(u, v, screen) {
  if (!picture) return;
  const sigma = Math.max(1, screen / view.scale);
  if (!picture.camera) {
    corners.push([u, v]);
    tapped = Math.max(tapped, sigma);
  } else if (edge) {
    edge.outline_px.push([u, v]);
    edge.sigma_px = Math.max(edge.sigma_px, sigma);
  }
  else if (!frame) return place(u, v);
  step();
}

function zoom(factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
  const before = toPicture(x, y);
  const least = 0.5 * Math.min(stage.clientWidth / (picture?.width ?? 1), stage.clientHeight / (picture?.height ?? 1));
  view.scale = Math.min(Math.max(view.scale * factor, least), 40);
  const after = toPicture(x, y);
  view.x += before[0] - after[0];
  view.y += before[1] - after[1];
  draw();
}

stage.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(-event.deltaY / 400), ...at(event));
}, { passive: false });

const keys = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", ".": "clockwise", ",": "anticlockwise", ":": "clockwise", ";": "anticlockwise", "<": "anticlockwise", ">": "clockwise" };

stage.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key in keys) nudge(keys[event.key], event.shiftKey ? 10 : 1);
  else if (event.key === "+") zoom(1.25);
  else if (event.key === "-") zoom(0.8);
  else if (event.key === "0") fit();
  else if (event.key === "Enter" && frame) keep();
  else if (event.key === "Escape" && frame) byId("cancel").click();
  else return;
  event.preventDefault();
});

// Buttons.

byId("take-live").addEventListener("click", () => take("live"));
byId("take-held").addEventListener("click", () => take("held"));
byId("photo").addEventListener("change", (event) => {
  if (event.target.files[0]) drop(event.target.files[0]);
  event.target.value = ""; // so that the same file can be chosen again
});
stage.addEventListener("dragover", (event) => { event.preventDefault(); stage.classList.add("over"); });
stage.addEventListener("dragleave", () => stage.classList.remove("over"));
stage.addEventListener("drop", (event) => {
  event.preventDefault();
  stage.classList.remove("over");
  if (event.dataTransfer.files[0]) drop(event.dataTransfer.files[0]);
});
byId("corner-undo").addEventListener("click", () => {
  corners.pop();
  if (!corners.length) tapped = 1;
  step();
});
byId("mat").addEventListener("submit", async (event) => {
  event.preventDefault();
  await trying(async () => {
    picture = await post("calibration", { corners_px: corners, sigma_px: tapped, mat_mm: [Number(byId("mat-w").value), Number(byId("mat-h").value)] });
    corners = [];
  });
  step();
});
byId("zoom-in").addEventListener("click", () => zoom(1.25));
byId("zoom-out").addEventListener("click", () => zoom(0.8));
byId("go-all").addEventListener("click", fit);
for (const button of document.querySelectorAll("[data-nudge]")) button.addEventListener("click", () => nudge(button.dataset.nudge));
byId("base").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["ship", "size"]) {
  byId(id).addEventListener("change", () => {
    if (frame) Object.assign(frame, { id: byId("ship").value.trim().toUpperCase(), base: byId("size").value });
    step();
  });
}
byId("keep").addEventListener("click", keep);
byId("cancel").addEventListener("click", () => { frame = proposal = null; fit(); step(); });
byId("propose").addEventListener("click", propose);
byId("accept").addEventListener("click", () => { frame.pose = proposal; proposal = null; step(); });
byId("rock").addEventListener("click", () => { edge = { kind: byId("kind").value, outline_px: [], sigma_px: 1 }; frame = null; step(); });
byId("rock-done").addEventListener("click", () => { rocks.push(edge); edge = null; update(); });
for (const id of ["from", "to", "arc", "all"]) byId(id).addEventListener("change", update);
byId("ask").addEventListener("submit", (event) => event.preventDefault());
byId("hold").addEventListener("click", hold);
byId("kept-use").addEventListener("click", takeUp);
byId("kept-forget").addEventListener("click", forget);
new ResizeObserver(() => draw()).observe(stage);

// The page may be asked for a picture by its address: /outline?from=held.
const from = new URLSearchParams(location.search).get("from");
if (from === "live" || from === "held") take(from);
else step();

// For tests: the same camera as Go's.
Object.assign(window, { sightlineOutline: { pixelOf, pointAt, inTable, state: () => ({ picture, frame, marks, answer, view }), toScreen, set: (pose) => { frame.pose = pose; draw(); } } });
