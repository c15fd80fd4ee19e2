// The page on which a streamer chooses an overlay, sees it and takes its address.

import { patience, send } from "/ask.js";
import { beyond } from "/overlay-gate.js";

const byId = (id) => document.getElementById(id);
const options = byId("options"), match = byId("match");
const defaults = { view: "top", pos: "", theme: "dark", scale: "1", opacity: "1", ttl: "12", crop: "" };
let token = "";
let shown = "";
let drawn = null; // what the state says of the camera's picture

// chosen returns the options that differ from their defaults.
function chosen() {
  const q = new URLSearchParams();
  for (const key of Object.keys(defaults)) {
    const field = options.elements[key];
    if (field.value !== defaults[key] && field.value !== "" && field.checkValidity()) q.set(key, field.value);
  }
  return q;
}

// expected says what a field takes, where the browser's own words would not.
const expected = { crop: "left,top,width,height in pixels, such as 420,0,1080,1080" };

// refuse says aloud what cannot be meant: the overlay leaves it out.
async function refuse(path) {
  const problems = [];
  for (const key of Object.keys(defaults)) {
    const field = options.elements[key];
    if (!field.checkValidity()) problems.push(`${key}: expected ${expected[key] || `${field.min} to ${field.max}`}, got ${field.value || "nothing"}`);
  }
  if (!problems.length) {
    const answer = await fetch(path, { method: "HEAD" }).catch(() => null);
    const said = answer && answer.headers.get("Sightline-Overlay-Problem");
    if (said) problems.push(said);
  }
  const outside = problems.length ? "" : beyond(options.elements.crop.value ? options.elements.crop.value.split(",").map(Number) : null, drawn);
  const text = problems.length ? `${problems.join("; ")}. The overlay leaves it out.` : outside ? `${outside}. The overlay draws nothing over the camera.` : "";
  if (byId("problem").textContent !== text) byId("problem").textContent = text;
}

function address(path, q) {
  const text = q.toString().replace(/%2C/g, ",");
  return path + (text ? `?${text}` : "");
}

function show() {
  const widget = options.elements.widget.value;
  for (const field of options.querySelectorAll("input[type=range]")) field.nextElementSibling.textContent = field.value;
  const q = chosen();
  if (token) q.set("token", token);
  byId("address").value = location.origin + address(`/overlay/${widget}`, q);
  const file = new URLSearchParams(q);
  file.set("widget", widget);
  byId("bootstrap").href = address("/overlay/bootstrap.html", file);

  const preview = new URLSearchParams(q);
  const demo = document.querySelector("input[name=what]:checked").value === "demo";
  if (demo) preview.set("demo", "1");
  if (byId("debug").checked) preview.set("debug", "1");
  const ground = document.querySelector("input[name=ground]:checked").value;
  byId("frame").dataset.ground = ground;
  byId("ground").hidden = ground !== "camera";
  if (ground === "camera" && !preview.has("crop")) preview.set("region", "1"); // the box's picture is cut to the mat
  const next = address(`/overlay/${widget}`, preview);
  // The demo's ships are not where the camera sees this table's.
  byId("preview-note").textContent =
    !demo || q.get("view") !== "camera" ? "" : ground === "camera" ? "The demo does not fit this camera's picture: choose the table now." : "The demo's camera is made up.";
  refuse(address(`/overlay/${widget}`, q));
  if (next !== shown) {
    shown = next;
    byId("shown").src = next;
  }
}

function fit() {
  byId("shown").style.transform = `scale(${byId("frame").clientWidth / 1920})`;
}

// The camera's picture under the preview, now and then.
function turnGround() {
  const image = byId("ground");
  if (!image.hidden) image.src = `/api/picture.jpg?at=${Date.now()}`;
}

async function copy() {
  const field = byId("address");
  field.select();
  let done = false;
  if (navigator.clipboard) done = await navigator.clipboard.writeText(field.value).then(() => true, () => false);
  if (!done) done = document.execCommand("copy"); // pages without TLS have no clipboard
  byId("copied").textContent = done ? "Copied." : "Copy it by hand: it is selected.";
}

// Match.

const fields = { name: "name", score: "score", squad: "squad_points" };
let written = ""; // the match as the form shows it

function fillMatch(m) {
  const text = JSON.stringify(m);
  if (text === written || match.contains(document.activeElement)) return;
  written = text;
  match.elements.title.value = m.title;
  match.elements.round.value = m.round;
  m.sides.forEach((side, i) => Object.keys(fields).forEach((f) => (match.elements[`${f}-${i}`].value = side[fields[f]])));
}

async function sendMatch() {
  const side = (i) => ({ name: match.elements[`name-${i}`].value, score: Number(match.elements[`score-${i}`].value), squad_points: Number(match.elements[`squad-${i}`].value) });
  const body = { title: match.elements.title.value, round: match.elements.round.value, sides: [side(0), side(1)] };
  const said = byId("match-said");
  try {
    const answer = await send("/api/match", body, "PATCH");
    said.textContent = answer.ok ? "It is shown." : await answer.text();
    said.dataset.bad = !answer.ok;
  } catch (error) {
    said.textContent = "The program does not answer.";
    said.dataset.bad = true;
  }
}

match.addEventListener("submit", (event) => {
  event.preventDefault();
  sendMatch();
});
match.addEventListener("click", (event) => {
  const step = event.target.dataset.step;
  if (!step) return;
  const field = match.elements[`score-${event.target.dataset.side}`];
  field.value = Math.max(0, Math.min(999, Number(field.value) + Number(step)));
  sendMatch();
});

async function begin() {
  const state = await fetch("/api/state").then((r) => (r.ok ? r.json() : null), () => null);
  if (state) fillMatch(state.match);
  drawn = state && (state.overlay || state.picture);
  const answer = await fetch("/overlay/token", { method: "POST", signal: AbortSignal.timeout(patience) }).then((r) => (r.ok ? r.json() : null), () => null);
  if (answer && answer.needed) {
    token = answer.token;
    byId("token-line").hidden = false;
  }
  show();
}

options.addEventListener("input", show);
for (const input of document.querySelectorAll("input[name=ground], input[name=what], #debug")) input.addEventListener("change", show);
options.addEventListener("submit", (event) => event.preventDefault());
byId("copy").addEventListener("click", copy);
new ResizeObserver(fit).observe(byId("frame"));
setInterval(turnGround, 1000);
show();
begin();
