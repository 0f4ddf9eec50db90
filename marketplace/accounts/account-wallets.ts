import { randomBytes } from "node:crypto";
import { getAddress } from "viem/utils";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Queryable, type Transaction } from "../../shared/postgres.ts";
import type { Config } from "../config.ts";
import { requireFresh, type SignedIn } from "../fresh-session.ts";
import type { AccountId, WalletId } from "../ids.ts";
import { payableNetworks } from "../stablecoins.ts";
import type { Wallet } from "../wallet.ts";
import { noteEmail, securityEmail } from "./account-emails.ts";
import type { Account } from "./create.ts";
import { adoptWallet, proposeWallet, requireWalletForm } from "./payout-wallets.ts";
import { problemOf, type WalletProblem } from "./wallet-check.ts";
import { canBePaid, findingOf } from "./wallet-key.ts";
import { type Chains, challengeText, requireProof } from "./wallet-proof.ts";

const challengeMinutes = 60;

export interface WalletNeeds {
  readonly db: Database;
  readonly config: Pick<Config, "publicUrl">;
  readonly tools: Chains;
}

/** The account's wallets that are paid, or wait to be proved; by network. */
export async function listWallets(db: Queryable, accountId: AccountId): Promise<ListedWallet[]> {
  const { rows } = await db.query<ListedWallet>(
    `${select} where account_id = $1 and state <> 'retired' order by network, state`,
    [accountId],
  );
  return rows;
}

/**
 * Notes where the account wants to be paid, and answers the text the wallet has to sign. What is paid now stays until
 * `proveWallet`. 422 for an address that cannot be a wallet here; 403 for a session that is not fresh where it takes the place of one that
 * has signed and waits until it can be paid.
 */
export async function addWallet(
  { db, config, tools }: WalletNeeds,
  { account, session }: Holder,
  given: Wallet,
): Promise<ListedWallet> {
  const wallet = readWallet(tools, given);
  const { rowCount: waiting } = await db.query(
    `select from payout_wallets where account_id = $1 and network = $2 and ${isSigned}`,
    [account.id, wallet.network],
  );
  if (waiting !== 0) await requireFresh(db, session);
  const expiresAt = new Date(Date.now() + challengeMinutes * 60_000);
  const { host } = new URL(config.publicUrl);
  const purpose = `The account "${account.handle}" is to be paid to this wallet.`;
  const message = challengeText(wallet, purpose, host, randomBytes(16).toString("hex"), expiresAt);
  const { id } = await inTransaction(db, (tx) => proposeWallet(tx, account.id, wallet, { message, expiresAt }));
  return findWallet(db, account.id, id);
}

/** Who changes where an account is paid. */
export interface Holder {
  readonly account: Account;
  readonly session: SignedIn;
}

/**
 * Takes the wallet's signature of its text: from now on it is paid, in place of the one before, and the holder gets an e-mail. 403 for a
 * session that is not fresh. 422 when the signature does not hold, the text is too old, or the wallet cannot be paid: then it need not sign
 * again, and is paid as soon as it can be. 503 when the chain does not answer.
 */
export async function proveWallet(
  { db, config, tools }: WalletNeeds,
  { account, session }: Holder,
  id: string,
  signature: string,
) {
  const wallet = await findWallet(db, account.id, id);
  if (wallet.state === "checked") return wallet;
  await requireFresh(db, session);
  const { challenge } = wallet;
  if (!challenge) throw new ApiError("conflict", "This wallet has proved itself already.");
  if (new Date(challenge.expires_at) < new Date()) {
    throw new ApiError("invalid_value", "The text to sign is too old; add the wallet again.");
  }
  const key = await requireProof(tools, wallet, challenge.message, signature);
  const note = "update payout_wallets set proved_key = $2 where id = $1 and state = 'unchecked'";
  if (key !== undefined) await db.query(note, [wallet.id, key]);
  const problem = await problemOf(tools, wallet);
  if (problem) {
    await recordProof(db, wallet.id, problem);
    throw new ApiError("invalid_value", problem.text, { body: { reason: problem.reason } });
  }
  await inTransaction(db, (tx) => adoptAndTell(tx, config, account.id, wallet.id));
  // Another request with the signature may have been first.
  return findWallet(db, account.id, id);
}

async function adoptAndTell(
  tx: Transaction,
  { publicUrl }: WalletNeeds["config"],
  accountId: AccountId,
  id: WalletId,
): Promise<void> {
  if (!(await adoptWallet(tx, accountId, id))) return;
  const what = `${nameOf(await findWallet(tx, accountId, id))} has proved itself: from now on your agents are paid there.`;
  await noteEmail(tx, accountId, securityEmail(publicUrl, "wallet", "A payout wallet was added", what));
}

const nameOf = ({ network, address }: Wallet) => `The wallet ${address} on ${network}`;

/** Checks whether a proved wallet can be paid now, instead of waiting for the next periodic check. */
export async function checkWallet(needs: WalletNeeds, account: Account, id: string): Promise<ListedWallet> {
  const { db, tools } = needs;
  const wallet = await findWallet(db, account.id, id);
  if (wallet.state === "unchecked") throw new ApiError("conflict", "The wallet has to prove itself first.");
  const asking = { id: wallet.id, accountId: account.id, askedAt: await momentOf(db, wallet.id) };
  const found = await findingOf(db, tools, wallet);
  if (await recordWalletCheck(needs, asking, found)) return findWallet(db, account.id, id);
  // A later check has begun meanwhile, and may still wait for the chain.
  return checkWallet(needs, account, id);
}

/** Now, and never before the wallet was looked at last: a database that took another's place may have a clock that is behind. */
async function momentOf(db: Queryable, id: WalletId): Promise<string> {
  const { rows } = await db.query<{ now: string }>(
    "select greatest(max(looked_at), now())::text as now from payout_wallets where id = $1",
    [id],
  );
  return rows[0]!.now;
}

/** Notes that a proposed wallet signed, and why it cannot be paid all the same. */
async function recordProof(db: Queryable, id: WalletId, { text, reason }: WalletProblem): Promise<void> {
  await db.query(
    `update payout_wallets set proved_at = now(), looked_at = now(), problem = $2, reason = $3, challenge = null,
       challenge_expires_at = null
     where id = $1 and state = 'unchecked'`,
    [id, text, reason],
  );
}

/**
 * What the chain said of a wallet. One that cannot be paid leaves the quotes, and comes back; one that signed and can be paid now
 * takes the place of the one before. Its holder is told once of each key that took the place of the one that signed. False, and nothing is
 * recorded, when another check began later, or when it is removed.
 */
export async function recordWalletCheck(
  { db, config }: Pick<WalletNeeds, "db" | "config">,
  { id, accountId, askedAt }: Asking,
  found: WalletProblem | undefined,
): Promise<boolean> {
  const payable = canBePaid(found);
  return inTransaction(db, async (tx) => {
    // An account is locked before its wallets, wherever both are.
    await tx.query("select from accounts where id = $1 for no key update", [accountId]);
    const { rows } = await tx.query<{ state: string; told: string | null }>(
      `update payout_wallets set problem = $2, reason = $3, looked_at = $4,
         state = case when state = 'unchecked' then state when $5::boolean then 'checked' else 'unpayable' end,
         checked_at = case when state <> 'unchecked' and $5::boolean then now() else checked_at end
       from (select problem as told from payout_wallets where id = $1) former
       where id = $1 and (state in ('checked', 'unpayable') or ${isSigned}) and (looked_at > $4) is not true
       returning state, told`,
      [id, found?.text ?? null, found?.reason ?? null, askedAt, payable],
    );
    const [recorded] = rows;
    if (recorded?.state === "unchecked" && payable) await adoptAndTell(tx, config, accountId, id);
    else if (recorded && found && payable && recorded.told !== found.text) await tellKey(tx, config, accountId, found);
    return recorded !== undefined;
  });
}

async function tellKey(
  tx: Transaction,
  { publicUrl }: WalletNeeds["config"],
  accountId: AccountId,
  { text }: WalletProblem,
): Promise<void> {
  await noteEmail(tx, accountId, securityEmail(publicUrl, "wallet", "A payout wallet has another key", text));
}

/** A check of a wallet: which one, and when the chain was asked. */
interface Asking {
  readonly id: WalletId;
  readonly accountId: AccountId;
  /** In PostgreSQL's own text: a Date has no microseconds. */
  readonly askedAt: string;
}

/**
 * Nothing more is paid to the wallet, the next quote is without it, and the holder gets an e-mail. 403 for a session that is not fresh. One
 * that never signed can go from any session: nothing was paid to it, and nothing is kept of it.
 */
export async function removeWallet(
  needs: Pick<WalletNeeds, "db" | "config">,
  { account, session }: Holder,
  id: string,
): Promise<void> {
  const { db, config } = needs;
  const wallet = await findWallet(db, account.id, id);
  const hasSigned = wallet.state !== "unchecked";
  if (hasSigned) await requireFresh(db, session);
  const isGone = await inTransaction(db, async (tx) => {
    // An account is locked before its wallets, wherever both are.
    await tx.query("select from accounts where id = $1 for no key update", [account.id]);
    const { rowCount } = await tx.query(hasSigned ? retire : forget, [wallet.id]);
    if (!hasSigned || rowCount === 0) return rowCount === 1;
    const what = `${nameOf(wallet)} was removed: nothing more is paid there.`;
    await noteEmail(tx, account.id, securityEmail(config.publicUrl, "wallet", "A payout wallet was removed", what));
    return true;
  });
  // It has signed meanwhile, or another removed it.
  if (!isGone) await removeWallet(needs, { account, session }, id);
}

const retire = "update payout_wallets set state = 'retired' where id = $1 and state <> 'retired'";
const forget = "delete from payout_wallets where id = $1 and state = 'unchecked' and proved_at is null";

async function findWallet(db: Queryable, accountId: AccountId, id: string): Promise<ListedWallet> {
  if (!/^wal_\w{1,40}$/.test(id)) throw unknownWallet(id);
  const { rows } = await db.query<ListedWallet>(`${select} where id = $1 and account_id = $2 and state <> 'retired'`, [
    id,
    accountId,
  ]);
  if (!rows[0]) throw unknownWallet(id);
  return rows[0];
}

/** A wallet in its stored form, on a network where something can be paid and whose state can be read; 422 otherwise. */
export function readWallet(chains: Chains, { network, address }: Wallet): Wallet {
  const payable = walletNetworks(chains);
  if (!payable.includes(network)) {
    throw new ApiError("invalid_value", `"network" must be one of ${payable.join(", ")}.`, {
      body: { field: "network" },
    });
  }
  requireWalletForm({ network, address });
  if (network.startsWith("hedera:")) return { network, address };
  return { network, address: getAddress(address.toLowerCase()) };
}

/** The networks on which a wallet can be added here: something can be paid there, and they can be read. */
export function walletNetworks({ hedera, evm }: Chains): string[] {
  return payableNetworks.filter((id) => evm.client(id) || id === hedera?.network);
}

function unknownWallet(id: string): ApiError {
  return new ApiError("not_found", `There is no wallet "${id}" of this account.`);
}

export interface ListedWallet extends Wallet {
  readonly id: WalletId;
  /** Proposed; proved and paid; proved, but the chain refuses, now or since it signed. One that is paid has a `problem` where its key is another. */
  readonly state: "unchecked" | "checked" | "unpayable";
  readonly problem: string | null;
  /** The problem as one word. */
  readonly reason: WalletProblem["reason"] | null;
  /** When the chain was asked last, whatever it said. */
  readonly looked_at: Date | null;
  readonly checked_at: Date | null;
  readonly created_at: Date;
  /** What has to be signed before anything is paid to it. */
  readonly challenge: { readonly message: string; readonly expires_at: string } | null;
}

/** One that signed and waits beside the one that is paid until it can be. */
const isSigned = "state = 'unchecked' and proved_at is not null";

const select = `
  select id, network, address, case when ${isSigned} then 'unpayable' else state end as state, problem, reason, looked_at, checked_at, created_at,
    case when state = 'unchecked' and challenge is not null
      then json_build_object('message', challenge, 'expires_at',
        to_char(challenge_expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end as challenge
  from payout_wallets`;
