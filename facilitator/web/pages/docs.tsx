/** @jsxRuntime automatic @jsxImportSource preact */

import { formatUnits } from "../../../shared/amounts.ts";
import { networkOf } from "../../../shared/networks.ts";
import { Breakable } from "../../../shared/page/breakable.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Code } from "../../../shared/page/code.tsx";
import { Hash } from "../../../shared/page/copy.tsx";
import { highlighted } from "../../../shared/page/highlight.tsx";
import { KeyValues, Table } from "../../../shared/page/table.tsx";
import { holdSeconds } from "../../holds/store.ts";
import { failuresOfADayWithin, failuresWithin } from "../../limits/failure-windows.ts";
import { paymentBodyBytesMax } from "../../payment-shapes.ts";
import { type ReasonMeaning, reasonChapters } from "../../reasons.ts";
import { supported } from "../../supported.ts";
import type { Page, Visit } from "../page.ts";
import type { SiteNeeds } from "../site.ts";
import { type Snippet, snippets } from "../snippets.ts";
import { NetworkMark } from "../words.tsx";

type Needs = Pick<SiteNeeds, "config" | "schemes">;

/** How to use this facilitator, from what it is configured for and from its own tables. */
export function docsPage(context: Needs): Page {
  return {
    path: "/docs",
    scriptBytesMax: 2_048,
    show: async (visit) => {
      const served = [...context.config.evm, ...context.config.hedera].filter(
        ({ network }) => context.config.environmentOf(network) === visit.env,
      );
      const network = served.find((one) => one.network.startsWith("eip155:"))?.network;
      const shown = await Promise.all(
        (network === undefined ? [] : snippets({ origin: visit.origin, network })).map(async (snippet) => ({
          ...snippet,
          content: snippet.language ? await highlighted(snippet.code, snippet.language) : snippet.code,
        })),
      );
      return {
        title: "Docs",
        description: "Use this x402 facilitator from your server: code, networks, reasons, limits, promises.",
        section: "/docs",
        body: <Body {...{ context, visit, served }} shown={shown} />,
      };
    },
  };
}

type Served = Needs["config"]["evm"][number] | Needs["config"]["hedera"][number];

interface BodyProps {
  readonly context: Needs;
  readonly visit: Visit;
  readonly served: readonly Served[];
  readonly shown: ReadonlyArray<Snippet & { readonly content: Awaited<ReturnType<typeof highlighted>> }>;
}

const chapters = [
  ["start", "Quick start"],
  ["networks", "Networks"],
  ["reasons", "Reasons"],
  ["limits", "Limits"],
  ["promises", "Promises"],
] as const;

const proofs: Readonly<Record<Snippet["proof"], string>> = {
  test: "run by our tests",
  hand: "run by hand, not by our tests",
  none: "as its documentation says, not run here",
};

function Body({ context, visit, served, shown }: BodyProps) {
  return (
    <div class="wrap page">
      <div class="shell">
        <nav class="side" aria-label="On this page">
          <ul>
            {chapters.map(([id, title]) => (
              <li>
                <a href={`#${id}`}>{title}</a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="stack stack-10">
          <div class="page-head">
            <h1>Use it from your server</h1>
            <p class="dim measure">
              Point the stock x402 packages at <code class="icode">{visit.origin}</code>. No account, no key. Your
              payers need USDC and nothing else: the network fee is paid here.{" "}
              <a class="link" href="/docs/api">
                Every operation
              </a>{" "}
              has a page.
            </p>
          </div>
          <section class="stack" id="start" aria-labelledby="start-title">
            <h2 id="start-title">Quick start</h2>
            {shown.length === 0 && <WithoutLines env={visit.env} served={served} />}
            {shown.map(({ id, title, content, proof }) => (
              <Code id={`code-${id}`} title={`${title}, ${proofs[proof]}`}>
                {content}
              </Code>
            ))}
          </section>
          <Networks context={context} served={served} />
          <section class="stack" id="reasons" aria-labelledby="reasons-title">
            <h2 id="reasons-title">Reasons</h2>
            <p class="small dim measure">
              A payment that is refused is a 200 with <code class="icode">invalidReason</code> or{" "}
              <code class="icode">errorReason</code>. Unless it says otherwise, no money moved.
            </p>
            {reasonChapters.map(({ title, reasons }) => (
              <Reasons title={title} reasons={reasons} />
            ))}
          </section>
          <Limits context={context} />
          <Promises />
        </div>
      </div>
    </div>
  );
}

/** The lines are for EVM chains: on a network that is not served they would only be refused. */
function WithoutLines({ env, served }: Pick<BodyProps, "served"> & Pick<Visit, "env">) {
  return (
    <p class="small dim measure">
      {served.length === 0 ? `No ${env} network is served here.` : `No EVM chain of ${env} is served here.`} What is
      served stands in{" "}
      <a class="link" href="/supported">
        GET /supported
      </a>
      : take scheme, network and extra from there.
    </p>
  );
}

function Networks({ context, served }: Pick<BodyProps, "context" | "served">) {
  const { kinds } = supported(context);
  return (
    <Card
      id="networks"
      title="Networks and assets"
      aside={
        <a class="link small" href="/supported">
          GET /supported
        </a>
      }
      bare
    >
      <Table
        label="Table of networks"
        rows={served}
        columns={[
          { head: "Network", cell: ({ network }) => <NetworkMark network={network} /> },
          { head: "CAIP-2", hide: "small", cell: ({ network }) => <code>{network}</code> },
          {
            head: "x402 versions",
            hide: "small",
            cell: ({ network }) =>
              [
                ...new Set(
                  kinds
                    .filter((kind) => kind.network === network || networkOf(network)?.v1Names.includes(kind.network))
                    .map(({ x402Version }) => x402Version),
                ),
              ].join(", "),
          },
          {
            head: "Asset",
            cell: ({ assets }) =>
              assets.slice(0, 4).map((asset) => <Hash short value={asset} label={`Copy asset ${asset}`} />),
          },
          { head: "Least, USDC", isNumber: true, cell: ({ amountMin }) => formatUnits(amountMin, 6) },
        ]}
      />
    </Card>
  );
}

function Reasons({ title, reasons }: { title: string; reasons: readonly ReasonMeaning[] }) {
  return (
    <Card id={`reasons-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`} title={title} bare>
      <Table
        label={`Table of reasons: ${title}`}
        stack
        rows={reasons}
        columns={[
          {
            head: "Reason",
            cell: ({ code }) => (
              <code>
                <Breakable text={code} after="_" />
              </code>
            ),
          },
          { head: "It means", cell: ({ means }) => means },
          { head: "What to do", cell: ({ remedy }) => <span class="dim">{remedy}</span> },
        ]}
      />
    </Card>
  );
}

function Limits({ context: { config } }: Pick<BodyProps, "context">) {
  const { limits, settleTimeoutMs } = config;
  const aMinute = (calls: number) => (calls === 0 ? "no limit" : `${calls} a minute`);
  return (
    <Card id="limits" title="Limits">
      <KeyValues
        lines
        entries={[
          ["/verify, an address", aMinute(limits.verifyPerAddress)],
          ["/settle, an address", aMinute(limits.settlePerAddress)],
          ["/settle, a payer", aMinute(limits.settlePerPayer)],
          ["/settle, a payee", aMinute(limits.settlePerPayTo)],
          ["Failed payments of a payer", failuresAllowed(limits)],
          ["Reading, an address", aMinute(limits.readPerAddress)],
          ["A body", `${paymentBodyBytesMax / 1_024} KB`],
          ["Waiting for the chain", `${settleTimeoutMs / 1_000} s, then settlement_pending`],
          ["A verified amount is held", `${holdSeconds} s, or until settled or released`],
        ]}
      />
    </Card>
  );
}

/** How many failures that cost a network fee one payer may have; one with more must wait. */
function failuresAllowed({ failuresPerPayer, failuresPerPayerDay }: Needs["config"]["limits"]): string {
  const most = [
    failuresPerPayer > 0 && `${failuresPerPayer} within ${failuresWithin}`,
    failuresPerPayerDay > 0 && `${failuresPerPayerDay} within ${failuresOfADayWithin}`,
  ].filter((one) => one !== false);
  return most.length === 0 ? "no limit" : most.join(", ");
}

const promises: ReadonlyArray<readonly [string, string]> = [
  [
    "A payment is settled once, however often and wherever it is posted.",
    "Hundreds of posts of one payment at several copies at once, with processes killed in between: one success.",
  ],
  [
    "Unknown is never called failed.",
    "Chains that answer late, wrongly or not at all: the answer is settlement_pending until the chain has spoken.",
  ],
  [
    "What was signed is stored before it is sent.",
    "Copies are killed at each step, and what they left is found and ended.",
  ],
  [
    "A payer’s money in flight is not promised twice.",
    "Verifications beyond a payer’s balance at once: only as many hold as the balance covers.",
  ],
  [
    "A fee payer pays for the agreed transfer and nothing else.",
    "Every rule has a test with a payment that breaks it alone.",
  ],
  [
    "The figures here are those of the record.",
    "Records made up at random, counted in any order, against the slow and obvious sum.",
  ],
];

function Promises() {
  return (
    <Card id="promises" title="What it promises, and how each is tested">
      {promises.map(([promise, test]) => (
        <div class="stack stack-1">
          <h3>{promise}</h3>
          <p class="small dim">{test}</p>
        </div>
      ))}
    </Card>
  );
}
