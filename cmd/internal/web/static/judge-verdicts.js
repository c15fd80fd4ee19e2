// Everything that was measured of a pair: one line for each question, the chosen one with
// its figures, its margin against what is needed, and the rule that it follows.

import { byId, mm } from "./dom.js";
import { inFull, lang } from "./texts.js";

let selected = ""; // key of the verdict that the judge looks at
let shown = null;
let about = ""; // the pair that was shown last
let told = () => {};

const element = (name, text = "", className = "") => {
  const e = document.createElement(name);
  if (text) e.textContent = text;
  if (className) e.className = className;
  return e;
};

// The words next to the mark, so that no colour speaks alone.
const marks = { yes: "✓", no: "✕", too_close: "≈", no_view: "?", choose: "⇄" };

// markOf is a verdict's mark. A clear line is no failure, and an obstacle on it no success.
function markOf(v) {
  if (v.key.endsWith("_obstruction") && (v.outcome === "yes" || v.outcome === "no")) return v.outcome === "yes" ? "●" : "○";
  return marks[v.outcome] ?? "–";
}

function figures(v) {
  if (v.distance_mm !== null) return `${v.distance_mm.toFixed(2)} ± ${v.sigma_mm.toFixed(2)} mm`;
  if (v.sigma_mm !== null) return `${mm(Math.abs(v.margin_mm), 2)} ± ${v.sigma_mm.toFixed(2)} ${v.margin_mm < 0 ? "outside" : "inside"}`;
  return v.by.length ? v.by.join(", ") : "";
}

// scale draws the margin next to what would be enough, as far as three times that.
function scale(v) {
  const bar = element("div", "", "scale");
  bar.setAttribute("aria-hidden", "true");
  const most = Math.max(3 * v.needed_mm, 0.01);
  const fill = element("i");
  fill.style.width = `${Math.min(100, (100 * Math.abs(v.margin_mm)) / most)}%`;
  const need = element("b");
  need.style.left = `${(100 * v.needed_mm) / most}%`;
  bar.append(fill, need);
  return bar;
}

// recorded marks what stands in the record word for word, which is English.
function recorded(element) {
  element.translate = false;
  element.lang = "en";
  return element;
}

// inWords is an explanation in the page's language; null: it is not known there. The rules, which stand below
// it, are left out, and no comma parts the coordinates.
export const inWords = (text) =>
  inFull(text.replace(/ \((?:1e|2\.0|2\.5) G\d+(?: G\d+)*\)/g, "").replace(/\((-?[\d.]+), (-?[\d.]+)\)/g, "($1 | $2)"));

function detail(v) {
  const box = element("div", "", "detail");
  const said = lang === "en" ? null : inWords(v.text);
  if (said !== null) box.append(element("p", said), element("p", "In the record, word for word:", "margin"));
  box.append(recorded(element("p", v.text)));
  if (v.needed_mm !== null) {
    box.append(scale(v));
    const enough = Math.abs(v.margin_mm) > v.needed_mm ? "decided" : "not decided";
    box.append(element("p", `Margin ${mm(Math.abs(v.margin_mm), 2)}, needed ${mm(v.needed_mm, 2)} (${shown.sigmas} σ): ${enough}.`, "margin"));
  } else if (v.outcome !== "no_view") { // what was not looked at has no margin
    box.append(element("p", `Margin ${mm(Math.abs(v.margin_mm), 2)} to what would change it.`, "margin"));
  }
  if (v.decide) box.append(element("p", v.decide, "decide"));
  if (v.lines_mm.length === 2) box.append(element("p", "The sides are parallel: the attacker may choose any line between the two drawn.", "margin"));
  if (v.ships.length) box.append(element("p", `Ships on the line, without effect in themselves: ${v.ships.join(", ")}.`, "margin"));
  const rules = element("p", "", "rules");
  for (const rule of v.rules) {
    const number = element("b", `${shown.rules} ${rule.number}`);
    number.translate = false;
    rules.append(number, ` ${rule.text} `);
  }
  box.append(rules);
  return box;
}

function line(v) {
  const item = element("li");
  item.dataset.outcome = v.outcome;
  item.dataset.key = v.key;
  if (v.arc && v.arc !== shown.choice.arc && v.key !== selected) item.dataset.other = "";
  const button = element("button");
  button.type = "button";
  button.setAttribute("aria-expanded", v.key === selected);
  const mark = element("span", markOf(v), "mark");
  mark.setAttribute("aria-hidden", "true");
  const name = element("span", v.name, "name");
  const title = element("b", v.title);
  const figure = element("span", figures(v), "figure");
  if ("other" in item.dataset) {
    const both = element("span", `${v.name}: `, "both");
    both.append(title);
    button.append(mark, both, figure);
  } else {
    button.append(mark, name, title, figure);
  }
  button.addEventListener("click", () => {
    selected = v.key;
    draw();
    byId("verdicts").querySelector(`[data-key="${v.key}"] button`)?.focus();
    told();
  });
  item.append(button);
  if (v.key === selected) item.append(detail(v));
  return item;
}

// The arcs that the target is not in, and not near to, share one line.
function rest(verdicts, arc) {
  return verdicts.filter((v) => v.outcome === "no" && v.arc && v.arc !== arc && v.key === v.arc && v.key !== selected);
}

function draw() {
  const list = byId("verdicts");
  if (!shown) {
    list.replaceChildren();
    return;
  }
  const out = rest(shown.verdicts, shown.choice.arc);
  const items = shown.verdicts.filter((v) => !out.includes(v)).map(line);
  if (out.length) {
    const item = element("li", "", "others");
    item.append(element("span", "Not in: "));
    for (const v of out) {
      const button = element("button", v.arc.replaceAll("_", " "));
      button.type = "button";
      button.setAttribute("aria-label", `${v.name}: ${v.title}`);
      button.addEventListener("click", () => {
        selected = v.key;
        draw();
        told();
      });
      item.append(button);
    }
    items.push(item);
  }
  list.replaceChildren(...items);
}

// chosenVerdict is the verdict that the judge looks at, whose lines are drawn thick.
export const chosenVerdict = () => shown?.verdicts.find((v) => v.key === selected) ?? null;

// showVerdicts shows a judgement's verdicts; none without one. changed is called when
// the judge looks at another.
export function showVerdicts(judgement, changed) {
  const pair = judgement ? `${judgement.choice.from}|${judgement.choice.to}|${judgement.choice.arc}` : about;
  const other = pair !== about;
  about = pair;
  shown = judgement;
  told = changed;
  if (judgement && (other || !chosenVerdict())) {
    const attack = judgement.verdicts.find((v) => v.key === `${judgement.choice.arc}_attack`);
    selected = (attack ?? judgement.verdicts[0])?.key ?? "";
  }
  draw();
}
