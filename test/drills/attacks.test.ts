import { once } from "node:events";
import { expect } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { attack, attacks, bystand, memoryMegabytes } from "../support/attacks.ts";
import { elapse } from "../support/elapse.ts";
import { paidTest } from "../support/fixtures.ts";
import { imageEnv } from "../support/image-env.ts";
import { echoAgent } from "../support/marketplace.ts";
import { startProcess } from "../support/marketplace-process.ts";
import { perFile } from "../support/part.ts";

const test = paidTest()
  .extend("service", perFile, async ({ paid }, { onCleanup }) => {
    // Callers who name no other address come from one, attacker and bystander alike.
    const limits = { HTTP_CONNECTIONS_PER_ADDRESS: "1500" };
    const service = await startProcess({ ...paid.marketplace.environment, ...imageEnv(), ...limits });
    onCleanup(async () => {
      service.child.kill("SIGKILL");
      await once(service.child, "exit");
    });
    return service;
  })
  .extend("target", perFile, async ({ paid, service }) => {
    const { creator } = paid.market;
    await publishAgent(paid.marketplace.context, creator, "free", { ...echoAgent, price_credits: 0 });
    return { url: service.url, freeAgent: `${creator.handle}/free`, soldAgent: paid.address };
  });

// How long a bystander waits for an answer is measured by `npm run bench attacks`.
test.for(Object.keys(attacks))(
  "%s: everybody else is answered meanwhile, and memory stays",
  async (name, { service, target }) => {
    let over = false;
    let mostMegabytes = 0;
    const attacked = attack(name, target).finally(() => {
      over = true;
    });
    const bystander = bystand(target, attacked);
    while (!over) {
      mostMegabytes = Math.max(mostMegabytes, await memoryMegabytes(service.child.pid as number));
      await elapse(100, "until the memory is looked at again");
    }
    const { tookMs, failed } = await bystander;
    expect(failed).toBe(0);
    expect(tookMs.length).toBeGreaterThan(3);
    expect(mostMegabytes).toBeLessThan(600);
  },
);
