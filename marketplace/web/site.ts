import type { Context } from "../context.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { allAccountsPage, oneAccountPage } from "./admin/accounts-page.tsx";
import { allAgentsPage, oneAgentPage } from "./admin/agents-page.tsx";
import { confirmOperatorPage } from "./admin/confirm-page.tsx";
import { findPage } from "./admin/find-page.tsx";
import { auditLogPage } from "./admin/log-page.tsx";
import { reportsPage } from "./admin/reports-page.tsx";
import { agentPages } from "./agent/agent-pages.tsx";
import { accountPage } from "./console/account/account-page.tsx";
import { accountClosedPage, closeAccountPage } from "./console/account/close-page.tsx";
import { changeEmailPage } from "./console/account/email-page.tsx";
import { activityPage } from "./console/activity/activity-page.tsx";
import { runPage } from "./console/activity/run-page.tsx";
import { editorPage } from "./console/build/editor-page.tsx";
import { galleryPage } from "./console/build/gallery-page.tsx";
import { creditsPage } from "./console/credits/credits-page.tsx";
import { agentFiguresPage, figuresPage } from "./console/figures/figures-pages.tsx";
import { imagesPage } from "./console/figures/images-page.tsx";
import { rewardsPage } from "./console/figures/rewards-page.tsx";
import { consentPage } from "./console/keys/consent-page.tsx";
import { keyPage } from "./console/keys/key-page.tsx";
import { keysPage } from "./console/keys/keys-page.tsx";
import { newKeyPage } from "./console/keys/new-key-page.tsx";
import { revokeKeyPage } from "./console/keys/revoke-key-page.tsx";
import { openAccountPage } from "./console/open-account.tsx";
import { operatorActsPage } from "./console/operator-acts/operator-acts-page.tsx";
import { removeWalletPage } from "./console/wallets/remove-wallet-page.tsx";
import { walletsPage } from "./console/wallets/wallets-page.tsx";
import { referenceOf } from "./docs/reference.ts";
import type { Page } from "./page.ts";
import { creatorPage } from "./pages/creator.tsx";
import { documentationPages } from "./pages/docs.tsx";
import { operationPage } from "./pages/docs-operation.tsx";
import { explorePage } from "./pages/explore.tsx";
import { homePage } from "./pages/home.tsx";
import { mcpPage } from "./pages/mcp.tsx";
import { operatorPages } from "./pages/operator-text.tsx";
import { pricingPage } from "./pages/pricing.tsx";
import { proofPage } from "./pages/proof.tsx";
import { reportPage } from "./pages/report.tsx";
import { sharedRunPages } from "./pages/shared-run.tsx";
import { signInPage } from "./pages/sign-in.tsx";
import { signOutPage } from "./pages/sign-out.tsx";
import { statusPage } from "./pages/status.tsx";
import { svgPage } from "./pages/svg.tsx";

/**
 * Every page of the website: these are served, tested in a browser, and their first segments are reserved as handles. The first
 * that matches is shown. The documentation describes `endpoints`.
 */
export function sitePages(context: Context, endpoints: readonly Endpoint[]): Page[] {
  const operations = referenceOf(() => endpoints, context.config.publicUrl);
  return [
    // A line a page, so that two changes that add one merge. Paths that begin with a parameter come last.
    homePage(context),
    explorePage(context),
    signInPage(context),
    signOutPage(context),
    svgPage(context),
    openAccountPage(context),
    consentPage(context),
    keysPage(context),
    galleryPage(context),
    editorPage(context),
    creditsPage(context),
    walletsPage(context),
    removeWalletPage(context),
    accountPage(context),
    changeEmailPage(context),
    closeAccountPage(context),
    accountClosedPage(),
    newKeyPage(context),
    keyPage(context),
    revokeKeyPage(context),
    operatorActsPage(context),
    activityPage(context),
    ...sharedRunPages(context),
    runPage(context),
    figuresPage(context),
    agentFiguresPage(context),
    imagesPage(context),
    rewardsPage(context),
    findPage(context),
    confirmOperatorPage(context),
    reportsPage(context),
    allAgentsPage(context),
    oneAgentPage(context),
    allAccountsPage(context),
    oneAccountPage(context),
    auditLogPage(context),
    ...documentationPages(context, operations),
    operationPage(operations),
    mcpPage(context.config.publicUrl),
    pricingPage(context),
    statusPage(context),
    ...operatorPages(context.config.operatorTexts),
    proofPage(context),
    reportPage(context),
    ...agentPages(context),
    creatorPage(context),
  ];
}
