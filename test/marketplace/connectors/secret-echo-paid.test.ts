import { expect } from "vitest";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { SecretSearch } from "../../../marketplace/agents/secret-search.ts";
import { paidTest } from "../../support/fixtures.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { part, perFile } from "../../support/part.ts";
import { payQuote, post } from "../../support/pay-call.ts";

const secret = "sk-Paid/For+9911";
let echoes = true;
const test = paidTest()
  .extend(
    "upstream",
    perFile,
    part(() =>
      startHttpServer((request, response) => {
        response.end(echoes ? JSON.stringify(request.headers) : '{"fine":true}');
      }),
    ),
  )
  .extend("options", perFile, ({ upstream }) => ({ env: { OUTBOUND_ALLOW_HOSTS: upstream.host } }));

test("a paid call whose answer holds a secret is not settled, keeps nothing of it, and is made again with the same proof", async ({
  paid,
  upstream,
}) => {
  const { address } = await publishAgent(paid.marketplace.context, paid.market.creator, "leaky", {
    name: "Leaky",
    description: "Its service echoes.",
    connector: "http-api",
    price_credits: 5,
    settings: { url: `${upstream.url}/`, headers: { "X-Key": "{{secret.key}}" } },
    secrets: { key: secret },
  });
  const url = `${paid.marketplace.url}/api/agent/${address}`;
  const proof = await payQuote(paid, "evm", await post(url));
  const leaked = await post(url, { proof });
  expect(leaked).toMatchObject({ status: 500, body: { success: false, charged: false } });
  const settled = "select count(*)::integer as settled from payments where state = 'settled'";
  expect((await paid.facilitator.context.db.query(settled)).rows[0].settled).toBe(0);
  const { rows: tables } = await paid.marketplace.context.db.query(
    "select tablename from pg_tables where schemaname = 'public'",
  );
  const kept: string[] = [];
  for (const { tablename } of tables) {
    const { rows } = await paid.marketplace.context.db.query(`select t::text as row from "${tablename}" t`);
    kept.push(...rows.map(({ row }) => row));
  }
  const said = [JSON.stringify(leaked.body), ...kept, ...paid.marketplace.lines].join("\n");
  expect(await new SecretSearch([secret]).isIn(said)).toBe(false);
  echoes = false;
  expect(await post(url, { proof })).toMatchObject({ status: 200, body: { output: { data: { fine: true } } } });
});
