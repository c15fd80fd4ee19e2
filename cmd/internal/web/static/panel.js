// The panel: the lamps, and the display's picture as the server drew it.

import { byId, set, setText } from "./dom.js";

// showPanel shows a state's lamps and display.
export function showPanel(state) {
  for (const lamp of byId("lamps").children) {
    const light = state.panel.lamps[lamp.dataset.lamp] ?? "dark";
    set(lamp, { "data-light": light });
    setText(lamp.querySelector(".unseen"), `: ${light}`);
  }
  set(byId("display"), { src: state.panel.display, alt: state.panel.alt });
  setText(byId("panel-note"), state.panel.name);
}
