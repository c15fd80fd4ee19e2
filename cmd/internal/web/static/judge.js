// The judge's page. A ruling is always on what is held: everything that is shown of it
// comes from /api/held, and its number goes back with the ruling.

import { send } from "./ask.js";
import { byId, set, setText } from "./dom.js";
import { say } from "./texts.js";
import { listen } from "./live.js";
import { ask, onRefused } from "./judge-ask.js";
import { showVerdicts, chosenVerdict } from "./judge-verdicts.js";
import { showSure } from "./judge-sure.js";
import { awaitForm, isOwn, mayBeOwn, showForm, showLog, startRuling } from "./judge-rule.js";
import { followPair, goTo, showHeld, showLive, startView } from "./judge-view.js";

let state = null;
let me = null;
let lost = false;
let told = false; // the banner says that the connection is lost
let judgement = null; // of what is held
let choice = { from: "", to: "", arc: "front" }; // of this judge; the others' choice does not move it
let toldOf = null; // number of the last ruling that this judge knows of
let wanted = ""; // what was asked of /api/held last
let judged = ""; // what the judgement that is shown was asked with

// banner says what is wrong; it hides itself when nothing is.
function banner(title, text = "") {
  setText(byId("banner-title"), title);
  setText(byId("banner-text"), text);
  byId("banner").hidden = !title;
}

// start shows the bench to a judge and asks everybody else for the secret.
async function start() {
  try {
    const answer = await fetch("/api/me");
    me = await answer.json();
  } catch {
    return; // the watchdog says that the connection is lost
  }
  const may = me.role === "judge";
  byId("bench").hidden = !may;
  byId("secret").hidden = may;
  if (!may) {
    const asks = me.judges !== false;
    byId("secret-form").hidden = !asks;
    setText(byId("secret-text"), asks ? "A ruling needs the judge's secret." : "This table has no judge's secret, so no one can rule.");
    return;
  }
  if (!byId("judge").value) byId("judge").value = me.name ?? "";
  refresh();
  showLog(state);
}

async function pair(event) {
  event.preventDefault();
  const field = byId("secret-field");
  setText(byId("secret-problem"), "");
  field.removeAttribute("aria-invalid");
  try {
    const answer = await send("/api/pair", { judge_secret: field.value, name: byId("secret-name").value });
    if (!answer.ok) throw new Error((await answer.text()).trim());
    field.value = "";
    await start();
    byId("hold-h").focus(); // and on no button: one key more must not release what is held
  } catch (error) {
    set(field, { "aria-invalid": "true" });
    setText(byId("secret-problem"), error.message);
    field.focus();
  }
}

// refresh fetches the judgement of what is held, when it is another than what is shown.
async function refresh() {
  if (!state?.held || me?.role !== "judge") return;
  const query = new URLSearchParams({ from: choice.from, to: choice.to, arc: choice.arc });
  const key = `${state.held.number}?${query}`;
  if (key === wanted) return;
  wanted = key;
  if (judgement && key !== judged) takeBack();
  try {
    const now = await ask(`/api/held?${query}`);
    if (key !== wanted) return; // something newer was asked for meanwhile
    const renewed = judgement?.held !== now.held;
    const other = ["from", "to"].some((role) => judgement?.choice[role] !== now.choice[role]);
    judgement = now;
    judged = key;
    showJudgement(renewed, other);
  } catch (error) {
    wanted = "";
    if (error.status === 404) judgement = null; // it was released just now; the next state says so
    else if (error.status !== 403) banner("This cannot be judged", error.message);
  }
}

// takeBack lets nothing be ruled on what was measured of another pair or picture, and hides it unless this one's is soon known.
function takeBack() {
  judged = "";
  awaitForm();
  setTimeout(() => {
    if (judged || !judgement) return;
    showVerdicts(null, redraw);
    showSure(null);
    showHeld({ ...judgement, choice, shapes: judgement.shapes.filter((s) => !["line", "band", "arc"].includes(s.kind)) }, null);
    setText(byId("measured"), "Not measured yet.");
  }, 200);
}

function showJudgement(renewed, other) {
  showStatus();
  showChoice();
  showVerdicts(judgement, redraw);
  showSure(judgement);
  showForm(judgement);
  showHeld(judgement, chosenVerdict());
  if (renewed) goTo(choice.from && choice.to ? "pair" : "all");
  else if (other && choice.from && choice.to) followPair();
  const text = choice.from && choice.to ? judgement.measured : "Choose attacker and target from the lists, or press on two ships.";
  setText(byId("measured"), text);
  setText(byId("live"), choice.from && choice.to ? `${choice.from} to ${choice.to}: ${text}.` : text);
}

const redraw = () => showHeld(judgement, chosenVerdict());

function fill(select, options, value, empty) {
  const list = [...new Set(value ? [...options, value] : ["", ...options])];
  if (select.dataset.options !== list.join("|")) {
    select.dataset.options = list.join("|");
    select.replaceChildren(...list.map((id) => new Option(id ? id.replaceAll("_", " ") : empty, id)));
  }
  if (select.value !== value) select.value = value;
}

function showChoice() {
  const ids = judgement ? judgement.ships.map((s) => s.id) : (state?.ships ?? []).map((s) => s.id);
  fill(byId("from"), ids, choice.from, "choose");
  fill(byId("to"), ids.filter((id) => id !== choice.from), choice.to, "choose");
  fill(byId("arc"), judgement?.arcs.length ? judgement.arcs : [], choice.arc, "front");
}

// choose changes the judge's pair, and everybody's when it is whole.
function choose(change) {
  choice = { ...choice, ...change };
  if (choice.from && choice.from === choice.to) choice.to = "";
  showChoice();
  if (choice.from && choice.to) ask("/api/choice", "PATCH", choice).catch(() => {});
  if (judgement) refresh();
}

// pick takes a ship that was pressed in the view: the attacker, then its target.
function pick(id) {
  if (!choice.from || choice.to || choice.from === id) choose({ from: id, to: "" });
  else choose({ to: id });
  setText(byId("live"), choice.to ? "" : `${id} attacks. Now its target.`);
}

async function hold() {
  const button = byId("hold");
  button.disabled = true;
  try {
    await ask("/api/freeze", "POST", { hold: !state.held });
    banner("");
  } catch (error) {
    if (error.status !== 403) banner(state.held ? "It was not released" : "Nothing was held", error.message);
  } finally {
    button.disabled = false;
  }
}

function showHold() {
  const held = state.held;
  const at = held ? new Date(held.at_unix_ms).toLocaleTimeString() : "";
  setText(byId("hold-h"), held ? `Held since ${at}` : "Everything is live");
  let text = "Hold the picture to judge it.";
  if (held) text = held.asked ? `A judge was called by ${held.asked}.` : held.guarded ? "A judge holds the picture." : "The picture is held; no one called a judge.";
  else if (state.health.code !== "ok") text = `${state.health.title}: there is nothing to judge now.`;
  setText(byId("hold-text"), text);
  setText(byId("hold"), held ? "Release" : "Hold");
  set(byId("hold"), { class: held ? "" : "primary" });
  byId("hold").closest(".card").dataset.held = held !== null;
  showReleased();
}

const clock = (ms) => new Date(ms).toLocaleTimeString();

// showReleased lists what was released and can be held again.
function showReleased() {
  const list = byId("released");
  byId("released-box").hidden = state.released.length === 0;
  const key = JSON.stringify(state.released);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(
    ...state.released.map((r) => {
      const item = document.createElement("li");
      const pair = r.from && r.to ? `, ${r.from} to ${r.to}` : "";
      const asked = r.asked ? `, a judge was called by ${r.asked}` : "";
      const text = document.createElement("span");
      text.textContent = `Held at ${clock(r.at_unix_ms)}${pair}${asked}. Released at ${clock(r.let_go_unix_ms)} by ${r.by}.`;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Hold it again";
      button.setAttribute("aria-label", `Hold again what was held at ${clock(r.at_unix_ms)}`);
      button.addEventListener("click", () => holdAgain(r));
      item.append(text, " ", button);
      return item;
    }),
  );
}

async function holdAgain(r) {
  try {
    await ask("/api/freeze", "POST", { hold: true, held: r.number });
    if (r.from && r.to) choose({ from: r.from, to: r.to });
    banner("");
    byId("hold-h").focus();
  } catch (error) {
    if (error.status !== 403) banner("It is not held again", error.message);
  }
}

function showStatus() {
  const code = lost ? "lost" : state.held ? "held" : state.health.code;
  set(byId("status"), { "data-code": code });
  setText(byId("status-text"), lost ? "connection lost" : state.held ? "held" : code === "ok" ? "live" : state.health.title.toLowerCase());
  const shown = state.held && judgement?.held === state.held.number ? judgement : null; // what is held may be a photograph
  const c = (shown ?? state).calibration;
  setText(byId("source"), [shown ? shown.source : state.camera.source, say(`rules ${(shown ?? state).rules || "–"}`), say(c.hash ? `calibration ${c.hash.slice(0, 8)}` : "not registered")].join(" · "));
}

// tellOfRuling says that another judge has ruled while this one was at it.
function tellOfRuling() {
  const number = state.ruling?.number ?? 0;
  if (toldOf !== null && number !== toldOf && number > 0 && !isOwn(number)) {
    banner(mayBeOwn(number) ? `Ruling ${number} is recorded.` : `Ruling ${number} was made by someone else.`, state.ruling.text);
  }
  toldOf = number;
}

function show() {
  if (!state) return;
  tellOfRuling();
  showStatus();
  const wasLost = told;
  told = lost;
  if (lost) banner("Connection lost", "What you see is what this page last knew. What you typed stays in the form.");
  else if (wasLost) banner("");
  if (me?.role !== "judge") return;
  const trouble = state.rulings_trouble;
  setText(byId("trouble-text"), trouble);
  byId("trouble").hidden = !trouble;
  showHold();
  showLog(state);
  if (state.held) {
    refresh();
    return;
  }
  if (judgement) {
    judgement = null;
    wanted = judged = "";
    showVerdicts(null, redraw);
    showSure(null);
    showForm(null);
    setText(byId("measured"), "Hold the picture, then choose a pair.");
  }
  showChoice();
  showLive(state);
}

onRefused(start);
startView(pick);
startRuling(() => ({ judgement: judged ? judgement : null, choice, after: state?.ruling?.number ?? 0 }));
byId("secret-form").addEventListener("submit", pair);
byId("hold").addEventListener("click", hold);
for (const name of ["from", "to", "arc"]) byId(name).addEventListener("change", (event) => choose({ [name]: event.target.value }));
byId("swap").addEventListener("click", () => choose({ from: choice.to, to: choice.from }));
listen(
  (now) => {
    if (!state) choice = { ...now.choice };
    state = now;
    show();
  },
  (now) => {
    lost = now;
    show();
  },
);
start();
