/** Fills in what must be known before anything starts. Throws naming the option that cannot be. */
export function checkOptions(options: LocalHederaOptions): { network: string; nodePorts: number[] } {
  const network = options.network ?? networkId;
  if (/mainnet/i.test(network)) {
    throw new Error(`network: a local Hedera never calls itself ${network}; only ${networkId} is possible`);
  }
  if (network !== networkId) throw new Error(`network: ${network} is not possible; only ${networkId} is`);
  const nodePorts = options.nodePorts ?? [0, 0, 0];
  if (nodePorts.length === 0) throw new Error("nodePorts: at least one node is needed");
  if (nodePorts.includes(tlsPort)) {
    throw new Error(`nodePorts: on port ${tlsPort} the SDK speaks TLS, which local-hedera does not; choose another`);
  }
  return { network, nodePorts };
}

/** A port could not be listened on. `option` says which of LocalHederaOptions named it. */
export class PortError extends Error {
  readonly option: "nodePorts" | "mirrorPort" | "adminPort";
  readonly port: number;

  constructor(option: PortError["option"], port: number, cause: Error) {
    super(`${option}: cannot listen on 127.0.0.1:${port}: ${cause.message}`, { cause });
    this.name = "PortError";
    this.option = option;
    this.port = port;
  }
}

const networkId = "hedera:testnet";
export const tlsPort = 50_212;

export type LocalHederaOptions = {
  /** Only `hedera:testnet`, so that configuration is the same as on testnet. */
  network?: string;
  /** One consensus node per port, accounts 0.0.3 and up. Default: three, on ports the system chooses. */
  nodePorts?: number[];
  mirrorPort?: number;
  adminPort?: number;
  /** From a node's OK to the receipt. Default 20. */
  consensusDelayMs?: number;
  /** How far the mirror is behind. Default 0; a real one lags 3 to 6 seconds. */
  mirrorLagMs?: number;
  /** How long receipts and records are given out. Default 180,000. */
  receiptTtlMs?: number;
  /** Default 12. */
  centsPerHbar?: number;
  /** The chain's clock against the machine's. Default 0. */
  clockOffsetMs?: number;
  /** Answer HBAR balances over gRPC. Default false: BUSY, as real nodes do. */
  balanceQuery?: boolean;
  /** Older transactions are forgotten. Default 200,000. */
  transactionsKept?: number;
  /** A snapshot to go on from. */
  state?: string;
  /** Goes on from this file if it exists, and keeps it up to date. */
  stateFile?: string;
};
