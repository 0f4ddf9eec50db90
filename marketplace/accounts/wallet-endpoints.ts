import type { Response } from "express";
import { z } from "zod";
import { type Answers, jsonAnswer, requestBody, type Shapes } from "../../shared/endpoint.ts";
import { freshMinutes } from "../fresh-session.ts";
import { settingsBody } from "../http/body-limits.ts";
import { accountOf, sessionOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { parse } from "../parse.ts";
import {
  addWallet,
  checkWallet,
  type Holder,
  listWallets,
  proveWallet,
  removeWallet,
  type WalletNeeds,
} from "./account-wallets.ts";
import { agentsPaidPerCall } from "./paid-agents.ts";
import { unpayableCheckedEvery } from "./recheck-wallets.ts";
import { removedShape, walletRefusalShape, walletShape, walletsShape } from "./shapes.ts";
import { exampleSignature, exampleWallet, signature, walletBody } from "./wallet-bodies.ts";

/** Where a creator is paid per call: a wallet is proposed, proves itself, and is then checked now and then. */
export function walletEndpoints(needs: WalletNeeds): Endpoint[] {
  return [listEndpoint(needs), addEndpoint(needs), removeEndpoint(needs), proveEndpoint(needs), checkEndpoint(needs)];
}

const holderOf = (response: Response): Holder => ({ account: accountOf(response), session: sessionOf(response) });

const walletPath: Shapes = { id: z.string().describe("As the list of wallets names it.") };

const paid = {
  id: "wal_01k8q3v5w7x9z1b3d5f7h9j1k3",
  ...exampleWallet,
  state: "checked",
  problem: null,
  reason: null,
  looked_at: exampleTime,
  challenge: null,
  checked_at: exampleTime,
  created_at: exampleTime,
} as const;

const paidAnswer: Answers = { 200: jsonAnswer(walletShape, paid) };

function listEndpoint({ db }: WalletNeeds): Endpoint {
  return {
    method: "get",
    path: "/api/account/wallets",
    id: "listWallets",
    tag: "Payout wallets",
    summary: "Where the account is paid per call.",
    description: "Answers every wallet of the account in its state. Only one that is `checked` is named in quotes.",
    access: "account",
    answers: { 200: jsonAnswer(walletsShape, { wallets: [paid], agents: [exampleAgent] }) },
    handler: async (_request, response) => {
      const { id } = accountOf(response);
      response.json({ wallets: await listWallets(db, id), agents: await agentsPaidPerCall(db, id) });
    },
  };
}

function addEndpoint(needs: WalletNeeds): Endpoint {
  const challenge = { message: "This wallet is to be paid for the agents of ada.", expires_at: exampleTime };
  return {
    method: "post",
    path: "/api/account/wallets",
    id: "addWallet",
    tag: "Payout wallets",
    summary: "Propose a wallet; the answer holds the text it has to sign. What is paid now stays until then.",
    description:
      "Sign the challenge's message with the wallet and send the signature with proveWallet. " +
      `It takes the place of one that has not proved itself, and within ${freshMinutes} minutes of signing in of one that waits until it can be paid.`,
    access: "account",
    body: requestBody(walletBody, exampleWallet, settingsBody),
    answers: {
      201: jsonAnswer(walletShape, { ...paid, state: "unchecked", looked_at: null, checked_at: null, challenge }),
      ...refusals({ 422: { error: '"network" must be one of hedera:testnet, eip155:84532.', field: "network" } }),
    },
    handler: async (request, response) => {
      const wallet = parse(walletBody, request.body ?? {}, "bad_request");
      response.status(201).json(await addWallet(needs, holderOf(response), wallet));
    },
  };
}

function removeEndpoint(needs: WalletNeeds): Endpoint {
  return {
    method: "delete",
    path: "/api/account/wallets/{id}",
    id: "removeWallet",
    tag: "Payout wallets",
    summary: "Take a wallet out: the next quote is without it.",
    description: `Within ${freshMinutes} minutes of signing in, unless it has not proved itself. To be paid there again, it has to be proposed and to prove itself again. The holder is told by e-mail.`,
    access: "account",
    pathParameters: walletPath,
    answers: {
      200: jsonAnswer(removedShape, { id: paid.id, removed: true }),
      ...refusals({ 404: 'There is no wallet "wal_01k8q3v5w7x9z1b3d5f7h9j1k3" of this account.' }),
    },
    handler: async (request, response) => {
      await removeWallet(needs, holderOf(response), String(request.params.id));
      response.json({ id: request.params.id, removed: true });
    },
  };
}

const proofRequest = z.strictObject({ signature });

function proveEndpoint(needs: WalletNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/wallets/{id}/proof",
    id: "proveWallet",
    tag: "Payout wallets",
    summary: "The wallet's signature of its text: when it holds and the wallet can be paid, it is.",
    description:
      `Within ${freshMinutes} minutes of signing in. From then on the wallet is paid, in place of the one before, and the holder is told by e-mail. ` +
      "A signature that does not hold, a text that is too old " +
      "and a wallet that the chain would refuse to pay are a 422. The last need not sign again: it is `unpayable` beside the one that " +
      `is paid, and takes its place once checkWallet, or the check every ${unpayableCheckedEvery}, finds that it can be.`,
    access: "account",
    pathParameters: walletPath,
    body: requestBody(proofRequest, { signature: exampleSignature }, settingsBody),
    answers: {
      ...paidAnswer,
      ...refusals({
        404: 'There is no wallet "wal_01k8q3v5w7x9z1b3d5f7h9j1k3" of this account.',
        409: "This wallet has proved itself already.",
      }),
      422: jsonAnswer(walletRefusalShape, {
        error: "The account 0.0.1234 is not associated with USDC (0.0.456858).",
        reason: "not_associated",
      }),
    },
    handler: async (request, response) => {
      const { signature } = parse(proofRequest, request.body ?? {}, "bad_request");
      response.json(await proveWallet(needs, holderOf(response), String(request.params.id), signature));
    },
  };
}

function checkEndpoint(needs: WalletNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/wallets/{id}/check",
    id: "checkWallet",
    tag: "Payout wallets",
    summary: "Look now whether a proved wallet can be paid; it is looked at every few hours anyway.",
    description: "For a creator who has just mended what `problem` says. A wallet that has not proved itself is a 409.",
    access: "account",
    pathParameters: walletPath,
    answers: {
      ...paidAnswer,
      ...refusals({
        404: 'There is no wallet "wal_01k8q3v5w7x9z1b3d5f7h9j1k3" of this account.',
        409: "The wallet has to prove itself first.",
      }),
    },
    handler: async (request, response) => {
      response.json(await checkWallet(needs, accountOf(response), String(request.params.id)));
    },
  };
}
