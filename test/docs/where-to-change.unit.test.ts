import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { listedDays } from "../../facilitator/discovery/listing.ts";
import { resourcesMax } from "../../facilitator/discovery/store.ts";
import { holdSeconds } from "../../facilitator/holds/store.ts";
import { failuresWithin } from "../../facilitator/limits/failure-windows.ts";
import { paymentBodyBytesMax } from "../../facilitator/payment-shapes.ts";
import { unpayableCheckedEvery } from "../../marketplace/accounts/recheck-wallets.ts";
import { confirmedMinutes } from "../../marketplace/admin/confirm.ts";
import { categories } from "../../marketplace/agents/category.ts";
import { figuresDays } from "../../marketplace/agents/count-runs.ts";
import { extraInstructionsLengthMax } from "../../marketplace/agents/field-limits.ts";
import { dollarsPerCredit } from "../../marketplace/answers/amounts.ts";
import { connectorIds } from "../../marketplace/connectors/connector.ts";
import { reportsKept, resolvedReportsKeptDays } from "../../marketplace/expired-rows.ts";
import { freshMinutes } from "../../marketplace/fresh-session.ts";
import { historyDays } from "../../marketplace/history-days.ts";
import { clientKeptDays, grantDays, renewalsAnHour } from "../../marketplace/oauth/grants.ts";
import { quoteGoodForSeconds } from "../../marketplace/payments/quotes/quote-id.ts";
import { freePictureMax } from "../../marketplace/svg/free-picture.ts";
import { maxTimeoutSeconds } from "../../marketplace/time-limits.ts";
import { imageBytesMax } from "../../marketplace/tracer/image/limits.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(`${root}/docs/where-to-change.md`, "utf8");

/** Each "`name`, `other` in `file` or `file`" of the page. */
const homes = [...page.matchAll(/((?:`\w+`(?:, | or | and |))+) in ((?:`[\w./-]+\.tsx?`(?: or |))+)/g)].flatMap(
  ([, names = "", files = ""]) => quotedIn(files).flatMap((file) => quotedIn(names).map((name) => ({ name, file }))),
);

test.each(homes)("$name, which docs/where-to-change.md names, is defined or made in $file", ({ name, file }) => {
  const defined = `(const|let|function|class|type|interface|enum|new) ${name}\\b|^\\s*(readonly |async |static )*["#]?${name}"?[?]?(:|,$|\\(|<)|[{,] ?${name}[:,]`;
  expect(readFileSync(`${root}/${file}`, "utf8")).toMatch(new RegExp(defined, "m"));
});

test("docs/where-to-change.md names a home in most of its rows", () => {
  expect(homes.length).toBeGreaterThan(50);
});

const words: Readonly<Record<number, string>> = {
  10: "ten",
  11: "eleven",
  30: "thirty",
  40: "forty",
  50: "fifty",
  60: "sixty",
  90: "ninety",
};

/** How each figure would be written out, in what code and texts it is a figure of, and where it may be. */
const figures: readonly Figure[] = [
  { name: "listedDays", like: `paid within ${listedDays} days`, as: days(listedDays), within: "facilitator/" },
  {
    name: "atomicPerCredit",
    like: `one credit is ${dollarsPerCredit}`,
    as: /\b(one|1|a) credit (is|=) (US\$\d|a cent|one (US )?cent|\d)|\bone cent a credit\b/gi,
    within: /^(marketplace|client)\//,
  },
  {
    name: "historyDays",
    like: `interval '${historyDays} days'`,
    as: days(historyDays),
    within: /^(marketplace|client|docs)\//,
  },
  {
    name: "figuresDays",
    like: `runs in ${figuresDays} days`,
    as: days(figuresDays),
    within: /^(marketplace|client|docs)\//,
  },
  {
    name: "failuresWithin",
    like: `wait ${failuresWithin}`,
    as: written(Number.parseInt(failuresWithin, 10), "minutes?"),
    within: /^facilitator\/(limits|settlements)\/|^\.env/,
    // How long a claim that was opened is looked after.
    but: /failure-windows\.ts|least\(now\(\) - created_at/,
  },
  {
    name: "freshMinutes",
    like: `within ${freshMinutes} minutes`,
    as: written(freshMinutes, "minutes"),
    within: /^marketplace\/(sign-in|web\/console\/account)\//,
  },
  {
    name: "confirmedMinutes",
    like: `in the last ${confirmedMinutes} minutes`,
    as: written(confirmedMinutes, "minutes"),
    within: /^marketplace\/(admin|web\/(admin|docs))\//,
  },
  {
    name: "unpayableCheckedEvery",
    like: `the check every ${unpayableCheckedEvery}`,
    as: written(Number.parseInt(unpayableCheckedEvery, 10), "minutes"),
    within: "marketplace/accounts/",
    but: /const unpayableCheckedEvery/,
  },
  {
    name: "maxTimeoutSeconds",
    like: `urlopen(request, timeout=${maxTimeoutSeconds})`,
    as: new RegExp(`(timeout|TimeoutSeconds"?)(Ms)?\\s*[=:]\\s*${maxTimeoutSeconds}(_?000)?\\b`, "g"),
    within: /^(marketplace|shared|docs)\//,
    but: /^marketplace\/time-limits\.ts/,
  },
  {
    name: "holdSeconds",
    like: `${holdSeconds} s, or until settled`,
    as: written(holdSeconds, "s(econds)?"),
    within: /^(facilitator\/|docs\/|client\/)/,
    // How long a Hedera transaction is valid, by the network's own rules.
    but: /exact-hedera\/|payment-rules\.md/,
  },
  {
    name: "quoteGoodForSeconds",
    like: `* ${quoteGoodForSeconds}`,
    as: digits(quoteGoodForSeconds),
    within: "marketplace/payments/quotes/",
    but: /const quoteGoodForSeconds/,
  },
  {
    name: "imageBytesMax",
    like: `up to ${imageBytesMax / 1e6} MB`,
    as: written(imageBytesMax / 1e6, "MB"),
    within: /^(marketplace|docs)\//,
  },
  {
    name: "freePixelsMax",
    like: `at most ${freePictureMax}`,
    as: new RegExp(freePictureMax, "g"),
    within: /^(marketplace|docs)\/|^\.env/,
  },
  {
    name: "extraInstructionsLengthMax",
    like: `up to ${extraInstructionsLengthMax.toLocaleString("en")} characters`,
    as: written(extraInstructionsLengthMax, "characters"),
    within: /^(marketplace\/(web\/docs|agents)|docs)\//,
  },
  { name: "grantDays", like: `for ${grantDays} days`, as: days(grantDays), within: /^(marketplace|docs)\// },
  {
    name: "clientKeptDays",
    like: `interval '${clientKeptDays} days'`,
    as: days(clientKeptDays),
    within: "marketplace/oauth/",
  },
  {
    name: "renewalsAnHour",
    like: `${renewalsAnHour} times an hour`,
    as: written(renewalsAnHour, "times an hour"),
    within: /^(marketplace|docs)\//,
  },
  {
    name: "resourcesMax",
    like: `has ${resourcesMax} resources`,
    as: written(resourcesMax, "resources"),
    within: /^(facilitator|docs)\//,
  },
  {
    name: "paymentBodyBytesMax",
    like: `${paymentBodyBytesMax / 1_024} KB`,
    as: written(paymentBodyBytesMax / 1_024, "Ki?B"),
    within: /^(facilitator|docs)\//,
  },
  {
    name: "categoryNames",
    like: categories.join(", "),
    as: new RegExp(`\\b${categories[0]},\\s+${categories[1]}\\b`, "g"),
    within: /^(marketplace|docs)\//,
  },
  {
    name: "connectorIds",
    like: `${connectorIds.length} [connectors]`,
    as: written(connectorIds.length, "\\[?connectors"),
    within: /^(marketplace|docs)\/|^README/,
  },
];

test.each(figures)(
  "$name is written out nowhere but at its home: texts and SQL are made from it",
  ({ like, as, within, but }) => {
    expect(like).toMatch(as);
    const isIn = (name: string) => (typeof within === "string" ? name.startsWith(within) : within.test(name));
    const copies = sources
      .filter(({ name }) => isIn(name))
      .flatMap(({ name, text }) => [...text.matchAll(as)].map(({ index }) => `${name}: ${lineAt(text, index)}`))
      .filter((copy) => !but?.test(copy));
    expect(copies).toEqual([]);
  },
);

interface Figure {
  readonly name: string;
  /** A copy, which the pattern must find. */
  readonly like: string;
  readonly as: RegExp;
  readonly within: string | RegExp;
  /** By "file: line": its home, or the same words for something else. */
  readonly but?: RegExp;
}

/** What people read and what runs, but for what is generated and for migrations, which never change. */
const sources = ["facilitator", "marketplace", "shared", "client", "docs"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  )
  .filter(
    (name) =>
      /\.(tsx?|md)$/.test(name) && !/node_modules|\/dist\/|\/migrations\/|\/adr\/|client\/openapi\.ts/.test(name),
  )
  .concat("README.md", ".env.example")
  .map((name) => ({ name, text: readFileSync(join(root, name), "utf8") }));

function lineAt(text: string, index: number): string {
  return text.slice(text.lastIndexOf("\n", index) + 1, text.indexOf("\n", index)).trim();
}

function days(count: number): RegExp {
  return written(count, "days?");
}

/** `30 days`, `thirty days`. */
function written(count: number, unit: string): RegExp {
  return new RegExp(`\\b(${[digits(count).source, words[count] ?? []].flat().join("|")}) ${unit}(?!\\w)`, "g");
}

/** `3600`, `3_600`, `3,600`. */
function digits(count: number): RegExp {
  return new RegExp(`\\b${count.toLocaleString("en").replaceAll(",", "[,_]?")}\\b`, "g");
}

function quotedIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, quoted]) => quoted as string);
}

test("docs/operating.md says for how long reports of agents are kept", () => {
  const { text } = sources.find(({ name }) => name === "docs/operating.md") ?? { text: "" };
  expect(text).toContain(`kept for ${resolvedReportsKeptDays} days after that, and for ${reportsKept} at most`);
});
