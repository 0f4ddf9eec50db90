import { randomUUID } from "node:crypto";
import { createTestClient, http } from "viem";
import { expect } from "vitest";
import { archiveRecords } from "../../../facilitator/archive/archive-records.ts";
import { EvmChain } from "../../../facilitator/schemes/exact-evm/chain.ts";
import { forgetFinal } from "../../../facilitator/schemes/exact-evm/forget-final.ts";
import { JsonRpc } from "../../../facilitator/schemes/exact-evm/rpc.ts";
import { openBucket } from "../../../shared/s3.ts";
import { startBucket } from "../../support/bucket.ts";
import { paymentBody } from "../../support/evm-payments.ts";
import { evmTest } from "../../support/fixtures.ts";
import { perFile } from "../../support/part.ts";

const test = evmTest().extend("s3", perFile, async ({ facilitator: _ }, { onCleanup }) => {
  const s3 = await startBucket("record");
  onCleanup(s3.stop);
  return s3;
});

test("signed bytes are kept until the chain cannot take a payment back, and neither they nor its record are needed to settle it once", async ({
  setting,
  facilitator,
  s3,
}) => {
  const { db, log } = facilitator.context;
  const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
  const { transaction } = (await facilitator.settle(body)).body;
  const row = async () => (await db.query("select * from payments where transaction_id = $1", [transaction])).rows[0];
  const rpc = new JsonRpc(setting.chain.rpcUrl, 10_000);
  try {
    const chain = new EvmChain(rpc, 200_000n);
    const forget = () =>
      forgetFinal(setting.signer, setting.terms.network, { chain, config: { confirmations: 1 }, db, log });
    await forget();
    expect((await row()).raw_transactions).toHaveLength(1);

    const client = createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) });
    await client.increaseTime({ seconds: 3_600 });
    await client.mine({ blocks: 200 });
    await forget();
    expect(await row()).toMatchObject({ state: "settled", raw_transactions: null, signed_transactions: [transaction] });
    const { rows: signers } = await db.query("select bytes_from, next_nonce from signer_nonces");
    expect(signers).toEqual([{ bytes_from: 1n, next_nonce: 1n }]);
  } finally {
    await rpc.stop();
  }

  await db.query("update transactions set created_at = created_at - interval '40 days'");
  await expect.poll(async () => (await db.query("select from uncounted_settlements")).rows).toEqual([]);
  const parts = { db, log, bucket: openBucket(s3.config), holder: randomUUID() };
  const archiver = { ...parts, afterDays: 31, recordsMax: 100, environmentOf: () => "testnet" as const };
  await archiveRecords(archiver, new AbortController().signal);
  expect((await db.query("select from transactions where tx_id = $1", [transaction])).rows).toEqual([]);
  expect((await facilitator.settle(body)).body).toMatchObject({ errorReason: "already_settled", transaction });
  expect((await facilitator.get(`/payments/${transaction}`)).body).toMatchObject({ state: "settled" });
});
