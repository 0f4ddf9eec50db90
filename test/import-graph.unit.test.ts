import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

const settings =
  "each names the few settings that it takes, as `Pick<Config, …>`; the configuration is read with parts of those folders";
const mailer = "e-mails are sent by the mailer of sign-in, which needs the accounts";
const callers = "says who calls, of which these folders have the types, and whose endpoints ask it";
const tools = "takes the tools of a connector, among which its own client is";

/** Types that a folder imports of one which imports its values. */
const typesFromAbove: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    "accounts → config.ts": settings,
    "agents → config.ts": settings,
    "http → config.ts": settings,
    "payments/http-transport.ts → config.ts": settings,
    "payments/paid-calls → config.ts": settings,
    "runs → config.ts": settings,
    "sign-in → config.ts": settings,
    "svg → config.ts": settings,
    "connectors/hedera → connectors/config.ts": settings,
    "accounts → sign-in": mailer,
    "credits → sign-in": mailer,
    "http → accounts": callers,
    "http → api-keys": callers,
    "http → sign-in": callers,
    "connectors/hedera → connectors/connector.ts": tools,
    "connectors/x → connectors/connector.ts": tools,
    "agents → runs": "a version of an agent can be run: it has the form that runs/runnable.ts gives all that can",
    "api-keys → credits": "a key's caps are amounts of credits, a number of its own kind",
    "payments/facilitator → payments/paid-calls": "speculative verification asks whether the payment is known here",
    "payments/quotes → payments/facilitator": "a quote asks the facilitator's client what is settled now",
    "web/console/console-frame.tsx → web/console/console-page.tsx":
      "the frame is shown an account's visit, as every page is",
  }).map(([arrow, why]) => [arrow.replaceAll(/(^| )(?=[a-z])/g, "$1marketplace/"), why]),
);

test.each(["facilitator", "marketplace", "shared", "infra"])(
  "no more than four files of %s import each other in a circle, imports of types included",
  (project) => {
    expect(circlesIn(importsOf(project)).filter((files) => files.length > 4)).toEqual([]);
  },
);

test.each(["facilitator", "marketplace", "shared", "infra", "client"])(
  "no folder of %s comes back to itself by what it imports, however long the way",
  (project) => {
    expect(circlesIn(byFolder(importsOf(project, { types: false })))).toEqual([]);
  },
);

test.each([
  [
    "facilitator",
    {
      "facilitator/web/pages → facilitator/web/site.ts":
        "pages take parts of the context, which the site's table names",
    },
  ],
  ["marketplace", typesFromAbove],
])(
  "no folder of %s comes back to itself by the types it imports, except for those that are listed with a reason",
  (project, listed) => {
    const folders = byFolder(importsOf(project));
    const excepted = new Set(Object.keys(listed));
    const without = (arrows: ReadonlySet<string>): Imports =>
      new Map([...folders].map(([from, to]) => [from, to.filter((other) => !arrows.has(`${from} → ${other}`))]));
    expect(circlesIn(without(excepted))).toEqual([]);
    // None is listed that closes no circle.
    for (const arrow of excepted) {
      expect([arrow, circlesIn(without(new Set([...excepted].filter((other) => other !== arrow)))).length]).toEqual([
        arrow,
        1,
      ]);
    }
  },
);

test.each(["facilitator", "marketplace"])(
  "only the files at the top of the %s know the whole context: all others take the few parts that they use",
  (project) => {
    const users = [...importsOf(project)].flatMap(([file, imported]) =>
      imported.includes(join(project, "context.ts")) ? [file.slice(project.length + 1)] : [],
    );
    expect(users.filter((file) => !topOfService.has(file))).toEqual([]);
  },
);

const topOfService = new Set([
  "main.ts",
  "compose.ts",
  "jobs.ts",
  "server.ts",
  "endpoints.ts",
  "web/site.ts",
  "web/serve.ts",
]);

test("a paid call's way is eight files, and none of them leads back to one before it", () => {
  const imports = importsOf("marketplace");
  const way = [
    "payments/endpoints.ts",
    "payments/pay-agent.ts",
    "payments/http-transport.ts",
    "payments/paid-calls/redeem.ts",
    "payments/paid-calls/process.ts",
    "payments/paid-calls/carry-out.ts",
    "runs/execute.ts",
    "connectors/connector.ts",
  ].map((file) => join("marketplace", file));
  for (const [step, file] of way.entries()) {
    const next = way[step + 1];
    if (next) expect(imports.get(file)).toContain(next);
    const reached = reachableFrom(file, imports);
    expect(way.slice(0, step + 1).filter((earlier) => reached.includes(earlier))).toEqual([]);
  }
});

/** All files that a file imports, and that those import. */
function reachableFrom(file: string, imports: Imports): readonly string[] {
  const seen = new Set<string>();
  const open = [...(imports.get(file) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(imports.get(next) ?? []));
  }
  return [...seen];
}

type Imports = ReadonlyMap<string, readonly string[]>;

/** By file, the files of the same project that it imports. */
function importsOf(project: string, { types = true } = {}): Imports {
  const all = readdirSync(join(root, project), { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  const files = all.map((file) => join(project, file));
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const source = types ? text : text.replace(typeImport, "");
      const named = Array.from(source.matchAll(/(?:\bfrom|\bimport\(?) ?"(\.[^"]+)"/g), ([, path]) => path as string);
      return [file, named.map((path) => normalize(join(dirname(file), path))).filter((path) => known.has(path))];
    }),
  );
}

/** A statement that imports nothing but types. */
const typeImport = /^(?:import|export) (?:type \{[^}]*\}|\{(?:\s*type [^,}]+,?)+\s*\}) from "[^"]+";$/gm;

/** What the files of a folder import of others, together; a file that lies beside folders stands for itself. */
function byFolder(imports: Imports): Imports {
  const parents = new Set([...imports.keys()].map((file) => dirname(dirname(file))));
  const placeOf = (file: string) => (parents.has(dirname(file)) ? file : dirname(file));
  const places = new Map<string, Set<string>>();
  for (const [file, imported] of imports) {
    const from = placeOf(file);
    const to = places.get(from) ?? new Set();
    for (const other of imported) if (placeOf(other) !== from) to.add(placeOf(other));
    places.set(from, to);
  }
  return new Map([...places].map(([from, to]) => [from, [...to]]));
}

/** Groups of files each of which leads to all others of its group (Tarjan's algorithm). */
function circlesIn(imports: Imports): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    lowest.set(file, order.get(file) as number);
    open.push(file);
    for (const next of imports.get(file) ?? []) {
      if (!order.has(next)) visit(next);
      if (open.includes(next)) lowest.set(file, Math.min(lowest.get(file) as number, lowest.get(next) as number));
    }
    if (lowest.get(file) !== order.get(file)) return;
    const circle = open.splice(open.indexOf(file));
    if (circle.length > 1) circles.push(circle.toSorted());
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return circles;
}
