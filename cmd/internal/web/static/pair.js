// Pairing: the code of the box's display makes a player of this device, the judge's
// secret a judge. The server remembers by a cookie that no script can read.

import { patience, send as request } from "./ask.js";
import { byId, set, setText, svg } from "./dom.js";
import { ready } from "./texts.js";

// next is where to go on: the page that sent us here, on this server.
function next() {
  const wanted = new URLSearchParams(location.search).get("next") ?? "/";
  try {
    const to = new URL(wanted, location.origin);
    return to.origin === location.origin && wanted.startsWith("/") ? to.pathname : "/";
  } catch {
    return "/";
  }
}

const roles = {
  nobody: ["Not paired", "This table is shown to paired devices only."],
  reader: ["Not paired", "You may look at everything. To choose ships, hold the picture or call a judge, pair this device."],
  player: ["You may play", "This device may choose ships, hold the picture, call a judge and calibrate."],
  judge: ["You are the judge", "This device may rule, and do everything that a player may."],
};

// whoText says who this device is, in two sentences.
function whoText(me) {
  const [title, text] = roles[me.role];
  const name = me.name ? `, ${me.name}` : "";
  if (me.here && !me.paired) return [title, "This is the machine of the table itself: it may play without pairing."];
  if (!me.paired) return [title, text];
  const until = new Date(me.expires_unix_ms).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  return [title + name, `${text} The pairing holds until ${until}.`];
}

let hosts = false; // whether this page may show the code

function show(me) {
  const [title, text] = whoText(me);
  setText(byId("who-h"), title);
  setText(byId("who-text"), text);
  byId("who").hidden = false;
  byId("on").hidden = me.role === "nobody" || me.role === "reader"; // the header leads back too
  byId("on").href = next();
  byId("unpair").hidden = !me.paired;
  byId("play").hidden = me.role === "player" || me.role === "judge";
  byId("rule").hidden = me.role === "judge" || !me.judges;
  hosts = me.here || me.role === "judge";
  byId("host").hidden = !hosts;
  if (hosts) showCode();
}

// showQR draws the code's modules with the quiet zone that a phone needs.
function showQR(rows) {
  const box = byId("host-qr");
  box.toggleAttribute("hidden", rows.length === 0);
  const key = rows.join("");
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren();
  const size = rows.length + 8;
  set(box, { viewBox: `0 0 ${size} ${size}` });
  svg("rect", { class: "light", width: size, height: size }, box);
  const d = rows.map((row, y) => [...row].map((c, x) => (c === "#" ? `M${x + 4} ${y + 4}h1v1h-1z` : "")).join("")).join("");
  svg("path", { class: "dark", d }, box);
}

// showCode shows the code as long as the program answers: after a restart there is another.
async function showCode() {
  const answer = await fetch("/api/pair", { signal: AbortSignal.timeout(4000) }).catch(() => null);
  byId("host").hidden = !hosts || !answer?.ok;
  if (!answer?.ok) return;
  const { code, address, qr, expires_unix_ms: until } = await answer.json();
  showQR(qr);
  setText(byId("host-address"), address ? `On the phone, open ${address.replace(/\/$/, "")}/pair and type this code:` : "The page is served to this machine only: no phone can reach it. Start the program with --listen :8080, or set web.listen, to open it to the network; then this code works.");
  setText(byId("host-code"), code);
  setText(byId("host-left"), `Works once, until ${new Date(until).toLocaleTimeString([], { timeStyle: "short" })}; then there is a new one.`);
}

let turns = 0; // how often this device was paired or unpaired here

// refresh shows who this device is now: a pairing ends, and a program that was started again may know it no longer.
async function refresh() {
  const turn = turns;
  const answer = await fetch("/api/me", { signal: AbortSignal.timeout(4000) }).catch(() => null);
  const now = answer?.ok ? await answer.json().catch(() => null) : null;
  if (turn !== turns) return;
  if (now) show(now);
  else byId("host").hidden = true;
}

// send pairs, and says what is wrong next to the field.
async function send(form, field, problem, body) {
  const button = form.querySelector("button");
  button.disabled = true;
  setText(problem, "");
  field.removeAttribute("aria-invalid");
  try {
    const answer = await request("/api/pair", body);
    if (!answer.ok) throw new Error((await answer.text()).trim());
    turns++;
    field.value = "";
    history.replaceState(null, "", "/pair" + location.search);
    show(await answer.json());
    byId("who-h").focus();
  } catch (error) {
    setText(problem, error instanceof TypeError ? "The program does not answer." : error.message);
    field.setAttribute("aria-invalid", "true");
    field.focus();
  } finally {
    button.disabled = false;
  }
}

byId("code-form").addEventListener("submit", (event) => {
  event.preventDefault();
  send(event.target, byId("code"), byId("code-problem"), { code: byId("code").value, name: byId("name").value });
});
byId("judge-form").addEventListener("submit", (event) => {
  event.preventDefault();
  send(event.target, byId("secret"), byId("judge-problem"), { judge_secret: byId("secret").value, name: byId("judge-name").value });
});
byId("unpair").addEventListener("click", async () => {
  await fetch("/api/unpair", { method: "POST", signal: AbortSignal.timeout(patience) }).catch(() => {});
  turns++;
  await refresh();
  byId("who-h").focus();
});

const code = location.pathname.match(/^\/pair\/([^/]+)$/i);
if (code) byId("code").value = decodeURIComponent(code[1]).slice(0, 12);
if (next() === "/judge") byId("rule").open = true;
await ready;
await refresh();
setInterval(refresh, 5000);
