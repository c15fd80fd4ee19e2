// The remote: the verdict and large buttons, for a phone next to the mat.

import { ask } from "./ask.js";
import { cycleArc, cycleAttacker, cycleTarget, know, swap } from "./choose.js";
import { byId, set, setText } from "./dom.js";
import { leave } from "./leave.js";
import { listen } from "./live.js";
import { speaking, speakState, startSpeaking } from "./speak.js";
import { ready } from "./texts.js";

const signs = { no_shot: "✕", close: "≈" };
const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
let state = null;

function show() {
  const { headline, obstruction } = state.answer;
  const { code, title } = state.health;
  set(byId("status"), { "data-code": code });
  setText(byId("status-text"), code === "ok" ? (state.held ? "held" : "live") : title.toLowerCase());
  set(byId("answer"), { "data-kind": headline.kind });
  setText(byId("title"), headline.text);
  setText(byId("band"), headline.band || signs[headline.kind] || "–");
  set(byId("band"), { "data-long": headline.band.length > 2 ? "true" : null });
  setText(byId("obstruction"), ["shot", "close"].includes(headline.kind) ? upper(obstruction.text) : "");
  setText(byId("from-name"), state.choice.from || "–");
  setText(byId("to-name"), state.choice.to || "–");
  byId("ask-judge").disabled = Boolean(state.held?.asked) || code !== "ok";
  speakState(state);
}

for (const [id, act] of Object.entries({
  "from-back": () => cycleAttacker(-1),
  "from-next": () => cycleAttacker(1),
  "to-back": () => cycleTarget(-1),
  "to-next": () => cycleTarget(1),
  arc: cycleArc,
  swap,
  "ask-judge": async () => {
    const [, refused] = await ask("/api/ask-judge", { by: "" });
    leave(byId("refused"), refused);
  },
})) {
  byId(id).addEventListener("click", () => state && act());
}
startSpeaking();
ready.then(() =>
  listen(
    (now) => {
      state = now;
      know(now);
      show();
    },
    (lost) => {
      if (!lost) return;
      set(byId("status"), { "data-code": "lost" });
      setText(byId("status-text"), "connection lost");
      set(byId("answer"), { "data-kind": "no_view" });
      setText(byId("title"), "Connection lost");
      setText(byId("band"), "–");
      setText(byId("obstruction"), "");
      byId("ask-judge").disabled = true;
    },
    "/api/events",
    speaking,
  ),
);
