// What the hall's pages have in common.

import { Reload } from "/reload.js";

export const byId = (id) => document.getElementById(id);

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// make makes an element; its content is text or elements, never markup.
export function make(name, attributes, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...content.filter((c) => c !== ""));
  return element;
}

// named is a text that people or machines chose: it is the same in every language.
export const named = (text) => make("span", { translate: "no" }, text);

// age says how long something is ago: "2 s", "1:40".
export function age(ms) {
  if (!Number.isFinite(ms)) return "?";
  const s = Math.floor(Math.max(0, ms) / 1000);
  if (s < 60) return `${s} s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return `${minutes}:${String(s % 60).padStart(2, "0")}`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// ask returns an answer's JSON, or null and what is wrong.
export async function ask(address, method = "GET", body = undefined) {
  try {
    const answer = await fetch(address, { method, body, headers: typeof body === "string" ? { "Content-Type": "application/json" } : {}, signal: AbortSignal.timeout(15000) });
    const text = await answer.text();
    return answer.ok ? [text ? JSON.parse(text) : {}, null] : [null, text.trim() || `Error ${answer.status}.`];
  } catch {
    return [null, "The hall does not answer."];
  }
}

const every = 1000; // ms
const often = 250; // ms
const lost = 3000; // ms without an answer after which nothing counts as live
const stale = 3000; // ms; a table that was not heard for longer is not shown as live
const tidy = 2000; // ms after which what was answered is shown with the time that passed

// older is what the hall said, so many ms later.
function older(now, late) {
  const tables = now.tables.map((t) => ({ ...t, live: t.live && t.age_ms + late <= stale, age_ms: t.age_ms < 0 ? t.age_ms : t.age_ms + late }));
  const live = new Set(tables.filter((t) => t.live).map((t) => t.table));
  return { ...now, tables, calls: now.calls.map((c) => ({ ...c, live: c.live && live.has(c.table), waiting_ms: c.waiting_ms + late })) };
}

const reload = new Reload();

// heed shows what the hall says. A page that cannot, as one that was open while the hall was given another version of the program,
// shows nothing instead of what was, and is loaded again.
function heed(show, now) {
  const main = document.querySelector("main");
  try {
    show(now);
    reload.shown();
    main.hidden = false;
  } catch (error) {
    main.hidden = true;
    setText(byId("said"), "This page cannot show what the hall says. It reloads automatically.");
    reload.failed(error);
  }
}

// follow asks for the hall once a second and shows what it says; what it does not say any more
// grows old before the reader's eyes, and is not shown as live.
export function follow(show) {
  let last = null;
  let asked = -Infinity; // when the last answer was asked for
  let heard = performance.now();
  let wall = Date.now();
  const check = () => {
    if (performance.now() - heard > lost) setText(byId("said"), "The hall does not answer: nothing here is live.");
    if (!last) return;
    const late = performance.now() - asked;
    const then = older(last, late);
    if (late > tidy || then.tables.some((t, i) => t.live !== last.tables[i].live)) heed(show, then);
  };
  const next = async () => {
    const [begun, date] = [performance.now(), Date.now()];
    const [now] = await ask("/api/hall");
    if (now && performance.now() - begun <= lost && Math.abs(Date.now() - date) <= lost) {
      [last, asked, heard] = [now, begun, performance.now()];
      setText(byId("said"), now.trouble);
      heed(show, now);
    }
    setTimeout(next, every);
  };
  setInterval(() => {
    if (Math.abs(Date.now() - wall - often) > 3000) asked = heard = -Infinity; // this machine slept, or its clock was set
    wall = Date.now();
    check();
  }, often);
  next();
}
