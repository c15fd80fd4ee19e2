// The replay: a game's events, and the table as it stood after each.

import { byId, nameGame, setText, svg } from "/dom.js";

const game = Number(new URLSearchParams(location.search).get("game"));
let asked = 0; // the newest question to the server

function trouble(text) {
  byId("trouble").hidden = !text;
  setText(byId("trouble"), text.trim());
}

// failed says why a question has no answer.
function failed(problem) {
  trouble(problem instanceof TypeError ? "The program does not answer." : problem.message);
}

async function get(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

function options(select, values) {
  const chosen = select.value;
  if ([...select.options].map((o) => o.value).join() === values.map(([v]) => v).join()) return;
  select.replaceChildren(...values.map(([value, text]) => new Option(text, value, false, value === chosen)));
}

function draw(at) {
  setText(byId("turn"), at.turn);
  setText(byId("score"), `Score ${at.score[0]} to ${at.score[1]} · event ${at.number}`);
  setText(byId("text"), at.text);
  byId("says").replaceChildren(...at.says.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  setText(byId("answer"), at.answer);
  setText(byId("meaning"), at.meaning);
  const ships = at.ships.map((s) => [s.id, s.name]);
  options(byId("from"), ships);
  options(byId("to"), ships);
  if (byId("from").value === byId("to").value && ships.length > 1) byId("to").value = ships[ships.length - 1][0];
  if (at.arcs.length) options(byId("arc"), at.arcs.map((a) => [a, a.replaceAll("_", " ")]));
  table(at);
}

// table draws from above, with the near edge below.
function table(at) {
  const drawing = byId("table");
  drawing.replaceChildren();
  if (!at.width_mm) return;
  drawing.setAttribute("viewBox", `-10 -10 ${at.width_mm + 20} ${at.height_mm + 20}`);
  const place = ([x, y]) => [x, at.height_mm - y];
  const points = (outline) => outline.map((p) => place(p).map((v) => v.toFixed(1)).join()).join(" ");
  svg("rect", { x: 0, y: 0, width: at.width_mm, height: at.height_mm, fill: "none", stroke: "var(--line)" }, drawing);
  for (const outline of at.obstacles_mm) svg("polygon", { class: "rock", points: points(outline) }, drawing);
  for (const ship of at.ships) {
    const group = svg("g", { "data-player": ship.player, "data-ship": ship.id }, drawing);
    if (ship.id === byId("from").value || ship.id === byId("to").value) group.setAttribute("data-role", "pair");
    svg("polygon", { class: "base", points: points(ship.outline_mm) }, group);
    const [a, b, c, d] = ship.outline_mm.map(place);
    const front = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    const middle = [(a[0] + b[0] + c[0] + d[0]) / 4, (a[1] + b[1] + c[1] + d[1]) / 4];
    svg("circle", { class: "nose", cx: front[0], cy: front[1], r: 4 }, group);
    svg("text", { x: middle[0], y: middle[1] }, group).textContent = ship.id;
  }
}

async function show() {
  const number = byId("scrub").value;
  const mine = ++asked;
  for (const id of ["answer", "meaning"]) setText(byId(id), ""); // of another event or pair
  const query = new URLSearchParams({ event: number, from: byId("from").value, to: byId("to").value, arc: byId("arc").value });
  try {
    const at = await get(`/api/games/${game}/at?${query}`);
    if (mine !== asked) return; // a newer question was asked
    trouble("");
    const first = !byId("from").value;
    draw(at);
    if (first && byId("from").value) show();
  } catch (problem) {
    if (mine !== asked) return;
    for (const id of ["turn", "score", "text"]) setText(byId(id), "");
    byId("says").replaceChildren();
    byId("table").replaceChildren();
    failed(problem);
  }
}

// choose lists the games where the address names none.
async function choose() {
  const { games } = await get("/api/game");
  byId("choose").hidden = false;
  byId("no-games").hidden = games.length > 0;
  byId("games").replaceChildren(
    ...games.map((g) => {
      const item = document.createElement("li");
      const link = nameGame(Object.assign(document.createElement("a"), { href: `/replay?game=${g.id}` }), g.title);
      item.append(link, Object.assign(document.createElement("span"), { textContent: new Date(g.at).toLocaleString() }));
      return item;
    }),
  );
}

async function begin() {
  try {
    if (!game) return await choose();
    byId("replay").hidden = false;
    const { events } = await get(`/api/games/${game}`);
    const names = events[0].start.players.map((p) => p.name);
    setText(byId("title"), `Replay: ${names.join(" against ")}`);
    byId("scrub").max = events.length;
    byId("scrub").value = events.length;
    show();
  } catch (problem) {
    failed(problem);
  }
}

const step = (by) => {
  byId("scrub").value = Number(byId("scrub").value) + by;
  show();
};
byId("scrub").addEventListener("input", show);
byId("back").addEventListener("click", () => step(-1));
byId("on").addEventListener("click", () => step(1));
for (const id of ["from", "to", "arc"]) byId(id).addEventListener("change", show);
begin();
