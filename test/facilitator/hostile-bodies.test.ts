import fc from "fast-check";
import { describe, expect } from "vitest";
import { documented } from "../support/documented.ts";
import { asV1, newBuyer, paymentBody } from "../support/evm-payments.ts";
import { type RunningFacilitator, startFacilitator } from "../support/facilitator.ts";
import { chainsTest } from "../support/fixtures.ts";
import { hederaProof, hederaTerms } from "../support/hedera-payments.ts";
import { kept, perFile } from "../support/part.ts";

const test = chainsTest()
  .extend("daemon", perFile, ({ forBoth }, { onCleanup }) =>
    kept(startFacilitator(forBoth).then(documented), onCleanup),
  )
  .extend("bodies", perFile, async ({ setting, ledger }) => {
    const evm = await paymentBody(await setting.fundedBuyer(), setting.terms);
    const terms = hederaTerms(ledger, ledger.accounts.feePayer.accountId);
    const proof = await hederaProof(ledger.accounts.buyer, terms, { url: "https://a.example.com" });
    return [evm, asV1(evm), { x402Version: 2, paymentPayload: proof, paymentRequirements: terms }];
  });

/** Values that are no text and pretend to be, or that no database keeps; as JSON text, for some cannot be written otherwise. */
const hostile = [
  '{"toString":1}',
  '{"toString":{"toString":1},"valueOf":null}',
  '{"toJSON":1,"length":3}',
  '{"__proto__":{"network":"eip155:84532"}}',
  '{"constructor":{"prototype":{}}}',
  "[]",
  '["eip155:84532"]',
  '[{"toString":1}]',
  "{}",
  "null",
  "true",
  "0",
  "-1",
  "1.5",
  "1e400",
  "9007199254740993",
  '""',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"hasOwnProperty"',
  '"\\u0000"',
  '"1\\u0000"',
  '"\\ud800"',
  '"\\udc00x"',
  '"0x\\u0000"',
  `"${"9".repeat(400)}"`,
  `"${"x".repeat(3_000)}"`,
  `${"[".repeat(60)}${"]".repeat(60)}`,
  `${'{"a":'.repeat(60)}1${"}".repeat(60)}`,
];

/** Every place in a value, the value itself first. */
function pathsIn(value: unknown, at: readonly string[] = []): ReadonlyArray<readonly string[]> {
  if (typeof value !== "object" || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, [...at, name]))];
}

/** The JSON of `value` with `text` at `path`, written by hand so that nothing of `text` is lost. */
function withAt(value: unknown, [name, ...rest]: readonly string[], text: string): string {
  if (name === undefined) return text;
  const entries = Object.entries(value as object).map(([key, inner]) => {
    return `${JSON.stringify(key)}:${key === name ? withAt(inner, rest, text) : JSON.stringify(inner)}`;
  });
  return `{${entries.join(",")}}`;
}

async function post(daemon: RunningFacilitator, verb: "verify" | "settle", body: string): Promise<void> {
  const { status, body: answer } = await daemon[verb](body);
  const said = JSON.stringify(answer);
  expect([200, 400, 413], `${verb} ${body.slice(0, 600)} → ${status} ${said}`).toContain(status);
  expect(said).not.toMatch(/\[object|Cannot convert|TypeError|undefined is not/);
  if (status === 400) expect(answer.error).toEqual(expect.any(String));
  else expect(verb === "verify" ? answer.isValid : answer.success).toEqual(expect.any(Boolean));
}

const kinds = ["EVM, version 2", "EVM, version 1", "Hedera"];

describe.each(kinds)("a payment on %s", (kind) => {
  test("with any hostile value at any place is refused or a 400, never a 5xx", async ({ daemon, bodies }) => {
    const body = bodies[kinds.indexOf(kind)]!;
    const made = pathsIn(body).flatMap((path) => hostile.map((text) => withAt(body, path, text)));
    for (let at = 0; at < made.length; at += 40) {
      const some = made.slice(at, at + 40);
      await Promise.all(some.map((one, index) => post(daemon, (at + index) % 4 === 0 ? "settle" : "verify", one)));
    }
    expect(made.length).toBeGreaterThan(500);
  });
});

test("what is made up of such values is never a 5xx either", async ({ daemon, bodies }) => {
  const anything = fc.oneof(
    fc.constantFrom(...hostile),
    fc.json({ depthSize: "small" }),
    fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
  );
  const place = fc
    .nat(2)
    .chain((index) => fc.record({ index: fc.constant(index), path: fc.constantFrom(...pathsIn(bodies[index])) }));
  await fc.assert(
    fc.asyncProperty(place, anything, fc.constantFrom("verify", "settle"), async ({ index, path }, text, verb) => {
      await post(daemon, verb as "verify" | "settle", withAt(bodies[index], path, text));
    }),
    { numRuns: 400 },
  );
});

test.for<[field: string, path: string[]]>([
  ["x402Version", ["x402Version"]],
  ["paymentPayload.x402Version", ["paymentPayload", "x402Version"]],
  ["paymentPayload.accepted.network", ["paymentPayload", "accepted", "network"]],
  ["paymentPayload.accepted.scheme", ["paymentPayload", "accepted", "scheme"]],
  ["paymentPayload.accepted.extra", ["paymentPayload", "accepted", "extra"]],
  ["paymentPayload.payload.signature", ["paymentPayload", "payload", "signature"]],
  ["paymentRequirements.network", ["paymentRequirements", "network"]],
  ["paymentRequirements.payTo", ["paymentRequirements", "payTo"]],
  ["paymentRequirements.amount", ["paymentRequirements", "amount"]],
])("a value of the wrong type at %s is a 400 that names it", async ([field, path], { daemon, bodies }) => {
  for (const text of ['{"toString":1}', "[1]", "true"]) {
    if (field.endsWith("extra") && text.startsWith("{")) continue;
    for (const verb of ["verify", "settle"] as const) {
      expect(await daemon[verb](withAt(bodies[0], path, text))).toMatchObject({ status: 400, body: { field } });
    }
  }
});

test("one caller's unstorable text takes no other caller's refusal out of the record", async ({ setting, daemon }) => {
  const { db } = daemon.context;
  const buyer = await setting.fundedBuyer();
  const payTo = newBuyer().address;
  const refused = async (amount: string) => {
    const body = await paymentBody(buyer, { ...setting.terms, payTo, amount: "10000" });
    const json = JSON.stringify(body).replaceAll('"amount":"10000"', `"amount":${amount}`);
    expect((await daemon.verify(json)).body).toMatchObject({ isValid: false });
  };
  const recorded = async () =>
    (await db.query("select from transactions where status = 'rejected' and pay_to = $1", [payTo])).rowCount;
  const amounts = ['"0"', '"1\\u0000"', '"\\ud800"', `"${"9".repeat(500)}"`, '"07"', '"\\u0000"', '"-1"', '""'];
  await Promise.all(amounts.map(refused));
  await expect.poll(recorded).toBe(amounts.length);
});

test("a row that the database will not have takes no other with it", async ({ setting, daemon }) => {
  const { db } = daemon.context;
  await db.query(
    "alter table transactions add constraint not_mine check (pay_to is distinct from '0x00000000000000000000000000000000000000aa')",
  );
  try {
    const buyer = await setting.fundedBuyer();
    const mine = "0x00000000000000000000000000000000000000aA";
    const others = newBuyer().address;
    const payTos = [mine.toLowerCase(), ...Array.from({ length: 6 }, () => others), mine.toLowerCase()];
    await Promise.all(
      payTos.map(async (payTo) => daemon.verify(await paymentBody(buyer, { ...setting.terms, payTo, amount: "0" }))),
    );
    const recorded = async () => (await db.query("select from transactions where pay_to = $1", [others])).rowCount;
    await expect.poll(recorded).toBe(6);
  } finally {
    await db.query("alter table transactions drop constraint not_mine");
  }
});
