/** Capitals and figures as middle lines in a box 4 wide and 6 high, so that no font is needed. */
const letters: Readonly<Record<string, string>> = {
  A: "M0 6L2 0L4 6M.8 4H3.2",
  B: "M0 0V6H2.4A1.6 1.6 0 0 0 2.4 2.8H0M0 0H2.2A1.4 1.4 0 0 1 2.2 2.8",
  C: "M4 1.2A2.2 3 0 1 0 4 4.8",
  D: "M0 0V6H1.4A2.6 3 0 0 0 1.4 0Z",
  E: "M4 0H0V6H4M0 3H3",
  F: "M4 0H0V6M0 3H3",
  G: "M4 1.2A2.2 3 0 1 0 4 4.8V3.2H2.4",
  H: "M0 0V6M4 0V6M0 3H4",
  I: "M2 0V6",
  J: "M3.4 0V4.2A1.7 1.8 0 0 1 0 4.2",
  K: "M0 0V6M4 0L0 3.6M1.4 2.4L4 6",
  L: "M0 0V6H4",
  M: "M0 6V0L2 4L4 0V6",
  N: "M0 6V0L4 6V0",
  O: "M2 0A2 3 0 1 0 2 6A2 3 0 1 0 2 0Z",
  P: "M0 6V0H2.3A1.7 1.7 0 0 1 2.3 3.4H0",
  R: "M0 6V0H2.3A1.7 1.6 0 0 1 2.3 3.2H0M2 3.2L4 6",
  S: "M3.8 1.1C3 -.4 .3 -.3 .3 1.5C.3 3.3 3.8 2.6 3.8 4.5C3.8 6.4 .9 6.4 .1 4.8",
  T: "M0 0H4M2 0V6",
  U: "M0 0V4A2 2 0 0 0 4 4V0",
  V: "M0 0L2 6L4 0",
  W: "M0 0L1 6L2 2L3 6L4 0",
  X: "M0 0L4 6M4 0L0 6",
  Y: "M0 0L2 3L4 0M2 3V6",
  Z: "M0 0H4L0 6H4",
  0: "M2 0A2 3 0 1 0 2 6A2 3 0 1 0 2 0Z",
  1: "M.8 1.2L2.4 0V6",
  2: "M.2 1.6A1.9 1.7 0 1 1 3.4 2.8L0 6H4",
  3: "M.2 .8A1.8 1.5 0 1 1 2 2.8A1.8 1.6 0 1 1 .1 5",
  4: "M3 6V0L0 4.2H4",
  5: "M3.6 0H.6L.3 2.6A1.9 1.8 0 1 1 .1 5.2",
  6: "M3.4 .4C1 .6 0 2.4 0 4A2 2 0 1 0 .3 3.2",
  7: "M0 0H4L1.4 6",
  9: "M.6 5.6C3 5.4 4 3.6 4 2A2 2 0 1 0 3.7 2.8",
  8: "M2 0A1.5 1.4 0 1 0 2 2.8A1.8 1.6 0 1 0 2 6A1.8 1.6 0 1 0 2 2.8A1.5 1.4 0 1 0 2 0Z",
};

/** A line of capitals from (x, baseline), `height` high, as strokes `weight` wide. */
export function word(
  text: string,
  x: number,
  baseline: number,
  height: number,
  colour: string,
  weight: number,
): string {
  const scale = height / 6;
  let left = x;
  const paths = [...text].map((letter) => {
    const d = letters[letter];
    const place = `transform="translate(${left.toFixed(2)} ${(baseline - height).toFixed(2)}) scale(${scale.toFixed(4)})"`;
    left += (letter === " " ? 3.6 : letter === "I" ? 4.6 : 5.6) * scale;
    return d ? `<path ${place} d="${d}"/>` : "";
  });
  return `<g fill="none" stroke="${colour}" stroke-width="${(weight / scale).toFixed(3)}" stroke-linejoin="round">${paths.join("")}</g>`;
}
