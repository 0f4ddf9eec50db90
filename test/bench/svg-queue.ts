import { availableParallelism } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import sharp from "sharp";
import { Pool } from "undici";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import type { Database } from "../../shared/postgres.ts";
import { type Figures, measure } from "./load.ts";
import { type Setting, seedBench, startSetting } from "./marketplace/setting.ts";
import { texture } from "./svg-images.ts";

/** What the tracer takes in, running and waiting, and a few that it must refuse; an account has eight places at most. */
const ordersAtOnce = availableParallelism() + 32 + 4;
const accounts = 6;
const rounds = 3;
const callsPerRound = 1_500;
const restMs = 4;

/**
 * How long the balance takes while the tracer has all it can take, beside the same service idle. Orders come as customers
 * send them, a photograph of two megapixels in base64 each, and whichever ends or is refused is followed by another; that
 * some are refused all the while shows that the queue is full.
 */
export async function benchSvgQueue(): Promise<void> {
  const setting = await startSetting();
  try {
    const service = await openService(setting);
    await measure(Array(500).fill(service.balance), 1);
    const idle = await balanceRounds(service);
    const orders = keepFull(service, JSON.stringify({ image: await photograph() }));
    while (orders.refused === 0) await pause(50);
    const [made, refused] = [orders.made, orders.refused];
    const full = await balanceRounds(service);
    process.stdout.write(
      `\nGET /balance, one caller, while the tracer queue is full\n` +
        `idle: ${describe(idle)}\nfull: ${describe(full)}; meanwhile ${orders.made - made} orders were made, ${orders.refused - refused} refused, ${orders.failed} failed\n` +
        `p99 full to idle: ${(full.p99Ms / idle.p99Ms).toFixed(2)}× (wanted ≤ 2×)\n`,
    );
    await orders.stop();
    await service.close();
  } finally {
    await setting.stop();
  }
}

async function openService(setting: Setting) {
  const { url, db } = await setting.database("svg_queue");
  const { key } = await seedBench(db);
  const keys = [key.token];
  for (let i = 1; i < accounts; i++) keys.push(await seedCustomer(db, `customer-${i}`));
  // The bench asks more often than a key may.
  await db.query("alter table api_keys drop constraint api_keys_rate_limit_per_minute_check");
  await db.query("update api_keys set rate_limit_per_minute = 100000000");
  await db.query("alter table accounts drop constraint accounts_calls_per_minute_max_check");
  await db.query("update accounts set calls_per_minute_max = 100000000");
  const origin = await setting.service(url);
  const pool = new Pool(origin, { connections: ordersAtOnce + 1, pipelining: 1, headersTimeout: 0 });
  let turn = 0;
  const ask = async (method: "GET" | "POST", path: string, body: string | null) => {
    const token = method === "GET" ? key.token : keys[turn++ % keys.length];
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await pool.request({ method, path, headers, body });
    await answer.body.dump();
    return answer.statusCode;
  };
  return {
    balance: async () => (await ask("GET", "/api/v1/balance", null)) === 200,
    order: (body: string) => ask("POST", "/api/v1/svg/vectorize", body),
    close: () => pool.close(),
  };
}

async function seedCustomer(db: Database, handle: string): Promise<string> {
  const { id: accountId } = await createAccount(db, { handle });
  await grant(db, { accountId, credits: credits(1_000_000_000n) });
  return (await createKey(db, { accountId, name: "bench" })).token;
}

type Service = Awaited<ReturnType<typeof openService>>;

/** The round in the middle by p99: these machines are noisy. */
async function balanceRounds({ balance }: Service): Promise<Figures> {
  const figures: Figures[] = [];
  for (let i = 0; i < rounds; i++) figures.push(await measure(Array(callsPerRound).fill(balance), 1, restMs));
  return figures.toSorted((a, b) => a.p99Ms - b.p99Ms)[rounds >> 1]!;
}

function keepFull({ order }: Service, body: string) {
  let open = true;
  const counts = { made: 0, refused: 0, failed: 0 };
  const customer = async () => {
    while (open) {
      const status = await order(body);
      if (status === 200) counts.made++;
      else if (status === 429) counts.refused++;
      else counts.failed++;
      // As Retry-After asks. A caller that was served orders again at once, so that no place stays empty.
      if (status !== 200) await pause(10_000);
    }
  };
  const customers = Array.from({ length: ordersAtOnce }, customer);
  return Object.assign(counts, {
    stop: () => {
      open = false;
      return Promise.all(customers);
    },
  });
}

async function photograph(): Promise<string> {
  const { width, height, rgba } = texture(1632, 1224);
  const jpeg = await sharp(rgba, { raw: { width, height, channels: 4 } })
    .jpeg({ quality: 85 })
    .toBuffer();
  return jpeg.toString("base64");
}

function describe({ p50Ms, p95Ms, p99Ms, succeeded, calls }: Figures): string {
  return `p50 ${p50Ms.toFixed(2)} p95 ${p95Ms.toFixed(2)} p99 ${p99Ms.toFixed(2)} ms, ${succeeded}/${calls} answered`;
}
