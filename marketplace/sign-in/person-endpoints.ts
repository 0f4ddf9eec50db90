import { z } from "zod";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Config } from "../config.ts";
import { freshMinutes } from "../fresh-session.ts";
import { settingsBody } from "../http/body-limits.ts";
import { sessionOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { moment } from "../http/shapes.ts";
import { parse } from "../parse.ts";
import { endOtherSessions, endSession, listSessions } from "./own-sessions.ts";
import type { SignIn } from "./sign-in.ts";
import { listWaysIn, passkeyNameMax, removeWayIn, renamePasskey } from "./ways-in.ts";

interface Needs {
  readonly db: Database;
  readonly signIn: SignIn;
  readonly config: Pick<Config, "publicUrl">;
}

/** How a person signs in, and where they are signed in. */
export function personEndpoints(needs: Needs): Endpoint[] {
  return [
    sessionsEndpoint(needs),
    endOthersEndpoint(needs),
    endSessionEndpoint(needs),
    waysEndpoint(needs),
    renamePasskeyEndpoint(needs),
    removeWayEndpoint(needs),
  ];
}

const sessionShape = z
  .object({
    id: z.string(),
    device: z.string().nullable().describe("As the browser names itself."),
    from: z.string().nullable().describe("The network that was signed in from; whole addresses are not kept."),
    is_this: z.boolean(),
    created_at: moment,
    seen_at: moment.describe("To the day."),
  })
  .meta({ id: "SignedInSession" });
const endedShape = z.object({ ended: z.int() }).meta({ id: "EndedSessions" });
const exampleId = "kq3v5w7x9z1b3d5f7h9j1k3m5n7p9r1t";
const example = {
  id: exampleId,
  device: "Firefox on Linux",
  from: "203.0.113.x",
  is_this: true,
  created_at: exampleTime,
  seen_at: exampleTime,
};
const idPath = (list: string) => ({ id: z.string().describe(`As the list of ${list} names it.`) });

function sessionsEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/account/sessions",
    id: "listSessions",
    tag: "Sign-in",
    summary: "Where the person is signed in.",
    description: "At most 100, this session first. Of the address that one signs in from, its network is kept.",
    access: "session",
    answers: {
      200: jsonAnswer(z.object({ sessions: z.array(sessionShape) }).meta({ id: "Sessions" }), { sessions: [example] }),
    },
    handler: async (_request, response) => {
      response.json({ sessions: await listSessions(db, sessionOf(response)) });
    },
  };
}

function endOthersEndpoint({ db }: Needs): Endpoint {
  return {
    method: "delete",
    path: "/api/account/sessions",
    id: "endOtherSessions",
    tag: "Sign-in",
    summary: "Sign out everywhere else.",
    description: "This session stays. Answers how many ended.",
    access: "session",
    answers: { 200: jsonAnswer(endedShape, { ended: 2 }) },
    handler: async (_request, response) => {
      response.json({ ended: await endOtherSessions(db, sessionOf(response)) });
    },
  };
}

function endSessionEndpoint({ db }: Needs): Endpoint {
  return {
    method: "delete",
    path: "/api/account/sessions/{id}",
    id: "endSession",
    tag: "Sign-in",
    summary: "Sign out on another device, at once.",
    description: "The session that asks is a 409: it signs out by itself.",
    access: "session",
    pathParameters: idPath("sessions"),
    answers: {
      200: jsonAnswer(endedShape, { ended: 1 }),
      ...refusals({ 404: "There is no such session.", 409: "This is the session you are in: sign out instead." }),
    },
    handler: async (request, response) => {
      await endSession(db, sessionOf(response), String(request.params.id).replaceAll("\0", ""));
      response.json({ ended: 1 });
    },
  };
}

const wayShape = z
  .object({
    id: z.string(),
    kind: z.enum(["email", "provider", "passkey"]),
    name: z.string(),
    created_at: moment,
    used_at: moment.nullable().describe("When a passkey signed in last."),
    works: z.boolean().describe("Whether it is set up here."),
    can_go: z.boolean().describe("The e-mail address and the last way in stay."),
  })
  .meta({ id: "WayIn" });

function waysEndpoint({ db, signIn }: Needs): Endpoint {
  const way = {
    id: "email",
    kind: "email",
    name: "ada@example.com",
    created_at: exampleTime,
    used_at: null,
    works: true,
    can_go: false,
  } as const;
  return {
    method: "get",
    path: "/api/account/ways-in",
    id: "listSignInMethods",
    tag: "Sign-in",
    summary: "The ways in which the person signs in.",
    description: "Links to an e-mail address, a provider that vouched for it, once they signed in there, and passkeys.",
    access: "account",
    answers: { 200: jsonAnswer(z.object({ ways: z.array(wayShape) }).meta({ id: "WaysIn" }), { ways: [way] }) },
    handler: async (_request, response) => {
      response.json({ ways: await listWaysIn(db, signIn.ways, sessionOf(response)) });
    },
  };
}

const nameBody = z.object({ name: z.string().max(200) });

function renamePasskeyEndpoint({ db }: Needs): Endpoint {
  return {
    method: "patch",
    path: "/api/account/ways-in/{id}",
    id: "renamePasskey",
    tag: "Sign-in",
    summary: "Call a passkey otherwise.",
    description: `Only its holder sees the name: 1 to ${passkeyNameMax} characters.`,
    access: "account",
    pathParameters: idPath("ways"),
    body: requestBody(nameBody, { name: "Blue key on my ring" }, settingsBody),
    answers: {
      200: jsonAnswer(z.object({ id: z.string(), renamed: z.literal(true) }).meta({ id: "RenamedPasskey" }), {
        id: exampleId,
        renamed: true,
      }),
      ...refusals({
        404: "There is no such passkey.",
        422: { error: `"name" must have 1 to ${passkeyNameMax} characters.`, field: "name" },
      }),
    },
    handler: async (request, response) => {
      const id = String(request.params.id).replaceAll("\0", "");
      const { name } = parse(nameBody, request.body ?? {}, "bad_request");
      await renamePasskey(db, sessionOf(response), id, name);
      response.json({ id, renamed: true });
    },
  };
}

function removeWayEndpoint({ db, signIn, config }: Needs): Endpoint {
  return {
    method: "delete",
    path: "/api/account/ways-in/{id}",
    id: "removeSignInMethod",
    tag: "Sign-in",
    summary: "Forget a provider or a passkey.",
    description: `Who signs in at the provider with the same e-mail address adds it again. The last way in is a 409. For a passkey a person has to have signed in within ${freshMinutes} minutes.`,
    access: "account",
    pathParameters: idPath("ways"),
    answers: {
      200: jsonAnswer(z.object({ id: z.string(), removed: z.literal(true) }).meta({ id: "RemovedWayIn" }), {
        id: exampleId,
        removed: true,
      }),
      ...refusals({ 404: "There is no such way to sign in.", 409: "The e-mail address stays." }),
    },
    handler: async (request, response) => {
      const id = String(request.params.id).replaceAll("\0", "");
      await removeWayIn({ db, ways: signIn.ways, publicUrl: config.publicUrl }, sessionOf(response), id);
      response.json({ id, removed: true });
    },
  };
}
