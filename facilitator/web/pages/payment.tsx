/** @jsxRuntime automatic @jsxImportSource preact */
import type { Environment } from "../../../shared/networks.ts";
import { ButtonLink } from "../../../shared/page/button.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Hash } from "../../../shared/page/copy.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { duration, noFigure } from "../../../shared/page/figures.ts";
import { Rail, type Stop } from "../../../shared/page/rail.tsx";
import { KeyValues } from "../../../shared/page/table.tsx";
import { Crumbs } from "../../../shared/page/tabs.tsx";
import { momentOf, Time } from "../../../shared/page/time.tsx";
import type { Config } from "../../config.ts";
import { tokenUrl } from "../../explorer.ts";
import { readQuery } from "../../http/query.ts";
import type { NetworkFee, NetworkFees } from "../../network-fees.ts";
import { unfinishedStates } from "../../payment-states.ts";
import { authorizationQuery, type PaymentNeeds, type PaymentStory, paymentStory } from "../../payments.ts";
import { reasonMeaning } from "../../reasons.ts";
import { inEnv } from "../layout.tsx";
import type { Page, View } from "../page.ts";
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
        const network = query.get("network") ?? undefined;
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

const unfinished: readonly string[] = unfinishedStates;

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
  const { json, env, to } = beside;
  const amount = exactAmount(story.network, story.asset, story.amount_atomic);
  const isOpen = unfinished.includes(story.state);
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
          <Facts story={story} amount={amount} beside={beside} />
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

/** What the state means for the payer, and what to do. */
function PaymentState({ story, json, now }: { story: PaymentStory; json: string; now: Date }) {
  const expires = new Date(story.expires_at);
  const isOver = expires <= now;
  const explorer = story.explorer && (
    <ButtonLink size="small" icon="external" href={story.explorer}>
      Open in the explorer
    </ButtonLink>
  );
  if (unfinished.includes(story.state)) {
    const isSent = story.state !== "claimed";
    return (
      <div data-payment={json} data-state={`${story.state} ${story.transaction ?? ""}`}>
        <Callout
          tone={story.state === "unknown" ? "maybe" : "info"}
          title={
            isSent ? "This facilitator has not seen the end of this payment yet" : "This payment is about to be sent"
          }
        >
          {isSent ? "It was sent" : "It has been claimed"}{" "}
          {isOver ? (
            <>and can no longer land since {momentOf(expires)}; the chain is asked what became of it. </>
          ) : (
            <>
              and can still land until <b class="strong num">{momentOf(expires)}</b>, in{" "}
              {duration(expires.getTime() - now.getTime())}.{" "}
            </>
          )}
          The chain is asked again and again, and this page changes by itself. Do not pay again: post the same payment,
          and it is settled once.
          <div class="row">
            <ButtonLink size="small" icon="retry" href="">
              Ask again
            </ButtonLink>
            {explorer}
          </div>
        </Callout>
      </div>
    );
  }
  if (story.state === "settled") {
    if (!story.landedByAnother) return null;
    return (
      <Callout tone="warn" title="It landed in a transaction that this facilitator did not send">
        The money moved as agreed. Who sent it knew the payment, too.
      </Callout>
    );
  }
  const meaning = reasonMeaning(story.error_reason ?? "");
  return (
    <Callout tone="bad" title={meaning?.means ?? "It did not settle"}>
      No money moved.{" "}
      {story.retryable && !isOver
        ? `The same payment is still good until ${momentOf(expires)}: post it again.`
        : (meaning?.remedy ?? "Have the client make a new payment.")}{" "}
      Reason: <code class="icode">{story.error_reason}</code>
      {explorer && <div class="row">{explorer}</div>}
    </Callout>
  );
}

/** Times are those that the facilitator wrote down, to the millisecond. */
function stopsOf(story: PaymentStory): readonly Stop[] {
  const claimedAt = new Date(story.created_at);
  const since = (moment: Date | undefined) =>
    moment ? `+${duration(Math.max(0, moment.getTime() - claimedAt.getTime()))}` : undefined;
  const finishedAt = story.finished_at === null ? undefined : new Date(story.finished_at);
  const wasSent = story.broadcastAt !== undefined || (story.transaction !== null && story.state !== "claimed");
  const isSent: Stop = {
    name: "Broadcast",
    state: "done",
    time: since(story.broadcastAt),
    say: "signed bytes stored first",
  };
  const claimed: Stop = { name: "Claimed", state: "done", time: clockOf(claimedAt), say: "verified; one sender" };
  const end: Stop = {
    name: "Settled or failed",
    state: "ahead",
    time: `by ${clockOf(new Date(story.expires_at)).slice(0, 8)}`,
    say: "whichever the chain says",
  };
  switch (story.state) {
    case "claimed":
      return [{ ...claimed, state: "now" }, { ...isSent, state: "ahead", time: undefined }, end];
    case "broadcast":
      return [claimed, { ...isSent, state: "now" }, end];
    case "unknown":
      return [claimed, isSent, { name: "Unknown", state: "maybe", say: "no receipt seen" }, end];
    case "settled":
      return [
        claimed,
        ...(wasSent ? [isSent] : []),
        { name: "Settled", state: "end", time: since(finishedAt), say: "the agreed transfer, seen on the chain" },
      ];
    default:
      return [
        claimed,
        ...(wasSent ? [isSent] : []),
        { name: "Failed", state: "bad", time: since(finishedAt), say: "certainly not settled" },
      ];
  }
}

/** `10:02:20.369`. */
function clockOf(moment: Date): string {
  return moment.toISOString().slice(11, 23);
}

function tookOf({ created_at: from, finished_at: to }: PaymentStory, now: Date): string {
  const took = duration((to === null ? now : new Date(to)).getTime() - Date.parse(from));
  return to === null ? `${took} so far` : `${took} from claim to end`;
}

function Facts({ story, amount, beside: { fee, token, to } }: FactsProps) {
  const isOpen = unfinished.includes(story.state);
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
          ["Can land until", `${momentOf(new Date(story.expires_at))}${isOpen ? "" : ", no longer matters"}`],
        ]}
      />
    </Card>
  );
}

interface FactsProps {
  readonly story: PaymentStory;
  readonly amount: string;
  readonly beside: Beside;
}

/** Leads to what else was paid for it. */
function PaidFor({ url, to }: { url: string | null } & Pick<Beside, "to">) {
  if (url === null) return <>{noFigure}</>;
  return (
    <a class="link said" href={to(`/transactions?resource=${encodeURIComponent(url)}`)}>
      {url}
    </a>
  );
}

function Log({ story }: { story: PaymentStory }) {
  const lines: Array<readonly [Date, string, string]> = [[new Date(story.created_at), "is-ok", "Verified and claimed"]];
  if (story.broadcastAt) lines.push([story.broadcastAt, "is-ok", "Signed, stored, sent"]);
  if (story.finished_at !== null) {
    const isGood = story.state === "settled";
    lines.push([
      new Date(story.finished_at),
      isGood ? "is-ok" : "is-bad",
      isGood ? "Settled as agreed" : `Failed: ${reasonMeaning(story.error_reason ?? "")?.means ?? story.error_reason}`,
    ]);
  }
  return (
    <Card id="log" title="Log">
      <ol class="timeline">
        {lines.map(([at, look, what]) => (
          <li class={look}>
            <time datetime={at.toISOString()}>{clockOf(at)}</time>
            <span>{what}</span>
          </li>
        ))}
        {unfinished.includes(story.state) && (
          <li class={story.state === "unknown" ? "is-maybe" : "is-now"}>
            <time>now</time>
            <span>
              {story.state === "unknown" ? "No receipt seen; the chain is asked again" : "Waiting for the chain"}
            </span>
          </li>
        )}
      </ol>
    </Card>
  );
}
