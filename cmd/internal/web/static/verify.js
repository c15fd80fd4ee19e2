// The step of verification: the check card is laid here and there.

import { byId, fill, mm, set, setText } from "./dom.js";

const outcomes = {
  pass: ["Passed", "The errors on the card are within what this calibration states."],
  fail: ["Failed", "Do not trust this calibration."],
  undecided: ["Not decided", "The card is not known well enough to tell."],
};

function showPlaces(places) {
  const body = byId("places").querySelector("tbody");
  byId("places").hidden = places.length === 0;
  const now = JSON.stringify(places);
  if (body.dataset.text === now) return;
  body.dataset.text = now;
  body.replaceChildren(
    ...places.map((p, i) => {
      const row = document.createElement("tr");
      const texts = [`${i + 1}`, `${p.distances}`, mm(p.worst_error_mm, 2), `${p.worst_sigmas.toFixed(1)} σ`];
      texts.forEach((text, k) => {
        const cell = document.createElement(k === 0 ? "th" : "td");
        if (k === 0) cell.scope = "row";
        cell.textContent = text;
        row.append(cell);
      });
      return row;
    }),
  );
}

// showVerify draws the step's state.
export function showVerify(v, step) {
  if (step !== "verify") return;
  const waiting = v.phase === "waiting";
  byId("verify-choose").hidden = !waiting;
  byId("verify-look").hidden = waiting;
  setText(byId("verify-now"), v.now);
  setText(byId("verify-count"), `${v.places.length} of ${v.places_wanted} places`);
  showPlaces(v.places);
  const r = v.result;
  byId("outcome").hidden = r === null;
  byId("verify-save").hidden = r === null || v.phase === "saved";
  if (r) {
    const [title, meaning] = outcomes[r.outcome];
    set(byId("outcome"), { "data-outcome": r.outcome });
    setText(byId("outcome-title"), title);
    setText(byId("outcome-meaning"), meaning);
    setText(
      byId("outcome-figures"),
      `Largest error ${mm(r.worst_error_mm, 2)} over ${r.distances} distances, ${r.worst_sigmas.toFixed(1)} times what is stated (up to ${r.allowed_sigmas.toFixed(1)} is chance); near ${Math.round(100 * r.covered)} % of the mat.`,
    );
    const reasons = [...r.reasons, ...(r.cause ? [`Likely: ${r.cause}`] : []), ...r.notes];
    byId("outcome-reasons").hidden = reasons.length === 0;
    fill("outcome-reasons", reasons);
  }
  byId("verify-saved").hidden = v.phase !== "saved";
  setText(byId("verify-saved"), v.phase === "saved" ? `Saved as ${v.saved_as}. The answers state its date and its result.` : "");
  setText(byId("verify-problem"), v.problem);
  byId("verify-problem").hidden = v.problem === "";
}

// cardMeasures returns what was entered of the card.
export const cardMeasures = () => ({
  card_bar_mm: Number(byId("card-bar").value),
  card_thickness_mm: Number(byId("card-thickness").value),
  base_top_mm: Number(byId("base-top").value),
});
