/** @jsxRuntime automatic @jsxImportSource preact */

import { Button, ButtonLink } from "../../../shared/page/button.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { figures } from "../../../shared/page/figures.ts";
import { Icon } from "../../../shared/page/icon.tsx";
import { creditWorth } from "../../answers/amounts.ts";
import { signInPath } from "../layout.tsx";
import { creditsOf, usdcOf } from "../money.tsx";
import { CodeTabs } from "./code-tabs.tsx";
import type { PaymentMethod, Tried } from "./tried.ts";
import { WalletPanel } from "./wallet-panel.tsx";

/** Three ways to pay for a run, of which one is open. */
export function PayCard({ tried }: { tried: Tried }) {
  const { shown } = tried;
  if (shown.detail.price_credits === 0) return <FreeCard tried={tried} />;
  const canPay = shown.detail.per_call !== null;
  const price = BigInt(shown.detail.price_credits);
  return (
    <section class="card pay" aria-labelledby="pay-title">
      <div class="card-body stack stack-3">
        <h2 class="vh" id="pay-title">
          Pay with
        </h2>
        <div class="rails" role="radiogroup" aria-labelledby="pay-title">
          <MethodChoice method="credits" chosen={tried.method} icon="coins" name="Credits" cost={creditsOf(price)} />
          {canPay && (
            <MethodChoice method="wallet" chosen={tried.method} icon="wallet" name="Wallet" cost={usdcOf(price)} />
          )}
          <MethodChoice
            method="terminal"
            chosen={tried.method}
            icon="terminal"
            name="Terminal"
            cost={canPay ? usdcOf(price) : creditsOf(price)}
          />
        </div>
        <div class="by by-credits">
          <Credits tried={tried} />
        </div>
        {canPay && (
          <div class="by by-wallet">
            <Wallet shown={shown} />
          </div>
        )}
        <div class="by by-terminal">
          <Terminal tried={tried} />
        </div>
        <p class="row row-tight small faint">
          <Icon name="lock" />
          <span>
            Price locked. If it rises before you press, you are asked first.
            {shown.agent.version.permanent
              ? " This agent’s effect cannot be undone, so it is paid before it runs; a failed run can be tried again."
              : " A failed run costs nothing."}
          </span>
        </p>
      </div>
    </section>
  );
}

interface MethodChoiceProps {
  readonly method: PaymentMethod;
  readonly chosen: PaymentMethod;
  readonly icon: "coins" | "wallet" | "terminal";
  readonly name: string;
  readonly cost: string;
}

function MethodChoice({ method, chosen, icon, name, cost }: MethodChoiceProps) {
  return (
    <label>
      <input type="radio" name="by" id={`by-${method}`} value={method} checked={method === chosen} />
      <b>
        <Icon name={icon} />
        {name}
      </b>
      <span>{cost}</span>
    </label>
  );
}

/** Free: nothing to choose. One that needs an account says so. */
function FreeCard({ tried }: { tried: Tried }) {
  const { detail, agent } = tried.shown;
  const isOpen = detail.per_call !== null || tried.viewer?.account !== undefined;
  return (
    <section class="card pay" aria-labelledby="pay-title">
      <div class="card-body stack stack-3">
        <h2 class="vh" id="pay-title">
          Run
        </h2>
        {isOpen ? (
          <Button look="primary" size="large" block cost="free">
            Run
          </Button>
        ) : (
          <ButtonLink look="primary" size="large" block href={signInPath(`/${agent.address}`)}>
            Sign in to run it
          </ButtonLink>
        )}
        <Disclosure summary="From a terminal">
          <Terminal tried={tried} />
        </Disclosure>
      </div>
    </section>
  );
}

function Credits({ tried: { shown, viewer } }: { tried: Tried }) {
  const price = BigInt(shown.detail.price_credits);
  if (!viewer?.account) {
    const here = `/${shown.detail.agent}`;
    return (
      <>
        <ButtonLink look="primary" size="large" block href={signInPath(here)}>
          {viewer ? "Open an account to run with credits" : "Sign in to run with credits"}
        </ButtonLink>
        <p class="small faint">{creditWorth}. What a run does not use stays yours.</p>
      </>
    );
  }
  const balance = viewer.spendable ?? 0n;
  return (
    <>
      <Button look="primary" size="large" block cost={creditsOf(price)} data-run="credits">
        Run
      </Button>
      <p class="row between small faint num" id="balance">
        <span>Balance {creditsOf(balance)}</span>
        <span>{balance >= price ? `${figures(balance - price)} after this run` : "not enough for this run"}</span>
      </p>
      <p class="small" id="buy-credits" hidden={balance >= price}>
        <a class="link" href="/settings/credits">
          Buy credits
        </a>
        {shown.detail.per_call && ", or pay this run by wallet."}
      </p>
    </>
  );
}

function Wallet({ shown: { detail, agent } }: Pick<Tried, "shown">) {
  const networks = detail.per_call?.networks ?? [];
  return (
    <WalletPanel
      payees={networks.flatMap((network) => agent.wallets.find((wallet) => wallet.network === network) ?? [])}
      look="primary"
      payee="the creator"
      cost={usdcOf(detail.price_credits)}
      otherwise={(look) => (
        <label class={look} for="by-terminal">
          {look === "btn" ? "Use the terminal" : "pay from the terminal"}
        </label>
      )}
    >
      Pay and run
    </WalletPanel>
  );
}

function Terminal({ tried: { shown, values, snippets } }: { tried: Tried }) {
  if (snippets.length === 0) {
    return (
      <p class="small faint">
        With an API key:{" "}
        <a class="link" href={`/${shown.detail.agent}/api`}>
          curl, TypeScript, Python
        </a>
        .
      </p>
    );
  }
  return (
    <>
      <CodeTabs id="terminal" snippets={snippets} input={values} />
      <p class="help">Your signing key stays on your machine. Underlined values are your input.</p>
    </>
  );
}
