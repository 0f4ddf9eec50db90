import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { compiled } from "../support/compiled.ts";

/** A service that stops while its database refuses connections, until the fourth: nothing of it keeps the process up but the waiting. */
const stopping = (module: string) => `
  import { Retractions } from ${JSON.stringify(module)};
  let asked = 0;
  const store = {
    retract: async () => {
      asked += 1;
      if (asked < 4) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      console.log("taken back");
      return true;
    },
  };
  const retractions = new Retractions({ store, log: console });
  retractions.begin("eip155:84532", "a payment", "its holder");
  await retractions.stop();
  console.log("stopped");
`;

test("a process that stops stays up until the database answers and what nobody was told of is taken back", async () => {
  const module = compiled(new URL("../../facilitator/settlements/retractions.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", stopping(module)]);
  expect(stdout).toBe("taken back\nstopped\n");
});
