/** @jsxRuntime automatic @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { networkOf } from "../../../shared/networks.ts";
import { Button } from "../../../shared/page/button.tsx";
import { Hash } from "../../../shared/page/copy.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { Icon } from "../../../shared/page/icon.tsx";
import { KeyValues } from "../../../shared/page/table.tsx";
import { faucet } from "../../stablecoins.ts";
import { NetworkMark, networkName } from "./networks.tsx";

export interface WalletPanelProps {
  /** CAIP-2 of the networks that can be paid on, and the payee on each. */
  readonly payees: ReadonlyArray<{ readonly network: string; readonly address: string }>;
  /** `the creator`. */
  readonly payee: string;
  readonly cost: ComponentChildren;
  /** A view has one primary button. */
  readonly look?: "primary";
  /** The verb of its button. */
  readonly children: ComponentChildren;
  /** The way to pay otherwise: what it is called, and leads to. */
  readonly otherwise: (look: "btn" | "link") => ComponentChildren;
}

/** Paying from a wallet in this browser. The island shows it once it has found one; before that, and without script, the page shows another way to pay. */
export function WalletPanel({ payees, payee, cost, look, children, otherwise }: WalletPanelProps) {
  return (
    <>
      <noscript>
        <Empty title="Wallets are asked by JavaScript" action={otherwise("btn")}>
          Switch it on for this page, pay with credits, or pay from a terminal.
        </Empty>
      </noscript>
      <div id="wallet-none" class="if-scripts">
        <Empty title="No wallet found in this browser" action={otherwise("btn")}>
          Install an EVM wallet and reload; on a phone, open this page in your wallet’s own browser. Or pay from a
          terminal.{" "}
          <a class="link" href="/docs/per-call#from-a-hedera-wallet">
            How a Hedera wallet pays
          </a>
        </Empty>
      </div>
      <div id="wallet-found" class="stack stack-3" hidden>
        <div class="row between">
          <div class="seg" role="radiogroup" aria-label="Network of the payment">
            {payees.map(({ network, address }, at) => (
              <label>
                <input
                  type="radio"
                  name="network"
                  value={network}
                  data-to={address}
                  checked={at === 0}
                  data-asset={networkOf(network)?.stablecoins[0]?.asset}
                  data-faucet={networkOf(network)?.environment === "testnet" ? faucet : undefined}
                />
                <NetworkMark network={network} />
                {networkName(network)}
              </label>
            ))}
          </div>
          <span class="select select-sm" id="wallet-choice" hidden>
            <select aria-label="Wallet" />
            <Icon name="chevron-down" />
          </span>
          <span class="small faint" id="wallet-name" />
        </div>
        <Button type="button" look={look} size="large" block cost={cost} data-run="wallet">
          {children}
        </Button>
        <dl class="kv" id="wallet-holds" hidden />
        <div id="wallet-short" />
        <p class="help" id="wallet-cannot" hidden>
          This wallet does not sign for that network. Choose another, or {otherwise("link")}.
        </p>
        <Payees payees={payees} payee={payee} />
      </div>
    </>
  );
}

/** The payee on each network; the island shows the one of the chosen network. */
function Payees({ payees, payee }: Pick<WalletPanelProps, "payees" | "payee">) {
  return (
    <>
      {payees.map(({ network, address }) => (
        <div data-payee={network}>
          <KeyValues
            entries={[
              [`To ${payee}`, <Hash value={address} label={`Copy ${payee}’s address`} short />],
              ["On", networkNoteOf(network)],
              ["Network fee", "paid by the facilitator"],
            ]}
          />
        </div>
      ))}
    </>
  );
}

function networkNoteOf(network: string): string {
  return networkOf(network)?.environment === "testnet"
    ? `${networkName(network)}, a test network`
    : networkName(network);
}
