// Asking the server for something to be done; what it refuses, it says in a sentence.

// patience is how long the program may take for what it is asked to do, in ms. A program or a network that hangs
// must not keep a button pressed, nor the next press waiting.
export const patience = 30000;

// send sends JSON and returns the response, whatever its status. It throws when none comes in time.
export const send = (path, body, method = "POST") =>
  fetch(path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal: AbortSignal.timeout(patience) });

// ask posts JSON, or gets without any, and returns [the answer, ""] or [null, the sentence]. read reads the answer.
export async function ask(path, body, read = JSON.parse) {
  try {
    const answer = body ? await send(path, body) : await fetch(path, { signal: AbortSignal.timeout(patience) });
    const text = await answer.text();
    if (!answer.ok) return [null, text.trim()];
    return [text ? read(text) : {}, ""];
  } catch {
    return [null, "The program does not answer."];
  }
}

// remembered is a switch of this device: a checkbox that keeps its state.
export function remembered(box, key, initial, changed) {
  let kept = null;
  try {
    kept = localStorage.getItem(key);
  } catch {
    // It begins as it should.
  }
  box.checked = kept === null ? initial : kept === "1";
  const tell = () => {
    try {
      localStorage.setItem(key, box.checked ? "1" : "0");
    } catch {
      // It lasts as long as the page.
    }
    changed(box.checked);
  };
  box.addEventListener("change", tell);
  changed(box.checked);
}
