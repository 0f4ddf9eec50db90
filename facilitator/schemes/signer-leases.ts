import type { Database } from "../../shared/postgres.ts";
import type { SharedFunds } from "./fee-payers.ts";

/**
 * Which of one network's fee payers this copy looks after: reads their balances, maintains their nonces and sends through them
 * first. The copies that serve the network share its fee payers out among them; those of a copy that falls silent are taken over when its
 * lease ends. No payment depends on a lease: any copy sends through any fee payer, and what is exact is so by the row of nonces.
 */
export class SignerLeases {
  readonly #network: string;
  readonly #signers: readonly string[];
  readonly #copy: string;
  readonly #db: Database;
  #held: ReadonlySet<string> = new Set();
  /** On this process' own clock, which does not wait for the database. */
  #heldUntil = 0;
  #isLeaving = false;

  constructor(network: string, signers: readonly string[], { copy, db }: { copy: string; db: Database }) {
    this.#network = network;
    this.#signers = signers;
    this.#copy = copy;
    this.#db = db;
  }

  holds(signer: string): boolean {
    return performance.now() < this.#heldUntil && this.#held.has(signer);
  }

  /** Makes the rows of fee payers that are new. */
  async start(): Promise<void> {
    await this.#db.query(
      "insert into signer_leases (network, signer) select $1, unnest($2::text[]) on conflict do nothing",
      [this.#network, this.#signers],
    );
  }

  /**
   * Renews the leases of this copy, takes fee payers of its share that no copy leases, and gives back those of another copy's share.
   * Only fee payers whose keys it can use are shared out to it. A copy that cannot ask the network has no share, as long as there are
   * others.
   */
  async renew(canAsk: boolean, usable: readonly string[]): Promise<void> {
    if (this.#isLeaving) return;
    const askedAt = performance.now();
    const { rows } = await this.#db.query({
      name: "renew-signer-leases",
      text: renewal,
      values: [this.#network, this.#copy, usable, leaseSeconds, canAsk],
    });
    this.#heldUntil = askedAt + leaseSeconds * 1_000;
    if (this.#isLeaving) return this.handOver();
    this.#held = new Set(rows.map(({ signer }) => signer as string));
  }

  /** Gives everything back at once and takes nothing any more. */
  async handOver(): Promise<void> {
    this.#isLeaving = true;
    this.#held = new Set();
    if (this.#heldUntil === 0) return;
    this.#heldUntil = 0;
    await this.#db.query(
      `with left_network as (delete from network_copies where network = $1 and copy = $2)
       update signer_leases set holder = null where network = $1 and holder = $2`,
      [this.#network, this.#copy],
    );
  }

  /** What the copies that look after these fee payers found last. */
  async sharedFunds(signers: readonly string[]): Promise<ReadonlyMap<string, SharedFunds>> {
    if (signers.length === 0) return new Map();
    const { rows } = await this.#db.query({
      name: "read-shared-funds",
      text: `
        select s.signer, f.last_balance,
               case when f.day = (now() at time zone 'utc')::date then f.spent else 0 end as spent
          from unnest($2::text[]) as s (signer)
         cross join lateral (select day, last_balance, spent from fee_spending
                              where network = $1 and fee_payer = s.signer order by day desc limit 1) as f`,
      values: [this.#network, signers],
    });
    return new Map(
      rows.map(({ signer, last_balance: balance, spent: spentToday }) => [signer, { balance, spentToday }]),
    );
  }
}

/** Forgets copies that are long gone. */
export async function sweepNetworkCopies(db: Database): Promise<void> {
  await db.query("delete from network_copies where lease_until < now() - interval '1 day'");
}

/** How often leases are renewed; they last for some of these. */
export const renewEveryMs = 2_500;
const leaseSeconds = 10;

/**
 * Each fee payer is the share of one of the copies that serve it, the one whose hash with it is the highest. A fee payer that its
 * holder does not serve any more is free to be leased.
 */
const renewal = `
  with here as (
    insert into network_copies as known (network, copy, signers, lease_until)
    values ($1, $2, $3::text[], now() + make_interval(secs => case when $5 then $4 else 0 end))
    on conflict (network, copy) do update
      set lease_until = excluded.lease_until,
          signers = case when known.signers = excluded.signers then known.signers else excluded.signers end
  ), alive as (
    select copy, signers from network_copies where network = $1 and copy <> $2 and lease_until > now()
    union all
    select $2::uuid, $3::text[] where $5
  ), serving as (
    select copy, unnest(signers) as signer from alive
  ), shares as (
    select distinct on (signer) signer, copy from serving
     where signer = any ($3::text[]) order by signer, hashtextextended(copy || signer, 0) desc
  ), changed as (
    update signer_leases l set holder = case when s.copy = $2 then s.copy end
      from shares s
     where l.network = $1 and l.signer = s.signer
       and case when s.copy = $2 then l.holder is null or (l.holder, l.signer) not in (select copy, signer from serving)
                else l.holder = $2 end
    returning l.signer, l.holder
  )
  select signer from changed where holder is not null
  union all
  select signer from signer_leases
   where network = $1 and holder = $2 and signer = any ($3::text[]) and signer not in (select signer from changed)`;
