import type { ServerResponse } from "node:http";
import { expect } from "vitest";
import { marketTest } from "../../support/fixtures.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { run, seedMarket, type TestMarketplace, until } from "../../support/marketplace.ts";
import { part, perFile } from "../../support/part.ts";

const slowToken = "0.0.666";
const held: ServerResponse[] = [];
let isSlow = true;
const test = marketTest()
  .extend(
    "mirror",
    perFile,
    part(() =>
      startHttpServer((request, response) => {
        if (isSlow && request.url?.endsWith(slowToken)) held.push(response);
        else response.writeHead(404).end();
      }),
    ),
  )
  .extend("options", perFile, ({ mirror }) => ({ env: { HEDERA_MIRROR: mirror.url } }));

const audits = (market: TestMarketplace) =>
  seedMarket(market.context, {
    price: 0,
    agent: {
      connector: "token-audit",
      fields: [{ name: "token", type: "string" }],
      settings: { network: "hedera:testnet" },
    },
  });

test("one account's reads that the mirror answers slowly keep no other account's waiting", async ({ market }) => {
  const [one, other] = [await audits(market), await audits(market)];
  let ended = 0;
  const slow = Array.from({ length: 100 }, () =>
    run(market, one.key, one.agent.address, { token: slowToken }).finally(() => {
      ended += 1;
    }),
  );
  await until(() => held.length > 0);
  const { body } = await run(market, other.key, other.agent.address, { token: "0.0.777" });
  expect(body.error).toBe("There is no such token on the chain.");
  expect(ended).toBe(0);
  isSlow = false;
  for (const response of held) response.writeHead(404).end();
  for (const { body } of await Promise.all(slow)) expect(body.error).toBe("There is no such token on the chain.");
});
