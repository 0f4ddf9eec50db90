import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { attack, attacks, bystand, memoryMegabytes, type Target } from "../support/attacks.ts";
import { echoAgent } from "../support/marketplace.ts";
import { startProcess } from "../support/marketplace-process.ts";
import { type PaidMarket, startPaidMarket } from "../support/paid-market.ts";

let paid: PaidMarket;
let service: Awaited<ReturnType<typeof startProcess>>;
let target: Target;

beforeAll(async () => {
  paid = await startPaidMarket();
  const { environment, context } = paid.marketplace;
  await publishAgent(context, paid.market.creator, "free", { ...echoAgent, price_credits: 0 });
  const asDeployed = { NODE_ENV: "production", NODE_OPTIONS: "--max-old-space-size=512" };
  // Callers who name no other address come from one, attacker and bystander alike.
  service = await startProcess({ ...environment, ...asDeployed, HTTP_CONNECTIONS_PER_ADDRESS: "1500" });
  target = { url: service.url, freeAgent: `${paid.market.creator.handle}/free`, soldAgent: paid.address };
});

afterAll(async () => {
  service?.child.kill("SIGKILL");
  if (service) await once(service.child, "exit");
  await paid?.stop();
});

// How long a bystander waits for an answer is measured by `npm run bench attacks`.
test.each(Object.keys(attacks))("%s: everybody else is answered meanwhile, and memory stays", async (name) => {
  let over = false;
  let mostMegabytes = 0;
  const bystander = bystand(target, () => over);
  const attacked = attack(name, target).finally(() => {
    over = true;
  });
  while (!over) {
    mostMegabytes = Math.max(mostMegabytes, await memoryMegabytes(service.child.pid as number));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await attacked;
  const { tookMs, failed } = await bystander;
  expect(failed).toBe(0);
  expect(tookMs.length).toBeGreaterThan(3);
  expect(mostMegabytes).toBeLessThan(600);
});
