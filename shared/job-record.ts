/** How the background jobs of this copy of a service go, for its status and its figures. */
export class JobRecord {
  readonly #jobs = new Map<string, { everyMs: number; lastEndedAt: number; failing: boolean }>();

  /** A job that will run every so often. */
  begun(name: string, everyMs: number, nowMs = Date.now()): void {
    this.#jobs.set(name, { everyMs, lastEndedAt: nowMs, failing: false });
  }

  ended(name: string, outcome: "done" | "failed", nowMs = Date.now()): void {
    const job = this.#jobs.get(name);
    if (!job) return;
    job.failing = outcome === "failed";
    job.lastEndedAt = nowMs;
  }

  read(nowMs = Date.now()): JobState[] {
    return [...this.#jobs].map(([name, { everyMs, lastEndedAt, failing }]) => {
      const isLate = nowMs - lastEndedAt > everyMs + graceMs;
      return { name, state: failing ? "failing" : isLate ? "late" : "ok", lastEndedAt: new Date(lastEndedAt) };
    });
  }
}

export interface JobState {
  readonly name: string;
  /** `failing`: its last run failed. `late`: none has ended since long before the next was due. */
  readonly state: "ok" | "failing" | "late";
  /** When its last run ended; where none has yet, when the service started. */
  readonly lastEndedAt: Date;
}

const graceMs = 120_000;
