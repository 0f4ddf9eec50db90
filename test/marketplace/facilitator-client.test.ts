import { test as base, expect } from "vitest";
import { FacilitatorClient } from "../../marketplace/payments/facilitator/client.ts";
import { startHttpServer } from "../support/http-server.ts";
import { kept, part, perFile } from "../support/part.ts";

let asked: string[];
let answers: Array<{ status?: number; headers?: Record<string, string>; body: string }>;
const test = base
  .extend(
    "server",
    perFile,
    part(() =>
      startHttpServer((request, response) => {
        asked.push(request.url as string);
        const { status = 200, headers = {}, body } = answers.shift() ?? { body: "{}" };
        request.resume().on("end", () => response.writeHead(status, headers).end(body));
      }),
    ),
  )
  .extend("client", perFile, ({ server }, { onCleanup }) =>
    kept(new FacilitatorClient(`${server.url}/base/`), onCleanup),
  );

const answered = (...bodies: readonly string[]) => {
  asked = [];
  answers = bodies.map((body) => ({ body }));
};

test("a no and a yes are answers, under the path that was configured", async ({ client }) => {
  answered('{"isValid":false,"invalidReason":"x"}', '{"success":true,"transaction":"t"}');
  expect(await client.verify("{}")).toEqual({ isValid: false, invalidReason: "x" });
  expect(await client.settle("{}")).toEqual({ success: true, transaction: "t" });
  expect(asked).toEqual(["/base/verify", "/base/settle"]);
});

test.for<[string, string]>([
  ["no JSON", "<html>"],
  ["JSON of something else", '{"ok":true}'],
  ["longer than a megabyte", `{"isValid":true,"success":true,"payer":"${"x".repeat(1_000_000)}"}`],
  ["a text that cannot be stored", '{"isValid":true,"success":true,"payer":"0x\\u0000","transaction":"t"}'],
])("what is %s is no answer, and a settlement is asked about once more", async ([, body], { client }) => {
  answered(body, body, body);
  expect(await client.verify("{}")).toBeUndefined();
  expect(await client.settle("{}")).toBeUndefined();
  expect(asked).toEqual(["/base/verify", "/base/settle", "/base/settle"]);
});

test.for([401, 404, 429, 500, 503])(
  "an answer with status %i judges no payment, whatever its body says",
  async (status, { client }) => {
    asked = [];
    const body = '{"isValid":false,"success":false,"errorReason":"invalid_payload","invalidReason":"invalid_payload"}';
    answers = Array.from({ length: 3 }, () => ({ status, headers: { "retry-after": "17" }, body }));
    expect(await client.verify("{}")).toBeUndefined();
    expect(client.retryAfterSeconds).toBe(17);
    expect(await client.settle("{}")).toBeUndefined();
  },
);

test("what could not be asked on the chain, or comes too often for now, judges no payment", async ({ client }) => {
  answered(
    '{"isValid":false,"invalidReason":"unexpected_verify_error"}',
    ...Array(2).fill('{"success":false,"errorReason":"rate_limited"}'),
    ...Array(2).fill('{"success":false,"errorReason":"unexpected_settle_error"}'),
    ...Array(2).fill('{"success":false,"errorReason":"unexpected_verify_error"}'),
  );
  expect(await client.verify("{}")).toBeUndefined();
  for (let settled = 0; settled < 3; settled += 1) expect(await client.settle("{}")).toBeUndefined();
});

test("a network settles unless the facilitator says of every fee payer there that it does not", async ({ client }) => {
  const chains = [
    { network: "eip155:1", settling: false },
    { network: "eip155:8453", settling: false },
    { network: "eip155:8453", settling: true },
    { network: "hedera:testnet" },
  ];
  answered(JSON.stringify({ chains }));
  const networks = ["eip155:1", "eip155:8453", "hedera:testnet", "eip155:10"];
  expect(await Promise.all(networks.map((network) => client.settlesOn(network)))).toEqual([false, true, true, true]);
  expect(asked).toEqual(["/base/health"]);
});

test("that a settlement certainly sent nothing is told of the first question alone: what that did is not known by the second", async ({
  client,
}) => {
  asked = [];
  const body = '{"success":false,"errorReason":"unexpected_settle_error","sent":false,"error":"No gas money."}';
  const refused = { status: 503, headers: { "retry-after": "30" }, body };
  answers = [refused, { body: "<html>" }, refused, { status: 503, body: "<html>" }, { status: 200, body }];
  expect(await client.settle("{}")).toMatchObject({
    ...{ success: false, errorReason: "nothing_sent", errorMessage: "No gas money.", transaction: "" },
  });
  expect(asked).toHaveLength(1);
  expect(client.retryAfterSeconds).toBe(30);
  expect(await client.settle("{}")).toBeUndefined();
  expect(await client.settle("{}")).toBeUndefined();
  expect(await client.verify("{}")).toBeUndefined();
});
