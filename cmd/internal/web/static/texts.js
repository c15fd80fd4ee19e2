// The page's language. Texts are written in English, by the server and in these modules;
// texts/de.json holds what each is in German, {} standing for what changes. What the
// catalogue does not hold stays English: a wrong text would be worse.

export const lang = document.documentElement.lang || "en";

let exact = {};
let patterns = []; // [regular expression, translation, how much of the key is fixed]
const known = new Map(); // what was translated before

// ready is settled when say speaks the page's language.
export const ready =
  lang === "en"
    ? Promise.resolve()
    : fetch(`/texts/${lang}.json`)
        .then((answer) => (answer.ok ? answer.json() : {}))
        .then(use, () => {});

// use takes a catalogue.
export function use(catalogue) {
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

// whole translates a text that the catalogue holds; null: it does not.
function whole(text) {
  if (Object.hasOwn(exact, text)) return exact[text];
  for (const [pattern, translation] of patterns) {
    const found = pattern.exec(text);
    if (found) return translation.replace(/\{(\d)\}/g, (_, n) => part(found[Number(n)]));
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
const joints = [". ", "; ", ": ", ", "];

// joined translates a text that is put together; null: not all of it is known. A name or a
// number may stand as it is.
function joined(text) {
  const plain = cased(text);
  if (plain !== null) return plain;
  if (text.endsWith(".")) {
    const inner = joined(text.slice(0, -1));
    if (inner !== null) return `${inner}.`;
  }
  for (const joint of joints) {
    const at = text.indexOf(joint);
    if (at < 0) continue;
    const [head, tail] = [joined(text.slice(0, at)), joined(text.slice(at + joint.length))];
    if (head !== null && tail !== null) return head + joint + tail;
  }
  return /^[^a-z]*$|^[A-Za-z]\d+$|^[a-z_]+[-\d.]+$/.test(text) ? text : null;
}

// part is what stands in a pattern's place: translated where it can be.
const part = (text) => joined(text) ?? text;

// say returns a text in the page's language.
export function say(text) {
  if (lang === "en" || typeof text !== "string" || text === "") return text;
  let said = known.get(text);
  if (said === undefined) {
    said = joined(text) ?? text;
    if (known.size > 3000) known.clear(); // figures change without end
    known.set(text, said);
  }
  return said;
}
