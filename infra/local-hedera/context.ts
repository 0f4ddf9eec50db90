import type { Faults, Levels } from "./faults.ts";
import type { ExchangeRate } from "./fees/schedule.ts";
import type { EntityNumber } from "./hapi/ids.ts";
import type { ChainClock } from "./state/clock.ts";
import type { History } from "./state/history.ts";
import type { ChainState } from "./state/state.ts";
import type { Transactions } from "./state/transactions.ts";

/** What every part of one running chain shares. */
export type ChainContext = {
  state: ChainState;
  transactions: Transactions;
  clock: ChainClock;
  history: History;
  faults: Faults;
  levels: Levels;
  rate: ExchangeRate;
  /** Answer HBAR balances over gRPC; real nodes no longer do and say BUSY. */
  balanceQuery: boolean;
  /** The node accounts, and the port each listens on. */
  nodes: EntityNumber[];
  nodePorts: number[];
  /** Called after anything changed. */
  changed: () => void;
};
