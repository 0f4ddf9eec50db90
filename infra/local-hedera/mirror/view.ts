import type { ChainContext } from "../context.ts";
import { type EntityNumber, nanosPerMillisecond, parseEntityText, timestampText } from "../hapi/ids.ts";
import type { Account, Relation, Token, Topic } from "../state/entities.ts";
import { invalidParameter, notFound } from "./json.ts";

/** The chain as the mirror sees it: as it stood `mirrorLagMs` ago. */
export class MirrorView {
  readonly chain: ChainContext;

  constructor(chain: ChainContext) {
    this.chain = chain;
  }

  /** Whether a transaction at `consensusAt` has reached the mirror. */
  shows(consensusAt: bigint): boolean {
    const { clock, levels } = this.chain;
    return levels.mirrorLagMs === 0 || consensusAt <= clock.now() - BigInt(levels.mirrorLagMs) * nanosPerMillisecond;
  }

  /** How far the mirror has come. */
  now(): string {
    const { clock, levels } = this.chain;
    return timestampText(clock.now() - BigInt(levels.mirrorLagMs) * nanosPerMillisecond);
  }

  account(number: EntityNumber): Account | undefined {
    return this.#seen(this.chain.state.accounts.get(number));
  }

  token(number: EntityNumber): Token | undefined {
    return this.#seen(this.chain.state.tokens.get(number));
  }

  topic(number: EntityNumber): Topic | undefined {
    return this.#seen(this.chain.state.topics.get(number));
  }

  relation(account: Account, token: EntityNumber): Relation | undefined {
    return this.#seen(account.relations.get(token));
  }

  relations(account: Account): Relation[] {
    return [...account.relations.keys()]
      .map((token) => this.relation(account, token))
      .filter((relation) => relation !== undefined);
  }

  seen<T extends object>(target: T): T {
    return this.chain.history.seen(target);
  }

  /** The account a path names: `0.0.n`, `n` or an EVM address. 400 when it is neither, 404 when there is none. */
  accountAt(text: string): Account {
    const hex = /^(?:0x)?([0-9a-fA-F]{40})$/.exec(text)?.[1];
    const number = hex
      ? this.chain.state.accountByAlias(Buffer.from(hex, "hex"))?.number
      : (parseEntityText(text) ?? invalidParameter("idOrAliasOrEvmAddress"));
    return this.account(number ?? 0) ?? notFound();
  }

  #seen<T extends { createdAt: bigint }>(target: T | undefined): T | undefined {
    return target && this.shows(target.createdAt) ? this.seen(target) : undefined;
  }
}
