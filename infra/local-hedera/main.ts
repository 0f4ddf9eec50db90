import { startLocalHedera } from "./local-hedera.ts";
import { PortError } from "./options.ts";

/** The chain as a process of its own: ports and state file from the environment, one line when it listens. */
const main = async (): Promise<void> => {
  const stateFile = process.env.LOCAL_HEDERA_STATE_FILE;
  const chain = await startLocalHedera({
    nodePorts: readPorts("LOCAL_HEDERA_NODE_PORTS", "50211,50213,50214"),
    mirrorPort: readPorts("LOCAL_HEDERA_MIRROR_PORT", "5551")[0]!,
    adminPort: readPorts("LOCAL_HEDERA_ADMIN_PORT", "5552")[0]!,
    ...(stateFile && { stateFile }),
  });
  const { network, nodes, mirrorUrl: mirror, adminUrl: admin, usdc, accounts } = chain;
  console.log("local-hedera ready", JSON.stringify({ network, nodes, mirror, admin, usdc, accounts }));
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void chain.close().then(() => process.exit(0)));
  }
};

const readPorts = (variable: string, otherwise: string): number[] => {
  const text = process.env[variable] || otherwise;
  const ports = text.split(",").map((part) => (/^\s*\d{1,5}\s*$/.test(part) ? Number(part) : -1));
  if (ports.some((port) => port < 0 || port > 65_535)) throw new Error(`${variable}: ${text} is not a list of ports`);
  return ports;
};

const variables = {
  nodePorts: "LOCAL_HEDERA_NODE_PORTS",
  mirrorPort: "LOCAL_HEDERA_MIRROR_PORT",
  adminPort: "LOCAL_HEDERA_ADMIN_PORT",
};

main().catch((error: Error) => {
  const advice = error instanceof PortError ? `; set ${variables[error.option]} to another port` : "";
  console.error(`local-hedera cannot start: ${error.message}${advice}`);
  process.exit(1);
});
