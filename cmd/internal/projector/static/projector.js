// The projector's page. As a page it says how the projector is; filling the screen it shows what
// it is told, and nothing once the time for it is over: what is stale is dark.

import { ask } from "/ask.js";
import { byId, setText } from "/dom.js";
import { poll } from "/live.js";
import { ready } from "/texts.js";

const canvas = byId("canvas");
const pen = canvas.getContext("2d", { alpha: false });
const id = Array.from(crypto.getRandomValues(new Uint8Array(9)), (b) => b.toString(36)).join("");
let filling = false;
let shown = 0; // the number of what the screen shows
let shows = "dark";
let over = 0; // when it goes dark, by performance.now()
let fading = null;

// ---- the screen

const colours = { measure: "#ffffff", ship: "#7fd4ff" };

function dark() {
  shows = "dark";
  pen.fillStyle = "#000";
  pen.fillRect(0, 0, canvas.width, canvas.height);
}

// size makes the canvas as many pixels as the screen has.
function size() {
  const [width, height] = [Math.round(innerWidth * devicePixelRatio), Math.round(innerHeight * devicePixelRatio)];
  if (canvas.width === width && canvas.height === height) return;
  canvas.width = width;
  canvas.height = height;
  dark();
}

function drawTag({ x, y, module, cells }) {
  const side = Math.sqrt(cells.length);
  pen.fillStyle = "#fff";
  pen.fillRect(x, y, (side + 2) * module, (side + 2) * module);
  pen.fillStyle = "#000";
  for (let i = 0; i < cells.length; i++) {
    if (cells[i] === "0") pen.fillRect(x + (1 + (i % side)) * module, y + (1 + Math.floor(i / side)) * module, module, module);
  }
}

function drawLine({ kind, width_px, points_px }) {
  pen.strokeStyle = colours[kind] || "#ffffff";
  pen.lineWidth = width_px;
  pen.lineCap = "butt";
  pen.lineJoin = "round";
  pen.beginPath();
  for (const [x, y] of points_px) pen.lineTo(x, y);
  pen.stroke();
}

const silent = "The program does not answer."; // as ask.js words it: a screen that knows nothing is dark

// show draws a command whose time counts from when it was asked for. The compositor takes the
// canvas away at its end, whatever the script does then.
function show(command, asked) {
  const left = asked + command.for_ms - performance.now();
  over = asked + command.for_ms;
  if (fading) fading.cancel();
  fading = null;
  if (command.seq !== shown || shows === "dark") {
    dark();
    if (left <= 0 || command.show === "dark") return;
    shows = command.show;
    for (const tag of command.tags) drawTag(tag);
    for (const line of command.lines) drawLine(line);
  }
  fading = canvas.animate([{ opacity: 1 }, { opacity: 1, offset: 0.999 }, { opacity: 0 }], { duration: Math.max(1, left), fill: "forwards" });
}

const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// obey asks what to show, again and again while the page fills the screen.
async function obey() {
  while (filling) {
    size();
    const asked = performance.now();
    const [command, refused] = await ask("/api/projector/screen", { id, width_px: canvas.width, height_px: canvas.height, shown });
    if (!filling) break;
    byId("screen").hidden = command === null && refused !== silent; // who may not light anything reads why
    if (command === null) {
      dark();
      setText(byId("trouble"), refused);
      byId("trouble").hidden = false;
      await pause(500);
      continue;
    }
    show(command, asked);
    await painted();
    shown = command.seq;
  }
  dark();
}

setInterval(() => {
  if (shows !== "dark" && performance.now() >= over) dark();
}, 50);

function fill(on) {
  if (on === filling) return;
  filling = on;
  byId("screen").hidden = !on;
  document.body.classList.toggle("shown", on);
  if (on) {
    shown = 0;
    obey();
  } else if (document.fullscreenElement) {
    document.exitFullscreen();
  }
}

async function fullScreen() {
  try {
    await document.documentElement.requestFullscreen();
  } catch {
    // The window itself is filled then.
  }
  fill(true);
}

// ---- the page

async function act(what) {
  const [state, refused] = await ask("/api/projector", { do: what });
  if (state) tell(state);
  if (refused) {
    setText(byId("trouble"), refused);
    byId("trouble").hidden = false;
  }
}

const titles = { none: "not set up", setting_up: "being set up", ready: "ready", void: "to be set up again" };

function tell(state) {
  setText(byId("status-text"), titles[state.state]);
  byId("status").dataset.code = state.state === "ready" ? "ok" : "starting";
  setText(byId("text"), state.text);
  setText(byId("trouble"), state.trouble);
  byId("trouble").hidden = !state.trouble;
  setText(byId("fact-screen"), state.screen ? `${state.screen.width_px}×${state.screen.height_px} px` : "no page fills it");
  const map = state.map;
  setText(
    byId("fact-errors"),
    map ? `${map.rms_mm.toFixed(2)} mm rms, ${map.worst_mm.toFixed(2)} mm at worst (${map.fitted_tags} tags, verified by ${map.verified_tags} others)` : "–",
  );
  byId("fact-made").textContent = map ? new Date(map.made_unix_ms).toLocaleString() : "–";
  setText(byId("fact-lines"), state.lit ? "lit" : state.why ? `dark: ${state.why}` : "lit between pictures");
  const busy = state.state === "setting_up";
  byId("start").disabled = busy || !state.can_set_up;
  byId("cancel").hidden = !busy;
  byId("switch").hidden = byId("forget").hidden = state.state !== "ready";
  byId("switch").setAttribute("aria-pressed", state.on);
  byId("switch").dataset.to = state.on ? "off" : "on";
}

byId("start").addEventListener("click", () => act("start"));
byId("cancel").addEventListener("click", () => act("cancel"));
byId("forget").addEventListener("click", () => act("forget"));
byId("switch").addEventListener("click", (event) => act(event.currentTarget.dataset.to));
byId("fill").addEventListener("click", fullScreen);
document.addEventListener("fullscreenchange", () => {
  if (!document.fullscreenElement) fill(false);
});
addEventListener("hashchange", () => fill(location.hash === "#screen"));
document.addEventListener("keydown", (event) => {
  if (!filling || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    fill(false);
    if (location.hash) location.hash = "";
  }
  if (event.key.toLowerCase() === "s") act("start");
});

ready.then(() => {
  if (location.hash === "#screen") fill(true);
  poll(() => "/api/projector", 1000, tell, (lost) => {
    byId("status").dataset.code = lost ? "lost" : "starting";
    setText(byId("status-text"), lost ? "The program does not answer." : "starting");
  })();
});
