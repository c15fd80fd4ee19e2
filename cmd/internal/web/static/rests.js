// What an answer that was asked for rests on, so that it is not shown of another table.

// restsOn is what such an answer depends on: what stands and what does not, and where each
// ship, obstacle, device, marker and unknown thing is, in mm and degrees.
export function restsOn(state) {
  const { obstacles_watched: watched, unknown_mm: unknown, tokens } = state.things;
  const stands = (s) => ["still", "unsure", "unread", "frozen"].includes(s.state) || s.state;
  const turned = (deg) => [Math.cos((deg * Math.PI) / 180) * 57.3, Math.sin((deg * Math.PI) / 180) * 57.3];
  const box = (points) => [0, 1].flatMap((k) => [Math.min, Math.max].map((most) => most(...points.map((p) => p[k])) / 5)); // its outline is a rough one
  return {
    what: JSON.stringify([state.health.code, watched, state.ships.map((s) => [s.id, stands(s)]), state.obstacles.map((o) => [o.id, o.outline_mm.length]), tokens.map((k) => [k.id, k.kind]), unknown.length]),
    where: [...state.ships.map((s) => [s.x_mm, s.y_mm, ...turned(s.heading_deg)]), ...state.obstacles.map((o) => o.outline_mm.flat()), ...tokens.map((k) => [k.x_mm, k.y_mm]), ...unknown.map(box)].flat(),
  };
}

// differs compares two of them, leaving out what the camera's noise does.
export function differs(then, now) {
  return then.what !== now.what || then.where.length !== now.where.length || now.where.some((v, i) => Math.abs(v - then.where[i]) > 0.5);
}
