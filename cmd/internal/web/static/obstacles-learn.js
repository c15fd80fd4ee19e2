// The tokens that were traced: each gets a name and a kind, or is left out.

import { send } from "./ask.js";
import { byId, mm, setLinked, setText, svg } from "./dom.js";

// want asks the server for something; it returns the sentence why not, or "".
export async function want(intent) {
  try {
    const answer = await send("/api/obstacles", intent);
    return answer.ok ? "" : (await answer.text()).trim();
  } catch {
    return "The program does not answer.";
  }
}

// say shows a text, or hides its element without one.
export function say(element, text) {
  setLinked(element, text);
  element.hidden = text === "";
}

// drawing is a small drawing of an outline in mm; y grows away from the reader.
export function drawing(shape) {
  const reach = Math.max(20, ...shape.flat().map(Math.abs)) + 3;
  const picture = svg("svg", { viewBox: `${-reach} ${-reach} ${2 * reach} ${2 * reach}`, "aria-hidden": "true" });
  svg("polygon", { points: shape.map(([x, y]) => `${x},${-y}`).join(" ") }, picture);
  return picture;
}

const groups = { obstacle: "Obstacles", device: "Devices: bombs, mines, remotes, cargo", marker: "A scenario's markers" };
const clouds = { debris: "Debris cloud", gas: "Gas cloud" };

// words is a kind for people.
export const words = (kind) => clouds[kind] ?? (kind.charAt(0).toUpperCase() + kind.slice(1)).replaceAll("_", " ");

// kindSelect offers every kind that the catalogue knows.
export function kindSelect(kinds, chosen) {
  const select = document.createElement("select");
  for (const [group, label] of Object.entries(groups)) {
    const part = document.createElement("optgroup");
    part.label = label;
    for (const k of kinds.filter((k) => k.group === group)) part.append(new Option(words(k.kind), k.kind, false, k.kind === chosen));
    select.append(part);
  }
  return select;
}

// field is a control with its label.
export function field(text, control) {
  const label = document.createElement("label");
  const span = document.createElement("span");
  span.textContent = text;
  label.append(span, control);
  return label;
}

export function line(kind, text) {
  const p = document.createElement("p");
  p.className = kind;
  p.textContent = text;
  return p;
}

let state = null;
let shown = 0; // the trace whose rows stand there
let rows = [];

// freeName is the first name of a kind that is free.
function freeName(kind, taken) {
  for (let n = 1; ; n++) if (!taken.has(`${kind}${n}`)) return `${kind}${n}`;
}

const takenNames = (but) => new Set([...state.catalogue.entries.map((e) => e.name), ...rows.filter((r) => r !== but).map((r) => r.name.value.trim())]);

function row(token, list) {
  const item = document.createElement("li");
  item.dataset.bad = token.problem !== "";
  item.append(drawing(token.shape_mm));
  if (token.problem) {
    item.append(line("doubt", `${token.number}: ${token.problem}`));
    list.append(item);
    return;
  }
  const known = state.catalogue.entries.find((e) => e.name === token.alike[0]);
  const r = { number: token.number, item, name: document.createElement("input"), kind: kindSelect(state.kinds, known?.kind ?? "asteroid"), take: document.createElement("input"), own: Boolean(known), at: middle(token.outline_px), was: "", touched: false };
  r.take.type = "checkbox";
  r.take.checked = token.doubts.length === 0 && token.alike.length === 0;
  r.name.type = "text";
  r.name.maxLength = 40;
  r.name.value = known ? known.name : freeName(r.kind.value, takenNames(r));
  r.name.addEventListener("input", () => (r.own = true));
  r.kind.addEventListener("change", () => {
    if (!r.own) r.name.value = freeName(r.kind.value, takenNames(r));
  });
  const take = document.createElement("label");
  take.className = "take";
  take.append(r.take, `Number ${token.number}`);
  const fields = document.createElement("div");
  fields.className = "fields";
  fields.append(field("Name", r.name), field("Kind", r.kind));
  item.append(take, fields);
  item.append(line("said", `${mm(token.long_mm, 0)} × ${mm(token.short_mm, 0)}, ${token.area_mm2.toFixed(0)} mm². Edge seen along ${Math.round(100 * token.edge_seen)} %, ± ${token.edge_rms_mm.toFixed(2)} mm at each place.`));
  r.alike = line("said", "");
  item.append(r.alike);
  for (const d of token.doubts) item.append(line("doubt", d));
  for (const c of [r.take, r.name, r.kind]) {
    c.addEventListener("input", () => {
      r.touched = true;
      calm();
    });
  }
  rows.push(r);
  list.append(item);
}

// compare says what of the catalogue a token is like by now; what is in it already is not
// taken a second time unless somebody wants it so.
function compare(r, token) {
  const alike = token.alike.join(", ");
  if (r.was !== alike && alike) r.take.checked = false;
  r.was = alike;
  say(r.alike, token.saved ? `Saved as ${token.saved}.` : alike ? `Looks like ${alike} in the catalogue. Is it the same token again? If it is another one and you save both, neither is recognised.` : "");
}

// kept takes over what was typed for the tokens that lie where they lay.
function kept(before) {
  for (const old of before.filter((r) => r.touched)) {
    const r = rows.find((r) => Math.hypot(r.at[0] - old.at[0], r.at[1] - old.at[1]) < 12);
    if (!r) continue;
    r.name.value = old.name.value;
    r.kind.value = old.kind.value;
    r.take.checked = old.take.checked;
    r.touched = r.own = true;
  }
}

const middle = (points) => [0, 1].map((i) => points.reduce((sum, p) => sum + p[i], 0) / Math.max(points.length, 1));

// showTraced shows a trace's tokens; what was typed stays.
export function showTraced(now) {
  state = now;
  const trace = state.trace;
  byId("traced").hidden = !trace;
  if (!trace) {
    shown = 0;
    return;
  }
  if (shown === trace.number) {
    for (const r of rows) {
      const was = r.was;
      compare(r, trace.tokens[r.number - 1]);
      if (was !== r.was) calm();
    }
    return;
  }
  shown = trace.number;
  const before = rows;
  rows = [];
  const list = byId("traced-list");
  list.replaceChildren();
  for (const token of trace.tokens) row(token, list);
  for (const r of rows) compare(r, trace.tokens[r.number - 1]);
  kept(before);
  byId("clipped").hidden = !trace.paper_clipped;
  say(byId("save-problem"), "");
  say(byId("save-done"), "");
  calm();
}

let sure = null;
let seen = ""; // the catalogue's version when they were asked whether to replace entries
function calm() {
  clearTimeout(sure);
  sure = null;
  const n = rows.filter((r) => r.take.checked).length;
  const button = byId("save");
  button.classList.remove("sure");
  button.disabled = n === 0;
  button.classList.toggle("primary", n > 0);
  byId("tokens-next").classList.toggle("primary", n === 0); // there is nothing left to save
  setText(button, n === 1 ? "Save 1 token" : `Save ${n} tokens`);
}

byId("traced").addEventListener("submit", async (event) => {
  event.preventDefault();
  const chosen = rows.filter((r) => r.take.checked);
  const there = new Set(state.catalogue.entries.map((e) => e.name));
  const replaced = chosen.filter((r) => there.has(r.name.value.trim())).map((r) => r.name.value.trim());
  if (replaced.length && sure === null) {
    const button = byId("save");
    setText(button, `Replace ${replaced.join(", ")}?`);
    button.classList.add("sure");
    seen = state.catalogue.version;
    sure = setTimeout(calm, 8000);
    return;
  }
  const problem = await want({
    do: "save",
    version: replaced.length ? seen : state.catalogue.version,
    trace: shown,
    tokens: chosen.map((r) => ({ number: r.number, name: r.name.value, kind: r.kind.value, replace: replaced.includes(r.name.value.trim()) })),
  });
  calm();
  say(byId("save-problem"), problem);
  say(byId("save-done"), problem ? "" : `Saved ${chosen.length === 1 ? "1 token" : `${chosen.length} tokens`} in ${state.catalogue.file}; ${chosen.length === 1 ? "it is" : "they are"} looked for from now on.`);
});
