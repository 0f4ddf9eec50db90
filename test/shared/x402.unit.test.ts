import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type PaymentRequirements, publicUrl, termsDigest } from "../../shared/x402.ts";

const resource = "https://shop.example/agents/ann/echo";
const terms: PaymentRequirements = {
  scheme: "exact",
  network: "eip155:84532",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  amount: "50000",
  maxTimeoutSeconds: 120,
  extra: { name: "USDC", version: "2", quoteId: "q-1" },
};

test("the digest of terms is that of their documented JSON", () => {
  const written = `["exact","eip155:84532","${terms.asset.toLowerCase()}","${terms.payTo.toLowerCase()}","50000","q-1","${resource}"]`;
  expect(termsDigest(terms, resource)).toBe(createHash("sha256").update(written).digest("hex"));
  expect(termsDigest({ ...terms, maxTimeoutSeconds: 5, extra: { quoteId: "q-1" } }, resource)).toBe(
    termsDigest(terms, resource),
  );
  expect(termsDigest({ ...terms, payTo: terms.payTo.toLowerCase() }, resource)).toBe(termsDigest(terms, resource));
});

test("any other term gives another digest, however the texts are cut", () => {
  const others: ReadonlyArray<[PaymentRequirements, string | undefined]> = [
    [{ ...terms, scheme: "upto" }, resource],
    [{ ...terms, network: "eip155:8453" }, resource],
    [{ ...terms, asset: terms.payTo }, resource],
    [{ ...terms, payTo: terms.asset }, resource],
    [{ ...terms, amount: "5000" }, resource],
    [{ ...terms, amount: '50000","q-1', extra: { quoteId: "" } }, resource],
    [{ ...terms, extra: { quoteId: "Q-1" } }, resource],
    [{ ...terms, extra: { quoteId: `q-1","${resource}` } }, undefined],
    [terms, `${resource}/`],
    [terms, undefined],
  ];
  const digests = [[terms, resource] as const, ...others].map(([one, at]) => termsDigest(one, at));
  expect(new Set(digests).size).toBe(digests.length);
});

test("terms that name no quote have no digest", () => {
  const { extra: _, ...without } = terms;
  expect(termsDigest(without, resource)).toBeUndefined();
  for (const quoteId of [undefined, null, "", 7, {}, ["q-1"], "x".repeat(513)]) {
    expect(termsDigest({ ...terms, extra: { quoteId } }, resource)).toBeUndefined();
  }
});

test("a resource is named by its web address alone", () => {
  expect(publicUrl("https://user:pass@shop.example:443/a/b?key=1#x")).toBe("https://shop.example/a/b");
  for (const other of ["ftp://shop.example/a", "shop", undefined, 5, `https://shop.example/${"a".repeat(2_048)}`]) {
    expect(publicUrl(other)).toBeUndefined();
  }
});
