import type { Outbound } from "../../shared/outbound.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Disposer } from "../../shared/process.ts";
import type { SupportedResponse } from "../../shared/x402.ts";
import type { Config, StoreConfig } from "../config.ts";
import { Files } from "../files/files.ts";
import { s3Store } from "../files/s3-store.ts";
import { diskStore, type FileStore } from "../files/store.ts";
import type { ServicesConfig } from "./config.ts";
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
    chat: config.model,
    images: config.services.images,
    list: config.modelList,
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
    files: new Files({ db, store: storeFor(config.services), publicUrl: config.publicUrl }),
    effects: new Effects(db),
    evm: new EvmChains(config.ledgers.evmRpcUrls),
    x,
  };
}

function storeFor({ filesBucket, filesDirectory }: ServicesConfig): FileStore {
  return filesBucket ? s3Store(filesBucket) : diskStore(filesDirectory);
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
  return { outbound, hedera, people: peopleIn(db), modelList: config.modelList };
}
