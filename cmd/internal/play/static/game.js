// The game's page: start one, tap through its rounds, and find its log.

import { ask } from "/ask.js";
import { byId, nameGame, setLinked, setText } from "/dom.js";
import { listen } from "/live.js";
import { differs, restsOn } from "/rests.js";

let view = null; // what the server said last
let starting = false; // the form for another game is open
let instead = 0; // the game that it is to replace
let tying = ""; // the ship whose pilot is being tied to another base

// make makes an element with properties and children.
function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "data") Object.assign(element.dataset, value);
    else if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

// replace puts children in place, when they say something else than before.
const shown = new WeakMap();
function replace(element, key, children) {
  const text = JSON.stringify(key);
  if (shown.get(element) === text) return;
  shown.set(element, text);
  element.replaceChildren(...children());
}

const patience = 5000; // ms for an answer
let loads = 0;
let lost = false;

async function load() {
  const turn = ++loads; // what was asked earlier and comes later is older
  try {
    const answer = await fetch("/api/game", { signal: AbortSignal.timeout(patience) });
    const text = await answer.text();
    if (turn !== loads) return;
    if (!answer.ok) return trouble(text);
    view = JSON.parse(text);
    trouble(view.trouble || view.news[0] || "");
    draw();
  } catch {
    trouble("The program does not answer.");
  }
}

function trouble(text) {
  byId("trouble").hidden = !text;
  setText(byId("trouble"), text.trim());
}

// post does something to the game, and shows how it stands then.
async function post(event) {
  const [, problem] = await ask("/api/game/do", { ...event, game: view.game?.id ?? 0 });
  setLinked(byId("do-problem"), problem);
  await load();
}

const logs = (id) => [
  make("a", { href: `/api/games/${id}/export/html`, textContent: "Log" }),
  make("a", { href: `/replay?game=${id}`, textContent: "Replay" }),
  make("a", { href: `/api/games/${id}/export/csv`, textContent: "CSV" }),
  make("a", { href: `/api/games/${id}/export/json`, textContent: "JSON" }),
];

function draw() {
  const game = view.game;
  byId("start").hidden = Boolean(game) && !starting;
  byId("play").hidden = !game || starting;
  byId("start-cancel").hidden = !game;
  if (!game) startValues();
  if (game) drawGame(game);
  byId("games-card").hidden = view.games.length === 0;
  replace(byId("games"), view.games, () =>
    view.games.map((g) =>
      make("li", {}, nameGame(make("strong"), g.title),
        make("span", { textContent: `${new Date(g.at).toLocaleString()} · ${g.rules} · ${g.score[0]} : ${g.score[1]} · ${g.ended ? g.why : `round ${g.round}`}` }),
        ...logs(g.id))),
  );
}

function drawGame(game) {
  replace(byId("phases"), [game.phases, game.phase, game.ended], () =>
    game.phases.map((phase) => make("li", { textContent: phase, ...(phase === game.phase && !game.ended ? { "aria-current": "step" } : {}) })));
  setText(byId("turn-h"), game.ended ? `The game is over: ${game.why}` : game.turn);
  setText(byId("live"), game.turn);
  byId("next").hidden = !game.next;
  setText(byId("next"), game.next);
  byId("on").hidden = game.next_event?.kind !== "ended";
  byId("undo").hidden = !game.undo;
  setText(byId("undo-text"), game.undo ? `Undo takes back: ${game.undo_text}` : "");
  setText(byId("ends"), game.ends ? `The game ends with this round: ${game.ends}.` : "");
  byId("first-row").hidden = !game.ask_first;
  for (const button of document.querySelectorAll("[data-first]")) setText(button, game.players[button.dataset.first - 1].name);
  drawScore(game);
  drawObjectives(game);
  drawShips(game);
  replace(byId("ghosts"), game.ghosts, () => game.ghosts.map((text) => make("li", { textContent: `${text}. Put it back, or leave it: the table shows where it stood.` })));
  replace(byId("says"), game.says, () =>
    game.says.map((say) =>
      make("li", {}, make("time", { dateTime: say.at, textContent: new Date(say.at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) }),
        say.text, ...say.more.map((text) => make("small", { textContent: text })))));
  for (const a of document.querySelectorAll("[data-log]")) {
    a.href = a.dataset.log === "replay" ? `/replay?game=${game.id}` : `/api/games/${game.id}/export/${a.dataset.log}`;
  }
  const scenario = [...byId("scenario").options].find((o) => o.value === game.scenario);
  setText(byId("about"), `Game ${game.id}, rules of ${game.rules}${game.scenario ? `, ${scenario.textContent}` : ""}. Round ${game.round}${game.rounds ? ` of ${game.rounds}` : ""}.`);
  byId("end").hidden = game.ended;
  document.querySelector('[data-check="scenario"]').hidden = !game.scenario;
  drawShotPickers(game);
  drawAreas();
}

function drawScore(game) {
  replace(byId("scores"), [game.players, game.ended], () =>
    game.players.map((player, i) => {
      const change = (points) => make("button", { type: "button", className: "small", textContent: points > 0 ? "+1" : "−1", disabled: game.ended,
        ariaLabel: `${player.name}: ${points > 0 ? "one point more" : "one point less"}`,
        onclick: () => post({ kind: "scored", player: i + 1, points, text: "by hand" }) });
      return make("div", { className: "side", data: { player: i + 1 } }, make("h3", { textContent: player.name, translate: false }),
        make("p", { className: "points", textContent: player.score }), make("p", { className: "hint", textContent: player.squad ?? "", translate: false }),
        make("div", { className: "row" }, change(-1), change(1)));
    }));
  replace(byId("claims"), [game.claims, game.round, game.uncounted], () =>
    game.claims.flatMap((claim) => {
      const name = game.players[claim.player - 1].name;
      const give = (points) => make("button", { type: "button", textContent: `Confirm ${points}`,
        onclick: () => post({ kind: "scored", player: claim.player, points, round: game.round, text: claim.why }) });
      const choices = claim.points === claim.most ? [claim.points] : [claim.points, claim.most];
      return [make("li", {}, make("span", {}, make("b", { textContent: name, translate: false }), ": ", make("span", { textContent: claim.why })), ...choices.map(give))];
    }).concat(game.uncounted ? [make("li", {}, make("span", { textContent: `Not counted: ${game.uncounted}. Give the points by hand.` }))] : []));
}

// drawObjectives lists who tows or has scrambled what, what is proposed, and what people say.
function drawObjectives(game) {
  byId("objectives-box").hidden = game.objectives.length === 0;
  const towing = game.scenario === "salvage";
  const open = game.round >= 2 && !game.ended;
  replace(byId("offers"), game.offers, () =>
    game.offers.map((offer) =>
      make("li", { data: { outcome: offer.outcome } }, make("span", { textContent: `${offer.text}.` }),
        make("button", { type: "button", textContent: offer.button, onclick: () => post({ kind: offer.tap.kind, ship: offer.tap.ship, with: offer.tap.with, text: offer.tap.text }) }))));
  replace(byId("objectives"), [game.objectives, game.players, game.ships.map((s) => [s.name, s.status, s.tows]), open], () =>
    game.objectives.map((o) => {
      const row = make("li", { data: { player: o.player } }, make("span", { textContent: `${o.id}: ${o.text}` }));
      if (!open) return row;
      if (towing && o.ship) row.append(make("button", { type: "button", className: "small", textContent: "Jettisoned", onclick: () => post({ kind: "jettisoned", ship: o.ship }) }));
      else if (towing) {
        const free = game.ships.filter((ship) => ship.status === "on the table" && !ship.tows);
        row.append(make("select", { ariaLabel: `Who tows ${o.id}?`, onchange: (event) => event.target.value && post({ kind: "towed", ship: event.target.value, with: o.id }) },
          make("option", { value: "", textContent: "towed by …" }), ...free.map((ship) => make("option", { value: ship.id, textContent: ship.name }))));
      } else {
        row.append(...game.players.map((player, i) => make("button", { type: "button", className: "small", textContent: player.name, disabled: o.player === i + 1,
          ariaLabel: `${o.id}: marker of ${player.name}`, onclick: () => post({ kind: "scrambled", player: i + 1, with: o.id }) })));
      }
      return row;
    }));
}

const statuses = ["on the table", "destroyed", "fled", "reserve", "docked"];

function drawShips(game) {
  byId("tie-hint").hidden = !tying;
  setText(byId("tie-hint"), tying ? `Tap the ship that has the pilot of ${tying}.` : "");
  replace(byId("fleets"), [game.ships, game.phase, game.ended, tying], () =>
    game.players.map((player, i) =>
      make("div", { className: "fleet", data: { player: i + 1 } }, make("h3", { textContent: player.name, translate: false }),
        ...game.ships.filter((ship) => ship.player === i + 1).map((ship) => drawShip(game, ship)))));
}

function drawShip(game, ship) {
  const acts = ["Activation", "Combat", "Engagement"].includes(game.phase);
  const state = ship.status === "destroyed" && ship.active ? "destroyed, still attacks" : ship.status !== "on the table" ? ship.status : acts && ship.acted ? (game.phase === "Activation" ? "moved" : "attacked") : ship.active ? "next" : "";
  const status = make("select", { ariaLabel: `Status of ${ship.name}`, disabled: game.ended, onchange: (event) => post({ kind: "changed", ship: ship.id, status: event.target.value }) },
    ...statuses.map((name) => make("option", { value: name, textContent: name, selected: name === ship.status })));
  const tools = make("div", { className: "tools" }, status);
  const button = (text, act) => tools.append(make("button", { type: "button", className: "small", textContent: text, disabled: game.ended, onclick: act }));
  if (ship.active) button(game.phase === "Activation" ? "Has moved" : "Has attacked", () => post({ kind: "acted", ship: ship.id, round: game.round, phase: game.phase }));
  if (ship.active && ship.status === "destroyed") button("It was destroyed before", () => post({ kind: "changed", ship: ship.id, status: "destroyed" }));
  if (ship.flees) button("It fled", () => post({ kind: "changed", ship: ship.id, status: "fled" }));
  if (game.halves && !ship.half && ship.status === "on the table") button("At half", () => post({ kind: "halved", ship: ship.id }));
  const { player: whose, pilot } = game.ships.find((s) => s.id === tying) ?? {};
  if (tying && tying !== ship.id && whose === ship.player) {
    button(`Swap with ${tying}`, () => { const from = tying; tying = ""; post({ kind: "tied", ship: from, with: ship.id, text: pilot }); });
  } else if (game.ships.filter((s) => s.player === ship.player).length > 1) {
    button(tying === ship.id ? "Keep this pilot" : "Other pilot…", () => { tying = tying === ship.id ? "" : ship.id; draw(); });
  }
  const facts = [ship.ship, ship.initiative === undefined ? "" : `${game.rules === "1e" ? "skill" : "initiative"} ${ship.initiative}`, ship.points ? `${ship.points} points` : "", ship.last ? `last: ${ship.last}` : "", ship.tows ? `tows ${ship.tows}` : "",
    ship.touching.length ? `touches ${ship.touching.join(", ")}` : ""].filter(Boolean).join(" · ");
  const unseen = !ship.seen && ship.status === "on the table" ? "not seen on the table" : "";
  return make("div", { className: "ship", data: { active: ship.active, out: ["destroyed", "fled"].includes(ship.status) } },
    make("span", { className: "id", textContent: ship.id }),
    make("p", { className: "who" }, make("span", { textContent: ship.pilot || ship.id, translate: false }), make("small", { textContent: facts })),
    make("span", { className: "state", textContent: state || unseen }),
    ship.mismatch ? make("p", { className: "warn", textContent: `! ${ship.mismatch}` }) : "", tools);
}

// What a ship can attack.

let shotKey = "";
function drawShotPickers(game) {
  const select = byId("shot-ship");
  const ships = game.ships.filter((ship) => ship.status === "on the table");
  const chosen = select.value;
  replace(select, [ships.map((s) => s.name)], () => ships.map((s) => make("option", { value: s.id, textContent: s.name, selected: s.id === chosen })));
  const active = ships.find((s) => s.active);
  const key = `${game.round} ${game.phase} ${active?.id ?? ""}`;
  if (active && key !== shotKey) select.value = active.id;
  shotKey = key;
  const ship = ships.find((s) => s.id === select.value);
  const arcs = arcsOf(game, ship, byId("shot-weapon").value !== "");
  const arc = byId("shot-arc").value;
  replace(byId("shot-arc"), arcs, () => arcs.map((a) => make("option", { value: a, textContent: a === "primary_turret" ? "any direction" : a.replaceAll("_", " "), selected: a === arc })));
}

// arcsOf lists the arcs that a weapon of a ship may attack in. A turret may point to four of
// them; which arc a special weapon uses, its card says.
function arcsOf(game, ship, special) {
  const own = ship?.arcs ?? [];
  const sectors = ["front", "right", "rear", "left"];
  if (game.rules === "1e") {
    if (special) return ["front", "primary_turret"];
    if (own.includes("primary_turret")) return ["primary_turret"];
    const known = own.filter((a) => !["mobile", "bullseye"].includes(a));
    return [...new Set(["front", ...known, ...(own.includes("mobile") ? sectors : [])])];
  }
  if (special || !own.length) return [...sectors, "bullseye", "full_front", "full_rear"];
  const known = own.filter((a) => !["turret", "double_turret"].includes(a));
  return [...new Set([...known, ...(known.length < own.length ? sectors : []), "bullseye"])].filter((a) => a !== "bullseye" || own.some((o) => ["bullseye", "front", "full_front"].includes(o)));
}

// question is what the pickers ask for.
function question() {
  const query = new URLSearchParams(byId("shot-weapon").value);
  query.set("ship", byId("shot-ship").value);
  query.set("arc", byId("shot-arc").value || "front");
  return query.toString();
}

function showShots(found) {
  const lines = found.shots.length ? found.shots : [{ outcome: "no_view", text: found.reason ? `No answer: ${found.reason}.` : "No enemy is seen." }];
  replace(byId("shotlist"), lines, () => lines.map((shot) => make("li", { textContent: shot.text, data: { outcome: shot.outcome } })));
}

let wanted = 0; // times that the shots were to be drawn
let asking = false;

// drawShots asks one question at a time: what was asked before the pickers changed is not shown.
async function drawShots() {
  wanted++;
  if (asking) return;
  asking = true;
  for (let now = 0; now !== wanted && !lost && view?.game && !view.game.ended && !starting; ) {
    now = wanted;
    const query = question();
    try {
      const answer = await fetch(`/api/game/shots?${query}`, { signal: AbortSignal.timeout(patience) });
      const found = answer.ok ? await answer.json() : null;
      if (found && !lost && query === question()) showShots(found);
    } catch {
      break; // the banner says that the program does not answer
    }
  }
  asking = false;
}
for (const id of ["shot-ship", "shot-arc", "shot-weapon"]) byId(id).addEventListener("change", () => { if (view?.game) drawShotPickers(view.game); drawShots(); });

// Taps.

byId("next").addEventListener("click", async (event) => {
  const tap = view?.game?.next_event;
  if (!tap) return;
  event.target.disabled = true; // one tap is one step
  await post({ kind: tap.kind, ship: tap.ship, round: tap.round, phase: tap.phase, text: tap.text, player: tap.player });
  event.target.disabled = false;
});
byId("on").addEventListener("click", () => post({ kind: "advanced", round: view.game.round, phase: view.game.phase }));
byId("undo").addEventListener("click", () => post({ kind: "undone", undo: view.game.undo }));
for (const button of document.querySelectorAll("[data-first]")) {
  button.addEventListener("click", () => post({ kind: "rolled", player: Number(button.dataset.first) }));
}
byId("end").addEventListener("click", () => post({ kind: "ended", text: "ended by the players" }));
byId("new").addEventListener("click", () => { starting = true; instead = view.game.id; startValues(); draw(); });
byId("start-cancel").addEventListener("click", () => { starting = false; draw(); });

// Checks of the table. What they found is shown as long as the table and the game are as they were.

let table = null; // the newest state
let checked = null; // what the shown check rests on; null: none is shown
let checks = 0;
const resting = () => ({ ...restsOn(table), game: JSON.stringify([table.play, table.policy.measuring, table.rules]) });
function unlike(then) {
  const now = resting();
  return then.game !== now.game || differs(then, now);
}

function withdraw(why) {
  checks++;
  checked = null;
  byId("checklist").replaceChildren();
  setLinked(byId("check-problem"), why);
}
for (const button of document.querySelectorAll("[data-check]")) button.addEventListener("click", () => check(button.dataset.check));
async function check(what) {
  if (!table) return;
  withdraw("");
  const mine = checks, on = resting();
  const [found, refused] = await ask(`/api/game/check/${what}`);
  if (mine !== checks) return;
  setLinked(byId("check-problem"), refused || found.trouble);
  if (refused) return;
  checked = on;
  byId("areas").hidden = byId("over").hidden = what !== "setup";
  if (what !== "setup") hideArea();
  byId("checklist").replaceChildren(
    ...found.control.map((c) => make("li", { textContent: `${c.objective}: ${c.text}`, data: { outcome: c.outcome } })),
    ...found.lines.map((line) => make("li", { textContent: `${line.text} (${line.rule})`, data: { outcome: line.outcome } })),
    ...found.notes.map((note) => make("li", { textContent: note })));
  if (!byId("checklist").children.length && !found.trouble) byId("checklist").replaceChildren(make("li", { textContent: "Nothing to check was found on the table." }));
}

// drawAreas offers a drawing of where each thing may be placed.
const placeNames = { obstacles: "Obstacles", ships: "Ships", features: "Satellites or caches", markers: "Hyperspace markers" };
function drawAreas() {
  replace(byId("areas"), view.places, () => [make("span", { textContent: "Where may they lie?" }),
    ...view.places.map((what) => make("button", { type: "button", className: "small", textContent: placeNames[what], onclick: () => showArea(what) }))]);
}
let placing = ""; // what is shown; "": nothing
let placed = null; // what it rests on
let asked = 0; // when
const askEvery = 1000; // ms
async function showArea(what) {
  if (!table) return;
  const over = byId("over").getAttribute("aria-pressed") === "true" ? "&over=picture" : "";
  asked = performance.now();
  placed = resting();
  const [, refused] = await ask(`/api/game/setup.svg?area=${what}${over}`, undefined, String);
  setLinked(byId("check-problem"), refused);
  if (refused) return hideArea();
  placing = what;
  const camera = byId("area-picture");
  if (over && camera.hidden) camera.src = `/api/video.mjpg?width=640&at=${Date.now()}`;
  if (!over) camera.removeAttribute("src"); // a hidden picture would be filmed all the same
  camera.hidden = !over;
  const picture = byId("area");
  picture.alt = `Where ${placeNames[what].toLowerCase()} may be placed, on the table from above`;
  picture.src = `/api/game/setup.svg?area=${what}${over}&at=${Date.now()}`;
  byId("area-frame").hidden = false;
}

// showChecked shows what was found and drawn while the table is seen and is as it was.
function showChecked(seen) {
  if (seen && checked && unlike(checked)) withdraw("The table or the game has changed since this check. Check again.");
  byId("checklist").hidden = !seen;
  if (!placing) return;
  const old = seen && unlike(placed);
  byId("area-frame").hidden = !seen || old;
  if (old && performance.now() - asked > askEvery) showArea(placing);
}
function hideArea() {
  placing = "";
  byId("area-frame").hidden = true;
  byId("area-picture").hidden = true;
  byId("area-picture").removeAttribute("src");
}
async function showOver(on) {
  byId("over").setAttribute("aria-pressed", String(on));
  if (placing) await showArea(placing);
}
byId("over").addEventListener("click", () => showOver(byId("over").getAttribute("aria-pressed") !== "true"));
byId("area-picture").addEventListener("error", async () => {
  if (byId("area-picture").hidden) return;
  await showOver(false);
  setLinked(byId("check-problem"), "The camera's picture is not available now: too many people watch it, or the table is not calibrated.");
});

// Starting.

let filled = false;
function startValues() {
  if (filled || !view) return;
  filled = true;
  byId("edition").value = view.rules;
  editionChanged();
}
function editionChanged() {
  const edition = byId("edition").value;
  byId("scenario-field").hidden = edition !== "2.5";
  byId("first-field").hidden = edition === "2.5"; // rolled for in each round
  byId("points").value = { "1e": 100, "2.0": 200, "2.5": 20 }[edition];
}
byId("edition").addEventListener("change", editionChanged);

// say tells what a squad's text is, as far as the browser can tell.
function say(player) {
  const text = byId(`squad-${player}`).value.trim();
  let said = "";
  if (!text) said = view?.squads[player - 1] ? "The squad from the configuration is used." : "";
  else {
    try {
      if (text.length > 48 * 1024) throw new Error("large");
      const squad = JSON.parse(text);
      said = `${squad.name ?? "A squad"}: ${squad.pilots?.length ?? 0} pilots`;
    } catch (error) {
      said = "This is no XWS: expected the JSON text that a squad builder exports.";
      if (/^https?:/.test(text)) said = "This is an address: in the squad builder choose Export, then XWS, and paste that text.";
      if (error.message === "large") said = "This is too large for a squad: at most 48 kB are accepted, and a squad has 1 to 10 kB.";
    }
  }
  setText(byId(`squad-text-${player}`), said);
}
for (const player of [1, 2]) {
  const take = async (file) => {
    if (!file) return;
    byId(`squad-${player}`).value = await file.text();
    say(player);
  };
  byId(`squad-${player}`).addEventListener("input", () => say(player));
  byId(`file-${player}`).addEventListener("change", (event) => take(event.target.files[0]));
  const box = document.querySelector(`fieldset[data-player="${player}"]`);
  for (const name of ["dragover", "dragleave", "drop"]) {
    box.addEventListener(name, (event) => {
      event.preventDefault();
      box.classList.toggle("over", name === "dragover");
      if (name !== "drop") return;
      const file = event.dataTransfer.files[0];
      if (file) take(file);
      else if (event.dataTransfer.getData("text")) {
        byId(`squad-${player}`).value = event.dataTransfer.getData("text");
        say(player);
      }
    });
  }
}
byId("start-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const edition = byId("edition").value;
  const button = event.submitter;
  if (button) button.disabled = true;
  const [, problem] = await ask("/api/game/start", {
    instead_of: starting ? instead : 0, edition, scenario: edition === "2.5" ? byId("scenario").value : "", points: Number(byId("points").value) || 0,
    first: edition === "2.5" ? 0 : Number(byId("first").value),
    players: [1, 2].map((n) => ({ name: byId(`name-${n}`).value.trim(), squad: byId(`squad-${n}`).value })),
  });
  if (button) button.disabled = false;
  setLinked(byId("start-problem"), problem);
  if (problem) return;
  starting = false;
  await load();
  window.scrollTo(0, 0);
});

// The table's events say when the game has changed.
let before = "";
listen(
  (state) => {
    byId("status").dataset.code = state.held ? "held" : state.health.code;
    setText(byId("status-text"), state.held ? "held" : state.health.title || "live");
    table = state;
    showChecked(state.health.code === "ok");
    const now = JSON.stringify([state.play, state.ships.map((s) => [s.id, s.base]), state.rules]);
    if (now !== before) {
      before = now;
      load().then(drawShots);
    } else drawShots();
  },
  (now) => {
    lost = now;
    document.body.classList.toggle("lost", lost);
    byId("status").dataset.code = lost ? "lost" : "starting";
    setText(byId("status-text"), lost ? "no connection" : "starting");
    if (!lost) return;
    showShots({ shots: [], reason: "connection lost" });
    showChecked(false);
  },
);
load();
