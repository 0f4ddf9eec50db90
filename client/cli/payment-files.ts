import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { PaymentStore, SignedPayment } from "../agent-marketplace.ts";

/** Keeps payments in files of one directory, each for its owner's eyes and on the disk before it is sent. */
export class PaymentFiles implements PaymentStore {
  readonly #directory: string;

  constructor(directory: string = usualDirectory()) {
    this.#directory = directory;
  }

  async load(id: string): Promise<SignedPayment | undefined> {
    const text = await readFile(this.#fileOf(id), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    return text === undefined ? undefined : (JSON.parse(text) as SignedPayment);
  }

  /** Throws where another program has begun the same purchase meanwhile: a name is linked once. */
  async save(payment: SignedPayment): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const written = join(this.#directory, `${payment.id}.${process.pid}.new`);
    try {
      const file = await open(written, "w", 0o600);
      await file.writeFile(JSON.stringify(payment));
      await file.sync();
      await file.close();
      await link(written, this.#fileOf(payment.id));
      await syncDirectory(this.#directory);
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === "EEXIST";
      throw isTaken ? new Error("Another program pays for the same at the moment. Nothing was sent.") : error;
    } finally {
      await rm(written, { force: true });
    }
  }

  async remove(id: string): Promise<void> {
    await rm(this.#fileOf(id), { force: true });
  }

  #fileOf(id: string): string {
    return join(this.#directory, `${id}.json`);
  }
}

/** A name that was linked is on the disk only then. Windows has no such thing. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === "win32") return;
  const opened = await open(directory, "r");
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

function usualDirectory(): string {
  const { AGENT_MARKETPLACE_STATE: own, XDG_STATE_HOME: state } = process.env;
  return own || join(state || join(homedir(), ".local", "state"), "agent-marketplace", "payments");
}
