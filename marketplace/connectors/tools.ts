import type { Outbound } from "../../shared/outbound.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Disposer } from "../../shared/process.ts";
import type { SupportedResponse } from "../../shared/x402.ts";
import type { Config, StoreConfig } from "../config.ts";
import { Files } from "../files/files.ts";
import { diskStore } from "../files/store.ts";
import type { PublishTools, Tools } from "./connector.ts";
import { Effects } from "./effects.ts";
import { EvmChains } from "./evm.ts";
import { Hedera } from "./hedera/hedera.ts";
import { createModelClient } from "./model-client.ts";
import { peopleIn } from "./people.ts";
import { XClient } from "./x/client.ts";

/** Everything connectors reach for, built once. */
export function createTools(
  config: Config,
  db: Database,
  outbound: Outbound,
  disposer: Disposer,
  supported: () => Promise<SupportedResponse>,
): Tools {
  const models = createModelClient({
    chat: { ...config.model, model: config.model.name },
    images: { ...config.services.images, model: config.services.images.name },
    outbound,
  });
  disposer.add(() => models.stop());
  const x = new XClient(config.services.x);
  disposer.add(() => x.stop());
  return {
    ...createPublishTools(config, db, outbound, disposer, async () =>
      Object.values((await supported()).signers).flat(),
    ),
    models,
    files: new Files({ db, store: diskStore(config.services.filesDirectory), publicUrl: config.publicUrl }),
    effects: new Effects(db),
    evm: new EvmChains(config.ledgers.evmRpcUrls),
    x,
  };
}

/** The part of them that publishing needs. */
export function createPublishTools(
  config: StoreConfig,
  db: Database,
  outbound: Outbound,
  disposer: Disposer,
  feePayers?: () => Promise<readonly string[]>,
): PublishTools {
  const hedera = config.ledgers.hedera && new Hedera(config.ledgers.hedera, feePayers);
  if (hedera) disposer.add(() => hedera.stop());
  return { outbound, hedera, people: peopleIn(db) };
}
