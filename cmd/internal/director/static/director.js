// The director's page. What it shows as set is what the box says, never what was pressed.

import { send } from "/ask.js";
import { byId, setLinked, setText } from "/dom.js";
import { ready, say } from "/texts.js";
import { listen } from "/live.js";

const pair = byId("pair").elements;
let state = null; // the newest; null while the box does not answer
let direction = null;
let queue = Promise.resolve(); // of changes, one after the other
let answered = 0; // changes

const arcName = (arc) => arc.replace("_", " ");
const named = (p) => (p.from && p.to ? `${p.from} ${say("to")} ${p.to}, ${say(arcName(p.arc))}` : say("none chosen"));

function press(id, pressed) {
  (typeof id === "string" ? byId(id) : id).setAttribute("aria-pressed", pressed);
}

// fill lists the table's ships, and keeps what is chosen.
function fill(select, ids) {
  const all = select.value && !ids.includes(select.value) ? [...ids, select.value] : ids;
  if ([...select.options].map((o) => o.value).join() === all.join()) return;
  const chosen = select.value;
  select.replaceChildren(...all.map((id) => new Option(id, id)));
  if (chosen) select.value = chosen;
}

function show() {
  const lost = state === null || direction === null;
  for (const button of document.querySelectorAll(".key")) button.disabled = lost;
  if (lost) return setText(byId("air-note"), "The program does not answer.");
  const ids = state.ships.map((s) => s.id);
  const first = pair.from.options.length === 0;
  fill(pair.from, ids);
  fill(pair.to, ids);
  if (first) [pair.from.value, pair.to.value, pair.arc.value] = start(ids);
  press("freeze", direction.frozen_unix_ms !== 0);
  press("follow", direction.pair === null);
  press("own", direction.pair !== null && named(direction.pair) === named(staged()));
  setText(byId("follow-text"), `The players' choice: ${named(state.choice)}`);
  setText(byId("own-text"), `Put on air: ${named(staged())}`);
  for (const button of document.querySelectorAll("[data-widget]")) press(button, !direction.hidden[button.dataset.widget]);
  setText(byId("air-note"), onAir());
}

// onAir says what the overlays show of the pair. They show neither table nor pair while a picture is held, frozen or not.
function onAir() {
  if (state.held) return state.held.asked ? "A judge was called. The picture is held." : "The picture is held.";
  if (direction.frozen_unix_ms) return `frozen at ${new Date(direction.frozen_unix_ms).toTimeString().slice(0, 8)}`;
  if (direction.hidden.pair) return "no pair: it is hidden";
  const answer = state.directed ? state.directed.answer : state.answer;
  return answer.reason ? `no pair: ${answer.reason}` : named(direction.pair || state.choice);
}

// start is the pair that the form begins with: the director's, else the players', else any.
function start(ids) {
  const p = direction.pair || state.choice;
  const from = p.from || ids[0] || "";
  return [from, p.to || ids.find((id) => id !== from) || "", p.arc];
}

const staged = () => ({ from: pair.from.value, to: pair.to.value, arc: pair.arc.value });

// change asks for what the newest direction makes of a press, after the presses before it.
function change(body) {
  queue = queue.then(async () => {
    if (direction === null) return;
    try {
      const answer = await send("/api/director", body(direction), "PATCH");
      if (answer.ok) direction = await answer.json();
      setLinked(byId("said"), answer.ok ? "" : (await answer.text()).trim());
    } catch (error) {
      setText(byId("said"), "The program does not answer. The settings come back when it does.");
    }
    answered++;
    show();
  });
}

// step turns a list on by one; an attacker is never its own target.
function step(select, by) {
  const n = select.options.length;
  const other = select === pair.from ? pair.to : select === pair.to ? pair.from : null;
  for (let i = 0; i < 2 && n > 0; i++) {
    select.selectedIndex = (select.selectedIndex + by + n) % n;
    if (!other || other.value !== select.value) break;
  }
  show();
}

const toggle = (widget) => change((now) => ({ hidden: { [widget]: !now.hidden[widget] } }));
const keys = {
  f: () => change((now) => ({ frozen: now.frozen_unix_ms === 0 })),
  p: () => change(() => ({ follow: true })),
  o: () => {
    const chosen = staged();
    change(() => ({ pair: chosen }));
  },
  1: () => toggle("table"),
  2: () => toggle("pair"),
  3: () => toggle("ruling"),
  4: () => toggle("match"),
  5: () => toggle("last"),
};
const lists = { a: pair.from, t: pair.to, c: pair.arc };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const key = event.key.toLowerCase();
  // Who has chosen in a list still stands in it: letters go on choosing there, but for those that act.
  if (!keys[key] && (!lists[key] || event.target.closest?.("select"))) return;
  event.preventDefault();
  if (keys[key]) keys[key]();
  else step(lists[key], event.shiftKey ? -1 : 1);
});
byId("freeze").addEventListener("click", keys.f);
byId("follow").addEventListener("click", keys.p);
byId("own").addEventListener("click", keys.o);
for (const button of document.querySelectorAll("[data-widget]")) button.addEventListener("click", () => toggle(button.dataset.widget));
byId("pair").addEventListener("change", show);
byId("pair").addEventListener("submit", (event) => event.preventDefault());

new ResizeObserver(([frame]) => {
  byId("shown").style.transform = `scale(${frame.contentRect.width / 1920})`;
}).observe(byId("frame"));

await ready;
show();
listen(
  (newest) => {
    state = newest;
    const before = answered;
    queue.then(() => {
      if (state !== newest || answered !== before) return; // made before the last press was answered
      direction = newest.director;
      show();
    });
  },
  (lost) => {
    if (lost) state = null;
    show();
  },
);
