import type { LedgerContext } from "./context.ts";
import { Faucet } from "./faucet.ts";
import { Faults } from "./faults.ts";
import { exchangeRate } from "./fees/schedule.ts";
import { entityText } from "./hapi/ids.ts";
import { type NodeServer, startNode } from "./hapi/node-server.ts";
import { startMirror } from "./mirror/server.ts";
import { Consensus } from "./pipeline/consensus.ts";
import { type SeededAccount, type SeededName, seed, seededAccounts, USDC } from "./seed.ts";
import { LedgerClock } from "./state/clock.ts";
import { History } from "./state/history.ts";
import { LedgerState } from "./state/state.ts";
import { Transactions } from "./state/transactions.ts";

/**
 * Starts a local Hedera: consensus nodes over gRPC and a mirror over REST, all on 127.0.0.1, over one state in memory.
 * Throws when asked to call itself mainnet, and when a port is taken.
 */
export const startDevLedger = async (options: DevLedgerOptions = {}): Promise<DevLedger> => {
  const network = options.network ?? "hedera:testnet";
  refuseMainnet(network);
  const ports = options.nodePorts ?? [0, 0, 0];
  const ledger = newLedger(options, ports.length);
  seed(ledger);

  const consensus = new Consensus(ledger);
  const nodes: NodeServer[] = [];
  for (const [index, port] of ports.entries())
    nodes.push(await startNode(ledger, consensus, ledger.nodes[index]!, port));
  ledger.nodePorts = nodes.map(({ port }) => port);
  const mirror = await startMirror(ledger, options.mirrorPort ?? 0);

  return {
    network,
    nodes: Object.fromEntries(nodes.map(({ port }, index) => [`127.0.0.1:${port}`, entityText(ledger.nodes[index]!)])),
    mirrorUrl: mirror.url,
    usdc: entityText(USDC),
    accounts: seededAccounts(),
    faults: ledger.faults,
    settings: ledger.settings,
    faucet: new Faucet(ledger),
    close: async () => {
      for (const node of nodes) node.close();
      await mirror.close();
      consensus.drain();
    },
  };
};

const newLedger = (options: DevLedgerOptions, nodeCount: number): LedgerContext => ({
  state: new LedgerState(),
  transactions: new Transactions(options.transactionsKept ?? TRANSACTIONS_KEPT),
  clock: new LedgerClock(options.clockOffsetMs ?? 0),
  history: new History(options.mirrorLagMs ?? 0),
  faults: new Faults(),
  settings: {
    consensusDelayMs: options.consensusDelayMs ?? 20,
    replyDelayMs: 0,
    receiptTtlMs: options.receiptTtlMs ?? 180_000,
    balanceQuery: options.balanceQuery ?? false,
  },
  rate: exchangeRate(options.centsPerHbar ?? 12),
  nodes: Array.from({ length: nodeCount }, (_, index) => FIRST_NODE + index),
  nodePorts: [],
  changed: () => {},
});

const refuseMainnet = (network: string): void => {
  if (/mainnet/i.test(network))
    throw new Error(`network: a dev ledger never calls itself ${network}; use hedera:testnet`);
  if (network !== "hedera:testnet") throw new Error(`network: ${network} is not known; use hedera:testnet`);
};

const FIRST_NODE = 3;
const TRANSACTIONS_KEPT = 200_000;

export type DevLedgerOptions = {
  /** Only `hedera:testnet`, so that configuration is the same as on testnet. */
  network?: string;
  /** One consensus node per port, accounts 0.0.3 and up. Default: three, chosen by the system. */
  nodePorts?: number[];
  mirrorPort?: number;
  adminPort?: number;
  /** Between a node's OK and the receipt. Default 20. */
  consensusDelayMs?: number;
  /** How far the mirror is behind. Default 0; a real one lags 3 to 6 seconds. */
  mirrorLagMs?: number;
  /** How long receipts and records are given out. Default 180,000. */
  receiptTtlMs?: number;
  /** Default 12. */
  centsPerHbar?: number;
  /** Shifts the ledger's clock against the machine's. */
  clockOffsetMs?: number;
  /** Answer HBAR balances over gRPC. Default false: BUSY, as real nodes do. */
  balanceQuery?: boolean;
  /** The mirror forgets older transactions. Default 200,000. */
  transactionsKept?: number;
  /** A snapshot to go on from. */
  state?: string;
};

export type DevLedger = {
  network: string;
  /** gRPC address → node account, as the SDK's `Client.forNetwork` takes it. */
  nodes: Record<string, string>;
  mirrorUrl: string;
  /** `0.0.429274`, 6 decimals. */
  usdc: string;
  accounts: Record<SeededName, SeededAccount>;
  faults: Faults;
  settings: LedgerContext["settings"];
  faucet: Faucet;
  /** Stops listening, then finishes what was accepted. */
  close: () => Promise<void>;
};
