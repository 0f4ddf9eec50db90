import { startDevLedger } from "./ledger.ts";
import { PortError } from "./options.ts";

/** The ledger as a process of its own: ports and state file from the environment, one line when it listens. */
const main = async (): Promise<void> => {
  const stateFile = process.env.DEV_LEDGER_STATE_FILE;
  const ledger = await startDevLedger({
    nodePorts: readPorts("DEV_LEDGER_NODE_PORTS", "50211,50213,50214"),
    mirrorPort: readPorts("DEV_LEDGER_MIRROR_PORT", "5551")[0]!,
    adminPort: readPorts("DEV_LEDGER_ADMIN_PORT", "5552")[0]!,
    ...(stateFile && { stateFile }),
  });
  const { network, nodes, mirrorUrl: mirror, adminUrl: admin, usdc, accounts } = ledger;
  console.log("dev-ledger ready", JSON.stringify({ network, nodes, mirror, admin, usdc, accounts }));
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void ledger.close().then(() => process.exit(0)));
  }
};

const readPorts = (variable: string, otherwise: string): number[] => {
  const text = process.env[variable] || otherwise;
  const ports = text.split(",").map((part) => (/^\s*\d{1,5}\s*$/.test(part) ? Number(part) : -1));
  if (ports.some((port) => port < 0 || port > 65_535)) throw new Error(`${variable}: ${text} is not a list of ports`);
  return ports;
};

const VARIABLES = {
  nodePorts: "DEV_LEDGER_NODE_PORTS",
  mirrorPort: "DEV_LEDGER_MIRROR_PORT",
  adminPort: "DEV_LEDGER_ADMIN_PORT",
};

main().catch((error: Error) => {
  const advice = error instanceof PortError ? `; set ${VARIABLES[error.option]} to another port` : "";
  console.error(`dev-ledger cannot start: ${error.message}${advice}`);
  process.exit(1);
});
