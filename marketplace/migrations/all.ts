import type { Migration } from "../../shared/postgres.ts";
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

/** Every step of the marketplace's schema, in order. A step that has shipped never changes. */
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
];
