import { codeAt, stepAt } from "../../marketplace/admin/totp.ts";
import { runCommand } from "../../marketplace/operator/command-line.ts";
import { type Browser, withAccount } from "./browser.ts";
import type { TestMarketplace } from "./marketplace.ts";

export interface Operator {
  readonly browser: Browser;
  readonly handle: string;
  /** Of their authenticator. */
  readonly code: (stepsLater?: number) => string;
}

/** A person whom the command line made an operator, and who has shown no code yet. */
export async function newOperator(market: Pick<TestMarketplace, "url" | "environment">): Promise<Operator> {
  const person = await withAccount(market);
  const said = await runCommand(["operator", "add", "--account", person.handle, "--json"], market.environment);
  const bytes = fromBase32(JSON.parse(said).secret);
  return { ...person, code: (stepsLater = 0) => codeAt(bytes, stepAt(Date.now()) + stepsLater) };
}

export const confirm = async ({ browser, code }: Operator) => browser.post("/api/operator/confirm", { code: code() });

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"),
  );
  return Buffer.from((bits.join("").match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
