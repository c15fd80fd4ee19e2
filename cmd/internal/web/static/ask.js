// Asking the server for something to be done; what it refuses, it says in a sentence.

// ask posts JSON, or gets without any, and returns [the answer, ""] or [null, the sentence]. read reads the answer.
export async function ask(path, body, read = JSON.parse) {
  try {
    const answer = await fetch(path, body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
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
