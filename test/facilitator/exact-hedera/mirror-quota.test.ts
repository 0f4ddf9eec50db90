import { PrivateKey } from "@hashgraph/sdk";
import { afterEach, expect, vi } from "vitest";
import { startHttpServer } from "../../support/http-server.ts";
import { buyerOf, hederaSchemeTest, newBuyer, price, settingOn, verified } from "./setting.ts";

const test = hederaSchemeTest();

afterEach(() => {
  vi.useRealTimers();
});

test("made-up payers use up nothing of a mirror that is asked too much: it is asked about those who have signed before", async ({
  setting: { ledger },
}) => {
  const asked: string[] = [];
  let isExhausted = false;
  const mirror = await startHttpServer(async (request, response) => {
    asked.push(request.url!);
    if (isExhausted) return response.writeHead(429).end();
    response.end(await (await fetch(ledger.mirrorUrl + request.url)).text());
  });
  const behind = await settingOn(ledger, { mirrorUrl: mirror.url });
  try {
    await verified(behind.scheme, await behind.pay());
    const madeUp = async () => behind.pay({ ...newBuyer(ledger), keys: [PrivateKey.generateED25519()] });
    isExhausted = true;
    await expect(verified(behind.scheme, await madeUp())).rejects.toThrow("unverifiable");
    isExhausted = false;
    asked.splice(0);
    for (let count = 0; count < 3; count += 1)
      await expect(verified(behind.scheme, await madeUp())).rejects.toThrow("unverifiable");
    expect(asked).toEqual([]);
    await verified(behind.scheme, await behind.pay());
    expect(asked).toContainEqual(expect.stringContaining(buyerOf(ledger).payer));
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
    await verified(behind.scheme, await behind.pay({ ...buyerOf(ledger), ...newBuyer(ledger, { usdc: price }) }));
    await expect(verified(behind.scheme, await madeUp())).rejects.toThrow("signature_invalid");
  } finally {
    await behind.stop();
    mirror.stop();
  }
});
