import { listen } from "../shared/http.ts";
import { Disposer, runUntilSignal } from "../shared/process.ts";
import { createContext } from "./compose.ts";
import { readConfig } from "./config.ts";
import { startJobs } from "./jobs.ts";
import { createServer } from "./server.ts";
import { stopTimeoutMs } from "./time-limits.ts";

await runUntilSignal(async () => {
  const config = readConfig(process.env);
  const context = await createContext(config);
  const disposer = new Disposer();
  disposer.add(() => context.stop());
  try {
    const jobs = startJobs(context);
    disposer.add(() => jobs.stop());
    const listening = await listen(createServer(context), config);
    disposer.add(() => listening.stop());
    context.events.started({ url: listening.url, doubts: config.doubts });
    return { leave: () => listening.leave(config.drainMs), stop: () => disposer.stop() };
  } catch (error) {
    await disposer.stop();
    throw error;
  }
}, stopTimeoutMs);
