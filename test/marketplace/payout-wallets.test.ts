import {
  AccountDeleteTransaction,
  AccountId,
  PrivateKey,
  TokenAssociateTransaction,
  TokenDissociateTransaction,
} from "@hashgraph/sdk";
import {
  createTestClient,
  getAddress,
  http,
  keccak256,
  parseAbi,
  slice,
  toBytes,
  walletActions,
  zeroAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect } from "vitest";
import { ownerWallet } from "../../infra/local-evm/artifacts.ts";
import type { EvmChain } from "../../infra/local-evm/chain.ts";
import {
  addWallet,
  checkWallet,
  type ListedWallet,
  listWallets,
  proveWallet,
} from "../../marketplace/accounts/account-wallets.ts";
import { type Account, createAccount } from "../../marketplace/accounts/create.ts";
import { recheckWallets } from "../../marketplace/accounts/recheck-wallets.ts";
import type { Context } from "../../marketplace/context.ts";
import { deleteExpiredRows } from "../../marketplace/expired-rows.ts";
import type { OpenLedger } from "../infra/local-hedera/sdk.ts";
import { type Browser, withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { startHttpProxy } from "../support/http-proxy.ts";
import { startHttpServer } from "../support/http-server.ts";
import { operatorVariables } from "../support/ledger-agents.ts";
import { call, echoAgent, marketplaceContext, type TestMarketplace } from "../support/marketplace.ts";
import { kept, perFile } from "../support/part.ts";

const hedera = "hedera:testnet";
const base = "eip155:84532";

const test = marketTest()
  .extend("mirror", perFile, ({ open }, { onCleanup }) => kept(startHttpProxy(open.ledger.mirrorUrl), onCleanup))
  .extend("options", perFile, ({ open, mirror, chain }) => ({
    env: { ...operatorVariables(open), HEDERA_MIRROR: mirror.url, EVM_RPC_URLS: `${base}=${chain.rpcUrl}` },
  }))
  .extend("late", perFile, ({ open }, { onCleanup }) => kept(startLateMirror(open.ledger.mirrorUrl), onCleanup))
  // Nobody looks at its wallets but the test.
  .extend("still", perFile, ({ options, late }, { onCleanup }) =>
    kept(marketplaceContext({ ...options.env, HEDERA_MIRROR: late.url }), onCleanup),
  );

/** A mirror that reads the ledger when it is asked, and is told to answer later what an account holds. */
async function startLateMirror(upstream: string) {
  let keep: ((go: () => void) => void) | undefined;
  const server = await startHttpServer(async (request, response) => {
    const answer = await fetch(`${upstream}${request.url}`);
    const text = await answer.text();
    if (keep && request.url?.includes("/tokens?")) {
      const kept = new Promise<void>(keep);
      keep = undefined;
      await kept;
    }
    response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
  });
  /** Once it has read its next answer, this is what lets that go. */
  const keepNext = () =>
    new Promise<() => void>((resolve) => {
      keep = resolve;
    });
  return { ...server, keepNext };
}

/** An account of the ledger with a key of its own, associated with USDC unless said otherwise. */
function newLedgerAccount(
  open: OpenLedger,
  options: { associate?: boolean; receiverSignatureRequired?: boolean } = {},
) {
  const { associate = true, ...rest } = options;
  const key = PrivateKey.generateED25519();
  const publicKey = key.publicKey.toStringRaw();
  const tokens = associate ? [open.ledger.usdc] : [];
  const { accountId } = open.ledger.faucet.createAccount({
    publicKey,
    tinybars: 1_000_000_000n,
    associate: tokens,
    ...rest,
  });
  return { accountId, key, sign: (text: string) => Buffer.from(key.sign(Buffer.from(text))).toString("hex") };
}

async function propose(browser: Browser, network: string, address: string) {
  const { status, body } = await browser.post("/api/account/wallets", { network, address });
  expect({ status, body }).toMatchObject({ status: 201, body: { network, state: "unchecked", checked_at: null } });
  return { at: `/api/account/wallets/${body.id}`, message: body.challenge.message as string };
}

/** A creator with a live agent; `paidOn` says on which networks, and to whom, it can be called without a key. */
async function newCreator(market: TestMarketplace) {
  const { browser, handle } = await withAccount(market);
  await browser.put("/api/account/agents/echo", echoAgent);
  await browser.post("/api/account/agents/echo/publish");
  // As often as a key can ask: some tests ask until the answer has changed.
  const reader = { name: "reader", rate_limit_per_minute: 600 };
  const { token } = (await browser.post("/api/account/keys", reader)).body;
  const paidOn = async (): Promise<string[]> => {
    const { status, body } = await call(market.url, `/api/v1/agents/${handle}/echo`, { key: token });
    expect(status).toBe(200);
    return body.per_call?.networks ?? [];
  };
  return { browser, handle, paidOn };
}

async function proved(browser: Browser, network: string, wallet: { address: string; sign: (text: string) => unknown }) {
  const { at, message } = await propose(browser, network, wallet.address);
  const answer = await browser.post(`${at}/proof`, { signature: await wallet.sign(message) });
  expect(answer).toMatchObject({ status: 200, body: { state: "checked", challenge: null, problem: null } });
  return at;
}

/** Of a person who signed in a moment ago. */
async function sessionOf({ db }: Context, { id, handle }: Account) {
  const [user, session] = [`usr_${handle}`, `ses_${handle}`];
  await db.query(
    "insert into sign_in_users (id, name, email, email_verified, account_id) values ($1, '', $2, true, $3)",
    [user, `${handle}@example.com`, id],
  );
  await db.query(
    "insert into sign_in_sessions (id, user_id, token, expires_at) values ($1, $2, $1, now() + interval '1 day')",
    [session, user],
  );
  return { id: session };
}

type LedgerAccount = ReturnType<typeof newLedgerAccount>;
const onHedera = (account: LedgerAccount) => ({
  address: account.accountId,
  sign: account.sign,
});

function newEvmWallet() {
  const account = privateKeyToAccount(generatePrivateKey());
  return { address: account.address, sign: (message: string) => account.signMessage({ message }) };
}

describe("a wallet", () => {
  test("is quoted from the moment it has proved itself, on each ledger, until it is removed", async ({
    open,
    market,
  }) => {
    const { browser, paidOn, handle } = await newCreator(market);
    const account = newLedgerAccount(open);
    const { at, message } = await propose(browser, hedera, account.accountId);
    expect(message).toContain(handle);
    expect(await paidOn()).toEqual([]);
    expect((await browser.post(`${at}/proof`, { signature: account.sign(message) })).body.state).toBe("checked");
    expect(await paidOn()).toEqual([hedera]);
    const evm = newEvmWallet();
    await proved(browser, base, evm);
    expect((await paidOn()).toSorted()).toEqual([base, hedera]);
    const listed = (await browser.get("/api/account/wallets")).body.wallets;
    expect(listed).toMatchObject([
      { network: base, address: evm.address, state: "checked" },
      { network: hedera, address: account.accountId, state: "checked" },
    ]);
    expect((await browser.delete(at)).body.removed).toBe(true);
    expect(await paidOn()).toEqual([base]);
    expect((await browser.delete(at)).status).toBe(404);
  });

  test("is proved and removed within ten minutes of signing in alone, and its holder gets an e-mail of each", async ({
    open,
    market,
  }) => {
    const { browser, handle, paidOn } = await newCreator(market);
    const { db } = market.context;
    const signedIn = (minutes: number) =>
      db.query(
        `update sign_in_sessions s set created_at = now() - $2::integer * interval '1 minute'
         from sign_in_users u join accounts a on a.id = u.account_id where u.id = s.user_id and a.handle = $1`,
        [handle, minutes],
      );
    const told = async () => {
      const { rows } = await db.query<{ subject: string; text: string }>(
        "select subject, text from account_letters l join accounts a on a.id = l.account_id where handle = $1 order by since",
        [handle],
      );
      return rows.map(({ subject, text }) => `${subject}: ${text}`);
    };
    const added = (address: string) =>
      expect.stringMatching(new RegExp(`^A payout wallet was added[^]*${address}[^]*/settings/wallets`));
    const removed = (address: string) =>
      expect.stringMatching(new RegExp(`^A payout wallet was removed[^]*${address}`));

    await signedIn(11);
    const wallet = newEvmWallet();
    const { at, message } = await propose(browser, base, wallet.address);
    const proof = { signature: await wallet.sign(message) };
    expect((await browser.post(`${at}/proof`, proof)).status).toBe(403);
    expect(await paidOn()).toEqual([]);
    await signedIn(1);
    expect((await browser.post(`${at}/proof`, proof)).status).toBe(200);
    expect(await told()).toEqual([added(wallet.address)]);

    await signedIn(11);
    expect((await browser.delete(at)).status).toBe(403);
    expect(await paidOn()).toEqual([base]);
    // What was never signed for changes nothing of where the account is paid.
    const proposed = await propose(browser, base, newEvmWallet().address);
    expect((await browser.delete(proposed.at)).status).toBe(200);
    expect(await told()).toHaveLength(1);
    await signedIn(1);
    const deleted = await Promise.all([1, 2].map(() => browser.delete(at)));
    expect(deleted.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    expect(await told()).toEqual([added(wallet.address), removed(wallet.address)]);

    // One that signed before it could be paid is told of when it is.
    const late = newLedgerAccount(open, { associate: false });
    const waiting = await propose(browser, hedera, late.accountId);
    const signature = late.sign(waiting.message);
    expect((await browser.post(`${waiting.at}/proof`, { signature })).status).toBe(422);
    const change = { accountId: late.accountId, tokenIds: [open.ledger.usdc] };
    await open.run(new TokenAssociateTransaction(change), late.key);
    await signedIn(11);
    // Another one would take its place, as if it were removed.
    const another = { network: hedera, address: newLedgerAccount(open).accountId };
    expect((await browser.post("/api/account/wallets", another)).status).toBe(403);
    expect((await browser.post(`${waiting.at}/check`)).body.state).toBe("checked");
    expect((await told()).at(-1)).toEqual(added(late.accountId));
  });

  test("that never proved itself leaves nothing behind when it is removed", async ({ market }) => {
    const [{ browser, handle }, closing] = [await newCreator(market), await newCreator(market)];
    const { db } = market.context;
    const statesOf = async (of: string) => {
      const kept = "select w.state from payout_wallets w join accounts a on a.id = w.account_id where handle = $1";
      return (await db.query<{ state: string }>(kept, [of])).rows.map(({ state }) => state);
    };
    const paid = await proved(browser, base, newEvmWallet());
    const { at } = await propose(browser, base, newEvmWallet().address);
    expect((await browser.delete(at)).status).toBe(200);
    expect(await statesOf(handle)).toEqual(["checked"]);
    expect((await browser.delete(paid)).status).toBe(200);
    await propose(closing.browser, base, newEvmWallet().address);
    await db.query(
      "update payout_wallets set state = 'retired' where account_id = (select id from accounts where handle = $1)",
      [closing.handle],
    );
    await deleteExpiredRows(db);
    expect([await statesOf(handle), await statesOf(closing.handle)]).toEqual([["retired"], []]);
  });

  test("replaces the one before only once it has proved itself", async ({ market }) => {
    const { browser } = await newCreator(market);
    const [first, second] = [newEvmWallet(), newEvmWallet()];
    await proved(browser, base, first);
    const { at, message } = await propose(browser, base, second.address);
    const { rows } = await market.context.db.query("select address from payout_wallets where state = 'checked'");
    expect(rows).toContainEqual({ address: first.address });
    expect((await browser.post(`${at}/proof`, { signature: await first.sign(message) })).status).toBe(422);
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => browser.post(`${at}/proof`, { signature: await second.sign(message) })),
    );
    for (const { status, body } of answers)
      expect({ status, body }).toMatchObject({ status: 200, body: { state: "checked" } });
    const { wallets } = (await browser.get("/api/account/wallets")).body;
    expect(wallets).toMatchObject([{ address: second.address, state: "checked" }]);
  });

  test("that is a contract proves itself as the contract accepts (EIP-1271), and by nobody else", async ({
    chain,
    market,
  }) => {
    const { browser, paidOn } = await newCreator(market);
    const owner = newEvmWallet();
    const address = await chain.deploy(ownerWallet, [owner.address]);
    const { at, message } = await propose(browser, base, address);
    expect((await browser.post(`${at}/proof`, { signature: await newEvmWallet().sign(message) })).status).toBe(422);
    expect((await browser.post(`${at}/proof`, { signature: await owner.sign(message) })).body.state).toBe("checked");
    expect(await paidOn()).toEqual([base]);
  });

  test("is not proved by a signature of another text, another account's text, or one that is too old", async ({
    market,
  }) => {
    const [one, other] = [await newCreator(market), await newCreator(market)];
    const wallet = newEvmWallet();
    const mine = await propose(one.browser, base, wallet.address);
    const theirs = await propose(other.browser, base, wallet.address);
    const signature = await wallet.sign(theirs.message);
    expect((await one.browser.post(`${mine.at}/proof`, { signature })).status).toBe(422);
    expect((await other.browser.post(`${mine.at}/proof`, { signature: await wallet.sign(mine.message) })).status).toBe(
      404,
    );
    await market.context.db.query("update payout_wallets set challenge_expires_at = now() - interval '1 second'");
    const late = await one.browser.post(`${mine.at}/proof`, { signature: await wallet.sign(mine.message) });
    expect(late).toMatchObject({ status: 422 });
    expect(late.body.error).toContain("too old");
  });

  test.for<[string, (open: OpenLedger) => string | LedgerAccount, string]>([
    ["there is no such account", () => "0.0.999999999", "There is no account"],
    ["nothing associated", (open) => newLedgerAccount(open, { associate: false }), "not associated with USDC"],
    [
      "its own signature needed to receive",
      (open) => newLedgerAccount(open, { receiverSignatureRequired: true }),
      "has to sign for what it receives",
    ],
  ])("that cannot be paid is refused and says why: %s", async ([_what, make, why], { open, market }) => {
    const { browser, paidOn } = await newCreator(market);
    const made = make(open);
    const account = typeof made === "string" ? { accountId: made, sign: () => "00".repeat(64) } : made;
    const { at, message } = await propose(browser, hedera, account.accountId);
    const { status, body } = await browser.post(`${at}/proof`, { signature: account.sign(message) });
    expect(status).toBe(422);
    expect(body.error).toContain(why);
    expect(await paidOn()).toEqual([]);
  });

  test("in a wrong form is refused, naming the field", async ({ market }) => {
    const { browser } = await newCreator(market);
    const { address } = newEvmWallet();
    const mistyped = address.replace(/[a-z](?=[^a-z]*$)/, (letter) => letter.toUpperCase());
    for (const [field, wallet] of [
      ["network", { network: "eip155:31337", address }],
      ["network", { network: "hedera:mainnet", address: "0.0.5" }],
      ["network", { network: "", address }],
      ["network", { address }],
      ["address", { network: base, address: "0.0.1234" }],
      ["address", { network: base, address: address.slice(0, -1) }],
      ["address", { network: base, address: mistyped }],
      ["address", { network: hedera, address }],
      ["address", { network: hedera, address: "0.0.0" }],
      ["address", { network: hedera, address: `0.0.${"9".repeat(19)}` }],
      ["address", { network: hedera, address: 5 }],
    ] as const) {
      const answer = await browser.post("/api/account/wallets", wallet);
      expect([400, 422]).toContain(answer.status);
      expect({ wallet, field: answer.body.field }).toEqual({ wallet, field });
    }
    const lower = await browser.post("/api/account/wallets", { network: base, address: address.toLowerCase() });
    expect(lower.body.address).toBe(address);
  });

  test("of nobody, or of the token itself, is refused: what is paid there is lost", async ({ chain, market }) => {
    const { browser } = await newCreator(market);
    for (const address of [zeroAddress, chain.usdc]) {
      const { at } = await propose(browser, base, getAddress(address));
      expect((await browser.post(`${at}/proof`, { signature: "0x00" })).status).toBe(422);
    }
  });
});

describe("a wallet that signed and cannot be paid yet", () => {
  const due = (market: TestMarketplace) =>
    market.context.db.query("update payout_wallets set looked_at = now() - interval '11 minutes'");

  test("is kept with the reason and need not sign again; the one before is paid until it can be", async ({
    open,
    market,
  }) => {
    const { browser, paidOn } = await newCreator(market);
    const former = newLedgerAccount(open);
    await proved(browser, hedera, onHedera(former));
    const account = newLedgerAccount(open, { associate: false });
    const { at, message } = await propose(browser, hedera, account.accountId);
    const proof = await browser.post(`${at}/proof`, { signature: account.sign(message) });
    expect(proof).toMatchObject({ status: 422, body: { reason: "not_associated" } });
    const listed = async () => (await browser.get("/api/account/wallets")).body.wallets;
    const waiting = { address: account.accountId, state: "unpayable", reason: "not_associated", challenge: null };
    expect(await listed()).toMatchObject([{ address: former.accountId, state: "checked" }, waiting]);
    expect((await browser.post(`${at}/check`)).body).toMatchObject(waiting);
    expect((await browser.post(`${at}/proof`, { signature: account.sign(message) })).status).toBe(409);
    await due(market);
    await recheckWallets(market.context);
    expect(await listed()).toMatchObject([{ address: former.accountId, state: "checked" }, waiting]);
    await open.run(
      new TokenAssociateTransaction({ accountId: account.accountId, tokenIds: [open.ledger.usdc] }),
      account.key,
    );
    const checks = await Promise.all([1, 2, 3].map(() => browser.post(`${at}/check`)));
    for (const { body } of checks) expect(body).toMatchObject({ state: "checked", problem: null, reason: null });
    expect(await listed()).toMatchObject([{ address: account.accountId, state: "checked" }]);
    expect(await paidOn()).toEqual([hedera]);
  });

  test("is paid by itself once it can be, though nobody asks, and not while its account is suspended", async ({
    open,
    market,
  }) => {
    const { browser, handle, paidOn } = await newCreator(market);
    const account = newLedgerAccount(open, { associate: false });
    const { at, message } = await propose(browser, hedera, account.accountId);
    await browser.post(`${at}/proof`, { signature: account.sign(message) });
    const change = { accountId: account.accountId, tokenIds: [open.ledger.usdc] };
    await open.run(new TokenAssociateTransaction(change), account.key);
    await market.context.db.query("update accounts set state = 'suspended' where handle = $1", [handle]);
    await due(market);
    await recheckWallets(market.context);
    // Not by `paidOn`: nothing of a suspended account is called, and once it is open the service's own round may be there first.
    const { rows } = await market.context.db.query("select state from payout_wallets where address = $1", [
      account.accountId,
    ]);
    expect(rows).toEqual([{ state: "unchecked" }]);
    await market.context.db.query("update accounts set state = 'open' where handle = $1", [handle]);
    await recheckWallets(market.context);
    await expect.poll(paidOn).toEqual([hedera]);
  });
});

describe("a wallet that was fine", () => {
  const due = (market: TestMarketplace) =>
    market.context.db.query("update payout_wallets set looked_at = now() - interval '7 hours'");

  test("leaves the quote when it can no longer be paid, and comes back when it can", async ({ open, market }) => {
    const { browser, paidOn } = await newCreator(market);
    const account = newLedgerAccount(open);
    const at = await proved(browser, hedera, onHedera(account));
    const change = { accountId: account.accountId, tokenIds: [open.ledger.usdc] };
    await open.run(new TokenDissociateTransaction(change), account.key);
    await recheckWallets(market.context);
    expect(await paidOn()).toEqual([hedera]);
    await due(market);
    await recheckWallets(market.context);
    await expect.poll(paidOn).toEqual([]);
    const [listed] = (await browser.get("/api/account/wallets")).body.wallets;
    expect(listed).toMatchObject({ state: "unpayable", problem: expect.stringContaining("not associated") });
    await open.run(new TokenAssociateTransaction(change), account.key);
    expect((await browser.post(`${at}/check`)).body).toMatchObject({ state: "checked", problem: null });
    expect(await paidOn()).toEqual([hedera]);
  });

  test("leaves it also when what the check of another one found cannot be recorded", async ({
    open,
    chain,
    market,
  }) => {
    const { db } = market.context;
    const { browser, paidOn } = await newCreator(market);
    const account = newLedgerAccount(open);
    await proved(browser, hedera, onHedera(account));
    const change = { accountId: account.accountId, tokenIds: [open.ledger.usdc] };
    await open.run(new TokenDissociateTransaction(change), account.key);
    const wallet = newEvmWallet();
    await proved(browser, base, wallet);
    await block(chain, wallet.address);
    // A sequence is not rolled back, so that the first of the two alone is refused.
    await db.query(`
      create sequence recorded;
      create function refuse_first() returns trigger language plpgsql as $$
        begin if nextval('recorded') = 1 then raise 'refused'; end if; return new; end $$;
      create trigger refuse_first before update on payout_wallets for each row
        when (new.problem is distinct from old.problem) execute function refuse_first()`);
    try {
      await due(market);
      // The service's own round, each half a minute, may be the one that meets them.
      const refused = await recheckWallets(market.context).catch((error: Error) => error);
      expect(refused?.message ?? "refused").toBe("refused");
      await expect.poll(async () => (await paidOn()).length).toBe(1);
      const { rows } = await db.query("select is_called from recorded");
      expect(rows).toEqual([{ is_called: true }]);
    } finally {
      await db.query("drop function refuse_first cascade; drop sequence recorded");
    }
  });

  test("leaves the quote when it is deleted on the ledger, or put on the token's block list", async ({
    open,
    chain,
    market,
  }) => {
    const { browser, paidOn } = await newCreator(market);
    const account = newLedgerAccount(open);
    await proved(browser, hedera, onHedera(account));
    const wallet = newEvmWallet();
    await proved(browser, base, wallet);
    await block(chain, wallet.address);
    const remove = new AccountDeleteTransaction()
      .setAccountId(AccountId.fromString(account.accountId))
      .setTransferAccountId(AccountId.fromString(open.ledger.accounts.buyer.accountId));
    await open.run(remove, account.key);
    await due(market);
    await recheckWallets(market.context);
    await expect.poll(paidOn).toEqual([]);
    const { wallets } = (await browser.get("/api/account/wallets")).body;
    expect(wallets.map(({ problem }: { problem: string }) => problem)).toEqual([
      expect.stringContaining("refuses"),
      expect.stringContaining("deleted"),
    ]);
  });

  test("stays in it while the ledger does not answer: unknown is not unpayable", async ({ open, mirror, market }) => {
    const { browser, paidOn } = await newCreator(market);
    const at = await proved(browser, hedera, onHedera(newLedgerAccount(open)));
    mirror.behave(() => "lose-call");
    try {
      await due(market);
      await recheckWallets(market.context);
      expect(await paidOn()).toEqual([hedera]);
      expect((await browser.post(`${at}/check`)).status).toBe(503);
      const other = newLedgerAccount(open);
      const proposed = await propose(browser, hedera, other.accountId);
      const proof = await browser.post(`${proposed.at}/proof`, { signature: other.sign(proposed.message) });
      expect(proof.status).toBe(503);
    } finally {
      mirror.behave(() => "pass");
    }
    await recheckWallets(market.context);
    expect(await paidOn()).toEqual([hedera]);
  });
});

describe("what the ledger says of a wallet", () => {
  type Look = (context: Context, owner: Account, id: string) => Promise<ListedWallet>;
  const byService: Look = async (context, owner, id) => {
    await context.db.query("update payout_wallets set looked_at = now() - interval '7 hours' where id = $1", [id]);
    await recheckWallets(context);
    return (await listWallets(context.db, owner.id))[0]!;
  };
  const byHolder: Look = checkWallet;

  test.for(
    (["checked", "unpayable"] as const).flatMap((state) => [
      [state, "the service", "its holder", byService, byHolder] as const,
      [state, "its holder", "the service", byHolder, byService] as const,
      [state, "its holder", "its holder", byHolder, byHolder] as const,
    ]),
  )(
    "counts as of when it was asked, however late it answers: it is %s when %s asked before that, and %s after",
    async ([state, _earlier, _later, lookEarlier, lookLater], { open, still, late }) => {
      const account = newLedgerAccount(open, { associate: state === "unpayable" });
      const owner = await createAccount(still.db, { handle: `owner-${account.accountId.replaceAll(".", "-")}` });
      const holder = { account: owner, session: await sessionOf(still, owner) };
      const { id, challenge } = await addWallet(still, holder, { network: hedera, address: account.accountId });
      await proveWallet(still, holder, id, account.sign(challenge!.message)).catch(() => {});
      const former = state === "checked" ? "unpayable" : "checked";
      expect(await listWallets(still.db, owner.id)).toMatchObject([{ state: former }]);
      const answerRead = late.keepNext();
      const earlier = lookEarlier(still, owner, id);
      const letGo = await answerRead;
      const change = { accountId: account.accountId, tokenIds: [open.ledger.usdc] };
      const changed = state === "checked" ? TokenAssociateTransaction : TokenDissociateTransaction;
      await open.run(new changed(change), account.key);
      expect(await lookLater(still, owner, id)).toMatchObject({ state });
      letGo();
      expect(await earlier).toMatchObject({ state });
      expect(await listWallets(still.db, owner.id)).toMatchObject([{ state }]);
    },
  );
});

/** The token's own minter puts an address on its block list. */
async function block(chain: EvmChain, address: `0x${string}`): Promise<void> {
  const minter = getAddress(slice(keccak256(toBytes("minter of a local chain")), 12));
  const client = createTestClient({ mode: "anvil", transport: http(chain.rpcUrl) }).extend(walletActions);
  const abi = parseAbi(["function setBlacklisted(address account, bool blacklisted)"]);
  await client.writeContract({
    address: chain.usdc,
    abi,
    functionName: "setBlacklisted",
    args: [address, true],
    account: minter,
    chain: null,
  });
}
