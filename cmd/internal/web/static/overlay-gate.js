// What an overlay may show: a function of the newest state, the one that the director froze,
// the program's clock and the options, and of nothing else. Plain ES2018, as all of the overlay: OBS brings an old
// browser.

const staleAfter = 3000; // ms; the box says something at least every second
const atOnce = 1000; // ms after the director's press in which the state to freeze must come
const ahead = 2000; // ms that a state may seem to come from the future: two clocks

// An answer that may be drawn.
const answered = (answer) => answer.outcome === "yes" || answer.outcome === "too_close";

// directed puts the director's pair in the place of the players'.
export function directed(state) {
  const d = state.directed;
  return d ? Object.assign({}, state, { choice: d.choice, answer: d.answer, overlay: d.overlay, policy: Object.assign({}, state.policy, { reach: d.reach }) }) : state;
}

// froze returns the state to keep of a new one: the first after the director's press, null on
// a page that was not there then. kept is what was kept before.
export function froze(state, kept) {
  const at = state.director ? state.director.frozen_unix_ms : 0;
  if (at === 0) return null;
  if (kept && kept.director.frozen_unix_ms === at) return kept;
  return Math.abs(state.at_unix_ms - at) <= atOnce ? state : null;
}

// decide returns what may be shown, and in why what may not and for what reason.
// now is the program's clock in ms, or null while it is not known. Of what is frozen the table,
// pair and ruling are kept's; the match is written by people, and always the newest.
export function decide(input) {
  const show = current(input);
  const { state, kept, ttl } = input;
  if (!show.known || !state.director) return show;
  if (state.director.frozen_unix_ms !== 0 && !show.held) keep(show, state, kept, ttl);
  const hidden = state.director.hidden;
  if (hidden.table && hidden.pair) show.held = false;
  for (const widget of Object.keys(hidden)) {
    if (!hidden[widget]) continue;
    show[widget] = false;
    show.why.push(`${widget}: the director hides it`);
  }
  if (hidden.table) show.places = false;
  return show;
}

// keep makes of what may be shown what was frozen. What came since and would make it wrong
// ends it: a ruling, and another agreement on measuring.
function keep(show, state, kept, ttl) {
  const number = (s) => (s.ruling ? s.ruling.number : 0);
  show.table = show.places = show.pair = false;
  if (!kept) return void (show.ruling = false, show.why.push("table, pair, ruling: frozen before this page was there"));
  if (number(state) !== number(kept)) return void show.why.push("table, pair: frozen, and a ruling came since");
  if (state.policy.measuring !== kept.policy.measuring) {
    show.ruling = false;
    return void show.why.push("table, pair, ruling: frozen, and the agreement on measuring changed since");
  }
  const was = current({ state: kept, now: kept.at_unix_ms, lost: false, ttl });
  show.table = was.table;
  show.pair = was.pair;
  show.ruling = was.ruling;
  show.frozen = true;
  show.why.push("camera: frozen, and what is drawn there may have moved");
}

// rulingAge says how long ago a state's ruling was made, in ms at the program's clock now. The state says how old it was then, because
// somebody may have set that clock since; an earlier version says only when it was made.
export function rulingAge(state, now) {
  const { ruling } = state;
  return typeof ruling.age_ms === "number" ? now - state.at_unix_ms + ruling.age_ms : now - ruling.at_unix_ms;
}

// current decides as if nothing were frozen or hidden.
function current(input) {
  const { state, now, lost, ttl } = input;
  const show = { known: false, table: false, places: false, pair: false, ruling: false, match: false, last: false, held: false, frozen: false, why: [] };
  const no = (reason) => (show.why.push(reason), show);
  if (lost) return no("the program does not answer");
  if (!state) return no("no state has come yet");
  if (now === null) return no("the program's clock is not known yet");
  const age = now - state.at_unix_ms;
  if (age > staleAfter) return no(`the newest state is ${(age / 1000).toFixed(1)} s old`);
  if (age < -ahead) return no(`the newest state is ${(-age / 1000).toFixed(1)} s ahead of the clock`);

  show.known = true;
  const { match, ruling } = state;
  show.match = !!match && (match.title !== "" || match.round !== "" || match.sides.some((side) => side.name !== ""));
  if (!show.match) show.why.push("match: none was written");

  const play = state.play;
  show.last = !!play && play.last !== "" && play.over === "";
  if (!show.last) show.why.push(play ? "last: nothing was flown yet, or the game is over" : "last: no game is played");

  const since = ruling ? rulingAge(state, now) : null;
  show.ruling = ruling !== null && ruling !== undefined && since > -ahead && since < 1000 * ttl;
  if (!show.ruling) show.why.push(ruling ? `ruling: it is ${(since / 1000).toFixed(0)} s old and shown for ${ttl} s` : "ruling: there is none");

  if (state.held) {
    show.held = true;
    show.why.push("table, pair: the picture is held");
    return show;
  }
  if (state.health.code !== "ok") {
    show.why.push(`table, pair: ${state.health.title || state.health.code}`);
    return show;
  }
  show.table = state.mat.width_mm > 0;
  show.places = show.table && state.overlay !== null && state.overlay !== undefined;
  if (!show.places) show.why.push("camera: where things are in the camera's picture is not known");
  // What the players' agreement does not open, the box does not say: there is no answer.
  show.pair = answered(state.answer);
  if (!show.pair) show.why.push(`pair: ${state.answer.reason || "nothing is chosen"}`);
  return show;
}

// beyond says how a part of the camera's picture ends outside of it, or "". What is drawn for such a part would lie
// in the wrong place: the stream shows another camera, or another size of this one.
export function beyond(crop, overlay) {
  if (!crop || !overlay || (crop[0] + crop[2] <= overlay.width_px && crop[1] + crop[3] <= overlay.height_px)) return "";
  return `crop ends beyond the measured picture of ${overlay.width_px} × ${overlay.height_px} pixels`;
}
