import type { Request, RequestHandler, Response } from "express";
import { z } from "zod";
import { clientOf } from "../../shared/client-address.ts";
import { type Answers, formBody, jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import { ApiError } from "../../shared/errors.ts";
import { readForm } from "../../shared/page/form-body.ts";
import type { Database } from "../../shared/postgres.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import { smallBody } from "../http/body-limits.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { refusals } from "../http/refusals.ts";
import { parse } from "../parse.ts";
import { isSetUp, type OAuthSetUp } from "./client-tokens.ts";
import { type ClientNeeds, clientMetadata, type OAuthClient, registerClient, registeredDays } from "./clients.ts";
import { clientKeptDays, exchange, giveBack, grantDays, renewalsAnHour } from "./grants.ts";
import { type MetadataNeeds, paths, resourceMetadata, scope, serverMetadata, toolServerPath } from "./metadata.ts";
import { bodyOf, OAuthError } from "./oauth-error.ts";
import { type Asked, beginRequest } from "./requests.ts";
import {
  clientShape,
  exchangeForm,
  oauthErrorShape,
  resourceShape,
  revokeForm,
  serverShape,
  tokensShape,
} from "./shapes.ts";

/** OAuth 2.1 for MCP clients that take no key: a person allows one on a page, within limits. */
export function oauthEndpoints(needs: Needs): Endpoint[] {
  return [
    ...metadataEndpoints(needs),
    registerEndpoint(needs),
    authorizeEndpoint(needs),
    tokenEndpoint(needs),
    revokeEndpoint(needs),
  ];
}

type Needs = ClientNeeds & MetadataNeeds & OAuthSetUp & { readonly db: Database };

const notSetUp = refusals({ 404: "This service has no sign-in." });
const common = { tag: "Tool server", access: "public" } as const;
const example: MetadataNeeds = { config: { publicUrl: "https://agents.example" } };
const exampleClient: OAuthClient = {
  id: "cli_01k8q3v5w7x9z1b3d5f7h9j1k3",
  name: "Paper Desk",
  redirectUris: ["https://client.example/callback"],
};

function metadataEndpoints(needs: Needs): Endpoint[] {
  const resource = (path: string, id: string): Endpoint => ({
    ...common,
    method: "get",
    path,
    id,
    summary: "What the tool server takes besides keys (RFC 9728).",
    description:
      "Answers where MCP clients are allowed to run agents for a person. A service without sign-in answers 404.",
    answers: { 200: jsonAnswer(resourceShape, resourceMetadata(example)), ...notSetUp },
    handler: answerIfSetUp(needs, (_request, response) => void response.json(resourceMetadata(needs))),
  });
  return [
    resource(`/.well-known/oauth-protected-resource${toolServerPath}`, "getToolServerMetadata"),
    resource("/.well-known/oauth-protected-resource", "getResourceMetadata"),
    {
      ...common,
      method: "get",
      path: "/.well-known/oauth-authorization-server",
      id: "getAuthorizationServerMetadata",
      summary: "How clients are allowed to run agents for a person (RFC 8414).",
      description:
        "Answers the addresses of the authorization server, and what it takes: codes with PKCE (S256), clients without secrets.",
      answers: { 200: jsonAnswer(serverShape, serverMetadata(example)), ...notSetUp },
      handler: answerIfSetUp(needs, (_request, response) => void response.json(serverMetadata(needs))),
    },
  ];
}

function registerEndpoint(needs: Needs): Endpoint {
  const { name: client_name, redirectUris } = exampleClient;
  return {
    ...common,
    method: "post",
    path: paths.register,
    id: "registerOAuthClient",
    summary: "Register a client (RFC 7591).",
    description: `It is forgotten after ${registeredDays} days, or ${clientKeptDays} days after it last got tokens; sooner, the oldest first, where there are too many that no person allows anything. It gets an id and no secret.`,
    body: requestBody(clientMetadata, { client_name, redirect_uris: [...redirectUris] }, smallBody),
    answers: {
      201: jsonAnswer(clientShape, registered(exampleClient)),
      ...oauthRefusals,
      400: jsonAnswer(oauthErrorShape, {
        error: "invalid_client_metadata",
        error_description: '"redirect_uris" is required.',
      }),
    },
    handler: answerIfSetUp(needs, async (request, response) => {
      await admit(needs, request, "oauth-register", 10);
      const client = await registerClient(needs.db, readMetadata(request.body), addressOf(request));
      response.status(201).json(registered(client));
    }),
  };
}

const registered = ({ id, name, redirectUris }: OAuthClient): z.input<typeof clientShape> => ({
  client_id: id,
  client_name: name,
  redirect_uris: [...redirectUris],
  token_endpoint_auth_method: "none",
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
});

function readMetadata(body: unknown): z.infer<typeof clientMetadata> {
  try {
    return parse(clientMetadata, body ?? {}, "bad_request");
  } catch (error) {
    if (error instanceof ApiError) throw new OAuthError("invalid_client_metadata", error.message);
    throw error;
  }
}

const authorizeQuery = z.object({
  client_id: z.string().describe("As registered, or the https address of the client's metadata document."),
  redirect_uri: z
    .string()
    .describe("One that the client registered; on the person's own machine (http), with any port."),
  response_type: z.string().describe("`code`."),
  code_challenge: z.string().describe("SHA-256 of the verifier, base64url."),
  code_challenge_method: z.string().describe("`S256`."),
  state: z.string().optional().describe("Comes back with the answer."),
  scope: z.string().optional().describe(`\`${scope}\`, the only one.`),
  resource: z.string().optional().describe("The tool server's address; tokens are for nothing else."),
});

function authorizeEndpoint(needs: Needs): Endpoint {
  return {
    ...common,
    method: "get",
    path: paths.authorize,
    id: "authorizeOAuthClient",
    summary: "Where a client sends a person to be allowed to run agents.",
    description:
      "Leads to the page that asks them. What is wrong with a request is shown here (400): the person is led to the client's address only after answering.",
    query: authorizeQuery,
    answers: {
      303: {
        content: ["text/plain", "text/html"],
        example: "See Other. Redirecting to /consent/req_01k8q3v5w7x9z1b3d5f7h9j1k3",
        headers: { Location: z.string().describe("The page.") },
      },
      ...notSetUp,
      ...refusals(503, { 400: "There is no client with that id; register anew." }),
    },
    handler: answerIfSetUp(needs, async (request, response) => {
      await admit(needs, request, "oauth-authorize", 60);
      try {
        response.redirect(303, `/consent/${await beginRequest(needs, request.query as Asked, addressOf(request))}`);
      } catch (error) {
        if (error instanceof OAuthError) throw new ApiError("bad_request", error.message);
        throw error;
      }
    }),
  };
}

function tokenEndpoint(needs: Needs): Endpoint {
  return {
    ...common,
    method: "post",
    path: paths.token,
    id: "exchangeOAuthCode",
    summary: "Exchange a code, or a refresh token, for tokens.",
    description: `Takes a code, or a refresh token, as its form's \`grant_type\` says. A refresh token is good once: using it again ends all that came of it. A client renews its tokens ${renewalsAnHour} times an hour at most, for ${grantDays} days.`,
    body: formBody(
      exchangeForm,
      { grant_type: "refresh_token", client_id: exampleClient.id, refresh_token: "amr_<token>" },
      smallBody,
    ),
    answers: {
      200: jsonAnswer(tokensShape, {
        access_token: "amt_<token>",
        token_type: "Bearer",
        expires_in: 900,
        refresh_token: "amr_<token>",
        scope,
      }),
      ...oauthRefusals,
    },
    handler: answerIfSetUp(needs, async (request, response) => {
      await admit(needs, request, "oauth-token", 120);
      response.json(await exchange(needs, await readAsked(request)));
    }),
  };
}

function revokeEndpoint(needs: Needs): Endpoint {
  return {
    ...common,
    method: "post",
    path: paths.revoke,
    id: "revokeOAuthToken",
    summary: "Give back what a client was allowed (RFC 7009).",
    description: "Ends the client's access, whichever of its tokens is given back.",
    body: formBody(revokeForm, { token: "amr_<token>", client_id: exampleClient.id }, smallBody),
    answers: { 200: { description: "It is no token, now." }, ...oauthRefusals },
    handler: answerIfSetUp(needs, async (request, response) => {
      await admit(needs, request, "oauth-token", 120);
      await giveBack(needs, await readAsked(request));
      response.status(200).end();
    }),
  };
}

const oauthRefusals: Answers = {
  ...notSetUp,
  ...refusals(408, 413, 503),
  400: jsonAnswer(oauthErrorShape, {
    error: "invalid_grant",
    error_description: "It is unknown, at its end, or was used already.",
  }),
};

/** Parameters that are sent twice are none. */
async function readAsked(request: Request): Promise<Asked> {
  const form = await readForm(request, smallBody.bytesMax);
  return Object.fromEntries(
    [...new Set(form.keys())].map((name) => [name, form.getAll(name).length === 1 ? form.get(name) : null]),
  );
}

async function admit({ db }: Needs, request: Request, what: string, perMinute: number): Promise<void> {
  await admitOrRefuse(db, `${what}:${addressOf(request)}`, perMinute);
}

/** The caller's address, as limits count callers. */
function addressOf({ ip = "unknown" }: Request): string {
  return clientOf(ip);
}

/** Refusals in OAuth's own form. */
function answerIfSetUp(
  needs: Needs,
  answer: (request: Request, response: Response) => void | Promise<void>,
): RequestHandler {
  return async (request, response) => {
    if (!isSetUp(needs)) throw new ApiError("not_found", "This service has no sign-in.");
    try {
      await answer(request, response);
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      response.status(400).json(bodyOf(error));
    }
  };
}
