import type { Log } from "../../../shared/log.ts";
import { type Database, inTransaction, isUniqueViolation, type Transaction } from "../../../shared/postgres.ts";
import { legalFor } from "../../payment-states.ts";
import { KeyAwayError } from "../../signing/signing-key.ts";
import type { BroadcastLog, Claim, WantedClaim } from "../scheme.ts";
import type { GasFees } from "./chain.ts";
import type { EvmConfig } from "./config.ts";
import type { Hex } from "./hex.ts";
import type { Nonces } from "./nonces.ts";
import type { EvmSigner, SignedTransaction } from "./signer.ts";

/**
 * Signs calls for payments and stores what was signed; a payment without a claim is claimed with that. A key may be far away, and
 * the nonces' row is locked for no longer than the database needs: so the calls are signed first, with the nonces that are expected to be
 * next, and then the row is locked and the nonces are taken. A call whose nonce another copy has taken is signed anew at once if the key is
 * here, and otherwise left to the next batch.
 * So nonces have no gaps, a crash or a key that is away takes none, and any number of copies can share the address.
 */
export async function signBatch<J extends Call>(needs: Needs, calls: readonly J[], fees: GasFees): Promise<Batch<J>> {
  const { ahead, isKeyAway } = await signAhead(needs, calls, fees);
  if (isKeyAway && ahead.length === 0) return { ...nothing, left: calls, isKeyAway };
  let mayBeStored = false;
  try {
    const taken = await inTransaction(needs.db, async (tx) => {
      const result = await takeNonces(tx, needs, { calls, ahead, fees });
      mayBeStored = true;
      return result;
    });
    for (const { call, claim } of taken.signed) call.right.claim = claim;
    return { ...taken, isKeyAway };
  } catch (error) {
    const unclaimed = calls.filter(({ right }) => !right.claim);
    if (mayBeStored || unclaimed.length === 0) throw error;
    // Another caller was quicker, or one of them cannot be stored: each is claimed by itself.
    if (!isUniqueViolation(error))
      needs.log.warn({ err: error }, "new payments were not claimed with what was signed for them");
    return { ...nothing, unclaimed, left: calls.filter((call) => !unclaimed.includes(call)), isKeyAway };
  }
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
  const { live, lost, unclaimed } = await sortOut(tx, store, calls);
  const byNonce = new Map(calls.map((call, index) => [call, ahead[index]]));
  const signed: SignedCall<J>[] = [];
  for (const call of live) {
    const nonce = row.next();
    const before = byNonce.get(call);
    const own = before?.nonce === nonce ? before : signer.signAtOnce(fieldsOf(config, call, nonce, fees));
    if (!own) break;
    row.take();
    signed.push({ call, nonce, raw: own.raw, hash: own.hash });
  }
  const left = live.slice(signed.length);
  if (signed.length === 0) return { ...nothing, lost, unclaimed, left };
  const claims = await storeSigned(tx, store, signed, signer.address);
  await row.save();
  return { signed: signed.map((one, index) => ({ ...one, claim: claims[index] as Claim })), lost, unclaimed, left };
}

/** Sorts calls by whether their claims stand, can be made or are lost; locks the rows of those that stand. */
async function sortOut<J extends Call>(tx: Transaction, store: Needs["store"], calls: readonly J[]) {
  const claimed = await stillClaimed(
    tx,
    calls.flatMap(({ right: { claim } }) => claim ?? []),
  );
  const wanting = calls.filter(({ right }) => !right.claim);
  const wanted = wanting.map(({ right }) => right.wanted as WantedClaim);
  const free = wanted.length > 0 ? await store.claimable(tx, wanted) : [];
  const claimable = new Set(wanting.filter((_, index) => free[index]));
  return {
    live: calls.filter((call) => claimable.has(call) || (call.right.claim && claimed.has(call.right.claim.id))),
    lost: calls.filter(({ right: { claim } }) => claim && !claimed.has(claim.id)),
    unclaimed: wanting.filter((call) => !claimable.has(call)),
  };
}

async function stillClaimed(tx: Transaction, claims: readonly Claim[]): Promise<Set<bigint>> {
  if (claims.length === 0) return new Set();
  const { rows } = await tx.query({
    name: "lock-claims",
    text: `select p.id from payments p join unnest($1::bigint[], $2::uuid[]) as mine (id, token)
               on p.id = mine.id and p.claim_token = mine.token
            where ${legalFor("recordBroadcast", "p")} order by p.id for update of p`,
    values: [claims.map(({ id }) => id), claims.map(({ token }) => token)],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Answers each call's claim, be it new or not. */
async function storeSigned<J extends Call>(
  tx: Transaction,
  store: Needs["store"],
  signed: readonly SignedCall<J>[],
  feePayer: Hex,
): Promise<readonly Claim[]> {
  const claims = new Map<SignedCall<J>, Claim>();
  const broadcastOf = ({ raw, hash: transaction, nonce }: Numbered) => ({ transaction, raw: [raw], feePayer, nonce });
  for (const one of signed) if (one.call.right.claim) claims.set(one, one.call.right.claim);
  await store.recordBroadcasts(
    tx,
    [...claims].map(([one, claim]) => ({ claim, broadcast: broadcastOf(one) })),
  );
  const fresh = signed.filter((one) => !claims.has(one));
  const made = await store.claimSigned(
    tx,
    fresh.map((one) => ({ wanted: one.call.right.wanted as WantedClaim, broadcast: broadcastOf(one) })),
  );
  fresh.forEach((one, index) => {
    claims.set(one, made[index] as Claim);
  });
  return signed.map((one) => claims.get(one) as Claim);
}

function fieldsOf({ chainId, gasLimit }: EvmConfig, { to, data }: Call, nonce: bigint, fees: GasFees) {
  const prices = { maxFeePerGas: fees.perGas, maxPriorityFeePerGas: fees.tip };
  return { type: "eip1559" as const, chainId, nonce: Number(nonce), to, data, gas: gasLimit, ...prices };
}

/** A claim, or the payment to claim: then the claim is made when what was signed is stored. */
export interface RightToSend {
  claim?: Claim;
  readonly wanted?: WantedClaim;
  readonly isStranger?: boolean | undefined;
}

/** What is to be called for a payment. */
interface Call {
  readonly right: RightToSend;
  readonly to: Hex;
  readonly data: Hex;
}

interface Numbered extends SignedTransaction {
  readonly nonce: bigint;
}

interface SignedCall<J> extends Numbered {
  readonly call: J;
}

interface Signed<J> extends SignedCall<J> {
  readonly claim: Claim;
}

interface Batch<J> {
  /** Signed and stored, to be sent. */
  readonly signed: readonly Signed<J>[];
  /** Their claims were gone. */
  readonly lost: readonly J[];
  /** They had no claim, and got none. */
  readonly unclaimed: readonly J[];
  /** Nothing is signed for these. */
  readonly left: readonly J[];
  readonly isKeyAway: boolean;
}

const nothing = { signed: [], lost: [], unclaimed: [], left: [] } as const;

interface Needs {
  readonly config: EvmConfig;
  readonly signer: EvmSigner;
  readonly nonces: Nonces;
  readonly db: Database;
  readonly log: Log;
  readonly store: Pick<BroadcastLog, "recordBroadcasts" | "claimable" | "claimSigned">;
}
