import { createHash, createSign, generateKeyPairSync, randomBytes } from "node:crypto";

/** What a WebAuthn authenticator and its browser make of a service's options; what they say can be bent. */
export class Authenticator {
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly id = randomBytes(32).toString("base64url");
  #counter = 0;

  /** A passkey that answers the challenge. */
  create({ challenge, rp }: CreationOptions, bent: Bent = {}) {
    const { x = "", y = "" } = this.#keys.publicKey.export({ format: "jwk" });
    const id = Buffer.from(this.id, "base64url");
    // A COSE key (RFC 9053): of an elliptic curve, for ES256, on P-256.
    const key = Buffer.concat([hex("a5010203262001215820"), b64(x), hex("225820"), b64(y)]);
    const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key]);
    const authData = Buffer.concat([this.#data(bent.rpId ?? rp.id, bent.isUnverified ? 0x41 : 0x45), credential]);
    // { fmt: "none", attStmt: {}, authData } in CBOR.
    const attestation = Buffer.concat([
      hex("a363666d74646e6f6e656761747453746d74a0686175746844617461"),
      Buffer.from([0x59, authData.length >> 8, authData.length & 0xff]),
      authData,
    ]);
    return this.#named({
      clientDataJSON: clientData("webauthn.create", challenge, bent),
      attestationObject: attestation.toString("base64url"),
    });
  }

  /** Its signature of the challenge. */
  sign({ challenge, rpId }: RequestOptions, bent: Bent = {}) {
    const clientDataJSON = clientData("webauthn.get", challenge, bent);
    const data = this.#data(bent.rpId ?? rpId, bent.isUnverified ? 0x01 : 0x05);
    const hash = createHash("sha256").update(b64(clientDataJSON)).digest();
    const signature = createSign("sha256").update(data).update(hash).sign(this.#keys.privateKey);
    const response = {
      clientDataJSON,
      authenticatorData: data.toString("base64url"),
      signature: signature.toString("base64url"),
    };
    return this.#named(response, bent.id);
  }

  #named<T>(response: T, id = this.id) {
    return { id, rawId: id, type: "public-key", clientExtensionResults: {}, response };
  }

  #data(rpId: string, flags: number): Buffer {
    this.#counter += 1;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#counter);
    return Buffer.concat([createHash("sha256").update(rpId).digest(), Buffer.from([flags]), counter]);
  }
}

function clientData(type: string, challenge: string, { origin = ownOrigin }: Bent): string {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })).toString("base64url");
}

/** Where the service under test says that it is: a name, as passkeys need one. */
export const ownOrigin = "http://localhost:4020";

const hex = (text: string) => Buffer.from(text, "hex");
const b64 = (text: string) => Buffer.from(text, "base64url");

interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

export interface Bent {
  readonly origin?: string;
  readonly rpId?: string;
  /** Of another's passkey. */
  readonly id?: string;
  /** Its holder was not asked for a PIN, a finger or a face. */
  readonly isUnverified?: boolean;
}
