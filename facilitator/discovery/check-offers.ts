import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { canonicalAccount, isCaip2, networkOf, toCaip2, v1NameOf } from "../../shared/networks.ts";
import type { SettledHere, SettledNetwork } from "./settled-here.ts";

/** One rule that a 402 must hold to, and whether it does. */
export interface Finding {
  readonly rule: string;
  readonly says: string;
  readonly verdict: "ok" | "warn" | "bad";
  /** What to change; only where something is wrong. */
  readonly remedy?: string;
}

/** A 402 as clients of one version read it. */
export interface Reading {
  readonly version: 1 | 2;
  /** Where it was read: "the body", "PAYMENT-REQUIRED". */
  readonly from: string;
  readonly offers: readonly Offer[];
  readonly findings: readonly Finding[];
  /** A client of this version could pay here by at least one offer. */
  readonly isPayable: boolean;
}

/** An offer as it is shown, with no text longer than it should be. */
export interface Offer {
  readonly network: string;
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly seconds: string;
}

const offersMax = 10;
const shortSeconds = 60;

/** Reads a quote by the rules of its version, for what is settled here. */
export function readQuote(version: 1 | 2, from: string, quote: JsonObject, here: SettledHere): Reading {
  const rule = (number: number) => `v${version}.${number}`;
  const accepts = Array.isArray(quote.accepts) ? quote.accepts.filter(isJsonObject).slice(0, offersMax) : [];
  const head: Finding[] = [
    judge(
      quote.x402Version === version,
      rule(2),
      [`x402Version is ${version}`, `x402Version is not ${version}`],
      `Set "x402Version": ${version}.`,
    ),
    judge(
      accepts.length > 0,
      rule(3),
      ["accepts lists at least one offer", "accepts lists no offer"],
      'List what you take in "accepts": [ … ].',
    ),
  ];
  const judged = accepts.map((offer) => readOffer(version, offer, here));
  const isHeadGood = head.every(({ verdict }) => verdict === "ok");
  return {
    version,
    from,
    offers: accepts.map((offer) => shownOf(version, offer)),
    findings: [...head, ...uniqueOf(judged.flat())],
    isPayable: isHeadGood && judged.some((findings) => findings.every(({ verdict }) => verdict !== "bad")),
  };
}

function uniqueOf(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [`${finding.rule} ${finding.verdict}`, finding])).values()];
}

function readOffer(version: 1 | 2, offer: JsonObject, here: SettledHere): readonly Finding[] {
  const rule = (number: number) => `v${version}.${number}`;
  const network = toCaip2(textOf(offer.network));
  const kinds = here.kinds.filter((kind) => kind.x402Version === version && toCaip2(kind.network) === network);
  const settled = here.networks.find((one) => one.network === network);
  return [
    judge(
      kinds.some(({ scheme }) => scheme === offer.scheme),
      rule(4),
      ["The scheme is settled here on its network", "The scheme is not settled here on its network"],
      "Take scheme and network together from GET /supported.",
    ),
    version === 1 ? nameFinding(textOf(offer.network), here, rule(5)) : idFinding(textOf(offer.network), rule(5)),
    amountFinding(version === 1 ? "maxAmountRequired" : "amount", offer, settled, rule(6)),
    settled ? assetFinding(offer, settled, rule(7)) : coinFinding(network, offer, rule(7)),
    judge(
      isAccount(network, textOf(offer.payTo)),
      rule(8),
      ["payTo is an account of its network", "payTo is no account of its network"],
      "Name an address (0x…) on EVM chains, an account id (0.0.n) on Hedera.",
    ),
    timeFinding(Number(offer.maxTimeoutSeconds), rule(9)),
    network.startsWith("hedera:")
      ? feePayerFinding(offer, settled?.feePayers ?? [], rule(10))
      : domainFinding(network, offer, rule(10)),
    ...(version === 1
      ? [
          judge(
            URL.canParse(textOf(offer.resource)),
            rule(11),
            ["resource is the address that is paid for", "resource is no address"],
            "Name the whole URL in resource.",
          ),
        ]
      : []),
    methodFinding(network, offer, rule(12)),
  ];
}

function amountFinding(name: string, offer: JsonObject, settled: SettledNetwork | undefined, rule: string): Finding {
  const amount = textOf(offer[name]);
  const isWhole = /^[1-9]\d{0,77}$/.test(amount);
  if (isWhole && settled && BigInt(amount) < settled.amountMin) {
    const remedy = `Ask for ${settled.amountMin} base units or more: less is not settled on ${settled.network}.`;
    return { rule, says: `${name} is less than the smallest payment`, verdict: "bad", remedy };
  }
  return judge(
    isWhole,
    rule,
    [`${name} is a whole number of base units, as text`, `${name} is no whole number of base units, as text`],
    `Write "${name}": "10000" for 0.01 USDC.`,
  );
}

function assetFinding(offer: JsonObject, { network, assets }: SettledNetwork, rule: string): Finding {
  const named = canonicalAccount(network, textOf(offer.asset));
  return judge(
    assets.some((asset) => canonicalAccount(network, asset) === named),
    rule,
    ["The asset is settled here", "The asset is not settled here"],
    `Settled on ${network} is ${assets.join(", ")}.`,
  );
}

/** On a network that is not served here. */
function coinFinding(network: string, offer: JsonObject, rule: string): Finding {
  const coins = networkOf(network)?.stablecoins;
  if (coinOf(network, offer) || coins?.length === 0) return ok(rule, "The asset is known on its network");
  const remedy = `USDC there is ${coins?.[0]?.asset ?? "not known"}.`;
  return { rule, says: "The asset is not the USDC of its network", verdict: "warn", remedy };
}

/** Clients of version 1 know a network by its name. Where one has none they know what GET /supported says. */
function nameFinding(given: string, { kinds }: SettledHere, rule: string): Finding {
  const isName = toCaip2(given) !== given;
  const isServed = kinds.some(({ x402Version, network }) => x402Version === 1 && network === given);
  const name = v1NameOf(given);
  const remedy =
    name === undefined
      ? 'Name the network as GET /supported does for version 1, such as "base".'
      : `Write ${name}, not ${shortOf(given)}: clients of version 1 know it by this name.`;
  return judge(isName || isServed, rule, ["network is a name of version 1", "network is no name of version 1"], remedy);
}

function idFinding(given: string, rule: string): Finding {
  const remedy = `Write ${toCaip2(given) === given ? "eip155:8453" : toCaip2(given)}, not ${shortOf(given)}: clients of version 2 know no short names.`;
  return judge(isCaip2(given), rule, ["network is a CAIP-2 name", "network is no CAIP-2 name"], remedy);
}

function timeFinding(seconds: number, rule: string): Finding {
  const isGiven = Number.isSafeInteger(seconds) && seconds > 0;
  if (isGiven && seconds < shortSeconds) {
    return {
      rule,
      says: `${seconds} seconds are short`,
      verdict: "warn",
      remedy: `maxTimeoutSeconds of ${shortSeconds} or more: a payment that expires while your server works cannot be settled.`,
    };
  }
  return judge(
    isGiven,
    rule,
    ["maxTimeoutSeconds is a whole number of seconds", "maxTimeoutSeconds is no whole number of seconds"],
    `Set "maxTimeoutSeconds": ${shortSeconds}.`,
  );
}

/** What a payer on Hedera must know to sign. */
function feePayerFinding(offer: JsonObject, ours: readonly string[], rule: string): Finding {
  return judge(
    ours.includes(textOf(extraOf(offer).feePayer)),
    rule,
    ["extra.feePayer is this facilitator's", "extra.feePayer is not this facilitator's on its network"],
    `Set extra.feePayer to ${ours[0] ?? "what GET /supported says"}.`,
  );
}

/** What a payer on an EVM chain must know to sign. */
function domainFinding(network: string, offer: JsonObject, rule: string): Finding {
  const extra = extraOf(offer);
  const known = coinOf(network, offer)?.domain;
  const isGiven = textOf(extra.name) !== "" && textOf(extra.version) !== "";
  const fits = isGiven && (!known || (extra.name === known.name && extra.version === known.version));
  const example = known ?? { name: "USD Coin", version: "2" };
  return judge(
    fits,
    rule,
    [
      "extra.name and extra.version are the token's EIP-712 domain",
      "extra.name and extra.version are not the token's EIP-712 domain",
    ],
    `Set "extra": ${JSON.stringify(example)}.`,
  );
}

function methodFinding(network: string, offer: JsonObject, rule: string): Finding {
  const only = network.startsWith("hedera:") ? "cryptoTransfer" : "eip3009";
  return judge(
    (extraOf(offer).assetTransferMethod ?? only) === only,
    rule,
    ["The transfer method is settled here", "The transfer method is not settled here"],
    `Leave extra.assetTransferMethod out, or set it to ${only}.`,
  );
}

const extraOf = ({ extra }: JsonObject): JsonObject => (isJsonObject(extra) ? extra : {});

/** The stablecoin that an offer names, where it is known on its network. */
function coinOf(network: string, offer: JsonObject) {
  const named = textOf(offer.asset).toLowerCase();
  return networkOf(network)?.stablecoins.find(({ asset }) => asset.toLowerCase() === named);
}

function isAccount(network: string, payTo: string): boolean {
  return network.startsWith("hedera:") ? /^0\.0\.[1-9]\d{0,18}$/.test(payTo) : /^0x[0-9a-fA-F]{40}$/.test(payTo);
}

function shownOf(version: 1 | 2, offer: JsonObject): Offer {
  return {
    network: shortOf(textOf(offer.network)),
    amount: shortOf(textOf(version === 1 ? offer.maxAmountRequired : offer.amount)),
    asset: shortOf(textOf(offer.asset)),
    payTo: shortOf(textOf(offer.payTo)),
    seconds: shortOf(String(offer.maxTimeoutSeconds ?? "")),
  };
}

/** `says`: what is told when it holds, and when it does not. */
export function judge(
  holds: boolean,
  rule: string,
  says: readonly [held: string, broken: string],
  remedy: string,
): Finding {
  return holds ? ok(rule, says[0]) : { rule, says: says[1], verdict: "bad", remedy };
}

function ok(rule: string, says: string): Finding {
  return { rule, says, verdict: "ok" };
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");
const shortOf = (text: string) => (text.length > 80 ? `${text.slice(0, 79)}…` : text);
