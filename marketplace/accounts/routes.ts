import type { RequestHandler } from "express";
import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { toSafeNumber } from "../../shared/units.ts";
import type { Context } from "../context.ts";
import { readBalances } from "../credits/balance.ts";
import { parse } from "../parse.ts";
import { accountOf, sessionOf } from "../sign-in/require-session.ts";
import { addWallet, checkWallet, listWallets, proveWallet, removeWallet } from "./own-wallets.ts";
import { renameAccount } from "./rename.ts";
import { moveAccount } from "./state.ts";
import { accountOfUser, openAccount } from "./users.ts";
import { signature, walletBody } from "./wallet-bodies.ts";

export const handleBody = z.strictObject({ handle: z.string().max(100).describe("3 to 30 of a-z, 0-9 and -.") });
export const proofBody = z.strictObject({ signature });

/** GET /api/account */
export function getAccount(context: Context): RequestHandler {
  return async (_request, response) => {
    const { userId, email = null, wallet = null } = sessionOf(response);
    const account = await accountOfUser(context.db, userId);
    if (!account) {
      response.json({ email, wallet, account: null });
      return;
    }
    const [balance] = await readBalances(context.db, [account.id]);
    const { credits, held, earned } = balance!;
    response.json({
      email,
      wallet,
      account: {
        id: account.id,
        handle: account.handle,
        state: account.state,
        credits: toSafeNumber(credits),
        held_credits: toSafeNumber(held),
        earned_credits: toSafeNumber(earned),
      },
    });
  };
}

/** POST /api/account {handle} */
export function postAccount({ db }: Context): RequestHandler {
  return async (request, response) => {
    const { userId, email, wallet } = sessionOf(response);
    if (wallet) throw new ApiError("forbidden", "A session signed in with a wallet can have no account.");
    if (!email)
      throw new ApiError("forbidden", "Show first that the e-mail address is yours: sign in with a link to it.");
    const { handle } = parse(handleBody, request.body ?? {}, "bad_request");
    const { id, state, ...account } = await openAccount(db, userId, handle);
    response.status(201).json({ id, handle: account.handle, state });
  };
}

/** PATCH /api/account {handle} */
export function patchAccount({ db }: Context): RequestHandler {
  return async (request, response) => {
    const { handle } = parse(handleBody, request.body ?? {}, "bad_request");
    const account = await renameAccount(db, accountOf(response), handle);
    response.json({ id: account.id, handle: account.handle, state: account.state });
  };
}

export const closeBody = handleBody.extend({
  give_up_credits: z.boolean().default(false).describe("Credits that are left, spendable or earned, are lost."),
});

/** POST /api/account/close {handle}: the handle is asked for, because there is no way back. */
export function postClose(context: Context): RequestHandler {
  return async (request, response) => {
    const account = accountOf(response);
    const { handle, give_up_credits: givesUp } = parse(closeBody, request.body ?? {}, "bad_request");
    if (handle.toLowerCase() !== account.handle) {
      throw new ApiError("invalid_value", '"handle" must be the account\'s own, to be sure.', {
        body: { field: "handle" },
      });
    }
    const closed = await moveAccount(context.db, account, "close", { unlessCredits: !givesUp });
    response.json({ id: closed.id, handle: closed.handle, state: closed.state });
  };
}

/** GET /api/account/wallets */
export function getWallets({ db }: Context): RequestHandler {
  return async (_request, response) => {
    response.json({ wallets: await listWallets(db, accountOf(response).id) });
  };
}

/** POST /api/account/wallets {network, address} */
export function postWallet(context: Context): RequestHandler {
  return async (request, response) => {
    const wallet = parse(walletBody, request.body ?? {}, "bad_request");
    response.status(201).json(await addWallet(context, accountOf(response), wallet));
  };
}

/** POST /api/account/wallets/{id}/proof {signature} */
export function postWalletProof(context: Context): RequestHandler {
  return async (request, response) => {
    const { signature } = parse(proofBody, request.body ?? {}, "bad_request");
    response.json(await proveWallet(context, accountOf(response), String(request.params.id), signature));
  };
}

/** POST /api/account/wallets/{id}/check */
export function postWalletCheck(context: Context): RequestHandler {
  return async (request, response) => {
    response.json(await checkWallet(context, accountOf(response), String(request.params.id)));
  };
}

/** DELETE /api/account/wallets/{id} */
export function deleteWallet({ db }: Context): RequestHandler {
  return async (request, response) => {
    await removeWallet(db, accountOf(response), String(request.params.id));
    response.json({ id: request.params.id, removed: true });
  };
}
