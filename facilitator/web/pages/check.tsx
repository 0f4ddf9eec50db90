/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { ApiError } from "../../../shared/errors.ts";
import { type Environment, networkOf, toCaip2 } from "../../../shared/networks.ts";
import { Badge } from "../../../shared/page/badge.tsx";
import { Button } from "../../../shared/page/button.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Hash } from "../../../shared/page/copy.tsx";
import { noFigure } from "../../../shared/page/figures.ts";
import { Icon } from "../../../shared/page/icon.tsx";
import { KeyValues } from "../../../shared/page/table.tsx";
import { Crumbs } from "../../../shared/page/tabs.tsx";
import type { Finding, Offer, Reading } from "../../discovery/check-offers.ts";
import { type CheckNeeds, checkSeller, type SellerCheck } from "../../discovery/seller-check.ts";
import { inEnv } from "../layout.tsx";
import type { Page } from "../page.ts";
import { exactAmount, NetworkMark } from "../words.tsx";

/** A seller's 402 as clients read it. */
export function checkPages(needs: () => CheckNeeds, environments: readonly Environment[]): Page[] {
  return [
    {
      path: "/resources/check",
      scriptBytesMax: 2_048,
      show: async ({ request, query, env }) => {
        const url = (query.get("url") ?? "").trim();
        const outcome = url === "" ? undefined : await check(needs(), url, request.ip ?? "");
        return {
          title: "Check my server",
          description: "Reads the 402 of a server as clients read it, without paying.",
          section: "/resources",
          ...(outcome?.refused && { status: outcome.refused.status }),
          body: <Body {...{ url, env, ...outcome }} to={(path) => inEnv(path, env, environments)} />,
        };
      },
    },
  ];
}

/** A refusal is told beside the field. */
async function check(
  needs: CheckNeeds,
  url: string,
  from: string,
): Promise<{ seen?: SellerCheck; refused?: ApiError }> {
  try {
    return { seen: await checkSeller(needs, url, from) };
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return { refused: error };
    throw error;
  }
}

interface BodyProps {
  readonly url: string;
  readonly env: Environment;
  readonly seen?: SellerCheck;
  readonly refused?: ApiError;
  readonly to: (path: string) => string;
}

function Body({ url, env, seen, refused, to }: BodyProps) {
  return (
    <div class="wrap page stack stack-6">
      <div class="page-head">
        <Crumbs trail={[{ href: to("/resources"), label: "Resources" }]} here="Check my server" />
        <h1>Check my server</h1>
        <p class="dim measure">
          Reads your 402 as clients read it, without paying. Each host is checked once a minute at most, whichever
          visitor asks.
        </p>
        <form class="row row-3" action="/resources/check">
          <input type="hidden" name="env" value={env} />
          <label class="vh" for="check-url">
            URL
          </label>
          <div class="with-btn grow">
            <input
              class="input input-lg mono"
              id="check-url"
              name="url"
              type="url"
              value={url}
              placeholder="https://api.example.com/data"
              maxLength={2048}
              spellcheck={false}
              aria-describedby="check-help"
              required
            />
            <Button look="primary">Check</Button>
          </div>
        </form>
        <p class="help" id="check-help">
          https on port 443. Redirects are not followed. The body is not shown.
        </p>
      </div>
      {refused && (
        <Callout tone="warn" title="Not checked" role="alert">
          <span class="said">{refused.message.replace(/^url /, "The URL ")}</span>
        </Callout>
      )}
      {seen && <Seen seen={seen} />}
    </div>
  );
}

function Seen({ seen }: { seen: SellerCheck }) {
  // A server that did not answer has no readings: only its listing is known.
  const readings = seen.status === undefined ? [] : seen.readings;
  const answered = seen.status === undefined ? [] : [seen.answer];
  const findings = [...answered, ...readings.flatMap(({ findings: all }) => all), ...seen.listing];
  const remedies = inOrder(findings).filter(({ remedy, verdict }) => remedy && verdict !== "ok");
  return (
    <>
      <Verdict seen={seen} />
      {readings.length > 0 && (
        <div class="cols cols-2 cols-even">
          {readings.map((reading) => (
            <ReadingCard reading={reading} status={seen.status} />
          ))}
        </div>
      )}
      {remedies.length > 0 && (
        <Card id="remedies" title="Remedies">
          <div>
            {remedies.map(({ rule, says, remedy, verdict }) => (
              <div class="finding" id={anchorOf(rule)}>
                <Badge tone={verdict === "warn" ? "warn" : "bad"}>{rule}</Badge>
                <h3>{says}</h3>
                <p class="said">{remedy}</p>
              </div>
            ))}
          </div>
        </Card>
      )}
      <Card id="listing" title="Listed?">
        <Findings findings={seen.listing} />
      </Card>
    </>
  );
}

function Verdict({ seen: { readings, status, problem, answer, tookMs } }: { seen: SellerCheck }) {
  if (status === undefined) {
    return (
      <Callout tone="bad" title="Your server could not be asked">
        <span class="said">{problem}</span>
      </Callout>
    );
  }
  if (answer.verdict !== "ok")
    return (
      <Callout tone="bad" title={answer.says}>
        {answer.remedy} It took {tookMs} ms.
      </Callout>
    );
  const [v1, v2] = readings.map(({ isPayable }) => isPayable);
  const title =
    v1 && v2
      ? "All clients can pay"
      : v2
        ? "New clients can pay, old ones cannot"
        : v1
          ? "Old clients can pay, new ones cannot"
          : "No client can pay here through this facilitator";
  return (
    <Callout tone={v1 || v2 ? (v2 ? "ok" : "warn") : "bad"} title={title}>
      Checked in {tookMs} ms; again possible in a minute.
    </Callout>
  );
}

function ReadingCard({
  reading: { version, from, offers, findings, isPayable },
  status,
}: {
  reading: Reading;
  status: number | undefined;
}) {
  return (
    <Card
      id={`v${version}`}
      title={`As version ${version} reads it`}
      aside={
        <>
          <Badge tone={isPayable ? "ok" : "bad"} dot>
            {isPayable ? "payable" : "not payable"}
          </Badge>
          <span class="small faint">from {from}</span>
        </>
      }
    >
      <KeyValues
        entries={[
          ["Status", String(status ?? noFigure)],
          ["Offers", String(offers.length)],
        ]}
      />
      {offers.slice(0, offersShown).map((offer) => (
        <>
          <hr />
          <KeyValues entries={entriesOf(offer)} />
        </>
      ))}
      {offers.length > 0 && <hr />}
      <Findings findings={findings} />
    </Card>
  );
}

const offersShown = 3;

function entriesOf({
  network,
  amount,
  asset,
  payTo,
  seconds,
}: Offer): ReadonlyArray<readonly [string, ComponentChildren]> {
  const caip2 = toCaip2(network);
  const isKnown = networkOf(caip2) !== undefined;
  const price = /^\d{1,30}$/.test(amount) ? exactAmount(caip2, asset, amount) : amount || noFigure;
  return [
    [
      "Network",
      <>
        {isKnown && <NetworkMark network={caip2} />} <code class="said">{network || noFigure}</code>
      </>,
    ],
    ["Price", <span class="said">{price}</span>],
    ["Asset", asset ? <Hash short value={asset} label={`Copy asset ${asset}`} /> : noFigure],
    ["Pay to", payTo ? <Hash short value={payTo} label={`Copy payee ${payTo}`} /> : noFigure],
    ["Valid for", seconds ? `${seconds} s` : noFigure],
  ];
}

/** Findings that need a correction come first. */
const order = { bad: 0, warn: 1, ok: 2 } as const;
const looks = { ok: ["is-ok", "ok"], warn: ["is-warn", "warning"], bad: ["is-bad", "fail"] } as const;

function Findings({ findings }: { findings: readonly Finding[] }) {
  return (
    <ul class="checks">
      {inOrder(findings).map(({ rule, says, verdict, remedy }) => (
        <li class={looks[verdict][0]}>
          <Icon name={looks[verdict][1]} />
          <span>
            {says}
            <small>rule {rule}</small>
          </span>
          {remedy && (
            <a class="link small" href={`#${anchorOf(rule)}`} aria-label={`Remedy of ${rule}`}>
              Remedy
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

function inOrder(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((one, other) => order[one.verdict] - order[other.verdict]);
}

function anchorOf(rule: string): string {
  return `fix-${rule.replace(".", "-")}`;
}
