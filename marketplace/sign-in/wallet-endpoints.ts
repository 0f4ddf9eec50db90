import type { RequestHandler } from "express";
import { z } from "zod";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import { readWallet } from "../accounts/account-wallets.ts";
import { exampleSignature, exampleWallet, signature, walletBody } from "../accounts/wallet-bodies.ts";
import { requireProof } from "../accounts/wallet-proof.ts";
import type { Tools } from "../connectors/connector.ts";
import { settingsBody } from "../http/body-limits.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { requireSameOrigin } from "../http/same-origin.ts";
import { parse } from "../parse.ts";
import { admitFrom, type EnterNeeds } from "./enter.ts";
import { challengeShape, signedInShape } from "./shapes.ts";

interface Needs extends EnterNeeds {
  readonly tools: Tools;
}

/** Signing in with a wallet alone: a text to sign, and its signature for a session. */
export function walletSignInEndpoints(needs: Needs): Endpoint[] {
  const sameOrigin = requireSameOrigin(needs);
  return [challengeEndpoint(needs, sameOrigin), walletEndpoint(needs, sameOrigin)];
}

const exampleChallenge = "chl_01k8q3v5w7x9z1b3d5f7h9j1k3";

function challengeEndpoint({ signIn, db, tools }: Needs, sameOrigin: RequestHandler): Endpoint {
  return {
    method: "post",
    path: "/api/account/sign-in/wallet/challenge",
    id: "createWalletChallenge",
    tag: "Sign-in",
    summary: "A text to sign in with a wallet alone. Such a session can have no account.",
    description: "Sign the message as it stands with the wallet and send the signature with signInWithWallet.",
    access: "public",
    before: [sameOrigin],
    body: requestBody(walletBody, exampleWallet, settingsBody),
    answers: {
      200: jsonAnswer(challengeShape, {
        challenge_id: exampleChallenge,
        message: "agents.example wants you to sign in with your wallet.",
        expires_at: exampleTime,
      }),
      ...refusals(403, 429, 503, {
        422: { error: '"network" must be one of hedera:testnet, eip155:84532.', field: "network" },
      }),
    },
    handler: async (request, response) => {
      const wallet = readWallet(tools, parse(walletBody, request.body ?? {}, "bad_request"));
      await admitFrom(db, request);
      const { id, message, expiresAt } = await signIn.wallets.challenge(wallet);
      response.json({ challenge_id: id, message, expires_at: expiresAt });
    },
  };
}

const walletSignInRequest = z.strictObject({ challenge_id: z.string().max(64), signature });

function walletEndpoint({ signIn, db, tools }: Needs, sameOrigin: RequestHandler): Endpoint {
  return {
    method: "post",
    path: "/api/account/sign-in/wallet",
    id: "signInWithWallet",
    tag: "Sign-in",
    summary: "The wallet's signature of that text, for a session cookie.",
    description:
      "A challenge works once; a signature that does not hold uses it up, one that nobody can check now (503) does not.",
    access: "public",
    before: [sameOrigin],
    body: requestBody(
      walletSignInRequest,
      { challenge_id: exampleChallenge, signature: exampleSignature },
      settingsBody,
    ),
    answers: {
      200: jsonAnswer(signedInShape, { signed_in: true }),
      ...refusals(403, 429, 503, {
        422: { error: '"challenge_id" is unknown, was used already, or is too old.', field: "challenge_id" },
      }),
    },
    handler: async (request, response) => {
      const { challenge_id: id, signature } = parse(walletSignInRequest, request.body ?? {}, "bad_request");
      await admitFrom(db, request);
      const wallet = await signIn.wallets.proved(id, (asked, message) =>
        requireProof(tools, asked, message, signature),
      );
      await signIn.wallets.open(request, response, wallet);
      response.json({ signed_in: true });
    },
  };
}
