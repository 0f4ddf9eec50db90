/** @jsxRuntime automatic @jsxImportSource preact */
const dayFormat = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});
const clockFormat = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZone: "UTC",
});

/** A moment, in UTC: `22 Nov 2026`, with the clock `22 Nov 2026, 10:12:31 UTC`, or how long ago. */
export function Time({ at, show = "day", now = new Date() }: TimeProps) {
  const moment = typeof at === "string" ? new Date(at) : at;
  return (
    <time datetime={moment.toISOString()} title={show === "moment" ? undefined : momentOf(moment)}>
      {show === "ago" ? agoOf(moment, now) : show === "moment" ? momentOf(moment) : dayFormat.format(moment)}
    </time>
  );
}

interface TimeProps {
  readonly at: Date | string;
  readonly show?: "day" | "moment" | "ago";
  readonly now?: Date;
}

/** `22 Nov 2026, 10:12:31 UTC`. */
export function momentOf(moment: Date): string {
  return `${dayFormat.format(moment)}, ${clockFormat.format(moment)} UTC`;
}

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

function agoOf(moment: Date, now: Date): string {
  const seconds = Math.max(0, (now.getTime() - moment.getTime()) / 1_000);
  for (const [unit, length] of units) {
    const count = Math.floor(seconds / length);
    if (count >= 1) return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}
