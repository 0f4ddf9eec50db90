import type { IncomingMessage, ServerResponse } from "node:http";
import { afterEach, expect } from "vitest";
import { marketTest } from "../../support/fixtures.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { run, seedMarket, type TestMarketplace, until } from "../../support/marketplace.ts";
import { part, perFile } from "../../support/part.ts";

const tokens = {
  "hedera:testnet": { slow: "0.0.666", other: "0.0.777", absent: "There is no such token on the chain." },
  "eip155:84532": {
    slow: `0x${"6".repeat(40)}`,
    other: `0x${"7".repeat(40)}`,
    absent: "There is no contract at this address.",
  },
};
const slowTokens = Object.values(tokens).map(({ slow }) => slow);

let held: Array<() => void> = [];
let isSlow = true;
afterEach(() => {
  [held, isSlow] = [[], true];
});
/** A mirror and a node at once, on whose chains no token is. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let asked = request.url ?? "";
  for await (const chunk of request) asked += chunk;
  const end = () => {
    if (request.method === "GET") response.writeHead(404).end();
    else response.setHeader("content-type", "application/json").end('{"jsonrpc":"2.0","id":1,"result":"0x"}');
  };
  if (isSlow && slowTokens.some((token) => asked.includes(token))) held.push(end);
  else end();
}

const test = marketTest()
  .extend(
    "chains",
    perFile,
    part(() => startHttpServer(answer)),
  )
  .extend("options", perFile, ({ chains }) => ({
    env: { HEDERA_MIRROR: chains.url, EVM_RPC_URLS: `eip155:84532=${chains.url}` },
  }));

const audits = (market: TestMarketplace, network: string) =>
  seedMarket(market.context, {
    price: 0,
    agent: { connector: "token-audit", fields: [{ name: "token", type: "string" }], settings: { network } },
  });

test.for(Object.entries(tokens))(
  "one account's slow reads of %s are few at a time, and keep no other account's waiting",
  async ([network, { slow, other, absent }], { market }) => {
    const [one, two] = [await audits(market, network), await audits(market, network)];
    let ended = 0;
    const runs = Array.from({ length: 100 }, () =>
      run(market, one.key, one.agent.address, { token: slow }).finally(() => {
        ended += 1;
      }),
    );
    await until(() => held.length > 0);
    const { body } = await run(market, two.key, two.agent.address, { token: other });
    expect(body.error).toBe(absent);
    expect(ended).toBe(0);
    expect(held.length).toBeLessThanOrEqual(8);
    isSlow = false;
    for (const end of held) end();
    for (const { body } of await Promise.all(runs)) expect(body.error).toBe(absent);
  },
);
