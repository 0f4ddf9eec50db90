import { startAdmin } from "./admin.ts";
import type { ChainContext } from "./context.ts";
import { Faucet } from "./faucet.ts";
import { Faults, type Levels } from "./faults.ts";
import { exchangeRate } from "./fees/schedule.ts";
import { entityText } from "./hapi/ids.ts";
import { startMirror } from "./mirror/server.ts";
import { startNode } from "./node-server.ts";
import { checkOptions, type LocalHederaOptions, PortError, tlsPort } from "./options.ts";
import { Consensus } from "./pipeline/consensus.ts";
import { type SeededAccount, type SeededName, seed, seededAccounts, seedSystemAccounts, usdcNumber } from "./seed.ts";
import { ChainClock } from "./state/clock.ts";
import { History } from "./state/history.ts";
import { restoreSnapshot, takeSnapshot } from "./state/snapshot.ts";
import { ChainState } from "./state/state.ts";
import { StateFile } from "./state/state-file.ts";
import { Transactions } from "./state/transactions.ts";

/**
 * Starts a local Hedera: consensus nodes over gRPC, a mirror and a control server over HTTP, all on 127.0.0.1, over one
 * state in memory. Throws when asked to call itself mainnet, and a PortError when it cannot listen.
 */
export async function startLocalHedera(options: LocalHederaOptions = {}): Promise<LocalHedera> {
  const { network, nodePorts } = checkOptions(options);
  const chain = newLedger(options, nodePorts.length);
  const file = options.stateFile === undefined ? undefined : new StateFile(options.stateFile);
  const state = options.state ?? file?.read();
  if (state === undefined) seed(chain);
  else restoreSnapshot(chain, state);
  seedSystemAccounts(chain);
  const snapshot = (): string => takeSnapshot(chain);
  if (file) chain.changed = () => file.changed(snapshot);

  const consensus = new Consensus(chain);
  chain.faults.turned = () => consensus.runDue();
  const faucet = new Faucet(chain);
  const running: { close: () => void | Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    for (const part of running.splice(0).reverse()) await part.close();
    consensus.drain();
    file?.flush();
  };
  const listen = async <T extends { close: () => void | Promise<void> }>(
    option: PortOption,
    port: number,
    start: Promise<T>,
  ) => {
    const part = await start.catch(async (error: Error) => {
      await close();
      throw new PortError(option, port, error);
    });
    running.push(part);
    return part;
  };

  const nodes: Record<string, string> = {};
  for (const [index, port] of nodePorts.entries()) {
    const startOn = () => listen("nodePorts", port, startNode(chain, consensus, chain.nodes[index]!, port));
    let node = await startOn();
    // The system chose it. It goes on being listened on, so that the next is another one.
    if (node.port === tlsPort) node = await startOn();
    chain.nodePorts.push(node.port);
    nodes[`127.0.0.1:${node.port}`] = entityText(chain.nodes[index]!);
  }
  const { mirrorPort = 0, adminPort = 0 } = options;
  const mirror = await listen("mirrorPort", mirrorPort, startMirror(chain, mirrorPort));
  const admin = await listen("adminPort", adminPort, startAdmin(chain.faults, faucet, Object.values(nodes), adminPort));
  chain.changed();

  return {
    network,
    nodes,
    mirrorUrl: mirror.url,
    adminUrl: admin.url,
    usdc: entityText(usdcNumber),
    accounts: seededAccounts(),
    faults: chain.faults,
    faucet,
    snapshot,
    close,
  };
}

const newLedger = (options: LocalHederaOptions, nodeCount: number): ChainContext => {
  const levels: Levels = {
    delayMs: 0,
    consensusDelayMs: options.consensusDelayMs ?? 20,
    mirrorLagMs: options.mirrorLagMs ?? 0,
    receiptTtlMs: options.receiptTtlMs ?? 180_000,
    clockOffsetMs: options.clockOffsetMs ?? 0,
  };
  return {
    state: new ChainState(),
    transactions: new Transactions(options.transactionsKept ?? 200_000),
    clock: new ChainClock(levels),
    history: new History(levels),
    faults: new Faults(levels),
    levels,
    rate: exchangeRate(options.centsPerHbar ?? 12),
    balanceQuery: options.balanceQuery ?? false,
    nodes: Array.from({ length: nodeCount }, (_, index) => firstNode + index),
    nodePorts: [],
    changed: () => {},
  };
};

const firstNode = 3;

type PortOption = "nodePorts" | "mirrorPort" | "adminPort";

export type LocalHedera = {
  network: string;
  /** gRPC address → node account, as the SDK's `Client.forNetwork` takes it. */
  nodes: Record<string, string>;
  mirrorUrl: string;
  adminUrl: string;
  /** `0.0.429274`, 6 decimals. */
  usdc: string;
  accounts: Record<SeededName, SeededAccount>;
  faults: Faults;
  faucet: Faucet;
  /** The whole state as text, for the `state` option of a later start. */
  snapshot: () => string;
  /** Stops listening, finishes what was accepted, saves. */
  close: () => Promise<void>;
};
