// Naming a base whose code is not read: the program saw its edges and its guides, and a
// person says which ship it is and, if they like, which way its nose points.

import { byId, setText } from "./dom.js";
import { pendingAttacker } from "./choose.js";
import { label } from "./label.js";
import { say } from "./texts.js";

let state = null;
const unnamed = () => state.ships.filter((ship) => ship.id.startsWith("?"));

// options makes a list's choices, and keeps the one that was chosen while it is there.
function options(select, choices) {
  const now = JSON.stringify(choices);
  if (select.dataset.choices === now) return;
  select.dataset.choices = now;
  const chosen = select.value;
  select.replaceChildren(...choices.map(([value, text]) => new Option(say(text), value)));
  if (choices.some(([value]) => value === chosen)) select.value = chosen;
}

// names lists the ships that may be printed and that do not stand in view, those first that a base may be.
function names(base) {
  const here = new Set(state.ships.filter((ship) => !["hidden", "lifted"].includes(ship.state)).map((ship) => ship.id));
  return ["A", "B"].flatMap((set) => Array.from({ length: 18 }, (_, i) => `${set}${i + 1}`)).filter((id) => !here.has(id))
    .sort((a, b) => base.name_doubt.includes(b) - base.name_doubt.includes(a));
}

// noses lists the four ways the nose of a base may point.
function noses(ship) {
  const ways = ["player 2's edge", "the right", "player 1's edge", "the left"];
  const turns = [0, 1, 2, 3].map((k) => (ship.heading_deg + 90 * k) % 360);
  return [["", "not known"], ...turns.map((deg) => [String(deg), `towards ${ways[Math.round(deg / 90) % 4]}`])];
}

// showNaming shows the form while a base without a name stands on the table.
export function showNaming(next) {
  state = next;
  const bases = unnamed();
  byId("naming").hidden = bases.length === 0;
  if (bases.length === 0) return;
  options(byId("naming-base"), bases.map((ship) => [ship.id, ship.name_doubt.length > 0 ? `${ship.id}: ${label(ship)}` : `${ship.id}, ${ship.base}`]));
  const ship = bases.find((b) => b.id === byId("naming-base").value) ?? bases[0];
  options(byId("naming-ship"), names(ship).map((id) => [id, id]));
  options(byId("naming-nose"), noses(ship));
}

async function name(event) {
  event.preventDefault();
  const ship = unnamed().find((b) => b.id === byId("naming-base").value);
  if (!ship) return;
  const said = { id: byId("naming-ship").value, base: ship.base, x_mm: ship.x_mm, y_mm: ship.y_mm };
  if (byId("naming-nose").value !== "") said.heading_deg = Number(byId("naming-nose").value);
  byId("naming-say").disabled = true;
  try {
    const answer = await fetch("/api/ships", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(said) });
    setText(byId("naming-refused"), answer.ok ? "" : (await answer.text()).trim());
  } catch {
    // The watchdog says that the connection is lost.
  }
  byId("naming-say").disabled = false;
}

// startNaming lets a base without a name that is tapped be the one that is named.
export function startNaming() {
  byId("naming").addEventListener("submit", name);
  byId("naming-base").addEventListener("change", () => state && showNaming(state));
  document.addEventListener("pending", () => {
    const id = pendingAttacker();
    if (!id?.startsWith("?")) return;
    byId("naming-base").value = id;
    if (state) showNaming(state);
  });
}
