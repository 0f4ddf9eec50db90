import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const project = new URL("../../", import.meta.url);
const ruleCode = /\b[EHGXD]\d{1,2}\b/g;

async function textsUnder(folder: string): Promise<string> {
  const names = await readdir(new URL(folder, project), { recursive: true });
  const files = names.filter((name) => name.endsWith(".ts"));
  return (await Promise.all(files.map((name) => readFile(new URL(`${folder}/${name}`, project), "utf8")))).join("\n");
}

const documented = await readFile(new URL("docs/payment-rules.md", project), "utf8");

test("docs/payment-rules.md explains every rule code that the facilitator's comments and tests name, and no other", async () => {
  const comments = (await textsUnder("facilitator")).match(/\/\*\*[\s\S]*?\*\/|\/\/.*/g) ?? [];
  const testNames = (await textsUnder("test/facilitator")).match(/"[EHGXD]\d{1,2} [^"]*"/g) ?? [];
  const ranges = [...comments.join("\n").matchAll(/\b([EHGX])(\d{1,2})–\1(\d{1,2})\b/g)].flatMap(
    ([, letter, first, last]) =>
      Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => `${letter}${Number(first) + i}`),
  );
  const named = new Set(
    [...`${comments.join("\n")}\n${testNames.join("\n")}`.matchAll(ruleCode)].map(([code]) => code),
  );
  const rows = new Set([...documented.matchAll(/^\| ([EHGXD]\d{1,2}) \|/gm)].map(([, code]) => code as string));
  expect([...named].filter((code) => !rows.has(code))).toEqual([]);
  expect([...rows].filter((code) => !named.has(code) && !ranges.includes(code))).toEqual([]);
});

test("docs/payment-rules.md names every reason that the marketplace refuses a call's payment with, and no other", async () => {
  const code = await textsUnder("marketplace/payments/paid-calls");
  const own = [...code.matchAll(/\breason: "([a-z_]+)"/g)].map(([, reason]) => reason as string);
  const [facilitators = "", chapter = ""] = documented.split("## A call of the marketplace");
  const rows = [...chapter.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, reason]) => reason as string);
  expect(rows.filter((reason) => !own.includes(reason))).toEqual([]);
  expect(own.filter((reason) => !rows.includes(reason) && !facilitators.includes(`\`${reason}\``))).toEqual([]);
});

test("docs/payment-rules.md names every reason that a payment can be refused with, and no other", async () => {
  const code = await textsUnder("facilitator");
  const own = [...code.matchAll(/\brefuse\(\s*"([a-z_0-9]+)"/g)].map(([, reason]) => reason as string);
  const hedera = [...code.matchAll(/\binvalid\(\s*"([a-z_0-9]+)"/g)].map(([, reason]) => `…${reason}`);
  const named = new Set([...documented.matchAll(/`(…?[a-z][a-z0-9]*(?:_[a-z0-9]+)*)`/g)].map(([, reason]) => reason));
  expect([...own, ...hedera].filter((reason) => !named.has(reason))).toEqual([]);
  const reasons = [...documented.matchAll(/`(?:…|invalid_exact_)([a-z0-9_]+)`/g)].map(([, reason]) => reason as string);
  const written = code.replaceAll("invalid_exact_", "");
  expect(reasons.filter((reason) => !written.includes(reason))).toEqual([]);
});
