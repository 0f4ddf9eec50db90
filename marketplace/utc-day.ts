/** How long until what is counted by the UTC day begins anew, for Retry-After. */
export function secondsUntilTomorrow(): number {
  const daySeconds = 86_400;
  return Math.max(1, Math.ceil(daySeconds - ((Date.now() / 1_000) % daySeconds)));
}

/** The day `days` before; days are written `2026-11-22`. */
export function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - days * 86_400_000).toISOString().slice(0, 10);
}
