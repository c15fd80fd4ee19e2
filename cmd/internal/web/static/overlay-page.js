// An overlay page: what the box says, drawn on a transparent picture of 1920×1080.
// What is shown is worked out again and again from the newest state and the box's clock, never
// from something that runs: OBS stops animations while a source is not seen.

import { fitName } from "/overlay-name.js";
import { beyond, decide, directed, froze, rulingAge } from "/overlay-gate.js";
import { Clock } from "/overlay-clock.js";
import { Live } from "/overlay-live.js";
import { Reload } from "/reload.js";
import { ready, say } from "/texts.js";
import { clear, drawCamera, drawTop } from "/overlay-draw.js";

const options = JSON.parse(document.body.dataset.options);
const byId = (id) => document.getElementById(id);
const wants = (widget) => options.widgets.indexOf(widget) >= 0;
const stage = { width: 1920, height: 1080, scale: options.scale };

let newest = null;
let kept = null; // the state that the director froze
let state = null; // the one of them that is shown
let drawn = ""; // what the drawings show

const query = options.token ? `token=${encodeURIComponent(options.token)}` : "";
const base = options.table ? `/t/${options.table}` : ""; // at a hall: of one of its tables, or the one on air
const clock = new Clock(`${base}/overlay/clock?${query}`);
let live = null;
let demo = null;

function setText(id, english) {
  const element = byId(id), text = say(english);
  if (element.textContent !== text) element.textContent = text;
}

function setShown(id, shown) {
  if (byId(id).hidden === shown) byId(id).hidden = !shown;
}

const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const arcNames = { front: "front arc", rear: "rear arc", left: "left arc", right: "right arc", full_front: "full front arc", full_rear: "full rear arc", bullseye: "bullseye arc", turret: "turret arc" };

function setShip(id, name) {
  setText(id, name);
  const ship = state.ships.find((s) => s.id === name);
  byId(id).dataset.pilot = ship && ship.name.startsWith(`${name} (`) ? ship.name.slice(name.length + 2, -1) : "";
  byId(id).dataset.player = ship ? ship.player : /^A/.test(name) ? 1 : /^B/.test(name) ? 2 : 0;
}

function setFacts(facts) {
  const list = byId("pair-facts");
  const now = JSON.stringify(facts);
  if (list.dataset.now === now) return;
  list.dataset.now = now;
  clear(list);
  for (const [outcome, words] of facts) {
    const item = document.createElement("li");
    item.dataset.outcome = outcome;
    item.textContent = say(words);
    list.appendChild(item);
  }
}

function showPair() {
  const answer = state.answer;
  const card = byId("pair");
  const headline = answer.headline;
  card.dataset.outcome = answer.outcome;
  card.dataset.kind = headline.kind;
  setText("pair-band", headline.band || (headline.kind === "no_shot" ? "✕" : "≈"));
  byId("pair-band").dataset.long = headline.band.length > 1;
  setShip("pair-from", state.choice.from);
  setShip("pair-to", state.choice.to);
  setText("pair-arc", arcNames[state.choice.arc] || state.choice.arc);
  setText("pair-title", headline.text);
  const range = answer.attack || answer;
  setText("pair-sure", `${range.distance_mm.toFixed(1)} ± ${range.sigma_mm.toFixed(2)} mm`);
  const facts = [];
  const no = answer.no_attack;
  if (no) facts.push([no.outcome === "yes" ? "no" : "too_close", upper(no.text)]);
  // What is true of an attack that cannot be made is shown without a tick.
  const told = (outcome) => (no && no.outcome === "yes" ? "told" : outcome);
  if (answer.in_arc.text) facts.push([told(answer.in_arc.outcome), upper(answer.in_arc.text)]);
  if (answer.attack && answer.attack.differs) facts.push(["told", `Between the bases: ${answer.title}`]);
  // Viewers must be told too that no one looked: silence would read as a clear line.
  const sight = answer.obstruction;
  const standing = sight.outcome === "no" ? "clear" : sight.outcome === "yes" ? "obstructed" : sight.outcome;
  if (sight.text) facts.push([told(standing), upper(sight.text)]);
  setFacts(facts);
  setText("pair-rests", answer.rests_on || "");
}

function showRuling(now) {
  const r = state.ruling;
  byId("ruling").dataset.overruled = r.overruled;
  setText("ruling-kind", `${r.overruled ? "Judge overrules" : r.decision === "decided" ? "Judge decides" : "Ruling"} · № ${r.number}`);
  setShip("ruling-from", r.from);
  setShip("ruling-to", r.to);
  setText("ruling-title", r.title);
  setText("ruling-text", r.decision !== "as_measured" && r.reason ? r.reason : r.text && r.text !== r.title ? r.text : "");
  const left = 1 - rulingAge(state, now) / (1000 * options.ttl);
  byId("ruling-left").style.width = `${(100 * Math.max(0, Math.min(1, left))).toFixed(1)}%`;
}

function showMatch() {
  const m = newest.match;
  setText("match-title", m.title);
  setText("match-round", m.round);
  m.sides.forEach((side, i) => {
    fitName(byId(`match-name-${i + 1}`), side.name || say(`Player ${i + 1}`));
    setText(`match-score-${i + 1}`, String(side.score));
    setText(`match-squad-${i + 1}`, side.squad_points ? `${side.squad_points} points` : "");
  });
}

function showLast() {
  setText("last-turn", newest.play.turn);
  setText("last-text", newest.play.last);
}

function showHeld() {
  setText("held-text", state.held.asked && state.held.guarded ? "A judge was called. The picture is held." : "The picture is held.");
}

function showDebug(show) {
  if (!options.debug) return;
  const hidden = [...options.problems, ...show.why];
  setText("debug", `Sightline overlay${state ? `, state ${state.seq}` : ""}. ${hidden.length ? `Not shown:\n${hidden.join("\n")}` : "Everything is shown."}`);
}

// timeOf says a time of the box's clock.
const timeOf = (ms) => new Date(ms).toTimeString().slice(0, 8);

// setMark marks a card as one that is not live.
function setMark(card, mark) {
  if (mark === (card.dataset.frozen || "")) return;
  if (mark) card.dataset.frozen = mark;
  else delete card.dataset.frozen;
}

const reload = new Reload();

// render shows what may be shown now. If that fails, as on a page that was open while the box was given another version of the
// program, it shows nothing: what was drawn before would pass for what is. Then the page is loaded again.
function render() {
  try {
    renderNow();
    reload.shown();
  } catch (error) {
    for (const id of ["table", "pair", "ruling", "match", "last", "held", "demo"]) byId(id).hidden = true;
    byId("over").style.display = "none";
    drawn = "";
    if (options.debug) setText("debug", `Not shown: ${error}`);
    if (demo) console.error(error);
    else reload.failed(error);
  }
}

function renderNow() {
  if (demo) newest = demo.state();
  const clockNow = demo ? Date.now() : clock.now();
  const show = decide({ state: newest, kept, now: clockNow, lost: !demo && live.lost(), ttl: options.ttl });
  state = show.frozen ? kept : newest;
  const now = show.frozen ? kept.at_unix_ms : clockNow;
  const camera = options.view === "camera";
  const outside = camera ? beyond(options.crop, state && state.overlay) : "";
  if (outside) show.why.push(`camera: ${outside}`);
  // A ruling is the last word on its pair: what is measured meanwhile waits behind it.
  if (wants("ruling") && show.ruling) show.pair = false;
  const card = { table: wants("table") && !camera && show.table, pair: wants("pair") && show.pair, ruling: wants("ruling") && show.ruling, match: wants("match") && show.match, last: wants("last") && show.last };
  if (card.pair) showPair();
  if (card.ruling) showRuling(now);
  const held = (wants("table") || wants("pair")) && show.held && !card.ruling;
  if (held) showHeld();
  for (const name of Object.keys(card)) setShown(name, card[name]);
  setShown("held", held);
  if (card.last) showLast();
  if (card.match) showMatch(); // measures its names, so it must be there
  const mark = show.frozen ? say(`FROZEN ${timeOf(kept.director.frozen_unix_ms)} · not live`) : "";
  for (const name of ["table", "pair", "ruling"]) setMark(byId(name), mark);
  const simulated = demo === null && state !== null && state.camera.simulated;
  setText("demo", simulated ? "SIMULATED · no camera" : "DEMO · no game is shown");
  setShown("demo", demo !== null || (simulated && Object.values(card).includes(true)));
  draw(show, card, camera && !outside);
  setShown("debug", options.debug);
  showDebug(show);
}

// draw draws again when the drawings would differ.
function draw(show, card, camera) {
  const over = camera && !show.frozen && (wants("table") || wants("ruling"));
  const what = { places: over && wants("table") && show.places, pair: show.pair, ruling: over && wants("ruling") && show.ruling };
  const drawing = what.places || what.ruling || card.table;
  const cards = [...document.querySelectorAll(".stage > .card:not([hidden])")];
  const key = drawing ? `${show.frozen} ${state.seq} ${state.at_unix_ms} ${JSON.stringify(what)} ${cards.map((c) => c.id)}` : "";
  if (key === drawn) return;
  drawn = key;
  byId("over").style.display = what.places || what.ruling ? "" : "none";
  if (what.places || what.ruling) {
    let crop = options.crop;
    if (options.region && state.picture) crop = state.picture.region_px;
    drawCamera(byId("over"), state, what, crop, stage, cards);
  } else clear(byId("over"));
  if (card.table) drawTop(byId("top"), state, show);
  else clear(byId("top"));
}

// The stage is 1920×1080, whatever the source's size.
function fit() {
  const scale = Math.min(innerWidth / stage.width, innerHeight / stage.height);
  byId("stage").style.transform = `scale(${scale})`;
}

function onState(came) {
  clock.heard(came.at_unix_ms);
  newest = came; // if what follows fails, this cannot be shown either
  newest = directed(came);
  kept = froze(newest, kept);
  render();
}

// onTable is called when another table goes on air: what was known belongs to the last one, its clock too.
function onTable() {
  newest = kept = null;
  clock.forget();
  render();
}

function tick() {
  if (!demo) {
    if (clock.tick()) {
      newest = null;
      live.reset();
    }
    const now = clock.now();
    if (newest && now !== null && Math.abs(now - newest.at_unix_ms) > 3000 && !live.lost() && performance.now() - clock.measured > 1000) {
      clock.measure(); // the box's clock was set, or the state is old: which of the two?
    }
    live.tick();
  }
  render();
}

async function startDemo() {
  const answer = await fetch("/overlay/demo.json");
  const script = await answer.json();
  demo = {
    // The time of day chooses the scene, so that all sources show the same one.
    state() {
      const at = Date.now() % script.length_ms;
      let scene = script.scenes[0];
      for (const s of script.scenes) if (s.from_ms <= at) scene = s;
      const begun = Date.now() - at + scene.from_ms;
      const s = Object.assign({}, scene.state, { at_unix_ms: Date.now(), seq: scene.from_ms });
      if (s.ruling) s.ruling = Object.assign({}, s.ruling, { at_unix_ms: begun, age_ms: at - scene.from_ms });
      return s;
    },
  };
  if (typeof options.scene === "number" && options.scene >= 0) {
    const scene = script.scenes[Math.min(options.scene, script.scenes.length - 1)];
    const begun = Date.now();
    demo.state = () => {
      const s = Object.assign({}, scene.state, { at_unix_ms: Date.now(), seq: scene.from_ms });
      const ruled = Math.max(begun, Date.now() - 4000);
      if (s.ruling) s.ruling = Object.assign({}, s.ruling, { at_unix_ms: ruled, age_ms: Date.now() - ruled });
      return s;
    };
  }
  render();
}

document.body.style.setProperty("--scale", options.scale);
document.body.style.setProperty("--opacity", options.opacity);
document.body.dataset.pos = options.pos;
document.body.dataset.view = options.view;
byId("over").removeAttribute("hidden");
byId("over").style.display = "none";
addEventListener("resize", fit);
fit();
ready.then(() => {
  if (options.demo) {
    startDemo();
    setInterval(() => demo && render(), 500);
  } else {
    live = new Live(`${base}/api/events?quiet=1${query ? "&" + query : ""}`, onState, onTable);
    clock.measure();
    setInterval(tick, 250);
    // Seen again after a while: look at once, and not a quarter of a second later.
    document.addEventListener("visibilitychange", tick);
    if (window.obsstudio) {
      window.obsstudio.onVisibilityChange = tick;
      window.obsstudio.onActiveChange = tick;
    }
    render();
  }
});
