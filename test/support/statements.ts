import type { Statements } from "../../shared/postgres.ts";

/** How tests prepare, and services that they start: as the pooler of `npm run drill pooler` can bear it. */
export const statements: Statements = process.env.TEST_STATEMENTS === "unnamed" ? "unnamed" : "named";

/** Whether a pooler is before the databases: it gives any session any of its connections, and keeps them when their sessions end. */
export const isPooled = process.env.TEST_POOLER !== undefined;

export const statementVariables = {
  FACILITATOR_DATABASE_STATEMENTS: statements,
  MARKETPLACE_DATABASE_STATEMENTS: statements,
} as const;
