import {
  CustomFixedFee,
  CustomFractionalFee,
  Hbar,
  NftId,
  PrivateKey,
  TokenAssociateTransaction,
  TokenCreateTransaction,
  TokenDissociateTransaction,
  TokenFeeScheduleUpdateTransaction,
  TokenFreezeTransaction,
  TokenGrantKycTransaction,
  TokenId,
  TokenMintTransaction,
  TokenPauseTransaction,
  TokenRevokeKycTransaction,
  TokenSupplyType,
  TokenType,
  TokenUnfreezeTransaction,
  TokenUnpauseTransaction,
  TransferTransaction,
} from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { ledgerTest } from "../../support/fixtures.ts";
import { mirrorId, type OpenLedger } from "./sdk.ts";

const test = ledgerTest();

const buyerId = "0.0.1003";
const creatorId = "0.0.1002";
const operatorId = "0.0.1005";

/** A token of the buyer's that the creator has associated. */
const sharedToken = async (
  on: OpenLedger,
  options: Partial<Parameters<OpenLedger["newToken"]>[0]> = {},
): Promise<string> => {
  const token = await on.newToken({ treasury: buyerId, treasuryKey: on.keys.buyer, ...options });
  await on.associate(creatorId, token, on.keys.creator);
  return token;
};

const pay = (on: OpenLedger, token: string, amount = 100) => on.settle(on.payment(amount, { token }), on.keys.buyer);

describe("what a token's keys can do to a payment", () => {
  test("pause stops it, unpause lets it go on", async ({ on }) => {
    const token = await sharedToken(on, { keys: ["Pause"] });
    await on.run(new TokenPauseTransaction().setTokenId(token));
    expect(await pay(on, token)).toBe("TOKEN_IS_PAUSED");
    expect((await on.mirror(`tokens/${token}`)).pause_status).toBe("PAUSED");
    await on.run(new TokenUnpauseTransaction().setTokenId(token));
    expect(await pay(on, token)).toBe("SUCCESS");
  });

  test("freeze stops it on either side, unfreeze lets it go on", async ({ on }) => {
    const token = await sharedToken(on, { keys: ["Freeze"] });
    for (const account of [buyerId, creatorId]) {
      await on.run(new TokenFreezeTransaction().setTokenId(token).setAccountId(account));
      expect(await pay(on, token)).toBe("ACCOUNT_FROZEN_FOR_TOKEN");
      expect((await on.mirror(`accounts/${account}/tokens?token.id=${token}`)).tokens[0].freeze_status).toBe("FROZEN");
      await on.run(new TokenUnfreezeTransaction().setTokenId(token).setAccountId(account));
    }
    expect(await pay(on, token)).toBe("SUCCESS");
  });

  test("KYC must be granted before it, and can be revoked", async ({ on }) => {
    const token = await sharedToken(on, { keys: ["Kyc"] });
    expect(await pay(on, token)).toBe("ACCOUNT_KYC_NOT_GRANTED_FOR_TOKEN");
    await on.run(new TokenGrantKycTransaction().setTokenId(token).setAccountId(creatorId));
    expect(await pay(on, token)).toBe("SUCCESS");
    expect((await on.mirror(`accounts/${creatorId}/tokens?token.id=${token}`)).tokens[0].kyc_status).toBe("GRANTED");
    await on.run(new TokenRevokeKycTransaction().setTokenId(token).setAccountId(creatorId));
    expect(await pay(on, token)).toBe("ACCOUNT_KYC_NOT_GRANTED_FOR_TOKEN");
  });

  test("nothing, to whoever does not hold them", async ({ on }) => {
    const locked = await on.newToken({ treasury: buyerId, treasuryKey: on.keys.buyer, keys: ["Pause", "Freeze"] });
    const stranger = on.newClient().setOperator(buyerId, on.keys.buyer);
    expect(await on.statusOf(new TokenPauseTransaction().setTokenId(locked), stranger)).toBe("INVALID_SIGNATURE");
    const open = await on.newToken({ treasury: buyerId, treasuryKey: on.keys.buyer });
    expect(await on.statusOf(new TokenPauseTransaction().setTokenId(open))).toBe("TOKEN_HAS_NO_PAUSE_KEY");
    const freeze = new TokenFreezeTransaction().setTokenId(open).setAccountId(buyerId);
    expect(await on.statusOf(freeze)).toBe("TOKEN_HAS_NO_FREEZE_KEY");
  });
});

describe("custom fees", () => {
  const tenPercent = () =>
    new CustomFractionalFee()
      .setNumerator(1)
      .setDenominator(10)
      .setFeeCollectorAccountId(operatorId)
      .setAllCollectorsAreExempt(false);

  /** An account that is neither treasury nor collector, with a thousand of `token`. */
  const holderOf = async (on: OpenLedger, token: string): Promise<[string, PrivateKey]> => {
    const key = PrivateKey.generateED25519();
    const holder = await on.newAccount(key.publicKey);
    await on.associate(holder, token, key);
    await on.run(
      new TransferTransaction().addTokenTransfer(token, buyerId, -1_000).addTokenTransfer(token, holder, 1_000),
      on.keys.buyer,
    );
    return [holder, key];
  };

  test("a fractional fee leaves the payee short though the payment succeeds", async ({ on }) => {
    const token = await sharedToken(on, { customFees: [tenPercent()] });
    const [holder, key] = await holderOf(on, token);
    const payment = on.payment(100, { token, from: holder });
    expect(await on.settle(payment, key)).toBe("SUCCESS");
    expect(await on.tokenBalance(creatorId, token)).toBe(90);
    expect(await on.tokenBalance(operatorId, token)).toBe(10);
    expect(await on.tokenBalance(holder, token)).toBe(900);
    const [row] = (await on.mirror(`transactions/${mirrorId(payment.transactionId!)}`)).transactions;
    expect(row.assessed_custom_fees).toEqual([
      { amount: 10, collector_account_id: operatorId, effective_payer_account_ids: [holder], token_id: token },
    ]);
    expect(row.token_transfers).toContainEqual({ token_id: token, account: creatorId, amount: 90, is_approval: false });
  });

  test("a fractional fee net of transfers is paid by the sender on top", async ({ on }) => {
    const token = await sharedToken(on, {
      customFees: [
        tenPercent()
          .setAssessmentMethod(true as never)
          .setMin(20),
      ],
    });
    const [holder, key] = await holderOf(on, token);
    expect(await on.settle(on.payment(100, { token, from: holder }), key)).toBe("SUCCESS");
    expect(await on.tokenBalance(creatorId, token)).toBe(100);
    expect(await on.tokenBalance(holder, token)).toBe(880);
  });

  test("a fixed fee in HBAR is paid by the sender, who needs to have it", async ({ on }) => {
    const fee = new CustomFixedFee().setHbarAmount(new Hbar(8)).setFeeCollectorAccountId(operatorId);
    const token = await sharedToken(on, { customFees: [fee] });
    const [holder, key] = await holderOf(on, token);
    const before = await on.hbarBalance(holder);
    expect(await on.settle(on.payment(100, { token, from: holder }), key)).toBe("SUCCESS");
    expect(before - (await on.hbarBalance(holder))).toBe(800_000_000n);
    expect(await on.settle(on.payment(100, { token, from: holder }), key)).toBe(
      "INSUFFICIENT_SENDER_ACCOUNT_BALANCE_FOR_CUSTOM_FEE",
    );
    expect(await on.tokenBalance(creatorId, token)).toBe(100);
  });

  test("the treasury and the collector pay none", async ({ on }) => {
    const token = await sharedToken(on, { customFees: [tenPercent()] });
    expect(await pay(on, token)).toBe("SUCCESS");
    expect(await on.tokenBalance(creatorId, token)).toBe(100);
  });

  test("can be added to a living token, and the mirror shows them", async ({ on }) => {
    const token = await sharedToken(on, { keys: ["FeeSchedule"] });
    expect((await on.mirror(`tokens/${token}`)).custom_fees).toMatchObject({ fixed_fees: [], fractional_fees: [] });
    await on.run(
      new TokenFeeScheduleUpdateTransaction().setTokenId(TokenId.fromString(token)).setCustomFees([tenPercent()]),
    );
    expect((await on.mirror(`tokens/${token}`)).custom_fees.fractional_fees).toMatchObject([
      {
        amount: { numerator: 1, denominator: 10 },
        minimum: 0,
        maximum: null,
        net_of_transfers: false,
        collector_account_id: operatorId,
      },
    ]);
  });
});

describe("supply", () => {
  test("grows by minting, for whoever holds the supply key only", async ({ on }) => {
    const token = await on.newToken({ treasury: buyerId, treasuryKey: on.keys.buyer, keys: ["Supply"] });
    const receipt = await on.run(new TokenMintTransaction().setTokenId(token).setAmount(5));
    expect(receipt.totalSupply!.toNumber()).toBe(1_000_005);
    expect((await on.mirror(`tokens/${token}`)).total_supply).toBe("1000005");
    const stranger = on.newClient().setOperator(buyerId, on.keys.buyer);
    expect(await on.statusOf(new TokenMintTransaction().setTokenId(token).setAmount(5), stranger)).toBe(
      "INVALID_SIGNATURE",
    );
    const fixed = await on.newToken({ treasury: buyerId, treasuryKey: on.keys.buyer });
    expect(await on.statusOf(new TokenMintTransaction().setTokenId(fixed).setAmount(5))).toBe(
      "TOKEN_HAS_NO_SUPPLY_KEY",
    );
  });

  test("ends at the maximum", async ({ on }) => {
    const create = new TokenCreateTransaction()
      .setTokenName("Finite")
      .setTokenSymbol("FIN")
      .setTreasuryAccountId(operatorId)
      .setSupplyKey(on.keys.operator.publicKey)
      .setSupplyType(TokenSupplyType.Finite)
      .setMaxSupply(10);
    const token = (await on.run(create)).tokenId!;
    expect(await on.statusOf(new TokenMintTransaction().setTokenId(token).setAmount(10))).toBe("SUCCESS");
    expect(await on.statusOf(new TokenMintTransaction().setTokenId(token).setAmount(1))).toBe(
      "TOKEN_MAX_SUPPLY_REACHED",
    );
  });
});

describe("a token is not created", () => {
  const create = () =>
    new TokenCreateTransaction().setTokenName("N").setTokenSymbol("S").setTreasuryAccountId(operatorId);
  test.for([
    ["without a name", () => create().setTokenName(""), "MISSING_TOKEN_NAME"],
    ["without a symbol", () => create().setTokenSymbol(""), "MISSING_TOKEN_SYMBOL"],
    ["without the treasury's signature", () => create().setTreasuryAccountId(buyerId), "INVALID_SIGNATURE"],
    ["frozen by default but without a freeze key", () => create().setFreezeDefault(true), "TOKEN_HAS_NO_FREEZE_KEY"],
    [
      "as a collection nobody can mint",
      () => create().setTokenType(TokenType.NonFungibleUnique),
      "TOKEN_HAS_NO_SUPPLY_KEY",
    ],
    ["finite with no maximum", () => create().setSupplyType(TokenSupplyType.Finite), "INVALID_TOKEN_MAX_SUPPLY"],
  ] as const)("a token %s is not created, and the node says why", async ([_, transaction, status], { on }) => {
    expect(await on.statusOf(transaction())).toBe(status);
  });
});

describe("associations", () => {
  test("are made once, by the account itself, and only for tokens that exist", async ({ on }) => {
    const key = PrivateKey.generateED25519();
    const account = await on.newAccount(key.publicKey);
    const associate = (token: string) => new TokenAssociateTransaction().setAccountId(account).setTokenIds([token]);
    expect(await on.statusWith(associate(on.ledger.usdc))).toBe("INVALID_SIGNATURE");
    expect(await on.statusWith(associate(on.ledger.usdc), key)).toBe("SUCCESS");
    expect(await on.statusWith(associate(on.ledger.usdc), key)).toBe("TOKEN_ALREADY_ASSOCIATED_TO_ACCOUNT");
    expect(await on.statusWith(associate("0.0.999999"), key)).toBe("INVALID_TOKEN_ID");
    expect(await on.tokenBalance(account)).toBe(0);
  });

  test("end when the account holds none of the token any more", async ({ on }) => {
    const key = PrivateKey.generateED25519();
    const account = await on.newAccount(key.publicKey);
    await on.associate(account, on.ledger.usdc, key);
    on.ledger.faucet.giveToken(account, 5n);
    const dissociate = () => new TokenDissociateTransaction().setAccountId(account).setTokenIds([on.ledger.usdc]);
    expect(await on.statusWith(dissociate(), key)).toBe("TRANSACTION_REQUIRES_ZERO_TOKEN_BALANCES");
    expect(await on.settle(on.payment(5, { from: account }), key)).toBe("SUCCESS");
    expect(await on.statusWith(dissociate(), key)).toBe("SUCCESS");
    expect((await on.mirror(`accounts/${account}/tokens`)).tokens).toEqual([]);
    expect(await on.settle(on.payment(5, { to: account }), on.keys.buyer)).toBe("TOKEN_NOT_ASSOCIATED_TO_ACCOUNT");
  });
});

describe("NFTs", () => {
  const collection = async (on: OpenLedger): Promise<string> => {
    const create = new TokenCreateTransaction()
      .setTokenName("Art")
      .setTokenSymbol("ART")
      .setTokenType(TokenType.NonFungibleUnique)
      .setTreasuryAccountId(operatorId)
      .setSupplyKey(on.keys.operator.publicKey);
    return (await on.run(create)).tokenId!.toString();
  };

  test("are minted one per metadata and change hands one by one", async ({ on }) => {
    const token = await collection(on);
    await on.associate(buyerId, token, on.keys.buyer);
    const minted = await on.run(
      new TokenMintTransaction().setTokenId(token).setMetadata([Buffer.from("one"), Buffer.from("two")]),
    );
    expect(minted.serials.map(String)).toEqual(["1", "2"]);
    const nft = new NftId(TokenId.fromString(token), 2);
    const give = () => new TransferTransaction().addNftTransfer(nft, operatorId, buyerId);
    expect(await on.statusOf(give())).toBe("SUCCESS");
    expect(await on.statusOf(give())).toBe("SENDER_DOES_NOT_OWN_NFT_SERIAL_NO");
    expect(await on.mirror(`tokens/${token}/nfts/2`)).toMatchObject({
      account_id: buyerId,
      metadata: "dHdv",
      serial_number: 2,
    });
    expect(await on.tokenBalance(buyerId, token)).toBe(1);
    expect((await on.mirror(`tokens/${token}/nfts?account.id=${operatorId}`)).nfts).toMatchObject([
      { serial_number: 1 },
    ]);
  });

  test("are minted at most ten at once, with at most 100 bytes of metadata each", async ({ on }) => {
    const token = await collection(on);
    const mint = (metadata: Buffer[]) =>
      on.statusOf(new TokenMintTransaction().setTokenId(token).setMetadata(metadata));
    expect(await mint(Array.from({ length: 11 }, () => Buffer.from("x")))).toBe("BATCH_SIZE_LIMIT_EXCEEDED");
    expect(await mint([Buffer.alloc(101)])).toBe("METADATA_TOO_LONG");
    expect(await mint([Buffer.alloc(100)])).toBe("SUCCESS");
  });

  test("do not move without their owner's signature", async ({ on }) => {
    const token = await collection(on);
    await on.associate(buyerId, token, on.keys.buyer);
    await on.run(new TokenMintTransaction().setTokenId(token).setMetadata([Buffer.from("x")]));
    const thief = on.newClient().setOperator(buyerId, on.keys.buyer);
    const steal = new TransferTransaction().addNftTransfer(
      new NftId(TokenId.fromString(token), 1),
      operatorId,
      buyerId,
    );
    expect(await on.statusOf(steal, thief)).toBe("INVALID_SIGNATURE");
  });
});
