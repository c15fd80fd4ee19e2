// What a table without ships says: what is seen, why nothing is recognised, and the next
// steps. "0 ships" alone does not help.

import { byId, setLinked, setText } from "./dom.js";
import { say } from "./texts.js";

const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// baseSized reports whether an outline, mm, is as large as a small to large base with its miniature.
function baseSized(outline) {
  const xs = outline.map((p) => p[0]), ys = outline.map((p) => p[1]);
  const w = Math.max(...xs) - Math.min(...xs), h = Math.max(...ys) - Math.min(...ys);
  return Math.min(w, h) > 34 && Math.max(w, h) < 130;
}

// seenOf says what the camera sees of the mat.
function seenOf(state) {
  const { markers_in_place: seen, markers } = state.calibration.watch;
  const n = state.things.unknown_mm.length, bases = state.things.unknown_mm.filter(baseSized).length;
  const sized = bases === 0 ? "" : bases === 1 ? " One of them may be a base without our code." : ` ${bases} of them may be bases without our code.`;
  const things = n === 0 ? "" : n === 1 ? ` Something lies on it that matches nothing known${bases ? ": perhaps a base without our code" : ""}.` : ` ${n} things lie on it that match nothing known.${sized}`;
  const mat = markers ? `The camera sees the mat and ${seen} of its ${markers} markers.` : "The camera sees the mat.";
  return mat + things;
}

// whyOf says why no ship is recognised: [title, why].
function whyOf(state) {
  const { code, title, detail } = state.health;
  if (code !== "ok") return [title, detail];
  const advice = state.camera.light.advice[0];
  const why = advice ? `${upper(advice)}.` : "A ship is recognised by the printed token under it, whose rim carries a code.";
  return ["No ship is recognised", `${seenOf(state)} ${why}`];
}

// Each step is a page of this program, or a view of this page; a page that this program
// does not have is not offered.
const pages = {
  start: ["/first", "Set the table up"],
  tokens: ["/first", "Print tokens and markers"],
  looks: ["/looks", "Show your ships once"],
  outline: ["/outline?from=live", "Mark a base by hand"],
  mat: ["/obstacles", "Learn the empty mat"],
  camera: ["/first", "Set the camera up"],
  status: ["/status", "What the program sees"],
};

const there = new Map(); // path → promise of whether the server has it

function has(path) {
  if (!there.has(path)) there.set(path, fetch(path, { method: "HEAD" }).then((r) => r.ok, () => false));
  return there.get(path);
}

function stepsOf(state) {
  const { code } = state.health;
  if (code === "no_camera" || code === "dark" || code === "frozen") return ["start", "camera", "status"];
  if (code === "no_calibration" || code === "markers_lost" || code === "lens_changed") return ["start", "camera"];
  if (code !== "ok") return ["status"];
  return ["start", "tokens", "looks", "outline", ...(state.things.obstacles_watched ? [] : ["mat"])];
}

async function showSteps(steps) {
  const box = byId("empty-steps");
  const key = steps.join();
  if (box.dataset.steps === key) return;
  box.dataset.steps = key;
  const found = await Promise.all(steps.map((step) => has(pages[step][0])));
  if (box.dataset.steps !== key) return;
  box.replaceChildren(
    ...steps.filter((_, i) => found[i]).map((step) => {
      const link = document.createElement("a");
      link.href = pages[step][0];
      link.textContent = say(pages[step][1]);
      link.className = "button";
      return link;
    }),
  );
}

// showEmpty says what to do while no ship is recognised.
export function showEmpty(state) {
  const empty = state.ships.length === 0;
  byId("empty").hidden = !empty;
  byId("hint").hidden = empty;
  if (!empty) return;
  const [title, why] = whyOf(state);
  setText(byId("empty-title"), `${title}.`);
  setLinked(byId("empty-why"), why);
  showSteps(stepsOf(state));
}
