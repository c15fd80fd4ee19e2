// The live state: server-sent events, with a watchdog that says when they stop.

const silence = 3000; // ms, as everywhere; the server says something at least every second

// listen calls onState with each state and onLost with true or false as the
// connection goes and comes. from is the address of the events.
export function listen(onState, onLost, from = "/api/events") {
  let source = null;
  let heard = [Date.now(), performance.now()];
  let lost = false;

  // quiet is for how long nothing was heard, by the clock that people set, which runs while this
  // machine sleeps, and by the one that no one sets.
  const quiet = () => Math.max(Date.now() - heard[0], performance.now() - heard[1]);

  const tell = (now) => {
    if (now !== lost) onLost((lost = now));
  };
  const open = () => {
    if (source) source.close();
    source = new EventSource(from);
    source.addEventListener("state", (event) => {
      heard = [Date.now(), performance.now()];
      tell(false);
      onState(JSON.parse(event.data));
    });
  };
  open();
  setInterval(() => {
    if (quiet() < silence) return;
    tell(true);
    // EventSource reconnects on its own, unless the server refused it or the
    // connection hangs: then start again.
    if (source.readyState === EventSource.CLOSED || quiet() > 3 * silence) {
      heard = [Date.now() - silence, performance.now() - silence];
      open();
    }
  }, 1000);
}
