import type { Migration } from "../../shared/migrate.ts";
import { payments } from "./0001-payments.ts";
import { record } from "./0002-record.ts";
import { discovery } from "./0003-discovery.ts";
import { limits } from "./0004-limits.ts";
import { discoveryPath } from "./0005-discovery-path.ts";
import { settleTimes } from "./0006-settle-times.ts";
import { listingOffers } from "./0007-listing-offers.ts";
import { payerFailures } from "./0008-payer-failures.ts";
import { paymentProof } from "./0010-payment-proof.ts";
import { paymentHolds } from "./0013-payment-holds.ts";
import { placeHoldsRows } from "./0014-place-holds-rows.ts";
import { spendingAsOf } from "./0016-spending-as-of.ts";
import { recordAccounts } from "./0018-record-accounts.ts";
import { heartbeats } from "./0019-heartbeats.ts";
import { listingDays } from "./0020-listing-days.ts";
import { networkFees } from "./0021-network-fees.ts";
import { signerLeases } from "./0023-signer-leases.ts";
import { paymentAsItIs } from "./0024-payment-as-it-is.ts";
import { searchedSettlements } from "./0025-searched-settlements.ts";
import { unfinishedPayments } from "./0030-unfinished-payments.ts";
import { paymentsWithoutLeaseIndex } from "./0031-payments-without-lease-index.ts";
import { archive } from "./0032-archive.ts";
import { recordLookups } from "./0033-record-lookups.ts";
import { selfPayersOfPayees } from "./0034-self-payers-of-payees.ts";
import { fewerStatistics } from "./0035-fewer-statistics.ts";
import { newPaymentsUnfinished } from "./0036-new-payments-unfinished.ts";
import { roomForHolds } from "./0037-room-for-holds.ts";
import { holdsTogether } from "./0038-holds-together.ts";
import { roomForEnds } from "./0039-room-for-ends.ts";
import { holdsOfOneMessage } from "./0040-holds-of-one-message.ts";
import { listingRequestSellers } from "./0041-listing-request-sellers.ts";
import { listingRequestsBySeller } from "./0042-listing-requests-by-seller.ts";
import { listingWallets } from "./0043-listing-wallets.ts";
import { pricesByNetwork } from "./0044-prices-by-network.ts";
import { signedTransactions } from "./0045-signed-transactions.ts";
import { selfPaymentMoves } from "./0046-self-payment-moves.ts";
import { dailyPayers } from "./0047-daily-payers.ts";
import { listingsByAddress } from "./0048-listings-by-address.ts";
import { archivedSelfPayments } from "./0049-archived-self-payments.ts";
import { assetsCounted } from "./0050-assets-counted.ts";
import { takenBack } from "./0053-taken-back.ts";

/** Every step of the facilitator's schema, in order. A step that has shipped never changes. */
export const migrations: readonly Migration[] = [
  payments,
  record,
  discovery,
  limits,
  discoveryPath,
  settleTimes,
  listingOffers,
  payerFailures,
  paymentProof,
  paymentHolds,
  placeHoldsRows,
  spendingAsOf,
  recordAccounts,
  heartbeats,
  listingDays,
  networkFees,
  signerLeases,
  paymentAsItIs,
  searchedSettlements,
  unfinishedPayments,
  paymentsWithoutLeaseIndex,
  archive,
  recordLookups,
  selfPayersOfPayees,
  fewerStatistics,
  newPaymentsUnfinished,
  roomForHolds,
  holdsTogether,
  roomForEnds,
  holdsOfOneMessage,
  listingRequestSellers,
  listingRequestsBySeller,
  listingWallets,
  pricesByNetwork,
  signedTransactions,
  selfPaymentMoves,
  dailyPayers,
  listingsByAddress,
  archivedSelfPayments,
  assetsCounted,
  takenBack,
];
