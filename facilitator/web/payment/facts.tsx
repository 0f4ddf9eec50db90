/** @jsxRuntime automatic @jsxImportSource preact */
import { Card } from "../../../shared/page/card.tsx";
import { Hash } from "../../../shared/page/copy.tsx";
import { noFigure } from "../../../shared/page/figures.ts";
import { KeyValues } from "../../../shared/page/table.tsx";
import { momentOf } from "../../../shared/page/time.tsx";
import type { NetworkFee } from "../../network-fees.ts";
import type { PaymentStory } from "../../payments.ts";
import { paymentsFor } from "../address.ts";
import { isUnfinished } from "./unfinished.ts";

/** The payment's amount, payer, payee and resource. */
export function Facts({ story, amount, fee, token, to }: FactsProps) {
  const mayLand = isUnfinished(story) || story.retryable;
  const hash = (value: string, what: string, href?: string) => (
    <Hash value={value} label={`Copy ${what}`} href={href} />
  );
  return (
    <Card
      id="payment"
      title="Payment"
      aside={
        story.explorer && (
          <a class="go small" href={story.explorer}>
            Explorer
          </a>
        )
      }
    >
      <KeyValues
        lines
        entries={[
          ["Transaction", story.transaction === null ? "none signed yet" : hash(story.transaction, "transaction")],
          [
            "Amount",
            <>
              {amount} <span class="faint">{story.amount_atomic} units</span>
            </>,
          ],
          ["Asset", story.asset ? hash(story.asset, "asset", token) : "–"],
          ["Payer", hash(story.payer, "payer", to(`/payers/${encodeURIComponent(story.payer)}`))],
          ["Paid to", hash(story.pay_to, "payee", to(`/payees/${encodeURIComponent(story.pay_to)}`))],
          ["For", <PaidFor url={story.resource_url} to={to} />],
          [
            "Fee payer",
            story.feePayer === undefined ? (
              "not chosen yet"
            ) : (
              <>
                {hash(story.feePayer, "fee payer")}{" "}
                {fee && (
                  <span class="dim num">
                    paid {fee.amount} {fee.unit}
                  </span>
                )}
              </>
            ),
          ],
          ["Network", <code>{story.network}</code>],
          ["Can land until", `${momentOf(new Date(story.expires_at))}${mayLand ? "" : ", no longer matters"}`],
        ]}
      />
    </Card>
  );
}

interface FactsProps {
  readonly story: PaymentStory;
  readonly amount: string;
  readonly fee: NetworkFee | undefined;
  /** Where the asset can be looked up. */
  readonly token: string | undefined;
  /** Keeps a link in the payment's environment. */
  readonly to: (path: string) => string;
}

/** Leads to what else was paid for it. */
function PaidFor({ url, to }: { url: string | null } & Pick<FactsProps, "to">) {
  if (url === null) return <>{noFigure}</>;
  const path = paymentsFor(url);
  if (path === undefined) return <span class="said">{url}</span>;
  return (
    <a class="link said" href={to(path)}>
      {url}
    </a>
  );
}
