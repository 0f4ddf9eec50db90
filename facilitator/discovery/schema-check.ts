import { once } from "node:events";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type { Bazaar } from "./validate.ts";

/**
 * What a check may take, where an honest schema takes milliseconds: of the processor, as far as this process has it, so that a busy machine
 * is not the schema's fault, and of the clock on the wall all the same.
 */
const workMs = 500;
const timeoutMs = 3_000;
const lookEveryMs = 100;

/** `left out`: its turn came when it was no longer to be checked. */
export type SchemaVerdict = "fits" | "takes too much" | "left out" | { readonly misfit: string };

/**
 * Does a declaration's `info` fit its `schema` (JSON Schema 2020-12)? Both are written by resource servers, and a schema of a few
 * hundred bytes can compile or match for hours, so it is tried in a thread that is ended when it takes too long.
 */
export class SchemaChecker {
  #worker: Worker | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** Runs one check at a time. Asks `isLeftOut` when a check's turn has come. */
  check(bazaar: Bazaar, isLeftOut: () => Promise<boolean>): Promise<SchemaVerdict> {
    const checked = this.#turn.then(async () => ((await isLeftOut()) ? "left out" : this.#ask(JSON.stringify(bazaar))));
    this.#turn = checked.catch(() => {});
    return checked;
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }

  async #ask(bazaar: string): Promise<SchemaVerdict> {
    this.#worker ??= await this.#start();
    const worker = this.#worker;
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      let isOver = false;
      const finish = (verdict: SchemaVerdict) => {
        isOver = true;
        clearInterval(timer);
        worker.off("message", hear).off("exit", fail);
        resolve(verdict);
      };
      const fail = () => finish("takes too much");
      // Not waited for: a thread deep in native code ends when it comes back, and the next check has a new one.
      const giveUp = () => {
        if (isOver) return;
        this.#worker = undefined;
        void worker.terminate();
        fail();
      };
      const hear = (said: "begun" | SchemaVerdict) => {
        if (said !== "begun") return finish(said);
        const [beganAt, before] = [performance.now(), process.cpuUsage()];
        timer = setInterval(() => {
          const { user, system } = process.cpuUsage(before);
          const isTooMuch = (user + system) / 1_000 >= workMs || performance.now() - beganAt >= timeoutMs;
          // What it said while this thread was busy is heard before it is given up.
          if (isTooMuch) setImmediate(giveUp);
        }, lookEveryMs);
      };
      worker.on("message", hear).once("exit", fail);
      worker.postMessage(bazaar);
    });
  }

  /** Loading Ajv is not the schema's fault: the clock runs from when the thread is ready. */
  async #start(): Promise<Worker> {
    const worker = new Worker(program, {
      eval: true,
      workerData: createRequire(import.meta.url).resolve("ajv/dist/2020.js"),
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 },
    });
    worker.unref();
    await once(worker, "message");
    // An error ends the thread with an exit, too, and that is what a check listens to.
    worker.on("error", () => {});
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }
}

/** Text rather than a file of its own, so that it runs the same from sources and from a build. */
const program = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { Ajv2020 } = require(workerData);
  // Inlining references would make compiling, which cannot be interrupted, as long as a hostile schema likes.
  const options = { strict: false, validateFormats: false, addUsedSchema: false, inlineRefs: false, logger: false };
  parentPort.on("message", (bazaar) => {
    parentPort.postMessage("begun");
    const { info, schema } = JSON.parse(bazaar);
    try {
      const ajv = new Ajv2020(options);
      const validate = ajv.compile(schema);
      const misfit = () => ({ misfit: "bazaar.info" + ajv.errorsText(validate.errors, { dataVar: "" }) });
      parentPort.postMessage(validate(info) ? "fits" : misfit());
    } catch (error) {
      parentPort.postMessage({ misfit: "bazaar.schema: " + String(error.message).slice(0, 200) });
    }
  });
  // The first schema is slow, and not by its own fault.
  new Ajv2020(options).compile({ type: "object", properties: { input: { type: "object" } }, required: ["input"] })({});
  parentPort.postMessage("ready");
`;
