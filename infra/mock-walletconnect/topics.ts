import { createHash } from "node:crypto";

/** One connection of a client. */
export interface Member {
  /** A client may have several connections; none hears what another of them published. */
  readonly client: string;
  /** Calls `lost` when the connection ends before the client acknowledged it. */
  push(subscription: string, data: object, lost: () => void): void;
}

interface Message {
  readonly topic: string;
  readonly message: string;
  readonly tag: unknown;
  readonly publishedAt: number;
}

interface Kept extends Message {
  readonly endsAt: number;
  /** Clients that have it, the publisher among them. */
  readonly hadBy: Set<string>;
}

const topicsMax = 1_000;
const messagesMax = 100;

/** Which clients listen to which topic, and messages for clients that were away. */
export class Topics {
  readonly #members = new Map<string, Set<Member>>();
  readonly #messages = new Map<string, Kept[]>();

  publish({ client }: Member, topic: string, sent: { message: string; tag: unknown; ttl: unknown }): void {
    const publishedAt = Date.now();
    const endsAt = publishedAt + (Number(sent.ttl) || 300) * 1_000;
    const kept = { topic, message: sent.message, tag: sent.tag, publishedAt, endsAt, hadBy: new Set([client]) };
    const before = (this.#messages.get(topic) ?? []).filter((message) => message.endsAt > publishedAt);
    this.#messages.set(topic, [...before, kept].slice(-messagesMax));
    const [oldest] = this.#messages.keys();
    if (this.#messages.size > topicsMax && oldest !== undefined) this.#messages.delete(oldest);
    for (const member of this.#members.get(topic) ?? []) if (member.client !== client) this.deliver(member, topic);
  }

  /** Gives the subscription its id. */
  subscribe(member: Member, topic: string): string {
    const members = this.#members.get(topic) ?? new Set();
    this.#members.set(topic, members.add(member));
    return subscriptionOf(member, topic);
  }

  unsubscribe(member: Member, topic: string): void {
    const members = this.#members.get(topic);
    members?.delete(member);
    if (members?.size === 0) this.#members.delete(topic);
  }

  leave(member: Member): void {
    for (const topic of this.#members.keys()) this.unsubscribe(member, topic);
  }

  /** Pushes the messages that the client has not had. A message lost on the way waits for the client to come back. */
  deliver(member: Member, topic: string): void {
    for (const kept of this.#taken(member, topic))
      member.push(subscriptionOf(member, topic), contentOf(kept), () => kept.hadBy.delete(member.client));
  }

  take(member: Member, topic: string): Message[] {
    return this.#taken(member, topic).map(contentOf);
  }

  #taken({ client }: Member, topic: string): Kept[] {
    const now = Date.now();
    const waiting = (this.#messages.get(topic) ?? []).filter(({ endsAt, hadBy }) => endsAt > now && !hadBy.has(client));
    for (const { hadBy } of waiting) hadBy.add(client);
    return waiting;
  }
}

const contentOf = ({ topic, message, tag, publishedAt }: Kept): Message => ({ topic, message, tag, publishedAt });

/** The subscription id that clients reckon for themselves. */
function subscriptionOf({ client }: Member, topic: string): string {
  return createHash("sha256")
    .update(topic + client)
    .digest("hex");
}
