// How sure all this is: the calibration and its last verification, and how each ship was seen.

import { byId, mm, setText } from "./dom.js";

function term(name, text, doubt = false) {
  const box = document.createElement("div");
  const dt = document.createElement("dt");
  const dd = document.createElement("dd");
  dt.textContent = name;
  dd.append(...(doubt ? ["! "] : []), text);
  if (doubt) dd.dataset.doubt = "true";
  box.append(dt, dd);
  return box;
}

function verification(v) {
  if (!v) return ["never verified with the check card", true];
  const text = `${v.at.slice(0, 10)}: ${v.outcome}, largest error ${mm(v.worst_error_mm, 2)} (${v.worst_sigmas.toFixed(1)} σ) at ${v.places} places`;
  return v.holds ? [text, v.outcome !== "pass"] : [`${text}; it no longer holds: ${v.why}`, true];
}

function calibrationTerms(j) {
  const c = j.calibration;
  const [verified, doubt] = verification(c.verified);
  const changed = c.integrity.startsWith("changed");
  return [
    term("Last verification", verified, doubt),
    term("Calibration", `${c.hash.slice(0, 16)}… from ${c.from || "nowhere"}, ${c.rms_px.toFixed(2)} px rms, registered ${new Date(c.at_unix_ms).toLocaleTimeString()}`),
    term("Integrity", c.integrity || "from the markers, no file", changed),
    term("Markers", c.watch.text || c.watch.state || "not watched", c.watch.state !== "ok"),
    term("Picture", `${j.picture.width_px}×${j.picture.height_px} px, number ${j.picture.seq}, ${j.captured_unix_ms ? new Date(j.captured_unix_ms).toLocaleTimeString() : "taken at an unknown time"} · ${j.source}`),
    term("Obstacles", j.obstacles_watched ? `${j.obstacles.length === 1 ? "1 obstacle" : `${j.obstacles.length} obstacles`} found${j.unknown_things ? `, ${j.unknown_things} unknown` : ""}` : "not watched", !j.obstacles_watched || j.unknown_things > 0),
    term("Rules", `${j.rules}, profile ${j.profile}, decided beyond ${j.sigmas} standard deviations`),
  ];
}

// sides says whose code was read, and what a ship without any rests on.
function sides(ship) {
  if (ship.sides_read.length) return ship.sides_read.join(", ");
  if (ship.seen === "edges") return "none: placed by its edges";
  if (ship.seen === "look") return ship.turn_doubt ? "none: found by its card, guides not seen clearly" : "none: found by its card";
  return ship.state === "still" ? "none given" : "none in this picture";
}

// note explains ships without a side that was read; "" where there are none.
function note(ships) {
  if (ships.every((s) => s.sides_read.length)) return "";
  const edges = ships.some((s) => !s.sides_read.length && s.seen === "edges");
  return (
    "A side is read when the code printed on it is legible; a miniature, glare or a hand may hide it. A ship with no side read keeps its name from an earlier picture, or from the person who placed it." +
    (edges ? " A ship placed by its edges is measured from the edges of its plastic base alone." : "")
  );
}

function row(ship, choice) {
  const tr = document.createElement("tr");
  tr.setAttribute("role", "row"); // on a phone rows are boxes, and would be no rows any more
  if (ship.id === choice.from || ship.id === choice.to) tr.dataset.chosen = "true";
  const th = document.createElement("th");
  th.scope = "row";
  th.setAttribute("role", "rowheader");
  th.textContent = ship.id;
  tr.append(th);
  const cells = [
    ["State", ship.state === "still" ? "still" : ship.state_text || ship.state],
    ["In view", `${Math.round(100 * ship.visible)} %`],
    ["Sides read", sides(ship)],
    ["σ place", mm(ship.sigma_mm, 2)],
    ["σ heading", `${ship.sigma_heading_deg.toFixed(2)}°`],
    ["Pictures", ship.frames || "1"],
  ];
  for (const [name, text] of cells) {
    const td = document.createElement("td");
    td.setAttribute("role", "cell");
    td.dataset.name = name;
    td.textContent = text;
    tr.append(td);
  }
  if (!ship.measured) tr.dataset.unmeasured = "true";
  return tr;
}

// showSure shows how sure a judgement is; nothing without one.
export function showSure(judgement) {
  byId("sure").closest(".card").hidden = !judgement;
  if (!judgement) return;
  byId("sure").replaceChildren(...calibrationTerms(judgement));
  const { from, to } = judgement.choice;
  const first = (s) => (s.id === from ? 0 : s.id === to ? 1 : 2);
  byId("ships").replaceChildren(...[...judgement.ships].sort((a, b) => first(a) - first(b)).map((s) => row(s, judgement.choice)));
  setText(byId("ships-note"), note(judgement.ships));
}
