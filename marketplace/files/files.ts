import { createHash } from "node:crypto";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction } from "../../shared/postgres.ts";
import { type AccountId, type AgentId, platformAccount, type RunId } from "../ids.ts";
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
    throw new ApiError("conflict", `The account's files hold all of the ${this.#bytesPerAccount} bytes they may.`);
  }

  /**
   * Keeps the bytes and answers their URL. Keeping the same again changes nothing, a hidden file stays hidden. Throws
   * ApiError 503 while the store is away.
   */
  async keep(file: NewFile): Promise<string> {
    const { bytes, kind, ownerId } = file;
    const name = `${createHash("sha256").update(`${ownerId}\n`).update(bytes).digest("hex")}.${kind}`;
    // First, since it waits for a removal of the same: bytes that were put before would be removed with it.
    await this.#db.query(
      `with kept as (
         insert into files (name, account_id, agent_id, run_id, bytes) values ($1, $2, $3, $4, $5)
         on conflict (name) do update set shared = true
           where files.run_id is distinct from excluded.run_id and not files.shared
         returning account_id, bytes, xmax = 0 as is_new
       )
       insert into account_files (account_id, bytes) select account_id, bytes from kept where is_new
       on conflict (account_id) do update set bytes = account_files.bytes + excluded.bytes`,
      [name, ownerId, file.agentId ?? null, file.runId ?? null, bytes.length],
    );
    await this.#store.put(name, bytes).catch(async (error: unknown) => {
      if (file.runId) await this.removeOf(file.runId).catch(() => {});
      throw error;
    });
    return `${this.#baseUrl}/${name}`;
  }

  /** Removes the files that this run alone made and nobody has hidden, and gives their owners the room back. */
  async removeOf(runId: RunId): Promise<void> {
    const removed = await inTransaction(this.#db, async (tx) => {
      const { rows: gone } = await tx.query<{ name: string; account_id: AccountId; bytes: bigint }>(
        "delete from files where run_id = $1 and not shared and hidden_at is null returning name, account_id, bytes",
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

  /** The media type of a file that may be seen: throws ApiError 404 for a file that never was, 410 for one that its owner has hidden. */
  async find(name: string): Promise<{ contentType: string }> {
    if (!fileName.test(name)) throw unknownFile();
    const { rows } = await this.#db.query({
      name: "find file",
      text: "select hidden_at from files where name = $1",
      values: [name],
    });
    if (!rows[0]) throw unknownFile();
    if (rows[0].hidden_at) throw new ApiError("gone", "This file has been taken down by its owner.");
    return { contentType: contentTypes[name.slice(65) as FileKind] };
  }

  /** The bytes of what was found. Throws ApiError 404, or 503 while the store is away. */
  async open(name: string): Promise<StoredFile> {
    const stored = await this.#store.open(name);
    if (!stored) throw unknownFile();
    return stored;
  }

  /** A file of ours, whole, even a hidden one: for the account that made it. Throws ApiError as `open` does. */
  async read(name: string): Promise<Buffer> {
    const { stream } = await this.open(name);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of stream) chunks.push(chunk);
    } catch (error) {
      throw storeAway(error);
    }
    return Buffer.concat(chunks);
  }

  /** The account's own, newest first; those of one agent by an index of their own. */
  async list(ownerId: AccountId, { limit, offset, agent }: FilesAsked): Promise<KeptFile[]> {
    const ofAgent =
      "and f.agent_id = (select id from agents where account_id = $1 and lower(slug) = lower($4)) and f.agent_id is not null";
    const { rows } = await this.#db.query(
      `select f.name, lower(a.handle || '/' || a.slug) as agent, f.run_id, f.bytes, f.created_at, f.hidden_at
       from files f left join agents a on a.id = f.agent_id
       where f.account_id = $1 ${agent === undefined ? "" : ofAgent}
       order by f.created_at desc, f.name limit $2 offset $3`,
      [ownerId, limit, offset, ...(agent === undefined ? [] : [agent.replaceAll("\0", "")])],
    );
    return rows.map((row) => ({ ...row, url: `${this.#baseUrl}/${row.name}`, bytes: Number(row.bytes) }));
  }

  /** Hides or shows again a file of this account's; 404 for another account's and for what is no file's name. */
  async setHidden(ownerId: AccountId, name: string, hidden: boolean): Promise<void> {
    if (!fileName.test(name)) throw unknownFile();
    const { rowCount } = await this.#db.query(
      `update files set hidden_at = case when $3 then coalesce(hidden_at, now()) end
       where name = $1 and account_id = $2`,
      [name, ownerId, hidden],
    );
    if (rowCount !== 1) throw unknownFile();
  }
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
