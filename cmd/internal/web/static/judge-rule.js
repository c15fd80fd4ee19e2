// The form of a ruling and the list of those that were made. What a judge has written
// stays in the form until it is recorded, whatever goes wrong.

import { byId, set, setText } from "./dom.js";
import { ask } from "./judge-ask.js";

const draftKey = "sightline-ruling";
const fields = ["reason", "question", "asked-by", "judge"];
let now = () => ({}); // what is judged
let sending = false;
let own = 0; // number of the last ruling that was made here
let listed = null; // number of the newest ruling that the list shows

const options = {
  "rule-range": [["", "as measured"], ["0", "contact (range 0)"], ["1", "range 1"], ["2", "range 2"], ["3", "range 3"], ["beyond", "beyond range 3"]],
  "rule-arc": [["", "as measured"], ["yes", "in the arc"], ["no", "not in the arc"]],
  "rule-obstruction": [["", "as measured"], ["yes", "obstructed"], ["no", "not obstructed"], ["choose", "attacker may choose a clear line"]],
};

function keepDraft() {
  const draft = {};
  for (const id of [...fields, ...Object.keys(options)]) draft[id] = byId(id).value;
  draft.overrule = byId("overrule").checked;
  try {
    sessionStorage.setItem(draftKey, JSON.stringify(draft));
  } catch {
    // It stays in the form as long as the page.
  }
}

function takeDraft() {
  let draft = {};
  try {
    draft = JSON.parse(sessionStorage.getItem(draftKey) ?? "{}");
  } catch {
    return;
  }
  for (const id of [...fields, ...Object.keys(options)]) if (draft[id]) byId(id).value = draft[id];
  byId("overrule").checked = Boolean(draft.overrule);
}

const overruling = () => byId("overrule").checked;

function showOtherwise() {
  byId("otherwise").hidden = !overruling();
  setText(byId("record"), overruling() ? "Record: overruled" : "Record: as measured");
}

// isOwn reports whether a ruling was made here, or may have been: it is on its way.
export const isOwn = (number) => sending || number === own;

// showForm says what would be confirmed; nothing can be ruled without a judgement.
export function showForm(judgement) {
  const pair = judgement && judgement.choice.from && judgement.choice.to;
  const measured = pair && judgement.verdicts.length > 0;
  setText(byId("confirm-text"), pair ? judgement.measured : "nothing is measured yet");
  byId("record").disabled = sending || !pair;
  byId("confirm").disabled = !measured;
  if (pair && !measured) byId("overrule").checked = true;
  if (judgement?.asked && !byId("asked-by").value) byId("asked-by").value = judgement.asked;
  for (const option of byId("rule-range").options) if (option.value === "0") option.disabled = judgement?.rules === "1e";
  setText(byId("asked-text"), judgement?.asked ? `asked for by ${judgement.asked}` : "if you like");
  showOtherwise();
}

function problem(text, field = null) {
  setText(byId("rule-problem"), text);
  for (const id of ["reason", "rule-range"]) byId(id).removeAttribute("aria-invalid");
  if (!field) return;
  set(byId(field), { "aria-invalid": "true" });
  byId(field).focus();
}

async function record(event) {
  event.preventDefault();
  const { judgement, choice, after } = now();
  if (!judgement || sending) return;
  const ruled = { range: byId("rule-range").value, in_arc: byId("rule-arc").value, obstructed: byId("rule-obstruction").value };
  if (overruling() && !ruled.range && !ruled.in_arc && !ruled.obstructed) return problem("Say what you rule: the range, the arc or the obstruction.", "rule-range");
  if (overruling() && !byId("reason").value.trim()) return problem("A ruling against what was measured needs a reason.", "reason");
  problem("");
  sending = true;
  byId("record").disabled = true;
  byId("done").hidden = true;
  try {
    const ruling = await ask("/api/rulings", "POST", {
      held: judgement.held, after, ...choice, decision: overruling() ? "overruled" : "as_measured",
      ...(overruling() ? { ruled, reason: byId("reason").value } : {}),
      question: byId("question").value, asked_by: byId("asked-by").value, judge: byId("judge").value,
    });
    own = ruling.number;
    clear();
    done(ruling);
  } catch (error) {
    problem(error.message);
  } finally {
    sending = false;
    byId("record").disabled = false;
  }
}

// clear empties what belongs to one ruling; the judge's name stays.
function clear() {
  for (const id of ["reason", "question", "asked-by", ...Object.keys(options)]) byId(id).value = "";
  byId("confirm").checked = true;
  keepDraft();
  showOtherwise();
}

function done(ruling) {
  const box = byId("done");
  const link = document.createElement("a");
  link.href = `/api/rulings/${ruling.number}/export.html`;
  link.download = "";
  link.textContent = "Save it as a page";
  box.replaceChildren(`Ruling ${ruling.number} is recorded: ${ruling.title}. `, link);
  if (!ruling.picture_gives_the_same) box.append(`. Note: the stored picture alone, without those before it, says otherwise: ${ruling.picture_differs}.`);
  box.hidden = false;
  box.focus();
}

function logItem(r) {
  const item = document.createElement("li");
  item.value = r.number;
  item.dataset.overruled = r.overruled;
  const head = document.createElement("p");
  const title = document.createElement("b");
  title.textContent = `${r.from} → ${r.to}: ${r.title}`;
  const time = document.createElement("small");
  time.textContent = new Date(r.at_unix_ms).toLocaleString([], { dateStyle: "short", timeStyle: "medium" });
  head.append(title, " ", time);
  const text = document.createElement("p");
  text.textContent = r.overruled ? `Overruled. Measured: ${r.measured}. Reason: ${r.reason}` : `As measured${r.judge ? `, by ${r.judge}` : ""}.`;
  const links = document.createElement("p");
  links.className = "links";
  for (const [name, path, save] of [["Page to keep", "export.html", true], ["Picture", "picture", false], ["Entry", "", false]]) {
    const a = document.createElement("a");
    a.href = `/api/rulings/${r.number}${path ? `/${path}` : ""}`;
    a.textContent = name;
    a.setAttribute("aria-label", `${name} of ruling ${r.number}`);
    if (save) a.download = "";
    else a.target = "_blank";
    links.append(a, " ");
  }
  item.append(head, text, links);
  return item;
}

// showLog brings the list up to date when there is another ruling.
export async function showLog(state) {
  const newest = state?.ruling?.number ?? 0;
  if (listed === newest) return;
  listed = newest;
  const trouble = byId("log-problem");
  try {
    const { rulings } = await ask("/api/rulings?limit=12");
    byId("log").replaceChildren(...rulings.map(logItem));
    trouble.hidden = rulings.length > 0;
    trouble.className = "hint";
    setText(trouble, "Nothing was ruled yet.");
  } catch (error) {
    listed = null;
    trouble.hidden = false;
    trouble.className = "problem";
    setText(trouble, error.status === 404 ? "This program keeps no record: nothing can be ruled." : error.message);
  }
}

// startRuling begins to listen to the form. what returns what is judged.
export function startRuling(what) {
  now = what;
  for (const [id, list] of Object.entries(options)) byId(id).replaceChildren(...list.map(([value, text]) => new Option(text, value)));
  takeDraft();
  showOtherwise();
  byId("rule").addEventListener("submit", record);
  byId("rule").addEventListener("input", () => {
    keepDraft();
    showOtherwise();
  });
}
