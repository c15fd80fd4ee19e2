// Everything that the chosen attacker could be measured to: range, arc, obstruction.

import { byId, set, setText } from "./dom.js";
import { say } from "./texts.js";

const signs = { yes: "✓", no: "✕", too_close: "≈", choose: "≈", no_view: "–", not_watched: "–" };

const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function piece(parent, name, className, text) {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = say(text);
  parent.append(element);
  return element;
}

// sign is a symbol with what it means next to it for those who do not see it.
function sign(parent, outcome) {
  const mark = piece(parent, "span", "sign", signs[outcome] ?? "–");
  mark.dataset.outcome = outcome;
  mark.setAttribute("aria-hidden", "true");
  return mark;
}

// arcOf is what is known of a target in an arc: it is in it where the list names it.
const arcOf = (target, arc) => target.arcs.find((a) => a.arc === arc);

// beyond reports whether a target is too far to be attacked.
const beyond = (target, a) => (a?.attack || target.title) === "Beyond range 3";

// describe is a target in words: where it is, and what stands in the way.
function describe(target, arc) {
  if (target.outcome === "no_view") return [target.title];
  const a = arcOf(target, arc);
  const lock = target.no_lock ? [target.no_lock.text] : [];
  const range = a?.attack && a.attack !== target.title ? [`${a.attack} in the arc`] : [];
  if (arc === "") return [target.title, ...lock];
  if (!a) return [target.title, "not in arc", ...lock];
  const parts = [target.title, ...range, a.outcome === "yes" ? (beyond(target, a) ? "in arc, too far" : "in arc") : "too close to the arc's edge to call"];
  if (target.arcs.some((o) => o.arc === "bullseye" && o.arc !== arc && o.outcome === "yes")) parts.push("in the bullseye");
  if (a.obstruction && !["no", "not_watched"].includes(a.obstruction.outcome)) parts.push(a.obstruction.text);
  if (target.no_attack) parts.splice(1, 0, target.no_attack.text);
  return [...parts, ...lock];
}

// unless is an outcome after what the rules forbid where the ships stand.
function unless(forbidden, outcome) {
  if (!forbidden || outcome === "no" || outcome === "no_view") return outcome;
  return forbidden.outcome === "yes" ? "no" : "too_close";
}

// outcomeOf is the sign before a target: can it be attacked in this arc?
function outcomeOf(target, arc) {
  if (target.outcome === "no_view") return "no_view";
  if (arc === "") return unless(target.no_lock, target.outcome);
  return unless(target.no_attack, inArcOf(target, arc));
}

function inArcOf(target, arc) {
  const a = arcOf(target, arc);
  if (!a || beyond(target, a)) return "no";
  return a.outcome === "yes" && (target.outcome === "too_close" || a.attack_close) && /beyond/.test(a.attack) ? "too_close" : a.outcome;
}

const rank = (target, arc) => ["yes", "too_close", "no", "no_view"].indexOf(outcomeOf(target, arc));

// fillRow fills a row: id, range, what else.
function fillRow(row, target, arc, figures) {
  row.replaceChildren();
  sign(row, outcomeOf(target, arc));
  const id = piece(row, "b", "id", target.id);
  id.dataset.player = target.player;
  const badge = piece(row, "span", "bandbadge", target.outcome === "no_view" ? "–" : target.band);
  badge.dataset.outcome = target.outcome;
  const text = piece(row, "span", "what", upper(describe(target, arc).slice(target.outcome === "no_view" || (arc === "" && !target.no_lock) ? 0 : 1).join(", ")));
  if (figures && target.outcome !== "no_view") piece(text, "small", "", `${target.distance_mm.toFixed(1)} ± ${target.sigma_mm.toFixed(2)} mm`);
}

// showRows fills a list of targets; choose is what a tap does, null for a list to read.
export function showRows(list, targets, arc, chosen, figures, choose) {
  const key = JSON.stringify([targets, arc, chosen, figures]);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  const sorted = [...targets].sort((a, b) => rank(a, arc) - rank(b, arc));
  while (list.children.length > sorted.length) list.lastChild.remove();
  sorted.forEach((target, i) => {
    let item = list.children[i];
    if (!item) {
      item = document.createElement("li");
      const row = document.createElement(choose ? "button" : "div");
      row.className = "rowitem";
      if (choose) {
        row.type = "button";
        row.addEventListener("click", () => choose(row.dataset.id));
      }
      item.append(row);
      list.append(item);
    }
    const row = item.firstChild;
    row.dataset.id = target.id;
    if (choose) set(row, { "aria-pressed": target.id === chosen, "aria-label": `${target.id}: ${describe(target, arc).join(", ")}` });
    fillRow(row, target, arc, figures);
  });
}

// showTargets brings the list of the chosen attacker up to date.
export function showTargets(state, figures, choose) {
  const { from, list, reason } = state.targets;
  const enemy = state.ships.find((s) => s.id === from)?.player;
  const targets = list.filter((t) => t.player !== enemy || t.player === 0 || t.id === state.choice.to);
  const arc = state.choice.arc;
  const inArc = targets.filter((t) => outcomeOf(t, arc) === "yes").length;
  const rangeOnly = targets.length > 0 && targets.every((t) => t.arcs.length === 0) && state.policy.window?.doing !== "attack" && state.policy.measuring === "edition";
  setText(byId("targets-title"), !from ? "In arc" : rangeOnly ? `In range of ${from}` : `In the ${arc.replaceAll("_", " ")} arc of ${from}`);
  setText(byId("targets-note"), from && !rangeOnly && list.length ? `${inArc} of ${targets.length} can be attacked` : "");
  showRows(byId("targets"), targets, rangeOnly ? "" : arc, state.choice.to, figures, choose);
  setText(byId("targets-hint"), !from ? "Choose an attacker to see everything that it has in arc." : list.length ? "" : reason ? `${upper(reason)}.` : state.health.code === "ok" ? "There is no other ship." : "Nothing is measured now.");
}

const named = (kind) => kind.replaceAll("_", " ");

// objectRow is a row about an obstacle, a device or a marker.
function objectRow(o, figures) {
  const item = document.createElement("li");
  const row = piece(item, "div", "rowitem", "");
  sign(row, o.may || "no_view");
  piece(row, "b", "id", o.id);
  const badge = piece(row, "span", "bandbadge", o.band);
  badge.dataset.outcome = o.outcome;
  const text = piece(row, "span", "what", [upper(named(o.kind)), o.text].filter(Boolean).join(", "));
  if (figures) piece(text, "small", "", `${o.distance_mm.toFixed(1)} ± ${o.sigma_mm.toFixed(2)} mm`);
  return item;
}

// blastRow says which ships are near a device.
function blastRow(b) {
  const item = document.createElement("li");
  item.className = "blast";
  const near = b.ships.map((s) => `${s.id}: ${s.title.charAt(0).toLowerCase()}${s.title.slice(1)}`);
  piece(item, "b", "", `${b.id}, ${named(b.kind)}: `);
  item.append(say(near.length ? `${near.join("; ")}.` : "no ship up to range 3."));
  if (b.uncounted.length) item.append(` ${say(`Not counted: ${b.uncounted.join(", ")}.`)}`);
  return item;
}

// showObjects lists what lies on the table besides ships, and the ships near each device.
export function showObjects(state, figures) {
  const { from, objects, blasts } = state.targets;
  const box = byId("objects");
  box.hidden = objects.length + blasts.length === 0;
  const doing = state.policy.window?.doing ?? "";
  if (box.dataset.doing !== doing) {
    box.dataset.doing = doing;
    if (["lock", "tow", "scramble", "blast"].includes(doing)) box.open = true;
  }
  setText(byId("objects-title"), blasts.length && !objects.length ? "Ships near devices" : `Objects from ${from}`);
  const key = JSON.stringify([objects, blasts, figures]);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  byId("objects-list").replaceChildren(...objects.map((o) => objectRow(o, figures)));
  byId("blasts").replaceChildren(...blasts.map(blastRow));
}

export { sign };
