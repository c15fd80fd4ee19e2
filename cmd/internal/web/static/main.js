// The page: each state that arrives is drawn whole. Nothing is computed here that
// the server knows.

import { byId, set, setLinked, setText } from "./dom.js";
import { listen } from "./live.js";
import { ask, remembered } from "./ask.js";
import { startKeys } from "./keys.js";
import { leave } from "./leave.js";
import { speaking, speakState, startSpeaking } from "./speak.js";
import { ready, say } from "./texts.js";
import { chooseTarget, showChoice, startChoosing } from "./choose.js";
import { showTable } from "./table.js";
import { showCamera } from "./camera.js";
import { showLight } from "./light.js";
import { showAnswer } from "./answer.js";
import { showNaming, startNaming } from "./name.js";
import { showEmpty } from "./empty.js";
import { showPolicy, startPolicy } from "./policy.js";
import { heldAt, showHeld, showRuling, startRuling } from "./ruling.js";
import { showSeen } from "./seen.js";
import { showObjects, showTargets } from "./targets.js";
import { showTry, startTry } from "./try.js";

let state = null;
let lost = false;

function banner(title, detail, advice) {
  const element = byId("banner");
  setText(byId("banner-title"), title);
  setLinked(byId("banner-detail"), detail);
  setLinked(byId("banner-advice"), advice);
  element.hidden = !title;
}

// A calibration file that no longer says what was measured makes every answer unverified.
const unverified = () => state.calibration.integrity.startsWith("changed");

// What is to be known of answers that are given all the same.
function reservations() {
  const { state: watched, markers_in_place: seen, markers } = state.calibration.watch;
  const texts = unverified() ? ["unverified"] : [];
  if (watched === "covered") texts.push(`${seen} of ${markers} markers`);
  if (watched === "unwatched") texts.push("not watched");
  return texts;
}

function showHealth() {
  document.body.classList.toggle("lost", lost);
  if (lost) {
    set(byId("status"), { "data-code": "lost" });
    setText(byId("status-text"), "connection lost");
    banner("Connection lost", "What you see is what this page last knew; it may be out of date.", "It reconnects when the program runs and the network is back.");
    return;
  }
  const { code, title, detail, advice } = state.health;
  document.body.classList.toggle("stale", code !== "ok");
  set(byId("status"), { "data-code": code === "ok" && state.held ? "held" : code, "data-held": state.held ? "true" : null });
  const now = state.held ? [heldSince()] : ["live", ...reservations()];
  if (code !== "ok") now[0] = state.held ? `${title.toLowerCase()}, ${now[0]}` : title.toLowerCase();
  setText(byId("status-text"), (code === "ok" ? now : now.slice(0, 1)).join(", "));
  if (code === "ok") banner("", "", "");
  else banner(title, detail, advice);
}

const noteSeconds = 20;

// showWarnings shows what is to be known as long as it is so.
function showWarnings() {
  const list = byId("warnings");
  const texts = state.warnings;
  list.hidden = texts.length === 0;
  const key = JSON.stringify(texts);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(
    ...texts.map((text) => {
      const item = document.createElement("li");
      item.textContent = say(text);
      return item;
    }),
  );
}

// showNote shows the newest note that is no lasting warning for a while, and says for how long.
function showNote() {
  const note = state.notes.find((n) => !state.warnings.includes(n.text));
  const left = note ? noteSeconds - (state.at_unix_ms - note.at_unix_ms) / 1000 : 0;
  byId("note").hidden = !(left > 0);
  if (!(left > 0)) return;
  setText(byId("note-text"), note.text);
  setText(byId("note-left"), lost ? "" : `leaves in ${Math.ceil(left)} s`);
}

// heldSince is what the pill says while nothing is live.
const heldSince = () => `held ${new Date(state.held.at_unix_ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}${state.held.asked ? ", judge called" : ""}`;

// showAsked says that a judge was called, and what is held meanwhile.
function showAsked() {
  const asked = Boolean(state.held?.asked);
  byId("ask-judge").disabled = asked || lost || (state.health.code !== "ok" && state.held === null);
  setText(byId("ask-judge"), asked ? "A judge was called" : "Call a judge");
  setText(byId("asked"), state.held ? `${asked ? "A judge was called. " : ""}Picture and answers of ${heldAt(state)} are held.` : "");
  if (byId("let-go").open && String(state.held?.number) !== byId("let-go").dataset.held) byId("let-go").close();
}

// unheard is a state that is heard of no more: how the table stood, and no answer.
const unheard = (s) => ({
  ...s,
  health: { ...s.health, code: "lost", title: "Connection lost" },
  answer: { ...s.answer, outcome: "no_view", headline: { kind: "no_view", text: "No answer now", band: "" }, band: "", live: "", reason: "connection lost", meaning: { ...s.answer.meaning, text: "" }, lines_mm: [], doubts: [] },
  targets: { ...s.targets, list: [], objects: [], blasts: [], reason: "connection lost" },
});

function show() {
  if (!state) return;
  showHealth();
  const now = lost ? unheard(state) : state;
  byId("simulated").hidden = !state.camera.simulated;
  showChoice(state);
  showTable(now);
  showEmpty(now);
  showCamera(state);
  showLight(state);
  showAnswer(now, byId("inches").checked);
  if (!lost) speakState(state);
  showPolicy(state);
  showTargets(now, byId("figures").checked, chooseTarget);
  showObjects(now, byId("figures").checked);
  showTry(now);
  showSeen(state);
  showNaming(state);
  followDeclaration();
  showHeld(state);
  showAsked();
  showRuling(state, lost);
  showWarnings();
  showNote();
}

// goOn returns to the live picture. What waits for a judge is named first, and released on a second press.
function goOn() {
  const held = state.held;
  if (!held?.guarded) return post("/api/freeze", { hold: false });
  const who = held.asked ? `A judge was called by ${held.asked} at ${heldAt(state)}` : `A judge held this at ${heldAt(state)}`;
  const pair = state.choice.from && state.choice.to ? ` (${state.choice.from} to ${state.choice.to})` : "";
  setText(byId("let-go-text"), `${who}${pair}, and there is no ruling yet. Releasing takes the picture and the answers from everyone; the judge's page keeps them for an hour.`);
  byId("let-go").dataset.held = held.number;
  byId("let-go").showModal();
}

async function post(path, body) {
  const [, refused] = await ask(path, body);
  leave(byId("refused"), refused);
}

// view shows one of the cards where the screen has no room for all.
function view(name) {
  byId("main").dataset.view = name;
  for (const b of document.querySelectorAll(".switch button")) set(b, { "aria-pressed": b.dataset.view === name });
}

// What is declared of objects is answered in the list of targets.
let doing = "";
function followDeclaration() {
  const now = state.policy.window?.doing ?? "";
  if (now === doing) return;
  if (["lock", "tow", "scramble", "blast"].includes(now)) view("targets");
  else if (["lock", "tow", "scramble", "blast"].includes(doing)) view("answer");
  doing = now;
}

function startSwitches() {
  remembered(byId("figures"), "sightline-figures", true, (on) => {
    byId("answer").dataset.figures = byId("table").dataset.figures = on;
    show();
  });
  remembered(byId("inches"), "sightline-inches", false, show);
  remembered(byId("letters"), "sightline-letters", true, () => {});
  byId("sees").addEventListener("change", show);
  for (const button of document.querySelectorAll(".switch button")) button.addEventListener("click", () => view(button.dataset.view));
  byId("ask-judge").addEventListener("click", () => post("/api/ask-judge", { by: "" }));
  byId("go-on").addEventListener("click", goOn);
  byId("let-go-stay").addEventListener("click", () => byId("let-go").close());
  byId("let-go-go").addEventListener("click", () => {
    post("/api/freeze", { hold: false, held: Number(byId("let-go").dataset.held) });
    byId("let-go").close();
  });
}

startChoosing();
startKeys();
startSpeaking();
ready.then(startTry);
startPolicy();
startNaming();
startSwitches();
startRuling();
document.addEventListener("pending", show);
ready.then(() =>
  listen(
    (now) => {
      state = now;
      show();
    },
    (now) => {
      lost = now;
      if (state) show();
      else if (lost) banner("No connection", "The program does not answer.", "Start it with: sightline run");
    },
    "/api/events",
    speaking,
  ),
);
