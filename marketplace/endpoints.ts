import { accountEndpoints } from "./accounts/endpoints.ts";
import { exportEndpoint } from "./accounts/export-endpoint.ts";
import { walletEndpoints } from "./accounts/wallet-endpoints.ts";
import { actEndpoints } from "./admin/act-endpoints.ts";
import { operatorEndpoints } from "./admin/endpoints.ts";
import { creatorEndpoints } from "./agents/creator-endpoints.ts";
import { agentEndpoints } from "./agents/endpoints.ts";
import { creatorFiguresEndpoint } from "./agents/figures-endpoint.ts";
import { publishingEndpoints } from "./agents/publishing-endpoints.ts";
import { apiKeyEndpoints } from "./api-keys/endpoints.ts";
import { catalogEndpoints } from "./catalog/endpoints.ts";
import { rewardEndpoints } from "./connectors/x/endpoints.ts";
import type { Context } from "./context.ts";
import { accountCreditsEndpoints } from "./credits/account-endpoints.ts";
import { creditsEndpoints } from "./credits/endpoints.ts";
import { draftEndpoints } from "./drafts/endpoints.ts";
import { versionEndpoints } from "./drafts/version-endpoints.ts";
import { fileEndpoints } from "./files/endpoints.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { serviceEndpoints } from "./http/endpoints.ts";
import { mcpEndpoints } from "./mcp/endpoints.ts";
import { oauthEndpoints } from "./oauth/endpoints.ts";
import { paymentEndpoints } from "./payments/endpoints.ts";
import { proofEndpoints } from "./proof/endpoints.ts";
import { accountRunEndpoints } from "./runs/account-endpoints.ts";
import { runEndpoints } from "./runs/endpoints.ts";
import { tryEndpoint } from "./runs/try-endpoint.ts";
import { emailChangeEndpoints } from "./sign-in/email-change-endpoints.ts";
import { signInEndpoints } from "./sign-in/endpoints.ts";
import { passkeyEndpoints } from "./sign-in/passkey-endpoints.ts";
import { personEndpoints } from "./sign-in/person-endpoints.ts";
import { walletSignInEndpoints } from "./sign-in/wallet-endpoints.ts";
import { statusEndpoint } from "./status/endpoints.ts";
import { svgEndpoints } from "./svg/endpoints.ts";
import { demoWalletEndpoints } from "./web/demo-wallet.ts";
import { docsEndpoints } from "./web/docs/endpoints.ts";

/** Every endpoint of the service, by noun: those mounted, those in the OpenAPI document, those that llms.txt lists. */
export function marketplaceEndpoints(context: Context): Endpoint[] {
  const all: Endpoint[] = [
    ...runEndpoints(context),
    ...accountRunEndpoints(context),
    ...paymentEndpoints(context),
    ...catalogEndpoints(context),
    ...agentEndpoints(context),
    ...creditsEndpoints(context),
    ...svgEndpoints(context),
    ...mcpEndpoints(context),
    ...oauthEndpoints({ ...context, outbound: context.tools.outbound }),
    ...fileEndpoints(context),
    ...rewardEndpoints(context),
    ...signInEndpoints(context),
    ...walletSignInEndpoints(context),
    ...passkeyEndpoints(context),
    ...emailChangeEndpoints(context),
    ...accountEndpoints(context),
    exportEndpoint(context),
    ...personEndpoints(context),
    ...accountCreditsEndpoints(context),
    ...apiKeyEndpoints(context),
    ...walletEndpoints(context),
    ...creatorEndpoints(context),
    creatorFiguresEndpoint(context),
    tryEndpoint(context),
    ...publishingEndpoints(context),
    ...draftEndpoints(context),
    ...versionEndpoints(context),
    ...proofEndpoints(context),
    ...operatorEndpoints(context),
    ...actEndpoints(context),
    ...demoWalletEndpoints(context.config),
    ...serviceEndpoints(context, () => all),
    statusEndpoint(context),
    ...docsEndpoints(context, () => all),
  ];
  return all;
}
