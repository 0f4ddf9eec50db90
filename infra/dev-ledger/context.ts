import type { Faults } from "./faults.ts";
import type { ExchangeRate } from "./fees/schedule.ts";
import type { EntityNumber } from "./hapi/ids.ts";
import type { LedgerClock } from "./state/clock.ts";
import type { History } from "./state/history.ts";
import type { LedgerState } from "./state/state.ts";
import type { Transactions } from "./state/transactions.ts";

/** What every part of one running ledger shares. */
export type LedgerContext = {
  state: LedgerState;
  transactions: Transactions;
  clock: LedgerClock;
  history: History;
  faults: Faults;
  settings: Settings;
  rate: ExchangeRate;
  /** The node accounts, and the port each listens on. */
  nodes: EntityNumber[];
  nodePorts: number[];
  /** Called after anything changed. */
  changed: () => void;
};

/** Levels that may be turned while running. */
export type Settings = {
  consensusDelayMs: number;
  /** Every gRPC answer waits this long. */
  replyDelayMs: number;
  receiptTtlMs: number;
  /** Answer HBAR balances over gRPC; real nodes no longer do and say BUSY. */
  balanceQuery: boolean;
};
