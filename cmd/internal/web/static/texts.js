// The page's language. Texts are written in English, by the server and in these modules;
// texts/de.json holds what each is in German, {} standing for what changes. What the
// catalogue does not hold stays English: a wrong text would be worse. Each text that comes
// into the page is translated, but not what translate="no" marks: names, logs, files.

export const lang = document.documentElement.lang || "en";

let loaded = lang === "en";
let exact = {};
let patterns = []; // [regular expression, translation, how much of the key is fixed]
const known = new Map(); // what was translated before; null: it is not known

// ready is settled when say speaks the page's language.
export const ready =
  lang === "en"
    ? Promise.resolve()
    : fetch(`/texts/${lang}.json`)
        .then((answer) => (answer.ok ? answer.json() : {}))
        .then(use, () => use({}));

// use takes a catalogue.
export function use(catalogue) {
  loaded = true;
  exact = {};
  patterns = [];
  known.clear();
  for (const [key, text] of Object.entries(catalogue)) {
    if (!key.includes("{}")) {
      exact[key] = text;
      continue;
    }
    const parts = key.split("{}");
    const escaped = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    patterns.push([new RegExp(`^${escaped.join("(.+?)")}$`), text, parts.join("").length]);
  }
  patterns.sort((a, b) => b[2] - a[2]); // the most of fixed words first
}

const lower = (text) => text.charAt(0).toLowerCase() + text.slice(1);
const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const isUpper = (text) => text !== lower(text);
const bare = (text) => text.replace(/\b(mm|px|m?s|min)\b/g, ""); // without the units, which are the same everywhere

// whole translates a text that the catalogue holds; null: it does not.
function whole(text) {
  if (Object.hasOwn(exact, text)) return exact[text];
  for (const [pattern, translation] of patterns) {
    const found = pattern.exec(text);
    if (found && !found.slice(1).some(unsaid)) return translation.replace(/\{(\d)\}/g, (_, n) => part(found[Number(n)]));
  }
  return null;
}

// cased does so whatever the case of the first letter.
function cased(text) {
  const same = whole(text);
  if (same !== null) return same;
  const other = whole(isUpper(text) ? lower(text) : upper(text));
  if (other !== null) return isUpper(text) ? upper(other) : lower(other);
  const sentence = text.endsWith(".") ? null : whole(`${text}.`); // it lost its full stop where it was parted
  return sentence === null ? null : sentence.replace(/\.$/, "");
}

// Sentences are put together from others with these between them.
const joints = [" · ", ". ", "; ", ": ", ", "];

// joined translates a text that is put together; null: not all of it is known. A name, a
// ship with its pilot, or a number may stand as it is.
function joined(text) {
  let said = known.get(text);
  if (said === undefined) {
    if (known.size > 5000) known.clear(); // figures change without end
    known.set(text, (said = parted(text)));
  }
  return said;
}

function parted(text) {
  const plain = cased(text);
  if (plain !== null) return plain;
  const end = text.at(-1);
  if (end === "." || end === ":") {
    const inner = joined(text.slice(0, -1));
    if (inner !== null) return inner + end;
  }
  for (const joint of joints) {
    const at = text.indexOf(joint);
    if (at < 0) continue;
    const [head, tail] = [joined(text.slice(0, at)), joined(text.slice(at + joint.length))];
    if (head !== null && tail !== null) return head + joint + tail;
  }
  return /^[^a-z]*$|^[A-Za-z]\d+(?: \([^()]*\))?$|^[a-z_]+[-\d.]+$|^\/[\w./-]+$/.test(bare(text)) ? text : null;
}

// unsaid reports whether a pattern's place holds words that are no name: half a translation
// would be worse than none. A source with its options (sim:1280x720,still=1) is a name.
const unsaid = (text) => joined(text) === null && !/^\S*[:=]\S*$/.test(text) && (bare(text).match(/(?<![\w/.-])(?:The|[a-z]{2,})(?![\w/.-])/g) ?? []).length > 1;

// part is what stands in a pattern's place: translated where it can be.
const part = (text) => joined(text) ?? text;

// The attributes that people read or hear; data-name is shown by the style.
const spoken = ["aria-label", "title", "alt", "placeholder", "label", "data-name"];

const silent = (element) => element?.closest('[translate="no"], script, style, textarea, [contenteditable]');

// translate does so with a text, or an element's attributes and all that is in it.
function translate(node) {
  if (node.nodeType === Node.TEXT_NODE) {
    const text = node.data.trim();
    if (!text || silent(node.parentElement)) return;
    const said = say(text);
    if (said !== text) node.data = node.data.replace(text, () => said);
    return;
  }
  if (node.nodeType !== Node.ELEMENT_NODE || silent(node)) return;
  for (const name of spoken) {
    const text = node.getAttribute(name);
    const said = text && say(text);
    if (said !== text) node.setAttribute(name, said);
  }
  for (const child of node.childNodes) translate(child);
}

// follow translates what the page holds, and whatever comes.
function follow() {
  translate(document.body);
  new MutationObserver((changes) => {
    for (const c of changes) {
      if (c.type === "childList") c.addedNodes.forEach(translate);
      else if (c.type === "characterData") translate(c.target);
      else if (!silent(c.target)) {
        const text = c.target.getAttribute(c.attributeName);
        const said = text && say(text);
        if (said !== text) c.target.setAttribute(c.attributeName, said);
      }
    }
  }).observe(document.body, { subtree: true, childList: true, characterData: true, attributeFilter: spoken });
}

if (lang !== "en" && globalThis.MutationObserver) ready.then(follow);

// A figure with decimals, which is no part of a date, a time, an address or a version.
const figure = /(?<![\w.:/])\d+\.\d+(?![\w/]|\.\d)(\s?(?:[±%°″σ×]|(?:mm|cm|m|px|m?s|min|rms|Sigmas?|-?mal|von)(?![\wäöüß])))?/g;
const edition = /^2\.[05]$/; // without a unit
const mark = new Intl.NumberFormat(lang).formatToParts(0.5).find((p) => p.type === "decimal").value;

// decimal writes a figure that stands alone as the page's language does.
export const decimal = (text) => text.replace(".", mark);

// figures does so with all figures of a text. JSON has points, and so does what marks itself as translate="no".
const figures = (text) => text.replace(figure, (f, unit) => (unit === undefined && edition.test(f) ? f : decimal(f)));

// inFull returns a text in the page's language; null: the catalogue does not hold all of it.
export function inFull(text) {
  const said = lang === "en" ? text : joined(text);
  return said === null ? null : figures(said);
}

// say returns a text in the page's language, and as it is before the catalogue has come: with a decimal
// comma the catalogue would not know it later.
export function say(text) {
  if (lang === "en" || !loaded || typeof text !== "string" || text === "") return text;
  return figures(joined(text) ?? text);
}
