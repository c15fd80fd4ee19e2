// The status page: the state's figures, the cameras, the panel, the end of the log, and
// all of it as a text to copy.

import { byId, fill, set, setText } from "/dom.js";
import { listen, poll } from "/live.js";
import { showPanel } from "/panel.js";
import { ready, say } from "/texts.js";

let state = null;
let status = null;

// list fills a list of terms from pairs.
function list(id, pairs) {
  const element = byId(id);
  const key = JSON.stringify(pairs);
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  element.replaceChildren(
    ...pairs.flatMap(([term, text]) => {
      const dt = document.createElement("dt");
      const dd = document.createElement("dd");
      [dt.textContent, dd.textContent] = [say(term), say(text)];
      dd.translate = !["Program", "Source"].includes(term); // names
      return [dt, dd];
    }),
  );
}

const clock = (ms) => new Date(ms).toLocaleTimeString();

function uptime(ms) {
  const minutes = Math.floor(ms / 60000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function verification(v) {
  if (!v) return "never";
  const holds = v.holds ? "" : `, no longer holds: ${v.why}`;
  return `${v.at.slice(0, 10)}: ${v.outcome}, largest error ${v.worst_error_mm.toFixed(2)} mm${holds}`;
}

// gauges are the figures of the program and of the calibration.
function gauges() {
  const c = state.calibration;
  return [
    ["Program", status ? `${status.version}, ${status.system}, ${status.go}` : "…"],
    ["Up for", status ? uptime(status.uptime_ms) : "…"],
    ["Rules", `${state.rules || "–"}, ${state.sigmas} standard deviations`],
    ["Calibration", c.from ? `${c.hash.slice(0, 8)} from ${c.from}${c.integrity ? ` (${c.integrity})` : ""}, ${c.rms_px.toFixed(2)} px rms` : "not registered"],
    ["Lens", c.lens || (state.health.code === "no_calibration" && !state.camera.simulated ? "not known" : "the source's own")],
    ["Verified", verification(c.verified)],
    ["Markers", c.watch.text || "–"],
    ["Obstacles", state.things.obstacles_watched ? `${state.obstacles.length} found, ${state.things.unknown_mm.length} unknown` : state.things.why_not || "not watched"],
    ["Ships", `${state.ships.length}`],
  ];
}

// cameras are the main camera's figures, and how each further one is.
function cameras() {
  const { camera, picture } = state;
  const light = camera.light;
  return [
    ["Source", status?.source ?? "…"],
    ["Picture", picture ? `${picture.width_px}×${picture.height_px}, ${camera.frames_per_second.toFixed(1)} a second` : "none"],
    ["Pictures", `${camera.frames} taken, ${camera.dropped} dropped, the newest ${camera.age_ms.toFixed(0)} ms old`],
    ["Locating", `${camera.locating_ms.toFixed(0)} ms`],
    ["Exposure", light.exposure.says || "–"],
    ["Light", light.edges ? `an edge takes ${light.edge_px.toFixed(1)} px, noise ${light.noise_level.toFixed(1)} of 255, glare ${(100 * light.glare).toFixed(1)} %` : "–"],
    ...state.cameras.map((c) => [c.name, c.text]),
  ];
}

function showLog() {
  const box = byId("log");
  const key = status.log.length ? `${status.log.length} ${status.log.at(-1).at_unix_ms}` : "";
  if (box.dataset.key === key) return;
  const end = box.scrollTop + box.clientHeight > box.scrollHeight - 20;
  box.dataset.key = key;
  box.replaceChildren(
    ...status.log.map((r) => {
      const line = document.createElement("p");
      set(line, { "data-level": r.level });
      line.textContent = `${clock(r.at_unix_ms)} ${r.level} ${r.text}`;
      return line;
    }),
  );
  if (end) box.scrollTop = box.scrollHeight;
}

function show() {
  if (!state) return;
  const { code, title } = state.health;
  set(byId("status"), { "data-code": code });
  setText(byId("status-text"), code === "ok" ? "live" : title.toLowerCase());
  list("gauges", gauges());
  list("cameras", cameras());
  showPanel(state);
  byId("panel").hidden = state.panel.name.startsWith("no panel");
  fill("notes", state.notes.map((n) => `${clock(n.at_unix_ms)} · ${n.text}`));
  if (status) showLog();
}

// report is all of it as a text.
function report() {
  const lines = ([term, text]) => `${term}: ${text}`;
  const health = state.health.code === "ok" ? "ok" : `${state.health.title}: ${state.health.detail}`;
  return [
    `Sightline ${status?.version ?? ""}`, `State: ${health}`, ...gauges().map(lines), ...cameras().map(lines), `Panel: ${state.panel.name}`,
    "", "Notes:", ...state.notes.map((n) => `${new Date(n.at_unix_ms).toISOString()} ${n.text}`),
    "", "Log:", ...(status?.log ?? []).map((r) => `${new Date(r.at_unix_ms).toISOString()} ${r.level} ${r.text}`), "",
  ].join("\n");
}

async function copy() {
  const text = report();
  const area = byId("report");
  area.hidden = false;
  area.value = text;
  let done = false;
  if (navigator.clipboard) done = await navigator.clipboard.writeText(text).then(() => true, () => false);
  if (!done) {
    area.select();
    done = document.execCommand("copy"); // pages without TLS have no clipboard
  }
  setText(byId("copied"), done ? "Copied." : "Copy it by hand: it is selected.");
}

byId("copy").addEventListener("click", () => state && copy());
ready.then(() => {
  listen(
    (now) => {
      state = now;
      show();
    },
    (lost) => {
      if (!lost) return;
      set(byId("status"), { "data-code": "lost" });
      setText(byId("status-text"), "connection lost");
    },
  );
  poll(
    () => "/api/status",
    3000,
    (now) => {
      status = now;
      show();
    },
    () => {}, // the events' watchdog says it
  )();
});
