// The camera's picture on a canvas, with the outlines of what was found over it.

import { label } from "./label.js";
import { byId, keepUnit, set, svg } from "./dom.js";
import { click } from "./choose.js";
import { drawPicture } from "./picture.js";
import { roleOf } from "./table.js";

const outlines = byId("outlines");
const keep = keepUnit(outlines, () => drawn && showOutlines(drawn));
let drawn = null; // the state that is shown

// showThings draws the obstacles that were found.
function showThings(state, unit) {
  state.obstacles.forEach((o, i) => {
    const px = state.things.seen[i].outline_px;
    if (px.length < 3) return;
    const corners = px.map(([x, y]) => [x + 0.5, y + 0.5]);
    const points = corners.map((p) => p.join(",")).join(" ");
    const group = svg("g", { class: "thing" }, outlines);
    svg("polygon", { class: "under", points }, group);
    svg("polygon", { class: "over", points }, group);
    const x = corners.reduce((sum, p) => sum + p[0], 0) / corners.length;
    const y = corners.reduce((sum, p) => sum + p[1], 0) / corners.length;
    svg("text", { class: "seen", x, y: y + 2 * unit }, group).textContent = o.id;
  });
}

function showOutlines(state) {
  drawn = state;
  const unit = keep();
  outlines.replaceChildren();
  showThings(state, unit);
  for (const ship of state.ships) {
    if (ship.outline_px.length !== 4) continue;
    // A pixel's centre is at whole numbers; the drawing's pixel 0 begins at 0.
    const corners = ship.outline_px.map(([x, y]) => [x + 0.5, y + 0.5]);
    const points = corners.map((p) => p.join(",")).join(" ");
    const group = svg("g", { "data-player": ship.player, "data-state": ship.state, "data-role": roleOf(ship.id, state.choice) }, outlines);
    svg("polygon", { class: "under", points }, group);
    svg("polygon", { class: "over", points }, group).addEventListener("click", () => click(ship.id));
    const x = corners.reduce((sum, p) => sum + p[0], 0) / 4;
    const y = Math.min(...corners.map((p) => p[1])) - 9 * unit;
    svg("text", { x, y }, group).textContent = ["still", "unsure"].includes(ship.state) ? label(ship) : `${label(ship)} ${ship.state}`;
    if (sees.checked) showSides(ship, corners, group, unit, roleOf(ship.id, state.choice) !== null);
  }
}

const sides = ["front", "right", "rear", "left"]; // from corner i to the next of outline_px
const sees = byId("sees");

// showSides draws what a ship's pose rests on: the sides whose code was read, the share of
// its printed rim that is in view, and for the chosen pair how badly the print fits.
function showSides(ship, corners, group, unit, chosen) {
  sides.forEach((side, i) => {
    const [[x1, y1], [x2, y2]] = [corners[i], corners[(i + 1) % 4]];
    svg("line", { class: "side", "data-read": ship.sides_read.includes(side), x1, y1, x2, y2 }, group);
  });
  const x = corners.reduce((sum, p) => sum + p[0], 0) / 4;
  const y = Math.max(...corners.map((p) => p[1])) + 10 * unit;
  svg("text", { class: "seen", x, y }, group).textContent =
    `${Math.round(100 * ship.visible)} %` + (chosen ? `, misfit ${Math.round(100 * ship.residual)} %` : "");
}

// showCamera draws a state's picture and outlines.
export function showCamera(state) {
  const picture = state.picture;
  if (picture) {
    set(outlines, { viewBox: picture.region_px.join(" ") });
    const [, , width, height] = picture.region_px;
    byId("picture").style.aspectRatio = `${width} / ${height}`;
    byId("picture").style.setProperty("--ratio", (width / height).toFixed(4)); // for what limits its height
    drawPicture("/api/picture.jpg", picture.seq);
  }
  showOutlines(state);
}
