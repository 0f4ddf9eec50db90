import { Endpoint, EndpointSilentError } from "../endpoint.ts";

/** A mirror node's REST interface. Every method throws EndpointSilentError when there is no answer to rely on. */
export class Mirror {
  readonly #endpoint: Endpoint;

  constructor(url: string) {
    this.#endpoint = new Endpoint(url);
  }

  account(id: string): Promise<MirrorAccount | undefined> {
    return this.#get(`/accounts/${id}?transactions=false`);
  }

  token(id: string): Promise<MirrorToken | undefined> {
    return this.#get(`/tokens/${id}`);
  }

  topic(id: string): Promise<MirrorTopic | undefined> {
    return this.#get(`/topics/${id}`);
  }

  /** What an account holds of a token; undefined when the two are not associated. */
  async holding(account: string, token: string): Promise<MirrorHolding | undefined> {
    const rows = await this.list<MirrorHolding>(`/accounts/${account}/tokens?token.id=${token}`, "tokens", 1);
    return rows.find(({ token_id: id }) => id === token);
  }

  /** How many tokens an account was associated with by receiving them. */
  async automaticAssociations(account: string): Promise<number> {
    const rows = await this.list<MirrorHolding>(`/accounts/${account}/tokens?limit=100`, "tokens", 50);
    return rows.filter(({ automatic_association: automatic }) => automatic).length;
  }

  /** What a spender may still take of the owner's HBAR, or of a token. */
  async allowance(owner: string, spender: string, token: string | undefined): Promise<bigint> {
    const kind = token === undefined ? "crypto" : "tokens";
    const filter = `spender.id=${spender}${token === undefined ? "" : `&token.id=${token}`}`;
    const path = `/accounts/${owner}/allowances/${kind}?${filter}`;
    const [row] = await this.list<{ amount: Units }>(path, "allowances", 1);
    return unitsOf(row?.amount ?? 0);
  }

  /** What was executed under a transaction id; empty while the mirror has not seen it. */
  async records(transactionId: string): Promise<MirrorRecord[]> {
    const id = transactionId.replace("@", "-").replace(/\.(\d+)$/, "-$1");
    const found = await this.#get<{ transactions: MirrorRecord[] }>(`/transactions/${id}`);
    return (found?.transactions ?? []).filter(
      ({ nonce, scheduled, result }) => nonce === 0 && !scheduled && result !== "DUPLICATE_TRANSACTION",
    );
  }

  /** The number of the message that reached consensus at a time, among a topic's latest. */
  async sequenceAt(topic: string, consensusTimestamp: string): Promise<number | undefined> {
    const path = `/topics/${topic}/messages?order=desc&limit=100`;
    const messages = await this.list<{ sequence_number: number; consensus_timestamp: string }>(path, "messages", 10);
    return messages.find((message) => message.consensus_timestamp === consensusTimestamp)?.sequence_number;
  }

  /** Up to when what is asked next has everything, by the newest block. Throws EndpointSilentError where the mirror lists no block. */
  async reached(): Promise<Date> {
    const reachedMs = await this.reachedMs();
    if (!(reachedMs > 0)) throw new EndpointSilentError("no block is listed");
    return new Date(reachedMs);
  }

  /** As `reached`, in milliseconds since 1970; 0 where the mirror lists no block. */
  async reachedMs(): Promise<number> {
    const found = await this.#get<{ blocks?: ReadonlyArray<{ timestamp?: { to?: string | null } }> }>(
      "/blocks?limit=1&order=desc",
    );
    return Number(found?.blocks?.[0]?.timestamp?.to ?? 0) * 1_000;
  }

  /** The rows of a list, following its links for at most `pagesMax` pages. */
  async list<Row>(path: string, name: string, pagesMax: number): Promise<Row[]> {
    return (await this.listed<Row>(path, name, pagesMax)).rows;
  }

  /** The rows of a list, and whether these are all of them. */
  async listed<Row>(path: string, name: string, pagesMax: number): Promise<{ rows: Row[]; complete: boolean }> {
    const rows: Row[] = [];
    let next: string | null | undefined = path;
    for (let page = 0; next && page < pagesMax; page += 1) {
      const body: MirrorPage<Row> | undefined = await this.#get(next);
      rows.push(...((body?.[name] as Row[] | undefined) ?? []));
      next = body?.links?.next?.replace(/^\/api\/v1/, "");
    }
    return { rows, complete: !next };
  }

  stop(): Promise<void> {
    return this.#endpoint.stop();
  }

  /** A body, or undefined on 404. */
  async #get<T>(path: string): Promise<T | undefined> {
    const { status, body } = await this.#endpoint.get(`/api/v1${path}`);
    if (status === 404) return undefined;
    if (status !== 200 || typeof body !== "object" || body === null) throw new EndpointSilentError(`status ${status}`);
    return body as T;
  }
}

type MirrorPage<Row> = Readonly<Record<string, Row[] | unknown>> & {
  readonly links?: { readonly next?: string | null };
};

/** An amount in base units; a text where a number could not hold it. */
export type Units = number | string;

export const unitsOf = (units: Units): bigint => BigInt(typeof units === "number" ? Math.trunc(units) : units);

export interface MirrorKey {
  readonly _type: string;
  readonly key: string;
}

/** The key as it is kept and compared. */
export const keyText = ({ key }: MirrorKey): string => key.replace(/^0x/, "").toLowerCase();

export interface MirrorAccount {
  readonly account: string;
  readonly deleted: boolean;
  readonly key: MirrorKey | null;
  readonly max_automatic_token_associations: number;
  readonly receiver_sig_required: boolean;
  readonly balance: { readonly balance: Units };
}

export interface MirrorHolding {
  readonly token_id: string;
  readonly balance: Units;
  readonly automatic_association: boolean;
  readonly freeze_status: string;
  readonly kyc_status: string;
}

export interface MirrorTopic {
  readonly topic_id: string;
  readonly deleted: boolean;
  readonly admin_key: MirrorKey | null;
  readonly submit_key: MirrorKey | null;
  readonly auto_renew_account: string | null;
  readonly custom_fees?: { readonly fixed_fees?: readonly object[] };
}

export interface MirrorRecord {
  readonly result: string;
  readonly nonce: number;
  readonly scheduled: boolean;
  readonly consensus_timestamp: string;
  /** In tinybars, whatever the result. */
  readonly charged_tx_fee: number;
  readonly nft_transfers?: ReadonlyArray<{ readonly serial_number: number; readonly sender_account_id: string | null }>;
}

/** Quantities are strings here, though numbers elsewhere in the mirror. */
export interface MirrorToken {
  readonly token_id: string;
  readonly name: string;
  readonly symbol: string;
  readonly type: "FUNGIBLE_COMMON" | "NON_FUNGIBLE_UNIQUE";
  readonly decimals: string;
  readonly deleted: boolean;
  readonly supply_type: "FINITE" | "INFINITE";
  readonly total_supply: string;
  readonly max_supply: string;
  readonly treasury_account_id: string;
  readonly pause_status: string;
  readonly freeze_default: boolean;
  readonly admin_key: MirrorKey | null;
  readonly freeze_key: MirrorKey | null;
  readonly kyc_key: MirrorKey | null;
  readonly pause_key: MirrorKey | null;
  readonly supply_key: MirrorKey | null;
  readonly wipe_key: MirrorKey | null;
  readonly fee_schedule_key: MirrorKey | null;
  readonly metadata_key?: MirrorKey | null;
  readonly custom_fees: {
    readonly fixed_fees?: readonly MirrorFixedFee[];
    readonly fractional_fees?: readonly MirrorFractionalFee[];
    readonly royalty_fees?: readonly object[];
  };
}

interface MirrorFixedFee {
  readonly amount: Units;
  readonly denominating_token_id: string | null;
  readonly collector_account_id: string;
}

interface MirrorFractionalFee {
  readonly amount: { readonly numerator: number; readonly denominator: number };
  readonly minimum: number;
  readonly maximum: number | null;
  readonly net_of_transfers: boolean;
}
