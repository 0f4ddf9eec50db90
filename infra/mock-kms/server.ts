import type { KeyObject } from "node:crypto";
import express, { type Request } from "express";
import secp256k1 from "secp256k1";
import { createApp, type Listening, listen } from "../../shared/http.ts";
import { type Credentials, refusalOfSignature, sha256 } from "../signature-v4.ts";

/**
 * A stand-in for AWS KMS that speaks its protocol (JSON 1.1, Signature Version 4) for two operations on secp256k1 keys, and keeps the
 * keys that it was given in memory. It says what it is in `server`. Binds 127.0.0.1; any free port by default.
 */
export async function startMockKms(options: MockKmsOptions): Promise<MockKms> {
  const app = createApp({ trustProxy: false });
  let behaviour: Behaviour = "answer";
  let signed = 0;
  const held: Array<() => void> = [];
  app.post("/", express.text({ type: () => true, limit: "64kb" }), async (request, response) => {
    response.setHeader("server", "mock-kms");
    if (behaviour === "hang") await new Promise<void>((resolve) => held.push(resolve));
    if (behaviour === "fail") return void response.status(500).json({ __type: "KMSInternalException" });
    if (behaviour === "throttle") return void response.status(400).json({ __type: "ThrottlingException" });
    const { status, body } = answer(request, options);
    if (status === 200 && "Signature" in body) signed += 1;
    response.status(status).type("application/x-amz-json-1.1").send(JSON.stringify(body));
  });
  const listening = await listen(app, { host: "127.0.0.1", port: options.port ?? 0 });
  const behave = (next: Behaviour) => {
    behaviour = next;
    if (next !== "hang") for (const go of held.splice(0)) go();
  };
  const stop = () => {
    behave("fail");
    return listening.stop();
  };
  return { ...listening, stop, behave, signatures: () => signed, waiting: () => held.length };
}

type Behaviour = "answer" | "fail" | "throttle" | "hang";

interface MockKmsOptions extends Credentials {
  /** Private keys of 32 bytes by their ids. */
  readonly keys: Readonly<Record<string, Buffer>>;
  /** Public keys of other kinds, which are shown and sign nothing. */
  readonly otherKeys?: Readonly<Record<string, KeyObject>>;
  readonly port?: number;
}

export interface MockKms extends Listening {
  /** `hang`: calls wait until it behaves otherwise. */
  behave(behaviour: Behaviour): void;
  /** How many it has given. */
  signatures(): number;
  /** How many calls it keeps waiting. */
  waiting(): number;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

const refusals = {
  "unknown key": "UnrecognizedClientException",
  incomplete: "IncompleteSignature",
  wrong: "InvalidSignatureException",
} as const;

function answer(request: Request, { keys, otherKeys, ...known }: MockKmsOptions): Answer {
  const text = typeof request.body === "string" ? request.body : "";
  const { method, originalUrl: path, headers } = request;
  const refusal = refusalOfSignature({ method, path, headers, bodyHash: sha256(text) }, "kms", known);
  if (refusal) return refuse(refusals[refusal]);
  const { KeyId, Message, MessageType, SigningAlgorithm } = JSON.parse(text) as Record<string, string>;
  const other = otherKeys?.[KeyId ?? ""];
  if (other && request.header("x-amz-target") === "TrentService.GetPublicKey") {
    return {
      status: 200,
      body: { KeyId, PublicKey: other.export({ type: "spki", format: "der" }).toString("base64") },
    };
  }
  const key = keys[KeyId ?? ""];
  if (!key) return refuse("NotFoundException", `Key '${KeyId}' does not exist`);
  const about = { KeyId, KeySpec: "ECC_SECG_P256K1", KeyUsage: "SIGN_VERIFY" };
  switch (request.header("x-amz-target")) {
    case "TrentService.GetPublicKey": {
      const point = Buffer.from(secp256k1.publicKeyCreate(key, false));
      return { status: 200, body: { ...about, PublicKey: Buffer.concat([spkiPrefix, point]).toString("base64") } };
    }
    case "TrentService.Sign": {
      const digest = Buffer.from(Message ?? "", "base64");
      if (MessageType !== "DIGEST" || SigningAlgorithm !== "ECDSA_SHA_256" || digest.length !== 32) {
        return refuse("ValidationException", "Digest is invalid length for algorithm ECDSA_SHA_256.");
      }
      return { status: 200, body: { KeyId, SigningAlgorithm, Signature: signDer(digest, key).toString("base64") } };
    }
    default:
      return refuse("UnknownOperationException");
  }
}

function refuse(type: string, message = type): Answer {
  return { status: 400, body: { __type: type, message } };
}

/** With s in either half, as the service's are. */
function signDer(digest: Buffer, key: Buffer): Buffer {
  const { signature } = secp256k1.ecdsaSign(digest, key);
  const s = Buffer.from(signature.subarray(32));
  if (((digest[0] ?? 0) & 1) === 1) s.set(Buffer.from(secp256k1.privateKeyNegate(Buffer.from(s))));
  return der([signature.subarray(0, 32), s]);
}

function der(numbers: readonly Uint8Array[]): Buffer {
  const parts = numbers.map((number) => {
    const bytes = Buffer.from(
      number.subarray(
        Math.max(
          0,
          number.findIndex((byte) => byte !== 0),
        ),
      ),
    );
    const positive = ((bytes[0] ?? 0) & 0x80) === 0 ? bytes : Buffer.concat([Buffer.of(0), bytes]);
    return Buffer.concat([Buffer.of(2, positive.length), positive]);
  });
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(0x30, body.length), body]);
}

/** Prefix of a secp256k1 public key; the point follows. */
const spkiPrefix = Buffer.from("3056301006072a8648ce3d020106052b8104000a034200", "hex");
