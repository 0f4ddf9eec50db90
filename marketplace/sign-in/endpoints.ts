import type { RequestHandler } from "express";
import { z } from "zod";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import { settingsBody } from "../http/body-limits.ts";
import { sessionOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleUrl } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { requireSameOrigin } from "../http/same-origin.ts";
import { parse } from "../parse.ts";
import { linkMinutes } from "./auth.ts";
import { admitFrom, type EnterNeeds, emailRequest, enterAtProvider, enterByLink, nextPath, sendLink } from "./enter.ts";
import { linkSentShape, providerShape, signedInShape } from "./shapes.ts";
import { oidcCallbackPath } from "./single-sign-on.ts";

/** An e-mail link, an OpenID Connect provider, and the end of a session; wallet-endpoints.ts has the wallet. */
export function signInEndpoints(needs: EnterNeeds): Endpoint[] {
  const sameOrigin = requireSameOrigin(needs);
  return [
    emailEndpoint(needs, sameOrigin),
    confirmEndpoint(needs, sameOrigin),
    oidcEndpoint(needs, sameOrigin),
    oidcCallbackEndpoint(needs),
    signOutEndpoint(needs),
  ];
}

function emailEndpoint(needs: EnterNeeds, sameOrigin: RequestHandler): Endpoint {
  return {
    method: "post",
    path: "/api/account/sign-in/email",
    id: "sendSignInLink",
    tag: "Sign-in",
    summary: "Send a link that signs in once. The answer is the same for known and unknown addresses.",
    description: `The link holds for ${linkMinutes} minutes. Too many links for one address are a 429.`,
    access: "public",
    before: [sameOrigin],
    body: requestBody(emailRequest, { email: "ada@example.com" }, settingsBody),
    answers: {
      202: jsonAnswer(linkSentShape, { sent_to: "ada@example.com", expires_in_seconds: linkMinutes * 60 }),
      ...refusals(403, 429, 503, { 404: "There is no signing in by e-mail here." }),
    },
    handler: async (request, response) => {
      const { email } = parse(emailRequest, request.body ?? {}, "bad_request");
      const link = await sendLink(needs, request, email);
      response.status(202).json({ sent_to: email, expires_in_seconds: linkMinutes * 60, ...(link ? { link } : {}) });
    },
  };
}

export const tokenRequest = z.strictObject({ token: z.string().min(1).max(200).describe("As the link carries it.") });

function confirmEndpoint(needs: EnterNeeds, sameOrigin: RequestHandler): Endpoint {
  return {
    method: "post",
    path: "/api/account/sign-in/email/confirm",
    id: "confirmSignInLink",
    tag: "Sign-in",
    summary: "Exchange the token of such a link for a session cookie.",
    description: "A token works once. One that was used or has lapsed is a 401; ask for another link.",
    access: "public",
    before: [sameOrigin],
    body: requestBody(tokenRequest, { token: "<as the link carries it>" }, settingsBody),
    answers: {
      200: jsonAnswer(signedInShape, { signed_in: true }),
      ...refusals(403, 429, 503, { 401: "This link was used already, is too old, or a newer one was sent." }),
    },
    handler: async (request, response) => {
      const { token } = parse(tokenRequest, request.body ?? {}, "bad_request");
      await enterByLink(needs, request, response, token);
      response.json({ signed_in: true });
    },
  };
}

const oidcRequest = z.strictObject({ next: nextPath.default("/").describe("Where to go on to, signed in.") });

function oidcEndpoint(needs: EnterNeeds, sameOrigin: RequestHandler): Endpoint {
  return {
    method: "post",
    path: "/api/account/sign-in/oidc",
    id: "startSingleSignOn",
    tag: "Sign-in",
    summary: "Begin to sign in at the OpenID Connect provider.",
    description: "Answers the provider's address, for the browser to go to. A service without a provider answers 404.",
    access: "public",
    before: [sameOrigin],
    body: requestBody(oidcRequest, { next: "/explore" }, settingsBody),
    answers: {
      200: jsonAnswer(providerShape, { url: "https://id.example/authorize?client_id=agents" }),
      ...refusals(403, 429, 503, { 404: "There is no single sign-on here." }),
    },
    handler: async (request, response) => {
      const { next } = parse(oidcRequest, request.body ?? {}, "bad_request");
      response.json({ url: await enterAtProvider(needs, request, response, next) });
    },
  };
}

function oidcCallbackEndpoint({ signIn, db }: EnterNeeds): Endpoint {
  return {
    method: "get",
    path: oidcCallbackPath,
    id: "finishSingleSignOn",
    tag: "Sign-in",
    summary: "Where the provider sends people back to, who are then signed in and go on.",
    description: "For the browser alone: the provider puts into the query what proves who signed in there.",
    access: "public",
    answers: {
      303: {
        content: ["text/plain", "text/html"],
        example: `See Other. Redirecting to ${exampleUrl}/explore`,
        headers: { Location: z.string().describe(`Where to go on to, such as ${exampleUrl}/explore.`) },
      },
      ...refusals(429, 503, {
        401: "Single sign-on did not work (state_mismatch). The provider has to vouch for your e-mail address; begin again.",
        404: "There is no single sign-on here.",
      }),
    },
    handler: async (request, response) => {
      await admitFrom(db, request);
      response.redirect(303, await signIn.singleSignOn.finish(request, response));
    },
  };
}

const signOutRequest = z.strictObject({ everywhere: z.boolean().default(false) });

function signOutEndpoint({ signIn }: EnterNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/sign-out",
    id: "signOut",
    tag: "Sign-in",
    summary: "End the session, or all sessions of the person.",
    description: "With `everywhere` every session of the person ends, on every device.",
    access: "session",
    body: requestBody(signOutRequest, { everywhere: true }, settingsBody),
    answers: { 200: jsonAnswer(signedInShape, { signed_in: false }) },
    handler: async (request, response) => {
      const { everywhere } = parse(signOutRequest, request.body ?? {}, "bad_request");
      await signIn.sessions.close(request, response, sessionOf(response), everywhere);
      response.json({ signed_in: false });
    },
  };
}
