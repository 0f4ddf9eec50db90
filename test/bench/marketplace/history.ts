import { type Figures, measure, median } from "../load.ts";
import { caller, type Setting, seedBench } from "./setting.ts";

const histories = [10, 1_000_000];
const rounds = 5;

/** What one run, the balance and a page of the statement cost an account with a short and with a long history. */
export async function benchHistory(setting: Setting): Promise<void> {
  const figures: Record<string, Figures[]> = {};
  for (const postings of histories) {
    const { url, db } = await setting.database(`history_${postings}`);
    const { buyer, creator, key, agent } = await seedBench(db);
    await db.query("alter table api_keys drop constraint api_keys_rate_limit_per_minute_check");
    await db.query("update api_keys set rate_limit_per_minute = 100000000");
    await db.query("alter table accounts drop constraint accounts_calls_per_minute_max_check");
    await db.query("update accounts set calls_per_minute_max = 100000000");
    // Half of them the buyer's, half the creator's, of runs whose rows are no longer kept.
    await db.query(
      `insert into postings (kind, from_purse, to_purse, amount, created_at)
       select 'grant', 'platform:issued', 'spendable:' || $1, 1, now() - n * interval '1 second' - interval '1 day'
       from generate_series(1, $2::integer / 2) n`,
      [buyer.id, postings],
    );
    await db.query("update balances set spendable = spendable + $2::integer / 2 where account_id = $1", [
      buyer.id,
      postings,
    ]);
    await db.query(
      `insert into postings (kind, from_purse, to_purse, amount, run_id, created_at)
       select 'capture', 'held:run_' || n, 'earned:' || $1, 1, 'run_' || n, now() - n * interval '1 second' - interval '1 day'
       from generate_series(1, $2::integer / 2) n`,
      [creator.id, postings],
    );
    await db.query("vacuum analyze postings");
    const { get, post, close } = caller(await setting.service(url), key.token, 1);
    const body = JSON.stringify({ agent: agent.address, input: { text: "hello" } });
    const calls: Record<string, () => Promise<boolean>> = {
      "POST /run": () => post("/api/v1/run", body),
      "GET /balance": () => get("/api/v1/balance"),
      "GET /ledger": () => get("/api/v1/ledger"),
    };
    for (const [what, ask] of Object.entries(calls)) {
      await measure(Array(100).fill(ask), 1);
      const runs: Figures[] = [];
      for (let round = 0; round < rounds; round += 1) runs.push(await measure(Array(200).fill(ask), 1));
      figures[what] = [...(figures[what] ?? []), median(runs)];
    }
    await close();
  }
  process.stdout.write("\nHistory: p50 of one request, ms, with 10 and with 1,000,000 postings\n");
  for (const [what, [short, long]] of Object.entries(figures)) {
    const ratio = (long!.p50Ms / short!.p50Ms).toFixed(2);
    process.stdout.write(
      `${what.padEnd(14)} 10: ${short!.p50Ms.toFixed(2)}   1,000,000: ${long!.p50Ms.toFixed(2)}   ${ratio}×\n`,
    );
  }
}
