// The answer card. Every sentence comes from the server; the figures are set here.

import { byId, mm, set, setText } from "./dom.js";
import { decimal, say } from "./texts.js";

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
  element.textContent = figure ? `${say(text)}  ` : say(text);
  if (!figure) return;
  const small = document.createElement("small");
  small.textContent = say(figure);
  element.append(small);
}

const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// showForbidden says what the rules forbid where the ships stand; nothing where they do not.
function showForbidden(row, id, forbidden) {
  byId(row).hidden = forbidden === null;
  if (forbidden) fact(id, forbidden.outcome === "yes" ? "no" : "too_close", upper(forbidden.text));
}

function showFigures(a, inches) {
  const distance = byId("distance");
  const range = a.attack ?? a; // the answer is about the attack, where there is one
  distance.textContent = decimal(range.distance_mm.toFixed(1));
  for (const text of [" mm ", `± ${range.sigma_mm.toFixed(2)} mm`]) {
    const small = document.createElement("small");
    small.textContent = text;
    distance.append(small);
  }
  if (inches) {
    const small = document.createElement("small");
    small.textContent = ` = ${(range.distance_mm / 25.4).toFixed(2)} in`;
    distance.append(small);
  }
  setText(byId("margin"), a.attack ? "" : `${mm(Math.abs(a.margin_mm), Math.abs(a.margin_mm) < 1 ? 2 : 1)} from another range`);
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
      what.textContent = `${say(doubt.question)}: `;
      item.append(what, say(doubt.text));
      return item;
    }),
  );
}

// What stands large where the range is not the answer.
const signs = { no_shot: "✕", close: "≈", shot: "–", range: "–", no_view: "–", withheld: "–", none: "–" };

// showAnswer fills the card from a state.
export function showAnswer(state, inches) {
  const a = state.answer;
  const measured = a.band !== "";
  const { kind, text, band } = a.headline;
  set(byId("answer"), { "data-outcome": a.outcome, "data-kind": kind });
  set(byId("band"), { "data-long": band.length > 2 ? "true" : null });
  setText(byId("band"), band || signs[kind]);
  setText(byId("title"), text);
  setText(byId("live"), a.live);
  setText(byId("meaning"), a.meaning.text);
  byId("ruler").hidden = byId("facts").hidden = !measured;
  showDoubts(a.doubts);
  if (!measured) {
    setText(byId("distance"), "");
    setText(byId("margin"), kind !== "none" ? upper(a.reason) : state.health.code === "ok" || state.held ? "Tap two ships on the table, or use the lists below." : state.health.title);
    setText(byId("explain"), "");
    return;
  }
  showFigures(a, inches);
  const range = a.attack ?? a;
  byId("needle").style.left = `${place(range.distance_mm)}%`;
  const on = new Set(band.split(/, | or /).map((b) => (b === ">3" ? "4" : b)));
  for (const seg of byId("ruler").querySelectorAll(".seg")) seg.classList.toggle("on", on.has(seg.dataset.band));
  showForbidden("forbidden", "fact-forbidden", a.no_attack);
  showForbidden("forbidden-lock", "fact-lock", a.no_lock);
  // What is so of an attack that cannot be made is said, and not ticked.
  const told = (outcome) => (a.no_attack?.outcome === "yes" && outcome === "yes" ? "told" : outcome);
  fact("fact-arc", told(a.in_arc.outcome), upper(a.in_arc.text), a.in_arc.sigma_mm ? `${mm(Math.abs(a.in_arc.margin_mm))} ± ${a.in_arc.sigma_mm.toFixed(2)} mm from its edge` : "");
  fact("fact-obstruction", a.no_attack?.outcome === "yes" ? "told" : a.obstruction.outcome, upper(a.obstruction.text));
  byId("between").hidden = !a.attack?.differs; // else the figure above says it
  fact("fact-range", "told", a.title, `${mm(a.distance_mm)} ± ${a.sigma_mm.toFixed(2)} mm`);
  setText(byId("explain"), a.doubts.length ? a.rests_on && `${a.rests_on}.` : a.explain);
}
