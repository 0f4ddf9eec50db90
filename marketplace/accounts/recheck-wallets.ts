import { ApiError } from "../../shared/errors.ts";
import type { Context } from "../context.ts";
import type { WalletId } from "../ids.ts";
import { noteLook } from "./own-wallets.ts";
import { problemOf } from "./wallet-check.ts";
import type { Wallet } from "./wallet-proof.ts";

export const recheckEveryMs = 30_000;
const walletsPerRound = 20;

/**
 * Looks again at proved wallets, those not looked at for longest first: a checked one every six hours, one that could not
 * be paid every ten minutes. Copies of the service share the work. A ledger that does not answer changes nothing: the
 * wallet is looked at again in the next round.
 */
export async function recheckWallets({ db, tools, events }: Needs): Promise<void> {
  const { rows } = await db.query<Due>(
    `update payout_wallets set looked_at = now() where id in (
       select id from payout_wallets
       where state in ('checked', 'unpayable')
         and (looked_at is null
           or looked_at < now() - case state when 'checked' then interval '6 hours' else interval '10 minutes' end)
       order by looked_at nulls first limit ${walletsPerRound} for update skip locked
     ) returning id, network, address, state`,
  );
  for (const wallet of rows) {
    const problem = await problemOf(tools, wallet).catch(unlessSilent);
    if (problem === silent) {
      await db.query("update payout_wallets set looked_at = now() - interval '6 hours' where id = $1", [wallet.id]);
      continue;
    }
    await noteLook(db, wallet.id, problem);
    const state = problem === undefined ? "checked" : "unpayable";
    if (state !== wallet.state) events.walletMoved({ walletId: wallet.id, network: wallet.network, state });
  }
}

type Needs = Pick<Context, "db" | "tools" | "events">;

interface Due extends Wallet {
  readonly id: WalletId;
  readonly state: "checked" | "unpayable";
}

const silent = Symbol("silent");

function unlessSilent(error: unknown): typeof silent {
  if (error instanceof ApiError && error.code === "unavailable") return silent;
  throw error;
}
