// The remote: the verdict and large buttons, for a phone next to the mat.

import { ask } from "./ask.js";
import { cycleArc, cycleAttacker, cycleTarget, know, swap } from "./choose.js";
import { byId, set, setText } from "./dom.js";
import { label } from "./label.js";
import { leave } from "./leave.js";
import { listen } from "./live.js";
import { showDeclared, startObject } from "./policy.js";
import { showHeld, showRuling, startRuling } from "./ruling.js";
import { speaking, speakState, startSpeaking } from "./speak.js";
import { ready } from "./texts.js";

const signs = { no_shot: "✕", close: "≈" };
const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
let state = null;
let lost = false;
let paired = true; // until the server says otherwise

// named is a ship with its pilot; one whose name is not certain as those that it may be.
function named(id) {
  const ship = state.ships.find((s) => s.id === id);
  if (!ship) return id || "–";
  return ship.name_doubt.length > 0 ? label(ship) : ship.name;
}

// showPads lets only those buttons be pressed that do something.
function showPads() {
  byId("unpaired").hidden = paired;
  const ships = state && paired && !lost ? state.ships.length : 0;
  for (const button of byId("pads").children) if (button.tagName === "BUTTON") button.disabled = ships === 0;
  byId("object").disabled = !paired || lost;
  byId("swap").disabled ||= !state.choice.from || !state.choice.to;
  byId("ask-judge").disabled = !state || !paired || lost || Boolean(state.held?.asked) || (state.health.code !== "ok" && state.held === null);
  setText(byId("ask-judge"), state?.held?.asked ? "A judge was called" : "Call a judge");
}

// who asks whether this device may choose.
async function who() {
  const [me] = await ask("/api/me");
  if (me) paired = me.role === "player" || me.role === "judge";
  showPads();
}

function show() {
  const { headline, obstruction, reason } = state.answer;
  const { code, title } = state.health;
  set(byId("status"), { "data-code": code === "ok" && state.held ? "held" : code, "data-held": state.held ? "true" : null });
  setText(byId("status-text"), code === "ok" ? (state.held ? "held" : "live") : title.toLowerCase());
  set(byId("answer"), { "data-kind": headline.kind });
  setText(byId("title"), headline.text);
  setText(byId("band"), headline.band || signs[headline.kind] || "–");
  set(byId("band"), { "data-long": headline.band.length > 2 ? "true" : null });
  setText(byId("obstruction"), ["shot", "close"].includes(headline.kind) ? upper(obstruction.text) : headline.kind === "withheld" ? upper(reason) : "");
  setText(byId("from-name"), named(state.choice.from));
  setText(byId("to-name"), named(state.choice.to));
  setText(byId("arc-name"), state.choice.arc.replaceAll("_", " "));
  showDeclared(state.policy);
  showHeld(state);
  showRuling(state);
  showPads();
  speakState(state);
}

for (const [id, act] of Object.entries({
  "from-back": () => cycleAttacker(-1),
  "from-next": () => cycleAttacker(1),
  "to-back": () => cycleTarget(-1),
  "to-next": () => cycleTarget(1),
  "arc-back": () => cycleArc(-1),
  "arc-next": () => cycleArc(1),
  swap,
  "ask-judge": async () => {
    const [, refused] = await ask("/api/ask-judge", { by: "" });
    leave(byId("refused"), refused);
    if (refused) who();
  },
})) {
  byId(id).addEventListener("click", () => state && act());
}
startSpeaking();
startRuling();
startObject((refused) => leave(byId("refused"), refused));
who();
document.addEventListener("visibilitychange", () => document.hidden || who());
ready.then(() =>
  listen(
    (now) => {
      state = now;
      know(now);
      show();
    },
    (now) => {
      lost = now;
      showPads();
      if (!lost) return who();
      set(byId("status"), { "data-code": "lost" });
      setText(byId("status-text"), "connection lost");
      set(byId("answer"), { "data-kind": "no_view" });
      setText(byId("title"), "Connection lost");
      setText(byId("band"), "–");
      setText(byId("obstruction"), "");
      showDeclared({ window: null, proposal: null });
    },
    "/api/events",
    speaking,
  ),
);
