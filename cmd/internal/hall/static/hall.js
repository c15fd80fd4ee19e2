// The hall's page: a tile for each table, the open calls for a judge, what was ruled and played.
// It asks once a second, and what the hall does not say any more is not shown as live.

import { age, ask, byId, follow, make, named, setText } from "./now.js";
import { ready, say } from "/texts.js";

// state says in a few words how a table is, and which kind of tile shows it.
function stateOf(tile) {
  const health = tile.health;
  if (!health) return ["silent", ""];
  if (!tile.live) return ["silent", health.code === "ok" ? "" : health.title];
  if (health.call) return ["call", "a judge was called"];
  if (tile.problems.length > 0 || health.rulings_trouble || health.code !== "ok") return ["trouble", health.title];
  return health.held ? ["held", "held"] : ["ok", "live"];
}

// lastSign says when a table was last heard.
function lastSign(tile) {
  if (!tile.health) return tile.expires.startsWith("0001") ? "" : "invited, not here yet";
  if (tile.age_ms < 0) return "its clock is not known";
  return `${age(tile.age_ms)} ago`;
}

function showTile(element, tile, program) {
  const health = tile.health;
  const [kind, words] = stateOf(tile);
  element.dataset.kind = kind;
  element.dataset.table = tile.table;
  element.dataset.needs = kind === "call" || kind === "trouble" || (kind === "silent" && (!!health || tile.problems.length > 0));
  const lines = [make("div", { class: "head" }, make("h3", {}, `Table ${tile.table}`), tile.table === program ? make("span", { class: "air" }, "ON AIR") : "", make("span", { class: "age" }, lastSign(tile)))];
  if (tile.round) lines.push(make("p", { class: "round" }, tile.round));
  if (tile.names.some((name) => name !== "")) {
    tile.names.forEach((name, i) => lines.push(make("p", { class: "score" }, name ? named(name) : make("span", {}, `Player ${i + 1}`), make("b", {}, String(tile.score[i])))));
  }
  if (words) lines.push(make("p", { class: "state" }, words));
  if (health?.answer) lines.push(make("p", { class: "answer" }, named(`${health.from} ▸ ${health.to}: `), make("span", {}, health.answer)));
  if (health?.ruling) lines.push(make("p", { class: "hint" }, `Ruling ${health.ruling.number}: ${health.ruling.title}`));
  if (tile.waiting > 0) lines.push(make("p", { class: "hint" }, `${tile.waiting} ${tile.waiting === 1 ? "ruling waits" : "rulings wait"} at the table`));
  for (const problem of [...tile.problems, ...(health?.rulings_trouble ? [health.rulings_trouble] : [])]) lines.push(make("p", { class: "problem" }, problem));
  element.replaceChildren(...lines);
}

// keyed keeps one element for each item, in their order, and shows only those that changed.
function keyed(parent, items, key, create, show, same = (item) => item) {
  const there = new Map([...parent.children].map((e) => [e.dataset.key, e]));
  items.forEach((item, i) => {
    const name = String(key(item));
    const element = there.get(name) ?? create();
    there.delete(name);
    element.dataset.key = name;
    const text = JSON.stringify(same(item));
    if (element.shown !== text) show(element, item);
    element.shown = text;
    if (parent.children[i] !== element) parent.insertBefore(element, parent.children[i] ?? null);
  });
  for (const gone of there.values()) gone.remove();
}

function showCall(element, call) {
  const a = element.firstChild;
  a.href = call.page;
  a.dataset.live = call.live;
  a.replaceChildren(make("b", {}, `Table ${call.table}`), make("span", {}, call.asked ? `asked by ${call.asked}` : "a judge holds it"), make("span", { class: "age" }, `waiting for ${age(call.waiting_ms)}${call.live ? "" : ", the table is silent"}`));
}

const many = 24; // tables, from which on tiles are small and there is something to find

// pick shows the tiles that hold every word that is looked for: a number is a table's, a text
// stands in its names.
function pick(tables) {
  const form = byId("find");
  const words = form.hidden ? [] : form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const needs = !form.hidden && form.needs.checked;
  const has = (tile, word) => (/^\d+$/.test(word) ? tile.table === word : [`table ${tile.table}`, tile.round, ...tile.names].join("\n").toLowerCase().includes(word));
  tables.forEach((tile, i) => {
    const element = byId("tables").children[i];
    element.hidden = !words.every((word) => has(tile, word)) || (needs && element.dataset.needs !== "true");
  });
  const shown = [...byId("tables").children].filter((e) => !e.hidden).length;
  setText(byId("find-said"), shown < tables.length ? `${shown} of ${tables.length} shown` : "");
}

let tables = [];
byId("find").addEventListener("submit", (event) => event.preventDefault());
byId("find").addEventListener("input", () => pick(tables));

function show(now) {
  tables = now.tables;
  const tiles = byId("tables");
  keyed(tiles, now.tables, (t) => t.table, () => make("article", { class: "tile" }), (e, t) => showTile(e, t, now.program), (t) => ({ ...t, age_ms: t.age_ms < 0, air: t.table === now.program }));
  now.tables.forEach((t, i) => setText(tiles.children[i].querySelector(".age"), lastSign(t)));
  tiles.classList.toggle("many", now.tables.length > many);
  byId("find").hidden = byId("skip").hidden = now.tables.length <= many;
  pick(now.tables);
  keyed(byId("calls"), now.calls, (c) => `${c.table} ${c.held}`, () => make("li", {}, make("a", {})), showCall);
  byId("no-calls").hidden = now.calls.length > 0;
  byId("no-tables").hidden = now.tables.length > 0;
  const live = now.tables.filter((t) => t.live).length;
  setText(byId("tables-count"), `${live} of ${now.tables.length} heard`);
  setText(byId("calls-count"), now.calls.length ? String(now.calls.length) : "");
  document.title = (now.calls.length ? `(${now.calls.length}) ` : "") + say("Sightline: the hall");
}

const count = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;
const when = (text) => new Date(text).toLocaleString([], { dateStyle: "short", timeStyle: "short" });
const dotted = (...texts) => texts.filter(Boolean).join(" · ");

let searches = 0;

async function search(words) {
  const mine = ++searches;
  byId("found").replaceChildren(); // what was found of other words
  setText(byId("search-said"), "");
  const [out, problem] = await ask(`/api/search?q=${encodeURIComponent(words)}`);
  if (mine !== searches) return;
  if (problem) return setText(byId("search-said"), problem);
  const rulings = out.rulings.map((r) =>
    make("li", {}, make("b", {}, make("span", {}, `Table ${[r.table, ...r.also].join(" + ")}, ruling ${r.number}`), ": ", named(r.title || r.text)), named(` ${dotted(when(r.at), r.judge)}`), make("p", { class: "hint" }, named(dotted(r.question, r.reason))), r.problem ? make("p", { class: "problem" }, r.problem) : "", make("p", {}, make("a", { href: `/api/rulings/${r.table}/${r.number}/${r.hash}` }, "Record"), " ", r.picture ? make("a", { href: `/api/pictures/${r.table}/${r.picture}` }, "Picture") : "")),
  );
  const games = out.games.map((g) => make("li", {}, make("b", {}, make("span", {}, `Table ${g.table}, game ${g.id}`), ": ", named(`${g.players[0]} ${g.score[0]} : ${g.score[1]} ${g.players[1]}`)), " ", make("span", {}, `Round ${g.round}, ${g.over || g.phase}`)));
  byId("found").replaceChildren(...rulings, ...games);
  setText(byId("search-said"), `${count(rulings.length, "ruling")}, ${count(games.length, "game")}${out.more ? "; there are more, search for more words" : ""}.`);
}

let judge = false;

// paired says which pairings the hall has: those of the round before are soon taken for the next's.
function paired(list) {
  const rounds = [...new Set(list.map((p) => p.round))];
  setText(byId("pairings-said"), `${count(list.length, "pairing")}${rounds.length === 1 && rounds[0] ? `: ${rounds[0]}` : ""}.`);
}

async function who() {
  const [me] = await ask("/api/me");
  if (!me) return;
  judge = me.role === "judge";
  byId("login").hidden = judge || !me.judges;
  byId("judges").hidden = me.role !== "judge" && me.role !== "player";
  byId("pairings").hidden = byId("to-pairings").hidden = !judge;
  byId("to-rulings").hidden = byId("judges").hidden;
  if (judge) {
    const [out] = await ask("/api/pairings");
    if (out?.pairings.length) paired(out.pairings);
  }
  byId("who").replaceChildren(...(judge ? ["Judge", " ", named(me.name)] : []));
}

byId("login-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const [, problem] = await ask("/api/pair", "POST", JSON.stringify({ judge_secret: form.secret.value, name: form.name.value }));
  setText(byId("login-problem"), problem ?? "");
  if (problem) return;
  form.reset();
  await who();
  const next = new URLSearchParams(location.search).get("next");
  if (next && /^\/t\/[A-Za-z0-9-]+\/[a-z]*$/.test(next)) location.href = next;
});
byId("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  search(event.target.q.value);
});
byId("pairings-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const [out, problem] = await ask("/api/pairings", "PUT", await event.target.file.files[0].arrayBuffer());
  if (problem) setText(byId("pairings-said"), problem);
  else paired(out.pairings);
});
byId("pairings-send").addEventListener("click", async () => {
  const [out, problem] = await ask("/api/pairings/send", "POST");
  setText(byId("pairings-said"), problem ?? `Written at ${out.sent} tables.${out.failed.length ? ` These tables did not accept it: ${out.failed.join(", ")}.` : ""}`);
});
byId("calls").addEventListener("click", (event) => {
  if (judge || !event.target.closest("a")) return;
  event.preventDefault();
  byId("login").hidden = false;
  byId("login-form").secret.focus();
  setText(byId("login-problem"), "Sign in as a judge to rule.");
  history.replaceState(null, "", `?next=${encodeURIComponent(new URL(event.target.closest("a").href).pathname)}`);
});

await ready;
await who();
follow(show);
