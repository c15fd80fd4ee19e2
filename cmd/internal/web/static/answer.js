// The answer card. Every sentence comes from the server; the figures are set here.

import { byId, mm, set, setText } from "./dom.js";

// place puts the needle where the distance is: three bands of 100 mm and one
// shorter field for everything beyond.
function place(distance) {
  const bands = [1, 1, 1, 0.8];
  const width = bands.reduce((a, b) => a + b);
  const at = distance <= 300 ? distance / 100 : 3 + 0.8 * (1 - Math.exp(-(distance - 300) / 300));
  return (100 * Math.min(at, width)) / width;
}

function fact(id, outcome, text, figure = "") {
  const element = byId(id);
  set(element, { "data-outcome": outcome });
  const key = `${text}|${figure}`;
  if (element.dataset.text === key) return;
  element.dataset.text = key;
  element.textContent = figure ? `${text}  ` : text;
  if (!figure) return;
  const small = document.createElement("small");
  small.textContent = figure;
  element.append(small);
}

const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// showForbidden says what the rules forbid where the ships stand; nothing where they do not.
function showForbidden(row, id, forbidden) {
  byId(row).hidden = forbidden === null;
  if (forbidden) fact(id, forbidden.outcome === "yes" ? "no" : "too_close", upper(forbidden.text));
}

function showFigures(a) {
  const distance = byId("distance");
  distance.textContent = a.distance_mm.toFixed(1);
  for (const text of [" mm ", `± ${a.sigma_mm.toFixed(2)} mm`]) {
    const small = document.createElement("small");
    small.textContent = text;
    distance.append(small);
  }
  setText(byId("margin"), `margin ${mm(Math.abs(a.margin_mm), Math.abs(a.margin_mm) < 1 ? 2 : 1)}`);
}

// showDoubts says what is too close to call and what would decide it.
function showDoubts(doubts) {
  byId("doubts").hidden = doubts.length === 0;
  const list = byId("doubts-list");
  const key = JSON.stringify(doubts);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(
    ...doubts.map((doubt) => {
      const item = document.createElement("li");
      const what = document.createElement("b");
      what.textContent = `${doubt.question}: `;
      item.append(what, doubt.text);
      return item;
    }),
  );
}

// showAnswer fills the card from a state.
export function showAnswer(state) {
  const a = state.answer;
  const measured = a.band !== "";
  set(byId("answer"), { "data-outcome": a.outcome });
  setText(byId("band"), measured ? a.band : "–");
  setText(byId("title"), a.title);
  setText(byId("live"), a.live);
  byId("ruler").hidden = byId("facts").hidden = !measured;
  showDoubts(a.doubts);
  if (!measured) {
    setText(byId("distance"), "");
    setText(byId("margin"), a.outcome === "none" ? "Tap two ships on the table, or use the lists above." : upper(a.reason));
    setText(byId("explain"), "");
    return;
  }
  showFigures(a);
  byId("needle").style.left = `${place(a.distance_mm)}%`;
  const on = new Set(a.band.split("/").map((b) => (b === ">3" ? "4" : b)));
  for (const seg of byId("ruler").querySelectorAll(".seg")) seg.classList.toggle("on", on.has(seg.dataset.band));
  showForbidden("forbidden", "fact-forbidden", a.no_attack);
  showForbidden("forbidden-lock", "fact-lock", a.no_lock);
  // What is so of an attack that cannot be made is said, and not ticked.
  const told = (outcome) => (a.no_attack?.outcome === "yes" && outcome === "yes" ? "told" : outcome);
  fact("fact-arc", told(a.in_arc.outcome), upper(a.in_arc.text), a.in_arc.sigma_mm ? `${mm(Math.abs(a.in_arc.margin_mm))} ± ${a.in_arc.sigma_mm.toFixed(2)} mm from its edge` : "");
  if (a.attack) fact("fact-attack", told(a.attack.outcome), a.attack.title, `${mm(a.attack.distance_mm)} ± ${a.attack.sigma_mm.toFixed(2)} mm`);
  else fact("fact-attack", "no_view", "none: not in the arc");
  fact("fact-obstruction", a.no_attack?.outcome === "yes" ? "told" : a.obstruction.outcome, upper(a.obstruction.text));
  setText(byId("explain"), a.doubts.length ? a.rests_on && `${a.rests_on}.` : a.explain);
}
