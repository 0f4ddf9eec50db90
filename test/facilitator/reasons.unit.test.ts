import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { reasonChapters, reasonMeaning } from "../../facilitator/reasons.ts";

const project = new URL("../../", import.meta.url);
const meant = reasonChapters.flatMap(({ reasons }) => reasons.map(({ code }) => code));

test("every reason that the rules name has a meaning and a remedy, and no other has", async () => {
  const whole = await readFile(new URL("docs/payment-rules.md", project), "utf8");
  const [rules = ""] = whole.split("## A call of the marketplace");
  const cells = rules.split("\n").flatMap((line) => {
    const [, first = "", second = "", third = ""] =
      line.split(" | ").length > 1 ? ["", ...line.split("|").slice(1)] : [];
    return /^ [EHGXD]\d/.test(first) ? [third] : /^ `/.test(first) ? [first] : second === "" ? [line] : [];
  });
  const named = [...cells.join("\n").matchAll(/`(…?[a-z][a-z0-9]*(?:_[a-z0-9]+)+)`/g)].map(([, code = ""]) =>
    code.replace("…", "invalid_exact_hedera_payload_"),
  );
  const documented = new Set(
    named.filter(
      (code) => !["invalid_exact_hedera_payload_", "scheme_exact_evm", "scheme_exact_hedera"].includes(code),
    ),
  );
  expect(meant.filter((code) => !documented.has(code))).toEqual([]);
  expect([...documented].filter((code) => !meant.includes(code))).toEqual([]);
  expect(new Set(meant).size).toBe(meant.length);
});

test("whoever settles too often is told so, a payee as well as a payer", async () => {
  expect(reasonMeaning("rate_limited")?.means).toMatch(/payer or payee settles too often/);
  const rules = await readFile(new URL("docs/payment-rules.md", project), "utf8");
  expect(rules).toMatch(/^\| `rate_limited` \| is of a payer or a payee who settles too often/m);
});

test("a remedy names GET /supported only for what it tells, which assets are not", async () => {
  const remedies = reasonChapters.flatMap(({ reasons }) => reasons.map(({ remedy }) => remedy));
  const rules = await readFile(new URL("docs/payment-rules.md", project), "utf8");
  const named = [...remedies, ...rules.split("\n")].filter((text) => text.includes("GET /supported"));
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((text) => /\basset\b[^|]*GET \/supported/.test(text))).toEqual([]);
});

test("every reason in the code that refuses has a meaning", async () => {
  const names = (await readdir(new URL("facilitator", project), { recursive: true })).filter((name) =>
    name.endsWith(".ts"),
  );
  const code = (await Promise.all(names.map((name) => readFile(new URL(`facilitator/${name}`, project), "utf8")))).join(
    "\n",
  );
  const own = [...code.matchAll(/\b(?:refuse|notSent|failed)\(\s*"([a-z_0-9]+)"/g)].map(
    ([, reason]) => reason as string,
  );
  const hedera = [...code.matchAll(/\binvalid\(\s*"([a-z_0-9]+)"/g)].map(
    ([, reason]) => `invalid_exact_hedera_payload_${reason}`,
  );
  const literal = [...code.matchAll(/\breason: "([a-z]+_[a-z_0-9]+)"/g)].map(([, reason]) => reason as string);
  expect([...own, ...hedera, ...literal].filter((reason) => !meant.includes(reason))).toEqual([]);
  expect(own.length).toBeGreaterThan(30);
});
