// The hall's director: which table the stream shows.

import { age, ask, byId, follow, make, named, setText } from "./now.js";
import { ready } from "/texts.js";

let tables = [];
let typed = "";

async function put(table) {
  const [, problem] = await ask("/api/program", "PUT", JSON.stringify({ table }));
  setText(byId("said"), problem ?? "");
  if (!problem) showAir(table);
}

function showAir(program) {
  setText(byId("name"), program ? `table ${program}` : "no table");
  byId("own").href = program ? `/t/${program}/director` : "/";
  for (const button of byId("air").children) button.setAttribute("aria-pressed", String(button.dataset.table === program));
}

function show(now) {
  tables = now.tables;
  const box = byId("air");
  const key = JSON.stringify(tables.map((t) => t.table));
  if (box.dataset.key !== key) {
    box.dataset.key = key;
    box.replaceChildren(
      ...["", ...tables.map((t) => t.table)].map((table) => {
        const button = make("button", { type: "button", "data-table": table, "data-live": "true" });
        button.addEventListener("click", () => put(table));
        return button;
      }),
    );
  }
  for (const button of box.children) {
    const tile = tables.find((t) => t.table === button.dataset.table);
    const names = tile?.names.filter(Boolean).join(" – ");
    const sign = tile?.live ? (tile.health.code !== "ok" ? tile.health.title : tile.health.held ? "held" : "live") : tile?.health && tile.age_ms >= 0 ? `silent for ${age(tile.age_ms)}` : "not heard";
    const lines = tile ? [`Table ${tile.table}`, names, tile.round, sign].filter(Boolean) : ["No table"];
    const joined = lines.join("\n");
    button.dataset.live = String(!tile || tile.live);
    if (button.dataset.text === joined) continue;
    button.dataset.text = joined;
    button.replaceChildren(...lines.map((line, i) => (line === names ? named(line) : make(i === 0 ? "b" : "span", {}, line))));
  }
  showAir(now.program);
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^[0-9]$/.test(event.key)) {
    typed = (typed + event.key).slice(-4);
    document.activeElement?.blur(); // so that Enter presses no button
  }
  if (event.key === "Enter" && typed) {
    const wanted = String(Number(typed));
    if (wanted === "0") put("");
    else if (tables.some((t) => t.table === wanted)) put(wanted);
    else setText(byId("said"), `There is no table ${wanted}.`);
    typed = "";
    event.preventDefault();
  } else if (event.key === "Escape") typed = "";
  setText(byId("typed"), typed);
});

await ready;
setText(byId("address"), `${location.origin}/overlay/all?table=program`);
follow(show);
