// The form of a ruling and the list of those that were made. What a judge has written
// stays in the form until it is recorded, whatever goes wrong.

import { byId, set, setText } from "./dom.js";
import { ask } from "./judge-ask.js";

const draftKey = "sightline-ruling";
const fields = ["reason", "question", "asked-by", "judge"];
const byHand = "a person marked the ships in it"; // what the server says of a picture that it cannot measure without a person
let now = () => ({}); // what is judged
let sending = false;
let own = 0; // number of the last ruling that was made here
let listed = null; // number of the newest ruling that the list shows

const options = {
  "rule-range": [["", "as measured"], ["0", "contact (range 0)"], ["1", "range 1"], ["2", "range 2"], ["3", "range 3"], ["beyond", "beyond range 3"]],
  "rule-arc": [["", "as measured"], ["yes", "in the arc"], ["no", "not in the arc"]],
  "rule-obstruction": [["", "as measured"], ["yes", "obstructed"], ["no", "not obstructed"], ["choose", "attacker may choose a clear line"]],
  "rule-attack": [["", "as measured"], ["yes", "it may attack"], ["no", "it may not attack"]],
};
let suggested = ""; // the reason that stands in the form and no one wrote
let drafted = {}; // what was chosen of open questions before a reload, and of which pair: { open, about }

function keepDraft() {
  const draft = {};
  for (const id of [...fields, ...Object.keys(options)]) draft[id] = byId(id).value;
  draft.overrule = byId("overrule").checked;
  draft.open = chosen();
  draft.about = byId("open").dataset.about;
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
  drafted = draft;
}

const decisions = { confirm: "as_measured", decide: "decided", overrule: "overruled" };
const decision = () => decisions[Object.keys(decisions).find((id) => byId(id).checked)];

// chosen is what stands in the lists of open questions, by their keys.
const chosen = () => Object.fromEntries([...byId("open").querySelectorAll("select")].map((s) => [s.dataset.key, s.value]));

// moot questions need no answer: what is out of the arc is neither obstructed nor attacked.
const moot = (key) => ["obstructed", "may_attack"].includes(key) && chosen().in_arc === "no";

function showOtherwise() {
  const how = decision();
  byId("otherwise").hidden = how !== "overruled";
  byId("open").hidden = how !== "decided";
  byId("why").hidden = how === "as_measured";
  byId("suggested").hidden = how !== "decided";
  for (const select of byId("open").querySelectorAll("select")) select.disabled = moot(select.dataset.key);
  setText(byId("record"), { as_measured: "Record: as measured", decided: "Record: decided", overruled: "Record: overruled" }[how]);
  const reason = byId("reason");
  const [usual] = reasons();
  if (how === "decided" && usual && (reason.value === "" || reason.value === suggested)) reason.value = suggested = usual;
  else if (how !== "decided" && suggested && reason.value === suggested) reason.value = suggested = "";
}

// reasons are those that are suggested, with the judge's name.
function reasons() {
  const name = byId("judge").value.trim();
  return (now().judgement?.reasons ?? []).map((r) => (name ? r.replace("ruled by the judge.", `ruled by ${name}.`) : r));
}

// showOpen offers the possible results of what the measurement does not decide about a pair.
function showOpen(open, about) {
  const box = byId("open");
  const key = JSON.stringify([open, reasons(), about]);
  if (box.dataset.key === key) return;
  const before = { ...(drafted.about === about ? drafted.open : {}), ...(box.dataset.about === about ? chosen() : {}) };
  drafted = {};
  set(box, { "data-key": key, "data-about": about });
  box.replaceChildren(
    ...open.map((q) => {
      const label = document.createElement("label");
      const name = document.createElement("span");
      const select = document.createElement("select");
      name.textContent = q.name;
      select.id = `open-${q.key}`;
      select.dataset.key = q.key;
      select.append(new Option(`choose: ${q.text}`, ""), ...q.possible.map((p) => new Option(p.text, p.value)));
      if (q.possible.some((p) => p.value === before[q.key])) select.value = before[q.key];
      label.append(name, select);
      return label;
    }),
  );
  byId("suggested").replaceChildren(
    ...reasons().map((text) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.addEventListener("click", () => {
        byId("reason").value = suggested = text;
        keepDraft();
      });
      return button;
    }),
  );
}

// isOwn reports whether a ruling was made here, or may have been: it is on its way.
export const isOwn = (number) => sending || number === own;

// A page that is opened again while its ruling is on its way does not know the answer: then a
// ruling after the same one may be its own.
const underWay = "sightline.ruling-after";
export const mayBeOwn = (number) => sessionStorage.getItem(underWay) === String(number - 1);

// awaitForm lets nothing be ruled until it is known what.
export function awaitForm() {
  setText(byId("confirm-text"), "nothing is measured yet");
  setText(byId("decide-text"), "");
  byId("record").disabled = true;
}

// showForm says what would be confirmed; nothing can be ruled without a judgement.
export function showForm(judgement) {
  const pair = judgement && judgement.choice.from && judgement.choice.to;
  const measured = pair && judgement.verdicts.length > 0;
  const open = pair ? judgement.open : [];
  setText(byId("confirm-text"), !pair ? "nothing is measured yet" : open.length ? "decides nothing: the measurement leaves something open" : judgement.measured);
  setText(byId("decide-text"), open.length ? judgement.measured : "");
  byId("decide-choice").hidden = open.length === 0;
  byId("record").disabled = sending || !pair;
  byId("confirm").disabled = pair && (!measured || open.length > 0);
  if (pair && !measured) byId("overrule").checked = true;
  else if (open.length && byId("confirm").checked) byId("decide").checked = true;
  else if (!open.length && byId("decide").checked) byId("confirm").checked = true;
  showOpen(open, pair ? `${judgement.choice.from} ${judgement.choice.to} ${judgement.choice.arc}` : "");
  if (judgement?.asked && !byId("asked-by").value) byId("asked-by").value = judgement.asked;
  for (const option of byId("rule-range").options) if (option.value === "0") option.disabled = judgement?.rules === "1e";
  setText(byId("asked-text"), judgement?.asked ? `called by ${judgement.asked}` : "optional");
  showOtherwise();
}

function problem(text, field = null) {
  setText(byId("rule-problem"), text);
  for (const box of byId("rule").querySelectorAll("[aria-invalid]")) box.removeAttribute("aria-invalid");
  if (!field) return;
  set(byId(field), { "aria-invalid": "true" });
  byId(field).focus();
}

async function record(event) {
  event.preventDefault();
  const { judgement, choice, after } = now();
  if (!judgement || sending) return;
  const how = decision();
  const ruled = how === "decided" ? chosen() : { range: byId("rule-range").value, in_arc: byId("rule-arc").value, obstructed: byId("rule-obstruction").value, may_attack: byId("rule-attack").value };
  const left = judgement.open.find((q) => how === "decided" && !ruled[q.key] && !moot(q.key));
  if (left) return problem(`Choose what holds: ${left.name.charAt(0).toLowerCase()}${left.name.slice(1)}.`, `open-${left.key}`);
  if (how === "decided") for (const key of Object.keys(ruled)) if (moot(key)) ruled[key] = "";
  if (how === "overruled" && !Object.values(ruled).some(Boolean)) return problem("Say what you rule: the range, the arc, the obstruction, or the attack itself.", "rule-range");
  if (how === "overruled" && !byId("reason").value.trim()) return problem("A ruling against what was measured needs a reason.", "reason");
  problem("");
  sending = true;
  byId("record").disabled = true;
  byId("done").hidden = true;
  sessionStorage.setItem(underWay, after);
  try {
    const ruling = await ask("/api/rulings", "POST", {
      held: judgement.held, after, ...choice, decision: how,
      ...(how === "as_measured" ? {} : { ruled, reason: byId("reason").value }),
      question: byId("question").value, asked_by: byId("asked-by").value, judge: byId("judge").value,
    });
    own = ruling.number;
    clear();
    done(ruling);
  } catch (error) {
    problem(error.message);
  } finally {
    sending = false;
    sessionStorage.removeItem(underWay);
    byId("record").disabled = !now().judgement;
  }
}

// clear empties what belongs to one ruling; the judge's name stays.
function clear() {
  for (const id of ["reason", "question", "asked-by", ...Object.keys(options)]) byId(id).value = "";
  for (const select of byId("open").querySelectorAll("select")) select.value = "";
  byId("confirm").checked = true;
  keepDraft();
  showForm(now().judgement);
}

function done(ruling) {
  const box = byId("done");
  const link = document.createElement("a");
  link.href = `/api/rulings/${ruling.number}/export.html`;
  link.download = "";
  link.textContent = "Save it as a page";
  box.replaceChildren(`Ruling ${ruling.number} is recorded: ${ruling.title}. `, link);
  if (ruling.picture_differs === byHand) box.append(". Note: a person marked the ships in the picture. The program alone does not measure it.");
  else if (!ruling.picture_gives_the_same) box.append(`. Note: the stored picture alone, without those before it, says otherwise: ${ruling.picture_differs}.`);
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
  const how = { decided: "Decided", overruled: "Overruled" }[r.decision];
  text.textContent = how ? `${how}. Measured: ${r.measured}. Reason: ${r.reason}` : `As measured${r.judge ? `, by ${r.judge}` : ""}.`;
  const links = document.createElement("p");
  links.className = "links";
  for (const [name, path, save] of [["Page to save", "export.html", true], ["Picture", "picture", false], ["Entry", "", false]]) {
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
    setText(trouble, "No rulings yet.");
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
