import type { Request } from "express";
import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import { historyDays } from "../history-days.ts";
import { settingsBody } from "../http/body-limits.ts";
import { accountOf } from "../http/callers.ts";
import { usualCallsPerMinute } from "../http/calls-per-minute.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { parse } from "../parse.ts";
import { readQuery } from "../query.ts";
import { callsQuery, listKeyCalls } from "./calls.ts";
import { ceilingUsual } from "./ceiling.ts";
import { changeKey } from "./change.ts";
import { createKey, keysPerAccount } from "./create.ts";
import { type ListedKey, listKeys, readKey, readKeySpending } from "./list.ts";
import { changeRequest, keyRequest } from "./requests.ts";
import { revokeKey } from "./revoke.ts";
import { changedKeyShape, type KeySettings, keyCallsShape, keysShape, newKeyShape, revokedShape } from "./shapes.ts";

interface Needs {
  readonly db: Database;
}

export function apiKeyEndpoints(needs: Needs): Endpoint[] {
  return [
    listEndpoint(needs),
    createEndpoint(needs),
    changeEndpoint(needs),
    revokeEndpoint(needs),
    callsEndpoint(needs),
  ];
}

const exampleId = "key_01k8q3v5w7x9z1b3d5f7h9j1k3";

function listEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/account/keys",
    id: "listApiKeys",
    tag: "API keys",
    summary: "The account's API keys.",
    description: "Answers the keys without the keys themselves, revoked ones too, and how many an account may have.",
    access: "account",
    answers: {
      200: jsonAnswer(keysShape, {
        keys: [
          {
            ...exampleSettings,
            start: "amk_4fT9",
            last4: "x7Qa",
            client: null,
            last_used_from: "203.0.113.x",
            last_used_by: "python-requests/2.32.3",
            created_at: exampleTime,
            last_used_at: exampleTime,
            revoked_at: null,
            credits_today: 38,
            credits_this_month: null,
          },
        ],
        keys_max: keysPerAccount,
      }),
    },
    handler: async (_request, response) => {
      const { id } = accountOf(response);
      const [keys, spending] = await Promise.all([listKeys(db, id), readKeySpending(db, id)]);
      response.json({
        keys: keys.map((key) => ({
          ...key,
          max_credits_per_day: asNumber(key.max_credits_per_day),
          max_credits_per_month: asNumber(key.max_credits_per_month),
          credits_today: toSafeNumber(spending.get(key.id)?.today ?? 0n),
          credits_this_month: asNumber(spending.get(key.id)?.month ?? null),
        })),
        keys_max: keysPerAccount,
      });
    },
  };
}

const asNumber = (credits: bigint | null) => (credits === null ? null : toSafeNumber(credits));

/** What a key is, as making and changing it answer. */
function settingsOf(key: ListedKey): KeySettings {
  const { id, name, scope, agents, tools, rate_limit_per_minute, max_credits_per_day, max_credits_per_month } = key;
  return {
    id,
    name,
    scope,
    agents: [...agents],
    tools,
    rate_limit_per_minute,
    max_credits_per_day: asNumber(max_credits_per_day),
    max_credits_per_month: asNumber(max_credits_per_month),
  };
}

const exampleSettings: KeySettings = {
  id: exampleId,
  name: "server",
  scope: "own_agents",
  agents: [],
  tools: "all",
  rate_limit_per_minute: usualCallsPerMinute,
  max_credits_per_day: 500,
  max_credits_per_month: null,
};

function createEndpoint({ db }: Needs): Endpoint {
  return {
    method: "post",
    path: "/api/account/keys",
    id: "createApiKey",
    tag: "API keys",
    summary: "Make a key. The answer is the only one that ever holds it.",
    description:
      `The service keeps a digest of the key and cannot show it again. An account may have ${keysPerAccount} keys; ` +
      "one more is a 409.",
    access: "account",
    body: requestBody(keyRequest, { name: "server", max_credits_per_day: 500 }, settingsBody),
    answers: {
      201: jsonAnswer(newKeyShape, { ...exampleSettings, token: "amk_<the key>" }),
      ...refusals({
        409: `An account may have ${keysPerAccount} keys; revoke one first.`,
        422: {
          error: `"rate_limit_per_minute" must be a whole number between 1 and ${ceilingUsual}, what all keys of the account may call together.`,
          field: "rate_limit_per_minute",
        },
      }),
    },
    handler: async (request, response) => {
      const given = parse(keyRequest, request.body ?? {}, "bad_request");
      const accountId = accountOf(response).id;
      const { id, token } = await createKey(db, {
        accountId,
        name: given.name,
        scope: given.scope,
        agents: given.agents,
        tools: given.tools,
        rateLimitPerMinute: given.rate_limit_per_minute,
        maxCreditsPerDay: given.max_credits_per_day,
        maxCreditsPerMonth: given.max_credits_per_month,
      });
      response.status(201).json({ ...settingsOf((await readKey(db, accountId, id))!), token });
    },
  };
}

const keyPath = { id: z.string().describe("As the list of keys names it.") };

function changeEndpoint({ db }: Needs): Endpoint {
  return {
    method: "patch",
    path: "/api/account/keys/{id}",
    id: "changeApiKey",
    tag: "API keys",
    summary: "Change what a key is called, sees, and may spend. The key itself stays as it is.",
    description:
      "It holds from the key's next call on. What is left out stays. A new cap counts what was spent before it.",
    access: "account",
    pathParameters: keyPath,
    body: requestBody(changeRequest, { max_credits_per_day: 200 }, settingsBody),
    answers: {
      200: jsonAnswer(changedKeyShape, { ...exampleSettings, changed: true }),
      ...refusals({
        404: 'There is no active key "key_01k8q3v5w7x9z1b3d5f7h9j1k3".',
        422: {
          error: `"rate_limit_per_minute" must be a whole number between 1 and ${ceilingUsual}, what all keys of the account may call together.`,
          field: "rate_limit_per_minute",
        },
      }),
    },
    handler: async (request, response) => {
      const given = parse(changeRequest, request.body ?? {}, "bad_request");
      const id = idIn(request);
      const accountId = accountOf(response).id;
      await changeKey(db, accountId, id, {
        name: given.name,
        scope: given.scope,
        agents: given.agents,
        tools: given.tools,
        rateLimitPerMinute: given.rate_limit_per_minute,
        maxCreditsPerDay: given.max_credits_per_day,
        maxCreditsPerMonth: given.max_credits_per_month,
      });
      response.json({ ...settingsOf((await readKey(db, accountId, id))!), changed: true });
    },
  };
}

const idIn = ({ params }: Request) => String(params.id).replaceAll("\0", "");

function callsEndpoint({ db }: Needs): Endpoint {
  const call = {
    run_id: "run_01k8q3v5w7x9z1b3d5f7h9j1k3",
    agent: "ada/summarizer",
    asked: null,
    state: "succeeded",
    reason: null,
    times: 1,
    credits_used: 5,
    ms: 840,
    error: null,
    created_at: exampleTime,
  } as const;
  return {
    method: "get",
    path: "/api/account/keys/{id}/calls",
    id: "listApiKeyCalls",
    tag: "API keys",
    summary: `The calls of a key in the last ${historyDays} days, newest first: its runs, and what it was refused.`,
    description:
      "Of a revoked key too. Calls that were refused before a run began are counted by the minute, and stand here a few seconds later; the " +
      "newest thousand such minutes are kept. A page may hold fewer rows than asked for, or none, and still name a `cursor`.",
    access: "account",
    pathParameters: keyPath,
    query: callsQuery,
    answers: {
      200: jsonAnswer(keyCallsShape, { calls: [call], cursor: null }),
      ...refusals({ 404: "There is no such key." }),
    },
    handler: async (request, response) => {
      const query = readQuery(callsQuery, request.query);
      response.json(await listKeyCalls(db, accountOf(response).id, idIn(request), query));
    },
  };
}

function revokeEndpoint({ db }: Needs): Endpoint {
  return {
    method: "delete",
    path: "/api/account/keys/{id}",
    id: "revokeApiKey",
    tag: "API keys",
    summary: "Revoke a key, at once on every copy of the service.",
    description: "From then on the key is a 401. There is no way back; make another key instead.",
    access: "account",
    pathParameters: keyPath,
    answers: {
      200: jsonAnswer(revokedShape, { id: exampleId, revoked: true }),
      ...refusals({ 404: 'There is no active key "key_01k8q3v5w7x9z1b3d5f7h9j1k3".' }),
    },
    handler: async (request, response) => {
      const id = idIn(request);
      await revokeKey(db, accountOf(response).id, id);
      response.json({ id, revoked: true });
    },
  };
}
