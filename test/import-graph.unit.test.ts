import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

test.each(["facilitator", "marketplace", "shared", "infra"])(
  "no more than four files of %s import each other in a circle, imports of types included",
  (project) => {
    expect(circlesIn(importsOf(project)).filter((files) => files.length > 4)).toEqual([]);
  },
);

test("no two rooms of the facilitator import each other, not even types, save that the server mounts pages", () => {
  const mounts = join("facilitator", "server.ts");
  const rooms = [...importsOf("facilitator")].flatMap(([file, imported]) =>
    file === mounts ? [] : imported.map((other) => [roomOf(file), roomOf(other)] as const),
  );
  const arrows = new Set(rooms.filter(([from, to]) => from !== to).map(([from, to]) => `${from} → ${to}`));
  const mutual = [...arrows].filter((arrow) => arrows.has(arrow.split(" → ").toReversed().join(" → ")));
  expect(mutual).toEqual([]);
});

test("no two rooms of the marketplace import each other but by types", () => {
  const arrows = new Set<string>();
  for (const [file, imported] of importsOf("marketplace", { types: false })) {
    for (const other of imported) if (roomOf(file) !== roomOf(other)) arrows.add(`${roomOf(file)} → ${roomOf(other)}`);
  }
  const mutual = [...arrows].filter((arrow) => arrows.has(arrow.split(" → ").toReversed().join(" → ")));
  expect(mutual.filter((arrow) => !arrow.includes("top"))).toEqual([]);
});

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

/** A folder of a service and all in it; the files beside the folders are one room. */
function roomOf(file: string): string {
  const [, room = "", ...within] = file.split("/");
  return within.length === 0 ? "top" : room;
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
