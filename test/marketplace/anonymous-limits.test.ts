import { describe, expect } from "vitest";
import { paidTest } from "../support/fixtures.ts";
import { type Answer, call, seedMarket, startMarketplace, type TestMarketplace } from "../support/marketplace.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { perFile } from "../support/part.ts";

const env = {
  LIMIT_QUOTES_PER_ADDRESS: "20",
  LIMIT_QUOTES_PER_OFFER: "600",
  LIMIT_FREE_CALLS_PER_ADDRESS: "10",
  LIMIT_FREE_CALLS_PER_AGENT: "25",
};

const test = paidTest({ env }).extend(
  "free",
  perFile,
  async ({ copy }) => (await seedMarket(copy.context, { price: 0 })).agent.address,
);

const post = (paid: PaidMarket, copy: TestMarketplace, n: number, address: string, agent: string) =>
  call(n % 2 ? copy.url : paid.marketplace.url, `/api/agent/${agent}`, {
    body: { text: "hello" },
    headers: { "x-forwarded-for": address },
  });

function holdsAt(limit: number, status: number, answers: readonly Answer[]): void {
  expect(answers.filter((answer) => answer.status === status)).toHaveLength(limit);
  for (const answer of answers) {
    if (answer.status === status) continue;
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(answer.body).toEqual({ error: expect.any(String) });
  }
}

const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

test("whatever is public has one limit an address, whether it is a price, a tool, a file or nothing at all", async ({
  paid,
}) => {
  const one = await startMarketplace({
    model: paid.marketplace.model,
    env: { ...env, LIMIT_PUBLIC_PER_ADDRESS: "30" },
  });
  try {
    const asked = [
      ["GET", "/health", undefined],
      ["GET", "/files/none.png", undefined],
      ["GET", "/llms.txt", undefined],
      ["POST", "/api/agent/nobody/nothing", {}],
      ["POST", "/api/x402/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }],
    ] as const;
    const ask = async (n: number, address: string) => {
      const [method, path, body] = asked[n % asked.length]!;
      const accept = "application/json, text/event-stream";
      const headers = { accept, "content-type": "application/json", "x-forwarded-for": address };
      const response = await fetch(one.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      await response.arrayBuffer();
      return response;
    };
    const answers = await times(50, (n) => ask(n, "203.0.113.50"));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
    expect(Number(answers.find(({ status }) => status === 429)?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await ask(0, "203.0.113.51")).status).toBe(200);
  } finally {
    await one.stop();
  }
});

describe("who shows no key and no payment", () => {
  test("may ask an address's number of prices a minute, over all copies", async ({ paid, copy }) => {
    holdsAt(20, 402, await times(45, (n) => post(paid, copy, n, "203.0.113.1", paid.address)));
    expect((await post(paid, copy, 0, "203.0.113.2", paid.address)).status).toBe(402);
  });

  test("is one customer in all of an IPv6 network", async ({ paid, copy }) => {
    holdsAt(20, 402, await times(45, (n) => post(paid, copy, n, `2001:db8:1:2::${n + 1}`, paid.address)));
  });

  test("may call free agents an address's number of times, and no agent more often than it bears", async ({
    paid,
    copy,
    free,
  }) => {
    holdsAt(10, 200, await times(30, (n) => post(paid, copy, n, "203.0.113.3", free)));
    holdsAt(15, 200, await times(60, (n) => post(paid, copy, n, `198.51.100.${n}`, free)));
  });

  test("of the tool server that takes payments is counted alike", async ({ paid, copy }) => {
    const [handle, slug] = paid.address.split("/");
    const ask = () =>
      fetch(`${copy.url}/api/x402/mcp`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "x-forwarded-for": "203.0.113.4",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: `${handle}--${slug}`, arguments: {} },
        }),
      }).then((answer) => answer.text());
    const answers = await times(30, ask);
    expect(answers.filter((text) => text.includes("accepts"))).toHaveLength(20);
    expect(answers.filter((text) => text.includes("Too many prices"))).toHaveLength(10);
  });
});

test("where a limit is high a copy counts a share of it by itself, and all copies keep the limit", async ({
  paid,
  copy,
}) => {
  const addresses = (n: number) => `192.0.2.${n % 250}`;
  const answers = await times(700, (n) => post(paid, copy, n, addresses(n), paid.address));
  const quoted = answers.filter(({ status }) => status === 402).length;
  // Earlier prices of the same minute count; what one copy has taken and not used the other lacks.
  expect(quoted).toBeLessThanOrEqual(600);
  expect(quoted).toBeGreaterThan(480);
});
