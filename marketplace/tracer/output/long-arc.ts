interface Place {
  readonly x: number;
  readonly y: number;
}

/** An arc by way of a point of it to its end, seen from where the first of several begins. */
interface Arc extends Place {
  readonly mx: number;
  readonly my: number;
}

/**
 * The arc from 0 to (x, y) by way of (mx, my), half way along it; in parts where a whole number for its radius would not do.
 * Where it nearly closes its ends are near each other: rounding them turns the line between them, and the circle swings with
 * that; then it is three. Where it is about half a circle, a radius hardly greater lifts it a good deal; then it is two. They
 * meet at whole numbers.
 */
export function inParts(arc: Arc): readonly Arc[] {
  const { mx, my, x, y } = arc;
  const chord = Math.hypot(x, y);
  const [toX, toY] = [x / 2 - mx, y / 2 - my];
  const height = Math.hypot(toX, toY);
  const r = height / 2 + (chord * chord) / (8 * height);
  const [cx, cy] = [mx + (toX * r) / height, my + (toY * r) / height];
  const side = x * my - y * mx < 0 ? 1 : -1;
  const closes = height >= chord / 2 && chord <= r;
  if (
    !closes &&
    Math.abs(heightAt(Math.max(Math.round(r), Math.ceil(chord / 2)), chord, height > chord / 2) - height) < liftMax
  )
    return [arc];
  const up = (side * Math.sqrt(Math.round(r) ** 2 - (chord * chord) / 4)) / chord;
  if (closes && Math.hypot(x / 2 + y * up - cx, y / 2 - x * up - cy) < swingMax) return [arc];
  const on = (angle: number): Place => ({ x: cx + r * Math.cos(angle), y: cy + r * Math.sin(angle) });
  const off = (p: Place) => Math.abs(Math.hypot(p.x - cx, p.y - cy) - r);
  /** The whole numbers nearest to the circle, about an angle. */
  const nearest = (about: number) => {
    let best = about;
    for (let angle = about - searched; angle <= about + searched; angle += 1 / r)
      if (off(rounded(on(angle))) < off(rounded(on(best)))) best = angle;
    return best;
  };
  const middle = Math.atan2(my - cy, mx - cx);
  const part = (from: number, to: number, end: Place): Arc => {
    const via = on((from + to) / 2);
    return { mx: via.x, my: via.y, ...end };
  };
  const short = Math.asin(Math.min(1, chord / 2 / r));
  const half = (height > chord / 2 ? Math.PI - short : short) * side;
  const meets = (closes ? [-1 / 3, 1 / 3] : [0]).map((at) => nearest(middle + at * half));
  const angles = [middle - half, ...meets, middle + half];
  return angles.slice(1).map((to, i) => part(angles[i], to, i < meets.length ? rounded(on(to)) : { x, y }));
}

/** How high an arc of a radius stands over its chord, `large` where it is more than half a circle. */
function heightAt(r: number, chord: number, large: boolean): number {
  const rest = Math.sqrt(Math.max(0, r * r - (chord * chord) / 4));
  return large ? r + rest : r - rest;
}

/** How far its middle may be off, in units of the file. */
const liftMax = 0.8;
/** How far its centre may be off, in units of the file. */
const swingMax = 0.6;
/** How far to both sides, radians. */
const searched = 0.15;

function rounded({ x, y }: Place): Place {
  return { x: Math.round(x), y: Math.round(y) };
}
