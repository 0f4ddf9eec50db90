import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Faucet, FaucetError } from "./faucet.ts";
import { type Faults, faultCounters, faultLevels } from "./faults.ts";
import { type HttpServer, listenOnLoopback } from "./loopback.ts";

/** The control server, over loopback HTTP: faults and faucet. `GET /` says what there is. */
export function startAdmin(faults: Faults, faucet: Faucet, nodes: string[], port: number): Promise<HttpServer> {
  const needs: AdminNeeds = { faults, faucet, nodes };
  const server = createServer((request, response) => {
    answer(needs, request).then(
      (body) => send(response, 200, body),
      (error) => {
        if (error instanceof BadRequestError) send(response, error.status, { error: error.message });
        else if (error instanceof FaucetError) send(response, 400, { error: error.message });
        else send(response, 500, { error: String(error) });
      },
    );
  });
  return listenOnLoopback(server, port);
}

const answer = async (needs: AdminNeeds, request: IncomingMessage): Promise<object> => {
  refuseBrowsers(request);
  const { pathname } = new URL(request.url ?? "/", "http://admin");
  switch (`${request.method} ${pathname}`) {
    case "GET /":
      return helpText;
    case "GET /faults":
      return needs.faults.current();
    case "DELETE /faults":
      needs.faults.clear();
      return needs.faults.current();
    case "POST /faults":
      return setFaults(needs, await readFields(request));
    case "POST /accounts":
      return createAccount(needs, await readFields(request));
    case "POST /faucet":
      return give(needs, await readFields(request));
    default:
      throw new BadRequestError(`${request.method} ${pathname}: not here; GET / lists what there is`, 404);
  }
};

const setFaults = ({ faults, nodes }: AdminNeeds, fields: Fields): object => {
  const { node, ...values } = fields;
  if (node !== undefined && !nodes.includes(node as string)) {
    throw new BadRequestError(`node: must be one of ${nodes.join(", ")}`);
  }
  for (const [name, value] of Object.entries(values)) {
    if (!(name in faultCounters) && !(name in faultLevels))
      throw new BadRequestError(`${name}: no such switch; GET / lists them`);
    if (!Number.isSafeInteger(value) || ((value as number) < 0 && name !== "clockOffsetMs")) {
      throw new BadRequestError(`${name}: must be a whole number, 0 or more`);
    }
  }
  faults.set(values as Record<string, number>, node as string | undefined);
  return faults.current();
};

const createAccount = ({ faucet }: AdminNeeds, fields: Fields): object => {
  onlyKnown(fields, ["publicKey", "hbar", "associate", "maxAutoAssociations", "receiverSignatureRequired"]);
  const { publicKey, hbar, associate, maxAutoAssociations, receiverSignatureRequired } = fields;
  if (typeof publicKey !== "string") throw new BadRequestError("publicKey: must be a text, the key in hex");
  if (associate !== undefined && !(Array.isArray(associate) && associate.every((id) => typeof id === "string"))) {
    throw new BadRequestError("associate: must be a list of token ids");
  }
  if (maxAutoAssociations !== undefined && !Number.isInteger(maxAutoAssociations)) {
    throw new BadRequestError("maxAutoAssociations: must be a whole number; -1 = unlimited");
  }
  return faucet.createAccount({
    publicKey,
    tinybars: hbar === undefined ? 0n : decimal("hbar", hbar, 8),
    associate: (associate ?? []) as string[],
    maxAutoAssociations: (maxAutoAssociations ?? 0) as number,
    receiverSignatureRequired: receiverSignatureRequired === true,
  });
};

const give = ({ faucet }: AdminNeeds, fields: Fields): object => {
  onlyKnown(fields, ["account", "hbar", "token", "amount", "associate"]);
  const { account, hbar, token, amount, associate } = fields;
  if (typeof account !== "string") throw new BadRequestError("account: must be an account id such as 0.0.1003");
  if (token !== undefined && typeof token !== "string") throw new BadRequestError("token: must be a token id");
  if (hbar === undefined && amount === undefined)
    throw new BadRequestError("hbar or amount: one of them must be given");
  faucet.give(account, {
    ...(hbar !== undefined && { tinybars: decimal("hbar", hbar, 8) }),
    ...(amount !== undefined && { units: decimal("amount", amount, 0) }),
    ...(token !== undefined && { token }),
    associate: associate === true,
  });
  return { account };
};

/** Reads `1.5` or 1.5 as whole units of 10^-decimals. */
const decimal = (name: string, value: unknown, decimals: number): bigint => {
  const [, whole, fraction = ""] = /^(\d{1,15})(?:\.(\d+))?$/.exec(String(value)) ?? [];
  if (whole === undefined || fraction.length > decimals) {
    throw new BadRequestError(
      `${name}: must be a number, 0 or more${decimals ? `, with at most ${decimals} decimals` : ", whole"}`,
    );
  }
  return BigInt(whole + fraction.padEnd(decimals, "0"));
};

/** A web page open on this machine can reach loopback too, but not with this header and this content type. */
const refuseBrowsers = ({ headers, method }: IncomingMessage): void => {
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? ""))
    throw new BadRequestError("host: must be 127.0.0.1", 403);
  if (method === "POST" && !headers["content-type"]?.startsWith("application/json")) {
    throw new BadRequestError("content-type: must be application/json", 415);
  }
  if (headers.origin !== undefined) throw new BadRequestError("origin: no web page may use this", 403);
};

const readFields = async (request: IncomingMessage): Promise<Fields> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > bodyBytesMax) throw new BadRequestError(`body: at most ${bodyBytesMax} bytes`, 413);
    chunks.push(chunk as Buffer);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    if (body !== null && typeof body === "object" && !Array.isArray(body)) return body as Fields;
  } catch {
    // Falls through to the one answer for everything that is no JSON object.
  }
  throw new BadRequestError("body: must be a JSON object");
};

const onlyKnown = (fields: Fields, known: string[]): void => {
  const unknown = Object.keys(fields).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new BadRequestError(`${unknown.join(", ")}: not known; known are ${known.join(", ")}`);
};

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(body, null, 2));
};

class BadRequestError extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

const helpText = {
  "GET /faults": "what is set now",
  "POST /faults": {
    "counters, used up one call at a time; node: 0.0.3 limits them to one node": faultCounters,
    "levels, for the whole chain": faultLevels,
  },
  "DELETE /faults": "counters off, levels as at the start",
  "POST /accounts":
    "{publicKey, hbar?, associate?: [token], maxAutoAssociations?, receiverSignatureRequired?} → {accountId}",
  "POST /faucet": "{account, hbar?, amount?, token?, associate?}: HBAR, and whole units of a token (USDC unless named)",
};

const bodyBytesMax = 65_536;

type AdminNeeds = { faults: Faults; faucet: Faucet; nodes: string[] };
type Fields = Record<string, unknown>;
