/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../../shared/errors.ts";
import type { Database } from "../../../../shared/postgres.ts";
import {
  addWallet,
  checkWallet,
  type ListedWallet,
  listWallets,
  proveWallet,
  walletNetworks,
} from "../../../accounts/account-wallets.ts";
import { agentsPaidPerCall } from "../../../accounts/paid-agents.ts";
import type { Chains } from "../../../accounts/wallet-proof.ts";
import { figuresDays } from "../../../agents/count-runs.ts";
import { readPaidOn } from "../../../agents/creator-figures.ts";
import type { Config } from "../../../config.ts";
import { demoWalletPath } from "../../demo-wallet.ts";
import type { Page, Redirect } from "../../page.ts";
import { offerWalletConnect } from "../../wallet-connect.tsx";
import { type AccountVisit, type ConsoleShown, type ConsoleView, consolePage, done } from "../console-page.tsx";
import { freshHint } from "../fresh-hint.tsx";
import { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { AddWallet } from "./add-wallet.tsx";
import { WalletList } from "./wallet-list.tsx";
import { StatesTable } from "./wallet-states.tsx";

interface Needs {
  readonly db: Database;
  readonly config: Pick<Config, "publicUrl" | "demoWalletScript" | "walletConnect">;
  readonly tools: Chains;
}

const path = "/settings/wallets";

/** Where the account is paid per call: added, signed for, checked. */
export function walletsPage(needs: Needs): Page {
  return consolePage(needs, {
    path,
    scriptBytesMax: 30_000,
    formBytesMax: 32_768,
    notices: {
      proved: "The wallet is checked. Your agents offer it from the next quote on.",
      signed: "It is yours, and need not sign again. What keeps it from being paid stands beside it.",
      payable: "The network was asked: the wallet can be paid.",
      unpayable: "The network was asked. What it said stands beside the wallet.",
      removed: "The wallet is removed. Nothing more is paid to it.",
    },
    show: (visit, refusal) => view(needs, visit, refusal),
    acts: {
      add: async ({ account, viewer: { session } }, form) => {
        const given = { network: form.get("network") ?? "", address: (form.get("address") ?? "").trim() };
        const { id } = await addWallet(needs, { account, session }, given);
        return { redirect: `${path}?sign=${id}#add` };
      },
      prove: (visit, form) =>
        unlessSilent(needs, visit, form, async () => {
          const signature = (form.get("signature") ?? "").trim();
          const holder = { account: visit.account, session: visit.viewer.session };
          const proof = await proveWallet(needs, holder, form.get("id") ?? "", signature).catch(unlessUnpayable);
          return fromTheTop(done(path, proof ? "proved" : "signed"));
        }),
      check: (visit, form) =>
        unlessSilent(needs, visit, form, async () => {
          const { state } = await checkWallet(needs, visit.account, form.get("id") ?? "");
          return done(path, state === "checked" ? "payable" : "unpayable");
        }),
    },
  });
}

/** The form is posted to an address that leads to itself, further down than what is said of it. */
const fromTheTop = ({ redirect }: Redirect): Redirect => ({ redirect: `${redirect}#top` });

/** A wallet that has signed and cannot be paid yet is listed with the reason. */
function unlessUnpayable(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.body.reason === undefined) throw error;
}

/** A network that does not answer changes nothing, and what was typed stays. */
async function unlessSilent(
  needs: Needs,
  visit: AccountVisit,
  form: URLSearchParams,
  ask: () => Promise<ConsoleShown>,
): Promise<ConsoleShown> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "unavailable") throw error;
    return { ...(await view(needs, visit, new Refusal(error, form.get("act") ?? "", form))), status: error.status };
  }
}

async function view({ db, config, tools }: Needs, visit: AccountVisit, refusal?: Refusal): Promise<ConsoleView> {
  const { account, query, viewer } = visit;
  const [wallets, agents, paid] = await Promise.all([
    listWallets(db, account.id),
    agentsPaidPerCall(db, account.id),
    readPaidOn(db, account.id, figuresDays),
  ]);
  const chosen = query.get("network") ?? undefined;
  const id = refusal?.value("id") ?? query.get("sign");
  const proposed = wallets.find((wallet) => wallet.id === id && wallet.state === "unchecked");
  const networks = walletNetworks(tools);
  const walletsChange = "Payout wallets are proved and removed";
  const hint = await freshHint(db, viewer.session, proposed ? `${path}?sign=${proposed.id}` : path, walletsChange);
  const outside = offerWalletConnect(config, networks);
  return {
    title: "Payout wallets",
    lede: "Calls paid by wallet go straight here, one account for each network. We never hold that money.",
    islands: ["wallets.js"],
    widening: outside.widening,
    body: (
      <>
        {(refusal?.act === "check" || (refusal?.act === "prove" && !proposed)) && <RefusedNote refusal={refusal} />}
        {hint}
        <AddWallet
          networks={networks}
          chosen={chosen}
          proposed={proposed}
          replaced={replacedBy(chosen, wallets)}
          refusal={refusal}
        />
        <WalletList wallets={wallets} agents={agents} paid={paid} />
        <StatesTable />
        {outside.dialog}
        {config.demoWalletScript && <script src={demoWalletPath} defer />}
      </>
    ),
  };
}

function replacedBy(network: string | undefined, wallets: readonly ListedWallet[]): ListedWallet | undefined {
  return wallets.find((wallet) => wallet.network === network && wallet.state === "checked");
}
