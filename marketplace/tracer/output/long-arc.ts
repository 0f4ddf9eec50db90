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
 * The arc from 0 to (x, y) by way of (mx, my), half way along it; as three where it nearly closes. Its ends are near each other
 * there, so that rounding them turns the line between them, and the circle swings with that. Three meet at whole numbers.
 */
export function inParts(arc: Arc): readonly Arc[] {
  const { mx, my, x, y } = arc;
  const chord = Math.hypot(x, y);
  const [toX, toY] = [x / 2 - mx, y / 2 - my];
  const height = Math.hypot(toX, toY);
  const r = height / 2 + (chord * chord) / (8 * height);
  if (height < chord / 2 || chord > r) return [arc];
  const [cx, cy] = [mx + (toX * r) / height, my + (toY * r) / height];
  const side = x * my - y * mx < 0 ? 1 : -1;
  const up = (side * Math.sqrt(Math.round(r) ** 2 - (chord * chord) / 4)) / chord;
  if (Math.hypot(x / 2 + y * up - cx, y / 2 - x * up - cy) < swingMax) return [arc];
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
  const half = (Math.PI - Math.asin(chord / 2 / r)) * side;
  const [one, other] = [nearest(middle - half / 3), nearest(middle + half / 3)];
  const part = (from: number, to: number, end: Place): Arc => {
    const via = on((from + to) / 2);
    return { mx: via.x, my: via.y, ...end };
  };
  return [
    part(middle - half, one, rounded(on(one))),
    part(one, other, rounded(on(other))),
    part(other, middle + half, { x, y }),
  ];
}

/** How far its centre may be off, in units of the file. */
const swingMax = 0.6;
/** How far to both sides, radians. */
const searched = 0.15;

function rounded({ x, y }: Place): Place {
  return { x: Math.round(x), y: Math.round(y) };
}
