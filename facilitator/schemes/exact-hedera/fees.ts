import type { Sendable } from "./keys.ts";
import { type HederaPayment, hbar } from "./payload.ts";

/**
 * What the network charges for a payment, in tinycents (10^8 to the cent): a node's share for signatures and bytes, the
 * network's nine times that, and the service's for moving a token. Source: HIP-1261, simpleFeesSchedules.json of
 * hiero-consensus-node. Its own signature is the fee payer's.
 */
export function networkFee({ asset }: HederaPayment, { bytes, signatures }: Sendable): number {
  const size = bytes.length + envelopeBytes + (signatures.length + 1) * signatureBytes;
  const node = nodeBase + signatures.length * perSignature + Math.max(0, size - bytesIncluded) * perByte;
  return node * 10 + (asset === hbar ? 0 : tokenTransfer);
}

/**
 * Half a cent: some nine signatures. Each that goes beyond the bytes included costs as much as a whole payment, so that one
 * account with a long list of keys could use up the day's fees of all.
 */
export const networkFeeMax = 50_000_000;

const nodeBase = 100_000;
const perSignature = 100_000;
const perByte = 10_000;
const bytesIncluded = 1_024;
const tokenTransfer = 9_000_000;
/** A signature with its whole key, as it is sent, and what is around all of them. */
const signatureBytes = 105;
const envelopeBytes = 12;
