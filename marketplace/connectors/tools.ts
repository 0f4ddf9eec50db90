import type { Outbound } from "../../shared/outbound.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Disposer } from "../../shared/process.ts";
import type { SupportedResponse } from "../../shared/x402.ts";
import type { Config, StoreConfig } from "../config.ts";
import { Files } from "../files/files.ts";
import { s3Store } from "../files/s3-store.ts";
import { diskStore, type FileStore } from "../files/store.ts";
import type { AccountDirectory } from "./account-directory.ts";
import type { ServicesConfig } from "./config.ts";
import type { PublishTools, Tools } from "./connector.ts";
import { EvmChains } from "./evm.ts";
import { Hedera } from "./hedera/hedera.ts";
import { createModelClient } from "./model-client.ts";
import { SideEffectJournal } from "./side-effect-journal.ts";
import { XClient } from "./x/client.ts";

/** Everything that connectors reach for, built once; what it opens is closed by `disposer`. */
export function createTools({ config, db, outbound, accounts, supported }: ToolParts, disposer: Disposer): Tools {
  const models = createModelClient({
    chat: config.model,
    images: config.services.images,
    list: config.modelList,
    outbound,
  });
  disposer.add(() => models.stop());
  const x = new XClient(config.services.x, db);
  disposer.add(() => x.stop());
  const feePayers = async () => Object.values((await supported()).signers).flat();
  return {
    ...createPublishTools({ config, outbound, accounts, feePayers }, disposer),
    models,
    files: new Files({
      db,
      store: storeFor(config.services),
      publicUrl: config.publicUrl,
      bytesPerAccount: config.services.filesBytesPerAccount,
    }),
    sideEffects: new SideEffectJournal(db),
    evm: new EvmChains(config.chains.evmRpcUrls),
    x,
  };
}

function storeFor({ filesBucket, filesDirectory }: ServicesConfig): FileStore {
  return filesBucket ? s3Store(filesBucket) : diskStore(filesDirectory);
}

interface ToolParts {
  readonly config: Config;
  readonly db: Database;
  readonly outbound: Outbound;
  readonly accounts: AccountDirectory;
  /** What the facilitator says it supports, the accounts that it signs with among it. */
  readonly supported: () => Promise<SupportedResponse>;
}

/** The part of the tools that publishing needs. */
export function createPublishTools(
  { config, outbound, accounts, feePayers }: PublishToolParts,
  disposer: Disposer,
): PublishTools {
  const hedera = config.chains.hedera && new Hedera(config.chains.hedera, feePayers);
  if (hedera) disposer.add(() => hedera.stop());
  return { outbound, hedera, accounts, modelList: config.modelList };
}

interface PublishToolParts {
  readonly config: StoreConfig;
  readonly outbound: Outbound;
  readonly accounts: AccountDirectory;
  /** The accounts that a facilitator signs with; none are known on the command line. */
  readonly feePayers?: () => Promise<readonly string[]>;
}
