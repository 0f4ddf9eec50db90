import { createHash } from "node:crypto";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId, AgentId, RunId } from "../ids.ts";
import type { FileStore } from "./store.ts";

/** What can be kept, and what it is served as. */
export const contentTypes = {
  png: "image/png",
  jpg: "image/jpeg",
  webp: "image/webp",
  svg: "image/svg+xml",
  pdf: "application/pdf",
} as const;

export type FileKind = keyof typeof contentTypes;
export const fileName = /^[0-9a-f]{64}\.(png|jpg|webp|svg|pdf)$/;

/** The files the service made, each under the name of its content and its owner, so that nobody's hiding touches another's. */
export class Files {
  readonly #db: Queryable;
  readonly #store: FileStore;
  readonly #baseUrl: string;

  constructor(options: { db: Queryable; store: FileStore; publicUrl: string }) {
    this.#db = options.db;
    this.#store = options.store;
    this.#baseUrl = `${options.publicUrl}/files`;
  }

  /** Keeps the bytes and answers their URL. Keeping the same again changes nothing, a hidden file stays hidden. */
  async keep(file: NewFile): Promise<string> {
    const { bytes, kind, ownerId } = file;
    const name = `${createHash("sha256").update(`${ownerId}\n`).update(bytes).digest("hex")}.${kind}`;
    await this.#store.put(name, bytes);
    await this.#db.query(
      `insert into files (name, account_id, agent_id, run_id, bytes) values ($1, $2, $3, $4, $5)
       on conflict (name) do nothing`,
      [name, ownerId, file.agentId ?? null, file.runId ?? null, bytes.length],
    );
    return `${this.#baseUrl}/${name}`;
  }

  /** 404 for what never was, 410 for what its owner has hidden. */
  async read(name: string): Promise<{ bytes: Buffer; contentType: string }> {
    if (!fileName.test(name)) throw unknownFile();
    const { rows } = await this.#db.query({
      name: "find file",
      text: "select hidden_at from files where name = $1",
      values: [name],
    });
    if (!rows[0]) throw unknownFile();
    if (rows[0].hidden_at) throw new ApiError("gone", "This file has been taken down by its owner.");
    const bytes = await this.#store.get(name);
    if (!bytes) throw unknownFile();
    return { bytes, contentType: contentTypes[name.slice(65) as FileKind] };
  }

  /** The account's own, newest first. */
  async list(ownerId: AccountId, page: { limit: number; offset: number }): Promise<KeptFile[]> {
    const { rows } = await this.#db.query(
      `select f.name, lower(a.handle || '/' || a.slug) as agent, f.run_id, f.bytes, f.created_at, f.hidden_at
       from files f left join agents a on a.id = f.agent_id
       where f.account_id = $1 order by f.created_at desc, f.name limit $2 offset $3`,
      [ownerId, page.limit, page.offset],
    );
    return rows.map((row) => ({ ...row, url: `${this.#baseUrl}/${row.name}`, bytes: Number(row.bytes) }));
  }

  /** Hides or shows again a file of this account's; 404 for anybody else's and for what is no file's name. */
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
  /** Who may hide it: an agent's creator, or the account that asked for a drawing. */
  readonly ownerId: AccountId;
  readonly agentId?: AgentId;
  readonly runId?: RunId;
}

interface KeptFile {
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
