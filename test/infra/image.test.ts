import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../../marketplace/config.ts";

const file = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");

interface Service {
  readonly read_only?: boolean;
  readonly tmpfs?: string;
  readonly environment: Record<string, string>;
  readonly volumes?: readonly string[];
}

/** With the defaults of what .env does not say. */
const compose = async () =>
  parse((await file("infra/deploy/compose.yaml")).replace(/\$\{\w+:-([^}]*)\}/g, "$1"), { merge: true }) as {
    services: Record<string, Service>;
    volumes: Record<string, unknown>;
  };

test("every directory that a service writes to is a volume, and everything else is read-only", async () => {
  const { services, volumes } = await compose();
  const copies = ["facilitator-1", "facilitator-2", "marketplace-1", "marketplace-2"];
  for (const name of [...copies, "migrate", "database-1", "database-2", "backup", "restore"]) {
    const { read_only, tmpfs } = services[name] as Service;
    expect({ name, read_only, tmpfs }).toEqual({ name, read_only: true, tmpfs: "/tmp" });
  }
  expect(services["marketplace-2"]).toEqual(services["marketplace-1"]);
  const { environment, volumes: mounts = [] } = services["marketplace-1"] as Service;
  const texts = Object.fromEntries(Object.entries(environment).map(([variable, value]) => [variable, String(value)]));
  const given = { ...texts, MARKETPLACE_PORT: "4020", LLM_BASE_URL: "http://model" };
  const { filesDirectory } = readConfig({ ...given, MARKETPLACE_DATABASE_URL: "postgres://db" }).services;
  expect(mounts.map((mount) => mount.split(":")[1])).toContain(filesDirectory);
  for (const { volumes: mounts = [] } of Object.values(services)) {
    const named = mounts.map((mount) => mount.split(":")[0] as string);
    expect(Object.keys(volumes)).toEqual(expect.arrayContaining(named.filter((source) => !source.startsWith("."))));
  }
  // A new volume takes over whose the directory is in the image.
  const dockerfile = await file("infra/deploy/Dockerfile");
  expect(dockerfile).toContain("RUN mkdir -p /data/files\n");
  expect(dockerfile).toContain("COPY --from=build --chown=1000:1000 /data /data\n");
  expect(dockerfile).toContain("USER 1000:1000\n");
});

test("the image holds what runs: no stand-ins, no tests, no types", async () => {
  const dockerfile = (await file("infra/deploy/Dockerfile")).replaceAll("\\\n", " ");
  const command = /^RUN (rm -rf dist\/test .*)$/m.exec(dockerfile)?.[1] as string;
  const directory = await mkdtemp(join(tmpdir(), "image-"));
  try {
    const infra = await readdir(new URL("../../infra", import.meta.url), { withFileTypes: true });
    const folders = infra.filter((entry) => entry.isDirectory()).map(({ name }) => `dist/infra/${name}`);
    const kept = ["dist/facilitator", "dist/marketplace", "dist/shared"];
    for (const folder of [...folders, ...kept, "dist/test"]) await mkdir(join(directory, folder), { recursive: true });
    const touch = [
      "touch dist/infra/deploy/migrate.js dist/shared/http.js dist/shared/http.d.ts dist/shared/tsconfig.tsbuildinfo",
    ];
    await promisify(execFile)("sh", ["-c", [...touch, command].join(" && ")], { cwd: directory });
    const left = await readdir(join(directory, "dist"), { recursive: true });
    expect(left.toSorted()).toEqual([
      ...["facilitator", "infra", "infra/deploy", "infra/deploy/migrate.js", "marketplace", "shared", "shared/http.js"],
    ]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("its packages are those that run, with every peer that they need and none that only our tools are", async () => {
  expect(await file("infra/deploy/Dockerfile")).toContain("npm ci --omit=dev --legacy-peer-deps --ignore-scripts");
  const { packages } = JSON.parse(await file("package-lock.json")) as { packages: Record<string, Locked> };
  const installed = new Set<string>();
  const install = (path: string) => {
    if (installed.has(path)) return;
    installed.add(path);
    const { dependencies, optionalDependencies } = packages[path] as Locked;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = resolved(packages, path, name);
      if (found) install(found);
    }
  };
  install("");
  const { devDependencies = {}, dependencies = {} } = packages[""] as Locked;
  const tools = Object.keys(devDependencies).filter((name) => !(name in dependencies));
  const runs = [...installed].filter((path) => tools.includes(path.replace(/^node_modules\//, "")));
  // What runtime libraries themselves depend on: types of one's interface, and what tests use too, of the MCP SDK and of viem.
  const shared = ["node_modules/hono", "node_modules/ws"];
  const ofLibraries = (path: string) => path.startsWith("node_modules/@types/") || shared.includes(path);
  expect(runs.filter((path) => !ofLibraries(path))).toEqual([]);
  for (const path of installed) {
    const { peerDependencies = {}, peerDependenciesMeta = {} } = packages[path] as Locked;
    for (const name of Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional)) {
      const found = resolved(packages, path, name);
      expect({ path, needs: name, installed: found !== undefined && installed.has(found) }).toMatchObject({
        installed: true,
      });
    }
  }
});

/** Where Node finds `name` from `path`. */
function resolved(packages: Record<string, Locked>, path: string, name: string): string | undefined {
  for (let from = path; ; from = from.replace(/\/?node_modules\/(@[^/]+\/)?[^/]+$/, "")) {
    const place = `${from === "" ? "" : `${from}/`}node_modules/${name}`;
    if (packages[place]) return place;
    if (from === "") return undefined;
  }
}

interface Locked {
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}
