import type { Answer } from "../agent/result.ts";
import type { InputValues } from "../dom/fields.ts";

/*
 * What is kept until its answer is here, so that a reload loses nothing that was paid for. It lies in the tab's own storage, which ends
 * with the tab and which no other origin reads. A kept payment moves no more money than its payer agreed to, to its creator, once.
 */

/** A payment that was signed, and what it pays for. */
export interface KeptPayment {
  /** The payment as its header carries it. */
  readonly header: string;
  readonly body: string;
  readonly input: InputValues;
  readonly asked: Readonly<Record<string, string>>;
  readonly amount: string;
  readonly quotedAt: number;
  readonly signedAt: number;
  readonly endsAt: number;
}

/** A run with credits, by the name under which it runs once. */
export interface KeptRun {
  readonly name: string;
  readonly body: string;
  readonly input: InputValues;
}

export interface Kept {
  readonly payment?: KeptPayment;
  readonly run?: KeptRun;
}

/** Throws where the browser keeps nothing, or not so much: what cannot be kept is not paid for. */
export function keep(agent: string, kept: Kept): void {
  try {
    sessionStorage.setItem(keyOf(agent), JSON.stringify(kept));
  } catch {
    throw new Error("This browser cannot keep the payment until its answer is here. Pay from the terminal instead.");
  }
}

export function findKept(agent: string): Kept {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(agent)) ?? "{}") as Kept;
  } catch {
    return {};
  }
}

export function forget(agent: string): void {
  try {
    sessionStorage.removeItem(keyOf(agent));
  } catch {
    // Where nothing can be kept, nothing was.
  }
}

/** The last answer, so that a reload of the page shows it again. It is no loss where it is too large to be kept. */
export function keepAnswer(agent: string, answer: Answer): void {
  try {
    sessionStorage.setItem(answerKeyOf(agent), JSON.stringify(answer));
  } catch {
    forgetAnswer(agent);
  }
}

export function findAnswer(agent: string): Answer | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(answerKeyOf(agent)) ?? "") as Answer;
  } catch {
    return undefined;
  }
}

export function forgetAnswer(agent: string): void {
  try {
    sessionStorage.removeItem(answerKeyOf(agent));
  } catch {
    // Where nothing can be kept, nothing was.
  }
}

const answerKeyOf = (agent: string) => `answer ${agent}`;
const keyOf = (agent: string) => `under way ${agent}`;
