import { type FairSemaphore, type Holder, NoPermitError } from "../../shared/fair-semaphore.ts";
import { busyText, ConnectorError, overtimeText } from "./result.ts";

/** Permits for a run, released by the function answered. Throws ConnectorError where the wait for them, or the run's time, ends without. */
export function permitFrom(
  semaphore: FairSemaphore,
  holder: Holder,
  signal: AbortSignal,
  permits = 1,
): Promise<() => void> {
  return semaphore.acquire(holder, signal, permits).catch((error: unknown) => {
    if (!(error instanceof NoPermitError)) throw error;
    throw new ConnectorError(signal.aborted ? overtimeText : busyText, { reason: error.message });
  });
}
