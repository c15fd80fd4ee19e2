// Speaking the verdict on the device that asks, where the browser can (Web Speech).

import { byId } from "./dom.js";
import { remembered } from "./ask.js";
import { label } from "./label.js";
import { lang, say } from "./texts.js";

const settled = 700; // ms that a verdict must stand before it is spoken
let on = false;
let last = "";
let timer = 0;

// called is a ship as it is spoken of: one without a name as those that it may be.
const called = (state, id) => label(state.ships.find((ship) => ship.id === id) ?? { id });

// textOf is what is spoken of an answer, without figures.
function textOf(state) {
  const { headline, obstruction } = state.answer;
  if (headline.kind === "none") return "";
  const parts = [`${called(state, state.choice.from)}, ${called(state, state.choice.to)}`, say(headline.text)];
  if (["shot", "close"].includes(headline.kind) && obstruction.outcome !== "no") parts.push(say(obstruction.text));
  return `${parts.join(". ")}.`;
}

// speakState speaks the verdict once it has changed and stands.
export function speakState(state) {
  if (!on) return;
  const text = textOf(state);
  if (text === last) return;
  last = text;
  clearTimeout(timer);
  if (text) timer = setTimeout(() => speak(text), settled);
}

function speak(text) {
  const words = new SpeechSynthesisUtterance(text);
  words.lang = lang;
  speechSynthesis.cancel(); // what was said of an earlier verdict no longer holds
  speechSynthesis.speak(words);
}

// speaking reports whether this device speaks.
export const speaking = () => on;

// startSpeaking lets a switch of this device decide; without Web Speech there is none.
export function startSpeaking() {
  if (!("speechSynthesis" in window)) return;
  byId("speak-line").hidden = false;
  remembered(byId("speak"), "sightline-speak", false, (now) => {
    on = now;
    last = "";
    if (!on) speechSynthesis.cancel();
  });
}
