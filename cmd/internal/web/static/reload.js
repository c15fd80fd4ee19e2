// A page that was open while the program was replaced by another version may not be able to show what comes.

const after = 5000; // ms after which it is loaded again

// Reload loads the page again once it cannot show what comes for a while.
export class Reload {
  since = 0; // since when it cannot, by performance.now(); 0: it can

  shown() {
    this.since = 0;
  }

  failed(error) {
    console.error(error);
    const now = performance.now();
    if (this.since === 0) this.since = now;
    if (now - this.since < after) return;
    this.since = now;
    fetch(location.href, { cache: "no-store" }).then((answer) => answer.ok && location.reload(), () => {});
  }
}
