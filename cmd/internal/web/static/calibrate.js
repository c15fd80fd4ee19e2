// The guided calibration's page: it draws each state that arrives and posts what
// people want. What can be done when is the server's business; so are the sentences.

import { send } from "./ask.js";
import { byId, fill, mm, set, setLinked, setText } from "./dom.js";
import { listen } from "./live.js";
import { boardFields, onBoard, spec } from "./board.js";
import { showPicture, stateOf } from "./overlay.js";
import { measured, showRule } from "./rule.js";
import { cardMeasures, showVerify } from "./verify.js";

const steps = ["print", "lens", "table", "verify"];
const phases = { waiting: "", looking: "under way", solving: "under way", ready: "not saved", saved: "done" };
let state = null;
let lost = false;

// What stops the answers in a game waits here for a confirmation.
let unconfirmed = null;

async function want(intent) {
  const problem = byId("problem");
  problem.hidden = true;
  unconfirmed = null;
  show("confirm", false);
  try {
    const answer = await send("/api/calibration", intent);
    if (answer.ok) return true;
    setLinked(problem, (await answer.text()).trim());
    if (answer.headers.has("Sightline-Confirm")) unconfirmed = intent;
    show("confirm", unconfirmed !== null);
  } catch {
    setText(problem, "The program does not answer.");
  }
  problem.hidden = false;
  return false;
}

function show(id, on) {
  byId(id).hidden = !on;
}

function say(id, text) {
  setText(byId(id), text);
  byId(id).hidden = text === "";
}

function cells(row, texts, heading = "th") {
  const tr = document.createElement("tr");
  texts.forEach((text, i) => {
    const cell = document.createElement(i === 0 ? heading : "td");
    if (i === 0) cell.scope = "row";
    cell.textContent = text;
    tr.append(cell);
  });
  row.append(tr);
  return tr;
}

function showPrint(p) {
  const verdict = byId("bars-verdict");
  setText(verdict, p.verdict);
  set(verdict, { "data-good": p.phase === "saved" });
  links();
}

function links() {
  const paper = byId("paper").value;
  // The scale stands in the address so that a sheet of an older scale is not shown again.
  const scale = state ? `&scale=${state.print.scale_x.toFixed(5)},${state.print.scale_y.toFixed(5)}` : "";
  for (const [id, file, more] of [
    ["sheet-board", "board.pdf", `&board=${encodeURIComponent(spec())}`],
    ["sheet-markers", "mat-markers.pdf", ""],
    ["sheet-card", "check-card.pdf", ""],
  ]) {
    set(byId(id), { href: `/api/calibration/sheet/${file}?paper=${paper}${more}${scale}` });
  }
}

const figure = (f, digits) => `${f.value.toFixed(digits)} ± ${f.sigma.toFixed(digits)} px`;

function showLensResult(l) {
  const r = l.result;
  const body = byId("lens-figures");
  const now = JSON.stringify(r);
  if (body.dataset.text !== now) {
    body.dataset.text = now;
    body.replaceChildren();
    cells(body, ["Focal length", `${figure(r.fx_px, 2)} across, ${figure(r.fy_px, 2)} down`]);
    cells(body, ["Middle of the lens", `${figure(r.cx_px, 2)}, ${figure(r.cy_px, 2)}`]);
    cells(body, ["Distortion", ["k1", "k2", "p1", "p2", "k3"].map((name, i) => `${name}\u00a0${r.distortion[i].toFixed(4).replace("-", "\u2212")}`).join(", ")]);
    cells(body, ["Fit", `${r.rms_px.toFixed(3)} px rms over ${r.views} views`]);
    if (r.mat_mm > 0) cells(body, ["On the mat", `± ${r.mat_mm.toFixed(3)} mm of it at the worst point`]);
  }
  fill("dropped", r.left_out.map((d) => `${d.name}: ${d.reason}`));
  show("dropped-box", r.left_out.length > 0);
}

function showLens(l) {
  show("lens-choose", l.phase === "waiting");
  show("lens-capture", l.phase === "looking");
  show("lens-solving", l.phase === "solving");
  show("lens-result", l.result !== null);
  say("lens-problem", l.problem);
  if (l.phase === "looking") {
    const g = l.guide;
    setText(byId("advice"), g.advice || "waiting for the first picture");
    setText(byId("now"), l.now);
    set(byId("now"), { "data-outcome": l.outcome });
    setText(byId("views-count"), `${l.views.length}`);
    setText(byId("covered"), `${Math.round(100 * g.covered)} %`);
    setText(byId("lens-mat"), g.sigma ? g.sigma.mat_mm.toFixed(2) : "–");
    for (const tick of byId("tilts").children) {
      const name = tick.dataset.tilt;
      set(tick, { "data-done": name === "near" ? g.near : name === "far" ? g.far : g.tilts[name] });
    }
    fill("refused", l.refused.map((r) => `${r.reason}${r.times > 1 ? ` (${r.times} pictures)` : ""}`));
    show("refused-box", l.refused.length > 0);
    byId("solve").disabled = l.views.length < 4;
  }
  if (l.result) showLensResult(l);
  const saved = l.phase === "saved";
  show("lens-save", l.phase === "ready");
  show("lens-next", saved);
  say("lens-saved", saved ? `Saved as ${l.saved_as}, and in use from now on.` : "");
}

function showTable(t) {
  const seen = t.markers.filter((m) => m.corners_px.length > 0).length;
  const said = {
    waiting: "",
    looking: t.markers.length === 0 ? "waiting for the first picture" : `${seen} of ${t.markers.length} markers are seen; picture ${t.frames} of ${t.frames_wanted}`,
    ready: `the camera's place is known: ${(t.camera_height_mm / 1000).toFixed(3)} m over the mat`,
    saved: `the camera's place is known: ${(t.camera_height_mm / 1000).toFixed(3)} m over the mat`,
  };
  if (t.quick && t.focal_sigma > 0 && (t.phase === "ready" || t.phase === "saved")) {
    said[t.phase] = `lens and place are estimated from ${t.views === 1 ? "one view" : `${t.views} views`}`;
    t.advice = `A distance of 300 mm in the middle of the mat is known to ± ${t.middle_sigma_mm.toFixed(2)} mm; the map shows every other place. Another view, from an angle, makes it surer. ${t.advice}`;
  }
  show("table-quick", t.quick);
  show("table-more", t.quick && t.phase === "ready");
  show("table-done", t.phase === "saved");
  set(byId("table-next"), { class: t.quick ? "" : "primary" });
  set(byId("table-done"), { class: t.quick ? "primary" : "" });
  setText(byId("table-now"), said[t.phase] ?? "");
  setText(byId("table-advice"), t.advice);
  say("table-problem", t.problem);
  const body = byId("markers").querySelector("tbody");
  const now = JSON.stringify(t.markers.map((m) => [m.id, m.corners_px.length > 0, m.used, m.off_mm?.toFixed(2)]));
  if (body.dataset.text !== now) {
    body.dataset.text = now;
    body.replaceChildren();
    for (const m of t.markers) {
      const known = m.off_mm !== undefined && m.off_mm !== null;
      const words = { unseen: "not seen", off: "left out", good: known ? "" : "seen" };
      set(cells(body, [`${m.id}`, known ? mm(m.off_mm, 2) : "–", words[stateOf(m)]]), { "data-state": stateOf(m) });
    }
  }
  show("markers", t.markers.length > 0);
  showRule(t);
  show("table-save", t.phase === "ready");
  show("table-next", t.phase === "saved");
  say("table-saved", t.phase === "saved" ? `Saved as ${t.saved_as}. It is in use when you finish.` : "");
  const heat = state.step === "table" && t.heat !== "";
  show("heat", heat);
  if (heat) set(byId("heat-img"), { src: t.heat });
}

function showSteps() {
  for (const button of byId("steps").querySelectorAll("button")) {
    const { phase } = state.steps.find((s) => s.name === button.dataset.step);
    set(button, { "data-phase": phase, "aria-current": state.step === button.dataset.step ? "step" : null });
    setText(button.querySelector("small"), phases[phase]);
  }
}

function showHealth() {
  const camera = state?.camera.lost ?? "";
  const trouble = lost || camera !== "";
  show("banner", trouble);
  setText(byId("banner-title"), lost ? "Connection lost" : trouble ? "No picture" : "");
  setText(byId("banner-detail"), lost ? "The program does not answer. What was saved is saved." : camera);
  set(byId("status"), { "data-code": lost ? "lost" : camera ? "no_camera" : state?.active ? "busy" : "ok" });
  setText(byId("status-text"), lost ? "connection lost" : camera ? "no picture" : state?.active ? "calibrating" : "not calibrating");
}

// Whoever works with keys or a screen reader must not lose their place when the step
// under it goes: the focus moves to the new step's heading.
let placed = "";
function keepPlace(step) {
  if (placed === step) return;
  const first = placed === "";
  placed = step;
  if (!first) byId(`${step}-h`).focus();
}

function draw() {
  showHealth();
  if (!state) return;
  const active = state.active;
  byId("start").disabled = lost;
  show("intro", !active);
  show("steps-nav", active);
  show("ends", active || !byId("problem").hidden);
  show("cancel", active && !(allSaved() && (state.step === "verify" || (state.step === "table" && state.table.phase === "saved")))); // there is a button to finish
  if (sure === null) calm();
  for (const step of steps) show(`step-${step}`, active && state.step === step);
  show("view", active && state.step !== "print");
  set(byId("wizard"), { "data-step": active ? state.step : "intro" });
  keepPlace(active ? state.step : "intro");
  if (!active) return;
  showSteps();
  showPrint(state.print);
  showLens(state.lens);
  showTable(state.table);
  showVerify(state.verify, state.step);
  set(byId("finish"), { class: state.verify.phase === "saved" ? "primary" : "" });
  if (state.step !== "print") showPicture(state);
}

for (const parent of document.querySelectorAll("[data-board]")) boardFields(parent);
onBoard(links);
byId("paper").addEventListener("change", links);
byId("start").addEventListener("click", () => want({ do: "start" }));
byId("capture").addEventListener("click", () => want({ do: "capture", board: spec() }));
byId("solve").addEventListener("click", () => want({ do: "solve" }));
byId("bars").addEventListener("submit", (event) => {
  event.preventDefault();
  want({ do: "bars", bar_x_mm: Number(byId("bar-x").value), bar_y_mm: Number(byId("bar-y").value), scale_x: state.print.scale_x, scale_y: state.print.scale_y });
});
byId("rule").addEventListener("submit", (event) => {
  event.preventDefault();
  want({ do: "rule", distances: measured() });
});
byId("card").addEventListener("submit", (event) => {
  event.preventDefault();
  want({ do: "card", ...cardMeasures() });
});
for (const button of document.querySelectorAll("[data-do]")) {
  const [, step = ""] = /^step-(.+)/.exec(button.closest("section")?.id ?? "") ?? []; // another device may have gone to another one
  button.addEventListener("click", () => want({ do: button.dataset.do, step }));
}
for (const button of document.querySelectorAll("[data-go], [data-step]")) {
  const step = button.dataset.go ?? button.dataset.step;
  if (button.tagName === "BUTTON") button.addEventListener("click", () => want({ do: "go", step }));
}

// finish ends it and leads to what comes next.
async function finish() {
  if (await want({ do: "finish" })) location.href = "/first";
}
byId("table-done").addEventListener("click", finish);
byId("finish").addEventListener("click", finish);

byId("confirm").addEventListener("click", () => unconfirmed && want({ ...unconfirmed, confirm: true }));

// unsaved reports whether something would be lost if the calibration ended now.
const unsaved = () => state !== null && ((state.lens.views.length > 0 && state.lens.phase !== "saved") || state.table.phase === "ready" || (state.verify.result !== null && state.verify.phase !== "saved"));

// allSaved reports whether it can end as it is: what was done is saved.
const allSaved = () => state?.active && !unsaved() && state.steps.some(({ name, phase }) => name !== "print" && phase === "saved");

// Who leaves by a link once all is saved has finished: what was saved is then in use.
for (const link of document.querySelectorAll("header nav a")) {
  link.addEventListener("click", async (event) => {
    if (!allSaved() || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (await want({ do: "finish" })) location.href = link.href;
  });
}

// What is not saved is lost with a cancelled calibration: then it takes two clicks.
const cancel = byId("cancel");
let sure = null;
cancel.addEventListener("click", () => {
  if (unsaved() && sure === null) {
    setText(cancel, "Really cancel? Unsaved results are lost.");
    cancel.classList.add("sure");
    sure = setTimeout(calm, 6000);
    return;
  }
  const all = allSaved();
  calm();
  if (all) finish();
  else want({ do: "cancel" });
});
function calm() {
  clearTimeout(sure);
  sure = null;
  cancel.classList.remove("sure");
  setText(cancel, allSaved() ? "Finish the calibration" : "Cancel the calibration");
}

listen(
  (now) => {
    state = now;
    lost = false;
    draw();
  },
  (now) => {
    lost = now;
    draw();
  },
  "/api/calibration/events",
);
