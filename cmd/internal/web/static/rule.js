// Distances between markers, as a steel rule measured them: they set the table's scale.

import { byId, setText } from "./dom.js";

const rows = [...document.querySelectorAll("[data-rule]")].map((row) => ({
  from: row.querySelector("[data-from]"),
  to: row.querySelector("[data-to]"),
  length: row.querySelector("[data-length]"),
}));

let offered = "";

// showRule offers the distances that say most, as long as no one chose others.
export function showRule(t) {
  byId("rule").hidden = t.long_distances.length === 0;
  const scale = `The scale is known to ${(100 * t.scale_sigma).toFixed(3)} % by the markers alone.`;
  setText(byId("rule-said"), t.scale_said || (t.scale_sigma > 0 ? scale : ""));
  const now = JSON.stringify([t.long_distances, t.markers.map((m) => m.id)]);
  if (t.long_distances.length === 0 || now === offered) return;
  offered = now;
  rows.forEach((row, i) => {
    for (const field of [row.from, row.to]) field.replaceChildren(...t.markers.map((m) => new Option(m.id, m.id)));
    const [from, to] = t.long_distances[Math.min(i, t.long_distances.length - 1)];
    row.from.value = from;
    row.to.value = to;
  });
}

// measured returns the distances that were typed in.
export function measured() {
  return rows.filter((row) => row.length.value !== "").map((row) => ({ from: Number(row.from.value), to: Number(row.to.value), length_mm: Number(row.length.value) }));
}
