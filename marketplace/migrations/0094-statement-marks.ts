import type { Migration } from "../../shared/migrate.ts";

export const statementMarks: Migration = {
  name: "0094-statement-marks",
  sql: `
    -- What all postings of an account before a moment come to, by kind, at every thousandth of them: a statement adds up what is
    -- between two marks, however many postings are before. Nothing is posted before a mark any more once it is there.
    create table statement_marks (
      account_id  text not null references accounts,
      through     timestamptz not null,
      kind        text not null,
      postings    bigint not null check (postings > 0),
      spendable   bigint not null,
      earned      bigint not null,
      primary key (account_id, through, kind)
    );
  `,
};
