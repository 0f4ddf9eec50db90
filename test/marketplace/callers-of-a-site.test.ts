import express from "express";
import request from "supertest";
import { expect } from "vitest";
import { admitOrRefuse } from "../../marketplace/admit-or-refuse.ts";
import { AnonymousLimits } from "../../marketplace/anonymous-limits.ts";
import { FailureLimiter } from "../../marketplace/failure-limiter.ts";
import { triesLeft } from "../../marketplace/svg/free-tries.ts";
import { claimTryOfSite, returnTryOfSite } from "../../marketplace/tries-of-site.ts";
import { clientOf, siteOf, siteShares } from "../../shared/client-address.ts";
import { InMemoryCounts, limitRequests } from "../../shared/rate-limit.ts";
import { appTest } from "../support/fixtures.ts";

const test = appTest();

/** Addresses of different /64, one /48. */
const ofSite = (site: number, count: number) =>
  Array.from({ length: count }, (_, n) => `2001:db8:${site.toString(16)}:${n.toString(16)}::7`);

test.each([
  ["2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["read data 2001:db8:1:2::/64", "read data 2001:db8:1::/48"],
  ["free-from:2001:db8:1::/64", "free-from:2001:db8:1::/48"],
  ["svg-try:fe80::/64", "svg-try:fe80::/48"],
  ["from:::/64", undefined],
  ["verify 192.0.2.1", undefined],
  ["client verify shop", undefined],
  ["2001:db8:1::/48", undefined],
  ["0x00", undefined],
  ["", undefined],
])("%s is counted with %s", (subject, site) => {
  expect(siteOf(subject)).toBe(site);
});

test("who has a whole /48 may send no more requests than sixteen callers; its neighbours and IPv4 are not held to that", async () => {
  const app = express();
  app.set("trust proxy", true);
  app.use(limitRequests({ perMinute: 2, counts: new InMemoryCounts(), tooMany: () => "Too many." }));
  app.get("/", (_request, response) => void response.json({}));
  app.use(((error, _request, response, _next) => {
    response.status(error.status).set(error.headers).end();
  }) satisfies express.ErrorRequestHandler);
  const statusOf = async (address: string) => {
    const { status, headers } = await request(app).get("/").set("x-forwarded-for", address);
    if (status === 429) expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    return status;
  };
  const answered = async (addresses: readonly string[]) => {
    const statuses: number[] = [];
    for (const address of addresses) statuses.push(await statusOf(address));
    return statuses.filter((status) => status === 200).length;
  };
  // What one caller sends beyond its own limit is not held against its site.
  expect(await answered(Array.from({ length: 100 }, () => "2001:db8:1:ffff::7"))).toBe(2);
  expect(await answered(ofSite(1, 50))).toBe(2 * siteShares - 2);
  expect(await answered(ofSite(2, 3))).toBe(3);
  expect(await answered(Array.from({ length: 50 }, (_, n) => `192.0.2.${n}`))).toBe(50);
});

test("calls counted in the database, and quotes, are bounded for a /48 too", async ({ context }) => {
  const { db } = context;
  const admitted = async (admit: (address: string) => Promise<void>) => {
    const all = [];
    for (const address of ofSite(3, 40)) all.push(await admit(address).then(...outcomes));
    return all.filter((one) => one === "admitted").length;
  };
  const outcomes = [() => "admitted", ({ code }: { code: string }) => code] as const;
  expect(await admitted((address) => admitOrRefuse(db, `tested-from:${clientOf(address)}`, 1))).toBe(siteShares);
  const none = { requestsPerAddress: 0, quotesPerOffer: 0, freeCallsPerAddress: 0, freeCallsPerAgent: 0 };
  const limits = new AnonymousLimits({ db, valkey: undefined }, { ...none, quotesPerAddress: 1 });
  expect(await admitted((address) => limits.admitQuote(address, "https://market.example.com/x"))).toBe(siteShares);
});

test("failures of a /48 are slowed down together", () => {
  const failures = new FailureLimiter(2);
  for (const address of ofSite(4, 2 * siteShares)) {
    expect(failures.waitSeconds(clientOf(address))).toBe(0);
    failures.note(clientOf(address));
  }
  expect(failures.waitSeconds(clientOf("2001:db8:4:9999::1"))).toBeGreaterThan(0);
  expect(failures.waitSeconds(clientOf("2001:db8:5::1"))).toBe(0);
  expect(failures.waitSeconds("192.0.2.1")).toBe(0);
});

test("a /48 has the free tries of sixteen callers a day, and gets back what was not given", async ({ context }) => {
  const { db } = context;
  const freeTries = { perAddress: 2, ofAll: 5_000 };
  for (const table of ["svg_tries", "home_tries"] as const) {
    const claim = (address: string) => claimTryOfSite(db, table, clientOf(address), freeTries.perAddress);
    const claimed = [];
    for (const address of ofSite(6, 40)) claimed.push(await claim(address));
    expect(claimed.filter(Boolean)).toHaveLength(2 * siteShares);
    expect([await claim("2001:db8:7::1"), await claim("192.0.2.1")]).toEqual([true, true]);
    if (table === "svg_tries") expect(await triesLeft(db, freeTries, "2001:db8:6:999::1")).toBe(0);
    const { rows } = await db.query("select (now() at time zone 'utc')::date::text as day");
    await returnTryOfSite(db, table, clientOf("2001:db8:6:5::1"), rows[0].day);
    expect([await claim("2001:db8:6:999::1"), await claim("2001:db8:6:999::1")]).toEqual([true, false]);
  }
});
