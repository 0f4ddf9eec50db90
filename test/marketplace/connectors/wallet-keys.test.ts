import { AccountAllowanceApproveTransaction, AccountUpdateTransaction, Hbar, PrivateKey } from "@hashgraph/sdk";
import { expect } from "vitest";
import { addWallet, checkWallet, listWallets, proveWallet } from "../../../marketplace/accounts/account-wallets.ts";
import type { Account } from "../../../marketplace/accounts/create.ts";
import { recheckWallets } from "../../../marketplace/accounts/recheck-wallets.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { ledgerMarketTest } from "../../support/fixtures.ts";
import type { LedgerMarket } from "../../support/ledger-agents.ts";
import { run, seedMarket } from "../../support/marketplace.ts";

const test = ledgerMarketTest();
const network = "hedera:testnet";
const receiver = "0.0.1003";

/** A creator who signed in a moment ago, and an account on the ledger with a key of its own. */
async function newCreator(market: LedgerMarket) {
  const { open, context } = market;
  const { creator, key: buyerKey } = await seedMarket(context);
  const [user, session] = [`usr_${creator.handle}`, `ses_${creator.handle}`];
  await context.db.query(
    "insert into sign_in_users (id, name, email, email_verified, account_id) values ($1, '', $2, true, $3)",
    [user, `${creator.handle}@example.com`, creator.id],
  );
  await context.db.query(
    "insert into sign_in_sessions (id, user_id, token, expires_at) values ($1, $2, $1, now() + interval '1 day')",
    [session, user],
  );
  const key = PrivateKey.generateED25519();
  const publicKey = key.publicKey.toStringRaw();
  const { accountId } = open.ledger.faucet.createAccount({
    publicKey,
    tinybars: 1_000_000_000n,
    associate: [open.ledger.usdc],
  });
  const holder: Parameters<typeof addWallet>[1] = { account: creator, session: { id: session } };
  return { creator, buyerKey, key, accountId, holder };
}

/** As a creator adds a wallet. */
async function prove({ context }: LedgerMarket, { holder, accountId }: Creator, key: PrivateKey): Promise<void> {
  const { id, challenge } = await addWallet(context, holder, { network, address: accountId });
  const signature = Buffer.from(key.sign(Buffer.from(challenge!.message))).toString("hex");
  expect(await proveWallet(context, holder, id, signature)).toMatchObject({ state: "checked" });
}

type Creator = Awaited<ReturnType<typeof newCreator>>;

async function allow({ open }: LedgerMarket, owner: string, key: PrivateKey): Promise<void> {
  const approve = new AccountAllowanceApproveTransaction();
  approve.approveHbarAllowance(owner, open.accounts.operator.accountId, Hbar.fromTinybars(10_000));
  await open.run(approve, key);
}

async function giveKey({ open }: LedgerMarket, accountId: string, before: PrivateKey): Promise<PrivateKey> {
  const after = PrivateKey.generateED25519();
  await open.run(new AccountUpdateTransaction().setAccountId(accountId).setKey(after.publicKey), before, after);
  return after;
}

const publish = (market: LedgerMarket, creator: Account, slug: string) =>
  publishAgent(market.context, creator, slug, {
    name: "Give",
    description: "Gives a little.",
    connector: "hedera-transfer",
    price_credits: 5,
    fields: [],
    settings: { network, asset: "hbar", to: receiver, amount: "100", per_run_max: "100", per_day_max: "1000" },
  });

test("who proved a wallet spends nothing of it once its account has another key, until that one signs", async ({
  market,
}) => {
  const former = await newCreator(market);
  const { accountId, buyerKey } = former;
  await prove(market, former, former.key);
  await allow(market, accountId, former.key);
  const agent = await publish(market, former.creator, "give");
  const give = () => run(market, buyerKey, agent.address, {});
  expect((await give()).body).toMatchObject({ success: true, receipt: { from: accountId } });

  const newKey = await giveKey(market, accountId, former.key);
  const holding = await market.open.hbarBalance(receiver);
  expect(await give()).toMatchObject({ status: 503, body: { charged: false } });
  expect(await market.open.hbarBalance(receiver)).toBe(holding);
  await expect(publish(market, former.creator, "again")).rejects.toThrow("has another key than the one that signed");

  await prove(market, former, newKey);
  expect((await give()).body).toMatchObject({ success: true });
});

test("a wallet whose key was never noted must keep the one that it has when it is looked at next", async ({
  market,
}) => {
  const creator = await newCreator(market);
  const { accountId, key, buyerKey } = creator;
  await prove(market, creator, key);
  await allow(market, accountId, key);
  const agent = await publish(market, creator.creator, "give");
  const { db } = market.context;
  await db.query("update payout_wallets set proved_key = null, looked_at = null where address = $1", [accountId]);
  await recheckWallets(market.context);
  expect((await run(market, buyerKey, agent.address, {})).body.success).toBe(true);
  await giveKey(market, accountId, key);
  expect(await run(market, buyerKey, agent.address, {})).toMatchObject({ status: 503, body: { charged: false } });
});

test("a creator is told once of each other key of a wallet, and sees it there until that key signs", async ({
  market,
}) => {
  const { context } = market;
  const creator = await newCreator(market);
  const { accountId, key, holder } = creator;
  await prove(market, creator, key);
  const listed = async () => (await listWallets(context.db, holder.account.id))[0];
  const look = async () => {
    await context.db.query("update payout_wallets set looked_at = null where address = $1", [accountId]);
    await recheckWallets(context);
  };
  const letters = async () => {
    const { rows } = await context.db.query<{ text: string }>(
      "select text from account_letters where account_id = $1 and subject like 'A payout wallet has another key%' order by id",
      [holder.account.id],
    );
    return rows.map(({ text }) => text);
  };
  await look();
  expect([await listed(), await letters()]).toMatchObject([{ state: "checked", problem: null }, []]);

  const second = await giveKey(market, accountId, key);
  await look();
  const shown = {
    state: "checked",
    reason: "another_key",
    problem: expect.stringContaining("agents do not act with it"),
  };
  // The service's own round may be the one that looks.
  await expect.poll(listed).toMatchObject(shown);
  await look();
  const wallet = await listed();
  expect(await checkWallet(context, holder.account, wallet!.id)).toMatchObject(shown);
  expect(await letters()).toEqual([expect.stringContaining(wallet!.problem!)]);

  const third = await giveKey(market, accountId, second);
  await checkWallet(context, holder.account, wallet!.id);
  await Promise.all([look(), look()]);
  expect(await letters()).toHaveLength(2);

  await prove(market, creator, third);
  await look();
  expect(await listed()).toMatchObject({ state: "checked", reason: null, problem: null });
  expect(await letters()).toHaveLength(2);
});
