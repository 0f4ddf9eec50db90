import { expect } from "vitest";
import { startHttpServer } from "../../support/http-server.ts";
import { usdc } from "./payloads.ts";
import { buyerOf, hederaSchemeTest, newBuyer, price, settingOn, settled, verified } from "./setting.ts";

const test = hederaSchemeTest();

test.beforeAll(async ({ setting }) => {
  await setting.scheme.start();
});

test.for([usdc, "0.0.0"])(
  "a balance of %s that a settlement shows in is none that was asked for before",
  async (asset, { setting }) => {
    const { ledger } = setting;
    const buyer = { ...buyerOf(ledger), ...newBuyer(ledger, { usdc: 2n * price, hbar: 2n * price }) };
    const late: Array<() => void> = [];
    let isSlow = false;
    const mirror = await startHttpServer(async (request, response) => {
      const waits = isSlow && request.url!.includes(`/accounts/${buyer.payer}`);
      const body = await (await fetch(ledger.mirrorUrl + request.url)).text();
      if (waits) await new Promise<void>((resolve) => late.push(resolve));
      response.end(body);
    });
    const behind = await settingOn(ledger, { mirrorUrl: mirror.url });
    try {
      const payment = await verified(behind.scheme, await behind.pay({ ...buyer, asset }));
      isSlow = true;
      const early = behind.scheme.readBalance(payment, []);
      await expect.poll(() => late.length).toBe(1);
      isSlow = false;
      const { transaction } = await settled(setting, await setting.pay({ ...buyer, asset }));
      const after = behind.scheme.readBalance(payment, [transaction]);
      expect(await after).toEqual({ balance: price, shows: true });
      late[0]!();
      expect((await early).balance).toBe(2n * price);
    } finally {
      await behind.stop();
      mirror.stop();
    }
  },
);
