import { type Refusal, refuse } from "../scheme.ts";
import type { EvmChain } from "./chain.ts";
import { checkWindow } from "./checks.ts";
import type { EvmConfig } from "./config.ts";
import { diagnose, type FindNeeds } from "./diagnose.ts";
import type { EvmFeePayer } from "./fee-payer.ts";
import { leastBusy, openToStrangers } from "./least-busy.ts";
import type { EvmPayment } from "./payload.ts";
import { RpcError } from "./rpc.ts";

/**
 * Rules E4, E5, E7, E8, E10, E11. What the chain says about a payment is read after the request came and never
 * remembered. A node that does not answer is a refusal that says so.
 */
export async function checkOnChain(
  needs: CheckNeeds,
  payment: EvmPayment,
  signed = () => {},
): Promise<Refusal | undefined> {
  const { chain, config, assets, feePayers, fromContracts, noteBalance } = needs;
  const late = checkWindow(payment, new Date());
  if (late) return late;
  try {
    if (!assets.has(payment.asset)) return await refuseAsset(chain, config, payment.asset);
    if (payment.signedByKey) signed();
    const feePayer = leastBusy(openToStrangers(feePayers));
    const sender = { address: feePayer.address, fees: await feePayer.usualFees() };
    // A key's signature is the usual case: whether the payer is a contract is asked together with the simulation.
    const [isContract, simulation] = await Promise.all([
      chain.hasCode(payment.payer),
      payment.signedByKey ? chain.simulate(sender, payment, "key") : undefined,
      noteBalance(payment),
    ]);
    if (isContract) {
      fromContracts.set(payment, feePayer);
      return await checkWallet(needs, sender, payment);
    }
    if (!payment.signedByKey) return refuseSignature(payment);
    return simulation && (await diagnose(needs, payment, simulation));
  } catch (error) {
    if (error instanceof RpcError)
      return refuse("unexpected_verify_error", `The node refused to answer: ${error.message}`);
    return refuse("unexpected_verify_error", "The chain cannot be asked at the moment; try again.");
  }
}

export interface CheckNeeds extends FindNeeds {
  readonly config: EvmConfig;
  /** With checksums. */
  readonly assets: ReadonlySet<string>;
  readonly feePayers: readonly EvmFeePayer[];
  readonly fromContracts: WeakMap<EvmPayment, EvmFeePayer>;
  readonly noteBalance: (payment: EvmPayment) => Promise<void>;
}

type Sender = Parameters<EvmChain["simulate"]>[0];

/** Rule E5. A key's own signature is proof without the chain, also where its account has code. */
export async function checkSignature(chain: EvmChain, payment: EvmPayment): Promise<Refusal | undefined> {
  if (payment.signedByKey) return undefined;
  if (!(await chain.hasCode(payment.payer))) return refuseSignature(payment);
  return (await chain.walletAccepts(payment)) ? undefined : walletRefuses;
}

/** A payer with code (contract wallet, EIP-7702) is asked by ERC-1271 alone; its key's signature means nothing. */
async function checkWallet(needs: CheckNeeds, sender: Sender, payment: EvmPayment): Promise<Refusal | undefined> {
  const { chain } = needs;
  const [accepts, simulation] = await Promise.all([
    chain.walletAccepts(payment),
    chain.simulate(sender, payment, "contract"),
  ]);
  if (!accepts) return walletRefuses;
  return simulation && (await diagnose(needs, payment, simulation));
}

/** ERC-6492 wraps a call to a factory of the payer's choice, which would be made with our account. */
function refuseSignature({ signature }: EvmPayment): Refusal {
  const erc6492Suffix = "6492".repeat(16);
  if (signature.length > 32 && signature.toString("hex", signature.length - 32) === erc6492Suffix) {
    return refuse("eip6492_factory_not_allowed", "Signatures of wallets that are not deployed yet are not accepted.");
  }
  return refuse("invalid_exact_evm_signature", "The signature is not the payer's for this authorization.");
}

const walletRefuses = refuse(
  "invalid_exact_evm_signature",
  "The payer's wallet contract does not accept the signature.",
);

async function refuseAsset(chain: EvmChain, config: EvmConfig, asset: string): Promise<Refusal> {
  const settled = `settled on ${config.network} is ${config.assets.join(", ")}.`;
  if (!(await chain.hasCode(asset))) {
    return refuse("asset_not_deployed_contract", `There is no contract at the asset's address; ${settled}`);
  }
  return refuse("invalid_asset", `This asset is not settled here; ${settled}`);
}
