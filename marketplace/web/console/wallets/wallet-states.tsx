/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge, type Tone } from "../../../../shared/page/badge.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { Table } from "../../../../shared/page/table.tsx";
import type { ListedWallet } from "../../../accounts/account-wallets.ts";
import type { WalletProblem } from "../../../accounts/wallet-check.ts";
import { stablecoinOn } from "../../../stablecoins.ts";

interface State {
  readonly name: string;
  readonly tone: Tone;
  readonly means: string;
  readonly buyers: string;
  readonly act: string;
}

const unpayable = { tone: "bad", buyers: "not offered", act: "use another" } as const;

const states = {
  unchecked: {
    name: "not signed",
    tone: "warn",
    means: "It is not proved to be yours",
    buyers: "not offered",
    act: "sign the text",
  },
  checked: {
    name: "checked",
    tone: "ok",
    means: "Yours, and a transfer of USDC would succeed",
    buyers: "offered",
    act: "nothing",
  },
  another_key: {
    name: "another key",
    tone: "warn",
    means: "Hedera: not the key that signed, so your agents do not act with it",
    buyers: "offered",
    act: "add it again",
  },
  not_associated: {
    name: "not associated",
    tone: "warn",
    means: "Hedera: the account has not associated the token",
    buyers: "not offered",
    act: "associate it",
  },
  frozen: { ...unpayable, name: "frozen", means: "The issuer of USDC refuses transfers to it" },
  deleted: { ...unpayable, name: "deleted", means: "The account is gone from the ledger" },
  no_such_account: { ...unpayable, name: "no such account", means: "The network does not know the account" },
  receiver_signature_required: {
    ...unpayable,
    tone: "warn",
    name: "signs for receiving",
    means: "Hedera: the account must sign what it receives, and no buyer waits for that",
    act: "switch it off",
  },
  kyc_revoked: { ...unpayable, name: "no KYC grant", means: "Hedera: the issuer has not granted KYC to it" },
  burnt: { ...unpayable, name: "lost address", means: "What is paid to it is lost" },
  not_offered: { ...unpayable, name: "not offered", means: "Nothing is paid on this network any more" },
} as const satisfies Readonly<Record<"unchecked" | "checked" | WalletProblem["reason"], State>>;

export function WalletBadge({ wallet }: { wallet: Pick<ListedWallet, "state" | "reason"> }) {
  const { name, tone } = stateOf(wallet);
  return (
    <Badge tone={tone} dot>
      {name}
    </Badge>
  );
}

/** One that became unpayable before reasons were kept has none until it is checked again. */
function stateOf({ state, reason }: Pick<ListedWallet, "state" | "reason">): Pick<State, "name" | "tone"> {
  if (state === "checked" && reason !== null) return states[reason];
  if (state !== "unpayable") return states[state];
  return reason === null ? { name: "not payable", tone: "bad" } : states[reason];
}

/** What to know of a wallet that has a problem, and the way out. */
export function explanationOf(
  { network, address }: Pick<ListedWallet, "network" | "address">,
  reason: WalletProblem["reason"] | null,
  problem: string | null,
): { readonly title: string; readonly text: string; readonly tone: Tone } {
  const token = stablecoinOn(network)?.asset ?? "USDC";
  switch (reason) {
    case "not_associated":
      return {
        tone: "warn",
        title: "This account cannot receive USDC yet",
        text: `In your wallet, associate token ${token} (a few cents in HBAR) or allow one automatic association. Then check again.`,
      };
    case "frozen":
      return {
        tone: "bad",
        title: "The issuer of USDC has frozen this address",
        text: "Transfers to it fail, so it is not offered. Only the issuer can lift that. Use another address.",
      };
    case "deleted":
      return {
        tone: "bad",
        title: "This account is deleted",
        text: `${address} is gone from the ledger and does not come back. Use another account.`,
      };
    case "receiver_signature_required":
      return {
        tone: "warn",
        title: "This account has to sign for what it receives",
        text: "No buyer waits for that. Switch “receiver signature required” off in your wallet, then check again.",
      };
    case "kyc_revoked":
      return {
        tone: "bad",
        title: "The issuer has not granted KYC to this account",
        text: `Transfers of token ${token} to it fail. Ask the issuer, or use another account.`,
      };
    case "another_key":
      return {
        tone: "warn",
        title: "Your agents do not act with this wallet",
        text: `${problem ?? "It has another key than the one that signed for it."} Press Replace, give the same account, and sign with the key that it has now.`,
      };
    default:
      return {
        tone: "bad",
        title: "This wallet cannot be paid",
        text: `${problem ?? "The network refuses transfers to it."} Use another one.`,
      };
  }
}

const shownStates = [
  states.unchecked,
  states.checked,
  states.another_key,
  states.not_associated,
  states.receiver_signature_required,
  states.frozen,
  states.deleted,
  {
    name: "unknown",
    tone: "maybe",
    means: "The network did not answer: what was known stays",
    buyers: "as before",
    act: "wait",
  },
] as const satisfies readonly State[];

/** On phones, where the table has no heads. */
function Labelled({ label, text }: { label: string; text: string }) {
  return (
    <span class="dim">
      <span class="only-s">{label}: </span>
      {text}
    </span>
  );
}

export function StatesTable() {
  return (
    <section class="stack" aria-labelledby="states">
      <h2 id="states">What the states mean</h2>
      <Card id="states-table" bare>
        <Table<State>
          label="States of a wallet"
          stack
          rows={shownStates}
          columns={[
            {
              head: "State",
              cell: ({ name, tone }) => (
                <Badge tone={tone} dot>
                  {name}
                </Badge>
              ),
            },
            { head: "Means", cell: ({ means }) => means },
            { head: "Buyers", cell: ({ buyers }) => <Labelled label="Buyers" text={buyers} /> },
            { head: "Do", cell: ({ act }) => <Labelled label="Do" text={act} /> },
          ]}
        />
      </Card>
    </section>
  );
}
