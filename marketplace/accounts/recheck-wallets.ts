import { ApiError } from "../../shared/errors.ts";
import { forEvery } from "../../shared/for-every.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Config } from "../config.ts";
import type { Events } from "../events.ts";
import type { AccountId, WalletId } from "../ids.ts";
import type { Wallet } from "../wallet.ts";
import { recordWalletCheck } from "./account-wallets.ts";
import { canBePaid, findingOf } from "./wallet-key.ts";
import { type Chains, currentKey } from "./wallet-proof.ts";

const walletsPerRun = 20;
/** A PostgreSQL interval. */
const payableCheckedEvery = "6 hours";
export const unpayableCheckedEvery = "10 minutes";

/**
 * Checks proved wallets again, the one checked longest ago first: one that can be paid every `payableCheckedEvery`, one that
 * could not be paid every `unpayableCheckedEvery`, also one that signed and never could. Copies of the service share the work. A
 * chain that does not answer changes nothing: the wallet is checked again in the next run.
 */
export async function recheckWallets(needs: Needs): Promise<void> {
  const { db } = needs;
  const due = [...(await claim(db, current)), ...(await claim(db, signed))];
  await forEvery(due, (wallet) => recheck(needs, wallet));
}

async function recheck({ db, config, tools, events }: Needs, wallet: Due): Promise<void> {
  const found = await findingOf(db, tools, wallet).catch(unlessSilent);
  if (found === silent) {
    const again = `update payout_wallets set looked_at = now() - interval '${payableCheckedEvery}'
                   where id = $1 and looked_at = $2`;
    await db.query(again, [wallet.id, wallet.askedAt]);
    return;
  }
  if (!wallet.hasKey) await noteKey(db, tools, wallet);
  const isRecorded = await recordWalletCheck({ db, config }, wallet, found);
  const state = canBePaid(found) ? "checked" : "unpayable";
  if (isRecorded && state !== wallet.state) events.walletMoved({ walletId: wallet.id, network: wallet.network, state });
}

/** Of a wallet that was proved before keys were noted, or that an operator vouched for: from now on that key is the one it must have. */
async function noteKey(db: Database, tools: Chains, wallet: Due): Promise<void> {
  const key = await currentKey(tools, wallet).catch(unlessSilent);
  if (key === undefined || key === silent) return;
  const note = "update payout_wallets set proved_key = $2 where id = $1 and proved_key is null";
  await db.query(note, [wallet.id, key]);
}

/** Each by an index of its own. */
const current = `state in ('checked', 'unpayable') and (looked_at is null
  or looked_at < now() - case state when 'checked' then interval '${payableCheckedEvery}' else interval '${unpayableCheckedEvery}' end)`;
/** Not of suspended accounts: none of their wallets takes the place of another. */
const signed = `state = 'unchecked' and proved_at is not null and looked_at < now() - interval '${unpayableCheckedEvery}'
  and exists (select from accounts a where a.id = account_id and a.state = 'open')`;

async function claim(db: Database, isDue: string): Promise<readonly Due[]> {
  const { rows } = await db.query<Due>(
    `update payout_wallets set looked_at = now() where id in (
       select id from payout_wallets where ${isDue}
       order by looked_at nulls first limit ${walletsPerRun} for update skip locked
     ) returning id, network, address, account_id as "accountId", looked_at::text as "askedAt",
       proved_key is not null or network not like 'hedera:%' as "hasKey",
       case state when 'unchecked' then 'unpayable' else state end as state`,
  );
  return rows;
}

interface Needs {
  readonly db: Database;
  readonly config: Pick<Config, "publicUrl">;
  readonly tools: Chains;
  readonly events: Pick<Events, "walletMoved">;
}

interface Due extends Wallet {
  readonly id: WalletId;
  readonly accountId: AccountId;
  readonly askedAt: string;
  /** The key that it must have is known, or it is on a chain where an address keeps its key. */
  readonly hasKey: boolean;
  readonly state: "checked" | "unpayable";
}

const silent = Symbol("silent");

function unlessSilent(error: unknown): typeof silent {
  if (error instanceof ApiError && error.code === "unavailable") return silent;
  throw error;
}
