// Keys for everything, and the list of them. Those that choose ships are in choose.js.

import { byId } from "./dom.js";

const press = (id) => () => byId(id).click();

const keys = {
  "?": () => byId("help").showModal(),
  1: press("view-answer"),
  2: press("view-targets"),
  3: press("view-try"),
  4: press("view-camera"),
  f: press("figures"),
  i: press("inches"),
  v: press("speak"),
  j: press("ask-judge"),
  r: press("go-on"),
  t: () => byId("try-grid").querySelector('[tabindex="0"]')?.focus(),
};

// startKeys listens. Letters are left alone where this device switched them off.
export function startKeys() {
  byId("help-button").addEventListener("click", keys["?"]);
  byId("help-close").addEventListener("click", () => byId("help").close());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest?.("select, textarea, input:not([type=checkbox])")) return;
    if (!byId("letters").checked && event.key !== "?") return;
    const act = keys[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
