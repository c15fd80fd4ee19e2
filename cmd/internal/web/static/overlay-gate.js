// What an overlay may show: a function of the newest state, the box's clock and the
// options, and of nothing else. Plain ES2018, as all of the overlay: OBS brings an old
// browser.

export const staleAfter = 3000; // ms; the box says something at least every second
const ahead = 2000; // ms that a state may seem to come from the future: two clocks

// An answer that may be drawn.
const answered = (answer) => answer.outcome === "yes" || answer.outcome === "too_close";

// decide returns what may be shown, and in why what may not and for what reason.
// now is the box's clock in ms, or null while it is not known.
export function decide(input) {
  const { state, now, lost, ttl } = input;
  const show = { table: false, places: false, pair: false, ruling: false, match: false, held: false, why: [] };
  const no = (reason) => (show.why.push(reason), show);
  if (lost) return no("the box does not answer");
  if (!state) return no("no state has come yet");
  if (now === null) return no("the box's clock is not known yet");
  const age = now - state.at_unix_ms;
  if (age > staleAfter) return no(`the newest state is ${(age / 1000).toFixed(1)} s old`);
  if (age < -ahead) return no(`the newest state is ${(-age / 1000).toFixed(1)} s ahead of the clock`);

  const { match, ruling } = state;
  show.match = !!match && (match.title !== "" || match.round !== "" || match.sides.some((side) => side.name !== ""));
  if (!show.match) show.why.push("match: none was written");

  const since = ruling ? now - ruling.at_unix_ms : null;
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
