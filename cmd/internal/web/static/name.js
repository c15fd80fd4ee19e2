// Naming a base whose code is not read: the program saw its edges and its guides, or its card, and a
// person says which ship it is and, if they like, which way its nose points. A base that got the
// wrong name so is given another one.

import { send } from "./ask.js";
import { byId, setLinked, setText } from "./dom.js";
import { pendingAttacker } from "./choose.js";
import { label } from "./label.js";
import { say } from "./texts.js";

let state = null;
let correcting = false; // somebody says that a ship has the wrong name
const isNumber = (ship) => ship.id.startsWith("?");
const isHere = (ship) => !["hidden", "lifted"].includes(ship.state);
// A ship that a person may have named: no code of ours says which it is.
const isNamed = (ship) => !isNumber(ship) && isHere(ship) && ["look", "edges"].includes(ship.seen) && ship.sides_read.length === 0;
const bases = () => state.ships.filter((ship) => (correcting ? isNamed(ship) : isNumber(ship)));

let done = []; // the base that was named last, and its name: after them the first ones are chosen

// options makes a list's choices. What was chosen stays chosen; when it is gone, nothing is, so that no other
// base or ship is named in its place.
function options(select, choices) {
  const now = JSON.stringify(choices);
  if (select.dataset.choices === now) return;
  const chosen = select.value, here = choices.some(([value]) => value === chosen);
  const gone = select.dataset.choices !== undefined && !here && !done.includes(chosen);
  select.dataset.choices = now;
  select.replaceChildren(...(gone ? [["", "choose"]] : []).concat(choices).map(([value, text]) => new Option(say(text), value)));
  if (gone || here) select.value = gone ? "" : chosen;
}

// names lists the ships that may be printed and that do not stand in view, those first that a base may be. One that has the wrong name
// may also be one that has its name: those of its size come first.
function names(base) {
  const first = correcting ? state.ships.filter((ship) => isNamed(ship) && ship.id !== base.id && ship.base === base.base).map((ship) => ship.id)
    : base.name_doubt;
  const here = new Set(state.ships.filter((ship) => isHere(ship) && !first.includes(ship.id)).map((ship) => ship.id));
  return ["A", "B"].flatMap((set) => Array.from({ length: 18 }, (_, i) => `${set}${i + 1}`)).filter((id) => !here.has(id))
    .sort((a, b) => first.includes(b) - first.includes(a));
}

// noses lists the four ways the nose of a base may point, for headings about 0, 90, 180 and 270 degrees.
const noses = [["any", "not known"], ...["player 2's edge", "the right", "player 1's edge", "the left"].map((way, k) => [String(k), `towards ${way}`])];

// headingOf is the heading of a base whose nose points one way, of the four that its sides allow.
const headingOf = (ship, way) => [0, 90, 180, 270].map((turn) => (ship.heading_deg + turn) % 360).find((deg) => Math.round(deg / 90) % 4 === way);

const title = (ship) => (ship.name_doubt.length > 0 ? `${ship.id}: ${label(ship)}` : `${ship.id}, ${ship.base}`);

// startOver lets the first base and the first name be chosen, where those that were are no longer there.
function startOver() {
  for (const id of ["naming-base", "naming-ship"]) delete byId(id).dataset.choices;
  delete byId("naming-ship").dataset.chosen;
}

// showNaming shows the form while a base without a name stands on the table, or while somebody corrects a name.
export function showNaming(next) {
  state = next;
  byId("misnamed").hidden = !state.ships.some(isNamed);
  correcting &&= !byId("misnamed").hidden;
  byId("misnamed-show").setAttribute("aria-expanded", String(correcting));
  setText(byId("misnamed-show"), correcting ? "Cancel" : "A ship has the wrong name");
  setText(byId("naming-title"), correcting ? "A ship has the wrong name" : "A base whose code is not read");
  byId("naming-nose").parentElement.hidden = correcting;
  const choices = bases();
  byId("naming").hidden = choices.length === 0;
  if (choices.length === 0) return startOver();
  options(byId("naming-base"), choices.map((ship) => [ship.id, title(ship)]));
  const ship = choices.find((b) => b.id === byId("naming-base").value);
  if (ship) {
    const select = byId("naming-ship");
    if (select.dataset.base !== ship.id && !select.dataset.chosen) { // another base, another first name
      delete select.dataset.choices;
      select.value = "";
    }
    select.dataset.base = ship.id;
    options(select, names(ship).map((id) => [id, id]));
  }
  if (!correcting) options(byId("naming-nose"), noses);
}

async function name(event) {
  event.preventDefault();
  const ship = bases().find((b) => b.id === byId("naming-base").value);
  if (!ship) return;
  const said = { id: byId("naming-ship").value, base: ship.base, x_mm: ship.x_mm, y_mm: ship.y_mm };
  if (correcting) said.instead_of = ship.id;
  else if (byId("naming-nose").value !== "any") said.heading_deg = headingOf(ship, Number(byId("naming-nose").value));
  byId("naming-say").disabled = true;
  try {
    const answer = await send("/api/ships", said);
    setLinked(byId("naming-refused"), answer.ok ? "" : (await answer.text()).trim());
    if (answer.ok) {
      done = [ship.id, said.id];
      byId("naming-nose").value = "any";
      delete byId("naming-ship").dataset.chosen;
      correct(false);
    }
  } catch {
    // The watchdog says that the connection is lost.
  }
  byId("naming-say").disabled = false;
}

// correct begins or ends correcting a name, and begins with the ship that was tapped.
function correct(now) {
  if (correcting !== now) startOver();
  correcting = now;
  if (!state) return;
  showNaming(state);
  preset();
}

// preset makes the base that was tapped the one that is named.
function preset() {
  const id = pendingAttacker();
  if (!id || !bases().some((ship) => ship.id === id)) return;
  byId("naming-base").value = id;
  showNaming(state);
}

// startNaming lets a base that is tapped be the one that is named.
export function startNaming() {
  byId("naming").addEventListener("submit", name);
  byId("naming-base").addEventListener("change", () => state && showNaming(state));
  byId("naming-ship").addEventListener("change", (event) => { event.target.dataset.chosen = "yes"; });
  byId("misnamed-show").addEventListener("click", () => correct(!correcting));
  document.addEventListener("pending", () => state && preset());
}
