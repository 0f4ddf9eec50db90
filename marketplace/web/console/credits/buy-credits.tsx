/** @jsxRuntime automatic @jsxImportSource preact */

import { networkOf } from "../../../../shared/networks.ts";
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import { Callout } from "../../../../shared/page/callout.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { Empty } from "../../../../shared/page/empty.tsx";
import { Field } from "../../../../shared/page/field.tsx";
import { Rail } from "../../../../shared/page/rail.tsx";
import { KeyValues } from "../../../../shared/page/table.tsx";
import { dollarsPerCredit } from "../../../answers/amounts.ts";
import { purchaseMax } from "../../../payments/purchase.ts";
import { faucet } from "../../../stablecoins.ts";
import { NetworkMark, networkName } from "../../agent/networks.tsx";
import { usdcOf } from "../../money.tsx";

const usual = [500, 1_000, 5_000] as const;
const chosen = 1_000;

/**
 * Buying by a wallet in this browser; an island pays and shows how it goes. Without a wallet, or without script, the page shows
 * how to buy from a program.
 */
export function BuyCredits({ accountId, networks }: { accountId: string; networks: readonly string[] }) {
  if (networks.length === 0) {
    return (
      <Card id="buy" title="Buy credits">
        <p class="dim small">This service sells no credits at the moment. Ask its operator.</p>
      </Card>
    );
  }
  return (
    <Card
      id="buy"
      title="Buy credits"
      aside={
        <span class="small faint" id="buy-said">
          {chosen.toLocaleString("en-US")} credits for {usdcOf(chosen)}
        </span>
      }
    >
      <div class="cols cols-5-7">
        <noscript>
          <Empty title="Wallets are asked by JavaScript" action={fromProgram}>
            Switch it on for this page, or buy with an API key and any x402 client.
          </Empty>
        </noscript>
        <PurchaseForm accountId={accountId} networks={networks} />
        <div class="stack" id="purchase" aria-live="polite">
          <h3>How a purchase goes</h3>
          <Rail flat={false} stops={stops} />
          <div class="if-scripts">
            <Callout title="You may reload this page">
              A payment that is under way goes on, and is credited once, however often the page asks.
            </Callout>
          </div>
        </div>
      </div>
    </Card>
  );
}

const fromProgram = (
  <ButtonLink size="small" href="/docs/api/purchaseCredits">
    Buy from a program
  </ButtonLink>
);

/** How many credits, and the wallet that pays for them. */
function PurchaseForm({ accountId, networks }: { accountId: string; networks: readonly string[] }) {
  return (
    <form class="stack pay if-scripts" id="buy-form" data-account={accountId}>
      <fieldset>
        <legend class="label">Amount</legend>
        <div class="rails">
          {usual.map((amount) => (
            <label>
              <input type="radio" name="amount" value={amount} checked={amount === chosen} />
              <b>{amount.toLocaleString("en-US")}</b>
              <span>{usdcOf(amount)}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <Field
        id="own-amount"
        name="credits"
        label="Another amount"
        note={`1 to ${purchaseMax.toLocaleString("en-US")}`}
        control={(tied) => (
          <span class="affix">
            <input
              class="input num"
              inputMode="numeric"
              pattern="[0-9]{1,7}"
              title={`A whole number, 1 to ${purchaseMax}`}
              placeholder="2500"
              data-field="credits"
              data-type="integer"
              {...tied}
            />
            <span>credits</span>
          </span>
        )}
      />
      <WalletWay networks={networks} />
    </form>
  );
}

const stops = [
  { name: "Quoted", state: "ahead", say: `${dollarsPerCredit} a credit` },
  { name: "Signed", state: "ahead", say: "by your wallet" },
  { name: "Verified", state: "ahead", say: "nothing moved yet" },
  { name: "Settled", state: "ahead", say: "on the network you chose" },
  { name: "Credited", state: "ahead", say: "to your balance" },
] as const;

function WalletWay({ networks }: { networks: readonly string[] }) {
  return (
    <>
      <div id="wallet-none">
        <Empty title="No wallet found in this browser" action={fromProgram}>
          Install an EVM wallet and reload, or buy with an API key and any x402 client.
        </Empty>
      </div>
      <div class="stack" id="wallet-found" hidden>
        <fieldset>
          <legend class="label">Pay on</legend>
          <div class="seg">
            {networks.map((network, at) => (
              <label>
                <input
                  type="radio"
                  name="network"
                  value={network}
                  checked={at === 0}
                  data-asset={networkOf(network)?.stablecoins[0]?.asset}
                  data-faucet={networkOf(network)?.environment === "testnet" ? faucet : undefined}
                />
                <NetworkMark network={network} />
                {networkName(network)}
              </label>
            ))}
          </div>
        </fieldset>
        <KeyValues
          entries={[
            [
              "From",
              <>
                <span id="wallet-name" />
                <span class="select select-sm" id="wallet-choice" hidden>
                  <select aria-label="Wallet" />
                </span>
              </>,
            ],
            ["Network fee", "paid by the facilitator"],
          ]}
        />
        <Button look="primary" size="large" block cost={usdcOf(chosen)} data-run="wallet">
          Pay
        </Button>
        <dl class="kv" id="wallet-holds" hidden />
        <div id="wallet-short" />
        <p class="help" id="wallet-cannot" hidden>
          This wallet does not sign for that network. Choose another one.
        </p>
      </div>
    </>
  );
}
