// The live states: server-sent events that come back after everything: a box that was
// started again, a network that went away, a laptop that slept.

import { Events } from "/events.js";

const silence = 3000; // ms, as everywhere; the box says something at least every second
const again = 8000; // ms without a word after which it connects again

export class Live {
  constructor(address, onState, onTable) {
    this.address = address;
    this.onState = onState;
    this.onTable = onTable;
    this.source = null;
    this.heard = -Infinity;
    this.opened = -Infinity;
    this.open();
  }

  open() {
    if (this.source) this.source.close();
    this.opened = performance.now();
    const source = new Events(this.address, (name, data) => {
      if (source !== this.source) return;
      if (name === "table") return this.onTable(); // a hall's
      this.heard = performance.now();
      this.onState(JSON.parse(data));
    });
    this.source = source;
  }

  // lost reports whether nothing was heard for too long.
  lost() {
    return performance.now() - this.heard > silence;
  }

  // tick connects again where the connection hangs or was refused.
  tick() {
    const now = performance.now();
    const quiet = Math.min(now - this.heard, now - this.opened);
    if (quiet > (this.source.refused ? 2000 : again)) this.open();
  }

  // reset forgets what was heard and starts again.
  reset() {
    this.heard = -Infinity;
    this.open();
  }
}
