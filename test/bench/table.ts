import { tableOf } from "../drills/report.ts";
import type { Figures } from "./load.ts";

/** One row: our figures beside a peer's from the same run, and the bar the ratio is held against. */
export interface Row {
  readonly what: string;
  readonly inFlight: number;
  readonly ours: Figures;
  readonly peer: Figures;
  readonly peerName: string;
  readonly wanted: number;
}

export function printTable(title: string, rows: readonly Row[]): void {
  const cells = rows.map(({ what, inFlight, ours, peer, peerName, wanted }) => [
    what,
    String(inFlight),
    describe(ours),
    `${describe(peer)}  ${peerName}`,
    `${(ours.perSecond / peer.perSecond).toFixed(2)}×`,
    `≥ ${wanted}×`,
  ]);
  const header = ["what", "in flight", "ours: per second, p50, p95, succeeded", "peer", "ratio", "wanted"];
  process.stdout.write(`\n${title}\n${tableOf(header, cells)}`);
}

function describe({ perSecond, p50Ms, p95Ms, succeeded, calls }: Figures): string {
  return `${perSecond.toFixed(0)}/s ${p50Ms.toFixed(1)} ms ${p95Ms.toFixed(1)} ms ${succeeded}/${calls}`;
}
