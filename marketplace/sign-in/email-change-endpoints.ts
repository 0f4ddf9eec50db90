import { z } from "zod";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import { freshMinutes } from "../fresh-session.ts";
import { settingsBody } from "../http/body-limits.ts";
import { sessionOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { refusals } from "../http/refusals.ts";
import { requireSameOrigin } from "../http/same-origin.ts";
import { parse } from "../parse.ts";
import { askForEmail, changeEmail, changeMinutes } from "./email-change.ts";
import { tokenRequest } from "./endpoints.ts";
import { admitFrom, type EnterNeeds, emailRequest } from "./enter.ts";
import { linkSentShape } from "./shapes.ts";

/** Another address for an account: the signed-in person asks for it, and the reader of its e-mails confirms it. */
export function emailChangeEndpoints(needs: EnterNeeds): Endpoint[] {
  return [askEndpoint(needs), confirmEndpoint(needs)];
}

const example = "ada@example.com";

function askEndpoint({ db, signIn, config }: EnterNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/email",
    id: "changeEmail",
    tag: "Sign-in",
    summary: "Send an e-mail to another address, which becomes the account's when its link is followed.",
    description: `Within ${freshMinutes} minutes of signing in. The link holds for ${changeMinutes} minutes while you are signed in here, and the newest alone. The answer is the same for known and unknown addresses.`,
    access: "account",
    body: requestBody(emailRequest, { email: example }, settingsBody),
    answers: {
      202: jsonAnswer(linkSentShape, { sent_to: example, expires_in_seconds: changeMinutes * 60 }),
      ...refusals({
        404: "There is no signing in by e-mail here.",
        422: { error: '"email" is your address already.', field: "email" },
      }),
    },
    handler: async (request, response) => {
      const { email } = parse(emailRequest, request.body ?? {}, "bad_request");
      const needs = { db, signIn, publicUrl: config.publicUrl };
      const asked = { given: email, asker: signIn.links.askerOf(request, email) };
      const link = await askForEmail(needs, sessionOf(response), asked);
      response.status(202).json({ sent_to: email, expires_in_seconds: changeMinutes * 60, ...(link ? { link } : {}) });
    },
  };
}

const changedShape = z.object({ email: z.string() }).meta({ id: "ChangedEmail" });

function confirmEndpoint(needs: EnterNeeds): Endpoint {
  const { db, config } = needs;
  return {
    method: "post",
    path: "/api/account/email/confirm",
    id: "confirmEmail",
    tag: "Sign-in",
    summary: "Follow such a link: the account's address is the new one from now on, and the one before is told.",
    description:
      "From any browser, signed in or not; again, it answers the same. One that is too old, or whose asker was signed out since, is a 401; a suspended account a 403, another account's address a 409. Sessions stay.",
    access: "public",
    before: [requireSameOrigin(needs)],
    body: requestBody(tokenRequest, { token: "<as the link carries it>" }, settingsBody),
    answers: {
      200: jsonAnswer(changedShape, { email: example }),
      ...refusals(403, 429, 503, {
        401: "This link is too old, or a newer one was sent.",
        409: "This address signs in to another account already.",
      }),
    },
    handler: async (request, response) => {
      const { token } = parse(tokenRequest, request.body ?? {}, "bad_request");
      await admitFrom(db, request);
      response.json(await changeEmail(db, config.publicUrl, token));
    },
  };
}
