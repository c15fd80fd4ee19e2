// What the program sees, as a table: ships with what their pose rests on, obstacles, and
// what cannot be named.

import { label } from "./label.js";
import { byId, setLinked } from "./dom.js";
import { say } from "./texts.js";

const percent = (x) => `${Math.round(100 * x)} %`;

function rowsOf(state) {
  const rows = state.ships.map((s) => [
    label(s) + (["still", "unsure"].includes(s.state) ? "" : ` (${s.state})`),
    s.sides_read.length ? s.sides_read.join(", ") : s.seen || "–",
    s.visible ? percent(s.visible) : "–",
    s.residual ? percent(s.residual) : "–",
    `${s.sigma_mm.toFixed(2)} mm`,
  ]);
  state.obstacles.forEach((o, i) => {
    const t = state.things.seen[i];
    rows.push([`${o.id}, ${o.kind}`, "outline", t.visible ? percent(t.visible) : "–", t.misfit ? percent(t.misfit) : "–", `${t.sigma_mm.toFixed(2)} mm`]);
  });
  state.things.unknown_mm.forEach((_, i) => rows.push([`unknown ${i + 1}`, "nothing fits", "–", "–", "–"]));
  return rows;
}

// blindNote says where an obstacle would not be noticed, and why.
function blindNote(blind) {
  if (blind.length === 0) return "";
  const why = [...new Set(blind.map((b) => b.why))].filter(Boolean).sort().join(", ");
  return ` Where the map is hatched${why ? ` (${why})` : ""} an obstacle would not be noticed: a line across is not called clear.`;
}

// pushedNote says that the mat lies elsewhere than when it was learnt.
const pushedNote = (mm) =>
  mm > 0
    ? ` The mat lies up to ${mm.toFixed(0)} mm from where it was learnt. Its edges, for ships that flee or are set up, are taken to be where the markers show them. Push it back.`
    : "";

// noteOf says about obstacles what should be known at any time.
function noteOf(state) {
  const { obstacles_watched: watched, why_not: why, unknown_mm: unknown } = state.things;
  if (!watched && why === "obstacles are being looked for") return "Obstacles are being looked for.";
  if (!watched) return why ? `Obstacles are not watched: ${why}.` : "Obstacles are not watched.";
  const n = state.obstacles.length;
  const none = unknown.length + state.things.blind_mm.length ? "No obstacle found." : "No obstacle lies on the mat.";
  const found = n === 0 ? none : n === 1 ? "1 obstacle found." : `${n} obstacles found.`;
  const blind = blindNote(state.things.blind_mm) + pushedNote(state.things.mat_pushed_mm);
  if (unknown.length === 0) return found + blind;
  return `${found}${blind} ${unknown.length === 1 ? "Something lies there that matches" : `${unknown.length} things lie there that match`} nothing in the catalogue: a line across it is not called clear. ${unknown.length === 1 ? "Take it" : "Take them"} away, trace a token on /obstacles, show a ship on /looks.`;
}

// showSeen fills the table when it is open.
export function showSeen(state) {
  setLinked(byId("things-note"), noteOf(state));
  const open = byId("sees").checked;
  byId("seen").hidden = !open;
  if (!open) return;
  const rows = rowsOf(state);
  const body = byId("seen-rows");
  const key = JSON.stringify(rows);
  if (body.dataset.key === key) return;
  body.dataset.key = key;
  body.replaceChildren(
    ...rows.map((cells) => {
      const tr = document.createElement("tr");
      cells.forEach((text, i) => {
        const cell = document.createElement(i === 0 ? "th" : "td");
        if (i === 0) cell.scope = "row";
        cell.textContent = say(text);
        tr.append(cell);
      });
      return tr;
    }),
  );
}
