import { clientOf } from "../../shared/client-address.ts";
import { ApiError } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { Database } from "../../shared/postgres.ts";
import { urlProblem } from "../../shared/public-address.ts";
import type { CallCounts } from "../limits/call-counts.ts";
import { announcementOfPaymentRequired } from "./announcement.ts";
import { type Finding, judge, type Reading, readQuote } from "./check-offers.ts";
import { isListed, listedDays } from "./listing.ts";
import { paymentRequiredIn } from "./ownership.ts";
import type { SettledHere } from "./settled-here.ts";
import { askBounds, parseAnswer, quoteInHeader, type UnpaidAnswer, type UnpaidFetch } from "./unpaid-fetch.ts";
import { characterProblem, isLocalhost, readAnnouncement } from "./validate.ts";

export interface CheckNeeds {
  readonly db: Database;
  readonly callCounts: CallCounts;
  readonly fetchUnpaid: UnpaidFetch;
  readonly settledHere: SettledHere;
  readonly allowLocalhost: boolean;
}

/** What a seller's URL answers to a request without payment, as clients read it. Nothing of the body is kept. */
export interface SellerCheck {
  readonly url: string;
  readonly tookMs: number;
  /** Undefined when it could not be asked. */
  readonly status: number | undefined;
  readonly problem: string | undefined;
  readonly answer: Finding;
  readonly readings: readonly Reading[];
  readonly listing: readonly Finding[];
}

/**
 * Asks a URL once, without paying, for a visitor at the address `from`. Throws ApiError 400 for a URL that is not asked, 429 when its host
 * was in this minute.
 */
export async function checkSeller(needs: CheckNeeds, given: string, from: string): Promise<SellerCheck> {
  const url = readTarget(given, needs);
  const { totalHits, resetTime } = await needs.callCounts.increment(`check ${url.hostname}`);
  if (totalHits > 1) {
    const seconds = Math.max(1, Math.ceil((resetTime.getTime() - Date.now()) / 1_000));
    throw new ApiError(
      "rate_limited",
      `${url.hostname} was checked in this minute; again possible in ${seconds} seconds.`,
      {
        headers: { "retry-after": String(seconds) },
      },
    );
  }
  const startedAt = performance.now();
  const answer = await ask(needs.fetchUnpaid, url.href, from);
  const tookMs = Math.round(performance.now() - startedAt);
  const failed = answer instanceof Error;
  const quotes = failed ? [] : quotesIn(answer);
  const readings = quotes.flatMap(({ version, from, quote }) =>
    quote ? [readQuote(version, from, quote, needs.settledHere)] : [],
  );
  return {
    url: url.href,
    tookMs,
    status: failed ? undefined : answer.status,
    problem: failed ? answer.message.slice(0, 200) : undefined,
    answer: statusFinding(failed ? undefined : answer.status),
    readings: [1, 2].map(
      (version) => readings.find((reading) => reading.version === version) ?? absent(version as 1 | 2),
    ),
    listing: await listingFindings(needs, url, failed ? [] : paymentRequiredIn(answer, "http")),
  };
}

function readTarget(given: string, { allowLocalhost }: CheckNeeds): URL {
  const refused = (why: string) => new ApiError("bad_request", `url must be ${why}.`, { body: { field: "url" } });
  if (given.length > 2_048 || !URL.canParse(given))
    throw refused("a whole address, such as https://api.example.com/data");
  const url = new URL(given);
  url.hash = "";
  if (allowLocalhost && isLocalhost(url)) return url;
  if (url.protocol !== "https:" || url.port !== "") throw refused("https on port 443");
  if (url.username !== "" || url.password !== "") throw refused("without a user name or password");
  const problem = urlProblem(url, []);
  if (problem) throw refused(`the address of a public server (${problem})`);
  return url;
}

/** Many routes that are paid for take another method than GET alone, and some say which. */
async function ask(fetchUnpaid: UnpaidFetch, url: string, from: string): Promise<UnpaidAnswer | Error> {
  // Apart from what the catalog asks: sellers that hang, and as many as somebody has names for, must keep none from being listed.
  const holder = { account: "checks of sellers", agent: `checks from ${clientOf(from)}` };
  const common = { ...askBounds, holder, signal: AbortSignal.timeout(2 * askBounds.timeoutMs) };
  const first = await fetchUnpaid(url, { method: "GET", ...common }).catch((error: Error) => error);
  if (first instanceof Error || ![404, 405].includes(first.status)) return first;
  const method = methodFor(first);
  const body = method === "DELETE" ? {} : { headers: { "content-type": "application/json" }, body: "{}" };
  const second = await fetchUnpaid(url, { method, ...body, ...common }).catch(() => first);
  return second.status === 402 ? second : first;
}

/** The first that a 405 allows; POST where it says nothing. */
function methodFor({ headers: { allow } }: UnpaidAnswer): (typeof otherMethods)[number] {
  const allowed = String(allow ?? "")
    .toUpperCase()
    .split(/[\s,]+/);
  return otherMethods.find((method) => allowed.includes(method)) ?? "POST";
}

const otherMethods = ["POST", "PUT", "PATCH", "DELETE"] as const;

function statusFinding(status: number | undefined): Finding {
  if (status !== undefined && status >= 300 && status < 400) {
    return {
      rule: "c.2",
      says: `It answers ${status}, a redirect`,
      verdict: "bad",
      remedy: "Answer 402 at this very address: redirects are not followed.",
    };
  }
  return judge(
    status === 402,
    "c.1",
    ["It answers 402 to a request without payment", "It does not answer 402 to a request without payment"],
    "Answer 402 with a quote to every request without a payment.",
  );
}

interface Quote {
  readonly version: 1 | 2;
  readonly from: string;
  readonly quote: JsonObject | undefined;
}

/** Version 1 is read from the body, version 2 from a header of either name. */
function quotesIn(answer: UnpaidAnswer): readonly Quote[] {
  if (answer.status !== 402) return [];
  const inBody = parseAnswer(answer.body.toString());
  const first: Quote = { version: 1, from: "the body", quote: inBody?.x402Version === 2 ? undefined : inBody };
  const inHeader = quoteInHeader(answer);
  return inHeader ? [first, { version: 2, from: inHeader.from.toUpperCase(), quote: inHeader.quote }] : [first];
}

/** What clients of a version find nothing of. */
function absent(version: 1 | 2): Reading {
  const [from, says, remedy]: [string, [string, string], string] =
    version === 1
      ? [
          "the body",
          ["The body is JSON with a quote of version 1", "The body holds no quote of version 1"],
          'Answer with a JSON body {"x402Version": 1, "accepts": [ … ]}, for clients of version 1.',
        ]
      : [
          "PAYMENT-REQUIRED",
          ["The header PAYMENT-REQUIRED is base64 of JSON", "No header PAYMENT-REQUIRED is base64 of JSON"],
          "Send the quote of version 2 as base64 of JSON in the header PAYMENT-REQUIRED.",
        ];
  return { version, from, offers: [], findings: [judge(false, `v${version}.1`, says, remedy)], isPayable: false };
}

/** Whether the URL is in the catalog, and why not; of what its quote would say nothing where none was read. */
async function listingFindings(
  { db, allowLocalhost }: CheckNeeds,
  url: URL,
  quotes: readonly JsonObject[],
): Promise<readonly Finding[]> {
  const address = `${url.origin}${url.pathname}`;
  const { rows } = await db.query({
    name: "seller-check-listing",
    text: `select exists (select from discovery_resources r where r.resource = $1 and ${isListed})
                  or exists (select from discovery_resources r where r.probe_url = $1 and ${isListed}) as listed,
                  exists (select from transactions
                           where resource_url = $1 and status = 'settled' and created_at > now() - interval '${listedDays} days') as settled`,
    values: [address],
  });
  const { listed, settled } = rows[0];
  const announcement = quotes.map(announcementOfPaymentRequired).find((one) => one !== undefined);
  const declared = announcement && readAnnouncement({ ...announcement, url: address }, { allowLocalhost });
  const rejected =
    declared && "rejectedReason" in declared
      ? declared.rejectedReason
      : quotes.map(({ accepts }) => characterProblem("accepts", accepts)).find((one) => one !== undefined);
  return [
    judge(
      listed,
      "l.1",
      ["It is listed", "It is not listed"],
      "It is listed once the points below hold, with its next payment.",
    ),
    judge(
      settled,
      "l.2",
      [`It was paid for here within ${listedDays} days`, `It was not paid for here within ${listedDays} days`],
      "Have it paid for through this facilitator: only what was paid for is listed.",
    ),
    ...(quotes.length > 0
      ? [
          judge(
            announcement !== undefined,
            "l.3",
            ["Its quote agrees to be listed", "Its quote does not agree to be listed"],
            "Declare the extension “bazaar” in the quote (version 1: outputSchema with an input that is discoverable).",
          ),
        ]
      : []),
    ...(declared
      ? [
          judge(
            rejected === undefined,
            "l.4",
            ["What it declares can be listed", "What it declares cannot be listed"],
            `Correct the declaration: ${rejected}.`,
          ),
        ]
      : []),
  ];
}
