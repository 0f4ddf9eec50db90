/** A small picture for others' pages: no script, no font of ours, nothing a caller wrote. */
export function badgeSvg(isUp: boolean, available: number | undefined, days: number): string {
  const value = !isUp
    ? "down"
    : available === undefined
      ? "up"
      : `${(Math.floor(available * 10_000) / 100).toFixed(2)} %`;
  const colour = !isUp ? "#b3231a" : available !== undefined && available < 0.995 ? "#855200" : "#0a7043";
  const text = 'font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" fill="#fff"';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="176" height="20" role="img" aria-label="x402 facilitator: ${value}"><title>x402 facilitator: ${value}, ${days} days</title><rect width="176" height="20" rx="4" fill="#11141a"/><path d="M112 0h60a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4h-60z" fill="${colour}"/><text x="8" y="14" ${text}>x402 facilitator</text><text x="144" y="14" text-anchor="middle" ${text}>${value}</text></svg>`;
}
