import { z } from "zod";
import { ApiError } from "../shared/errors.ts";
import { networksOf, toCaip2 } from "../shared/networks.ts";
import type { Database } from "../shared/postgres.ts";
import { type Explorers, explorerUrl } from "./explorer.ts";
import { malformed, missing, type Read, text } from "./http/query.ts";
import type { Charged } from "./network-fees.ts";
import { paymentStates } from "./payment-states.ts";
import type { Hex } from "./schemes/exact-evm/hex.ts";
import { authorizationOf } from "./schemes/exact-evm/payload.ts";

export const paymentQuery = {
  network: text(100, "CAIP-2 id, for a transaction id that exists on several networks; otherwise the newest is meant."),
  terms: termsParameter(),
};

export const paymentShape = z
  .object({
    state: z
      .enum(paymentStates)
      .describe("claimed, broadcast and unknown end by themselves as settled or failed; unknown is no failure."),
    network: z.string(),
    transaction: z.string(),
    payer: z.string(),
    pay_to: z.string(),
    asset: z.string(),
    amount_atomic: z.string().describe("Whole base units of the asset."),
    resource_url: z.string().nullable(),
    found_again: z
      .boolean()
      .describe("The record was lost, and the settlement found on the chain: what it was for is not known."),
    for_terms: z
      .boolean()
      .optional()
      .describe(
        "Only where `terms` are asked about: whether it is for these, and was not landed by a transaction that this service did not send.",
      ),
    error_reason: z.string().nullable(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().describe("From then on the payment can no longer land."),
    finished_at: z.iso.datetime().nullable(),
    explorer: z.string().nullable().describe("Where people look it up; null on a network without a public explorer."),
  })
  .meta({ id: "Payment" });
type PaymentState = z.infer<typeof paymentShape>;

export const authorizationQuery = {
  network: required(text(100, "CAIP-2 id of an EVM network, or its version 1 name.")),
  payer: required(text(42, "The address that signed (`authorization.from`).")),
  nonce: required(text(66, "32 bytes in hexadecimal, as the payer signed them (`authorization.nonce`).")),
  asset: text(42, "The token; without one it is any that payments were made in on this network."),
  terms: termsParameter(),
};

export const authorizationShape = paymentShape
  .extend({ transaction: z.string().nullable().describe("Null until one is signed for the payment.") })
  .meta({ id: "AuthorizedPayment" });
type AuthorizedPayment = z.infer<typeof authorizationShape>;

/**
 * GET /payments/{transaction}: what became of one payment, by EVM hash or Hedera transaction id (`0.0.5@1.000000002`
 * or `0.0.5-1-000000002`), be it of a transaction that another one has replaced. Throws ApiError 404 for what is not a payment that was claimed here.
 */
export async function payment(
  { db, config }: { readonly db: Database; readonly config: Explorers },
  given: string,
  { network, terms }: Read<typeof paymentQuery>,
): Promise<PaymentState> {
  const transaction = normalise(given);
  const row = await findByTransaction(db, transaction, network);
  return { ...stateOf(config, row), ...forTerms(row, terms), transaction: row.transaction_id ?? transaction };
}

/** Throws ApiError 404. */
async function findByTransaction(db: Database, transaction: string, network: string | undefined): Promise<PaymentRow> {
  const asked = [transaction, network === undefined ? null : toCaip2(network)];
  // A claimed payment has no transaction yet; on Hedera its key is the id the payer gave it.
  const { rows } = await db.query<PaymentRow>({
    name: "payment-by-transaction",
    text: `
      select ${columns} from payments
       where (transaction_id = $1 or (network = any($3) and payment_key = $1)) and network = coalesce($2, network)
       order by created_at desc, id desc limit 1`,
    values: [...asked, hederaNetworks],
  });
  const row = rows[0] ?? (isHex(transaction, 32) ? await findBySigned(db, asked) : undefined);
  if (!row) throw unclaimed(`No payment is known with transaction ${transaction}.`);
  return row;
}

/** By another transaction that was signed for it, and told to its callers: with a raised fee, or before another account's settled it. */
async function findBySigned(db: Database, asked: readonly (string | null)[]): Promise<PaymentRow | undefined> {
  const { rows } = await db.query<PaymentRow>({
    name: "payment-by-signed-transaction",
    text: `
      select ${columns} from payments
       where signed_transactions @> array[$1::text] and signed_transactions <> '{}' and signed_transactions <> array[transaction_id]
         and network = coalesce($2, network)
       order by created_at desc, id desc limit 1`,
    values: [...asked],
  });
  return rows[0];
}

/** What an EVM payment's hash looks like, its nonce does too. Throws ApiError 404. */
async function findById(db: Database, given: string, network: string | undefined): Promise<PaymentRow> {
  const id = normalise(given);
  const found = await findByTransaction(db, id, network).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "not_found" && isHex(id, 32)) return undefined;
    throw error;
  });
  return found ?? findByNonce(db, id, network);
}

/** Every payer may choose every nonce, so one of several payments is not guessed at. */
async function findByNonce(db: Database, nonce: string, network: string | undefined): Promise<PaymentRow> {
  const { rows } = await db.query<PaymentRow>({
    name: "payment-by-nonce",
    text: `
      select ${columns} from payments
       where network like 'eip155:%' and right(payment_key, 66) = $1 and network = coalesce($2, network) limit 2`,
    values: [nonce, network === undefined ? null : toCaip2(network)],
  });
  const [row, other] = rows;
  if (!row) throw unclaimed(`No payment is known with ${nonce} as its transaction or its nonce.`);
  if (other) {
    throw new ApiError("conflict", "Several payers signed this nonce: ask by /tx?network=…&payer=…&nonce=…");
  }
  return row;
}

/**
 * GET /payments: what became of an EVM payment by what its payer signed, before there is a transaction. Throws ApiError 400
 * naming the parameter, 404 for what was never claimed here.
 */
export async function authorizedPayment(
  { db, config }: { readonly db: Database; readonly config: Explorers },
  asked: Read<typeof authorizationQuery>,
): Promise<AuthorizedPayment> {
  const row = await findByAuthorization(db, asked);
  return { ...stateOf(config, row), ...forTerms(row, asked.terms), transaction: row.transaction_id };
}

async function findByAuthorization(db: Database, asked: Read<typeof authorizationQuery>): Promise<PaymentRow> {
  const { network = "", payer = "", nonce = "", asset } = asked;
  for (const [name, given] of Object.entries({ network, payer, nonce })) {
    if (given === "") throw missing(name);
  }
  const chain = toCaip2(network);
  if (!/^eip155:\d{1,15}$/.test(chain)) {
    throw malformed("network", "an EVM network; a Hedera payment is found by its transaction id");
  }
  if (!isHex(payer, 20)) throw malformed("payer", "an address of 20 bytes in hexadecimal");
  if (!isHex(nonce, 32)) throw malformed("nonce", "32 bytes in hexadecimal");
  if (asset !== undefined && !isHex(asset, 20)) throw malformed("asset", "an address of 20 bytes in hexadecimal");
  // Of a token that the operator takes no more, too: what was claimed stays claimed.
  const { rows } = await db.query<PaymentRow>({
    name: "payment-by-authorization",
    text: `
      select ${columns} from payments
       where network = $1 and network like 'eip155:%' and right(payment_key, 66) = $2 and payment_key like '%:' || $3 || ':' || $2
         and split_part(payment_key, ':', 1) = coalesce($4, split_part(payment_key, ':', 1))
       order by created_at desc, id desc limit 1`,
    values: [chain, nonce.toLowerCase(), payer.toLowerCase(), asset?.toLowerCase() ?? null],
  });
  const row = rows[0];
  if (!row) throw unclaimed("No payment of this payer is known with this nonce.");
  return row;
}

function unclaimed(message: string): ApiError {
  return new ApiError("not_found", message, { body: { claimed: false } });
}

export interface PaymentNeeds {
  readonly db: Database;
  readonly config: Explorers;
}

/** What a payment has passed, for its page: nothing of it redeems the payment. */
export interface PaymentStory extends Omit<PaymentState, "transaction"> {
  readonly transaction: string | null;
  /** An EVM payment's nonce: with payer and network, it finds a payment that has no transaction yet. */
  readonly nonce: Hex | undefined;
  readonly broadcastAt: Date | undefined;
  readonly feePayer: string | undefined;
  /** The payment failed and is still valid: a caller who presents it may have it sent again. */
  readonly retryable: boolean;
  /** It failed after it was settled: a reorganisation of its chain took that back. What ended first stands in `finished_at`. */
  readonly wasTakenBack: boolean;
  /** The payment landed in a transaction that this service did not send. */
  readonly landedByAnother: boolean;
  /** What to ask the transaction's cost by; undefined unless a transaction of this service ended the payment. */
  readonly charged: Charged | undefined;
}

/** By transaction or nonce, or by what its payer signed. Throws ApiError 400 or 404 as the two verbs do. */
export async function paymentStory(
  { db, config }: PaymentNeeds,
  asked: { readonly id: string; readonly network?: string | undefined } | Read<typeof authorizationQuery>,
): Promise<PaymentStory> {
  const row = "id" in asked ? await findById(db, asked.id, asked.network) : await findByAuthorization(db, asked);
  return {
    ...stateOf(config, row),
    nonce: row.network.startsWith("eip155:") ? authorizationOf(row.payment_key).nonce : undefined,
    transaction: row.transaction_id,
    broadcastAt: row.broadcast_at ?? undefined,
    feePayer: row.fee_payer ?? undefined,
    retryable: row.retryable,
    wasTakenBack: wasTakenBack(row),
    landedByAnother: row.landed_by_another,
    charged: chargedOf(row),
  };
}

/** One that was looked at anew since, and failed then, ended later. */
function wasTakenBack({ state, taken_back_at: takenBack, finished_at: finished }: PaymentRow): boolean {
  return state === "failed" && takenBack !== null && finished !== null && takenBack >= finished;
}

function chargedOf({ id, network, transaction_id: transaction, ...row }: PaymentRow): Charged | undefined {
  if (row.finished_at === null || transaction === null || row.fee_payer === null || row.landed_by_another)
    return undefined;
  return { id, network, transaction, networkFee: row.network_fee ?? undefined };
}

function isHex(text: string, bytes: number): text is Hex {
  return text.length === 2 + 2 * bytes && /^0x[0-9a-fA-F]+$/.test(text);
}

/** Told to who knows the terms, a quote's secret among them: a digest cannot be guessed. */
function forTerms(row: PaymentRow, terms: string | undefined): Pick<PaymentState, "for_terms"> {
  return terms === undefined ? {} : { for_terms: row.terms_digest === terms && !row.landed_by_another };
}

function termsParameter() {
  return text(
    64,
    "The digest of a quote's terms, as `termsDigest` in an answer of /settle: `for_terms` says whether it was paid for these.",
  );
}

function required<P extends object>(parameter: P): P & { readonly required: true } {
  return { ...parameter, required: true };
}

interface PaymentRow extends Pick<PaymentState, "state" | "network" | "payer" | "pay_to" | "asset"> {
  readonly id: bigint;
  readonly payment_key: string;
  readonly network_fee: bigint | null;
  readonly amount_atomic: bigint;
  readonly transaction_id: string | null;
  readonly resource_url: string | null;
  readonly found_again: boolean;
  readonly error_reason: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly finished_at: Date | null;
  readonly taken_back_at: Date | null;
  readonly broadcast_at: Date | null;
  readonly fee_payer: string | null;
  readonly retryable: boolean;
  readonly landed_by_another: boolean;
  readonly terms_digest: string | null;
}

/** Only what was found on the chain has no digest of its message. By name: a column that a newer version adds changes nothing for the statements that a connection has prepared. */
const columns = `id, network, payment_key, state, payer, pay_to, asset, amount_atomic, network_fee, transaction_id, resource_url,
  message_digest is null as found_again, error_reason, created_at, expires_at, finished_at, taken_back_at, broadcast_at, fee_payer, retryable, landed_by_another, terms_digest`;

function stateOf(config: Explorers, row: PaymentRow): Omit<PaymentState, "transaction"> {
  return {
    state: row.state,
    network: row.network,
    payer: row.payer,
    pay_to: row.pay_to,
    asset: row.asset,
    amount_atomic: row.amount_atomic.toString(),
    resource_url: row.resource_url,
    found_again: row.found_again,
    error_reason: row.error_reason,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    explorer: explorerUrl(config, row.network, row.transaction_id),
  };
}

const hederaNetworks = networksOf("hedera");

function normalise(given: string): string {
  if (/^0x[0-9a-fA-F]{64}$/.test(given)) return given.toLowerCase();
  const hedera = /^(0\.0\.\d{1,19})(?:@(\d{1,19})\.|-(\d{1,19})-)(\d{1,9})$/.exec(given);
  if (hedera) return `${hedera[1]}@${hedera[2] ?? hedera[3]}.${hedera[4]?.padStart(9, "0")}`;
  throw new ApiError("not_found", "A payment is found by its EVM transaction hash or its Hedera transaction id.");
}
