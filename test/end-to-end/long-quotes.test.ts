import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Agent, request } from "undici";
import { expect } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { paidTest } from "../support/fixtures.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { decodeHeader } from "../support/pay-call.ts";

const test = paidTest();

/** What nginx takes of one header, the least of the usual limits. */
const headerMax = 8_192;

const text = { name: "text", type: "text", required: true };
const story = {
  ...text,
  description: "What is to be told.",
  max_length: 20_000,
  example: "once upon a time ".repeat(700),
};
const manyFields = Array.from({ length: 50 }, (_, index) => ({
  ...text,
  name: `field_${index}`,
  label: `The field that is number ${index}`,
  description: "Says at length what belongs here. ".repeat(10),
}));
const described = manyFields.slice(0, 12);
const picture = { name: "picture", type: "image", required: true };

async function publish(paid: PaidMarket, slug: string, fields: readonly object[]): Promise<string> {
  const { context, url } = paid.marketplace;
  const definition = {
    name: "Long",
    description: "长".repeat(500),
    connector: "llm",
    price_credits: 5,
    fields,
    accepts_extra_instructions: false,
  };
  const { address } = await publishAgent(context, paid.market.creator, slug, {
    ...definition,
    settings: { prompt: "Tell." },
  });
  return `${url}/api/agent/${address}`;
}

test("an agent with a long example is bought by a stock client", async ({ paid }) => {
  const url = await publish(paid, "story", [story]);
  const payingFetch = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: "eip155:84532", client: new ExactEvmScheme(await paid.setting.fundedBuyer()) }],
    spendControls: { allowedAssets: [{ network: "eip155:84532", asset: paid.setting.chain.usdc }] },
  });
  const headers = { "content-type": "application/json" };
  const answer = await payingFetch(url, { method: "POST", headers, body: JSON.stringify({ text: "A short one." }) });
  expect(answer.status).toBe(200);
});

test.for([
  {
    what: "a long example",
    fields: [story],
    told: ["text"],
    example: { text: expect.stringMatching(/^once upon a time [a-z ]{83}$/) },
  },
  {
    what: "an example of characters that are two units each",
    fields: [{ ...story, example: `a${"😀".repeat(4_000)}` }],
    told: ["text"],
    example: { text: `a${"😀".repeat(99)}` },
  },
  {
    what: "a long example that has a pattern",
    fields: [{ ...text, pattern: "^x+$", example: "x".repeat(1_000) }],
    told: ["text"],
    example: { text: "x".repeat(1_000) },
  },
  {
    what: "a picture as its example",
    fields: [{ ...picture, example: `data:image/png;base64,${"A".repeat(180_000)}` }],
    told: ["picture"],
    example: { picture: "https://example.com/" },
  },
  {
    what: "fields that are described at length",
    fields: described,
    told: described.map(({ name }) => name),
    example: expect.objectContaining({ field_0: "The field that is number 0" }),
  },
  { what: "more fields than there is room for", fields: manyFields, told: [], example: {} },
])("a quote with $what fits in a header", async ({ what, fields, told, example }, { paid }) => {
  const url = await publish(paid, what.replaceAll(/\W+/g, "-").slice(0, 40), fields);
  const { quote, body, headerLength } = await quoteOf(url);
  expect(headerLength).toBeLessThanOrEqual(headerMax);
  expect(Buffer.byteLength(body)).toBeLessThan(65_536);
  const { info, schema } = quote.extensions.bazaar;
  expect(new Ajv2020({ strict: false, validateFormats: false }).validate(schema, info)).toBe(true);
  expect(info.input.body).toEqual(example);
  expect(Object.keys(schema.properties.input.properties.body.properties ?? {})).toEqual(told);
});

/** Over a connection that reads headers of any length. */
async function quoteOf(url: string) {
  const dispatcher = new Agent({ maxHeaderSize: 4_194_304 });
  const { headers, body } = await request(url, { method: "POST", dispatcher });
  const header = String(headers["payment-required"]);
  const quoted = { quote: decodeHeader(header), body: await body.text(), headerLength: header.length };
  await dispatcher.close();
  return quoted;
}
