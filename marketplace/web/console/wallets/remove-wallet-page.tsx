/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../../shared/errors.ts";
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import { type ListedWallet, listWallets, removeWallet } from "../../../accounts/account-wallets.ts";
import { agentsPaidPerCall } from "../../../accounts/paid-agents.ts";
import type { Config } from "../../../config.ts";
import { networkName } from "../../agent/networks.tsx";
import type { Page } from "../../page.ts";
import { ActField } from "../act-field.tsx";
import { type AccountVisit, type ConsoleView, consolePage, done } from "../console-page.tsx";
import { freshHint } from "../fresh-hint.tsx";
import type { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";

/** Asks before a wallet is removed, and says what buyers lose by it. */
export function removeWalletPage(needs: Needs): Page {
  return consolePage(needs, {
    path: "/settings/wallets/{id}/remove",
    scriptBytesMax: 4_096,
    show: (visit, refusal) => question(needs, visit, refusal),
    acts: {
      remove: async ({ account, viewer, params }) => {
        await removeWallet(needs, { account, session: viewer.session }, params.id ?? "");
        return done("/settings/wallets", "removed");
      },
    },
  });
}

interface Needs {
  readonly db: Database;
  readonly config: Pick<Config, "publicUrl">;
}

async function question({ db }: Needs, visit: AccountVisit, refusal?: Refusal): Promise<ConsoleView> {
  const { account, viewer, params } = visit;
  const wallets = await listWallets(db, account.id);
  const wallet = wallets.find(({ id }) => id === params.id);
  if (!wallet) throw new ApiError("not_found", "There is no such wallet.");
  const [agents, hint] = await Promise.all([
    agentsPaidPerCall(db, account.id),
    wallet.state === "unchecked"
      ? undefined
      : freshHint(db, viewer.session, `/settings/wallets/${wallet.id}/remove`, "Payout wallets are removed"),
  ]);
  return {
    title: `Remove the wallet on ${networkName(wallet.network)}?`,
    body: (
      <div class="stack measure">
        <RefusedNote refusal={refusal} />
        <p>
          <span class="mono">{wallet.address}</span>
        </p>
        <p>{consequenceOf(wallet, wallets, agents.length)}</p>
        {hint}
        <form class="row" method="post" action={`/settings/wallets/${wallet.id}/remove`}>
          <ActField value="remove" />
          <ButtonLink href="/settings/wallets">Keep it</ButtonLink>
          <Button look="danger-solid">Remove wallet</Button>
        </form>
      </div>
    ),
  };
}

function consequenceOf(wallet: ListedWallet, wallets: readonly ListedWallet[], agents: number): string {
  if (wallet.state === "unchecked") return "It was not signed for, so nothing was paid to it. Nothing else changes.";
  if (wallet.state !== "checked") return consequenceOfUnpaid(wallet, wallets);
  const which = agents === 1 ? "Your agent" : `Your ${agents} agents`;
  const others = wallets.some(({ id, state }) => id !== wallet.id && state === "checked");
  const left = others ? "" : " No wallet is left then: they are sold for credits alone, and credits are spent here.";
  const lost =
    agents === 0
      ? "Nothing is paid to it at the moment."
      : `${which} can no longer be paid on ${networkName(wallet.network)}.${left}`;
  return `${lost} What was paid before stays where it is. To be paid there again, the wallet has to sign again.`;
}

function consequenceOfUnpaid({ network }: ListedWallet, wallets: readonly ListedWallet[]): string {
  const paid = wallets.find((other) => other.network === network && other.state === "checked");
  const now = paid
    ? `It is not paid: ${paid.address} is, and goes on being paid.`
    : `Nothing can be paid to it on ${networkName(network)} as it is.`;
  return `${now} To be paid here, it would have to sign again.`;
}
