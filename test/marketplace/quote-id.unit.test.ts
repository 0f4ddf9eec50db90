import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isHeldSecret, type Quoted, QuoteIds } from "../../marketplace/payments/quotes/quote-id.ts";

const [secret, next] = [randomBytes(32), randomBytes(32)];
const ids = new QuoteIds([secret]);
const quoted: Quoted = {
  product: "agt_one",
  network: "eip155:84532",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  amount: "50000",
};
const body = randomBytes(32);
const hour = 3_600_000;

test("an issued id is known for exactly what was quoted, and says when it ends", () => {
  const now = Date.UTC(2026, 5, 1, 23, 30);
  const id = ids.issue(quoted, now);
  expect(ids.endOf(quoted, id)).toEqual(new Date(now + hour));
  expect(isHeldSecret(id)).toBe(true);
  expect(ids.endOf({ ...quoted, payTo: quoted.payTo.toLowerCase() }, id)).toBeDefined();
  fc.assert(
    fc.property(fc.constantFrom(...(Object.keys(quoted) as Array<keyof Quoted>)), fc.string(), (field, value) => {
      fc.pre(quoted[field].toLowerCase() !== value.toLowerCase());
      expect(ids.endOf({ ...quoted, [field]: value }, id)).toBeUndefined();
    }),
  );
});

test("no spelling of an id but its own is known, and nothing that is none", () => {
  const id = ids.issue(quoted);
  fc.assert(
    fc.property(fc.nat({ max: id.length - 1 }), fc.string({ minLength: 1, maxLength: 1 }), (at, letter) => {
      const changed = id.slice(0, at) + letter + id.slice(at + 1);
      fc.pre(changed !== id);
      expect(ids.endOf(quoted, changed)).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
  fc.assert(
    fc.property(fc.anything(), (value) => {
      expect(ids.endOf(quoted, value)).toBeUndefined();
    }),
  );
  expect(ids.endOf(quoted, `${id}=`)).toBeUndefined();
  expect(ids.endOf(quoted, ids.ofPayment(quoted, { key: "a payment", expiresAt: new Date() }))).toBeUndefined();
});

test("no two are alike, and each is known by every service that has its key", () => {
  expect(new Set(Array.from({ length: 1_000 }, () => ids.issue(quoted))).size).toBe(1_000);
  const id = ids.issue(quoted);
  expect(new QuoteIds([next, secret]).endOf(quoted, id)).toBeDefined();
  expect(new QuoteIds([next]).endOf(quoted, id)).toBeUndefined();
});

test("a body's id is found again by the hours that its payment may have been quoted in, and by few others", () => {
  const quotedAt = Date.UTC(2026, 5, 1, 10, 59, 50);
  const id = ids.ofBody(quoted, body, quotedAt);
  const known = (expiresAt: number, now: number, digest = body, of = quoted) => {
    const candidates = ids.ofBodyBefore(of, digest, new Date(expiresAt), now);
    expect(candidates.length).toBeLessThanOrEqual(3);
    return candidates.some((candidate) => candidate.id === id);
  };
  // Signed at once or after the hour, good for a minute or three, presented then or a week later.
  for (const signedAt of [quotedAt + 1_000, quotedAt + 60_000]) {
    for (const goodFor of [60_000, 180_000]) {
      for (const later of [0, 30_000, 7 * 24 * hour]) expect(known(signedAt + goodFor, signedAt + later)).toBe(true);
    }
  }
  // Good for a year, and presented soon.
  expect(known(quotedAt + 365 * 24 * hour, quotedAt + 60_000)).toBe(true);
  expect(known(quotedAt + 180_000, quotedAt, randomBytes(32))).toBe(false);
  // Quoted by a copy whose clock is ten seconds ahead, and has come to the next hour.
  const ahead = ids.ofBody(quoted, body, quotedAt + 12_000);
  const behind = ids.ofBodyBefore(quoted, body, new Date(quotedAt + 62_000), quotedAt + 2_000);
  expect(behind.map((candidate) => candidate.id)).toContain(ahead);
  expect(known(quotedAt + 180_000, quotedAt, body, { ...quoted, product: "agt_two" })).toBe(false);
  expect(known(quotedAt + 5 * hour, quotedAt + 5 * hour)).toBe(false);
  expect(isHeldSecret(id)).toBe(false);
});
