/** @jsxRuntime automatic @jsxImportSource preact */
import { Button, ButtonLink } from "../../../shared/page/button.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { freePictureMax } from "../../svg/free-picture.ts";
import { svgProducts } from "../../svg/products.ts";
import { WalletPanel } from "../agent/wallet-panel.tsx";
import { signInPath } from "../layout.tsx";
import { creditsOf, usdcOf } from "../money.tsx";
import type { FormProps } from "./form.tsx";

const price = { trace: svgProducts["svg-vectorize"].price, draw: svgProducts["svg-generate"].price };
const hdPrice = svgProducts["svg-generate-hd"].price;

/** Tracing a picture, from credits or as a free try. */
export function TracePay({ hasAccount, triesLeft = 0 }: Pick<FormProps, "hasAccount" | "triesLeft">) {
  const left = `${triesLeft} left today`;
  return (
    <div class="panel-part for-trace">
      {hasAccount && (
        <Button look="primary" size="large" block name="pay" value="credits" cost={creditsOf(price.trace)}>
          Trace
        </Button>
      )}
      {triesLeft > 0 && (
        <Button
          look={hasAccount ? undefined : "primary"}
          size={hasAccount ? undefined : "large"}
          block
          name="pay"
          value="free"
          cost={<span data-tries="">{left}</span>}
        >
          {hasAccount ? "Free try" : "Trace for free"}
        </Button>
      )}
      {!hasAccount && (
        <ButtonLink
          look={triesLeft > 0 ? undefined : "primary"}
          size={triesLeft > 0 ? undefined : "large"}
          block
          href={signInPath("/svg")}
          cost={creditsOf(price.trace)}
        >
          Sign in to trace
        </ButtonLink>
      )}
      <p class="help">
        {triesLeft > 0 && `Free: pictures of up to ${freePictureMax}; nothing is stored. `}
        What fails costs nothing.
      </p>
    </div>
  );
}

/** Drawing from words, from credits. */
export function DrawPay({ hasAccount }: Pick<FormProps, "hasAccount">) {
  return (
    <div class="panel-part for-draw">
      {hasAccount ? (
        <Button look="primary" size="large" block name="pay" value="credits" cost={<DrawCost />}>
          Draw
        </Button>
      ) : (
        <ButtonLink look="primary" size="large" block href={signInPath("/svg")} cost={<DrawCost />}>
          Sign in to draw
        </ButtonLink>
      )}
      <p class="help">Usually 15 to 60 seconds. What fails costs nothing.</p>
    </div>
  );
}

/** Without an account: from a wallet in this browser, or a terminal. */
export function WalletPay({ payees }: Pick<FormProps, "payees">) {
  return (
    <div class="panel-part">
      <Disclosure summary={<span>Without an account: by wallet</span>}>
        <div class="stack stack-3">
          <WalletPanel
            payees={payees}
            payee="the service"
            cost={<WalletCost />}
            otherwise={(look) => (
              <a class={look} href="/docs/per-call">
                {look === "btn" ? "How to pay from a terminal" : "pay from a terminal"}
              </a>
            )}
          >
            <span class="for-trace">Pay and trace</span>
            <span class="for-draw">Pay and draw</span>
          </WalletPanel>
        </div>
      </Disclosure>
    </div>
  );
}

function WalletCost() {
  return (
    <>
      <span class="for-trace">{usdcOf(price.trace)}</span>
      <span class="for-draw">
        <span class="if-plain">{usdcOf(price.draw)}</span>
        <span class="if-hd">{usdcOf(hdPrice)}</span>
      </span>
    </>
  );
}

/** Both prices; the style sheet shows the one that the switch for HD asks for. */
function DrawCost() {
  return (
    <>
      <span class="if-plain">{creditsOf(price.draw)}</span>
      <span class="if-hd">{creditsOf(hdPrice)}</span>
    </>
  );
}
