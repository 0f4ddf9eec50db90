import { listen } from "../shared/http.ts";
import { Disposer, runUntilSignal } from "../shared/process.ts";
import { createContext } from "./compose.ts";
import { readConfig } from "./config.ts";
import { startJobs } from "./jobs.ts";
import { createServer } from "./server.ts";

await runUntilSignal(async (fail) => {
  const config = readConfig(process.env);
  const context = await createContext(config);
  const disposer = new Disposer();
  disposer.add(() => context.stop());
  try {
    // No reason not to start: an older version does not know what a newer one reads.
    if (config.unknownVariables.length > 0)
      context.log.warn(
        { variables: config.unknownVariables },
        "variables are named like settings of a network and are none",
      );
    for (const doubt of config.doubts) context.log.warn(doubt);
    // The start waits for no chain: this copy is ready once a network is there, and ends if one is configured wrongly.
    context.schemes.start(context.log).catch(fail);
    const jobs = startJobs(context);
    disposer.add(() => jobs.stop());
    const listening = await listen(createServer(context), config);
    disposer.add(() => listening.stop());
    context.log.info({ url: listening.url }, "Facilitator listening");
    const leave = () => {
      context.schemes.handOver(context.log);
      return listening.leave(config.drainMs);
    };
    return { leave, stop: () => disposer.stop() };
  } catch (error) {
    await disposer.stop();
    throw error;
  }
});
