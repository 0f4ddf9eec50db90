import { z } from "zod";
import { type Account, createAccount, findAccount } from "../accounts/create.ts";
import { addPayoutWallet, currentWallet } from "../accounts/payout-wallets.ts";
import { linkEmail } from "../accounts/users.ts";
import { definitionSchema } from "../agents/definition.ts";
import { type PublishNeeds, publishAgent } from "../agents/publish.ts";
import { createKey } from "../api-keys/create.ts";
import { keyName, scopes } from "../api-keys/key-settings.ts";
import { findKeyNamed } from "../api-keys/list.ts";
import { credits } from "../credits/amount.ts";
import { grant, grantedFor } from "../credits/ledger.ts";
import { parse } from "../parse.ts";

const key = z.strictObject({
  name: z.string().min(1).max(100),
  scope: z.enum(scopes).optional(),
  agents: z.array(z.string()).optional(),
  rate_limit_per_minute: z.int().min(1).max(100_000).optional(),
  max_credits_per_day: z.int().min(0).max(1_000_000_000).optional(),
});

const wallet = z.strictObject({ network: z.string(), address: z.string(), checked: z.boolean().default(true) });

const account = z.strictObject({
  handle: z.string(),
  /** A person who shows that this address is theirs signs in to the account. */
  email: z.string().optional(),
  /** Granted once, however often the seed is applied. */
  credits: z.int().min(0).max(1_000_000_000).default(0),
  keys: z.array(key).max(5).default([]),
  wallets: z.array(wallet).default([]),
  agents: z.array(definitionSchema.extend({ slug: z.string() })).default([]),
});

const seedSchema = z.strictObject({ accounts: z.array(account).min(1) });

/**
 * Makes accounts, keys, credits, wallets and agents as the seed says, and answers what is there now. Applying it again
 * changes nothing. Accounts that are not open any more are left as they are. Only the call that made a key answers its token.
 */
export async function applySeed(needs: PublishNeeds, given: unknown): Promise<{ accounts: object[] }> {
  const seed = parse(seedSchema, given, "invalid_value");
  const accounts: object[] = [];
  for (const wanted of seed.accounts) accounts.push(await applyAccount(needs, wanted));
  return { accounts };
}

async function applyAccount(needs: PublishNeeds, wanted: z.infer<typeof account>): Promise<object> {
  const { db } = needs;
  const owner = (await findAccount(db, wanted.handle)) ?? (await createAccount(db, wanted));
  if (owner.state !== "open") return { handle: owner.handle, id: owner.id, state: owner.state, skipped: true };
  if (wanted.email) await linkEmail(db, owner, wanted.email);
  const reference = `seed:${owner.id}`;
  const amount = credits(BigInt(wanted.credits));
  const granted = amount > 0n && (await grant(db, { accountId: owner.id, credits: amount, reference, note: "seed" }));
  const keys: object[] = [];
  for (const one of wanted.keys) keys.push(await applyKey(needs, owner, one));
  const wallets: object[] = [];
  for (const one of wanted.wallets) wallets.push(await applyWallet(needs, owner, one));
  const agents: object[] = [];
  for (const { slug, ...definition } of wanted.agents) {
    const { address, version, changed } = await publishAgent(needs, owner, slug, definition);
    agents.push({ agent: address, version, changed });
  }
  const before = granted || amount === 0n ? undefined : await grantedFor(db, reference);
  const given = {
    credits_granted: granted ? wanted.credits : 0,
    credits_granted_before: before && Number(before.credits),
  };
  return { handle: owner.handle, id: owner.id, ...given, keys, wallets, agents };
}

async function applyKey({ db }: PublishNeeds, owner: Account, wanted: z.infer<typeof key>): Promise<object> {
  const wantedName = keyName(wanted.name);
  const active = await findKeyNamed(db, owner.id, wantedName);
  if (active) return { id: active.id, name: active.name, start: active.start, created: false };
  const { rate_limit_per_minute: rateLimitPerMinute, max_credits_per_day: maxCreditsPerDay, ...said } = wanted;
  const created = await createKey(db, { ...said, accountId: owner.id, rateLimitPerMinute, maxCreditsPerDay });
  return { ...created, created: true };
}

async function applyWallet({ db }: PublishNeeds, owner: Account, wanted: z.infer<typeof wallet>): Promise<object> {
  const current = await currentWallet(db, owner.id, wanted.network);
  const same = current?.address === wanted.address && current.checked === wanted.checked;
  const kept = same ? current : await addPayoutWallet(db, { ...wanted, accountId: owner.id });
  return { id: kept.id, network: kept.network, address: kept.address, created: !same };
}
