// The catalogue: what it holds, with a small drawing of each; renamed, given another
// kind, deleted; downloaded, and taken from a file.

import { byId, setText } from "./dom.js";
import { drawing, field, kindSelect, line, say, want } from "./obstacles-learn.js";

let state = null;
let shown = null;

async function change(intent, done) {
  const problem = await want({ ...intent, version: state.catalogue.version });
  say(byId("catalogue-problem"), problem);
  say(byId("catalogue-done"), problem ? "" : done);
}

function entry(e) {
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
  const differs = () => (keep.hidden = name.value.trim() === e.name && kind.value === e.kind);
  name.addEventListener("input", differs);
  kind.addEventListener("input", differs);
  keep.addEventListener("click", () => change({ do: "change", name: e.name, to: name.value, kind: kind.value }, `${name.value.trim()} is kept so.`));
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
    change({ do: "delete", name: e.name }, `${e.name} is deleted; the file as it was is kept beside it.`);
  });
  buttons.append(keep, remove);
  item.append(drawing(e.shape_mm), fields, line("said", `${e.area_mm2.toFixed(0)} mm², outline good to ${e.sigma_mm.toFixed(2)} mm, ${e.top_mm.toFixed(1)} mm high`), buttons);
  return item;
}

// showCatalogue shows the catalogue; what was typed stays until the file changes.
export function showCatalogue(now) {
  state = now;
  const c = state.catalogue;
  setText(byId("catalogue-note"), c.file);
  say(byId("catalogue-broken"), c.problem ? `The catalogue cannot be read: ${c.problem}. Nothing is saved over it but a file that you take in place of all; then the damaged one is kept beside it.` : "");
  byId("catalogue-empty").hidden = c.entries.length > 0 || c.problem !== "";
  byId("download").hidden = c.version === "" || c.problem !== "";
  if (shown === c.version) return;
  shown = c.version;
  byId("entries").replaceChildren(...c.entries.map(entry));
}

byId("import").addEventListener("submit", async (event) => {
  event.preventDefault();
  const file = byId("file").files[0];
  if (!file) return;
  let problem = "";
  try {
    const answer = await fetch(`/api/obstacles/catalogue.json?mode=${byId("mode").value}`, {
      method: "PUT",
      headers: { "Content-Type": "application/json", "If-Match": `"${state.catalogue.version}"` },
      body: file,
    });
    if (!answer.ok) problem = (await answer.text()).trim();
  } catch {
    problem = "The program does not answer.";
  }
  say(byId("catalogue-problem"), problem);
  say(byId("catalogue-done"), problem ? "" : `${file.name} is taken.`);
});
