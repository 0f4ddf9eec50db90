import { z } from "zod";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import { settingsBody } from "../http/body-limits.ts";
import { accountOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { refusals } from "../http/refusals.ts";
import { parse } from "../parse.ts";
import { readQuery } from "../query.ts";
import type { SignIn } from "../sign-in/sign-in.ts";
import { alertKinds, ofEachAlert } from "./alert-kinds.ts";
import { alertsRequest, readAlerts, setAlerts } from "./alerts.ts";
import { answerTransfer, examplePosting, transferBody, transferOnce } from "./endpoints.ts";
import { accountStatementShape, alertsShape, creditsShape } from "./shapes.ts";
import { readStanding } from "./standing.ts";
import { statementQuery } from "./statement.ts";
import { exampleStatement, statementCsv, tooManyForOneFile } from "./statement-csv.ts";
import { inOrder, statementFilters } from "./statement-rows.ts";
import { readAccountStatement, tooManyToLookThrough } from "./statement-totals.ts";

interface Needs {
  readonly db: Database;
  readonly signIn: Pick<SignIn, "mailer">;
}

/** The credits of an account, for its holder who is signed in. */
export function accountCreditsEndpoints(needs: Needs): Endpoint[] {
  return [
    standingEndpoint(needs),
    statementEndpoint(needs),
    csvEndpoint(needs),
    transferEndpoint(needs),
    readAlertsEndpoint(needs),
    setAlertsEndpoint(needs),
  ];
}

function standingEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/account/credits",
    id: "getAccountCredits",
    tag: "Credits",
    summary: "The account's credits, and what its runs took today.",
    description: "A day begins at midnight UTC. Earned credits can be spent after transferAccountCredits.",
    access: "account",
    answers: {
      200: jsonAnswer(creditsShape, {
        credits: 940,
        held_credits: 5,
        earned_credits: 120,
        running: 1,
        spent_today: 60,
        runs_today: 12,
      }),
    },
    handler: async (_request, response) => {
      response.json(await readStanding(db, accountOf(response).id));
    },
  };
}

function statementEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/account/ledger",
    id: "readAccountStatement",
    tag: "Credits",
    summary: "The account's statement: its postings, newest first, with what they add up to.",
    description:
      "As listPostings, with the credits that the period began and ended with and the totals of what the filters select. " +
      "Where they select all of the period, `opening` and `totals` add up to `closing`.",
    access: "account",
    query: statementQuery,
    answers: {
      200: jsonAnswer(accountStatementShape, {
        postings: [{ ...examplePosting, balance: 940 }],
        cursor: null,
        opening: { credits: 945, earned_credits: 120 },
        closing: { credits: 940, earned_credits: 120 },
        totals: [{ kind: "hold", postings: 1, credits: -5, earned_credits: 0 }],
      }),
      ...refusals({ 422: { error: tooManyToLookThrough, field: "from" } }),
    },
    handler: async (request, response) => {
      const asked = readQuery(statementQuery, request.query);
      response.json(await readAccountStatement(db, accountOf(response).id, asked));
    },
  };
}

const filterQuery = inOrder(z.object(statementFilters));

function csvEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/account/ledger.csv",
    id: "downloadStatement",
    tag: "Credits",
    summary: "The statement as a file of comma-separated values, newest first.",
    description:
      "What the filters select is in it whole; more than 20,000 postings are a 422. A text that a spreadsheet would run as a " +
      "formula begins with an apostrophe.",
    access: "account",
    query: filterQuery,
    answers: {
      200: { content: ["text/csv"], example: exampleStatement },
      ...refusals({ 422: { error: tooManyForOneFile, field: "from" } }),
    },
    handler: async (request, response) => {
      const csv = await statementCsv(db, accountOf(response).id, readQuery(filterQuery, request.query));
      response
        .set({ "content-disposition": 'attachment; filename="statement.csv"', "cache-control": "no-store" })
        .type("text/csv; charset=utf-8")
        .send(csv);
    },
  };
}

function transferEndpoint({ db }: Needs): Endpoint {
  return {
    method: "post",
    path: "/api/account/credits/transfer",
    id: "transferAccountCredits",
    tag: "Credits",
    summary: "Make earned credits spendable, for who is signed in.",
    description:
      "Credits that the account's agents earned are spent here; payouts in USDC come from calls that are paid by wallet. There is " +
      "no way back. Asking for more than was earned is refused with 422 and moves nothing. With an `Idempotency-Key`, repeating it " +
      "moves nothing more.",
    access: "account",
    ...transferOnce,
    body: requestBody(transferBody, { credits: 100 }, settingsBody),
    handler: (request, response) => answerTransfer(db, accountOf(response).id, request, response),
  };
}

const marks = ofEachAlert((kind) => alertKinds[kind].usual);
const alerts = { ...marks, email: "ada@example.com" };

function readAlertsEndpoint({ db, signIn }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/account/alerts",
    id: "getAlerts",
    tag: "Credits",
    summary: "What the account's holder is told by e-mail.",
    description: "Nothing, unless they asked for it.",
    access: "account",
    answers: { 200: jsonAnswer(alertsShape, alerts) },
    handler: async (_request, response) => {
      response.json(await readAlerts({ db, sendsMail: signIn.mailer !== undefined }, accountOf(response).id));
    },
  };
}

function setAlertsEndpoint({ db, signIn }: Needs): Endpoint {
  return {
    method: "put",
    path: "/api/account/alerts",
    id: "setAlerts",
    tag: "Credits",
    summary: "Ask to be told by e-mail when the balance falls below a mark, or a key has spent a share of its cap.",
    description:
      "Looked at every minute. A balance is told once each time it falls below, and at most once an hour; a key once a day, and once a month for a month's cap. An account " +
      "that cannot be written to is a 409.",
    access: "account",
    body: requestBody(alertsRequest, marks, settingsBody),
    answers: {
      200: jsonAnswer(alertsShape, alerts),
      ...refusals({ 409: "This account has no e-mail that could be written to." }),
    },
    handler: async (request, response) => {
      const wanted = parse(alertsRequest, request.body ?? {}, "bad_request");
      const needs = { db, sendsMail: signIn.mailer !== undefined };
      response.json(await setAlerts(needs, accountOf(response).id, wanted));
    },
  };
}
