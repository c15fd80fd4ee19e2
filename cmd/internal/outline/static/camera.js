// The camera as calibration.Camera has it: OpenCV's plumb_bob lens, x_camera = R x_table + t, pixel centres at integers.
// A test holds these functions to Go's.

function distort(camera, x, y) {
  const [k1, k2, p1, p2, k3] = camera.distortion;
  const r2 = x * x + y * y;
  const radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3));
  return [x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x), y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y];
}

// heightAt is the mat's height at a place of the table, where it was measured.
export function heightAt(camera, x, y) {
  const grid = camera.heights_mm;
  if (!grid) return 0;
  const n = grid.length - 1;
  const u = Math.min(Math.max((x / camera.mat_mm[0]) * n, 0), n), v = Math.min(Math.max((y / camera.mat_mm[1]) * n, 0), n);
  const i = Math.min(Math.floor(v), n - 1), k = Math.min(Math.floor(u), n - 1);
  const a = v - i, b = u - k;
  return (1 - a) * ((1 - b) * grid[i][k] + b * grid[i][k + 1]) + a * ((1 - b) * grid[i + 1][k] + b * grid[i + 1][k + 1]);
}

// pixelOf returns where the picture shows a point of the table, mm; null behind the camera.
export function pixelOf(camera, x, y, z) {
  const q = [0, 1, 2].map((i) => camera.r[i][0] * x + camera.r[i][1] * y + camera.r[i][2] * z + camera.t_mm[i]);
  if (q[2] < 1) return null;
  const [xd, yd] = distort(camera, q[0] / q[2], q[1] / q[2]);
  return [camera.fx * xd + camera.cx, camera.fy * yd + camera.cy];
}

// pointAt returns the point of the table at height z that a pixel shows; null where there is none.
export function pointAt(camera, u, v, z) {
  const xd = (u - camera.cx) / camera.fx, yd = (v - camera.cy) / camera.fy;
  let x = xd, y = yd;
  const h = 1e-6;
  for (let i = 0; i < 30; i++) {
    const [fx, fy] = distort(camera, x, y);
    const [ax, ay] = distort(camera, x + h, y), [bx, by] = distort(camera, x, y + h);
    const jxx = (ax - fx) / h, jyx = (ay - fy) / h, jxy = (bx - fx) / h, jyy = (by - fy) / h;
    const det = jxx * jyy - jxy * jyx;
    if (!(det > 1e-6)) return null;
    const ex = fx - xd, ey = fy - yd;
    const dx = (jyy * ex - jxy * ey) / det, dy = (jxx * ey - jyx * ex) / det;
    x -= dx;
    y -= dy;
    if (Math.abs(dx) + Math.abs(dy) < 1e-12) break;
  }
  const { r, t_mm: t } = camera;
  const direction = [0, 1, 2].map((i) => r[0][i] * x + r[1][i] * y + r[2][i]);
  const center = [0, 1, 2].map((i) => -(r[0][i] * t[0] + r[1][i] * t[1] + r[2][i] * t[2]));
  if (Math.abs(direction[2]) < 1e-9) return null;
  const s = (z - center[2]) / direction[2];
  return s > 0 ? [center[0] + s * direction[0], center[1] + s * direction[1]] : null;
}

// inTable turns a point of a base's own frame to the table's: x to its right, y forward, heading clockwise from the table's y.
export function inTable(pose, x, y) {
  const a = (pose.heading_deg * Math.PI) / 180, sin = Math.sin(a), cos = Math.cos(a);
  return [pose.x_mm + x * cos + y * sin, pose.y_mm - x * sin + y * cos];
}
