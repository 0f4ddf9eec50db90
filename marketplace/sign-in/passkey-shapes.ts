import { z } from "zod";

/** base64url, as WebAuthn has it in JSON. */
const base64url = (charactersMax: number) =>
  z
    .string()
    .max(charactersMax)
    .regex(/^[\w-]+={0,2}$/, "must be base64url");

const credential = {
  id: base64url(1_400),
  rawId: base64url(1_400),
  type: z.literal("public-key"),
};

/** What a browser says of a passkey that it made. Extensions and hints are not read. */
export const attestationBody = z.object({
  ...credential,
  clientExtensionResults: noExtensions(),
  response: z.object({
    clientDataJSON: base64url(2_000),
    attestationObject: base64url(8_000),
    transports: z
      .array(z.string().regex(/^[a-z-]{1,20}$/))
      .max(8)
      .optional(),
  }),
});
export type Attestation = z.output<typeof attestationBody>;

/** What a browser signed with one. */
export const assertionBody = z.object({
  ...credential,
  clientExtensionResults: noExtensions(),
  response: z.object({
    clientDataJSON: base64url(2_000),
    authenticatorData: base64url(2_000),
    signature: base64url(2_000),
  }),
});
export type Assertion = z.output<typeof assertionBody>;

function noExtensions() {
  return z.object({}).default({});
}

export const optionsShape = z.object({ challenge: z.string() }).catchall(z.unknown()).meta({
  id: "PasskeyOptions",
  description: "As `PublicKeyCredential.parseRequestOptionsFromJSON` or `parseCreationOptionsFromJSON` reads it.",
});

export const addedPasskeyShape = z.object({ id: z.string(), name: z.string() }).meta({ id: "AddedPasskey" });

const bytes = "kq3v5w7x9z1b3d5f7h9j1k3m5n7p9r1t";
const named = { id: bytes, rawId: bytes, type: "public-key" } as const;
export const exampleAttestation = { ...named, response: { clientDataJSON: bytes, attestationObject: bytes } };
export const exampleAssertion = {
  ...named,
  response: { clientDataJSON: bytes, authenticatorData: bytes, signature: bytes },
};
export const exampleOptions = { challenge: bytes, rpId: "agents.example", userVerification: "required" };
