// The page on which ships are shown once. What is to be done and why a picture was not taken, the server says.

import { ask } from "/ask.js";
import { byId, set, setText } from "/dom.js";
import { poll } from "/live.js";
import { ready, say } from "/texts.js";

const every = 600; // ms between two questions
let state = null;

function hide(id, text) {
  byId(id).hidden = !text;
  setText(byId(id), text);
}

async function want(body) {
  const [, problem] = await ask("/api/looks", body);
  hide("problem", problem);
  await update();
  return problem === "";
}

// nextShip is the name after the last one that was shown.
function nextShip(name) {
  const found = /^([AB])(\d+)$/.exec(name);
  return found && Number(found[2]) < 18 ? `${found[1]}${Number(found[2]) + 1}` : name;
}

function showSheet(showing) {
  const picture = byId("sheet-picture");
  const seen = showing !== null && showing.sheet && showing.seq > 0;
  picture.hidden = !seen;
  byId("nothing").hidden = seen;
  setText(byId("nothing"), showing ? "The sheet is not seen." : "Begin, and the camera's picture of the sheet appears here.");
  if (seen && picture.dataset.seq !== String(showing.seq)) {
    picture.dataset.seq = String(showing.seq);
    picture.src = `/api/looks/sheet.jpg?seq=${showing.seq}`;
  }
  [...byId("turns").children].forEach((item, i) => {
    item.dataset.state = !showing ? "" : showing.taken[i] ? "taken" : i === showing.next ? "next" : "";
  });
}

// turn turns a look by what its picture shows: until that has arrived, the browser shows the one before.
function turn(name, picture) {
  if (picture.complete) want({ do: "turn", name, version: picture.dataset.version, quarters: 1 });
}

function showPicture(picture, look) {
  picture.dataset.version = look.version;
  if (picture.getAttribute("src") !== look.picture) picture.src = look.picture;
}

function showLearnt() {
  const look = state.looks.find((l) => l.name === state.learnt);
  byId("learnt").hidden = !look || state.showing !== null;
  if (!look || state.showing) return;
  showPicture(byId("learnt-picture"), look);
  setText(byId("learnt-says"), `${look.name} is known now, and the table uses it. Is the front of the card up in this picture?`);
}

function entryOf(look) {
  const item = byId("entry").content.firstElementChild.cloneNode(true);
  item.dataset.name = look.name;
  const form = item.querySelector("form");
  const change = () => want({ do: "change", name: look.name, ships: form.elements.ships.value, pilot: form.elements.pilot.value });
  form.addEventListener("submit", (e) => e.preventDefault());
  form.addEventListener("change", change);
  item.querySelector('[data-do="turn"]').addEventListener("click", () => turn(look.name, item.querySelector("img")));
  deletes(item);
  return item;
}

// deletes lets an entry's button delete its look, on the second press.
function deletes(item) {
  item.querySelector('[data-do="delete"]').addEventListener("click", (e) => {
    const button = e.currentTarget;
    if (button.dataset.sure) return want({ do: "delete", name: item.dataset.name });
    button.dataset.sure = "yes";
    setText(button, "Delete it for good");
    setTimeout(() => {
      delete button.dataset.sure;
      setText(button, "Delete");
    }, 5000);
  });
}

// showDamaged lists the looks that cannot be read.
function showDamaged() {
  const list = byId("damaged");
  const items = new Map([...list.children].map((item) => [item.dataset.name, item]));
  for (const { name, why } of state.damaged) {
    let item = items.get(name);
    if (!item) {
      item = byId("damage").content.firstElementChild.cloneNode(true);
      item.dataset.name = name;
      deletes(item);
      list.append(item);
    }
    items.delete(name);
    setText(item.querySelector(".problem"), `The look of ${name} cannot be read: show it again, or delete it.`);
    setText(item.querySelector(".hint"), why);
  }
  for (const item of items.values()) item.remove();
}

function showKnown() {
  hide("broken", state.problem);
  byId("none").hidden = state.looks.length > 0 || state.damaged.length > 0 || state.problem !== "";
  showDamaged();
  const list = byId("known");
  const items = new Map([...list.children].map((item) => [item.dataset.name, item]));
  state.looks.forEach((look, i) => {
    const item = items.get(look.name) ?? entryOf(look);
    items.delete(look.name);
    const picture = item.querySelector("img");
    showPicture(picture, look);
    set(picture, { alt: `The card of ${look.name}, its front upwards` });
    for (const [name, value] of [["ships", look.ships.join(" ")], ["pilot", look.pilot]]) {
      const input = item.querySelector(`input[name="${name}"]`);
      if (input !== document.activeElement && input.value !== value) input.value = value;
    }
    const kind = look.color ? "in colour" : "in grey";
    setText(item.querySelector(".about"), `${say(look.base)}, ${say(kind)}, ${look.px_per_mm.toFixed(2)} px/mm, ±${look.jig_mm.toFixed(2)} mm, ±${look.jig_deg.toFixed(2)}°`);
    if (list.children[i] !== item) list.insertBefore(item, list.children[i] ?? null);
  });
  for (const item of items.values()) item.remove();
}

function show() {
  const { showing } = state;
  byId("looks").hidden = false;
  byId("status").dataset.code = "ok";
  setText(byId("status-text"), showing ? "looking" : "ready");
  setText(byId("begin"), showing ? "Begin again" : "Begin");
  byId("stop").hidden = showing === null;
  setText(byId("says"), showing ? showing.do : "");
  hide("why", showing ? showing.why : "");
  showSheet(showing);
  showLearnt();
  showKnown();
}

const update = poll(
  () => "/api/looks",
  every,
  (now) => {
    state = now;
    show();
  },
  (lost) => {
    byId("banner").hidden = !lost;
    byId("status").dataset.code = lost ? "lost" : "starting";
    setText(byId("status-text"), lost ? "connection lost" : "starting");
  },
);

byId("show").addEventListener("submit", (e) => {
  e.preventDefault();
  want({ do: "show", ships: byId("ship").value, base: byId("base").value, pilot: byId("pilot").value });
});
byId("stop").addEventListener("click", () => want({ do: "stop" }));
byId("turn").addEventListener("click", () => turn(state.learnt, byId("learnt-picture")));
byId("another").addEventListener("click", () => {
  byId("ship").value = nextShip(state.learnt);
  want({ do: "show", ships: byId("ship").value, base: byId("base").value, pilot: byId("pilot").value });
});

await ready;
await update();
