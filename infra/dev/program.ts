import { join } from "node:path";
import { type Child, startChild } from "./child.ts";
import type { Parts } from "./parts.ts";

/** Starts a program of the project as a process of its own and waits until `check` has an answer. */
export type RunProgram = <T>(options: ProgramOptions<T>) => Promise<T>;

export interface ProgramOptions<T> {
  readonly name: string;
  readonly kind: "service" | "backing";
  readonly file: string;
  readonly logName: string;
  readonly env: Record<string, string>;
  check(child: Child): Promise<T | undefined>;
}

/** The bound of a service's JavaScript heap, which the image sets too. */
export const serviceNodeOptions = "--max-old-space-size=384";

/** Programs that log into `logs` and are adopted by `parts` from the first moment. */
export function programRunner(parts: Parts, env: NodeJS.ProcessEnv, logs: string): RunProgram {
  return async ({ name, kind, file, logName, check, ...options }) => {
    const bound = kind === "service" ? { NODE_OPTIONS: serviceNodeOptions } : {};
    const childEnv = { ...bound, ...inherited(env), ...options.env };
    const child = startChild({ name, program: file, env: childEnv, logFile: join(logs, `${logName}.log`) });
    await parts.adopt({ name, kind, pid: child.pid, stop: () => child.stop() });
    const answer = await child.readiness(() => check(child));
    parts.watch(child.died);
    return answer;
  };
}

/** No network but the local ones: keys for a public chain that happen to be in the environment stay unused. */
export function inherited(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(HEDERA_|EIP155_)/.test(name)));
}
