import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import { freshMinutes } from "../fresh-session.ts";
import { settingsBody } from "../http/body-limits.ts";
import { sessionOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { refusals } from "../http/refusals.ts";
import { requireSameOrigin } from "../http/same-origin.ts";
import { parse } from "../parse.ts";
import { admitFrom, type EnterNeeds } from "./enter.ts";
import {
  addedPasskeyShape,
  assertionBody,
  attestationBody,
  exampleAssertion,
  exampleAttestation,
  exampleOptions,
  optionsShape,
} from "./passkey-shapes.ts";
import { passkeysMax } from "./passkeys.ts";
import { signedInShape } from "./shapes.ts";

/** Passkeys, made and used by browsers; ways-in lists and removes them. */
export function passkeyEndpoints(needs: EnterNeeds): Endpoint[] {
  return [askToEnterEndpoint(needs), enterEndpoint(needs), askToAddEndpoint(needs), addEndpoint(needs)];
}

const options = jsonAnswer(optionsShape, exampleOptions);

function askToEnterEndpoint(needs: EnterNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/sign-in/passkey/challenge",
    id: "createPasskeyChallenge",
    tag: "Sign-in",
    summary: "What a browser signs to sign in with a passkey.",
    // The plugin of better-auth sets the five minutes.
    description: "Sets a cookie that the signature is answered with. A challenge works once, for five minutes.",
    access: "public",
    before: [requireSameOrigin(needs)],
    answers: {
      200: options,
      ...refusals(403, 429, 503, { 404: "There are no passkeys here: the service has an address and no name." }),
    },
    handler: async (request, response) => {
      await admitFrom(needs.db, request);
      response.json(await needs.signIn.passkeys.askToEnter(request, response));
    },
  };
}

function enterEndpoint(needs: EnterNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/sign-in/passkey",
    id: "signInWithPasskey",
    tag: "Sign-in",
    summary: "The passkey's signature of that challenge, for a session cookie.",
    description: "A signature that does not hold uses the challenge up.",
    access: "public",
    before: [requireSameOrigin(needs)],
    body: requestBody(assertionBody, exampleAssertion, settingsBody),
    answers: {
      200: jsonAnswer(signedInShape, { signed_in: true }),
      ...refusals(403, 429, 503, {
        401: "This passkey does not sign in here, or the page waited too long; try again.",
        404: "There are no passkeys here: the service has an address and no name.",
      }),
    },
    handler: async (request, response) => {
      const assertion = parse(assertionBody, request.body ?? {}, "bad_request");
      await admitFrom(needs.db, request);
      await needs.signIn.passkeys.enter(request, response, assertion);
      response.json({ signed_in: true });
    },
  };
}

function askToAddEndpoint({ signIn }: EnterNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/passkeys/challenge",
    id: "createNewPasskeyChallenge",
    tag: "Sign-in",
    summary: "What a browser makes a passkey of.",
    description: `Within ${freshMinutes} minutes of signing in, so that a stranger at a device that was left open cannot add a way in that lasts. The holder is told by mail of what is added.`,
    access: "account",
    answers: {
      200: options,
      ...refusals({
        404: "There are no passkeys here: the service has an address and no name.",
        409: `No more than ${passkeysMax} passkeys: remove one first.`,
      }),
    },
    handler: async (request, response) => {
      response.json(await signIn.passkeys.askToAdd(request, response, sessionOf(response)));
    },
  };
}

function addEndpoint({ signIn }: EnterNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/passkeys",
    id: "addPasskey",
    tag: "Sign-in",
    summary: "Add a passkey: from then on it signs in.",
    description: `At most ${passkeysMax}. DELETE /api/account/ways-in/{id} takes one away.`,
    access: "account",
    body: requestBody(attestationBody, exampleAttestation, settingsBody),
    answers: {
      201: jsonAnswer(addedPasskeyShape, { id: "kq3v5w7x9z1b3d5f7h9j1k3m5n7p9r1t", name: "Firefox on Linux" }),
      ...refusals({
        404: "There are no passkeys here: the service has an address and no name.",
        409: `No more than ${passkeysMax} passkeys: remove one first.`,
        422: {
          error: '"response" does not answer the challenge, or the passkey is known; begin again.',
          field: "response",
        },
      }),
    },
    handler: async (request, response) => {
      const attestation = parse(attestationBody, request.body ?? {}, "bad_request");
      response.status(201).json(await signIn.passkeys.add(request, sessionOf(response), attestation));
    },
  };
}
