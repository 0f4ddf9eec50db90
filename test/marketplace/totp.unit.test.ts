import { expect, test } from "vitest";
import { base32, codeAt, otpauthUri, stepAt, stepOfCode } from "../../marketplace/admin/totp.ts";

/** RFC 6238, appendix B, for SHA-1, in six digits. */
const secret = Buffer.from("12345678901234567890");

test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("at %d seconds the code is %s", (seconds, code) => {
  expect(codeAt(secret, stepAt(seconds * 1_000))).toBe(code);
});

test("a code of the step before or after is taken, and none further off", () => {
  const now = 1_111_111_109_000;
  const step = stepAt(now);
  expect([-2, -1, 0, 1, 2].map((off) => stepOfCode(secret, codeAt(secret, step + off), now))).toEqual([
    undefined,
    step - 1,
    step,
    step + 1,
    undefined,
  ]);
  expect(["", "12345", "abcdef", "1234567"].map((code) => stepOfCode(secret, code, now))).toEqual(
    Array(4).fill(undefined),
  );
});

test("an app reads the secret from the address", () => {
  expect(base32(secret)).toBe("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
  expect(otpauthUri(secret, "Agent Marketplace", "ada")).toBe(
    "otpauth://totp/Agent%20Marketplace:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Agent+Marketplace",
  );
});
