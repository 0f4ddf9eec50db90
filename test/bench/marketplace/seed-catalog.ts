import { Client } from "pg";
import type { Database } from "../../../shared/postgres.ts";
import { addAgents, madeUpWords } from "./words.ts";

/** The words that agents of a made-up catalog are named and described with. */
export const catalogWords: readonly string[] = madeUpWords(5_000);

/** Fills a marketplace's database with that many made-up agents. */
export async function seedCatalog(db: Database, databaseUrl: string, agents: number): Promise<void> {
  await db.query("create table words (number integer primary key, word text)");
  await db.query("insert into words select ord - 1, word from unnest($1::text[]) with ordinality w (word, ord)", [
    catalogWords,
  ]);
  // On a connection without timeouts: a million rows in one statement take longer than a service lets any statement take.
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const statement of addAgents(agents)) await client.query(statement);
  } finally {
    await client.end();
  }
}
