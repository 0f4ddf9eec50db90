import { expect } from "vitest";
import type { EvmChain } from "../../../facilitator/schemes/exact-evm/chain.ts";
import type { EvmConfig } from "../../../facilitator/schemes/exact-evm/config.ts";
import { NonceGaps } from "../../../facilitator/schemes/exact-evm/nonce-gaps.ts";
import { Nonces } from "../../../facilitator/schemes/exact-evm/nonces.ts";
import type { EvmSigner } from "../../../facilitator/schemes/exact-evm/signer.ts";
import { type Database, inTransaction, type Queryable } from "../../../shared/postgres.ts";
import { recordTest } from "../../support/fixtures.ts";

const test = recordTest();
const network = "eip155:84532";
const mine = 7n;
type GapNeeds = ConstructorParameters<typeof NonceGaps>[2];

/** A chain that counts so many transactions of every address. */
const chainWith = (transactionCount: () => Promise<bigint>) =>
  ({ transactionCount, send: async () => {} }) as unknown as EvmChain;

/** An address of which the chain and the database agree. */
async function agreed(db: Database, address: string): Promise<Nonces> {
  const nonces = new Nonces(db, network, address);
  await nonces.synchronize(chainWith(async () => mine));
  expect(await nextOf(db, address)).toBe(mine);
  return nonces;
}

async function nextOf(db: Queryable, address: string): Promise<bigint> {
  const { rows } = await db.query("select next_nonce from signer_nonces where network = $1 and address = $2", [
    network,
    address,
  ]);
  return rows[0].next_nonce;
}

/** A payment that is sent with the nonce, as far as the database knows. */
async function storeSent(db: Queryable, address: string, nonce: bigint): Promise<void> {
  await db.query(
    `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, fee_payer,
                           nonce, transaction_id, raw_transactions, expires_at, lease_until)
     values ($1, $2 || ' pays', 'broadcast', gen_random_uuid(), 'exact', '0x1', '0x2', '0x3', 5, $2, $3, '0x4', '{}',
             now() + interval '1 hour', now() + interval '1 hour')`,
    [network, address, nonce],
  );
}

test("a nonce that one copy takes while another agrees on the next one with the chain is not given out again", async ({
  db,
}) => {
  const address = "0xTaken";
  const [taking, agreeing] = [await agreed(db, address), new Nonces(db, network, address)];
  let agreement: Promise<void> | undefined;
  await inTransaction(db, async (tx) => {
    const locked = await taking.lock(tx);
    expect(locked.next()).toBe(mine);
    locked.take();
    await storeSent(tx, address, mine);
    await locked.save();
    agreement = agreeing.synchronize(chainWith(async () => mine));
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await expect.poll(async () => (await db.query(waiting)).rowCount).toBe(1);
  });
  await agreement;
  expect(await nextOf(db, address)).toBe(mine + 1n);
  expect(await agreeing.expected(1)).toEqual([mine + 1n]);
});

test("a nonce that was taken and whose payment ended while the chain was asked is not given out again", async ({
  db,
}) => {
  const address = "0xEnded";
  const nonces = await agreed(db, address);
  let asked = 0;
  await nonces.synchronize(
    chainWith(async () => {
      asked += 1;
      // First it is asked for what it does not have, then for the next nonce: its answer is older than what is taken here.
      if (asked === 2)
        await db.query("update signer_nonces set next_nonce = next_nonce + 1 where address = $1", [address]);
      return mine;
    }),
  );
  expect(asked).toBe(2);
  expect(await nextOf(db, address)).toBe(mine + 1n);
});

test("where no nonce was taken meanwhile, the next one goes down to the count of a chain that began anew", async ({
  db,
}) => {
  const address = "0xAnew";
  const nonces = await agreed(db, address);
  await nonces.synchronize(chainWith(async () => 2n));
  expect(await nonces.expected(2)).toEqual([2n, 3n]);
});

test("a nonce that was given back is used up by a transfer of nothing, and by none where a payment takes it in that moment", async ({
  db,
}) => {
  const address = "0xGap";
  await agreed(db, address);
  const vacate = () =>
    db.query("update signer_nonces set vacant = array[$2::bigint], next_nonce = $2 + 2 where address = $1", [
      address,
      mine,
    ]);
  const vacantOf = async () =>
    (await db.query("select vacant from signer_nonces where address = $1", [address])).rows[0].vacant;
  let sent = 0;
  const fillWith = (database: Queryable) => {
    const signer = { address, sign: async () => ({ raw: Buffer.alloc(1), hash: "0x1" }) } as unknown as EvmSigner;
    const config = { network, chainId: 84532, feePerGasMaxWei: 10n, gasLimit: 21_000n, bumpAfterMs: 30_000 };
    const send = async () => {
      sent += 1;
    };
    const chain = { latestBlock: async () => ({ baseFeePerGas: 1n }), send };
    const gasPrices = { note: () => ({ perGas: 3n, tip: 1n }), raiseTip: async () => {} };
    const needs = { chain, db: database, log: { error: () => {} }, gasPrices };
    return new NonceGaps(signer, config as unknown as EvmConfig, needs as unknown as GapNeeds).fill(mine);
  };
  await vacate();
  const takenMeanwhile = async (text: string, values: unknown[]) => {
    const answer = await db.query(text, values);
    await db.query("update signer_nonces set vacant = '{}' where address = $1", [address]);
    return answer;
  };
  await fillWith({ query: takenMeanwhile } as unknown as Queryable);
  expect(sent).toBe(0);
  await vacate();
  await fillWith(db);
  expect([sent, await vacantOf()]).toEqual([1, []]);
});
