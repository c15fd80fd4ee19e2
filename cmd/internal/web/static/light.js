// What is wrong with the light, under the camera's picture: nothing while all is well,
// else the worst in a line and the rest, with the figures, behind it.

import { byId, setText } from "./dom.js";

export function showLight(state) {
  const light = state.camera.light;
  const box = byId("light");
  const advice = light ? [...light.advice] : [];
  const exposure = light ? light.exposure : { code: "none", says: "" };
  if (["adjusting", "paused", "limit", "failed"].includes(exposure.code)) advice.push(exposure.says.replace(/\.$/, ""));
  box.hidden = advice.length === 0;
  if (box.hidden) return;
  const says = advice[0];
  setText(byId("light-says"), says[0].toUpperCase() + says.slice(1) + ".");
  const figures = [
    ...(exposure.code === "held" ? [exposure.says.replace(/\.$/, "")] : []),
    `an edge takes ${light.edge_px.toFixed(1)} px`,
    `white ${light.white_level.toFixed(0)} (brighter markers ${light.paper_level.toFixed(0)}), black ${light.black_level.toFixed(0)}, noise ${light.noise_level.toFixed(1)} of 255 grey levels`,
    `${(100 * light.glare).toFixed(1)} % of the mat is white`,
    `bands flicker by ${(100 * light.flicker).toFixed(1)} %`,
  ];
  setText(byId("light-more"), [...advice.slice(1), ...figures].join("; ") + ".");
}
