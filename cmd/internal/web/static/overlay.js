// The camera's picture in the calibration, and what is drawn over it: the coverage of
// the picture, the board's corners, the mat's markers.

import { byId, keepUnit, set, setText, svg } from "./dom.js";
import { clearPicture, drawPicture } from "./picture.js";

const overlay = byId("overlay");
const keep = keepUnit(overlay, () => drawn && showPicture(drawn));
let drawn = null; // the state that is shown

// A pixel's centre is at whole numbers; the drawing's pixel 0 begins at 0.
const place = ([x, y]) => [x + 0.5, y + 0.5];

function showCoverage(guide, w, h) {
  const rows = guide.counts.length, cols = guide.counts[0].length;
  const cw = w / cols, ch = h / rows;
  let lines = "";
  for (let c = 1; c < cols; c++) lines += `M${c * cw} 0V${h}`;
  for (let r = 1; r < rows; r++) lines += `M0 ${r * ch}H${w}`;
  guide.counts.forEach((row, r) =>
    row.forEach((n, c) => {
      if (n === 0) return;
      const opacity = (0.16 + 0.3 * Math.min(1, n / 40)).toFixed(2);
      svg("rect", { class: "cell", x: c * cw, y: r * ch, width: cw, height: ch, "fill-opacity": opacity }, overlay);
    }),
  );
  svg("path", { class: "lines", d: lines }, overlay);
  if (guide.target_cell) {
    const [c, r] = guide.target_cell;
    svg("rect", { class: "target", x: c * cw, y: r * ch, width: cw, height: ch }, overlay);
  }
}

function showBoard(lens) {
  const corners = lens.corners_px.map(place);
  if (corners.length === 0) return;
  const taken = lens.outcome === "taken" ? " taken" : "";
  const unit = keep();
  for (let i = 0; lens.columns > 0 && corners.length % lens.columns === 0 && i < corners.length; i += lens.columns) {
    svg("polyline", { class: `row${taken}`, points: corners.slice(i, i + lens.columns).map((p) => p.join(",")).join(" ") }, overlay);
  }
  corners.forEach(([cx, cy], i) => svg("circle", { class: i === 0 ? "first" : `corner${taken}`, cx, cy, r: (i === 0 ? 5 : 3.5) * unit }, overlay));
}

// stateOf says what is the matter with a marker.
export const stateOf = (m) => (m.corners_px.length === 0 ? "unseen" : m.off_mm !== undefined && m.off_mm !== null && !m.used ? "off" : "good");

function showMarkers(table, w, named) {
  const unit = keep();
  for (const m of table.markers) {
    if (m.corners_px.length === 0) continue;
    const corners = m.corners_px.map(place);
    const points = corners.map((p) => p.join(",")).join(" ");
    svg("polygon", { class: "under", points }, overlay);
    svg("polygon", { class: "marker", "data-state": stateOf(m), points }, overlay);
    if (!named) continue;
    const x = corners.reduce((sum, p) => sum + p[0], 0) / 4;
    const y = Math.max(...corners.map((p) => p[1])) + 11 * unit;
    const edge = 30 * unit;
    const text = svg("text", { class: "place", x: Math.min(Math.max(x, edge), w - edge), y }, overlay);
    text.textContent = m.off_mm === undefined || m.off_mm === null ? `${m.id}` : `${m.id}: ${m.off_mm.toFixed(2)} mm`;
  }
}

// showPicture draws a state's picture and what was found in it.
export function showPicture(state) {
  drawn = state;
  const { width_px: w, height_px: h, picture_seq: seq, lost } = state.camera;
  if (w > 0) {
    set(overlay, { viewBox: `0 0 ${w} ${h}` });
    byId("picture").style.aspectRatio = `${w} / ${h}`;
    setText(byId("view-note"), `${w} × ${h} px`);
  }
  if (seq === 0) clearPicture();
  else drawPicture("/api/calibration/picture.jpg", seq);
  overlay.replaceChildren();
  const legend = byId("legend");
  const capturing = state.step === "lens" && state.lens.phase === "looking";
  legend.hidden = !capturing;
  if (w === 0 || lost) return;
  if (capturing) {
    if (!legend.firstChild) {
      for (const [name, text] of [["covered", "covered by the board so far "], ["wanted", "bring the board here next"]]) {
        const mark = document.createElement("i");
        mark.className = name;
        legend.append(mark, text, " ");
      }
    }
    showCoverage(state.lens.guide, w, h);
    showBoard(state.lens);
  }
  if (state.step === "table") showMarkers(state.table, w, true);
  if (state.step === "verify") showMarkers(state.verify, w, false);
}
