/** @jsxRuntime automatic @jsxImportSource preact */
import type { Environment } from "../../../shared/networks.ts";
import { Card } from "../../../shared/page/card.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { duration } from "../../../shared/page/figures.ts";
import { Rail } from "../../../shared/page/rail.tsx";
import { Crumbs } from "../../../shared/page/tabs.tsx";
import { Time } from "../../../shared/page/time.tsx";
import type { Config } from "../../config.ts";
import { tokenUrl } from "../../explorer.ts";
import { readQuery } from "../../http/query.ts";
import type { NetworkFee, NetworkFees } from "../../network-fees.ts";
import {
  authorizationQuery,
  type PaymentNeeds,
  type PaymentStory,
  paymentQuery,
  paymentStory,
} from "../../payments.ts";
import { inEnv } from "../layout.tsx";
import type { Page, View } from "../page.ts";
import { Facts } from "../payment/facts.tsx";
import { Log } from "../payment/log.tsx";
import { PaymentState } from "../payment/state.tsx";
import { stopsOf } from "../payment/stops.ts";
import { isUnfinished } from "../payment/unfinished.ts";
import { exactAmount, NetworkMark, StateBadge } from "../words.tsx";

/** One payment: by its transaction, or before there is one by what its payer signed. */
export function paymentPages(
  context: Needs,
  fees: Pick<NetworkFees, "of">,
  environments: readonly Environment[],
): Page[] {
  const shown = async (story: PaymentStory, json: string) => {
    const env = context.config.environmentOf(story.network);
    const to = (path: string) => inEnv(path, env, environments);
    const fee = story.charged && (await fees.of(story.charged));
    return viewOf(story, { json, fee, env, to, token: tokenUrl(context.config, story.network, story.asset) });
  };
  return [
    {
      path: "/tx/{id}",
      scriptBytesMax: 3_072,
      show: async ({ params, query }) => {
        const { network } = readQuery(paymentQuery, Object.fromEntries(query));
        const id = params.id ?? "";
        const story = await paymentStory(context, { id, network });
        return shown(story, jsonPathOf(story, { id, network }));
      },
    },
    {
      path: "/tx",
      scriptBytesMax: 3_072,
      show: async ({ query }) => {
        const asked = readQuery(authorizationQuery, Object.fromEntries(query));
        const named = new URLSearchParams(
          Object.keys(authorizationQuery).flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])),
        );
        return shown(await paymentStory(context, asked), `/payments?${named}`);
      },
    },
  ];
}

/** Where the same is to be had as JSON: by what the payer signed until there is a transaction. */
function jsonPathOf({ transaction, payer, nonce, ...story }: PaymentStory, { id, network }: AskedById): string {
  if (transaction === null && nonce !== undefined) {
    return `/payments?${new URLSearchParams({ network: story.network, payer, nonce })}`;
  }
  const of = network ? `?${new URLSearchParams({ network })}` : "";
  return `/payments/${encodeURIComponent(transaction ?? id)}${of}`;
}

interface AskedById {
  readonly id: string;
  readonly network: string | undefined;
}

type Needs = PaymentNeeds & { readonly config: Pick<Config, "environmentOf"> };

interface Beside {
  /** Where the same is to be had as JSON. */
  readonly json: string;
  readonly fee: NetworkFee | undefined;
  readonly env: Environment;
  /** Keeps a link in the payment's environment. */
  readonly to: (path: string) => string;
  /** Where the asset can be looked up. */
  readonly token: string | undefined;
}

function viewOf(story: PaymentStory, beside: Beside, now = new Date()): View {
  const { json, fee, env, to, token } = beside;
  const amount = exactAmount(story.network, story.asset, story.amount_atomic);
  const isOpen = isUnfinished(story);
  return {
    title: `Payment of ${amount}, ${story.state}`,
    section: "/transactions",
    env,
    isPrivate: isOpen,
    islands: isOpen ? ["payment.js"] : [],
    body: (
      <div class="wrap page stack stack-6">
        <PaymentHead story={story} amount={amount} to={to} />
        <PaymentState story={story} json={json} now={now} />
        <Card id="state" title="State" aside={<span class="small faint num">{tookOf(story, now)}</span>}>
          <Rail stops={stopsOf(story)} />
        </Card>
        <div class="cols cols-7-5">
          <Facts {...{ story, amount, fee, token, to }} />
          <Log story={story} />
        </div>
        <Disclosure summary="As JSON">
          <p class="small dim">
            <code>GET {json}</code>
          </p>
        </Disclosure>
      </div>
    ),
  };
}

function PaymentHead({ story, amount, to }: { story: PaymentStory; amount: string } & Pick<Beside, "to">) {
  const name = story.transaction ?? "before its transaction";
  return (
    <div class="page-head">
      <Crumbs
        trail={[{ href: to("/transactions"), label: "Settlements" }]}
        here={name.length > 30 ? `${name.slice(0, 16)}…${name.slice(-6)}` : name}
      />
      <div class="row row-3">
        <h1>Payment of {amount.replace(/(\.\d\d\d*?)0+ USDC/, "$1 USDC")}</h1>
        <StateBadge state={story.state} />
      </div>
      <p class="small dim row row-4 num">
        <NetworkMark network={story.network} />
        <span>
          asked to settle <Time at={story.created_at} show="moment" />
        </span>
        <span class="faint">
          <Time at={story.created_at} show="ago" />
        </span>
      </p>
    </div>
  );
}

function tookOf({ created_at: from, finished_at: to, wasTakenBack }: PaymentStory, now: Date): string {
  const took = duration((to === null ? now : new Date(to)).getTime() - Date.parse(from));
  return to === null ? `${took} so far` : `${took} from claim to ${wasTakenBack ? "settlement" : "end"}`;
}
