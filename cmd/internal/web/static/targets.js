// Everything that the chosen attacker could be measured to: range, arc, obstruction.

import { byId, set, setText } from "./dom.js";

const signs = { yes: "✓", no: "✕", too_close: "≈", choose: "≈", no_view: "–", not_watched: "–" };

const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function piece(parent, name, className, text) {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  parent.append(element);
  return element;
}

// sign is a symbol with what it means beside it for those who do not see it.
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
  const range = a?.attack && a.attack !== target.title ? [`${a.attack} in the arc`] : [];
  if (arc === "") return [target.title];
  if (!a) return [target.title, "not in arc"];
  const parts = [target.title, ...range, a.outcome === "yes" ? (beyond(target, a) ? "in arc, too far" : "in arc") : "too close to the arc's edge to call"];
  if (target.arcs.some((o) => o.arc === "bullseye" && o.arc !== arc && o.outcome === "yes")) parts.push("in the bullseye");
  if (a.obstruction && !["no", "not_watched"].includes(a.obstruction.outcome)) parts.push(a.obstruction.text);
  return parts;
}

// outcomeOf is the sign before a target: can it be attacked in this arc?
function outcomeOf(target, arc) {
  if (target.outcome === "no_view") return "no_view";
  if (arc === "") return target.outcome;
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
  const text = piece(row, "span", "what", upper(describe(target, arc).slice(target.outcome === "no_view" || arc === "" ? 0 : 1).join(", ")));
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
  setText(byId("targets-note"), from && !rangeOnly && list.length ? `${inArc} of ${targets.length} at range 1–3` : "");
  showRows(byId("targets"), targets, rangeOnly ? "" : arc, state.choice.to, figures, choose);
  setText(byId("targets-hint"), !from ? "Choose an attacker to see everything that it has in arc." : list.length ? "" : reason ? `${upper(reason)}.` : state.health.code === "ok" ? "There is no other ship." : "Nothing is measured now.");
}

export { sign };
