import { readdirSync, writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import workerpool from "workerpool";
import { vectorizeJob } from "./job.ts";

/**
 * A process that traces (worker-pool.ts), after whatever else wants its core: a tenth of that is left to it. At the
 * lowest priority there is it had a seventieth, and traces that were paid for met their deadline beside full cores.
 */
const priority = constants.priority.PRIORITY_BELOW_NORMAL;

if (process.platform === "linux") giveWayOnLinux();
else setPriority(priority);
workerpool.worker({ vectorizeJob });

/**
 * Linux weighs each thread by itself, the engine's helpers too, and, with autogroups on, first session against session: the
 * lowest thread of a session has as much of a core as a database's only process (sched(7), "The autogroup feature").
 */
function giveWayOnLinux(): void {
  const tryTo = (lower: () => void) => {
    try {
      lower();
    } catch {
      // A kernel without autogroups, a thread that has ended: the rest still counts.
    }
  };
  for (const thread of readdirSync("/proc/self/task")) tryTo(() => setPriority(Number(thread), priority));
  tryTo(() => writeFileSync("/proc/self/autogroup", String(priority)));
}
