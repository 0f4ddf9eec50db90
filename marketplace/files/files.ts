import { createHash } from "node:crypto";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import { historyDays } from "../history-days.ts";
import { type AccountId, type AgentId, platformAccount, type RunId } from "../ids.ts";
import { ofLength } from "./of-length.ts";
import { type FileStore, type StoredFile, storeAway } from "./store.ts";

/** The kinds of files that are kept, and the media type of each. */
export const contentTypes = {
  png: "image/png",
  jpg: "image/jpeg",
  webp: "image/webp",
  svg: "image/svg+xml",
  pdf: "application/pdf",
} as const;

export type FileKind = keyof typeof contentTypes;
export const fileName = new RegExp(`^[0-9a-f]{64}\\.(${Object.keys(contentTypes).join("|")})$`);

/** The files that the service made. A name comes from content and owner, so that hiding one hides no other owner's file. */
export class Files {
  readonly #db: Database;
  readonly #store: FileStore;
  readonly #baseUrl: string;
  readonly #bytesPerAccount: number;

  /** The platform's own account may keep any number of bytes, each other one `bytesPerAccount`. */
  constructor(options: { db: Database; store: FileStore; publicUrl: string; bytesPerAccount: number }) {
    this.#db = options.db;
    this.#store = options.store;
    this.#baseUrl = `${options.publicUrl}/files`;
    this.#bytesPerAccount = options.bytesPerAccount;
  }

  /**
   * Throws ApiError 409 when the account has no room left. To be called before anything dear is made, which is kept then: the
   * account may go over by what is under way.
   */
  async requireRoom(ownerId: AccountId): Promise<void> {
    if (ownerId === platformAccount) return;
    const { rows } = await this.#db.query("select bytes from account_files where account_id = $1", [ownerId]);
    if (Number(rows[0]?.bytes ?? 0) < this.#bytesPerAccount) return;
    throw new ApiError(
      "conflict",
      `The account's files hold all of the ${this.#bytesPerAccount} bytes they may; delete some.`,
    );
  }

  /**
   * Keeps the bytes and answers their URL. Keeping the same again changes nothing, a hidden file stays hidden. Throws
   * ApiError 503 while the store is away.
   */
  async keep(file: NewFile): Promise<string> {
    const { bytes, kind, ownerId } = file;
    const name = `${digestOf(ownerId, bytes)}.${kind}`;
    // First, since it waits for a removal of the same: bytes that were put before would be removed with it.
    await this.#db.query(
      `with kept as (
         insert into files (name, account_id, agent_id, run_id, bytes) values ($1, $2, $3, $4, $5)
         on conflict (name) do update set made_again_at = now(),
           shared = files.shared or files.run_id is distinct from excluded.run_id
         returning account_id, bytes, xmax = 0 as is_new
       )
       insert into account_files (account_id, bytes) select account_id, bytes from kept where is_new
       on conflict (account_id) do update set bytes = account_files.bytes + excluded.bytes`,
      [name, ownerId, file.agentId ?? null, file.runId ?? null, bytes.length],
    );
    // In a statement of its own: what the one before waited for is seen by the next alone.
    const { rowCount: revived } = await this.#db.query(
      `with revived as (
         update files set deleted_at = null where name = $1 and deleted_at is not null returning account_id, bytes
       )
       update account_files held set bytes = held.bytes + revived.bytes from revived
       where held.account_id = revived.account_id`,
      [name],
    );
    await this.#store.put(name, bytes).catch(async (error: unknown) => {
      const undone = revived === 1 ? this.#forgetBytes(name) : file.runId && this.removeOf(file.runId);
      await Promise.resolve(undone).catch(() => {});
      throw error;
    });
    return `${this.#baseUrl}/${name}`;
  }

  /** A deleted file that was to be made again, and could not be put, is deleted as before. */
  #forgetBytes(name: string): Promise<void> {
    return inTransaction(this.#db, (tx) => markDeleted(tx, name));
  }

  /** Removes the files that this run alone made and nobody has hidden, and gives their owners the room back. */
  async removeOf(runId: RunId): Promise<void> {
    const removed = await inTransaction(this.#db, async (tx) => {
      const { rows: gone } = await tx.query<{ name: string; account_id: AccountId; bytes: bigint }>(
        "delete from files where run_id = $1 and not shared and hidden_at is null and deleted_at is null returning name, account_id, bytes",
        [runId],
      );
      const ended = await Promise.allSettled(gone.map(({ name }) => this.#store.remove(name)));
      await tx.query(
        `update account_files held set bytes = greatest(0, held.bytes - of_owner.bytes)
         from (select account_id, sum(bytes) as bytes from unnest($1::text[], $2::bigint[]) gone (account_id, bytes) group by 1) of_owner
         where held.account_id = of_owner.account_id`,
        [gone.map(({ account_id }) => account_id), gone.map(({ bytes }) => bytes)],
      );
      return ended;
    });
    const failed = removed.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
  }

  /**
   * Deletes the bytes of a file of this account's for good, and gives it the room back; its address answers 410 until it is made again. The account's
   * own drawings go at any time; what agents made for buyers goes when their runs are kept no longer, and every buyer who paid has fetched
   * the result: 409 until then. Deleting it again changes nothing. 404 for another account's file, 503 while the store is away.
   */
  async delete(ownerId: AccountId, name: string): Promise<void> {
    if (!fileName.test(name)) throw unknownFile();
    await inTransaction(this.#db, async (tx) => {
      const file = await lockForDeletion(tx, ownerId, name);
      if (!file) throw unknownFile();
      if (file.deleted) return;
      if (file.fetchable_until) throw stillNeeded(file.fetchable_until);
      if (await isToBeFetched(tx, name)) throw stillNeeded();
      await markDeleted(tx, name);
      // Before it is on record as deleted: what makes the same again waits, and its bytes are put after these are gone.
      await this.#store.remove(name);
    });
  }

  /**
   * The media type and the length of a file that may be seen: throws ApiError 404 for a file that never was, 410 for one that its owner
   * has hidden or deleted.
   */
  async find(name: string): Promise<{ contentType: string; bytes: number }> {
    if (!fileName.test(name)) throw unknownFile();
    const { rows } = await this.#db.query({
      name: "find file",
      text: "select hidden_at, deleted_at, bytes from files where name = $1",
      values: [name],
    });
    if (!rows[0]) throw unknownFile();
    if (rows[0].deleted_at) throw new ApiError("gone", "This file has been deleted by its owner.");
    if (rows[0].hidden_at) throw new ApiError("gone", "This file has been taken down by its owner.");
    return { contentType: contentTypes[name.slice(65) as FileKind], bytes: Number(rows[0].bytes) };
  }

  /** What was found, which has so many bytes. Throws ApiError 404, or 503 while the store is away or answers something else. */
  async open(name: string, bytes: number): Promise<StoredFile> {
    const stored = await this.#store.open(name);
    if (!stored) throw unknownFile();
    return ofLength(stored, bytes);
  }

  /** A file of ours, whole, even a hidden one: for the account that made it. Throws ApiError as `open` does. */
  async read(name: string): Promise<Buffer> {
    const { rows } = await this.#db.query<{ account_id: AccountId; bytes: bigint }>(
      "select account_id, bytes from files where name = $1",
      [name],
    );
    if (!rows[0]) throw unknownFile();
    const { stream } = await this.open(name, Number(rows[0].bytes));
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of stream) chunks.push(chunk);
    } catch (error) {
      throw storeAway(error);
    }
    const whole = Buffer.concat(chunks);
    if (digestOf(rows[0].account_id, whole) !== name.slice(0, 64)) throw storeAway(`${name} is not what was put there`);
    return whole;
  }

  /** The account's own, newest first; those of one agent by an index of their own. */
  async list(ownerId: AccountId, { limit, offset, agent }: FilesAsked): Promise<KeptFile[]> {
    const ofAgent =
      "and f.agent_id = (select id from agents where account_id = $1 and lower(slug) = lower($4)) and f.agent_id is not null";
    const { rows } = await this.#db.query(
      `select f.name, lower(a.handle || '/' || a.slug) as agent, f.run_id, f.bytes, f.created_at, f.hidden_at
       from files f left join agents a on a.id = f.agent_id
       where f.account_id = $1 and f.deleted_at is null ${agent === undefined ? "" : ofAgent}
       order by f.created_at desc, f.name limit $2 offset $3`,
      [ownerId, limit, offset, ...(agent === undefined ? [] : [agent.replaceAll("\0", "")])],
    );
    return rows.map((row) => ({ ...row, url: `${this.#baseUrl}/${row.name}`, bytes: Number(row.bytes) }));
  }

  /** Hides or shows again a file of this account's; 404 for another account's, a deleted one and for what is no file's name. */
  async setHidden(ownerId: AccountId, name: string, hidden: boolean): Promise<void> {
    if (!fileName.test(name)) throw unknownFile();
    const { rowCount } = await this.#db.query(
      `update files set hidden_at = case when $3 then coalesce(hidden_at, now()) end
       where name = $1 and account_id = $2 and deleted_at is null`,
      [name, ownerId, hidden],
    );
    if (rowCount !== 1) throw unknownFile();
  }
}

/** What a name begins with. */
function digestOf(ownerId: AccountId, bytes: Uint8Array): string {
  return createHash("sha256").update(`${ownerId}\n`).update(bytes).digest("hex");
}

/** Marks a file as deleted, and gives its owner the room back. */
async function markDeleted(tx: Transaction, name: string): Promise<void> {
  await tx.query(
    `with gone as (
       update files set deleted_at = now() where name = $1 and deleted_at is null returning account_id, bytes
     )
     update account_files held set bytes = greatest(0, held.bytes - gone.bytes) from gone where held.account_id = gone.account_id`,
    [name],
  );
}

/** A file of the account's, until when its buyers may fetch it where that is to come, and its row locked. */
async function lockForDeletion(tx: Transaction, ownerId: AccountId, name: string) {
  const { rows } = await tx.query<{ bytes: number; deleted: boolean; fetchable_until: Date | null }>(
    `select bytes, deleted_at is not null as deleted, case when for_others and until > now() then until end as fetchable_until
     from (
       select *, coalesce(made_again_at, created_at) + interval '${historyDays} days' as until,
         agent_id is not null and (shared or not exists (
           select from runs where runs.id = files.run_id and runs.account_id = files.account_id)) as for_others
       from files where name = $2 and account_id = $1 for no key update
     ) asked`,
    [ownerId, name],
  );
  return rows[0];
}

/** Whether the result of a paid call that holds the file waits for its buyer. Such results are kept for as long as that takes. */
async function isToBeFetched(tx: Transaction, name: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select from files f join paid_calls p
       on p.result_at between f.created_at - interval '1 hour' and coalesce(f.made_again_at, f.created_at) + interval '1 hour'
     where f.name = $1 and p.delivered_at is null and (p.run_id = f.run_id or f.shared)
       and p.product = any (array(select id from agents where account_id = f.account_id))
       and strpos(p.output::text, f.name) > 0 limit 1`,
    [name],
  );
  return rowCount !== 0;
}

function stillNeeded(until?: Date): ApiError {
  const when = until
    ? `may fetch it until ${until.toISOString().slice(0, 10)}`
    : "has paid for it and has still to fetch it";
  return new ApiError("conflict", `This file was made for a buyer, who ${when}. It can be hidden until then.`);
}

export interface NewFile {
  readonly bytes: Uint8Array;
  readonly kind: FileKind;
  /** The account that may hide it: an agent's creator, or the account that asked for a drawing. */
  readonly ownerId: AccountId;
  readonly agentId?: AgentId;
  readonly runId?: RunId;
}

interface FilesAsked {
  readonly limit: number;
  readonly offset: number;
  /** The slug of one agent of the account's. */
  readonly agent?: string | undefined;
}

export interface KeptFile {
  readonly name: string;
  readonly url: string;
  readonly agent: string | null;
  readonly run_id: RunId | null;
  readonly bytes: number;
  readonly created_at: Date;
  readonly hidden_at: Date | null;
}

function unknownFile(): ApiError {
  return new ApiError("not_found", "There is no such file.");
}
