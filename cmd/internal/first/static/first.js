// The way to the first table. What is done and what comes next is the server's business,
// and so are the sentences; this page draws them and posts what people want.

import { byId, set, setLinked, setText } from "./dom.js";
import { ask, send } from "./ask.js";
import { poll } from "./live.js";

const every = 1500; // ms between two looks
let state = null;
let paired = true; // until the server says otherwise

function say(text, problem) {
  byId("anyway").hidden = true;
  if (byId("print-says")) byId("print-says").hidden = true;
  setLinked(byId("problem"), problem);
  byId("problem").hidden = problem === "";
  setText(byId("says"), text);
  byId("says").hidden = text === "";
}

// sayOfPrint says what came of a button of the sheets right below it.
function sayOfPrint(text, problem) {
  say("", "");
  const box = byId("print-says");
  setLinked(box, problem || text);
  box.className = problem ? "problem" : state.print?.good ? "saved" : "hint";
  box.hidden = !box.textContent;
}

async function want(intent, told = say) {
  const [answer, problem] = await ask("/api/first", intent);
  await look();
  told(answer?.says ?? "", problem);
  return answer !== null;
}

// calibrate opens the guided calibration at a step. What takes the answers from a game is
// asked again first.
async function calibrate(step, sure) {
  const wish = step === "quick" ? { do: "quick" } : { do: "go", step };
  for (const intent of [{ do: "start" }, { ...wish, confirm: sure }]) {
    let answer;
    try {
      answer = await send("/api/calibration", intent);
    } catch {
      return say("", "The program does not answer.");
    }
    if (answer.ok) continue;
    say("", (await answer.text()).trim());
    anyway.hidden = !answer.headers.has("Sightline-Confirm");
    anyway.dataset.step = step;
    byId("problem").scrollIntoView({ block: "center" });
    return;
  }
  location.href = "/calibrate";
}

const anyway = byId("anyway");
anyway.addEventListener("click", () => calibrate(anyway.dataset.step, true));

function press(step) {
  if (step.href.startsWith("/calibrate#")) calibrate(step.href.slice("/calibrate#".length));
  else location.href = step.href;
}

function drawCameras() {
  const list = byId("cameras");
  if (!list) return;
  byId("looking").hidden = !state.looking;
  byId("none").hidden = state.looking || state.found.length > 1 || state.camera.live; // one of the network is not in the list
  const known = new Map([...list.children].map((item) => [item.dataset.source, item]));
  for (const [i, c] of state.found.entries()) {
    let item = known.get(c.source);
    known.delete(c.source);
    if (!item) {
      item = document.createElement("li");
      item.dataset.source = c.source;
      item.innerHTML = '<span class="blank"></span><b translate="no"></b><small class="modes"></small><small class="trouble"></small><button type="button"></button>';
      item.querySelector("button").addEventListener("click", () => want({ do: "camera", source: c.source }));
    }
    if (list.children[i] !== item) list.insertBefore(item, list.children[i] ?? null);
    item.dataset.used = c.in_use;
    item.querySelector("b").translate = c.source === "sim:"; // other cameras have names of their own
    setText(item.querySelector("b"), c.source === "sim:" ? c.name : `${c.name}, ${c.source}`);
    setText(item.querySelector(".modes"), c.modes);
    setText(item.querySelector(".trouble"), c.problem);
    const button = item.querySelector("button");
    setText(button, c.in_use ? "In use" : "Use this one");
    button.disabled = c.in_use;
    set(button, { "aria-label": `${c.in_use ? "In use" : "Use"}: ${c.name}` });
    let shown = item.firstElementChild;
    const picture = paired && c.picture; // others get none
    if (picture && shown.tagName !== "IMG") {
      const img = document.createElement("img");
      img.alt = `What ${c.name} sees`;
      shown.replaceWith(img);
      shown = img;
    }
    if (picture) set(shown, { src: picture });
    else if (shown.tagName !== "IMG") setText(shown, c.source === "sim:" ? "simulated" : !paired ? "shown to paired devices" : c.problem ? "no picture" : "opening …");
  }
  for (const gone of known.values()) gone.remove();
}

function drawPrint() {
  if (!byId("sheets")) return;
  for (const [id, value] of [["paper", state.paper], ["ships", state.ships]]) {
    if (document.activeElement !== byId(id)) byId(id).value = value;
  }
  set(byId("pdf"), { href: state.sheets });
}

const sheets = () => want({ do: "sheets", paper: byId("paper").value, ships: byId("ships").value }, sayOfPrint);

// more builds what only one step has.
function more(id, box) {
  const template = byId(`${id}-more`);
  if (!template) return;
  box.append(template.content.cloneNode(true));
  if (id !== "print") return;
  byId("paper").addEventListener("change", sheets);
  byId("ships").addEventListener("change", sheets);
  byId("sheets").addEventListener("submit", (event) => {
    event.preventDefault();
    sheets();
  });
  byId("bars").addEventListener("submit", (event) => {
    event.preventDefault();
    want({ do: "bars", bar_x_mm: Number(byId("bar-x").value), bar_y_mm: Number(byId("bar-y").value), scale_x: state.scale_x, scale_y: state.scale_y }, sayOfPrint);
  });
}

const marks = { done: "✓ done", next: "next", skipped: "left out" };

function drawStep(step, i) {
  let item = byId(`step-${step.id}`);
  if (!item) {
    item = byId("step").content.firstElementChild.cloneNode(true);
    item.id = `step-${step.id}`;
    byId("steps").append(item);
    more(step.id, item.querySelector(".more"));
  }
  const box = item.querySelector("details");
  // What is done is folded away once, but not the sheets under who has just measured one: the verdict
  // stands there. Whoever opens it again finds it open.
  if (box && item.dataset.state !== step.state && !(step.id === "print" && item.dataset.state)) box.open = step.state !== "done";
  set(item, { "data-state": step.state, "aria-current": step.state === "next" ? "step" : null });
  const title = item.querySelector("h2");
  set(title, { "data-number": i + 1 });
  setText(title.firstElementChild, step.title);
  setText(title.lastElementChild, marks[step.state] ?? "");
  setText(item.querySelector(".now"), step.state === "waiting" ? `It needs ${step.needs} first.` : step.now);
  setText(item.querySelector(".gain span"), step.gain);
  const actions = item.querySelector(".actions");
  const wish = step.href ? step.does : "";
  if (!wish) return actions.replaceChildren();
  let button = actions.querySelector("button");
  if (!button) {
    button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", () => press(state.steps.find((s) => s.id === step.id)));
    actions.append(button);
  }
  setText(button, wish);
  button.className = step.state === "next" ? "primary" : "";
}

function draw() {
  byId("first").hidden = false;
  set(byId("way-quick"), { "aria-pressed": state.quick });
  set(byId("way-full"), { "aria-pressed": !state.quick });
  state.steps.forEach(drawStep);
  drawCameras();
  drawPrint();
}

function showStatus(lost) {
  byId("banner").hidden = !lost;
  set(byId("status"), { "data-code": lost ? "lost" : state?.answers ? "ok" : "starting" });
  setText(byId("status-text"), lost ? "connection lost" : state?.answers ? "the table answers" : "no answers yet");
}

// who asks whether this device may change anything.
async function who() {
  const [me] = await ask("/api/me");
  if (me) paired = me.role === "player" || me.role === "judge";
  byId("unpaired").hidden = paired;
}

// Looking for cameras opens each: only while somebody looks at the list.
const look = poll(
  () => (state === null || byId("cameras")?.closest("details").open ? "/api/first?cameras" : "/api/first"),
  every,
  (now) => {
    state = now;
    showStatus(false);
    draw();
  },
  showStatus,
);

byId("way-quick").addEventListener("click", () => want({ do: "way", quick: true }));
byId("way-full").addEventListener("click", () => want({ do: "way", quick: false }));
await who();
await look();
