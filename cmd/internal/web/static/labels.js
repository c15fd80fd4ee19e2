// Where names are written, so that each is read as that of its own base: none on another
// name, on another base or nearer to it, under what covers the drawing, or beyond its edge.

const shared = (a, b) => Math.max(0, Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x)) * Math.max(0, Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y));
const apart = (a, b) => Math.hypot(a.x + a.w / 2 - b.x - b.w / 2, a.y + a.h / 2 - b.y - b.h / 2);

// around are the places for a name about a box, best first: over it, under it, next to it
// and at its corners. All boxes are { x, y, w, h } in the drawing's units.
export function around(box, w, h, gap) {
  const middle = box.x + (box.w - w) / 2, level = box.y + (box.h - h) / 2;
  const over = box.y - gap - h, under = box.y + box.h + gap, left = box.x - gap - w, right = box.x + box.w + gap;
  return [[middle, over], [middle, under], [right, level], [left, level], [right, over], [left, over], [right, under], [left, under]].map(([x, y]) => ({ x, y, w, h }));
}

// spoilt says how much of a place is not free, as a share of it.
function spoilt(place, own, taken, bases, covers, room) {
  const all = place.w * place.h;
  let bad = 4 * (all - shared(place, room));
  for (const t of taken) bad += 4 * shared(place, t);
  for (const c of covers) bad += 4 * shared(place, c);
  for (const b of bases) if (b !== own) bad += shared(place, b) + (apart(place, b) < apart(place, own) ? all : 0);
  return bad / all;
}

// placed gives each name, in turn, the first of its places that is free, or the one with
// the least on it. A name is { places: boxes, own: its base, must }; bases are the boxes of
// all bases, covers what hides names, room the drawing. Where not even half of a place is
// free the answer is null and the name is left out, unless it must be told.
export function placed(names, bases, covers, room) {
  const taken = [];
  return names.map(({ places, own, must }) => {
    let best = places[0], least = Infinity;
    for (const p of places) {
      const bad = spoilt(p, own, taken, bases, covers, room);
      if (bad < least - 0.01) (best = p), (least = bad);
    }
    if (least > 0.5 && !must) return null;
    taken.push(best);
    return best;
  });
}
