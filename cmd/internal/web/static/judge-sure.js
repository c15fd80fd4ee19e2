// How sure all this is: the calibration and its last verification, and how each ship was seen.

import { byId, mm } from "./dom.js";

function term(name, text, doubt = false) {
  const box = document.createElement("div");
  const dt = document.createElement("dt");
  const dd = document.createElement("dd");
  dt.textContent = name;
  dd.textContent = (doubt ? "! " : "") + text;
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
    term("Markers", c.watch.text || c.watch.state, c.watch.state !== "ok"),
    term("Picture", `${j.picture.width_px}×${j.picture.height_px} px, number ${j.picture.seq}, ${new Date(j.captured_unix_ms).toLocaleTimeString()} · ${j.source}`),
    term("Obstacles", j.obstacles_watched ? `${j.obstacles.length} watched${j.unknown_things ? `, ${j.unknown_things} unknown things lie there` : ""}` : "nobody watches them", !j.obstacles_watched || j.unknown_things > 0),
    term("Rules", `${j.rules}, profile ${j.profile}, decided beyond ${j.sigmas} standard deviations`),
  ];
}

function row(ship, choice) {
  const tr = document.createElement("tr");
  if (ship.id === choice.from || ship.id === choice.to) tr.dataset.chosen = "true";
  const th = document.createElement("th");
  th.scope = "row";
  th.textContent = ship.id;
  tr.append(th);
  const cells = [
    ship.state === "still" ? "still" : ship.state_text || ship.state,
    `${Math.round(100 * ship.visible)} %`,
    ship.sides_read.length ? ship.sides_read.join(", ") : "none",
    mm(ship.sigma_mm, 2),
    `${ship.sigma_heading_deg.toFixed(2)}°`,
    ship.frames || "1",
  ];
  for (const text of cells) {
    const td = document.createElement("td");
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
}
