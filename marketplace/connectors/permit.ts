import { type FairSemaphore, type Holder, NoPermitError } from "../../shared/fair-semaphore.ts";
import { busyText, ConnectorError } from "./result.ts";

/** A permit for a run, released by the function answered. Throws ConnectorError where the wait for it ends without one. */
export function permitFrom(semaphore: FairSemaphore, holder: Holder, signal: AbortSignal): Promise<() => void> {
  return semaphore.acquire(holder, signal).catch((error: unknown) => {
    throw error instanceof NoPermitError ? new ConnectorError(busyText, { reason: error.message }) : error;
  });
}
