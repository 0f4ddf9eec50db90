import { randomBytes } from "node:crypto";
import type { Request, Response } from "express";
import { clientOf } from "../../shared/client-address.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import { challengeText } from "../accounts/wallet-proof.ts";
import { newId } from "../ids.ts";
import type { Wallet } from "../wallet.ts";
import { type Auth, headersOf, passCookies, placeholderOf, requireAuth } from "./auth.ts";
import { countNewWallet } from "./count-wallets.ts";

const challengeMinutes = 10;

/** Sessions for a person who shows a wallet and nothing else. */
export class WalletSignIn {
  readonly #auth: Auth | undefined;
  readonly #db: Database;
  readonly #host: string;

  constructor({ auth, db, host }: { auth: Auth | undefined; db: Database; host: string }) {
    this.#auth = auth;
    this.#db = db;
    this.#host = host;
  }

  /** A text for the wallet to sign, and its name for the answer. */
  async challenge(wallet: Wallet): Promise<Challenge> {
    const { internalAdapter } = await requireAuth(this.#auth).$context;
    const id = newId("chl");
    const expiresAt = new Date(Date.now() + challengeMinutes * 60_000);
    const nonce = randomBytes(16).toString("hex");
    const message = challengeText(wallet, "You sign in with this wallet.", this.#host, nonce, expiresAt);
    const value = JSON.stringify({ ...wallet, message });
    await internalAdapter.createVerificationValue({ identifier: identifierOf(id), value, expiresAt });
    return { id, message, expiresAt };
  }

  /**
   * Has the wallet of the challenge proved by its message, which uses the challenge up unless `prove` says that nobody can tell now (503);
   * answers the wallet. 422 for a challenge that is unknown, used or too old.
   */
  async proved(id: string, prove: (wallet: Wallet, message: string) => Promise<unknown>): Promise<Wallet> {
    const { internalAdapter } = await requireAuth(this.#auth).$context;
    const asked = await internalAdapter.findVerificationValue(identifierOf(id));
    if (!asked || asked.expiresAt <= new Date()) throw unknownChallenge();
    const useUp = () => internalAdapter.consumeVerificationValue(identifierOf(id));
    const { message, ...wallet }: Wallet & { message: string } = JSON.parse(asked.value);
    await prove(wallet, message).catch(async (refusal: unknown) => {
      if (!(refusal instanceof ApiError && refusal.code === "unavailable")) await useUp();
      throw refusal;
    });
    // Of two that prove it at once one has it.
    if (!(await useUp())) throw unknownChallenge();
    return wallet;
  }

  /** A session for a wallet that has proved itself. 429 where too many new ones came from there today. */
  async open(request: Request, response: Response, { network, address }: Wallet): Promise<void> {
    const { api, $context } = requireAuth(this.#auth);
    const { internalAdapter } = await $context;
    const known = await internalAdapter.findUserByEmail(placeholderOf({ network, address }));
    if (!known) await countNewWallet(this.#db, clientOf(request.ip ?? "unknown"));
    const asked = { body: { network, address }, headers: headersOf(request), asResponse: true } as const;
    const answer = await api.signInWallet(asked);
    if (!passCookies(answer, response)) throw new Error(`no session was opened: status ${answer.status}`);
  }
}

function unknownChallenge(): ApiError {
  const field = { body: { field: "challenge_id" } };
  return new ApiError("invalid_value", '"challenge_id" is unknown, was used already, or is too old.', field);
}

interface Challenge {
  readonly id: string;
  readonly message: string;
  readonly expiresAt: Date;
}

const identifierOf = (id: string) => `wallet-challenge:${id}`;
