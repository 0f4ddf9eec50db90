import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { EnvReader } from "../../shared/env.ts";

export const projectDirectory = fileURLToPath(new URL("../..", import.meta.url));

/** Where the local stack lives: ports and state, from the environment. Throws ConfigError naming every problem. */
export function readSettings(variables: Record<string, string | undefined>): Settings {
  const env = new EnvReader(variables);
  const port = (variable: string, fallback: number) => ({
    variable,
    number: env.integer(variable, fallback, { min: 1, max: 65_535 }),
  });
  const nodeNumbers = env.list("LOCAL_HEDERA_NODE_PORTS", ["50211", "50213", "50214"]).map(Number);
  if (nodeNumbers.length === 0 || !nodeNumbers.every((number) => number >= 1 && number <= 65_535)) {
    env.problem("LOCAL_HEDERA_NODE_PORTS must list ports, separated by commas", 0);
  }
  const settings = {
    dataDirectory: resolve(projectDirectory, env.text("STACK_DATA_DIR", ".data")),
    ports: {
      postgres: port("POSTGRES_PORT", 15_432),
      hederaNodes: nodeNumbers.map((number) => ({ variable: "LOCAL_HEDERA_NODE_PORTS", number })),
      hederaMirror: port("LOCAL_HEDERA_MIRROR_PORT", 5551),
      hederaAdmin: port("LOCAL_HEDERA_ADMIN_PORT", 5552),
      evm: port("EVM_CHAIN_PORT", 8545),
      model: port("MODEL_STAND_IN_PORT", 4030),
      x: port("X_STAND_IN_PORT", 4031),
      mcp: port("MCP_STAND_IN_PORT", 4032),
      facilitator: port("FACILITATOR_PORT", 4022),
      marketplace: port("MARKETPLACE_PORT", 4020),
    },
  };
  const all = Object.values(settings.ports).flat();
  for (const { number, variable } of all.filter((a, at) => all.findIndex((b) => b.number === a.number) !== at)) {
    env.problem(`${variable} uses port ${number}, which another part uses already`, 0);
  }
  env.finish("the local stack");
  return settings;
}

export interface Settings {
  /** Everything the stack keeps; the only place it writes to. */
  readonly dataDirectory: string;
  readonly ports: {
    readonly [part in
      | "postgres"
      | "hederaMirror"
      | "hederaAdmin"
      | "evm"
      | "model"
      | "x"
      | "mcp"
      | "facilitator"
      | "marketplace"]: Port;
  } & { readonly hederaNodes: readonly Port[] };
}

export interface Port {
  readonly number: number;
  readonly variable: string;
}

/** Adds what the project's .env says, where the environment does not say otherwise. */
export function loadEnvFile(): void {
  try {
    process.loadEnvFile(join(projectDirectory, ".env"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

export function stackFileOf(dataDirectory: string) {
  return join(dataDirectory, "stack.json");
}
