import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import { readBalances } from "../credits/balance.ts";
import { freshMinutes } from "../fresh-session.ts";
import { settingsBody } from "../http/body-limits.ts";
import { accountOf, sessionOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { refusals } from "../http/refusals.ts";
import { parse } from "../parse.ts";
import { aboutMax, aboutOf, setAbout } from "./about.ts";
import { readClosing } from "./closing.ts";
import { daysBetweenRenames, renameAccount } from "./rename.ts";
import { aboutShape, accountShape, closingShape, sessionShape } from "./shapes.ts";
import { closeOwnAccount } from "./state.ts";
import { accountOfUser, openAccountFor } from "./users.ts";

interface Needs {
  readonly db: Database;
}

export function accountEndpoints(needs: Needs): Endpoint[] {
  return [
    getEndpoint(needs),
    openEndpoint(needs),
    renameEndpoint(needs),
    aboutEndpoint(needs),
    closingEndpoint(needs),
    closeEndpoint(needs),
  ];
}

const exampleAccount = { id: "acc_01k8q3v5w7x9z1b3d5f7h9j1k3", handle: "ada", state: "open" } as const;

const exampleAbout = "Tools for people who read contracts before they sign them.";

function getEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/account",
    id: "getAccount",
    tag: "Account",
    summary: "Who is signed in, and their account.",
    description:
      "Answers the e-mail address or the wallet that the session was opened with, and the account with its credits. " +
      "`account` is null until one is opened.",
    access: "session",
    answers: {
      200: jsonAnswer(sessionShape, {
        email: "ada@example.com",
        wallet: null,
        account: { ...exampleAccount, about: exampleAbout, credits: 940, held_credits: 5, earned_credits: 120 },
      }),
    },
    handler: async (_request, response) => {
      const { userId, email = null, wallet = null } = sessionOf(response);
      const account = await accountOfUser(db, userId);
      if (!account) return void response.json({ email, wallet, account: null });
      const [balance] = await readBalances(db, [account.id]);
      const { credits, held, earned } = balance!;
      response.json({
        email,
        wallet,
        account: {
          id: account.id,
          handle: account.handle,
          state: account.state,
          about: await aboutOf(db, account.id),
          credits: toSafeNumber(credits),
          held_credits: toSafeNumber(held),
          earned_credits: toSafeNumber(earned),
        },
      });
    },
  };
}

const handleRequest = z.strictObject({ handle: z.string().max(100).describe("3 to 30 of a-z, 0-9 and -.") });

function openEndpoint({ db }: Needs): Endpoint {
  return {
    method: "post",
    path: "/api/account",
    id: "openAccount",
    tag: "Account",
    summary: "Open an account under a handle.",
    description:
      "Needs a session whose e-mail address has been confirmed; one that was opened with a wallet alone is a 403. A handle " +
      "that is or was another account's is a 409.",
    access: "session",
    body: requestBody(handleRequest, { handle: "ada" }, settingsBody),
    answers: {
      201: jsonAnswer(accountShape, exampleAccount),
      ...refusals({
        409: { error: 'The handle "ada" is taken.', field: "handle" },
        422: { error: 'The handle "admin" is reserved.', field: "handle" },
      }),
    },
    handler: async (request, response) => {
      const session = sessionOf(response);
      const { handle } = parse(handleRequest, request.body ?? {}, "bad_request");
      const { id, state, ...account } = await openAccountFor(db, session, handle);
      response.status(201).json({ id, handle: account.handle, state });
    },
  };
}

function renameEndpoint({ db }: Needs): Endpoint {
  return {
    method: "patch",
    path: "/api/account",
    id: "renameAccount",
    tag: "Account",
    summary:
      `Change the handle, at most once in ${daysBetweenRenames} days. The old one stays the account's: calls under it ` +
      "reach the same agents.",
    description: "The account's agents get their new addresses and tool names at once.",
    access: "account",
    body: requestBody(handleRequest, { handle: "ada-lovelace" }, settingsBody),
    answers: {
      200: jsonAnswer(accountShape, { ...exampleAccount, handle: "ada-lovelace" }),
      ...refusals({
        409: "The handle can be changed again on 2026-04-01.",
        422: { error: 'The handle "admin" is reserved.', field: "handle" },
      }),
    },
    handler: async (request, response) => {
      const { handle } = parse(handleRequest, request.body ?? {}, "bad_request");
      const account = await renameAccount(db, accountOf(response), handle);
      response.json({ id: account.id, handle: account.handle, state: account.state });
    },
  };
}

const aboutRequest = z.strictObject({
  about: z
    .string()
    .max(10 * aboutMax)
    .nullable()
    .describe(`Up to ${aboutMax} characters in one line, shown to every visitor; null for nothing.`),
});

function aboutEndpoint({ db }: Needs): Endpoint {
  return {
    method: "put",
    path: "/api/account/about",
    id: "setAccountDescription",
    tag: "Account",
    summary: "Say something about yourself, for the page that lists your agents.",
    description: "Lines and spaces become single spaces. It is text: no markup in it is read.",
    access: "account",
    body: requestBody(aboutRequest, { about: exampleAbout }, settingsBody),
    answers: {
      200: jsonAnswer(aboutShape, { about: exampleAbout }),
      ...refusals({
        409: "The account is not open.",
        422: { error: `"about" must be at most ${aboutMax} characters long.`, field: "about" },
      }),
    },
    handler: async (request, response) => {
      const { about } = parse(aboutRequest, request.body ?? {}, "bad_request");
      response.json({ about: await setAbout(db, accountOf(response).id, about) });
    },
  };
}

const closeRequest = handleRequest.extend({
  give_up_credits: z
    .boolean()
    .default(false)
    .describe("Credits that are left, spendable, set aside or earned, are lost."),
});

function closingEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/account/closing",
    id: "previewAccountClosing",
    tag: "Account",
    summary: "What closing the account would end and lose, and what stands in its way.",
    description: "The account can be closed while `runs_under_way`, `calls_owed` and `purchases_under_way` are 0.",
    access: "account",
    answers: {
      200: jsonAnswer(closingShape, {
        credits: 1_240,
        earned_credits: 3_864,
        held_credits: 0,
        runs_under_way: 0,
        calls_owed: 0,
        purchases_under_way: 0,
        live_agents: 5,
        drafts: 2,
        keys: 4,
        wallets: 1,
      }),
    },
    handler: async (_request, response) => {
      const { credits, earned, held, ...counts } = await readClosing(db, accountOf(response));
      response.json({
        credits: toSafeNumber(credits),
        earned_credits: toSafeNumber(earned),
        held_credits: toSafeNumber(held),
        ...counts,
      });
    },
  };
}

function closeEndpoint({ db }: Needs): Endpoint {
  return {
    method: "post",
    path: "/api/account/close",
    id: "closeAccount",
    tag: "Account",
    summary: "Close the account for good: keys end, agents go. Its own handle is asked for, to be sure.",
    description:
      `There is no way back. Within ${freshMinutes} minutes of signing in. ` +
      "While credits are left it is a 409, unless `give_up_credits` says to lose them; while runs, purchases or " +
      "calls that wallets paid for are under way it is one whatever is said.",
    access: "account",
    body: requestBody(closeRequest, { handle: "ada" }, settingsBody),
    answers: {
      200: jsonAnswer(accountShape, { ...exampleAccount, state: "closed" }),
      ...refusals({
        409: 'There are 940 credits left; close with "give_up_credits" to lose them.',
        422: { error: `"handle" must be the account's own, to be sure.`, field: "handle" },
      }),
    },
    handler: async (request, response) => {
      const account = accountOf(response);
      const { handle, give_up_credits: givesUp } = parse(closeRequest, request.body ?? {}, "bad_request");
      const closed = await closeOwnAccount(db, sessionOf(response), account, {
        handle,
        creditsGivenUp: givesUp ? "all" : 0n,
      });
      response.json({ id: closed.id, handle: closed.handle, state: closed.state });
    },
  };
}
