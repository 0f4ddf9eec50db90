import { expect, test } from "vitest";
import { readConfig } from "../../marketplace/config.ts";

const key = (byte: number) => Buffer.alloc(32, byte).toString("base64");
const whole = {
  MARKETPLACE_DATABASE_URL: "postgres://localhost/marketplace",
  FACILITATOR_URL: "http://127.0.0.1:4022",
  LLM_BASE_URL: "http://127.0.0.1:4030",
};

test.each<[string, string, string]>([
  ["MARKETPLACE_SEALING_KEYS_RETIRED", key(1), "MARKETPLACE_SEALING_KEY is missing"],
  ["MARKETPLACE_QUOTE_KEYS_OTHER", key(1), "MARKETPLACE_QUOTE_KEY is missing"],
  ["FACILITATOR_TOKEN", "two words", "without spaces"],
  ["TRUST_PROXY", "10.0.0.0/33", "addresses and ranges"],
  ["TRUST_PROXY", "fd00::/129", "addresses and ranges"],
  ["TRUST_PROXY", "10.0.0.0/8/8", "addresses and ranges"],
  ["TRUST_PROXY", "10.0.0.0/", "addresses and ranges"],
  ["LIMIT_FAILED_PROOFS_PER_PAYER", "3000000000", "between 1 and"],
])("%s=%s makes no sense and is refused, with what is wanted and without secrets", (name, value, words) => {
  const start = () => readConfig({ ...whole, [name]: value });
  expect(start).toThrow(name);
  expect(start).toThrow(words);
  if (/TOKEN|KEY/.test(name)) expect(start).not.toThrow(value);
});

test.each(["10.0.0.0/8, fd00::/8", "loopback", "127.0.0.1", "::1", "10.0.0.0/255.0.0.0"])(
  "TRUST_PROXY may be %s",
  (value) => {
    expect(readConfig({ ...whole, TRUST_PROXY: value }).trustProxy).toBe(value);
  },
);

test("a token that can be guessed is taken, and told", () => {
  const { metricsToken, doubts } = readConfig({ ...whole, METRICS_TOKEN: "secret" });
  expect(metricsToken?.reveal()).toBe("secret");
  expect(doubts).toEqual([expect.stringContaining("METRICS_TOKEN")]);
  expect(doubts.join()).not.toContain("secret");
});
