import { createClient } from "@redis/client";
import type { Secret } from "./env.ts";

export type ValkeyClient = ReturnType<typeof connect>;

/** Goes on trying to connect until it is destroyed; what is asked meanwhile is refused at once. */
export function connect(url: Secret) {
  const client = createClient({
    url: url.reveal(),
    disableOfflineQueue: true,
    commandsQueueMaxLength: 10_000,
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: 2_000, reconnectStrategy: (tries) => Math.min(50 * 2 ** tries, 1_000) },
  });
  // What it leads to is said once: that counting together has ended.
  client.on("error", () => {});
  client.connect().catch(() => {});
  return client;
}
