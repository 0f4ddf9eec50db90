import {
  AccountAllowanceApproveTransaction,
  AccountCreateTransaction,
  AccountDeleteTransaction,
  AccountId,
  AccountUpdateTransaction,
  Hbar,
  NftId,
  PrivateKey,
  TokenCreateTransaction,
  TokenId,
  TokenMintTransaction,
  TokenType,
  TransferTransaction,
} from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { ledgerTest } from "../../support/fixtures.ts";
import type { OpenLedger } from "./sdk.ts";

const test = ledgerTest();

const buyerId = "0.0.1003";
const creatorId = "0.0.1002";
const operatorId = "0.0.1005";
const tinybars = (amount: number): Hbar => Hbar.fromTinybars(amount);

describe("an account", () => {
  test("is created with a key, a balance and the limits asked for", async ({ on }) => {
    const key = PrivateKey.generateECDSA();
    const create = new AccountCreateTransaction()
      .setKeyWithoutAlias(key.publicKey)
      .setInitialBalance(new Hbar(3))
      .setAccountMemo("mine")
      .setMaxAutomaticTokenAssociations(-1);
    const account = (await on.run(create)).accountId!;
    expect(await on.mirror(`accounts/${account}`)).toMatchObject({
      account: account.toString(),
      balance: { balance: 300_000_000 },
      key: { _type: "ECDSA_SECP256K1", key: key.publicKey.toStringRaw() },
      max_automatic_token_associations: -1,
      memo: "mine",
    });
  });

  test("answers to its new key only, once the key was rotated", async ({ on }) => {
    const [oldKey, newKey] = [PrivateKey.generateED25519(), PrivateKey.generateED25519()];
    const account = await on.newAccount(oldKey.publicKey);
    const pay = () => new TransferTransaction().addHbarTransfer(account, -1).addHbarTransfer(buyerId, 1);
    const rotate = () => new AccountUpdateTransaction().setAccountId(account).setKey(newKey.publicKey);
    expect(await on.statusWith(rotate(), oldKey)).toBe("INVALID_SIGNATURE");
    expect(await on.statusWith(rotate(), oldKey, newKey)).toBe("SUCCESS");
    expect(await on.statusWith(pay(), oldKey)).toBe("INVALID_SIGNATURE");
    expect(await on.statusWith(pay(), newKey)).toBe("SUCCESS");
    expect((await on.mirror(`accounts/${account}`)).key.key).toBe(newKey.publicKey.toStringRaw());
  });

  test("whose key was rotated while its payment was in flight does not pay, and is not charged", async ({ on }) => {
    const [oldKey, newKey] = [PrivateKey.generateED25519(), PrivateKey.generateED25519()];
    const account = await on.newAccount(oldKey.publicKey);
    const own = on.newClient().setOperator(account, oldKey);
    on.ledger.faults.set({ consensusDelayMs: 60_000 });
    const rotate = new AccountUpdateTransaction()
      .setAccountId(account)
      .setKey(newKey.publicKey)
      .freezeWith(on.operated);
    await (await (await rotate.sign(oldKey)).sign(newKey)).execute(on.operated);
    const pay = new TransferTransaction().addHbarTransfer(account, -1).addHbarTransfer(buyerId, 1);
    const { transactionId } = await pay.execute(own);
    on.ledger.faults.clear();
    expect((await on.receiptOf(transactionId)).status.toString()).toBe("INVALID_PAYER_SIGNATURE");
    expect(await on.hbarBalance(account)).toBe(1_000_000_000n);
  });

  test("that requires its signature to receive gets nothing without it", async ({ on }) => {
    const key = PrivateKey.generateED25519();
    const account = await on.newAccount(key.publicKey);
    await on.run(new AccountUpdateTransaction().setAccountId(account).setReceiverSignatureRequired(true), key);
    const give = () => new TransferTransaction().addHbarTransfer(operatorId, -1).addHbarTransfer(account, 1);
    expect(await on.statusWith(give())).toBe("INVALID_SIGNATURE");
    expect(await on.statusWith(give(), key)).toBe("SUCCESS");
    expect((await on.mirror(`accounts/${account}`)).receiver_sig_required).toBe(true);
  });

  test("that is deleted gives what it has to its heir and receives nothing more", async ({ on }) => {
    const key = PrivateKey.generateED25519();
    const account = await on.newAccount(key.publicKey, 5);
    const before = await on.hbarBalance(buyerId);
    const remove = new AccountDeleteTransaction().setAccountId(account).setTransferAccountId(buyerId);
    expect(await on.statusWith(remove, key)).toBe("SUCCESS");
    expect((await on.hbarBalance(buyerId)) - before).toBe(500_000_000n);
    expect(await on.mirror(`accounts/${account}`)).toMatchObject({ deleted: true, balance: { balance: 0 } });
    const give = new TransferTransaction().addHbarTransfer(operatorId, -1).addHbarTransfer(account, 1);
    expect(await on.statusWith(give)).toBe("ACCOUNT_DELETED");
  });

  test("without HBAR cannot pay for a transaction", async ({ on }) => {
    const key = PrivateKey.generateED25519();
    const { accountId } = on.ledger.faucet.createAccount({ publicKey: key.publicKey.toStringRaw() });
    const poor = on.newClient().setOperator(accountId, key);
    const give = new TransferTransaction().addHbarTransfer(buyerId, 0).addHbarTransfer(accountId, 0);
    expect(await on.statusOf(give, poor)).toBe("INSUFFICIENT_PAYER_BALANCE");
  });
});

describe("an EVM address nobody has", () => {
  test("becomes an account when HBAR is sent to it, and gets its key when the key first signs", async ({ on }) => {
    const key = PrivateKey.generateECDSA();
    const address = key.publicKey.toEvmAddress();
    const alias = AccountId.fromEvmAddress(0, 0, address);
    await on.run(new TransferTransaction().addHbarTransfer(operatorId, -5).addHbarTransfer(alias, 5));
    const hollow = await on.mirror(`accounts/0x${address}`);
    expect(hollow).toMatchObject({ key: null, evm_address: `0x${address}`, balance: { balance: 500_000_000 } });

    const spend = () => new TransferTransaction().addHbarTransfer(hollow.account, -1).addHbarTransfer(operatorId, 1);
    expect(await on.statusWith(spend(), PrivateKey.generateECDSA())).toBe("INVALID_SIGNATURE");
    expect(await on.statusWith(spend(), key)).toBe("SUCCESS");
    expect((await on.mirror(`accounts/${hollow.account}`)).key.key).toBe(key.publicKey.toStringRaw());
  });

  test("is not created by taking from it", async ({ on }) => {
    const alias = AccountId.fromEvmAddress(0, 0, PrivateKey.generateECDSA().publicKey.toEvmAddress());
    const take = new TransferTransaction().addHbarTransfer(alias, -1).addHbarTransfer(operatorId, 1);
    expect(await on.statusWith(take)).toBe("INVALID_ACCOUNT_ID");
  });

  test("can be claimed with an account by the key behind it, once", async ({ on }) => {
    const key = PrivateKey.generateECDSA();
    const create = () => new AccountCreateTransaction().setECDSAKeyWithAlias(key.publicKey);
    expect(await on.statusWith(create())).toBe("INVALID_SIGNATURE");
    expect(await on.statusWith(create(), key)).toBe("SUCCESS");
    expect(await on.statusWith(create(), key)).toBe("ALIAS_ALREADY_ASSIGNED");
  });
});

describe("somebody else's EVM address", () => {
  test("is not taken by signing with a key of one's own", async ({ on }) => {
    const [mine, theirs] = [PrivateKey.generateECDSA(), PrivateKey.generateECDSA()];
    const address = theirs.publicKey.toEvmAddress();
    const create = () => new AccountCreateTransaction().setKeyWithoutAlias(mine.publicKey).setAlias(address);
    expect(await on.statusWith(create(), mine)).toBe("INVALID_SIGNATURE");
    expect(await on.statusWith(create(), mine, theirs)).toBe("SUCCESS");
    expect((await on.mirror(`accounts/0x${address}`)).key.key).toBe(mine.publicKey.toStringRaw());
  });
});

describe("an allowance", () => {
  const byOperator = (on: OpenLedger) => on.newClient().setOperator(operatorId, on.keys.operator);

  test("lets the spender move as much as was granted and no more", async ({ on }) => {
    const approve = new AccountAllowanceApproveTransaction().approveTokenAllowance(
      on.ledger.usdc,
      buyerId,
      operatorId,
      100,
    );
    expect(await on.statusWith(approve)).toBe("INVALID_SIGNATURE");
    const again = new AccountAllowanceApproveTransaction().approveTokenAllowance(
      on.ledger.usdc,
      buyerId,
      operatorId,
      100,
    );
    expect(await on.statusWith(again, on.keys.buyer)).toBe("SUCCESS");
    const spend = (amount: number) =>
      on.statusOf(
        new TransferTransaction()
          .addApprovedTokenTransfer(on.ledger.usdc, buyerId, -amount)
          .addTokenTransfer(on.ledger.usdc, creatorId, amount),
        byOperator(on),
      );
    expect(await spend(60)).toBe("SUCCESS");
    expect(await on.mirror(`accounts/${buyerId}/allowances/tokens?spender.id=${operatorId}`)).toMatchObject({
      allowances: [{ amount: 40, amount_granted: 100, owner: buyerId, spender: operatorId, token_id: on.ledger.usdc }],
    });
    expect(await spend(41)).toBe("AMOUNT_EXCEEDS_ALLOWANCE");
    expect(await spend(40)).toBe("SUCCESS");
    expect(await spend(1)).toBe("SPENDER_DOES_NOT_HAVE_ALLOWANCE");
  });

  test("of HBAR is spent the same way", async ({ on }) => {
    const approve = new AccountAllowanceApproveTransaction().approveHbarAllowance(buyerId, operatorId, tinybars(10));
    await on.run(approve, on.keys.buyer);
    const spend = (amount: number) =>
      on.statusOf(
        new TransferTransaction()
          .addApprovedHbarTransfer(buyerId, tinybars(-amount))
          .addHbarTransfer(creatorId, tinybars(amount)),
      );
    expect(await spend(11)).toBe("AMOUNT_EXCEEDS_ALLOWANCE");
    expect(await spend(4)).toBe("SUCCESS");
    expect((await on.mirror(`accounts/${buyerId}/allowances/crypto`)).allowances).toMatchObject([
      { amount: 6, amount_granted: 10 },
    ]);
  });

  test("of an NFT is for one serial, or for all of a token until it is taken back", async ({ on }) => {
    const create = new TokenCreateTransaction()
      .setTokenName("Art")
      .setTokenSymbol("ART")
      .setTokenType(TokenType.NonFungibleUnique)
      .setTreasuryAccountId(buyerId)
      .setSupplyKey(on.keys.operator.publicKey);
    const token = (await on.run(create, on.keys.buyer)).tokenId!;
    await on.associate(creatorId, token.toString(), on.keys.creator);
    await on.run(
      new TokenMintTransaction().setTokenId(token).setMetadata([1, 2, 3].map((byte) => Buffer.from([byte]))),
    );
    const nft = (serial: number) => new NftId(TokenId.fromString(token.toString()), serial);
    const take = (serial: number) =>
      on.statusOf(new TransferTransaction().addApprovedNftTransfer(nft(serial), buyerId, creatorId), byOperator(on));
    expect(await take(1)).toBe("SPENDER_DOES_NOT_HAVE_ALLOWANCE");
    await on.run(
      new AccountAllowanceApproveTransaction().approveTokenNftAllowance(nft(1), buyerId, operatorId),
      on.keys.buyer,
    );
    expect(await take(1)).toBe("SUCCESS");
    expect(await take(2)).toBe("SPENDER_DOES_NOT_HAVE_ALLOWANCE");
    await on.run(
      new AccountAllowanceApproveTransaction().approveTokenNftAllowanceAllSerials(token, buyerId, operatorId),
      on.keys.buyer,
    );
    expect(await take(2)).toBe("SUCCESS");
    await on.run(
      new AccountAllowanceApproveTransaction().deleteTokenNftAllowanceAllSerials(token, buyerId, operatorId),
      on.keys.buyer,
    );
    expect(await take(3)).toBe("SPENDER_DOES_NOT_HAVE_ALLOWANCE");
  });
});
