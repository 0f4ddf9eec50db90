/** @jsxRuntime automatic @jsxImportSource preact */
import { figures } from "../../../shared/page/figures.ts";
import type { DayStatus } from "../../status.ts";

const longMinutes = 60;
const looks = { none: "u0", up: "u1", partly: "u2", down: "u3" } as const;

function lookOf(minutesDown: number | undefined): keyof typeof looks {
  if (minutesDown === undefined) return "none";
  if (minutesDown === 0) return "up";
  return minutesDown > longMinutes ? "down" : "partly";
}

/** A bar a day, and a sentence that says the same. */
export function Uptime({ days }: { days: readonly DayStatus[] }) {
  return (
    <>
      <svg class="uptime" viewBox={`0 0 ${days.length * 4 - 1} 32`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ day, minutesDown }, at) => (
          <g>
            <title>{`${day}: ${wordsOf(minutesDown)}`}</title>
            <rect class={looks[lookOf(minutesDown)]} x={at * 4} y={0} width={3} height={32} />
          </g>
        ))}
      </svg>
      <p class="vh">{sentenceOf(days)}</p>
    </>
  );
}

function wordsOf(minutesDown: number | undefined): string {
  if (minutesDown === undefined) return "no data";
  return minutesDown === 0 ? "no outage" : `${figures(minutesDown)} minutes down`;
}

function sentenceOf(days: readonly DayStatus[]): string {
  const down = days.filter(({ minutesDown = 0 }) => minutesDown > 0);
  const unknown = days.filter(({ minutesDown }) => minutesDown === undefined).length;
  const outages = down.map(({ day, minutesDown }) => `${day}: ${wordsOf(minutesDown)}`).join(", ");
  return `${down.length === 0 ? "No outage" : outages}; no data of ${unknown} of ${days.length} days.`;
}
