import { expect, test } from "vitest";
import {
  AgentMarketplace,
  type AgentMarketplaceOptions,
  NotPaidError,
  OutcomeUnknownError,
  PaymentRefusedError,
  RunFailedError,
  type SignedPayment,
} from "../../client/agent-marketplace.ts";
import { encodeHeader } from "../../client/payments/quote.ts";
import { usdcOn } from "../../client/payments/stablecoins.ts";

type Asked = { readonly path: string; readonly method: string; readonly headers: Headers };
type Answers = (asked: Asked) => Response | Promise<Response>;

const json = (status: number, body: object, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
const lost = (): never => {
  throw new TypeError("fetch failed");
};

/** A client of a service that answers as told. */
function clientOf(answers: Answers, options: AgentMarketplaceOptions = {}) {
  const fetch = async (address: string | URL | Request, init: RequestInit = {}) => {
    const { pathname, search } = new URL(String(address));
    return answers({ path: pathname + search, method: init.method ?? "GET", headers: new Headers(init.headers) });
  };
  return new AgentMarketplace({ baseUrl: "https://market.example", fetch, maxRetries: 1, ...options });
}

const wallets = { evm: { address: `0x${"1b".repeat(20)}`, signTypedData: async () => `0x${"5c".repeat(65)}` } };
const network = "eip155:84532";
const accepts = [
  {
    ...{ scheme: "exact", network, asset: usdcOn[network], amount: "50000", payTo: `0x${"5a".repeat(20)}` },
    ...{ maxTimeoutSeconds: 180, extra: { name: "USDC", version: "2" } },
  },
];
const quote = () =>
  json(402, { error: "It costs 0.05." }, { "payment-required": encodeHeader({ resource: {}, accepts }) });
const call = { agent: "ada/echo", input: {}, max_usd: "0.05" };

function memory() {
  const kept = new Map<string, SignedPayment>();
  const store = {
    load: (id: string) => kept.get(id),
    save: (payment: SignedPayment) => void kept.set(payment.id, payment),
    remove: (id: string) => void kept.delete(id),
  };
  return { kept, store };
}

const errorOf = (work: Promise<unknown>) => work.then(() => undefined).catch((thrown: unknown) => thrown);

test("a payment that is over makes no room for a third one beside a later payment of the same purchase", async () => {
  const { kept, store } = memory();
  let refuses = false;
  const { pay } = clientOf(
    ({ path, headers }) => {
      if (path.startsWith("/api/payments?")) return json(200, { state: "unseen" });
      if (!headers.has("payment-signature")) return quote();
      return refuses ? json(402, { error: "already_settled: It was used." }) : lost();
    },
    { wallets, store, maxRetries: 0 },
  );
  const first = (await errorOf(pay.run(call))) as OutcomeUnknownError;
  for (const payment of kept.values()) kept.set(payment.id, { ...payment, endsAt: new Date(0).toISOString() });
  const second = (await errorOf(pay.run(call))) as OutcomeUnknownError;
  expect(second.payment?.header).not.toBe(first.payment?.header);
  refuses = true;
  expect(await errorOf(pay.repeat(first.payment!))).toBeInstanceOf(PaymentRefusedError);
  expect([...kept.values()]).toEqual([second.payment]);
});

test("credits that are bought for one account are not paid for with the open payment of another", async () => {
  const { kept, store } = memory();
  const posted: string[] = [];
  const buyWith = (key: string) =>
    errorOf(
      clientOf(
        ({ headers }) => {
          if (!headers.has("payment-signature")) return quote();
          posted.push(`${headers.get("authorization")} ${headers.get("payment-signature")}`);
          return lost();
        },
        { key, wallets, store, maxRetries: 0 },
      ).pay.credits({ credits: 5 }),
    );
  expect(await buyWith("amk_one")).toBeInstanceOf(OutcomeUnknownError);
  const refused = await buyWith("amk_two");
  expect(refused).toBeInstanceOf(NotPaidError);
  expect(refused).toMatchObject({ charged: "unknown", payment: [...kept.values()][0] });
  expect(await buyWith("amk_one")).toBeInstanceOf(OutcomeUnknownError);
  expect([kept.size, new Set(posted).size, posted.length]).toEqual([1, 1, 2]);
  expect(JSON.stringify([...kept.values()])).not.toContain("amk_one");
});

test("what one wallet bought is not handed to another that shares its store", async () => {
  const { kept, store } = memory();
  const posted: (string | null)[] = [];
  const other = { evm: { ...wallets.evm, address: `0x${"2C".repeat(20)}` } };
  const buyWith = (payers: AgentMarketplaceOptions["wallets"]) =>
    errorOf(
      clientOf(
        ({ headers }) => {
          if (!headers.has("payment-signature")) return quote();
          posted.push(headers.get("payment-signature"));
          return lost();
        },
        { wallets: payers, store, maxRetries: 0 },
      ).pay.run(call),
    );
  expect(await buyWith(wallets)).toBeInstanceOf(OutcomeUnknownError);
  const [open] = kept.values();
  for (const payers of [other, { hedera: { accountId: "0.0.7" } as never }, {}]) {
    const refused = await buyWith(payers);
    expect(refused).toBeInstanceOf(NotPaidError);
    expect(refused).toMatchObject({ charged: "unknown", payment: open });
  }
  expect(posted.length).toBe(1);
  const spelt = { evm: { ...wallets.evm, address: wallets.evm.address.toUpperCase().replace("0X", "0x") } };
  expect(await buyWith(spelt)).toBeInstanceOf(OutcomeUnknownError);
  expect([kept.size, new Set(posted).size, posted.length]).toEqual([1, 1, 2]);
});

test("of two callers of the same purchase the one that gives up does not end it for the other", async () => {
  const { kept, store } = memory();
  const first = new AbortController();
  let posts = 0;
  const { pay } = clientOf(
    async ({ headers }) => {
      // Longer than the other takes to find out what it buys.
      await crypto.subtle.digest("SHA-256", new Uint8Array(4_000_000));
      if (!headers.has("payment-signature")) return quote();
      posts += 1;
      if (posts > 1) return json(200, { success: true, output: {} });
      first.abort(new Error("The first gave up."));
      return lost();
    },
    { wallets, store },
  );
  const [given, other] = [errorOf(pay.run(call, { signal: first.signal })), pay.run(call)];
  expect(await given).toBeInstanceOf(OutcomeUnknownError);
  expect(await other).toMatchObject({ success: true });
  expect([posts, kept.size]).toEqual([2, 0]);
});

test("who gives up a purchase that another caller makes waits for it no longer, and is told of its payment", async () => {
  const { kept, store } = memory();
  const second = new AbortController();
  let answer = (_: Response) => {};
  const answered = new Promise<Response>((resolve) => {
    answer = resolve;
  });
  let hasPosted = () => {};
  const posted = new Promise<void>((resolve) => {
    hasPosted = resolve;
  });
  const { pay } = clientOf(
    ({ headers }) => {
      if (!headers.has("payment-signature")) return quote();
      hasPosted();
      return answered.then((response) => response.clone());
    },
    { wallets, store },
  );
  const first = pay.run(call);
  const given = errorOf(pay.run(call, { signal: second.signal }));
  await posted;
  second.abort(new Error("The second gave up."));
  expect(await given).toMatchObject({
    name: "OutcomeUnknownError",
    payment: [...kept.values()][0],
    cause: second.signal.reason,
  });
  answer(json(200, { success: true, output: {} }));
  expect(await first).toMatchObject({ success: true });
  const early = new AbortController();
  early.abort(new Error("Before anything was sent."));
  const waiting = pay.run(call);
  expect(await errorOf(pay.run(call, { signal: early.signal }))).toBe(early.signal.reason);
  await waiting;
});

test("what no request can be made of is refused as that, and not told as a request whose answer was lost", async () => {
  let asked = 0;
  const answers = () => {
    asked += 1;
    return lost();
  };
  for (const idempotencyKey of ["ключ", "", "a\nb", "a".repeat(256)]) {
    const error = await errorOf(clientOf(answers).run({ agent: "ada/echo", input: {} }, { idempotencyKey }));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain("idempotencyKey");
  }
  expect(() => clientOf(answers, { key: "ключ" })).toThrow("key must be");
  expect(() => clientOf(answers, { session: "a=ключ" })).toThrow("session must be");
  for (const baseUrl of ["localhost:4020", "ftp://a.example", "https://me:secret@a.example"]) {
    expect(() => clientOf(answers, { baseUrl })).toThrow(/^The service's address must be like https/);
  }
  expect(asked).toBe(0);
  // A key that was read from a file has the end of its line.
  expect(await errorOf(clientOf(answers, { key: "amk_x\n" }).balance())).toMatchObject({ charged: false });
});

test("a call that was led elsewhere after its answer was lost is not told as free of charge", async () => {
  let posts = 0;
  const market = clientOf(() => {
    posts += 1;
    return posts === 1 ? lost() : new Response(null, { status: 302, headers: { location: "https://portal.example/" } });
  });
  const error = await errorOf(market.run({ agent: "ada/echo", input: {} }));
  expect(error).toBeInstanceOf(OutcomeUnknownError);
  expect(error).toMatchObject({ charged: "unknown", idempotencyKey: expect.any(String) });
  const named = await errorOf(market.run({ agent: "ada/echo", input: {} }, { idempotencyKey: "mine" }));
  expect(named).toMatchObject({ charged: "unknown", idempotencyKey: "mine" });
  const first = await errorOf(market.run({ agent: "ada/echo", input: {} }));
  expect(first).toMatchObject({ charged: false, status: 302 });
});

test.each(["running", "succeeded"])("a run whose record says %s by now is not told as failed", async (state) => {
  const market = clientOf(({ method }) =>
    method === "POST"
      ? json(200, { success: false, run_id: "run_1", error: "Its chain has not told yet." })
      : json(200, { run_id: "run_1", state }),
  );
  const error = await errorOf(market.run({ agent: "ada/echo", input: {} }));
  expect(error).toBeInstanceOf(OutcomeUnknownError);
  expect(error).toMatchObject({ charged: "unknown", idempotencyKey: expect.any(String) });
});

test.each(["failed", "lost"])("a run whose record says %s failed", async (state) => {
  const market = clientOf(({ method }) =>
    method === "POST" ? json(200, { success: false, run_id: "run_1", error: "No." }) : json(200, { state }),
  );
  expect(await errorOf(market.run({ agent: "ada/echo", input: {} }))).toBeInstanceOf(RunFailedError);
});

test("a drawing that was begun, and whose end the service does not know, is not told as free of charge", async () => {
  const body = { error: "The end is not known yet.", run_id: "run_1", charged: "unknown" };
  const market = clientOf(() => json(503, body, { "retry-after": "0" }), { key: "amk_test", maxRetries: 0 });
  expect(await errorOf(market.svg.generate({ prompt: "A leaf." }))).toMatchObject({ status: 503, charged: "unknown" });
});
