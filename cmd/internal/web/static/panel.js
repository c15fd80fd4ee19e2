// The panel: the lamps, and the display's picture as the server drew it.

import { byId, set, setText } from "./dom.js";

// showPanel shows a state's lamps and display.
export function showPanel(state) {
  for (const lamp of byId("lamps").children) {
    const light = state.panel.lamps[lamp.dataset.lamp] ?? "dark";
    set(lamp, { "data-light": light });
    const label = state.panel.labels[lamp.dataset.lamp];
    if (label) setText(lamp.childNodes[1], label); // between the light and what a screen reader adds
    setText(lamp.querySelector(".unseen"), `: ${light}`);
  }
  set(byId("display"), { src: state.panel.display, alt: state.panel.alt });
  // "board.toml: 6 of 6 lamps; display": the name in the heading, the rest below.
  const [name, ...rest] = state.panel.name.split(": ");
  setText(byId("panel-note"), name);
  setText(byId("panel-parts"), rest.join(": "));
}
