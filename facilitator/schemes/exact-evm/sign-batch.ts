import { type Database, inTransaction, type Transaction } from "../../../shared/postgres.ts";
import { legalFor } from "../../payment-states.ts";
import { KeyAwayError } from "../../signing/signing-key.ts";
import type { BroadcastLog, Claim } from "../scheme.ts";
import type { GasFees } from "./chain.ts";
import type { EvmConfig } from "./config.ts";
import type { Hex } from "./hex.ts";
import type { Nonces } from "./nonces.ts";
import type { EvmSigner, SignedTransaction } from "./signer.ts";

/**
 * Signs calls for claimed payments and stores what was signed. A key may be far away, and the nonces' row is locked for no longer than
 * the database needs: so the calls are signed first, with the nonces that are expected to be next, and then the row is locked and the
 * nonces are taken. A call whose nonce another copy has taken is signed anew at once if the key is here, and otherwise left to the next
 * batch.
 * So nonces have no gaps, a crash or a key that is away takes none, and any number of copies can share the address.
 */
export async function signBatch<J extends Call>(needs: Needs, calls: readonly J[], fees: GasFees): Promise<Batch<J>> {
  const { ahead, isKeyAway } = await signAhead(needs, calls, fees);
  if (isKeyAway && ahead.length === 0) return { signed: [], lost: [], left: calls, isKeyAway };
  const taken = await inTransaction(needs.db, (tx) => takeNonces(tx, needs, { calls, ahead, fees }));
  return { ...taken, isKeyAway };
}

/** With the nonces expected, up to the first that the key does not sign: a later nonce could not be used without it. */
async function signAhead({ config, signer, nonces }: Needs, calls: readonly Call[], fees: GasFees) {
  const expected = await nonces.expected(calls.length);
  const signing = calls.map(async (call, index) => {
    const nonce = expected[index] as bigint;
    return { nonce, ...(await signer.sign(fieldsOf(config, call, nonce, fees))) };
  });
  const ahead: Numbered[] = [];
  for (const result of await Promise.allSettled(signing)) {
    if (result.status === "fulfilled") ahead.push(result.value);
    else if (result.reason instanceof KeyAwayError) return { ahead, isKeyAway: true };
    else throw result.reason;
  }
  return { ahead, isKeyAway: false };
}

async function takeNonces<J extends Call>(
  tx: Transaction,
  { config, signer, nonces, store }: Needs,
  { calls, ahead, fees }: { calls: readonly J[]; ahead: readonly Numbered[]; fees: GasFees },
): Promise<Omit<Batch<J>, "isKeyAway">> {
  const row = await nonces.lock(tx);
  const claimed = await stillClaimed(tx, calls);
  const byNonce = new Map(calls.map((call, index) => [call, ahead[index]]));
  const live = calls.filter(({ claim }) => claimed.has(claim.id));
  const signed: Signed<J>[] = [];
  for (const call of live) {
    const nonce = row.next();
    const before = byNonce.get(call);
    const own = before?.nonce === nonce ? before : signer.signAtOnce(fieldsOf(config, call, nonce, fees));
    if (!own) break;
    row.take();
    signed.push({ call, nonce, raw: own.raw, hash: own.hash });
  }
  if (signed.length > 0) {
    const feePayer = signer.address;
    await store.recordBroadcasts(
      tx,
      signed.map(({ call: { claim }, raw, hash: transaction, nonce }) => {
        return { claim, broadcast: { transaction, raw: [raw], feePayer, nonce } };
      }),
    );
    await row.save();
  }
  const lost = calls.filter(({ claim }) => !claimed.has(claim.id));
  return { signed, lost, left: live.slice(signed.length) };
}

async function stillClaimed(tx: Transaction, calls: readonly Call[]): Promise<Set<bigint>> {
  const { rows } = await tx.query({
    name: "lock-claims",
    text: `select p.id from payments p join unnest($1::bigint[], $2::uuid[]) as mine (id, token)
               on p.id = mine.id and p.claim_token = mine.token
            where ${legalFor("recordBroadcast", "p")} order by p.id for update of p`,
    values: [calls.map(({ claim }) => claim.id), calls.map(({ claim }) => claim.token)],
  });
  return new Set(rows.map(({ id }) => id));
}

function fieldsOf({ chainId, gasLimit }: EvmConfig, { to, data }: Call, nonce: bigint, fees: GasFees) {
  const prices = { maxFeePerGas: fees.perGas, maxPriorityFeePerGas: fees.tip };
  return { type: "eip1559" as const, chainId, nonce: Number(nonce), to, data, gas: gasLimit, ...prices };
}

/** What is to be called for a claimed payment. */
interface Call {
  readonly claim: Claim;
  readonly to: Hex;
  readonly data: Hex;
}

interface Numbered extends SignedTransaction {
  readonly nonce: bigint;
}

interface Signed<J> extends Numbered {
  readonly call: J;
}

interface Batch<J> {
  /** Signed and stored, to be sent. */
  readonly signed: readonly Signed<J>[];
  /** Their claims were gone. */
  readonly lost: readonly J[];
  /** Nothing is signed for these. */
  readonly left: readonly J[];
  readonly isKeyAway: boolean;
}

interface Needs {
  readonly config: EvmConfig;
  readonly signer: EvmSigner;
  readonly nonces: Nonces;
  readonly db: Database;
  readonly store: Pick<BroadcastLog, "recordBroadcasts">;
}
