/**
 * What a reason of /verify, /settle or a failed payment means, in the words of a person who reads it. docs/payment-rules.md has the
 * rules.
 */
export interface ReasonMeaning {
  readonly code: string;
  readonly means: string;
  readonly remedy: string;
}

/** Remedies. They name who must act: mostly the payer's client or the resource server. */
const again = "Have the client make a new payment from the newest quote.";
const server = "Correct the resource server's payment requirements.";
const library = "Send the payload as the client library made it.";
/** Useless once the payment has expired. */
export const sameAgain = "Post the same payment again.";

type Row = readonly [code: string, means: string, remedy: string];

const bothSchemes: readonly Row[] = [
  [
    "accepted_payment_requirements_mismatch",
    "The payer accepted other terms than the resource server states",
    "Pay the newest quote.",
  ],
  ["already_settled", "It has been settled before", "Nothing: the answer says in which transaction."],
  ["amount_below_minimum", "The amount is below the network's minimum", "Raise the price."],
  ["invalid_amount", "The amount is no positive whole number of base units", "Correct the price."],
  ["invalid_asset", "The asset is not settled here", "Take an asset that the message names."],
  ["invalid_network", "The network is not served here", "Take a network from GET /supported."],
  ["invalid_payload", "The payload cannot be read", library],
  ["invalid_payment_requirements", "The requirements contradict themselves or name no valid payee", server],
  ["invalid_transaction_state", "Its transaction reverted, or another payment has its id or nonce", again],
  ["invalid_x402_version", "The protocol version is not 1 or 2, or two different ones are named", "Use one version."],
  ["pay_to_not_allowed", "The payer is the payee", "Pay from another account than the one that is paid."],
  [
    "rate_limited",
    "This payer or payee settles too often, or too many of the payer's payments failed",
    "Wait: the message says which limit it was.",
  ],
  ["settlement_pending", "Its end is not known yet", "Post the same payment again. Do not pay anew."],
  ["transaction_failed", "The transfer failed on the chain", again],
  ["unexpected_settle_error", "It could not be judged: the chain or the database did not answer", sameAgain],
  ["unexpected_verify_error", "It could not be judged: the chain or the database did not answer", "Ask again."],
  ["unsupported_scheme", "The scheme is not settled on this network here", "Take a scheme from GET /supported."],
];

const evm: readonly Row[] = [
  ["asset_not_deployed_contract", "There is no contract at the asset's address", "Take the USDC of the network."],
  ["eip6492_factory_not_allowed", "The payer's wallet is not deployed yet", "Deploy the wallet, or pay from another."],
  ["invalid_exact_evm_authorization_value", "The authorization is over another amount", again],
  [
    "invalid_exact_evm_eip3009_not_supported",
    "The token knows no transferWithAuthorization",
    "Take the USDC of the network.",
  ],
  [
    "invalid_exact_evm_insufficient_balance",
    "The payer had too little of the asset",
    "Fund the payer's account and pay anew.",
  ],
  [
    "invalid_exact_evm_missing_eip712_domain",
    "The requirements lack the token's EIP-712 name or version",
    "Set extra.name and extra.version.",
  ],
  ["invalid_exact_evm_network_mismatch", "The payer accepted another network", again],
  ["invalid_exact_evm_nonce_already_used", "The authorization's nonce has been used", again],
  [
    "invalid_exact_evm_payload_authorization_valid_after",
    "The authorization is not valid yet",
    "Set the client's clock, or wait.",
  ],
  [
    "invalid_exact_evm_payload_authorization_valid_before",
    "It arrived after it had expired, or a moment before",
    "Raise maxTimeoutSeconds, and pay anew.",
  ],
  ["invalid_exact_evm_payload_authorization_value_mismatch", "The authorization is over another amount", again],
  ["invalid_exact_evm_recipient_mismatch", "The authorization pays another account", again],
  ["invalid_exact_evm_scheme", "The payer accepted another scheme", again],
  [
    "invalid_exact_evm_signature",
    "The signature does not fit",
    "Sign with the payer's own key, over the token's own EIP-712 domain.",
  ],
  [
    "invalid_exact_evm_token_name_mismatch",
    "extra.name is not the token's EIP-712 name",
    "Set extra.name as the token has it.",
  ],
  [
    "invalid_exact_evm_token_version_mismatch",
    "extra.version is not the token's EIP-712 version",
    "Set extra.version as the token has it.",
  ],
  ["invalid_exact_evm_transaction_failed", "The transaction was not taken, or displaced by another", again],
  [
    "invalid_exact_evm_transaction_simulation_failed",
    "The transfer would fail on the chain",
    "Look whether the token is paused or an account is blocked.",
  ],
  [
    "invalid_exact_evm_transfer_event_mismatch",
    "The transaction moved something else than was agreed",
    "Look the transaction up in the explorer.",
  ],
  ["unsupported_payload_type", "The transfer method is not EIP-3009", "Let the client pay by EIP-3009."],
];

const hedera: readonly Row[] = [
  ["amount_mismatch", "The payee would not receive exactly the amount", again],
  ["asset_mismatch", "It moves another asset", again],
  ["asset_sum_non_zero", "Its token transfers do not sum to zero", library],
  ["contains_non_transfer_ops", "It does something else than a transfer", library],
  ["extra_positive_transfers", "Another account than the payee would receive something", again],
  ["fee_payer_mismatch", "Its fee would be paid by another account", again],
  ["fee_payer_transferring_funds", "It would take tokens from a fee payer", again],
  ["fee_payer_transferring_hbar", "It would take HBAR from a fee payer", again],
  ["hbar_sum_non_zero", "Its HBAR transfers do not sum to zero", library],
  ["invalid_node_account", "It names a node that does not exist, or one twice", library],
  ["max_fee", "Its maximum fee is less than the network charges", "Let the client set a higher maximum fee."],
  ["max_fee_exceeded", "Its maximum fee is above what a fee payer pays", "Let the client set a lower maximum fee."],
  ["missing_fee_payer", "The requirements name no fee payer", "Set extra.feePayer as GET /supported says."],
  ["pay_to", "The payee is no account id", server],
  ["pay_to_alias_not_allowed", "The payee is an alias or an EVM address", "Name the payee as 0.0.n."],
  [
    "preflight_failed",
    "The accounts could not make this transfer",
    "Read the message: a balance, an association or a frozen account.",
  ],
  ["signature_invalid", "The payer's key did not sign it", "Sign with the payer's present key."],
  ["transaction_could_not_be_decoded", "It is no transaction that can be read", library],
  [
    "transaction_expired",
    "It arrived too late, too early, or is valid for too long",
    "Set the client's clock and pay anew.",
  ],
  ["transaction_invalid_shape", "Its form is not the plain one", library],
  ["unexpected_hbar_transfers", "It moves HBAR beside the token", again],
];

const hederaOnly: readonly Row[] = [
  [
    "fee_payer_not_managed_by_facilitator",
    "The fee payer is none of this facilitator's",
    "Take extra.feePayer from GET /supported.",
  ],
  [
    "invalid_exact_hedera_unsupported_asset_transfer_method",
    "The transfer method is not cryptoTransfer",
    "Let the client pay by cryptoTransfer.",
  ],
  ["network_mismatch", "The payer accepted another network", again],
];

/** By chapter of the rules. */
export const reasonChapters: ReadonlyArray<{ readonly title: string; readonly reasons: readonly ReasonMeaning[] }> = [
  { title: "Both schemes", reasons: bothSchemes.map(meaningOf) },
  { title: "exact on EVM chains", reasons: evm.map(meaningOf) },
  {
    title: "exact on Hedera",
    reasons: [
      ...hederaOnly.map(meaningOf),
      ...hedera.map(([code, ...rest]) => meaningOf([`invalid_exact_hedera_payload_${code}`, ...rest])),
    ],
  },
];

const byCode = new Map(reasonChapters.flatMap(({ reasons }) => reasons).map((reason) => [reason.code, reason]));

/** A reason of an older version has no meaning here. */
export function reasonMeaning(code: string): ReasonMeaning | undefined {
  return byCode.get(code);
}

/** Of a payment that was sent: by then a chain of this family has one word for it. */
export function failureMeaning(code: string, family: "evm" | "hedera"): ReasonMeaning | undefined {
  const meaning = reasonMeaning(code);
  if (!meaning || code !== idUsed) return meaning;
  return {
    ...meaning,
    means: family === "evm" ? "Its transaction was mined and reverted" : "Another payment has its id",
  };
}

/** Beside this, on EVM chains, that a transaction reverted: the reference implementation has one code for both. */
export const idUsed = "invalid_transaction_state";

function meaningOf([code, means, remedy]: Row): ReasonMeaning {
  return { code, means, remedy };
}
