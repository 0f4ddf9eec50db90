import sharp from "sharp";
import { expect, test } from "vitest";
import { keepImages } from "../../../marketplace/connectors/keep-image.ts";
import { Files } from "../../../marketplace/files/files.ts";
import type { FileStore } from "../../../marketplace/files/store.ts";
import type { Database } from "../../../shared/postgres.ts";

test("pictures that wait to be kept hold a share of the memory, an agent's no other account's", async () => {
  let isOpen = false;
  const opened: Array<() => void> = [];
  const store: FileStore = {
    put: () => (isOpen ? Promise.resolve() : new Promise((resolve) => opened.push(resolve))),
    open: async () => undefined,
    remove: async () => {},
  };
  const db = { query: async () => ({ rows: [] }) } as unknown as Database;
  const files = new Files({ db, store, publicUrl: "http://localhost", bytesPerAccount: 1 });
  const small = await sharp({ create: { width: 1, height: 1, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  const large = Buffer.concat([small, Buffer.alloc(9_000_000)]);
  const keep = (owner: string, picture: Buffer) =>
    keepImages(
      files,
      [picture],
      { ownerId: `acc_${owner}`, agentId: `agt_${owner}`, runId: "run_1" },
      AbortSignal.timeout(60_000),
    );

  let refused = 0;
  const asked = Array.from({ length: 40 }, () => keep("one", large));
  for (const one of asked) one.catch(() => (refused += 1));
  await expect.poll(() => refused).toBe(36);
  const other = keep("other", small);
  await expect.poll(() => opened.length).toBe(5);
  isOpen = true;
  for (const open of opened) open();
  expect(await other).toHaveLength(1);
  const ended = await Promise.allSettled(asked);
  expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(4);
  expect(await keep("one", large)).toHaveLength(1);
});
