import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Settles when the process ends, in words that go on after its name. */
export async function howItEnded(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = await once(child, "exit");
    return signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
  } catch (error) {
    return `could not be started: ${(error as Error).message}`;
  }
}
