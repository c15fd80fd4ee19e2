// The catalogue: what it holds, with a small drawing of each; renamed, given another
// kind, deleted; downloaded, and taken from a file.

import { patience } from "./ask.js";
import { byId, setText } from "./dom.js";
import { drawing, field, kindSelect, line, say, want, words } from "./obstacles-learn.js";

let state = null;
let shown = null;

// A row says what its entry was when it was drawn, and in which version of the file: a
// change is asked for with that version, so that no one overwrites what they have not seen.
let rows = new Map();

async function change(row, intent, done) {
  row.asked = true;
  const problem = await want({ ...intent, version: row.version });
  row.asked = problem === ""; // then the next state is what was asked for
  const other = problem && row.now ? ` ${row.e.name} is now ${told(row.now)}, it was ${told(row.e)}.` : "";
  if (problem && row.now) take(row, row.now); // they have been told: the next try is for what stands there now
  if (problem) row.version = state.catalogue.version;
  say(byId("catalogue-problem"), problem + other);
  say(byId("catalogue-done"), problem ? "" : done);
}

const told = (e) => `${words(e.kind)}, ${e.area_mm2.toFixed(0)} mm²`;
const keyOf = (e) => JSON.stringify({ ...e, alike: [] });

function take(row, e) {
  row.e = e;
  row.now = null;
  say(row.other, "");
  row.figures.textContent = figures(e);
  row.item.replaceChild(drawing(e.shape_mm), row.item.firstChild);
}

const figures = (e) => `${e.area_mm2.toFixed(0)} mm², outline good to ${e.sigma_mm.toFixed(2)} mm, ${e.top_mm.toFixed(1)} mm high`;

function entry(e, version) {
  const row = { e, version, now: null, asked: false };
  const item = document.createElement("li");
  const name = document.createElement("input");
  name.type = "text";
  name.maxLength = 40;
  name.value = e.name;
  const kind = kindSelect(state.kinds, e.kind);
  const fields = document.createElement("div");
  fields.className = "fields";
  fields.append(field("Name", name), field("Kind", kind));
  const buttons = document.createElement("div");
  buttons.className = "said buttons";
  const keep = document.createElement("button");
  keep.type = "button";
  keep.textContent = "Keep the change";
  keep.hidden = true;
  const remove = document.createElement("button");
  remove.type = "button";
  remove.className = "quiet";
  remove.textContent = "Delete";
  remove.setAttribute("aria-label", `Delete ${e.name}`);
  row.dirty = () => name.value.trim() !== row.e.name || kind.value !== row.e.kind;
  const differs = () => (keep.hidden = !row.dirty());
  name.addEventListener("input", differs);
  kind.addEventListener("input", differs);
  keep.addEventListener("click", () => !name.value.trim() ? say(byId("catalogue-problem"), "Give it a name.") : change(row, { do: "change", name: e.name, to: name.value, kind: kind.value }, `${name.value.trim()} is saved.`));
  remove.addEventListener("click", () => {
    if (!remove.classList.contains("sure")) {
      remove.classList.add("sure");
      remove.textContent = "Really delete?";
      remove.setAttribute("aria-label", `Really delete ${e.name}?`);
      setTimeout(() => {
        remove.classList.remove("sure");
        remove.textContent = "Delete";
        remove.setAttribute("aria-label", `Delete ${e.name}`);
      }, 6000);
      return;
    }
    change(row, { do: "delete", name: e.name }, `${e.name} is deleted; the previous file is kept.`);
  });
  buttons.append(keep, remove);
  row.item = item;
  row.figures = line("said", figures(e));
  row.other = line("doubt", "");
  row.alike = line("doubt", "");
  item.append(drawing(e.shape_mm), fields, row.figures, row.other, row.alike, buttons);
  say(row.other, "");
  return row;
}

// showEntries draws the rows whose entries have changed; what was typed in others stays.
function showEntries(c) {
  const next = new Map();
  for (const e of c.entries) {
    let row = rows.get(e.name);
    if (row && keyOf(row.e) === keyOf(e)) row.version = c.version;
    else if (row?.dirty() && !row.asked) {
      row.now = e;
      say(row.other, `Someone else has changed this entry: it is now ${told(e)}. What you typed is kept.`);
    } else row = entry(e, c.version);
    say(row.alike, e.alike.length ? `It looks like ${e.alike.join(", ")}. The two cannot be told apart, so neither is recognised. Delete the one that you do not have.` : "");
    next.set(e.name, row);
  }
  for (const [name, row] of rows) {
    if (!next.has(name) && row.dirty() && !row.asked) say(byId("catalogue-problem"), `Someone else has deleted or renamed ${name}, which you were changing.`);
  }
  rows = next;
  const list = byId("entries");
  const items = [...rows.values()].map((row) => row.item);
  for (const old of [...list.children]) if (!items.includes(old)) old.remove();
  items.forEach((item, i) => {
    if (list.children[i] !== item) list.insertBefore(item, list.children[i] ?? null);
  });
}

// showCatalogue shows the catalogue.
export function showCatalogue(now) {
  state = now;
  const c = state.catalogue;
  setText(byId("catalogue-note"), c.file);
  say(byId("catalogue-broken"), c.problem ? `The catalogue cannot be read: ${c.problem}. Only a file that replaces everything is saved over it; the damaged one is kept.` : "");
  byId("catalogue-empty").hidden = c.entries.length > 0 || c.problem !== "";
  byId("download").hidden = c.version === "" || c.problem !== "";
  const drawn = JSON.stringify([c.version, c.entries.map((e) => e.alike)]);
  if (shown === drawn) return;
  shown = drawn;
  showEntries(c);
}

// The file takes the place of what stood there when it was chosen, and of all of it with
// the second click only.
let chosen = "";
let sure = null;
function calm() {
  clearTimeout(sure);
  sure = null;
  byId("take").classList.remove("sure");
  setText(byId("take"), "Import the file");
}
for (const id of ["file", "mode"]) {
  byId(id).addEventListener("change", () => {
    chosen = state?.catalogue.version ?? "";
    calm();
  });
}

byId("import").addEventListener("submit", async (event) => {
  event.preventDefault();
  const file = byId("file").files[0];
  if (!file) return;
  if (byId("mode").value === "all" && state.catalogue.entries.length && sure === null) {
    setText(byId("take"), state.catalogue.entries.length === 1 ? "Replace the 1 entry?" : `Replace all ${state.catalogue.entries.length} entries?`);
    byId("take").classList.add("sure");
    sure = setTimeout(calm, 6000);
    return;
  }
  calm();
  let problem = "";
  try {
    const answer = await fetch(`/api/obstacles/catalogue.json?mode=${byId("mode").value}`, {
      method: "PUT",
      headers: { "Content-Type": "application/json", "If-Match": `"${chosen}"` },
      body: file,
      signal: AbortSignal.timeout(patience),
    });
    chosen = state.catalogue.version;
    if (!answer.ok) problem = (await answer.text()).trim();
  } catch {
    problem = "The program does not answer.";
  }
  say(byId("catalogue-problem"), problem);
  say(byId("catalogue-done"), problem ? "" : `${file.name} was imported.`);
});
