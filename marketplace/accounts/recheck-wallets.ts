import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Events } from "../events.ts";
import type { WalletId } from "../ids.ts";
import type { Wallet } from "../wallet.ts";
import { recordWalletCheck } from "./account-wallets.ts";
import { problemOf } from "./wallet-check.ts";
import type { Chains } from "./wallet-proof.ts";

const walletsPerRun = 20;
/** As PostgreSQL reads it. */
const payableCheckedEvery = "6 hours";

/**
 * Checks proved wallets again, the one checked longest ago first: one that can be paid every six hours, one that could not
 * be paid every ten minutes. Copies of the service share the work. A chain that does not answer changes nothing: the
 * wallet is checked again in the next run.
 */
export async function recheckWallets({ db, tools, events }: Needs): Promise<void> {
  const { rows } = await db.query<Due>(
    `update payout_wallets set looked_at = now() where id in (
       select id from payout_wallets
       where state in ('checked', 'unpayable')
         and (looked_at is null
           or looked_at < now() - case state when 'checked' then interval '${payableCheckedEvery}' else interval '10 minutes' end)
       order by looked_at nulls first limit ${walletsPerRun} for update skip locked
     ) returning id, network, address, state`,
  );
  for (const wallet of rows) {
    const problem = await problemOf(tools, wallet).catch(unlessSilent);
    if (problem === silent) {
      await db.query(`update payout_wallets set looked_at = now() - interval '${payableCheckedEvery}' where id = $1`, [
        wallet.id,
      ]);
      continue;
    }
    await recordWalletCheck(db, wallet.id, problem);
    const state = problem === undefined ? "checked" : "unpayable";
    if (state !== wallet.state) events.walletMoved({ walletId: wallet.id, network: wallet.network, state });
  }
}

interface Needs {
  readonly db: Database;
  readonly tools: Chains;
  readonly events: Pick<Events, "walletMoved">;
}

interface Due extends Wallet {
  readonly id: WalletId;
  readonly state: "checked" | "unpayable";
}

const silent = Symbol("silent");

function unlessSilent(error: unknown): typeof silent {
  if (error instanceof ApiError && error.code === "unavailable") return silent;
  throw error;
}
