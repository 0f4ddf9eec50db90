import { closeBody, handleBody, proofBody } from "../accounts/routes.ts";
import { walletBody } from "../accounts/wallet-bodies.ts";
import { definitionBody, modelBudgetBody, tryBody } from "../agents/own-routes.ts";
import { keyBody } from "../api-keys/routes.ts";
import { debtsQuery } from "../payments/debts.ts";
import { emailBody, oidcBody, signOutBody, tokenBody, walletSignInBody } from "../sign-in/routes.ts";
import {
  accountShape,
  agentStateShape,
  agentVersionShape,
  challengeShape,
  debtsShape,
  keysShape,
  linkSentShape,
  modelBudgetShape,
  newKeyShape,
  ownAgentShape,
  ownAgentsShape,
  problemsShape,
  providerShape,
  removedShape,
  revokedShape,
  sessionShape,
  signedInShape,
  triedShape,
  walletShape,
  walletsShape,
} from "./account-shapes.ts";
import type { Operation } from "./operations.ts";
import { errorShape } from "./shapes.ts";

const signIn = { 403: errorShape, 429: errorShape, 503: errorShape };
const walletPath = { id: "As the list of wallets names it." };
const agentPath = { slug: "The agent's name part." };

/** Sign-in and the account's settings: for the pages of this service and whoever keeps the session cookie. */
export const accountOperations: Readonly<Record<string, Operation>> = {
  "GET /sign-in": { summary: "The page to sign in on; links in mails lead to it.", answers: { 200: "text/html" } },
  "POST /api/account/sign-in/email": {
    summary: "Send a link that signs in once. The answer is the same for known and unknown addresses.",
    body: emailBody,
    answers: { 202: linkSentShape, 404: errorShape, ...signIn },
  },
  "POST /api/account/sign-in/email/confirm": {
    summary: "Exchange the token of such a link for a session cookie.",
    body: tokenBody,
    answers: { 200: signedInShape, 401: errorShape, ...signIn },
  },
  "POST /api/account/sign-in/oidc": {
    summary: "Begin to sign in at the OpenID Connect provider.",
    body: oidcBody,
    answers: { 200: providerShape, 404: errorShape, ...signIn },
  },
  "GET /api/account/sign-in/callback/oidc": {
    summary: "Where the provider sends people back to, who are then signed in and go on.",
    answers: { 303: ["text/plain", "text/html"], 401: errorShape, 404: errorShape, 429: errorShape, 503: errorShape },
  },
  "POST /api/account/sign-in/wallet/challenge": {
    summary: "A text to sign in with a wallet alone. Such a session can have no account.",
    body: walletBody,
    answers: { 200: challengeShape, 422: errorShape, ...signIn },
  },
  "POST /api/account/sign-in/wallet": {
    summary: "The wallet's signature of that text, for a session cookie.",
    body: walletSignInBody,
    answers: { 200: signedInShape, 422: errorShape, ...signIn },
  },
  "POST /api/account/sign-out": {
    summary: "End the session, or all sessions of the person.",
    session: true,
    body: signOutBody,
    answers: { 200: signedInShape },
  },
  "GET /api/account": {
    summary: "Who is signed in, and their account.",
    session: true,
    answers: { 200: sessionShape },
  },
  "POST /api/account": {
    summary: "Open an account under a handle.",
    session: true,
    body: handleBody,
    answers: { 201: accountShape, 409: errorShape, 422: errorShape },
  },
  "PATCH /api/account": {
    summary:
      "Change the handle, at most once in 30 days. The old one stays the account's: calls under it reach the same agents.",
    session: true,
    body: handleBody,
    answers: { 200: accountShape, 409: errorShape, 422: errorShape },
  },
  "POST /api/account/close": {
    summary: "Close the account for good: keys end, agents go. Its own handle is asked for, to be sure.",
    session: true,
    body: closeBody,
    answers: { 200: accountShape, 409: errorShape, 422: errorShape },
  },
  "GET /api/account/keys": { summary: "The account's API keys.", session: true, answers: { 200: keysShape } },
  "POST /api/account/keys": {
    summary: "Make a key. The answer is the only one that ever holds it.",
    session: true,
    body: keyBody,
    answers: { 201: newKeyShape, 409: errorShape, 422: errorShape },
  },
  "DELETE /api/account/keys/{id}": {
    summary: "Revoke a key, at once on every copy of the service.",
    session: true,
    path: { id: "As the list of keys names it." },
    answers: { 200: revokedShape, 404: errorShape },
  },
  "GET /api/account/wallets": {
    summary: "Where the account is paid per call.",
    session: true,
    answers: { 200: walletsShape },
  },
  "POST /api/account/wallets": {
    summary: "Propose a wallet; the answer holds the text it has to sign. What is paid now stays until then.",
    session: true,
    body: walletBody,
    answers: { 201: walletShape, 422: errorShape },
  },
  "DELETE /api/account/wallets/{id}": {
    summary: "Take a wallet out: the next quote is without it.",
    session: true,
    path: walletPath,
    answers: { 200: removedShape, 404: errorShape },
  },
  "POST /api/account/wallets/{id}/proof": {
    summary: "The wallet's signature of its text: when it holds and the wallet can be paid, it is.",
    session: true,
    path: walletPath,
    body: proofBody,
    answers: { 200: walletShape, 404: errorShape, 409: errorShape, 422: errorShape },
  },
  "POST /api/account/wallets/{id}/check": {
    summary: "Look now whether a proved wallet can be paid; it is looked at every few hours anyway.",
    session: true,
    path: walletPath,
    answers: { 200: walletShape, 404: errorShape, 409: errorShape },
  },
  "GET /api/account/debts": {
    summary:
      "Calls of the account's agents whose payment is settled and that have no result yet, newest first. Each stays good for " +
      "its buyer until one run succeeds; for an agent that is gone, it is the buyer's money that is owed.",
    session: true,
    query: debtsQuery,
    answers: { 200: debtsShape },
  },
  "GET /api/account/agents": {
    summary: "The account's agents, in any state.",
    session: true,
    answers: { 200: ownAgentsShape },
  },
  "POST /api/account/agent-definitions/check": {
    summary: "Everything that keeps a definition from being published.",
    session: true,
    body: definitionBody,
    answers: { 200: problemsShape },
  },
  "GET /api/account/agents/{slug}": {
    summary: "One of them with its definition, but for its secrets.",
    session: true,
    path: agentPath,
    answers: { 200: ownAgentShape, 404: errorShape },
  },
  "PUT /api/account/agents/{slug}": {
    summary: "Keep a definition as the agent's next version; what is live stays live.",
    session: true,
    path: agentPath,
    body: definitionBody,
    answers: { 200: agentVersionShape, 409: errorShape, 422: errorShape },
  },
  "POST /api/account/agents/{slug}/publish": {
    summary: "Make the newest version what the agent is from the next run on.",
    session: true,
    path: agentPath,
    answers: { 200: agentVersionShape, 404: errorShape, 409: errorShape, 422: errorShape },
  },
  "POST /api/account/agents/{slug}/unpublish": {
    summary: "Take the agent off the market.",
    session: true,
    path: agentPath,
    answers: { 200: agentStateShape, 404: errorShape, 409: errorShape },
  },
  "PUT /api/account/agents/{slug}/model-budget": {
    summary: "Say what the agent's models may cost you in a day, so that strangers cannot use up what others live on.",
    session: true,
    path: agentPath,
    body: modelBudgetBody,
    answers: { 200: modelBudgetShape, 404: errorShape },
  },
  "POST /api/account/agents/{slug}/try": {
    summary: "Run the newest version once, for free; ten times a minute, within a daily allowance for its model.",
    session: true,
    path: agentPath,
    body: tryBody,
    answers: { 200: triedShape, 404: errorShape, 409: errorShape, 422: errorShape },
  },
};
