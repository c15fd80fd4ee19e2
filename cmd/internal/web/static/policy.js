// The agreement on measuring: what is in force, what is declared, what is proposed.

import { ask } from "./ask.js";
import { byId, set, setText } from "./dom.js";
import { leave } from "./leave.js";
import { say } from "./texts.js";

const names = { free: "is free, at any time.", edition: "follows the rules: the acting player declares it first.", judge: "is the judge's alone." };
let state = null;

function refuse(refused) {
  setText(byId("agree-hint"), refused);
  leave(byId("refused"), refused);
}

const post = async (path, body) => refuse((await ask(path, body))[1]);

const seconds = (ms) => `${Math.ceil(ms / 1000)} s`;

const declared = (open) => `${open.text} (${seconds(open.left_ms)} left)`;

// showProposal shows the agreement that someone proposes. What counts down stands outside the alert, which would be read out each second.
function showProposal(p) {
  byId("proposal").hidden = p.proposal === null;
  setText(byId("proposal-text"), p.proposal ? `Proposed: measuring ${names[p.proposal.to]} It holds unless someone objects.` : "");
  setText(byId("proposal-left"), p.proposal ? `${seconds(p.proposal.left_ms)} left` : "");
}

// showDeclared shows on a page without the strip what everyone must see: what is proposed, and what is declared.
export function showDeclared(p) {
  setText(byId("declared"), p.window ? declared(p.window) : "");
  byId("declared").hidden = p.window === null;
  showProposal(p);
}

// startObject listens to the button that objects to a proposal. said is told of a refusal.
export function startObject(said) {
  byId("object").addEventListener("click", async () => said((await ask("/api/policy", { object: true }))[1]));
}

// showPolicy brings the strip up to date.
export function showPolicy(now) {
  state = now;
  const p = state.policy;
  set(byId("policy"), { "data-measuring": p.measuring });
  const open = p.window;
  setText(byId("policy-text"), open ? declared(open) : names[p.measuring]);
  set(byId("policy"), { "data-open": open !== null });
  const from = state.choice.from;
  byId("declare").hidden = p.measuring !== "edition" || open !== null;
  setText(byId("declare-label"), from ? `${from} …` : "Choose who acts.");
  for (const button of byId("declare").querySelectorAll("[data-doing]")) {
    button.disabled = !from;
    const lock = button.dataset.doing === "lock" && state.rules === "1e" && state.choice.to;
    setText(button, button.dataset.doing === "lock" ? (lock ? `locks ${state.choice.to}` : "locks") : button.textContent);
  }
  showTokens();
  byId("declared-done").hidden = open === null;
  showProposal(p);
  byId("agree").hidden = false;
  for (const button of byId("agree").querySelectorAll("button")) set(button, { "aria-pressed": button.dataset.measuring === p.measuring });
  if (p.judges_only && !byId("agree-hint").textContent) setText(byId("agree-hint"), "Only a judge changes this at this table.");
}

// showTokens offers what can be done with the devices and markers that lie on the table.
function showTokens() {
  const tokens = state.things.tokens;
  const lies = (...kinds) => state.rules === "2.5" && tokens.some((t) => kinds.includes(t.kind));
  byId("declare").querySelector('[data-doing="tow"]').hidden = !lies("supply_cache");
  byId("declare").querySelector('[data-doing="scramble"]').hidden = !lies("satellite", "mission_satellite");
  const box = byId("declare-blasts");
  const devices = tokens.filter((t) => t.group === "device").map((t) => t.id);
  if (box.dataset.ids === devices.join("|")) return;
  box.dataset.ids = devices.join("|");
  box.replaceChildren(
    ...devices.map((id) => {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.blast = id;
      button.textContent = say(`${id} detonates`);
      button.addEventListener("click", () => post("/api/declare", { doing: "blast", target: id }));
      return button;
    }),
  );
}

// declareMove says before everybody which move is about to be made.
// Who must choose first whether to use an ability is asked (G94).
export async function declareMove(doing, ship, move) {
  const answer = await ask("/api/declare", { doing, ship, move });
  if (!answer[1].includes("G94")) return answer;
  const used = window.confirm(`${answer[1]}\n\n${say("OK: the ability is used. Cancel: it is not.")}`);
  return ask("/api/declare", { doing, ship, move, ability: used ? "used" : "not used" });
}

// startPolicy listens to the strip's buttons.
export function startPolicy() {
  for (const button of byId("declare").querySelectorAll("[data-doing]")) {
    button.addEventListener("click", () => {
      const doing = button.dataset.doing;
      const body = { doing, ship: state.choice.from };
      if (doing === "lock" && state.rules === "1e") body.target = state.choice.to;
      post("/api/declare", body);
    });
  }
  byId("declared-done").addEventListener("click", () => post("/api/declare", { doing: "done" }));
  startObject(refuse);
  for (const button of byId("agree").querySelectorAll("button")) {
    button.addEventListener("click", () => {
      post("/api/policy", { measuring: button.dataset.measuring });
      byId("agree").open = false;
    });
  }
}
