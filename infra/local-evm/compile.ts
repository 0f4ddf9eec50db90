import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);

/** Compiles contracts/*.sol and answers the text of artifacts.ts, which is committed so that no test waits for solc. */
export async function compileContracts(): Promise<string> {
  const nameByAbi = new Map<string, string>();
  const artifacts = compile().map((contract) => {
    const name = lowerFirst(contract.name);
    const abi = JSON.stringify(contract.abi);
    const first = nameByAbi.get(abi);
    nameByAbi.set(abi, first ?? name);
    return `export const ${name} = { abi: ${first ? `${first}.abi` : abi}, bytecode: "${contract.bytecode}" } as const;`;
  });
  const multicall3 = `export const multicall3 = { abi: [], bytecode: "${await multicall3Bytecode()}" } as const;`;
  return format(
    ["// Generated from contracts/*.sol by compile.ts; do not edit.", ...artifacts, multicall3].join("\n\n"),
  );
}

function compile(): Contract[] {
  const solc = require("solc") as Solc;
  const directory = fileURLToPath(new URL("contracts/", import.meta.url));
  const files = readdirSync(directory)
    .filter((file) => file.endsWith(".sol"))
    .sort()
    .reverse();
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(files.map((file) => [file, { content: readFileSync(join(directory, file), "utf8") }])),
    settings: {
      evmVersion: "cancun",
      optimizer: { enabled: true, runs: 200 },
      metadata: { bytecodeHash: "none" },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
    },
  };
  const imported = (path: string) => ({ contents: readFileSync(require.resolve(path), "utf8") });
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: imported })) as Output;
  const problems = (output.errors ?? []).filter(({ severity }) => severity === "error");
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.formattedMessage).join("\n"));
  return files.flatMap((file) =>
    Object.entries(output.contracts[file] ?? {}).map(([name, { abi, evm }]) => {
      return { name, abi, bytecode: `0x${evm.bytecode.object}` };
    }),
  );
}

/** viem carries Multicall3's creation code but does not export it. */
async function multicall3Bytecode(): Promise<string> {
  const constants = new URL("./constants/contracts.js", pathToFileURL(require.resolve("viem").replace("_cjs", "_esm")));
  return ((await import(constants.href)) as { multicall3Bytecode: string }).multicall3Bytecode;
}

function format(source: string): string {
  const biome = require.resolve("@biomejs/biome/bin/biome");
  const args = [biome, "format", "--stdin-file-path=artifacts.ts"];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { input: source, encoding: "utf8" });
  if (status !== 0) throw new Error(`biome could not format the artifacts: ${stderr}`);
  return stdout;
}

const lowerFirst = (name: string) => `${name.charAt(0).toLowerCase()}${name.slice(1)}`;

interface Contract {
  readonly name: string;
  readonly abi: unknown;
  readonly bytecode: string;
}

interface Solc {
  compile(input: string, callbacks: { import: (path: string) => { contents: string } }): string;
}

interface Output {
  readonly errors?: ReadonlyArray<{ severity: string; formattedMessage: string }>;
  readonly contracts: Record<string, Record<string, { abi: unknown; evm: { bytecode: { object: string } } }>>;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("artifacts.ts", import.meta.url), await compileContracts());
}
