import { textAt } from "../../../shared/json.ts";
import { configured, judge, type PaymentRequest, type Refusal, type Rule } from "../scheme.ts";
import type { HederaConfig } from "./config.ts";
import {
  accountText,
  digestOfBody,
  expiryOf,
  type HederaPayment,
  hbar,
  type Row,
  readSignedTransfer,
  type SignedTransfer,
  tokenText,
} from "./payload.ts";
import { invalid, isFeePayer, type RequirementsDraft, requirementsRules } from "./requirements.ts";
import { MalformedError } from "./wire.ts";

/**
 * The rules of scheme_exact_hedera that need neither clock nor chain, in the order of the specification (H1–H21, with
 * what the reference implementation leaves open, G1–G20, beside them). Then the payment they leave.
 * Throws ApiError 400 when there is no text at payload.transaction.
 */
export function decodePayment(
  request: PaymentRequest,
  config: HederaConfig,
  knownNodes: readonly string[] = Object.values(config.nodes),
): HederaPayment | Refusal {
  const transaction = textAt(request.payload, "paymentPayload.payload.transaction");
  const terms = { request, config, extra: request.requirements.extra ?? {} };
  const first = judge(requirementsRules, terms);
  if (first.refusal) return first.refusal;
  const transfer = readTransfer(transaction);
  if ("refused" in transfer) return first.barred ?? transfer;
  const draft = draftOf(terms, transfer, knownNodes);
  const { refusal, barred } = judge(transferRules, draft);
  if (refusal) return first.barred ?? withPayer(refusal, draft);
  const payment = asPayment(draft);
  const told = first.barred ?? (barred && withPayer(barred, draft));
  return told ? { ...told, payment } : payment;
}

function withPayer(refusal: Refusal, { payer }: Draft): Refusal {
  return payer === undefined ? refusal : { ...refusal, payer };
}

interface Draft extends RequirementsDraft, SignedTransfer {
  /** Nodes in the address book now. */
  readonly knownNodes: readonly string[];
  readonly tokens: NonNullable<SignedTransfer["body"]["transfer"]>["tokens"];
  /** Rows of the asset asked for, and all the others. */
  readonly own: readonly Row[];
  readonly foreign: readonly Row[];
  /** The account debited, where there is exactly one. */
  readonly payer: string | undefined;
}

/** Something that makes a transaction more than a payment, in words that follow "The transaction", and a test for it. */
type Fault = readonly [what: string, isIn: (draft: Draft) => boolean];

function refuseFaults(reason: string, faults: readonly Fault[], draft: Draft): Refusal | undefined {
  const found = faults.filter(([, isIn]) => isIn(draft));
  if (found.length === 0) return undefined;
  return invalid(reason, `The transaction ${found.map(([what]) => what).join(", ")}.`);
}

/** H10, G1, G4, G7, G11: nothing but a plain transaction with plain accounts, each once. */
const shapeIsPlain: Rule<Draft> = (draft) => refuseFaults("transaction_invalid_shape", shapeFaults, draft);

const shapeFaults: ReadonlyArray<Fault> = [
  ["names no plain account as the payer of its fee", ({ body }) => accountText(body.id?.account) === undefined],
  ["has no valid start", ({ body }) => !isTimestamp(body.id?.validStart)],
  ["is scheduled", ({ body }) => body.id?.scheduled === true],
  ["has a nonce", ({ body }) => (body.id?.nonce ?? 0n) !== 0n],
  ["asks for a record", ({ body }) => body.generateRecord === true],
  ["has a batch key", ({ body }) => body.batchKey !== undefined],
  ["allows custom fees", ({ body }) => body.customFeesMax.length > 0],
  ["is marked high volume", ({ body }) => body.highVolume === true],
  ["has a memo over 100 bytes", ({ body }) => (body.memo?.length ?? 0) > 100],
  ["has a zero byte in its memo", ({ body }) => body.memo?.includes(0) === true],
  ["names an account other than by its 0.0.n", ({ rows }) => rows.some(({ account }) => account === undefined)],
  ["names a token other than by its 0.0.n", ({ tokens }) => tokens.some(({ token }) => tokenText(token) === undefined)],
  ["lists a token twice", ({ tokens }) => repeats(tokens.map(({ token }) => tokenText(token)))],
  ["lists a token without transfers", ({ tokens }) => tokens.some((list) => list.rows.length + list.nfts.length === 0)],
  ["lists an account twice", ({ rows }) => repeats(rows.map(({ asset, account }) => `${asset} ${account}`))],
];

/** H11 */
const feePayerPays: Rule<Draft> = ({ body, extra }) => {
  const account = accountText(body.id?.account);
  if (account === extra.feePayer) return;
  return invalid("fee_payer_mismatch", `The transaction's fee is paid by ${account}, not by ${extra.feePayer}.`);
};

/** H12, G2, G3, G5 */
const onlyTransfers: Rule<Draft> = (draft) => refuseFaults("contains_non_transfer_ops", operationFaults, draft);

const operationFaults: ReadonlyArray<Fault> = [
  ["is no transfer", ({ body }) => body.transfer === undefined],
  ["does something other than a transfer", ({ body }) => body.operations.length > 0],
  ["moves an NFT", ({ tokens }) => tokens.some(({ nfts }) => nfts.length > 0)],
  ["spends an allowance", ({ rows }) => rows.some(({ isApproval }) => isApproval)],
  ["calls a hook", ({ rows }) => rows.some(({ callsHook }) => callsHook)],
];

/** H13 */
const hbarSumsToZero: Rule<Draft> = ({ rows }) => {
  if (sum(rows.filter(({ asset }) => asset === hbar)) === 0n) return;
  return invalid("hbar_sum_non_zero", "The HBAR transfers do not sum to zero.");
};

/** H14 */
const feePayerKeepsItsHbar = configured<Draft>(({ rows, config }) => {
  const taken = rows.some((row) => row.asset === hbar && row.amount < 0n && isFeePayer(config, row.account));
  if (!taken) return;
  return invalid("fee_payer_transferring_hbar", "The transaction takes HBAR from a fee payer.");
});

/** H15 */
const noHbarBesideTokens: Rule<Draft> = ({ foreign }) => {
  if (foreign.every(({ asset }) => asset !== hbar)) return;
  return invalid("unexpected_hbar_transfers", "A token payment must not move HBAR.");
};

/** H16 */
const onlyTheAsset: Rule<Draft> = ({ foreign, own, request: { requirements } }) => {
  if (foreign.length === 0 && own.length > 0) return;
  return invalid("asset_mismatch", `The transaction must move ${requirements.asset} and nothing else.`);
};

/** H17 */
const assetSumsToZero: Rule<Draft> = ({ own }) => {
  if (sum(own) === 0n) return;
  return invalid("asset_sum_non_zero", "The transfers do not sum to zero.");
};

/** H18, G19: a fee payer signs the whole transaction, so it must appear in no row. */
const feePayersStayOut = configured<Draft>(({ rows, config }) => {
  if (rows.every(({ account }) => !isFeePayer(config, account))) return;
  return invalid("fee_payer_transferring_funds", "A fee payer must neither pay nor be paid.");
});

/** H19 */
const payToGetsTheAmount: Rule<Draft> = ({ own, request: { requirements } }) => {
  const credit = sum(own.filter(({ account }) => account === requirements.payTo));
  if (credit === BigInt(requirements.amount)) return;
  return invalid("amount_mismatch", `payTo gets ${credit}, not ${requirements.amount}.`);
};

/** H20 */
const onlyPayToIsPaid: Rule<Draft> = ({ own, request: { requirements } }) => {
  if (own.every(({ account, amount }) => account === requirements.payTo || amount <= 0n)) return;
  return invalid("extra_positive_transfers", "The transaction pays an account other than payTo.");
};

/** Stricter than the specification, which lets several accounts pay together. */
const twoRows: Rule<Draft> = ({ own }) => {
  if (own.length === 2) return;
  return invalid("transaction_invalid_shape", "The transaction must have two rows: the payer's and payTo's.");
};

/** G8, as far as it needs no clock. */
const durationIsAllowed: Rule<Draft> = ({ body }) => {
  const seconds = body.duration?.seconds ?? 0n;
  if (seconds >= 15n && seconds <= 180n) return;
  return invalid("transaction_expired", `The transaction is valid for ${seconds} seconds; 15 to 180 are possible.`);
};

/** G9 */
const feeIsCapped = configured<Draft>(({ body, config }) => {
  if ((body.feeMax ?? 0n) <= config.transactionFeeMax) return;
  const message = `The maximum transaction fee is ${body.feeMax} tinybars; up to ${config.transactionFeeMax} is paid.`;
  return invalid("max_fee_exceeded", message);
});

/** G10 */
const nodesDiffer: Rule<Draft> = (draft) => {
  const nodes = draft.bodies.map(({ node }) => node);
  return nodes.every((node) => node !== undefined) && !repeats(nodes) ? undefined : invalidNodes(draft);
};

/** G12. The address book is as it was last read: at the start it is the configured nodes. */
const someNodeIsKnown = configured<Draft>((draft) =>
  draft.bodies.some(({ node }) => draft.knownNodes.includes(node as string)) ? undefined : invalidNodes(draft),
);

function invalidNodes({ knownNodes: known }: Draft): Refusal {
  const message = `Each body must name another node, at least one of them in the address book (${known.join(", ")}).`;
  return invalid("invalid_node_account", message);
}

/** H22, as far as it needs no key. */
const allBodiesAreSigned: Rule<Draft> = ({ bodies }) => {
  if (bodies.every(({ signatures }) => signatures.some(({ ed25519, ecdsa }) => ed25519 ?? ecdsa))) return;
  return invalid("signature_invalid", "The transaction is not signed.");
};

const transferRules: ReadonlyArray<Rule<Draft>> = [
  shapeIsPlain,
  feePayerPays,
  onlyTransfers,
  hbarSumsToZero,
  feePayerKeepsItsHbar,
  noHbarBesideTokens,
  onlyTheAsset,
  assetSumsToZero,
  feePayersStayOut,
  payToGetsTheAmount,
  onlyPayToIsPaid,
  twoRows,
  durationIsAllowed,
  feeIsCapped,
  nodesDiffer,
  someNodeIsKnown,
  allBodiesAreSigned,
];

/** H9, G6, G12 */
function readTransfer(transaction: string): SignedTransfer | Refusal {
  try {
    return readSignedTransfer(transaction);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    const reason = error.kind === "shape" ? "transaction_invalid_shape" : "transaction_could_not_be_decoded";
    return invalid(reason, `payload.transaction cannot be used: ${error.message}. ${expected}`);
  }
}

const expected = "It is base64 of the signed, frozen TransferTransaction, as an SDK's toBytes() gives it.";

function draftOf(
  { request, config, extra }: RequirementsDraft,
  { body, rows, bodies }: SignedTransfer,
  knownNodes: readonly string[],
): Draft {
  const { asset } = request.requirements;
  const own = rows.filter((row) => row.asset === asset);
  const foreign = rows.filter((row) => row.asset !== asset);
  const debited = own.filter(({ amount }) => amount < 0n);
  const payer = debited.length === 1 ? debited[0]?.account : undefined;
  const tokens = body.transfer?.tokens ?? [];
  return { request, config, extra, knownNodes, body, rows, bodies, tokens, own, foreign, payer };
}

/** What the rules leave: every `!` below is a rule above. */
function asPayment({ body, bodies, payer, knownNodes, request: { requirements } }: Draft): HederaPayment {
  const feePayer = accountText(body.id!.account)!;
  const { seconds = 0n, nanos = 0n } = body.id!.validStart!;
  const durationSeconds = Number(body.duration!.seconds);
  const validStartMs = Number(seconds) * 1_000 + Number(nanos) / 1_000_000;
  const known = bodies.filter(({ node }) => knownNodes.includes(node!));
  return {
    key: `${feePayer}@${seconds}.${nanos.toString().padStart(9, "0")}`,
    payer: payer!,
    payTo: requirements.payTo,
    asset: requirements.asset,
    amount: BigInt(requirements.amount),
    messageDigest: digestOfBody(bodies[0]!.bytes),
    expiresAt: expiryOf(validStartMs, durationSeconds),
    feePayer,
    validStartMs,
    durationSeconds,
    feeMax: body.feeMax ?? 0n,
    expectedDecimals: expectedDecimalsOf(body),
    // Of a payment that none of them knows there is to tell only: any of its bodies shows who signed it.
    bodies: known.length > 0 ? known : bodies,
  };
}

function expectedDecimalsOf(body: SignedTransfer["body"]): number | undefined {
  const expected = body.transfer?.tokens[0]?.expectedDecimals;
  return expected && Number(expected.value ?? 0n);
}

const latestSecond = 253_402_300_799n;

function isTimestamp(given: { seconds: bigint | undefined; nanos: bigint | undefined } | undefined): boolean {
  if (given === undefined) return false;
  const { seconds = 0n, nanos = 0n } = given;
  return seconds > 0n && seconds <= latestSecond && nanos >= 0n && nanos < 1_000_000_000n;
}

const sum = (rows: readonly Row[]) => rows.reduce((total, { amount }) => total + amount, 0n);
const repeats = (values: readonly unknown[]) => new Set(values).size < values.length;
