import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { mkdir, rm, stat } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Request, Response } from "express";
import sharp from "sharp";
import { expect, onTestFinished, vi } from "vitest";
import { keepImages } from "../../marketplace/connectors/keep-image.ts";
import { fileEndpoints } from "../../marketplace/files/endpoints.ts";
import { Files } from "../../marketplace/files/files.ts";
import { FileSender } from "../../marketplace/files/send-file.ts";
import { type FileStore, storeAway } from "../../marketplace/files/store.ts";
import { type AccountId, newId, platformAccount } from "../../marketplace/ids.ts";
import { createApp, errorHandler, listen } from "../../shared/http.ts";
import { createLog } from "../../shared/log.ts";
import { marketTest } from "../support/fixtures.ts";
import {
  call,
  type Market,
  run,
  seedMarket,
  startMarketplace,
  type TestMarketplace,
  until,
} from "../support/marketplace.ts";
import { perFile } from "../support/part.ts";
import { watchRequests } from "../support/watched-requests.ts";

const megabyte = 1_000_000;

const test = marketTest().extend("options", perFile, ({ directory }) => ({ env: { FILES_DIR: directory } }));

async function keep(
  market: TestMarketplace,
  seeded: Market,
  directory: string,
  bytes: Buffer,
): Promise<{ url: string; onDisk: string; path: string }> {
  const kept = await market.context.tools.files.keep({ bytes, kind: "png", ownerId: seeded.creator.id });
  const path = new URL(kept).pathname;
  const name = path.slice("/files/".length);
  return { url: market.url + path, onDisk: join(directory, name.slice(0, 2), name), path };
}

test("a file is sent whole, with its length, its kind and a policy under which nothing runs", async ({
  market,
  seeded,
  directory,
}) => {
  const bytes = Buffer.from(Array.from({ length: 3 * megabyte }, (_one, n) => n % 251));
  const { url } = await keep(market, seeded, directory, bytes);
  const { status, headers } = await fetch(url, { method: "HEAD" });
  const served = await fetch(url);
  for (const one of [{ status, headers }, served]) {
    expect(one.status).toBe(200);
    expect(one.headers.get("content-type")).toBe("image/png");
    expect(one.headers.get("content-length")).toBe(String(bytes.length));
    expect(one.headers.get("content-security-policy")).toContain("sandbox");
  }
  expect(Buffer.from(await served.arrayBuffer()).equals(bytes)).toBe(true);
});

const picture = (width: number) =>
  sharp({ create: { width, height: 1, channels: 3, background: "red" } })
    .png()
    .toBuffer();

test("pictures of a run that fails after some of them were kept, or is over by then, are removed and take no room", async ({
  market,
  seeded,
}) => {
  const { db, tools } = market.context;
  const { files } = tools;
  const file = { ownerId: seeded.creator.id, agentId: seeded.agent.agentId, runId: newId("run") };
  const left = async () => {
    const { rows } = await db.query("select bytes from account_files where account_id = $1", [file.ownerId]);
    const kept = await files.list(file.ownerId, { limit: 10, offset: 0, agent: seeded.agent.address.split("/")[1] });
    return { room: Number(rows[0]?.bytes ?? 0), kept: kept.length };
  };
  const before = await left();
  const one = await picture(3);
  await expect(keepImages(files, [one, Buffer.from("none")], file, new AbortController().signal)).rejects.toThrow();
  expect(await left()).toEqual(before);
  const over = new AbortController();
  const keep = files.keep.bind(files);
  const kept = vi.spyOn(files, "keep").mockImplementation(async (asked) => {
    const url = await keep(asked);
    over.abort();
    return url;
  });
  onTestFinished(() => kept.mockRestore());
  await expect(keepImages(files, [one], file, over.signal)).rejects.toThrow("took too long");
  expect(await left()).toEqual(before);
});

test("a file that is made again while it is being removed is there afterwards", async ({ market, seeded }) => {
  const { db } = market.context;
  const stored = new Map<string, Uint8Array>();
  let isRemoving = false;
  let remove = () => {};
  const store: FileStore = {
    put: async (name, bytes) => void stored.set(name, bytes),
    open: async () => undefined,
    remove: (name) =>
      new Promise<void>((resolve) => {
        isRemoving = true;
        remove = () => {
          stored.delete(name);
          resolve();
        };
      }),
  };
  const files = new Files({ db, store, publicUrl: "https://market.example", bytesPerAccount: 1 });
  const made = { bytes: Buffer.from("the same"), kind: "png", ownerId: seeded.creator.id } as const;
  const unpaid = newId("run");
  await files.keep({ ...made, runId: unpaid });
  const removed = files.removeOf(unpaid);
  await until(() => isRemoving);
  const again = files.keep({ ...made, runId: newId("run") });
  const isWaiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await Promise.race([again, until(async () => ((await db.query(isWaiting)).rowCount ?? 0) > 0)]);
  remove();
  await removed;
  const name = (await again).split("/").at(-1)!;
  expect([...stored.keys()]).toEqual([name]);
  await expect(files.find(name)).resolves.toEqual({ contentType: "image/png", bytes: made.bytes.length });
});

test("a file that cannot be stored is not on record and takes no room", async ({ market, seeded }) => {
  const { db } = market.context;
  const store: FileStore = {
    put: () => Promise.reject(storeAway("full")),
    open: async () => undefined,
    remove: async () => {},
  };
  const files = new Files({ db, store, publicUrl: "https://market.example", bytesPerAccount: 1 });
  const made = { bytes: Buffer.from("lost"), kind: "png", ownerId: seeded.buyer.id, runId: newId("run") } as const;
  await expect(files.keep(made)).rejects.toMatchObject({ code: "unavailable" });
  expect(await files.list(made.ownerId, { limit: 10, offset: 0 })).toEqual([]);
  await expect(files.requireRoom(made.ownerId)).resolves.toBeUndefined();
});

test("who has the file is told so without its being read", async ({ market, seeded, directory }) => {
  const { url, onDisk } = await keep(market, seeded, directory, Buffer.from("a"));
  const etag = (await fetch(url)).headers.get("etag") as string;
  await rm(onDisk);
  expect((await fetch(url, { headers: { "if-none-match": etag } })).status).toBe(304);
  expect((await fetch(url)).status).toBe(404);
});

test("what a store answers in place of a file is not sent as it, nor read, nor cached for good", async ({
  market,
  seeded,
}) => {
  const kept = randomBytes(1_000);
  const [part, error] = [kept.subarray(0, 600), Buffer.from("<Error><Code>InternalError</Code></Error>")];
  let answer: { bytes?: number; sent: readonly Buffer[] } = { sent: [] };
  const store: FileStore = {
    put: async () => {},
    open: async () => ({ bytes: answer.bytes, stream: Readable.from(answer.sent, { objectMode: false }) }),
    remove: async () => {},
  };
  const { db } = market.context;
  const files = new Files({ db, store, publicUrl: "https://market.example", bytesPerAccount: 1 });
  const url = await files.keep({ bytes: kept, kind: "svg", ownerId: seeded.creator.id });
  const name = url.split("/").at(-1) as string;
  const app = createApp({ trustProxy: false });
  const [endpoint] = fileEndpoints({ tools: { files } });
  app.get("/files/:name", endpoint!.handler);
  app.use(errorHandler(createLog("test", "silent")));
  const server = await listen(app, { host: "127.0.0.1", port: 0 });
  onTestFinished(() => server.stop());
  const served = async (given: typeof answer) => {
    answer = given;
    const response = await fetch(`${server.url}/files/${name}`);
    const cached = response.headers.get("cache-control");
    const body = await response.arrayBuffer().then(
      (all) => all.byteLength,
      () => "cut off",
    );
    return [response.status, cached, body];
  };
  const forGood = "public, max-age=31536000, immutable";
  expect(await served({ bytes: 1_000, sent: [kept] })).toEqual([200, forGood, 1_000]);
  expect(await served({ sent: [kept] })).toEqual([200, forGood, 1_000]);
  expect((await served({ bytes: error.length, sent: [error] }))[0]).toBe(503);
  for (const sent of [[part], [kept, part]]) {
    const [status, , body] = await served({ sent });
    expect(status === 503 || body === "cut off").toBe(true);
  }
  const read = (given: typeof answer) => {
    answer = given;
    return files.read(name);
  };
  expect(await read({ sent: [kept] })).toEqual(kept);
  for (const sent of [[part], [error], [randomBytes(1_000)]]) {
    await expect(read({ sent })).rejects.toMatchObject({ code: "unavailable" });
  }
});

test("a store that does not work is 503 with Retry-After, and nothing keeps that answer", async ({
  market,
  seeded,
  directory,
}) => {
  const { url, onDisk } = await keep(market, seeded, directory, Buffer.from("b"));
  await rm(onDisk);
  // Opened, but never read.
  await mkdir(onDisk);
  const answer = await fetch(url);
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(answer.headers.get("cache-control")).toBe("no-store");
});

test("an account's files may hold so much together; another's and what is kept already have room", async ({
  directory,
}) => {
  const limited = await startMarketplace({ env: { FILES_DIR: directory, FILES_BYTES_PER_ACCOUNT: "20000" } });
  try {
    const { creator, buyer, key, agent } = await seedMarket(limited.context, {
      agent: { connector: "image-generator", settings: { prompt: "A picture of {{text}}" } },
    });
    const { files } = limited.context.tools;
    const keeping = (ownerId: AccountId, fill: number) =>
      files.keep({ bytes: Buffer.alloc(9_000, fill), kind: "png", ownerId });
    for (const fill of [1, 2, 2]) await keeping(creator.id, fill);
    // What was begun while there was room is kept, though it is more than that.
    await files.requireRoom(creator.id);
    await keeping(creator.id, 3);
    await expect(files.requireRoom(creator.id)).rejects.toMatchObject({ status: 409 });
    await keeping(creator.id, 1);
    await keeping(platformAccount, 3);
    await files.requireRoom(platformAccount);

    const drawn = limited.model.asked();
    const full = await run(limited, key, agent.address, { text: "a boat" });
    expect(full.body).toMatchObject({ success: false, credits_used: 0 });
    expect(full.body.error).toContain("its creator has to see to it");
    expect(limited.model.requests).toHaveLength(drawn);

    const red = sharp({ create: { width: 9, height: 9, channels: 3, background: "red" } });
    const image = `data:image/png;base64,${(await red.png().toBuffer()).toString("base64")}`;
    const vectorize = () => call(limited.url, "/api/v1/svg/vectorize", { key, body: { image } });
    expect((await vectorize()).status).toBe(200);
    const made = await files.list(buyer.id, { limit: 20, offset: 0 });
    const left = 20_000 - made.reduce((sum, { bytes }) => sum + bytes, 0);
    await files.keep({ bytes: Buffer.alloc(left), kind: "png", ownerId: buyer.id });
    expect((await vectorize()).status).toBe(409);
  } finally {
    await limited.stop();
  }
});

test("a file that is deleted gives its room back and answers 410 from then on, and is there again when it is made again", async ({
  market,
  seeded,
  directory,
}) => {
  const { db, tools } = market.context;
  const { creator, agent, buyer } = seeded;
  const made = { bytes: await picture(7), kind: "png", ownerId: creator.id, agentId: agent.agentId } as const;
  const room = async () =>
    Number((await db.query("select bytes from account_files where account_id = $1", [creator.id])).rows[0]?.bytes ?? 0);
  const before = await room();
  const url = await tools.files.keep({ ...made, runId: newId("run") });
  const name = url.slice(url.lastIndexOf("/") + 1);
  const remove = (ownerId: AccountId) => tools.files.delete(ownerId, name);
  await expect(remove(buyer.id)).rejects.toMatchObject({ status: 404 });
  // A buyer may have it for as long as their run is kept.
  await expect(remove(creator.id)).rejects.toMatchObject({ status: 409, message: expect.stringContaining("until 20") });
  const longAgo = "created_at = created_at - interval '31 days', made_again_at = made_again_at - interval '31 days'";
  await db.query(`update files set ${longAgo} where name = $1`, [name]);
  await tools.files.keep({ ...made, runId: newId("run") });
  await expect(remove(creator.id)).rejects.toMatchObject({ status: 409 });
  await db.query(`update files set ${longAgo} where name = $1`, [name]);
  await Promise.all([remove(creator.id), remove(creator.id)]);
  expect(await room()).toBe(before);
  const answer = await call(market.url, `/files/${name}`);
  expect([answer.status, answer.body.error]).toEqual([410, "This file has been deleted by its owner."]);
  await expect(stat(join(directory, name.slice(0, 2), name))).rejects.toMatchObject({ code: "ENOENT" });
  await expect(tools.files.setHidden(creator.id, name, true)).rejects.toMatchObject({ status: 404 });
  expect((await tools.files.list(creator.id, { limit: 50, offset: 0 })).map((file) => file.name)).not.toContain(name);

  await tools.files.keep({ ...made, runId: newId("run") });
  expect(await room()).toBe(before + made.bytes.length);
  expect((await fetch(`${market.url}/files/${name}`)).status).toBe(200);
  await expect(remove(creator.id)).rejects.toMatchObject({ status: 409 });
});

test("a file that is made again while it is being deleted is there afterwards", async ({ market, seeded }) => {
  const { db } = market.context;
  const stored = new Set<string>();
  let removing = () => {};
  const begun = new Promise<void>((resolve) => {
    removing = resolve;
  });
  let goOn = () => {};
  const store: FileStore = {
    put: async (name) => void stored.add(name),
    open: async () => undefined,
    remove: (name) =>
      new Promise<void>((resolve) => {
        goOn = () => {
          stored.delete(name);
          resolve();
        };
        removing();
      }),
  };
  const files = new Files({ db, store, publicUrl: "https://market.example", bytesPerAccount: 1 });
  const made = { bytes: Buffer.from("drawn twice"), kind: "png", ownerId: seeded.buyer.id } as const;
  const name = (await files.keep(made)).split("/").at(-1)!;
  const deleted = files.delete(made.ownerId, name);
  await begun;
  const again = files.keep({ ...made, runId: newId("run") });
  const isWaiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await until(async () => ((await db.query(isWaiting)).rowCount ?? 0) > 0);
  goOn();
  await Promise.all([deleted, again]);
  expect(stored.has(name)).toBe(true);
  await expect(files.find(name)).resolves.toEqual({ contentType: "image/png", bytes: made.bytes.length });
});

test("a deleted file that is made again and cannot be put stays deleted, and takes no room", async ({
  market,
  seeded,
}) => {
  const { db } = market.context;
  let isAway = false;
  const store: FileStore = {
    put: async () => {
      if (isAway) throw new Error("the store is away");
    },
    open: async () => undefined,
    remove: async () => {},
  };
  const files = new Files({ db, store, publicUrl: "https://market.example", bytesPerAccount: 1 });
  const made = { bytes: Buffer.from("drawn, deleted"), kind: "png", ownerId: seeded.buyer.id } as const;
  const name = (await files.keep(made)).split("/").at(-1)!;
  await files.delete(made.ownerId, name);
  const room = async () =>
    (await db.query("select bytes from account_files where account_id = $1", [made.ownerId])).rows[0]?.bytes;
  const before = await room();
  isAway = true;
  await expect(files.keep({ ...made, runId: newId("run") })).rejects.toThrow("the store is away");
  expect(await room()).toBe(before);
  await expect(files.find(name)).rejects.toMatchObject({ status: 410 });
});

test("a file that its own run makes again later can be fetched for as long from then on", async ({
  market,
  seeded,
}) => {
  const { db, tools } = market.context;
  const { creator, agent } = seeded;
  const bytes = await picture(23);
  const made = { bytes, kind: "png", ownerId: creator.id, agentId: agent.agentId, runId: newId("run") } as const;
  const name = (await tools.files.keep(made)).split("/").at(-1)!;
  await db.query("update files set created_at = created_at - interval '40 days' where name = $1", [name]);
  await tools.files.keep(made);
  await expect(tools.files.delete(creator.id, name)).rejects.toMatchObject({ status: 409 });
});

test("a file stays while the result of a call that paid for it waits for its buyer, however long", async ({
  market,
  seeded,
}) => {
  const { db, tools } = market.context;
  const [runId, key] = [newId("run"), `0x${randomBytes(32).toString("hex")}`];
  const made = { bytes: await picture(11), kind: "png", ownerId: seeded.creator.id, runId } as const;
  const url = await tools.files.keep({ ...made, agentId: seeded.agent.agentId });
  const name = url.slice(url.lastIndexOf("/") + 1);
  await db.query("update files set created_at = now() - interval '60 days' where name = $1", [name]);
  await db.query(
    `insert into paid_calls (network, payment_key, product, call_digest, requirements, run_id, output, result_at)
     values ('eip155:84532', $1, $2, '\\x00', '{}', $3, $4, now() - interval '60 days')`,
    [key, seeded.agent.agentId, runId, { images: [url] }],
  );
  const remove = () => tools.files.delete(seeded.creator.id, name);
  await expect(remove()).rejects.toMatchObject({ status: 409, message: expect.stringContaining("has still to fetch") });
  await db.query("update paid_calls set delivered_at = now() where payment_key = $1", [key]);
  await remove();
  await expect(tools.files.find(name)).rejects.toMatchObject({ status: 410 });
});

test("files that are asked for and not read take no memory", async ({ market, seeded, directory }) => {
  const { path } = await keep(market, seeded, directory, Buffer.alloc(8 * megabyte, 7));
  const get = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const before = process.memoryUsage().arrayBuffers;
  const { begun, stop } = watchRequests(path);
  onTestFinished(stop);
  const sockets: Socket[] = [];
  for (let one = 0; one < 40; one += 1) {
    const socket = connect(Number(new URL(market.url).port), "127.0.0.1").on("error", () => {});
    socket.pause().write(get.repeat(3));
    sockets.push(socket);
  }
  // Each connection has taken what it can hold, and no more is sent.
  let sent = 0;
  await until(() => {
    const sentBefore = sent;
    sent = begun.reduce((sum, { socket }) => sum + socket.bytesWritten, 0);
    return begun.length === 120 && sent === sentBefore && begun.every(({ socket }) => socket.writableLength > 0);
  });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(60 * megabyte);
  expect((await fetch(`${market.url}/health`)).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

test("thirty browsers behind one address have their six pictures each on their way", async () => {
  const { opened, ask, sockets, stop } = await startSending(new FileSender());
  for (let one = 0; one < 30 * 6; one += 1) ask("192.0.2.1");
  await expect.poll(() => opened.length).toBe(30 * 6);
  for (const socket of sockets) socket.destroy();
  await stop();
});

test("eight addresses may have all of their files on their way", async () => {
  const sender = new FileSender();
  let begun = 0;
  const open = () => {
    begun += 1;
    return new Promise<never>(() => {});
  };
  const response = () => new EventEmitter() as unknown as Response;
  const ask = (client: number) => sender.send({ ip: `192.0.2.${client}` } as Request, response(), {}, open);
  const refused: unknown[] = [];
  for (let one = 0; one < 8 * 256; one += 1) ask(one % 8).catch((error) => refused.push(error));
  await expect(ask(8)).rejects.toMatchObject({ status: 503 });
  expect([begun, refused]).toEqual([8 * 256, []]);
});

/** Serves files whose rest never comes. */
async function startSending(sender: FileSender) {
  const opened: Readable[] = [];
  const app = createApp({ trustProxy: "loopback" });
  const endless = () => new Readable({ read: () => {} });
  app.get("/file", (request, response) =>
    sender.send(request, response, {}, async () => {
      const stream = endless();
      stream.push("begun");
      opened.push(stream);
      return { bytes: undefined, stream };
    }),
  );
  app.use(errorHandler(createLog("test", "silent")));
  const files = await listen(app, { host: "127.0.0.1", port: 0 });
  const sockets: Socket[] = [];
  const ask = (from: string) => {
    const socket = connect(files.port, "127.0.0.1");
    socket.write(`GET /file HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\n\r\n`);
    sockets.push(socket);
    return socket;
  };
  return { opened, ask, sockets, url: files.url, stop: () => files.stop() };
}

test("an address may have so many files on their way, and each is closed when its client leaves", async () => {
  const { opened, ask, sockets, url, stop } = await startSending(new FileSender({ perAddress: 4, total: 6 }));
  const status = async (from: string) => {
    const { status, headers } = await fetch(`${url}/file`, { headers: { "x-forwarded-for": from } });
    expect(headers.get("retry-after")).toBe("5");
    return status;
  };
  for (let one = 0; one < 4; one += 1) ask("192.0.2.1");
  await expect.poll(() => opened.length).toBe(4);
  expect(await status("192.0.2.1")).toBe(429);
  for (let one = 0; one < 2; one += 1) ask("192.0.2.2");
  await expect.poll(() => opened.length).toBe(6);
  expect(await status("192.0.2.2")).toBe(503);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => opened.map(({ destroyed }) => destroyed)).toEqual(Array(6).fill(true));
  const again = ask("192.0.2.1");
  await once(again, "data");
  again.destroy();
  await stop();
});
