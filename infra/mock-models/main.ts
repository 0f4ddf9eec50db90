import { EnvReader } from "../../shared/env.ts";
import { runUntilSignal } from "../../shared/process.ts";
import { startMockModels } from "./server.ts";

await runUntilSignal(async () => {
  const env = new EnvReader(process.env);
  const port = env.integer("MODEL_STAND_IN_PORT", 4030, { max: 65_535 });
  const apiKey = env.optional("MODEL_STAND_IN_API_KEY");
  env.finish("model stand-in");
  const standIn = await startMockModels({ port, ...(apiKey ? { apiKey } : {}) });
  process.stdout.write(`Model stand-in (no model behind it) at ${standIn.baseUrl}\n`);
  return { stop: () => standIn.stop() };
});
