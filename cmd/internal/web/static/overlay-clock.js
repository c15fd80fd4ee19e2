// The box's clock, as seen from here. It is asked for, never guessed from when
// something arrived: what waited in a buffer while the laptop slept arrives fresh.

const trust = 60000; // ms that a measurement holds
const slow = 2000; // ms; an answer that took longer says too little
const apart = 2000; // ms between now and a state's time
const jump = 500; // ms by which the wall clock may part from the steady one

export class Clock {
  constructor(address) {
    this.address = address;
    this.offset = null; // ms to add to this machine's clock
    this.measuring = false;
    this.asked = -Infinity; // when it was asked for
    this.turn = 0; // rises when what was known, and what is asked now, counts no longer
    this.measured = -Infinity;
    this.wall = Date.now();
    this.steady = performance.now();
  }

  // now is the box's clock in ms, or null.
  now() {
    return this.offset === null ? null : Date.now() + this.offset;
  }

  // tick reports whether this machine slept, or somebody set its clock: then nothing
  // that was known holds any more.
  tick() {
    const wall = Date.now(), steady = performance.now();
    const jumped = Math.abs(wall - this.wall - (steady - this.steady)) > jump;
    this.wall = wall;
    this.steady = steady;
    if (jumped) this.forget();
    else if (steady - this.measured > trust) this.measure();
    return jumped;
  }

  // heard takes the time at which a state was made, in ms of the box's clock. One that is far from now waited somewhere,
  // or somebody set the box's clock: it is asked for.
  heard(at) {
    if (this.offset !== null && Math.abs(this.now() - at) > apart) this.measure();
  }

  forget() {
    this.offset = null;
    this.turn++;
    this.measuring = false;
    this.measured = -Infinity;
    this.measure();
  }

  async measure() {
    const steady = performance.now();
    if (this.measuring) {
      if (steady - this.asked < 2 * slow) return;
      this.turn++; // the connection hangs, as after another network was joined: it would for a quarter of an hour
    }
    this.measuring = true;
    this.asked = steady;
    const turn = this.turn;
    try {
      const wall = Date.now();
      const answer = await fetch(this.address, { cache: "no-store" });
      const text = await answer.json();
      const took = performance.now() - steady;
      if (turn !== this.turn || !answer.ok || took > slow || Math.abs(Date.now() - wall - took) > jump) return;
      this.offset = text.now_unix_ms - (wall + took / 2);
      this.measured = performance.now();
    } catch (error) {
      // The next tick asks again.
    } finally {
      if (turn === this.turn) this.measuring = false;
    }
  }
}
