// Server-sent events that the windows of a browser share. A browser has six connections to a server over HTTP/1.1: streams of as
// many windows would leave none to any of them, not even for a press of a button. So one window hears the server and the others
// hear that one.

const late = 3000; // ms; what is older is not shown as live
const silent = 1500; // ms without a word after which a window hears the server itself; it says something every second
const asking = 3000; // ms for which a window's question for events counts

// sent returns when the server sent an event, in ms of its clock.
const sent = (id) => Number(id.split("-")[1]);

// Events calls onEvent with the name and data of each event that is not late, and onRefused if the server refuses the stream. A window
// for which keep returns true hears the server itself: the browser slows down the timers of one that is not seen.
// A hall's events, which have no ids, are not shared: which table they are of depends on those before.
export class Events {
  constructor(address, onEvent, onRefused = () => {}, keep = () => false) {
    this.address = address;
    this.onEvent = onEvent;
    this.onRefused = onRefused;
    this.keep = keep;
    this.own = Math.random();
    this.asked = -Infinity; // when another window last asked for events
    this.heard = -Infinity; // when the last event came, of whomever
    this.last = null; // that event
    this.least = Infinity; // ms by which the events came after they were sent, by two clocks
    this.behind = 0; // since when, by performance.now(), all that comes is late; 0: it is not
    this.leaving = () => this.source && this.tell({ gone: true });
    addEventListener("pagehide", this.leaving);
    this.channel = window.BroadcastChannel ? new BroadcastChannel(`events ${address}`) : null;
    if (this.channel) this.channel.onmessage = (message) => this.hear(message.data);
    this.open();
    this.timer = setInterval(() => this.look(), 500);
    this.tell({ ask: true });
  }

  // refused reports whether the server refused the stream, or ended it for good.
  get refused() {
    return this.source?.readyState === EventSource.CLOSED;
  }

  tell(message) {
    this.channel?.postMessage({ ...message, own: this.own });
  }

  // open hears the server.
  open() {
    this.opened = performance.now();
    this.since = Date.now(); // of several windows that hear the server, the first goes on
    this.news = null; // the last event that came from the server itself
    const source = new EventSource(this.address);
    this.source = source;
    source.addEventListener("error", () => source === this.source && this.refused && this.onRefused());
    for (const name of ["state", "table"])
      source.addEventListener(name, (event) => {
        if (source !== this.source) return;
        this.news = { name, data: event.data, id: event.lastEventId, at: performance.now() };
        if (this.take(this.news)) this.hand();
      });
  }

  take(event) {
    const now = performance.now();
    const took = Date.now() - sent(event.id);
    this.least = Math.min(this.least, took);
    if (took - this.least > late) {
      this.behind ||= now;
      return false;
    }
    this.behind = 0;
    this.heard = now;
    this.last = event;
    this.onEvent(event.name, event.data);
    return true;
  }

  // hand hands the newest event to the other windows, if one asks.
  hand() {
    const now = performance.now();
    if (this.news?.id && now - this.news.at < silent && now - this.asked < asking) {
      this.tell({ event: this.news, least: this.least, at: Date.now(), since: this.since });
    }
  }

  // hear takes what another window says.
  hear({ ask, gone, event, least, at, since, own }) {
    const now = performance.now();
    if (ask) {
      this.asked = now;
      if (this.source) this.hand();
    }
    if (gone && !this.source) setTimeout(() => this.look(silent / 2), (silent / 10) * Math.random());
    if (!event || Math.abs(Date.now() - at) > silent) return; // what waited for this window may be old
    // Another connection's events may be older than those that came here. If no more come here, the server's clock was set.
    if (this.last && sent(event.id) < sent(this.last.id) && now - this.heard < silent) return;
    const first = since < this.since || (since === this.since && own < this.own);
    const deaf = now - Math.max(this.opened, this.news?.at ?? 0) > silent; // its own connection hangs
    if (this.source && !this.keep() && (deaf || (first && this.news))) this.drop();
    if (!this.source) this.least = least;
    if (event.id !== this.last?.id) this.take(event);
  }

  drop() {
    this.source?.close();
    this.source = null;
  }

  // look hears the server if no one was heard for a while.
  look(patience = silent) {
    if (this.timer === 0) return; // closed
    if (!this.source && (this.keep() || performance.now() - this.heard > patience)) this.open();
    this.tell({ ask: true });
  }

  close() {
    removeEventListener("pagehide", this.leaving);
    clearInterval(this.timer);
    this.timer = 0;
    this.leaving();
    this.drop();
    this.channel?.close();
    this.channel = null;
  }
}
