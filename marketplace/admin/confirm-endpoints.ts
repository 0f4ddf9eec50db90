import { z } from "zod";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Config } from "../config.ts";
import { settingsBody } from "../http/body-limits.ts";
import { sessionOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { parse } from "../parse.ts";
import type { Sealer } from "../sealing.ts";
import { challengeMinutes } from "../sign-in/passkey-presence.ts";
import { assertionBody, exampleAssertion, exampleOptions, optionsShape } from "../sign-in/passkey-shapes.ts";
import { askOperatorForPasskey, confirmByPasskey, confirmedMinutes, confirmOperator } from "./confirm.ts";
import { confirmedShape } from "./shapes.ts";

export interface ConfirmNeeds {
  readonly db: Database;
  readonly sealer: Sealer;
  readonly config: Pick<Config, "publicUrl">;
}

/** How an operator shows that it is they who sit there: by a code, or by a passkey of their account. */
export function confirmEndpoints(needs: ConfirmNeeds): Endpoint[] {
  return [codeEndpoint(needs), challengeEndpoint(needs), passkeyEndpoint(needs)];
}

const confirmRequest = z.strictObject({
  code: z.string().max(20).describe("Six digits, as the authenticator shows them now."),
});
const confirmed = jsonAnswer(confirmedShape, { confirmed_until: exampleTime });

function codeEndpoint(needs: ConfirmNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/operator/confirm",
    id: "confirmOperator",
    tag: "Operators",
    summary: `Show that it is you, for ${confirmedMinutes} minutes, by a code of your authenticator.`,
    description: "A code is taken once (RFC 6238), ten an hour at most. Who is no operator gets 404.",
    access: "session",
    body: requestBody(confirmRequest, { code: "287082" }, settingsBody),
    answers: {
      200: confirmed,
      ...refusals(404, { 422: { error: '"code" is not what your authenticator shows now.', field: "code" } }),
    },
    handler: async (request, response) => {
      const { code } = parse(confirmRequest, request.body ?? {}, "bad_request");
      const { confirmedUntil } = await confirmOperator(needs, sessionOf(response), code);
      response.json({ confirmed_until: confirmedUntil.toISOString() });
    },
  };
}

function challengeEndpoint({ db, config }: ConfirmNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/operator/confirm/passkey/challenge",
    id: "createOperatorChallenge",
    tag: "Operators",
    summary: "What a browser signs with a passkey to show that it is you.",
    description: `For this session alone, once, within ${challengeMinutes} minutes; a new one takes its place.`,
    access: "session",
    answers: {
      200: jsonAnswer(optionsShape, exampleOptions),
      ...refusals(404, { 409: "This account has no passkey." }),
    },
    handler: async (_request, response) => {
      response.json(await askOperatorForPasskey({ db, publicUrl: config.publicUrl }, sessionOf(response)));
    },
  };
}

function passkeyEndpoint({ db, config }: ConfirmNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/operator/confirm/passkey",
    id: "confirmOperatorByPasskey",
    tag: "Operators",
    summary: `Show that it is you, for ${confirmedMinutes} minutes, by a passkey of your account.`,
    description:
      "The authenticator must have checked who holds it. A signature that does not hold uses the challenge up.",
    access: "session",
    body: requestBody(assertionBody, exampleAssertion, settingsBody),
    answers: {
      200: confirmed,
      ...refusals(404, {
        422: {
          error:
            '"response" is of no passkey of this account, or does not answer the newest challenge of this session; begin again.',
          field: "response",
        },
      }),
    },
    handler: async (request, response) => {
      const assertion = parse(assertionBody, request.body ?? {}, "bad_request");
      const needs = { db, publicUrl: config.publicUrl };
      const { confirmedUntil } = await confirmByPasskey(needs, sessionOf(response), assertion);
      response.json({ confirmed_until: confirmedUntil.toISOString() });
    },
  };
}
