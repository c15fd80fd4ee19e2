// The page that learns this table's obstacles: the empty mat, the tokens, and what is
// recognised with them. What can be done when is the server's business; so are its
// sentences.

import { byId, keepUnit, set, setLinked, setText, svg } from "./dom.js";
import { listen } from "./live.js";
import { clearPicture, drawPicture } from "./picture.js";
import { showCatalogue } from "./obstacles-list.js";
import { say, showTraced, want, words } from "./obstacles-learn.js";

const steps = ["mat", "tokens", "try"];
const shapes = byId("shapes");
const keep = keepUnit(shapes, () => state && showPicture());
let state = null;
let lost = false;
let step = steps.includes(location.hash.slice(1)) ? location.hash.slice(1) : "mat";

const when = (ms) => new Date(ms).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

function outline(points, label, bad, unit) {
  if (points.length < 3) return;
  // A pixel's centre is at whole numbers; the drawing's pixel 0 begins at 0.
  const corners = points.map(([x, y]) => [x + 0.5, y + 0.5]);
  const text = corners.map((p) => p.join(",")).join(" ");
  const group = svg("g", { "data-bad": bad }, shapes);
  svg("polygon", { class: "under", points: text }, group);
  svg("polygon", { class: "over", points: text }, group);
  if (!label) return;
  const x = corners.reduce((sum, p) => sum + p[0], 0) / corners.length;
  const y = corners.reduce((sum, p) => sum + p[1], 0) / corners.length;
  svg("text", { x, y: y + 2 * unit }, group).textContent = label;
}

function showPicture() {
  const trace = step === "tokens" ? state.trace : null;
  const region = trace ? trace.region_px : state.picture?.region_px;
  shapes.replaceChildren();
  byId("legend").hidden = step === "mat" || (step === "tokens" && !trace);
  setText(byId("view-note"), trace ? `as it was traced, ${new Date(trace.at_unix_ms).toLocaleTimeString([], { timeStyle: "short" })}` : state.picture ? `${state.health.code === "ok" ? "live, " : ""}${state.picture.width_px} × ${state.picture.height_px} px` : "");
  if (!region) return clearPicture();
  set(shapes, { viewBox: region.join(" ") });
  byId("picture").style.aspectRatio = `${region[2]} / ${region[3]}`;
  byId("picture").style.setProperty("--ratio", (region[2] / region[3]).toFixed(4)); // for what limits its height
  if (trace) drawPicture("/api/obstacles/picture.jpg", -trace.number);
  else drawPicture("/api/picture.jpg", state.picture.seq);
  const unit = keep();
  if (trace) for (const k of trace.tokens) outline(k.outline_px, `${k.number}`, k.problem !== "", unit);
  if (step === "try") {
    for (const px of state.now.unknown_px) outline(px, "", true, unit);
    for (const o of state.now.found) outline(o.outline_px, o.id, false, unit);
  }
}

// showWay says what is in the way of a step.
function showWay(id, way, clear) {
  const box = document.querySelector(`[data-way="${id}"]`);
  const texts = way.length ? way : clear ? [clear] : [];
  const now = texts.join("\n");
  if (box.dataset.text === now) return;
  box.dataset.text = now;
  const list = document.createElement("ul");
  list.className = "way";
  for (const text of texts) {
    const item = document.createElement("li");
    setLinked(item, text);
    if (!way.length) item.className = "clear";
    list.append(item);
  }
  box.replaceChildren(...(texts.length ? [list] : []));
}

// before is when the last task ended that this page did not see: why it failed is no news here.
let before = null;

function showTask() {
  const t = state.task;
  before ??= t.ended_unix_ms;
  for (const what of ["mat", "trace"]) {
    setText(document.querySelector(`[data-progress="${what}"]`), t.doing === what ? `Looking: picture ${t.frames} of ${t.frames_wanted}` : "");
    say(document.querySelector(`[data-done="${what}"]`), t.last === what && t.doing === "" ? t.done : "");
    say(document.querySelector(`[data-problem="${what}"]`), t.last === what && t.doing === "" && t.problem && t.ended_unix_ms !== before ? t.problem : asked[what]);
  }
}

// asked is what the server refused, by what was asked for.
const asked = { mat: "", trace: "" };

// size is the mat's, for people. Its picture's last cell, half a millimetre wide, may reach over the edge.
function size(m) {
  const [w, h] = [m.width_mm, m.height_mm].map(Math.floor);
  const [across, down] = [m.width_mm, m.height_mm].map((x) => Number((x / 25.4).toFixed(1)));
  return `${w} × ${h} mm (${across}″ × ${down}″)`;
}

// leads marks the button that leads on.
function leads(button, on) {
  button.classList.toggle("primary", on);
}

function showMat() {
  const m = state.mat;
  const learnt = m.version !== "";
  setText(byId("mat-now"), m.problem ? `The learnt mat cannot be read: ${m.problem}` : learnt ? `Learnt on ${when(m.at_unix_ms)}, ${size(m)}, stored in ${m.file}.` : `No mat has been learnt yet. It will be stored in ${m.file}.`);
  showWay("mat", [...state.in_the_way, ...state.in_the_way_of_the_mat, ...state.on_the_mat], "Nothing known is in the way.");
  byId("learn-mat").disabled = lost || state.task.doing !== "" || state.in_the_way.length > 0 || state.in_the_way_of_the_mat.length > 0;
  leads(byId("learn-mat"), !learnt);
  leads(byId("mat-next"), learnt);
  if (!byId("learn-mat").classList.contains("sure")) setText(byId("learn-mat"), learnt ? "Learn the mat again" : "Learn the empty mat");
}

function showTokens() {
  const hint = state.paper_on_the_mat || state.trace ? [] : ["No sheet of white paper is seen on the mat yet."];
  showWay("tokens", [...state.in_the_way, ...hint], "");
  byId("trace").disabled = lost || state.task.doing !== "" || state.in_the_way.length > 0;
  setText(byId("trace"), state.trace ? "Trace again" : "Trace the tokens");
  leads(byId("trace"), !state.trace);
  showTraced(state);
}

function showTry() {
  const n = state.now;
  const texts = n.found.length === 1 ? "1 token is recognised" : `${n.found.length} tokens are recognised`;
  setText(byId("try-now"), n.watched ? texts : `Not watched: ${n.why_not}`);
  byId("found-box").hidden = n.found.length === 0;
  setText(byId("unknown"), n.unknown_px.length === 0 ? "" : n.unknown_px.length === 1 ? "1 thing is unknown." : `${n.unknown_px.length} things are unknown.`);
  byId("unknown-advice").hidden = n.unknown_px.length === 0;
  const body = byId("found").querySelector("tbody");
  const rows = n.found.map((o) => [o.id, words(o.kind), o.flipped ? "the other" : "as traced", `${o.sigma_mm.toFixed(2)} mm`, `${Math.round(100 * o.visible)} %`]);
  const now = JSON.stringify(rows);
  if (body.dataset.text === now) return;
  body.dataset.text = now;
  body.replaceChildren(
    ...rows.map((texts) => {
      const row = document.createElement("tr");
      texts.forEach((text, i) => {
        const cell = document.createElement(i === 0 ? "th" : "td");
        if (i === 0) cell.scope = "row";
        cell.textContent = text;
        row.append(cell);
      });
      return row;
    }),
  );
}

function showSteps() {
  const done = { mat: state.mat.version !== "" && !state.mat.problem, tokens: state.catalogue.entries.length > 0, try: state.now.watched };
  const notes = { mat: done.mat ? "learnt" : "", tokens: done.tokens ? `${state.catalogue.entries.length} in the catalogue` : "", try: done.try ? "watched" : "" };
  for (const button of document.querySelectorAll("#steps button")) {
    const name = button.dataset.step;
    set(button, { "aria-current": name === step ? "step" : null, "data-phase": done[name] ? "saved" : null });
    setText(button.querySelector("small"), notes[name]);
  }
}

function draw() {
  byId("banner").hidden = !lost;
  const code = lost ? "lost" : state ? state.health.code : "starting";
  set(byId("status"), { "data-code": code });
  setText(byId("status-text"), lost ? "connection lost" : !state ? "connecting" : code === "ok" ? "live" : state.health.title.toLowerCase());
  if (!state) return;
  set(byId("learn"), { "data-step": step });
  for (const s of steps) byId(`step-${s}`).hidden = s !== step;
  byId("catalogue").hidden = step === "mat";
  showSteps();
  showPicture();
  showMat();
  showTokens();
  showTry();
  showTask();
  showCatalogue(state);
}

function go(to) {
  if (to === step) return;
  step = to;
  history.replaceState(null, "", `#${to}`);
  draw();
  byId(`${to}-h`).focus(); // who goes by keys or a screen reader keeps their place
}

for (const button of document.querySelectorAll("[data-step], [data-go]")) {
  if (button.tagName === "BUTTON") button.addEventListener("click", () => go(button.dataset.go ?? button.dataset.step));
}

// A mat that was learnt is replaced with the second click only, and so is one on which something lies as far as the program knows.
let sure = null;
let bare = false; // they were asked whether the mat is bare
byId("learn-mat").addEventListener("click", async () => {
  const button = byId("learn-mat");
  if ((state.mat.version !== "" || state.on_the_mat.length > 0) && sure === null) {
    bare = state.on_the_mat.length > 0;
    setText(button, bare ? "Nothing lies there: learn it all the same" : "Replace the learnt mat?");
    button.classList.add("sure");
    sure = setTimeout(calm, 6000);
    return;
  }
  calm();
  asked.mat = await want({ do: "mat", version: state.mat.version, bare });
});
function calm() {
  clearTimeout(sure);
  sure = null;
  byId("learn-mat").classList.remove("sure");
}

byId("trace").addEventListener("click", async () => {
  asked.trace = await want({ do: "trace", top_mm: Number(byId("top").value) });
});
byId("forget").addEventListener("click", () => want({ do: "forget" }));

listen(
  (now) => {
    state = now;
    lost = false;
    if (state.task.doing) asked[state.task.doing] = "";
    draw();
  },
  (now) => {
    lost = now;
    draw();
  },
  "/api/obstacles/events",
);
