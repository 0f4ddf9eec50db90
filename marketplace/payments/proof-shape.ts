import { paymentHeaders } from "../../shared/x402.ts";

/**
 * The form of a payment, for a program that sent one which cannot be read: the header, its JSON, and its `payload` on each of the
 * networks that were quoted.
 */
export function proofShape(networks: readonly string[]): object {
  const namespaces = Object.entries(payloads).filter(([namespace]) =>
    networks.some((network) => network.startsWith(`${namespace}:`)),
  );
  return {
    header: paymentHeaders.payloadV2,
    encoding: "base64 of this JSON, on one line",
    json: {
      x402Version: 2,
      resource: `\`resource\` of the ${paymentHeaders.requiredV2} header's JSON, whole`,
      accepted: "one entry of `accepts` of the same, whole, with its `extra.quoteId`",
      payload: "as `payload` shows it for the network of that entry",
    },
    payload: Object.fromEntries(namespaces.map(([namespace, payload]) => [`${namespace}:*`, payload])),
  };
}

const payloads = {
  eip155: {
    signature:
      "0x and 65 bytes in hex: EIP-712 over TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter," +
      "uint256 validBefore,bytes32 nonce) in the domain {name: extra.name, version: extra.version, chainId, verifyingContract: asset}",
    authorization: {
      from: "the payer's address",
      to: "`payTo` of the entry",
      value: "`amount` of the entry, as text",
      validAfter: "0, as text",
      validBefore: "Unix seconds as text: now and `maxTimeoutSeconds` of the entry",
      nonce: "0x and 32 random bytes in hex",
    },
  },
  hedera: {
    transaction:
      "base64 of the bytes of a frozen TransferTransaction that the payer has signed: `amount` of the token `asset` from the payer to " +
      "`payTo` and nothing else; transaction id of the account `extra.feePayer`, valid for `maxTimeoutSeconds`",
  },
} as const;

/** Why a payment's `payload` cannot be told from others: the first part that is missing or has another form. */
export function payloadProblem(network: string, payload: unknown): string {
  const given = (typeof payload === "object" && payload !== null ? payload : {}) as Record<string, unknown>;
  if (!network.startsWith("eip155:")) {
    return "payload.transaction must be base64 of a signed, frozen TransferTransaction, as an SDK's toBytes() gives it.";
  }
  const { authorization } = given;
  if (typeof authorization !== "object" || authorization === null) return "payload.authorization must be an object.";
  const fields = authorization as Record<string, unknown>;
  const wrong = identifyingFields.find(({ name, form }) => {
    const value = fields[name];
    return typeof value !== "string" || !form.test(value);
  });
  return `payload.authorization.${wrong?.name ?? "from"} must be ${wrong?.is ?? "a text"}.`;
}

const identifyingFields = [
  { name: "from", form: /^0x[0-9a-fA-F]{40}$/, is: "an address: 0x and 40 hex digits" },
  { name: "nonce", form: /^0x[0-9a-fA-F]{64}$/, is: "32 bytes: 0x and 64 hex digits" },
  { name: "validBefore", form: /^\d{1,78}$/, is: "Unix seconds, as a text of digits" },
] as const;
