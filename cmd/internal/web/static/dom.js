// Small helpers for the page's own elements. What people read passes through say.

import { say } from "./texts.js";

export const byId = (id) => document.getElementById(id);

// setText changes an element's text only when it differs, so that screen readers
// and selections are left in peace.
export function setText(element, english) {
  const text = say(english);
  if (element.textContent !== text) element.textContent = text;
}

// Paths of this program's pages in a text.
const pages = /(?<![\w/.:])\/(?:calibrate|director|first|game|judge|looks|obstacles|outline|pair|projector|remote|status)(?![\w/])/g;

// setLinked does so with a text whose paths lead to their pages.
export function setLinked(element, english) {
  const text = say(english);
  if (element.textContent === text) return;
  let from = 0;
  element.replaceChildren();
  for (const { 0: path, index } of text.matchAll(pages)) {
    const link = document.createElement("a");
    link.href = link.textContent = path;
    element.append(text.slice(from, index), link);
    from = index + path.length;
  }
  element.append(text.slice(from));
}

// svg makes an SVG element with attributes.
export function svg(name, attributes = {}, parent = null) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  set(element, attributes);
  if (parent) parent.append(element);
  return element;
}

const spoken = new Set(["aria-label", "title", "alt", "placeholder"]);

// set changes attributes; null takes one away.
export function set(element, attributes) {
  for (const [key, given] of Object.entries(attributes)) {
    const value = spoken.has(key) ? say(given) : given;
    if (value === null || value === undefined) element.removeAttribute(key);
    else if (element.getAttribute(key) !== String(value)) element.setAttribute(key, value);
  }
}

// fill makes a list's items from texts, and leaves it alone when nothing has changed.
export function fill(id, texts) {
  const list = byId(id);
  const now = texts.join("\n");
  if (list.dataset.text === now) return;
  list.dataset.text = now;
  list.replaceChildren(
    ...texts.map((text) => {
      const item = document.createElement("li");
      item.textContent = say(text);
      return item;
    }),
  );
}

// mm writes a length for people.
export const mm = (x, digits = 1) => `${x.toFixed(digits)} mm`;

// keepUnit keeps --u, the length of one screen pixel in the drawing's own units,
// so that labels keep their size on the screen however large the drawing is. It
// returns the function that works it out, which also gives it back. redraw is called
// when another size has made it another: places that were worked out with it are wrong.
export function keepUnit(drawing, redraw) {
  let unit = 1;
  const update = () => {
    const { width, height } = drawing.viewBox.baseVal ?? {};
    if (width && drawing.clientWidth && drawing.clientHeight) {
      unit = Math.max(width / drawing.clientWidth, height / drawing.clientHeight);
      drawing.style.setProperty("--u", unit.toFixed(4));
    }
    return unit;
  };
  new ResizeObserver(() => {
    const before = unit;
    if (update() !== before) redraw();
  }).observe(drawing);
  return update;
}

// nameGame puts a game's title into an element, "Ada against Ben": the names are the same in every language.
export function nameGame(element, title) {
  const between = " against ", at = title.indexOf(between);
  const name = (text) => {
    const span = document.createElement("span");
    span.setAttribute("translate", "no");
    span.textContent = text;
    return span;
  };
  element.replaceChildren(...(at < 0 ? [name(title)] : [name(title.slice(0, at)), between, name(title.slice(at + between.length))]));
  return element;
}
