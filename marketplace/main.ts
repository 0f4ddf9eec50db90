import { listen } from "../shared/http.ts";
import { Disposer, runUntilSignal } from "../shared/process.ts";
import { readConfig } from "./config.ts";
import { createContext } from "./context.ts";
import { createServer } from "./server.ts";

/** A stop waits as long as the longest run may take. */
const stopTimeoutMs = 330_000;

await runUntilSignal(async () => {
  const config = readConfig(process.env);
  const context = await createContext(config);
  const disposer = new Disposer();
  disposer.add(() => context.stop());
  try {
    const listening = await listen(createServer(context), config);
    disposer.add(() => listening.stop());
    context.events.started({ url: listening.url });
  } catch (error) {
    await disposer.stop();
    throw error;
  }
  return disposer;
}, stopTimeoutMs);
