import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import sharp from "sharp";
import { projectDirectory } from "../../infra/dev/settings.ts";
import { freePort } from "../../infra/free-port.ts";
import { startWorld } from "../bench/soak/world.ts";
import { seedAgents, startAgentBackends } from "./agents.ts";
import { Callers } from "./callers.ts";
import { CannotDrillError, type Unpacked, unpack } from "./debian.ts";
import { killTree } from "./processes.ts";
import { tableOf } from "./report.ts";
import { verdict } from "./rolling.ts";

const execute = promisify(execFile);
const megabytesMax = 300;

/**
 * The image of infra/deploy/Dockerfile is built by buildah and its services are called. What it is built from are Debian's packages and the
 * Node that runs here, in place of the images that the Dockerfile names: the same files, and no registry is needed.
 */
export async function drill(): Promise<boolean> {
  if (process.getuid?.() !== 0)
    throw new CannotDrillError("buildah needs root here, since it changes the root of what it runs");
  const stops: Array<() => Promise<unknown>> = [];
  try {
    const debian = await unpack(["buildah", "patchelf"]);
    stops.push(() => debian.remove());
    await keepLibraries(debian, "usr/bin/buildah");
    const directory = await mkdtemp(join(tmpdir(), "image-"));
    stops.push(() => rm(directory, { recursive: true, force: true }));
    const buildah = new Buildah(debian, directory);
    await buildBases(buildah, directory);
    const dockerfile = join(projectDirectory, "infra/deploy/Dockerfile");
    await buildah.build("agent-marketplace", dockerfile, projectDirectory, [
      ...["--build-arg", "NODE=localhost/node", "--build-arg", "BASE=localhost/base"],
      ...["--ignorefile", `${dockerfile}.dockerignore`, ...(await npmHere(directory))],
    ]);
    const container = await buildah.containerOf("agent-marketplace");
    const root = await buildah.mount(container);
    const parts = ["usr/local/bin/node", "app/node_modules", "app/dist", ""];
    const [node = 0, packages = 0, dist = 0, all = 0] = await Promise.all(
      parts.map((part) => megabytesOf(join(root, part))),
    );
    const sizes = { node, packages, dist, base: all - node - packages - dist, all };
    const problems = await callServices(buildah, container, stops);
    for (const problem of problems) process.stdout.write(`${problem}\n`);
    const megabytes = Object.values(sizes).map((size) => `${size.toFixed(0)} MB`);
    process.stdout.write(`\n${tableOf(Object.keys(sizes), [megabytes])}`);
    return all <= megabytesMax && problems.length === 0;
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

class Buildah {
  readonly #program: readonly [string, ...string[]];
  readonly #directory: string;

  constructor(debian: Unpacked, directory: string) {
    this.#program = debian.command("usr/bin/buildah");
    this.#directory = directory;
  }

  async build(name: string, file: string, context: string, options: readonly string[] = []): Promise<void> {
    await this.#ask(
      "build",
      "--isolation",
      "chroot",
      ...(await this.#policy()),
      ...options,
      "-t",
      `localhost/${name}`,
      "-f",
      file,
      context,
    );
  }

  async containerOf(name: string): Promise<string> {
    return this.#ask("from", "--pull-never", ...(await this.#policy()), `localhost/${name}`);
  }

  /** Where its files are. */
  mount(container: string): Promise<string> {
    return this.#ask("mount", container);
  }

  run(container: string, command: readonly string[], variables: Record<string, string>): Promise<string> {
    return this.#ask(...this.#runOf(container, command, variables));
  }

  start(container: string, command: readonly string[], variables: Record<string, string>): ChildProcess {
    const [program, ...args] = this.#commandOf(this.#runOf(container, command, variables));
    return spawn(program, args, { stdio: ["ignore", process.env.DRILL_LOG ? "inherit" : "ignore", "inherit"] });
  }

  #runOf(container: string, command: readonly string[], variables: Record<string, string>): string[] {
    const given = Object.entries(variables).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
    return ["run", "--isolation", "chroot", ...given, container, "--", ...command];
  }

  #commandOf(args: readonly string[]): [string, ...string[]] {
    const at = (name: string) => join(this.#directory, name);
    const storage = ["--root", at("storage"), "--runroot", at("run"), "--storage-driver", "vfs"];
    return [...this.#program, ...storage, "--registries-conf", at("registries.conf"), ...args];
  }

  async #policy(): Promise<string[]> {
    const file = join(this.#directory, "policy.json");
    await writeFile(file, '{"default":[{"type":"insecureAcceptAnything"}]}');
    await writeFile(join(this.#directory, "registries.conf"), "");
    return ["--signature-policy", file];
  }

  async #ask(...args: string[]): Promise<string> {
    const [program, ...given] = this.#commandOf(args);
    const { stdout } = await execute(program, given, {
      maxBuffer: 1e8,
      env: { ...process.env, TMPDIR: this.#directory },
    });
    return stdout.trim();
  }
}

/** It starts itself again without its environment, so it has to know by itself where its libraries are. */
async function keepLibraries(debian: Unpacked, path: string): Promise<void> {
  const [program, ...args] = debian.command("usr/bin/patchelf");
  const libraries = args[0]?.replace("LD_LIBRARY_PATH=", "") ?? "";
  await execute(program, [...args, "--force-rpath", "--set-rpath", libraries, join(debian.root, path)]);
}

/** What stands in for the images that the Dockerfile names. */
async function buildBases(buildah: Buildah, directory: string): Promise<void> {
  const libraries = ["libstdc++6", "libssl3"];
  const file = join(directory, "Containerfile");
  await writeFile(file, "FROM scratch\nCOPY . /\nENV PATH=/usr/local/bin:/usr/bin:/bin HOME=/root\n");
  for (const [name, packages] of [
    ["base", libraries],
    ["node", [...libraries, "dash", "coreutils", "findutils", "sed"]],
  ] as const) {
    const { root, remove } = await unpack(packages, "bookworm");
    try {
      for (const folder of ["tmp", "root", "proc", "dev", "sys", "etc"])
        await mkdir(join(root, folder), { recursive: true });
      await chmod(join(root, "tmp"), 0o1777);
      await rm(join(root, "usr/share/doc"), { recursive: true, force: true });
      if (name === "node") await addNode(root);
      await buildah.build(name, file, root);
    } finally {
      await remove();
    }
  }
}

async function addNode(root: string): Promise<void> {
  const local = join(root, "usr/local");
  await mkdir(join(local, "bin"), { recursive: true });
  await copyFile(process.execPath, join(local, "bin/node"));
  const { stdout } = await execute("npm", ["root", "--global"]);
  await cp(join(stdout.trim(), "npm"), join(local, "lib/node_modules/npm"), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await symlink("../lib/node_modules/npm/bin/npm-cli.js", join(local, "bin/npm"));
}

/** How npm gets packages here: its settings, what it has already, and whom it trusts. */
async function npmHere(directory: string): Promise<string[]> {
  const { stdout } = await execute("npm", ["config", "get", "userconfig", "cache"]);
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(stdout)?.[1] ?? "";
  const settings = [await readFile(setting("userconfig"), "utf8").catch(() => "")];
  const volumes = [`${setting("cache")}:/root/.npm`];
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  if (authorities) {
    settings.push("cafile=/root/authorities.pem");
    volumes.push(`${authorities}:/root/authorities.pem:ro`);
  }
  const file = join(directory, "npmrc");
  await writeFile(file, `${settings.join("\n")}\n`);
  return [...volumes, `${file}:/root/.npmrc:ro`].flatMap((volume) => ["--volume", volume]);
}

async function megabytesOf(path: string): Promise<number> {
  const { stdout } = await execute("du", ["--summarize", "--bytes", path]);
  return Number.parseInt(stdout, 10) / 1e6;
}

/** Each kind of call, a drawing, and every package that the compiled services import. */
async function callServices(
  buildah: Buildah,
  container: string,
  stops: Array<() => Promise<unknown>>,
): Promise<readonly string[]> {
  const problems = [...(await buildah.run(container, ["node", "-e", importAll], {})).split("\n")].filter(
    (line) => line !== "",
  );
  const world = await startWorld({ blocksEverySecond: false });
  stops.push(() => world.stop());
  const backends = await startAgentBackends();
  stops.push(() => backends.stop());
  const start = async (name: "facilitator" | "marketplace", variables: Record<string, string>) => {
    const port = await freePort();
    const given = {
      ...variables,
      [`${name.toUpperCase()}_PORT`]: String(port),
      [`${name.toUpperCase()}_HOST`]: "127.0.0.1",
    };
    const child = buildah.start(container, ["node", `dist/${name}/main.js`], given);
    stops.push(() => killTree(child.pid as number));
    await untilReady(`http://127.0.0.1:${port}`, child);
    return `http://127.0.0.1:${port}`;
  };
  const facilitator = await start("facilitator", world.variables);
  const databaseUrl = await world.createDatabase("marketplace");
  const variables = backends.variables(world, databaseUrl, facilitator);
  const marketplace = await start("marketplace", { ...variables, FILES_DIR: "/data/files" });
  const seeded = await seedAgents(variables, backends.slowUrl);
  const callers = new Callers(world, { facilitator, marketplace, seeded });
  callers.start(1);
  await pause(5_000);
  await callers.stop();
  const { text, problems: wrong } = await verdict(callers, world, seeded.wallet);
  process.stdout.write(`\n${text}`);
  const png = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#c33" } })
    .png()
    .toBuffer();
  const answer = await fetch(`${marketplace}/api/v1/svg/vectorize`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${seeded.key}` },
    body: JSON.stringify({ image: `data:image/png;base64,${png.toString("base64")}` }),
  });
  const drawing = await answer.text();
  if (!drawing.includes("<svg")) wrong.push(`a drawing: ${answer.status} ${drawing.slice(0, 200)}`);
  return [...problems, ...wrong];
}

/** Says which packages of ours that compiled code imports, some of it late, cannot be loaded. */
const importAll = `
  const { readdirSync, readFileSync } = require("node:fs");
  const ours = Object.keys(JSON.parse(readFileSync("package.json", "utf8")).dependencies);
  const names = new Set();
  for (const file of readdirSync("dist", { recursive: true }).filter((name) => name.endsWith(".js"))) {
    const text = readFileSync("dist/" + file, "utf8");
    for (const [, name] of text.matchAll(/(?:from|import)\\s*\\(?\\s*"([a-z@][^":]*)"/g)) names.add(name);
  }
  const load = async (name) => import(name).catch(({ message }) => console.log(name + ": " + message));
  const wanted = [...names].filter((name) => ours.some((one) => name === one || name.startsWith(one + "/")));
  Promise.all(wanted.map(load)).then(() => process.exit(wanted.length > 20 ? 0 : 1));
`;

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const giveUpAt = performance.now() + 120_000;
  for (;;) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    if (child.exitCode !== null || performance.now() > giveUpAt)
      throw new Error("a service of the image did not start");
    await pause(100);
  }
}
