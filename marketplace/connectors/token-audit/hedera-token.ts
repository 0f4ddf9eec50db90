import { type Mirror, type MirrorKey, type MirrorToken, unitsOf } from "../hedera/mirror.ts";
import { ConnectorError } from "../result.ts";
import { type Finding, finding, graded } from "./findings.ts";

/** What the keys, the fees and the distribution of an HTS token allow its issuer to do. */
export async function auditHederaToken(mirror: Mirror, id: string): Promise<object> {
  const token = await mirror.token(id);
  if (!token) throw new ConnectorError("There is no such token on the chain.");
  const held = await mirror.holding(token.treasury_account_id, id);
  const supply = BigInt(token.total_supply);
  const share = supply > 0n ? Number((unitsOf(held?.balance ?? 0) * 10_000n) / supply) / 10_000 : 0;
  const keys = {
    admin: kindOf(token.admin_key),
    supply: kindOf(token.supply_key),
    wipe: kindOf(token.wipe_key),
    freeze: kindOf(token.freeze_key),
    kyc: kindOf(token.kyc_key),
    pause: kindOf(token.pause_key),
    fee_schedule: kindOf(token.fee_schedule_key),
    metadata: kindOf(token.metadata_key ?? null),
  };
  const { fixed_fees: fixed = [], fractional_fees: fractional = [], royalty_fees: royalty = [] } = token.custom_fees;
  const { score, findings } = graded(findingsOf(token, share));
  return {
    token: { id, name: token.name, symbol: token.symbol, decimals: Number(token.decimals), type: token.type },
    supply: { type: token.supply_type, total: token.total_supply, max: token.max_supply },
    keys,
    custom_fees: {
      fixed: fixed.map((fee) => ({ amount: String(fee.amount), token: fee.denominating_token_id ?? "hbar" })),
      fractional: fractional.map(({ amount, net_of_transfers: net }) => ({
        rate: amount.numerator / amount.denominator,
        paid_by: net ? "sender" : "receiver",
      })),
      royalty: royalty.length,
    },
    treasury: { account: token.treasury_account_id, share },
    paused: token.pause_status === "PAUSED",
    deleted: token.deleted,
    freeze_default: token.freeze_default,
    score,
    findings,
  };
}

function findingsOf(token: MirrorToken, treasuryShare: number): Finding[] {
  const { fixed_fees: fixed = [], fractional_fees: fractional = [], royalty_fees: royalty = [] } = token.custom_fees;
  const rate = fractional.reduce((sum, { amount }) => sum + amount.numerator / amount.denominator, 0);
  const found: Array<Finding | false> = [
    token.deleted && finding("critical", "deleted", "The token has been deleted."),
    token.pause_status === "PAUSED" && finding("high", "paused", "All transfers are paused."),
    isSet(token.wipe_key) && finding("high", "wipe_key", "A wipe key can take tokens out of any account."),
    isSet(token.freeze_key) && finding("medium", "freeze_key", "A freeze key can stop single accounts."),
    token.freeze_default && finding("medium", "freeze_default", "New holders are frozen until they are let go."),
    isSet(token.kyc_key) && finding("low", "kyc_key", "Holders need a grant of the KYC key."),
    isSet(token.pause_key) && finding("medium", "pause_key", "A pause key can stop all transfers."),
    isSet(token.admin_key) &&
      finding("medium", "admin_key", "An admin key can change the token's other keys or delete it."),
    isSet(token.fee_schedule_key) && finding("medium", "fee_schedule_key", "A key can change the fees on transfers."),
    isSet(token.supply_key) &&
      (token.supply_type === "INFINITE"
        ? finding("high", "unlimited_supply", "A supply key can mint without limit.")
        : finding("low", "supply_key", `A supply key can mint up to ${token.max_supply}.`)),
    fixed.length > 0 && finding("medium", "fixed_fee", "Transfers cost a fixed fee."),
    fractional.length > 0 &&
      finding(
        rate > 0.1 ? "high" : "medium",
        "fractional_fee",
        `Transfers lose ${(rate * 100).toFixed(2)} % to a fee.`,
      ),
    royalty.length > 0 && finding("low", "royalty_fee", "Sales pay a royalty."),
    treasuryShare > 0.5 &&
      finding("low", "treasury_share", `The treasury holds ${(treasuryShare * 100).toFixed(1)} % of the supply.`),
  ];
  return found.filter((one) => one !== false);
}

/** A key that no signature satisfies is no key: the empty list, as an immutable token has it. */
function isSet(key: MirrorKey | null): boolean {
  return key !== null && !(key._type === "ProtobufEncoded" && key.key === "3200");
}

function kindOf(key: MirrorKey | null): string | null {
  if (!isSet(key)) return null;
  return key?._type === "ProtobufEncoded" ? "several" : (key?._type.toLowerCase() ?? null);
}
