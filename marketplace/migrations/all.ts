import type { Migration } from "../../shared/migrate.ts";
import { accounts } from "./0001-accounts.ts";
import { agents } from "./0002-agents.ts";
import { credits } from "./0003-credits.ts";
import { runs } from "./0004-runs.ts";
import { paidCalls } from "./0005-paid-calls.ts";
import { ledger } from "./0006-ledger.ts";
import { runRequests } from "./0007-run-requests.ts";
import { listings } from "./0008-listings.ts";
import { listingCounts } from "./0009-listing-counts.ts";
import { files } from "./0010-files.ts";
import { effects } from "./0011-effects.ts";
import { svgProducts } from "./0020-svg-products.ts";
import { agentsAsTools } from "./0021-agents-as-tools.ts";
import { signIn } from "./0022-sign-in.ts";
import { listingWords } from "./0023-listing-words.ts";
import { paidCallsInPlace } from "./0024-paid-calls-in-place.ts";
import { paidCallVersions } from "./0025-paid-call-versions.ts";
import { paidCallsTogether } from "./0026-paid-calls-together.ts";
import { quotes } from "./0027-quotes.ts";
import { reservations } from "./0030-reservations.ts";
import { debts } from "./0031-debts.ts";
import { callCeilings } from "./0033-call-ceilings.ts";
import { modelCosts } from "./0034-model-costs.ts";
import { agentNotices } from "./0037-agent-notices.ts";
import { signInLinks } from "./0039-sign-in-links.ts";
import { accountFiles } from "./0042-account-files.ts";
import { unpaidModelCalls } from "./0043-unpaid-model-calls.ts";
import { ledgerFees } from "./0044-ledger-fees.ts";
import { homeTries } from "./0045-home-tries.ts";
import { listingFacets } from "./0046-listing-facets.ts";
import { listingTypos } from "./0047-listing-typos.ts";
import { agentFigures } from "./0048-agent-figures.ts";
import { versionPublications } from "./0049-version-publications.ts";
import { passkeys } from "./0050-passkeys.ts";
import { svgTries } from "./0051-svg-tries.ts";
import { reports } from "./0052-reports.ts";
import { keySettings } from "./0053-key-settings.ts";
import { signedWallets } from "./0054-signed-wallets.ts";
import { creditAlerts } from "./0055-credit-alerts.ts";
import { walletReasons } from "./0056-wallet-reasons.ts";
import { agentDrafts } from "./0057-agent-drafts.ts";
import { suspensionLetters } from "./0058-suspension-letters.ts";
import { activity } from "./0059-activity.ts";
import { runShares } from "./0060-run-shares.ts";
import { operators } from "./0061-operators.ts";
import { operatorActs } from "./0062-operator-acts.ts";
import { ledgerProofs } from "./0063-ledger-proofs.ts";
import { creatorAbout } from "./0064-creator-about.ts";
import { suspendedCreators } from "./0065-suspended-creators.ts";
import { keyTools } from "./0070-key-tools.ts";
import { oauth } from "./0071-oauth.ts";
import { oauthLimits } from "./0072-oauth-limits.ts";
import { oauthLimitIndexes } from "./0073-oauth-limit-indexes.ts";
import { accountLetters } from "./0077-account-letters.ts";
import { keptLetters } from "./0078-kept-letters.ts";
import { claimedSuspensionLetters } from "./0079-claimed-suspension-letters.ts";
import { passkeyChallenges } from "./0087-passkey-challenges.ts";
import { emailChanges } from "./0088-email-changes.ts";
import { failedRequests } from "./0089-failed-requests.ts";
import { agentExamples } from "./0090-agent-examples.ts";
import { refusedCalls } from "./0091-refused-calls.ts";
import { payloadDigests } from "./0092-payload-digests.ts";
import { modelClaimOrder } from "./0093-model-claim-order.ts";
import { statementMarks } from "./0094-statement-marks.ts";
import { wordsLetGo } from "./0095-words-let-go.ts";
import { outputDays } from "./0096-output-days.ts";
import { forgottenKeys } from "./0097-forgotten-keys.ts";
import { revokedKeyIndexes } from "./0098-revoked-key-indexes.ts";
import { toolNames } from "./0099-tool-names.ts";
import { refusedAlerts } from "./0100-refused-alerts.ts";
import { askedLinks } from "./0101-asked-links.ts";
import { askingSessions } from "./0102-asking-sessions.ts";
import { newestLinks } from "./0103-newest-links.ts";
import { sharedFiles } from "./0104-shared-files.ts";
import { narrowedListings } from "./0105-narrowed-listings.ts";
import { filesOfAgents } from "./0106-files-of-agents.ts";
import { keysOfClients } from "./0107-keys-of-clients.ts";
import { doubtedPayments } from "./0108-doubted-payments.ts";
import { loweredBudgets } from "./0109-lowered-budgets.ts";
import { filesOfRuns } from "./0110-files-of-runs.ts";
import { deletedFiles } from "./0111-deleted-files.ts";
import { newWallets } from "./0112-new-wallets.ts";
import { linksFrom } from "./0113-links-from.ts";
import { keysByClient } from "./0114-keys-by-client.ts";
import { definitionBytes } from "./0115-definition-bytes.ts";
import { movedEarnings } from "./0117-moved-earnings.ts";
import { walletKeys } from "./0118-wallet-keys.ts";
import { laggingMirrors } from "./0119-lagging-mirrors.ts";

/**
 * Every step of the marketplace's schema, in the order in which it was shipped, which databases have run. Numbers are names: a new
 * step takes one above all others and stands last. A step that has shipped never changes.
 */
export const migrations: readonly Migration[] = [
  accounts,
  agents,
  credits,
  runs,
  paidCalls,
  ledger,
  runRequests,
  listings,
  listingCounts,
  files,
  effects,
  svgProducts,
  agentsAsTools,
  signIn,
  listingWords,
  paidCallsInPlace,
  paidCallVersions,
  paidCallsTogether,
  quotes,
  reservations,
  debts,
  callCeilings,
  modelCosts,
  agentNotices,
  signInLinks,
  accountFiles,
  unpaidModelCalls,
  ledgerFees,
  homeTries,
  listingFacets,
  listingTypos,
  agentFigures,
  versionPublications,
  svgTries,
  reports,
  keySettings,
  creditAlerts,
  walletReasons,
  agentDrafts,
  activity,
  runShares,
  operators,
  operatorActs,
  ledgerProofs,
  creatorAbout,
  suspendedCreators,
  keyTools,
  passkeys,
  oauth,
  signedWallets,
  suspensionLetters,
  oauthLimits,
  oauthLimitIndexes,
  accountLetters,
  keptLetters,
  claimedSuspensionLetters,
  passkeyChallenges,
  emailChanges,
  failedRequests,
  agentExamples,
  refusedCalls,
  payloadDigests,
  modelClaimOrder,
  statementMarks,
  wordsLetGo,
  outputDays,
  forgottenKeys,
  revokedKeyIndexes,
  toolNames,
  refusedAlerts,
  askedLinks,
  askingSessions,
  newestLinks,
  sharedFiles,
  narrowedListings,
  filesOfAgents,
  keysOfClients,
  doubtedPayments,
  loweredBudgets,
  filesOfRuns,
  deletedFiles,
  newWallets,
  linksFrom,
  keysByClient,
  definitionBytes,
  movedEarnings,
  walletKeys,
  laggingMirrors,
];
