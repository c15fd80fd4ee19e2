// The live state: server-sent events, or questions again and again, with a watchdog that
// says when they stop.

import { Events } from "./events.js";
import { Reload } from "./reload.js";

const silence = 3000; // ms, as everywhere; the server says something at least every second
const soon = 1000; // ms within which a page that stood still catches up with what waits for it
const rest = 5000; // ms after which a page that is not seen hears no more
const patience = 5000; // ms for the answer to a question

// A quiet says for how long nothing was heard, by the clock that people set, which runs
// while this machine sleeps, and by the one that no one sets.
export class Quiet {
  constructor() {
    this.heard();
  }
  heard() {
    this.at = [Date.now(), performance.now()];
  }
  for() {
    return Math.max(Date.now() - this.at[0], performance.now() - this.at[1]);
  }
}

const reload = new Reload();
let notice = null; // that the page cannot show what comes

// heed hands a state on. A page that cannot show it, as one that was open while the program was replaced by another version,
// shows nothing: what came before would pass for what is. Then it is loaded again.
function heed(onState, state) {
  const main = document.querySelector("main");
  try {
    onState(state);
    if (reload.since === 0) return;
    reload.shown();
    notice.remove();
    if (main) main.hidden = false;
  } catch (error) {
    if (reload.since === 0) {
      if (!notice) {
        notice = document.createElement("section");
        notice.className = "banner";
        notice.setAttribute("role", "alert");
        for (const [tag, text] of [["strong", "This page cannot show what the program says"], ["span", "The program may have been replaced by another version. The page reloads automatically."]]) {
          const part = document.createElement(tag);
          part.textContent = text;
          notice.append(part, " ");
        }
      }
      document.body.prepend(notice);
      if (main) main.hidden = true;
    }
    reload.failed(error);
  }
}

// pair leads a device that may not even look to the page that pairs it.
async function pair() {
  const answer = await fetch("/api/me").catch(() => null);
  if (answer?.ok && (await answer.json()).role === "nobody") location.replace(`/pair?next=${encodeURIComponent(location.pathname)}`);
}

// listen calls onState with each state and onLost with true or false as the connection
// goes and comes. from is the address of the events. A page that is not seen hears nothing,
// unless needed says that someone listens to it.
export function listen(onState, onLost, from = "/api/events", needed = () => false) {
  let source = null;
  let quiet = new Quiet();
  let lost = false;
  let unseen = 0; // since when by performance.now(); 0: it is seen

  const tell = (now) => {
    if (now !== lost) onLost((lost = now));
  };
  const close = () => {
    source?.close();
    source = null;
  };
  const open = () => {
    close();
    const now = new Events(
      from,
      (name, data) => {
        if (now !== source) return;
        quiet.heard();
        tell(false);
        heed(onState, JSON.parse(data));
      },
      pair,
      needed,
    );
    source = now;
  };
  const look = () => {
    if (!document.hidden || needed()) unseen = 0;
    else if (unseen === 0) unseen = performance.now();
    if (unseen > 0 && performance.now() - unseen > rest) {
      tell(true);
      return close();
    }
    if (!source) return open();
    if (source.behind > 0 && performance.now() - source.behind > soon) {
      // It waited on a slow network, and more waits behind it: a new connection begins with the newest.
      tell(true);
      return open();
    }
    if (quiet.for() < silence) return;
    tell(true);
    // A stream comes back on its own, unless the server refused it or the connection
    // hangs: then start again.
    if (source.refused || quiet.for() > 3 * silence) {
      quiet = new Quiet();
      quiet.at = quiet.at.map((t) => t - silence);
      open();
    }
  };
  open();
  setInterval(look, 1000);
  document.addEventListener("visibilitychange", look);
}

// poll asks an address again and again while the page is seen, one question at a time, and
// calls onState with each answer and onLost as answers stop and come. It returns a
// function that asks at once and settles when that is answered.
export function poll(address, every, onState, onLost) {
  const quiet = new Quiet();
  let lost = false;
  let waiting = 0;
  let queue = Promise.resolve();
  const tell = () => {
    const now = quiet.for() > patience;
    if (now !== lost) onLost((lost = now));
  };
  const once = async () => {
    try {
      const asked = new Quiet();
      const answer = await fetch(address(), { signal: AbortSignal.timeout(patience) });
      if (answer.status === 403) pair();
      if (!answer.ok) throw new Error(answer.statusText);
      const state = await answer.json();
      if (asked.for() > patience) return; // this machine slept meanwhile
      quiet.heard();
      tell();
      heed(onState, state);
    } catch {
      // The watchdog says so when it lasts.
    }
  };
  const ask = () => {
    waiting++;
    queue = queue.then(once).finally(() => waiting--);
    return queue;
  };
  const look = () => {
    if (document.hidden) return;
    tell();
    if (waiting === 0) ask();
  };
  setInterval(look, every);
  document.addEventListener("visibilitychange", look);
  return ask;
}
