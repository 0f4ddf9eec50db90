import { expect } from "vitest";
import { tellOfWaiting } from "../../facilitator/settlements/reconcile.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { startFacilitator } from "../support/facilitator.ts";
import { chainsTest } from "../support/fixtures.ts";
import { kept, perFile } from "../support/part.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { buyerOf, signedPayment } from "./exact-hedera/setting.ts";

const test = chainsTest()
  .extend("proxy", perFile, ({ setting }, { onCleanup }) => kept(startRpcProxy(setting.chain.rpcUrl), onCleanup))
  .extend("facilitator", perFile, ({ forBoth, proxy }, { onCleanup }) =>
    kept(
      startFacilitator({
        ...forBoth,
        EIP155_84532_RPC_URL: proxy.url,
        // Longer than a test waits for anything.
        EIP155_84532_RPC_TIMEOUT_MS: "30000",
      }),
      onCleanup,
    ),
  );

test("payments that wait for a network that hangs, however many, hold up none of another network", async ({
  facilitator,
  setting,
  ledger,
  proxy,
}) => {
  const { db } = facilitator.context;
  const onEvm = await facilitator.settle(await paymentBody(await setting.fundedBuyer(), setting.terms));
  const { requirements, payload } = await signedPayment(buyerOf(ledger));
  const version = { x402Version: 2 };
  const paymentPayload = { ...version, accepted: requirements, payload };
  const onHedera = await facilitator.settle({ ...version, paymentPayload, paymentRequirements: requirements });
  for (const { body } of [onEvm, onHedera]) expect(body).toMatchObject({ success: true });
  proxy.behave(() => "hold");
  await db.query(
    `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, expires_at,
                           lease_until, fee_payer, transaction_id)
     select network, split_part(payment_key, ':', 1) || ':' || payer || ':0x' || lpad(to_hex(n), 64, '0'), 'unknown',
            gen_random_uuid(), scheme, payer, pay_to, asset, amount_atomic, expires_at, now() - interval '1 hour', fee_payer,
            '0x' || lpad(to_hex(n), 64, '0')
       from payments cross join generate_series(1, 300) as n where transaction_id = $1`,
    [onEvm.body.transaction],
  );
  await db.query(
    `with changed as (update payments set state = 'unknown', finished_at = null, lease_until = now() where transaction_id = $1 returning id)
     insert into unfinished_payments select id from changed on conflict do nothing`,
    [onHedera.body.transaction],
  );
  const state = async () =>
    (await db.query("select state from payments where transaction_id = $1", [onHedera.body.transaction])).rows[0].state;
  await expect.poll(state).toBe("settled");
  proxy.behave(() => "pass");
});

test("of payments on a network that is not configured any more, the log says how many wait", async ({
  facilitator,
}) => {
  const { db, store, schemes } = facilitator.context;
  await db.query(
    `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, expires_at,
                           lease_until, transaction_id)
     select 'eip155:31337', 'payment ' || n, 'broadcast', gen_random_uuid(), 'exact', '0x1', '0x2', '0x3', 1, now(), now(),
            '0x' || n
       from generate_series(1, 3) as n`,
  );
  const told: object[] = [];
  const log = { warn: (facts: object) => told.push(facts) } as unknown as Parameters<typeof tellOfWaiting>[0]["log"];
  await tellOfWaiting({ store, schemes, log });
  expect(told).toEqual([{ network: "eip155:31337", payments: 3 }]);
});
