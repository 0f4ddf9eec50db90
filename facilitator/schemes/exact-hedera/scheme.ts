import { ConfigError } from "../../../shared/env.ts";
import { HederaNodes } from "../../../shared/hedera/nodes.ts";
import type { Log } from "../../../shared/log.ts";
import { v1NameOf } from "../../../shared/networks.ts";
import type { SupportedKind } from "../../../shared/x402.ts";
import { feePayerUpkeep } from "../fee-payer-upkeep.ts";
import { NetworkAwayError, type Scheme, type SchemeNeeds } from "../scheme.ts";
import { AddressBook } from "./address-book.ts";
import { decodePayment } from "./checks.ts";
import type { HederaConfig } from "./config.ts";
import { HederaFeePayers } from "./fee-payers.ts";
import { find } from "./find.ts";
import { Mirror } from "./mirror.ts";
import { type HederaPayment, hbar } from "./payload.ts";
import { Preflight } from "./preflight.ts";
import { invalid } from "./requirements.ts";
import { SentSearch } from "./search-sent.ts";
import { claimAndSubmit, submit } from "./submit.ts";
import { UsualWait } from "./usual-wait.ts";

/** `exact` on one Hedera network: a transfer the payer signed, co-signed, sent and paid for by one of our accounts. */
export function createExactHedera(config: HederaConfig, needs: SchemeNeeds): Scheme<HederaPayment> {
  const mirror = new Mirror(config.mirrorUrl);
  const nodes = new HederaNodes(config.nodes, nodeTimeouts);
  const addressBook = new AddressBook(config, { mirror, nodes, log: needs.log });
  const feePayers = new HederaFeePayers(config, mirror, needs);
  const preflight = new Preflight(config, mirror, nodes);
  const sent = new SentSearch({ mirror, config });
  const known = { underway: new Set<string>(), taken: new Set<string>(), usualWait: new UsualWait() };
  const chain = { ...needs, network: config.network, mirror, nodes, feePayers, preflight, ...known };

  return {
    scheme: "exact",
    network: config.network,
    kinds: kindsOf(config),
    feePayers: feePayers.accounts,
    decode: (request) => decodePayment(request, config, nodes.ids),
    check: (payment, signed) => preflight.check(payment, signed),
    findSettled: (payment) => preflight.findSettled(payment),
    checkSignature: (payment) => preflight.checkSignature(payment),
    balanceOf: (payment) => preflight.balanceOf(payment),
    readBalance: async (payment, transactions) => {
      const shows = await showAll(mirror, transactions);
      return { balance: await preflight.readBalance(payment, shows ? transactions : []), shows };
    },
    insufficient: (message) => invalid("preflight_failed", `insufficient_balance: ${message}`),
    submit: (payment, claim, deadline) => submit(chain, payment, claim, deadline),
    claimAndSubmit: (payment, claiming, deadline) => claimAndSubmit(chain, payment, claiming, deadline),
    find: (unfinished) => find(chain, unfinished),
    findSent: (payment) => sent.find(payment),
    searchSent: (log, stopping) => sent.search(log, feePayers.leased, stopping),
    networkFee: async (transaction) => {
      const records = await mirror.records(transaction);
      return (records.find(({ result }) => result === "SUCCESS") ?? records[0])?.fee;
    },
    balances: (payment) => (payment ? [feePayers.balanceOf(payment.feePayer)] : feePayers.balances),
    // What a transaction may cost is in it, and checked with it.
    feesTooHigh: () => false,
    async start() {
      const problems = await Promise.all([
        feePayers.start(),
        addressBook.start(),
        ...tokenProblems(config, mirror, needs.log),
      ]);
      if (problems.flat().length > 0) throw new ConfigError("facilitator", problems.flat());
    },
    upkeep: [
      ...feePayerUpkeep(feePayers),
      { name: "read the list of nodes", everyMs: addressBookEveryMs, run: () => addressBook.refreshWhenDue() },
    ],
    handOver: () => feePayers.handOver(),
    async stop() {
      await feePayers.handOver().catch(() => {});
      nodes.close();
      await mirror.close();
    },
  };
}

const addressBookEveryMs = 60_000;

/** Sending is short, for the next node may be offered the same transaction at no risk. */
const nodeTimeouts = { connectMs: 1_000, sendMs: 1_000, receiptMs: 2_000 };

/** Every version and name of the network under which it may be asked for. */
function kindsOf({ network, feePayers }: HederaConfig): readonly SupportedKind[] {
  const extra = { feePayer: feePayers[0]?.accountId, assetTransferMethods: ["cryptoTransfer"] };
  const alias = v1NameOf(network);
  const kinds: readonly SupportedKind[] = [
    { x402Version: 2, scheme: "exact", network, extra },
    { x402Version: 1, scheme: "exact", network, extra },
  ];
  return alias === undefined ? kinds : [...kinds, { x402Version: 1, scheme: "exact", network: alias, extra }];
}

/** Asked before the balance, which then has them too: a mirror takes in whole record files. */
async function showAll(mirror: Mirror, transactions: readonly string[]): Promise<boolean> {
  const records = await Promise.all(transactions.map((transaction) => mirror.records(transaction)));
  return records.every((found) => found.length > 0);
}

/** G17 at the start; later, every payment looks again. */
function tokenProblems(config: HederaConfig, mirror: Mirror, log: Log): ReadonlyArray<Promise<readonly string[]>> {
  const tokens = config.assets.filter((asset) => asset !== hbar);
  return tokens.map(async (asset) => {
    try {
      const token = await mirror.token(asset, 0);
      if (!token || token.deleted) return [`${config.network} has no token ${asset}`];
      if (!token.fungible) return [`token ${asset} is not fungible`];
      if (token.customFees) return [`token ${asset} has custom fees, so that a payee would get less than the amount`];
      if (token.paused) log.warn({ asset }, "an asset is paused; payments in it are refused until it is not");
      return [];
    } catch (error) {
      if (error instanceof NetworkAwayError) throw error;
      return [`token ${asset} could not be checked: ${(error as Error).message}`];
    }
  });
}
