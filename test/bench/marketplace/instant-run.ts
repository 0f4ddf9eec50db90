import type { Result } from "../../../marketplace/connectors/result.ts";

/** A connector's run that answers at once. */
export const instantRun = async (): Promise<Result> => ({ output: { kind: "text", text: "at once" } });
